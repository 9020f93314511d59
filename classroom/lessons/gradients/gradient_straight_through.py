"""A row of your own

Hint: You saw the row of TRUNC above: it returns `(zeros(grad),)`. What should it return instead?
Hint: On the way back, it should look as if TRUNC weren't there. ADD passes on what it gets, too.
What would its row look like if it had one source?
Because: TRUNC has one source, so the function returns a tuple of one gradient: the one that
arrived, as if TRUNC weren't there.
"""

import numpy as np

from classroom.ask import Open, Wrong, same_values, wrong_if
from classroom.lessons.gradients.shared import close, in_front
from tinyframe import Tensor
from tinyframe.rewrite.matcher import UPat
from tinyframe.tensor import gradient as gradient_module


def check(answer) -> str:
    """answer: a row of the table that passes the gradient of TRUNC on as it is."""
    if (
        not isinstance(answer, (tuple, list))
        or len(answer) != 2
        or not isinstance(answer[0], UPat)
        or not callable(answer[1])
    ):
        raise Wrong("A row has to be a pair: a pattern `UPat(…)`, and a function.")
    with in_front(tuple(answer)):
        grad, x = Tensor([2.0, 3.0]).realize(), Tensor([0.4, 1.7]).realize()
        try:
            flowing = gradient_module.flow_back(x.trunc().uop, grad.uop)
        except TypeError as error:
            if "argument" not in str(error):
                raise
            raise Wrong("The function is called with `grad` and with every node that the pattern "
                        "names. `UPat(Ops.TRUNC)` names none, so its function has just one "
                        "parameter, `grad`.") from None  # fmt: skip
        if flowing is None or flowing is ...:
            raise Open("Your row's function returns nothing yet.")
        wrong_if(not isinstance(flowing, (tuple, list)) or len(flowing) != 1,
                 "A row's function returns a tuple, with one gradient for each source. TRUNC has "
                 "one source: `(…,)`.")  # fmt: skip
        case = "`x = [0.4, 1.7]`, and `[2, 3]` arrives"
        same_values(Tensor(flowing[0]), grad.numpy(), case)
        (cosine,) = x.sin().sum().gradient(x)
        if not close(cosine, np.cos(x.numpy())):
            raise Wrong("Your pattern also matches SIN, whose gradient is no longer right.")
        before, after = _train_rounded()
    fell = f"the loss fell from {before:.2f} to {after:.2f}"
    return f"With your row, {fell}. Without it, nothing moves."


def _train_rounded() -> tuple[float, float]:
    """The loss of four weights rounded to quarters, before and after 60 steps."""
    inputs = np.random.default_rng(6).normal(size=(64, 4)).astype(np.float32)
    x = Tensor(inputs).realize()
    wanted = Tensor(inputs @ np.array([0.75, -0.5, 1.25, -1.0], dtype=np.float32)).realize()
    w, losses = Tensor([0.1, 0.1, 0.1, 0.1]).realize(), []
    for _ in range(60):
        loss = ((x @ ((w * 4).trunc() / 4) - wanted) ** 2).mean()
        (slope,) = loss.gradient(w)
        w.assign(w - 0.1 * slope)
        Tensor.realize(loss, w)
        losses.append(loss.item())
    return losses[0], losses[-1]

# %% shared
from tinyframe.rewrite.matcher import UPat
from tinyframe.uop import Ops

# %% wrong, each line
(UPat(Ops.TRUNC), lambda grad: grad)  # says returns a tuple
(UPat(Ops.TRUNC), lambda grad: (grad * 0,))  # says element
lambda grad: (grad,)  # says has to be a pair
(UPat(Ops.TRUNC), lambda grad: (grad * 2,))  # trains, but twice as fast as it should
(UPat(), lambda grad: (grad,))  # says matches SIN
(UPat(Ops.TRUNC), lambda grad, x: (grad,))  # says just one parameter

# %% right, each line
[UPat(Ops.TRUNC), lambda grad: [grad]]  # lists for tuples
