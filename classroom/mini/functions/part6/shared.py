"""Stage 6: the rows of the gradient table, the way back through a graph, SGD and Adam."""

from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.mini.check import EXACT, Wrong, describe, expect_values, is_close, wrong_if

Function = Callable[..., Any]


def buffer(mini, values: Any) -> Any:
    return mini.Tensor(np.array(values, np.float32)).uop


def expect_row(
    mini,
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


def rest_is_right(
    mini, said: str, node: Any, grad: Any, wanted: list[Any], where_nan: np.ndarray
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


ROWS = tuple(
    f"{name}_gradient"
    for name in (
        *"mul max recip sqrt exp2 log2 where".split(),
        *"reshape permute expand shrink pad flip reduce".split(),
    )
)


def slopes(f: Function, x: np.ndarray, eps: float = 1e-2) -> np.ndarray:
    """Each derivative by two evaluations at either side."""
    found = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = eps
        found[index] = (f(x + step) - f(x - step)) / (2 * eps)
    return found


TRAINING = (*ROWS, "gradient")
IMAGE = np.array([[[(5 * i + 3 * j) % 11 + i / 7 for j in range(6)] for i in range(4)]], np.float32)


def is_realized(mini, said: str, tensors: list[Any]) -> None:
    wrong_if(any(t.uop.op is not mini.Ops.BUFFER for t in tensors), "A step should realize "
             "everything that it changes. Otherwise the next step's graph contains this one's, and "
             "grows every time.", said)  # fmt: skip


def with_a_step(optimizer: Any, name: str) -> None:
    if not callable(getattr(optimizer, "step", None)):
        raise Wrong(f"{name} has no method `step` yet.", f"{name}([w]).step(loss)")


def has_realized_loss(mini, said: str, loss: Any) -> None:
    if isinstance(loss, mini.Tensor) and loss.uop.op is not mini.Ops.BUFFER:
        raise Wrong("step should realize the loss, too. Nothing has computed it yet.", said)


def is_loss(mini, said: str, got: Any, wanted: float) -> None:
    wrong_if(not isinstance(got, mini.Tensor), "step should return the loss. Is there a `return`?",
             said, "a Tensor", describe(got))  # fmt: skip
    expect_values(f"the loss that {said} returns", got.numpy(), np.array(wanted))
