"""Random numbers from a counter: Threefry scrambles (key, counter) into 64 bits.

There is no hidden stream of numbers. `manual_seed` sets the key and each call takes the next
counters, so the values do not depend on when, or in which order, Tensors are realized. The bits are
those of JAX's `threefry_2x32` for the key `PRNGKey(seed)` and the counters 0, 1, 2, …

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
"""

from __future__ import annotations

import math
import os
from typing import Any, ClassVar, Self

import numpy as np

from tinyframe.device import Buffer, Device, set_buffer
from tinyframe.dtype import DTypeLike, dtypes, least_upper_float, to_dtype
from tinyframe.errors import DTypeError, ShapeError
from tinyframe.run.capture import JitError, capture_now, refill_at_replay
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.creation import checked_shape, creates, float_or
from tinyframe.uop.node import Ops, UOp


class Random(TensorBase):
    """Classmethods that make Tensors of random numbers."""

    _key: ClassVar[int] = int.from_bytes(os.urandom(8), "little")
    _counter: ClassVar[int] = 0

    @classmethod
    def manual_seed(cls, seed: int = 0) -> None:
        """Restarts all random numbers: the same seed gives the same numbers.

        JitError inside a TinyJit, whose replays would not restart them.
        """
        if capture_now() is not None:
            raise JitError(
                "manual_seed() inside a TinyJit: a replay runs no Python, so its numbers would "
                "continue. Call it before the captured function"
            )
        Random._key, Random._counter = seed & 0xFFFFFFFFFFFFFFFF, 0

    @classmethod
    def _next_state(cls, count: int) -> np.ndarray:
        """The key and the first of `count` counters: three 32-bit words."""
        # A counter is one word; after 2**32 of them the key is incremented.
        if Random._counter % 2**32 + count > 2**32:
            Random._counter += -Random._counter % 2**32
        first, Random._counter = Random._counter, Random._counter + count
        high, low = Random._key >> 32, Random._key & 0xFFFFFFFF
        return np.array([(high + (first >> 32)) % 2**32, low, first % 2**32], np.uint32)

    @classmethod
    def _words(cls, count: int, number: UOp) -> list[UOp]:
        """Of `count` random uint32s, those at some places in the first half, and in the second one,
        which is padded if the count is odd. number: the places, an IOTA or made of one."""
        device, half = number.device or Device.DEFAULT, -(-count // 2)

        def refill(buffer: Buffer) -> None:
            buffer.copyin(cls._next_state(count).data.cast("B"))

        # Data, not constants, so that all calls share a kernel. A TinyJit refills it at each
        # replay, as each call would.
        state = UOp.new_buffer(device, 3, dtypes.uint32)
        set_buffer(state, memory := Buffer(device, 3, dtypes.uint32))
        refill(memory)
        refill_at_replay(memory, refill)
        # One scramble takes two counters, one from each half, and gives two results. An odd count
        # is padded with the counter 0.
        key_low, key_high, start = [
            state.shrink(((n, n + 1),)).expand(number.shape) for n in range(3)
        ]
        beyond = number + number.ufix(half).broadcast_to(number.shape)  # half may be a Variable's
        first, second = [place.cast(dtypes.uint32) + start for place in (number, beyond)]
        if count % 2:
            second = number.eq(half - 1).where(0, second)
        width = UOp.const(dtypes.uint64, 32).broadcast_to(number.shape)
        counter, key = [
            low.cast(dtypes.uint64) | high.cast(dtypes.uint64) << width
            for low, high in ((first, second), (key_low, key_high))
        ]
        bits = counter.alu(Ops.THREEFRY, key)
        return [bits.cast(dtypes.uint32), (bits >> width).cast(dtypes.uint32)]

    @classmethod
    def _random_bits(cls, count: int, device: str) -> Self:
        """`count` uint32s, every bit random."""
        number, half = UOp.iota(count, device), -(-count // 2)
        # not cat(), so that each scramble is written once
        first, second = cls._words(count, number % half)
        return cls._of((number // half).cast(dtypes.bool).where(second, first), False)

    @creates
    def rand(cls, *shape: Any, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """Uniform numbers from 0 (included) to 1 (excluded)."""
        sizes, name, wanted = checked_shape(shape), Device.named(device), float_or(dtype)
        if not dtypes.is_float(wanted):
            raise DTypeError(f"rand gives floats, not {wanted}; use randint")
        count = math.prod(sizes)
        bits = cls._random_bits(count * (2 if wanted.itemsize == 8 else 1), name)
        if wanted.itemsize == 8:
            bits = bits.bitcast(dtypes.uint64)
        # as many bits as the mantissa has
        mantissa = dtypes.finfo(wanted)[1]
        whole = (bits.uop >> (8 * bits.dtype.itemsize - mantissa)).cast(wanted)
        return cls._of((whole * 2.0**-mantissa).reshape(sizes))

    @creates
    def randn(cls, *shape: Any, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """Normal numbers with mean 0 and standard deviation 1.

        Box and Muller, "A note on the generation of random normal deviates" (1958).
        """
        sizes, name, wanted = checked_shape(shape), Device.named(device), float_or(dtype)
        count = math.prod(sizes)
        # two numbers of rand(), without its factor
        words = cls._words(2 * count, UOp.iota(count, name))
        first, second = [(word >> 9).cast(dtypes.float32) for word in words]
        turn = first * (2 * math.pi * 2.0**-23)
        size = (second * -(2.0**-23) + 1).log2() * (-2 * math.log(2))  # never of 0
        return cls._of((turn.cos() * size.sqrt()).cast(wanted).reshape(sizes))

    @creates
    def randint(
        cls, *shape: Any, low: int = 0, high: int = 10, dtype: DTypeLike | None = None,
        device: str | None = None,
    ) -> Self:  # fmt: skip
        """Uniform ints from low (included) to high (excluded); int32.

        TypeError if the bounds or the dtype are not ints, ValueError if low >= high.
        """
        for bound in (low, high):
            if isinstance(bound, bool) or not isinstance(bound, int):
                raise TypeError(f"randint needs ints as bounds, not {low!r} and {high!r}")
        wanted = dtypes.int32 if dtype is None else to_dtype(dtype)
        if not dtypes.is_int(wanted):
            raise DTypeError(f"randint gives ints, not {wanted}; use uniform")
        if low >= high:
            raise ValueError(f"randint needs low < high, not {low} and {high}")
        sizes, name = checked_shape(shape), Device.named(device)
        count: Any = math.prod(sizes)
        # The upper half of a random word times the number of values: unlike with a remainder, no
        # value is favoured by more than 1 in 2**32. For more values, 64-bit words.
        if high - low <= 2**32:
            numbers = cls._random_bits(count, name).cast(dtypes.uint64).mul(high - low).rshift(32)
        else:
            numbers = cls._random_bits(2 * count, name).bitcast(dtypes.uint64)
            numbers = numbers if high - low >= 2**64 else numbers.mod(high - low)
        return (numbers.cast(dtypes.int64) + low).cast(wanted).reshape(sizes)

    @creates
    def uniform(
        cls, *shape: Any, low: float = 0.0, high: float = 1.0, dtype: DTypeLike | None = None,
        device: str | None = None,
    ) -> Self:  # fmt: skip
        """Uniform numbers from low (included) to high (excluded).

        ValueError if low >= high.
        """
        if not low < high:
            raise ValueError(f"uniform needs low < high, not {low} and {high}")
        wanted = float_or(dtype)
        exact = least_upper_float(wanted)
        return (cls.rand(*shape, dtype=exact, device=device) * (high - low) + low).cast(wanted)

    @creates
    def normal(
        cls, *shape: Any, mean: float = 0.0, std: float = 1.0, dtype: DTypeLike | None = None,
        device: str | None = None,
    ) -> Self:  # fmt: skip
        """Normal numbers. ValueError if std is negative."""
        if std < 0:
            raise ValueError(f"normal needs a standard deviation of 0 or more, not {std}")
        return cls.randn(*shape, dtype=dtype, device=device) * std + mean

    @classmethod
    def randperm(cls, n: int, *, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """The numbers 0 to n - 1 in a uniformly random order; int32."""
        wanted = dtypes.int32 if dtype is None else to_dtype(dtype)
        if n < 0:
            raise ValueError(f"randperm needs a count of 0 or more, not {n}")
        keys = cls._random_bits(n, Device.named(device))
        return keys.argsort().cast(wanted)

    # ---- initial values of layers ----------------------------------------------------------------

    @classmethod
    def scaled_uniform(cls, *shape: Any, **options: Any) -> Self:
        """Uniform from -b to b, with b = 1/sqrt(the number of elements)."""
        bound = max(1, math.prod(checked_shape(shape))) ** -0.5
        return cls.uniform(*shape, low=-bound, high=bound, **options)

    @classmethod
    def glorot_uniform(cls, *shape: Any, **options: Any) -> Self:
        """Uniform from -b to b, with b = sqrt(6 / (inputs + outputs)), of a shape (out, in, …).

        Glorot and Bengio, "Understanding the difficulty of training deep feedforward networks"
        (2010).
        """
        bound = math.sqrt(6 / max(1, sum(_fan(shape))))
        return cls.uniform(*shape, low=-bound, high=bound, **options)

    @classmethod
    def kaiming_uniform(cls, *shape: Any, a: float = 0.01, **options: Any) -> Self:
        """Uniform from -b to b, with b = sqrt(6 / ((1 + a²) * inputs)), of a shape (out, in, …).

        a: the slope of a leaky relu below 0. He et al., "Delving deep into rectifiers" (2015).
        """
        bound = math.sqrt(6 / ((1 + a**2) * max(1, _fan(shape)[1])))
        return cls.uniform(*shape, low=-bound, high=bound, **options)

    @classmethod
    def kaiming_normal(cls, *shape: Any, a: float = 0.01, **options: Any) -> Self:
        """Normal with standard deviation sqrt(2 / ((1 + a²) * inputs)), of a shape (out, in, …)."""
        std = math.sqrt(2 / ((1 + a**2) * max(1, _fan(shape)[1])))
        return cls.normal(*shape, std=std, **options)

    # ---- from another Tensor ---------------------------------------------------------------------

    def multinomial(self, num_samples: int = 1, replacement: bool = False) -> Self:
        """Indices drawn with probabilities proportional to the elements, for each row.

        self: (n,) or (rows, n), not negative, not all 0. Returns int32 (num_samples,) or (rows,
        num_samples). replacement: whether an index can be drawn more than once. ShapeError for
        other shapes, and for more draws without replacement than there are elements.

        For each index an exponentially distributed time with the element as its rate is drawn. The
        smallest time wins; the order of all times is an order of drawing without replacement.
        """
        if self.ndim not in (1, 2):
            raise ShapeError(f"multinomial takes (n,) or (rows, n), not {self._dims}")
        if num_samples < 1:
            raise ShapeError(f"multinomial draws 1 or more, not {num_samples}")
        if num_samples > self.shape[-1] and not replacement:
            raise ShapeError(f"cannot draw {num_samples} from {self._dims} without replacement")
        weights = self.cast(dtypes.float32)
        if replacement or num_samples == 1:
            races = weights.unsqueeze(-2).expand((*self.shape[:-1], num_samples, self.shape[-1]))
            return races._speed().argmax(-1)
        return weights._speed().topk(num_samples)[1]

    def _speed(self) -> Self:
        """1 / t for an exponentially distributed time t with each element as its rate: each is the
        largest with a probability proportional to its rate. -1 for a rate of 0."""
        drawn = self.rand(self.shape, dtype=self.dtype, device=self.device)
        time = drawn.sub(1, True).log().neg()
        return self.gt(0).where(self / time.maximum(1e-30), -1.0).contiguous()

    def rand_like(self, **options: Any) -> Self:
        """rand in the shape, dtype and device of this Tensor."""
        return self.rand(self.shape, **self._alike(options))

    def randn_like(self, **options: Any) -> Self:
        """randn in the shape, dtype and device of this Tensor."""
        return self.randn(self.shape, **self._alike(options))


def _fan(shape: tuple[Any, ...]) -> tuple[int, int]:
    """(outputs, inputs of each output) of a weight (out, in, …)."""
    sizes: Any = checked_shape(shape)
    return (sizes[0] if sizes else 1), math.prod(sizes[1:])
