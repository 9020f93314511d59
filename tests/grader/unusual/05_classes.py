"""Objects that answer; tuples for lists; a PatternMatcher for a list of rows."""

from collections import OrderedDict, namedtuple
from dataclasses import asdict, dataclass

import numpy as np

from tinyframe import Context, Device, dtypes
from tinyframe.codegen import get_program
from tinyframe.observe import Observer, observing
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite.matcher import PatternMatcher, UPat
from tinyframe.uop import Ops
from tinyframe.uop.node import AxisType, GroupOp
from tinyframe.viz import why


@dataclass
class Kernel:
    reduces: int
    memory: int
    kernels: tuple


class Plan:
    def __init__(self, tensor):
        self.items = tensor.schedule()
        self.kernels = [asdict(self.kernel(n)) for n in range(len(self.items))]

    def kernel(self, n):
        reads, earlier, memory = self.items[n].bufs[1:], set(), set()
        for buffer in reads:
            writers = [k for k in range(n) if self.items[k].bufs[0] is buffer]
            if writers:
                earlier.add(writers[-1])
            else:
                memory.add(id(buffer))
        nodes = self.items[n].ast.toposort()
        found = [u for u in nodes if u.op.name == "REDUCE"]
        return Kernel(len(found), np.int64(len(memory)), tuple(sorted(earlier)))


def schedule_of(tensor):
    return tuple(Plan(tensor).kernels)


def boundaries(tensor):
    found = []
    for stored in why(tensor)[::-1]:
        match stored.reason.split():
            case ["output"]:
                continue
            case ["contiguous"]:
                found.append("asked")
            case [*words] if "tile" in words:
                found.append("tile")
            case [*words] if "kernels" in words:
                found.append("shared")
            case [*words] if "parallel" in words:
                found.append("narrow")
            case _:
                found.append("repeated")
    return tuple(found)


class Executed(Observer):
    """Counts lines by running up and down the loops."""

    def __init__(self, lines):
        self.total, sizes = 0, [1]
        for u in lines:
            match u.op:
                case Ops.RANGE:
                    sizes.append(sizes[-1] * u.src[0].arg)
                case Ops.ENDRANGE:
                    sizes.pop()
                case op if op in GroupOp.ALU and u.dtype.scalar() is dtypes.float:
                    self.total += sizes[-1]


def price(build):
    Price = namedtuple("Price", "scheduled fused")
    kernels = [build().schedule(), build().fuse().schedule()]
    with Context(NOOPT=1):
        costs = (
            sum(Executed(get_program(k.ast, CStyleLanguage()).uops).total for k in items)
            for items in kernels
        )
        return OrderedDict(Price(*costs)._asdict())


class Stages(Observer):
    def __init__(self, build):
        self.nodes = {}
        with observing(self):
            get_program(build().schedule()[-1].ast, CStyleLanguage())

    def wants(self, work):
        return True

    def stage(self, name, before, after, passes):
        self.nodes[name] = [*(after if type(after) is list else after.toposort())]


def life_of(build, op):
    there = [n for n, nodes in Stages(build).nodes.items() if op in {u.op.name for u in nodes}]
    return there[:1] + there[-1:]


def looks(build, noopt):
    with Context(NOOPT=noopt):
        nodes = Stages(build).nodes
    sizes = {name: len(each) for name, each in nodes.items()}
    last = nodes.pop("linearize")
    floats = [u for u in last if u.op in GroupOp.ALU and u.dtype.scalar() in dtypes.floats]
    found = {"initial": "tensor graph", "folded": "simplify", "loops": "optimize"}
    counts = {look: sizes[name] for look, name in found.items()}
    return counts | {"linear": len(last), "arithmetic": len(floats)}


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


def tile_of(kernel, rows):
    graph = optimized(kernel, rows)  # noqa: F821
    spread = {AxisType.UPCAST, AxisType.VECTOR}
    found = {"rows": 1, "columns": 1, "steps": 1}
    _, _, row, column, *_ = graph.src[0].src[0].src
    of_rows, of_columns = set(row.toposort()), set(column.toposort())
    for u in graph.toposort():
        if u.op is not Ops.RANGE:
            continue
        if u.arg[1] is AxisType.UNROLL:
            found["steps"] *= u.src[0].arg
        elif u.arg[1] in spread:
            for name, nodes in (("rows", of_rows), ("columns", of_columns)):
                found[name] *= u.src[0].arg if u in nodes else 1
    return found


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
