"""Systems of linear equations: inverses, solutions, determinants, the Cholesky factor.

Values are computed by elimination, one column at a time. After each step the columns are rotated,
so that the next one is column 0 again. So all steps run the same few kernels, compiled once, and a
matrix of 64 rows compiles as fast as one of 4. Each step is realized, as in `svd`.

Derivatives do not go through these steps. Let A0 be the matrix and Y0 its inverse, both as
constants, and E = Y0 @ (A0 - A), which is 0. Then A = A0 @ (I - E), and so

    inverse(A) = (I + E + E @ E + …) @ Y0
    log|det A| = log|det A0| - tr(E) - tr(E @ E)/2 - …

The terms are 0, but their derivatives are not. With terms up to E @ E the gradient is right, and so
is the gradient of the gradient; a third derivative is not.
"""

from __future__ import annotations

import math
from typing import Any, Self

from tinyframe.errors import ShapeError
from tinyframe.tensor.more.linalg import exact_dtype, float_dtype
from tinyframe.tensor.movement import broadcast_shapes
from tinyframe.tensor.reduce import Reduce


class Solving(Reduce):
    """Methods on square matrices (…, n, n). ShapeError for others.

    Results are float32 or float64; half and bfloat16 are computed in float32 and rounded. Unlike in
    PyTorch a singular matrix is not an error, since values are not inspected: it gives NaN.
    """

    def inverse(self) -> Self:
        """The inverse of each matrix; NaN where a matrix is singular.

        Gauss-Jordan elimination with partial pivoting.
        """
        A = _square(self, "inverse")
        Y0, _, _ = _eliminated(A)
        E = _change(A, Y0)
        first = (Y0 + E @ Y0).contiguous()
        return (Y0 + E @ first).cast(float_dtype(self))

    def solve(self, B: Any) -> Self:
        """The X for which self @ X = B: self.inverse() @ B.

        B: (…, n, k), or (…, n) for one vector per matrix; leading axes broadcast.
        """
        n = _square(self, "solve").shape[-1]
        is_vector = B.ndim == 1 or B.shape == self.shape[:-1]
        columns = B.unsqueeze(-1) if is_vector else B
        if columns.ndim < 2 or columns.shape[-2] != n:
            raise ShapeError(f"solve with {self._dims} takes B (…, {n}, k), not {B._dims}")
        broadcast_shapes(self.shape[:-2], columns.shape[:-2])
        X = self.inverse() @ columns
        return X.squeeze(-1) if is_vector else X

    def solve_triangular(
        self, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
    ) -> Self:
        """The X for which T @ X = B, where T is the upper or the lower triangle of self.

        unitriangular: the diagonal is taken to be ones. left=False: X @ T = B.
        """
        n: Any = _square(self, "solve_triangular").shape[-1]
        if B.ndim < 2 or B.shape[-2 if left else -1] != n:
            wanted = f"(…, {n}, k)" if left else f"(…, k, {n})"
            raise ShapeError(f"solve_triangular with {self._dims} takes B {wanted}, not {B._dims}")
        inside = 1 if unitriangular else 0
        T = self.triu(inside) if upper else self.tril(-inside)
        if unitriangular:
            T = T + self.eye(n, dtype=self.dtype, device=self.device)
        return T.solve(B) if left else T.mT.solve(B.mT).mT

    def det(self) -> Self:
        """The determinant of each matrix: the product of the pivots of elimination.

        For a singular matrix the gradient is NaN, because it is computed from the inverse.
        """
        A = _square(self, "det")
        Y0, sign, pivots = _eliminated(A)
        value = sign * pivots.prod(-1)
        first, second = _log_series(A, Y0)
        # exp(first + second), up to E @ E
        moved = value + value * (first + first.square() / 2 + second)
        is_fixed = value.eq(0) + value.isinf()  # times 0 may be NaN
        return is_fixed.where(value, moved).cast(float_dtype(self))

    def slogdet(self) -> tuple[Self, Self]:
        """(sign, log|det|) of each matrix, for determinants outside the range of a float; (0, -inf)
        for a singular one."""
        A = _square(self, "slogdet")
        Y0, sign, pivots = _eliminated(A)
        value = pivots.abs().log().sum(-1)
        sign = sign * pivots.sign().prod(-1)
        first, second = _log_series(A, Y0)
        log = sign.eq(0).where(value, value + (first + second))
        kind = float_dtype(self)
        return sign.cast(kind), log.cast(kind)

    def logdet(self) -> Self:
        """The logarithm of the determinant; -inf if that is 0, NaN if it is negative."""
        sign, log = self.slogdet()
        return sign.lt(0).where(math.nan, log)

    def cholesky(self, upper: bool = False) -> Self:
        """The lower triangular L with L @ L.T = self; NaN where a matrix is not positive definite.
        upper: L.T instead.

        Only the lower triangle is read, and the gradient is symmetric. Its formula is from
        I. Murray, "Differentiation of the Cholesky decomposition" (2016).
        """
        A = _square(self, "cholesky")
        L0 = _cholesky_factor(A)
        Y0, _, _ = _eliminated(L0)
        # A = L0 @ (I + S) @ L0.T, and S = X + X.T + X @ X.T for L = L0 @ (I + X)
        D = (A - A.detach()).contiguous()
        S = (Y0 @ ((D + D.mT) * 0.5) @ Y0.mT).contiguous()
        X = _half_triangle(S)
        X = _half_triangle(S - X @ X.mT)
        L = (L0 + L0 @ X).cast(float_dtype(self))
        return L.mT if upper else L


# ---- checks, and the series behind derivatives ---------------------------------------------------


def _square(x: Any, name: str) -> Any:
    """x in the dtype of the computation. ShapeError if its matrices are not square."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"{name} takes square matrices (…, n, n), not shape {x._dims}")
    return x.cast(exact_dtype(x))


def _change(A: Any, Y0: Any) -> Any:
    """E of the module text: it is 0, but its derivative is not."""
    return (Y0 @ (A.detach() - A).contiguous()).contiguous()


def _log_series(A: Any, Y0: Any) -> tuple[Any, Any]:
    """The first two terms of log(det(I - E)), both 0: -tr(E) and -tr(E @ E)/2."""
    E = _change(A, Y0)
    return -E.diagonal(0, -2, -1).sum(-1), (E * E.mT).sum((-2, -1)) * -0.5


def _half_triangle(S: Any) -> Any:
    """The lower triangle, with half of the diagonal."""
    return (S.tril() + S.tril(-1)) * 0.5


# ---- elimination ---------------------------------------------------------------------------------


def _eliminated(A: Any) -> tuple[Any, Any, Any]:
    """The inverse of A (NaN if it is singular), the sign of the permutation of its pivot rows, and
    the pivots (…, n). No gradient flows through these.

    A step takes the largest element of column 0, in a row not used before, as its pivot, and
    subtracts multiples of that row from all others so that column 0 becomes 0. The identity to the
    right of A becomes the inverse. `turns` has a 1 in column k for the row used in step k.
    """
    batch: Any
    *batch, n, _ = A.shape
    identity = A.eye(n, dtype=A.dtype, device=A.device)._broadcast_to(A.shape)
    M = A.detach().cat(identity, dim=-1).contiguous()
    turns = A.zeros(A.shape, dtype=A.dtype, device=A.device).contiguous()
    pivots = A.zeros((*batch, n), dtype=A.dtype, device=A.device).contiguous()
    number = A._range(n)
    for _ in range(n):
        column = M[..., 0]
        sizes = turns.sum(-1).eq(0).where(column.abs(), -1.0)
        is_pivot = number.eq(sizes.argmax(-1, keepdim=True)).unsqueeze(-1).contiguous()
        row = is_pivot.where(M, 0.0).sum(-2, keepdim=True).contiguous()
        pivot = row[..., :1]
        row = row / pivot.eq(0).where(1.0, pivot)
        M = is_pivot.where(row, M - column.unsqueeze(-1) * row)
        M = M[..., 1:].cat(M[..., :1], dim=-1).contiguous()
        turns = turns[..., 1:].cat(is_pivot.cast(A.dtype), dim=-1).contiguous()
        pivots = pivots[..., 1:].cat(pivot.squeeze(-1), dim=-1).contiguous()
        M.realize(turns, pivots)
    inverse = turns.mT @ M[..., :n]
    is_singular = pivots.eq(0).any(-1).reshape((*batch, 1, 1))
    inverse = is_singular.where(math.nan, inverse).contiguous()
    places = (turns * number.reshape((-1, 1))).sum(-2)
    is_turned = places.unsqueeze(-1).gt(places.unsqueeze(-2)).triu(1)
    return inverse, 1.0 - 2.0 * (is_turned.sum((-2, -1)) % 2), pivots


def _cholesky_factor(A: Any) -> Any:
    """L, a column at a time; the outer product of each column is subtracted from the rest of A."""
    M = A.detach().tril()
    M = (M + M.tril(-1).mT).contiguous()
    L = A.zeros(A.shape, dtype=A.dtype, device=A.device).contiguous()
    for _ in range(A.shape[-1]):
        column = (M[..., :1] / M[..., :1, :1].sqrt()).contiguous()
        # the first row and column are done: 0 instead, and at the end
        rest = column[..., 1:, :]
        around = [*[None] * (A.ndim - 2), (0, 1), (0, 1)]
        M = (M[..., 1:, 1:] - rest * rest.mT).pad(around).contiguous()
        L = L[..., 1:].cat(column, dim=-1)
        L = L[..., 1:, :].cat(L[..., :1, :], dim=-2).contiguous()
        L.realize(M)
    return L
