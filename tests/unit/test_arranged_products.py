"""Products whose operands are turned, or whose sum is done in parts, before they are multiplied."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels import filled, kernels_of, numbers, on_buffer
from tinyframe import Tensor
from tinyframe.uop.node import Ops


def product(m: int, k: int, n: int, turned: str = "") -> tuple[Tensor, np.ndarray]:
    """A product of small whole numbers, exact in any order; `turned` names operands that lie
    across."""
    a, b = numbers(m, k), numbers(k, n, seed=1)
    x = filled(np.ascontiguousarray(a.T)).T if "a" in turned else filled(a)
    y = filled(np.ascontiguousarray(b.T)).T if "b" in turned else filled(b)
    return x @ y, a @ b


@pytest.mark.parametrize(("sizes", "turned", "kernels"), [
    ((512, 600, 520), "a", 2),
    ((512, 600, 520), "", 1),
    ((512, 600, 520), "b", 1),
    ((512, 600, 520), "ab", 1),  # one of them is along the sum already
    ((511, 600, 520), "a", 1),  # too small to be worth it
    ((64, 4096, 33), "", 2),
    ((64, 4096, 33), "a", 2),
    ((10, 5000, 128), "b", 2),
    ((7, 4099, 9), "", 1),  # a prime number of products
    ((4096, 1, 64), "", 1),
])  # fmt: skip
def test_products_are_right_however_they_are_arranged(sizes, turned, kernels):
    got, wanted = product(*sizes, turned)
    assert len(kernels_of(got)) == kernels
    np.testing.assert_array_equal(got.numpy(), wanted)


def test_only_few_sums_are_done_in_parts():
    first, _ = kernels_of(on_buffer(64, 16384) @ on_buffer(16384, 64))
    (store,) = [u for u in first.toposort() if u.op is Ops.STORE]
    assert store.src[0].src[0].dtype.size == 16 * 64 * 64
    assert len(kernels_of(on_buffer(256, 4096) @ on_buffer(4096, 257))) == 1


def test_a_batch_and_a_shared_operand_are_right():
    a, b = numbers(3, 20, 4096), numbers(3, 4096, 24, seed=1)
    np.testing.assert_array_equal((filled(a) @ filled(b)).numpy(), a @ b)
    c = numbers(520, 520)
    x = filled(c)
    np.testing.assert_array_equal((x.T @ x).numpy(), c.T @ c)
    np.testing.assert_array_equal((x @ x).numpy(), c @ c)


def test_what_is_written_to_its_own_operand_is_right():
    a, b = numbers(520, 520), numbers(520, 520, seed=1)
    x, y = filled(a), filled(b)
    x.assign(x.T @ y)
    np.testing.assert_array_equal(x.numpy(), a.T @ b)


def test_gradients_go_through():
    a, b = numbers(512, 520), numbers(512, 528, seed=1)
    x, y = Tensor(a, requires_grad=True), Tensor(b, requires_grad=True)
    (x.T @ y).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.broadcast_to(b.sum(1)[:, None], a.shape))
    np.testing.assert_array_equal(y.grad.numpy(), np.broadcast_to(a.sum(1)[:, None], b.shape))
