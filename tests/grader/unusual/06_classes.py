"""Callable objects for functions, a polynomial for erf, and an op as a class."""

import math
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from tinyframe import GlobalCounters, Tensor


class Layer:
    """x times its share."""

    def __call__(self, x):
        return x * self.share(x)

    def share(self, x):
        """A normal probability, by the complement where that is more exact."""
        return 0.5 - 0.5 * (x * -math.sqrt(0.5)).erf()


gelu = Layer()


class Norm:
    def __init__(self, weight, eps):
        self.weight, self.eps = weight, eps

    def __call__(self, x):
        size = ((x * x).sum(axis=x.ndim - 1, keepdim=True) / x.shape[-1] + self.eps) ** 0.5
        return (x / size) * self.weight.reshape(*[1] * (x.ndim - 1), -1)


def rms_norm(x, weight, eps):
    return Norm(weight, eps)(x)


class Swish(Layer):
    def share(self, x):
        return x.sigmoid()


def swiglu(x, gate):
    return Swish()(gate) * x


class Step:
    def __init__(self, name, *more):
        self.name, self.more = name, more

    def __call__(self, x, t):
        return getattr(t, self.name)(*(x if m is None else m for m in self.more))


def gelu_steps():
    return [Step("mul", 0.7071067811865476), Step("erf"), Step("add", 1.0), Step("mul", 0.5),
            Step("mul", None)]  # fmt: skip


@dataclass
class Way:
    kernels: int = 0
    bytes: int = 0
    seconds: float = field(default=0.0)

    def measure(self, run, repeats):
        run()
        start = GlobalCounters.kernel_count, GlobalCounters.global_mem
        run()
        self.kernels = GlobalCounters.kernel_count - start[0]
        self.bytes = GlobalCounters.global_mem - start[1]
        times = []
        for _ in range(repeats):
            begin = perf_counter()
            run()
            times.append(perf_counter() - begin)
        self.seconds = sum(times) / len(times)
        return vars(self)


def compare(steps, x, repeats):
    def run(each):
        t = x
        for step in steps:
            t = each(step(x, t))
        return t.realize()

    return {"together": Way().measure(lambda: run(lambda t: t), repeats),
            "apart": Way().measure(lambda: run(Tensor.realize), repeats)}  # fmt: skip


class Erf(dict):
    def __init__(self):
        super().__init__(compute=self.compute, gradient=self.gradient, C="erff({})")

    @staticmethod
    def compute(x):
        found = np.empty(x.shape, np.float32)
        for place, value in np.ndenumerate(x):
            found[place] = math.erf(value)
        return found

    def gradient(self, grad, node, x):
        return (grad * ((x * x * -1).exp() * (4 / math.pi) ** 0.5),)


erf_op = Erf
