"""Rewriting: patterns, tables of rules, and the engine that applies them."""

from tinyframe.rewrite.matcher import (
    PatternMatcher,
    RewriteLoopError,
    Rule,
    UPat,
    graph_rewrite,
    substitute,
)

__all__ = ["PatternMatcher", "RewriteLoopError", "Rule", "UPat", "graph_rewrite", "substitute"]
