"""How often a kernel reads and writes

Hint: In how many loops is each of the four? The picture says it.
Hint: Multiply the sizes of the loops around: 4 outside, then 2, then 3.
Because: `heat` is read in the outer loop alone, and the result is written there. The other two
be inside all three loops, though `w` has six elements only: to be inside ridx2, it has to be
inside ridx0.
"""

from classroom.ask import predicts
from tinyframe import Tensor
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop import Ops


def accesses() -> tuple[int, ...]:
    """How often the kernel of the lesson reads each of its inputs, and how often it writes."""
    a, heat, w = (Tensor.zeros(*s).contiguous().realize() for s in ((6, 4), (4, 1), (1, 6)))
    (item,) = (a.T * heat.exp() * w).sum(axis=1).schedule()
    lines = get_program(item.ast, CStyleLanguage(), [Opt(OptOps.SPLIT, 1, 3)]).uops
    found = [0, 0, 0, 0]
    around = [1]
    for u in lines:
        if u.op is Ops.RANGE:
            around.append(around[-1] * u.src[0].arg)
        elif u.op is Ops.ENDRANGE:
            around.pop()
        elif u.op in (Ops.LOAD, Ops.STORE):
            memory = u.src[0].src[0]
            if memory.op is Ops.DEFINE_GLOBAL:
                found[memory.arg] += around[-1]
    stores, *loads = found
    return (*loads, stores)


check = predicts(accesses)

# %% guesses
((24, 4, 24, 4), (24, 4, 6, 4), (24, 24, 24, 4), (24, 4, 24, 24), (24, 1, 6, 4))

# %% asked again, each line
{'a': 24, 'heat': 4, 'w': 24, 'out': 4}  # a dict
