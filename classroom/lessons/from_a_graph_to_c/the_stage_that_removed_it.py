"""Which stage removed an op

Hint: Where would you look first, at the front of the list or at its end? An op may go and come
back.
Hint: Find the last stage with a node of that op. If it's the last of all, nobody removed it.
Otherwise it was the one after that, and if no stage has it, that's "" too.
Because: After the last stage that still has the op comes the one that removed it.
Right: You can now read the whole compiler by what it takes away.
"""

from classroom.ask import Wrong, call, describe, fresh_sizes, fresh_tensor, wrong_if
from classroom.lessons.from_a_graph_to_c.shared import _later
from classroom.lowered import Stages, removed
from tinyframe.codegen import full_rewrite_to_sink, get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop import Ops, UOp


def check(answer) -> None:
    """answer(op, stages): the name of the stage that removed an op for good, or ""."""
    x, y = UOp.range(3, 0), UOp.range(4, 1)
    first = [("loops", (x * y + x).toposort()), ("sum", (x + x).toposort()),
             ("last", (x + y).toposort())]  # fmt: skip
    back = [("one", (x * 2).toposort()), ("two", (x + x).toposort()),
            ("three", (x * x).toposort()), ("four", x.toposort())]  # fmt: skip
    new = [("one", x.toposort()), ("two", (x + y).toposort()), ("three", y.toposort())]
    said = {
        "MUL, which is there after `loops`, and not after `sum` or `last`": (Ops.MUL, first),
        "ADD, which is there all the time": (Ops.ADD, first),
        "EXP2, which never is": (Ops.EXP2, first),
        "MUL, which is there after `one`, gone after `two`, back after `three`, and gone after "
        "`four`": (Ops.MUL, back),
        "ADD, which isn't there after `one`, is after `two`, and gone after `three`": (
            Ops.ADD, new),
    }  # fmt: skip
    later = False
    for case, (op, stages) in said.items():
        _stage(answer, op, [(name, [*nodes]) for name, nodes in stages], case, later)
        later = True
    for op in (Ops.EXP2, Ops.REDUCE, Ops.LOAD, Ops.RANGE, Ops.SQRT):
        _stage(answer, op, _real_stages(), f"{op.name}, on the way of a real kernel", later)


def _stage(answer, op: Ops, stages: Stages, case: str, later: bool) -> None:
    names = [name for name, _ in stages]
    got = _later(answer, op, stages, case=case) if later else call(answer, op, stages)
    got = got[0] if isinstance(got, tuple) and got and isinstance(got[0], str) else got
    if not isinstance(got, str) or got not in ("", *names):
        raise Wrong('The answer has to be the name of a stage, or "".', case,
                    ", ".join(names), describe(got))  # fmt: skip
    expected = removed(op, stages)
    if got == expected:
        return
    shown = repr(expected), repr(got)
    wrong_if(not expected, 'No stage removed it for good, so that\'s "".', case, *shown)
    if got and names.index(got) == names.index(expected) - 1:
        raise Wrong("After that stage it's still there. The one that removed it is the next.", case,
                    *shown)  # fmt: skip
    if got and names.index(got) < names.index(expected):
        raise Wrong("It comes back later. Find the stage after which it never does.", case, *shown)
    raise Wrong("A different stage removed it.", case, *shown)


def _real_stages() -> Stages:
    """A fresh kernel at the beginning, before it's a list, and as a list."""
    n, m = fresh_sizes(2)
    (item,) = (fresh_tensor(n, m) * fresh_tensor(n, 1).exp()).sum(axis=1).schedule()
    renderer = CStyleLanguage()
    lines = get_program(item.ast, renderer).uops
    return [
        ("loops", [*item.ast.toposort()]),
        ("graph", [*full_rewrite_to_sink(item.ast, renderer).toposort()]),
        ("lines", lines),
    ]

# %% shared
def has(op, nodes):
    return any(u.op is op for u in nodes)

def from_the_end(op, stages):
    """The last stage that has it, then the next."""
    for n in reversed(range(len(stages))):
        if has(op, stages[n][1]):
            return stages[n + 1][0] if n + 1 < len(stages) else ""
    return ""

# %% wrong, each line
lambda op, stages: ""  # says A different stage
lambda op, stages: 0  # says the name of a stage

# %% wrong: says it's still there
def last_that_has_it(op, stages):
    there = [name for name, nodes in stages if has(op, nodes)]
    return there[-1] if there else ""
last_that_has_it

# %% wrong: says returns nothing here
def falls_through(op, stages):
    """A loop that returns what it finds, and nothing after it."""
    for (_, before), (name, nodes) in zip(stages, stages[1:], strict=False):
        if has(op, before) and not has(op, nodes):
            return name
falls_through

# %% wrong: says comes back later
def first_without(op, stages):
    before = False
    for name, nodes in stages:
        if before and not has(op, nodes):
            return name
        before = before or has(op, nodes)
    return ""
first_without

# %% wrong: says No stage removed it
def first_without_at_all(op, stages):
    return next((name for name, nodes in stages if not has(op, nodes)), "")
first_without_at_all

# %% wrong: nothing for an op that never was, and no stage after the last
def removed_by(op, stages):
    there = [n for n, (name, nodes) in enumerate(stages) if op in {u.op for u in nodes}]
    return stages[there[-1] + 1][0]

# %% right, each line
from_the_end
