"""Matrix products, and what has their loops: every row of one matrix with every column of another.

Some have no function in PyTorch. Written out with broadcasting they would need memory for all the
pairs there, so the row does what its user would: cdist, einsum, or a loop over the rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.work import Must, Work, normal, torch

MUST: Must = ("torch", 0.9)
OWN_MATMUL: Must = ("beside", 1 / 1.5)  # in operations a second


def matmul(
    name: str, a: tuple[int, ...], b: tuple[int, ...], how: str = "ab", must: Must = MUST,
    quick: bool = False, dtype: type = np.float32,
) -> Work:  # fmt: skip
    """A product; `how` says which operand is stored transposed: ab, abt, atb."""

    def product(x: Any, y: Any) -> Any:
        return (x.T if how == "atb" else x) @ (y.T if how == "abt" else y)

    m, k = (a[-1], a[-2]) if how == "atb" else (a[-2] if len(a) > 1 else 1, a[-1])
    n = b[-2] if how == "abt" else b[-1] if len(b) > 1 else 1
    batch = math.prod(a[:-2])
    flops = 2.0 * batch * m * n * k
    moved = float(np.dtype(dtype).itemsize * batch * (m * k + k * n + m * n))
    # NumPy's product of halves calls no BLAS, and takes seconds
    timed = how == "ab" and dtype is np.float32
    return Work(f"matmul {name}", normal(a, b, dtype=dtype), product, product, must, flops, moved,
                (lambda x, y, out: np.matmul(x, y, out=out)) if timed else None,
                product, quick=quick)  # fmt: skip


def plus_one(n: int, beside: str) -> Work:
    """Aᵀ·(B+1): an operand stored transposed, the other one computed on the way."""

    def ours(x: Any, y: Any) -> Any:
        return x.T @ (y + 1)

    return Work(f"matmul {n} Aᵀ·(B+1)", normal((n, n), (n, n)), ours, ours, OWN_MATMUL, 2.0 * n**3,
                12.0 * n * n, reference=ours, beside=beside)  # fmt: skip


def l1_distance(n: int, beside: str) -> Work:
    """The sum of |x[i, k] - y[j, k]| over k: three operations for each i, j, k."""
    return Work(
        f"L1 distance {n}×{n}×{n}", normal((n, n), (n, n)),
        lambda x, y: (x.unsqueeze(1) - y.unsqueeze(0)).abs().sum(-1),
        lambda x, y: torch().cdist(x, y, p=1.0), OWN_MATMUL, 3.0 * n**3, 12.0 * n * n,
        reference=lambda x, y: np.stack([np.abs(row - y).sum(-1) for row in x]), beside=beside,
    )  # fmt: skip


def max_plus(n: int, beside: str) -> Work:
    """The greatest x[i, k] + y[k, j] over k: the lengths of longest paths multiply so."""
    return Work(
        f"max-plus {n}", normal((n, n), (n, n)),
        lambda x, y: (x.unsqueeze(2) + y.unsqueeze(0)).max(1),
        lambda x, y: torch().stack([(row[:, None] + y).amax(0) for row in x]), OWN_MATMUL,
        2.0 * n**3, 12.0 * n * n, beside=beside,
        reference=lambda x, y: np.stack([(row[:, None] + y).max(0) for row in x]),
    )  # fmt: skip


def three_factors(n: int, beside: str) -> Work:
    """The sum of x[i, k] * y[j, k] * z[k] over k: three operations for each i, j, k."""
    formula = "ik,k,jk->ij"  # PyTorch goes from left to right, and all the x·y would be n³ numbers
    return Work(
        f"sum of three factors {n}", normal((n, n), (n, n), (n,)),
        lambda x, y, z: (x.unsqueeze(1) * y.unsqueeze(0) * z).sum(-1),
        lambda x, y, z: torch().einsum(formula, x, z, y), OWN_MATMUL, 3.0 * n**3, 12.0 * n * n,
        reference=lambda x, y, z: np.einsum(formula, x, z, y, optimize=True), beside=beside,
    )  # fmt: skip


def three_matrices(n: int) -> Work:
    """A product of three matrices as one einsum, which two products in turn are."""
    formula = "ij,jk,kl->il"
    return Work(
        f"einsum {formula} {n}", normal((n, n), (n, n), (n, n)),
        lambda x, y, z: type(x).einsum(formula, x, y, z),
        lambda x, y, z: torch().einsum(formula, x, y, z), MUST, 4.0 * n**3, 16.0 * n * n,
        reference=lambda x, y, z: np.einsum(formula, x, y, z, optimize=True),
    )  # fmt: skip


def mean_of_product(n: int) -> Work:
    """A product of which only the mean is wanted."""

    def mean(x: Any, w: Any) -> Any:
        return (x @ w).mean()

    return Work(f"mean of x·w {n}", normal((n, n), (n, n)), mean, mean, MUST, 2.0 * n**3,
                8.0 * n * n, reference=mean)  # fmt: skip
