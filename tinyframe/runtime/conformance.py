"""Does a device compute what it should? One line for each operation, one column for each dtype.

    python -m tinyframe.runtime.conformance CL
    python -m tinyframe.runtime.conformance --module my_backend MY

What is right is what the PYTHON device computes: it interprets programs, and defines what each op
means. Each cell of the table runs small kernels on edge values (the least and the largest number,
zeros of both signs, infinities, NaN) in every combination, and compares bit by bit; where a
device may round (division and roots in OpenCL, functions that are made of other ops everywhere) a
few units in the last place are allowed, and the row says how many. Of the first cell that is wrong
the kernel's source is shown, with the inputs that it goes wrong on.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tinyframe import Device, Tensor, TinyJit, Variable, dtypes
from tinyframe.device import Buffer, DeviceUnavailable
from tinyframe.dtype import DType, to_np_dtype
from tinyframe.engine.realize import get_kernel, record_runs
from tinyframe.errors import DTypeError
from tinyframe.uop.node import Ops

FLOATS = (dtypes.half, dtypes.bfloat16, dtypes.float, dtypes.double)
INTS = (dtypes.char, dtypes.uchar, dtypes.short, dtypes.ushort, dtypes.int, dtypes.uint,
        dtypes.long, dtypes.ulong)  # fmt: skip
NUMBERS = (*INTS, *FLOATS)
ALL = (dtypes.bool, *NUMBERS)


# ---- edge values --------------------------------------------------------------------------------


def edges(dtype: DType) -> list[float | int | bool]:
    """The values of a dtype at which things go wrong first."""
    if dtypes.is_bool(dtype):
        return [False, True]
    if dtypes.is_int(dtype):
        low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
        small = [0, 1, 2, 3, 7, 100] if dtypes.is_unsigned(dtype) else [-7, -2, -1, 0, 1, 3, 100]
        return [low, low + 1, *small, high - 1, high]
    inf = float("inf")
    large = {dtypes.half: 60000.0, dtypes.double: 1e300}.get(dtype, 1e38)
    return [0.0, -0.0, 1.0, -1.5, 3.25, -100.0, 1e-3, large, -large, inf, -inf, float("nan")]


def on(device: str, values: Sequence[float], dtype: DType) -> Tensor:
    """A Tensor of these values, in memory."""
    np_dtype = to_np_dtype(dtype)
    array = np.array(values, np.float32 if np_dtype is None else np_dtype)
    return Tensor(array, device="PYTHON").cast(dtype).realize().to(device).realize()


def pairs(device: str, dtype: DType) -> tuple[Tensor, Tensor]:
    """Every combination of two edge values."""
    found = edges(dtype)
    return (on(device, [a for a in found for _ in found], dtype),
            on(device, [b for _ in found for b in found], dtype))  # fmt: skip


# ---- what is tried ------------------------------------------------------------------------------

Build = Callable[[str, DType], Tensor]


@dataclass(frozen=True)
class Check:
    """A row of the table.

    build: the result on a device, for a dtype. dtypes: for which. ulps: units in the last place
    that a result may be off by.
    """

    name: str
    build: Build
    dtypes: tuple[DType, ...] = ALL
    ulps: int = 0


def one(function: Callable[[Tensor], Tensor]) -> Build:
    """Of each edge value."""
    return lambda device, dtype: function(on(device, edges(dtype), dtype))


def two(function: Callable[[Tensor, Tensor], Tensor]) -> Build:
    """Of every combination of two edge values."""
    return lambda device, dtype: function(*pairs(device, dtype))


def small(function: Callable[..., Tensor], *shapes: tuple[int, ...]) -> Build:
    """Of small whole numbers, whose sums and products are exact in every dtype."""

    def build(device: str, dtype: DType) -> Tensor:
        random = np.random.default_rng(0)
        return function(*[
            on(device, random.integers(0, 3, int(np.prod(shape))).tolist(), dtype).reshape(shape)
            for shape in shapes])  # fmt: skip

    return build


def _divided(function: Callable[[Tensor, Tensor], Tensor]) -> Build:
    """Without what has no answer: nothing is divided by 0, nor the least number by -1."""
    return two(lambda x, y: function((x == dtypes.min(x.dtype)).where(1, x) if not
               dtypes.is_unsigned(x.dtype) else x, (y == 0).where(1, y)))  # fmt: skip


def _shifted(function: Callable[[Tensor, int], Tensor]) -> Build:
    return one(lambda x: Tensor.cat(*[function(x, n) for n in (0, 1, x.dtype.itemsize * 8 - 1)]))


def _casts(device: str, dtype: DType) -> Tensor:
    """To every dtype that the device has and that is as wide as what is left."""
    x = on(device, [0, 1, 2, 3, 100], dtype)
    lacking = getattr(Device[device].renderer, "unsupported", ())
    wanted = [other for other in ALL if other not in lacking]
    return Tensor.cat(*[x.cast(other).realize().cast(dtypes.float) for other in wanted])


def _bits(device: str, dtype: DType) -> Tensor:
    return on(device, edges(dtype), dtype).bitcast(dtype.unsigned())


def _in_place(device: str, dtype: DType) -> Tensor:
    x = on(device, range(12), dtype).reshape(3, 4)
    x.assign(x + x).realize()
    x[1:, ::2] = x[:2, ::2]
    return x


def _variables(device: str, dtype: DType) -> Tensor:
    n, x = Variable("n", 1, 30), on(device, range(30), dtype)
    sums = [(x[: n.bind(k)] + 1).sum(dtype=dtype).realize() for k in (1, 7, 30)]
    return Tensor.stack(*sums)


def _captured(device: str, dtype: DType) -> Tensor:
    @TinyJit
    def step(x: Tensor, y: Tensor) -> Tensor:
        return ((x + y) * y).realize().sum(0, dtype=dtype)

    y = on(device, range(8), dtype).reshape(2, 4)
    return Tensor.stack(*[
        step(on(device, range(n, n + 8), dtype).reshape(2, 4).realize(), y).contiguous().realize()
        for n in range(4)])  # fmt: skip


CHECKS = (
    Check("copy", one(lambda x: x.contiguous())),
    Check("add", two(lambda x, y: x + y), NUMBERS),
    Check("subtract", two(lambda x, y: x - y), NUMBERS),
    Check("multiply", two(lambda x, y: x * y), NUMBERS),
    Check("negate", one(lambda x: -x), NUMBERS),
    Check("divide", two(lambda x, y: x / y), FLOATS, ulps=3),
    Check("divide, rounding down", _divided(lambda x, y: x // y), INTS),
    Check("remainder", _divided(lambda x, y: x % y), INTS),
    Check("maximum", two(lambda x, y: x.maximum(y))),
    Check("minimum", two(lambda x, y: x.minimum(y))),
    Check("less", two(lambda x, y: x < y)),
    Check("equal", two(lambda x, y: x == y)),
    Check("not equal", two(lambda x, y: x != y)),
    Check("and, or, xor", two(lambda x, y: Tensor.stack(x & y, x | y, x ^ y)),
          (dtypes.bool, *INTS)),
    Check("shift left", _shifted(lambda x, n: x << n), INTS),
    Check("shift right", _shifted(lambda x, n: x >> n), INTS),
    Check("choose", two(lambda x, y: (x != y).where(x, y))),
    Check("to other dtypes", _casts),
    Check("the same bits", _bits, NUMBERS),
    Check("square root", one(lambda x: x.sqrt()), FLOATS, ulps=3),
    Check("whole part", one(lambda x: x.trunc()), FLOATS),
    Check("exp2", one(lambda x: x.exp2()), FLOATS, ulps=4),
    Check("log2", one(lambda x: x.log2()), FLOATS, ulps=4),
    Check("sin", one(lambda x: (x.abs() < 1000).where(x, 0).sin()), FLOATS, ulps=4),
    Check("sum", small(lambda x: x.sum(1, dtype=x.dtype), (5, 9)), NUMBERS),
    Check("largest", small(lambda x: x.max(0), (5, 9))),
    Check("matmul", small(lambda x, y: x.matmul(y, dtype=x.dtype), (9, 8), (8, 33)), NUMBERS),
    Check("padding", small(lambda x: x.pad(((1, 2), (0, 3))).contiguous(), (4, 5))),
    Check("other orders", small(lambda x: x.T.flip(0)[::2].contiguous(), (6, 7))),
    Check("by index", small(lambda x: x[Tensor([3, 0, 3, 5], device=x.device)], (6, 5))),
    Check("in place", _in_place, NUMBERS),
    Check("Variables", _variables, NUMBERS),
    Check("captured", _captured, NUMBERS),
)  # fmt: skip


# ---- one cell -----------------------------------------------------------------------------------


class Result(NamedTuple):
    """What came of a check: a mark for the table, and the whole story where it failed."""

    mark: str  # "ok", "--" (the device has no such dtype) or "NO"
    story: str = ""


def tried(check: Check, dtype: DType, device: str) -> Result:
    """Runs a check on a device, and on PYTHON."""
    expected = check.build("PYTHON", dtype).numpy()
    with record_runs() as runs:
        try:
            found = check.build(device, dtype).numpy()
            story = difference(found, expected, check.ulps)
        except DTypeError as error:
            return Result("--", str(error))
        except Exception as error:
            story = f"{type(error).__name__}: {error}"
    if not story:
        return Result("ok")
    head = f"{check.name}, {_name(dtype)}, on {device}:"
    lines = [head, textwrap.indent(story, "  "), *_last_source(runs, device)]
    return Result("NO", "\n".join(lines))


def difference(found: np.ndarray, expected: np.ndarray, ulps: int) -> str:
    """What differs first; empty where nothing does."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return (f"the result is {found.dtype} of shape {found.shape}, and should be "
                f"{expected.dtype} of shape {expected.shape}")  # fmt: skip
    wrong = np.flatnonzero(distance(found.ravel(), expected.ravel()) > ulps)
    if not len(wrong):
        return ""
    first = wrong[0]
    return (f"{len(wrong)} of {found.size} elements are wrong; element {first} is "
            f"{found.flat[first]}, and should be {expected.flat[first]}")  # fmt: skip


def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How many numbers of the dtype lie between two; 0 between NaNs, and between zeros."""
    if a.dtype.kind != "f":
        return (a != b).astype(int)
    bits = {2: np.int16, 4: np.int32, 8: np.int64}[a.dtype.itemsize]

    def ordered(x: np.ndarray) -> np.ndarray:
        found = x.view(bits)
        low = int(np.iinfo(found.dtype).min)
        return np.where(found < 0, low - found, found).astype(object)

    far = np.abs(ordered(a) - ordered(b))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    either = np.isnan(a) != np.isnan(b)
    return np.where(same, 0, np.where(either, np.iinfo(np.int64).max, far))


def _last_source(runs: list, device: str) -> Iterator[str]:
    """The source of the last kernel that was to run on the device."""
    items = [item for items, _ in runs for item in items
             if item.ast.op is Ops.SINK and item.bufs[0].device == device]  # fmt: skip
    if items:
        try:
            yield "\nThe last kernel was:\n" + get_kernel(items[-1].ast, device).spec.src
        except Exception as error:
            yield f"\nIts kernel cannot be made: {error}"


def _name(dtype: DType) -> str:
    return repr(dtype).removeprefix("dtypes.")


# ---- memory and launches ------------------------------------------------------------------------


def memory(device: str) -> str:
    """Whether each of several Buffers holds what was copied into it; empty where it does."""
    data = np.random.default_rng(0).integers(0, 256, 1000).astype(np.uint8)
    buffers = [Buffer(device, 1000, dtypes.uchar).copyin(data.tobytes()) for _ in range(3)]
    buffers[1].copyin(bytes(1000))
    for n, wanted in ((0, data), (1, np.zeros(1000, np.uint8)), (2, data)):
        if bytes(buffers[n].copyout(bytearray(1000))) != wanted.tobytes():
            return f"buffer {n} of 3 does not hold what was copied into it"
    return ""


def launches(device: str) -> str:
    """That a timed launch gives seconds, and one that is not gives its result all the same."""
    x = Tensor(np.arange(1000, dtype=np.float32), device="PYTHON").to(device).realize()
    with record_runs() as runs:
        (x * 2).realize()
    (item,) = [item for items, _ in runs for item in items if item.ast.op is Ops.SINK]
    seconds = get_kernel(item.ast, device)(item.bufs, {}, wait=True)
    if not isinstance(seconds, float) or seconds < 0:
        return f"with wait=True a launch gives the seconds it took, not {seconds!r}"
    right = np.arange(1000, dtype=np.float32) * 2
    return "" if (item.bufs[0].numpy() == right).all() else "a second launch gives other numbers"


# ---- the table ----------------------------------------------------------------------------------


def run(device: str, say: Callable[[str], None] = print, only: str = "") -> list[str]:
    """Prints the table line by line as it grows; gives the stories of what failed."""
    stories = []
    for name, test in (("memory", memory), ("launches", launches)):
        try:
            story = test(device)
        except Exception as error:
            story = f"{type(error).__name__}: {error}"
        say(f"{name:<24}{'ok' if not story else 'NO'}")
        stories += [f"{name}, on {device}:\n  {story}"] * bool(story)
    say(" " * 24 + "".join(f"{_name(dtype):>9}" for dtype in ALL))
    for check in CHECKS:
        if only not in check.name:
            continue
        results = {dtype: tried(check, dtype, device) for dtype in check.dtypes}
        marks = "".join(f"{results[d].mark if d in results else '':>9}" for d in ALL)
        allowed = f"   ({check.ulps} ulps allowed)" if check.ulps else ""
        say(f"{check.name:<24}{marks}{allowed}")
        stories += [result.story for result in results.values() if result.mark == "NO"]
    return stories


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tinyframe.runtime.conformance",
        description="Compares what a device computes with what the PYTHON device does.",
        epilog="ok: right. --: the device says that it has no such dtype. NO: wrong.",
    )
    parser.add_argument("device", help="its name, such as CPU, CL or one that --module registers")
    parser.add_argument("--module", help="a module to import first, which registers the device")
    parser.add_argument("--only", default="", metavar="TEXT",
                        help="only rows with this in the name")  # fmt: skip
    options = parser.parse_args(arguments)
    if options.module:
        sys.path.insert(0, "")
        importlib.import_module(options.module)
    try:
        device = Device.named(options.device)
    except (ValueError, DeviceUnavailable) as error:
        parser.error(str(error))
    print(f"{device}, compared with PYTHON. ok: right, --: no such dtype, NO: wrong\n")
    stories = run(device, only=options.only)
    if stories:
        print(f"\n{len(stories)} wrong. The first:\n\n{stories[0]}")
        return 1
    print("\nEverything is right.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
