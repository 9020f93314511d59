"""The tests. A package, so that they can share `tests.reference`."""
