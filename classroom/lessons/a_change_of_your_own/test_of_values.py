"""Write a test that fails

Hint: What does NumPy say at 0, at whole numbers, and between them? A test that only looks at one
of these lets something through.
Hint: `np.testing.assert_allclose(found, expected, atol=…)`, where `found` is a Tensor's
`.numpy()` and `expected` is NumPy's own function of the same numbers.
Because: Many points on both sides of 0, and 0 among them, beside a function that somebody else
wrote. `atol` leaves room for the last digits of a float32, and for nothing else.
Right: It fails today, because there is no `sinc`. It will pass on a right one. And none of five
wrong ones gets past it.
"""

from classroom.lessons.a_change_of_your_own.shared import try_test

SECONDS = 150.0


def check(answer) -> None:
    """answer: a test, or several, of the values of sinc."""
    try_test(answer, "values")

# %% shared
import numpy as np
from tinyframe import Tensor, dtypes

# %% wrong, each line
"test_sinc"  # says with `def`

# %% wrong: says can't fail says nothing
def test_nothing():
    x = np.linspace(-3, 3, 7)
    np.testing.assert_allclose(np.sinc(x), np.sinc(x))
test_nothing

# %% wrong: says wrong reason
def test_with_an_unknown_name():
    assert np.allclose(Tensor(x).sinc().numpy(), np.sinc(x))  # noqa: F821
test_with_an_unknown_name

# %% wrong: says is NaN at 0
def test_without_zero():
    x = np.linspace(0.1, 3, 30).astype(np.float32)
    np.testing.assert_allclose(Tensor(x).sinc().numpy(), np.sinc(x), atol=1e-5)
test_without_zero

# %% wrong: says leave room for rounding
def test_too_strict():
    x = np.linspace(-3, 3, 31).astype(np.float32)
    np.testing.assert_array_equal(Tensor(x).sinc().numpy(), np.sinc(x.astype(np.float64)))
test_too_strict

# %% wrong: says begins with `test`
def sinc_is_right():
    assert Tensor([0.0]).sinc().item() == 1
sinc_is_right

# %% wrong: fails today, but would pass whatever sinc does
def test_sinc():
    assert hasattr(Tensor, "sinc")

# %% wrong: gives False, and raises nothing
def test_sinc():
    x = np.arange(-40, 41) / 10
    return np.allclose(Tensor(x).sinc().numpy(), np.sinc(x))

# %% right
def expected_of(x):
    return np.sinc(np.asarray(x))
def test_with_a_helper():
    x = [-2.5, -1.5, -0.75, 0.0, 0.3, 1.0, 2.0]
    found = Tensor(x).sinc().tolist()
    if not np.allclose(found, expected_of(x), atol=1e-6):
        raise ValueError(found)
[expected_of, test_with_a_helper]

# %% right: in doubles
def test_sinc():
    x = np.arange(-40, 41) / 10
    np.testing.assert_array_almost_equal(Tensor(x).sinc().numpy(), np.sinc(x), decimal=10)
