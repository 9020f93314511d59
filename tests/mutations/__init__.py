"""Planted bugs: does a test fail for each of them? See __main__.py."""
