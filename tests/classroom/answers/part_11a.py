"""Part 11a: what somebody might answer, and what they are told."""

from __future__ import annotations

import math
from statistics import median
from typing import Any, Self

import numpy as np

from tinyframe import Tensor, dtypes
from tinyframe.tensor.elementwise import float_function

# exercises that ask for an object, or for the text of a function
OBJECTS: set[str] = {"11.1", "11.2", "11.3", "11.4", "11.5", "11.7"}

GUESSES: dict[str, Any] = {}


# ---- 11.1 ----------------------------------------------------------------------------------------


def test_nothing():
    x = np.linspace(-3, 3, 7)
    np.testing.assert_allclose(np.sinc(x), np.sinc(x))


def test_with_an_unknown_name():
    assert np.allclose(Tensor(x).sinc().numpy(), np.sinc(x))  # noqa: F821


def test_at_whole_numbers():
    x = np.arange(-3, 4)
    found = Tensor(x.astype(np.float32)).sinc().numpy()
    np.testing.assert_allclose(found, np.sinc(x), atol=1e-6)


def test_without_zero():
    x = np.linspace(0.1, 3, 30).astype(np.float32)
    np.testing.assert_allclose(Tensor(x).sinc().numpy(), np.sinc(x), atol=1e-5)


def test_too_strict():
    x = np.linspace(-3, 3, 31).astype(np.float32)
    np.testing.assert_array_equal(Tensor(x).sinc().numpy(), np.sinc(x.astype(np.float64)))


def sinc_is_right():
    assert Tensor([0.0]).sinc().item() == 1


def test_by_asserts():
    for number in (-2.5, -1.0, 0, 0.25, 0.5, 1.5):
        found = Tensor(number, dtype=dtypes.float).sinc().item()
        assert abs(found - np.sinc(number)) < 1e-5, number


def expected_of(x):
    return np.sinc(np.asarray(x))


def test_with_a_helper():
    x = [-2.5, -1.5, -0.75, 0.0, 0.3, 1.0, 2.0]
    found = Tensor(x).sinc().tolist()
    if not np.allclose(found, expected_of(x), atol=1e-6):
        raise ValueError(found)


# ---- 11.2 and 11.4 -------------------------------------------------------------------------------


def of_a_cell(text: str) -> Any:
    """A function whose text is that of a cell."""
    import linecache

    file = f"<cell {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"math": math, "np": np, "Tensor": Tensor, "Self": Self,
             "float_function": float_function}  # fmt: skip
    exec(compile(text, file, "exec"), scope)
    return list(scope.values())[-1]


HOLE = of_a_cell('''\
@float_function
def sinc(self):
    """sin(πx) / (πx)."""
    return (self * math.pi).sin() / (self * math.pi)
''')
NARROW = of_a_cell('''\
def sinc(self):
    """sin(πx) / (πx)."""
    x = self._as_float() * math.pi
    return (x == 0).where(1, x.sin() / x)
''')
EAGER = of_a_cell('''\
def sinc(self):
    """NumPy's."""
    return type(self)(self.numpy() * 0 + 1)
''')
NO_WORDS = of_a_cell("""\
@float_function
def sinc(self):
    x = self * math.pi
    return (x == 0).where(1, x.sin() / x)
""")
UNKNOWN = of_a_cell('''\
@float_function
def sinc(self):
    """sin(πx) / (πx)."""
    return np.sinc(self)
''')
OTHER_NAME = of_a_cell('''\
@float_function
def sinus_cardinalis(self):
    """sin(πx) / (πx)."""
    return self
''')
OBVIOUS = of_a_cell('''\
@float_function
def sinc(self):
    """sin(πx) / (πx), 1 at 0."""
    x = self * math.pi
    return (x == 0).where(1, x.sin() / x)
''')
SAFE = of_a_cell('''\
@float_function
def sinc(self):
    """sin(πx) / (πx), 1 at 0."""
    x = (self == 0).where(1, self * math.pi)
    return (self == 0).where(1, x.sin() / x)
''')
COSINES = of_a_cell('''\
@float_function
def sinc(self) -> Self:
    """sin(πx) / (πx), as the product of cosines of halves, quarters …"""
    result = (self * (math.pi / 2)).cos()
    for k in range(2, 24):
        result = result * (self * (math.pi / 2**k)).cos()
    return result
''')
DETACHED = of_a_cell('''\
@float_function
def sinc(self):
    """sin(πx) / (πx), 1 at 0."""
    x = (self == 0).where(1, self * math.pi)
    return (self == 0).where(1, x.sin().detach() / x)
''')
HELPER = of_a_cell('''\
def _sinc_near_zero(z):
    """The series of sin(x) / x, of x squared."""
    return _polynomial(z, [(-1) ** k / math.factorial(2 * k + 1) for k in range(10)])
''')
WITH_HELPER = of_a_cell('''\
@float_function
def sinc(self) -> Self:
    """sin(πx) / (πx); 1 at 0."""
    x = self * math.pi
    small = x * x < 1
    near = _sinc_near_zero((small.where(x, 0)) ** 2)
    x = small.where(2, x)
    return small.where(near, x.sin() / x)
''')


# ---- 11.3 ----------------------------------------------------------------------------------------


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


BY_OUR_OWN = of_a_cell("""\
def test_slopes():
    eps = 1e-3
    for number in (-1.3, -1e-4, 0.0, 3e-4, 0.2, 0.9):
        x = Tensor([number]).realize()
        (found,) = x.sinc().sum().gradient(x)
        measured = (np.sinc(number + eps) - np.sinc(number - eps)) / (2 * eps)
        np.testing.assert_almost_equal(found.item(), measured, decimal=4)
""")
BY_FORMULA = of_a_cell("""\
def test_slopes():
    x = np.array([-0.5, 0.0001, -0.0001, 0.3, 1.2])
    expected = np.cos(np.pi * x) / x - np.sin(np.pi * x) / (np.pi * x * x)
    t = Tensor(np.append(x, 0).astype(np.float32)).realize()
    (found,) = t.sinc().sum().gradient(t)
    np.testing.assert_allclose(found.numpy(), np.append(expected, 0), atol=2e-5)
""")


# ---- 11.6 ----------------------------------------------------------------------------------------


def lasting(run, calls, clock):
    begin = clock()
    for _ in range(calls):
        run()
    return clock() - begin


def two_looks(old, new, clock):
    begin = clock()
    old()
    middle = clock()
    new()
    return (middle - begin) / (clock() - middle)


def one_after_the_other(old, new, clock):
    old(), new()
    return lasting(old, 500, clock) / lasting(new, 500, clock)


def cold(old, new, clock):
    pairs = [(lasting(old, 100, clock), lasting(new, 100, clock)) for _ in range(3)]
    return sum(a for a, _ in pairs) / sum(b for _, b in pairs)


def call_by_call(old, new, clock):
    for _ in range(50):
        old(), new()
    return median(lasting(old, 1, clock) / lasting(new, 1, clock) for _ in range(101))


def upside_down(old, new, clock):
    return 1 / in_turns(old, new, clock)


def never_ends(old, new, clock):
    return median(lasting(old, 9000, clock) / lasting(new, 9000, clock) for _ in range(51))


def in_turns(old, new, clock):
    lasting(old, 400, clock), lasting(new, 400, clock)
    return median(lasting(old, 400, clock) / lasting(new, 400, clock) for _ in range(41))


def many_looks(old, new, clock):
    """The time of each, call by call, added up between ticks; NumPy's median, a NumPy scalar."""
    for _ in range(100):
        old(), new()
    ratios = []
    for _ in range(35):
        before = lasting(old, 200, clock)
        after = (lasting(new, 200, clock) + lasting(new, 200, clock)) / 2
        again = lasting(old, 200, clock)
        ratios.append((before + again) / 2 / after)
    return np.median(ratios)


WRONG: list[tuple[str, Any, str]] = [
    ("11.1", lambda: None, "with `def`"),
    ("11.1", "test_sinc", "with `def`"),
    ("11.1", test_nothing, "can't fail says nothing"),
    ("11.1", test_with_an_unknown_name, "wrong reason"),
    ("11.1", test_at_whole_numbers, "right at whole numbers only"),
    ("11.1", test_without_zero, "is NaN at 0"),
    ("11.1", test_too_strict, "leave room for rounding"),
    ("11.1", sinc_is_right, "begins with `test`"),
    ("11.2", lambda self: self, "with `def`"),
    ("11.2", Tensor([1.0]), "with `def`"),
    ("11.2", HOLE, "At 0 it has to be 1"),
    ("11.2", NARROW, "decorator"),
    ("11.2", EAGER, "only writes down a graph"),
    ("11.2", NO_WORDS, "docstring"),
    ("11.2", UNKNOWN, "only what that file has"),
    ("11.2", OTHER_NAME, "has to be called `sinc`"),
    ("11.3", slope_test("[-1.5, -0.2, 0.3, 2.5]", 1e-5), "NaN at 0"),
    ("11.3", slope_test("[-1.5, 0, 0.3, 2.5]", 1e-5), "off in between"),
    ("11.3", slope_test("[-1.5, 0, 1e-4, 2.5]", 1e-5, "slopes"), "begins with `test`"),
    ("11.4", OBVIOUS, "The slope at 0 is NaN"),
    ("11.4", SAFE, "Very close to 0"),
    ("11.4", DETACHED, "The slope is off"),
    ("11.5", "BCDE", "D changes no kernel"),
    ("11.5", "B", "explains why these are different"),
    ("11.5", ["A", "B", "C", "E"], "A changes no kernel"),
    ("11.5", "B and C", "explains why these are different"),
    ("11.5", "the first", "letters from A to E"),
    ("11.5", 3, "has to be letters"),
    ("11.6", two_looks, "within 10%"),
    ("11.6", one_after_the_other, "a download comes and goes"),
    ("11.6", cold, "a fresh start"),
    ("11.6", call_by_call, "One of your times is 0"),
    ("11.6", upside_down, "Upside down"),
    ("11.6", never_ends, "200,000"),
    ("11.6", lambda old, new, clock: "fast", "has to be a number"),
    ("11.7", [2, 10, 22], "3 of 4 mistakes found"),
    ("11.7", (2, 10, 16, 22, 24), "4 of 4 mistakes found"),
    ("11.7", "16", "0 of 4 mistakes found"),
    ("11.7", [99], "numbers from 1 to 24"),
    ("11.7", ["sinc"], "numbers of lines"),
]

RIGHT: list[tuple[str, Any]] = [
    ("11.1", test_by_asserts),
    ("11.1", [expected_of, test_with_a_helper]),
    ("11.3", BY_OUR_OWN),
    ("11.3", BY_FORMULA),
    ("11.4", COSINES),
    ("11.4", [HELPER, WITH_HELPER]),
    ("11.5", {"E", "c", "B"}),
    ("11.5", "c, b, e"),
    ("11.5", (letter for letter in "BCE")),
    ("11.6", in_turns),
    ("11.6", many_looks),
    ("11.7", {24, 22, 10, 2}),
    ("11.7", "2, 10, 22 and 24"),
    ("11.7", np.array([2, 10, 22, 24])),
    ("11.7", (2.0, 10, "22", np.int64(24))),
]
