"""Divides a kernel's outer loop among threads: launch.c, compiled when it is first needed.

Python's own thread pool costs some 50 us a launch; this one a few, and its threads stay.
"""

from __future__ import annotations

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


@functools.cache
def launcher() -> Launch:
    """`tf_launch` of launch.c; where it cannot be had, after a warning, one on one thread."""
    try:
        compiler = ClangCompiler(find_compiler(settings.CC), ("-pthread",))
        launch = load_library(compiler.compile_cached(SOURCE.read_text())).tf_launch
        launch.restype = None
        return launch
    except (CompileError, OSError) as error:
        warnings.warn(
            f"kernels run on one thread, since the launch library could not be made: {error}",
            LaunchWarning,
            stacklevel=2,
        )
        return _on_one_thread


def _on_one_thread(entry: Any, bufs: bytes, vals: bytes | None, total: int, threads: int) -> None:
    entry(bufs, vals, 0, total)
