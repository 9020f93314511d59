"""`TinyJit` and `JitError`, at the path by which users of peers know them: see `jit/`."""

from tinyframe.jit.jit import JitError, TinyJit

__all__ = ["JitError", "TinyJit"]
