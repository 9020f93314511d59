"""BEAM's search under its old import path; it is in `search/beam.py`."""

from tinyframe.search.beam import SearchResult, search, search_result

__all__ = ["SearchResult", "search", "search_result"]
