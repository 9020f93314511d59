"""Does a device compute what it should? One line for each operation, one column for each dtype.

    python -m tinyframe.runtime.conformance CL
    python -m tinyframe.runtime.conformance --module my_backend.py MY

The reference is the PYTHON device, which interprets programs and so defines what each op means.
Each cell of the table runs small kernels on all combinations of edge values (the smallest and the
largest number, zeros of both signs, infinities, NaN), and compares the results bit by bit. Where a
device may round (division and roots in OpenCL, functions made of other ops everywhere), a few units
in the last place are allowed, and the row says how many. For the first wrong cell it prints the
first element that differs, with its inputs, and the source of the first kernel whose results differ
from PYTHON's. The rows before the table, which are not about ops, are in parts.py.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import functools
import importlib
import inspect
import itertools
import sys
import sysconfig
import textwrap
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tinyframe import Device, Tensor, TinyJit, Variable, dtypes
from tinyframe.device import Buffer, DeviceUnavailable
from tinyframe.dtype import DType
from tinyframe.errors import DTypeError
from tinyframe.observe import Observer, Ran, observing
from tinyframe.run.realize import get_kernel, record_runs
from tinyframe.tools.parts import PARTS, bytes_of, on
from tinyframe.uop.node import Ops

FLOATS = (dtypes.half, dtypes.bfloat16, dtypes.float, dtypes.double)
INTS = (dtypes.char, dtypes.uchar, dtypes.short, dtypes.ushort, dtypes.int, dtypes.uint,
        dtypes.long, dtypes.ulong)  # fmt: skip
NUMBERS = (*INTS, *FLOATS)
ALL = (dtypes.bool, *NUMBERS)
# where the files are that don't belong to a backend
NOT_OWN = (str(Path(__file__).resolve().parents[1]), sysconfig.get_paths()["stdlib"], "<frozen")


# ---- edge values --------------------------------------------------------------------------------


def edges(dtype: DType) -> list[float | int | bool]:
    """The values of a dtype where bugs show first."""
    if dtypes.is_bool(dtype):
        return [False, True]
    if dtypes.is_int(dtype):
        low, high = int(dtype.min), int(dtype.max)
        small = [0, 1, 2, 3, 7, 100] if dtypes.is_unsigned(dtype) else [-7, -2, -1, 0, 1, 3, 100]
        return [low, low + 1, *small, high - 1, high]
    inf = float("inf")
    large = {dtypes.half: 60000.0, dtypes.double: 1e300}.get(dtype, 1e38)
    return [0.0, -0.0, 1.0, -1.5, 3.25, -100.0, 1e-3, large, -large, inf, -inf, float("nan")]


# ---- the checks ---------------------------------------------------------------------------------

Build = Callable[[str, DType], Tensor]


@dataclass(frozen=True)
class Check:
    """A row of the table.

    build: (device, dtype) -> the result. dtypes: the columns. ulps: the largest allowed error, in
    units in the last place.
    """

    name: str
    build: Build
    dtypes: tuple[DType, ...] = ALL
    ulps: int = 0


@dataclass(frozen=True)
class OfEdges:
    """A function of all combinations of edge values for which it is defined.

    The result has an element for each combination, in order; the sequence may repeat.
    """

    function: Callable[..., Tensor]
    has_answer: Callable[..., bool] = lambda dtype, *operands: True

    def operands(self, dtype: DType) -> list[tuple]:
        count = len(inspect.signature(self.function).parameters)
        combinations = itertools.product(edges(dtype), repeat=count)
        return [given for given in combinations if self.has_answer(dtype, *given)]

    def __call__(self, device: str, dtype: DType) -> Tensor:
        columns = zip(*self.operands(dtype), strict=True)
        return self.function(*[on(device, column, dtype) for column in columns])


def small(function: Callable[..., Tensor], *shapes: tuple[int, ...]) -> Build:
    """A function of small integers, whose sums and products are exact in every dtype."""

    def build(device: str, dtype: DType) -> Tensor:
        random = np.random.default_rng(0)
        return function(*[
            on(device, random.integers(0, 3, int(np.prod(shape))).tolist(), dtype).reshape(shape)
            for shape in shapes])  # fmt: skip

    return build


def _divided(function: Callable[[Tensor, Tensor], Tensor]) -> Build:
    """A division, but not by 0, nor of the smallest number by -1."""
    return OfEdges(function, lambda dtype, x, y: y and (x, y) != (dtype.min, -1))


def _shifted(function: Callable[[Tensor, int], Tensor]) -> Build:
    shifts = (0, 1, -1)
    return OfEdges(lambda x: Tensor.cat(*[function(x, n % (x.dtype.itemsize * 8)) for n in shifts]))


def _casts(device: str, dtype: DType) -> Tensor:
    """Casts to every dtype that the device has."""
    x = on(device, edges(dtype) if dtypes.is_float(dtype) else [0, 1, 2, 3, 100], dtype)
    lacking = getattr(Device[device].renderer, "unsupported", ())
    wanted = [other for other in ALL if other not in lacking]
    return Tensor.cat(*[x.cast(other).realize().cast(dtypes.float) for other in wanted])


def _added(x: Tensor, rows: Tensor) -> Tensor:
    return x.index_add(0, Tensor([3, 0, 3, 5], device=x.device), rows)


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
    Check("copy", OfEdges(lambda x: Tensor.cat(x, x))),
    Check("add", OfEdges(lambda x, y: x + y), NUMBERS),
    Check("subtract", OfEdges(lambda x, y: x - y), NUMBERS),
    Check("multiply", OfEdges(lambda x, y: x * y), NUMBERS),
    Check("negate", OfEdges(lambda x: -x), NUMBERS),
    Check("divide", OfEdges(lambda x, y: x / y), FLOATS, ulps=3),
    Check("divide, rounding down", _divided(lambda x, y: x // y), INTS),
    Check("quotient as float", _divided(lambda x, y: (x // y).cast(dtypes.float)), INTS),
    Check("remainder", _divided(lambda x, y: x % y), INTS),
    Check("maximum", OfEdges(lambda x, y: x.maximum(y))),
    Check("minimum", OfEdges(lambda x, y: x.minimum(y))),
    Check("less", OfEdges(lambda x, y: x < y)),
    Check("equal", OfEdges(lambda x, y: x == y)),
    Check("not equal", OfEdges(lambda x, y: x != y)),
    Check("and, or, xor", OfEdges(lambda x, y: Tensor.stack(x & y, x | y, x ^ y)),
          (dtypes.bool, *INTS)),
    Check("shift left", _shifted(lambda x, n: x << n), INTS),
    Check("shift right", _shifted(lambda x, n: x >> n), INTS),
    Check("choose", OfEdges(lambda x, y: (x < 1).where(x, y))),
    Check("to other dtypes", _casts),
    Check("the same bits", OfEdges(lambda x: x.bitcast(x.dtype.unsigned())), NUMBERS),
    Check("square root", OfEdges(lambda x: x.sqrt()), FLOATS, ulps=3),
    Check("whole part", OfEdges(lambda x: x.trunc()), FLOATS),
    Check("exp2", OfEdges(lambda x: x.exp2()), FLOATS, ulps=4),
    Check("log2", OfEdges(lambda x: x.log2()), FLOATS, ulps=4),
    Check("sin", OfEdges(lambda x: (x.abs() < 1000).where(x, 0).sin()), FLOATS, ulps=4),
    Check("sum", small(lambda x: x.sum(1, dtype=x.dtype), (5, 9)), NUMBERS),
    Check("running sum", small(lambda x: x.cumsum(1, dtype=x.dtype), (5, 9)), NUMBERS),
    Check("largest so far", small(lambda x: x.cummax(0)[0], (5, 9))),
    Check("largest", small(lambda x: x.max(0), (5, 9))),
    Check("matmul", small(lambda x, y: x.matmul(y, dtype=x.dtype), (9, 8), (8, 33)), NUMBERS),
    Check("padding", small(lambda x: x.pad(((1, 2), (0, 3))).contiguous(), (4, 5))),
    Check("other orders", small(lambda x: x.T.flip(0)[::2].contiguous(), (6, 7))),
    Check("by index", small(lambda x: x[Tensor([3, 0, 3, 5], device=x.device)], (6, 5))),
    Check("added by index", small(_added, (6, 5), (4, 5)), NUMBERS),
    Check("sorted", small(lambda x: x.sort(1)[0], (2, 70))),
    Check("in place", _in_place, NUMBERS),
    Check("Variables", _variables, NUMBERS),
    Check("captured", _captured, NUMBERS),
)  # fmt: skip


# ---- one cell -----------------------------------------------------------------------------------


class Result(NamedTuple):
    """The result of a check: a mark for the table, and the full story if it failed."""

    mark: str  # "ok", "--" (the device has no such dtype) or "NO"
    story: str = ""


def tried(check: Check, dtype: DType, device: str) -> Result:
    """Runs a check on a device and on PYTHON, and compares."""
    expected = check.build("PYTHON", dtype).numpy()
    with record_runs() as runs:
        try:
            found = check.build(device, dtype).numpy()
            operands = check.build.operands(dtype) if isinstance(check.build, OfEdges) else ()
            story = difference(found, expected, check.ulps, operands)
        except DTypeError as error:
            return Result("--", str(error))
        except Exception as error:
            story = _with_traceback(error)
    if not story:
        return Result("ok")
    head = f"{check.name}, {_name(dtype)}, on {device}:"
    source = FirstWrong.of(check, dtype, device) or _last_source(runs, device)
    return Result("NO", "\n".join([head, textwrap.indent(story, "  "), *source]))


def _with_traceback(error: Exception) -> str:
    """An exception, with the part of its traceback that starts in the backend's own code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = itertools.dropwhile(lambda frame: frame.filename.startswith(NOT_OWN), frames)
    return "".join([f"{type(error).__name__}: {error}\n", *traceback.format_list(list(own))])


def difference(
    found: np.ndarray, expected: np.ndarray, ulps: int, operands: Sequence[tuple] = ()
) -> str:
    """Describes the first difference; empty if there is none. operands: those of each element,
    starting over when used up."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return (f"the result is {found.dtype} of shape {found.shape}, and should be "
                f"{expected.dtype} of shape {expected.shape}")  # fmt: skip
    wrong = np.flatnonzero(distance(found.ravel(), expected.ravel()) > ulps)
    if not len(wrong):
        return ""
    first = wrong[0]
    of = f", of {' and '.join(map(str, operands[first % len(operands)]))}," if operands else ""
    return (f"{len(wrong)} of {found.size} elements are wrong; element {first}{of} is "
            f"{found.flat[first]}, and should be {expected.flat[first]}")  # fmt: skip


def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The distance in units in the last place; 0 between NaNs, and between zeros of both signs."""
    if a.dtype.kind != "f":
        return (a != b).astype(int)

    def ordered(x: np.ndarray) -> np.ndarray:
        found = x.view(f"i{x.dtype.itemsize}")
        low = int(np.iinfo(found.dtype).min)
        return np.where(found < 0, low - found, found).astype(object)

    same = (a == b) | (np.isnan(a) & np.isnan(b))
    either = np.isnan(a) != np.isnan(b)
    far = np.abs(ordered(a) - ordered(b))
    return np.where(same, 0, np.where(either, np.iinfo(np.int64).max, far))


@dataclass
class FirstWrong(Observer):
    """Runs each kernel of a device on PYTHON as well, and keeps the source of the first one whose
    result differs. Kernels that read what they write are skipped: their input is gone."""

    device: str
    ulps: int
    runs: list
    found: Sequence[str] = ()

    @classmethod
    def of(cls, check: Check, dtype: DType, device: str) -> Sequence[str]:
        with record_runs() as runs, observing(cls(device, check.ulps, runs)) as watching:
            with contextlib.suppress(Exception):
                check.build(device, dtype).numpy()
        return watching.found

    def ran(self, work: Ran) -> None:
        spec, bufs = work.spec, work.item.bufs
        if self.found or spec is None or bufs[0].device != self.device:
            return
        read = {u.src[0].src[0].arg for u in spec.ast.toposort() if u.op is Ops.LOAD}
        if not read.isdisjoint(spec.outs):
            return
        copies = [Buffer("PYTHON", b.size, b.dtype).copyin(bytes_of(b)) for b in bufs]
        get_kernel(work.item.ast, "PYTHON")(copies, self.runs[-1][1])
        for n in spec.outs:
            if story := difference(bufs[n].numpy(), copies[n].numpy(), self.ulps):
                self.found = [f"\nThe first kernel that goes wrong ({story}):\n{spec.src}"]
                return


def _last_source(runs: list, device: str) -> Iterator[str]:
    """The source of the last kernel that was to run on the device, if there is one."""
    items = [item for items, _ in runs for item in items
             if item.ast.op is Ops.SINK and item.bufs[0].device == device]  # fmt: skip
    if items:
        with contextlib.suppress(Exception):  # if it can't be compiled, the story says so already
            yield "\nThe last kernel was:\n" + get_kernel(items[-1].ast, device).spec.src


def _name(dtype: DType) -> str:
    return repr(dtype).removeprefix("dtypes.")


# ---- the table ----------------------------------------------------------------------------------


def run(device: str, say: Callable[[str], None] = print, only: str = "") -> list[str]:
    """Prints the table line by line; returns the stories of all failures."""
    stories = []
    for name in [name for name in PARTS if only in name]:
        try:
            story = PARTS[name](device)
        except Exception as error:
            story = _with_traceback(error)
        say(f"{name:<24}{'ok' if not story else 'NO'}")
        stories += [f"{name}, on {device}:\n{textwrap.indent(story, '  ')}"] * bool(story)
    say(" " * 24 + "".join(f"{_name(dtype):>9}" for dtype in ALL))
    for check in [check for check in CHECKS if only in check.name]:
        results = {dtype: tried(check, dtype, device) for dtype in check.dtypes}
        marks = "".join(f"{results[d].mark if d in results else '':>9}" for d in ALL)
        allowed = f"   ({check.ulps} ulps allowed)" if check.ulps else ""
        say(f"{check.name:<24}{marks}{allowed}")
        stories += [result.story for result in results.values() if result.mark == "NO"]
    return stories


def _import(module: str) -> None:
    """Imports a module by its name, or by its file. ValueError if there is none."""
    path = Path(module)
    folder, name = (str(path.parent), path.stem) if path.suffix == ".py" else ("", module)
    sys.path.insert(0, folder)
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # an import of the module itself
            raise
        raise ValueError(f"there is no module {name} in {Path(folder).resolve()}") from error


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tinyframe.runtime.conformance",
        description="Compares what a device computes with what the PYTHON device does, op by op "
        "and dtype by dtype.",
        epilog="ok: right. --: the device says that it has no such dtype. NO: wrong. If a kernel "
        "crashes, DEBUG=3 shows the source of each one before it runs.",
    )
    add = parser.add_argument
    add("device", help="its name, such as CPU, CL or MY")
    add("--module", help="import this first: the module, or the file, that registers the device")
    add("--only", default="", metavar="TEXT", help="only the rows whose names contain this")
    options = parser.parse_args(arguments)
    rows = [*PARTS, *[check.name for check in CHECKS]]
    if not any(options.only in name for name in rows):
        parser.error(f"no row's name contains {options.only!r}; there are: {', '.join(rows)}")
    try:
        if options.module:
            _import(options.module)
        device = Device.named(options.device)
    except (ValueError, DeviceUnavailable) as error:
        own = "" if options.module else "\n  --module registers a device of your own"
        parser.error(f"{error}{own}")
    faulthandler.enable()  # if a kernel crashes the process, it names the Runner
    print(f"{device}, compared with PYTHON. ok: right, --: no such dtype, NO: wrong\n")
    stories = run(device, functools.partial(print, flush=True), options.only)
    if not stories:
        print("\nEverything is right.")
        return 0
    wrong = list(dict.fromkeys(story.splitlines()[0].rsplit(", ", 2)[0] for story in stories))
    another = f'; --only "{wrong[1]}" shows that of another row' if len(wrong) > 1 else ""
    print(f"\n{len(stories)} wrong. Here is the first{another}:\n\n{stories[0]}")
    return 1
