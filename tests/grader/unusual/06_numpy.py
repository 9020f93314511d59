"""Written out in loops; differences in 32 bits; NumPy's scalars."""

import math
from time import perf_counter_ns

import numpy as np

from tinyframe import GlobalCounters, Tensor


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


def compare(steps, x, repeats):
    def measured(realize):
        def run():
            t = x
            for step in steps:
                t = step(x, t)
                t = t.realize() if realize else t
            return t.realize()

        run()
        before = GlobalCounters.kernel_count, GlobalCounters.global_mem
        run()
        kernels = GlobalCounters.kernel_count - before[0]
        moved = GlobalCounters.global_mem - before[1]
        begin = perf_counter_ns()
        for _ in range(repeats):
            run()
        return {"kernels": kernels, "bytes": np.int64(moved),
                "seconds": np.float64(perf_counter_ns() - begin) / 1e9 / repeats}  # fmt: skip

    return {"apart": measured(True), "together": measured(False)}


def erf_op():
    def compute(x):
        return np.array([math.erf(v) for v in x.flat], np.float32).reshape(x.shape)

    def gradient(grad, node, x):
        bell = (x * x * -math.log2(math.e)).exp2()
        return [bell * (2 * math.pi**-0.5) * grad]

    return {"C": "((float)erf({}))", "gradient": gradient, "compute": compute, "name": "erf"}


def faults(op, reference):
    trials = np.array([[0, 0.5, -0.5, 3], [-3, 100, -100, 8], [-8, 20, -20, 1]], np.float64)
    arrays = [trials, trials[:, :3] * 1e-3, trials[:2] * 1e-4, trials.T / 7, trials * 0]
    wrong = {"values": False, "gradient": False, "input": False}
    for x in arrays:
        grad = np.sin(np.arange(x.size) * 2.0).reshape(x.shape) + 0.1
        mine, mine_grad = x.copy(), grad.copy()
        right, measured = reference(x.copy()), np.zeros_like(x)
        for place in np.ndindex(x.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = x.copy()
                moved[place] += step
                ends.append((grad * (reference(moved) - right)).sum())
            measured[place] = (ends[0] - ends[1]) / 2e-6
        with np.errstate(all="ignore"):
            got = np.array(op["compute"](mine))
            wrong["input"] |= not (mine == x).all()
            mine[...] = x
            slope = np.array(op["gradient"](mine_grad, mine))
            wrong["input"] |= not ((mine == x).all() and (mine_grad == grad).all())
        for word, one, other in (("values", got, right), ("gradient", slope, measured)):
            wrong[word] |= one.shape != other.shape or not np.allclose(one, other, 1e-3, 1e-6)
    return tuple(word for word, is_wrong in wrong.items() if is_wrong)
