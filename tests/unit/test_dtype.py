"""Dtypes: they are interned, promote as JAX documents, and round as NumPy and ml_dtypes do."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import re
import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_np

from tinyframe.dtype import (
    DTYPES_DICT,
    INVERSE_DTYPES_DICT,
    AddrSpace,
    DType,
    Invalid,
    PtrDType,
    bf16_to_f32,
    can_lossless_cast,
    dtypes,
    f32_to_bf16,
    from_np_dtype,
    least_upper_dtype,
    least_upper_float,
    sum_acc_dtype,
    to_dtype,
    to_np_dtype,
    truncate,
)

any_dtype = st.sampled_from(dtypes.all)
int_dtype = st.sampled_from(dtypes.ints)
any_double = st.floats(width=64)
any_int = st.integers(min_value=-(2**80), max_value=2**80)


def numpy_like(dtype: DType) -> np.dtype:
    """NumPy's dtype, with ml_dtypes' for bfloat16."""
    return np.dtype(to_np_dtype(dtype) or ml_dtypes.bfloat16)


def same_float(x: float, y: float) -> bool:
    """Equal to the last bit, the sign of zero included; any NaN is like any other."""
    return (math.isnan(x) and math.isnan(y)) or struct.pack("d", x) == struct.pack("d", y)


@pytest.fixture
def restore_defaults():
    before = dtypes.default_float, dtypes.default_int
    yield
    dtypes.default_float, dtypes.default_int = before


# *** DType and PtrDType ***


def test_every_dtype_exists_once_also_after_pickle_and_copy():
    vectors = [d.vec(4) for d in dtypes.all]
    pointers = [d.ptr(8, space) for d in (*dtypes.all, *vectors) for space in AddrSpace]
    for dtype in (*dtypes.all, dtypes.void, *vectors, *pointers):
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert copy.copy(dtype) is copy.deepcopy(dtype) is dtype
    assert dtypes.int.vec(4) is dtypes.int.vec(4)
    assert dtypes.int.ptr() is dtypes.int.ptr(-1, AddrSpace.GLOBAL)
    assert dtypes.int.ptr(4) is not dtypes.int.ptr(4, AddrSpace.LOCAL)
    assert len({*dtypes.all, *vectors, *pointers}) == len(dtypes.all) * (2 + 2 * len(AddrSpace))


@given(st.sampled_from((*dtypes.all, dtypes.void)))
def test_a_printed_dtype_is_an_expression_for_it(dtype):
    assert eval(repr(dtype)) is dtype


def test_a_vector_has_the_bytes_of_its_lanes_and_the_range_of_one():
    vector = dtypes.int16.vec(8)
    assert (vector.itemsize, vector.count, vector.bits, vector.name) == (16, 8, 128, "short8")
    assert vector.scalar() is dtypes.int16 and vector.base is vector
    assert (vector.min, vector.max) == (-(2**15), 2**15 - 1)
    assert dtypes.int16.vec(1) is dtypes.int16


def test_a_pointer_knows_what_it_points_to():
    pointer = dtypes.float.vec(4).ptr(16, AddrSpace.REG)
    assert isinstance(pointer, PtrDType)
    assert pointer.base is dtypes.float.vec(4) and pointer.scalar() is dtypes.float
    assert (pointer.size, pointer.addrspace, pointer.nbytes) == (16, AddrSpace.REG, 256)
    assert pointer.vec(1) is pointer


def test_dtypes_are_ordered_by_priority():
    assert sorted(dtypes.all) == sorted(dtypes.all, key=lambda d: d.priority)
    assert dtypes.bool < dtypes.int8 < dtypes.uint8 < dtypes.uint64 < dtypes.half < dtypes.double
    assert dtypes.double > dtypes.float >= dtypes.float and dtypes.half <= dtypes.half


@given(any_dtype)
def test_min_and_max_are_numpys_and_infinite_for_floats(dtype):
    if dtypes.is_float(dtype):
        expected = (-math.inf, math.inf)
    elif dtypes.is_bool(dtype):
        expected = (False, True)
    else:
        info = np.iinfo(to_np_dtype(dtype))
        expected = (int(info.min), int(info.max))
    assert (dtype.min, dtype.max) == (dtypes.min(dtype), dtypes.max(dtype)) == expected
    assert type(dtype.min) is type(dtype.max) is type(expected[0])


# *** dtypes ***


def test_each_family_holds_its_dtypes_also_for_vectors_and_pointers():
    for dtype in dtypes.all:
        families = (dtypes.is_float(dtype), dtypes.is_int(dtype), dtypes.is_bool(dtype))
        assert sum(families) == 1
        for other in (dtype.vec(2), dtype.ptr(2), dtype.vec(2).ptr(2)):
            got = (dtypes.is_float(other), dtypes.is_int(other), dtypes.is_bool(other))
            assert got == families
        assert dtypes.is_unsigned(dtype) == (numpy_like(dtype).kind == "u")
    assert not any(f(dtypes.void) for f in (dtypes.is_float, dtypes.is_int, dtypes.is_bool))
    assert set(dtypes.ints) == set(dtypes.uints) | set(dtypes.sints)


@given(st.sampled_from(dtypes.floats))
def test_finfo_is_exponent_and_mantissa_bits(dtype):
    info = ml_dtypes.finfo(numpy_like(dtype))
    assert dtypes.finfo(dtype) == dtypes.finfo(dtype.vec(2)) == (info.nexp, info.nmant)


def test_fields_names_every_dtype_but_void():
    assert set(dtypes.fields().values()) == set(dtypes.all)
    assert dtypes.fields() is DTYPES_DICT and "void" not in DTYPES_DICT
    assert "default_float" not in DTYPES_DICT
    for dtype in dtypes.all:
        assert DTYPES_DICT[INVERSE_DTYPES_DICT[dtype.name]] is dtype


def test_from_py_takes_the_widest_of_what_it_finds():
    assert dtypes.from_py(True) is dtypes.bool
    assert dtypes.from_py(3) is dtypes.int32
    assert dtypes.from_py(3.0) is dtypes.float32
    assert dtypes.from_py([]) is dtypes.float32
    assert dtypes.from_py([True, False]) is dtypes.bool
    assert dtypes.from_py([True, 2]) is dtypes.int32
    assert dtypes.from_py([[1, 2], (3, 4.0)]) is dtypes.float32
    assert dtypes.from_py([1, [2, [True]]]) is dtypes.int32


def test_defaults_can_be_assigned_and_are_followed(restore_defaults):
    dtypes.default_float, dtypes.default_int = dtypes.float64, dtypes.int64
    assert dtypes.from_py([1]) is dtypes.int64
    assert dtypes.from_py(1.0) is dtypes.from_py(()) is dtypes.float64
    assert least_upper_float(dtypes.int8) is dtypes.float64
    assert least_upper_dtype(dtypes.int64, dtypes.uint64) is dtypes.float64
    dtypes.default_float = dtypes.bfloat16
    assert least_upper_dtype(dtypes.int64, dtypes.uint64) is dtypes.bfloat16


def test_as_const_gives_the_python_type_of_the_dtype():
    cases = [(1, dtypes.float, 1.0), (True, dtypes.int, 1), (2.7, dtypes.int8, 2),
             (3, dtypes.bool, True), (1.5, dtypes.half, 1.5)]  # fmt: skip
    for value, dtype, expected in cases:
        got = dtypes.as_const(value, dtype)
        assert got == expected and type(got) is type(expected)
    assert dtypes.as_const((1, 2), dtypes.float.vec(2)) == (1.0, 2.0)
    assert dtypes.as_const(Invalid, dtypes.int) is Invalid


# *** promotion ***

# The binary promotion table of JAX's documentation, without the types we lack. A row and a column
# name the operands; f* is JAX's weak float, for us the default float.
JAX_TABLE = """
     b1   u1   u2   u4   u8   i1   i2   i4   i8   bf   f2   f4   f8
b1   b1   u1   u2   u4   u8   i1   i2   i4   i8   bf   f2   f4   f8
u1   u1   u1   u2   u4   u8   i2   i2   i4   i8   bf   f2   f4   f8
u2   u2   u2   u2   u4   u8   i4   i4   i4   i8   bf   f2   f4   f8
u4   u4   u4   u4   u4   u8   i8   i8   i8   i8   bf   f2   f4   f8
u8   u8   u8   u8   u8   u8   f*   f*   f*   f*   bf   f2   f4   f8
i1   i1   i2   i4   i8   f*   i1   i2   i4   i8   bf   f2   f4   f8
i2   i2   i2   i4   i8   f*   i2   i2   i4   i8   bf   f2   f4   f8
i4   i4   i4   i4   i8   f*   i4   i4   i4   i8   bf   f2   f4   f8
i8   i8   i8   i8   i8   f*   i8   i8   i8   i8   bf   f2   f4   f8
bf   bf   bf   bf   bf   bf   bf   bf   bf   bf   bf   f4   f4   f8
f2   f2   f2   f2   f2   f2   f2   f2   f2   f2   f4   f2   f4   f8
f4   f4   f4   f4   f4   f4   f4   f4   f4   f4   f4   f4   f4   f8
f8   f8   f8   f8   f8   f8   f8   f8   f8   f8   f8   f8   f8   f8
"""
JAX_CODES = {
    "b1": dtypes.bool, "u1": dtypes.uint8, "u2": dtypes.uint16, "u4": dtypes.uint32,
    "u8": dtypes.uint64, "i1": dtypes.int8, "i2": dtypes.int16, "i4": dtypes.int32,
    "i8": dtypes.int64, "bf": dtypes.bfloat16, "f2": dtypes.half, "f4": dtypes.float,
    "f8": dtypes.double, "f*": dtypes.float,
}  # fmt: skip


def test_two_dtypes_promote_as_in_jaxs_table():
    columns, *lines = [line.split() for line in JAX_TABLE.strip().splitlines()]
    expected = {
        (JAX_CODES[line[0]], JAX_CODES[column]): JAX_CODES[cell]
        for line in lines
        for column, cell in zip(columns, line[1:], strict=True)
    }
    assert len(expected) == len(dtypes.all) ** 2
    assert {pair: least_upper_dtype(*pair) for pair in expected} == expected


def test_a_float_stays_and_the_rest_become_the_default_float():
    for dtype in dtypes.all:
        expected = dtype if dtypes.is_float(dtype) else dtypes.float32
        assert least_upper_float(dtype) is expected
        assert least_upper_float(dtype.vec(4)) is expected.vec(4)


def test_sums_accumulate_in_at_least_32_bits_of_the_family():
    names = {
        "bool": "int32", "int8": "int32", "int16": "int32", "int32": "int32", "int64": "int64",
        "uint8": "uint32", "uint16": "uint32", "uint32": "uint32", "uint64": "uint64",
        "half": "float32", "bfloat16": "float32", "float32": "float32", "float64": "float64",
    }  # fmt: skip
    assert {name: sum_acc_dtype(to_dtype(name)) for name in names} == {
        name: to_dtype(acc) for name, acc in names.items()
    }


# *** lossless casts ***


def test_lossless_casts_are_numpys_safe_ones():
    # NumPy calls int64 -> float64 safe, which it is not; all else is the same.
    wrong_in_numpy = {(s, dtypes.float64) for s in (dtypes.int64, dtypes.uint64)}
    for source, target in itertools.product(dtypes.all, repeat=2):
        if dtypes.bfloat16 in (source, target):
            continue
        safe = np.can_cast(to_np_dtype(source), to_np_dtype(target), "safe")
        expected = safe and (source, target) not in wrong_in_numpy
        assert can_lossless_cast(source, target) is expected, (source, target)


def test_lossless_casts_of_bfloat16():
    into = {s for s in dtypes.all if can_lossless_cast(s, dtypes.bfloat16)}
    out = {t for t in dtypes.all if can_lossless_cast(dtypes.bfloat16, t)}
    assert into == {dtypes.bool, dtypes.int8, dtypes.uint8, dtypes.bfloat16}
    assert out == {dtypes.bfloat16, dtypes.float32, dtypes.float64}


@given(any_dtype, any_dtype, st.data())
def test_a_lossless_cast_gives_every_value_back(source, target, data):
    if not can_lossless_cast(source, target):
        return
    value = truncate[source](data.draw(any_double if dtypes.is_float(source) else any_int))
    back = truncate[source](truncate[target](value))
    assert same_float(back, value) if dtypes.is_float(source) else back == value


def test_lossless_casts_of_vectors_and_pointers():
    assert can_lossless_cast(dtypes.int.vec(4), dtypes.long.vec(4))
    assert not can_lossless_cast(dtypes.int.vec(4), dtypes.long.vec(2))
    assert not can_lossless_cast(dtypes.int.ptr(4), dtypes.int)
    assert not can_lossless_cast(dtypes.bool, dtypes.void)
    assert can_lossless_cast(dtypes.int.ptr(4), dtypes.int.ptr(4))


# *** names and NumPy ***


def test_to_dtype_takes_a_dtype_or_any_of_its_names():
    for name, dtype in DTYPES_DICT.items():
        assert to_dtype(name) is to_dtype(name.upper()) is to_dtype(dtype) is dtype
        assert to_dtype(repr(dtype)) is dtype


@given(any_dtype)
def test_numpy_dtypes_go_there_and_back(dtype):
    if dtype is dtypes.bfloat16:
        assert to_np_dtype(dtype) is None
    else:
        assert to_np_dtype(dtype).itemsize == dtype.itemsize
        assert to_np_dtype(dtype.vec(4)) == to_np_dtype(dtype)
    np_dtype = numpy_like(dtype)
    assert from_np_dtype(np_dtype) is from_np_dtype(np_dtype.type) is dtype
    assert from_np_dtype(np.zeros(1, np_dtype).dtype) is dtype


# *** truncate ***


@given(int_dtype, any_int)
def test_ints_wrap_as_in_two_s_complement(dtype, value):
    wrapped = truncate[dtype](value)
    assert type(wrapped) is int and dtype.min <= wrapped <= dtype.max
    assert (wrapped - value) % (1 << dtype.bits) == 0


@given(int_dtype, st.floats(-(2.0**62), 2.0**62))
def test_a_float_drops_its_fraction_on_the_way_to_an_int(dtype, value):
    wrapped = truncate[dtype](value)
    wide = max(32, dtype.bits)
    if dtype.min <= math.trunc(value) <= dtype.max:
        assert wrapped == math.trunc(value)
    if abs(value) < 1 << wide - 1:
        assert wrapped == truncate[dtype](math.trunc(value))
    elif not dtypes.is_unsigned(dtype):
        assert wrapped == (dtype.min if dtype.bits == wide else 0)


def test_no_value_makes_truncate_raise():
    extremes = (math.nan, math.inf, -math.inf, 1e308, -1e308, 10**400, -(10**400), True, 0)
    for dtype, value in itertools.product(dtypes.all, extremes):
        assert type(truncate[dtype](value)) is type(dtypes.as_const(0, dtype))
    assert truncate[dtypes.int](math.nan) == dtypes.int.min
    assert truncate[dtypes.uint8](-math.inf) == 0


@given(st.sampled_from(dtypes.floats), any_double)
@example(dtypes.half, 65519.99).via("largest half is 65504; ties with 65536 go up")
@example(dtypes.half, 65520.0)
@example(dtypes.half, 2.0**-25).via("half of the smallest subnormal: to even, which is 0")
@example(dtypes.half, -0.0)
@example(dtypes.float, 3.4028235677973366e38).via("halfway to what would be the next float32")
@example(dtypes.bfloat16, 3.3961775292304957e38)
@example(dtypes.bfloat16, 1.00390625).via("a tie, to even, down")
@example(dtypes.bfloat16, 1.01171875).via("a tie, to even, up")
def test_floats_round_as_numpy_and_ml_dtypes_do(dtype, value):
    with np.errstate(over="ignore", under="ignore"):
        # bfloat16 by way of float32, the only road the hardware has.
        source = np.float32(value) if dtype is dtypes.bfloat16 else np.float64(value)
        expected = float(source.astype(numpy_like(dtype)))
    got = truncate[dtype](value)
    assert type(got) is float and same_float(got, expected), (got, expected)
    assert same_float(truncate[dtype](got), got)


@given(any_int)
@example(2**60 + 2**36 + 1).via("rounded to double first, it is a tie and then goes down")
@example(-(2**60) - 2**36 - 1)
@example(2**128 - 2**103)
@example(2**128 - 2**103 - 1)
def test_a_large_int_becomes_the_nearest_float32(value):
    got = truncate[dtypes.float](value)
    if abs(value) < 2**63:
        assert got == float(np.int64(value).astype(np.float32))
    for towards in (-math.inf, math.inf):
        with np.errstate(over="ignore"):
            other = float(np.nextafter(np.float32(got), np.float32(towards)))
        if math.isfinite(got) and math.isfinite(other):
            assert abs(int(got) - value) <= abs(int(other) - value)


# *** bfloat16 storage ***


def test_all_bfloat16s_survive_float32():
    stored = np.arange(2**16, dtype=np.uint16)
    values = bf16_to_f32(stored)
    expected = stored.view(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(values, expected)
    back = f32_to_bf16(values)
    numbers = ~np.isnan(values)
    np.testing.assert_array_equal(back[numbers], stored[numbers])
    assert np.isnan(bf16_to_f32(back[~numbers])).all()


@given(st_np.arrays(np.uint32, st_np.array_shapes(min_dims=0, max_dims=3, min_side=0)))
@example(np.array(0xFFFFFFFF, np.uint32))
@example(np.array([0x7F800001, 0x7F7FFFFF, 0x7F7F8000, 0x7F7F7FFF, 0x80000000], np.uint32))
def test_float32_rounds_to_bfloat16_as_ml_dtypes_does(bits):
    values = bits.view(np.float32)
    stored = f32_to_bf16(values)
    with np.errstate(invalid="ignore"):
        expected = values.astype(ml_dtypes.bfloat16)
    assert isinstance(stored, np.ndarray) and stored.dtype == np.uint16
    assert stored.shape == values.shape
    got = bf16_to_f32(stored)
    assert isinstance(got, np.ndarray) and got.shape == values.shape
    np.testing.assert_array_equal(np.isnan(got), np.isnan(values))
    numbers = ~np.isnan(values)
    np.testing.assert_array_equal(stored[numbers], expected.view(np.uint16)[numbers])


def test_bfloat16_conversion_takes_strided_arrays():
    grid = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(bf16_to_f32(f32_to_bf16(grid.T[::2])), grid.T[::2])


# *** what is refused ***

NO_DTYPES = ("min", "fields", "default_float", "void", "", "__doc__")
REFUSED = [
    (ValueError, "vec", lambda: dtypes.int.vec(4).vec(2)),
    (ValueError, "vec", lambda: dtypes.void.vec(2)),
    (ValueError, "vec", lambda: dtypes.int.vec(0)),
    (ValueError, "vec", lambda: dtypes.int.vec(-4)),
    (ValueError, "ptr", lambda: dtypes.int.ptr(-2)),
    (ValueError, "ptr", lambda: dtypes.int.ptr(4, "LOCAL")),
    (TypeError, "pointer", lambda: dtypes.int.ptr(4).ptr()),
    (TypeError, "pointer", lambda: dtypes.int.ptr(4).vec(2)),
    (RuntimeError, "not known", lambda: dtypes.int.ptr().nbytes),
    (AttributeError, "itemsize", lambda: setattr(dtypes.int, "itemsize", 8)),
    (AttributeError, "fixed", lambda: setattr(dtypes, "int32", dtypes.int64)),
    (TypeError, "not supported", lambda: dtypes.int < 3),
    (ValueError, "void", lambda: dtypes.void.min),
    (ValueError, "float", lambda: dtypes.finfo(dtypes.int)),
    (ValueError, "default_float", lambda: setattr(dtypes, "default_float", dtypes.int)),
    *[(ValueError, "default_int", lambda wrong=wrong: setattr(dtypes, "default_int", wrong))
      for wrong in (dtypes.float, "int32", dtypes.bool)],
    (ValueError, "2 lanes", lambda: dtypes.as_const((1, 2, 3), dtypes.float.vec(2))),
    *[(RuntimeError, "no dtype for", lambda wrong=wrong: dtypes.from_py(wrong))
      for wrong in (None, "1", 1j, np.float64(1), np.int32(1), [1, np.float64(2)])],
    *[(TypeError, "does not promote", lambda wrong=wrong: least_upper_dtype(*wrong))
      for one in (dtypes.void, dtypes.float.vec(4), dtypes.float.ptr(4))
      for wrong in [(one,), (one, one), (one, dtypes.int)]],
    *[(error, said, lambda name=name: to_dtype(name)) for error in (AttributeError, ValueError)
      for name, said in [("flaot32", "'flaot32'.*did you mean 'float32'.*int8, char"),
                         *[(name, "unknown dtype") for name in NO_DTYPES]]],
    *[(TypeError, "needed, not", lambda wrong=wrong: to_dtype(wrong))
      for wrong in (None, 3, float, np.float32, np.dtype("f"))],
    *[(TypeError, re.escape(str(np.dtype(wrong))), lambda wrong=wrong: from_np_dtype(wrong))
      for wrong in ("complex64", "U3", object, "M8[s]", np.longdouble, ml_dtypes.float8_e4m3fn)],
    (TypeError, "byte order", lambda: from_np_dtype(np.dtype("i4").newbyteorder("S"))),
    (TypeError, "None", lambda: from_np_dtype(None)),
    (TypeError, "void", lambda: to_np_dtype(dtypes.void)),
    (TypeError, "float64", lambda: f32_to_bf16(np.zeros(2))),
    (TypeError, "int16", lambda: bf16_to_f32(np.zeros(2, np.int16))),
]  # fmt: skip


@pytest.mark.parametrize(("error", "said", "call"), REFUSED)
def test_what_is_refused_is_told_why(error, said, call):
    with pytest.raises(error, match=said):
        call()
    assert (dtypes.default_float, dtypes.default_int) == (dtypes.float32, dtypes.int32)
