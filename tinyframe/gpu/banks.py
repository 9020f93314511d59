"""Panels have padding after each row, where that spares the threads of a warp bank conflicts.

Shared memory has 32 banks of 4 bytes, and word n is in bank n % 32. In one turn a bank serves one
word, to any number of threads. Threads that are whole rows of 32 words apart wait for each other:

    panel[lidx0*32 + k]    32 turns              panel[lidx0*33 + k]    one turn

Of vectors, as many threads are served at once as access 128 bytes. (NVIDIA, CUDA C++ Best Practices
Guide, "Shared Memory and Memory Banks"; AMD's and Apple's GPUs have such banks, too.)
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tinyframe.algebra.symbolic import terms
from tinyframe.codegen.expand import flatten_indices, lane_of
from tinyframe.device import load
from tinyframe.gpu import mma
from tinyframe.gpu.tensor_core import with_fragments
from tinyframe.renderer import Target
from tinyframe.uop.evaluate import evaluate
from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp, axis_type, extent, iterations

WARP, BANKS, WORD, VECTOR_BYTES = 32, 32, 4, 16  # threads; banks; bytes
READS = (Ops.LOAD, Ops.FRAGMENT)
PADDINGS = (0, 1, 2, 4, 8, 16, 32)  # bytes, if they are whole elements


class Use(NamedTuple):
    """A LOAD or STORE of a panel. places: each thread's first element, of a warp. lanes: how many
    elements each thread accesses, `step` apart. times: how often it does."""

    places: list[int]
    lanes: int
    step: int
    times: int

    def cost(self, row: int, padding: int, itemsize: int) -> tuple[int, int]:
        """The turns and the instructions that it takes, with this padding after each row."""
        places = [[n + n // row * padding for n in (first + k * self.step for first in self.places)]
                  for k in range(self.lanes)]  # fmt: skip
        nbytes, turns = itemsize, 0
        if self.step == 1 and not any(n % self.lanes for n in (*places[0], padding)):
            places, nbytes = places[:1], itemsize * self.lanes  # a vector
        served = BANKS * WORD // max(nbytes, WORD)  # threads at once
        parts = (each[n : n + served] for each in places for n in range(0, len(each), served))
        for part in parts:
            words = {(n * itemsize + byte) // WORD for n in part
                     for byte in range(0, nbytes, min(itemsize, WORD))}  # fmt: skip
            turns += max(Counter(word % BANKS for word in words).values())
        return turns * self.times, len(places) * self.times


def rows_of(sink: UOp) -> dict[UOp, int]:
    """The length of a row of each panel that has several."""
    read = (u for u in sink.toposort() if u.op is Ops.INDEX and u.src[0].op is Ops.STAGE)
    return {u.src[0]: u.arg[-1] for u in read if len(u.arg) > 1}


@functools.lru_cache(maxsize=32)
def padded_panels(sink: UOp, target: Target) -> dict[UOp, tuple[int, int]]:
    """The panels of a kernel whose rows are padded: the length of a row without its padding and
    with it."""
    if not (rows := rows_of(sink)):
        return {}
    # the same threads access the same elements, whatever the padding
    threads = load("tinyframe.gpu.passes:ranges_to_values")
    kernel = threads(with_fragments(flatten_indices(sink)), target).toposort()
    stages = ([u for u in nodes if u.op is Ops.STAGE] for nodes in (sink.toposort(), kernel))
    lengths = {}
    for panel, stage in zip(*stages, strict=True):
        if (row := rows.get(panel)) is not None:
            reads = [u for u in kernel if u.op in READS and u.src[0].src[0] is stage]
            uses = [use_of(u, kernel) for u in (stage.src[0], *reads)]
            itemsize = max(panel.dtype.base.itemsize, target.least_bytes)
            lengths[panel] = row, row + best_padding(uses, row, itemsize)
    return {panel: (row, length) for panel, (row, length) in lengths.items() if length > row}


def best_padding(uses: Sequence[Use], row: int, itemsize: int) -> int:
    """The smallest padding, in elements, with which a warp takes the fewest turns and instructions
    together for all that it reads and writes."""
    choices = [nbytes // itemsize for nbytes in PADDINGS if nbytes % itemsize == 0]
    return min(choices, key=lambda n: sum(sum(u.cost(row, n, itemsize)) for u in uses))


def use_of(u: UOp, kernel: Iterable[UOp]) -> Use:
    """How the first warp of a block accesses a panel in the first iteration of all loops; later
    ones are as far apart."""
    _, valid, flat = u.src[0].src
    axes = sorted((x for x in kernel if x.op is Ops.SPECIAL and x.arg[0][0] == "l"),
                  key=lambda x: x.arg[0])  # fmt: skip
    inside = UOp.sink(valid, flat).toposort(lambda x: x.op in (*GroupOp.Elementwise, Ops.SINK))
    leaves = [x for x in inside if x.op not in (*GroupOp.Elementwise, Ops.CONST, Ops.SINK)]
    first, threads = dict.fromkeys(leaves, 0), [range(x.arg[1]) for x in axes[::-1]]
    warp = [first | dict(zip(axes, thread[::-1], strict=True))
            for thread in itertools.islice(itertools.product(*threads), WARP)]  # fmt: skip
    places, lane = [evaluate(flat, at) for at in warp if evaluate(valid, at)], lane_of(flat)
    times = iterations(r for r in u.ranges if r is not lane)
    if u.op is Ops.FRAGMENT:  # each thread is asked for a row of a matrix
        return Use(places, mma.MATRIX, 1, times)
    if lane is None:  # compilers read neighbouring copies as vectors
        copies = [extent(r) for r in u.ranges if axis_type(r) is AxisType.UPCAST
                  and terms(flat).get(r) == 1]  # fmt: skip
        lanes = math.gcd(*copies, VECTOR_BYTES // u.src[0].dtype.base.itemsize) if copies else 1
        return Use(places, lanes, 1, times // lanes)
    step = evaluate(flat, first | {lane: 1}) - evaluate(flat, first)
    return Use(places, extent(lane), step, times)


def whole_vectors(nbytes: int) -> int:
    """The bytes from one panel to the next, which begins where a vector may."""
    return -(-nbytes // VECTOR_BYTES) * VECTOR_BYTES


def panel_bytes(sink: UOp, target: Target) -> int:
    """The size of all panels of a kernel in bytes; or, where there is room for it, their size with
    the largest padding, which is quickly known."""

    def size(padded: dict[UOp, tuple[int, int]]) -> int:
        panels = [(u, *padded.get(u, (1, 1))) for u in sink.toposort() if u.op is Ops.STAGE]
        return sum(
            (u.arg[1] if isinstance(u.arg, tuple) else 1)
            * whole_vectors(iterations(u.own_ranges) // row * length
                            * max(u.dtype.base.itemsize, target.least_bytes * u.dtype.count))
            for u, row, length in panels
        )  # fmt: skip

    most = size({u: (row, row + PADDINGS[-1]) for u, row in rows_of(sink).items()})
    return most if most <= target.shared_bytes else size(padded_panels(sink, target))
