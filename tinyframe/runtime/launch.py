"""Divides a kernel's outer loop among threads, and repeats many launches in one call: launch.c,
compiled when it is first needed.

Python's own thread pool costs some 50 us a launch; this one a few, and its threads stay.
"""

from __future__ import annotations

import ctypes
import functools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tinyframe.device import CompileError
from tinyframe.runtime.clang import ClangCompiler, find_compiler, load_library
from tinyframe.settings import settings

SOURCE = Path(__file__).with_name("launch.c")

# (entry, bufs, vals, total, threads): runs entry(bufs, vals, start, stop) on pieces of [0, total)
Launch = Callable[[Any, bytes, bytes | None, int, int], Any]


class LaunchWarning(UserWarning):
    """Kernels run on one thread, and why."""


def launcher() -> Launch:
    """`tf_launch` of launch.c; where it cannot be had, after a warning, one on one thread."""
    library = launch_library()
    return _on_one_thread if library is None else library.tf_launch


@functools.cache
def launch_library() -> ctypes.CDLL | None:
    """launch.c, compiled and loaded; None where that fails, after a warning."""
    try:
        compiler = ClangCompiler(find_compiler(settings.CC), ("-pthread",))
        library = load_library(compiler.compile_cached(SOURCE.read_text()))
        library.tf_launch.restype = library.tf_replay.restype = None
        return library
    except (CompileError, OSError) as error:
        warnings.warn(
            f"kernels run on one thread, since the launch library could not be made: {error}",
            LaunchWarning,
            stacklevel=3,
        )
        return None


def _on_one_thread(entry: Any, bufs: bytes, vals: bytes | None, total: int, threads: int) -> None:
    entry(bufs, vals, 0, total)
