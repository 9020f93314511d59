"""Threads: every piece runs once, from anywhere, after a fork, and without the library too."""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from tests import arm64_device
from tinyframe.device import Buffer, CompileError, Device
from tinyframe.dtype import dtypes
from tinyframe.runtime.clang import ClangCompiler
from tinyframe.runtime.cpu import LaunchWarning, launch_library
from tinyframe.settings import Context

ROOT = Path(__file__).parents[2]

# Counts how often each element is visited, and adds a Variable.
COUNT = """
void count_entry(void** bufs, const long long* vals, int start, int stop) {
  int* data0 = bufs[0];
  for (int i = start; i < stop; i++) data0[i] += 1 + vals[0];
}
"""

ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)


@functools.cache
def count(device):
    return Device[device].runner("count", Device[device].compiler.compile_cached(COUNT))


def visits(total, threads, value=0, device="CPU"):
    buf = Buffer(device, total, dtypes.int).copyin(bytes(4 * total))
    with Context(THREADS=threads):
        count(device)(buf._buf, global_size=(total, 1, 1), vals=(value,))
    return buf.numpy()


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 8, 33])
@pytest.mark.parametrize("device", ["CPU", *["ARM64"] * arm64_device.is_available()])
def test_every_iteration_runs_exactly_once(threads, device):
    rng = np.random.default_rng(threads)
    for total in [1, 2, 3, 7, 8, 9, 64, 1000, 4099, *map(int, rng.integers(1, 300, 30))]:
        assert (visits(total, threads, 4, device) == 5).all()


def test_many_launches_one_after_the_other():
    rng = np.random.default_rng(0)
    for _ in range(3000):
        assert (visits(int(rng.integers(1, 40)), int(rng.integers(1, 6)), 4) == 5).all()


def pieces_of(total, threads, inside=lambda: None):
    """Where the pieces of a launch begin and end."""
    pieces = []

    def entry(bufs, vals, start, stop):
        inside()
        pieces.append((start, stop))

    launch_library().tf_launch(ENTRY(entry), b"", None, total, threads)
    return sorted(pieces)


@pytest.mark.parametrize(("total", "threads"), [(1000, 3), (2**31 - 1, 4)])
def test_pieces_do_not_overlap_and_cover_everything(total, threads):
    starts, stops = zip(*pieces_of(total, threads), strict=True)
    assert (0, *stops) == (*starts, total)
    assert all(start < stop for start, stop in zip(starts, stops, strict=True))


def test_a_launch_inside_a_kernel_runs_alone_and_is_complete():
    inner = []
    outer = pieces_of(6, 3, inside=lambda: inner.append(pieces_of(100, 4)))
    assert sum(stop - start for start, stop in outer) == 6
    assert inner == [[(0, 100)]] * len(outer)


def test_launches_from_several_python_threads_at_once():
    wrong = []

    def work(seed):
        wrong.extend((seed, n) for n in range(300)
                     if not (visits(50 + seed, 3, n) == 1 + n).all())  # fmt: skip

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# In a process of its own: pytest has threads, files and signals that are its own.
BEGIN = """
import os, signal
import numpy as np
from tests.backends.test_launch import visits
"""
FORK = """
def good():
    return bool((visits(100, 4) == 1).all())

assert good()
for generation in range(3):
    child = os.fork()
    if child == 0:
        continue  # the child forks on
    _, status = os.waitpid(child, 0)
    ok = good() and status == 0
    if generation == 0:
        print("good" if ok else "bad", flush=True)
    os._exit(0 if ok else 1)
os._exit(0 if good() and good() else 1)
"""
# Ctrl-C goes to the process; a worker that took it would leave the main thread waiting.
SIGNALS = """
# a shell starts what runs in the background with SIGINT ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
found = [visits(100, 4)]
for turn in range(20):
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        found.append(visits(100, 4))
print("good" if len(found) == 21 and (np.array(found) == 1).all() else found)
"""


@pytest.mark.parametrize("script", [FORK, SIGNALS], ids=["a forked child", "an interrupt"])
def test_the_threads_are_usable_after(script):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, "-c", BEGIN + script]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=60)
    assert done.stdout.strip() == b"good", done.stderr.decode()


def test_without_the_library_kernels_run_on_one_thread(monkeypatch):
    count("CPU")

    def refuse(self, src):
        raise CompileError("no pthreads here")

    monkeypatch.setattr(ClangCompiler, "compile_cached", refuse)
    launch_library.cache_clear()
    try:
        with pytest.warns(LaunchWarning, match="one thread.*no pthreads here"):
            assert (visits(10, 4) == 1).all()
    finally:
        launch_library.cache_clear()
