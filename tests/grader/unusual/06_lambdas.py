"""Lambdas, other formulas of the same functions, and steps in a different order."""

import math
from collections import Counter

import numpy as np

from tinyframe import Tensor, dtypes
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop import Ops
from tinyframe.uop.node import GroupOp

gelu = lambda x: x.mul(0.5).mul(x.div(2**0.5).erf().add(1))  # noqa: E731
rms_norm = lambda x, weight, eps: x.div(  # noqa: E731
    x.pow(2).mean(-1, keepdim=True).add(eps).sqrt()
).mul(weight)


def swiglu(x, gate):
    """By tanh, which neither overflows nor divides."""
    return x * gate * ((gate * 0.5).tanh() * 0.5 + 0.5)


def compare_gradients(f, x):
    """backward() for one, and a stack of nudged arrays for the other."""
    t = Tensor(x, requires_grad=True)
    f(t).sum().backward()
    total = lambda values: f(Tensor(values)).numpy().sum(dtype=np.float64)  # noqa: E731
    eye = np.eye(x.size).reshape(x.size, *x.shape) * 1e-4
    wide = x.astype(np.float64)
    measured = [(total(wide + e) - total(wide - e)) / 2e-4 for e in eye]
    measured = np.array(measured).reshape(x.shape)
    apart = np.ptp([0, *abs(t.grad.numpy() - measured).flat])
    return {"measured": measured, "graph": t.grad, "apart": float(apart)}


def bill(tensor):
    def row(item):
        names = [
            u.op.name
            for u in item.ast.toposort()
            if u.op in GroupOp.ALU and u.dtype in dtypes.floats
        ]
        program = get_program(item.ast, CStyleLanguage(), [])
        return {"operations": Counter(names), "bytes": program.mem_estimate, "opts": program.name,
                "reduces": [u.op for u in item.ast.toposort()].count(Ops.REDUCE)}  # fmt: skip

    return (*map(row, tensor.schedule()),)


def gelu_steps():
    return (
        lambda x, t: t * -math.sqrt(0.5),
        lambda x, t: t.erf(),
        lambda x, t: 1 - t,
        lambda x, t: t * x,
        lambda x, t: t / 2,
    )


def erf_op():
    """A division where a product would do, and a number in the braces."""
    return {
        "compute": np.vectorize(lambda v: math.erf(float(v)), otypes=["f4"]),
        "gradient": lambda grad, node, x: (grad * 1.1283791670955126 / (x * x).exp(),),
        "C": "erff({0})",
    }


def faults(op, reference):
    complaints = []
    rng = np.random.default_rng(7)
    for x in (rng.normal(size=(3, 4)) * scale for scale in (1, 5, 40, 1e-4, 1e-3, 0)):
        x[0, :2] = (0, x[0, 1]) if x.any() else 0
        if abs(x).max() > 30:
            x[1, :2] = 100, -100
        grad = rng.uniform(-2, 2, x.shape)
        with np.errstate(all="ignore"):
            kept = [x.copy(), grad.copy()]
            value, slope = op["compute"](kept[0]), None
            if (kept[0] != x).any():
                complaints.append("input")
            kept = [x.copy(), grad.copy()]
            slope = op["gradient"](kept[1], kept[0])
            if (kept[0] != x).any() or (kept[1] != grad).any():
                complaints.append("input")
            right = np.empty_like(x)
            for place in np.ndindex(*x.shape):
                e = np.zeros_like(x)
                e[place] = 1e-6
                right[place] = (grad * (reference(x + e) - reference(x - e))).sum() / 2e-6
            pairs = (value, reference(x)), (slope, right)
            good = [np.allclose(got, wanted, 1e-3, 1e-6) for got, wanted in pairs]
        complaints += [w for w, ok in zip(("values", "gradient"), good, strict=True) if not ok]
    return list(set(complaints))
