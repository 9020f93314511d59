"""Inverses, solutions, determinants and Cholesky's factor agree with PyTorch, twice differentiated.

Matrices are well conditioned: of others, both lose digits, and not the same ones.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.values import assert_close, computed
from tinyframe import Tensor, dtypes

L = torch.linalg


def matrix(shape, seed=0, dtype=np.float64):
    """Random, with a diagonal that keeps it away from singular ones."""
    x = np.random.default_rng((seed, *shape)).normal(size=shape)
    signs = np.where(np.arange(shape[-1]) % 2, -1, 1) * shape[-1] ** 0.5
    return (x + np.eye(shape[-1]) * signs).astype(dtype)


# name: (ours, PyTorch's) of a matrix A and a right side B (…, n, 2)
CALLS = {
    "inverse": (lambda A, B: A.inverse(), lambda A, B: L.inv(A)),
    "solve": (lambda A, B: A.solve(B), L.solve),
    "solve for a vector": (lambda A, B: A.solve(B[..., 0]), lambda A, B: L.solve(A, B[..., 0])),
    "det": (lambda A, B: A.det(), lambda A, B: L.det(A)),
    "log|det|": (lambda A, B: A.slogdet()[1], lambda A, B: L.slogdet(A)[1]),
    "logdet": (lambda A, B: (A @ A.mT).logdet(), lambda A, B: (A @ A.mT).logdet()),
    "cholesky": (lambda A, B: (A @ A.mT).cholesky(), lambda A, B: L.cholesky(A @ A.mT)),
    "upper cholesky": (
        lambda A, B: (A @ A.mT).cholesky(upper=True),
        lambda A, B: L.cholesky(A @ A.mT, upper=True),
    ),
    **{
        f"triangle {upper} {left} {ones}": (
            lambda A, B, o=(upper, left, ones): A.solve_triangular(
                B if o[1] else B.mT, upper=o[0], left=o[1], unitriangular=o[2]
            ),
            lambda A, B, o=(upper, left, ones): L.solve_triangular(
                A, B if o[1] else B.mT, upper=o[0], left=o[1], unitriangular=o[2]
            ),
        )
        for upper in (True, False) for left in (True, False) for ones in (True, False)
    },
}  # fmt: skip


@pytest.mark.parametrize("shape", [(1, 1), (3, 2, 3, 3)], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_value_gradient_and_gradient_of_the_gradient(name, shape):
    ours, theirs = CALLS[name]
    arrays = [matrix(shape), np.random.default_rng(1).normal(size=(*shape[:-1], 2))]
    mine = [Tensor(a, requires_grad=True) for a in arrays]
    other = [torch.tensor(a, requires_grad=True) for a in arrays]
    out, expected = ours(*mine), theirs(*other)
    flow, back = (np.random.default_rng(n).normal(size=s) for n, s in ((2, out.shape), (3, shape)))
    grads = out.gradient(*mine, gradient=Tensor(flow))
    (second,) = grads[0].gradient(mine[0], gradient=Tensor(back))
    wanted = gradients(expected, other, torch.tensor(flow))
    (wanted_second,) = gradients(wanted[0], other[:1], torch.tensor(back))
    references = expected, *wanted, wanted_second
    pairs = zip(computed(out, *grads, second), references, strict=True)
    for number, (found, reference) in enumerate(pairs):
        scale = max(1.0, float(abs(reference.detach()).max()))
        what = f"{('value', 'gradient of A', 'gradient of B', 'second')[number]} of {name}"
        assert_close(found / scale, reference.detach().numpy() / scale, dtypes.float64, 1, what)


def gradients(of, by, flow):
    """PyTorch's, to be differentiated again; zeros where nothing depends on an input."""
    if not of.requires_grad:
        return [torch.zeros_like(t) for t in by]
    found = torch.autograd.grad(of, by, flow, create_graph=True, allow_unused=True)
    return [torch.zeros_like(t) if g is None else g for g, t in zip(found, by, strict=True)]


@settings(max_examples=4)  # each shape has kernels of its own
@given(n=st.integers(1, 9), batch=st.lists(st.integers(0, 3), max_size=2), seed=st.integers(0, 99))
def test_generated_shapes(n, batch, seed):
    a = matrix((*batch, n, n), seed, np.float32)
    calls = [CALLS[name] for name in ("inverse", "det", "cholesky")]
    found = computed(*[ours(Tensor(a), None) for ours, _ in calls])
    for array, (_, theirs) in zip(found, calls, strict=True):
        expected = theirs(torch.tensor(a), None)
        largest = max(1.0, float(abs(expected).max())) if expected.numel() else 1.0
        # a condition of up to some hundreds costs that many times the rounding of float32
        assert_close(array / largest, expected.numpy() / largest, dtypes.float32, 50)
        assert array.dtype == np.float32


@pytest.mark.parametrize("name", ["inverse", "solve", "log|det|", "cholesky"])
def test_sixty_four_rows(name):
    a, b = matrix((64, 64), dtype=np.float32), np.random.default_rng(1).normal(size=(64, 2))
    inputs = a, b.astype(np.float32)
    ours, theirs = CALLS[name]
    mine = [Tensor(x, requires_grad=True) for x in inputs]
    other = [torch.tensor(x, requires_grad=True) for x in inputs]
    out, expected = ours(*mine), theirs(*other)
    expected.square().sum().backward()
    found, grad = computed(out, *out.square().sum().gradient(mine[0]))
    scale = max(1.0, float(abs(expected.detach()).max()))
    assert_close(found / scale, expected.detach().numpy() / scale, dtypes.float32, 20)
    scale = float(abs(other[0].grad).max())
    assert_close(grad / scale, other[0].grad.numpy() / scale, dtypes.float32, 50)


def test_rows_are_exchanged_where_a_pivot_would_be_0():
    a = np.array([[0, 2, 0, 0], [0, 0, 0, 3], [5, 0, 0, 0], [0, 0, 7, 0]], np.float32)
    for x in (a, a[[1, 0, 2, 3]], a + np.eye(4, dtype=np.float32)):
        assert_close(Tensor(x).inverse().numpy(), L.inv(torch.tensor(x)).numpy(), dtypes.float32)
        assert_close(Tensor(x).det().numpy(), L.det(torch.tensor(x)).numpy(), dtypes.float32, 4)
        sign, log = Tensor(x).slogdet()
        expected = L.slogdet(torch.tensor(x))
        assert_close(sign.numpy(), expected[0].numpy(), dtypes.float32)
        assert_close(log.numpy(), expected[1].numpy(), dtypes.float32)


@pytest.mark.parametrize("a", [[[1.0, 2], [2, 4]], [[0.0, 0], [0, 0]], [[0.0]], [[0.0, 1], [0, 2]]])
def test_the_determinant_of_a_singular_matrix_is_that_of_pytorch(a):
    x, theirs = Tensor(a), torch.tensor(a)
    assert x.det().item() == theirs.det().item() == 0
    assert [t.item() for t in x.slogdet()] == [t.item() for t in theirs.slogdet()] == [0, -np.inf]
    assert x.logdet().item() == theirs.logdet().item() == -np.inf


def test_a_determinant_that_no_float_holds_is_inf_and_its_logarithm_is_not():
    a = np.eye(20, dtype=np.float32) * 100
    assert Tensor(a).det().item() == torch.tensor(a).det().item() == np.inf
    expected = torch.tensor(a).logdet().numpy()
    assert_close(Tensor(a).logdet().numpy(), expected, dtypes.float32)
    negative = a * np.where(np.arange(20) == 3, -1, 1)
    assert np.isnan(Tensor(negative).logdet().item())


def test_only_the_lower_triangle_is_looked_at_by_cholesky():
    a = np.array([[4, 99], [2, 5]], np.float32)
    expected = L.cholesky(torch.tensor(a)).numpy()
    assert_close(Tensor(a).cholesky().numpy(), expected, dtypes.float32)
