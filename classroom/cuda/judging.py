"""What a kernel is worth: right on every case, without races, by the rules of its task.

A task says what a kernel is given, how it is launched, and what has to come out. `Judgement.check`
runs an answer, which is text, on an example, on a few cases that are always the same, and on one
that is new each time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from classroom import differences
from classroom.cuda.drawn import accesses
from classroom.cuda.running import Argument, Launch, NotCompiled, Run, Size, runs
from classroom.cuda.source import Kernel, body_of, parameters_of, without_comments
from classroom.exercise import Open, Wrong, wrong_if
from tinyframe.device import NoCompiler
from tinyframe.viz.picture import Picture

FIXED = (3, 14, 8)  # seeds of the cases that are the same each time
UNTOUCHED = 1e30  # what nobody has written to in shared memory is larger
SHOWN = 16  # elements of an array of which all are said

RANGE_FOR = re.compile(r"\bfor\s*\(\s*(?:const\s+)?\w+\s*[&*]?\s*\w+\s*:")
SIZE_OF = re.compile(r"\bsizeof\s*\(?\s*(\w+)\b")

Inputs = Mapping[str, Argument]


@dataclass(frozen=True)
class Task:
    """What a kernel has to do.

    example: arguments by name, without `out`, which is where its results go. expected: what has to
    be in `out`, given those. fresh: more of them. block, grid: how many threads and blocks, given
    those. one_each: whether a thread may write one result at most. most_shared: how often a thread
    may read shared memory, where a tree is asked for.
    """

    example: Inputs
    expected: Callable[..., np.ndarray]
    fresh: Callable[[np.random.Generator], Inputs]
    block: Callable[..., Size]
    grid: Callable[..., Size] = lambda **_: (1,)
    one_each: bool = True
    most_shared: int | None = None

    @property
    def parameters(self) -> str:
        return parameters_of({"out": None, **self.example})

    def kernel(self, answer: str) -> Kernel:
        return Kernel(self.parameters, body_of(answer))

    def launch(self, inputs: Inputs) -> Launch:
        """With an `out` in which nothing has been written, so that all of it is not a number."""
        out = np.full_like(self.expected(**inputs), np.nan, np.float32)
        return Launch(self.grid(**inputs), self.block(**inputs), {"out": out, **inputs})

    def cases(self) -> Iterator[Inputs]:
        """The example, a few that are the same each time, and one that is not."""
        yield self.example
        for seed in (*FIXED, None):
            yield self.fresh(np.random.default_rng(seed))


@dataclass
class Judgement:
    """One try at a task. run: what is drawn: the example, or the launch that went wrong."""

    task: Task
    run: Run | None = None
    loads: float | None = None  # for each result, of the example, once the answer is right
    said: list[str] = field(default_factory=list)

    def check(self, answer: Any) -> str:
        """A sentence on a kernel that is right; else Wrong."""
        kernel = self.task.kernel(text_of(answer))
        cases = list(self.task.cases())
        try:
            found = runs(kernel, [self.task.launch(case) for case in cases])
        except NoCompiler as missing:
            raise Open(str(missing)) from None
        except NotCompiled as error:
            raise Wrong(f"The compiler doesn't understand it: {error}.",
                        more=quoted(kernel, error.line)) from None  # fmt: skip
        for case, run in zip(cases, found, strict=False):
            self.run = run
            self._refuse(run, case, described(case))
        self.run = found[0]
        self.loads = round(found[0].loads() / found[0].arrays["out"].size, 2)
        return f"{in_words(self.loads)} from the GPU's memory for each result."

    def picture(self) -> Picture | None:
        return accesses(self.run) if self.run is not None and len(self.run.log) else None

    def _refuse(self, run: Run, inputs: Inputs, case: str) -> None:
        """Wrong unless a run is right."""
        if run.trouble is not None:
            raise Wrong(run.trouble.text, case, more=quoted(run.kernel, *run.trouble.lines))
        expected = np.asarray(self.task.expected(**inputs), np.float32)
        few = expected.size <= SHOWN
        if text := wrong_values(run.arrays["out"], expected):
            both = [listed(x) for x in (expected, run.arrays["out"])] if few else ["", ""]
            raise Wrong(text, case, *both)
        if self.task.one_each and run.most_stores() > 1:
            raise Wrong(f"The numbers are right. But one thread writes {run.most_stores()} "
                        "elements of `out`, and here each thread writes one at most. Share the "
                        "work.", case)  # fmt: skip
        writers, cell = run.most_writers()
        wrong_if(self.task.most_shared is not None and writers > 1, "The numbers are right. But "
                 f"{writers} threads write `out[{cell}]`. It's the same number each time, so let "
                 "one of them do it, behind an `if`.", case)  # fmt: skip
        most = self.task.most_shared
        if most is not None and run.most_shared_loads() > most:
            raise Wrong("The numbers are right. But one thread reads shared memory "
                        f"{run.most_shared_loads()} times, while the others wait. A tree needs "
                        f"fewer than {most}: let pairs be added at the same time, then pairs of "
                        "those.", case)  # fmt: skip
        wrong_if(most is not None and run.most_shared_loads() == 0, "The numbers are right. But "
                 "nothing went through shared memory, so somebody did all the adding alone. Let "
                 "the threads add in pairs, by way of a shared array.", case)  # fmt: skip


def in_words(loads: float) -> str:
    return f"{loads:g} load{'' if loads == 1 else 's'}"


def is_open(text: str) -> bool:
    """Whether nothing has been written yet, or nothing but a comment."""
    return without_comments(body_of(text)).strip() in ("", "...")


def text_of(answer: Any) -> str:
    """The answer as text; Open where nothing has been written yet."""
    if not isinstance(answer, str):
        raise Wrong("The answer is the kernel's text: CUDA C++ between triple quotes.")
    if is_open(answer):
        raise Open("")
    written = without_comments(body_of(answer))
    if "atomic" in written:
        raise Wrong("Atomic operations are not for today: every result here can do without them.")
    wrong_if("#include" in written, "Leave out `#include`. `max`, `min`, `fmaxf`, `sqrtf`, `expf` "
             "and their like are there already, and nothing else is needed.")  # fmt: skip
    if "extern" in written:
        raise Wrong("Give a shared array its size: `__shared__ float s[8];`, without `extern`.")
    shared = Kernel("float* out", body_of(answer)).shared_shapes
    if RANGE_FOR.search(written) or shared.keys() & set(SIZE_OF.findall(written)):
        raise Open(
            "The emulator gives each array more room than you asked for, so that it can see who "
            "goes beyond the end. `for (float x : s)` and `sizeof s` would see that room. Write "
            "the number of elements instead."
        )
    code, last = written.count("{"), written.count("}")
    if code != last:
        more, fewer = ("{", "}") if code > last else ("}", "{")
        raise Wrong(f"It has {max(code, last)} `{more}` and only {min(code, last)} `{fewer}`.")
    return answer


def wrong_values(got: np.ndarray, expected: np.ndarray) -> str:
    """How results differ from what they should be; "" where they don't."""
    never = np.argwhere(np.isnan(got) & ~np.isnan(expected))
    if len(never) == got.size:
        return "Nothing was written to `out`."
    if len(never):
        first = f"`out[{index(never[0])}]`"
        if len(never) == 1:
            return f"{first} was never written."
        return f"{len(never)} elements of `out` were never written. The first is {first}."
    if not (text := differences.of_values(got, expected)):
        return ""
    wrong = np.argwhere(~np.isclose(got, expected, rtol=1e-4, atol=1e-5))
    place = tuple(wrong[0])
    first = f"`out[{index(wrong[0])}]` is {got[place]:g}; it should be {expected[place]:g}."
    if abs(got[place]) > UNTOUCHED or not np.isfinite(got[place]):
        return f"{first} That's usually shared memory that nobody has written to."
    many = f"{len(wrong)} of {got.size} elements are wrong." if len(wrong) > 1 else ""
    kind = "" if text.startswith("Element") else text
    return " ".join(filter(None, [first, kind or many]))


def listed(array: np.ndarray) -> str:
    """Numbers as a person would write them: [[1, 2.5], [3, 4]]."""
    rows = np.array2string(array, separator=", ", formatter={"float_kind": "{:g}".format})
    return " ".join(rows.split())


def index(place: np.ndarray) -> str:
    """An element of `out`, as a person would say it: row, column of a matrix."""
    return ", ".join(str(int(n)) for n in place)


def quoted(kernel: Kernel, *lines: int) -> tuple[tuple[str, str], ...]:
    """The learner's own lines, as rows."""
    text = kernel.body.splitlines()
    there = [n for n in sorted({*lines}) if 0 < n <= len(text)]
    return tuple((f"your line {n}", f"`{text[n - 1].strip()}`") for n in there)


def described(inputs: Inputs) -> str:
    """The sizes of a case, since that's what a kernel is usually wrong about."""
    numbers = [f"`{name} = {value}`" for name, value in inputs.items() if isinstance(value, int)]
    shapes = [
        f"`{name}` of shape {value.shape}"
        for name, value in inputs.items()
        if isinstance(value, np.ndarray)
    ]
    return ", ".join(numbers or shapes)
