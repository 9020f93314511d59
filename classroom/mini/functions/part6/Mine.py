"""Hint: Start with one that is a formula of what's there: tanh from exp, a sigmoid, abs from
maximum. Does it survive an x of 100? Of -100?
Hint: tanh(x) is 2 sigmoid(2x) - 1. An index is a shrink to one element, then a reshape; a slice
is a shrink. A power of a whole number is multiplication, and should work for negative numbers,
for which there is no logarithm. With add_op, an op gets rows of its own.
Because: These three are examples, and yours may be others. Whatever is made of ops gets its
gradient for free.
"""

import numpy as np

from classroom.mini.check import Wrong, describe, difference, is_close, promise, shown
from classroom.mini.functions.part6.shared import IMAGE, TRAINING, Function, slopes

ENOUGH = 3
ROW = np.array([-2.0, -0.3, 0.4, 1.5], np.float32)
TABLE = np.array([[0.3, -1.7, 2.1], [0.9, -0.5, -0.4]], np.float32)
FAR = np.array([-100.0, 0.0, 100.0], np.float32)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0, -x.astype(np.float64)))


def softmax(x: np.ndarray) -> np.ndarray:
    exponentials = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def pooled(x: np.ndarray, n: int) -> np.ndarray:
    *front, rows, columns = x.shape
    return x.reshape(*front, rows // n, n, columns // n, n).max((-3, -1))


Case = tuple[str, Function, Function, np.ndarray]  # as it is written, in mini, by NumPy, of what


# name: its cases. Gradients are compared with slopes in all of them, so no case has a kink in it,
# unless that is flat on both sides.
CHOICES: dict[str, tuple[Case, ...]] = {
    "__pow__": (
        ("x ** 2", lambda x: x**2, lambda x: x**2, ROW),
        ("x ** 3", lambda x: x**3, lambda x: x**3, ROW),
        ("x ** 2", lambda x: x**2, lambda x: x**2, np.array([0.0, -1.5], np.float32)),
        ("x ** 1", lambda x: x**1, lambda x: x * 1, ROW),
        ("x ** -2", lambda x: x**-2, lambda x: 1 / (x * x), ROW),
        ("x ** 0.5", lambda x: x**0.5, np.sqrt, np.abs(ROW)),
        ("x ** -1.5", lambda x: x**-1.5, lambda x: x**-1.5, np.abs(ROW)),
        ("x ** 0", lambda x: x**0, np.ones_like, ROW),
    ),
    "__getitem__": (
        ("x[1]", lambda x: x[1], lambda x: x[1], TABLE),
        ("x[-1]", lambda x: x[-1], lambda x: x[-1], ROW),
        ("x[1:3]", lambda x: x[1:3], lambda x: x[1:3], ROW),
        ("x[:-1]", lambda x: x[:-1], lambda x: x[:-1], ROW),
        ("x[:, 2]", lambda x: x[:, 2], lambda x: x[:, 2], TABLE),
        ("x[0, 1:3]", lambda x: x[0, 1:3], lambda x: x[0, 1:3], TABLE),
        ("x[1, -2]", lambda x: x[1, -2], lambda x: x[1, -2], TABLE),
    ),
    "__abs__": (("abs(x)", abs, np.abs, ROW), ("abs(x)", abs, np.abs, TABLE)),
    "minimum": (
        ("x.minimum(x * 0 + 0.5)", lambda x: x.minimum(x * 0 + 0.5),
         lambda x: np.minimum(x, 0.5), TABLE),
        ("x.minimum(1)", lambda x: x.minimum(1), lambda x: np.minimum(x, 1), ROW),
    ),
    "clip": (
        ("x.clip(-1, 1)", lambda x: x.clip(-1, 1), lambda x: np.clip(x, -1, 1), TABLE),
        ("x.clip(0.35, 2)", lambda x: x.clip(0.35, 2), lambda x: np.clip(x, 0.35, 2), ROW),
    ),
    "sin": (("x.sin()", lambda x: x.sin(), np.sin, ROW),
            ("x.sin()", lambda x: x.sin(), np.sin, TABLE * 4)),
    "sigmoid": (("x.sigmoid()", lambda x: x.sigmoid(), sigmoid, ROW),
                ("x.sigmoid()", lambda x: x.sigmoid(), sigmoid, FAR)),
    "tanh": (("x.tanh()", lambda x: x.tanh(), np.tanh, ROW),
             ("x.tanh()", lambda x: x.tanh(), np.tanh, FAR)),
    "silu": (("x.silu()", lambda x: x.silu(), lambda x: x * sigmoid(x), ROW),
             ("x.silu()", lambda x: x.silu(), lambda x: x * sigmoid(x), FAR)),
    "softplus": (
        ("x.softplus()", lambda x: x.softplus(), lambda x: np.logaddexp(0, x), ROW),
        ("x.softplus()", lambda x: x.softplus(), lambda x: np.logaddexp(0, x), FAR),
    ),
    "softmax": (
        ("x.softmax()", lambda x: x.softmax(), softmax, TABLE),
        ("x.softmax()", lambda x: x.softmax(), softmax, np.array([[1000, 1001, 999]], np.float32)),
    ),
    "cumsum": (("x.cumsum()", lambda x: x.cumsum(), lambda x: np.cumsum(x, -1), TABLE),
               ("x.cumsum()", lambda x: x.cumsum(), lambda x: np.cumsum(x, -1), ROW)),
    "var": (("x.var()", lambda x: x.var(), np.var, TABLE),
            ("x.var()", lambda x: x.var(), np.var, ROW + 100)),
    "cat": (
        ("x.cat(x * 2)", lambda x: x.cat(x * 2), lambda x: np.concatenate([x, x * 2]), TABLE),
        ("x.cat(x[:1])", lambda x: x.cat(x.shrink((0, 1))), lambda x: np.concatenate([x, x[:1]]),
         ROW),
    ),
    "max_pool": (
        ("x.max_pool(2)", lambda x: x.max_pool(2), lambda x: pooled(x, 2), IMAGE),
        ("x.max_pool(2)", lambda x: x.max_pool(2), lambda x: pooled(x, 2), IMAGE[0, :2]),
    ),
}  # fmt: skip


def chosen_by(mini) -> list[str]:
    return [name for name in CHOICES if name in vars(mini.Mine)]


def is_right(mini, name: str, case: Case) -> None:
    written, f, by_numpy, x = case
    said = f"{written} with x = {describe(np.round(x.astype(float), 4).tolist())}"
    with np.errstate(all="ignore"):
        got = f(mini.Tensor(x).uop)
        if not isinstance(got, mini.UOp):
            raise Wrong(f"`{name}` should give a node. Is there a `return`?", said)
        values, wanted = mini.Tensor(got).numpy(), np.asarray(by_numpy(x))
    if not np.isfinite(values).all() and values.shape == wanted.shape:
        place = np.argwhere(~np.isfinite(values))[0]
        raise Wrong(f"`{name}`: one element is {values[tuple(place)]}. It is the wrong way round "
                    "where numbers get large or negative.", said, shown(wanted),
                    describe(values.tolist()))  # fmt: skip
    if not is_close(values, wanted, 3e-5):
        raise Wrong(f"`{name}`: {difference(values, wanted)}", said, shown(wanted), shown(values))


def has_slopes(mini, name: str, case: Case) -> None:
    written, f, by_numpy, x = case
    weights = np.cos(1.0 + np.arange(np.size(by_numpy(x)))).reshape(np.shape(by_numpy(x)))
    t = mini.Tensor(x)
    with np.errstate(all="ignore"):
        (gradient,) = (f(t) * mini.Tensor(weights)).sum().gradient(t)
        got = np.broadcast_to(gradient.numpy(), x.shape)
    wanted = slopes(lambda v: (by_numpy(v) * weights).sum(), x.astype(np.float64), 1e-5)
    if np.allclose(got, wanted, rtol=5e-3, atol=5e-4):
        return
    said = (
        f"(x{written[1:]} * c).sum().gradient(x)" if written[0] == "x" else f"gradient of {written}"
    )
    at = describe(np.round(x.astype(float), 4).tolist())
    text = f"The values of `{name}` are right, and its gradient isn't. "
    if not np.isfinite(got).all():
        text += "It isn't even a number: somewhere on the way back, infinity is multiplied by 0."
    elif not got.any():
        text += "It is 0 everywhere. Was something computed on the way, or detached?"
    else:
        text += difference(got, wanted)
    raise Wrong(text, f"{said} with x = {at}", shown(wanted), shown(got))


@promise(f"At least {ENOUGH} methods of the list, with NumPy's values", needs=TRAINING)
def values_of_mine(mini) -> None:
    names = chosen_by(mini)
    for name in names:
        for case in CHOICES[name]:
            is_right(mini, name, case)
    if len(names) < ENOUGH:
        there = f"`{'` and `'.join(names)}`" if names else "none"
        raise Wrong(f"There should be at least {ENOUGH} of the list in Mine, and there "
                    f"{'is' if len(names) < 2 else 'are'} {there}"
                    f"{', right as it is' if len(names) == 1 else ''}.", "class Mine")  # fmt: skip


@promise("Their gradients are the slopes that finite differences find", needs=TRAINING)
def gradients_of_mine(mini) -> None:
    for name in chosen_by(mini):
        for case in CHOICES[name]:
            has_slopes(mini, name, case)

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
