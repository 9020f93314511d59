"""A kernel in Triton's manner, read

Hint: One program has one row. Which three things does it do with it before it stores?
Hint: `(x * x).mean(axis=1, keepdim=True)` is the sum divided by columns. Then the 1e-6, a root, a
division, and the weights.
Because: The mask only keeps a program inside its row. What's left is a mean of squares, a root, a
division and a product, which is RMSNorm.
Right: That's RMSNorm. A language model has dozens of them, and you've just read one in a language
that you didn't know ten minutes ago.
"""

import numpy as np

from classroom.ask import Wrong, fresh_sizes, same_values, tensor_of, unlike
from classroom.differences import of_shapes
from classroom.lessons.other_peoples_source.shared import near, values
from tinyframe import Tensor

SMALL = np.array([[3, 4, 0], [1, -1, 1]], np.float32)


TINY = np.array([[0, 0, 0], [0.001, 0.002, -0.001]], np.float32)


WEIGHTS = np.array([1, 2, -1], np.float32)


EPS = 1e-6


def root_mean_square(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + EPS) * w


def check(answer) -> None:
    """answer(x, w): a Tensor, the same as the Triton-like kernel of the lesson computes."""
    rows, columns = fresh_sizes(2)
    cases = {
        "`x = [[3, 4, 0], [1, -1, 1]]`, `w = [1, 2, -1]`": (SMALL, WEIGHTS),
        "a different shape": (values(rows, columns), values(columns)),
        "a row of zeros, and a row of thousandths": (TINY, WEIGHTS),
    }
    for case, (x, w) in cases.items():
        shown = x is SMALL
        got = tensor_of(answer, Tensor(x).realize(), Tensor(w).realize(), case=case)
        wanted = root_mean_square(x, w)
        made = got.numpy()
        if made.shape != wanted.shape:
            said = (str(wanted.shape), str(made.shape)) if shown else ("", "")
            raise Wrong(of_shapes(made.shape, wanted.shape), case, *said)
        square = (x * x).mean(axis=1, keepdims=True)
        mistakes = {
            "Where did the weights go? Look at the last line.": x / np.sqrt(square + EPS),
            "You add up the squares. The kernel divides that by something before the root.":
                x / np.sqrt((x * x).sum(axis=1, keepdims=True) + EPS) * w,
            "There's a square root in the kernel.": x / (square + EPS) * w,
            "You take the mean of everything. A program sees one row only.":
                x / np.sqrt((x * x).mean() + EPS) * w,
            "That's the mean of each column. A program has a row.":
                x / np.sqrt((x * x).mean(axis=0, keepdims=True) + EPS) * w,
            "That's LayerNorm, which subtracts the mean first. Does the kernel?":
                (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + EPS)
                * w,
        }  # fmt: skip
        unlike(got, mistakes, wanted, case, shown=False)
        if x is TINY and not near(made, wanted):
            raise Wrong("What does the kernel add before the root? These rows notice.", case)
        same_values(got, wanted, case, shown)

# %% shared
def squares(t):
    return (t * t).mean(axis=1, keepdim=True)

# %% wrong, each line
lambda t, w: t / (squares(t) + 1e-6) * w  # says a square root
lambda t, w: t / squares(t).sqrt() * w  # says What does the kernel add before the root
lambda t, w: t.softmax(axis=1) * w  # says x = [[3, 4, 0], [1, -1, 1]]
lambda t, w: (t * w).sum(axis=1)  # says (2, 3)
lambda t, w: t.numpy() * 2  # says has to be a Tensor
lambda x, w: x / (x.square().mean(1) + 1e-6).sqrt() * w  # the means don't meet their rows

# %% wrong: a row of zeros would be NaN
def in_tinyframe(x, w):
    return x / x.square().mean(-1, keepdim=True).sqrt() * w

# %% right, each line
lambda t, w: w * t * (squares(t) + 1e-6).rsqrt()

# %% right: as nn.RMSNorm is written in PyTorch
def in_tinyframe(x, w):
    return x.square().mean(-1, keepdim=True).add(1e-6).rsqrt() * x * w
