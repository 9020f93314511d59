"""Sizes beyond int32: indices and loops of 64 bits where bounds ask for them, and only there.

Nothing here needs the memory that the shapes speak of: what is large is an index into something
expanded, padded or counted, or a kernel that is written and not run.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.expressions import assert_equal_everywhere, variable
from tinyframe import Context, Tensor, Variable, dtypes
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opt, axes
from tinyframe.dtype import DType
from tinyframe.errors import ShapeError
from tinyframe.renderer import Target
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite.spec import SpecError, spec_kernel, verify
from tinyframe.uop.evaluate import evaluate
from tinyframe.uop.node import AxisType, Ops, UOp, elements

LIMIT = 2**31 - 1  # the largest int32
LARGE = 2**31 + 16
MACHINE = Target(vector_bytes=32, vector_registers=16, threads=2, l1=32 << 10, l2=1 << 20)


def kernel_of(t: Tensor) -> UOp:
    return t.schedule()[-1].ast


def source(t: Tensor) -> str:
    """What the kernel of `t` is on a CPU, without its entry, whose arguments are always alike."""
    text = get_program(kernel_of(t), CStyleLanguage(MACHINE)).src
    return text[: text.index("_entry(")]


def is_wide(text: str) -> bool:
    return re.search(r"\blong\b", text.replace("unsigned long long", "")) is not None


# ---- dtypes by size ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [5, LIMIT, LIMIT + 1, LARGE, 2**40])
def test_a_range_a_variable_and_a_size_have_a_dtype_that_holds_the_size(size):
    r, n = UOp.range(size, 0), Variable("n", 1, size)
    dtype = dtypes.int if size <= LIMIT else dtypes.long
    assert r.dtype is r.src[0].dtype is n.dtype is UOp.range(n, 0).dtype is dtype
    assert r.bounds == (0, size - 1) and r.src[0].arg == n.bind(size).val == size
    assert UOp.range(n, 0).vmax == size - 1


@pytest.mark.parametrize("of_size", [dtypes.int, dtypes.long])
@pytest.mark.parametrize("size", [LIMIT + 1, LARGE, 2**32 + 5, 2**40])
def test_spec_refuses_a_range_whose_dtype_does_not_hold_its_size(size, of_size):
    i = UOp(Ops.RANGE, dtypes.int, (UOp(Ops.CONST, of_size, (), size),), (0, AxisType.LOOP))
    place = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size), (), 0)
    with pytest.raises(SpecError, match="RANGE"):
        verify(UOp.sink(place.index(i).store(UOp.const(dtypes.float, 1.0), i)), spec_kernel)


def test_beside_an_index_of_64_bits_one_of_32_becomes_as_wide():
    i, j = UOp.range(LARGE, 0), UOp.range(7, 1)
    for mixed in (i + j, j + i, i * j, i // (j + 1), i.maximum(j)):
        assert mixed.dtype is dtypes.long
    assert (j < i).src[0].dtype is dtypes.long
    assert (i + j).bounds == (0, LARGE + 5)


def test_more_elements_than_an_index_can_count_are_refused_at_once():
    for make in (Tensor.empty, Tensor.ones):
        with pytest.raises(ShapeError, match="can count"):
            make(2**40, 2**40)
    with pytest.raises(ShapeError, match="can count"):
        Tensor.arange(2**40, dtype=dtypes.int64).reshape(-1, 1).expand(2**40, 2**40)
    assert Tensor.ones(2**40, 2**20)[-1, -1].item() == 1


def test_a_product_of_symbolic_sizes_does_not_wrap():
    n, m = Variable("n", 1, 2**20), Variable("m", 1, 2**20)
    assert elements((n, m, 4)).vmax == 2**42
    assert elements((n, 4)).dtype is dtypes.int


# ---- algebra across widths -----------------------------------------------------------------------


@st.composite
def mixed_sums(draw) -> UOp:
    """Sums, quotients and comparisons in int64 of int32s near the limit, and back again."""
    names = [
        variable("a", 0, draw(st.sampled_from([3, 65535, LIMIT]))),
        variable("b", draw(st.sampled_from([0, -4, -LIMIT])), draw(st.sampled_from([5, LIMIT]))),
        variable("c", 0, draw(st.sampled_from([7, 2**31, 2**33])), dtypes.long),
    ]
    numbers = st.sampled_from([1, 2, 3, -1, -3, 16, 65536, 2**31, 2**31 + 1, -(2**31)])

    def make(depth: int) -> UOp:
        if not depth:
            return draw(st.sampled_from(names))
        x = make(depth - 1)
        wide = x.cast(dtypes.long)
        match draw(st.sampled_from("+*/%<mn")):
            case "+":
                return wide + make(depth - 1)
            case "*":
                return wide * draw(numbers)
            case "/":
                return wide // abs(draw(numbers))
            case "%":
                return wide % abs(draw(numbers))
            case "<":
                other = make(depth - 1)
                return (wide < other).where(x, other.cast(x.dtype))
            case "m":
                return wide.maximum(make(depth - 1))
        return x.cast(dtypes.int)

    return make(3)


@given(mixed_sums())
def test_simplified_expressions_of_both_widths_are_equal(e):
    assert_equal_everywhere(e, e.simplify())


def test_sums_are_seen_through_widening():
    i, j = UOp.range(65536, 0), UOp.range(65536, 1)
    wide = (i.cast(dtypes.long) * 65536 + j).simplify()
    assert (wide // 65536).cast(dtypes.int).simplify() is i
    assert (wide % 65536).cast(dtypes.int).simplify() is j
    assert ((i + 3).cast(dtypes.long) + 4 - i).simplify().arg == 7


def test_a_sum_that_may_wrap_is_not_seen_through():
    a = variable("a", 0, LIMIT)
    wide = (a + 1).cast(dtypes.long).simplify()
    assert evaluate(wide, {a: LIMIT}) == -(2**31)
    wider = (a + 1).cast(dtypes.long) + 1
    assert_equal_everywhere(wider, wider.simplify())


# ---- values: of what is large in shape only ------------------------------------------------------


def counted(size: int = LARGE) -> Tensor:
    return Tensor.arange(size, dtype=dtypes.int64)


def repeated() -> Tensor:
    """0, 1, … 7, and so again 2**29 times."""
    return Tensor(list(range(8))).reshape(1, 8).expand(2**29, 8).flatten()


def squares() -> Tensor:
    return Tensor.arange(65536).reshape(-1, 1).expand(-1, 65536).flatten()


def picked(*places: int, dtype: DType) -> Tensor:
    return repeated()[Tensor(places, dtype=dtype)]


ENDS = range(LARGE - 2, LARGE)
VIRTUAL = {
    "counted": (lambda: counted()[2**31 - 3 : 2**31 + 3], range(2**31 - 3, 2**31 + 3)),
    "flipped": (lambda: counted().flip(0)[:4] - 2**31, [15, 14, 13, 12]),
    "in steps": (lambda: counted()[:: 2**30] + 0, [0, 2**30, 2**31]),
    "divided": (lambda: (counted() // 16 % 1000)[-2:] + 0, [n // 16 % 1000 for n in ENDS]),
    "expanded": (lambda: repeated()[2**31 - 3 : 2**31 + 2], [5, 6, 7, 0, 1]),
    "squares": (lambda: squares()[LIMIT : LIMIT + 2], [32767, 32768]),
    "padded": (lambda: Tensor([1, 2, 3]).pad(((2**31, 5),))[2**31 - 1 : -4] * 2, [0, 2, 4, 6, 0]),
    "picked": (lambda: picked(2**31 + 1, 2**32 - 1, -2, dtype=dtypes.int64), [1, 7, 6]),
    "picked by narrow indices": (lambda: picked(-3, 12, dtype=dtypes.int32), [5, 4]),
    "windows": (lambda: counted().unfold(0, 2, 2**30)[-1] + 0, [2**31, 2**31 + 1]),
    "joined": (lambda: Tensor.zeros(2**31).int().cat(Tensor([7, 8]))[-3:] + 0, [0, 7, 8]),
    "rolled": (lambda: counted().roll(3)[2**31 : 2**31 + 2] + 0, [2**31 - 3, 2**31 - 2]),
}


@pytest.mark.parametrize(("device", "plain"), [("CPU", 0), ("PYTHON", 1)])
@pytest.mark.parametrize("name", VIRTUAL)
def test_values_around_the_limit(name, plain, device):
    made, expected = VIRTUAL[name]
    with Context(NOOPT=plain, DEVICE=device):
        assert made().tolist() == list(expected)


# ---- programs ------------------------------------------------------------------------------------


def large(*shape: int) -> Tensor:
    return Tensor.empty(*shape, dtype=dtypes.uint8)


def upto(name: str, largest: int = 65536) -> UOp:
    return Variable(name, 1, largest).bind(2)


WIDE = {
    "elementwise": lambda: large(LARGE) + 1,
    "rows": lambda: large(65536, 65536) + 1,
    "transposed": lambda: large(65536, 32769).T.contiguous(),
    "flipped": lambda: large(LARGE).flip(0) + 1,
    "row sums": lambda: large(65536, 65536).sum(1),
    "column": lambda: large(65536, 65536)[:, 5] + 1,
    "counted": lambda: Tensor.arange(LARGE, dtype=dtypes.int64).contiguous(),
    "padded": lambda: large(2**31 - 8).pad(((8, 8),)).contiguous(),
    "variable": lambda: large(LARGE)[: upto("n", LARGE)] + 1,
    "two variables": lambda: large(65536, 65536)[: upto("m"), : upto("n")] + 1,
}


@pytest.mark.parametrize("plain", [0, 1])
@pytest.mark.parametrize("name", WIDE)
def test_what_is_large_is_computed_with_64_bits_and_no_index_can_wrap(name, plain):
    """The bounds of every index are known, and lie within its buffer; a launch can be counted."""
    with Context(NOOPT=plain):
        program = get_program(kernel_of(WIDE[name]()), CStyleLanguage(MACHINE))
    assert is_wide(program.src[: program.src.index("_entry(")])
    for u in program.uops:
        if u.op is Ops.INDEX and u.src[0].op is Ops.DEFINE_GLOBAL and not u.variables():
            low, high = u.src[2].bounds
            if u.src[1].op is Ops.CONST:
                assert 0 <= low <= high < u.src[0].dtype.size
        if u.op is Ops.RANGE:
            assert u.src[0].op is not Ops.CONST or u.src[0].arg <= dtypes.max(u.dtype)
    if name in ("elementwise", "rows", "flipped", "counted", "padded") and not plain:
        assert 1 < program.global_size[0] <= LIMIT, "it is divided among cores"
    if name in ("elementwise", "rows") and not plain:
        assert "uchar32" in program.src and "val0[" not in program.src, "and made of vectors"


NARROW = {
    "elementwise": lambda: large(LIMIT - 15) + 1,
    "rows": lambda: large(32768, 65535) + 1,
    "column": lambda: large(32768, 65535)[:, 5] + 1,
    "row sums": lambda: large(32768, 65535).sum(1),
    "bytes": lambda: Tensor.empty(2**30, dtype=dtypes.float) + 1,
    "variable": lambda: large(LIMIT)[: upto("n", LIMIT)] + 1,
}


@pytest.mark.parametrize("name", NARROW)
def test_what_int32_can_count_is_computed_with_32_bits(name):
    assert not is_wide(source(NARROW[name]()))


def test_a_loop_that_a_launch_cannot_count_is_not_divided_among_cores_whole():
    kernel = kernel_of(large(LARGE) + 1)
    with pytest.raises(KernelOptError, match="SPLIT"):
        apply_opt(kernel, Opt(OptOps.THREAD, 0))
    divided = apply_opt(apply_opt(kernel, Opt(OptOps.SPLIT, 0, 1 << 16)), Opt(OptOps.THREAD, 0))
    assert axes(divided)[0].dtype is dtypes.int


def test_a_long_loop_without_vectors_goes_to_the_cores_in_turns():
    scattered = Tensor.empty(LARGE * 2, dtype=dtypes.uint8)[::2] + 1
    program = get_program(kernel_of(scattered), CStyleLanguage(Target(1, 16, 2, 1 << 15, 1 << 20)))
    assert [opt.op for opt in program.opts] == [OptOps.SPLIT, OptOps.THREAD]


def test_tiles_of_a_long_loop_end_with_it():
    """A size that the tile does not divide: the last tile is moved back, in 64 bits too."""
    kernel = kernel_of(Tensor.arange(LARGE + 5, dtype=dtypes.int64).contiguous())
    tiled = apply_opt(kernel, Opt(OptOps.SPLIT, 0, 1000))
    (index,) = [u for u in tiled.toposort() if u.op is Ops.INDEX]
    outer, inner = axes(tiled)
    at = index.src[2]
    assert evaluate(at, {outer: outer.vmax, inner: inner.vmax}) == LARGE + 4
    assert evaluate(at, {outer: 2147484, inner: 7}) == LARGE + 5 - 1000 + 7
    assert evaluate(at, {outer: 2147482, inner: 999}) == 2147482 * 1000 + 999


# ---- numbers of elements as values ---------------------------------------------------------------


def test_indices_as_values_are_int64_where_int32_cannot_count():
    assert large(LARGE).argmax().dtype is large(LARGE).argmin().dtype is dtypes.int64
    assert large(65536, 65536).argmax().dtype is dtypes.int64
    assert large(65536, 65536).argmax(1).dtype is dtypes.int32
    assert large(LARGE).count_nonzero().dtype is dtypes.int64
    assert large(100).argmax().dtype is large(100).count_nonzero().dtype is dtypes.int32


def test_arange_says_what_does_not_fit():
    with pytest.raises(OverflowError, match="2147483663"):
        Tensor.arange(LARGE)
    with pytest.raises(OverflowError, match="2147483663"):
        Tensor.arange(Variable("n", 1, LARGE).bind(3))


def test_an_index_as_a_narrow_number_is_not_taken_for_the_index():
    """250 as an int8 is -6: the sum selects row 250, and no row -6."""
    table = Tensor(np.arange(300, dtype=np.int32))
    numbers = Tensor.arange(300).cast(dtypes.int8)
    wanted = Tensor(np.array([-6, 7, 100], np.int8)).reshape(-1, 1)
    found = (wanted == numbers).where(table, 0).sum(1)
    as_int8 = np.arange(300).astype(np.int8)
    expected = [np.flatnonzero(as_int8 == w).sum() for w in (-6, 7, 100)]
    assert found.tolist() == expected


def test_take_with_narrow_indices_counts_from_the_end():
    assert Tensor(list(range(300))).take(Tensor([-1, 5], dtype=dtypes.int8)).tolist() == [299, 5]
