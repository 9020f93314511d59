"""A design: from Opts to TVM

Hint: Keep three lists: the loops that an axis can mean, the copies, and the lanes. What does each
Opt do to these?
Hint: One `sch.reorder`, of the loops, the copies and the lanes, puts everything in place at the
end. Unroll and vectorize after that.
Because: Our Opts name a loop by its position, TVM's by what split gave back. So a translator has
to remember which loop is at which position by now.
Right: That's a compiler, from one scheduling language to another.
"""

import random
from collections.abc import Sequence

from classroom.ask import Wrong, wants_written
from classroom.lessons.other_peoples_source.shared import TILE, same_nest
from classroom.loop_nests import Nest, NestError, TVMSchedule, difference, matmul_in_tvm, nest_of
from tinyframe.codegen.optimize.loops import Opt, OptOps


def opt_lists() -> list[tuple[list[Opt], bool]]:
    """Lists of Opts, and whether they're shown; the last is a new one each time."""
    O = OptOps  # noqa: E741
    lanes, rows = random.choice((4, 8)), random.choice((2, 3, 4))
    fresh = [
        Opt(O.UPCAST, 0, rows),
        Opt(O.UNROLL, 2, random.choice((2, 4))),
        Opt(O.VECTOR, 1, lanes),
        Opt(O.SPLIT, 0, 2),
        Opt(O.REORDER, random.choice(((2, 0, 1, 3), (1, 2, 0, 3), (2, 1, 0, 3)))),
    ]
    return [
        ([], True),
        ([Opt(O.VECTOR, 1, 8)], True),
        ([Opt(O.UPCAST, 0, 6), Opt(O.VECTOR, 1, 8)], True),
        ([*TILE], True),
        ([Opt(O.VECTOR, 1, 8), Opt(O.REORDER, (1, 0, 2)), Opt(O.UPCAST, 0, 2)], True),
        ([Opt(O.SPLIT, 0, 4), Opt(O.UPCAST, 2, 2)], True),
        ([Opt(O.UNROLL, 2, 4), Opt(O.UPCAST, 1, 3), Opt(O.THREAD, 0)], True),
        (fresh, False),
    ]


def check(answer) -> None:
    """answer(sch, opts): does to a schedule of TVM's what these Opts do to our loops."""
    wants_written(answer, "This exercise asks for a function.")
    lists = opt_lists()
    if not any(differs(run_in_tvm(answer, opts, shown)) for opts, shown in lists[1:3]):
        raise Wrong("Your function leaves the schedule as it was: three plain loops.")
    for opts, shown in lists:
        case = f"`{opts}`" if shown else "a different list"
        same_nest(run_in_tvm(answer, opts, shown), nest_of(opts), case)


def run_in_tvm(answer, opts: Sequence[Opt], shown: bool) -> Nest:
    sch = matmul_in_tvm()
    try:
        given = answer(sch, list(opts))
    except NestError as error:
        raise Wrong(str(error), f"`{opts}`" if shown else "a different list") from None
    return given.nest if isinstance(given, TVMSchedule) else sch.nest


def differs(nest: Nest) -> bool:
    return bool(difference(nest, matmul_in_tvm().nest))

# %% shared
from tinyframe.codegen.optimize.loops import Opt, OptOps
VECTOR, UPCAST, REORDER = OptOps.VECTOR, OptOps.UPCAST, OptOps.REORDER
def translator(end=True, order=True, lanes_last=True, reorders=True, splits_in=True, inverse=False):
    """A translator that does or does not do what it should."""

    def to_tvm(sch, opts):
        loops, unrolled, vectors = [*sch.get_loops()], [], []
        for opt in opts:
            if opt.op is REORDER:
                if reorders:
                    loops = [loops[n] for n in opt.axis]
                continue
            if opt.op is OptOps.THREAD:
                sch.parallel(loops[opt.axis])
                continue
            halves = sch.split(loops[opt.axis], [None, opt.arg])
            if inverse:
                loops[opt.axis] = halves[1]
                continue
            kept = halves if opt.op is OptOps.SPLIT and splits_in else halves[:1]
            loops[opt.axis : opt.axis + 1] = kept
            if opt.op is not OptOps.SPLIT:
                (vectors if opt.op is VECTOR else unrolled).append(halves[1])
        if order:
            sch.reorder(*loops, *unrolled, *vectors)
        if end:
            for loop in unrolled:
                sch.unroll(loop)
            for loop in vectors:
                (sch.vectorize if lanes_last else sch.unroll)(loop)

    return to_tvm

# %% wrong, each line
translator(end=False)  # says should be vectorized
lambda sch, opts: print(end="")  # says as it was
lambda sch, opts: sch.vectorize("x9")  # says There is no loop x9
lambda opts: opts  # says TypeError
3  # says asks for a function

# %% right, each line
translator()
