"""What the memory accesses of warps cost: bank conflicts, and the pieces of memory that move.

The 32 threads of a warp run an instruction together, so their accesses in it are one request.

Shared memory has 32 banks of 4 bytes, and word n is in bank n % 32. In one turn a bank serves one
word, to any number of threads; so a request takes as many turns as the busiest bank has different
words. If threads access 8 or 16 bytes each, half or a quarter of the warp is served at a time.

Global memory moves in sectors of 32 bytes: as many as a request touches, used or not.

The emulator logs the accesses (`cuda_emulator.py`), so that no GPU is needed. NVIDIA, CUDA C++ Best
Practices Guide: "Coalesced Access to Global Memory", "Shared Memory and Memory Banks".
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinyframe import Context
from tinyframe.codegen.program import ProgramSpec
from tinyframe.device import Size
from tinyframe.gpu.drivers.cuda_emulator import EmulatorDevice, EmulatorRunner
from tinyframe.uop.node import Ops

# `struct Access` of cuda_emulator.c
ACCESS = np.dtype([("thread", "u4"), ("block", "u4"), ("phase", "u4"), ("line", "i4"),
                   ("region", "i4"), ("is_write", "i4"), ("site", "u4"), ("number", "u4"),
                   ("index", "i8")])  # fmt: skip
WARP, SECTOR, BANKS, WORD = 32, 32, 32, 4  # threads; bytes; banks; bytes
ROOM = 1 << 22  # accesses that are kept, of one element each


@dataclass(frozen=True)
class Traffic:
    """The requests to an array, and what they cost: `took` is the number of turns if it is in
    shared memory, otherwise the number of sectors; `least`, how few would be enough."""

    name: str
    is_shared: bool
    is_write: bool
    requests: int
    took: int
    least: int

    def __str__(self) -> str:
        unit = "turns" if self.is_shared else "sectors"
        done = f"{self.name:<10}{'written' if self.is_write else 'read':<9}{self.requests:>8,}"
        return f"{done} requests {self.took:>9,} {unit:<7} {self.least:>9,} at best"


def traffic_of(program: ProgramSpec) -> list[Traffic]:
    """What the first block of a CUDA kernel does, on memory that is all zeros."""
    types: Any = {u.arg: u.dtype for u in program.uops if u.op is Ops.DEFINE_GLOBAL}
    sizes = [types[slot].size * types[slot].base.itemsize for slot in program.globals]
    return traffic(program.function, program.src, sizes, program.local_size)  # type: ignore[arg-type]


def traffic(name: str, source: str, sizes: Sequence[int], block: Size) -> list[Traffic]:
    """What the first block of a kernel does, by array, reads before writes. sizes: bytes of its
    buffers. If there are more than ROOM accesses, as far as the last barrier before that."""
    with Context(CUDA_EMULATE=1):
        device = EmulatorDevice()
        runner = device.runner(name, device.compiler.compile_cached(source))
    assert isinstance(runner, EmulatorRunner)
    buffers = [device.allocator.alloc(size) for size in sizes]
    log, regions = _watched(runner.library, lambda: runner(*buffers, local_size=block))
    number = requests(log)
    found = []
    for n, (array, itemsize) in enumerate(regions):
        for is_write in (False, True):
            its = (log["region"] == n) & (log["is_write"] == is_write)
            if its.any():
                cost = _turns if n >= len(sizes) else _sectors
                count = len(np.unique(number[its]))
                took, least = cost(log[its], number[its], itemsize)
                found.append(Traffic(array, n >= len(sizes), is_write, count, took, least))
    return found


def _watched(
    library: ctypes.CDLL, launch: Callable[[], object]
) -> tuple[np.ndarray, list[tuple[str, int]]]:
    """The accesses of a launch (ACCESS), and the name and the bytes of an element of each region:
    the buffers, then the shared arrays."""
    library.emulated_watch.restype = ctypes.c_longlong
    library.emulated_region.restype = ctypes.c_char_p
    log, sizes = np.empty(ROOM, ACCESS), [ctypes.c_longlong() for _ in range(3)]
    library.emulated_watch(ctypes.c_void_p(log.ctypes.data), ctypes.c_longlong(ROOM))
    try:
        launch()
    finally:
        count = library.emulated_watch(None, ctypes.c_longlong(0))
    if count > ROOM:
        count = int(np.searchsorted(log["phase"], log["phase"][-1]))
    regions = list[tuple[str, int]]()
    while name := library.emulated_region(len(regions), *map(ctypes.byref, sizes)):
        regions.append((name.decode(), sizes[1].value))
    return log[:count], regions


# ---- requests ------------------------------------------------------------------------------------


def requests(log: np.ndarray) -> np.ndarray:
    """The number of the request that each access is a part of; requests are numbered in the order
    in which they begin. The threads of a warp make one together: each its nth access of an
    instruction since the last barrier."""
    number = log["number"] * np.uint64(2) + (log["is_write"] != 0)
    _, first, access = np.unique(number, return_index=True, return_inverse=True)
    each = log[first]
    where = [each[key] for key in ("block", "phase", "region", "is_write", "site")]
    thread, order = _numbered(*where, each["thread"])
    begin = np.flatnonzero(np.diff(thread[order], prepend=-1))
    nth = np.empty_like(order)
    nth[order] = np.arange(len(order)) - begin[thread[order]]
    request, _ = _numbered(*where, each["thread"] // WARP, nth)
    _, begin, request = np.unique(request[access], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(begin))[request]


def split(log: np.ndarray) -> Iterator[np.ndarray]:
    """The accesses of each request, in the order in which requests begin."""
    number = requests(log)
    order = np.argsort(number, kind="stable")
    yield from np.split(log[order], np.flatnonzero(np.diff(number[order])) + 1) if len(log) else ()


def _numbered(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that are equal in all columns get the same number; and the order of the rows by it."""
    order = np.lexsort(columns[::-1])
    changes = [np.diff(column[order].astype(np.int64)) != 0 for column in columns]
    number = np.zeros(len(order), np.int64)
    number[order[1:]] = np.cumsum(np.any(changes, axis=0))
    return number, order


# ---- what they cost ------------------------------------------------------------------------------


def _sectors(log: np.ndarray, request: np.ndarray, itemsize: int) -> tuple[int, int]:
    """The sectors that requests to global memory touch, and how few could hold what they access."""
    touched = np.unique(np.stack([request, log["index"] * itemsize // SECTOR]), axis=1)
    elements = np.unique(np.stack([request, log["index"]]), axis=1)
    used = np.unique(elements[0], return_counts=True)[1] * itemsize
    return touched.shape[1], int(np.sum(-(-used // SECTOR)))


def _turns(log: np.ndarray, request: np.ndarray, itemsize: int) -> tuple[int, int]:
    """The turns that requests to shared memory take, and how few there would be without conflicts:
    one for each part of a warp that is served at a time."""
    _, access, elements = np.unique(log["number"], return_inverse=True, return_counts=True)
    nbytes = np.zeros(request.max() + 1, np.int64)
    np.maximum.at(nbytes, request, elements[access] * itemsize)
    lanes = BANKS * WORD // np.maximum(nbytes[request], WORD)
    part, _ = _numbered(request, log["thread"] % WARP // lanes)
    words = [(log["index"] * itemsize + n) // WORD for n in range(0, itemsize, WORD)]
    one, word = np.unique(np.stack([np.tile(part, len(words)), np.concatenate(words)]), axis=1)
    (ones, _), conflicts = np.unique(np.stack([one, word % BANKS]), axis=1, return_counts=True)
    most = np.zeros(part.max() + 1, np.int64)
    np.maximum.at(most, ones, conflicts)
    return int(most.sum()), len(most)
