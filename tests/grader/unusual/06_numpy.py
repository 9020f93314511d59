"""Written out in loops; differences in 32 bits; NumPy's scalars."""

import math

import numpy as np

from tinyframe import Tensor


def gelu(x):
    half = (x * math.sqrt(0.5)).erf() * 0.5 + 0.5
    return half * x


def rms_norm(x, weight, eps):
    squares = x.square().sum(-1).unsqueeze(-1)
    return weight * (x * (squares / x.shape[-1] + eps).rsqrt())


def swiglu(x, gate):
    return gate.silu() * x


def compare_gradients(f, x):
    """In 32 bits, with a step that is a power of two."""
    at = Tensor(x)
    graph = f(at).sum().gradient(at)[0]
    step, measured = np.float32(2.0**-6), np.zeros_like(x)
    for n in range(x.size):
        one, other = x.copy(), x.copy()
        one.flat[n] += step
        other.flat[n] -= step
        ends = [f(Tensor(each)).numpy().astype(np.float64).sum() for each in (one, other)]
        measured.flat[n] = (ends[0] - ends[1]) / (2.0**-5)
    return {"graph": graph, "measured": Tensor(measured),
            "apart": np.abs(graph.numpy() - measured).max().astype(np.float64)}  # fmt: skip


def erf_op():
    def compute(x):
        return np.array([math.erf(v) for v in x.flat], np.float32).reshape(x.shape)

    def gradient(grad, node, x):
        bell = (x * x * -math.log2(math.e)).exp2()
        return [bell * (2 * math.pi**-0.5) * grad]

    return {"C": "((float)erf({}))", "gradient": gradient, "compute": compute, "name": "erf"}
