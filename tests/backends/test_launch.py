"""Threads: every piece runs once, from anywhere, after a fork, and without the library too."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from tinyframe.device import Buffer, CompileError, Device
from tinyframe.dtype import dtypes
from tinyframe.runtime.clang import ClangCompiler
from tinyframe.runtime.cpu import ClangRunner, LaunchWarning, launch_library
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


@pytest.fixture(scope="module")
def count():
    return ClangRunner("count", Device["CPU"].compiler.compile_cached(COUNT))


def visits(count, total, threads, value=0):
    buf = Buffer("CPU", total, dtypes.int).copyin(bytes(4 * total))
    with Context(THREADS=threads):
        count(buf._buf, global_size=(total, 1, 1), vals=(value,))
    return buf.numpy()


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 8, 33])
@pytest.mark.parametrize("total", [1, 2, 3, 7, 8, 9, 64, 1000, 4099])
def test_every_iteration_runs_exactly_once(count, total, threads):
    assert (visits(count, total, threads) == 1).all()


def test_many_launches_one_after_the_other(count):
    rng = np.random.default_rng(0)
    for _ in range(3000):
        total, threads = int(rng.integers(1, 40)), int(rng.integers(1, 6))
        assert (visits(count, total, threads, 4) == 5).all()


def test_pieces_do_not_overlap_and_cover_everything():
    pieces = []

    def entry(bufs, vals, start, stop):
        pieces.append((start, stop))

    launch_library().tf_launch(ENTRY(entry), b"", None, 1000, 3)
    pieces.sort()
    assert pieces[0][0] == 0
    assert pieces[-1][1] == 1000
    assert all(before[1] == after[0] for before, after in zip(pieces, pieces[1:], strict=False))
    assert all(start < stop for start, stop in pieces)


def test_the_largest_total_does_not_overflow():
    pieces = []

    def entry(bufs, vals, start, stop):
        pieces.append(stop - start)

    launch_library().tf_launch(ENTRY(entry), b"", None, 2**31 - 1, 4)
    assert sum(pieces) == 2**31 - 1
    assert min(pieces) > 0


def test_a_launch_inside_a_kernel_runs_alone_and_is_complete():
    seen, inner_pieces = [], []

    def inner(bufs, vals, start, stop):
        inner_pieces.append((start, stop))

    def outer(bufs, vals, start, stop):
        launch_library().tf_launch(ENTRY(inner), b"", None, 100, 4)
        seen.append((start, stop))

    launch_library().tf_launch(ENTRY(outer), b"", None, 6, 3)
    assert sum(stop - start for start, stop in seen) == 6
    assert inner_pieces == [(0, 100)] * len(seen)


def test_launches_from_several_python_threads_at_once(count):
    wrong = []

    def work(seed):
        for n in range(300):
            if not (visits(count, 50 + seed, 3, n) == 1 + n).all():
                wrong.append((seed, n))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# In a process of its own: a fork of the test process would take pytest's threads and files along.
FORK = """
import os, sys
import numpy as np
from tinyframe.device import Buffer, Device
from tinyframe.dtype import dtypes
from tinyframe.runtime.cpu import ClangRunner
from tinyframe.settings import Context

count = ClangRunner("count", Device["CPU"].compiler.compile_cached(sys.argv[1]))

def good():
    buf = Buffer("CPU", 100, dtypes.int).copyin(bytes(400))
    with Context(THREADS=4):
        count(buf._buf, global_size=(100, 1, 1), vals=(0,))
    return bool((buf.numpy() == 1).all())

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


def test_a_forked_child_makes_threads_of_its_own():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", FORK, COUNT], env=environment, capture_output=True, timeout=60
    )
    assert done.stdout.strip() == b"good", done.stderr.decode()


# Ctrl-C goes to the process; a worker that took it would leave the main thread waiting.
SIGNALS = """
import signal, sys, threading
from pathlib import Path
from tinyframe.device import Buffer, Device
from tinyframe.dtype import dtypes
from tinyframe.runtime.cpu import ClangRunner
from tinyframe.settings import Context

# a shell starts what runs in the background with SIGINT ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
count = ClangRunner("count", Device["CPU"].compiler.compile_cached(sys.argv[1]))
buf = Buffer("CPU", 100, dtypes.int).copyin(bytes(400))
with Context(THREADS=4):
    count(buf._buf, global_size=(100, 1, 1), vals=(0,))
try:
    for turn in range(20):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            with Context(THREADS=4):
                count(buf._buf, global_size=(100, 1, 1), vals=(0,))
finally:
    print("good" if (buf.numpy() == 21).all() else buf.numpy())
"""


def test_an_interrupt_leaves_the_threads_usable():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", SIGNALS, COUNT], env=environment, capture_output=True, timeout=60
    )
    assert done.stdout.strip() == b"good", done.stderr.decode()


def test_without_the_library_kernels_run_on_one_thread(count, monkeypatch):
    def refuse(self, src):
        raise CompileError("no pthreads here")

    monkeypatch.setattr(ClangCompiler, "compile_cached", refuse)
    launch_library.cache_clear()
    try:
        with pytest.warns(LaunchWarning, match="one thread.*no pthreads here"):
            assert (visits(count, 10, 4) == 1).all()
    finally:
        launch_library.cache_clear()
