"""BEAM's search under the path it had: see `search/beam.py`."""

from tinyframe.search.beam import SearchResult, search, search_result

__all__ = ["SearchResult", "search", "search_result"]
