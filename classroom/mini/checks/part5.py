"""Stage 5: index rules on numbers, on arrays and on nodes; then matmul, windows and convolution."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from classroom.exercise import Wrong
from classroom.mini.check import Checks, describe, expect, expect_values, shown

checks = Checks()

rng = np.random.default_rng(5)


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def counting(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


# ---- index rules ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """What is known of an index rule: one example, with mistakes, and a few (shape, arg) more."""

    op: str
    shape: tuple[int, ...]
    arg: tuple[Any, ...]
    index: tuple[int, ...]
    wanted: tuple[int, ...]
    more: tuple[tuple[tuple[int, ...], tuple[Any, ...]], ...]
    mistakes: dict[Any, str] = field(default_factory=dict)

    @property
    def function(self) -> str:
        return f"{self.op.lower()}_index"


RULES = [
    Rule("RESHAPE", (2, 6), (3, 4), (1, 3), (1, 1), (((2, 3, 4), (4, 6)), ((12,), (3, 2, 2))), {
        (2, 1): "You used the old shape for `flat` and the new one for `unflat`. It's the other "
                "way round: the index belongs to the new shape.",
    }),
    Rule("PERMUTE", (2, 3, 4), (2, 0, 1), (3, 1, 2), (1, 2, 3),
         (((2, 3), (1, 0)), ((2, 1, 3, 2), (3, 1, 0, 2))), {
        (2, 3, 1): "This is the inverse permutation. index[k] belongs to source axis "
                   "order[k]; for source axis d you have to find the k with order[k] == d.",
        (3, 1, 2): "The index hasn't changed. Its parts have to trade places.",
    }),
    Rule("EXPAND", (1, 4), (3, 4), (2, 3), (0, 3), (((2, 1, 3), (2, 4, 3)), ((1, 1), (2, 2))), {
        (2, 3): "Row 2 does not exist in a source with one row. An axis of size 1 is read at 0.",
        (0, 0): "Only axes of size 1 are read at 0. The last axis has 4 elements.",
        (2, 0): "It's the other way round: axis 0 is the one with size 1.",
    }),
    Rule("SHRINK", (3, 4), ((1, 3), (0, 4)), (0, 2), (1, 2),
         (((5, 3), ((2, 4), (1, 3))), ((4,), ((0, 1),))), {
        (-1, 2): "You subtracted start. Element 0 of the result is element `start` of the source.",
        (0, 2): "What is kept begins at start, not at 0.",
        (3, 6): "You added end. What is kept begins at start.",
    }),
    Rule("FLIP", (2, 4), (1,), (1, 0), (1, 3), (((2, 3, 4), (0, 2)), ((5,), (0,))), {
        (1, 4): "One too far: the last of 4 elements is element 3.",
        (0, 3): "Only the axes in `axes` are flipped: here axis 1 alone.",
        (0, 0): "That flips the axes that are not in `axes`.",
        (1, 0): "Nothing is flipped.",
    }),
]  # fmt: skip


def moved_by_numpy(op: str, x: np.ndarray, arg: Any) -> np.ndarray:
    return {
        "RESHAPE": lambda: x.reshape(arg),
        "PERMUTE": lambda: x.transpose(arg),
        "EXPAND": lambda: np.broadcast_to(x, arg),
        "SHRINK": lambda: x[tuple(slice(start, end) for start, end in arg)],
        "FLIP": lambda: np.flip(x, arg),
        "PAD": lambda: np.pad(x, arg),
    }[op]()


def is_index(said: str, got: Any, rank: int) -> None:
    if not isinstance(got, tuple) or len(got) != rank:
        raise Wrong(f"An index of the source is a tuple of {rank}.", said, got=repr(got))


def on_numbers(mini: Any, op: str, shape: tuple[int, ...], arg: Any) -> None:
    """Every element of a small source, one by one."""
    x = counting(*shape)
    wanted = moved_by_numpy(op, x, arg)
    rule = mini.SOURCE_INDEX[mini.Ops[op]]
    for index in itertools.product(*map(range, wanted.shape)):
        said = f"{op.lower()}_index({index}, {shape}, {arg})"
        got = rule(index, shape, arg)
        is_index(said, got, len(shape))
        if not all(0 <= i < size for i, size in zip(got, shape, strict=True)):
            raise Wrong("This index is outside of the source.", said, got=got)
        if op != "PAD" and x[got] != wanted[index]:
            where = tuple(int(i) for i in np.argwhere(x == wanted[index])[0])
            raise Wrong("This reads the wrong element.", said, where, got)


def on_arrays(mini: Any, op: str, shape: tuple[int, ...], arg: Any) -> None:
    """All elements at once, through the row of COMPUTE."""
    x = floats(*shape)
    node = mini.UOp(mini.Ops[op], (mini.UOp(mini.Ops.BUFFER, (), mini.Buffer(x)),), arg)
    said = f"a {op} of shape {shape}, arg {arg}, with arrays of indices"
    expect_values(said, mini.COMPUTE[node.op](node, x), moved_by_numpy(op, x, arg))


def value_of(mini: Any, node: Any, counters: dict[Any, int]) -> int:
    """What an index is worth where loop counters have these values."""
    if not isinstance(node, mini.UOp):
        return int(node)
    if node.op is mini.Ops.CONST:
        return int(node.arg)
    if node in counters:
        return counters[node]
    return int(mini.ALU[node.op](*(value_of(mini, source, counters) for source in node.src)))


@contextmanager
def single_numbers(mini: Any) -> Iterator[None]:
    """Loop counters are single numbers. So their arithmetic needs no `broadcast`, which is written
    later than the rules."""

    def plain(x: Any, op: Any, *others: Any) -> Any:
        return mini.UOp(op, (x, *map(x.const, others)))

    kept, mini.UOp.alu = mini.UOp.alu, plain
    try:
        yield
    finally:
        mini.UOp.alu = kept


def on_nodes(mini: Any, op: str, shape: tuple[int, ...], arg: Any) -> None:
    """Loop counters for indices: as numbers of a place, they say the same as numbers do."""
    rule = mini.SOURCE_INDEX[mini.Ops[op]]
    new = moved_by_numpy(op, np.zeros(shape), arg).shape
    loops = tuple(mini.UOp(mini.Ops.RANGE, (), (n, size)) for n, size in enumerate(new))
    with single_numbers(mini):
        got = rule(loops, shape, arg)
    said = f"{op.lower()}_index of loop counters, shape {shape}, arg {arg}"
    is_index(said, got, len(shape))
    for index in itertools.product(*map(range, new)):
        at = dict(zip(loops, index, strict=True))
        found = tuple(value_of(mini, i, at) for i in got)
        if found != (wanted := rule(index, shape, arg)):
            raise Wrong(
                f"For the numbers {index} the rule gives {wanted}, but for loop counters with "
                f"these values it gives {found}. Does it use an `if`?", said, wanted, found
            )  # fmt: skip


NO_IF = (
    "This index is made of NumPy arrays, and Python's `if`, `and`, `or`, `min` and `max` need a "
    "single number. `where(condition, x, y)` chooses element by element."
)
NO_AND = (
    "This index is made of NumPy arrays, and Python's `if`, `and`, `or`, `min` and `max` need a "
    'single number. Write `*` for "and", as in `(x < y) * (y < z)`.'
)
NO_SUCH_OPERATOR = (
    "This index is made of UOps, which have +, -, *, //, %, < and >. Write it with those, and with "
    "`where`."
)


def add_rule(rule: Rule) -> None:
    said = f"{rule.function}({rule.index}, {rule.shape}, {rule.arg})"

    @checks(rule.function, f"From shape {rule.shape} with {rule.arg}: {rule.index} reads "
                           f"{rule.wanted}")  # fmt: skip
    def example(mini: Any) -> None:
        got = mini.SOURCE_INDEX[mini.Ops[rule.op]](rule.index, rule.shape, rule.arg)
        expect(said, got, rule.wanted, rule.mistakes)

    @checks(rule.function, "Every element of other shapes")
    def numbers(mini: Any) -> None:
        for shape, arg in ((rule.shape, rule.arg), *rule.more):
            on_numbers(mini, rule.op, shape, arg)

    @checks(rule.function, "All indices at once, as NumPy arrays", needs=("moved_shape",),
            told={ValueError: NO_IF})  # fmt: skip
    def arrays(mini: Any) -> None:
        for shape, arg in ((rule.shape, rule.arg), *rule.more):
            on_arrays(mini, rule.op, shape, arg)

    @checks(rule.function, "Loop counters, which are nodes", told={TypeError: NO_SUCH_OPERATOR})
    def nodes(mini: Any) -> None:
        for shape, arg in ((rule.shape, rule.arg), *rule.more):
            on_nodes(mini, rule.op, shape, arg)


# op, shape, arg, the result's shape, and mistakes
SHAPES: tuple[tuple[str, Any, Any, Any, dict[Any, str]], ...] = (
    ("RESHAPE", (2, 6), (3, 4), (3, 4), {(2, 6): "RESHAPE is given the new shape."}),
    ("EXPAND", (1, 4), (3, 4), (3, 4), {(1, 4): "EXPAND is given the new shape."}),
    ("PERMUTE", (2, 3, 4), (2, 0, 1), (4, 2, 3), {
        (3, 4, 2): "This is the inverse permutation. Axis k of the result is axis order[k] of the "
                   "source.",
        (2, 0, 1): "This is the order of the axes. What are their sizes?",
        (2, 3, 4): "Sizes trade places with their axes."}),
    ("SHRINK", (3, 4), ((1, 3), (0, 4)), (2, 4), {
        (3, 4): "That is where each piece ends. How long is it?"}),
    ("FLIP", (2, 4), (1,), (2, 4), {(1,): "FLIP's arg has the axes to reverse. No size changes."}),
    ("PAD", (3,), ((1, 2),), (6,), {
        (3,): "The zeros count too.", (5,): "The zeros in front count too.",
        (4,): "The zeros behind count too."}),
    ("DETACH", (2, 3), (), (2, 3), {(): "DETACH changes nothing, so it has its source's shape."}),
    ("PAD", (2, 3), ((1, 0), (0, 2)), (3, 5), {}),
    ("PERMUTE", (2, 1, 3, 2), (3, 1, 0, 2), (2, 1, 2, 3), {}),
)  # fmt: skip


@checks("moved_shape", "The shape of each of the seven movements")
def shapes(mini: Any) -> None:
    for op, shape, arg, wanted, mistakes in SHAPES:
        said = f"moved_shape(Ops.{op}, {shape}, {arg})"
        got = mini.moved_shape(mini.Ops[op], shape, arg)
        expect(said, tuple(got) if isinstance(got, list) else got, wanted, mistakes)


for _rule in RULES:
    add_rule(_rule)


# ---- padding -------------------------------------------------------------------------------------

PADS = [((3,), ((1, 2),)), ((2, 3), ((1, 0), (0, 2))), ((2, 2), ((0, 0), (1, 1)))]


@checks("inside", "A row of 3 with (1, 2) around it: 1, 2 and 3 are inside")
def which_are_inside(mini: Any) -> None:
    got = [bool(mini.inside((i,), (3,), ((1, 2),))) for i in range(6)]
    said = "[inside((i,), (3,), ((1, 2),)) for i in range(6)]"
    expect_values(said, got, np.array([0, 1, 1, 1, 0, 0]), (
        ([1] * 6, "Everything counts as inside, so the padding is not masked: where there should "
                  "be zeros, you would see element 0."),
        ([0, 1, 1, 1, 1, 1], "You only checked the beginning. The source ends at before + size."),
        ([1, 1, 1, 1, 0, 0], "You only checked the end. The first `before` indices are outside."),
        ([1, 1, 1, 0, 0, 0], "You compared as if there were no zeros before the source. It "
                             "starts at `before`."),
        ([0, 1, 1, 1, 1, 0], "One too many at the end."),
        ([0, 0, 1, 1, 0, 0], "Element 0 of the source is missing: it is at index `before`."),
        ([0, 1, 1, 0, 0, 0], "The last element of the source is missing."),
    ))  # fmt: skip


@checks("inside", "Along two axes, both have to be inside", told={ValueError: NO_AND})
def inside_along_two(mini: Any) -> None:
    shape, widths = (2, 2), ((1, 0), (0, 1))
    wanted = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 0]])
    got = [[bool(mini.inside((i, j), shape, widths)) for j in range(3)] for i in range(3)]
    said = f"inside(index, {shape}, {widths}), for each index"
    expect_values(said, got, wanted)
    every = tuple(np.indices((3, 3)))
    expect_values(f"{said}, with arrays", mini.inside(every, shape, widths) * 1, wanted)


@checks("pad_index", "Inside, the index is moved by `before`")
def moved_by_before(mini: Any) -> None:
    got = tuple(mini.pad_index((i,), (3,), ((1, 2),)) for i in (1, 2, 3))
    expect("[pad_index((i,), (3,), ((1, 2),)) for i in (1, 2, 3)]", got, ((0,), (1,), (2,)), {
        ((2,), (3,), (4,)): "You added `before`. Element 0 of the source is at index `before`.",
        ((1,), (2,), (3,)): "The index hasn't changed. Element 0 of the source is at `before`.",
    })  # fmt: skip


@checks("pad_index", "Outside, nothing is read that is not there", needs=("inside",))
def nothing_outside(mini: Any) -> None:
    for i in (0, 4, 5):
        said = f"pad_index(({i},), (3,), ((1, 2),))"
        got = mini.pad_index((i,), (3,), ((1, 2),))
        is_index(said, got, 1)
        if not 0 <= got[0] < 3:
            raise Wrong(
                f"The source has no element {got[0]}. NumPy would take -1 to mean the last one, "
                "and C would read whatever is in memory there. If the index isn't inside, read "
                "element 0.",
                said, "(0,)", got,
            )  # fmt: skip


@checks("pad_index", "All indices at once, and zeros around", needs=("inside", "moved_shape"),
        told={ValueError: NO_IF})  # fmt: skip
def padded(mini: Any) -> None:
    for shape, widths in PADS:
        on_arrays(mini, "PAD", shape, widths)


@checks("pad_index", "Loop counters, which are nodes", needs=("inside",),
        told={TypeError: NO_SUCH_OPERATOR})  # fmt: skip
def padded_nodes(mini: Any) -> None:
    for shape, widths in PADS:
        on_nodes(mini, "PAD", shape, widths)


# ---- expand and broadcast ------------------------------------------------------------------------

ALL_RULES = ("moved_shape", *(rule.function for rule in RULES))
WITH_EXPAND = (*ALL_RULES, "expand")


@checks("expand", "Axes of size 1 are stretched", needs=ALL_RULES)
def stretched(mini: Any) -> None:
    for x, new in ((floats(3, 1), (3, 4)), (floats(1, 2, 1), (3, 2, 4)), (floats(2, 3), (2, 3))):
        said = f"x.expand{new}, where x has the shape {x.shape}"
        got = mini.Tensor(x).uop.expand(*new)
        if not isinstance(got, mini.UOp):
            raise Wrong(f"{said} should be a node. Is there a `return`?", said)
        expect_values(said, mini.Tensor(got).numpy(), np.broadcast_to(x, new))
    x = mini.Tensor(floats(3, 1)).uop
    if x.expand(3, 1) is not x:
        raise Wrong("If nothing changes, expand should return x itself, and no new node.",
                    "x.expand(3, 1) is x", True, False)  # fmt: skip


@checks("expand", "Any other change of shape is a ValueError that names both shapes",
        needs=ALL_RULES)  # fmt: skip
def refused(mini: Any) -> None:
    for shape, new in (((3, 1), (6, 1)), ((2, 3), (2, 4)), ((3,), (3, 3)), ((2, 3), (2, 1))):
        said = f"x.expand{new}, where x has the shape {shape}"
        x = mini.Tensor(np.zeros(shape)).uop
        try:
            got = x.expand(*new)
        except ValueError as error:
            if str(shape) in str(error) and str(new) in str(error):
                continue
            raise Wrong("The message should name both shapes, to help find the mistake.", said,
                        f"… {shape} … {new} …", str(error)) from error  # fmt: skip
        raise Wrong("This should be a ValueError: only axes of size 1 can be stretched, and there "
                    "are as many axes afterwards as before.", said, "ValueError",
                    describe(got))  # fmt: skip


@checks("broadcast", "(3, 1) and (4,) become (3, 4)", needs=WITH_EXPAND)
def two_shapes(mini: Any) -> None:
    a, b = mini.Tensor(np.zeros((3, 1))).uop, mini.Tensor(np.zeros(4)).uop
    said = "broadcast of shapes (3, 1) and (4,)"
    got = mini.broadcast(a, b)
    if got is None:
        raise Wrong("broadcast returns nothing. Is there a `return`?", said)
    got = tuple(got)
    if len(got) != 2 or not all(isinstance(node, mini.UOp) for node in got):
        raise Wrong("broadcast should return as many nodes as it is given.", said,
                    got=describe(got))  # fmt: skip
    shapes = tuple(node.shape for node in got)
    expect(f"the shapes after {said}", shapes, ((3, 4), (3, 4)), {
        ((3, 1), (1, 4)): "Both have two axes now. What is missing is expand, to the larger sizes.",
        ((3, 1), (4,)): "The shapes are as they were.",
    })  # fmt: skip
    one, two, three = floats(3, 1), floats(4), floats(2, 1, 1)
    nodes = tuple(mini.broadcast(*(mini.Tensor(x).uop for x in (one, two, three))))
    for x, node in zip((one, two, three), nodes, strict=True):
        expect_values("one of three nodes of shapes (3, 1), (4,) and (2, 1, 1)",
                      mini.Tensor(node).numpy(), np.broadcast_to(x, (2, 3, 4)))  # fmt: skip


@checks("broadcast", "A shape that is too short gets its axes on the left", needs=WITH_EXPAND)
def from_the_right(mini: Any) -> None:
    x, row = floats(3, 3), floats(3)
    got = (mini.Tensor(x) + mini.Tensor(row)).numpy()
    expect_values("a + row, where a is (3, 3) and row is (3,)", got, x + row, (
        (x + row[:, None], "The row was added as a column: the axes of size 1 belong on the left."),
    ))  # fmt: skip


@checks("broadcast", "A constant fits every shape", needs=WITH_EXPAND)
def constants_fit(mini: Any) -> None:
    x = floats(2, 3)
    total = mini.Tensor(x) + 1
    expect("the shape of x + 1, where x is (2, 3)", tuple(total.shape), (2, 3))
    expect_values("x + 1", total.numpy(), x + 1)
    two = mini.Tensor(x).uop.const(2.0)
    got = np.broadcast_to(mini.Tensor(two * 3).numpy(), ())
    expect_values("a constant 2 times a constant 3", got, np.array(6.0))


@checks("broadcast", "The same sums as NumPy's, for shapes chosen at random", needs=WITH_EXPAND)
def sums_by_chance(mini: Any) -> None:
    dice = np.random.default_rng(1)
    for _ in range(40):
        full = tuple(int(n) for n in dice.integers(1, 4, dice.integers(1, 4)))
        one = tuple(n if dice.integers(2) else 1 for n in full)
        other = tuple(n if dice.integers(2) else 1 for n in full)[int(dice.integers(len(full))) :]
        x, y = floats(*one), floats(*other)
        expect_values(f"a + b of shapes {one} and {other}",
                      (mini.Tensor(x) + mini.Tensor(y)).numpy(), x + y)  # fmt: skip


# ---- reduce and mean -----------------------------------------------------------------------------

BROADCASTS = (*WITH_EXPAND, "broadcast")
BY_NUMPY: dict[str, Any] = {"ADD": np.sum, "MAX": np.max}
AXES: tuple[tuple[int, ...], ...] = ((1,), (), (-1, 0), (0,), (2, 1), (-1,))


def expect_reduced(mini: Any, name: str, x: np.ndarray, axes: tuple[int, ...], keep: bool) -> None:
    op, by_numpy, other = (
        mini.Ops[name],
        BY_NUMPY[name],
        BY_NUMPY["MAX" if name == "ADD" else "ADD"],
    )
    said = f"reduce(x, Ops.{name}, {axes}, {keep}), where x has the shape {x.shape}"
    got = mini.reduce(mini.Tensor(x).uop, op, axes, keep)
    if not isinstance(got, mini.UOp):
        nothing = " Is there a `return`?" if got is None else ""
        raise Wrong(f"{said} should be a node.{nothing}", said, "a UOp", describe(got))
    wanted = by_numpy(x, axis=axes or None, keepdims=keep)
    if got.shape != wanted.shape:
        text = f"The shape should be {wanted.shape}, and it is {got.shape}."
        if not keep and got.shape == by_numpy(x, axis=axes or None, keepdims=True).shape:
            text = "The reduced axes are still there, with size 1. They stay only with keepdim."
        elif not keep and 1 in x.shape and got.shape == tuple(n for n in wanted.shape if n != 1):
            text = "An axis that wasn't reduced is gone: it had size 1 before, and keeps it."
        elif min(axes, default=0) < 0:
            text = "A negative axis counts from the end: -1 is the last one. " + text
        elif not axes:
            text = "No axes at all means every axis. " + text
        raise Wrong(text, said, f"shape {wanted.shape}", f"shape {got.shape}")
    expect_values(said, mini.Tensor(got).numpy(), wanted, (
        (other(x, axis=axes or None, keepdims=keep),
         "It always does the same op. Which one is it asked to do?"),
    ))  # fmt: skip


@checks("reduce", "The axes that were reduced are gone", needs=ALL_RULES)
def reduced(mini: Any) -> None:
    for axes in AXES:
        expect_reduced(mini, "ADD", floats(2, 3, 4), axes, False)
    expect_reduced(mini, "ADD", floats(1, 3, 1), (1,), False)


@checks("reduce", "With keepdim they stay, with size 1", needs=ALL_RULES)
def kept(mini: Any) -> None:
    for axes in AXES:
        expect_reduced(mini, "ADD", floats(2, 3, 4), axes, True)


@checks("reduce", "The largest, as well as the sum", needs=ALL_RULES)
def of_a_maximum(mini: Any) -> None:
    for axes, keep in itertools.product(AXES, (True, False)):
        expect_reduced(mini, "MAX", floats(2, 3, 4) - 5, axes, keep)


@checks("mean", "Of everything, of rows, of columns, of two axes", needs=(*BROADCASTS, "reduce"))
def means(mini: Any) -> None:
    x = floats(2, 3, 4) + 1
    for axes in AXES:
        said = f"x.mean({', '.join(map(str, axes))}), where x has the shape (2, 3, 4)"
        got = mini.Tensor(x).mean(*axes).numpy()
        expect_values(said, got, np.asarray(x.mean(axes or None)), (
            (x.sum(axes or None), "This is the sum. How many do you divide it by?"),
            (x.sum(axes or None) / x.size, "You divided by the number of all elements. How many go "
                                           "into each of these means?"),
        ))  # fmt: skip


# ---- matmul, windows, conv2d ---------------------------------------------------------------------

NEEDED = (*BROADCASTS, "reduce")


def expression(mini: Any, said: str, node: Any, *sources: Any) -> Any:
    """The Tensor of a node. Wrong if that isn't an expression of these Tensors, from which a
    gradient can flow back."""
    if not isinstance(node, mini.UOp):
        raise Wrong(f"{said} should be a node. Is there a `return`?", said)
    there = set(node.toposort())
    if any(source.uop not in there for source in sources):
        raise Wrong(
            f"{said} was computed at once: the graph doesn't lead back to what it is made of, so "
            "no gradient could flow. Build it from nodes.",
            said,
        )
    return mini.Tensor(node)


@checks("__matmul__", "(2, 3) @ (3, 4)", needs=NEEDED)
def small_product(mini: Any) -> None:
    a, b = counting(2, 3), counting(3, 4) - 5
    x, y = mini.Tensor(a), mini.Tensor(b)
    got = expression(mini, "a @ b", x.uop @ y.uop, x, y)
    said = "a @ b, where a is [[1, 2, 3], [4, 5, 6]]"
    not_permuted = a @ b.reshape(4, 3).T
    expect_values(said, got.numpy(), a @ b, (
        (not_permuted, "b was only reshaped. Its columns have to become rows first: permute."),
        ((a @ b).reshape(2, 1, 4), "There is one axis too many: the one you summed is still there, "
                                   "with size 1."),
    ))  # fmt: skip


@checks("__matmul__", "Other shapes, down to 1 and up to 20", needs=NEEDED)
def other_products(mini: Any) -> None:
    for n, k, m in ((1, 1, 1), (1, 5, 2), (7, 1, 3), (20, 13, 11)):
        a, b = floats(n, k), floats(k, m)
        said = f"a @ b of shapes {(n, k)} and {(k, m)}"
        expect_values(said, (mini.Tensor(a) @ mini.Tensor(b)).numpy(), a @ b)


def windows_of(x: np.ndarray, size: int) -> np.ndarray:
    return np.stack([x[..., j : j + x.shape[-1] - size + 1] for j in range(size)], -2)


@checks("windows", "The windows of 2 along 0 1 2 3", needs=NEEDED)
def small_windows(mini: Any) -> None:
    row = np.arange(4, dtype=np.float32)
    t = mini.Tensor(row)
    got = expression(mini, "t.windows(2)", t.uop.windows(2), t)
    expect_values("Tensor([0, 1, 2, 3]).windows(2)", got.numpy(), windows_of(row, 2), (
        (windows_of(row, 2).T, "These are the windows as rows. They should be columns: [j, o] is "
                               "element o + j."),
        ([[0, 1, 2], [0, 1, 2]], "The second row hasn't moved. Cut into rows of n + 1, one more "
                                 "than the row had."),
        ([[0, 1, 2], [3, 0, 1]], "The second row moved the wrong way. Cut into rows of n + 1, one "
                                 "more than the row had."),
        ([[0, 1, 2, 3, 0], [1, 2, 3, 0, 1]], "Nearly: only the first n - size + 1 columns are "
                                             "windows. The rest is from the next copy."),
        ([[0, 1, 2, 3], [1, 2, 3, 0]], "The last column isn't a window: it runs over the end. "
                                       "There are n - size + 1."),
    ))  # fmt: skip


@checks("windows", "Of size 1, of the whole row, and of rows in two more axes", needs=NEEDED)
def more_windows(mini: Any) -> None:
    for shape, size in (((5,), 1), ((5,), 5), ((2, 3, 6), 3)):
        x = floats(*shape)
        said = f"t.windows({size}), where t has the shape {shape}"
        expect_values(said, mini.Tensor(x).windows(size).numpy(), windows_of(x, size))


def convolved(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Filter element by filter element."""
    h, w = weight.shape[2:]
    rows, columns = x.shape[2] - h + 1, x.shape[3] - w + 1
    total = np.zeros((x.shape[0], weight.shape[0], rows, columns), np.float32)
    for i, j in itertools.product(range(h), range(w)):
        piece = x[:, :, i : i + rows, j : j + columns]
        total += np.einsum("bcyx,fc->bfyx", piece, weight[:, :, i, j])
    return total


@checks("conv2d", "One image of one channel, one filter", needs=NEEDED)
def small_convolution(mini: Any) -> None:
    x, weight = counting(1, 1, 4, 5), counting(1, 1, 2, 3)
    images, filters = mini.Tensor(x), mini.Tensor(weight)
    got = expression(mini, "x.conv2d(weight)", images.uop.conv2d(filters.uop), images, filters)
    said = "x.conv2d(weight) of shapes (1, 1, 4, 5) and (1, 1, 2, 3)"
    expect_values(said, got.numpy(), convolved(x, weight), (
        (convolved(x, weight[:, :, ::-1, ::-1]), "The filter is upside down and back to front."),
        (convolved(x, weight).transpose(0, 1, 3, 2), "Rows and columns have changed places."),
    ))  # fmt: skip


@checks("conv2d", "A batch, three channels, four filters", needs=NEEDED)
def whole_convolution(mini: Any) -> None:
    x, weight = floats(2, 3, 6, 7), floats(4, 3, 3, 2)
    got = mini.Tensor(x).conv2d(mini.Tensor(weight)).numpy()
    said = "x.conv2d(weight) of shapes (2, 3, 6, 7) and (4, 3, 3, 2)"
    expect_values(said, got, convolved(x, weight))


@checks("log_softmax", "The rows that NumPy gives", needs=NEEDED)
def softmax(mini: Any) -> None:
    x = floats(3, 5)
    wanted = x - np.log(np.exp(x).sum(1, keepdims=True))
    t = mini.Tensor(x)
    got = expression(mini, "t.log_softmax()", t.uop.log_softmax(), t)
    expect_values("t.log_softmax()", got.numpy(), wanted, (
        (np.exp(wanted), "This is softmax. You need its logarithm."),
        (x - np.log(np.exp(x).sum(0, keepdims=True)), "This is along the first axis, and it should "
                                                      "be the last one."),
        (x - np.log(np.exp(x).sum()), "You summed over everything. Each row is a softmax of its "
                                      "own."),
    ))  # fmt: skip
    row = floats(4)
    said = "t.log_softmax() of a single row"
    expect_values(said, mini.Tensor(row).log_softmax().numpy(), row - np.log(np.exp(row).sum()))


@checks("log_softmax", "Numbers whose exponential is too large, and too small", needs=NEEDED)
def softmax_of_large(mini: Any) -> None:
    half = -np.log(2)
    for rows, wanted in (
        ([[1000.0, 1000.0]], [[half, half]]),
        ([[0.0, 200.0]], [[-200.0, 0.0]]),
        ([[-1000.0, -1000.0]], [[half, half]]),
        ([[0.0, 0.0], [1000.0, 1000.0]], [[half, half], [half, half]]),
    ):
        said = f"Tensor({rows}).log_softmax()"
        with np.errstate(all="ignore"):
            got = mini.Tensor(rows).log_softmax().numpy()
        if not np.isfinite(got).all():
            raise Wrong(
                "An exponential overflows, or a logarithm is taken of 0. What changes in a softmax "
                "if the same number is subtracted from a whole row?", said, wanted, shown(got)
            )  # fmt: skip
        expect_values(said, got, np.array(wanted))
