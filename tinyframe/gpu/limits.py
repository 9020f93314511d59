"""Limits of devices that run blocks of threads: the number of buffers, the steps of a thread."""

from __future__ import annotations

from tinyframe.codegen.program import ProgramSpec, Refusal
from tinyframe.errors import LimitError
from tinyframe.uop.node import Ops, UOp


def buffers_beyond(p: ProgramSpec) -> int | None:
    """The number of a program's buffers, if the device does not allow as many."""
    most = p.renderer.target.most_buffers
    return count if most and (count := len(p.globals)) > most else None


def steps_beyond(p: ProgramSpec) -> int | None:
    """The number of steps of a thread, if the device would end it earlier."""
    most = p.renderer.target.most_steps
    return steps if most and (steps := most_steps(p.uops)) > most else None


def most_steps(uops: list[UOp]) -> int:
    """The total number of loop iterations of a thread; with Variables, an upper bound."""
    steps, around = 0, [1]
    for u in uops:
        if u.op is Ops.RANGE:
            end = u.src[0]
            most = int(end.vmax)
            if end.op is Ops.WHERE and end.src[0].op is Ops.CMPLT and end.src[0].src == end.src[1:]:
                # a blocked sum (`linearize.py`): min(block size, iterations left)
                most = min(int(s.vmax) for s in end.src[1:])
            around.append(around[-1] * max(most, 0))
            steps += around[-1]
        elif u.op is Ops.ENDRANGE:
            around.pop()
    return steps


REFUSED = [
    Refusal(
        LimitError,
        buffers_beyond,
        "the kernel {p.function} reads and writes {lacking} buffers, and {p.device} takes "
        "{p.renderer.target.most_buffers} at most: call realize() on a part of what it computes",
    ),
    Refusal(
        LimitError,
        steps_beyond,
        "each thread of the kernel {p.function} goes through {lacking} steps of its loops, and "
        "{p.device} ends a thread after {p.renderer.target.most_steps}: share the loops among more "
        "threads (GLOBAL, LOCAL and GROUP do), or use a different device",
    ),
]
