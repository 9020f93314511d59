"""Rearranging: roll, rearrange, triangles, diagonals, and padding by reflection and repetition.

These are movement ops, or a WHERE on indices: nothing computes with the elements.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Self

from tinyframe.dtype import ConstType
from tinyframe.errors import ShapeError, check_choice
from tinyframe.tensor.base import flat_arguments
from tinyframe.tensor.movement import Movement


class Arrangement(Movement):
    """Methods that change where elements are."""

    # ---- padding ---------------------------------------------------------------------------------

    def pad(self, padding: Any, mode: str = "constant", value: ConstType = 0) -> Self:
        """Padding around the axes; a negative width crops.

        padding: PyTorch's flat `(left, right, top, bottom)`, last axis first, or a `(before,
        after)` or None for every axis, first axis first. mode: "constant" fills with `value`,
        "reflect" mirrors at the outermost element, "replicate" repeats it, "circular" wraps
        around.

            Tensor.ones(2).pad((1, 2), value=5)             # [5, 1, 1, 5, 5, 5]
            Tensor([1, 2, 3]).pad((2, 1), mode="reflect")   # [3, 2, 1, 2, 3, 2]
        """
        if mode == "constant":
            return self._padded(padding, value)
        check_choice("pad's mode", mode, "constant", "reflect", "replicate", "circular")
        result: Self = self
        for axis, (before, after) in enumerate(self._widths(padding)):
            if before or after:
                result = result._pad_axis(axis, before, after, mode)
        return result

    def _pad_axis(self, axis: int, before: Any, after: Any, mode: str) -> Self:
        size = self.shape[axis]
        most = {"reflect": size - 1, "circular": size, "replicate": math.inf}[mode]
        if max(before, after) > most or size == 0:
            raise ShapeError(
                f"cannot pad axis {axis} of {self._dims} by {before} and {after}: {mode} can "
                f"add at most {most} elements"
            )
        middle = self._part(axis, max(0, -before), size - max(0, -after))
        if min(before, after) < 0 and mode == "circular":  # wraps around at the cropped end
            return middle._pad_axis(axis, max(0, before), max(0, after), mode)
        # the range that is copied before the axis, and the one after it
        copied = {
            "reflect": [(1, before + 1), (size - 1 - after, size - 1)],
            "circular": [(size - before, size), (0, after)],
            "replicate": [(0, 1), (size - 1, size)],
        }[mode]
        parts = [middle]
        for place, width, bounds in zip((0, 2), (before, after), copied, strict=True):
            if width > 0:
                part = self._part(axis, *bounds)
                if mode == "reflect":
                    part = part.flip(axis)
                elif mode == "replicate":
                    part = part.expand([width if d == axis else -1 for d in range(self.ndim)])
                parts.insert(place, part)
        return parts[0].cat(*parts[1:], dim=axis)

    # ---- axes and slices -------------------------------------------------------------------------

    def roll(self, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Self:
        """Shifted along axes, with wrap-around; without `dims` the flattened Tensor is."""
        if dims is None:
            if not isinstance(shifts, int) and len(shifts) != 1:
                raise ShapeError(f"roll by {tuple(shifts)} needs as many dims")
            return self.flatten().roll(shifts, 0).reshape(self.shape)
        steps = (shifts,) if isinstance(shifts, int) else tuple(shifts)
        axes = (dims,) if isinstance(dims, int) else tuple(dims)
        if len(steps) != len(axes):
            raise ShapeError(f"roll by {steps} along {axes}: as many shifts as dims are needed")
        result: Self = self
        for step, dim in zip(steps, axes, strict=True):
            axis = result._axis(dim)
            size = result.shape[axis] if result.ndim else 0
            cut = -step % size if size else 0
            if cut:
                end = result._part(axis, cut, size)
                result = end.cat(result._part(axis, 0, cut), dim=axis)
        return result._value()

    def t(self) -> Self:
        """The transpose of a matrix; a vector or a number is returned as it is.

        ShapeError for more than two axes.
        """
        if self.ndim > 2:
            raise ShapeError(f"t() takes at most two axes, not shape {self._dims}: use transpose")
        return self.transpose(0, 1) if self.ndim == 2 else self

    def expand_as(self, other: Any) -> Self:
        """Expanded to the shape of another Tensor."""
        return self.expand(other.shape)

    def unbind(self, dim: int = 0) -> tuple[Self, ...]:
        """All slices of an axis, which is removed."""
        axis = self._axis(dim)
        pieces = self.split(1, axis) if self.shape[axis] else ()
        return tuple(piece.squeeze(axis) for piece in pieces)

    def meshgrid(self, *others: Any, indexing: str = "ij") -> tuple[Self, ...]:
        """For n vectors, n Tensors of n axes: the i-th has the values of vector i along axis i.
        indexing: "xy" swaps the first two axes."""
        vectors = [t.reshape(1) if t.ndim == 0 else t for t in flat_arguments((self, *others))]
        check_choice("meshgrid's indexing", indexing, "ij", "xy")
        if any(vector.ndim != 1 for vector in vectors):
            raise ShapeError(f"meshgrid takes vectors, not {', '.join(v._dims for v in vectors)}")
        sizes = tuple(vector.shape[0] for vector in vectors)
        grids = tuple(
            vector.reshape([size if d == axis else 1 for d, size in enumerate(sizes)]).expand(sizes)
            for axis, vector in enumerate(vectors)
        )
        swap = indexing == "xy" and len(vectors) > 1
        return tuple(grid.transpose(0, 1) for grid in grids) if swap else grids

    # ---- triangles and diagonals -----------------------------------------------------------------

    def _below(self, diagonal: int) -> Any:
        """A mask of the last two axes: True on and below a diagonal."""
        if self.ndim < 2:
            raise ShapeError(f"a triangle needs two axes, not shape {self._dims}")
        rows, columns = (self._range(size) for size in self.shape[-2:])
        return (rows + diagonal).unsqueeze(1).ge(columns)

    def tril(self, diagonal: int = 0) -> Self:
        """The lower triangle of matrices, up to a diagonal (0: the main one); 0 elsewhere."""
        return self._below(diagonal).where(self, self._number(0, self.dtype))

    def triu(self, diagonal: int = 0) -> Self:
        """The upper triangle of matrices, from a diagonal on; 0 elsewhere."""
        return self._below(diagonal - 1).where(self._number(0, self.dtype), self)

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Self:
        """The elements (…, i, i + offset, …) of two axes, as the last axis: a view."""
        first, second = self._axes((dim1, dim2))
        rest = [axis for axis in range(self.ndim) if axis not in (first, second)]
        x = self.permute((*rest, first, second))
        rows, columns = x.shape[-2:]
        down, right = max(0, -offset), max(0, offset)
        count = max(0, min(rows - down, columns - right))
        if count == 0:
            return x.reshape((*x.shape[:-2], -1))._part(len(rest), 0, 0)
        # of all elements in a row, every (columns + 1)-th
        begin, step = down * columns + right, columns + 1
        flat = x.flatten(-2)._part(len(rest), begin, begin + (count - 1) * step + 1)
        return flat.window(len(rest), 1, step).squeeze(-1)

    def diag(self, diagonal: int = 0) -> Self:
        """The matrix with a vector as its diagonal; or the diagonal of a matrix."""
        if self.ndim == 2:
            return self.diagonal(diagonal)._value()
        if self.ndim != 1:
            raise ShapeError(f"diag takes a vector or a matrix, not shape {self._dims}")
        size: Any = self.shape[0]
        places = type(self).arange(size, device=self.device)
        matrix = places.unsqueeze(-1).eq(places).where(self, self._number(0, self.dtype))
        down, right = max(0, -diagonal), max(0, diagonal)
        return matrix.pad([(down, right), (right, down)])

    # ---- einops ----------------------------------------------------------------------------------

    def rearrange(self, formula: str, **sizes: int) -> Self:
        """Axes split, permuted and merged by name, as in einops.

            Tensor.ones(2, 3, 4).rearrange("b c w -> b (w c)").shape        # (2, 12)
            Tensor.ones(6, 4).rearrange("(h p) w -> p h w 1", p=2).shape    # (2, 3, 4, 1)

        Parentheses merge axes, `...` stands for any number of them, 1 and () for an axis of size 1.
        ShapeError (a RuntimeError) if the formula is wrong or does not fit.
        """
        sides = formula.replace("…", "...").split("->")
        if len(sides) != 2:
            raise ShapeError(f'rearrange needs one "->" in its formula, not {formula!r}')
        left, right = (_groups(side, formula) for side in sides)
        names = [[name for group in side for name in group] for side in (left, right)]
        for side in names:
            if twice := {name for name in side if side.count(name) > 1}:
                raise ShapeError(f"{', '.join(sorted(twice))} is twice on one side of {formula!r}")
        if set(names[0]) != set(names[1]):
            odd = sorted(set(names[0]) ^ set(names[1]))
            raise ShapeError(f"{', '.join(odd)} is on only one side of {formula!r}")
        if unknown := sizes.keys() - set(names[0]):
            raise ShapeError(f"sizes of {', '.join(sorted(unknown))}, not in {formula!r}")
        if re.search(r"\([^)]*\.\.\.", sides[0]):
            raise ShapeError(f"... cannot be in parentheses on the left of {formula!r}")
        spread = " ".join(f"…{n}" for n in range(self.ndim - len(left) + 1))
        left, right = (_groups(side.replace("...", spread), formula) for side in sides)
        if self.ndim != len(left):
            raise ShapeError(f"{formula!r} does not fit the {self.ndim} axes of {self._dims}")
        split: dict[str, Any] = {}
        for size, group in zip(self.shape, left, strict=True):
            split |= _split_sizes(size, group, sizes, formula, self.shape)
        order = [list(split).index(name) for group in right for name in group]
        final = [math.prod(split[name] for name in group) for group in right]
        return self.reshape(tuple(split.values())).permute(order).reshape(final)


def _groups(side: str, formula: str) -> list[list[str]]:
    """One side of a rearrange formula: for every axis the names merged in it. An axis that `...`
    stands for is …0, …1 and so on."""
    groups: list[list[str]] = []
    for token in re.findall(r"\([^()]*\)|\.\.\.|…?\w+|\S", side):
        if token in ("(", ")"):
            raise ShapeError(f"the parentheses of {formula!r} do not match, or are nested")
        names = re.findall(r"\.\.\.|…?\w+|\S", token.strip("()"))
        for name in names:
            if name not in ("1", "...") and name[0] != "…" and not name.isidentifier():
                raise ShapeError(f"{name!r} is not a name of an axis, in {formula!r}")
        groups.append([name for name in names if name != "1"])
    return groups


def _split_sizes(
    size: Any, group: list[str], sizes: dict[str, int], formula: str, shape: tuple
) -> dict[str, Any]:
    """The sizes that one axis is split into, by name; one of them may be unknown."""
    open_names = [name for name in group if name not in sizes]
    known = math.prod(sizes[name] for name in group if name in sizes)
    if len(open_names) > 1:
        raise ShapeError(f"the sizes of {', '.join(open_names)} in {formula!r} are not known")
    if (open_names and (known == 0 or size % known)) or (not open_names and size != known):
        raise ShapeError(
            f"an axis of size {size} of {shape} does not split into ({' '.join(group)}) of "
            f"{formula!r} with {sizes}"
        )
    return {name: sizes[name] if name in sizes else size // known for name in group}
