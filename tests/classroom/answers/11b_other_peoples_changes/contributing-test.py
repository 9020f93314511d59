# %% shared
import numpy as np
X = np.array([[3.0, 4.0], [6.0, 8.0]])
def measured(rms, gradient):
    """Slopes from nudges, as in 6a."""
    x = np.random.default_rng(1).normal(size=(3, 4)) + np.array([[1], [500], [2]])
    grad, eps = np.array([1.0, 2.0, -3.0]), 1e-5
    expected = np.sqrt((x**2).sum(1) / 4)
    if not np.allclose(rms(x), expected):
        raise AssertionError("values")
    found = gradient(grad, x)
    for place in np.ndindex(*x.shape):
        nudged = x.copy()
        nudged[place] += eps
        slope = (grad * (rms(nudged) - rms(x))).sum() / eps
        np.testing.assert_allclose(found[place], slope, rtol=1e-3, atol=1e-4)
    x *= 2
    np.testing.assert_allclose(rms(x), 2 * expected)

# %% wrong, each line
lambda rms, gradient: rms(X)  # says It catches 0 of 6
"assert rms"  # says asks for a function

# %% wrong: says an rms that's right
def no_assert(rms, gradient):
    return np.allclose(rms(X), 0) and False
no_assert

# %% wrong: the second look is at a number that has the same rms, minus or not
def test_rms(rms, rms_gradient):
    x = np.array([[3.0, 4.0], [300.0, 400.0]], np.float32)
    root = np.sqrt(np.mean(x * x, 1))
    assert np.allclose(rms(x), root)
    assert np.allclose(rms_gradient(np.array([1.0, -2.0]), x).T, x.T / root / 2 * [1, -2])
    x *= -1
    assert np.allclose(rms(x), root)

# %% wrong: to the last bit of a double
def test_rms(rms, rms_gradient):
    x = np.array([[3.0, 4.0], [300.0, 400.0]], np.float32)
    assert (rms(x) == np.array([12.5, 125000.0]) ** 0.5).all()

# %% right, each line
measured

# %% right
def returns_false(rms, gradient):
    try:
        measured(rms, gradient)
    except AssertionError:
        return False
    return True
returns_false
