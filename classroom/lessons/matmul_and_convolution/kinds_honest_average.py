"""A moving average that is right at the ends

Hint: You need two sums for each window: of its numbers, and of how many of its cells exist.
Hint: If every number of `x` were 1, and the padding 0, what would the sum of a window tell you?
Because: Padded ones are 1 where a cell exists and 0 where it doesn't. Neither the ones nor the
zeros are stored: in the C, each of them is `condition ? 1.0f : 0.0f`.
Right: At the ends you divide by the number of cells that exist, and the padding is nowhere in
memory.
"""

import random

import numpy as np

from classroom.ask import fresh_sizes, fresh_tensor, tensor_of, written_without
from classroom.lessons.matmul_and_convolution.shared import in_one_kernel
from tinyframe import Tensor


def check(answer) -> None:
    """answer(x, size): the moving average, in which only cells that exist count."""
    written_without(answer, {"avg_pool2d", "avg_pool1d", "avg_pool3d", "interpolate"})
    for case, x, size in (
        ("`x = [1, 2, 3, 4]`, `size = 3`", Tensor([1.0, 2.0, 3.0, 4.0]).realize(), 3),
        ("`x = [0, 0, 6, 0]`, `size = 3`", Tensor([0.0, 0.0, 6.0, 0.0]).realize(), 3),
        ("a longer `x`", fresh_tensor(fresh_sizes(1)[0]), random.choice((5, 7, 9))),
    ):
        n, small = len(x), case.startswith("`")
        got = tensor_of(answer, x, size, case=case)
        half, values = size // 2, x.numpy()
        parts = [values[max(0, i - half) : i + half + 1] for i in range(n)]
        expected = np.array([part.mean() for part in parts])
        with_zeros = np.array([part.sum() / size for part in parts])
        with np.errstate(invalid="ignore"):
            skipping = np.array([part.sum() / (part != 0).sum() for part in parts])
        mistakes = {
            "The two ends are too small: you divided by `size` there too, as if the zeros of the "
            "padding were numbers of `x`.": with_zeros,
            "These are sums. Divide each by how many of its cells exist.": with_zeros * size,
        }
        if (values == 0).any():
            said = (
                "A 0 in `x` is a number like any other, and counts. Only the padding doesn't: "
                "don't look at the values to tell them apart."
            )
            mistakes[said] = skipping
        in_one_kernel(got, expected, case, small, mistakes)

# %% shared
from tinyframe import Tensor
def padded_sums(x, size):
    half = size // 2
    return x.pad((half, half)).unfold(0, size, 1).sum(axis=1)

# %% wrong, each line
lambda x, size: x.unfold(0, size, 1).sum(axis=1) / size  # says shape
lambda x, size: x.reshape(1, 1, 1, -1).avg_pool2d((1, size))  # says uses `avg_pool2d`
padded_sums  # says These are sums

# %% wrong: says 3 kernels; it should take 1
def stored_average(x, size):
    counts = padded_sums(Tensor.ones(x.shape[0]), size).contiguous()
    return padded_sums(x, size).contiguous() / counts
stored_average

# %% wrong: zeros drag the mean down
def average(x, size):
    return x.pad((size // 2, size // 2)).unfold(0, size, 1).mean(1)

# %% right, each line
lambda x, size: padded_sums(x, size) / padded_sums(x * 0 + 1, size)
