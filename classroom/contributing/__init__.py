"""Changing a framework, from a clone to a merged change: part 11's workbench.

    clone = Clone()                       a scratch copy; the tinyframe that you use stays as it is
    clone.put(test_sinc, TESTS)           a function of the notebook, written into a file of it
    clone.run_tests()                     in a process of its own, on the code of the copy
    clone.diff()                          what you would send

For 11a, `scratch.py` is the copy, `job.py` what runs in it, `planted.py` functions that are wrong
in a known way, `replayed.py` which kernels a change altered, `drive_by.py` five small changes that
nobody asked for, `clocks.py` machines on which it is hard to time anything, and `standards.py` what
a reviewer looks at first. For 11b, `patches.py` and `history.py` are a past to search,
`reviewed.py` and `review.py` a change with faults, `rms.py` and `ported.py` a kernel that goes to
PyTorch, and `issues.py` the list of first issues.
"""
