"""A kernel whose index is a square

Hint: How many loops does it have? Which of the two indices is unusual, the one that's read or the
one that's written?
Hint: i = UOp.range(n, 0), with n = out.dtype.size. Then out.index(i) is the place to write,
data.index(i * i).load() the value, and .store(value, i) closes the loop.
Because: It's the kernel that doubles, with one index changed: what is read is at i * i.
Right: No movement op can say i * i. A kernel can: an index is any arithmetic on counters.
"""

import random
from typing import Any

import numpy as np

from classroom.ask import Wrong, call, describe, wrong_if
from classroom.lowered import parameter, run_kernel
from tinyframe.runtime.python import OutOfBounds
from tinyframe.uop import Ops, UOp
from tinyframe.uop.show import render


def check(answer) -> None:
    """answer(out, data): the kernel that stores data[i * i] in out[i]."""
    for n in (5, random.choice((7, 11, 13))):
        case = "`out` has 5 elements, `data` 17: 0, 10, 20 … 160" if n == 5 else "a larger `out`"
        size = (n - 1) ** 2 + 1
        data = np.arange(size) * 10 if n == 5 else np.random.default_rng().random(size)
        sink = call(answer, parameter(0, n), parameter(1, size))
        _sink(sink, case)
        expected = data[np.arange(n) ** 2]
        try:
            got = run_kernel(sink, n, data)
        except OutOfBounds as error:
            words = str(error).partition(": ")[2] or str(error)
            raise Wrong(f"Your kernel leaves its memory: {words}.", case) from None
        if np.allclose(got, expected):
            continue
        shown = (_list(expected), _list(got)) if n == 5 else ("", "")
        wrong_if(np.isnan(got).any(), "Some elements of `out` have never been written (they are "
                 "nan). Does your loop run over all of it?", case, *shown)  # fmt: skip
        if np.allclose(got, expected**2) and n == 5:
            raise Wrong("You squared what was read. Square the place that it's read from.",
                        case, *shown)  # fmt: skip
        if np.allclose(got, np.arange(n) ** 2):
            raise Wrong("That's i * i itself. Write what `data` has there.", case, *shown)
        if np.allclose(got, data[:n]):
            raise Wrong("That's a copy of the beginning of `data`.", case, *shown)
        raise Wrong("It runs, and writes different numbers.", case, *shown)


def _sink(sink: Any, case: str) -> None:
    """Wrong unless this is a kernel: a SINK of STOREs that close all of their loops."""
    if isinstance(sink, UOp) and sink.op is Ops.STORE:
        raise Wrong("The answer has to be a SINK. You have the STORE: put it into `UOp.sink(…)`.",
                    case)  # fmt: skip
    if not isinstance(sink, UOp) or sink.op is not Ops.SINK:
        what = describe(sink) if not isinstance(sink, UOp) else f"a UOp {sink.op.name}"
        raise Wrong("The answer has to be a SINK, from `UOp.sink(…)`.", case, got=what)
    if not sink.src or any(s.op is not Ops.STORE for s in sink.src):
        raise Wrong("A SINK holds STOREs.", case, got=", ".join(s.op.name for s in sink.src))
    for store in sink.src:
        if store.src[0].op is not Ops.INDEX or store.src[0].src[0].arg != 0:
            raise Wrong("A STORE writes to a place in `out`: `out.index(…).store(…)`.", case)
        if open_ranges := store.ranges:
            names = ", ".join(sorted(render(r) for r in open_ranges))
            raise Wrong(f"The loop of {names} is never closed. A STORE is given the counters of "
                        "its loops, after the value.", case)  # fmt: skip


def _list(values: np.ndarray) -> str:
    return "[" + ", ".join(f"{value:g}" for value in values) + "]"

# %% shared
from tinyframe.uop import Ops, UOp
from tinyframe import dtypes
def kernel(out, data, read, written=None, closed=True, size=None, sink=True):
    i = UOp.range(size or out.dtype.size, 0)
    place = out.index(i if written is None else written(i))
    store = place.store(read(data, i), *((i,) if closed else ()))
    return UOp.sink(store) if sink else store

# %% wrong, each line
lambda out, data: kernel(out, data, lambda d, i: d.index(i).load())  # says a copy
lambda out, data: kernel(out, data, lambda d, i: d.index(i).load() * d.index(i).load())  # says different numbers
lambda out, data: kernel(out, data, lambda d, i: d.index(i * i * i).load())  # says leaves its memory: LOAD reads data1
lambda out, data: kernel(out, data, lambda d, i: d.index(i * i).load(), closed=False)  # says ridx0 is never closed
lambda out, data: kernel(out, data, lambda d, i: d.index(i * i).load(), sink=False)  # says put it into `UOp.sink
lambda out, data: kernel(out, data, lambda d, i: d.index(i * i).load(), size=3)  # says never been written
lambda out, data: kernel(out, data, lambda d, i: (i * i).cast(dtypes.float))  # says i * i itself
lambda out, data: UOp.sink()  # says A SINK holds STOREs
lambda out, data: kernel(data, out, lambda d, i: d.index(i).load(), size=2)  # says writes to a place in `out`
lambda out, data: out  # says from `UOp.sink(…)`

# %% wrong: says squared what was read
(
    lambda out, data: kernel(
        out, data, lambda d, i: d.index(i * i).load() * d.index(i * i).load()
    )
)

# %% right, each line
lambda out, data: kernel(out, data, lambda d, i: (d.index(i * i)).load() * 1.0)
