"""A gradient of your own, for single numbers

Hint: What did your row for MUL send back in 1.2? Here each source is paired with its slope. And
where the value of tanh is t, its slope is 1 - t².
Hint: `backward` does two things: it adds what arrives to its own `grad`, and for each pair it
calls `source.backward(…)` with what goes there, what has arrived times slope.
Because: Each operation only knows its own slopes, and `backward` multiplies them along every path
from the result down. A number that is used twice is at the end of two paths, and their products
add up. That's the chain rule.
Right: Every slope is what a measurement says it is. You've written a `loss.backward()`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.ask import Open, Wrong, describe, does_nothing, same_number, wants

# Each of two numbers, and of a function that is math.tanh or the learner's.
FORMULAS: dict[str, Callable[..., Any]] = {
    "a + b": lambda a, b, tanh: a + b,
    "a * b": lambda a, b, tanh: a * b,
    "a.tanh()": lambda a, b, tanh: tanh(a),
    "a * a": lambda a, b, tanh: a * a,
    "(a * b).tanh() * a + b": lambda a, b, tanh: tanh(a * b) * a + b,
    "c * c, where c = a * b": lambda a, b, tanh: (lambda c: c * c)(a * b),
}


SLIPS = {
    "a * a": "`a` is used twice here, and each use sends something back: add it to `grad`, where "
    "replacing it would lose the other.",
    "(a * b).tanh() * a + b": "What a source gets is the slope times what has arrived. For short "
    "formulas yours is right, and for this one it isn't.",
    "c * c, where c = a * b": "Something arrives at `c` twice. Each time, send on what has just "
    "arrived, and not all that `c.grad` has collected by then.",
}


TINY = 1e-5  # how far a number moves for its slope to be measured


def check(answer) -> None:
    """answer: a class with +, *, tanh() and backward(), which leaves slopes in `grad`."""
    if not isinstance(answer, type):
        raise Wrong("This exercise asks for the class. Pass `Number`.", got=describe(answer))
    fresh = np.random.default_rng().uniform(0.3, 0.9, 2) * (1, -1)
    for formula, of in FORMULAS.items():
        for values in ((0.5, -0.75), tuple(fresh.tolist())):
            a, b = map(answer, values)
            y = of(a, b, lambda x: x.tanh())
            if y is None:
                raise Open(f"`{formula}` gives nothing yet.")
            case = f"`a = {values[0]:.3g}`, `b = {values[1]:.3g}`, `y = {formula}`"
            wants(y, answer, "a Number", case)
            same_number(y.value, of(*values, math.tanh), case)
            if does_nothing(y.backward):
                raise Open("`backward` does nothing yet.")
            y.backward()
            for name, got, slope in zip("ab", (a.grad, b.grad), _slopes(of, values), strict=True):
                if abs(got - slope) < 1e-6:
                    continue
                said = (
                    f"`{name}.grad` is wrong after `y.backward()`: if `{name}` grows by a little, "
                )
                said += f"`y` grows {slope:.4g} times as much."
                raise Wrong(SLIPS.get(formula, said), case, f"{slope:.4g}", f"{got:.4g}")


def _slopes(of: Callable[..., Any], values: tuple[float, ...]) -> list[float]:
    """Measured, not derived: how much the value changes, for each of the numbers."""
    a, b = values
    return [
        (of(a + da, b + db, math.tanh) - of(a - da, b - db, math.tanh)) / (2 * TINY)
        for da, db in ((TINY, 0.0), (0.0, TINY))
    ]

# %% shared
import math
class Number:
    """As it should be."""

    def __init__(self, value, *sources):
        self.value, self.sources, self.grad = value, sources, 0.0

    def __add__(self, other):
        return type(self)(self.value + other.value, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        return type(self)(self.value * other.value, (self, other.value), (other, self.value))

    def tanh(self):
        t = math.tanh(self.value)
        return type(self)(t, (self, 1.0 - t * t))

    def backward(self, grad=1.0):
        self.grad += grad
        for source, slope in self.sources:
            source.backward(grad * slope)

def number(**methods):
    """A class of its own with these methods, and the others as they should be."""
    return type("Number", (Number,), methods)

# %% wrong, each line
number(__mul__=lambda a, b: a.value * b.value)  # says a Number
number(__mul__=Number.__add__)  # says a * b
Number(1.0)  # says Pass `Number`

# %% wrong: says a.tanh()
def other_slope(self):
    t = math.tanh(self.value)
    return type(self)(t, (self, 1.0 - self.value * self.value))
number(tanh=other_slope)

# %% right, each line
Number
