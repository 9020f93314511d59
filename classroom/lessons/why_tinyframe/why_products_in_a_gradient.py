"""How many products add up to one number of a gradient?

Hint: How many times was this one weight multiplied by something on the way to the loss?
Hint: Each position in each image is one use. How many positions does the whole batch have?
Because: One product for each position where the weight was used: 103 × 6 × 6 = 3,708. Every use
of a weight adds its share to the gradient.
"""

from classroom.ask import (
    predicts,
)
from classroom.rows import data, trained


def products_in_a_gradient() -> int:
    """Of one weight of a 3 x 3 filter: as many as there are places where it was used."""
    network, (images, _) = trained(steps=0).network, data().batches[0]
    batch, _, height, width = network.conv(images).shape
    return batch * height * width


check = predicts(products_in_a_gradient)

# %% guesses
(3708, 103, 36, 3709)

# %% asked again, each line
3,708  # to Python, that's a pair

# %% right, each line
sum(36 for _ in range(103))  # computed in place of typed
