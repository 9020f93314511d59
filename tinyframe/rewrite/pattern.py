"""`UPat` under its former path; see `matcher.py`."""

from tinyframe.rewrite.matcher import UPat

__all__ = ["UPat"]
