"""Hint: `windows` slides along the last axis. How do you make it slide along the height as well?
And what are all the axes called after that? Write them down, really.
Hint: Windows along the width, then permute the height to the end, then windows again. You have axes
for batch, channels, two for where the window is, two for where you are inside it. Give the images
an axis of size 1 for the filters, give the weights one wherever they lack something, multiply, and
sum over everything the result doesn't have.
Because: Each product of a pixel and a weight sits at its own index, batch, filter, channel, i, j,
row and column. The sum over channel, i and j is the convolution. Any other route to the same
numbers is as right.
"""

import itertools

import numpy as np

from classroom.mini.check import expect_values, promise
from classroom.mini.functions.part5.shared import NEEDED, counting, expression, floats


def convolved(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Filter element by filter element."""
    h, w = weight.shape[2:]
    rows, columns = x.shape[2] - h + 1, x.shape[3] - w + 1
    total = np.zeros((x.shape[0], weight.shape[0], rows, columns), np.float32)
    for i, j in itertools.product(range(h), range(w)):
        piece = x[:, :, i : i + rows, j : j + columns]
        total += np.einsum("bcyx,fc->bfyx", piece, weight[:, :, i, j])
    return total


@promise("One image of one channel, one filter", needs=NEEDED)
def small_convolution(mini) -> None:
    x, weight = counting(1, 1, 4, 5), counting(1, 1, 2, 3)
    images, filters = mini.Tensor(x), mini.Tensor(weight)
    got = expression(mini, "x.conv2d(weight)", images.uop.conv2d(filters.uop), images, filters)
    said = "x.conv2d(weight) of shapes (1, 1, 4, 5) and (1, 1, 2, 3)"
    expect_values(said, got.numpy(), convolved(x, weight), (
        (convolved(x, weight[:, :, ::-1, ::-1]), "The filter is upside down and back to front."),
        (convolved(x, weight).transpose(0, 1, 3, 2), "Rows and columns have changed places."),
    ))  # fmt: skip


@promise("A batch, three channels, four filters", needs=NEEDED)
def whole_convolution(mini) -> None:
    x, weight = floats(2, 3, 6, 7), floats(4, 3, 3, 2)
    got = mini.Tensor(x).conv2d(mini.Tensor(weight)).numpy()
    said = "x.conv2d(weight) of shapes (2, 3, 6, 7) and (4, 3, 3, 2)"
    expect_values(said, got, convolved(x, weight))

# %% wrong: what mathematicians call a convolution: the filter is flipped
def conv2d(x, weight):
    weight = weight.flip(2, 3)
    batch, channels, height, width = x.shape
    filters, _, h, w = weight.shape
    y = x.windows(w).permute(0, 1, 3, 4, 2).windows(h)
    y = y.reshape(batch, 1, channels, w, width - w + 1, h, height - h + 1)
    k = weight.permute(0, 1, 3, 2).reshape(1, filters, channels, w, 1, h, 1)
    return (y * k).sum(2, 3, 5).permute(0, 1, 3, 2)

# %% wrong: says Rows and columns have changed places
def conv2d(x, weight):
    batch, channels, height, width = x.shape
    filters, _, h, w = weight.shape
    rows, columns = height - h + 1, width - w + 1
    x = x.windows(w).permute(0, 1, 3, 4, 2).windows(h)
    x = x.permute(0, 1, 4, 2, 3, 5).reshape(batch, 1, channels, h, w, columns, rows)
    return (x * weight.reshape(1, filters, channels, h, w, 1, 1)).sum(2, 3, 4)

# %% wrong: says was computed at once
def conv2d(x, weight):
    batch, channels, height, width = x.shape
    filters, _, h, w = weight.shape
    made = Tensor(x).numpy()
    total = np.zeros((batch, filters, height - h + 1, width - w + 1))
    for i in range(h):
        for j in range(w):
            piece = made[:, :, i : i + height - h + 1, j : j + width - w + 1]
            total += np.einsum("bcyx,fc->bfyx", piece, Tensor(weight).numpy()[:, :, i, j])
    return Tensor(total).uop

# %% right: im2col, and a matrix product
def conv2d(x, weight):
    batch, channels, height, width = x.shape
    filters, _, h, w = weight.shape
    y = x.windows(w).permute(0, 1, 3, 4, 2).windows(h)
    y = y.permute(0, 3, 5, 1, 4, 2)
    rows, columns = height - h + 1, width - w + 1
    y = y.reshape(batch * columns * rows, channels * h * w) @ weight.reshape(filters, -1).permute(
        1, 0
    )
    return y.reshape(batch, columns, rows, filters).permute(0, 3, 2, 1)
