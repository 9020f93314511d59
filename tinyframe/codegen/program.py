"""ProgramSpec, a kernel as a program: its name, source, arguments, launch size and estimates; and
what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

from tinyframe.codegen.optimize.loops import Opt, axes
from tinyframe.codegen.optimize.plans import Plan
from tinyframe.device import load
from tinyframe.dtype import PtrDType, to_np_dtype
from tinyframe.errors import DTypeError
from tinyframe.renderer import Renderer
from tinyframe.renderer.program_text import row_of, variables
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp, extent, iterations, plain, sint

MOST_AXES = 3  # of a grid and of a block: CUDA, OpenCL and Metal have x, y and z


@dataclass(frozen=True, eq=False)
class ProgramSpec:
    """One kernel as a program of one language.

    ast: as it was scheduled. uops: its instructions. loops: the RANGEs left by the Opts; their
    sizes name it. plan: the plan that chose the Opts; None if they were given.
    """

    ast: UOp
    uops: list[UOp] = field(repr=False)
    renderer: Renderer = field(repr=False)
    loops: list[UOp]
    opts: list[Opt]
    plan: Plan | None = None

    @cached_property
    def function(self) -> str:
        """Its name in the source, made of sizes only, so that equal kernels of different sessions
        are equal text for the disk cache."""
        return function_name(self.ast, self.loops)

    @cached_property
    def name(self) -> str:
        """The displayed name, unique to each kernel: the function's; for a second kernel of the
        same sizes `E_4n1`, for a third `E_4n2`."""
        names = _named.setdefault(self.ast, {})
        if self.function not in names:
            count = _names[self.function]
            _names[self.function] += 1
            names[self.function] = f"{self.function}n{count}" if count else self.function
        return names[self.function]

    @cached_property
    def src(self) -> str:
        return self.renderer.render(self.function, self.uops)

    @property
    def device(self) -> str:
        return self.renderer.device

    # ---- arguments

    @cached_property
    def globals(self) -> list[int]:
        """The slots of those kernel arguments that the program still uses."""
        return sorted(u.arg for u in self.uops if u.op is Ops.DEFINE_GLOBAL)

    @cached_property
    def outs(self) -> list[int]:
        return sorted({s.src[0].src[0].arg for s in self.ast.src})

    @cached_property
    def ins(self) -> list[int]:
        slots = {u.arg for u in self.ast.toposort() if u.op is Ops.DEFINE_GLOBAL}
        return sorted(slots.difference(self.outs))

    @cached_property
    def vars(self) -> list[UOp]:
        """Its Variables, in argument order."""
        return variables(self.uops)

    # ---- a launch

    @cached_property
    def global_size(self) -> tuple[sint, ...]:
        """Blocks along each axis of the grid; on a CPU the iterations of its THREAD loop, 1 if it
        has none. Symbolic if a loop is."""
        threads = [u for u in self.uops if u.op is Ops.RANGE and u.arg[1] is AxisType.THREAD]
        return (plain(threads[0].src[0]), 1, 1) if threads else self._sizes("g")

    @cached_property
    def local_size(self) -> tuple[sint, ...]:
        """Threads along each axis of a block."""
        return self._sizes("l")

    def _sizes(self, letter: str) -> tuple[sint, ...]:
        sizes = {u.arg[0]: u.arg[1] for u in self.uops if u.op is Ops.SPECIAL}
        return tuple([sizes.get(f"{letter}idx{n}", 1) for n in range(MOST_AXES)])

    # ---- what it does

    @cached_property
    def ops_estimate(self) -> int:
        """Arithmetic operations; with symbolic sizes at their largest."""
        return estimate_ops(self.ast)

    @cached_property
    def mem_estimate(self) -> int:
        """Bytes of the arguments it accesses, each counted once; sizes at their largest."""
        return estimate_mem(self.ast)


_names: Counter[str] = Counter()
_named: WeakKeyDictionary[UOp, dict[str, str]] = WeakKeyDictionary()  # kernel, function -> name


def function_name(sink: UOp, loops: list[UOp]) -> str:
    """`E_4` (elementwise) or `r_64_16` (with a reduce) and the loops' sizes."""
    prefix = "r" if any(u.op is Ops.REDUCE for u in sink.toposort()) else "E"
    return "_".join([prefix, *[str(extent(r)) for r in loops]])


def named_loops(optimized: UOp) -> list[UOp]:
    """The RANGEs whose sizes form a kernel's name: loops in order, then copies, then lanes."""
    nodes = optimized.toposort()
    copied = {r for u in nodes if u.op is Ops.STAGE for r in u.own_ranges}
    expanded = [
        r
        for kind in (AxisType.UPCAST, AxisType.VECTOR, AxisType.UNROLL)
        for r in nodes
        if r.op is Ops.RANGE and r.arg[1] is kind and r not in copied
    ]
    return [*axes(optimized), *expanded]


# ---- what a language or a device refuses ---------------------------------------------------------


class Refusal(NamedTuple):
    """Why a program cannot be written. lacking: what it has too much of, or what the language does
    not have; empty if all is well. words: the message, about `lacking` and the program `p`."""

    error: type[Exception]
    lacking: Callable[[ProgramSpec], str | int | None]
    words: str


def _ops_lacking(p: ProgramSpec) -> str:
    written = GroupOp.ALU - {Ops.CAST, Ops.BITCAST}
    lacking = {u for u in p.uops if u.op in written and row_of(p.renderer, u) is None}
    return " and ".join(sorted({f"{u.op.name} of {u.dtype.scalar()}" for u in lacking}))


def _dtypes_lacking(p: ProgramSpec) -> str:
    lacking = p.renderer.unsupported & {u.dtype.base.scalar() for u in p.uops}
    return " or ".join(sorted(str(to_np_dtype(dtype) or dtype) for dtype in lacking))


REFUSED = [
    Refusal(
        DTypeError,
        _dtypes_lacking,
        "{p.device} has no {lacking}, and the kernel {p.function} computes with it: cast to a "
        "dtype that it has, as in .cast(dtypes.float32), or use a different device",
    ),
    Refusal(
        NotImplementedError,
        _ops_lacking,
        "{p.device} has no {lacking}, and other ops can't express it: cast to another dtype, use a "
        "different device, or give {language}.code_for_op a row (runtime/README.md lists those "
        "that every language needs)",
    ),
]


def refuse(p: ProgramSpec) -> None:
    """Raises the error of the first row that refuses a program."""
    of_blocks = p.renderer.target.block_threads and load("tinyframe.gpu.limits:REFUSED")
    for row in (*REFUSED, *(of_blocks or ())):
        if lacking := row.lacking(p):
            language = type(p.renderer).__name__
            raise row.error(row.words.format(lacking=lacking, p=p, language=language))


_COLORS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36, "white": 37}


def colored_name(spec: ProgramSpec) -> str:
    """The name with each size in the colour of its AxisType."""
    sizes = [f"\x1b[{_COLORS[r.arg[1].color]}m{extent(r)}\x1b[0m" for r in spec.loops]
    return "_".join([spec.function.split("_")[0], *sizes]) + spec.name.removeprefix(spec.function)


def estimate_ops(sink: UOp) -> int:
    """Arithmetic operations of a kernel, each as often as its loops run; indices don't count."""
    total = 0
    data: set[UOp] = set()  # values computed from loaded values
    for u in sink.toposort():
        if u.op in (Ops.LOAD, Ops.REDUCE, Ops.SCAN) or (
            u.op in GroupOp.Elementwise and any(s in data for s in u.src)
        ):
            data.add(u)
        if u.op in GroupOp.ALU and u in data:
            total += iterations(tuple(u.ranges)) * (2 if u.op is Ops.MULACC else 1)
        elif u.op in (Ops.REDUCE, Ops.SCAN):
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
    if not rules.rules:
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
