"""MMA, what a tensor core does: a small matrix product that the threads of a warp compute together.

    results (16 rows, 8 columns) += a (16 rows, deep) @ b (deep, 8 columns)

No thread has a whole matrix. Of 32, thread 4*g + t gives the core some numbers of rows g and g + 8
of `a`, and as many of column g of `b`, from the same part of the sum; it gets four of the results:

    a[g, run*t …]  a[g + 8, run*t …]  b[run*t …, g]        run numbers each, deep = 4*run
    results[g, 2*t]  [g, 2*t + 1]  [g + 8, 2*t]  [g + 8, 2*t + 1]

`run` is 4 for float16 and bfloat16. It is 2 for float32, of which a core reads ten digits of 23
(TF32). The PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions", has the fragments of
mma.m16n8k16 and m16n8k8. There the second half of a run is of the sum's second half; as the order
of a sum is free, a run is successive numbers here, which memory gives at once.

The functions below are of numbers and of UOps alike.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from tinyframe.rewrite.spec import MMA_FORMS

THREADS, ROWS, COLUMNS = 32, 16, 8
# of each thread: rows of a, and results
OWN_ROWS, RESULTS = 2, 4

DTYPES = {form: dtype for dtype, form in MMA_FORMS.items()}

# Threads that read runs in four rows of shared memory at once find them in different banks where a
# row is an odd number of such pieces: four runs of 8 bytes.
PIECE_BYTES = 32


def run(form: str) -> int:
    """Successive numbers of a sum that a thread gives at once: 8 bytes."""
    return 8 // DTYPES[form].itemsize


def depth(form: str) -> int:
    """How much of the sum one MMA does."""
    return 4 * run(form)


def place_of_a(form: str, thread: Any, row: Any, n: Any) -> tuple[Any, Any]:
    """Row, and place in the sum, of number `n` in a thread's first or second row."""
    return thread // 4 + row * 8, thread % 4 * run(form) + n


def place_of_b(form: str, thread: Any, n: Any) -> tuple[Any, Any]:
    """Place in the sum, and column, of number `n` of a thread."""
    return thread % 4 * run(form) + n, thread // 4


def place_of_result(thread: Any, n: Any) -> tuple[Any, Any]:
    """Row and column of a thread's result `n`."""
    return thread // 4 + n // 2 * 8, thread % 4 * 2 + n % 2


def results(
    form: str, thread: int, given: Sequence[tuple[Sequence[float], Sequence[float]]]
) -> list[float]:
    """Those of one thread, from what each thread of the warp gives of `a` and of `b`."""
    length = run(form)
    a = {
        place_of_a(form, t, n // length, n % length): x
        for t, (numbers, _) in enumerate(given)
        for n, x in enumerate(numbers)
    }
    b = {
        place_of_b(form, t, n): x
        for t, (_, numbers) in enumerate(given)
        for n, x in enumerate(numbers)
    }
    places = [place_of_result(thread, n) for n in range(RESULTS)]
    return [sum(a[row, k] * b[k, column] for k in range(depth(form))) for row, column in places]


def to_tf32(x: float) -> float:
    """A float32 with ten digits behind the point, as cvt.rna.tf32.f32 rounds: ties away from 0."""
    (bits,) = struct.unpack("I", struct.pack("f", x))
    if bits & 0x7F800000 != 0x7F800000:
        bits = bits + 0x1000 & ~0x1FFF
    rounded: float = struct.unpack("f", struct.pack("I", bits))[0]
    return rounded
