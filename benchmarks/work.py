"""What is compared: one row for each piece of work, with how each library does it.

A row makes its inputs with NumPy, the same in every process. Each library then gets a function that
does the work on them, again and again, and gives the result (or a tuple of them) to compare. `ours`
is tinyframe's and tinygrad's, which share these names; `theirs` is PyTorch's, eager.

Rows are made in products.py, convolutions.py, functions.py and training.py; rows.py lists them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = tuple[np.ndarray, ...]
FEW = 8  # operations for each byte: with no more of them, it's memory that bounds the work
Must = tuple[str, float] | None  # (a library's name, or beside; how many times its speed)


@dataclass(frozen=True)
class Work:
    """One row.

    must: whose speed is to be reached, and how many times. numpy: takes out=, and is timed too.
    reference: NumPy's result where it is only to compare with. ready: theirs takes out=, memory
    that is there. quick: it is in the short run. beside: a row of the same table that tinyframe
    runs in the same turns, to be held against in operations a second.
    """

    name: str
    inputs: Callable[[], Arrays]
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    must: Must = None
    flops: float = 0.0
    bytes: float = 0.0
    numpy: Callable[..., Any] | None = None
    reference: Callable[..., Any] | None = None
    ready: bool = False
    quick: bool = False
    beside: str | None = None


def normal(*shapes: tuple[int, ...], dtype: type = np.float32) -> Callable[[], Arrays]:
    def make() -> Arrays:
        rng = np.random.default_rng(0)
        drawn = (rng.standard_normal(shape, dtype=np.float32) for shape in shapes)
        return tuple(array.astype(dtype, copy=False) for array in drawn)

    return make


def torch() -> Any:
    return importlib.import_module("torch")
