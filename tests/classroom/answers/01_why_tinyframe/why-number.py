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

# %% right
def with_a_stack(self, grad=1.0):
    waiting = [(self, grad)]
    while waiting:
        number, arriving = waiting.pop()
        number.grad = number.grad + arriving
        waiting += [(source, arriving * slope) for source, slope in number.sources]
number(backward=with_a_stack)
