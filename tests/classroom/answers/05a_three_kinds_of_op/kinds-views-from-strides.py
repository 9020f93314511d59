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

# %% wrong: the second is rows 0 and 1
def three_views(grid):
    return grid.flip(1).T, grid.unfold(0, 2, 1)[0], grid[:, 2].repeat(3, 1)

# %% wrong: the first has memory of its own
def three_views(grid):
    return grid.T.flip(0).contiguous(), grid[1::2, ::2], grid[:, 2].expand(3, 4)

# %% wrong: the first one flips the other axis
def three_views(grid):
    return grid.flip(0).T, grid[1::2, ::2], grid[:, 2].expand(3, 4)

# %% right, each line
views((1, lambda g: g.T[::-1]))

# %% right: from one line of cells, with windows of one, and -1 for a size that stays
def three_views(grid):
    flat = grid.flatten()
    return (
        flat.reshape(4, 6).permute(1, 0).flip(0),
        flat[6:].reshape(3, 6)[::2, ::2],
        flat[2:].unfold(0, 1, 6).reshape(1, 4).expand(3, -1),
    )
