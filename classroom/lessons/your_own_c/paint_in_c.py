"""Paint something with your own C

Hint: Start with something that repeats: a Python loop of 20 steps that moves a point, and counts.
The loop runs while the graph is built, and C gets all of it in one kernel.
Hint: Mandelbrot's set begins with a = b = 0. A step is a, b = a*a - b*b + x, 2*a*b + y. Count how
often a*a + b*b < 4. `.maximum(-9)` keeps both from running away.
Because: Any formula of x and y is a kernel, because every op in it needs just its own place of
the picture.
"""

import math
from typing import Any

import numpy as np

from classroom.ask import Wrong, call, describe, wrong_if
from classroom.mini import own_c

SECONDS = 120.0


SIDE, FEWEST_OPS, NEARLY_ALL = 48, 10, 0.95


def check(answer) -> str:
    """answer(x, y): the brightness of each place, a formula that is one kernel."""
    part8 = own_c.module("part8")
    Ops, arrays = part8.Ops, own_c.places(SIDE)
    x, y = map(part8.Tensor, arrays)
    buffers = {x.uop, y.uop}

    def formula(x: Any, y: Any) -> Any:
        with np.errstate(all="ignore"):
            made = call(answer, x, y)
        if isinstance(made, part8.UOp):
            made = part8.Tensor(made)
        if not isinstance(made, part8.Tensor):
            raise Wrong("The answer has to be a Tensor of mini.", got=describe(made))
        return made

    made = formula(x, y)
    if made.shape != (SIDE, SIDE):
        raise Wrong("The picture has to have the shape of `x`.", "", (SIDE, SIDE), made.shape)
    wrong_if(made.uop.op is Ops.BUFFER, "It's numbers already. Return the formula, and don't "
             "realize it: that's what your C is for.")  # fmt: skip
    nodes = made.uop.toposort()
    foreign = [u for u in nodes if u.op is Ops.BUFFER and u not in buffers and u.shape]
    if any(math.prod(u.shape) > 16 for u in foreign):
        raise Wrong("There's a picture in your formula already. Make it from `x` and `y`.")
    ops = [u for u in nodes if u.op not in (Ops.CONST, Ops.BUFFER, Ops.RESHAPE, Ops.EXPAND)]
    wrong_if(len(ops) < FEWEST_OPS, f"This formula has {len(ops)} ops. Your C can do more: take "
             f"{FEWEST_OPS} or more.")  # fmt: skip
    try:
        own_c.program_of(made)
    except ValueError as several:
        raise Wrong(f"One kernel, and {several}. Something in it is stored on the way: is there a "
                    "sum or a maximum over an axis?") from None  # fmt: skip
    values = []
    for device in (part8.CRunner, None):
        with own_c.on(device), np.errstate(all="ignore"):
            values.append(formula(*map(part8.Tensor, arrays)).numpy())
    in_c, by_numpy = values
    if not np.isfinite(in_c).all():
        raise Wrong(f"{int((~np.isfinite(in_c)).sum())} of {in_c.size} places are no number, or "
                    "infinite. `maximum` keeps things from running away.")  # fmt: skip
    for axis, along in ((1, "from left to right"), (0, "from top to bottom")):
        if np.ptp(in_c, axis=axis).max() < 1e-6:
            raise Wrong(f"Nothing changes {along}. Use `x` and `y`, both.")
    reach = float(np.ptp(in_c))
    agree = np.isclose(in_c, by_numpy, rtol=1e-3, atol=1e-3 * reach).mean()
    if agree < NEARLY_ALL:
        raise Wrong(f"Your C and NumPy agree about {agree:.0%} of the places. Your formula blows "
                    "up roundings, so nobody can tell what it should look like.")  # fmt: skip
    return f"{len(ops)} ops, one kernel, and a picture that nobody has stored anywhere."

# %% shared
from classroom.mini import own_c

# %% wrong, each line
lambda x, y: (x * 9).log() * (y * 9 + x).exp() - x * y * x * y  # says no number, or infinite

# %% wrong: says from top to bottom
def stripes(x, y):
    for _ in range(6):
        x = (x * x - 0.3).maximum(-1) * 2
    return x
stripes

# %% wrong: says take 10 or more
def plane(x, y):
    return x + y
plane

# %% wrong: says One kernel
def sum_first(x, y):
    return (own_c.julia(x, y) - own_c.julia(x, y).max()) * x
sum_first

# %% wrong: says numbers already
def numbers(x, y):
    return own_c.julia(x, y).realize()
numbers

# %% wrong: says a picture in your formula already
import numpy as np
def photograph(x, y):
    noise = own_c.module("part8").Tensor(np.random.default_rng(1).random(x.shape))
    return own_c.julia(x, y) + noise
photograph

# %% wrong: says a Tensor of mini
def of_numpy(x, y):
    return own_c.julia(x, y).numpy()
of_numpy

# %% wrong: says the shape of `x`
def one_number(x, y):
    return own_c.julia(x, y).sum()
one_number

# %% wrong: says blows up roundings
def chaos(x, y):
    x = (x + y).exp() / 10
    for _ in range(30):
        x = x * 3.99 - x * x * 3.99
    return x
chaos

# %% right, each line
own_c.julia
