"""Measurements, side by side: `python -m benchmarks` runs them, `--help` explains."""
