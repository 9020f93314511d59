"""Part 2, set-up and first steps: what an answer has to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.ask import (
    call,
    describe,
    fresh_sizes,
    fresh_tensor,
    predicts,
    runs_as,
    same_number,
    same_values,
    small_tensor,
    wants,
)
from classroom.exercise import Exercise, Wrong
from tinyframe import Context, GlobalCounters, Tensor, TinyJit
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.codegen.program import ProgramSpec
from tinyframe.observe import Observer, Ran, observing
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite.spec import SpecError, spec_kernel, verify
from tinyframe.uop import UOp

TITLE = "Set-up and first steps"


def program(tensor: Tensor, opts: list[Opt] | None = None) -> ProgramSpec:
    """The one kernel of a Tensor as C, the same on every machine; nothing runs."""
    (item,) = tensor.schedule()
    with Context(NOOPT=1):
        return get_program(item.ast, CStyleLanguage(), opts)


# ---- what the predictions are about, done for real ----------------------------------------------


def name_of_column_sums() -> str:
    name = program((Tensor.zeros(3, 4).contiguous().realize() + 1).sum(axis=0)).function
    return re.sub(r"n\d+$", "", name)  # n1, n2, …: not the first kernel of these sizes


def runs_with_vectors() -> tuple[int, ...]:
    vector = [Opt(OptOps.VECTOR, 0, 4)]
    numbers = [Tensor.zeros(n).contiguous().realize() for n in (1000, 1002)]
    return tuple(int(program(t * 2 + 1, vector).loops[0].src[0].arg) for t in numbers)


def runs_of_the_body() -> int:
    runs = []

    @TinyJit
    def step(x: Tensor) -> Tensor:
        runs.append(1)
        return (x * 0.5 + 1).realize()

    x = Tensor([1.0, 2.0]).realize()
    for _ in range(5):
        x = step(x)
    return len(runs)


# ---- functions ----------------------------------------------------------------------------------


def kernels_run(answer: Any) -> str:
    """answer(run): how many kernels run() runs."""
    cases: list[tuple[str, int, int]] = [
        ("`run` realizes one sum", 1, 7),
        ("`run` does nothing", 0, 7),
        ("`run` realizes three sums, one after another", 3, 0),
    ]
    for case, expected, before in cases:
        run = _realizes(expected)
        GlobalCounters.kernel_count = before
        got, case = call(answer, run), f"{case}; `kernel_count` was {before} before that"
        if before and got == before + expected:
            raise Wrong("You counted the kernels from before `run()`, too.", case, expected, got)
        same_number(got, expected, case, "kernels")
    return "From now on you can count the kernels of anything."


def _realizes(count: int) -> Callable[[], None]:
    numbers = fresh_tensor(*fresh_sizes(1))

    def run() -> None:
        for n in range(count):
            (numbers + n).sum().realize()

    return run


class Times(Observer):
    """Name and seconds of every kernel that ran."""

    def __init__(self) -> None:
        self.kernels: list[tuple[str, float]] = []

    def ran(self, work: Ran) -> None:
        if work.spec is not None:
            self.kernels.append((work.spec.name, work.seconds))


def slowest_kernel(answer: Any) -> str:
    """answer(run): the name of the kernel of run() that took longest."""
    # so much that a kernel which the system interrupts for a moment is not the slower one
    few, many = Tensor.ones(5).contiguous().realize(), Tensor.ones(640, 640).contiguous().realize()
    more = Tensor.ones(2000, 2000).contiguous().realize()
    kernels = {
        "short": lambda: (few + 1).realize(),
        "long": lambda: (many @ many).realize(),
        "wide": lambda: more.sin().sqrt().realize(),  # the last in time, not by its name
        "shortest": lambda: (few * 2).sum().realize(),
    }
    orders = ("long short", "short long shortest", "shortest wide short", "shortest short long")
    for order in map(str.split, orders):
        times = Times()
        with observing(times):
            got = call(answer, lambda order=order: [kernels[name]() for name in order])
        _is_the_slowest(got, times.kernels, f"`run()` launches kernels that are {', '.join(order)}")
    return "Now you can ask a slow program the first question: which kernel takes the time?"


def _is_the_slowest(got: Any, ran: list[tuple[str, float]], case: str) -> None:
    if not ran:
        raise Wrong(
            "`run` was never called. It has to be called inside `with observing(…)`, while your "
            "observer watches.",
            case,
        )
    names = [name for name, _ in ran]
    if got not in names:
        asked = "The answer has to be the name of a kernel that ran."
        # of an answer that is no name only the type is shown: a time would be new each time
        shown = repr(got) if isinstance(got, str) else f"a {type(got).__name__}"
        raise Wrong(asked, case, " or ".join(dict.fromkeys(names)), shown)
    slowest = max(ran, key=lambda kernel: kernel[1])[0]
    if got != slowest and got == max(names):
        raise Wrong("`max` compared the names: tell it to look at the seconds.", case)
    if got != slowest:
        place = {names[0]: "the first", names[-1]: "the last"}.get(got, "one in the middle")
        raise Wrong(f"You gave {place}; a different kernel took longer.", case, slowest, got)


def unknown_kernel() -> str:
    """The C of a kernel whose expression is to be found."""
    x = Tensor.zeros(3, 4).contiguous().realize()
    return program((x * x).sum(axis=0).sqrt()).src


def what_it_computes(answer: Any) -> str:
    """answer(x): what the unknown kernel computes."""
    for x in (Tensor([[3.0, 0.0, 1.0], [4.0, 2.0, 0.0]]).realize(), fresh_tensor(*fresh_sizes(2))):
        shown = x.numel() == 6
        case = "`x = [[3, 0, 1], [4, 2, 0]]`" if shown else "a different table"
        got = call(answer, x)
        wants(got, Tensor, "a Tensor", case)
        runs_as(got, 1, case, shown)
        same_values(got, np.sqrt((x.numpy() ** 2).sum(axis=0)), case, shown)
    return "You read a C program and knew which line of Python it came from."


def spoiled_graph(answer: Any) -> str:
    """answer(sink): a kernel's graph, changed so that SPEC refuses it, in a way of their own."""
    (item,) = (small_tensor(3, 4) * fresh_tensor(4)).sum(axis=1).schedule()
    got = call(answer, item.ast)
    wants(got, UOp, "a graph: the UOp that `substitute` gives back")
    if got is item.ast:
        names = ", ".join(sorted({u.op.name for u in got.toposort()}))
        raise Wrong(
            "This is the graph that you were given, with nothing changed. Does it have the op "
            "that you replace?",
            more=(("its ops", names),),
        )
    try:
        verify(got, spec_kernel)
    except SpecError as error:
        refused = str(error).partition(" ")[0]
    else:
        raise Wrong("SPEC accepts this graph. You changed it, but it is still a legal one.")
    if refused == "Ops.MUL":
        raise Wrong("SPEC refuses the multiplication, as it did above. Spoil something else.")
    return f"SPEC refuses `{refused}` before a line of C is written."


class Formula:
    """A formula for a check: it remembers the devices that it was called on. On PYTHON its results
    are `wrong_by` more than they should be, one after another."""

    def __init__(self, *wrong_by: float) -> None:
        self.wrong_by, self.devices = wrong_by, set[str]()

    def __call__(self, x: Tensor, y: Tensor) -> Tensor:
        for tensor in (x, y):
            if not isinstance(tensor, Tensor):
                raise Wrong("`formula` has to be called with Tensors.", got=describe(tensor))
        if x.device != y.device:
            devices = f"{x.device} and {y.device}"
            raise Wrong("Both Tensors have to be on the same device.", got=devices)
        self.devices.add(x.device)
        wrong_by = np.array(self.wrong_by if x.device == "PYTHON" else [0.0] * len(self.wrong_by))
        return x * y + Tensor(wrong_by.astype(np.float32), device=x.device)


def largest_difference(answer: Any) -> str:
    """answer(formula, *arrays): how far CPU and PYTHON are apart, at most."""
    a, b = np.array([1, 2, 3], np.float32), np.array([10, 20, 30], np.float32)
    cases = {
        "both devices agree": (0.0, 0.0, 0.0),
        "PYTHON gives 0.5 more for the second of three numbers": (0.0, 0.5, 0.0),
        "PYTHON gives 2 less for the last of three numbers, and 0.5 more for the first":
            (0.5, 0.0, -2.0),
    }  # fmt: skip
    for case, wrong_by in cases.items():
        formula = Formula(*wrong_by)
        got = call(answer, formula, a, b)
        if formula.devices != {"CPU", "PYTHON"}:
            raise Wrong(
                "`formula` has to be called on CPU and on PYTHON.",
                case, got=f"it was called on {', '.join(sorted(formula.devices)) or 'neither'}",
            )  # fmt: skip
        largest = max(map(abs, wrong_by))
        if any(wrong_by) and got != largest and got in (max(wrong_by), -min(wrong_by)):
            raise Wrong(
                "A difference can be negative: take `np.abs` before you look for the largest.",
                case, f"{largest:g}", f"{got:g}",
            )  # fmt: skip
        same_number(got, largest, case)
    return "Now you can run any formula on both devices, and see how far apart they are."


EXERCISES = (
    Exercise(
        "2.1",
        "steps-kernels-run",
        "Count the kernels of anything",
        kernels_run,
        (
            "What does `GlobalCounters.kernel_count` say before you call `run`, and what after it?",
            "`GlobalCounters.reset()` sets it to 0. At which point do you want it to be 0?",
        ),
        because="`kernel_count` goes on counting from wherever it is, so you have to reset it "
        "first (or subtract what it was).",
    ),
    Exercise(
        "2.2",
        "steps-name-of-column-sums",
        "The name of a kernel",
        predicts(name_of_column_sums),
        (
            "How many results are there, and how many numbers go into each of them?",
            "The loop over the results is the outer one, and stands first in the name.",
        ),
        shown_by="the next cell",
        because="There are 4 columns, so the outer loop runs 4 times, and the inner loop adds up "
        "the 3 numbers in each of them. The loops follow the results and not the table, and the "
        "name follows the loops. The `+ 1` happens inside and has no loop of its own.",
    ),
    Exercise(
        "2.3",
        "steps-slowest-kernel",
        "The slowest kernel",
        slowest_kernel,
        (
            "What is in `times.kernels` after the `with` block?",
            "`max` takes a `key`: a function that gives the seconds of a (name, seconds) pair.",
        ),
        because="An observer is told the name and the seconds of each kernel as it finishes. "
        "What is left to do is to find the pair with the largest second number.",
    ),
    Exercise(
        "2.4",
        "steps-unknown-kernel",
        "Which line was this?",
        what_it_computes,
        (
            "Follow `ridx0 + ridx1 * 4` while `ridx1` goes from 0 to 2: which numbers of a 3 × 4 "
            "table is that?",
            "`acc0` adds up one column. What is added each time, and what happens to `acc0` once "
            "the inner loop is over?",
        ),
        because="`ridx1 * 4` jumps from row to row, so the inner loop walks down a column. It "
        "adds up `val0 * val0`, and `sqrt_float` is applied once for each column, after the loop.",
    ),
    Exercise(
        "2.5",
        "steps-spoiled-graph",
        "Spoil a graph",
        spoiled_graph,
        (
            "Copy `whole_numbers` from above. Which other node could become something that makes "
            "no sense?",
            "A `LOAD` has to know where to read, and a `RANGE` how often to loop. Which field says "
            "so? Take it away with `replace`.",
        ),
        because="A load without an address, or a loop without a length, means nothing. Each kind "
        "of node has a row in the spec that says what it needs, and the first node that breaks its "
        "row is named.",
    ),
    Exercise(
        "2.6",
        "steps-loop-with-vectors",
        "How often a loop runs, with vectors",
        predicts(runs_with_vectors),
        (
            "How many groups of four are there in 1000 numbers? And in 1002?",
            "Two numbers are left over, and they have to be computed somewhere.",
        ),
        shown_by="the next cell",
        because="250 groups of four are 1000 numbers. For 1002 the loop has to run once more, "
        "and that last group starts at number 998, two places early. Two numbers are computed "
        "twice, but the loop never has to ask whether it is past the end.",
    ),
    Exercise(
        "2.7",
        "steps-runs-of-the-body",
        "How often Python runs",
        predicts(runs_of_the_body),
        (
            "Before kernels can be launched again, they have to be recorded once.",
            "The first call is an ordinary one. In which call are the kernels recorded?",
        ),
        shown_by="the next cell",
        because="The first call runs as if there were no JIT, which gets everything out of the "
        "way that happens only once. The second call runs too, and its kernels are recorded. From "
        "the third on, the recorded kernels are launched and the body does not run.",
    ),
    Exercise(
        "2.8",
        "steps-largest-difference",
        "Two devices, one answer",
        largest_difference,
        (
            "`Tensor(array, device=\"PYTHON\")` puts numbers on the PYTHON device. What do you do "
            "with the two results?",
            "Call `.numpy()` on both and subtract. A difference can be negative: which NumPy "
            "function helps before `max`?",
        ),
        because="Only the device is different between the two calls. A difference can be in "
        "either direction, so it is its size that counts, and the worst element decides.",
    ),
)  # fmt: skip
