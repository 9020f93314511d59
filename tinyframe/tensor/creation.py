"""Creation: Tensors from Python and NumPy values, and Tensors filled by a rule.

A graph has two kinds of leaves. Existing data (a list, an array) is a BUFFER on the PYTHON device,
the host's memory, and a COPY from there. Values that follow a rule need no memory: `zeros(2, 3)` is
one CONST, reshaped to (1, 1) and expanded to (2, 3).

    Tensor([1, 2, 3])          COPY(BUFFER on PYTHON, DEVICE)
    Tensor.zeros(2, 3)         EXPAND(RESHAPE(CONST 0.0))
    Tensor.eye(3)              the same, through a PAD and a RESHAPE that put ones on a diagonal
"""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from tinyframe.device import Buffer, Device, set_buffer
from tinyframe.dtype import (
    ConstType,
    DType,
    DTypeLike,
    bf16_to_f32,
    dtypes,
    f32_to_bf16,
    from_np_dtype,
    representable,
    sum_acc_dtype,
    to_dtype,
    to_np_dtype,
    truncate,
)
from tinyframe.errors import DTypeError, ShapeError
from tinyframe.runtime.host import HostMemory
from tinyframe.tensor.base import TensorBase, as_size, flat_arguments
from tinyframe.tensor.dlpack import imported
from tinyframe.uop.node import Ops, UOp, holds, sint, upper
from tinyframe.uop.show import sizes_text

# ---- existing data -------------------------------------------------------------------------------

# types that are refused in lists of numbers, and the remedy for the message
NO_NUMBERS: dict[Any, str] = {
    TensorBase: "Tensor.stack([...]) joins Tensors",
    UOp: "Tensor.stack([...]) joins Tensors, and Tensor(variable) makes a Variable one",
    (np.generic, np.ndarray): "np.array([...]) takes them, and keeps their dtype",
}


def uop_of(data: Any, dtype: DType | None, device: str) -> UOp:
    """The graph of a Python or NumPy value on `device`, as the constructor of Tensor takes it.

    ValueError for a ragged list, OverflowError for an int beyond the default int, RuntimeError for
    a type without a dtype, TypeError for anything that is not data.
    """
    if isinstance(data, UOp):
        return data if dtype is None else data.cast(dtype)
    if isinstance(data, (bool, int, float)):
        return constant(data, checked_dtype(data, dtype), device)
    if data is None:
        text = "Tensor(None) is empty, like Tensor([]): did a function forget its `return`?"
        warnings.warn(text, stacklevel=3)
        data = []
    if isinstance(data, (bytes, bytearray, memoryview)):
        return _from_numpy(np.frombuffer(data, np.uint8), dtype, device)
    if isinstance(data, np.ma.MaskedArray):
        raise TypeError(
            "a Tensor has no mask: array.filled(value) replaces masked elements, and "
            "Tensor(array.mask) is the mask"
        )
    if isinstance(data, (np.ndarray, np.generic)):
        return _from_numpy(np.asarray(data), dtype, device)
    if isinstance(data, (list, tuple)):
        shape, flat = _flatten(data)
        for kind in set(map(type, flat)):
            for no_number, instead in NO_NUMBERS.items():
                if issubclass(kind, no_number):
                    raise DTypeError(
                        f"a Tensor is made of lists of Python's numbers, not of {kind.__name__}: "
                        f"{instead}"
                    )
        found = checked_dtype(flat, dtype)
        return host_buffer(_to_array(flat, found), found, shape, device)
    if isinstance(data, TensorBase):
        raise TypeError(
            "a Tensor is not made of a Tensor: t.clone() copies it, and t.cast(dtype) converts it"
        )
    if (foreign := imported(data)) is not None:
        array, named = foreign
        return _from_numpy(array, dtype, device, named)
    raise TypeError(
        "a Tensor is made of numbers, (nested) lists of them, bytes, arrays or None, "
        f"not of {data!r} of type {type(data).__name__}"
    )


def constant(value: ConstType, dtype: DType, device: str) -> UOp:
    """One number on `device`, of shape ()."""
    return UOp(Ops.CONST, dtype, (UOp(Ops.DEVICE, arg=device),), representable(value, dtype))


def checked_dtype(values: Any, dtype: DType | None) -> DType:
    """`dtype`, or if None that of a number or a list; OverflowError if that is too small."""
    found = dtypes.from_py(values)
    if dtype is not None:
        return dtype
    if found is dtypes.default_int:
        listed = values if isinstance(values, list) else [values]
        for extreme in (min(listed), max(listed)):
            if not found.min <= extreme <= found.max:
                raise OverflowError(
                    f"{extreme} does not fit into {found}, the default for ints "
                    f"({found.min} to {found.max}); give a dtype, such as dtype=dtypes.int64"
                )
    return found


def host_buffer(array: np.ndarray, dtype: DType, shape: tuple[int, ...], device: str) -> UOp:
    """The bytes of `array` as a BUFFER of the host, and its COPY to `device`.

    The BUFFER is a copy, made now, unless the array is read-only: then it is the array's own
    memory, and nothing is copied before `realize()`.
    """
    array = np.ascontiguousarray(array)
    size = math.prod(shape)
    buffer = UOp.new_buffer("PYTHON", size, dtype)
    data = array.reshape(-1).view(np.uint8)[: size * dtype.itemsize]
    if device != "PYTHON" and size and _is_frozen(array):
        set_buffer(buffer, Buffer("PYTHON", size, dtype, opaque=HostMemory(data)))
    else:
        set_buffer(buffer, Buffer("PYTHON", size, dtype, initial_value=data.data))  # type: ignore[arg-type]
    return (buffer if device == "PYTHON" else buffer.copy_to_device(device)).reshape(shape)


def _is_frozen(array: np.ndarray) -> bool:
    """Whether an array is read-only, and so is every array it is a view of."""
    below: Any = array
    while isinstance(below, np.ndarray):
        if below.flags.writeable:
            return False
        below = below.base
    return below is None or isinstance(below, bytes)


def _from_numpy(
    array: np.ndarray, dtype: DType | None, device: str, found: DType | None = None
) -> UOp:
    """found: the dtype of the elements, if NumPy lacks it."""
    found = from_np_dtype(array.dtype) if found is None else found
    if array.ndim == 0:
        exact = bf16_to_f32(array.view(np.uint16)) if found is dtypes.bfloat16 else array
        return constant(exact.item(), dtype or found, device)
    uop = host_buffer(array, found, array.shape, device)
    return uop if dtype is None else uop.cast(dtype)


def _flatten(data: list | tuple) -> tuple[tuple[int, ...], list]:
    """The shape of nested lists and their items in one list; ValueError where they are ragged."""
    shape, level = [len(data)], list(data)
    while level and any(isinstance(item, (list, tuple)) for item in level):
        lengths = {len(item) if isinstance(item, (list, tuple)) else None for item in level}
        if len(lengths) > 1:
            named = sorted("a number" if n is None else f"{n} items" for n in lengths)
            raise ShapeError(
                f"a ragged list: at depth {len(shape)} there are {' and '.join(named)} side by "
                "side; every list of one depth needs the same length"
            )
        shape.append(lengths.pop())  # type: ignore[arg-type]
        level = [item for inner in level for item in inner]
    return tuple(shape), level


def _to_array(values: list, dtype: DType) -> np.ndarray:
    if dtype is dtypes.bfloat16:
        return f32_to_bf16(np.array(values, np.float32))
    try:
        return np.array(values, to_np_dtype(dtype))
    except (OverflowError, ValueError):  # an int out of range, or NaN as an int: wraps, or 0
        return np.array([truncate[dtype](v) for v in values], to_np_dtype(dtype))


# ---- filled by a rule ----------------------------------------------------------------------------


def checked_shape(arguments: tuple[Any, ...]) -> tuple[sint, ...]:
    """`(2, 3)`, `((2, 3),)` and `([2, 3],)` as (2, 3); ShapeError for negative sizes."""
    shape = flat_arguments(arguments)
    for size in shape:
        if isinstance(size, (tuple, list)):
            raise ShapeError(f"a shape is given as f(2, 3) or f((2, 3)), not mixed: {arguments}")
    sizes = tuple(map(as_size, shape))
    if not all(holds(size >= 0) for size in sizes):
        raise ShapeError(f"a shape has no negative sizes: {sizes_text(sizes)}")
    return sizes


def creates(method: Callable[..., Any]) -> Any:
    """Decorator of creation methods: a classmethod that takes `requires_grad=` too."""

    @functools.wraps(method)
    def made(cls: Any, *args: Any, requires_grad: bool | None = None, **options: Any) -> Any:
        tensor = method(cls, *args, **options)
        is_so = tensor._requires_grad is requires_grad
        return tensor if is_so else tensor.requires_grad_(requires_grad)

    shown = inspect.signature(method)
    mark = inspect.Parameter("requires_grad", inspect.Parameter.KEYWORD_ONLY, default=None)
    others = [p for p in shown.parameters.values() if p.kind is not p.VAR_KEYWORD]
    made.__signature__ = shown.replace(parameters=[*others, mark])  # type: ignore[attr-defined]
    return classmethod(made)


def float_or(dtype: DTypeLike | None) -> DType:
    """`dtype`, or the default float if it is None."""
    return dtypes.default_float if dtype is None else to_dtype(dtype)


class Creation(TensorBase):
    """Classmethods that make Tensors. All take `dtype=`, `device=` and `requires_grad=`."""

    @creates
    def empty(cls, *shape: Any, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """Uninitialized memory of a shape."""
        sizes = checked_shape(shape)
        size = math.prod(map(upper, sizes))
        return cls._of(UOp.new_buffer(Device.named(device), size, float_or(dtype)).front(sizes))

    @creates
    def full(
        cls, shape: Any, fill_value: ConstType, *, dtype: DTypeLike | None = None,
        device: str | None = None,
    ) -> Self:  # fmt: skip
        """One value everywhere; `full((2,), 4)` is int32, `full((2,), 4.0)` float32."""
        sizes = checked_shape((shape,))
        found = checked_dtype(fill_value, None if dtype is None else to_dtype(dtype))
        value = constant(fill_value, found, Device.named(device))
        return cls._of(value.broadcast_to(sizes))

    @creates
    def zeros(cls, *shape: Any, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """0 everywhere, of the default float."""
        return cls.full(checked_shape(shape), 0, dtype=float_or(dtype), device=device)

    @creates
    def ones(cls, *shape: Any, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """1 everywhere, of the default float."""
        return cls.full(checked_shape(shape), 1, dtype=float_or(dtype), device=device)

    @creates
    def arange(
        cls, start: ConstType, stop: ConstType | None = None, step: ConstType = 1, *,
        dtype: DTypeLike | None = None, device: str | None = None,
    ) -> Self:  # fmt: skip
        """start, start+step, … below stop; `arange(n)` is 0 … n-1. Ints, or floats if one is.

        ValueError for step 0, OverflowError if a value does not fit the dtype.
        """
        begin, end = (0, start) if stop is None else (start, stop)
        if isinstance(begin, UOp) or isinstance(end, UOp):
            if step != 1:
                raise ValueError("arange with a Variable in its bounds has step 1")
            sizes = checked_shape((end - begin,))
            wanted = to_dtype(dtype or dtypes.default_int)
            last: Any = upper(end) - 1  # type: ignore[arg-type]
            if dtypes.is_int(wanted) and last > wanted.max:
                raise OverflowError(
                    f"arange({sizes_text((begin, end))[1:-1]}) may run up to {last}, but "
                    f"{wanted} holds {wanted.min} to {wanted.max}"
                )
            symbolic: Any = cls._index(sizes[0], device).cast(wanted)
            return symbolic + begin
        found = dtypes.from_py([begin, end, step]) if dtype is None else to_dtype(dtype)
        if found is dtypes.bool and dtype is None:
            found = dtypes.default_int
        if step == 0:
            raise ValueError(f"arange({begin}, {end}, 0): the step cannot be 0")
        if not all(map(math.isfinite, (begin, end, step))):
            raise ValueError(f"arange({begin}, {end}, {step}): the bounds have to be finite")
        count = max(0, math.ceil((end - begin) / step))
        if isinstance(begin, int) and isinstance(end, int) and isinstance(step, int):
            count = max(0, -((begin - end) // step))
        last = begin + (count - 1) * step
        if count and not (found.min <= min(begin, last) and max(begin, last) <= found.max):
            raise OverflowError(
                f"arange({begin}, {end}, {step}) runs from {begin} to {last}, but {found} holds "
                f"{found.min} to {found.max}"
            )
        return (cls._index(count, device).cast(sum_acc_dtype(found)) * step + begin).cast(found)

    @classmethod
    def _index(cls, count: sint, device: str | None = None) -> Self:
        """0, 1, … count-1: indices as values (IOTA), which need no memory."""
        return cls._of(UOp.iota(count, Device.named(device)))

    def _range(self, count: sint) -> Self:
        """0, 1, … count-1, on this Tensor's device."""
        return self._index(count, self.device)

    def _along(self, axis: int) -> Self:
        """The indices along an axis of this Tensor, in a shape that broadcasts to its own."""
        size = self.shape[axis]
        return self._range(size).reshape((size, *(1,) * (self.ndim - axis - 1)))

    @creates
    def linspace(
        cls, start: float, stop: float, steps: int, *, dtype: DTypeLike | None = None,
        device: str | None = None,
    ) -> Self:  # fmt: skip
        """`steps` evenly spaced numbers from start to stop, both included."""
        found = float_or(dtype)
        if found is dtypes.bool:
            raise DTypeError("linspace needs a float or int dtype, not bool")
        if steps < 0:
            raise ValueError(f"linspace needs 0 or more steps, not {steps}")
        # Counted from both ends, so that both are exact.
        exact = sum_acc_dtype(found if dtypes.is_float(found) else dtypes.default_float)
        number: Any = cls._index(steps, device)
        step = (stop - start) / max(steps - 1, 1)
        rising = number.cast(exact) * step + start
        falling = stop - (steps - 1 - number).cast(exact) * step
        return (number < (steps + 1) // 2).where(rising, falling).cast(found)

    @creates
    def eye(
        cls, n: int, m: int | None = None, *, dtype: DTypeLike | None = None,
        device: str | None = None,
    ) -> Self:  # fmt: skip
        """The identity matrix: shape (n, n), or (n, m) with ones on the diagonal."""
        rows, columns = checked_shape((n, n if m is None else m))
        square = cls.ones(max(rows, columns), dtype=dtype, device=device).diag()
        return square.shrink_to(rows, columns)

    # ---- like another Tensor ---------------------------------------------------------------------

    def _alike(self, options: dict[str, Any]) -> dict[str, Any]:
        """This Tensor's dtype and device, where the options do not say otherwise."""
        given = {name: value for name, value in options.items() if value is not None}
        return {"dtype": self.dtype, "device": self.device, **given}

    def full_like(self, fill_value: ConstType, **options: Any) -> Self:
        """One value in the shape, dtype and device of this Tensor."""
        return self.full(self.shape, fill_value, **self._alike(options))

    def zeros_like(self, **options: Any) -> Self:
        """0 in the shape, dtype and device of this Tensor."""
        return self.full_like(0, **options)

    def ones_like(self, **options: Any) -> Self:
        """1 in the shape, dtype and device of this Tensor."""
        return self.full_like(1, **options)

    def empty_like(self, **options: Any) -> Self:
        """Uninitialized memory in the shape, dtype and device of this Tensor."""
        return self.empty(self.shape, **self._alike(options))
