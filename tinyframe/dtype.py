"""Dtypes: the kinds of numbers, how two of them promote to one, and how values are rounded.

A dtype says how many bytes a number takes and how to read them. Three questions come up everywhere:

- What is `int8 + uint8`?  `least_upper_dtype(dtypes.int8, dtypes.uint8)` is `dtypes.short`: the
  smallest dtype above both in the promotion lattice.
- What is 300 as a uint8?  `truncate[dtypes.uint8](300)` is 44: it wraps around, as in hardware.
- What does NumPy call it?  `to_np_dtype(dtypes.half)` is `np.dtype("float16")`.

Every dtype exists once (`dtypes.int.vec(4) is dtypes.int.vec(4)`), so dtypes are compared with `is`
and hashing is cheap.
"""

from __future__ import annotations

import ctypes
import difflib
import functools
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, NoReturn, TypeAlias, cast

import numpy as np

ConstType: TypeAlias = float | int | bool


class InvalidType(Enum):
    """The type of `Invalid`, the only instance: the value of an index that must not be read."""

    INVALID = "Invalid"

    def __repr__(self) -> str:
        return self.value


Invalid = InvalidType.INVALID


class AddrSpace(Enum):
    """Where a pointer points: device memory, memory shared by a workgroup, or registers."""

    GLOBAL = "global"
    LOCAL = "local"
    REG = "reg"

    def __repr__(self) -> str:
        return str(self)


class UnknownDType(AttributeError, ValueError):
    """An unknown dtype name; an AttributeError as in tinygrad, and a ValueError too."""


# *** the dtype itself ***


@functools.total_ordering
@dataclass(frozen=True, eq=False, repr=False)
class DType:
    """A kind of number, or a vector of `count` of them.

    priority: orders dtypes for promotion; a higher one holds more or is less exact.
    itemsize: bytes, of all lanes together.
    name: as C spells it ("signed char", "__bf16"); for a vector, such as "float4".
    fmt: the `struct` format character; None for void, bfloat16 and vectors.
    """

    priority: int
    itemsize: int
    name: str
    fmt: str | None
    count: int = 1
    _scalar: DType | None = None

    def scalar(self) -> DType:
        """One lane of a vector dtype; a scalar dtype itself."""
        return self if self._scalar is None else self._scalar

    def vec(self, count: int) -> DType:
        """`count` of this dtype as one vector; `vec(1)` is the dtype itself."""
        return self if count == 1 else _vector(self, count)

    def mask(self) -> DType:
        """The dtype of a mask, with true or false for each lane: signed integers as wide as the
        lanes."""
        return dtypes.sints[self.scalar().itemsize.bit_length() - 1].vec(self.count)

    def unsigned(self) -> DType:
        """Unsigned integers as wide as the lanes."""
        return dtypes.uints[self.scalar().itemsize.bit_length() - 1].vec(self.count)

    def ptr(self, size: int = -1, addrspace: AddrSpace = AddrSpace.GLOBAL) -> PtrDType:
        """A pointer to `size` of these; -1 if the size is unknown."""
        return _pointer(self, size, addrspace)

    @property
    def base(self) -> DType:
        """The dtype that a pointer points to; any other dtype itself."""
        return self

    @property
    def bits(self) -> int:
        """Width in bits, of all lanes together."""
        return self.itemsize * 8

    @property
    def min(self) -> ConstType:
        """The smallest value of one lane: False, the least integer, or -inf."""
        return _value_range(self.scalar())[0]

    @property
    def max(self) -> ConstType:
        """The largest value of one lane: True, the greatest integer, or inf."""
        return _value_range(self.scalar())[1]

    # By priority; itemsize only distinguishes a vector from its scalar.
    def __lt__(self, other: object) -> bool:
        if not isinstance(other, DType):
            return NotImplemented
        return (self.priority, self.itemsize) < (other.priority, other.itemsize)

    def __repr__(self) -> str:
        text = f"dtypes.{INVERSE_DTYPES_DICT[self.scalar().name]}"
        return text if self.count == 1 else f"{text}.vec({self.count})"

    # Pickle and copy go by name, so that they return the one dtype of that name.
    def __reduce__(self) -> tuple[Callable[..., DType], tuple[Any, ...]]:
        return (_dtype_named, (self.scalar().name, self.count))


@dataclass(frozen=True, eq=False, repr=False)
class PtrDType(DType):
    """A pointer to `size` values of `base` in one address space; made by `DType.ptr`.

    Its priority, itemsize, name and count are those of `base`, the dtype of a load through it.
    """

    _base: DType = None  # type: ignore[assignment]  # always given, by _pointer
    addrspace: AddrSpace = AddrSpace.GLOBAL
    size: int = -1

    @property
    def base(self) -> DType:
        return self._base

    @property
    def nbytes(self) -> int:
        """Bytes pointed to; RuntimeError if the size is unknown."""
        if self.size == -1:
            raise RuntimeError(f"the size of {self} is not known")
        return self.size * self._base.itemsize

    def scalar(self) -> DType:
        return self._base.scalar()

    def vec(self, count: int) -> DType:
        if count == 1:
            return self
        raise TypeError(
            f"{self} is a pointer; take a pointer to a vector, {self._base}.vec({count}).ptr()"
        )

    def ptr(self, size: int = -1, addrspace: AddrSpace = AddrSpace.GLOBAL) -> NoReturn:
        raise TypeError(f"{self} is a pointer already")

    def __repr__(self) -> str:
        where = "" if self.addrspace is AddrSpace.GLOBAL else f", {self.addrspace}"
        return f"{self._base!r}.ptr({self.size}{where})"

    def __reduce__(self) -> tuple[Callable[..., DType], tuple[Any, ...]]:
        return (_pointer, (self._base, self.size, self.addrspace))


@functools.cache
def _vector(scalar: DType, count: int) -> DType:
    if scalar.count != 1 or scalar is dtypes.void or not isinstance(count, int) or count < 1:
        raise ValueError(
            f"{scalar}.vec({count!r}): a vector is one or more of a scalar dtype, not void"
        )
    name = f"{INVERSE_DTYPES_DICT[scalar.name]}{count}"
    return DType(scalar.priority, scalar.itemsize * count, name, None, count, scalar)


@functools.cache
def _pointer(base: DType, size: int, addrspace: AddrSpace) -> PtrDType:
    if size < -1 or not isinstance(addrspace, AddrSpace):
        raise ValueError(
            f"{base}.ptr({size!r}, {addrspace!r}): size is 0 or more, or -1 for unknown; "
            f"addrspace is one of {', '.join(map(str, AddrSpace))}"
        )
    value = (base.priority, base.itemsize, base.name, base.fmt, base.count)
    return PtrDType(*value, None, base, addrspace, size)


def _dtype_named(name: str, count: int) -> DType:
    return getattr(dtypes, INVERSE_DTYPES_DICT[name]).vec(count)


# *** the namespace ***


class _DTypesMeta(type):
    """Lets `dtypes.default_float` and `dtypes.default_int` be assigned, and nothing else."""

    def __setattr__(cls, name: str, value: object) -> None:
        family = {"default_float": "floats", "default_int": "ints"}.get(name)
        if family is None:
            raise AttributeError(
                f"dtypes.{name} is fixed; default_float and default_int can be set"
            )
        if value not in getattr(cls, family):
            raise ValueError(f"dtypes.{name} must be one of {getattr(cls, family)}, not {value!r}")
        super().__setattr__(name, value)


class dtypes(metaclass=_DTypesMeta):
    """All dtypes by name, and questions about them.

    `dtypes.default_float` and `dtypes.default_int` are what Python floats and ints become; assign
    them to change that: `dtypes.default_float = dtypes.float64`.
    """

    @staticmethod
    @functools.cache
    def is_float(dtype: DType) -> bool:
        """Whether values are floating point; of a vector, whether its lanes are."""
        return dtype.scalar() in dtypes.floats

    @staticmethod
    @functools.cache
    def is_int(dtype: DType) -> bool:
        """Whether values are integers, signed or not; bool isn't an integer dtype."""
        return dtype.scalar() in dtypes.ints

    @staticmethod
    @functools.cache
    def is_unsigned(dtype: DType) -> bool:
        """Whether values are unsigned integers."""
        return dtype.scalar() in dtypes.uints

    @staticmethod
    @functools.cache
    def is_bool(dtype: DType) -> bool:
        """Whether values are True or False."""
        return dtype.scalar() is dtypes.bool

    @staticmethod
    def from_py(x: object) -> DType:
        """The dtype of a Python value: bool, `default_int`, `default_float`; for a list, the widest
        of its items'.

        An empty list is `default_float`. RuntimeError for anything else, even NumPy scalars.
        """
        kind = x.__class__
        of_number = {float: dtypes.default_float, int: dtypes.default_int, bool: dtypes.bool}
        if kind in of_number:
            return of_number[kind]
        if isinstance(x, (list, tuple)):
            kinds = set(map(type, x))
            if kinds <= of_number.keys():  # a flat list may be long: no Python loop over its items
                x = [kind() for kind in kinds]
            return max((dtypes.from_py(item) for item in x), default=dtypes.default_float)
        raise RuntimeError(f"no dtype for {x!r} of type {kind.__name__}: "
                           "bool, int, float, or a list or tuple of them")  # fmt: skip

    @staticmethod
    @functools.cache
    def python_type(dtype: DType) -> type:
        """The Python type of a constant: float, int or bool."""
        return float if dtypes.is_float(dtype) else int if dtypes.is_int(dtype) else bool

    @staticmethod
    def as_const(val: Any, dtype: DType) -> Any:
        """`val` as the Python type that holds a constant of `dtype`: bool, int or float.

        A tuple has one value per lane. ValueError if it has too few or too many. Values are not
        rounded to the dtype; `truncate` does that.
        """
        if isinstance(val, tuple):
            if len(val) != dtype.count:
                raise ValueError(
                    f"{dtype} has {dtype.count} lanes, but {len(val)} values were given: {val}"
                )
            return tuple(dtypes.as_const(lane, dtype) for lane in val)
        return val if isinstance(val, InvalidType) else dtypes.python_type(dtype)(val)

    @staticmethod
    def min(dtype: DType) -> ConstType:
        """The smallest value: False, the least integer, or -inf."""
        return dtype.min

    @staticmethod
    def max(dtype: DType) -> ConstType:
        """The largest value: True, the greatest integer, or inf."""
        return dtype.max

    @staticmethod
    def finfo(dtype: DType) -> tuple[int, int]:
        """(exponent bits, stored mantissa bits) of a float dtype; ValueError for others."""
        if dtype.scalar() not in _FLOAT_LAYOUT:
            raise ValueError(f"finfo needs a float dtype, one of {dtypes.floats}, not {dtype}")
        return _FLOAT_LAYOUT[dtype.scalar()]

    @staticmethod
    def fields() -> dict[str, DType]:
        """Every dtype by every name it has, without void."""
        return DTYPES_DICT

    # A dtype is printed with the last of its names here.
    void = DType(-1, 0, "void", None)
    bool = DType(0, 1, "bool", "?")
    int8 = char = DType(1, 1, "signed char", "b")
    uint8 = uchar = DType(2, 1, "unsigned char", "B")
    int16 = short = DType(3, 2, "short", "h")
    uint16 = ushort = DType(4, 2, "unsigned short", "H")
    # weakint: the dtype of an index in tinygrad's newer API, here plain int
    weakint = int32 = int = DType(5, 4, "int", "i")
    uint32 = uint = DType(6, 4, "unsigned int", "I")
    int64 = long = DType(7, 8, "long", "q")
    uint64 = ulong = DType(8, 8, "unsigned long", "Q")
    float16 = half = DType(11, 2, "half", "e")
    bfloat16 = DType(12, 2, "__bf16", None)
    float32 = float = DType(13, 4, "float", "f")
    float64 = double = DType(14, 8, "double", "d")

    default_float: ClassVar[DType] = float32
    default_int: ClassVar[DType] = int32

    floats = (float16, bfloat16, float32, float64)
    uints = (uint8, uint16, uint32, uint64)
    sints = (int8, int16, int32, int64)
    ints = uints + sints
    all = floats + ints + (bool,)


DTypeLike: TypeAlias = str | DType

DTYPES_DICT: dict[str, DType] = {
    name: dtype
    for name, dtype in vars(dtypes).items()
    if isinstance(dtype, DType) and not name.startswith("default_") and name != "void"
}
INVERSE_DTYPES_DICT: dict[str, str] = {dtype.name: name for name, dtype in DTYPES_DICT.items()}
INVERSE_DTYPES_DICT["void"] = "void"

_FLOAT_LAYOUT = {
    dtypes.float16: (5, 10),
    dtypes.bfloat16: (8, 7),
    dtypes.float32: (8, 23),
    dtypes.float64: (11, 52),
}


@functools.cache
def _value_range(scalar: DType) -> tuple[ConstType, ConstType]:
    if dtypes.is_float(scalar):
        return (-math.inf, math.inf)
    if scalar in dtypes.uints:
        return (0, (1 << scalar.bits) - 1)
    if scalar in dtypes.sints:
        return (-(1 << (scalar.bits - 1)), (1 << (scalar.bits - 1)) - 1)
    if scalar is dtypes.bool:
        return (False, True)
    raise ValueError(f"{scalar} has no values")


def strong_dtype(dtype: DType) -> DType:
    """The dtype itself: there are no weak dtypes here, a Python number gets its dtype at once."""
    return dtype


def to_dtype(dtype: DTypeLike) -> DType:
    """The dtype itself, or the one with this name ("int8", "half", "float32"), in any case.

    UnknownDType (an AttributeError and ValueError) for an unknown name, TypeError for other types.
    """
    if isinstance(dtype, DType):
        return dtype
    if not isinstance(dtype, str):
        raise TypeError(
            f"a dtype or the name of one is needed, not {dtype!r} of type {type(dtype).__name__}; "
            f"names: {', '.join(DTYPES_DICT)}"
        )
    found = DTYPES_DICT.get(dtype.lower().removeprefix("dtypes."))
    if found is None:
        close = difflib.get_close_matches(dtype.lower(), DTYPES_DICT, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise UnknownDType(f"unknown dtype {dtype!r}{hint}; allowed: {', '.join(DTYPES_DICT)}")
    return found


# *** promotion ***

# JAX's type lattice (https://docs.jax.dev/en/latest/type_promotion.html) without its complex and
# fp8 types: each dtype with the ones directly above it. Python scalars are weak, so not in it.
promo_lattice: dict[DType, tuple[DType, ...]] = {
    dtypes.bool: (dtypes.int8, dtypes.uint8),
    dtypes.int8: (dtypes.int16,),
    dtypes.uint8: (dtypes.int16, dtypes.uint16),
    dtypes.int16: (dtypes.int32,),
    dtypes.uint16: (dtypes.int32, dtypes.uint32),
    dtypes.int32: (dtypes.int64,),
    dtypes.uint32: (dtypes.int64, dtypes.uint64),
    dtypes.int64: (dtypes.float16, dtypes.bfloat16),
    dtypes.uint64: (dtypes.float16, dtypes.bfloat16),
    dtypes.float16: (dtypes.float32,),
    dtypes.bfloat16: (dtypes.float32,),
    dtypes.float32: (dtypes.float64,),
    dtypes.float64: (),
}


@functools.cache
def _at_or_above(dtype: DType) -> frozenset[DType]:
    if dtype not in promo_lattice:
        raise TypeError(
            f"{dtype} does not promote; these do: {', '.join(map(repr, promo_lattice))}"
        )
    return frozenset({dtype}).union(*(_at_or_above(above) for above in promo_lattice[dtype]))


@functools.cache
def _join(ds: frozenset[DType]) -> DType | None:
    """The smallest dtype above all of `ds`; None if that is JAX's weak float."""
    least = min(frozenset.intersection(*map(_at_or_above, ds)))
    return None if dtypes.is_float(least) and not any(map(dtypes.is_float, ds)) else least


def least_upper_dtype(*ds: DType) -> DType:
    """The dtype of arithmetic on these dtypes: their join in JAX's lattice.

    int8 with uint8 is int16, bfloat16 with half is float32, int64 with half is half. No integer
    dtype is above both uint64 and a signed one. In JAX they meet in a weak float, which becomes the
    default float; so here they give `dtypes.default_float`. (In tinygrad half, which overflows at
    65504.) Several dtypes are joined at once: int64, uint64 and half give half. In two steps,
    with no weak float in between, they would give float32.
    TypeError for void, vectors and pointers.
    """
    return _join(frozenset(ds)) or dtypes.default_float


def least_upper_float(dtype: DType) -> DType:
    """The dtype of a result that must be a float (`exp`, `/`): itself, or `default_float`."""
    return dtype if dtypes.is_float(dtype) else dtypes.default_float.vec(dtype.count)


def sum_acc_dtype(dtype: DType) -> DType:
    """The dtype in which a sum accumulates: at least 32 bits wide, of the same family.

    bool, int8 and int16 in int32; uint8 and uint16 in uint32; half and bfloat16 in float32. A sum
    of ints keeps that dtype; a sum of half or bfloat16 is cast back by the caller.
    """
    if dtypes.is_unsigned(dtype):
        return least_upper_dtype(dtype, dtypes.uint32)
    return least_upper_dtype(dtype, dtypes.float32 if dtypes.is_float(dtype) else dtypes.int32)


@functools.cache
def can_lossless_cast(source: DType, target: DType) -> bool:
    """Whether `target` can represent every value of `source`, so that casting back restores it.

    uint8 to half or bfloat16 yes, int16 to half no, half to bfloat16 no, int64 to double no.
    """
    if source is target:
        return True
    if source.count != target.count or PtrDType in (type(source), type(target)):
        return False
    source, target = source.scalar(), target.scalar()
    if dtypes.void in (source, target) or target is dtypes.bool:
        return False
    if dtypes.is_float(source):
        return dtypes.is_float(target) and all(
            s <= t for s, t in zip(dtypes.finfo(source), dtypes.finfo(target), strict=True)
        )
    if dtypes.is_float(target):
        # Exact up to 2**(mantissa bits + 1), thanks to the implicit leading 1.
        return int(source.max).bit_length() <= dtypes.finfo(target)[1] + 1
    return target.min <= source.min and source.max <= target.max


# *** NumPy ***

_FROM_NP_NAME: dict[str, DType] = {  # bfloat16 is its name in ml_dtypes
    name: getattr(dtypes, name)
    for name in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
                 "float16", "float32", "float64", "bfloat16")
}  # fmt: skip
_NP_DTYPES: dict[DType, np.dtype[Any] | None] = {
    dtype: None if dtype is dtypes.bfloat16 else np.dtype(name)
    for name, dtype in _FROM_NP_NAME.items()
}


def to_np_dtype(dtype: DType) -> np.dtype[Any] | None:
    """NumPy's dtype for one lane; None for bfloat16, which NumPy lacks. TypeError for void."""
    if dtype.scalar() not in _NP_DTYPES:
        raise TypeError(f"{dtype} has no NumPy dtype")
    return _NP_DTYPES[dtype.scalar()]


def from_np_dtype(np_dtype: Any) -> DType:
    """Our dtype for anything that `np.dtype` takes, including ml_dtypes' bfloat16.

    TypeError for dtypes without a counterpart (complex, str, object, longdouble), and for a foreign
    byte order, because the bytes would be misread.
    """
    if np_dtype is None:
        raise TypeError("None is not a NumPy dtype here (NumPy would read it as float64)")
    np_dtype = np.dtype(np_dtype)
    found = _FROM_NP_NAME.get(np_dtype.name)
    if found is None:
        raise TypeError(
            f"NumPy dtype {np_dtype} is not supported; these are: {', '.join(_FROM_NP_NAME)}"
        )
    if not np_dtype.isnative:
        raise TypeError(f"NumPy dtype {np_dtype.str!r} is not in this machine's byte order; "
                        f"convert first with .astype({np_dtype.name!r})")  # fmt: skip
    return found


_to_np_dtype = to_np_dtype
_from_np_dtype = from_np_dtype


# *** rounding one value to a dtype ***


def _float_or_inf(x: ConstType) -> float:
    try:
        return float(x)
    except OverflowError:  # an int beyond 1.8e308
        return math.inf if x > 0 else -math.inf


def _truncate_fp32(x: ConstType) -> float:
    if x.__class__ is int and abs(x) >= 1 << 53:
        # Rounding to double first could move x to the midpoint of two float32s, and from there to
        # the wrong one. So keep 53 bits, and set the last one if any bit was cut (round to odd).
        magnitude = abs(int(x))
        cut = magnitude.bit_length() - 53
        odd = (magnitude >> cut) | int(magnitude & ((1 << cut) - 1) != 0)
        x = (odd << cut) if x > 0 else -(odd << cut)
    return ctypes.c_float(_float_or_inf(x)).value


def truncate_fp16(x: ConstType) -> float:
    """The nearest half to x, ties to even, as a Python float; inf from 65520 on, NaN stays NaN."""
    x = _float_or_inf(x)
    try:
        return cast(float, struct.unpack("e", struct.pack("e", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


def float_to_bf16(x: ConstType) -> float:
    """The nearest bfloat16 to x, ties to even, as a Python float.

    Rounded to float32 first, as every backend and ml_dtypes do: a double is rounded twice.
    """
    return bf16_to_f32(f32_to_bf16(np.array([_truncate_fp32(x)], np.float32))).item()


truncate_bf16 = float_to_bf16


def _whole_part(x: float, bits: int, is_unsigned: bool) -> int:
    """A float truncated to an integer of 32 or 64 bits; see CAST in rewrite/spec.py."""
    half = 1 << bits - 1
    above = half if is_unsigned and x > half else 0
    return (int(x) - above if -half <= x - above < half else -half) + above


def _wrap_to(dtype: DType) -> Callable[[Any], int]:
    is_unsigned, bits = dtype in dtypes.uints, max(dtype.bits, 32)
    mask, sign = (1 << dtype.bits) - 1, 0 if is_unsigned else 1 << (dtype.bits - 1)

    def wrap(x: ConstType) -> int:
        if isinstance(x, float):
            x = _whole_part(x, bits, is_unsigned and dtype.bits == bits)
        return ((int(x) + sign) & mask) - sign

    return wrap


truncate: dict[DType, Callable[[Any], Any]] = {
    dtypes.bool: bool,
    **{dtype: _wrap_to(dtype) for dtype in dtypes.ints},
    dtypes.float16: truncate_fp16,
    dtypes.bfloat16: truncate_bf16,
    dtypes.float32: _truncate_fp32,
    dtypes.float64: _float_or_inf,
}
"""Scalar dtype -> a function that rounds a Python number to it, and returns a bool, int or float.

Ints wrap around; floats are cast to ints as rewrite/spec.py says; floats round to nearest, ties to
even, and overflow to inf. `truncate[dtypes.int8](200)` is -56.
"""


# *** bfloat16 storage ***


def bf16_to_f32(stored: np.ndarray) -> np.ndarray:
    """The float32 values of bfloat16s stored as uint16, in any shape; exact."""
    if stored.dtype != np.uint16:
        raise TypeError(f"bfloat16 is stored as uint16, not {stored.dtype}")
    # Through one dimension: arithmetic on a 0-d array gives a NumPy scalar, not an array.
    bits = stored.reshape(-1).astype(np.uint32) << 16
    return bits.view(np.float32).reshape(stored.shape)


def f32_to_bf16(values: np.ndarray) -> np.ndarray:
    """float32 values of any shape, rounded to bfloat16s stored as uint16.

    Round to nearest, ties to even; overflow gives inf, and NaN stays NaN.
    """
    if values.dtype != np.float32:
        raise TypeError(f"f32_to_bf16 takes float32, not {values.dtype}")
    flat = values.reshape(-1)
    bits = flat.view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    # A NaN whose payload is only in the low bits would round to inf: truncate, set the quiet bit.
    stored = np.where(np.isnan(flat), (bits >> 16) | 0x40, rounded)
    return stored.astype(np.uint16).reshape(values.shape)


def representable(value: ConstType, dtype: DType) -> ConstType:
    """`value` as a constant of `dtype`: for an integer dtype it wraps around, as in a cast."""
    if dtypes.is_int(dtype):
        return truncate[dtype](value)
    return dtypes.as_const(value, dtype)
