"""Asks tinyframe where the words allow it, and does two axes at once."""

import numpy as np

from tinyframe import Tensor

STEPS = {
    "transpose": Tensor.transpose,
    "flip": lambda t: t.flip(0),
    "exp": Tensor.exp,
    "product": lambda t: t @ Tensor(np.ones(t.shape, np.float32)).realize(),
    "store": Tensor.contiguous,
    "share": lambda t: t / t.sum(axis=1, keepdim=True),
    "sums": lambda t: t.sum(axis=1),
}


def predicted_kernels(steps, n):
    """Nothing changes above 32 rows."""
    size = min(n, 32)
    t = Tensor(np.ones((size, size), np.float32)).realize()
    for step in steps:
        t = STEPS[step](t)
    return len(t.schedule())


def distances(maze, start, steps):
    """All four neighbours by one windows() for each axis; the distance is corrected from above."""
    height, width = maze.shape
    far = (1 - start) * (steps + 1)
    for _ in range(steps):
        around = (steps + 1 - far).pad((1, 1), (1, 1))
        across = around.windows(3).max(1).shrink((1, 1 + height), (0, width))
        down = (
            around.permute(1, 0).windows(3).max(1).permute(1, 0).shrink((0, height), (1, width + 1))
        )
        nearest = steps + 1 - across.maximum(down)
        closer = -((-(nearest + 1)).maximum(-far))
        far = maze.where(closer, far * 0 + steps + 1)
    return far
