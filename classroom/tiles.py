"""What a list of Opts costs, counted and not timed: the same numbers on every machine.

    count(a @ b, [Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 0, 6)])

The processor that is counted for has 16 registers of 8 floats each, like most PCs, and cache lines
of 16 floats, like nearly every processor.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tinyframe.codegen import get_program, scheduled_kernel
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.codegen.optimize.plans import CPU, Workload, choose, opts_of
from tinyframe.codegen.program import ProgramSpec
from tinyframe.renderer import Target
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop.node import AxisType, Ops, UOp, axis_type, extent
from tinyframe.viz.kernels import one_kernel
from tinyframe.viz.nests import Work, parts_of, work_of
from tinyframe.viz.touched import LEVELS, arguments_after

LANES, REGISTERS = 8, 16
LINE, PAGE = 16, 1024  # floats in a cache line, and in a page of memory
COUNTED_FOR = CStyleLanguage(
    Target(vector_bytes=4 * LANES, vector_registers=REGISTERS, threads=1, l1=32 << 10, l2=512 << 10)
)
MULTIPLIES = (Ops.MUL.name, Ops.MULACC.name)
LOADS = ("load", "load from a panel")
WIDTH = 88  # characters in a line of text
WHOLE_REDUCE = LEVELS[-1][0]


class Count(NamedTuple):
    """multiplications, loads: instructions in all, of a number or of up to eight at once. results:
    those that are computed side by side. lines, pages: of memory, that these are computed from.
    registers: for what has to be at hand in the innermost loop."""

    multiplications: int
    loads: int
    results: int
    lines: int
    pages: int
    registers: int

    @property
    def loads_per_multiplication(self) -> float:
        return self.loads / self.multiplications if self.multiplications else float("inf")

    def __repr__(self) -> str:
        rows = {
            "multiplications": f"{self.multiplications:,}",
            "loads / multiplication": f"{self.loads_per_multiplication:.2f}",
            "results side by side": str(self.results),
            "cache lines / result": f"{self.lines / self.results:.1f}",
            "memory pages": str(self.pages),
            "registers": str(self.registers),
        }
        return "\n".join(f"{name:22} {number:>10}" for name, number in rows.items())


def count(x: Any, opts: Sequence[Opt]) -> Count:
    """What the kernel of x (a Tensor that takes one, say `a @ b`) costs with these Opts. Nothing
    runs. KernelOptError if one of them is not allowed."""
    item, _ = one_kernel(x, None, "count")
    program = get_program(item.ast, COUNTED_FOR, list(opts))
    total: Counter[str] = Counter()
    for work, turns in work_of(parts_of(program)):
        for (what, lanes), times in work.items():
            total[what] += turns * times * _instructions(lanes)
    read = _read(item.ast, program.opts)
    return Count(
        multiplications=sum(total[what] for what in MULTIPLIES),
        loads=sum(total[what] for what in LOADS),
        results=_results(item.ast, program.opts),
        lines=sum(_pieces(cells, LINE) for cells in read.values()),
        pages=sum(_pieces(cells, PAGE) for cells in read.values()),
        registers=_registers(program),
    )


def lines_read(x: Any, opts: Sequence[Opt]) -> dict[int, int]:
    """How many cache lines of each argument one turn of the loops reads, with its whole reduce."""
    item, _ = one_kernel(x, None, "lines_read")
    return {slot: _pieces(cells, LINE) for slot, cells in _read(item.ast, opts).items()}


def _read(ast: UOp, opts: Sequence[Opt]) -> dict[int, np.ndarray]:
    """The elements of each argument that one turn reads. Those that were copied to a panel lie side
    by side there, in the order in which they are read."""
    copied = {opt.arg for opt in opts if opt.op is OptOps.STAGE}
    found = {}
    for argument in arguments_after(ast, COUNTED_FOR, opts):
        cells = argument.touches[-1].cells
        if cells is not None and not argument.is_output:
            found[argument.slot] = np.arange(len(cells)) if argument.slot in copied else cells
    return found


def _results(ast: UOp, opts: Sequence[Opt]) -> int:
    """Those that are computed side by side."""
    for argument in arguments_after(ast, COUNTED_FOR, opts):
        *_, tile = (t for t in argument.touches if t.level != WHOLE_REDUCE)
        if argument.is_output and tile.cells is not None:
            return len(tile.cells)
    return 1


def _pieces(cells: np.ndarray, size: int) -> int:
    """How many pieces of memory of this size these elements are in."""
    return len(np.unique(cells // size))


def _instructions(lanes: int) -> int:
    """A vector of more lanes than a register has takes several."""
    return -(-lanes // LANES)


def _registers(program: ProgramSpec) -> int:
    """Of the part that multiplies most often: the sums, the vectors that are loaded, and one for
    the number that goes to all lanes."""
    work, _ = max(work_of(parts_of(program)), key=lambda part: part[1] * _multiplied(part[0]))
    unrolled = prod(extent(r) for r in program.loops if axis_type(r) is AxisType.UNROLL)
    loaded = {what: n for what, n in work.items() if what[0] in LOADS}
    vectors = sum(n * _instructions(lanes) for (_, lanes), n in loaded.items() if lanes > 1)
    numbers = sum(n for (_, lanes), n in loaded.items() if lanes == 1)
    sums = sum(n * _instructions(lanes) for (what, lanes), n in work.items() if what in MULTIPLIES)
    at_hand = vectors + min(numbers, unrolled) if vectors else numbers
    return (sums + at_hand) // unrolled


def _multiplied(work: Work) -> int:
    return sum(n for (what, _), n in work.items() if what in MULTIPLIES)


# ---- what a plan would do ------------------------------------------------------------------------


class Planned(NamedTuple):
    """name, why: of the plan. nest: what it does to the loops, in a line. opts: the same."""

    name: str
    why: str
    nest: str
    opts: list[Opt]

    def __repr__(self) -> str:
        done = [f"  {n}. {opt}" for n, opt in enumerate(self.opts, 1)] or ["  no Opts"]
        said = {"plan": self.name, "why": self.why, "nest": self.nest}
        lines = [
            textwrap.fill(f"{title + ':':5} {text}", WIDTH, subsequent_indent=" " * 6)
            for title, text in said.items()
        ]
        return "\n".join([*lines, *done])


def planned(x: Any) -> Planned:
    """What the plans do with the kernel of x, on that same processor. Nothing runs."""
    item, _ = one_kernel(x, None, "planned")
    kernel = workload(item.ast)
    plan = choose(kernel, CPU)
    nest = plan.nest(kernel)
    opts, _ = opts_of(kernel.sink, nest, kernel.target)
    return Planned(plan.name, plan.why, nest.words or "as it is", opts)


def workload(ast: UOp) -> Workload:
    """A kernel as a plan sees it, on that processor."""
    return Workload(scheduled_kernel(ast, COUNTED_FOR), COUNTED_FOR.target)
