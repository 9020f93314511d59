"""Part 7c, fast loops: the exercises, and what an answer has to do. Whatever is asked of a list of
Opts is counted (`classroom/tiles.py`), and nothing is timed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from numbers import Real
from typing import Any

import numpy as np

from classroom.ask import call, describe, fresh_sizes, predicts, same_values
from classroom.exercise import Exercise, Wrong
from classroom.race import installed, own_plan, ready
from classroom.tiles import COUNTED_FOR, LANES, REGISTERS, count, lines_read, planned, workload
from tinyframe import Context, Tensor
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps
from tinyframe.codegen.optimize.plans import Nest, Workload
from tinyframe.uop.node import extent
from tinyframe.viz.kernels import one_kernel
from tinyframe.viz.roof import Roof

VECTOR = Opt(OptOps.VECTOR, 1, LANES)
CLOSE = 1e-3  # relative


def memory(*shape: int) -> Tensor:
    return Tensor.zeros(*shape).contiguous().realize()


def matmul(m: int, n: int, k: int) -> Tensor:
    return memory(m, k) @ memory(k, n)


def number(got: Any, what: str, case: str) -> float:
    """A number that was returned, as a float."""
    if isinstance(got, np.ndarray) and got.ndim == 0:
        got = got.item()
    if isinstance(got, bool) or not isinstance(got, Real):
        raise Wrong(f"The answer has to be a number: {what}.", case, got=describe(got))
    return float(got)


def near(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE * abs(other)


# ---- operations for each byte --------------------------------------------------------------------


def intensity(answer: Any) -> str:
    """answer(m, n, k): operations for each byte of a matmul of floats."""
    sizes = fresh_sizes(3)
    for m, n, k in ((512, 512, 512), (2, 3, 4), tuple(sizes)):
        shown = m not in sizes
        case = f"`m, n, k = {m}, {n}, {k}`" if shown else "different sizes"
        got = number(call(answer, m, n, k), "operations for each byte", case)
        elements = m * k + k * n + m * n
        expected = 2 * m * n * k / (4 * elements)
        if near(got, expected):
            continue
        told = {
            expected / 2: "You counted the multiplications. Every product is added to something, "
            "too.",
            expected * 4: "That's for each element. A float takes 4 bytes.",
            expected * 2: "That's twice too many: is every element 4 bytes?",
            1 / expected: "Upside down: that's bytes for each operation.",
            2 * m * n * k / (4 * (m * k + k * n)): "The result has to be written to memory, too.",
            m * n * k / (4 * (m * k + k * n)): "Two things are missing: the additions, and the "
            "bytes of the result.",
            2 * m * n * k / (8 * m * n * k + 4 * m * n): "You count every load of the loop. Here "
            "each element counts once: that's what has to be moved at least.",
        }
        for wrong, text in told.items():
            if near(got, wrong):
                raise Wrong(text, case)
        both = (f"{expected:.4g}", f"{got:.4g}") if shown else ("", "")
        raise Wrong("It has to be the operations divided by the bytes.", case, *both)
    return "Now you know where any matmul stands on the roofline, before it has run."


# ---- predictions ---------------------------------------------------------------------------------


def lines_of_b() -> tuple[int, ...]:
    x = matmul(512, 512, 512)
    return tuple(lines_read(x, opts)[2] for opts in ([], [VECTOR]))


def runs_with_vectors() -> tuple[int, ...]:
    opts = [Opt(OptOps.VECTOR, 0, 4)]
    sums = [memory(n) * 2 + 1 for n in (1000, 1002)]
    asts = [one_kernel(x, None, "runs")[0].ast for x in sums]
    return tuple(extent(get_program(ast, COUNTED_FOR, opts).loops[0]) for ast in asts)


# ---- a list of Opts ------------------------------------------------------------------------------

FEW_LOADS = 0.7  # for each multiplication
WASTE = 1.1  # multiplications, of those that are needed


def few_loads(answer: Any) -> str:
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


def as_opts(answer: Any) -> list[Opt]:
    """A list of Opts, in whatever form it came."""
    if isinstance(answer, Opt):
        answer = [answer]
    if isinstance(answer, str) or not hasattr(answer, "__iter__"):
        raise Wrong("The answer has to be a list of Opts.", got=describe(answer))
    opts = list(answer)
    for opt in opts:
        if not isinstance(opt, Opt):
            raise Wrong(
                "The answer has to be a list of Opts, `[Opt(OptOps.VECTOR, 1, 8), …]`.",
                got=describe(opt),
            )
    return opts


def counted(x: Tensor, opts: Sequence[Opt], case: str) -> Any:
    try:
        return count(x, opts)
    except KernelOptError as error:
        raise Wrong(f"{str(error).replace(' has to be ', ' must be ')}.", case) from None


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


def in_registers(got: int, case: str) -> None:
    if got > REGISTERS:
        text = "It doesn't fit: the inner loop takes more registers than there are."
        raise Wrong(text, case, f"at most {REGISTERS} registers", got)


# ---- the best tile -------------------------------------------------------------------------------


def tile(answer: Any) -> str:
    """answer(registers): rows and vectors of the tile with the fewest loads."""
    for registers in (16, 32, 8, 4, 12, random.randint(40, 99)):
        shown = registers < 40
        case = f"{registers} registers" if shown else "a different number of registers"
        got = call(answer, registers)
        rows, vectors = pair(got, case)
        if rows < 1 or vectors < 1:
            raise Wrong("A tile has at least one row and one vector.", case, got=describe(got))
        needs = rows * vectors + vectors + 2
        if needs > registers:
            said = (f"at most {registers} registers", needs) if shown else ("", "")
            raise Wrong("That tile doesn't fit into the registers.", case, *said)
        fewest = min((h + w) / (h * w) for h, w in tiles(registers))
        loads = (rows + vectors) / (rows * vectors)
        if loads > fewest + 1e-9:
            said = (f"{fewest:.3f} loads", f"{loads:.3f} loads") if shown else ("", "")
            text = "It has to be the tile with the fewest loads. A different one needs fewer."
            raise Wrong(text, case, *said)
    return "Six rows of two vectors in 16 registers. That's the tile tinyframe uses, too."


def tiles(registers: int) -> list[tuple[int, int]]:
    """Those that fit: their sums, a row of vectors, a number, and one register to spare."""
    every = product(range(1, registers), repeat=2)
    return [(h, w) for h, w in every if h * w + w + 2 <= registers]


def pair(got: Any, case: str) -> tuple[int, int]:
    try:
        numbers = [v.item() if isinstance(v, (np.generic, np.ndarray)) else v for v in got]
        rows, vectors = (int(v) for v in numbers if not isinstance(v, (bool, str)) and v == int(v))
        return rows, vectors
    except (TypeError, ValueError):
        text = "The answer has to be a pair of whole numbers: rows, and vectors in a row."
        raise Wrong(text, case, got=describe(got)) from None


# ---- a plan of one's own -------------------------------------------------------------------------


def mirrored(answer: Any) -> str:
    """answer(k): the Nest for a kernel that reads backwards along a loop of results, else None."""
    shown = memory(300, 200)
    m, n = fresh_sizes(2)
    other = Tensor(np.random.default_rng().random((m, 4 * n), np.float32)).realize()
    cases = {  # and the loop that goes backwards
        "`x[:, ::-1].sum(axis=0)`": (shown[:, ::-1].sum(axis=0), 0),
        "`(x[:, ::-1] * 2).max(axis=0)`": ((shown[:, ::-1] * 2).max(axis=0), 0),
        "`(x[:, ::-1] * 2).contiguous()`": ((shown[:, ::-1] * 2).contiguous(), 1),
        "`(x[:, ::-1].T * 2).contiguous()`": ((shown[:, ::-1].T * 2).contiguous(), 0),
        "a different size": ((other[:, ::-1] + 1).sum(axis=0), 0),
    }
    for number, (case, (x, backwards)) in enumerate(cases.items()):
        nest = answer(plan_input(x)) if number else call(answer, plan_input(x))
        if nest is None:
            raise Wrong("Your plan leaves this kernel alone, although it reads backwards along one "
                        "of its loops over results.", case)  # fmt: skip
        if not isinstance(nest, Nest):
            raise Wrong("The answer has to be a Nest, or None.", case, got=describe(nest))
        opts = opts_with(answer, x)
        vectors = [opt for opt in opts if opt.op is OptOps.VECTOR]
        if not vectors:
            said = ", ".join(map(str, opts)) or "no Opts"
            raise Wrong("There are no vectors in the kernel that your Nest makes.", case, got=said)
        if vectors[0].axis not in range(len(plan_input(x).around)):
            raise Wrong("Your vectors run along the loop of the reduction. Neighbours in memory "
                        "are neighbours along a loop of results.", case)  # fmt: skip
        if vectors[0].axis != backwards:
            raise Wrong("There are two loops over results here, and your vectors run along the one "
                        "whose step isn't -1.", case)  # fmt: skip
        if vectors[0].arg != plan_input(x).lanes:
            text = "How many lanes a vector has depends on the machine: `k.lanes`."
            raise Wrong(text, case, plan_input(x).lanes, vectors[0].arg)
        with installed(own_plan(answer)), Context(NOOPT=0):
            values = ready(x)
            values()
        same_values(Tensor(values.values()), x.numpy().ravel(), case, shown=False)
    refused = {
        "`a @ b`": (memory(64, 64) @ memory(64, 64), "Nothing is read backwards here."),
        "`x.sum(axis=0)`": (shown.sum(axis=0), "Nothing is read backwards here."),
        "`x.T.contiguous()`": (shown.T.contiguous(), "Nothing is read backwards here."),
        "`x[:, ::-1].sum(axis=1)`": (
            shown[:, ::-1].sum(axis=1),
            "It reads backwards, but along the loop of the reduction, not along its results.",
        ),
        "`(x[::-1] * 2).contiguous()`": (
            (shown[::-1] * 2).contiguous(),
            "Its rows come in reverse, but within a row it goes forwards: no step is -1.",
        ),
    }
    for case, (x, why) in refused.items():
        nest = answer(plan_input(x))
        if nest is not None and nest is not False:
            raise Wrong(f"Your plan takes this kernel, too. {why}", case, "None", in_words(nest))
    return "The plans have a new row. What BEAM needed seconds for is now decided at once."


def in_words(nest: Any) -> str:
    """What a Nest does to the loops: `8 lanes along ridx0`."""
    return nest.words or "a Nest that changes nothing" if isinstance(nest, Nest) else describe(nest)


def plan_input(x: Tensor) -> Workload:
    item, _ = one_kernel(x, None, "plan_input")
    return workload(item.ast)


def opts_with(answer: Any, x: Tensor) -> list[Opt]:
    with installed(own_plan(answer)):
        return planned(x).opts


# ---- the roof ------------------------------------------------------------------------------------

SOME_ROOF = Roof(flops=100e9, bandwidth=20e9)


def at_most(answer: Any) -> str:
    """answer(operations, nbytes, seconds, roof): how many times as fast it could be."""
    fresh = np.random.default_rng().uniform(1, 9, 5)
    cases: list[tuple[str, float, float, float, Roof]] = [
        ("2e9 operations, 12e6 bytes", 2e9, 12e6, 0.1, SOME_ROOF),
        ("16e6 operations, 192e6 bytes", 16e6, 192e6, 0.012, SOME_ROOF),
        ("a different kernel and machine", fresh[0] * 1e9, fresh[1] * 1e8, fresh[2],
         Roof(fresh[3] * 1e10, fresh[4] * 1e9)),
    ]  # fmt: skip
    for case, operations, nbytes, seconds, roof in cases:
        shown = roof is SOME_ROOF
        name = f"{case} in {seconds} s; 100e9 operations a second, 20e9 bytes" if shown else case
        got = number(call(answer, operations, nbytes, seconds, roof), "how many times", name)
        work, moving = operations / roof.flops, nbytes / roof.bandwidth
        expected = seconds / max(work, moving)
        if near(got, expected):
            continue
        shorter, longer = ("memory", "arithmetic") if work > moving else ("arithmetic", "memory")
        told = {
            seconds / (work + moving): "You added the two times. They overlap: while numbers are "
            "on their way, others are multiplied.",
            seconds / min(work, moving): f"That's what {shorter} alone would allow. Here "
            f"{longer} is the closer limit.",
            1 / expected: "Upside down: that's the part of the limit that it reaches.",
            max(work, moving): "That's the least time, in seconds. How many times as fast is it?",
        }
        for wrong, text in told.items():
            if near(got, wrong):
                raise Wrong(text, name)
        both = (f"{expected:.4g}", f"{got:.4g}") if shown else ("", "")
        raise Wrong("It has to be the time it took, over the least it could take.", name, *both)
    return "You can now tell which kernels are worth an afternoon, and which aren't."


# ---- a design ------------------------------------------------------------------------------------

ENOUGH = 1.2  # times the fewest loads that are known
SHAPES = ((512, 512), (8, 512), (512, 8), (7, 24), (100, 20), (2, 64), (5, 9))


def opts_for(answer: Any) -> str:
    """answer(m, n): Opts for a matmul with m rows and n columns, with few loads in all."""
    k = 32
    fresh = (random.randint(9, 60), random.randint(25, 150))
    worst = 0.0
    for m, n in (*SHAPES, fresh):
        shown = (m, n) != fresh or fresh in SHAPES
        case = f"`m, n = {m}, {n}`" if shown else "a different shape"
        opts = as_opts(call(answer, m, n))
        try:
            found = counted(matmul(m, n, k), opts, case)
        except Wrong:
            if shown:
                raise
            raise Wrong("One of your Opts isn't possible here.", case) from None
        if found.multiplications > 4 * -(-n // LANES) * m * k:
            raise Wrong(f"Where are the vectors of {LANES}?", case)
        in_registers(found.registers, case)
        fewest = fewest_loads(m, n, k)
        worst = max(worst, found.loads / fewest)
        if found.loads > ENOUGH * fewest:
            said = (f"about {fewest // k} for each k", found.loads // k) if shown else ("", "")
            raise Wrong("It can be done with far fewer loads.", case, *said)
    return f"Good for any shape: never more than {worst:.2f} times the fewest loads known."


def fewest_loads(m: int, n: int, k: int) -> int:
    """Loads of the best tile: it may overlap the one before, and computes those results twice."""
    vectors = -(-n // LANES)
    fits = [(h, w) for h, w in tiles(REGISTERS) if h <= m and w <= vectors]
    return min(-(-m // h) * -(-vectors // w) * (h + w) * k for h, w in fits)


# ---- the table -----------------------------------------------------------------------------------

EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "7.18",
        "fast-intensity",
        "Operations for each byte",
        intensity,
        (
            "For each of the m × n results, how many products are there, and how many additions?",
            "Divide `2 * m * n * k` by the bytes of three matrices: m × k, k × n and m × n, with 4 "
            "bytes for each element.",
        ),
        because="Each result takes k products and k additions. What has to be moved at least is "
        "each matrix once, so there's more work for each byte the larger they are.",
    ),
    Exercise(
        "7.19",
        "fast-lines-of-a-column",
        "Cache lines of a column",
        predicts(lines_of_b),
        (
            "How far is it in memory from one number of a column to the next?",
            "Eight neighbours in a row of `b`, starting at a multiple of eight: do they ever need "
            "two cache lines?",
        ),
        shown_by="the next cell",
        because="A column has 512 numbers, each in a row of its own and so in a line of its own. "
        "Eight columns side by side are in the very same 512 lines. So the vector gets eight "
        "results out of what one result used to cost.",
    ),
    Exercise(
        "7.20",
        "fast-loop-with-vectors",
        "How often a loop runs, with vectors",
        predicts(runs_with_vectors),
        (
            "How many groups of four are there in 1000 numbers? And in 1002?",
            "Two numbers are left over, and they have to be computed somewhere.",
        ),
        shown_by="the next cell",
        because="250 groups of four are 1000 numbers. For 1002 the loop has to run once more, and "
        "that last group starts at number 998, two places early. Two numbers are computed twice, "
        "but the loop never has to ask whether it is past the end.",
    ),
    Exercise(
        "7.21",
        "fast-few-loads",
        "At most 0.7 loads",
        few_loads,
        (
            "A tile of h rows and w vectors: how many loads does it take, and how many "
            "multiplications?",
            "`VECTOR` along axis 1, then an `UPCAST` of axis 1 for the vectors and an `UPCAST` of "
            "axis 0 for the rows. A tall tile, or a wide one?",
        ),
        because="Six rows of two vectors are 12 multiplications with 6 + 2 loads. Twelve sums, two "
        "vectors of `b` and one number of `a` make 15 registers.",
    ),
    Exercise(
        "7.22",
        "fast-best-tile",
        "The tile for any machine",
        tile,
        (
            "How many tiles are there at all that fit into 16 registers? Could you try them all?",
            "`min(tiles, key=…)` finds the pair with the smallest `(h + w) / (h * w)`.",
        ),
        because="There are so few tiles that trying all of them is the simplest thing. The best "
        "one is nearly square when it's counted in loads: h of one kind, w of the other.",
    ),
    Exercise(
        "7.23",
        "fast-own-plan",
        "A plan of your own",
        mirrored,
        (
            "Which operand of `k.table.reads` has a step of -1, and along which loop of "
            "`k.around`?",
            "`next((r for r in k.around for x in k.table.reads if x.step(r) == -1), None)` is that "
            "loop, or None. The Nest is `Nest(tiles=((VECTOR, r, k.lanes),))`.",
        ),
        because="A plan is a condition and a nest. The condition is a step of -1 along a loop of "
        "results; the nest has vectors along that loop, which are turned around as they're loaded.",
    ),
    Exercise(
        "7.24",
        "fast-at-most",
        "How much faster can it get?",
        at_most,
        (
            "If it only did the arithmetic, how long would that take? If it only moved the bytes?",
            "The larger of `operations / roof.flops` and `nbytes / roof.bandwidth` is the least "
            "time it can take.",
        ),
        because="Arithmetic and memory work side by side, so the slower of the two decides. No Opt "
        "changes either number: an Opt only gets a kernel closer to them.",
    ),
    Exercise(
        "7.25",
        "fast-opts-for-any-shape",
        "A design: Opts for any shape",
        opts_for,
        (
            "If h doesn't divide m, how often does the loop over tiles run? What does that cost?",
            "Count the loads of every tile that fits: ceil(m / h) × ceil(vectors / w) × (h + w). "
            "Take the best one, and write it as Opts: first axis 1, then axis 0.",
        ),
        because="A tile that doesn't divide the matrix computes some results twice, so the best "
        "tile depends on the shape. There are few enough to count them all.",
        seconds=30.0,
    ),
)
