"""A machine for kernels that are written the way Triton writes them: one program for each place of
a grid, and each program works on whole blocks of elements.

    def double(x_ptr, out_ptr, n, BLOCK):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, 2 * tl.load(x_ptr + i, mask=i < n), mask=i < n)

    launch(double, 4, x, out, 100, BLOCK=32)     # arrays of NumPy; out is filled

Names and meaning are those of `triton.language`, of which this has what a lesson needs. Programs
run one after another on NumPy, as Triton's own interpreter runs them (TRITON_INTERPRET=1). It is
stricter than a GPU in one thing: to touch an element that isn't there is an error here.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from tinyframe import Tensor

MOST_PROGRAMS = 4096
INTERPRETED = SimpleNamespace(program=0, programs=0)  # the program that runs now, of how many


class OutOfMemory(IndexError):
    """A program touched an element that its array doesn't have."""


class Pointer:
    """A place in an array, or a block of places: `x_ptr + offsets`."""

    def __init__(self, name: str, array: np.ndarray, offsets: Any = 0) -> None:
        self.name, self.array, self.offsets = name, array, offsets

    def __add__(self, more: Any) -> Pointer:
        return Pointer(self.name, self.array, self.offsets + more)

    __radd__ = __add__

    def places(self, mask: Any) -> tuple[np.ndarray, np.ndarray]:
        """Offsets, and which of them are touched. OutOfMemory if one of these isn't there."""
        places, wanted = np.broadcast_arrays(self.offsets, True if mask is None else mask)
        outside = places[wanted & ((places < 0) | (places >= self.array.size))]
        if outside.size:
            raise OutOfMemory(
                f"Program {INTERPRETED.program} touches element {outside.flat[0]} of "
                f"{self.name}, which has {self.array.size}. A mask would leave it alone."
            )
        return places, wanted


def _load(pointer: Pointer, mask: Any = None, other: Any = None) -> Any:
    places, wanted = _pointer(pointer).places(mask)
    # What is loaded where the mask is False is undefined in Triton, unless `other` says it.
    filler = np.float32(np.nan if other is None else other)
    loaded = np.full(places.shape, filler, pointer.array.dtype)
    loaded[wanted] = pointer.array.reshape(-1)[places[wanted]]
    return loaded if loaded.shape else loaded[()]


def _store(pointer: Pointer, value: Any, mask: Any = None) -> None:
    places, wanted = _pointer(pointer).places(mask)
    pointer.array.reshape(-1)[places[wanted]] = np.broadcast_to(value, places.shape)[wanted]


def _pointer(pointer: Any) -> Pointer:
    if not isinstance(pointer, Pointer):
        raise TypeError("load and store take a pointer first, such as `x_ptr + offsets`")
    return pointer


def _arange(start: int, end: int) -> np.ndarray:
    size = end - start
    if size < 1 or size & (size - 1):
        raise ValueError(f"arange makes a power of two of elements, not {size}")
    return np.arange(start, end)


def _program_id(axis: int = 0) -> int:
    return int(INTERPRETED.program)


tl = SimpleNamespace(
    program_id=_program_id,
    num_programs=lambda axis=0: INTERPRETED.programs,
    arange=_arange,
    load=_load,
    store=_store,
    sum=lambda block, axis=None: np.sum(block, axis=axis),
    max=lambda block, axis=None: np.max(block, axis=axis),
    min=lambda block, axis=None: np.min(block, axis=axis),
    exp=np.exp,
    log=np.log,
    sqrt=np.sqrt,
    abs=np.abs,
    maximum=np.maximum,
    minimum=np.minimum,
    where=np.where,
    constexpr=int,
    float32=np.float32,
)


def launch(kernel: Callable[..., Any], programs: int, *arguments: Any, **constants: Any) -> None:
    """Run a kernel once for each program. An array that is passed arrives as a pointer to its first
    element. OutOfMemory where a program touches what isn't there."""
    if not 1 <= programs <= MOST_PROGRAMS:
        raise ValueError(f"a grid has 1 to {MOST_PROGRAMS} programs here, not {programs}")
    names = kernel.__code__.co_varnames if hasattr(kernel, "__code__") else ()
    given = [
        Pointer(names[place] if place < len(names) else f"argument {place}", value)
        if isinstance(value, np.ndarray)
        else value
        for place, value in enumerate(arguments)
    ]
    before = INTERPRETED.program, INTERPRETED.programs
    try:
        for INTERPRETED.program in range(programs):
            INTERPRETED.programs = programs
            kernel(*given, **constants)
    finally:
        INTERPRETED.program, INTERPRETED.programs = before


def by_rows(kernel: Callable[..., Any], x: Any, *more: Any, block: int | None = None) -> Tensor:
    """What `kernel(x_ptr, …, out_ptr, columns, BLOCK)` makes of a matrix, a program for each row.

    more: further arrays, which come after x. block: a power of two, large enough for a row.
    """
    arrays = [np.ascontiguousarray(a.numpy(), dtype=np.float32) for a in (x, *more)]
    rows, columns = arrays[0].shape
    out = np.full((rows, columns), np.nan, np.float32)
    with np.errstate(all="ignore"):
        launch(kernel, rows, *arrays, out, columns, BLOCK=block or 1 << (columns - 1).bit_length())
    return Tensor(out)


def attention(kernel: Callable[..., Any], words: str) -> Any:
    """How much each word looks at each other one, by the learner's softmax: shades, and in words
    which one it looks at most; says so where the kernel doesn't pass its check yet."""
    from classroom.grids import shades
    from classroom.yours import passes

    if not passes("elsewhere-write-triton", kernel):
        print("Your kernel will be at work here, as soon as it passes its check.")
        return None
    spelled = words.split()
    alike = [
        [8 * len({*one} & {*other}) / len({*one} | {*other}) * (one != other) for other in spelled]
        for one in spelled
    ]
    shares = by_rows(kernel, Tensor(alike))
    wide = max(map(len, spelled))
    for word, row in zip(spelled, shares.numpy(), strict=True):
        print(f"{word:>{wide}} looks at {spelled[row.argmax()]} ({row.max():.0%})")
    return shades(scores=Tensor(alike), softmax=shares)
