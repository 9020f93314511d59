"""Rewriting: patterns, tables of rules, and the engine that applies them."""

from tinyframe.rewrite.endless import RewriteLoopError
from tinyframe.rewrite.matcher import PatternMatcher, Rule, graph_rewrite, substitute
from tinyframe.rewrite.pattern import UPat

__all__ = ["PatternMatcher", "RewriteLoopError", "Rule", "UPat", "graph_rewrite", "substitute"]
