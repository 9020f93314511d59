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
