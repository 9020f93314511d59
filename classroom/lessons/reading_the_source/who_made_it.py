"""The first step that a node comes out of

Hint: When is a node new? Compare what went into a step with what came out.
Hint: `step.after.toposort()` has all nodes below what a step gave, and `step.before` likewise.
Take the first step that has the node in one and not in the other.
Because: A step may give a whole tree, so it isn't enough to look at its root. And a node that was
there before wasn't made by it.
Right: Every node has a birth certificate now: a row of a table, or that it was always there.
"""

import dis
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from classroom.ask import Open, Wrong, call, describe, does_nothing
from classroom.births import made_in, recorded
from tinyframe import Tensor
from tinyframe.rewrite.matcher import Step
from tinyframe.uop import Ops, UOp


def check(answer) -> None:
    a = Tensor([3.0, 4.0]).realize()
    b = Tensor([7, 200, 5], dtype="uint8").realize()
    i = Tensor([3, 4, 5]).realize()
    for x, case in (
        (a - a * 0.5, "`a - a * 0.5`"),
        (b // 8, "`b // 8`, of uint8"),
        (a.exp2(), "`a.exp2()`"),
        (i % 3 + i // 3, "`i % 3 + i // 3`"),  # some of its nodes are made twice
    ):
        sink, passes = recorded(x)
        nodes = sorted(sink.toposort(), key=lambda u: u.op not in (Ops.SUB, Ops.SHR, Ops.BITCAST))
        if not callable(answer):
            call(answer)  # says what is asked for
        given = [answer(u, list(passes)) for u in nodes]
        if all(got is None or got is ... for got in given):
            if does_nothing(answer):
                raise Open
            if not has_return(answer):
                raise Open("It gives None for every node. Is there a `return`?")
            raise Wrong("It says of every node that nobody made it. Some step, of some pass, did.",
                        case)  # fmt: skip
        for u, got in zip(nodes, given, strict=True):
            where, expected = f"{case}, the node {u.op.name}", made_in(u, passes)
            if got is not None and not isinstance(got, Step):
                raise Wrong("The answer has to be a step, or None.", where, got=describe(got))
            if got is not expected:
                raise Wrong(_difference(got, expected, u), where)


def has_return(function: Callable[..., Any]) -> bool:
    """Whether a function anywhere returns something that isn't None."""
    code = getattr(function, "__code__", None)
    steps = [*dis.get_instructions(code)] if code is not None else []
    nothing = ("LOAD_CONST", None)
    return code is None or any(
        step.opname == "RETURN_VALUE" and (last.opname, last.argval) != nothing
        for last, step in pairwise(steps)
    )


def _difference(got: Step | None, expected: Step | None, u: UOp) -> str:
    if expected is None:
        return "No step made this one: it was there before. You give a step all the same."
    if got is None:
        return "You say that nobody made it, and a step did. (It may be below what the step gave.)"
    if u in got.before.toposort():
        return "In the step that you give, the node was there before."
    if u not in got.after.toposort():
        return "The step that you give has nothing to do with this node."
    return "There's an earlier step that made it."

# %% shared
def only_the_root(node, passes):
    return next((s for p in passes for s in p.steps if s.after is node), None)

# %% wrong, each line
only_the_root  # says it was there before

# %% wrong: says has to be a step
def the_rule(node, passes):
    step = only_the_root(node, passes)
    return step and step.rule
the_rule

# %% wrong: text for identity, and only the top of what a step gave
def who_made(node, passes):
    for one in passes:
        for step in one.steps:
            if step.after.render() == node.render():
                return step

# %% wrong: its number, and not the step
def who_made(node, passes):
    steps = [step for one in passes for step in one.steps]
    for n, step in enumerate(steps):
        if node in step.after.toposort() and node not in step.before.toposort():
            return n

# %% wrong: only the last pass is asked, in which nothing is made
def who_made(node, passes):
    for step in passes[-1].steps:
        if node in step.after.toposort() and node not in step.before.toposort():
            return step

# %% right
def with_sets(node, passes):
    steps = (s for p in passes for s in p.steps)
    for step in steps:
        if node in {*step.after.toposort()} - {*step.before.toposort()}:
            return step
    return None
with_sets

# %% right: a chain and a filter
def who_made(node, passes):
    from itertools import chain
    steps = chain.from_iterable(one.steps for one in passes)
    is_new = lambda s: node in s.after.toposort() and node not in s.before.toposort()
    return next(filter(is_new, steps), None)
