"""Write a test of the slopes

Hint: You have NumPy's sinc in 64 bits. How do you get slopes out of a function that has only
values? And at which x does the picture say that you should look?
Hint: A finite difference of `np.sinc` with an eps of 1e-5 is good for ten digits. Compare it with
`x.sinc().sum().gradient(x)`, at 0, at a few thousandths of a unit and less, and further out. The
slope at 0.0001 is about -0.0003, so mind your `atol`.
Because: The finite difference is taken of NumPy's function, in 64 bits, so nothing of ours is in
it. The points lie where the formula is in trouble, and `atol` is smaller than the slopes there.
Right: Five wrong slopes, and none gets past your test. The last one got past most of mine.
"""

from classroom.lessons.a_change_of_your_own.shared import try_test

SECONDS = 150.0


def check(answer) -> None:
    """answer: a test, or several, of the slopes of sinc."""
    try_test(answer, "slopes")

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

def slope_test(places: str, close: float, name: str = "test_slopes") -> Any:
    """A test of the slopes at some places."""
    return of_a_cell(f"""\
def {name}():
    x = np.array({places})
    expected = (np.sinc(x + 1e-5) - np.sinc(x - 1e-5)) / 2e-5
    t = Tensor(x.astype(np.float32)).realize()
    found = t.sinc().sum().gradient(t)[0].numpy()
    assert np.allclose(found, expected, rtol=1e-4, atol={close})
""")

# %% wrong, each line
slope_test("[-1.5, 0, 0.3, 2.5]", 1e-5)  # says off in between
slope_test("[-1.5, 0, 1e-4, 2.5]", 1e-5, "slopes")  # says begins with `test`

# %% wrong: only at 0
def test_slope_of_sinc():
    x = Tensor([0.0])
    assert abs(x.sinc().sum().gradient(x)[0].item()) < 1e-6

# %% right
BY_OUR_OWN = of_a_cell("""\
def test_slopes():
    eps = 1e-3
    for number in (-1.3, -1e-4, 0.0, 3e-4, 0.2, 0.9):
        x = Tensor([number]).realize()
        (found,) = x.sinc().sum().gradient(x)
        measured = (np.sinc(number + eps) - np.sinc(number - eps)) / (2 * eps)
        np.testing.assert_almost_equal(found.item(), measured, decimal=4)
""")
BY_OUR_OWN

# %% right: a step in the imaginary direction, which subtracts nothing
def test_slope_of_sinc():
    x = np.concatenate([-np.logspace(-5, 0, 30), [0], np.logspace(-5, 0.5, 30)])
    expected = np.sinc(x + 1e-30j).imag / 1e-30
    t = Tensor(x.astype(np.float32))
    np.testing.assert_allclose(t.sinc().sum().gradient(t)[0].numpy(), expected, atol=1e-5)
