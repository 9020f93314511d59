"""Hint: When may a node hand its gradient on to its sources? Not before everything has arrived. Who
does it come from? You already have an order that makes sure of it, if you go through it
backwards. Which one?
Hint: Keep a dict from each node to its gradient so far: at first only the loss, with 1. Go
through toposort() backwards. A node that has a gradient and a row asks its row and adds the parts
to what its sources have. Then there are nodes that don't matter: those with nothing wanted below
them. Work those out beforehand, going forwards.
Because: Backwards, all users of a node come before it, so its gradient is complete when its turn
comes. What comes in along several paths is added up. And all of it is made of nodes, so it's
lazy, and has a gradient of its own.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from classroom.limit import OutOfTime
from classroom.mini.check import Wrong, describe, difference, expect_values, promise, shown
from classroom.mini.functions.part6.shared import ROWS, Function, buffer, slopes


def values_of(mini, node: Any, shape: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(mini.Tensor(node).numpy(), shape)


def expect_gradients(mini, said: str, got: Any, wanted: list[Any], sentences: Any = ()) -> None:
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


@promise("loss = a * b gives b and a", needs=ROWS)
def one_product(mini) -> None:
    a, b = buffer(mini, 3), buffer(mini, 5)
    expect_gradients(mini, "gradient(a * b, a, b) with a = 3, b = 5", mini.gradient(a * b, a, b),
                     [5, 3])  # fmt: skip


@promise("loss = a * b + a: `a` gets two gradients, which are added up", needs=ROWS)
def added_up(mini) -> None:
    a, b = buffer(mini, 3), buffer(mini, 5)
    said = "gradient(a * b + a, a) with a = 3, b = 5"
    overwritten = "`a` gets two gradients, 1 and 5, and {} is left. Add them up."
    expect_gradients(mini, said, mini.gradient(a * b + a, a), [6], (
        (5, overwritten.format("only the last one, 5,")),
        (1, overwritten.format("only the first one, 1,")),
    ))  # fmt: skip


@promise("A node waits for all of its gradient before it hands it down", needs=ROWS)
def all_of_it_first(mini) -> None:
    a = buffer(mini, 3)
    square = a * a
    lost = (
        "Part of the gradient of s is lost. Go backwards through toposort's order: that way, all "
        "users of a node come before the node."
    )
    said = "gradient(s + s * s, a), where s = a * a and a = 3"
    got = mini.gradient(square + square * square, a)
    expect_gradients(mini, said, got, [114], ((6, lost), (108, lost)))


@promise("0 for a node that the loss doesn't depend on", needs=ROWS)
def independent(mini) -> None:
    a, b = buffer(mini, 3), buffer(mini, 5)
    said = "gradient(a * a, a, b) with a = 3, b = 5"
    expect_gradients(mini, said, mini.gradient(a * a, a, b), [6, 0])


@promise("Nothing flows through a condition or a detach", needs=ROWS)
def stopped(mini) -> None:
    a, b = buffer(mini, 3), buffer(mini, 5)
    loss = (a < b).where(a * b, a) + a.detach() * b
    said = "gradient((a < b).where(a * b, a) + a.detach() * b, a) with a = 3, b = 5"
    expect_gradients(mini, said, mini.gradient(loss, a), [5])


@promise(
    "60 doublings: 2^60, from 61 nodes",
    needs=ROWS,
    told={OutOfTime: "This follows every path. Each node should hand its gradient down once."},
)
def once_each(mini) -> None:
    a = buffer(mini, 1)
    loss = a
    for _ in range(60):
        loss = loss + loss
    (got,) = mini.gradient(loss, a)
    expect_gradients(mini, "gradient of a doubled 60 times, divided by 2^60",
                     [got * 2.0**-60], [1])  # fmt: skip


@promise("A chain of 3,000 nodes",
    needs=ROWS,
    told={
        RecursionError: "The function calls itself, and this graph is deeper than Python allows. "
                        "Go through toposort() in a loop instead.",
        OutOfTime: "3,000 nodes take too long. `node in some_list` searches the whole list. A dict "
                   "finds a node right away.",
    },
)  # fmt: skip
def long_chain(mini) -> None:
    a = buffer(mini, 1)
    loss = a
    for _ in range(3000):
        loss = loss * 1.0 + 0.001
    expect_gradients(mini, "gradient of a chain of 3,000 nodes", mini.gradient(loss, a), [1])


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


@promise("Finite differences say the same, for expressions with every op", needs=ROWS)
def finite_differences(mini) -> None:
    x = np.array([[0.3, -0.7, 1.1], [0.9, 0.5, -0.4]], np.float32)
    c = mini.Tensor(np.array([[1.0, 0.5, -1.0], [2.0, 0.3, 0.8]]))
    for said, f in EXPRESSIONS.items():
        t = mini.Tensor(x)
        got = f(t, c).gradient(t)[0].numpy()
        wanted = slopes(lambda values, f=f: f(mini.Tensor(values), c).numpy(), x)
        if not np.allclose(got, wanted, rtol=2e-2, atol=2e-2):
            raise Wrong(difference(got, wanted), f"the gradient of {said}", shown(wanted),
                        shown(got))  # fmt: skip


@promise("The gradient of a gradient: 6x for x cubed", needs=ROWS)
def second(mini) -> None:
    a = buffer(mini, 2)
    (first,) = mini.gradient(a * a * a, a)
    expect_gradients(mini, "gradient(a * a * a, a) with a = 2", [first], [12])
    said = "the gradient of gradient(a * a * a, a) with a = 2"
    expect_gradients(mini, said, mini.gradient(first, a), [12])

# %% wrong: says `a` gets two gradients, 1 and 5
def gradient(loss, *wanted):
    between = {}
    for node in loss.toposort():
        if node in wanted or node.op in GRADIENT and any(s in between for s in node.src):
            between[node] = None
    grads = {loss: loss.const(1.0)}
    for node in reversed(between):
        if node.op in GRADIENT:
            parts = GRADIENT[node.op](grads[node], node, *node.src)
            for source, part in zip(node.src, parts, strict=True):
                if source in between and part is not None:
                    grads[source] = part
    return [grads.get(node, loss.const(0.0)) for node in wanted]

# %% wrong: says This follows every path
def gradient(loss, *wanted):
    grads = {}
    def down(node, grad):
        grads[node] = grads[node] + grad if node in grads else grad
        if node.op in GRADIENT:
            for source, part in zip(node.src, GRADIENT[node.op](grad, node, *node.src)):
                if part is not None:
                    down(source, part)
    down(loss, loss.const(1.0))
    return [grads.get(node, loss.const(0.0)) for node in wanted]

# %% wrong: says KeyError
def gradient(loss, *wanted):
    between = {}
    for node in loss.toposort():
        if node in wanted or node.op in GRADIENT and any(s in between for s in node.src):
            between[node] = None
    grads = {loss: loss.const(1.0)}
    for node in reversed(between):
        if node.op in GRADIENT:
            parts = GRADIENT[node.op](grads[node], node, *node.src)
            for source, part in zip(node.src, parts, strict=True):
                if source in between and part is not None:
                    grads[source] = grads[source] + part if source in grads else part
    return [grads[node] for node in wanted]

# %% wrong: says a list, one for each of `wanted`. Is there a `return`?
def gradient(loss, *wanted):
    print(loss.toposort())

# %% wrong: says Each gradient is a node
def gradient(loss, *wanted):
    return [1.0 for node in wanted]

# %% right: a tuple for a list
def gradient(loss, *wanted):
    table = {loss: loss.const(1.0)}
    for node in reversed(loss.toposort()):
        if node in table and node.op in GRADIENT:
            parts = GRADIENT[node.op](table[node], node, *node.src)
            for source, part in zip(node.src, parts):
                if part is not None:
                    table[source] = table[source] + part if source in table else part
    return tuple(table.get(node, loss.const(0.0)) for node in wanted)
