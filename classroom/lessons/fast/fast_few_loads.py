"""At most 0.7 loads

Hint: A tile of h rows and w vectors: how many loads does it take, and how many multiplications?
Hint: `VECTOR` along axis 1, then an `UPCAST` of axis 1 for the vectors and an `UPCAST` of axis 0
for the rows. A tall tile, or a wide one?
Because: Six rows of two vectors are 12 multiplications with 6 + 2 loads. Twelve sums, two vectors
of `b` and one number of `a` make 15 registers.
"""

from classroom.exercise import Wrong
from classroom.lessons.fast.shared import as_opts, counted, in_registers, matmul
from classroom.tiles import LANES

FEW_LOADS = 0.7  # for each multiplication


WASTE = 1.1  # multiplications, of those that are needed


def check(answer) -> str:
    """answer: Opts with few loads for each multiplication, within the registers."""
    opts = as_opts(answer)
    case = "512 × 512 times 512 × 512"
    found = counted(matmul(512, 512, 512), opts, case)
    in_vectors(found.multiplications, 512**3, case)
    in_registers(found.registers, case)
    if found.loads_per_multiplication > FEW_LOADS:
        text = "Too many loads for each multiplication."
        loads = f"{found.loads_per_multiplication:.2f}"
        raise Wrong(text, case, f"at most {FEW_LOADS}", loads)
    return (
        f"{found.loads_per_multiplication:.2f} loads for each multiplication, where the loops as "
        f"written take 2, and {found.registers} registers."
    )


def in_vectors(got: int, products: int, case: str) -> None:
    least = products // LANES
    for most, text in (
        (7, f"These multiply one number at a time. First of all, use vectors of {LANES}."),
        (1.5, f"These multiply fewer than {LANES} numbers at a time, or compute many results "
         "twice."),
        (WASTE, "Your tiles overlap so much that many results are computed twice."),
    ):  # fmt: skip
        if got > most * least:
            raise Wrong(text, case, f"about {least:,} multiplications", f"{got:,}")

# %% shared
from tinyframe.codegen.optimize.loops import Opt, OptOps
VECTOR, UPCAST = OptOps.VECTOR, OptOps.UPCAST
EIGHT = Opt(VECTOR, 1, 8)
def rows(n):
    return Opt(UPCAST, 0, n)

def vectors(n):
    return Opt(UPCAST, 1, n)

# %% wrong, each line
[]  # says one number at a time
[EIGHT]  # says Too many loads
[EIGHT, vectors(8), rows(8)]  # says more registers than there are
[Opt(VECTOR, 5, 8)]  # says there is no axis 5
6  # says list of Opts
(6, 2)  # says list of Opts

# %% right, each line
(EIGHT, rows(4), vectors(3))
