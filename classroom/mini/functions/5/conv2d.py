"""Hint: `windows` slides along the last axis. How do you make it slide along the height as well? And
what are all the axes called after that? Write them down, really.
Hint: Windows along the width, then permute the height to the end, then windows again. You have
axes for batch, channels, two for where the window is, two for where you are inside it. Give the
images an axis of size 1 for the filters, give the weights one wherever they lack something,
multiply, and sum over everything the result doesn't have.
Because: Each product of a pixel and a weight sits at its own index, batch, filter, channel, i, j,
row and column. The sum over channel, i and j is the convolution. Any other route to the same
numbers is as right.
"""

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

# %% right: a place of the filter at a time, without windows
def conv2d(x, weight):
    batch, channels, height, width = x.shape
    filters, _, h, w = weight.shape
    total = None
    for i in range(h):
        for j in range(w):
            seen = x.shrink(
                (0, batch), (0, channels), (i, i + height - h + 1), (j, j + width - w + 1)
            )
            part = weight.shrink((0, filters), (0, channels), (i, i + 1), (j, j + 1))
            seen = seen.reshape(batch, 1, channels, height - h + 1, width - w + 1)
            one = (seen * part.reshape(1, filters, channels, 1, 1)).sum(2)
            total = one if total is None else total + one
    return total

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
