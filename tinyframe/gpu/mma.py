"""MMA, the instruction of tensor cores: the threads of a warp multiply two small matrices together.

    results (16 rows, 8 columns) += a (16 rows, deep) @ b (deep, 8 columns)

No thread holds a whole matrix. Thread 4*g + t of 32 supplies elements of rows g and g + 8 of `a`,
and as many of column g of `b`, from the same part of the sum; it receives four results:

    a[g, run*t …]  a[g + 8, run*t …]  b[run*t …, g]        run elements each, deep = 4*run
    results[g, 2*t]  [g, 2*t + 1]  [g + 8, 2*t]  [g + 8, 2*t + 1]

`run` is 4 for float16 and bfloat16. It is 2 for float32, where a core reads ten of 23 mantissa bits
(TF32). The PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions", defines the fragments of
mma.m16n8k16 and m16n8k8. There the second half of a run belongs to the second half of the sum; but
the order of a sum is free, so here a run is contiguous, and one vector load reads it.

The functions below work on numbers and on UOps alike.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from tinyframe.rewrite.spec import MMA_FORMS

THREADS, ROWS, COLUMNS = 32, 16, 8
# per thread: rows of a, and results
OWN_ROWS, RESULTS = 2, 4

DTYPES = {form: dtype for dtype, form in MMA_FORMS.items()}

# rows of a matrix that a FRAGMENT is made of, and elements of 16 bits in each
MATRIX = 8


def run(form: str) -> int:
    """The number of consecutive elements that a thread supplies, 8 bytes in all."""
    return 8 // DTYPES[form].itemsize


def depth(form: str) -> int:
    """The number of terms of the sum in one MMA."""
    return 4 * run(form)


def place_of_a(form: str, thread: Any, row: Any, n: Any) -> tuple[Any, Any]:
    """The row, and the position in the sum, of element `n` of a thread's first or second row."""
    return thread // 4 + row * 8, thread % 4 * run(form) + n


def place_of_b(form: str, thread: Any, n: Any) -> tuple[Any, Any]:
    """The position in the sum, and the column, of a thread's element `n`."""
    return thread % 4 * run(form) + n, thread // 4


def row_of_matrix(form: str, thread: Any, is_transposed: bool) -> tuple[Any, Any, Any]:
    """Whose element begins the row of a matrix that a thread gives the place of for a FRAGMENT: a
    thread's, in its first or second row, and the element's number.

    Of 32 threads, each 8 stand for a matrix: the first 8 rows with the first half of the sum, the
    same rows with its second half, and so for the other rows. If matrices are transposed, each of
    their rows in memory is a term of the sum.
    """
    line, half, lower = thread % MATRIX, thread // MATRIX % 2, thread // MATRIX // 2
    if is_transposed:
        term = line + half * MATRIX
        return term // run(form), lower, term % run(form)
    return line * 4 + half * (MATRIX // run(form)), lower, thread * 0


def fragment(rows: Sequence[Any], thread: int, count: int, is_transposed: bool) -> list[Any]:
    """The `count` elements that a thread gets, two of each matrix, from the rows of 8 whose places
    the threads of the warp have given. An MMA's sum is in the same order for both operands."""
    line, first = divmod(thread, 4)
    places = [(line, 2 * first + n)[:: -1 if is_transposed else 1] for n in range(2)]
    return [rows[MATRIX * m + y][x] for m in range(count // 2) for y, x in places]


def place_of_result(thread: Any, n: Any) -> tuple[Any, Any]:
    """The row and column of a thread's result `n`."""
    return thread // 4 + n // 2 * 8, thread % 4 * 2 + n % 2


def results(
    form: str, thread: int, given: Sequence[tuple[Sequence[float], Sequence[float]]]
) -> list[float]:
    """The results of one thread, given the elements of `a` and `b` from each thread of the warp."""
    length = run(form)
    a, b = dict[tuple, float](), dict[tuple, float]()
    for t, (of_a, of_b) in enumerate(given):
        a |= {place_of_a(form, t, n // length, n % length): x for n, x in enumerate(of_a)}
        b |= {place_of_b(form, t, n): x for n, x in enumerate(of_b)}
    places = [place_of_result(thread, n) for n in range(RESULTS)]
    return [sum(a[row, k] * b[k, column] for k in range(depth(form))) for row, column in places]


def to_tf32(x: float) -> float:
    """A float32 rounded to ten mantissa bits, like cvt.rna.tf32.f32: ties away from 0."""
    (bits,) = struct.unpack("I", struct.pack("f", x))
    if bits & 0x7F800000 != 0x7F800000:
        bits = bits + 0x1000 & ~0x1FFF
    rounded: float = struct.unpack("f", struct.pack("I", bits))[0]
    return rounded
