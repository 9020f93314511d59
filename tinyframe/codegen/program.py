"""ProgramSpec, a kernel as source text: its name, arguments, launch size and cost estimates."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from tinyframe.codegen.optimize.loops import Opt, axes
from tinyframe.codegen.optimize.plans import Plan
from tinyframe.dtype import PtrDType
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp, iterations, length, plain, sint

MOST_AXES = 3  # of a grid and of a block: CUDA, OpenCL and Metal have x, y and z


@dataclass(frozen=True, eq=False)
class ProgramSpec:
    """One kernel as source text.

    name: the displayed name, unique to each kernel. function: its name in the source, made of the
        sizes only, so that equal kernels of different sessions are equal text for the disk cache.
        loops: the RANGEs with these sizes, after the Opts.
    globals: the slots of the kernel's arguments. vars: its Variables, in argument order.
    global_size: blocks along each axis of the grid; on a CPU the iterations of its THREAD loop, 1
        if it has none. local_size: threads along each axis of a block. Symbolic if a loop is.
    ops_estimate: arithmetic operations. mem_estimate: bytes of the arguments it accesses, each
        counted once. Both with symbolic sizes at their largest.
    plan: the plan that chose the Opts; None if they were given.
    """

    name: str
    function: str
    src: str
    device: str
    ast: UOp
    uops: list[UOp] = field(repr=False)
    loops: list[UOp] = field(repr=False)
    globals: list[int]
    outs: list[int]
    ins: list[int]
    vars: list[UOp]
    global_size: tuple[sint, ...]
    local_size: tuple[sint, ...]
    opts: list[Opt]
    ops_estimate: int
    mem_estimate: int
    plan: Plan | None = None

    @property
    def threads(self) -> sint:
        """Iterations of its THREAD loop, which are divided among the cores."""
        return self.global_size[0]

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the kernel's loops before they were optimized."""
        return tuple(length(r) for r in axes(self.ast))


_names: Counter[str] = Counter()
_named: WeakKeyDictionary[UOp, dict[str, str]] = WeakKeyDictionary()  # kernel, function -> name


def function_name(sink: UOp, loops: list[UOp]) -> str:
    """`E_4` (elementwise) or `r_64_16` (with a reduce) and the loops' sizes."""
    prefix = "r" if any(u.op is Ops.REDUCE for u in sink.toposort()) else "E"
    return "_".join([prefix, *[str(length(r)) for r in loops]])


def kernel_name(sink: UOp, function: str) -> str:
    """The function's name; for a second kernel of the same sizes `E_4n1`, for a third `E_4n2`."""
    names = _named.setdefault(sink, {})
    if function not in names:
        count = _names[function]
        _names[function] += 1
        names[function] = f"{function}n{count}" if count else function
    return names[function]


_COLORS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36, "white": 37}


def colored_name(spec: ProgramSpec) -> str:
    """The name with each size in the colour of its AxisType."""
    sizes = [f"\x1b[{_COLORS[r.arg[1].color]}m{length(r)}\x1b[0m" for r in spec.loops]
    return "_".join([spec.function.split("_")[0], *sizes]) + spec.name.removeprefix(spec.function)


def estimate_ops(sink: UOp) -> int:
    """Arithmetic operations of a kernel, each in the loops it depends on; indices don't count."""
    total = 0
    data: set[UOp] = set()  # values computed from loaded values
    for u in sink.toposort():
        if u.op in (Ops.LOAD, Ops.REDUCE) or (
            u.op in GroupOp.Elementwise and any(s in data for s in u.src)
        ):
            data.add(u)
        if u.op in GroupOp.ALU and u in data:
            total += iterations(tuple(u.ranges)) * (2 if u.op is Ops.MULACC else 1)
        elif u.op is Ops.REDUCE:
            total += iterations((*u.ranges, *u.own_ranges))
    return total


def estimate_mem(sink: UOp) -> int:
    """Bytes of all arguments that a kernel reads or writes."""
    arguments = [u.dtype for u in sink.toposort() if u.op is Ops.DEFINE_GLOBAL]
    return sum(d.size * d.base.itemsize for d in arguments if isinstance(d, PtrDType))


# instructions without side effects: dead code if their result is unused
PURE = GroupOp.Elementwise | {Ops.MMA}


def rewrite_program(uops: list[UOp], rules: PatternMatcher) -> list[UOp]:
    """A flat program with each instruction rewritten once by a table, sources first. Instructions
    that a replacement needs are inserted before it; dead code is removed."""
    if not len(rules):
        return uops
    done: dict[UOp, UOp] = {}
    lines: dict[UOp, None] = {}
    for u in uops:
        src = tuple([done[s] for s in u.src])
        new = u if src == u.src else u.replace(src=src)
        done[u] = new if (found := rules.rewrite(new)) is None else found
        _add_line(lines, done[u])
    used = {s for u in lines for s in u.src}
    return [u for u in lines if u in used or u.op not in PURE]


def _add_line(lines: dict[UOp, None], u: UOp) -> None:
    if u not in lines:
        for s in u.src:
            _add_line(lines, s)
        lines[u] = None


def most_steps(uops: list[UOp]) -> int:
    """How many loop iterations a thread runs in all; with Variables, an upper bound."""
    steps, around = 0, [1]
    for u in uops:
        if u.op is Ops.RANGE:
            end = u.src[0]
            most = int(end.vmax)
            if end.op is Ops.WHERE and end.src[0].op is Ops.CMPLT and end.src[0].src == end.src[1:]:
                # in a blocked sum (`linearize.py`) the smaller of block size and what is left
                most = min(int(s.vmax) for s in end.src[1:])
            around.append(around[-1] * max(most, 0))
            steps += around[-1]
        elif u.op is Ops.ENDRANGE:
            around.pop()
    return steps


def launch_size(uops: list[UOp]) -> dict[str, tuple[sint, ...]]:
    """The global_size and local_size of a program's launch."""
    sizes: dict[str, sint] = {u.arg[0]: u.arg[1] for u in uops if u.op is Ops.SPECIAL}
    for u in uops:
        if u.op is Ops.RANGE and u.arg[1] is AxisType.THREAD:
            sizes["gidx0"] = plain(u.src[0])
    return {
        name: tuple([sizes.get(f"{letter}idx{n}", 1) for n in range(MOST_AXES)])
        for name, letter in (("global_size", "g"), ("local_size", "l"))
    }
