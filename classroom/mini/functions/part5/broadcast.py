"""Hint: Shapes (3, 1) and (4,). Write them under each other, flush right. What does the shorter one
lack, and what happens to the 1s?
Hint: Two steps. First give every node the same number of axes (a reshape, with 1s in front).
Then, for each axis, the largest size wins, and everybody is expanded to that. Constants have the
shape () and fit anything, so they can be left alone. A node that has the shape already stays as
it is; `reshape` and `expand` see to that.
Because: After the reshape all shapes are equally long, so `zip` lines the axes up, and `max`
finds the size that wins. If two sizes differ and neither is 1, `expand` complains.
"""

import numpy as np

from classroom.mini.check import Wrong, describe, expect, expect_values, promise, wrong_if
from classroom.mini.functions.part5.shared import WITH_EXPAND, floats


@promise("(3, 1) and (4,) become (3, 4)", needs=WITH_EXPAND)
def two_shapes(mini) -> None:
    a, b = mini.Tensor(np.zeros((3, 1))).uop, mini.Tensor(np.zeros(4)).uop
    said = "broadcast of shapes (3, 1) and (4,)"
    got = mini.broadcast(a, b)
    wrong_if(got is None, "broadcast returns nothing. Is there a `return`?", said)
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


@promise("A shape that is too short gets its axes on the left", needs=WITH_EXPAND)
def from_the_right(mini) -> None:
    x, row = floats(3, 3), floats(3)
    got = (mini.Tensor(x) + mini.Tensor(row)).numpy()
    expect_values("a + row, where a is (3, 3) and row is (3,)", got, x + row, (
        (x + row[:, None], "The row was added as a column: the axes of size 1 belong on the left."),
    ))  # fmt: skip


@promise("A constant fits every shape", needs=WITH_EXPAND)
def constants_fit(mini) -> None:
    x = floats(2, 3)
    total = mini.Tensor(x) + 1
    expect("the shape of x + 1, where x is (2, 3)", tuple(total.shape), (2, 3))
    expect_values("x + 1", total.numpy(), x + 1)
    two = mini.Tensor(x).uop.const(2.0)
    got = np.broadcast_to(mini.Tensor(two * 3).numpy(), ())
    expect_values("a constant 2 times a constant 3", got, np.array(6.0))


@promise("The same sums as NumPy's, for shapes chosen at random", needs=WITH_EXPAND)
def sums_by_chance(mini) -> None:
    dice = np.random.default_rng(1)
    for _ in range(40):
        full = tuple(int(n) for n in dice.integers(1, 4, dice.integers(1, 4)))
        one = tuple(n if dice.integers(2) else 1 for n in full)
        other = tuple(n if dice.integers(2) else 1 for n in full)[int(dice.integers(len(full))) :]
        x, y = floats(*one), floats(*other)
        expect_values(f"a + b of shapes {one} and {other}",
                      (mini.Tensor(x) + mini.Tensor(y)).numpy(), x + y)  # fmt: skip

# %% wrong: says The shapes are as they were
def broadcast(*nodes):
    return nodes

# %% wrong: says Is there a `return`?
def broadcast(*nodes):
    shapes = [node.shape for node in nodes]

# %% wrong: says ValueError: (3, 1) cannot be expanded
def broadcast(*nodes):
    rank = max(len(node.shape) for node in nodes)
    shaped = [node if node.op is Ops.CONST else
              node.reshape(*node.shape, *[1] * (rank - len(node.shape))) for node in nodes]
    shapes = [node.shape for node in shaped if node.op is not Ops.CONST]
    shape = tuple(map(max, zip(*shapes)))
    return tuple(n if n.op is Ops.CONST else n.expand(*shape) for n in shaped)

# %% wrong: says as many nodes as it is given
def broadcast(*nodes):
    return np.broadcast_shapes(*(node.shape for node in nodes))

# %% right
def broadcast(*nodes):
    shape = np.broadcast_shapes(*(node.shape for node in nodes))
    return [node.reshape(*[1] * (len(shape) - len(node.shape)), *node.shape).expand(*shape)
            for node in nodes]
