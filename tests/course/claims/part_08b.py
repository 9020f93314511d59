"""What the last page of 8b claims."""

from __future__ import annotations

import numpy as np

from classroom.conformed import conformance
from classroom.far import FAR_SPEED, LAUNCH, add, here, there_and_back
from classroom.own_device import OurRunner, in_rows_of, ops_in, registered
from tests.classroom.snake import MendedWords, Snake, Words, snake
from tests.course.claims import claim
from tinyframe import Tensor
from tinyframe.device import Compiled, Compiler, Runner
from tinyframe.uop import Ops


class Counting(Runner):
    """Runs nothing, and is told of everything."""

    launches: list[str] = []

    def __call__(self, *bufs, **given):
        Counting.launches.append(self.name)


def paper(name):
    return Compiled(name, MendedWords(), runner=Counting)


def friday(name):
    return Compiled(name, Words(), Snake(), Compiler(), OurRunner)


@claim(
    "A device is memory, a language, a compiler and something that calls a kernel, and tinyframe "
    "knows nothing else about it."
)
def four_parts_are_a_device():
    numbers = np.random.default_rng().random((5, 4), dtype=np.float32)

    def monday(name):
        return Compiled(name, MendedWords(), snake()(), Compiler(), OurRunner)

    with registered(monday, "MONDAY"):
        found = (Tensor(numbers, device="MONDAY") @ Tensor(numbers.T, device="MONDAY")).softmax()
        expected = (Tensor(numbers) @ Tensor(numbers.T)).softmax()
        assert np.allclose(found.numpy(), expected.numpy(), rtol=1e-4)


@claim("A language needs about two dozen words, and every op that it lacks is made of those.")
def a_dozen_rows_say_everything():
    language = snake(without=[Ops.CMOD])
    x, y = Tensor([0.5, 2.0]).realize(), Tensor([3.0, 1.0]).realize()
    i, j = Tensor([7, -7]).realize(), Tensor([2, 3]).realize()
    lacking = [x.sin(), x.exp2(), x.log2(), x.sqrt(), x.trunc(), x.maximum(y), x**y, x.eq(y),
               x.reciprocal(), i // j, i % j]  # fmt: skip
    words = {*language.code_for_op, Ops.CAST, Ops.BITCAST}
    assert len(language.code_for_op) == 12
    for result in lacking:
        assert set(ops_in(in_rows_of(language, result))) <= words
        assert ops_in(in_rows_of(language, result)) != ops_in(result.uop)


@claim("A table of conformance finds the op that your programs haven't needed yet.")
def the_table_finds_what_a_program_does_not():
    with registered(friday, "FRIDAY"):
        assert (Tensor([1, 2, 3], device="FRIDAY") * 2 + 1).tolist() == [3, 5, 7]
        table = conformance("FRIDAY", ["memory", "add", "choose", "divide, rounding down"])
    assert {"memory", "choose", "divide, rounding down"} <= set(table.wrong)


@claim(
    "A launch costs the same for one element as for a thousand, and a copy can cost more than the "
    "work."
)
def launches_and_copies_have_a_price():
    one, thousand = there_and_back(add, 1), there_and_back(add, 1000)
    assert one.seconds["launches"] == thousand.seconds["launches"] == LAUNCH
    assert thousand.seconds["copies in"] > thousand.seconds["work"] == 1000 / FAR_SPEED


@claim("A device is a piece of hardware.")
def paper_is_a_device():
    Counting.launches.clear()
    with registered(paper, "PAPERS"):
        assert (Tensor([1, 2, 3], device="PAPERS") * 2 + 1).tolist() == [0, 0, 0]
    assert len(Counting.launches) == 1


@claim("If the results look right, the backend is right.")
def a_snake_cannot_do_a_relu():
    with registered(friday, "FRIDAY"):
        assert Tensor([-1.0, 2.0], device="FRIDAY").softmax().numpy().argmax() == 1
        assert Tensor([-1.0, 2.0], device="FRIDAY").relu().tolist() != [0.0, 2.0]


@claim("A faster device makes everything faster.")
def an_addition_is_quicker_here():
    for size in (1, 1000, 1_000_000):
        assert there_and_back(add, size).total > here(add, size)
