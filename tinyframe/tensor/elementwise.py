"""Elementwise arithmetic and comparison, with broadcasting and promotion.

The graph has neither: all sources of an elementwise node have the same shape and dtype. `_operands`
is the only place that makes them equal, with EXPAND and CAST. Two Tensors promote to the join of
their dtypes in JAX's lattice; a Python number is weak and never widens a Tensor:

    int8 + uint8 -> int16      int8 + 1 -> int8      int8 + 1.5 -> the default float

No integer dtype holds all values of uint64 and of a signed dtype: their sum is a float. They still
compare exactly.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Self, TypeVar, cast

import numpy as np

from tinyframe.dtype import (
    ConstType,
    DType,
    DTypeLike,
    dtypes,
    least_upper_dtype,
    least_upper_float,
    representable,
    to_dtype,
)
from tinyframe.errors import DTypeError, check_choice
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.movement import broadcast_shapes
from tinyframe.uop.node import Operators, Ops, UOp

Method = TypeVar("Method", bound=Callable[..., Any])


def exact_dtype(dtype: DType) -> DType:
    """The dtype to compute in: float32 for half and bfloat16, which are rounded once at the end."""
    return dtypes.float32 if dtype in (dtypes.half, dtypes.bfloat16) else dtype


def product_dtypes(dtype: DTypeLike | None, *operands: Any) -> tuple[DType, DType]:
    """The dtypes to compute a sum of products in, and of the result: `dtype`, or that which the
    operands promote to."""
    common = least_upper_dtype(*[operand.dtype for operand in operands])
    result = common if dtype is None else to_dtype(dtype)
    return exact_dtype(least_upper_dtype(common, result)), result


def float_function(method: Method) -> Method:
    """Decorator for methods that take several steps to a float result.

    An int becomes the default float. half and bfloat16 are computed in float32 and rounded once at
    the end, so that no intermediate step is rounded to their precision.
    """

    @functools.wraps(method)
    def wide(self: Elementwise, *args: Any, **kwargs: Any) -> Any:
        dtype = least_upper_float(self.dtype)
        exact = exact_dtype(dtype)
        result = method(self.cast(exact), *args, **kwargs)
        return result if exact is dtype else result.cast(dtype)

    return cast(Method, wide)


def weak_dtype(value: ConstType | UOp, dtype: DType) -> DType:
    """The result dtype of a Tensor of `dtype` and a Python number, or a Variable (an int)."""
    if isinstance(value, bool) or dtypes.is_float(dtype):
        return dtype
    if isinstance(value, float):
        return dtypes.default_float
    return dtypes.default_int if dtype is dtypes.bool else dtype


class Elementwise(TensorBase, Operators):
    """One result for each element, or each pair of elements."""

    def _tensor(self, other: Any) -> Any:
        """The other operand: a Tensor, a Python number or a Variable. TypeError for anything
        else."""
        if isinstance(other, (TensorBase, bool, int, float, UOp)):
            return other
        if isinstance(other, (np.ndarray, np.generic)):
            return type(self)(other, device=self.device)
        raise TypeError(
            f"a Tensor of shape {self._dims} and {other!r} of type {type(other).__name__}: the "
            "other operand has to be a Tensor or a number; wrap a list in Tensor(...)"
        )

    def _number(self, value: ConstType | UOp, dtype: DType, shape: tuple = ()) -> Self:
        """A Python number, or an expression of Variables, as a constant Tensor."""
        if isinstance(value, UOp):
            constant = value.cast(dtype)
        else:
            constant = UOp.const(dtype, representable(value, dtype))
        return self._of(constant.broadcast_to(shape), False)

    def _operands(
        self, other: Any, reverse: bool = False, to_float: bool = False, compare: bool = False
    ) -> tuple[Self, Self]:
        """Both operands in one shape and one dtype.

        reverse: swaps them. to_float: ints become the default float. compare: a number outside the
        range of the dtype is not wrapped but counts as ±infinity, and uint64 is compared with a
        signed int exactly.
        """
        other = self._tensor(other)
        x: Self = self
        if compare and isinstance(other, UOp):
            other = self._number(other, other.dtype)
        if not isinstance(other, TensorBase):
            dtype = weak_dtype(other, self.dtype)
            if compare and dtypes.is_int(dtype) and not dtype.min <= other <= dtype.max:
                dtype, other = dtypes.float32, math.copysign(math.inf, other)
            dtype = least_upper_float(dtype) if to_float else dtype
            x, other = x.cast(dtype), self._number(other, dtype, self.shape)
        elif (dtype := self.dtype) is other.dtype and (not to_float or dtypes.is_float(dtype)):
            if self.shape != other.shape:
                shape = broadcast_shapes(self.shape, other.shape)
                x, other = x._broadcast_to(shape), other._broadcast_to(shape)
        else:
            dtype = least_upper_dtype(self.dtype, other.dtype)
            if compare and dtypes.is_float(dtype) and dtypes.is_int(max(self.dtype, other.dtype)):
                x, other, dtype = x._as_uint64(other), other._as_uint64(x), dtypes.uint64
            dtype = least_upper_float(dtype) if to_float else dtype
            shape = broadcast_shapes(self.shape, other.shape)
            x, other = x.cast(dtype)._broadcast_to(shape), other.cast(dtype)._broadcast_to(shape)
        return (other, x) if reverse else (x, other)

    def _as_uint64(self, other: Any) -> Self:
        """To compare with `other._as_uint64(self)`: 0 if self is negative, 1 if other is."""
        return self.lt(0).where(0, other.lt(0).where(1, self.cast(dtypes.uint64)))

    def _broadcast_to(self, shape: tuple) -> Self:
        return self if self.shape == shape else self._apply(lambda x: x.broadcast_to(shape))

    def _elementwise(self, op: Ops, other: Any, reverse: bool = False, **options: bool) -> Self:
        x, y = self._operands(other, reverse, **options)
        return x._alu(op, y)

    def _alu(self, op: Ops, *others: Self) -> Self:
        return self._apply(lambda a, *rest: a.alu(op, *rest), *others)

    def _bitwise(self, op: Ops, operator: str, other: Any, reverse: bool = False) -> Self:
        """DTypeError if an operand is a float, or a bool of a shift."""
        for operand in (self, other):
            dtype = operand.dtype if isinstance(operand, TensorBase) else dtypes.from_py(operand)
            is_shifted = dtype is dtypes.bool and op in (Ops.SHL, Ops.SHR)
            if dtypes.is_float(dtype) or is_shifted:
                raise DTypeError(f"{operator} needs ints, not {dtype}")
        return self._elementwise(op, other, reverse)

    # ---- dtype -----------------------------------------------------------------------------------

    def cast(self, dtype: Any) -> Self:
        """Converted to a dtype: floats are truncated to ints, ints wrap around, nonzero is True.

        NaN, and floats out of the range of int32 or int64, become the smallest int; narrower ints
        take the low bits of an int32.
        """
        wanted = to_dtype(dtype)
        return self if wanted is self.dtype else self._apply(lambda x: x.cast(wanted))

    # ---- arithmetic ------------------------------------------------------------------------------

    def add(self, other: Any, reverse: bool = False) -> Self:
        """self + other; of bools, logical or."""
        x, y = self._operands(other, reverse)
        return x._alu(Ops.OR if x.dtype is dtypes.bool else Ops.ADD, y)

    def sub(self, other: Any, reverse: bool = False) -> Self:
        """self - other. DTypeError for bools."""
        x, y = self._operands(other, reverse)
        if x.dtype is dtypes.bool:
            raise DTypeError("bools cannot be subtracted; use ^, or cast to an int")
        return x.add(y.neg())

    def mul(self, other: Any, reverse: bool = False) -> Self:
        """self * other; of bools, logical and."""
        x, y = self._operands(other, reverse)
        return x._alu(Ops.AND if x.dtype is dtypes.bool else Ops.MUL, y)

    def neg(self) -> Self:
        """-self; of bools, logical not."""
        return self.logical_not() if self.dtype is dtypes.bool else self.mul(-1)

    def div(self, other: Any, reverse: bool = False, rounding_mode: str | None = None) -> Self:
        """self / other, a float also for ints. rounding_mode: "floor", "trunc" or None.

        Rounded quotients of ints are ints, and 0 where the divisor is 0.
        """
        if rounding_mode is None:
            return self._elementwise(Ops.FDIV, other, reverse, to_float=True)
        check_choice("rounding_mode", rounding_mode, "floor", "trunc", None)
        x, y = self._operands(other, reverse)
        if x.dtype is dtypes.bool:
            x, y = x.cast(dtypes.default_int), y.cast(dtypes.default_int)
        if dtypes.is_float(x.dtype):
            return x.div(y).trunc() if rounding_mode == "trunc" else x._floored_quotient(y)
        floored = x._alu(Ops.IDIV, y)
        if rounding_mode == "floor" or dtypes.is_unsigned(x.dtype):
            return floored
        # the floor is one too low where the remainder is not 0 and the signs differ
        low = x.mod(y).ne(0).mul(x.lt(0).ne(y.lt(0)))
        return low.where(floored + 1, floored)

    def floordiv(self, other: Any, reverse: bool = False) -> Self:
        """self // other, rounded down."""
        return self.div(other, reverse, rounding_mode="floor")

    @float_function
    def _floored_quotient(self, divisor: Self) -> Self:
        """The quotient that belongs to `mod`, as in Python: 1 // 0.1 is 9.0, since 1 % 0.1 is
        almost 0.1. The floor of 1 / 0.1 would be 10, since that quotient is rounded to 10."""
        x, y = self._operands(divisor)
        rest, ratio = x.fmod(y), x.div(y).detach()
        quotient = (x - rest) / y  # an integer, up to rounding
        quotient = x._is_below(rest, y).where(quotient - 1, quotient)
        whole = quotient.floor()
        whole = (quotient - whole).gt(0.5).where(whole + 1, whole)
        whole = quotient.eq(0).where(ratio * 0, whole)  # with the sign of the ratio
        return y.eq(0).where(ratio, whole)

    @staticmethod
    def _is_below(rest: Any, divisor: Any) -> Any:
        """Where the floor of a quotient is one less than the truncated quotient."""
        return rest.ne(0) * rest.lt(0).ne(divisor.lt(0))

    def idiv(self, other: Any, reverse: bool = False) -> Self:
        """The quotient truncated towards 0: -7 idiv 2 is -3."""
        return self.div(other, reverse, rounding_mode="trunc")

    def mod(self, other: Any, reverse: bool = False) -> Self:
        """self % other, with the divisor's sign: the remainder of `//`. For floats it is exact,
        except for rounding where the signs differ, as in Python."""
        x, y = self._operands(other, reverse)
        if x.dtype is dtypes.bool:
            x, y = x.cast(dtypes.default_int), y.cast(dtypes.default_int)
        if not dtypes.is_float(x.dtype):
            return x._alu(Ops.MOD, y)
        rest = x.fmod(y)
        # A remainder of 0 gets the divisor's sign: ±0 + 0 is 0. Two factors `sign` keep gradient 1.
        sign = y.lt(0).where(x._number(-1, x.dtype), 1)
        zero = y.isnan().where(y, 0)  # not a constant, or the sum would be simplified
        none = sign * (sign * rest + zero)
        return rest.eq(0).where(none, x._is_below(rest, y).where(rest + y, rest))

    def fmod(self, other: Any, reverse: bool = False) -> Self:
        """The remainder of `idiv`, with this Tensor's sign; exact for floats."""
        x, y = self._operands(other, reverse)
        if dtypes.is_float(x.dtype):
            return x._alu(Ops.FMOD, y)
        return x - x.idiv(y) * y

    def pow(self, other: Any, reverse: bool = False) -> Self:
        """self ** other. 0 ** 0 is 1; a negative base to a fraction is NaN.

        DTypeError (a RuntimeError) for an int to a negative int.
        """
        if not reverse and isinstance(other, (int, float)) and not isinstance(other, bool):
            if not dtypes.is_float(self.dtype) and isinstance(other, int) and other < 0:
                raise DTypeError(
                    f"{self.dtype} to the power of {other} is not an int; cast to a float first"
                )
            x = self.cast(weak_dtype(other, self.dtype))
            if (short := x._short_power(other)) is not None:
                return short
        x, y = self._operands(other, reverse)
        if x.dtype is dtypes.bool:
            return x.add(y.logical_not())  # 0 ** 0 is 1
        return x._alu(Ops.POW, y)

    def _short_power(self, exponent: int | float) -> Self | None:
        """Powers made of a few exact operations: of ints, all; of floats, -1 to 3 and ±½."""
        named = {1: self._value, 0.5: self.sqrt, -0.5: self.rsqrt, -1: self.reciprocal}
        if exponent in named:
            return named[exponent]()
        if exponent != exponent:  # NaN
            return self.eq(1).where(1.0, exponent)
        if dtypes.is_float(self.dtype) and exponent not in (2, 3):
            return None
        if exponent == 0:
            return self * 0 + 1
        result, square, rest = None, self, int(exponent)
        while rest:
            if rest & 1:
                result = square if result is None else result * square
            square, rest = square * square, rest >> 1
        return result

    def maximum(self, other: Any) -> Self:
        """The elementwise maximum; NaN where one is NaN."""
        return self._elementwise(Ops.MAX, other)

    def minimum(self, other: Any) -> Self:
        """The elementwise minimum; NaN where one is NaN."""
        x, y = self._operands(other)
        return x._mirror().maximum(y._mirror())._mirror()

    def _mirror(self) -> Self:
        """The order reversed: the smallest value becomes the largest. It is its own inverse."""
        return self.neg() if dtypes.is_float(self.dtype) else self.bitwise_not()

    # ---- bits ------------------------------------------------------------------------------------

    def bitwise_and(self, other: Any, reverse: bool = False) -> Self:
        """self & other, of ints or bools."""
        return self._bitwise(Ops.AND, "&", other, reverse)

    def bitwise_or(self, other: Any, reverse: bool = False) -> Self:
        """self | other, of ints or bools."""
        return self._bitwise(Ops.OR, "|", other, reverse)

    def bitwise_xor(self, other: Any, reverse: bool = False) -> Self:
        """self ^ other, of ints or bools."""
        return self._bitwise(Ops.XOR, "^", other, reverse)

    def bitwise_not(self) -> Self:
        """Every bit inverted; of bools, logical not."""
        is_bool = self.dtype is dtypes.bool
        return self.logical_not() if is_bool else self._bitwise(Ops.XOR, "~", -1)

    def lshift(self, other: Any, reverse: bool = False) -> Self:
        """self << other, of ints; 0 where the count is negative, or the number of bits or more."""
        return self._bitwise(Ops.SHL, "<<", other, reverse)

    def rshift(self, other: Any, reverse: bool = False) -> Self:
        """self >> other, of ints, an arithmetic shift; 0 or -1, by the sign, where the count is
        negative, or the number of bits or more."""
        return self._bitwise(Ops.SHR, ">>", other, reverse)

    # ---- comparison ------------------------------------------------------------------------------

    def eq(self, other: Any) -> Self:
        """True where both are equal; NaN equals nothing."""
        return self._elementwise(Ops.CMPEQ, other, compare=True)

    def ne(self, other: Any) -> Self:
        """True where they are not equal."""
        return self._elementwise(Ops.CMPNE, other, compare=True)

    def lt(self, other: Any) -> Self:
        """self < other."""
        return self._elementwise(Ops.CMPLT, other, compare=True)

    def gt(self, other: Any) -> Self:
        """self > other."""
        return self._elementwise(Ops.CMPLT, other, reverse=True, compare=True)

    def le(self, other: Any) -> Self:
        """self <= other; False where one is NaN."""
        x, y = self._operands(other, compare=True)
        # "not greater" would be True for NaN
        return x.lt(y).add(x.eq(y)) if dtypes.is_float(x.dtype) else x.gt(y).logical_not()

    def ge(self, other: Any) -> Self:
        """self >= other; False where one is NaN."""
        x, y = self._operands(other, compare=True)
        return x.gt(y).add(x.eq(y)) if dtypes.is_float(x.dtype) else x.lt(y).logical_not()

    def logical_not(self) -> Self:
        """True where the value is 0 or False."""
        return self.cast(dtypes.bool)._elementwise(Ops.CMPNE, True)

    def where(self, x: Any, y: Any) -> Self:
        """x where this is true (not 0), y elsewhere. All three broadcast."""
        condition = self.cast(dtypes.bool)
        x, y = self._tensor(x), self._tensor(y)
        if isinstance(x, TensorBase):
            yes, no = x._operands(y)
        elif isinstance(y, TensorBase):
            no, yes = y._operands(x)
        else:
            dtype = dtypes.from_py([0 if isinstance(value, UOp) else value for value in (x, y)])
            yes, no = self._number(x, dtype), self._number(y, dtype)
        shape = broadcast_shapes(self.shape, yes.shape)
        yes, no = yes._broadcast_to(shape), no._broadcast_to(shape)
        return condition._broadcast_to(shape)._alu(Ops.WHERE, yes, no)

    def masked_fill(self, mask: Any, value: Any) -> Self:
        """`value` where the mask is true."""
        return mask.where(value, self)

    def clip(self, min_: Any = None, max_: Any = None, **names: Any) -> Self:
        """Limited to `min` … `max`; one of them may be None. NaN stays NaN, also as a limit.

        An element that equals a limit has the gradient 1, and so has NaN (in PyTorch 0).
        """
        low, high = names.pop("min", min_), names.pop("max", max_)
        if names:
            raise TypeError(f"clip takes min and max, not {', '.join(names)}")
        if low is None and high is None:
            raise RuntimeError("clip needs min, max or both")
        # Not with maximum and minimum: the gradient at the bounds has to be 1.
        x = self
        for limit, beyond in ((low, Elementwise.lt), (high, Elementwise.gt)):
            if limit is not None:
                x, bound = x._operands(limit)
                outside = beyond(x, bound)
                outside = outside + bound.isnan() if dtypes.is_float(x.dtype) else outside
                x = outside.where(bound, x)
        return x

    def lerp(self, end: Any, weight: Any) -> Self:
        """self + (end - self) * weight. It's counted from the nearer end, as in PyTorch: a weight
        of 1 gives `end` exactly, and the result is NaN if that end is infinite."""
        begin, end = self._operands(end)
        weight = self._tensor(weight)
        is_far = abs(weight) >= 0.5
        if isinstance(weight, TensorBase):
            begin, end = is_far.where(end, begin), is_far.where(begin, end)
            weight = is_far.where(1 - weight, weight)
        elif is_far:
            begin, end, weight = end, begin, 1 - weight
        return begin + (end - begin) * weight

    # ---- rounding --------------------------------------------------------------------------------

    def trunc(self) -> Self:
        """Rounded towards 0."""
        return self._apply(UOp.trunc) if dtypes.is_float(self.dtype) else self._value()

    def floor(self) -> Self:
        """Rounded down."""
        whole = self.trunc()
        return self if whole is self else self.lt(whole).where(whole - 1, whole)

    def ceil(self) -> Self:
        """Rounded up."""
        whole = self.trunc()
        return self if whole is self else self.gt(whole).where(whole + 1, whole)

    def round(self) -> Self:
        """The nearest integer; halves go to the even one."""
        whole = self.trunc()
        if not dtypes.is_float(self.dtype):
            return whole
        # Exact, unlike floor(x + 0.5), whose sum rounds.
        rest = (self - whole)._magnitude()
        odd = (whole / 2).trunc() * 2 != whole
        away = rest.gt(0.5) + rest.eq(0.5) * odd
        return away.where(self.lt(0).where(whole - 1, whole + 1), whole)

    def _magnitude(self) -> Self:
        """|self| with gradient 1 at 0; that of `abs` is 0 there."""
        return self.lt(0).where(self.neg(), self)

    def abs(self) -> Self:
        """The absolute value, with gradient 0 at 0."""
        if dtypes.is_unsigned(self.dtype) or self.dtype is dtypes.bool:
            return self._value()
        # At 0 and -0.0 the result is a constant 0, so the gradient is 0 too.
        return self.eq(0).where(0, self._magnitude())

    def sign(self) -> Self:
        """-1, 0 or 1; NaN stays NaN."""
        if self.dtype is dtypes.bool:
            return self._value()
        # Where neither holds, the value is 0 or NaN: trunc keeps it, and has gradient 0.
        negative = self.lt(0).where(self._number(-1, self.dtype), self.trunc())
        return self.gt(0).where(self._number(1, self.dtype), negative)

    def isnan(self) -> Self:
        """True for NaN."""
        return self.ne(self)

    def isinf(self, detect_positive: bool = True, detect_negative: bool = True) -> Self:
        """True for inf and -inf, or for one of them only."""
        return self.eq(math.inf) * detect_positive + self.eq(-math.inf) * detect_negative

    def isfinite(self) -> Self:
        """False for NaN, inf and -inf."""
        return (self.isnan() + self.isinf()).logical_not()

    def isclose(
        self, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> Self:
        """True where |self - other| <= atol + rtol * |other|, or both are the same infinity."""
        x, y = self._operands(other)
        near = x.isfinite() * y.isfinite() * ((x - y).abs() <= atol + rtol * y.abs())
        return near + (x == y) + x.isnan() * y.isnan() * equal_nan

    # ---- functions -------------------------------------------------------------------------------

    def _as_float(self) -> Self:
        return self.cast(least_upper_float(self.dtype))

    def square(self) -> Self:
        """self * self."""
        return self * self

    def reciprocal(self) -> Self:
        """1 / self."""
        return self._as_float()._apply(UOp.reciprocal)

    def sqrt(self) -> Self:
        """The square root; NaN below 0."""
        return self._as_float()._apply(UOp.sqrt)

    @float_function
    def rsqrt(self) -> Self:
        """1 / sqrt(self)."""
        return self.sqrt().reciprocal()

    @float_function
    def exp(self) -> Self:
        """e to the power of each element."""
        return (self * (1 / math.log(2))).exp2()

    def exp2(self) -> Self:
        """2 to the power of each element."""
        return self._as_float()._apply(UOp.exp2)

    @float_function
    def log(self) -> Self:
        """The natural logarithm: -inf at 0, NaN below."""
        return self.log2() * math.log(2)

    def log2(self) -> Self:
        """The logarithm to base 2."""
        return self._as_float()._apply(UOp.log2)

    @float_function
    def log10(self) -> Self:
        """The logarithm to base 10."""
        return self.log2() * math.log10(2)

    def sin(self) -> Self:
        """The sine, of radians."""
        return self._as_float()._apply(UOp.sin)

    def cos(self) -> Self:
        """The cosine, of radians."""
        return self._as_float()._apply(UOp.cos)

    @float_function
    def tan(self) -> Self:
        """The tangent, of radians."""
        return self.sin() / self.cos()

    # ---- signs and special values ----------------------------------------------------------------

    def signbit(self) -> Self:
        """True where the sign bit is set, also for -0.0."""
        if not dtypes.is_float(self.dtype):
            return self.lt(0)
        return self.bitcast(self.dtype.mask()).lt(0)

    def copysign(self, other: Any) -> Self:
        """The magnitude of self with the sign of other; the gradient at 0 is 0."""
        x, y = self._operands(other, to_float=True)
        signed = x.signbit().ne(y.signbit()).where(-x, x)
        return x.eq(0).where(signed.detach(), signed)

    def allclose(
        self, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> bool:
        """Whether `isclose` holds for all elements. Realizes."""
        return self.isclose(other, rtol, atol, equal_nan).all().item()

    # ---- truth values ----------------------------------------------------------------------------

    def _logical(self, op: Ops, other: Any) -> Self:
        x, y = self._operands(other)
        return x.cast(dtypes.bool)._alu(op, y.cast(dtypes.bool))

    def logical_and(self, other: Any) -> Self:
        """True where both are nonzero."""
        return self._logical(Ops.AND, other)

    def logical_or(self, other: Any) -> Self:
        """True where at least one is nonzero."""
        return self._logical(Ops.OR, other)

    def logical_xor(self, other: Any) -> Self:
        """True where exactly one is nonzero."""
        return self._logical(Ops.XOR, other)

    # ---- in place --------------------------------------------------------------------------------

    def fill_(self, value: Any) -> Self:
        """Writes `value` everywhere."""
        return self.assign(self.full_like(value))

    def zero_(self) -> Self:
        """Writes 0 everywhere."""
        return self.fill_(0)

    def copy_(self, src: Any) -> Self:
        """Copies the values of `src` into this Tensor, broadcast and converted to its dtype and
        device.

        src: a Tensor, a NumPy array or a number. (`assign` refuses a different dtype.)
        """
        values = self._tensor(src)
        if not isinstance(values, TensorBase):
            return self.fill_(values)
        return self.assign(values.to(self.device).cast(self.dtype))

    # ---- operators -------------------------------------------------------------------------------

    def _binary(self, op: Ops, other: Any, reverse: bool = False) -> Self:
        return getattr(self, _METHODS[op])(other, reverse)

    # fmt: off
    def __neg__(self): return self.neg()
    def __pos__(self): return self._value()
    def __abs__(self): return self.abs()
    def __invert__(self): return self.bitwise_not()

    def __sub__(self, other): return self.sub(other)
    def __rsub__(self, other): return self.sub(other, True)
    def __matmul__(self, other): return self.matmul(other)
    def __rmatmul__(self, other): return self.matmul(other, True)

    def __eq__(self, other): return self.eq(other)
    def __ne__(self, other): return self.ne(other)
    def __lt__(self, other): return self.lt(other)
    def __gt__(self, other): return self.gt(other)
    def __le__(self, other): return self.le(other)
    def __ge__(self, other): return self.ge(other)
    # fmt: on

    # == is elementwise, so a dictionary tells Tensors apart by identity
    __hash__ = object.__hash__


# the methods of Python's operators
_METHODS = {
    Ops.ADD: "add", Ops.MUL: "mul", Ops.FDIV: "div", Ops.IDIV: "floordiv", Ops.MOD: "mod",
    Ops.POW: "pow", Ops.AND: "bitwise_and", Ops.OR: "bitwise_or", Ops.XOR: "bitwise_xor",
    Ops.SHL: "lshift", Ops.SHR: "rshift",
}  # fmt: skip


def _in_place(operator: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: self.assign(operator(self, other))


for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
    setattr(Elementwise, f"__i{_name}__", _in_place(getattr(Elementwise, f"__{_name}__")))
