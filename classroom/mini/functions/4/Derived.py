"""Hint: Each of these is a sentence about ops that are there. Subtracting is adding something.
Dividing is multiplying by something. And when are two numbers equal, if all you can ask is which
is smaller?
Hint: `y` may be a plain number, and a number has no methods: x.const(y) makes it a node. For the
two exponentials: e to the x is 2 to some other power, and log2 differs from the natural logarithm
by a factor. Which one? `math` knows, to 16 digits.
Because: e**x = 2**(x log2(e)), and ln(x) = log2(x) ln(2). Two numbers are equal if neither is
smaller (NaN aside, which should equal nothing). None of this needs an op of its own, so none of
it will need a row in the table of gradients, a line of C, or a circuit on a chip.
"""

# %% wrong: with a number for y, Python turns y < x around, and asks __gt__ again
class Derived:
    def __neg__(x): return x * -1
    def __sub__(x, y): return x + y * -1
    def __rsub__(x, y): return x * -1 + y
    def __truediv__(x, y): return x * x.const(y).recip()
    def __rtruediv__(x, y): return x.recip() * y
    def __gt__(x, y): return y < x
    def eq(x, y): return 1 - (x < y) - (x > y)
    def relu(x): return x.maximum(0)
    def exp(x): return (x / math.log(2)).exp2()
    def log(x): return x.log2() * math.log(2)

# %% wrong: nearly equal is not equal
class Derived:
    def __neg__(x): return x * -1
    def __sub__(x, y): return x + y * -1
    def __rsub__(x, y): return x * -1 + y
    def __truediv__(x, y): return x * x.const(y).recip()
    def __rtruediv__(x, y): return x.recip() * y
    def __gt__(x, y): return x.const(y) < x
    def eq(x, y): return (x - y).maximum(y - x) < 1e-6
    def relu(x): return x * (x > 0)
    def exp(x): return (x / math.log(2)).exp2()
    def log(x): return x.log2() * math.log(2)

# %% wrong: says There is no `__sub__` in Derived
class Derived:
    def __neg__(x):
        return x * -1

# %% right: where, and the logarithms of math
class Derived:
    def __neg__(x): return x * -1
    def __sub__(x, y): return x + y * -1
    def __rsub__(x, y): return x * -1 + y
    def __truediv__(x, y): return x * (y.recip() if isinstance(y, UOp) else 1 / y)
    def __rtruediv__(x, y): return x.recip() * y
    def __gt__(x, y): return x.const(y) < x
    def eq(x, y): return (x < y).where(0.0, (x > y).where(0.0, 1.0))
    def relu(x): return (x > 0).where(x, 0.0)
    def exp(x): return (x * (1 / math.log(2))).exp2()
    def log(x): return x.log2() / math.log2(math.e)

# %% right
class Derived:
    __neg__ = lambda x: x * -1.0
    __sub__ = lambda x, y: x + y * -1
    __rsub__ = lambda x, y: (x + y * -1) * -1
    __truediv__ = lambda x, y: x * x.const(y).recip()
    __rtruediv__ = lambda x, y: x.const(y) * x.recip()
    __gt__ = lambda x, y: (x.const(y) < x)
    eq = lambda x, y: (x < y).where(0, (x.const(y) < x).where(0, 1))
    relu = lambda x: (x < 0).where(0, x)
    exp = lambda x: (x * (1 / math.log(2))).exp2()
    log = lambda x: x.log2() * (1 / math.log2(math.e))
