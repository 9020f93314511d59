"""A change to review: a small library before it and after it, with eight faults in what was added.

The after is really run by the tests, which show that each fault is one: see
tests/classroom/test_contributing.py.
"""

from __future__ import annotations

from dataclasses import dataclass

TITLE = "Add rms, the root of the mean square"
AUTHOR_SAYS = "Adds rms and its gradient, with tests. All tests pass. Half precision makes it fast."

BEFORE = {
    "pyproject.toml": '''\
[project]
name = "small"
dependencies = ["numpy"]

[project.optional-dependencies]
dev = ["pytest"]
''',
    "small/ops.py": '''\
"""Ops on arrays. Each has a gradient: what flows back to x, given what flows into the result."""

import numpy as np

GRADIENT = {}


def gradient_of(name):
    """Decorator: this function is the gradient of the op of that name."""

    def register(function):
        GRADIENT[name] = function
        return function

    return register


def mean(x):
    """The mean of each row of x."""
    return x.sum(axis=-1) / x.shape[-1]


@gradient_of("mean")
def mean_gradient(grad, x):
    return np.ones_like(x) * grad[..., None] / x.shape[-1]
''',
    "small/test_ops.py": '''\
import numpy as np
from ops import GRADIENT, mean


def test_mean_of_two_rows():
    x = np.array([[3.0, 4.0], [6.0, 8.0]], np.float32)
    assert np.allclose(mean(x), [3.5, 7.0])
''',
    "README.md": '''\
| op | |
|---|---|
| mean | the mean of each row |
''',
}  # fmt: skip

AFTER = {
    "pyproject.toml": '''\
[project]
name = "small"
dependencies = ["numpy", "scipy"]

[project.optional-dependencies]
dev = ["pytest"]
''',
    "small/ops.py": '''\
"""Ops on arrays. Each has a gradient: what flows back to x, given what flows into the result."""

import numpy as np
from scipy.linalg import norm

GRADIENT = {}


def gradient_of(name):
    """Decorator: this function is the gradient of the op of that name."""

    def register(function):
        GRADIENT[name] = function
        return function

    return register


def mean(x):
    """The mean of each row of x."""
    row_length = x.shape[-1]
    total = x.sum(axis=-1)
    return total / row_length


@gradient_of("mean")
def mean_gradient(grad, x):
    return np.ones_like(x) * grad[..., None] / x.shape[-1]


def rms(x, known={}):
    """The root of the mean square of each column of x. ValueError if there's nothing in it."""
    if x.shape[-1] == 0:
        raise ValueError(f"rms needs at least one element in a row, and x has shape {x.shape}")
    if id(x) in known:
        return known[id(x)]
    squares = x.astype(np.float16) ** 2
    known[id(x)] = np.sqrt(mean(squares))
    return known[id(x)]


@gradient_of("rms")
def rms_gradient(grad, x):
    try:
        root = norm(x, axis=-1, keepdims=True) / x.shape[-1] ** 0.5
        return grad[..., None] * x / np.maximum(root, 1e-30)
    except Exception:
        return np.zeros_like(x)
''',
    "small/test_ops.py": '''\
import numpy as np
import pytest
from ops import GRADIENT, mean, rms


def test_mean_of_two_rows():
    x = np.array([[3.0, 4.0], [6.0, 8.0]], np.float32)
    assert np.allclose(mean(x), [3.5, 7.0])


def test_rms_of_two_rows():
    x = np.array([[3.0, 4.0], [6.0, 8.0]], np.float32)
    expected = rms(x)
    assert np.allclose(rms(x), expected)


def test_rms_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one element"):
        rms(np.zeros((3, 0), np.float32))


def test_gradient_of_rms_where_all_is_zero():
    assert not GRADIENT["rms"](np.ones(2), np.zeros((2, 3))).any()
''',
    "README.md": '''\
| op | |
|---|---|
| mean | the mean of each row |
| rms | the root of the mean square of each row |
''',
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """kind: in a word or two. why: what is wrong. lines: each begins with one of these texts."""

    kind: str
    why: str
    lines: tuple[str, ...]


FAULTS = (
    Fault(
        "a new dependency",
        "scipy, for a square root of a sum of squares. Whoever installs this has to install that.",
        ('dependencies = ["numpy", "scipy"]', "from scipy.linalg import norm"),
    ),
    Fault(
        "an unrelated change",
        "mean works as it did, and isn't what this change is about. Whoever looks for a bug in "
        "mean later ends up here.",
        ("row_length = x.shape[-1]", "total = x.sum(axis=-1)", "return total / row_length",
         "return x.sum(axis=-1) / x.shape[-1]"),
    ),
    Fault(
        "state that outlives the call",
        "known is one dict for all calls. It never forgets, and an id is given to the next array "
        "once the first is gone. Even the same array may hold different numbers by then.",
        ("def rms(x, known={}):", "if id(x) in known:", "return known[id(x)]",
         "known[id(x)] = np.sqrt(mean(squares))"),
    ),
    Fault(
        "a docstring that lies",
        "axis -1 goes along a row. Each row has a result, and no column has.",
        ('"""The root of the mean square of each column of x.',),
    ),
    Fault(
        "a dtype that overflows",
        "The largest float16 is 65504, so from 256 on a square is infinite. And three digits are "
        "left of any other.",
        ("squares = x.astype(np.float16) ** 2",),
    ),
    Fault(
        "a wrong gradient",
        "The derivative of rms with respect to x is x / (n * rms). The n is missing.",
        ("return grad[..., None] * x / np.maximum(root, 1e-30)",),
    ),
    Fault(
        "a swallowed exception",
        "Whatever goes wrong, the gradient is 0, and training just doesn't learn.",
        ("try:", "except Exception:", "return np.zeros_like(x)"),
    ),
    Fault(
        "a test that can't fail",
        "It compares rms with rms.",
        ("def test_rms_of_two_rows():", "expected = rms(x)", "assert np.allclose(rms(x), exp"),
    ),
)  # fmt: skip

# Lines that may look like faults. The reason why each isn't.
INNOCENT = {
    "if x.shape[-1] == 0:": (
        "It can happen: x of shape (3, 0) has rows without elements, and there's a test of it."
    ),
    'raise ValueError(f"rms needs': "It says what was needed and what came. That's a good error.",
    "root = norm(x, axis=-1, keepdims=True)": (
        "The formula is right: the norm over the root of n is the rms. Where norm comes "
        "from is a different question."
    ),
    "import pytest": "pytest is in the dev dependencies already.",
    "from ops import GRADIENT, mean, rms": "The tests need rms.",
    "def test_rms_of_nothing_is_refused": "It fails if nothing is raised, or something else.",
    "with pytest.raises(ValueError, match=": "It fails if nothing is raised, or something else.",
    "rms(np.zeros((3, 0), np.float32))": "Rows without elements are what it's about.",
    "def test_gradient_of_rms_where_all_is_zero": (
        "It fails if there's a NaN, which is what 0 / 0 would give. It's a good case to "
        "have thought of."
    ),
    "assert not GRADIENT[": (
        "It fails if there's a NaN, which is what 0 / 0 would give. It's a good case to "
        "have thought of."
    ),
    "| rms | the root of the mean square of each row |": (
        "It's true, and a new op belongs in the table."
    ),
    '@gradient_of("rms")': "That's how a gradient is registered.",
    "def rms_gradient(grad, x):": "Its signature is that of the other gradient.",
    "x = np.array([[3.0, 4.0], [6.0, 8.0]], np.float32)": (
        "Two rows of float32: as good an input as any."
    ),
}
