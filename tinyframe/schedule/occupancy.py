"""Occupancy: whether a reduce keeps all of a GPU busy.

A block of threads runs on one of a GPU's multiprocessors, of which there are about a hundred. The
threads of a block share a reduce; but a reduce with few results has few blocks. So a long one
becomes two kernels, the first of which has many blocks (`partial.py`), and its result is stored, so
that what follows can use many blocks too (`fuse.py`).
"""

from __future__ import annotations

from tinyframe import thresholds
from tinyframe.device import Device, NoCompiler
from tinyframe.renderer import Renderer, Target


def target_of(device: str | None) -> Target:
    """The Target of a device, by its name; None is the default device."""
    opened = Device[device]
    try:
        return opened.renderer.target
    except NoCompiler:  # reported when there is something to compile
        return Renderer.default_target


def block_size(target: Target) -> int:
    """The largest number of threads in a block."""
    return min(target.block_threads, thresholds.BLOCK_THREADS)


def leaves_blocks_idle(target: Target, results: int, each: int) -> bool:
    """Whether a reduce would keep a few blocks busy for long while the GPU could run many more.
    Always False on a device without blocks.

    results: their number. each: how many elements are reduced to one result.
    """
    is_long = each >= thresholds.LONG_FOR_A_THREAD * block_size(target)
    return bool(target.block_threads) and is_long and results < thresholds.FILLING_BLOCKS
