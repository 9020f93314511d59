"""All nine numbers of a filter's gradient

Hint: As the filter slides over its 6 × 6 positions, which pixels does its weight in the top left
corner meet? And the one to the right of that?
Hint: The corner meets `pixels[:, 0:6, 0:6]`, and its neighbour `pixels[:, 0:6, 1:7]`. Multiply by
`arriving`, and add everything up.
Because: The weight at [i, j] meets the pixels that begin i rows down and j columns to the right.
Each meeting adds pixel times arriving gradient.
"""

import random
from typing import Any

import numpy as np

from classroom.ask import Wrong, call, count, describe, same_values, wrong_if
from classroom.rows import data, trained
from tinyframe import GlobalCounters, Tensor

SECONDS = 60  # it builds a network


MOST_KERNELS = 20  # for one number: more than a kernel for each image, fewer than one for each use


TOO_MANY_KERNELS = (
    "The number is right, but each `.item()` compiles and runs a kernel of its own, and the real "
    "batch has 3,708 products. Take all numbers out at once with `.tolist()`, or multiply whole "
    "slices."
)


def check(answer) -> str:
    """answer(pixels, arriving, i, j): the gradient with respect to the weight [i, j] of a 3 x 3
    filter; pixels of shape (n, 8, 8), arriving of shape (n, 6, 6)."""
    small = np.zeros((1, 8, 8), np.float32)
    small[0, 0, 0], small[0, 1, 2], small[0, 7, 7] = 1, 10, 100
    one = np.ones((1, 6, 6), np.float32)
    generator, images = np.random.default_rng(), random.choice((3, 4, 5))
    fresh = [generator.random((images, n, n)) + 0.5 for n in (8, 6)]
    said = "one image, all 0 but for 1 at [0, 0], 10 at [1, 2], 100 at [7, 7]; `arriving` all 1"
    for pixels, arriving, case in ((small, one, said), (*fresh, "")):
        pixels, arriving = (np.asarray(a, np.float32) for a in (pixels, arriving))
        given = [Tensor(a).realize() for a in (pixels, arriving)]
        for i, j in np.ndindex(3, 3):
            expected = float((pixels[:, i : i + 6, j : j + 6] * arriving).sum())
            where = f"weight [{i}, {j}]; {case or 'different images'}"
            before = GlobalCounters.kernel_count
            got = _number(call(answer, *given, i, j), where)
            ran = GlobalCounters.kernel_count - before
            if abs(got - expected) > 1e-3 * max(1.0, abs(expected)):
                _explain(got, pixels, arriving, (i, j), where, expected, bool(case))
            wrong_if(ran > MOST_KERNELS, TOO_MANY_KERNELS, where, got=count(ran, "kernel"))
    if ran >= images:
        return (
            "That's the line of C, in Python. (With a kernel for each image, the real batch of 103 "
            "would take minutes, so I left it out.)"
        )
    _as_the_framework(answer)
    return (
        "That's the line of C, in Python. I ran it on the real batch, too, and all nine numbers of "
        "the filter's gradient are those that tinyframe computes."
    )


def _as_the_framework(answer) -> None:
    """Wrong unless the nine numbers of the first filter are those of the notebook's batch."""
    network, (images, labels) = trained(steps=0).network, data().batches[0]
    found = network.conv(images)
    loss = network.rest(found).cross_entropy(labels)
    arriving, slopes = loss.gradient(found, network.conv.weight)
    pixels, back, expected = images[:, 0], arriving[:, 0].contiguous().realize(), slopes[0, 0]
    case = "a batch of 103 images"
    nine = [_number(call(answer, pixels, back, i, j), case) for i, j in np.ndindex(3, 3)]
    same_values(Tensor(np.array(nine, np.float32).reshape(3, 3)), expected.numpy(), case)


def _number(found: Any, where: str) -> float:
    """The one number of an answer, whatever holds it; Wrong where it is not one."""
    wanted = "The answer has to be one number: a Tensor that holds one, or a number."
    if isinstance(found, (Tensor, np.ndarray)):
        values = found.numpy() if isinstance(found, Tensor) else found
        if values.size != 1:
            raise Wrong(f"{wanted} A sum over all axes makes one.", where, "()", str(values.shape))
        return float(values.reshape(())[()])
    if isinstance(found, bool) or not isinstance(found, (int, float, np.generic)):
        raise Wrong(wanted, where, got=describe(found))
    return float(found)


def _explain(
    got: float,
    pixels: np.ndarray,
    arriving: np.ndarray,
    place: tuple[int, int],
    where: str,
    expected: float,
    shown: bool,
) -> None:
    """Raises Wrong, with what the number is instead, if that can be told."""
    i, j = place
    swapped = float((pixels[:, j : j + 6, i : i + 6] * arriving).sum())
    middle = float((pixels[:, 1:7, 1:7] * arriving).sum())
    mirrored = float((pixels[:, 2 - i : 8 - i, 2 - j : 8 - j] * arriving).sum())
    same = [
        text
        for value, text in (
            (swapped, "You have swapped `i` and `j`: `i` counts rows."),
            (middle, "This is the number for the weight in the middle; `i` and `j` are not used."),
            (mirrored, "Up and down are mirrored, and so are left and right: a larger `i` means "
             "pixels further down."),
            (expected / len(pixels), "You took the mean over the images; each use counts in full."),
        )
        if abs(value - got) <= 1e-3 * max(1.0, abs(got))
    ]  # fmt: skip
    text = (
        same[0]
        if same
        else (
            "It has to be a sum over the pixels that this weight gets to see, each times what "
            "arrived. Which pixels are they?"
        )
    )
    values = (f"{expected:g}", f"{got:g}") if shown else ("", "")
    raise Wrong(text, where, *values)

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
