"""C for the CPU: CStyleLanguage as it is, with GCC's and Clang's vector extensions."""
from __future__ import annotations

from tinyframe.renderer.cstyle import CStyleLanguage


class CRenderer(CStyleLanguage):
    """C source for any compiler with vector extensions; see cstyle.py."""

    device = "CPU"
