"""Stage 3: flat, unflat, and an Array that stores nothing."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.exercise import Wrong
from classroom.limit import OutOfTime
from classroom.mini.check import Checks, describe, expect, expect_values

checks = Checks()

ASKED_TOO_EARLY = (
    "Elements were computed when the Array was made. The new Array should only keep a function: "
    "the work is done when you call `at`."
)


NOT_MOVED = "The elements did not move. Read this Array at source_index(index), not at index."


class Counted:
    """A function that counts how often it is called."""

    def __init__(self, function: Any) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        return self.function(*arguments)


def counting(mini: Any, *shape: int) -> Any:
    """An Array of 1, 2, 3, …, made without anything that the learner writes."""
    sizes = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]

    def at(index: Any) -> int:
        if isinstance(index, (list, tuple)) and len(index) != len(shape):
            raise Wrong(
                f"An Array of shape {shape} was asked for the element {describe(index)}. An index "
                "has one number for each axis."
            )
        return 1 + sum(k * n for k, n in zip(index, sizes, strict=True))

    return mini.Array(shape, Counted(at))


def nothing_yet(array: Any) -> None:
    if not isinstance(array.at, Counted):
        raise Wrong("You changed the Array itself. Leave it as it is, and return a new one.")
    if array.at.calls:
        raise Wrong(ASKED_TOO_EARLY, got=f"{array.at.calls} calls of `at`")


class Later:
    """A whole number that is not known yet, like a loop counter: it can be calculated with."""

    def __init__(self, value: Callable[[int], int]) -> None:
        self.value = value


def _operator(f: Callable[[int, int], int]) -> Callable[[Later, Any], Later]:
    def of_later(x: Later, y: Any) -> Later:
        known = y.value if isinstance(y, Later) else lambda _: y
        return Later(lambda now: f(x.value(now), known(now)))

    return of_later


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    _function = getattr(operator, _name)
    setattr(Later, f"__{_name}__", _operator(_function))
    setattr(Later, f"__r{_name}__", _operator(lambda x, y, f=_function: f(y, x)))  # type: ignore[misc]
setattr(Later, "__divmod__", lambda x, y: (x // y, x % y))  # noqa: B010

NO_IF = (
    "This index is made of {}, which come in stage 5. Python's `if`, `int`, `max` and such "
    "need a single number that is known. + - * // % will do."
)


def is_array(said: str, got: Any, mini: Any, shape: tuple[int, ...]) -> None:
    if not isinstance(got, mini.Array):
        nothing = " Is there a `return`?" if got is None else ""
        raise Wrong(f"{said} should give an Array.{nothing}", said, "an Array", repr(got))
    if tuple(got.shape) != shape:
        raise Wrong(
            f"The shape should be {shape}, and it is {tuple(got.shape)}.", said, shape, got.shape
        )
    if not callable(got.at):
        raise Wrong(
            "The second thing that an Array is made from has to be a function that takes an index. "
            "`lambda index: …` makes one.",
            f"{said}.at", "a function", describe(got.at),
        )  # fmt: skip


def elements(array: Any) -> np.ndarray:
    found = [array.at(i) for i in itertools.product(*map(range, array.shape))]
    for element in found:
        if not isinstance(element, (int, float, np.number)):
            raise Wrong("`at` should give a number.", got=repr(element))
    return np.array(found).reshape(array.shape)


# ---- flat and unflat -----------------------------------------------------------------------------


@checks("flat", "The place of element (1, 2) in 3 rows of 4 is 6")
def two_axes(mini: Any) -> None:
    expect("flat((1, 2), (3, 4))", mini.flat((1, 2), (3, 4)), 6, {
        5: "You multiplied the row by 3, the number of rows. One whole row comes before this "
           "element, and a row has 4 elements: the size of the axis after it.",
        7: "That would be its place if the columns were written one after another. Here the rows "
           "are, so the last axis changes fastest.",
        3: "You added the two numbers of the index. One step along the first axis skips a whole "
           "row.",
        11: "You multiplied each number by the size of its own axis. One step along an axis skips "
            "as many elements as the axes after it hold.",
        2: "Only the last axis counts here. What happened to the first one?",
    })  # fmt: skip


@checks("flat", "It works for three axes and for none")
def more_axes(mini: Any) -> None:
    expect("flat((1, 0, 2), (2, 3, 4))", mini.flat((1, 0, 2), (2, 3, 4)), 14, {
        3: "This is right for two axes. Here are three, and one step along the first axis skips "
           "3 * 4 elements.",
        13: "The last axis should change fastest, and the first one slowest.",
    })  # fmt: skip
    expect("flat((), ())", mini.flat((), ()), 0)


@checks("flat", "It is right for every element of four other shapes")
def flat_agrees(mini: Any) -> None:
    for shape in [(5,), (2, 7), (3, 1, 5), (2, 3, 2, 4)]:
        for place, index in enumerate(itertools.product(*map(range, shape))):
            expect(f"flat({index}, {shape})", mini.flat(index, shape), place)


@checks("flat", "An index may be made of arrays, or of numbers that are not known yet",
        told={ValueError: NO_IF.format("NumPy arrays"), TypeError: NO_IF.format("loop counters"),
              AttributeError: NO_IF.format("loop counters")})  # fmt: skip
def flat_of_anything(mini: Any) -> None:
    said = "flat((np.array([0, 1]), np.array([1, 2])), (3, 4))"
    expect_values(said, mini.flat((np.array([0, 1]), np.array([1, 2])), (3, 4)), np.array([1, 6]))
    got = mini.flat((Later(lambda now: now), 2), (3, 4))
    if not isinstance(got, Later):
        raise Wrong(NO_IF.format("loop counters"), "flat((i, 2), (3, 4))", got=describe(got))
    expect("flat((i, 2), (3, 4)), and then i = 1", got.value(1), 6)


@checks("unflat", "The element at place 6 of 3 rows of 4 is (1, 2)")
def back(mini: Any) -> None:
    expect("unflat(6, (3, 4))", mini.unflat(6, (3, 4)), (1, 2), {
        (2, 1): "These are the right numbers, back to front. You find the last number of the index "
                "first.",
        (0, 2): "You started with the first axis. The last one changes fastest, so start there.",
        (2, 0): "You divided by 3, the number of rows. A row is 4 long.",
        (6, 2): "The row is still the whole place. Divide by 4 once you have the remainder.",
    })  # fmt: skip


@checks("unflat", "It works for three axes and for none")
def back_from_more(mini: Any) -> None:
    expect("unflat(14, (2, 3, 4))", mini.unflat(14, (2, 3, 4)), (1, 0, 2), {
        (2, 0, 1): "These are the right numbers, back to front.",
    })  # fmt: skip
    expect("unflat(0, ())", mini.unflat(0, ()), ())


@checks("unflat", "A place may be an array of places, or not be known yet",
        told={ValueError: NO_IF.format("NumPy arrays"), TypeError: NO_IF.format("loop counters"),
              AttributeError: NO_IF.format("loop counters")})  # fmt: skip
def unflat_of_anything(mini: Any) -> None:
    got = mini.unflat(np.arange(12), (3, 4))
    for axis, wanted in enumerate(np.unravel_index(np.arange(12), (3, 4))):
        expect_values(f"unflat(np.arange(12), (3, 4))[{axis}]", got[axis], wanted)
    got = mini.unflat(Later(lambda now: now), (3, 4))
    if not all(isinstance(i, Later) for i in got):
        raise Wrong(NO_IF.format("loop counters"), "unflat(place, (3, 4))", got=describe(got))
    said = "unflat(place, (3, 4)), and then place = 6"
    expect(said, tuple(i.value(6) for i in got), (1, 2))


@checks("unflat", "It undoes flat, for every element of a few shapes", needs=("flat",))
def there_and_back(mini: Any) -> None:
    for shape in [(5,), (2, 7), (3, 1, 5), (2, 3, 2, 4)]:
        for place in range(int(np.prod(shape))):
            said = f"flat(unflat({place}, {shape}), {shape})"
            expect(said, mini.flat(mini.unflat(place, shape), shape), place)


# ---- Array ---------------------------------------------------------------------------------------


@checks("Array.of", "An Array reads its elements from a list", needs=("flat",))
def reads_a_list(mini: Any) -> None:
    said = "Array.of([10, 20, 30, 40, 50, 60], 2, 3)"
    array = mini.Array.of([10, 20, 30, 40, 50, 60], 2, 3)
    is_array(said, array, mini, (2, 3))
    expect(f"{said}.at((1, 0))", array.at((1, 0)), 40, {
        20: "You counted a row as 1 element. `flat` knows the place, given the shape (2, 3).",
        30: "You counted a row as 2 elements. `flat` knows the place, given the shape (2, 3).",
    })  # fmt: skip
    expect("Array.of([7]).at(())", mini.Array.of([7]).at(()), 7)


@checks("Array.moved", "A transpose reads element (2, 0) from (0, 2)")
def transposes(mini: Any) -> None:
    said = "a.moved((3, 2), lambda i: (i[1], i[0]))"
    source = counting(mini, 2, 3)
    got = source.moved((3, 2), lambda i: (i[1], i[0]))
    is_array(said, got, mini, (3, 2))
    nothing_yet(source)
    expect_values(said, elements(got), np.arange(1, 7).reshape(2, 3).T, (
        ([[1, 2], [4, 5], [7, 8]], NOT_MOVED),
    ))  # fmt: skip


@checks("Array.moved", "The rule takes an index of the new Array and gives one of the old")
def direction_of_the_rule(mini: Any) -> None:
    said = "Array((3,), lambda i: i[0]).moved((4,), lambda i: (max(i[0] - 1, 0),))"
    got = mini.Array((3,), lambda i: i[0]).moved((4,), lambda i: (max(i[0] - 1, 0),))
    expect_values(said, elements(got), np.array([0, 0, 1, 2]), (
        ([0, 1, 2, 3], NOT_MOVED),
    ))  # fmt: skip


@checks("Array.map", "A function of the elements of two Arrays")
def maps_two(mini: Any) -> None:
    said = "a.map(lambda x, y: 10 * x + y, b)"
    one, other = counting(mini, 2, 2), mini.Array((2, 2), lambda i: 5 - i[0])
    got = one.map(lambda x, y: 10 * x + y, other)
    is_array(said, got, mini, (2, 2))
    nothing_yet(one)
    expect_values(said, elements(got), np.array([[15, 25], [34, 44]]), (
        (np.array([[51, 52], [43, 44]]), "The function got its arguments in the wrong order: "
         "this Array's element comes first, then those of the others."),
    ))  # fmt: skip


@checks("Array.map", "With no other Array, and with two others")
def maps_one_and_three(mini: Any) -> None:
    a = counting(mini, 3)
    expect_values("a.map(lambda x: x * x)", elements(a.map(lambda x: x * x)), np.array([1, 4, 9]))
    got = a.map(lambda x, y, z: 100 * x + 10 * y + z, a, mini.Array((3,), lambda i: i[0]))
    said = "a.map(lambda x, y, z: 100 * x + 10 * y + z, a, b)"
    expect_values(said, elements(got), np.array([110, 221, 332]))


@checks("Array.sum", "A sum over the last axis, and that axis is gone")
def sums(mini: Any) -> None:
    said = "a.sum(1)"
    source = counting(mini, 2, 3)
    got = source.sum(1)
    if isinstance(got, mini.Array) and tuple(got.shape) == (2, 1):
        raise Wrong("The summed axis should disappear: (2,), not (2, 1).", said, "(2,)",
                    "(2, 1)")  # fmt: skip
    is_array(said, got, mini, (2,))
    nothing_yet(source)
    expect_values(said, elements(got), np.array([6, 15]))


@checks("Array.sum", "Over the first axis, over the middle one, and over the only one")
def sums_anywhere(mini: Any) -> None:
    for shape, axis in [((2, 3), 0), ((2, 3, 4), 1), ((4,), 0)]:
        said = f"a.sum({axis}), where the shape of a is {shape}"
        got = counting(mini, *shape).sum(axis)
        wanted = np.arange(1, 1 + np.prod(shape)).reshape(shape).sum(axis)
        is_array(said, got, mini, wanted.shape)
        expect_values(said, elements(got), wanted)


@checks("Array.tolist", "All elements in the order of their places", needs=("unflat",))
def lists(mini: Any) -> None:
    said = "Array((2, 3), lambda i: 10 * i[0] + i[1]).tolist()"

    def at(index: Any) -> Any:
        if not isinstance(index, (tuple, list)):
            raise Wrong(
                "`at` takes an index, and was given a place. Which function of yours turns a place "
                "into an index?",
                said, "at((0, 0))", f"at({describe(index)})",
            )  # fmt: skip
        return 10 * index[0] + index[1]

    expect(said, mini.Array((2, 3), at).tolist(), [0, 1, 2, 10, 11, 12])
    expect("Array((), lambda i: 5).tolist()", mini.Array((), lambda i: 5).tolist(), [5])


# ---- all together --------------------------------------------------------------------------------


@checks(
    "Array.moved",
    "A table of 8 TB gives one element at once",
    needs=("Array.map",),
    told={
        OutOfTime: "One element of the table took too long. Is the whole table computed?",
        MemoryError: "You stored a table of a million times a million numbers. Keep only the rule.",
    },
)
def table(mini: Any) -> None:
    size = 10**6
    numbers = mini.Array((size,), lambda i: i[0])
    down = numbers.moved((size, size), lambda i: (i[0],))
    across = numbers.moved((size, size), lambda i: (i[1],))
    got = down.map(lambda x, y: x * y, across).at((123_456, 654_321))
    expect("table.at((123456, 654321))", got, 123_456 * 654_321)


@checks(
    "Array.sum", "A matrix product, from moved, map and sum", needs=("Array.moved", "Array.map")
)
def product(mini: Any) -> None:
    a, b = np.arange(6).reshape(2, 3), np.array([[1, 0], [2, 1], [0, 3]])
    left = mini.Array((2, 3), lambda i: int(a[i])).moved((2, 2, 3), lambda i: (i[0], i[2]))
    right = mini.Array((3, 2), lambda i: int(b[i])).moved((2, 2, 3), lambda i: (i[2], i[1]))
    got = left.map(lambda x, y: x * y, right).sum(2)
    expect_values("the matrix product of (2, 3) and (3, 2)", elements(got), a @ b)
