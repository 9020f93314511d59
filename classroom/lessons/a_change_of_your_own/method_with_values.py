"""Write the method

Hint: A formula, and a WHERE for the one number at which the formula has no value. What did the
methods around it do about ints and about half precision?
Hint: `self.eq(0).where(one, other)` chooses. `@float_function` above the `def` computes half in
float32 and makes floats of ints. And each method there has a docstring.
Because: sin(πx) / (πx) has a hole at 0, and the WHERE fills it. The decorator takes care of all
dtypes, and the docstring of whoever calls it.
Right: Values, five dtypes, and it stays lazy. That's a method of Tensor, and it's yours.
"""

from classroom.lessons.a_change_of_your_own.shared import try_method

SECONDS = 150.0


def check(answer) -> None:
    """answer: the method `sinc`, or helpers and the method."""
    try_method(answer, "values")

# %% shared
from tinyframe import Tensor, dtypes
import math
from typing import Any, Self
import numpy as np
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

# %% wrong, each line
Tensor([1.0])  # says with `def`

# %% wrong: says only writes down a graph
EAGER = of_a_cell('''\
def sinc(self):
    """NumPy's."""
    return type(self)(self.numpy() * 0 + 1)
''')
EAGER

# %% wrong: says has to be called `sinc`
OTHER_NAME = of_a_cell('''\
@float_function
def sinus_cardinalis(self):
    """sin(πx) / (πx)."""
    return self
''')
OTHER_NAME

# %% wrong: of a NaN it makes a 1
@float_function
def sinc(self) -> Self:
    """NumPy's sinc."""
    x = self * math.pi
    return (x.sin() * x.reciprocal()).isnan().where(1, x.sin() / x)

# %% right: never 0, and sinc is even
@float_function
def sinc(self) -> Self:
    """NumPy's sinc."""
    x = self.abs().maximum(1e-20) * math.pi
    return x.sin() / x
