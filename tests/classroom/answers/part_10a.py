"""Part 10a: what somebody might answer, and what they are told."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Any

from tinyframe.uop import Ops
from tinyframe.uop.node import Operators, UOp

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = {"10.2", "10.3", "10.5", "10.8"}

# for each prediction what is right, and what somebody might think
GUESSES: dict[str, tuple[Any, ...]] = {
    "10.4": (
        (True, True, False, False, True),
        (True, True, True, True, True),
        (False, False, False, False, True),
        (True, False, False, False, True),
        (True, True, True, False, True),
    ),
    "10.6": (
        (True, False, False, False, True, True, True),
        (True, True, True, True, True, True, True),
        (True, True, False, False, True, False, True),
        (True, False, False, False, True, False, True),
        (True, False, True, False, True, True, True),
    ),
}


# ---- 10.1 ----------------------------------------------------------------------------------------


def calls_counted(calls):
    return dict(Counter(file for file, _ in calls))


def in_alphabetical_order(calls):
    return {f: len({n for g, n in calls if g == f}) for f in sorted({f for f, _ in calls})}


def last_calls_place(calls):
    return {f: len({n for g, n in calls if g == f}) for f, _ in reversed(calls)}


def only_names(calls):
    return [*dict.fromkeys(file for file, _ in calls)]


def one_each(calls):
    return {file: 1 for file, _ in calls}


def by_function(calls):
    return {name: 1 for _, name in calls}


def pairs(calls):
    found = OrderedDict()
    for file, name in calls:
        found.setdefault(file, []).append(name)
    return ((file, len({*names})) for file, names in found.items())


def by_two_passes(calls):
    seen = Counter(file for file, _ in dict.fromkeys(calls))
    return seen


# ---- 10.7 ----------------------------------------------------------------------------------------


def only_the_root(node, passes):
    return next((s for p in passes for s in p.steps if s.after is node), None)


def the_last_one(node, passes):
    steps = [s for p in passes for s in p.steps]
    return next(
        (
            s
            for s in reversed(steps)
            if node in s.after.toposort() and node not in s.before.toposort()
        ),
        None,
    )


def comes_out_of(node, passes):
    return next((s for p in passes for s in p.steps if node in s.after.toposort()), None)


def goes_in(node, passes):
    return next((s for p in passes for s in p.steps if node in s.before.toposort()), None)


def the_rule(node, passes):
    step = only_the_root(node, passes)
    return step and step.rule


def the_pass(node, passes):
    return next((p.name for p in passes for s in p.steps if s.after is node), "nobody")


def with_sets(node, passes):
    steps = (s for p in passes for s in p.steps)
    for step in steps:
        if node in {*step.after.toposort()} - {*step.before.toposort()}:
            return step
    return None


ALL_OF_FRONT = {1: "Operators", 2: "COPY", 3: "_GraphKey", 4: "__new__", 5: "guard"}
ALL_OF_BACK = {6: "ENDRANGE", 7: "code_for_op", 8: "_entry", 9: "CUDARunner", 10: "linear"}

WRONG: list[Any] = [
    ("10.1", calls_counted, "You counted calls"),
    ("10.1", in_alphabetical_order, "the order isn't"),
    ("10.1", last_calls_place, "the order isn't"),
    ("10.1", only_names, "has to be a dict"),
    ("10.1", one_each, "the numbers of functions aren't"),
    ("10.1", by_function, "Not every file is there once"),
    ("10.2", ALL_OF_FRONT | {1: "Tensor"}, "Room 1: Cold: `tensor` is in tensor/core.py"),
    ("10.2", ALL_OF_FRONT | {2: "EXPAND"}, "Room 1 is right. Room 2"),
    ("10.2", ALL_OF_FRONT | {3: "create_schedule"}, "Rooms 1 and 2 are right. Room 3: Hot"),
    ("10.2", ALL_OF_FRONT | {5: "lower"}, "Rooms 1, 2, 3 and 4 are right. Room 5: Hot"),
    ("10.2", ALL_OF_FRONT | {5: "schedule"}, "Room 5: Warm: that's the right folder"),
    ("10.2", ALL_OF_FRONT | {4: "hashconsing"}, "Nothing in tinyframe is called `hashconsing`"),
    ("10.2", {6: "ENDRANGE"}, "there's no room 6"),
    ("10.2", "Operators", "has to be a dict"),
    ("10.3", ALL_OF_BACK | {6: "RANGE"}, "Room 6"),
    ("10.3", ALL_OF_BACK | {7: "code_for_vector"}, "Room 6 is right. Room 7: Hot"),
    ("10.3", ALL_OF_BACK | {7: "typedef"}, "Room 6 is right. Room 7: Hot"),
    ("10.3", ALL_OF_BACK | {9: "CUDADevice"}, "Room 9: Hot"),
    ("10.3", ALL_OF_BACK | {10: "matmul"}, "Room 10"),
    ("10.3", 5, "has to be a dict"),
    ("10.5", ["p len(ast.toposort())"], "isn't among what was printed"),
    ("10.5", ["up 9", "p 12"], "isn't among what was printed"),
    ("10.5", ["up 5", "p len(u.toposort())"], "isn't among what was printed"),
    ("10.5", ["w"], "isn't among what was printed"),
    ("10.5", ["n", "s"], "isn't among what was printed"),
    ("10.5", 12, "has to be a list of commands"),
    ("10.7", only_the_root, "it was there before"),
    ("10.7", comes_out_of, "it was there before"),
    ("10.7", goes_in, "and a step did"),
    ("10.7", the_rule, "has to be a step"),
    ("10.7", the_pass, "has to be a step"),
    ("10.8", "a + b", "It enters"),
    ("10.8", "Tensor.rand(3).sort()[0] + Tensor.rand(3)", "At most 30 are allowed"),
    ("10.8", "a + c", "goes nowhere: NameError"),
    ("10.8", 59, "has to be an expression"),
]

RIGHT: list[Any] = [
    ("10.1", pairs),
    ("10.1", by_two_passes),
    ("10.2", ALL_OF_FRONT),
    ("10.2", {"1": Operators, 2: Ops.ASSIGN, 3: "GraphKey", 4: UOp.__new__, 5: "ranges.guard"}),
    ("10.2", ["Operators", "Ops.CONTIGUOUS", "class _GraphKey", "UOp.__new__()", "guard()"]),
    ("10.3", ALL_OF_BACK),
    ("10.3", {6: Ops.ENDRANGE, 7: "CStyleLanguage.code_for_op", 8: "E_3_entry",
              9: "gpu/drivers/cuda.py: CUDARunner", 10: "x.linear"}),
    ("10.3", ("ENDRANGE", "code_for_op", "entry", "class CUDARunner", "Tensor.linear")),
    ("10.5", ["up 9", "p len(ast.toposort())"]),
    ("10.5", "(Pdb) up 4\n(Pdb) up 5\n(Pdb) pp len([*ast.toposort()])\n(Pdb) c"),
    ("10.5", [*["up"] * 9, "!print('nodes:', len(ast.toposort()))"]),
    ("10.5", ("u 8", "p len(sink.toposort())")),
    ("10.7", with_sets),
    ("10.8", " Tensor.rand(3).sort()[0] "),
]  # fmt: skip
