"""Hint: Start with one that is a formula of what's there: tanh from exp, a sigmoid, abs from
maximum. Does it survive an x of 100? Of -100?
Hint: tanh(x) is 2 sigmoid(2x) - 1. An index is a shrink to one element, then a reshape; a slice
is a shrink. A power of a whole number is multiplication, and should work for negative numbers,
for which there is no logarithm. With add_op, an op gets rows of its own.
Because: These three are examples, and yours may be others. Whatever is made of ops gets its
gradient for free.
"""

# %% wrong: the power of 0: log2(0) is minus infinity, and the gradient of 0 ** 2 is nan
class Mine:
    def __pow__(x, n):
        size = (x.maximum(-x).log2() * n).exp2()
        return (x < 0).where(-size, size) if n % 2 == 1 else size

    def __abs__(x):
        return x.maximum(-x)

    def sigmoid(x):
        return ((-x).maximum(-80.0).minimum(80.0).exp() + 1).recip()

    def minimum(x, y):
        return -((-x).maximum(-y if not isinstance(y, (int, float)) else x.const(-y)))

# %% wrong: says `tanh`: Element (0,)
class Mine:
    def tanh(x):
        return (x.maximum(-9) * 2).exp() * 0

# %% wrong: says and there is none
class Mine:
    def relu2(x):
        return x.relu() * x

# %% wrong: says The values of `sin` are right, and its gradient isn't. Element (0,) should be
class Mine:
    def sin(x):
        return x.alu("SIN")

    add_op("SIN", np.sin, lambda grad, node, x: (grad * node,))

    def sigmoid(x):
        return 1 / ((-x.maximum(-40)).exp() + 1)

    def silu(x):
        return x * x.sigmoid()

# %% right
class Mine:
    def __abs__(x):
        return x.maximum(-x)

    def minimum(x, y):
        return -(-x).maximum(-x.const(y))

    def clip(x, low, high):
        return x.maximum(low).minimum(high)

    def sigmoid(x):
        return 1 / ((-x.maximum(-40)).exp() + 1)

    def tanh(x):
        return (x * 2).sigmoid() * 2 - 1

    def silu(x):
        return x * x.sigmoid()

    def softplus(x):
        return x.relu() + ((-abs(x)).exp() + 1).log()

    def softmax(x):
        return x.log_softmax().exp()

    def sin(x):
        return x.alu("SIN")

    def cos(x):
        return x.alu("COS")

    add_op("SIN", np.sin, lambda grad, node, x: (grad * x.cos(),))
    add_op("COS", np.cos, lambda grad, node, x: (-grad * x.sin(),))

    def cumsum(x):
        n = x.shape[-1]
        ones = Tensor(np.triu(np.ones((n, n)))).uop
        return (x.reshape(-1, n) @ ones).reshape(*x.shape)

    def var(x):
        off = x - x.mean()
        return (off * off).mean()

    def cat(x, y):
        rest = [(0, 0)] * (len(x.shape) - 1)
        return x.pad((0, y.shape[0]), *rest) + y.pad((x.shape[0], 0), *rest)

    def max_pool(x, n):
        *front, rows, columns = x.shape
        return x.reshape(*front, rows // n, n, columns // n, n).max(-3, -1)

    def __pow__(x, n):
        if n == 0:
            return x * 0 + 1
        if n == int(n) and n > 0:
            half = x ** (n // 2) if n > 1 else None
            return (half * half if half else 1) * (x if n % 2 else 1) if n > 1 else x
        return (x ** -n).recip() if n < 0 else (x.log() * n).exp()

    def __getitem__(x, key):
        for axis, k in reversed(list(enumerate(key if isinstance(key, tuple) else [key]))):
            span = range(x.shape[axis])[k]
            is_one = isinstance(span, int)
            bound = (span, span + 1) if is_one else (span.start, span.stop)
            bounds = [(0, n) for n in x.shape]
            bounds[axis] = bound
            x = x.shrink(*bounds)
            if is_one:
                x = x.reshape(*x.shape[:axis], *x.shape[axis + 1 :])
        return x

# %% right
class Mine:
    sigmoid = lambda x: ((x.maximum(-60) * -1).exp() + 1).recip()
    minimum = lambda x, y: (x < y).where(x, y)
    var = lambda x: ((x - x.mean()) * (x - x.mean())).sum() / math.prod(x.shape)
