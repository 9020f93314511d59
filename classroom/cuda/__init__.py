"""Kernels for a GPU that a learner writes as text: run without one, with every access seen.

    reverse = Kernel("float* out, const float* a", "out[threadIdx.x] = a[7 - threadIdx.x];")
    (run,) = runs(reverse, Launch((1,), (8,), {"out": empty(8), "a": floats(8)}))
    accesses(run)                     every access, drawn

`source.py` makes a whole CUDA source of the text, `running.py` runs it in a process of its own
(with tinyframe's emulator, in `child.py`), `drawn.py` draws, `beside.py` puts tinyframe's kernel
next to it.
"""
