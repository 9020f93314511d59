"""Measurements, side by side in one run. `python -m benchmarks.run` runs them all."""
