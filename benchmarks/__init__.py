"""Measurements, side by side in one run. `python -m benchmarks.run` runs them all."""

import os

# Before NumPy is loaded, whose BLAS asks once: as many threads as ours.
if threads := os.environ.get("THREADS"):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, threads)
