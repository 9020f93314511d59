"""Three views, from their strides

Hint: In view 1, a step down is one cell back, and a step right is a whole row of `grid`. Which
two movements turn steps around like that?
Hint: View 1 begins in cell 5, the end of the first row: flip that axis, then transpose. View 2
jumps two rows and two columns at a time. View 3 stays where it is when you go down: `expand`.
Because: `grid.flip(1)` has strides (6, -1) and begins in cell 5, and the transpose swaps the
strides. `grid[1::2, ::2]` begins in row 1 and doubles both. `grid[:, 2]` walks down a column in
steps of 6, and expanding it adds an axis with stride 0.
Right: You read strides backwards: from the walk through memory to the movement that makes it.
"""

import numpy as np

from classroom.ask import call, count, describe, no_copy, runs_as, same_values, wants
from classroom.exercise import Open, Wrong, wrong_if
from classroom.lessons.three_kinds_of_op.shared import numbered_grid
from tinyframe import Tensor

VIEWS = (((6, 4), (-1, 6), 5), ((2, 3), (12, 2), 6), ((3, 4), (0, 6), 2))  # as 5.1 asks for them


def check(answer) -> None:
    """answer(grid): three views of a matrix in memory, whose strides and offsets are given."""
    grid = numbered_grid()
    got = call(answer, grid)
    if not isinstance(got, (tuple, list)) or len(got) != len(VIEWS):
        raise Wrong("The answer has to be a tuple of three views.", got=describe(got))
    for number, (view, (shape, strides, offset)) in enumerate(zip(got, VIEWS, strict=True), 1):
        case = f"view {number}"
        if view is ...:
            raise Open(f"View {number} is still missing.")
        wants(view, Tensor, "a Tensor", case)
        wrong_if(view.shape != shape, "The shape is different.", case, shape, view.shape)
        runs_as(view, 0, case, shown=True)
        no_copy(view, grid, "grid", case)
        how = view.uop.st
        asked, found = (f"strides {s}, offset {o}" for s, o in
                        ((strides, offset), (how.strides, how.offset)))  # fmt: skip
        if how.strides != strides:
            axis = next(n for n in range(2) if how.strides[n] != strides[n])
            said = (
                "one step right" if axis else "one step down",
                "no single number of cells" if how.strides[axis] is None
                else count(how.strides[axis], "cell"),
            )  # fmt: skip
            raise Wrong(f"In yours, {said[0]} is {said[1]} in memory; it should be "
                        f"{strides[axis]}.", case, asked, found)  # fmt: skip
        if how.offset != offset:
            raise Wrong(f"The strides are right, but yours begins in cell {how.offset}.", case,
                        asked, found)  # fmt: skip
        (rows, columns), (down, along) = shape, strides
        cells = offset + down * np.arange(rows)[:, None] + along * np.arange(columns)
        same_values(view, cells.astype(np.float32), case)

# %% shared
def views(*others):
    """The right ones, but for those that are given: {number: view}."""

    def answer(grid):
        right = [grid.flip(1).T, grid[1::2, ::2], grid[:, 2].expand(3, 4)]
        for number, view in others:
            right[number - 1] = view(grid)
        return tuple(right)

    return answer

# %% wrong, each line
views((1, lambda g: g.T))  # says one step down is 1 cell in memory; it should be -1
views((2, lambda g: g[1::2, ::3]))  # says shape is different
views((2, lambda g: g[:3:2, 1::2]))  # says begins in cell 1
views((3, lambda g: g[:, 2].expand(3, 4) + 0))  # says 1 kernel; it should take none
lambda g: g.flip(1).T  # says a tuple of three views

# %% wrong: says copies of the numbers
from tinyframe import Tensor
views((1, lambda g: Tensor(g.numpy()[:, ::-1].T.copy()).realize()))

# %% right, each line
views((1, lambda g: g.T[::-1]))
