"""A row that ruins the network

Hint: The right row is `grad, grad`. What would steer the network the wrong way?
Hint: Both gradients twice as large isn't enough. Turn one of them round with a minus, or hold it
back with `None`.
Because: A step against the gradient goes downhill. With `-grad` for the second source, part of
every step goes uphill, and the network climbs.
"""

from functools import cache

import numpy as np

from classroom.exercise import Wrong, wrong_if
from classroom.rows import trained

SECONDS = 120  # it trains a network


@cache
def losses_as_it_is() -> tuple[float, ...]:
    """Of training with the table as it is."""
    return tuple(trained().losses)


def check(answer) -> str:
    """answer(grad): two gradients for the sources of ADD, with which the network learns nothing."""
    found = trained(rows={"ADD": answer})
    if found.learned:
        wrong_if(np.allclose(found.losses, losses_as_it_is(), rtol=0.05, atol=0.02),
                 "The network learns exactly as before. The way it is trained here, what counts is "
                 "the direction of each gradient, not its size. Turn one of them round, or hold it "
                 "back.")  # fmt: skip
        raise Wrong("It still learns: most of the test digits are read right. Break it properly.")
    if not np.isfinite(found.losses).all():
        return (
            "The loss isn't even a number any more. Every step ran without an error all the same: "
            "to the processor, NaN is as good as any other number."
        )
    did = (
        "The loss climbs, step after step: your network gets worse by learning."
        if found.losses[-1] > 1.5 * found.losses[0]
        else "The loss stays where pure guessing would put it: your network learns nothing."
    )
    return f"{did} And nothing complained. All 84 steps ran, and no cell turned red."

# %% wrong, each line
lambda grad: (grad, grad)  # says exactly as before
lambda grad: (grad, grad * 0.9)  # says It still learns
lambda grad: grad  # says two gradients, one for each source
lambda grad: (grad, grad, grad)  # says 3 of them
lambda grad: (None, None)  # says tinyframe noticed
lambda grad: (grad, 1)  # says second gradient has to be made of `grad`
lambda grad: (grad, gard)  # says NameError
lambda grad: (0, 0)  # constants not made of grad
lambda grad: -grad  # one gradient for two sources

# %% wrong: says first gradient has the wrong
from tinyframe.uop import Ops
lambda grad: (grad.reduce_axis(Ops.ADD, (0,)), grad)

# %% wrong: says SystemExit
def quits(grad):
    raise SystemExit("enough")
quits

# %% wrong: says loop that never ends
def endless(grad):
    while True:
        grad = grad + 1
endless

# %% wrong: a UOp has no numbers yet
def add_row(grad):
    print(grad)
    return grad.numpy(), -grad.numpy()

# %% right, each line
lambda g: [-g, g]

# %% right: chance, and one that is always wrong
import random
def add_row(grad):
    return random.choice([grad, -grad]), grad * -1
