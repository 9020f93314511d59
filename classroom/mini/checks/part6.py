"""Stage 6: the rows of the gradient table, the way back through a graph, SGD and Adam."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.exercise import Wrong
from classroom.limit import OutOfTime
from classroom.mini.check import Checks, describe, expect, expect_values

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
    if not isinstance(got, tuple) or len(got) != len(wanted):
        nothing = " Is there a `return`?" if got is None else ""
        raise Wrong(f"A row returns a tuple with a gradient for each source.{nothing}", said,
                    f"a tuple of {len(wanted)}", describe(got))  # fmt: skip
    found = [None if g is None else mini.Tensor(g).numpy() for g in got]
    for mistake, sentence in mistakes:
        if all(_same(f, m) for f, m in zip(found, mistake, strict=True)):
            raise Wrong(sentence, said, wanted, describe([_listed(f) for f in found]))
    for f, w in zip(found, wanted, strict=True):
        if w is None or f is None:
            if w is not None or f is not None:
                raise Wrong("The condition's gradient is None, and x and y get one each.", said,
                            wanted, describe([_listed(f) for f in found]))  # fmt: skip
            continue
        if f.shape != np.shape(w):
            raise Wrong(f"A gradient has the shape of its source, {np.shape(w)}, and this one has "
                        f"{f.shape}.", said, w, describe(_listed(f)))  # fmt: skip
        expect_values(said, f, np.array(w, np.float32))


def _same(found: Any, mistake: Any) -> bool:
    if found is None or mistake is None:
        return found is mistake
    return found.shape == np.shape(mistake) and np.allclose(found, mistake, atol=1e-4)


def _listed(found: Any) -> Any:
    return None if found is None else np.round(found.astype(float), 4).tolist()


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


@checks("recip_gradient", "x = 2, grad = 8 gives (-2,)")
def reciprocal(mini: Any) -> None:
    expect_row(mini, "recip_gradient with x = 2, grad = 8", buffer(mini, [2]).recip(),
               buffer(mini, [8]), [[-2]], (
        ([[2]], "The sign is wrong: when x grows, 1/x shrinks."),
        ([[-32]], "You squared x. Square 1/x instead, which is `node`."),
        ([[-4]], "That is -grad / x. Divide by x twice."),
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


# ---- gradient ------------------------------------------------------------------------------------

ROWS = tuple(
    f"{name}_gradient"
    for name in "mul max recip exp2 where reshape permute expand shrink pad reduce".split()
)


def expect_gradients(
    mini: Any, said: str, got: Any, wanted: list[Any], sentences: Any = ()
) -> None:
    if not isinstance(got, (list, tuple)) or len(got) != len(wanted):
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
                        "Go through nodes_between in a loop instead.",
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
            expect_values(f"the gradient of {said}", got, wanted)


@checks("gradient", "The gradient of a gradient: 6x for x cubed", needs=ROWS)
def second(mini: Any) -> None:
    a = buffer(mini, 2)
    (first,) = mini.gradient(a * a * a, a)
    expect_gradients(mini, "gradient(a * a * a, a) with a = 2", [first], [12])
    said = "the gradient of gradient(a * a * a, a) with a = 2"
    expect_gradients(mini, said, mini.gradient(first, a), [12])


# ---- optimizers ----------------------------------------------------------------------------------

TRAINING = (*ROWS, "gradient")


def is_realized(mini: Any, said: str, tensors: list[Any]) -> None:
    if any(t.uop.op is not mini.Ops.BUFFER for t in tensors):
        raise Wrong("A step should realize everything that it changes. Otherwise the next step's "
                    "graph contains this one's, and grows every time.",
                    said)  # fmt: skip


def is_loss(mini: Any, said: str, got: Any, wanted: float) -> None:
    if not isinstance(got, mini.Tensor):
        raise Wrong("step should return the loss. Is there a `return`?", said, "a Tensor",
                    describe(got))  # fmt: skip
    expect_values(f"the loss that {said} returns", got.numpy(), np.array(wanted))


@checks("SGD.step", "[2.0] with gradient [10.0] and lr 0.1 becomes [1.0]", needs=TRAINING)
def one_step(mini: Any) -> None:
    w = mini.Tensor([2.0])
    said = "SGD([w], lr=0.1).step((w * 10).sum()) with w = [2.0]"
    got = mini.SGD([w], lr=0.1).step((w * 10).sum())
    expect_values(f"w after {said}", w.numpy(), np.array([1.0]), (
        ([3.0], "The step goes uphill: the gradient is subtracted."),
        ([-8.0], "lr is missing."),
        ([2.0], "w has not changed. Give it a new `uop`."),
    ))  # fmt: skip
    is_loss(mini, said, got, 20.0)


@checks("SGD.step", "All gradients are taken before any parameter moves", needs=TRAINING)
def together(mini: Any) -> None:
    a, b = mini.Tensor([2.0]), mini.Tensor([3.0])
    mini.SGD([a, b], lr=0.1).step((a * b).sum())
    said = "SGD([a, b], lr=0.1).step((a * b).sum()) with a = [2.0], b = [3.0]"
    is_realized(mini, said, [a, b])
    expect_values(f"a after {said}", a.numpy(), np.array([1.7]))
    expect_values(f"b after {said}", b.numpy(), np.array([2.8]), (
        ([2.83], "b was moved with the new value of a. Ask for all gradients at once."),
        ([3.0], "b has not moved. You asked for its gradient after a had become a new node. Ask "
                "for all gradients at once."),
    ))  # fmt: skip


def adam_by_numpy(grads: list[float], lr: float, b1: float = 0.9, b2: float = 0.999) -> float:
    """Where a parameter that begins at 0 is after these gradients."""
    w = m = v = 0.0
    for t, g in enumerate(grads, 1):
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        w -= lr * (m / (1 - b1**t)) / (math.sqrt(v / (1 - b2**t)) + 1e-8)
    return w


@checks("Adam.step", "The first step is as long as lr", needs=TRAINING)
def first_step(mini: Any) -> None:
    w = mini.Tensor([2.0])
    said = "Adam([w], lr=0.5).step((w * 10).sum()) with w = [2.0]"
    got = mini.Adam([w], lr=0.5).step((w * 10).sum())
    expect_values(f"w after {said}", w.numpy(), np.array([1.5]), (
        ([2 - 0.5 / math.sqrt(0.1)], "The averages are not corrected: divide m by 1 - b1_power and "
                                     "v by 1 - b2_power."),
        ([2 - 0.05], "m is not corrected: divide it by 1 - b1_power."),
        ([2 - 0.5 * 10 / math.sqrt(0.1)], "v is not corrected: divide it by 1 - b2_power."),
        ([2.5], "The step goes uphill: it is subtracted."),
        ([2 - 0.5 * 10 / 100], "The square root of V is missing."),
        ([2.0], "w has not changed. Give it a new `uop`."),
    ))  # fmt: skip
    is_loss(mini, said, got, 20.0)


@checks("Adam.step", "Five steps with different gradients", needs=TRAINING)
def five_steps(mini: Any) -> None:
    w, grads = mini.Tensor([0.0]), [1.0, -2.0, 0.5, 4.0, -1.0]
    adam = mini.Adam([w], lr=0.1)
    for count, g in enumerate(grads, 1):
        adam.step((w * g).sum())
        said = f"w, which begins at 0, after {count} steps with the gradients {grads[:count]}"
        is_realized(mini, "Adam.step", adam.state)
        once = adam_by_numpy(grads[:count], 0.1)
        forgetful = sum(adam_by_numpy([0.0] * t + [g], 0.1) for t, g in enumerate(grads[:count]))
        expect_values(said, w.numpy(), np.array([once]), (
            ([forgetful], "Each step forgets the ones before it. Give m and v a new `uop`, too."),
        ))  # fmt: skip


@checks("Adam.step", "The powers of b1 and b2 are Tensors, and change", needs=TRAINING)
def powers(mini: Any) -> None:
    w = mini.Tensor([1.0])
    adam = mini.Adam([w], lr=0.1)
    for _ in range(2):
        adam.step((w * w).sum())
    for name, power, wanted in (
        ("b1_power", adam.b1_power, 0.81),
        ("b2_power", adam.b2_power, 0.998001),
    ):
        still = (
            f"{name} has to change with every step. Steps that are counted in Python make a "
            "different graph each time."
        )
        said = f"adam.{name} after two steps"
        expect_values(said, power.numpy(), np.array([wanted]), (([1.0], still),))


@checks("Adam.step", "A step after the first makes no bigger graph", needs=TRAINING)
def same_size(mini: Any) -> None:
    w = mini.Tensor([1.0, 2.0])
    adam = mini.Adam([w], lr=0.1)
    sizes, run = [], mini.Tensor.run

    def measured(sink: Any) -> Any:
        sizes.append(len(sink.toposort()))
        return run(sink)

    mini.Tensor.run = staticmethod(measured)
    try:
        for _ in range(3):
            adam.step((w * w).sum())
    finally:
        mini.Tensor.run = staticmethod(run)
    if len(set(sizes)) != 1:
        raise Wrong("Your steps make graphs of different sizes. Each should make the same "
                    "graph. Is everything in self.state realized, all at once?",
                    "three steps of Adam", got=f"{sizes} nodes")  # fmt: skip


@checks("Adam.step", "XOR is learned in 200 steps", needs=TRAINING, seconds=30)
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
