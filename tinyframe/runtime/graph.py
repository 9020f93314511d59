"""Repeats many launches on the CPU in one call of C: `tf_replay` of launch.c."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinyframe.device import Graph, Runner
from tinyframe.runtime.host import HostMemory
from tinyframe.runtime.launch import launch_library
from tinyframe.settings import settings


class ClangGraph(Graph):
    """The arrays that `tf_replay` reads: a row for each launch, and what its pointers point to."""

    def __init__(
        self, runners: Sequence[Runner], bufs: Sequence[Sequence[HostMemory]], vals: Sequence[int]
    ) -> None:
        library = launch_library()
        assert library is not None  # else a device has no graph
        self.replay = library.tf_replay
        self.runners = runners  # keep the code alive
        self.addresses = np.array([buf.address for each in bufs for buf in each], np.uint64)
        self.vals = np.zeros(sum(vals), np.int64)
        self.rows = np.zeros((len(runners), 4), np.uint64)  # launch_t: entry, bufs, vals, total
        self.rows[:, 0] = [_address(runner.entry) for runner in runners]  # type: ignore[attr-defined]
        self.rows[:, 1] = _pointers(self.addresses, list(map(len, bufs)))
        self.rows[:, 2] = _pointers(self.vals, vals)
        self.all_rows = ctypes.c_void_p(self.rows.ctypes.data)
        self.count = len(runners)
        self.threads = settings.THREADS  # another number is another Setup, which gets a new Graph
        self._set = self.addresses.data.__setitem__  # quicker than an array's

    def set_buffer(self, place: int, opaque: Any) -> None:
        self._set(place, opaque.address)

    def set_values(
        self, sizes: Sequence[tuple[tuple[int, ...], tuple[int, ...]]], vals: Sequence[int]
    ) -> None:
        self.rows[:, 3] = [global_size[0] for global_size, _ in sizes]
        self.vals[:] = vals

    def __call__(self) -> None:
        self.replay(self.all_rows, self.count, self.threads)


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _pointers(array: np.ndarray, counts: Sequence[int]) -> np.ndarray:
    """Where each part of an array begins in memory, the parts being `counts` elements long."""
    before = np.cumsum([0, *counts])[:-1]
    return (array.ctypes.data + before * array.itemsize).astype(np.uint64)
