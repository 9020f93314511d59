"""Design: where does this piece belong?

Hint: Start with the windows: `unfold` along the rows, then along the columns. Which shape do you
have then, and how does `piece` fit under it?
Hint: The windows have the shape (rows, columns, high, wide), and `piece`, of shape (high, wide),
lines up with their last two axes. Subtract, square, and sum over those two.
Because: It has the structure of a convolution: windows, an elementwise operation with the piece,
a sum over the window. Where a convolution multiplies, this one subtracts and squares.
Right: It is 0 where the piece belongs, and nowhere else. You tried every place in the picture, in
one kernel.
"""

import random

import numpy as np

from classroom.ask import fresh_sizes, fresh_tensor, tensor_of
from classroom.lessons.matmul_and_convolution.shared import in_one_kernel
from tinyframe import Tensor


def check(answer) -> None:
    """answer(scene, piece): how far each window of a picture is from a piece, in one kernel."""
    small_scene = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 8, 7, 6]], np.float32)
    high, wide = random.sample((3, 4, 5, 6, 7), 2)
    cases = {
        "`scene = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 8, 7, 6]]`, `piece = [[6, 7], [8, 7]]`":
            (small_scene, small_scene[1:, 1:3]),
        "a larger picture": (fresh_tensor(*fresh_sizes(2)).numpy(),
                             fresh_tensor(high, wide).numpy()),
    }  # fmt: skip
    for case, (scene, piece) in cases.items():
        small = scene is small_scene
        got = tensor_of(answer, Tensor(scene).realize(), Tensor(piece).realize(), case=case)
        seen = np.lib.stride_tricks.sliding_window_view(scene, piece.shape)
        apart = seen - piece
        expected = (apart**2).sum((2, 3))
        mistakes = {
            "That's a convolution. It's large wherever the picture is bright, and not only where "
            "the piece fits.": (seen * piece).sum((2, 3)),
            "You added up the differences, so those above and below 0 cancel out. Square them "
            "first.": apart.sum((2, 3)),
            "You added up the sizes of the differences. Add up their squares.":
                abs(apart).sum((2, 3)),
            "You squared the sum of the differences. Square each of them, then add up.":
                apart.sum((2, 3)) ** 2,
            "That's the mean of the squares. The exercise asks for their sum.":
                (apart**2).mean((2, 3)),
            "Your piece is upside down and back to front: its first element belongs to the first "
            "element of the window.": ((seen - piece[::-1, ::-1]) ** 2).sum((2, 3)),
        }  # fmt: skip
        in_one_kernel(got, expected, case, small, mistakes)

# %% shared
def differences(scene, piece):
    return scene.unfold(0, piece.shape[0], 1).unfold(1, piece.shape[1], 1) - piece

# %% wrong, each line
lambda s, p: differences(s, p).sum((2, 3))  # says cancel
lambda s, p: (differences(s, p) ** 2).contiguous().sum((2, 3))  # says 2 kernels; it should take 1

# %% wrong: not squared
def mismatch(scene, piece):
    high, wide = piece.shape
    return (scene.unfold(0, high, 1).unfold(1, wide, 1) - piece).abs().sum((2, 3))

# %% right, each line
lambda s, p: differences(s, p).square().flatten(2).sum(-1)
