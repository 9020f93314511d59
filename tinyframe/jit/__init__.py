"""Capturing a function's kernels, and replaying them."""
