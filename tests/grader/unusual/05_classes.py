"""Objects that answer; tuples for lists; a PatternMatcher for a list of rows."""

import numpy as np

from tinyframe import Context, Device, dtypes
from tinyframe.codegen import get_program
from tinyframe.rewrite.matcher import PatternMatcher, UPat
from tinyframe.uop import Ops


def safe_rules():
    x, a, b = UPat.var("x"), UPat.cvar("a"), UPat.cvar("b")
    powers = {float(1 << n) for n in range(64)}
    return PatternMatcher([
        (UPat(Ops.MUL, src=[x, UPat.const(dtypes.float, 1.0)]), lambda x: x),
        (-x * -1.0, lambda x: x),
        (UPat(Ops.WHERE, src=(UPat(), x, x)), lambda x: x),
        (UPat(Ops.MAX, src=[x, x]), lambda x: x),
        (x * a * b, lambda x, a, b: x * (a.arg * b.arg) if {a.arg, b.arg} <= powers else None),
        (UPat(Ops.FDIV, src=(x, a)), lambda x, a: x * a.arg**-1 if a.arg in powers else None),
    ])  # fmt: skip


def searched(kernel, width):
    device = Device["CPU"]
    from tinyframe.search.beam import Bench, search

    bench = Bench(get_program(kernel, device.renderer), device)
    with Context(DEBUG=0):
        result = search(bench, width)
    return {
        "plan": tuple((o.op.name, o.axis, o.arg) for o in bench.planned),
        "found": [(o.op.name, o.axis, o.arg) for o in result.opts],
        "seconds": (result.planned, np.float64(result.seconds)),
        "tried": len(bench.times),
    }
