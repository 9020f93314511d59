"""Part 10a, reading the source: the exercises, and what an answer has to do."""

from __future__ import annotations

import dis
import random
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from classroom import stops
from classroom.added import added
from classroom.ask import call, count, describe, does_nothing, predicts
from classroom.births import made_in, recorded
from classroom.exercise import Exercise, Open, Wrong
from classroom.origins import remains
from classroom.paths import Walk, counted, entered, walked, walks
from classroom.rooms import answered
from classroom.walking import Call
from tinyframe import Tensor
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.rewrite.matcher import Step
from tinyframe.uop import Ops, UOp

# ---- what the predictions are about, done for real ----------------------------------------------

FIVE = (
    "tensor/elementwise.py",
    "schedule/__init__.py",
    "schedule/ranges.py",
    "renderer/cstyle.py",
    "run/realize.py",
)


def entered_again() -> tuple[bool, ...]:
    """Which of five rooms a second `a + b` enters."""
    _, again = walks("a + b", "a + b", to="numbers")
    return entered(again, FIVE)


def lines_that_remain() -> tuple[bool, ...]:
    a = Tensor([[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]]).realize()

    def steps() -> Tensor:
        doubled = a * 2
        turned = doubled.T
        same = turned + 0
        alone = same.detach()
        clipped = alone.relu()
        again = clipped.relu()
        return again.sum()

    return remains(steps)


# ---- answers -------------------------------------------------------------------------------------

SMALL: list[Call] = [("b.py", "f"), ("a.py", "g"), ("b.py", "h"), ("b.py", "f"), ("a.py", "g")]


def rooms(answer: Any) -> str:
    letters = "abcdefg"
    fresh = [(f"{random.choice(letters)}.py", random.choice(letters)) for _ in range(200)]
    real = [*walked("a + b").calls]
    for calls, case in ((SMALL, f"`rooms({SMALL})`"), (fresh, "200 calls"), (real, "`a + b`")):
        got = call(answer, list(calls))
        expected = counted(Walk(case, tuple(calls)))
        same_rooms(got, expected, case, calls)
    return f"{count(len(expected), 'room')} for `a + b`, each once, in the order you pass them."


def same_rooms(got: Any, expected: dict[str, int], case: str, calls: list[Call]) -> None:
    try:
        found = dict(got)
    except (TypeError, ValueError):
        raise Wrong("The answer has to be a dict, from a file to a number.", case,
                    got=describe(got)) from None  # fmt: skip
    shown = (expected, found) if case.endswith(")`") and calls is SMALL else ("", "")
    if set(found) != set(expected):
        raise Wrong("Not every file is there once, and nothing else.", case, *shown)
    entries = {file: sum(f == file for f, _ in calls) for file in expected}
    if found != expected:
        if found == entries:
            raise Wrong("You counted calls. A function that's called twice is still one function.",
                        case, *shown)  # fmt: skip
        raise Wrong("The files are right, and the numbers of functions aren't.", case, *shown)
    if [*found] != [*expected]:
        raise Wrong("The numbers are right, and the order isn't: a file's place is that of its "
                    "first call.", case, *shown)  # fmt: skip


def front(answer: Any) -> str:
    answered(answer, range(1, 6))
    return "Five rooms, and you can find your way about in each. Half the house is yours."


def back(answer: Any) -> str:
    answered(answer, range(6, 11))
    return "From a list of nodes to two kinds of machine, and to a layer. That's all ten."


# 10.5: a breakpoint in a rule, and a number that only an outer frame knows


def at_an_addition(u: UOp) -> None:
    breakpoint()


def deeper(size: int) -> tuple[UOp, int]:
    """A kernel that multiplies a few times and adds 1, and how many nodes it has."""
    x = Tensor([1.0] * size).realize()
    for n in range(size % 7 + 2):
        x = x * (n + 2)
    (item,) = (x + 1).schedule()
    return item.ast, len(item.ast.toposort())


def printed_in(kernel: UOp, commands: list[str]) -> str:
    """What the debugger prints. The outermost frame that it sees is this one, and no name of the
    compiler's is in it, as none is in a learner's cell."""
    table = PatternMatcher([(UPat(Ops.ADD, name="u"), at_an_addition)])
    with added(table), stops.session(commands) as said:
        get_program(kernel, CStyleLanguage(), [])
    return stops.answers(said[0])


def session(answer: Any) -> str:
    commands = stops.understood(answer)
    for size in (3, *random.sample(range(20, 80), 2)):
        kernel, nodes = deeper(size)
        printed = printed_in(kernel, commands)
        if not re.search(rf"(?<![\w.]){nodes}(?![\w.])", printed):
            raise Wrong(
                "The number of nodes isn't among what was printed.",
                "a kernel that adds 1",
                nodes if size == 3 else "",
                (printed.strip() or "nothing")[-200:] if size == 3 else "",
            )
    return "You looked up from a rule, through the compiler, to the whole kernel."


def who_made(answer: Any) -> str:
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
    return "Every node has a birth certificate now: a row of a table, or that it was always there."


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


SHORT = 30  # characters
TO_BEAT = "Tensor.rand(3).sum()"


def long_way(answer: Any) -> str:
    if not isinstance(answer, str):
        raise Wrong("The answer has to be an expression in quotes.", got=describe(answer))
    text = answer.strip()
    if len(text) > SHORT:
        raise Wrong(f"That's {len(text)} characters. At most {SHORT} are allowed.", got=text)
    mine, least = walked(text), walked(TO_BEAT)
    if len(mine.rooms) <= len(least.rooms):
        raise Wrong(
            f"It enters {count(len(mine.rooms), 'room')}, and `{TO_BEAT}` enters "
            f"{len(least.rooms)}. Which room has nobody been in?",
            got=text,
        )
    new = [file for file in mine.rooms if file not in least.rooms]
    return (
        f"{len(mine.rooms)} rooms in {len(text)} characters. You got into "
        f"{', '.join(new[:4])}{' and more' * (len(new) > 4)}."
    )


EXERCISES = (
    Exercise(
        "10.1",
        "rooms-on-the-way",
        "Each file once, and how many functions of it are called",
        rooms,
        (
            "What do you have to remember about a file while you go through the calls?",
            "A dict keeps the order in which keys come in. Give each file a set of names.",
        ),
        seconds=90,
        because="A set forgets repetitions, and a dict remembers who came first. That's all a map "
        "of the house needs.",
    ),
    Exercise(
        "10.2",
        "front-rooms",
        "A name for each of the rooms 1 to 5",
        front,
        (
            "Each file opens with a paragraph on what it's for. Which word of the question is in "
            "it, or in a docstring?",
            "1: `Tensor.__mro__`. 2: a constant in capitals, near the top. 3: which class has "
            "`structure`? 4: where does Python make an object? 5: which docstring speaks of a "
            "condition?",
        ),
        because="`+` is written once, for Tensors and nodes alike. Contiguous copies, copies and "
        "assignments are always stored. The key is the graph without its buffers. A node that's "
        "there is found before a new one is made. And a padding's condition goes to the INDEX.",
    ),
    Exercise(
        "10.3",
        "back-rooms",
        "A name for each of the rooms 6 to 10",
        back,
        (
            "For 6 and 8, look at what comes out: a list of instructions, and a piece of C.",
            "6: print the `uops` of a program. 7: a dict with a row for each op. 8: C's last "
            "function. 9: who has `__call__`? 10: what does `Linear.__call__` return?",
        ),
        because="A list needs an end for each loop, which a graph doesn't. A language is a table. "
        "Every kernel is entered by the same door. A GPU needs a runner of its own, and a layer "
        "hardly anything.",
    ),
    Exercise(
        "10.4",
        "second-time",
        "Which of the five rooms does the second one enter? Five times True or False",
        predicts(entered_again),
        (
            "What of the first time can be kept? What has to be asked before it's used?",
            "The graph is built anew, its structure is looked up, and the kernel is run.",
        ),
        shown_by="the next cell",
        seconds=90,
        because="Building the graph, looking up its schedule, and running the kernel happen every "
        "time. Lowering and rendering happened once, and their results are kept.",
    ),
    Exercise(
        "10.5",
        "from-inside-a-rule",
        "Commands for the debugger that print how many nodes the kernel has",
        session,
        (
            "Which of the frames above knows the whole kernel? `w` shows them all.",
            "`up` takes a number. In the frame of `get_program`, the kernel is called `ast`.",
        ),
        because="A rule sees one node. Whoever called the compiler still has the whole kernel, "
        "and in a frame further out you can use its variables.",
    ),
    Exercise(
        "10.6",
        "lines-that-remain",
        "Is there anything left of each line? Seven times True or False",
        predicts(lines_that_remain),
        (
            "Which of the lines compute something, for some element?",
            "Movement becomes index arithmetic, and `+ 0` has a rule. Is there one for two relus?",
        ),
        shown_by="the next cell",
        seconds=90,
        because="A transpose only changes an index, adding 0 has a rule, and a detach is only for "
        "gradients. But nobody has a rule for a relu of a relu, so both are computed.",
    ),
    Exercise(
        "10.7",
        "who-made-it",
        "The first step that a node comes out of",
        who_made,
        (
            "When is a node new? Compare what went into a step with what came out.",
            "`step.after.toposort()` has all nodes below what a step gave, and `step.before` "
            "likewise. Take the first step that has the node in one and not in the other.",
        ),
        because="A step may give a whole tree, so it isn't enough to look at its root. And a node "
        "that was there before wasn't made by it.",
    ),
    Exercise(
        "10.8",
        "the-long-way",
        "An expression of at most 30 characters that enters more rooms",
        long_way,
        (
            "Which rooms of tensor/ has nobody been in? What would take you there?",
            "Random numbers open a few doors. Sorting them, or taking some of them, opens more.",
        ),
        because="Methods that are made of many others take a long way: random numbers need whole "
        "numbers, and sorting needs comparisons, gathering and movement.",
        seconds=90,
    ),
)  # fmt: skip
