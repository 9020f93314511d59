# %% wrong, each line
lambda pixels, arriving, i, j: pixels[:, :6, :6] * arriving  # says one number
lambda pixels, arriving, i, j: pixels[:, i, j].sum()  # says Which pixels
lambda p, a, i, j: (p[:, i:i + 6, j:j + 6] * a).sum(dim=(1, 2))  # a number for each image
lambda p, a, i, j: (p[:, i:i + 6, j:j + 6] * a).mean(0).sum()  # the mean over the batch, as a loss has
lambda p, a, i, j: (p[:, i:i + 6, j:j + 6] * a).sum((1, 2)).tolist()  # says a Tensor that holds one, or a number

# %% wrong: i - 2 is 0 for i = 2, so an empty slice
def slope(pixels, arriving, i, j):
    return (pixels[:, i:i - 2, j:j - 2] * arriving).sum()

# %% wrong: the C, word for word: 72 kernels for one number (I had said right, if slow)
def slope(pixels, arriving, i, j):
    acc0 = 0.0
    for n in range(pixels.shape[0]):
        for r in range(6):
            for c in range(6):
                acc0 = acc0 + pixels[n, r + i, c + j].item() * arriving[n, r, c].item()
    return acc0

# %% right, each line
lambda p, a, i, j: p[None].conv2d(a[None])[0, 0, i, j]  # the gradient of a convolution is a convolution

# %% right
def with_a_loop(pixels, arriving, i, j):
    total = 0.0
    for image, back in zip(pixels.tolist(), arriving.tolist(), strict=True):
        for row in range(6):
            for column in range(6):
                total += image[row + i][column + j] * back[row][column]
    return total
with_a_loop
