"""Kernels and megabytes of a matrix product

Hint: Does anything but the sum ever need the products?
Hint: If no product is stored, what is read, and what is written? How many bytes is a matrix of
512 × 512 floats?
Because: The multiplication happens inside the loop of the sum, so there is one kernel. It reads
two matrices and writes one. Each of the three takes 512 * 512 * 4 bytes, a little over 1 MB.
"""

from classroom.ask import (
    predicts,
)
from classroom.lessons.matmul_and_convolution.shared import empty


def kernels_and_megabytes() -> tuple[int, ...]:
    items = (empty(512, 512) @ empty(512, 512)).schedule()
    moved = sum(buf.nbytes for item in items for buf in item.bufs)
    return len(items), moved // 1_000_000


check = predicts(kernels_and_megabytes)

# %% guesses
((1, 3), (2, 3), (2, 1076), (1, 540), (1, 2))

# %% asked again, each line
(1, 3.145728)  # right, but not rounded down yet
{'kernels': 1, 'megabytes': 3}  # a dict is no tuple
