"""What a kernel does, in a sentence: over many kinds of kernels."""

from __future__ import annotations

import re

import pytest

from tinyframe import Tensor, Variable
from tinyframe.uop.node import GroupOp
from tinyframe.viz.words import VERBS, sentence


def empty(*shape: int, dtype: str = "float") -> Tensor:
    return Tensor.empty(*shape, dtype=dtype)


def said(*tensors: Tensor) -> list[str]:
    return [sentence(item.ast) for item in tensors[0].schedule(*tensors[1:])]


def test_every_elementwise_op_has_a_verb():
    assert GroupOp.Elementwise <= VERBS.keys()


ELEMENTWISE = {
    "adds": lambda a, b: a + b,
    "multiplies": lambda a, b: a * b,
    "squares": lambda a, b: a * a,
    "subtracts": lambda a, b: a - b,
    "divides": lambda a, b: a / b,
    "negates": lambda a, b: -a,
    "takes square roots": lambda a, b: a.sqrt(),
    "takes sines": lambda a, b: a.sin(),
    "takes exponentials": lambda a, b: a.exp(),
    "raises 2 to each": lambda a, b: a.exp2(),
    "takes logarithms": lambda a, b: a.log(),
    "takes logarithms to base 2": lambda a, b: a.log2(),
    "sets what is negative to 0": lambda a, b: a.relu(),
    "converts to half": lambda a, b: a.half(),
    "compares and chooses": lambda a, b: (a < b).where(a, b),
    "adds and multiplies": lambda a, b: (a + b) * b,
    "adds, multiplies and takes sines": lambda a, b: ((a + b) * b).sin(),
}


@pytest.mark.parametrize("words", ELEMENTWISE)
@pytest.mark.parametrize("shape", [(6,), (5, 7), (2, 3, 4)])
def test_elementwise_kernels_say_what_they_compute_and_for_how_many(words, shape):
    count = empty(*shape).numel()
    assert said(ELEMENTWISE[words](empty(*shape), empty(*shape))) == [
        f"{words}, for each of {count} elements"
    ]


@pytest.mark.parametrize(("rows", "columns"), [(37, 41), (64, 128), (50, 2)])
@pytest.mark.parametrize(
    ("method", "verb"), [("sum", "sums"), ("max", "finds the largest of"),
                         ("prod", "multiplies together")],
)  # fmt: skip
def test_a_reduce_says_what_becomes_one_number(rows, columns, method, verb):
    reduce = {axis: getattr(empty(rows, columns), method)(axis=axis) for axis in (0, 1)}
    assert said(reduce[1]) == [f"{verb} each of {rows} rows of {columns} numbers"]
    assert said(reduce[0]) == [f"{verb} each of {columns} columns of {rows} numbers"]
    assert said(getattr(empty(rows, columns), method)()) == [
        f"{verb} all {rows * columns:,} numbers"
    ]


def shares(times: int) -> Tensor:
    x = empty(64, 64)
    for _ in range(times):
        x = x / x.sum()
    return x


PAIRS = "multiplies pairs of numbers and sums"
SENTENCES = [
    (lambda: empty(40, 8).softmax(), [
        "finds the largest of each of 40 rows of 8 numbers; subtracts, takes exponentials and sums "
        "each row; then subtracts, takes exponentials and divides"]),
    *[(lambda n=n: empty(40, n).mean(axis=1),
       [f"sums each of 40 rows of {n:,} numbers; then divides by {n:,}"]) for n in (3, 8, 1000)],
    (lambda: empty(3, 5) @ empty(5, 7),
     ["multiplies matrices: each of 3 × 7 results is a sum of 5 products"]),
    (lambda: (empty(64, 128) @ empty(128, 32)).relu(), [
        "multiplies matrices: each of 64 × 32 results is a sum of 128 products; then sets what is "
        "negative to 0"]),
    (lambda: (empty(100) * empty(100)).sum(), [f"{PAIRS} all 100 products"]),
    (lambda: (empty(50, 6) * empty(50, 6)).sum(axis=1), [f"{PAIRS} each of 50 rows of 6 products"]),
    (lambda: (empty(50, 6) ** 2).sum(axis=1),
     ["squares and sums each of 50 rows of 6 numbers"]),
    (lambda: empty(2, 3, 16, 16).conv2d(empty(8, 3, 3, 3)), [
        "slides windows over its input: each of 2 × 8 × 14 × 14 results is a sum of 27 products"]),
    (lambda: empty(2, 3, 16, 16).max_pool2d(2),
     ["finds the largest of each of 384 windows of 4 numbers"]),
    (lambda: shares(1), ["sums all 4,096 numbers", "divides, for each of 4,096 elements"]),
    (lambda: shares(3), [
        "stores 3 results: sums all 4,096 numbers; divides and sums all 4,096 numbers; divides and "
        "sums all 4,096 numbers", "divides, for each of 4,096 elements"]),
    (lambda: empty(6).to("PYTHON"), ["copies 6 numbers to PYTHON"]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "sentences"), SENTENCES)
def test_each_kernel_of_a_tensor_is_told_in_a_sentence(make, sentences):
    assert said(make()) == sentences


N = Variable("n", 1, 10).bind(3)
MOVED = {
    "copies 12 numbers in a different order": lambda: empty(3, 4).T,
    "copies 12 numbers in a different order ": lambda: empty(3, 4).flip(0),
    "copies 24 numbers with zeros around them": lambda: empty(4, 4).pad(((1, 1), (0, 0))),
    "copies 8 numbers": lambda: empty(3, 4)[1:],
    "copies 12 numbers several times": lambda: empty(3, 1).expand(3, 4),
    "fills each of 12 elements": lambda: Tensor.full((3, 4), 2.5),
    "writes 5 numbers, counting up": lambda: Tensor.arange(5),
    "puts together, for each of 24 elements": lambda: empty(3, 4).cat(empty(3, 4)),
    "adds, for 1 element": lambda: empty(1) + 1,
    "sums each of n rows of 4 numbers": lambda: empty(10, 4)[:N].sum(axis=1),
}


@pytest.mark.parametrize("words", MOVED)
def test_kernels_that_only_move(words):
    (found,) = said(MOVED[words]().contiguous())
    expected = {"fills each of 12 elements": "fills 12 elements with 2.5"}.get(words, words)
    assert found == expected.strip()


def test_a_step_of_an_optimizer_stores_two_results():
    speed, weight, slope = (Tensor.ones(64).contiguous().realize() for _ in range(3))
    speed.assign(speed * 0.9 + slope)
    weight.assign(weight - speed)
    (words,) = said(speed, weight)
    start, _, rest = words.partition(": ")
    assert start == "stores 2 results"
    assert set(rest.split("; and ")) == {
        "multiplies and adds, for each of 64 elements",
        "multiplies, adds and subtracts, for each of 64 elements",
    }


@pytest.mark.parametrize("dtype", ["bool", "int", "half", "long", "uchar"])
def test_other_dtypes_have_sentences_too(dtype):
    x = empty(40, 8, dtype=dtype)
    for words in (*said(x.sum(axis=1)), *said((x + x).max()), *said(x == x)):
        assert re.fullmatch(r"[a-z][\w ,;×:]+", words)


def test_many_operations_are_counted_not_listed():
    (words,) = said(Tensor.empty(9).gelu())
    assert re.fullmatch(r"does \d+ operations, for each of 9 elements", words)


def test_a_kernel_of_1000_operations_is_told_as_fast_as_any(monkeypatch):
    x = empty(4)
    for _ in range(900):
        x = x.sin() + 1
    seen = 0
    toposort = type(x.uop).toposort

    def counting(self, gate=None):
        nonlocal seen
        found = toposort(self, gate)
        seen += len(found)
        return found

    items = x.schedule()
    monkeypatch.setattr(type(x.uop), "toposort", counting)
    assert all(sentence(item.ast) for item in items)
    assert seen < 100 * 1800, "the walks together are a few times the nodes, not their square"
