"""Stage 6: the rows of the gradient table, the way back through a graph, SGD and Adam."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from classroom.exercise import Wrong
from classroom.limit import OutOfTime
from classroom.mini.check import (
    EXACT,
    Checks,
    describe,
    difference,
    expect,
    expect_values,
    is_close,
    shown,
)

checks = Checks()

Function = Callable[..., Any]


def buffer(mini: Any, values: Any) -> Any:
    return mini.Tensor(np.array(values, np.float32)).uop


def values_of(mini: Any, node: Any, shape: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(mini.Tensor(node).numpy(), shape)


# ---- the rows of the table -----------------------------------------------------------------------


def expect_row(
    mini: Any,
    said: str,
    node: Any,
    grad: Any,
    wanted: list[Any],
    mistakes: tuple[tuple[list[Any], str], ...] = (),
) -> None:
    """Wrong unless the row of a node's op gives these gradients (None for none) for its sources."""
    got = mini.GRADIENT[node.op](grad, node, *node.src)
    if isinstance(got, mini.UOp):
        raise Wrong("A row returns a tuple, also when there is one source only: `(…,)`.", said,
                    "a tuple", "a node")  # fmt: skip
    if not isinstance(got, (tuple, list)) or len(got) != len(wanted):
        nothing = " Is there a `return`?" if got is None else ""
        raise Wrong(f"A row returns a tuple with a gradient for each source.{nothing}", said,
                    f"a tuple of {len(wanted)}", describe(got))  # fmt: skip
    found = [None if g is None else mini.Tensor(g).numpy() for g in got]
    for mistake, sentence in mistakes:
        if all(_same(f, m) for f, m in zip(found, mistake, strict=True)):
            if not all(_same(f, w) for f, w in zip(found, wanted, strict=True)):
                raise Wrong(sentence, said, wanted, describe([_listed(f) for f in found]))
    for f, w in zip(found, wanted, strict=True):
        if w is None and (f is None or not np.any(f)):  # no gradient, or one that is 0
            continue
        if w is None or f is None:
            raise Wrong("The condition's gradient is None, and x and y get one each.", said,
                        wanted, describe([_listed(f) for f in found]))  # fmt: skip
        if f.shape != np.shape(w):
            raise Wrong(f"A gradient has the shape of its source, {np.shape(w)}, and this one has "
                        f"{f.shape}.", said, w, describe(_listed(f)))  # fmt: skip
        expect_values(said, f, np.array(w, np.float32), within=EXACT)


def _same(found: Any, mistake: Any) -> bool:
    if found is None or mistake is None:
        return found is mistake
    return is_close(found, mistake, EXACT)


def _listed(found: Any) -> Any:
    return None if found is None else np.round(found.astype(float), 6).tolist()


@checks("mul_gradient", "x = 3, y = 5, grad = 2 gives (10, 6)")
def product(mini: Any) -> None:
    x, y = buffer(mini, [3]), buffer(mini, [5])
    expect_row(mini, "mul_gradient with x = 3, y = 5, grad = 2", x * y, buffer(mini, [2]),
               [[10], [6]], (
        ([[6], [10]], "These two are swapped: x gets grad * y."),
        ([[5], [3]], "`grad` is missing. Whatever you hand down is multiplied by it."),
        ([[2], [2]], "That is the row of ADD. If x grows by 1, x * y grows by y."),
    ))  # fmt: skip


@checks("max_gradient", "To the larger one, and half to each where they are equal")
def maximum(mini: Any) -> None:
    x, y = buffer(mini, [1, 5, 4]), buffer(mini, [2, 2, 4])
    said = "max_gradient with x = [1, 5, 4], y = [2, 2, 4], grad = [10, 10, 10]"
    half = "Where they are equal, {}. Each of the two should get half of it."
    expect_row(mini, said, x.maximum(y), buffer(mini, [10] * 3), [[0, 10, 5], [10, 0, 5]], (
        ([[0, 10, 0], [10, 0, 10]], half.format("y gets everything")),
        ([[0, 10, 10], [10, 0, 0]], half.format("x gets everything")),
        ([[0, 10, 0], [10, 0, 0]], half.format("nobody gets anything")),
        ([[0, 10, 10], [10, 0, 10]],
         half.format("both get everything, which is twice what came in")),
        ([[10, 0, 5], [0, 10, 5]], "It goes to the smaller one. Which of x < y and y < x says that "
                                   "x is the larger one?"),
    ))  # fmt: skip


@checks("max_gradient", "A NaN stays where it is")
def maximum_of_nan(mini: Any) -> None:
    x, y = buffer(mini, [math.nan, 5, 1, 4]), buffer(mini, [2, 2, math.nan, 4])
    rest_is_right(mini, "max_gradient with x = [nan, 5, 1, 4], y = [2, 2, nan, 4], grad = [10] * 4",
                  x.maximum(y), buffer(mini, [10] * 4), [[0, 10, 0, 5], [0, 0, 0, 5]],
                  np.array([True, False, True, False]))  # fmt: skip


def rest_is_right(
    mini: Any, said: str, node: Any, grad: Any, wanted: list[Any], where_nan: np.ndarray
) -> None:
    """Wrong if a NaN among the values spoils the gradients of others. At the NaN, nobody knows."""
    with np.errstate(all="ignore"):
        got = [mini.Tensor(g).numpy() for g in mini.GRADIENT[node.op](grad, node, *node.src)]
    for values, right in zip(got, wanted, strict=True):
        off = ~np.isclose(values, right) & ~where_nan
        if off.any():
            place = tuple(int(i) for i in np.argwhere(off)[0])
            raise Wrong(f"A NaN spoils the gradient of a different element: {place}.", said,
                        describe(right), describe(values.tolist()))  # fmt: skip


@checks("recip_gradient", "x = 2, grad = 8 gives (-2,)")
def reciprocal(mini: Any) -> None:
    expect_row(mini, "recip_gradient with x = 2, grad = 8", buffer(mini, [2]).recip(),
               buffer(mini, [8]), [[-2]], (
        ([[2]], "The sign is wrong: when x grows, 1/x shrinks."),
        ([[-32]], "You squared x. Square 1/x instead, which is `node`."),
        ([[-4]], "That is -grad / x. Divide by x twice."),
    ))  # fmt: skip


@checks("sqrt_gradient", "x = 4, grad = 1 gives (0.25,); x = 9, grad = 12 gives (2,)")
def root(mini: Any) -> None:
    expect_row(mini, "sqrt_gradient with x = [4, 9], grad = [1, 12]", buffer(mini, [4, 9]).sqrt(),
               buffer(mini, [1, 12]), [[0.25, 2]], (
        ([[0.125, 12 / 18]], "That is grad / (2 * x). Divide by twice the root."),
        ([[0.5, 4]], "The factor of a half is missing: the power of x was one half."),
        ([[1, 18]], "The root is below the line: grad / (2 * root), and not grad * root / 2."),
    ))  # fmt: skip


@checks("exp2_gradient", "x = 3, grad = 1 gives (5.5452,)")
def power_of_two(mini: Any) -> None:
    x = buffer(mini, [3])
    node = mini.UOp(mini.Ops.EXP2, (x,))
    expect_row(mini, "exp2_gradient with x = 3, grad = 1", node, buffer(mini, [1]),
               [[8 * math.log(2)]], (
        ([[8]], "The logarithm of 2 is missing. Only e**x is its own derivative."),
        ([[8 / math.log(2)]], "You divided by the logarithm of 2. Multiply by it."),
        ([[12]], "That is x * 2**(x-1), the rule for x**n. Here x is the exponent."),
        *(([[8 * rounded]], f"{rounded} is ln(2) with too few digits. 32 bits hold seven of them, "
                            "and `math` has 16.") for rounded in (0.69, 0.693, 0.6931, 0.69315)),
    ))  # fmt: skip


@checks("log2_gradient", "x = 1, grad = 1 gives (1.442695,); x = 2 half of that")
def logarithm(mini: Any) -> None:
    node = mini.UOp(mini.Ops.LOG2, (buffer(mini, [1, 2]),))
    whole = 1 / math.log(2)
    expect_row(mini, "log2_gradient with x = [1, 2], grad = [1, 1]", node, buffer(mini, [1, 1]),
               [[whole, whole / 2]], (
        ([[1, 0.5]], "That is the derivative of the natural logarithm. This one is to base 2."),
        ([[math.log(2), math.log(2) / 2]], "The factor is upside down: divide by the logarithm of "
                                           "2. log2 rises faster than ln."),
        *(([[1 / rounded, 0.5 / rounded]], f"{rounded} is ln(2) with too few digits. 32 bits hold "
           "seven of them, and `math` has 16.") for rounded in (0.69, 0.693, 0.6931, 0.69315)),
        *(([[rounded, rounded / 2]], f"{rounded} has too few digits. 32 bits hold seven of them, "
           "and 1 / math.log(2) has 16.") for rounded in (1.44, 1.443, 1.4427)),
    ))  # fmt: skip


@checks("where_gradient", "To the one that was chosen, and None for the condition")
def chosen(mini: Any) -> None:
    condition, x, y = buffer(mini, [1, 0]), buffer(mini, [3, 3]), buffer(mini, [4, 4])
    said = "where_gradient with condition = [1, 0], grad = [7, 9]"
    expect_row(mini, said, condition.where(x, y), buffer(mini, [7, 9]), [None, [7, 0], [0, 9]], (
        ([None, [0, 9], [7, 0]], "These two are swapped: where the condition is true, x was "
                                 "chosen."),
        ([None, [7, 9], [7, 9]], "Both get everything. The one that was not chosen had no "
                                 "influence."),
    ))  # fmt: skip


@checks("reshape_gradient", "Back to the shape of x")
def reshaped(mini: Any) -> None:
    x = buffer(mini, np.zeros((2, 3)))
    grad = buffer(mini, np.arange(6).reshape(3, 2))
    expect_row(mini, "reshape_gradient with x of shape (2, 3), reshaped to (3, 2)",
               x.reshape(3, 2), grad, [np.arange(6).reshape(2, 3).tolist()])  # fmt: skip


@checks("permute_gradient", "The permutation that undoes it")
def permuted(mini: Any) -> None:
    x = buffer(mini, np.zeros((2, 3, 4)))
    values = np.arange(24).reshape(4, 2, 3)
    got = mini.GRADIENT[mini.Ops.PERMUTE](buffer(mini, values), x.permute(2, 0, 1), x)
    said = "permute_gradient with x of shape (2, 3, 4) and node.arg (2, 0, 1)"
    if isinstance(got, tuple) and len(got) == 1 and getattr(got[0], "shape", 0) == (3, 4, 2):
        raise Wrong("This permutes the same way again. You need the permutation that undoes "
                    "node.arg.", said, "shape (2, 3, 4)", "shape (3, 4, 2)")  # fmt: skip
    expect_row(mini, said, x.permute(2, 0, 1), buffer(mini, values),
               [values.transpose(1, 2, 0).tolist()])  # fmt: skip
    longer = buffer(mini, np.zeros((2, 1, 3, 2)))  # four axes in a cycle, where three say less
    passed = np.arange(12).reshape(1, 3, 2, 2)
    expect_row(mini, "permute_gradient with x of shape (2, 1, 3, 2) and node.arg (1, 2, 3, 0)",
               longer.permute(1, 2, 3, 0), buffer(mini, passed),
               [passed.transpose(3, 0, 1, 2).tolist()])  # fmt: skip


@checks("expand_gradient", "A row that was read three times collects three gradients")
def expanded(mini: Any) -> None:
    x = buffer(mini, np.zeros((1, 4)))
    values = np.arange(12).reshape(3, 4)
    said = "expand_gradient with x of shape (1, 4), expanded to (3, 4)"
    got = mini.GRADIENT[mini.Ops.EXPAND](buffer(mini, values), x.expand(3, 4), x)
    shape = getattr(got[0], "shape", None) if isinstance(got, tuple) and got else None
    for mistake, sentence in (
        ((3, 4), "The gradient still has the shape of the result. An element that was read three "
                 "times gets the sum of three gradients."),
        ((4,), "The axis is gone. x has it, with size 1: keepdim=True."),
    ):  # fmt: skip
        if shape == mistake:
            raise Wrong(sentence, said, "shape (1, 4)", f"shape {shape}")
    expect_row(mini, said, x.expand(3, 4), buffer(mini, values), [[values.sum(0).tolist()]], (
        ([[values[0].tolist()]], "Only the first of the three gradients arrives. Add them up."),
        ([[values.mean(0).tolist()]], "That is the mean of the three gradients. It should be the "
                                      "sum."),
    ))  # fmt: skip
    other, cube = buffer(mini, np.zeros((1, 2, 1))), np.arange(24).reshape(3, 2, 4)
    said = "expand_gradient with x of shape (1, 2, 1), expanded to (3, 2, 4)"
    wanted = cube.sum((0, 2), keepdims=True).tolist()
    expect_row(mini, said, other.expand(3, 2, 4), buffer(mini, cube), [wanted])


@checks("shrink_gradient", "Zeros for what was cut off")
def shrunk(mini: Any) -> None:
    x = buffer(mini, np.zeros(5))
    said = "shrink_gradient with x of shape (5,), node.arg ((1, 3),), grad = [7, 8]"
    got = mini.GRADIENT[mini.Ops.SHRINK](buffer(mini, [7, 8]), x.shrink((1, 3)), x)
    shape = getattr(got[0], "shape", None) if isinstance(got, tuple) and got else None
    if shape == (6,):
        raise Wrong("Padded with (start, end) it has 6 elements. `end` is an index: what follows "
                    "is size - end.", said, "shape (5,)", "shape (6,)")  # fmt: skip
    expect_row(mini, said, x.shrink((1, 3)), buffer(mini, [7, 8]), [[0, 7, 8, 0, 0]])


@checks("pad_gradient", "The elements of x, without the zeros around")
def unpadded(mini: Any) -> None:
    x = buffer(mini, np.zeros(3))
    said = "pad_gradient with x of shape (3,), node.arg ((1, 2),), grad = [1, 2, 3, 4, 5, 6]"
    expect_row(mini, said, x.pad((1, 2)), buffer(mini, [1, 2, 3, 4, 5, 6]), [[2, 3, 4]], (
        ([[1, 2, 3]], "Those are the first three. The elements of x begin at `before`."),
        ([[2]], "node.arg holds widths, (before, after), and shrink wants (start, end)."),
    ))  # fmt: skip


@checks("flip_gradient", "Back to front, along the same axes")
def flipped(mini: Any) -> None:
    for shape, axes in (((3,), (0,)), ((2, 2), (1,)), ((2, 3, 2), (0, 2))):
        x, values = buffer(mini, np.zeros(shape)), np.arange(np.prod(shape)).reshape(shape)
        said = f"flip_gradient with x of shape {shape}, node.arg {axes}"
        expect_row(mini, said, x.flip(*axes), buffer(mini, values),
                   [np.flip(values, axes).tolist()], (
            ([values.tolist()], "Nothing is flipped back."),
        ))  # fmt: skip


@checks("reduce_gradient", "The gradient of a sum is a copy for each element")
def summed(mini: Any) -> None:
    x = buffer(mini, [[1, 4, 4]])
    node = x.sum(1, keepdim=True)
    expect_row(mini, "reduce_gradient of ADD with x = [[1, 4, 4]], grad = [[6]]", node,
               buffer(mini, [[6]]), [[[6, 6, 6]]], (
        ([[[2, 2, 2]]], "That is the gradient of a mean. In a sum, every element counts fully."),
        ([[[6, 24, 24]]], "That is grad times x. Every element of a sum counts once."),
    ))  # fmt: skip


@checks("reduce_gradient", "That of a maximum goes to the largest, in equal shares")
def largest(mini: Any) -> None:
    x = buffer(mini, [[1, 4, 4]])
    node = x.max(1, keepdim=True)
    expect_row(mini, "reduce_gradient of MAX with x = [[1, 4, 4]], grad = [[6]]", node,
               buffer(mini, [[6]]), [[[0, 3, 3]]], (
        ([[[0, 6, 6]]], "Two elements are equally large, and each of them got everything. They "
                        "share it."),
        ([[[6, 6, 6]]], "That is the row of a sum. Only the largest elements count in a maximum."),
        ([[[0, 6, 0]]], "The first of the two largest got everything. They share it."),
        ([[[2, 2, 2]]], "You shared grad among all elements. Only the largest ones get a share."),
    ))  # fmt: skip
    several = buffer(mini, [[1, 4, 4], [7, 7, 7], [0, 0, -1]])
    expect_row(mini, "reduce_gradient of MAX with x = [[1, 4, 4], [7, 7, 7], [0, 0, -1]], "
               "grad = [[6], [6], [6]]", several.max(1, keepdim=True), buffer(mini, [[6]] * 3),
               [[[0, 3, 3], [2, 2, 2], [3, 3, 0]]])  # fmt: skip
    block = np.array([[[1, 5], [5, 2]], [[3, 3], [0, 3]]])
    expect_row(mini, "reduce_gradient of MAX over axes 1 and 2, grad = 6", buffer(mini, block).max(
        1, 2, keepdim=True), buffer(mini, [[[6]], [[6]]]),
        [[[[0, 3], [3, 0]], [[2, 2], [0, 2]]]])  # fmt: skip


@checks("reduce_gradient", "A NaN stays in its row")
def largest_of_nan(mini: Any) -> None:
    x = buffer(mini, [[1, math.nan, 2], [1, 4, 4]])
    rest_is_right(mini, "reduce_gradient of MAX with x = [[1, nan, 2], [1, 4, 4]], grad = "
                  "[[6], [6]]", x.max(1, keepdim=True), buffer(mini, [[6], [6]]),
                  [[[0, 0, 0], [0, 3, 3]]], np.array([[True] * 3, [False] * 3]))  # fmt: skip


# ---- gradient ------------------------------------------------------------------------------------

ROWS = tuple(
    f"{name}_gradient"
    for name in (
        *"mul max recip sqrt exp2 log2 where".split(),
        *"reshape permute expand shrink pad flip reduce".split(),
    )
)


def expect_gradients(
    mini: Any, said: str, got: Any, wanted: list[Any], sentences: Any = ()
) -> None:
    if isinstance(got, Iterable):
        got = list(got)
    if not isinstance(got, list) or len(got) != len(wanted):
        nothing = " Is there a `return`?" if got is None else ""
        raise Wrong(f"gradient should return a list, one for each of `wanted`.{nothing}", said,
                    f"a list of {len(wanted)}", describe(got))  # fmt: skip
    for node, w in zip(got, wanted, strict=True):
        if not isinstance(node, mini.UOp):
            raise Wrong("Each gradient is a node.", said, "a UOp", describe(node))
        found = values_of(mini, node, np.shape(w))
        expect_values(said, found, np.array(w, np.float32), sentences)


@checks("gradient", "loss = a * b gives b and a", needs=ROWS)
def one_product(mini: Any) -> None:
    a, b = buffer(mini, 3), buffer(mini, 5)
    expect_gradients(mini, "gradient(a * b, a, b) with a = 3, b = 5", mini.gradient(a * b, a, b),
                     [5, 3])  # fmt: skip


@checks("gradient", "loss = a * b + a: `a` gets two gradients, which are added up", needs=ROWS)
def added_up(mini: Any) -> None:
    a, b = buffer(mini, 3), buffer(mini, 5)
    said = "gradient(a * b + a, a) with a = 3, b = 5"
    overwritten = "`a` gets two gradients, 1 and 5, and {} is left. Add them up."
    expect_gradients(mini, said, mini.gradient(a * b + a, a), [6], (
        (5, overwritten.format("only the last one, 5,")),
        (1, overwritten.format("only the first one, 1,")),
    ))  # fmt: skip


@checks("gradient", "A node waits for all of its gradient before it hands it down", needs=ROWS)
def all_of_it_first(mini: Any) -> None:
    a = buffer(mini, 3)
    square = a * a
    lost = (
        "Part of the gradient of s is lost. Go backwards through toposort's order: that way, all "
        "users of a node come before the node."
    )
    said = "gradient(s + s * s, a), where s = a * a and a = 3"
    got = mini.gradient(square + square * square, a)
    expect_gradients(mini, said, got, [114], ((6, lost), (108, lost)))


@checks("gradient", "0 for a node that the loss doesn't depend on", needs=ROWS)
def independent(mini: Any) -> None:
    a, b = buffer(mini, 3), buffer(mini, 5)
    said = "gradient(a * a, a, b) with a = 3, b = 5"
    expect_gradients(mini, said, mini.gradient(a * a, a, b), [6, 0])


@checks("gradient", "Nothing flows through a condition or a detach", needs=ROWS)
def stopped(mini: Any) -> None:
    a, b = buffer(mini, 3), buffer(mini, 5)
    loss = (a < b).where(a * b, a) + a.detach() * b
    said = "gradient((a < b).where(a * b, a) + a.detach() * b, a) with a = 3, b = 5"
    expect_gradients(mini, said, mini.gradient(loss, a), [5])


@checks(
    "gradient",
    "60 doublings: 2^60, from 61 nodes",
    needs=ROWS,
    told={OutOfTime: "This follows every path. Each node should hand its gradient down once."},
)
def once_each(mini: Any) -> None:
    a = buffer(mini, 1)
    loss = a
    for _ in range(60):
        loss = loss + loss
    (got,) = mini.gradient(loss, a)
    expect_gradients(mini, "gradient of a doubled 60 times, divided by 2^60",
                     [got * 2.0**-60], [1])  # fmt: skip


@checks(
    "gradient",
    "A chain of 3,000 nodes",
    needs=ROWS,
    told={
        RecursionError: "The function calls itself, and this graph is deeper than Python allows. "
                        "Go through toposort() in a loop instead.",
        OutOfTime: "3,000 nodes take too long. `node in some_list` searches the whole list. A dict "
                   "finds a node right away.",
    },
)  # fmt: skip
def long_chain(mini: Any) -> None:
    a = buffer(mini, 1)
    loss = a
    for _ in range(3000):
        loss = loss * 1.0 + 0.001
    expect_gradients(mini, "gradient of a chain of 3,000 nodes", mini.gradient(loss, a), [1])


def slopes(f: Function, x: np.ndarray, eps: float = 1e-2) -> np.ndarray:
    """Each derivative by two evaluations at either side."""
    found = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = eps
        found[index] = (f(x + step) - f(x - step)) / (2 * eps)
    return found


# Of a Tensor t of shape (2, 3), and of a constant c of that shape.
EXPRESSIONS: dict[str, Function] = {
    "((t @ c.permute(1, 0)).relu() * 2).sum()": lambda t, c: (
        (t @ c.permute(1, 0)).relu() * 2
    ).sum(),
    "(t.exp() / (t * t + 1).sqrt()).sum()": lambda t, c: (t.exp() / (t * t + 1).sqrt()).sum(),
    "(t * t + 1).log().mean()": lambda t, c: (t * t + 1).log().mean(),
    "permute, reshape, flip, shrink and pad of t, times t": lambda t, c: (
        t.permute(1, 0).reshape(6).flip(0).shrink((1, 5)).pad((1, 1)).reshape(2, 3) * t
    ).sum(),
    "(t - t.max(1, keepdim=True)).exp().sum()": lambda t, c: (
        (t - t.max(1, keepdim=True)).exp().sum()
    ),
    "(t.log_softmax() * c).sum()": lambda t, c: (t.log_softmax() * c).sum(),
    "((t > 0).where(t * 3, t) * t).sum()": lambda t, c: ((t > 0).where(t * 3, t) * t).sum(),
    "(t.windows(2) * t.windows(2)).sum()": lambda t, c: (t.windows(2) * t.windows(2)).sum(),
}


@checks("gradient", "Finite differences say the same, for expressions with every op", needs=ROWS)
def finite_differences(mini: Any) -> None:
    x = np.array([[0.3, -0.7, 1.1], [0.9, 0.5, -0.4]], np.float32)
    c = mini.Tensor(np.array([[1.0, 0.5, -1.0], [2.0, 0.3, 0.8]]))
    for said, f in EXPRESSIONS.items():
        t = mini.Tensor(x)
        got = f(t, c).gradient(t)[0].numpy()
        wanted = slopes(lambda values, f=f: f(mini.Tensor(values), c).numpy(), x)
        if not np.allclose(got, wanted, rtol=2e-2, atol=2e-2):
            raise Wrong(difference(got, wanted), f"the gradient of {said}", shown(wanted),
                        shown(got))  # fmt: skip


@checks("gradient", "The gradient of a gradient: 6x for x cubed", needs=ROWS)
def second(mini: Any) -> None:
    a = buffer(mini, 2)
    (first,) = mini.gradient(a * a * a, a)
    expect_gradients(mini, "gradient(a * a * a, a) with a = 2", [first], [12])
    said = "the gradient of gradient(a * a * a, a) with a = 2"
    expect_gradients(mini, said, mini.gradient(first, a), [12])


# ---- ops of your own -----------------------------------------------------------------------------

TRAINING = (*ROWS, "gradient")
ENOUGH = 3
ROW = np.array([-2.0, -0.3, 0.4, 1.5], np.float32)
TABLE = np.array([[0.3, -1.7, 2.1], [0.9, -0.5, -0.4]], np.float32)
IMAGE = np.array([[[(5 * i + 3 * j) % 11 + i / 7 for j in range(6)] for i in range(4)]], np.float32)
FAR = np.array([-100.0, 0.0, 100.0], np.float32)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0, -x.astype(np.float64)))


def softmax(x: np.ndarray) -> np.ndarray:
    exponentials = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def pooled(x: np.ndarray, n: int) -> np.ndarray:
    *front, rows, columns = x.shape
    return x.reshape(*front, rows // n, n, columns // n, n).max((-3, -1))


Case = tuple[str, Function, Function, np.ndarray]  # as it is written, in mini, by NumPy, of what

# name: its cases. Gradients are compared with slopes in all of them, so no case has a kink in it,
# unless that is flat on both sides.
CHOICES: dict[str, tuple[Case, ...]] = {
    "__pow__": (
        ("x ** 2", lambda x: x**2, lambda x: x**2, ROW),
        ("x ** 3", lambda x: x**3, lambda x: x**3, ROW),
        ("x ** 2", lambda x: x**2, lambda x: x**2, np.array([0.0, -1.5], np.float32)),
        ("x ** 1", lambda x: x**1, lambda x: x * 1, ROW),
        ("x ** -2", lambda x: x**-2, lambda x: 1 / (x * x), ROW),
        ("x ** 0.5", lambda x: x**0.5, np.sqrt, np.abs(ROW)),
        ("x ** -1.5", lambda x: x**-1.5, lambda x: x**-1.5, np.abs(ROW)),
        ("x ** 0", lambda x: x**0, np.ones_like, ROW),
    ),
    "__getitem__": (
        ("x[1]", lambda x: x[1], lambda x: x[1], TABLE),
        ("x[-1]", lambda x: x[-1], lambda x: x[-1], ROW),
        ("x[1:3]", lambda x: x[1:3], lambda x: x[1:3], ROW),
        ("x[:-1]", lambda x: x[:-1], lambda x: x[:-1], ROW),
        ("x[:, 2]", lambda x: x[:, 2], lambda x: x[:, 2], TABLE),
        ("x[0, 1:3]", lambda x: x[0, 1:3], lambda x: x[0, 1:3], TABLE),
        ("x[1, -2]", lambda x: x[1, -2], lambda x: x[1, -2], TABLE),
    ),
    "__abs__": (("abs(x)", abs, np.abs, ROW), ("abs(x)", abs, np.abs, TABLE)),
    "minimum": (
        ("x.minimum(x * 0 + 0.5)", lambda x: x.minimum(x * 0 + 0.5),
         lambda x: np.minimum(x, 0.5), TABLE),
        ("x.minimum(1)", lambda x: x.minimum(1), lambda x: np.minimum(x, 1), ROW),
    ),
    "clip": (
        ("x.clip(-1, 1)", lambda x: x.clip(-1, 1), lambda x: np.clip(x, -1, 1), TABLE),
        ("x.clip(0.35, 2)", lambda x: x.clip(0.35, 2), lambda x: np.clip(x, 0.35, 2), ROW),
    ),
    "sin": (("x.sin()", lambda x: x.sin(), np.sin, ROW),
            ("x.sin()", lambda x: x.sin(), np.sin, TABLE * 4)),
    "sigmoid": (("x.sigmoid()", lambda x: x.sigmoid(), sigmoid, ROW),
                ("x.sigmoid()", lambda x: x.sigmoid(), sigmoid, FAR)),
    "tanh": (("x.tanh()", lambda x: x.tanh(), np.tanh, ROW),
             ("x.tanh()", lambda x: x.tanh(), np.tanh, FAR)),
    "silu": (("x.silu()", lambda x: x.silu(), lambda x: x * sigmoid(x), ROW),
             ("x.silu()", lambda x: x.silu(), lambda x: x * sigmoid(x), FAR)),
    "softplus": (
        ("x.softplus()", lambda x: x.softplus(), lambda x: np.logaddexp(0, x), ROW),
        ("x.softplus()", lambda x: x.softplus(), lambda x: np.logaddexp(0, x), FAR),
    ),
    "softmax": (
        ("x.softmax()", lambda x: x.softmax(), softmax, TABLE),
        ("x.softmax()", lambda x: x.softmax(), softmax, np.array([[1000, 1001, 999]], np.float32)),
    ),
    "cumsum": (("x.cumsum()", lambda x: x.cumsum(), lambda x: np.cumsum(x, -1), TABLE),
               ("x.cumsum()", lambda x: x.cumsum(), lambda x: np.cumsum(x, -1), ROW)),
    "var": (("x.var()", lambda x: x.var(), np.var, TABLE),
            ("x.var()", lambda x: x.var(), np.var, ROW + 100)),
    "cat": (
        ("x.cat(x * 2)", lambda x: x.cat(x * 2), lambda x: np.concatenate([x, x * 2]), TABLE),
        ("x.cat(x[:1])", lambda x: x.cat(x.shrink((0, 1))), lambda x: np.concatenate([x, x[:1]]),
         ROW),
    ),
    "max_pool": (
        ("x.max_pool(2)", lambda x: x.max_pool(2), lambda x: pooled(x, 2), IMAGE),
        ("x.max_pool(2)", lambda x: x.max_pool(2), lambda x: pooled(x, 2), IMAGE[0, :2]),
    ),
}  # fmt: skip


def chosen_by(mini: Any) -> list[str]:
    return [name for name in CHOICES if name in vars(mini.Mine)]


def is_right(mini: Any, name: str, case: Case) -> None:
    written, f, by_numpy, x = case
    said = f"{written} with x = {describe(np.round(x.astype(float), 4).tolist())}"
    with np.errstate(all="ignore"):
        got = f(mini.Tensor(x).uop)
        if not isinstance(got, mini.UOp):
            raise Wrong(f"`{name}` should give a node. Is there a `return`?", said)
        values, wanted = mini.Tensor(got).numpy(), np.asarray(by_numpy(x))
    if not np.isfinite(values).all() and values.shape == wanted.shape:
        place = np.argwhere(~np.isfinite(values))[0]
        raise Wrong(f"`{name}`: one element is {values[tuple(place)]}. It is the wrong way round "
                    "where numbers get large or negative.", said, shown(wanted),
                    describe(values.tolist()))  # fmt: skip
    if not is_close(values, wanted, 3e-5):
        raise Wrong(f"`{name}`: {difference(values, wanted)}", said, shown(wanted), shown(values))


def has_slopes(mini: Any, name: str, case: Case) -> None:
    written, f, by_numpy, x = case
    weights = np.cos(1.0 + np.arange(np.size(by_numpy(x)))).reshape(np.shape(by_numpy(x)))
    t = mini.Tensor(x)
    with np.errstate(all="ignore"):
        (gradient,) = (f(t) * mini.Tensor(weights)).sum().gradient(t)
        got = np.broadcast_to(gradient.numpy(), x.shape)
    wanted = slopes(lambda v: (by_numpy(v) * weights).sum(), x.astype(np.float64), 1e-5)
    if np.allclose(got, wanted, rtol=5e-3, atol=5e-4):
        return
    said = (
        f"(x{written[1:]} * c).sum().gradient(x)" if written[0] == "x" else f"gradient of {written}"
    )
    at = describe(np.round(x.astype(float), 4).tolist())
    text = f"The values of `{name}` are right, and its gradient isn't. "
    if not np.isfinite(got).all():
        text += "It isn't even a number: somewhere on the way back, infinity is multiplied by 0."
    elif not got.any():
        text += "It is 0 everywhere. Was something computed on the way, or detached?"
    else:
        text += difference(got, wanted)
    raise Wrong(text, f"{said} with x = {at}", shown(wanted), shown(got))


@checks("Mine", f"At least {ENOUGH} methods of the list, with NumPy's values", needs=TRAINING)
def values_of_mine(mini: Any) -> None:
    names = chosen_by(mini)
    for name in names:
        for case in CHOICES[name]:
            is_right(mini, name, case)
    if len(names) < ENOUGH:
        there = f"`{'` and `'.join(names)}`" if names else "none"
        raise Wrong(f"There should be at least {ENOUGH} of the list in Mine, and there "
                    f"{'is' if len(names) < 2 else 'are'} {there}"
                    f"{', right as it is' if len(names) == 1 else ''}.", "class Mine")  # fmt: skip


@checks("Mine", "Their gradients are the slopes that finite differences find", needs=TRAINING)
def gradients_of_mine(mini: Any) -> None:
    for name in chosen_by(mini):
        for case in CHOICES[name]:
            has_slopes(mini, name, case)


# ---- optimizers ----------------------------------------------------------------------------------


def is_realized(mini: Any, said: str, tensors: list[Any]) -> None:
    if any(t.uop.op is not mini.Ops.BUFFER for t in tensors):
        raise Wrong("A step should realize everything that it changes. Otherwise the next step's "
                    "graph contains this one's, and grows every time.",
                    said)  # fmt: skip


def with_a_step(optimizer: Any, name: str) -> None:
    if not callable(getattr(optimizer, "step", None)):
        raise Wrong(f"{name} has no method `step` yet.", f"{name}([w]).step(loss)")


def has_realized_loss(mini: Any, said: str, loss: Any) -> None:
    if isinstance(loss, mini.Tensor) and loss.uop.op is not mini.Ops.BUFFER:
        raise Wrong("step should realize the loss, too. Nothing has computed it yet.", said)


def is_loss(mini: Any, said: str, got: Any, wanted: float) -> None:
    if not isinstance(got, mini.Tensor):
        raise Wrong("step should return the loss. Is there a `return`?", said, "a Tensor",
                    describe(got))  # fmt: skip
    expect_values(f"the loss that {said} returns", got.numpy(), np.array(wanted))


@checks("SGD", "[2.0] with gradient [10.0] and lr 0.1 becomes [1.0]", needs=TRAINING)
def one_step(mini: Any) -> None:
    w = mini.Tensor([2.0])
    with_a_step(mini.SGD([w], lr=0.1), "SGD")
    said = "SGD([w], lr=0.1).step((w * 10).sum()) with w = [2.0]"
    got = mini.SGD([w], lr=0.1).step((w * 10).sum())
    expect_values(f"w after {said}", w.numpy(), np.array([1.0]), (
        ([3.0], "The step goes uphill: the gradient is subtracted."),
        ([-8.0], "lr is missing."),
        ([2.0], "w has not changed. Give it a new `uop`."),
    ))  # fmt: skip
    is_loss(mini, said, got, 20.0)


@checks("SGD", "All gradients are taken before any parameter moves", needs=TRAINING)
def together(mini: Any) -> None:
    a, b = mini.Tensor([2.0]), mini.Tensor([3.0])
    loss = mini.SGD([a, b], lr=0.1).step((a * b).sum())
    said = "SGD([a, b], lr=0.1).step((a * b).sum()) with a = [2.0], b = [3.0]"
    is_realized(mini, said, [a, b])
    has_realized_loss(mini, said, loss)
    expect_values(f"a after {said}", a.numpy(), np.array([1.7]))
    expect_values(f"b after {said}", b.numpy(), np.array([2.8]), (
        ([2.83], "b was moved with the new value of a. Ask for all gradients at once."),
        ([3.0], "b has not moved. You asked for its gradient after a had become a new node. Ask "
                "for all gradients at once."),
    ))  # fmt: skip


def adam_by_numpy(
    grads: list[float], lr: float, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> float:
    """Where a parameter that begins at 0 is after these gradients."""
    w = m = v = 0.0
    for t, g in enumerate(grads, 1):
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        w -= lr * (m / (1 - b1**t)) / (math.sqrt(v / (1 - b2**t)) + eps)
    return w


@checks("Adam", "The first step is as long as lr", needs=TRAINING)
def first_step(mini: Any) -> None:
    w = mini.Tensor([2.0])
    with_a_step(mini.Adam([w], lr=0.5), "Adam")
    said = "Adam([w], lr=0.5).step((w * 10).sum()) with w = [2.0]"
    got = mini.Adam([w], lr=0.5).step((w * 10).sum())
    expect_values(f"w after {said}", w.numpy(), np.array([1.5]), (
        ([2 - 0.5 / math.sqrt(0.1)], "The averages are not corrected: M is m / (1 - b1**t), "
                                     "and V is v / (1 - b2**t)."),
        ([2 - 0.05], "m is not corrected: M is m / (1 - b1**t)."),
        ([2 - 0.5 * 10 / math.sqrt(0.1)], "v is not corrected: V is v / (1 - b2**t)."),
        ([2.5], "The step goes uphill: it is subtracted."),
        ([2 - 0.5 * 10 / 100], "The square root of V is missing."),
        ([2.0], "w has not changed. Give it a new `uop`."),
    ))  # fmt: skip
    is_loss(mini, said, got, 20.0)


@checks("Adam", "Five steps with different gradients", needs=TRAINING)
def five_steps(mini: Any) -> None:
    w, grads = mini.Tensor([0.0]), [1.0, -2.0, 0.5, 4.0, -1.0]
    adam = mini.Adam([w], lr=0.1)
    for count, g in enumerate(grads, 1):
        loss = adam.step((w * g).sum())
        has_realized_loss(mini, "Adam.step", loss)
        said = f"w, which begins at 0, after {count} steps with the gradients {grads[:count]}"
        is_realized(mini, "Adam.step", [w])
        once = adam_by_numpy(grads[:count], 0.1)
        forgetful = sum(adam_by_numpy([0.0] * t + [g], 0.1) for t, g in enumerate(grads[:count]))
        expect_values(said, w.numpy(), np.array([once]), (
            ([forgetful], "Each step forgets the ones before it. Give m and v a new `uop`, too."),
        ))  # fmt: skip


@checks("Adam", "Each parameter has averages of its own, of its own shape", needs=TRAINING)
def several_parameters(mini: Any) -> None:
    a, b = mini.Tensor(np.zeros((2, 3))), mini.Tensor([0.0])
    adam = mini.Adam([a, b], lr=0.1, b1=0.5, b2=0.9, eps=1e-3)
    for g in (1.0, -2.0, 0.5):
        adam.step((a * g).sum() + (b * (g * g)).sum())
    after = "after three steps of Adam([a, b], lr=0.1, b1=0.5, b2=0.9, eps=1e-3)"
    for name, t, grads in (("a", a, [1.0, -2.0, 0.5]), ("b", b, [1.0, 4.0, 0.25])):
        wanted = np.full(t.shape, adam_by_numpy(grads, 0.1, 0.5, 0.9, 1e-3))
        ignored = np.full(t.shape, adam_by_numpy(grads, 0.1))
        expect_values(f"{name}, {after}", t.numpy(), wanted, (
            (ignored, "b1, b2 and eps are not used: these are the numbers of b1=0.9, b2=0.999."),
        ))  # fmt: skip


@checks("Adam", "Every step makes the same graph, with other numbers in its buffers",
        needs=TRAINING)  # fmt: skip
def same_graph(mini: Any) -> None:
    w = mini.Tensor([1.0, 2.0])
    adam = mini.Adam([w], lr=0.1)
    steps: list[list[str]] = []
    constants: list[list[str]] = []
    run = mini.Tensor.run

    def measured(sink: Any) -> Any:
        for node in sink.toposort():
            if node.op is not mini.Ops.BUFFER:
                kept = constants if node.op is mini.Ops.CONST else steps
                kept[-1].append(repr((str(node.op), node.arg)))
        return run(sink)

    mini.Tensor.run = staticmethod(measured)
    try:
        for _ in range(4):
            steps.append([])
            constants.append([])
            adam.step((w * w).sum())
    finally:
        mini.Tensor.run = staticmethod(run)
    said = "four steps of Adam"
    sizes = [len(step) for step in steps]
    if len(set(sizes)) != 1:
        raise Wrong("Your steps make graphs of different sizes. Otherwise the next step's graph "
                    "contains this one's: is everything that a step changes realized in it?",
                    said, got=f"{sizes} nodes")  # fmt: skip
    if any(sorted(step) != sorted(kept[0]) for kept in (steps, constants) for step in kept):
        raise Wrong("The graph has a constant in it that changes with every step. A number that is "
                    "counted in Python makes a different graph each time, and a compiler would "
                    "have to compile each. Keep it in a Tensor.", said)  # fmt: skip


@checks("Adam", "Four points that no line separates (XOR) are learned in 200 steps",
        needs=TRAINING, seconds=30)  # fmt: skip
def xor(mini: Any) -> None:
    dice = np.random.default_rng(0)
    x = mini.Tensor(list(itertools.product([0, 1], repeat=2)))
    y = mini.Tensor([[0], [1], [1], [0]])
    weights = [dice.standard_normal(shape) for shape in ((2, 8), (8, 1))]
    w1, b1, w2, b2 = (mini.Tensor(v) for v in (weights[0], np.zeros(8), weights[1], np.zeros(1)))
    adam = mini.Adam([w1, b1, w2, b2], lr=0.03)

    def model() -> Any:
        return (x @ w1 + b1).relu() @ w2 + b2

    for _ in range(200):
        off = model() - y
        adam.step((off * off).mean())
    answers = model().numpy().ravel()
    expect("the four answers, rounded", [round(float(a)) for a in answers], [0, 1, 1, 0])
