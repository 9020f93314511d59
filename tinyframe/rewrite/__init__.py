"""Rewriting: patterns, tables of rules, and the engine that applies them."""

from tinyframe.rewrite.matcher import PatternMatcher, Rule, graph_rewrite, substitute
from tinyframe.rewrite.pattern import UPat
from tinyframe.rewrite.steps import RewriteLoopError

__all__ = ["PatternMatcher", "RewriteLoopError", "Rule", "UPat", "graph_rewrite", "substitute"]
