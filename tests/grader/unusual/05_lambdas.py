"""Lambdas and comprehensions; more words than asked for in a dict; a tile from the accumulators."""

import math

import numpy as np

from tinyframe import Context, Device
from tinyframe.codegen import get_program
from tinyframe.rewrite.matcher import UPat
from tinyframe.search.beam import search_result
from tinyframe.uop import Ops
from tinyframe.uop.node import AxisType
from tinyframe.viz import why

boundaries = lambda tensor: [  # noqa: E731
    {"c": "asked", "n": "repeated"}.get(reason[0]) or next(
        word for word, part in {"shared": "kernels", "narrow": "parallel", "tile": "tile",
                                "repeated": "needed"}.items() if part in reason
    )
    for reason in [row.reason for row in why(tensor)][:0:-1]
]  # fmt: skip

life_of = lambda build, op: (  # noqa: E731
    lambda names: [names[0], names[-1]] if names else ()
)([name for name, nodes in stages_of(build) if op in [u.op.name for u in nodes]])  # noqa: F821


def lie(before, after):
    bits = np.arange(0, 1 << 32, 1 << 22, dtype=np.uint64).astype(np.uint32)
    sample = np.concatenate([bits, bits + 1, bits - 1]).view(np.float32)
    with np.errstate(all="ignore"):
        for y in np.float32([0, 1, -2, np.nan, np.inf, 0.7, 1e-45]):
            found = [f(sample, np.full_like(sample, y)) for f in (before, after)]
            apart = ~np.isclose(*found, rtol=0, atol=0, equal_nan=True)
            if apart.any():
                return np.float32([sample[apart][0], y]).tolist()
    return []


def safe_rules():
    x, c, a, b = (UPat.var(name) for name in "xcab")
    exact = lambda *us: all(  # noqa: E731
        u.op is Ops.CONST and u.arg > 0 and math.log2(u.arg) in range(40) for u in us
    )
    return [
        (1.0 * x, lambda **found: found["x"]),
        (-1.0 * (-1.0 * x), lambda x: x),
        (c.where(x, x), lambda c, x: x),
        (UPat(Ops.MAX, src=(x, x)), lambda x: x),
        ((x * a) * b, lambda x, a, b: x * (a.arg * b.arg) if exact(a, b) else None),
        (UPat(Ops.FDIV, src=(x, a)), lambda x, a: x * (1.0 / a.arg) if exact(a) else None),
    ]


def tile_of(kernel, rows):
    """From what each load depends on: the first matrix on rows, and the second one on columns."""
    graph = optimized(kernel, rows)  # noqa: F821
    loads = {u.src[0].src[0].arg: u for u in graph.toposort() if u.op is Ops.LOAD}
    copies = lambda u, *kinds: math.prod(  # noqa: E731
        r.src[0].arg for r in u.toposort() if r.op is Ops.RANGE and r.arg[1] in kinds
    )
    wide = AxisType.UPCAST, AxisType.VECTOR
    return {"rows": copies(loads[1], *wide), "columns": copies(loads[2], *wide),
            "steps": copies(loads[1], AxisType.UNROLL)}  # fmt: skip


def searched(kernel, width):
    with Context(CACHE=0):
        found = search_result(kernel, Device[Device.DEFAULT], width)
    as_row = lambda opt: [opt.op.name, opt.axis, opt.arg]  # noqa: E731
    plan = [*map(as_row, get_program(kernel, Device["CPU"].renderer).opts)]
    return {**vars(found), "plan": plan, "found": [*map(as_row, found.opts)],
            "seconds": [found.planned, found.seconds], "opts": None}  # fmt: skip
