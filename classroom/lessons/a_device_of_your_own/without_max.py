"""A maximum without MAX

Hint: Which of the two do you want where `x < y`, and which elsewhere? Then go through the pairs
with a NaN: every comparison with NaN is false, so what do you get?
Hint: `(x < y).where(y, x)` is nearly it: it fails where `y` is NaN. A NaN is the only number that
differs from itself, so `y != y` finds it, and `|` joins two conditions.
Because: Where `x < y` is false because `y` is NaN, `x` would be chosen. So `y` is also chosen if
it isn't equal to itself. Where `x` is NaN, the comparison is false, and `x` is chosen, as it
should be.
Right: You've written what tinyframe writes wherever a language has no MAX.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from classroom.ask import Wrong, call, describe, wrong_if
from classroom.own_device import ops_in
from tinyframe import Tensor
from tinyframe.uop.node import Ops

# what Snake has a row for; x == y and x >= y, which are a word each, become two of them
ROWS = {Ops.ADD, Ops.MUL, Ops.FDIV, Ops.CMPLT, Ops.CMPNE, Ops.AND, Ops.OR, Ops.XOR, Ops.SHL,
        Ops.SHR, Ops.WHERE, Ops.CAST, Ops.BITCAST, Ops.CMPEQ, Ops.CMPLE}  # fmt: skip


INF, NAN = float("inf"), float("nan")


NUMBERS = [0.0, -0.0, 1.0, -1.5, 3.25, INF, -INF, NAN]


def check(answer) -> None:
    """answer(x, y): the larger of two Tensors, without MAX; NaN where either is."""
    fresh = np.random.default_rng().normal(size=11).tolist()
    for numbers, shown in (([1.0, -2.0, 5.0], True), (NUMBERS, True), ([*fresh, NAN], False)):
        pairs = list(itertools.product(numbers, repeat=2))
        x, y = (Tensor([*column], device="PYTHON").realize() for column in zip(*pairs, strict=True))
        got = call(answer, x, y)
        wrong_if(not isinstance(got, Tensor), "The answer has to be a Tensor.", got=describe(got))
        _in_rows(got)
        if got.shape != x.shape:
            raise Wrong("The result has a different shape.", expected=x.shape, got=got.shape)
        wanted = np.maximum(x.numpy(), y.numpy())
        _same(pairs, got.numpy(), wanted, shown)


def _in_rows(got: Tensor) -> None:
    used = set(ops_in(got.uop))
    reduced = {u.arg[0] for u in got.uop.toposort() if u.op is Ops.REDUCE_AXIS}
    if Ops.MAX in used | reduced:
        raise Wrong("There's a maximum in your graph, and that's the op this machine doesn't have.")
    if foreign := sorted(op.name for op in used - ROWS):
        raise Wrong(f"Your graph has the op {foreign[0]}, and Snake has no row for that.")


def _same(pairs: Sequence[Any], got: np.ndarray, wanted: np.ndarray, shown: bool) -> None:
    wrong = np.flatnonzero(~np.isclose(got, wanted, rtol=0, atol=0, equal_nan=True))
    if not len(wrong):
        return
    x, y = pairs[wrong[0]]
    text = "Some pairs come out wrong."
    if np.isnan([x, y]).any():
        which = "the first" if np.isnan(x) and not np.isnan(y) else "the second"
        text = f"The result has to be NaN if either of the two is, and here {which} one is."
    elif got[wrong[0]] == min(x, y):
        text = "That's the smaller of the two."
    elif np.isinf([x, y]).any():
        text = "It's right for ordinary numbers, but not for infinities."
    case = f"`x = {x:g}`, `y = {y:g}`" if shown else "fresh numbers"
    raise Wrong(text, case, *((wanted[wrong[0]], got[wrong[0]]) if shown else ()))

# %% wrong, each line
lambda x, y: (x < y).where(y, x)  # says here the second one is
lambda x, y: (x < y).where(y, x).sum()  # says different shape
lambda x, y: ((x + y) + ((x + y * -1) * (x + y * -1)).sqrt()) * 0.5  # says op SQRT
lambda x, y: -((-x).minimum(-y))  # says There's a maximum in your graph
lambda x, y: np.maximum(x.numpy(), y.numpy())  # says has to be a Tensor

# %% right, each line
lambda x, y: ((x < y) + (y != y)).where(y, x)  # + for |
