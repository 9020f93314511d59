"""For tests of what learners see: parts 8 and 9, with an exercise of each kind; a Number."""

from __future__ import annotations

import math
from typing import Any

import pytest

import classroom.exercises as tables
from classroom.ask import call, fresh_tensor, moves, predicts, same_number
from classroom.exercise import Exercise, Graphs, Wrong
from classroom.exercises import answers
from tinyframe.uop import Ops

HINTS = ("What do you know about it?", "Go through them one by one.")


def count_nodes(answer: Any) -> str:
    a = fresh_tensor(5)
    graph = a * a + a
    same_number(call(answer, graph, Ops.MUL), 1, "`a * a + a`", "nodes")
    return "Each node is counted once."


def multiply_add(answer: Any) -> str:
    a, b = fresh_tensor(5), fresh_tensor(5)
    got, expected = call(answer, a.uop, b.uop), (a * b + a).uop
    if got is not expected:
        graphs = Graphs(got, expected, {"a": a, "b": b})
        raise Wrong("Your graph has a different shape.", "`a * b + a`", graphs=graphs)
    return "It is that very object."


def mirrored(answer: Any) -> str:
    moves(answer, lambda a: a[::-1, ::-1].T, "a")
    return "Nothing was moved."


def guess(number: str, name: str, value: Any) -> Exercise:
    because = f"The reason for {name}."
    return Exercise(
        number, name, "A guess", predicts(lambda: value), HINTS, "the next cell", because
    )


EIGHT = (guess("8.1", "eight", 1),)
NINE = (
    guess("9.1", "nothing", 0),
    Exercise("9.2", "count", "Count the nodes", count_nodes, HINTS, because="A graph, no tree."),
    guess("9.3", "sixty", 60),
    Exercise("9.4", "multiply-add", "Build a graph", multiply_add, HINTS, because="So it is."),
    Exercise("9.5", "mirrored", "Mirror it", mirrored, HINTS, because="So it is."),
    guess("9.6", "five", (1, 1, 2, 1, 2)),
)
CODE = """\
def count(tensor, op):
    return len([u for u in tensor.uop.toposort() if u.op is op])"""
WORKED = {"count": CODE}


@pytest.fixture
def two_parts(monkeypatch: pytest.MonkeyPatch):
    """In place of the course's own parts."""
    monkeypatch.setattr(tables, "TITLES", {8: "A small part", 9: "A larger part"})
    monkeypatch.setattr(tables, "order", dict)
    given = {part: [(e, e.number) for e in those] for part, those in ((8, EIGHT), (9, NINE))}
    monkeypatch.setattr(tables, "_files", lambda part: given.get(part, []))
    monkeypatch.setattr(tables, "_loaded", lambda exercise, number: exercise)
    monkeypatch.setattr(answers, "stored", lambda: WORKED)
    tables.exercises.cache_clear()
    yield
    tables.exercises.cache_clear()


class Number:
    """The scalar of part 1."""

    def __init__(self, value, *sources):
        self.value, self.sources, self.grad = value, sources, 0.0

    def __add__(self, other):
        return type(self)(self.value + other.value, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        return type(self)(self.value * other.value, (self, other.value), (other, self.value))

    def tanh(self):
        t = math.tanh(self.value)
        return type(self)(t, (self, 1.0 - t * t))

    def backward(self, grad=1.0):
        self.grad += grad
        for source, slope in self.sources:
            source.backward(grad * slope)
