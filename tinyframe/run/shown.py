"""What DEBUG shows of a run.

    DEBUG=1     3 kernels, 0.31 ms
    DEBUG=2     a line for each kernel: name, shapes, time, GFLOP/s, GB/s, memory in use
    DEBUG=3     the kernels' sources before that, with the plan that each follows
"""

from __future__ import annotations

import re
import sys
import textwrap
from typing import TYPE_CHECKING

from tinyframe.counters import GlobalCounters
from tinyframe.device import human_bytes
from tinyframe.run.kernel import CompiledKernel
from tinyframe.settings import settings
from tinyframe.uop.node import Ops
from tinyframe.uop.show import sizes_text

if TYPE_CHECKING:
    from tinyframe.codegen.program import ProgramSpec
    from tinyframe.schedule.item import ScheduleItem


def total_line(kernels: int, seconds: float) -> str:
    """What all kernels of a run took: `1 kernel, 0.02 ms`."""
    return f"{kernels} kernel{'s' * (kernels != 1)}, {seconds * 1e3:.2f} ms"


def with_plan(spec: ProgramSpec) -> str:
    """A source below a comment that says why its loops are as they are."""
    said = []
    if spec.plan is not None:
        said += textwrap.wrap(f"plan: {spec.plan.name}, because {spec.plan.why}", 97)
    if spec.opts:
        said += textwrap.wrap("opts: " + ", ".join(map(str, spec.opts)), 97)
    return "\n".join([*[f"// {line}" for line in said], spec.src])


def kernel_line(
    kernel: CompiledKernel, item: ScheduleItem, seconds: float, operations: int, nbytes: int
) -> str:
    from tinyframe.codegen.program import colored_name

    name = colored_name(kernel.spec)
    rate = 1e-9 / seconds if seconds > 0 else 0.0
    return plain_unless_shown(
        f"{item.bufs[0].device:<6} {_pad(name, 14)} {_shapes(item):<18} {time_text(seconds)} "
        f"{operations * rate:7.1f} GFLOP/s {nbytes * rate:5.1f} GB/s  "
        f"{human_bytes(GlobalCounters.mem_used)} in use"
    )


def _shapes(item: ScheduleItem) -> str:
    """The arguments' shapes, "2x3 <- 2x4, 4x3", as the kernel's indices have them, without ones."""
    shapes: dict[int, tuple] = {}
    written = set()
    for u in item.ast.toposort():
        if u.op is Ops.STORE:
            written.add(u.src[0].src[0].arg)
        if u.op is Ops.INDEX and u.src[0].op is Ops.DEFINE_GLOBAL and isinstance(u.arg, tuple):
            shapes.setdefault(u.src[0].arg, u.arg)
    for slot, buf in enumerate(item.bufs):
        shapes.setdefault(slot, (buf.size,))

    def text(slot: int) -> str:
        return "x".join(sizes_text(size) for size in shapes[slot] if size != 1) or "1"

    outs = ", ".join(map(text, sorted(written)))
    ins = ", ".join(map(text, sorted(shapes.keys() - written)))
    return f"{outs} <- {ins}" if ins else outs


def time_text(seconds: float) -> str:
    return f"{seconds * 1e6:7.1f} us" if seconds < 1e-2 else f"{seconds * 1e3:7.1f} ms"


_COLOR = re.compile(r"\x1b\[[0-9;]*m")


def _pad(text: str, width: int) -> str:
    """Spaces after a text until it is `width` wide as seen, colours not counted."""
    return text + " " * (width - len(_COLOR.sub("", text)))


def plain_unless_shown(text: str) -> str:
    """The text without its colour codes where they would not be seen as colours: a file, a pipe."""
    return text if colors_are_shown() else _COLOR.sub("", text)


def colors_are_shown() -> bool:
    """Whether stdout is a terminal or a notebook, and NO_COLOR is not set."""
    if settings.NO_COLOR:
        return False
    # A notebook's stdout is no terminal, but shows colours.
    return sys.stdout.isatty() or type(sys.stdout).__module__.startswith("ipykernel.")
