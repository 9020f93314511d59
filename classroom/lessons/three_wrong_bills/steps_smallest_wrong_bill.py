"""The smallest wrong bill

Hint: All three bills were wrong. Take the simplest of them, and leave out one thing at a time:
when does the error go away?
Hint: A thing that costs 1.00 or 4.00 never makes a bill wrong. What's different about the other
two?
Because: One thing for 0.50 is enough: the till says 0. Whole numbers of things with whole prices
are always right, so it's the fractions that get lost.
"""

import math
from typing import Any

import numpy as np

from classroom.ask import Open, Wrong, describe
from classroom.lessons.three_wrong_bills.shared import bills
from classroom.sabotage import sabotage
from tinyframe import Tensor

LARGEST_AMOUNT = 1e6  # what a bill may be made of, and be exact enough in a float


def check(answer) -> str:
    """(quantities, prices): a bill of one thing that the till gets wrong."""
    what = "two lists: quantities, and a price for each of them"
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Wrong(f"The answer has to be {what}.", got=describe(answer))
    quantities, prices = (_amounts(side, what) for side in answer)
    case = f"`quantities = {quantities.tolist()}`, `prices = {prices.tolist()}`"
    if quantities.shape != prices.shape:
        raise Wrong("Each thing needs a quantity and a price.",
                    got=f"{quantities.size} quantities and {prices.size} prices")  # fmt: skip
    with sabotage():
        till = bills(Tensor(quantities), Tensor(prices)).item()
    right = float((quantities.astype(np.float64) * prices).sum())
    if math.isclose(till, right, rel_tol=1e-5, abs_tol=1e-6):
        raise Wrong("The till gets this one right.", case, f"{right:g}", f"{till:g}")
    if quantities.size > 1:
        raise Wrong("The till gets this one wrong, but it isn't the smallest. Take something out "
                    "of the basket and see whether the bill is still wrong.", case, f"{right:g}",
                    f"{till:g}")  # fmt: skip
    return f"One thing, {right:g} to pay, and the till says {till:g}. What goes missing?"


def _amounts(side: Any, what: str) -> np.ndarray:
    """Some quantities or prices, as floats."""
    if side is ... or (isinstance(side, (list, tuple)) and ... in side):
        raise Open("")
    try:
        given = side.numpy() if isinstance(side, Tensor) else side
        amounts = np.atleast_1d(np.asarray(given, np.float32))
    except (TypeError, ValueError):
        raise Wrong(f"The answer has to be {what}.", got=describe(side)) from None
    if amounts.ndim != 1 or not amounts.size:
        raise Wrong(f"The answer has to be {what}.", got=describe(side))
    if not (np.isfinite(amounts).all() and (np.abs(amounts) <= LARGEST_AMOUNT).all()):
        raise Wrong(f"Amounts have to be numbers up to {LARGEST_AMOUNT:,.0f}.", got=describe(side))
    return amounts

# %% wrong, each line
([1.0, 2.0], [0.5])  # says 2 quantities and 1 prices
0.5  # says has to be two lists
([1.0], ["half"])  # says has to be two lists
([], [])  # says has to be two lists
([1e30], [1.0])  # says have to be numbers
([3.0], [2.0])  # says The till gets this one right
([1, 0], [0.5, 7])  # says isn't the smallest

# %% right, each line
(1.0, 0.1)  # one number for a list of one
