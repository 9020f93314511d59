"""TENSOR_CORE: each warp computes a tile of a matrix product with MMA instructions.

    for i: for j: for k: s += float(a[i, k]) * float(b[k, j])       a and b of float16

    for i: for j:                          16 rows and 8 columns each, by 32 threads
      for k: s4 += MMA(a2, b2)             16 terms of the sum at a time
      c[16*i + …, 8*j + …] = s4            four results per thread

Each thread holds some elements of `a`, some of `b`, and some of the results; `gpu/mma.py` defines
these three layouts. So the operands of an MMA have ranges of their own: a thread's rows (UNROLL)
and a run of the sum (VECTOR). The results are lanes (VECTOR) of whatever uses the sum.

A product of float16 or bfloat16 is exact in float32, so only the order of additions differs. Of
float32's 23 mantissa bits a tensor core reads only ten, so TF32=1 has to allow it.
"""

from __future__ import annotations

from tinyframe.algebra.symbolic import is_multiple, terms
from tinyframe.codegen.optimize.opt import (
    KernelOptError,
    Opt,
    axis_of,
    fresh_range,
    not_inside_a_copy,
    replace_ranges,
    split_range,
)
from tinyframe.dtype import dtypes
from tinyframe.gpu import mma
from tinyframe.renderer import Target
from tinyframe.rewrite.spec import MMA_FORMS
from tinyframe.settings import settings
from tinyframe.uop.node import AxisType, Ops, UOp, axis_type, extent, is_symbolic, rebuild


def operands(reduce: UOp) -> tuple[UOp, UOp, str] | None:
    """The operands that a tensor core would multiply for this sum, and their format; None if it is
    not a sum of products, or its dtypes are not supported."""
    value = reduce.src[0]
    if reduce.arg is not Ops.ADD or value.op is not Ops.MUL or value.dtype is not dtypes.float:
        return None
    narrow = [x.src[0] if x.op is Ops.CAST else x for x in value.src]
    for a, b in (narrow, value.src):
        if a.dtype is b.dtype and a.dtype in MMA_FORMS:
            return a, b, MMA_FORMS[a.dtype]
    return None


def tensor_core(sink: UOp, opt: Opt) -> UOp:
    """Opt(TENSOR_CORE, (row, column, summed)): a warp computes 16 rows and 8 columns of results,
    16 (TF32: 8) terms of the sum at a time."""
    if not isinstance(opt.axis, tuple) or len(opt.axis) != 3:
        raise KernelOptError("it takes three axes: of rows, of columns, and of the sum")
    row, column, summed = (axis_of(sink, n) for n in opt.axis)
    kinds = tuple(map(axis_type, (row, column, summed)))
    if kinds != (AxisType.LOOP, AxisType.LOOP, AxisType.REDUCE):
        raise KernelOptError("rows and columns are loops around the stores, the sum is a reduce's")
    if row is column or any(map(is_symbolic, (row, column, summed))):
        raise KernelOptError("three different loops, of fixed sizes")
    if any(u.op is Ops.MMA for u in sink.toposort()):
        raise KernelOptError("the kernel uses tensor cores already")
    reduce = _reduce_over(sink, summed)
    found = operands(reduce)
    if found is None:
        raise KernelOptError(
            "a tensor core sums products of two float16, two bfloat16 or two float32 in float32"
        )
    a, b, form = found
    has_rows, has_columns = ([r in x.ranges for x in (a, b)] for r in (row, column))
    if sorted(has_rows) != [False, True] or has_columns != has_rows[::-1]:
        raise KernelOptError("one operand has the rows, and the other one has the columns")
    deep = mma.depth(form)
    if extent(summed) % deep or (extent(summed) == deep and len(reduce.own_ranges) == 1):
        raise KernelOptError(
            f"a sum of {extent(summed)}: a tensor core takes {deep} at a time, more than once"
        )
    inner = []
    for r, n in ((row, mma.ROWS), (column, mma.COLUMNS), (summed, deep)):
        not_inside_a_copy(sink, r)
        inner.append(fresh_range(sink, n, AxisType.UPCAST))
        sink = split_range(sink, r, n, AxisType.UPCAST)
    return _with_mma(sink, *inner)


def _reduce_over(sink: UOp, summed: UOp) -> UOp:
    return next(u for u in sink.toposort() if u.op is Ops.REDUCE and summed in u.own_ranges)


def _with_mma(sink: UOp, row: UOp, column: UOp, summed: UOp) -> UOp:
    """Replaces these ranges, the inner parts of three loops, with an MMA of a warp."""
    reduce = _reduce_over(sink, summed)
    found = operands(reduce)
    assert found is not None, "dividing loops has changed what is summed"
    a, b, form = found
    if row not in a.ranges:
        a, b = b, a

    thread = fresh_range(sink, mma.THREADS, AxisType.WARP, 0)
    result = fresh_range(sink, mma.RESULTS, AxisType.VECTOR, 1)
    own_row = fresh_range(sink, mma.OWN_ROWS, AxisType.UNROLL, 2)
    number = fresh_range(sink, mma.run(form), AxisType.VECTOR, 3)

    def at(places: dict[UOp, UOp]) -> dict[UOp, UOp]:
        return {r: place.simplify().cast(r.dtype) for r, place in places.items()}

    row_of_a, sum_of_a = mma.place_of_a(form, thread, own_row, number)
    sum_of_b, column_of_b = mma.place_of_b(form, thread, number)
    a = replace_ranges(a, at({row: row_of_a, summed: sum_of_a}))
    b = replace_ranges(b, at({column: column_of_b, summed: sum_of_b}))
    product = UOp(Ops.MMA, dtypes.float, (a, b, result, own_row, number), form)
    total = product.reduce(reduce.arg, *[r for r in reduce.own_ranges if r is not summed])
    results = at(dict(zip((row, column), mma.place_of_result(thread, result), strict=True)))
    return replace_ranges(sink, {**results, reduce: total})


def why_no_tensor_core(form: str, target: Target) -> str | None:
    """Why a device's tensor cores cannot or may not take operands of this format; None if they
    may."""
    if form not in target.tensor_cores:
        return f"this device has no tensor cores for {form}"
    if form == "tf32" and not settings.TF32:
        return "a tensor core reads only ten of float32's 23 mantissa bits: TF32=1 allows that"
    return None


# ---- fragments: how a warp reads operands from panels --------------------------------------------
# A thread can read its elements one run after the other. For operands of 16 bits there is something
# better: a warp reads whole matrices of 8 × 8 elements at once (PTX: ldmatrix), and transposes them
# if a column is contiguous instead of a row. So a panel can have the layout of the argument, and is
# copied by whole vectors.


def with_fragments(sink: UOp) -> UOp:
    """The kernel with the operands of each MMA read as FRAGMENTs, if that is possible for both."""

    def changed(old: UOp, u: UOp) -> UOp:
        if u.op is not Ops.MMA or any(x.op is not Ops.LOAD for x in u.src[:2]):
            return u
        given = (_fragment(x.src[0], *u.src[3:]) for x in u.src[:2])
        read = [x for x in given if x is not None]
        return u.replace(src=(*read, u.src[2])) if len(read) == 2 else u

    return rebuild(sink, changed)


def _fragment(index: UOp, own_row: UOp, number: UOp) -> UOp | None:
    """The FRAGMENT of an MMA's operand at this INDEX; None if it is not in a panel of 16 bits, made
    of contiguous and aligned rows of matrices, or of columns."""
    memory, valid, flat = index.src
    if memory.op is not Ops.STAGE or memory.dtype.base.itemsize != 2 or valid.op is not Ops.CONST:
        return None
    thread = next(r for r in index.ranges if axis_type(r) is AxisType.WARP)

    def at(*places: UOp) -> UOp:
        found = zip((thread, own_row, number), places, strict=True)
        return flat.substitute({r: place.cast(r.dtype) for r, place in found}).simplify()

    zero, form = thread.const_like(0), MMA_FORMS[memory.dtype.base]
    along_rows = (at(zero + 4, zero, zero) - at(zero, zero, zero)).simplify()
    is_transposed = along_rows.op is Ops.CONST and along_rows.arg == 1
    place = at(*mma.row_of_matrix(form, thread, is_transposed))
    if not (is_transposed or terms(flat).get(number) == 1) or not is_multiple(place, mma.MATRIX):
        return None
    count = mma.run(form) * (mma.OWN_ROWS if own_row in index.ranges else 1)
    index = index.replace(src=(memory, valid, place))
    return UOp(Ops.FRAGMENT, memory.dtype.base, (index,), (count, is_transposed))
