"""Random numbers from a counter: Threefry scrambles (key, counter) into 64 bits.

There is no hidden stream of numbers. `manual_seed` sets the key; each call takes the next counters,
so what a Tensor holds does not depend on when, or in which order, Tensors are realized.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
"""

from __future__ import annotations

import math
import os
from typing import Any, ClassVar, Self

import numpy as np

from tinyframe.device import Device, buffer_of
from tinyframe.dtype import DTypeLike, dtypes, to_dtype
from tinyframe.engine.jit import refill_at_replay
from tinyframe.errors import DTypeError
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.creation import checked_shape
from tinyframe.uop.node import Ops


class Random(TensorBase):
    """Classmethods that make Tensors of random numbers."""

    _key: ClassVar[int] = int.from_bytes(os.urandom(8), "little")
    _counter: ClassVar[int] = 0

    @classmethod
    def manual_seed(cls, seed: int = 0) -> None:
        """Starts all random numbers anew: after the same seed come the same numbers."""
        Random._key, Random._counter = seed & 0xFFFFFFFFFFFFFFFF, 0

    @classmethod
    def _random_bits(cls, count: int, device: str) -> Self:
        """`count` uint32s, every bit random."""
        pairs = -(-count // 2)

        def next_state() -> np.ndarray:
            first, Random._counter = Random._counter, Random._counter + pairs
            return np.array([Random._key, first], np.uint64)

        # Data and not constants, or each call would be another kernel to compile. A TinyJit fills
        # it anew at each replay, as each call would have.
        state = cls._data(next_state(), dtypes.uint64, device)
        memory = next(u for u in state.uop.toposort() if u.op is Ops.BUFFER)
        refill_at_replay(
            buffer_of(memory), lambda buffer: buffer.copyin(memoryview(next_state()).cast("B"))
        )
        key, start = state.shrink(((0, 1),)), state.shrink(((1, 2),))
        counters = cls._index(pairs, device).cast(dtypes.uint64) + start
        bits = counters._apply(lambda x, k: x.alu(Ops.THREEFRY, k), key.expand(pairs))
        low, high = bits.cast(dtypes.uint32), bits.rshift(32).cast(dtypes.uint32)
        return low.cat(high).shrink(((0, count),))

    @classmethod
    def rand(
        cls,
        *shape: Any,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool | None = None,
    ) -> Self:
        """Numbers from 0 up to but not including 1, all equally likely."""
        sizes, name = checked_shape(shape), Device.canonicalize(device)
        wanted = dtypes.default_float if dtype is None else to_dtype(dtype)
        if not dtypes.is_float(wanted):
            raise DTypeError(f"rand gives floats, not {wanted}; there is randint")
        count = math.prod(sizes)
        if count == 0:
            return cls.zeros(sizes, dtype=wanted, device=name, requires_grad=requires_grad)
        # The bits that a float has room for behind the point, under the exponent of 1 to 2.
        mantissa = dtypes.finfo(wanted)[1]
        narrow = {2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}[wanted.itemsize]
        bits = cls._random_bits(count * (2 if wanted.itemsize == 8 else 1), name)
        if wanted.itemsize == 8:
            bits = bits.bitcast(dtypes.uint64)
        bits = bits.rshift(8 * bits.dtype.itemsize - mantissa).cast(narrow)
        one = cls.ones(dtype=wanted, device=name).bitcast(narrow)
        numbers = (bits | one).bitcast(wanted) - 1
        return numbers.reshape(sizes).requires_grad_(requires_grad)

    @classmethod
    def randn(
        cls,
        *shape: Any,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool | None = None,
    ) -> Self:
        """Numbers from the normal distribution with mean 0 and standard deviation 1.

        Box and Muller, "A note on the generation of random normal deviates" (1958).
        """
        sizes = checked_shape(shape)
        wanted = dtypes.default_float if dtype is None else to_dtype(dtype)
        pair = cls.rand(2, *sizes, dtype=dtypes.float32, device=device)
        angle, size = pair[0] * (2 * math.pi), (1 - pair[1]).log() * -2  # 1 - u is never 0
        return (angle.cos() * size.sqrt()).cast(wanted).requires_grad_(requires_grad)

    def rand_like(self, **options: Any) -> Self:
        """rand in the shape, dtype and device of this Tensor."""
        return self.rand(self.shape, **{"dtype": self.dtype, "device": self.device, **options})

    def randn_like(self, **options: Any) -> Self:
        """randn in the shape, dtype and device of this Tensor."""
        return self.randn(self.shape, **{"dtype": self.dtype, "device": self.device, **options})
