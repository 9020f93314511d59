"""`UPat` under the path it had: see `matcher.py`."""

from tinyframe.rewrite.matcher import UPat

__all__ = ["UPat"]
