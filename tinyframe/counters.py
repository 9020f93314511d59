"""What has been run so far in this process: kernels, operations, bytes, time, memory.

`GlobalCounters` is the one place where it is counted; DEBUG=1 and DEBUG=2 print from it, and a test
or a grader reads it:

    GlobalCounters.reset()
    (a + b).relu().sum().realize()
    assert GlobalCounters.kernel_count == 1
"""

from __future__ import annotations

from typing import ClassVar


class GlobalCounters:
    """Totals since the start or the last `reset()`."""

    kernel_count: ClassVar[int] = 0  # kernels run
    global_ops: ClassVar[int] = 0  # arithmetic operations in them, estimated
    global_mem: ClassVar[int] = 0  # bytes they read and wrote, estimated
    time_sum_s: ClassVar[float] = 0.0  # seconds they took
    mem_used: ClassVar[int] = 0  # bytes that live Buffers hold now
    mem_peak: ClassVar[int] = 0  # the most that mem_used has been since reset()

    @classmethod
    def reset(cls) -> None:
        """All totals to 0. Memory in use stays what it is, and the peak starts from there."""
        cls.kernel_count = cls.global_ops = cls.global_mem = 0
        cls.time_sum_s = 0.0
        cls.mem_peak = cls.mem_used

    @classmethod
    def count_memory(cls, nbytes: int) -> None:
        """`nbytes` more are held by a Buffer, or fewer where it is negative."""
        cls.mem_used += nbytes
        if cls.mem_used > cls.mem_peak:
            cls.mem_peak = cls.mem_used
