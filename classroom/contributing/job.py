"""What runs in a copy of tinyframe, in a process of its own: `scratch.py` starts it.

It is asked in JSON, on its standard input, for any of these, and answers in the file that it is
given, under the same names:

    "tests": [files]          each of their functions, as the copy is
    "planted": "values"       the same tests, with each sinc of planted.py in place of the copy's
    "cases": "slopes"         what is wrong with the copy's sinc: its values, or its slopes as well
    "kernels": [names]        what kernels the expressions of recorded.py become
    "hunks": True             for each hunk of drive_by.py, the expressions whose kernels it changes
    "delay": True             two microphones: how the delay between them is learned
"""

from __future__ import annotations

import importlib.util
import json
import linecache
import math
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import FunctionType
from typing import Any
from unittest import mock

import numpy as np

from classroom.contributing import drive_by, planted, recorded
from tinyframe import Context, Device, Tensor, dtypes
from tinyframe.dtype import DType
from tinyframe.nn.optim import SGD

Found = dict[str, Any]
HERE = Path.cwd()


# ---- tests ---------------------------------------------------------------------------------------


def run_file(path: str) -> list[Found]:
    """Each test function of a file: its name, and what it raised. One that can't be imported is a
    result, too."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, HERE / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        return [{"name": path, **told(error, path)}]
    tests = [
        value
        for name, value in vars(module).items()
        if name.startswith("test") and isinstance(value, FunctionType)
    ]
    return [{"name": test.__name__, **outcome(test, path)} for test in tests]


def outcome(run: Callable[[], Any], path: str) -> Found:
    try:
        run()
    except (Exception, SystemExit) as error:
        return told(error, path)
    return {"error": "", "text": "", "line": ""}


def told(error: BaseException, path: str) -> Found:
    """An exception: its kind, its first words (those of np.testing begin with an empty line), and
    the last line of the file that was running."""
    said = [line.strip() for line in str(error).splitlines() if line.strip()]
    lines = [frame for frame in traceback.extract_tb(error.__traceback__)
             if frame.filename.endswith(path)]  # fmt: skip
    line = ""
    if lines:
        number, end = lines[-1].lineno or 0, lines[-1].end_lineno or 0
        text = [linecache.getline(lines[-1].filename, n).strip() for n in range(number, end + 1)]
        line = " ".join(text)
    return {"error": type(error).__name__, "text": " ".join(said[:2]), "line": line}


def with_planted(files: list[str], which: str) -> list[Found]:
    """The tests on a right sinc, and on each wrong one."""
    rows = (planted.RIGHT, *(planted.VALUES if which == "values" else planted.SLOPES))
    found = []
    for row in rows:
        with mock.patch.object(Tensor, "sinc", planted.tensor(row), create=True):
            results = [result for file in files for result in run_file(file)]
        found.append({"said": row.said, "failed": [r for r in results if r["error"]]})
    return found


# ---- cases ---------------------------------------------------------------------------------------

PLACES = (-2.5, -1.0, -0.3, 0.0, 0.2, 0.5, 1.5, 7.0, math.nan)
NEAR = (0.0, 1e-6, 1e-4, -1e-4, 1e-3, 0.01, 0.1, 0.3, -0.7, 1.5, 4.25)
CLOSE = {dtypes.float: 1e-6, dtypes.double: 1e-12}
CLOSE_SLOPE = 5e-5


def cases(which: str) -> list[Found]:
    """What is wrong with the copy's sinc: nothing, or the first thing that is."""
    for look in LOOKS if which == "values" else (*LOOKS, slopes):
        try:
            for problem in look():
                return [problem]
        except Exception as error:
            place = told(error, "special.py")
            return [{"text": f"It raised {place['error']}: {place['text']}", "got": place["line"]}]
    return []


def is_there() -> Iterator[Found]:
    if not callable(getattr(Tensor, "sinc", None)):
        yield {"text": "Tensor has no method `sinc`. Is that what your function is called?"}


def stays_lazy() -> Iterator[Found]:
    try:
        found = Tensor.empty(3, device="NULL").sinc()
    except RuntimeError as error:
        if "NULL device has no values" not in str(error):
            raise
        yield {"text": "Your method asks for numbers (with `numpy()`, `item()` or an `if`). A "
                       "method of Tensor only writes down a graph."}  # fmt: skip
        return
    if not isinstance(found, Tensor):
        yield {"text": "The method has to return a Tensor.", "got": type(found).__name__}
    elif found.shape != (3,):
        yield {"text": "There has to be one result for each element.",
               "expected": "shape (3,)", "got": f"shape {found.shape}"}  # fmt: skip


def values() -> Iterator[Found]:
    for dtype, device in ((dtypes.float, "CPU"), (dtypes.double, "PYTHON")):
        x = Tensor(np.array(PLACES), dtype=dtype, device=device)
        found = x.sinc()
        yield from of_dtype(found, dtype)
        got, expected = found.numpy().astype(np.float64), np.sinc(np.array(PLACES))
        yield from hole(got[PLACES.index(0.0)])
        if np.allclose(got, np.sinc(np.array(PLACES) / np.pi), atol=1e-4, equal_nan=True):
            yield {"text": "That's sin(x) / x. NumPy's sinc has a π in it: sin(πx) / (πx)."}
        if not np.isnan(got[-1]):
            yield {"text": "A NaN has to stay a NaN. Yours makes a number of it, and nobody will "
                           "ever know.", "case": "x = nan", "expected": "nan",
                   "got": str(got[-1])}  # fmt: skip
        wrong = np.flatnonzero(~(np.abs(got - expected) <= CLOSE[dtype]) & ~np.isnan(expected))
        if len(wrong):
            n = wrong[0]
            digits = 7 if dtype is dtypes.float else 15
            both = [f"{column[n]:.{digits}f}" for column in (expected, got)]
            yield {"text": f"The value is off, of {name_of(dtype)}.", "case": f"x = {PLACES[n]}",
                   "expected": both[0], "got": both[1]}  # fmt: skip


def hole(at_zero: float) -> Iterator[Found]:
    if not abs(at_zero - 1) < 1e-6:
        said = "At 0 it has to be 1: the closer x gets to 0, the closer sin(πx) / (πx) gets to 1."
        yield {"text": said, "case": "x = 0", "expected": "1.0", "got": str(at_zero)}


def of_dtype(found: Tensor, dtype: DType) -> Iterator[Found]:
    if found.dtype is not dtype:
        yield {"text": "The dtype is wrong.", "case": f"a Tensor of {name_of(dtype)}",
               "expected": name_of(dtype), "got": name_of(found.dtype)}  # fmt: skip


def narrow_and_whole() -> Iterator[Found]:
    for dtype in (dtypes.int, dtypes.half, dtypes.bfloat16):
        numbers = (-3.0, 0.0, 2.0) if dtype is dtypes.int else PLACES
        x = Tensor(np.array(numbers), device="PYTHON").cast(dtype)
        found = x.sinc()
        yield from of_dtype(found, dtypes.float if dtype is dtypes.int else dtype)
        wide = x.cast(dtypes.float).sinc().cast(found.dtype)
        if not np.array_equal(found.numpy(), wide.numpy(), equal_nan=True):
            yield {"text": f"Of {name_of(dtype)}, each step is rounded to three digits or fewer, "
                           "and the errors add up. The functions around yours have a decorator "
                           "for that."}  # fmt: skip


def documented() -> Iterator[Found]:
    method = Tensor.sinc
    if not (method.__doc__ or "").strip():
        yield {"text": "It computes the right thing, and doesn't say what. Give it a docstring."}
    wide = [line for line in Path(HERE, "tinyframe/tensor/more/special.py").read_text().splitlines()
            if len(line) > 100]  # fmt: skip
    if wide:
        yield {"text": "A line in this repository has at most 100 characters.", "got": wide[0]}


LOOKS = (is_there, stays_lazy, values, narrow_and_whole, documented)


HOLE = (
    "The slope at 0 is NaN. Both branches of a WHERE have a say in the gradient, as in part 6: "
    "keep 0 out of the branch that divides."
)
CANCELLED = (
    "Very close to 0 the slope is off. It's the difference of two large numbers that are almost "
    "equal, and what's left of them is rounding."
)


def slopes() -> Iterator[Found]:
    expected = planted.slope(np.array(NEAR))
    for dtype, device in ((dtypes.float, "CPU"), (dtypes.double, "PYTHON")):
        got = measured_slopes(dtype, device)
        wrong = np.flatnonzero(~(np.abs(got - expected) <= CLOSE_SLOPE))
        if len(wrong):
            n = max(wrong, key=lambda n: (abs(NEAR[n]) >= 0.01, NEAR[n] == 0))
            both = {"case": f"x = {NEAR[n]:g}, of {name_of(dtype)}",
                    "expected": f"{expected[n] + 0.0:.3g}", "got": f"{got[n]:.3g}"}  # fmt: skip
            near = 0 < abs(NEAR[n]) < 0.01
            said = HOLE if np.isnan(got[n]) else CANCELLED if near else "The slope is off."
            yield {"text": said, **both}


def measured_slopes(dtype: DType, device: str, at: Any = NEAR) -> np.ndarray:
    x = Tensor(np.array(at), dtype=dtype, device=device).realize()
    (gradient,) = x.sinc().sum().gradient(x)
    return gradient.numpy().astype(np.float64)


def name_of(dtype: DType) -> str:
    return repr(dtype).removeprefix("dtypes.")


# ---- two microphones -----------------------------------------------------------------------------

SAMPLES, DELAY, STEPS, RATE = 48, 2.37, 30, 0.3


def clap(t: np.ndarray) -> np.ndarray:
    """What the first microphone hears at time t."""
    return np.exp(-(((t - 20) / 4) ** 2)) * np.cos((t - 20) / 3)


def delay() -> Found:
    """The delay between two microphones, learned from 0 on; after each step, and why not, where
    there is nothing to learn with."""
    at = np.arange(SAMPLES)
    first, second = clap(at), clap(at - DELAY)
    found: Found = {"first": first.tolist(), "second": second.tolist(), "delays": [0.0]}
    if not hasattr(Tensor, "sinc"):
        return {**found, "why": "Tensor has no sinc yet."}
    apart = Tensor((at[:, None] - at[None, :]).astype(np.float32)).realize()
    heard, wanted = (Tensor(x.astype(np.float32)).realize() for x in (first, second))
    shift = Tensor([0.0])
    optimizer = SGD([shift], lr=RATE)
    with Tensor.train():
        for _ in range(STEPS):
            optimizer.zero_grad()
            moved = (apart - shift).sinc() @ heard
            (moved - wanted).square().sum().backward()
            optimizer.step()
            found["delays"].append(shift.item())
            if math.isnan(found["delays"][-1]):
                break
    return found


# ---- the conversation ----------------------------------------------------------------------------


def near_zero() -> Found:
    """How far off the slope of the copy's sinc is, from 1e-6 to 1, in float32: by the interpreter,
    which rounds as it's written. A C compiler may round a * b + c once."""
    if not hasattr(Tensor, "sinc"):
        return {"x": [], "error": []}
    at = np.logspace(-5.5, 0, 45)
    off = np.abs(measured_slopes(dtypes.float, "PYTHON", at) - planted.slope(at))
    return {"x": at.tolist(), "error": (off / np.abs(planted.slope(at))).tolist()}


def devices() -> dict[str, Found]:
    """The copy's sinc on this machine's CPU, compared with the interpreter on the values where
    things go wrong first, for each dtype of floats: what conformance has for it."""
    from tinyframe.tools.conformance import FLOATS, Check, OfEdges, tried

    if not hasattr(Tensor, "sinc"):
        return {}

    def method(x: Tensor) -> Tensor:
        return (x.abs() < 1000).where(x, 0).sinc()

    row = Check("sinc", OfEdges(method), FLOATS, ulps=8)
    results = {dtype: tried(row, dtype, Device.named("CPU")) for dtype in FLOATS}
    return {name_of(d): {"mark": r.mark, "story": r.story} for d, r in results.items()}


def main(to: str) -> None:
    wanted = json.load(sys.stdin)
    answer: Found = {}
    with redirect_stdout(StringIO()), Context(DEBUG=0, BEAM=0):
        files = wanted.get("tests", [])
        if files:
            answer["tests"] = [run_file(file) for file in files]
        if "planted" in wanted:
            answer["planted"] = with_planted(files, wanted["planted"])
        if "cases" in wanted:
            answer["cases"] = cases(wanted["cases"])
        if "kernels" in wanted:
            answer["kernels"] = recorded.kernels(wanted["kernels"])
        if "hunks" in wanted:
            answer["hunks"] = drive_by.effects()
        for name, what in (("delay", delay), ("near_zero", near_zero), ("devices", devices)):
            if name in wanted:
                answer[name] = what()
    Path(to).write_text(json.dumps(answer))
