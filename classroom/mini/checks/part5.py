"""Stage 5: index rules on numbers, on arrays and on nodes; then matmul, windows and convolution."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from classroom.exercise import Wrong
from classroom.mini.check import Checks, expect, expect_values

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
    new = mini.MOVED_SHAPE[mini.Ops[op]](shape, arg)
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

    @checks(rule.function, "All indices at once, as NumPy arrays", told={ValueError: NO_IF})
    def arrays(mini: Any) -> None:
        for shape, arg in ((rule.shape, rule.arg), *rule.more):
            on_arrays(mini, rule.op, shape, arg)

    @checks(rule.function, "Loop counters, which are nodes", told={TypeError: NO_SUCH_OPERATOR})
    def nodes(mini: Any) -> None:
        for shape, arg in ((rule.shape, rule.arg), *rule.more):
            on_nodes(mini, rule.op, shape, arg)


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


@checks("pad_index", "All indices at once, and zeros around", needs=("inside",),
        told={ValueError: NO_IF})  # fmt: skip
def padded(mini: Any) -> None:
    for shape, widths in PADS:
        on_arrays(mini, "PAD", shape, widths)


@checks("pad_index", "Loop counters, which are nodes", needs=("inside",),
        told={TypeError: NO_SUCH_OPERATOR})  # fmt: skip
def padded_nodes(mini: Any) -> None:
    for shape, widths in PADS:
        on_nodes(mini, "PAD", shape, widths)


# ---- broadcast -----------------------------------------------------------------------------------

ALL_RULES = tuple(rule.function for rule in RULES)


@checks("broadcast", "(3, 1) and (4,) become (3, 4)", needs=ALL_RULES)
def two_shapes(mini: Any) -> None:
    a, b = mini.Tensor(np.zeros((3, 1))).uop, mini.Tensor(np.zeros(4)).uop
    said = "broadcast of shapes (3, 1) and (4,)"
    got = mini.broadcast(a, b)
    if not isinstance(got, (tuple, list)) or len(got) != 2:
        raise Wrong("broadcast should return as many nodes as it is given.", said, got=repr(got))
    if isinstance(got, list):
        raise Wrong("broadcast should return a tuple. It becomes the `src` of a node, and a list "
                    "can't be part of a key in the table.", said, "a tuple", "a list")  # fmt: skip
    shapes = tuple(node.shape for node in got)
    expect(said, shapes, ((3, 4), (3, 4)), {
        ((3, 1), (1, 4)): "Both have two axes now. What is missing is expand, to the larger sizes.",
        ((3, 1), (4,)): "The shapes are as they were.",
    })  # fmt: skip


@checks("broadcast", "A shape that is too short gets its axes on the left", needs=ALL_RULES)
def from_the_right(mini: Any) -> None:
    x, row = floats(3, 3), floats(3)
    got = (mini.Tensor(x) + mini.Tensor(row)).numpy()
    expect_values("a + row, where a is (3, 3) and row is (3,)", got, x + row, (
        (x + row[:, None], "The row was added as a column: the axes of size 1 belong on the left."),
    ))  # fmt: skip


@checks("broadcast", "A constant fits every shape, and stays one node", needs=ALL_RULES)
def constants_stay(mini: Any) -> None:
    node = (mini.Tensor(np.zeros((2, 3))) + 1).uop
    constant = node.src[1]
    if constant.op is not mini.Ops.CONST:
        raise Wrong(
            "The constant was reshaped or expanded. A CONST fits as it is.",
            "(Tensor of shape (2, 3) + 1).uop.src[1]",
            "CONST",
            constant.op.name,
        )
    expect("the shape of Tensor (2, 3) + 1", node.shape, (2, 3))


@checks("broadcast", "The same sums as NumPy's, for shapes chosen at random", needs=ALL_RULES)
def sums_by_chance(mini: Any) -> None:
    dice = np.random.default_rng(1)
    for _ in range(40):
        full = tuple(int(n) for n in dice.integers(1, 4, dice.integers(1, 4)))
        one = tuple(n if dice.integers(2) else 1 for n in full)
        other = tuple(n if dice.integers(2) else 1 for n in full)[int(dice.integers(len(full))) :]
        x, y = floats(*one), floats(*other)
        expect_values(f"a + b of shapes {one} and {other}",
                      (mini.Tensor(x) + mini.Tensor(y)).numpy(), x + y)  # fmt: skip


# ---- matmul, windows, conv2d ---------------------------------------------------------------------

NEEDED = (*ALL_RULES, "broadcast")


def made_of(mini: Any, tensor: Any, more: tuple[str, ...], said: str) -> None:
    """Wrong if there is an op besides movement, and these."""
    if not isinstance(tensor.uop, mini.UOp) or tensor.uop.op is mini.Ops.BUFFER:
        raise Wrong(f"{said} should be an expression, not computed yet. Is there a `return`?", said)
    allowed = {"BUFFER", "CONST", *more, *(op.name for op in mini.MOVED_SHAPE)}
    extra = sorted({node.op.name for node in tensor.uop.toposort()} - allowed)
    if extra:
        enough = " and ".join(["Movement", *filter(None, [", ".join(more)])])
        raise Wrong(f"Its graph has {' and '.join(extra)} in it. {enough} will do.", said)


@checks("__matmul__", "(2, 3) @ (3, 4), from movement, one MUL and one sum", needs=NEEDED)
def small_product(mini: Any) -> None:
    a, b = counting(2, 3), counting(3, 4) - 5
    got = mini.Tensor(a) @ mini.Tensor(b)
    made_of(mini, got, ("MUL", "REDUCE_AXIS"), "a @ b")
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
    got = mini.Tensor(row).windows(2)
    made_of(mini, got, (), "t.windows(2)")
    expect_values("Tensor([0, 1, 2, 3]).windows(2)", got.numpy(), windows_of(row, 2), (
        (windows_of(row, 2).T, "These are the windows as rows. They should be columns: [j, o] is "
                               "element o + j."),
        ([[0, 1, 2], [0, 1, 2]], "The second row hasn't moved. Cut into rows of n + 1, one more "
                                 "than the row had."),
        ([[0, 1, 2], [3, 0, 1]], "The second row moved the wrong way. Cut into rows of n + 1, one "
                                 "more than the row had."),
        ([[0, 1, 2, 3, 0], [1, 2, 3, 0, 1]], "Nearly: only the first n - size + 1 columns are "
                                             "windows. The rest is from the next copy."),
        ([[0, 1, 2, 3], [1, 2, 3, 0]], "The last column is no window: it runs over the end. There "
                                       "are n - size + 1."),
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


@checks("conv2d", "One image of one channel, one filter", needs=(*NEEDED, "windows"))
def small_convolution(mini: Any) -> None:
    x, weight = counting(1, 1, 4, 5), counting(1, 1, 2, 3)
    got = mini.Tensor(x).conv2d(mini.Tensor(weight))
    made_of(mini, got, ("MUL", "REDUCE_AXIS"), "x.conv2d(weight)")
    said = "x.conv2d(weight) of shapes (1, 1, 4, 5) and (1, 1, 2, 3)"
    expect_values(said, got.numpy(), convolved(x, weight), (
        (convolved(x, weight[:, :, ::-1, ::-1]), "The filter is upside down and back to front."),
        (convolved(x, weight).transpose(0, 1, 3, 2), "Rows and columns have changed places."),
    ))  # fmt: skip


@checks("conv2d", "A batch, three channels, four filters", needs=(*NEEDED, "windows"))
def whole_convolution(mini: Any) -> None:
    x, weight = floats(2, 3, 6, 7), floats(4, 3, 3, 2)
    got = mini.Tensor(x).conv2d(mini.Tensor(weight)).numpy()
    said = "x.conv2d(weight) of shapes (2, 3, 6, 7) and (4, 3, 3, 2)"
    expect_values(said, got, convolved(x, weight))


# ---- all together --------------------------------------------------------------------------------


@checks("broadcast", "log_softmax, which is given, agrees with NumPy", needs=ALL_RULES)
def softmax(mini: Any) -> None:
    x = floats(3, 5)
    wanted = x - np.log(np.exp(x).sum(1, keepdims=True))
    expect_values("t.log_softmax()", mini.Tensor(x).log_softmax().numpy(), wanted)
