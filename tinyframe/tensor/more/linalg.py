"""Linear algebra: einsum, norms, and matrix factorizations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Self

from tinyframe.dtype import DTypeLike, least_upper_float
from tinyframe.errors import ShapeError
from tinyframe.tensor.base import flat_arguments
from tinyframe.tensor.elementwise import exact_dtype, float_function, product_dtypes
from tinyframe.tensor.reduce import Axis, Reduce, axis_names
from tinyframe.uop.node import upper as at_most


class LinearAlgebra(Reduce):
    """Methods on vectors and matrices."""

    # ---- products --------------------------------------------------------------------------------

    @staticmethod
    def einsum(formula: str, *operands: Any, dtype: DTypeLike | None = None) -> Any:
        """A sum of products in Einstein notation.

            Tensor.einsum("ij,jk->ik", a, b)     # a @ b
            Tensor.einsum("ii->i", a)            # the diagonal
            Tensor.einsum("b...,b...->...", a, b)

        Letters that are not on the right are summed over. Without "->" the result has the letters
        that occur once, in alphabetical order. Operands are given one by one or as a list. Three or
        more are contracted in pairs, starting with the pair of the fewest products.
        """
        tensors = list(flat_arguments(operands))
        left, arrow, right = formula.replace(" ", "").partition("->")
        terms = left.split(",")
        if len(terms) != len(tensors):
            raise ShapeError(f"{formula!r} has {len(terms)} operands, but {len(tensors)} are given")
        # each axis of ... gets a letter of its own, aligned at the last
        spare = "αβγδεζηθικλμνξοπρςστυφχψ"
        widths = [t.ndim - len(term) + 3 for term, t in zip(terms, tensors, strict=True)]
        most = max((n for n, term in zip(widths, terms, strict=True) if "..." in term), default=0)
        if most < 0:
            raise ShapeError(f"{formula!r} has more letters than its operands have axes")
        named = []
        for term, tensor, wide in zip(terms, tensors, widths, strict=True):
            named.append(term.replace("...", spare[most - wide : most] if wide > 0 else ""))
            if len(named[-1]) != tensor.ndim:
                raise ShapeError(
                    f"{term!r} in {formula!r} does not fit a Tensor of shape {tensor._dims}"
                )
        everything, ellipsis = "".join(named), spare[:most]
        if arrow:
            result = right.replace("...", ellipsis)
        else:
            once = [c for c in sorted(set(everything)) if everything.count(c) == 1]
            result = ellipsis + "".join(c for c in once if c not in ellipsis)
        if len(set(result)) != len(result) or not set(result) <= set(everything):
            raise ShapeError(f"the right side of {formula!r} has a letter twice, or a new one")
        order = result + "".join(sorted(set(everything) - set(result)))
        exact, wanted = product_dtypes(dtype, *tensors)
        factors = []
        sizes: dict[str, Any] = {}
        for term, tensor in zip(named, tensors, strict=True):
            aligned, letters = _distinct(tensor.cast(exact), term)
            for letter, size in zip(letters, aligned.shape, strict=True):
                if sizes.setdefault(letter, size) == 1:
                    sizes[letter] = size
                if size not in (1, sizes[letter]):
                    raise ShapeError(
                        f"{letter!r} in {formula!r} is {sizes[letter]} and {size}, in shapes "
                        f"{', '.join(t._dims for t in tensors)}"
                    )
            present = [letter for letter in order if letter in letters]
            aligned = aligned.permute([letters.index(letter) for letter in present])
            aligned = aligned.reshape(tuple(
                aligned.shape[present.index(c)] if c in present else 1 for c in order
            ))  # fmt: skip
            factors.append((aligned, frozenset(present)))
        product = _multiplied_in_pairs(factors, order, result, sizes)
        return product.reshape(product.shape[: len(result)]).cast(wanted)

    # ---- norms -----------------------------------------------------------------------------------

    @axis_names
    @float_function
    def norm(self, p: Any = 2, axis: Axis = None, keepdim: bool = False) -> Self:
        """The p-norm of all elements, or along axes: (sum of |x|**p)**(1/p).

        p: a number; inf and -inf: the largest and smallest |x|; 0: the number of nonzero elements;
        "fro": 2. The gradient of the 2-norm at 0 is 0.
        """
        p = 2 if p in ("fro", None) else p
        sizes = self.abs()
        if p == math.inf:
            return sizes.max(axis, keepdim)
        if p == -math.inf:
            return sizes.min(axis, keepdim)
        if p == 0:
            return self.ne(0).cast(self.dtype).sum(axis, keepdim)
        if p == 1:
            return sizes.sum(axis, keepdim)
        # |x| is flat at 0, and its powers may have an infinite slope there
        nothing = 0.0**p if p > 0 else math.inf
        is_zero = sizes.eq(0)
        powers = is_zero.where(nothing, is_zero.where(1.0, sizes) ** p) if p != 2 else self.square()
        total = powers.sum(axis, keepdim)
        is_zero = total.eq(0)
        length = is_zero.where(1.0, total) ** (1 / p)
        return is_zero.where(total.detach() if p > 0 else math.inf, length)

    @axis_names
    @float_function
    def normalize(self, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Self:
        """Divided by its p-norm along an axis, or by `eps` if that is larger."""
        return self / self.norm(p, axis, keepdim=True).clip(min=eps)

    # ---- factorizations --------------------------------------------------------------------------

    def qr(self) -> tuple[Self, Self]:
        """(Q, R) of matrices (…, m, n): Q @ R is self, Q (…, m, m) is orthogonal and R (…, m, n)
        upper triangular.

        Householder reflections: each makes a column 0 below the diagonal.
        """
        check_matrices(self, "qr")
        *batch, m, n = self.shape
        dtype = least_upper_float(self.dtype)
        R = self.cast(exact_dtype(dtype)).contiguous()
        Q = R.eye(m, dtype=R.dtype, device=self.device)._broadcast_to((*batch, m, m)).contiguous()
        row = R._index(m, self.device).unsqueeze(-1)
        for column in range(min(m - 1, n)):
            x = row.ge(column).where(R[..., column : column + 1], 0.0)
            head = R[..., column : column + 1, column : column + 1]
            length = x.square().sum(-2, keepdim=True).sqrt()
            # with the sign of the head, so that nothing cancels
            v = row.eq(column).where(head + head.lt(0).where(-length, length), x)
            square = v.square().sum(-2, keepdim=True)
            w = v * (2 / square.eq(0).where(1.0, square))
            R = (R - w * (v * R).sum(-2, keepdim=True)).contiguous()
            Q = Q - (Q * v.transpose(-1, -2)).sum(-1, keepdim=True) * w.transpose(-1, -2)
            Q = Q.contiguous()
        return Q.cast(dtype), R.triu().cast(dtype)

    def svd(self, full_matrices: bool = True) -> tuple[Self, Self, Self]:
        """(U, S, V) of matrices (…, m, n): U @ diag(S) @ V is self; U and V are orthogonal, S
        holds the singular values, largest first.

        One-sided Jacobi (Hestenes 1958): rotations make the columns of the matrix orthogonal, pair
        by pair; their lengths are then the singular values. The pairs of a round are disjoint and
        rotate together.
        """
        check_matrices(self, "svd")
        shape: Any = self.shape
        *batch, m, n = shape
        if m < n:
            U, S, V = self.transpose(-1, -2).svd(full_matrices)
            return V.transpose(-1, -2), S, U.transpose(-1, -2)
        dtype = least_upper_float(self.dtype)
        A = self.cast(exact_dtype(dtype))
        even = n + n % 2
        identity = A.eye(n, dtype=A.dtype, device=self.device)._broadcast_to((*batch, n, n))
        A = A.pad((0, even - n)).contiguous()
        V = identity.pad((0, even - n)).contiguous()
        sweeps = 0 if n == 1 else 6 + 2 * n.bit_length()
        for _ in range(sweeps):
            for _ in range(even - 1):
                A, V = _rotate_pairs(A, V)
            A, V = A.realize(V), V
        S = A.square().sum(-2).sqrt()
        # the padding columns have length 0 and come last
        order = S.argsort(-1, descending=True)
        pick = order.unsqueeze(-2)
        S = S._gather(-1, order)[..., :n]
        A = A._gather(-1, pick._broadcast_to(A.shape))[..., :n]
        V = V._gather(-1, pick._broadcast_to(V.shape))[..., :n]
        lengths = S.unsqueeze(-2)
        U = lengths.eq(0).where(0.0, A / lengths.eq(0).where(1.0, lengths))
        if full_matrices and m > n:
            # the first columns of Q span those of U; the others are orthogonal to them
            Q, _ = U.qr()
            U = U.cat(Q[..., n:], dim=-1)
        return U.cast(dtype), S.cast(dtype), V.transpose(-1, -2).cast(dtype)

    def newton_schulz(
        self,
        steps: int = 5,
        params: Sequence[float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
    ) -> Self:
        """Matrices with their singular values moved towards 1, as Muon uses them.

        steps: of X <- aX + b(XX')X + c(XX')²X + …, with `params` (a, b, c, …). K. Jordan, "Muon".
        """
        check_matrices(self, "newton_schulz")
        tall = self.shape[-2] > self.shape[-1]
        x = self.transpose(-1, -2) if tall else self
        x = x / (x.square().sum((-2, -1), keepdim=True).sqrt() + eps)
        for _ in range(steps):
            square = (x @ x.transpose(-1, -2)).contiguous()
            power, total = x, x * params[0]
            for factor in params[1:]:
                power = (square @ power).contiguous()
                total = total + power * factor
            x = total.contiguous()
        return x.transpose(-1, -2) if tall else x


def _multiplied_in_pairs(
    factors: list[tuple[Any, frozenset[str]]], order: str, result: str, sizes: dict[str, Any]
) -> Any:
    """The product of Tensors with the letters of `order` as axes, summed over those not in
    `result`, which keep size 1. Each Tensor comes with the letters it has."""

    def products(pair: tuple[int, int]) -> int:
        letters = factors[pair[0]][1] | factors[pair[1]][1]
        return math.prod(at_most(sizes[letter]) for letter in letters)

    while len(factors) > 1:
        first, second = min(itertools.combinations(range(len(factors)), 2), key=products)
        (a, of_a), (b, of_b) = factors[first], factors[second]
        del factors[second], factors[first]
        needed = frozenset(result).union(*[letters for _, letters in factors])
        factors.append(_summed(a * b, of_a | of_b, needed, order))
    product, letters = factors[0]
    return _summed(product, letters, frozenset(result), order)[0]


def _summed(
    t: Any, letters: frozenset[str], needed: frozenset[str], order: str
) -> tuple[Any, frozenset[str]]:
    """A Tensor summed over its letters that are no longer needed."""
    axes = tuple(order.index(letter) for letter in sorted(letters - needed))
    shape = tuple(1 if n in axes else s for n, s in enumerate(t.shape))
    return (t.sum(axes, dtype=t.dtype).reshape(shape) if axes else t), letters & needed


def _distinct(tensor: Any, letters: str) -> tuple[Any, str]:
    """A Tensor with each letter once: axes with the same letter become their diagonal."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            if tensor.shape[first] != tensor.shape[second]:
                raise ShapeError(
                    f"{letter!r} is {tensor.shape[first]} and {tensor.shape[second]} in one operand"
                )
            tensor = tensor.diagonal(0, first, second)
            letters = letters[:first] + letters[first + 1 : second] + letters[second + 1 :] + letter
    return tensor, letters


def check_matrices(x: Any, name: str) -> None:
    if x.ndim < 2:
        raise ShapeError(f"{name} takes matrices (…, m, n), not shape {x._dims}")


def _rotate_pairs(A: Any, V: Any) -> tuple[Any, Any]:
    """Pairs of columns of A (one of each half) rotated to be orthogonal, and V by the same angles;
    then all columns but the first move on by one position, as in a round-robin tournament, to form
    new pairs."""
    half = A.shape[-1] // 2
    p, q = A[..., :half], A[..., half:]
    alpha = p.square().sum(-2, keepdim=True)
    beta = q.square().sum(-2, keepdim=True)
    gamma = (p * q).sum(-2, keepdim=True)
    are_orthogonal = gamma.eq(0)
    zeta = (beta - alpha) / (2 * are_orthogonal.where(1.0, gamma))
    root = (1 + zeta.square()).sqrt() + zeta.abs()
    t = are_orthogonal.where(0.0, zeta.lt(0).where(-1.0, 1.0) / root)
    c = ((1 + t * t).sqrt().reciprocal()).contiguous()
    s = (c * t).contiguous()
    return _turn(A, c, s), _turn(V, c, s)


def _turn(M: Any, c: Any, s: Any) -> Any:
    half = M.shape[-1] // 2
    p, q = M[..., :half], M[..., half:]
    first, second = p * c - q * s, p * s + q * c
    if half == 1:
        return first.cat(second, dim=-1).contiguous()
    # first[0] stays; second[0] -> first[1], first[i] -> first[i+1], first[-1] -> second[-1]
    return first[..., :1].cat(
        second[..., :1], first[..., 1:-1], second[..., 1:], first[..., -1:], dim=-1
    ).contiguous()  # fmt: skip
