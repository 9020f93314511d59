"""Where peers have it: see `jit/`."""
