"""Factorizations give their matrix back; formulas of rearrange and einsum mean what they say."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels import kernels_of, numbers, on_buffer
from tests.values import check, computed
from tinyframe import Tensor, dtypes
from tinyframe.codegen.program import estimate_ops

SHAPES = [(3, 3), (2, 4, 2), (2, 3), (1, 1)]


def matrix(shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def assert_near(found, expected):
    np.testing.assert_allclose(found, expected, atol=2e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_qr(shape):
    a = matrix(shape)
    q, r = computed(*Tensor(a).qr())
    assert_near(q @ r, a)
    assert_near(np.swapaxes(q, -1, -2) @ q, np.broadcast_to(np.eye(shape[-2]), q.shape))
    assert_near(np.tril(r, -1), 0)


@pytest.mark.parametrize("a", [matrix(shape) for shape in SHAPES] + [np.zeros((2, 2), np.float32)])
def test_svd(a):
    u, s, v = computed(*Tensor(a).svd(full_matrices=False))
    assert_near(u * s[..., None, :] @ v, a)
    assert_near(s, np.linalg.svd(a, compute_uv=False))
    if a.any():
        assert_near(
            np.swapaxes(u, -1, -2) @ u,
            np.broadcast_to(np.eye(u.shape[-1]), (*u.shape[:-2], *s.shape[-1:] * 2)),
        )


def test_newton_schulz_brings_singular_values_to_1():
    a = matrix((3, 4))
    u, _, v = np.linalg.svd(a, full_matrices=False)
    found = Tensor(a).newton_schulz(12, (2.0, -1.5, 0.5)).numpy()
    np.testing.assert_allclose(found, u @ v, atol=1e-3)


@pytest.mark.parametrize("dtype", [dtypes.half, dtypes.bfloat16])
def test_a_large_product_in_a_narrow_float_is_rounded_once(dtype):
    # so many rows that one operand is copied to a panel first
    a, b = (Tensor(matrix((96, 300))).cast(dtype).realize() for _ in range(2))
    exact = a.cast(dtypes.float32).numpy().astype(np.float64)
    exact = exact @ b.cast(dtypes.float32).numpy().astype(np.float64).T
    got = (a @ b.T).cast(dtypes.float32).numpy()
    np.testing.assert_allclose(got, exact, rtol=2.0**-8, atol=2e-3)


def test_rearrange():
    x = np.arange(24).reshape(2, 3, 4)
    t = Tensor(x)
    check(t.rearrange("b c w -> b (w c)"), x.transpose(0, 2, 1).reshape(2, 12))
    check(t.rearrange("... w -> w ..."), x.transpose(2, 0, 1))
    check(t.rearrange("b c (w1 w2) -> (b w2) c w1", w1=2),
          x.reshape(2, 3, 2, 2).transpose(0, 3, 1, 2).reshape(4, 3, 2))  # fmt: skip
    check(t.rearrange("b ... -> (...) b 1"), x.reshape(2, 12).T[:, :, None])
    check(t.rearrange("a b c -> a () b c"), x[:, None])


FORMULAS = [
    ("ij,jk,kl->il", [(5, 70), (70, 40), (40, 6)]),
    ("ij,kl,jk->il", [(5, 7), (4, 6), (7, 4)]),
    ("a,b,c,d->", [(3,), (4,), (5,), (6,)]),
    ("bij,bjk,k->bi", [(2, 3, 4), (2, 4, 5), (5,)]),
    ("ij,jk,ki->", [(3, 4), (4, 5), (5, 3)]),
    ("ii,ij,jj->ij", [(4, 4), (4, 3), (3, 3)]),
    ("ij,j,ij->j", [(3, 4), (4,), (3, 4)]),
]


@pytest.mark.parametrize(("formula", "shapes"), FORMULAS)
def test_einsum_of_many_is_what_numpy_says(formula, shapes):
    arrays = [numbers(*shape, seed=n) for n, shape in enumerate(shapes)]
    found = Tensor.einsum(formula, *map(Tensor, arrays))
    np.testing.assert_allclose(found.numpy(), np.einsum(formula, *arrays), rtol=1e-5)


def test_einsum_of_three_matrices_is_two_products():
    sizes = [(64, 64)] * 3
    made = Tensor.einsum("ij,jk,kl->il", *[on_buffer(*shape) for shape in sizes])
    assert [estimate_ops(kernel) for kernel in kernels_of(made)] == [2 * 64**3] * 2


def test_einsum_takes_a_list():
    a, b = Tensor.ones(4, 2), Tensor.ones(2, 3)
    check(Tensor.einsum("ij,jk->ik", [a, b]), np.full((4, 3), 2, np.float32))
