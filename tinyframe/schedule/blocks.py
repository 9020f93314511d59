"""What a schedule asks of a device that runs blocks of threads, a GPU: is there work for all of it?

A block runs on one of a GPU's multiprocessors, of which there are a hundred. The threads of a block
share a reduce; but where a reduce has few results, there are few blocks. So a long one becomes two
kernels, of which the first has many blocks (`partial.py`), and is stored, so that what follows can
be divided too (`fuse.py`).
"""

from __future__ import annotations

from tinyframe import thresholds
from tinyframe.device import Device, NoCompiler
from tinyframe.renderer import Renderer, Target


def target_of(device: str | None) -> Target:
    """What schedules know of a device, by its name; None is the default one."""
    opened = Device[device]
    try:
        return opened.renderer.target
    except NoCompiler:  # which is said when there is something to compile
        return Renderer.default_target


def block_size(target: Target) -> int:
    """How many threads a block gets at most."""
    return min(target.block_threads, thresholds.BLOCK_THREADS)


def leaves_blocks_idle(target: Target, results: int, each: int) -> bool:
    """Would a reduce keep a few blocks busy for long, while the others have nothing to do? Never on
    a device without blocks.

    results: how many there are. each: how many elements are reduced for one of them.
    """
    is_long = each >= thresholds.LONG_FOR_A_THREAD * block_size(target)
    return bool(target.block_threads) and is_long and results < thresholds.FILLING_BLOCKS
