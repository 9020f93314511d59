"""Stage 5: index rules on numbers, on arrays and on nodes; then matmul, windows and convolution."""

import itertools
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

import numpy as np

from classroom.mini.check import Check, Wrong, expect, expect_values, promise, wrong_if

Shape = tuple[int, ...]
rng = np.random.default_rng(5)


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def counting(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


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


def on_numbers(mini, op: str, shape: tuple[int, ...], arg: Any) -> None:
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


def on_arrays(mini, op: str, shape: tuple[int, ...], arg: Any) -> None:
    """All elements at once, through the row of COMPUTE."""
    x = floats(*shape)
    node = mini.UOp(mini.Ops[op], (mini.UOp(mini.Ops.BUFFER, (), mini.Buffer(x)),), arg)
    said = f"a {op} of shape {shape}, arg {arg}, with arrays of indices"
    expect_values(said, mini.COMPUTE[node.op](node, x), moved_by_numpy(op, x, arg))


def value_of(mini, node: Any, counters: dict[Any, int]) -> int:
    """What an index is worth where loop counters have these values."""
    if not isinstance(node, mini.UOp):
        return int(node)
    if node.op is mini.Ops.CONST:
        return int(node.arg)
    if node in counters:
        return counters[node]
    return int(mini.ALU[node.op](*(value_of(mini, source, counters) for source in node.src)))


def single_numbers(mini) -> AbstractContextManager[Any]:
    """Loop counters are single numbers. So their arithmetic needs no `broadcast`, which is written
    later than the rules."""

    def plain(x: Any, op: Any, *others: Any) -> Any:
        return mini.UOp(op, (x, *map(x.const, others)))

    return mock.patch.object(mini.UOp, "alu", plain)


def on_nodes(mini, op: str, shape: tuple[int, ...], arg: Any) -> None:
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
        wrong_if(found != (wanted := rule(index, shape, arg)), f"For the numbers {index} the rule "
                 f"gives {wanted}, but for loop counters with these values it gives {found}. Does "
                 "it use an `if`?", said, wanted, found)  # fmt: skip


NO_IF = (
    "This index is made of NumPy arrays, and Python's `if`, `and`, `or`, `min` and `max` need a "
    "single number. `where(condition, x, y)` chooses element by element."
)

NO_SUCH_OPERATOR = (
    "This index is made of UOps, which have +, -, *, //, %, < and >. Write it with those, and with "
    "`where`."
)


def of_rule(
    op: str,
    shape: Shape,
    arg: tuple[Any, ...],
    index: Shape,
    wanted: Shape,
    more: tuple[tuple[Shape, tuple[Any, ...]], ...],
    mistakes: dict[Any, str] | None = None,
) -> tuple[Check, ...]:
    """The checks of an index rule. shape, arg, index, wanted: one example, with mistakes; more:
    (shape, arg) of others."""
    cases = ((shape, arg), *more)

    @promise(f"From shape {shape} with {arg}: {index} reads {wanted}")
    def example(mini) -> None:
        got = mini.SOURCE_INDEX[mini.Ops[op]](index, shape, arg)
        expect(f"{op.lower()}_index({index}, {shape}, {arg})", got, wanted, mistakes)

    @promise("Every element of other shapes")
    def numbers(mini) -> None:
        for shape, arg in cases:
            on_numbers(mini, op, shape, arg)

    @promise("All indices at once, as NumPy arrays", needs=("moved_shape",),
             told={ValueError: NO_IF})  # fmt: skip
    def arrays(mini) -> None:
        for shape, arg in cases:
            on_arrays(mini, op, shape, arg)

    @promise("Loop counters, which are nodes", told={TypeError: NO_SUCH_OPERATOR})
    def nodes(mini) -> None:
        for shape, arg in cases:
            on_nodes(mini, op, shape, arg)

    return example, numbers, arrays, nodes


ALL_RULES = (
    "moved_shape", "reshape_index", "permute_index", "expand_index", "shrink_index", "flip_index",
)  # fmt: skip

WITH_EXPAND = (*ALL_RULES, "expand")
BROADCASTS = (*WITH_EXPAND, "broadcast")

AXES: tuple[Shape, ...] = ((1,), (), (-1, 0), (0,), (2, 1), (-1,))
NEEDED = (*BROADCASTS, "reduce")


def expression(mini, said: str, node: Any, *sources: Any) -> Any:
    """The Tensor of a node. Wrong if that isn't an expression of these Tensors, from which a
    gradient can flow back."""
    wrong_if(not isinstance(node, mini.UOp), f"{said} should be a node. Is there a `return`?", said)
    there = set(node.toposort())
    wrong_if(any(source.uop not in there for source in sources), f"{said} was computed at once: "
             "the graph doesn't lead back to what it is made of, so no gradient could flow. Build "
             "it from nodes.", said)  # fmt: skip
    return mini.Tensor(node)
