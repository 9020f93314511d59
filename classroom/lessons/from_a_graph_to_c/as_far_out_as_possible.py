"""In which loop a value is computed

Hint: A value that needs two others can't be computed before both of them are there. So how deep
is it, if you know how deep those are? And where does that begin?
Hint: A counter's depth is its place in the nest, counted from 1. Without sources: 0. For all
others take the largest depth of the sources. For a REDUCE, take the largest among what it depends
on without the counters it runs over: collect counters first, and look up the deepest at the end.
Because: A value is ready as soon as the deepest counter in it has a value, and a REDUCE is ready
when the loops that it runs over are closed.
Right: That's all there is to it: each value goes as far out as its deepest counter allows.
"""

from collections.abc import Sequence

from classroom.ask import Wrong, call, fresh_sizes, fresh_tensor, written_without
from classroom.lessons.from_a_graph_to_c.shared import _later, _whole
from classroom.lowered import depth_of, nest_of
from tinyframe.uop import Ops, UOp
from tinyframe.uop.show import render


def check(answer) -> None:
    """answer(u, nest): in how many loops of a nest a value has to be computed."""
    written_without(answer, {"ranges", "depth_of"}, "which knows the answer")
    n, m, k = fresh_sizes(3)
    a, row, column = fresh_tensor(4, 6), fresh_tensor(4, 1), fresh_tensor(1, 6)
    cube = fresh_tensor(n, 3, k)
    expressions = [
        (a * (row + 1) * (column + 2)).sum(axis=1),
        (a * (column + 2) + row).max(axis=0),
        a.T * 2 + row.T,
        (cube * fresh_tensor(n, 1, 1).sqrt() + fresh_tensor(n, 3, 1)).sum(axis=(1, 2)) * 3,
        fresh_tensor(n, m) @ fresh_tensor(m, k),
    ]
    for number, expression in enumerate(expressions):
        (item,) = expression.schedule()
        nest = nest_of(item.ast)
        for u in dict.fromkeys((*nest, *item.ast.toposort())):
            if u.op in (Ops.STORE, Ops.SINK):
                continue
            found = (
                call(answer, u, nest) if u is nest[0] else
                _later(answer, u, nest, case=_place_of(u, nest, number < 3))
            )  # fmt: skip
            got = _whole(found, " of loops")
            if got != (expected := depth_of(u, nest)):
                _misplaced(u, nest, got, expected, shown=number < 3)


def _place_of(u: UOp, nest: Sequence[UOp], shown: bool) -> str:
    """A value and its loops, as a case."""
    text, names = render(u), ", ".join(render(counter) for counter in nest)
    return f"`{text}`, in the loops {names}" if shown and len(text) < 90 else u.op.name


def _misplaced(u: UOp, nest: Sequence[UOp], got: int, expected: int, shown: bool) -> None:
    """Wrong, with what was overlooked."""
    case = _place_of(u, nest, shown)
    if u.op is Ops.RANGE and got == nest.index(u) == 0:
        words = "A counter has a value inside its own loop, so its own loop counts."
    elif u.op is Ops.REDUCE and got > expected:
        words = "A REDUCE closes the loops it runs over: its result is there when they are done."
    elif got == len(u.ranges) < expected:
        words = (
            "You counted the loops that it changes with. To be in an inner loop, it has to be in "
            "all the loops around that one."
        )
    elif got > expected and any(v.op is Ops.REDUCE for v in u.toposort()):
        words = "A REDUCE closes the loops it runs over, and what uses its result is outside, too."
    elif got > expected:
        words = "That's deeper than it has to be: nothing in it changes there."
    else:
        words = "That far out, one of its counters has no value yet."
    raise Wrong(words, case, expected, got)

# %% shared
from tinyframe.uop import Ops, UOp
def counters(u, closes=True):
    if u.op is Ops.RANGE:
        return {u}
    found = set().union(*(counters(s, closes) for s in u.src))
    return found - set(u.src[1:]) if closes and u.op is Ops.REDUCE else found

def deepest(u, nest, closes=True):
    return max((nest.index(r) + 1 for r in counters(u, closes)), default=0)

# %% wrong, each line
lambda u, nest: 0  # says inside its own loop
lambda u, nest: counters(u)  # says a whole number

# %% wrong: says returns nothing here
def nothing_for_constants(u, nest):
    if u.op is not Ops.CONST:
        return deepest(u, nest)
nothing_for_constants

# %% wrong: says uses `ranges`
def by_asking(u, nest):
    return max((nest.index(r) + 1 for r in u.ranges), default=0)
by_asking

# %% wrong: what uses the sum gets its counters back
def loops_around(u, nest):
    below = set(u.toposort()) - (set(u.src[1:]) if u.op is Ops.REDUCE else set())
    return max((n for n, r in enumerate(nest, 1) if r in below), default=0)

# %% right, each line
deepest
