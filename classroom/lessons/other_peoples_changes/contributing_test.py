"""The test that was missing

Hint: What's the rms of 3 and 4, worked out by hand? Of 300 and 400? Of an array that was changed
in place since? And how would you measure a slope without a formula?
Hint: A square root is rounded, so use np.allclose. For the gradient: move one element of x by a
little, and see by how much rms moves; or work out one case on paper. Try a row of large numbers,
two different rows, and the same array twice, with other numbers.
Because: A number worked out by hand is independent of the code. One large input, one array that
changes, and one slope measured, and there's nowhere left to hide.
"""

from collections.abc import Callable
from typing import Any

from classroom.ask import Wrong, wants_written
from classroom.contributing.rms import HONEST, SPOILED, Pair
from classroom.lessons.other_peoples_changes.shared import learners_line

SECONDS = 20


def check(answer) -> str:
    """answer(rms, rms_gradient): a test, which raises AssertionError for each faulty pair only."""
    wants_written(answer)
    for pair in HONEST:
        if (error := failure_of(answer, pair)) is not None:
            where = ("your line", learners_line(error))
            raise Wrong(
                "It fails for an rms that's right. (Are floats compared with `==`?)"
                if isinstance(error, AssertionError)
                else f"It raised {type(error).__name__}, and rms is right: {error}",
                pair.what,
                more=(where,) if where[1] else (),
            )
    failed = [pair for pair in SPOILED if failure_of(answer, pair) is not None]
    missed = [pair for pair in SPOILED if pair not in failed]
    if missed:
        raise Wrong(
            f"It catches {len(failed)} of {len(SPOILED)}. This one gets through.", missed[0].what,
            more=tuple((f"caught {n}", pair.what) for n, pair in enumerate(failed, 1)),
        )  # fmt: skip
    return (
        f"It passes for an rms that's right, however that's written, and fails for all "
        f"{len(SPOILED)} that aren't. Put it into the review. It says more than an opinion does."
    )


def failure_of(answer: Callable[..., Any], pair: Pair) -> BaseException | None:
    """What a test raises for a pair; None where it passes."""
    rms, gradient = pair.make()
    try:
        if answer(rms, gradient) is False:
            return AssertionError("it returned False")
    except Exception as error:
        return error
    return None

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
