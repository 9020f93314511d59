"""The output of the scheduler: KERNEL nodes in the graph, and the list of items to run."""

from __future__ import annotations

from dataclasses import dataclass, field

from tinyframe.device import Buffer
from tinyframe.uop.node import Ops, UOp


@dataclass(frozen=True)
class Kernel:
    """The argument of a KERNEL node: the loop nest (or COPY), and how many of the node's sources
    are its buffers, outputs first. The sources after those are kernels that must have run before,
    and Variables that must have a value."""

    ast: UOp
    buffers: int

    def __repr__(self) -> str:
        return f"<Kernel {self.ast.op} {len(self.ast.src)} outputs>"


@dataclass(frozen=True)
class ScheduleItem:
    """One item to run: `ast` is a SINK (a kernel) or a COPY; `bufs` are its arguments in order.

    has_run: whether `run_schedule` has run it.
    """

    ast: UOp
    bufs: tuple[Buffer, ...]
    has_run: bool = field(default=False, init=False, repr=False, compare=False)

    def note_run(self) -> None:
        """Called when the kernel is done, or started on an asynchronous device."""
        object.__setattr__(self, "has_run", True)

    @property
    def written(self) -> list[Buffer]:
        """The buffers that it writes: outputs, and those updated in place."""
        if self.ast.op is Ops.COPY:
            return [self.bufs[0]]
        return [self.bufs[store.src[0].src[0].arg] for store in self.ast.src]
