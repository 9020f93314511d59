"""Mend the slopes

Hint: Near 0, don't divide at all. Which function without a division is so close to sinc there
that a float can't tell them apart? And how do you keep x = 0 out of the other branch?
Hint: With z = (πx)², sinc is 1 - z/(2·3) + z²/(2·3·4·5) - z³/(2·3·4·5·6·7) …; eight terms are
plenty below |πx| = 1. Give each branch an argument that suits it: `is_small.where(angle, 0)` for
one, `is_small.where(1, angle)` for the other.
Because: Near 0 the series has no division in it, so nothing large is subtracted from anything
large. Far from 0 the formula is fine. And each branch sees an argument for which it's finite,
even where the other one is chosen.
Right: The slope is right at 0, beside 0 and far from it, in float and in double.
"""

from classroom.lessons.a_change_of_your_own.shared import try_method

SECONDS = 150.0


def check(answer) -> None:
    """answer: the method `sinc`, whose slopes are right as well."""
    try_method(answer, "slopes")

# %% shared
import math
from typing import Any, Self
import numpy as np
from tinyframe import Tensor, dtypes
from tinyframe.tensor.elementwise import float_function
def of_a_cell(text: str) -> Any:
    """A function whose text is that of a cell."""
    import linecache

    file = f"<cell {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"math": math, "np": np, "Tensor": Tensor, "Self": Self,
             "float_function": float_function}
    exec(compile(text, file, "exec"), scope)
    return list(scope.values())[-1]

# %% wrong: says The slope at 0 is NaN
OBVIOUS = of_a_cell('''\
@float_function
def sinc(self):
    """sin(πx) / (πx), 1 at 0."""
    x = self * math.pi
    return (x == 0).where(1, x.sin() / x)
''')
OBVIOUS

# %% wrong: right at 0, and lost beside it
@float_function
def sinc(self) -> Self:
    """NumPy's sinc."""
    x = self.abs().maximum(1e-20) * math.pi
    return x.sin() / x

# %% right
COSINES = of_a_cell('''\
@float_function
def sinc(self) -> Self:
    """sin(πx) / (πx), as the product of cosines of halves, quarters …"""
    result = (self * (math.pi / 2)).cos()
    for k in range(2, 24):
        result = result * (self * (math.pi / 2**k)).cos()
    return result
''')
COSINES
