"""Part 2, set-up and first steps: what an answer has to do."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from classroom.ask import (
    call,
    describe,
    fresh_sizes,
    fresh_tensor,
    once,
    predicts,
    same_number,
    same_values,
    small_tensor,
    wants,
)
from classroom.differences import close
from classroom.exercise import Exercise, Open, Wrong
from classroom.sabotage import CULPRIT, PLANTED, healthy, sabotage
from tinyframe import Context, GlobalCounters, Tensor, TinyJit
from tinyframe.codegen import get_program, passes
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.codegen.program import ProgramSpec
from tinyframe.dtype import dtypes
from tinyframe.observe import Observer, Ran, observing
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite.spec import SpecError, spec_kernel, verify
from tinyframe.uop import Ops, UOp

TITLE = "Wrong bills and lost time"
LARGEST_AMOUNT = 1e6  # what a bill may be made of, and be exact enough in a float


def program(tensor: Tensor, opts: list[Opt] | None = None) -> ProgramSpec:
    """The one kernel of a Tensor as C, the same on every machine; nothing runs."""
    (item,) = tensor.schedule()
    with Context(NOOPT=1):
        return get_program(item.ast, CStyleLanguage(), opts)


def shop(device: str = "CPU") -> tuple[Tensor, Tensor]:
    """The quantities and the prices of the lesson."""
    quantities = [[2.0, 0.0, 1.0, 3.0], [0.0, 1.0, 5.0, 0.0], [1.0, 1.0, 1.0, 1.0]]
    prices = [0.5, 2.25, 1.0, 4.0]
    return Tensor(quantities, device=device).realize(), Tensor(prices, device=device).realize()


def bills(quantities: Tensor, prices: Tensor) -> Tensor:
    return (quantities * prices).sum(axis=-1)


def on_a_healthy_compiler(check: Callable[[Any], str]) -> Callable[[Any], str]:
    """A check during which the compiler is as it was before somebody broke in."""

    @functools.wraps(check)
    def checked(answer: Any) -> str:
        with healthy():
            return check(answer)

    return checked


# ---- what the predictions are about, done for real ----------------------------------------------


def name_of_column_sums() -> str:
    quantities, prices = shop()
    name = program((quantities * prices).sum(axis=0)).function
    return re.sub(r"n\d+$", "", name)  # n1, n2, …: not the first kernel of these sizes


def bills_of_python() -> str:
    """What the second witness says while the compiler is sabotaged."""
    with healthy():
        right = bills(*shop("PYTHON")).tolist()
        with sabotage():
            on_cpu, in_python = (bills(*shop(device)).tolist() for device in ("CPU", "PYTHON"))
    return "right" if in_python == right else "same" if in_python == on_cpu else "other"


def five_calls() -> tuple[int, int]:
    """How often Python ran in five calls, and how many kernels the last of them launched."""
    weights = [Tensor.ones(8, 8).contiguous().realize() for _ in range(5)]
    runs = []

    @TinyJit
    def step(x: Tensor) -> Tensor:
        runs.append(1)
        for w in weights:
            x = (x @ w).softmax(axis=1)
        return x.realize()

    x = Tensor.ones(8, 8).contiguous().realize()
    for _ in range(5):
        before = GlobalCounters.kernel_count
        step(x)
    return len(runs), GlobalCounters.kernel_count - before


# ---- the case ------------------------------------------------------------------------------------


def smallest_wrong_bill(answer: Any) -> str:
    """(quantities, prices): a bill of one thing that the till gets wrong."""
    what = "two lists: quantities, and a price for each of them"
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Wrong(f"The answer has to be {what}.", got=describe(answer))
    quantities, prices = (_amounts(side, what) for side in answer)
    case = f"`quantities = {quantities.tolist()}`, `prices = {prices.tolist()}`"
    if quantities.shape != prices.shape:
        raise Wrong(
            "Each thing needs a quantity and a price.",
            got=f"{quantities.size} quantities and {prices.size} prices",
        )
    with sabotage():
        till = bills(Tensor(quantities), Tensor(prices)).item()
    right = float((quantities.astype(np.float64) * prices).sum())
    if math.isclose(till, right, rel_tol=1e-5, abs_tol=1e-6):
        raise Wrong("The till gets this one right.", case, f"{right:g}", f"{till:g}")
    if quantities.size > 1:
        raise Wrong(
            "The till gets this one wrong, but it isn't the smallest. Take something out of the "
            "basket and see whether the bill is still wrong.",
            case, f"{right:g}", f"{till:g}",
        )  # fmt: skip
    return f"One thing, {right:g} to pay, and the till says {till:g}. What goes missing?"


def _amounts(side: Any, what: str) -> np.ndarray:
    """Some quantities or prices, as floats."""
    if side is ... or (isinstance(side, (list, tuple)) and ... in side):
        raise Open("")
    try:
        given = side.numpy() if isinstance(side, Tensor) else side
        amounts = np.atleast_1d(np.asarray(given, np.float32))
    except (TypeError, ValueError):
        raise Wrong(f"The answer has to be {what}.", got=describe(side)) from None
    if amounts.ndim != 1 or not amounts.size:
        raise Wrong(f"The answer has to be {what}.", got=describe(side))
    if not (np.isfinite(amounts).all() and (np.abs(amounts) <= LARGEST_AMOUNT).all()):
        raise Wrong(f"Amounts have to be numbers up to {LARGEST_AMOUNT:,.0f}.", got=describe(side))
    return amounts


@on_a_healthy_compiler
def what_the_c_computes(answer: Any) -> str:
    """answer(quantities, prices): what the sabotaged kernel computes, said with Tensors."""
    weighed = Tensor([[1.5, 0.75, 2.25], [3.5, 2.5, 0.5]]).realize()
    refund = Tensor([[-1.5, 2.0], [-0.5, -2.5]]).realize()
    rows, things = fresh_sizes(2)
    some = Tensor(np.random.default_rng().uniform(-9, 9, (rows, things)).astype(np.float32))
    cases = {
        "the three bills": shop(),
        "`quantities = [[1.5, 0.75, 2.25], [3.5, 2.5, 0.5]]`, `prices = [2, 4, 1.5]`":
            (weighed, Tensor([2.0, 4.0, 1.5]).realize()),
        "`quantities = [[-1.5, 2], [-0.5, -2.5]]`, `prices = [1, 2]` (somebody brings things back)":
            (refund, Tensor([1.0, 2.0]).realize()),
        "different numbers": (some.realize(), fresh_tensor(things)),
    }  # fmt: skip
    for case, inputs in cases.items():
        with sabotage():
            expected = bills(*inputs).numpy()
        got = call(answer, *inputs)
        wants(got, Tensor, "a Tensor", case)
        shown = case != "different numbers"
        _misread(got.numpy(), expected, inputs, case, shown)
        same_values(got, expected, case, shown=shown)
    return "Your formula is wrong in just the way the till is. You've read the C right."


def _misread(
    got: np.ndarray,
    expected: np.ndarray,
    inputs: tuple[Tensor, Tensor],
    case: str,
    shown: bool,
) -> None:
    """Wrong, with its sentence, where a formula does what the C is often taken for."""
    if got.shape != expected.shape or close(got, expected):
        return
    quantities, prices = (each.numpy() for each in inputs)
    cut, floor = np.trunc, np.floor
    mistakes = {
        "You round down, and `(int)` in C cuts off. They differ below zero: of -1.5, rounding down "
        "makes -2, and cutting off makes -1.":
            floor(quantities) * floor(prices),
        "You round to the nearest whole number. `(int)` in C cuts the fraction off.":
            np.round(quantities) * np.round(prices),
        "You multiply first and cut off afterwards. In the C, each `(int)` comes before the `*`.":
            cut(quantities * prices),
        "Nothing is cut off the quantities. In the C, `(int)` stands before both numbers.":
            quantities * cut(prices),
        "Nothing is cut off the prices. In the C, `(int)` stands before both numbers.":
            cut(quantities) * prices,
    }  # fmt: skip
    for said, products in mistakes.items():
        if close(got, products.sum(axis=1)):
            both = (expected, got) if shown else ()
            raise Wrong(said, case, *(describe(each.tolist()) for each in both))


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


@on_a_healthy_compiler
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
        if isinstance(got, (Tensor, np.ndarray)) and got.shape == ():
            got = got.item()
        if formula.devices != {"CPU", "PYTHON"}:
            raise Wrong(
                "`formula` has to be called on CPU and on PYTHON.",
                case, got=f"it was called on {', '.join(sorted(formula.devices)) or 'neither'}",
            )  # fmt: skip
        largest = max(map(abs, wrong_by))
        signed = {max(wrong_by), -min(wrong_by)} - {largest}
        if isinstance(got, (float, np.floating)) and float(got) in signed:
            raise Wrong(
                "A difference can be negative: take `np.abs` before you look for the largest.",
                case, f"{largest:g}", f"{got:g}",
            )  # fmt: skip
        same_number(got, largest, case)
    return "Now you can run any formula on both devices, and see how far apart they are."


# ---- the stages ----------------------------------------------------------------------------------


class Stages(Observer):
    """The graph after each stage of compiling one kernel."""

    def __init__(self) -> None:
        self.graphs: dict[str, list[UOp]] = {}

    def stage(self, name: str, before: Any, after: UOp | list[UOp], passes: Any) -> None:
        self.graphs[name] = list(after) if isinstance(after, list) else list(after.toposort())


def stages_of(tensor: Tensor) -> dict[str, list[UOp]]:
    """{stage: the nodes of the graph after it} of a Tensor's one kernel; nothing runs."""
    watching = Stages()
    with observing(watching):
        program(tensor)
    return watching.graphs


def culprit(answer: Any) -> str:
    """The name of the stage that spoils the product."""
    wants(answer, str, "the name of a stage, in quotes")
    named = " ".join(answer.lower().replace("_", " ").strip("─ .").split())
    with healthy(), sabotage():
        stages = stages_of(bills(*shop()))
    if named == CULPRIT:
        return "Every stage before it has the product right, and every stage after it has it wrong."
    known = {"tensor graph", "prepare", "lower to ranges", *stages}
    if named not in known:
        raise Wrong("No heading of `DEBUG=4` says this.", got=answer)
    if named in stages:
        raise Wrong(
            f"Below `{named}` the damage is done, but look one heading further up: was the `MUL` "
            "of the two `LOAD`s still a `float` there?"
        )
    raise Wrong(f"Below `{named}`, the line still says `MUL float`. Read on.")


@on_a_healthy_compiler
def rule_for_products(answer: Any) -> str:
    """answer(node): True of a product whose type does not fit its sources, False of all else."""
    quantities, prices = shop()

    def whole() -> Tensor:
        return (quantities.int() * 2 + 1).sum(axis=0)

    (loaded,) = (u for u in _nodes(bills(quantities, prices)) if u.op is Ops.MUL)
    (counted,) = (u for u in _nodes(whole()) if u.op is Ops.MUL)
    call(answer, loaded)  # whether there is an answer yet
    for case, tensor in {
        "the bills, from a healthy compiler": bills(quantities, prices),
        "`(quantities.int() * 2 + 1).sum(axis=0)`, from a healthy compiler": whole(),
        "`(quantities < prices).sum()`, from a healthy compiler": (quantities < prices).sum(),
    }.items():
        for name, nodes in stages_of(tensor).items():
            for node in nodes:
                if _accused(answer, node, case):
                    raise Wrong(
                        "Your rule accuses an innocent node. The answer has to be False for every "
                        "node that a healthy compiler makes.",
                        f"{case}, after `{name}`", got=_line(node),
                    )  # fmt: skip
    bad = {
        "a `MUL` of two floats that says it's an int": loaded.replace(dtype=dtypes.int),
        "a `MUL` of two ints that says it's a float": counted.replace(dtype=dtypes.float),
        "a `MUL` of a float and an int that says it's a float":
            loaded.replace(src=(loaded.src[0], loaded.src[1].cast(dtypes.int))),
        "a `MUL` of an int and a float that says it's a float":
            loaded.replace(src=(loaded.src[0].cast(dtypes.int), loaded.src[1])),
        "a `MUL` of two floats that says it's a double": loaded.replace(dtype=dtypes.double),
    }  # fmt: skip
    for case, node in bad.items():
        if not _accused(answer, node, case):
            raise Wrong("Your rule lets this one go.", case, got=_line(node))
    with sabotage():
        stages = stages_of(bills(quantities, prices))
    first = next(name for name, nodes in stages.items() if any(map(answer, nodes)))
    return (
        f"Held against {len(stages)} stages of the sabotaged compiler, your rule raises the alarm "
        f"after `{first}`, and about a healthy one it says nothing at all."
    )


def _nodes(tensor: Tensor) -> list[UOp]:
    (item,) = tensor.schedule()
    return list(item.ast.toposort())


def _accused(answer: Any, node: UOp, case: str) -> bool:
    said = answer(node)
    if said is not None and not isinstance(said, (bool, np.bool_)):
        raise Wrong("The answer has to be True or False.", case, got=describe(said))
    return bool(said)


def _line(node: UOp) -> str:
    """A node in a few words: MUL float of float and float."""
    names = [str(u.dtype).removeprefix("dtypes.") for u in (node, *node.src)]
    return f"`{node.op.name} {names[0]}`" + f" of {' and '.join(names[1:])}" * bool(node.src)


@on_a_healthy_compiler
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
        refused = str(error).partition(" ")[0].removeprefix("Ops.")
    else:
        raise Wrong("SPEC accepts this graph. You changed it, but it is still a legal one.")
    if refused == "MUL":
        raise Wrong("SPEC refuses the multiplication, as it did above. Spoil something else.")
    return f"SPEC refuses your `{refused}` before a line of C is written."


@on_a_healthy_compiler
def mended(answer: Any) -> str:
    """answer(stages, name): the stages without the one of that name."""
    whole = list(passes)
    middle = len(whole) // 2
    cases = {
        "the culprit comes first": ([PLANTED, *whole], CULPRIT),
        "the culprit is in the middle": ([*whole[:middle], PLANTED, *whole[middle:]], CULPRIT),
        "the culprit comes last": ([*whole, PLANTED], CULPRIT),
        "a different culprit": ([*whole[:2], ("shortcut", PLANTED[1]), *whole[2:]], "shortcut"),
        "it's there twice in a row": ([PLANTED, PLANTED, *whole], CULPRIT),
        "there is no stage of that name": (whole, CULPRIT),
    }
    for case, (stages, name) in cases.items():
        got = call(answer, list(stages), name)
        what = "a list of (name, function) pairs, as it was given"
        if isinstance(got, (str, bytes, dict)) or not isinstance(got, Iterable):
            raise Wrong(f"The answer has to be {what}.", case, got=describe(got))
        left = list(got)
        if not all(isinstance(stage, tuple) and len(stage) == 2 for stage in left):
            raise Wrong(f"The answer has to be {what}.", case, got=describe(_names(left)))
        if name in _names(left):
            raise Wrong(f"`{name}` is still there.", case)
        if lost := [one for one in _names(whole) if one not in _names(left)]:
            raise Wrong(f"`{lost[0]}` is gone, and it did nothing wrong.", case)
        if left != whole:
            raise Wrong(
                "The other stages aren't what they were. Each has to be there once, in its place.",
                case, ", ".join(_names(whole)), ", ".join(_names(left)),
            )  # fmt: skip
    passes[:] = list(answer([PLANTED, *whole], CULPRIT))
    right = bills(*shop()).tolist()
    return f"With the compiler that you leave, the bills are {', '.join(f'{b:g}' for b in right)}."


def _names(stages: Iterable[Any]) -> list[Any]:
    return [stage[0] if isinstance(stage, tuple) and stage else stage for stage in stages]


# ---- where the time goes -------------------------------------------------------------------------


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
        case = f"{case}; `kernel_count` was {before} before that"
        got = once(answer, run, case)
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
    few, many = Tensor.ones(5).contiguous().realize(), Tensor.ones(320, 320).contiguous().realize()
    more = Tensor.ones(2000, 500).contiguous().realize()
    kernels = {
        "short": lambda: (few + 1).realize(),
        "long": lambda: (many @ many).realize(),
        "wide": lambda: more.sin().sqrt().realize(),  # the last in time, not by its name
        "shortest": lambda: (few * 2).sum().realize(),
    }
    orders = ["long short", "short long shortest", "shortest wide short", "shortest short long"]
    # all others too, so that nobody is right by chance
    orders += map(" ".join, itertools.permutations(kernels))
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


def safe_to_replay(answer: Any) -> str:
    """answer(function, inputs): whether TinyJit(function) gives what function gives for each."""
    for case, make, expected in replays():
        function, inputs = make()
        got = call(answer, function, inputs)
        if not isinstance(got, (bool, np.bool_)):
            raise Wrong("The answer has to be True or False.", case, got=describe(got))
        if got != expected:
            said = (
                "The answer has to be True: TinyJit gives what Python gives, for each input."
                if expected else
                "The answer has to be False: TinyJit refuses, or doesn't give what Python gives."
            )  # fmt: skip
            raise Wrong(said, case, expected, bool(got))
    return "Now you'll know when TinyJit would quietly change what a function gives."


Replay = tuple[Callable[[Tensor], Tensor], list[Tensor]]


def replays() -> list[tuple[str, Callable[[], Replay], bool]]:
    """(case, what makes a function and its inputs, whether TinyJit leaves the results alone).

    Whole numbers go in and come out, so that an answer may compare to the bit: the last digits of
    anything else are up to the C compiler, which rounds differently in one kernel than in another.
    """

    def whole(size: int) -> Tensor:
        values = np.random.default_rng().integers(1, 10, size)
        return Tensor(values.astype(np.float32)).realize()

    def rows(*sizes: int) -> list[Tensor]:
        return [whole(size) for size in (sizes or (3,) * 5)]

    def one_is_special(place: int) -> Callable[[], Replay]:
        def make() -> Replay:
            inputs = rows()
            return (lambda x: x * 2 if x is inputs[place] else x * 3), inputs

        return make

    def counts_its_calls() -> Replay:
        calls = itertools.count(1)
        return (lambda x: x * next(calls)), rows()

    def takes_turns() -> Replay:
        turns = itertools.cycle([2.0, 3.0])
        return (lambda x: x + next(turns)), rows()

    def weighted() -> Replay:
        weight = whole(3)
        return (lambda x: (x * weight).sum()), rows()

    special = "`x * 2` if `x` is the {} input, otherwise `x * 3`"
    return [
        ("`function` gives `x * 2`, for five inputs", lambda: (lambda x: x * 2, rows()), True),
        ("`function` gives `x` times the number of calls so far", counts_its_calls, False),
        ("`function` gives `x - x.max()`", lambda: (lambda x: x - x.max(), rows()), True),
        ("`function` asks whether `x.sum().item() > 3`, and TinyJit refuses that",
         lambda: ((lambda x: x * 2 if x.sum().item() > 3 else x), rows()), False),
        (special.format("fourth"), one_is_special(3), False),
        (special.format("first"), one_is_special(0), True),  # that call isn't replayed
        ("`(x * weight).sum()`", weighted, True),
        (special.format("last"), one_is_special(4), False),
        ("`x * 2`, for inputs of 3, 3 and 4 numbers, and TinyJit refuses the third",
         lambda: (lambda x: x * 2, rows(3, 3, 4)), False),
        ("`x / x.shape[0]`, for inputs of 4 numbers",
         lambda: (lambda x: x / x.shape[0], rows(4, 4, 4, 4)), True),
        ("`x + 2` and `x + 3`, in turns", takes_turns, False),
        ("`(x * 2).realize()`", lambda: (lambda x: (x * 2).realize(), rows()), True),
        (special.format("third"), one_is_special(2), False),
        ("`x.reshape(1, 3)`", lambda: (lambda x: x.reshape(1, 3), rows()), True),
        ("`Tensor(x.numpy() * 2)`, and TinyJit refuses that",
         lambda: (lambda x: Tensor(x.numpy() * 2), rows()), False),
        ("`x * x + x`, for seven inputs",
         lambda: (lambda x: x * x + x, rows(*(5,) * 7)), True),
    ]  # fmt: skip


EXERCISES = (
    Exercise(
        "2.1",
        "steps-smallest-wrong-bill",
        "The smallest wrong bill",
        smallest_wrong_bill,
        (
            "All three bills were wrong. Take the simplest of them, and leave out one thing at a "
            "time: when does the error go away?",
            "A thing that costs 1.00 or 4.00 never makes a bill wrong. What's different about the "
            "other two?",
        ),
        because="One thing for 0.50 is enough: the till says 0. Whole numbers of things with whole "
        "prices are always right, so it's the fractions that get lost.",
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
        because="There are 4 things, so the outer loop runs 4 times, and the inner loop adds up "
        "what the 3 people pay for each of them. The loops follow the results and not the table, "
        "and the name follows the loops.",
    ),
    Exercise(
        "2.3",
        "steps-what-the-c-computes",
        "What the C really computes",
        what_the_c_computes,
        (
            "`(int)val0 * (int)val1`: what happens first, the multiplication or the cutting off?",
            "`quantities.int()` is a Tensor of whole numbers. It cuts off fractions, as C does.",
        ),
        because="`(int)` in C is `.int()` of a Tensor: the fraction is cut off. The C does it to "
        "each quantity and each price before it multiplies, so 0.5 becomes 0, and -1.5 becomes -1.",
    ),
    Exercise(
        "2.4",
        "steps-second-witness",
        "What the second witness says",
        predicts(bills_of_python, "right", "same", "other"),
        (
            "Which of these does the `PYTHON` device do without: the stages of the compiler, or "
            "the C?",
            "In the C above, the product is cut off already. Who wrote that C?",
        ),
        shown_by="the next cell",
        because="The same wrong bills. `PYTHON` needs no C, but it gets its kernels from the same "
        "stages of the compiler. The `(int)` in the C was a hint: the C compiler only did what it "
        "was told. So C, its compiler and the processor are cleared, and it's one of the stages.",
    ),
    Exercise(
        "2.5",
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
    Exercise(
        "2.6",
        "steps-culprit",
        "The culprit",
        culprit,
        (
            "Look for the lines with `MUL`, from the top. What does each say after it?",
            "Find the first heading below which the `MUL` of the two `LOAD`s is an `int`. It's "
            "one of the short ones.",
        ),
        because="Down to `lower to ranges`, the line says `MUL float`. Below `tidy numbers`, a "
        "single line is new, and it says `MUL int`.",
    ),
    Exercise(
        "2.7",
        "steps-rule-for-products",
        "A rule of your own",
        rule_for_products,
        (
            "When is a product not what it should be? Compare `node.dtype` with the `dtype` of "
            "each node in `node.src`.",
            "First make sure that the node is a `MUL`: a comparison of two floats is a bool, and "
            "rightly so. Then `any(…)` over its sources.",
        ),
        because="A product of floats is a float. Other ops have rules of their own (a comparison "
        "gives a bool), so this one asks about `MUL` alone.",
    ),
    Exercise(
        "2.8",
        "steps-spoiled-graph",
        "Spoil a graph",
        spoiled_graph,
        (
            "Copy `tidy_numbers` from above. Which other node could become something that makes "
            "no sense?",
            "A `LOAD` has to know where to read, and a `RANGE` how often to loop. Which field says "
            "so? Take it away with `replace`.",
        ),
        because="A load without an address, or a loop without a length, means nothing. Each kind "
        "of node has a row in the spec that says what it needs, and the first node that breaks its "
        "row is named.",
    ),
    Exercise(
        "2.9",
        "steps-mended",
        "Mend the compiler",
        mended,
        (
            "Each stage is a pair, a name and a function. Which pairs do you want to keep?",
            "`[(n, f) for n, f in stages if …]` keeps the ones for which the condition is true.",
        ),
        because="A compiler is a list of stages, so mending this one takes a list without the "
        "culprit. All the others stay, in their order: each relies on what the ones before it did.",
    ),
    Exercise(
        "2.10",
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
        "2.11",
        "steps-slowest-kernel",
        "The slowest kernel",
        slowest_kernel,
        (
            "What is in `times.kernels` after the `with` block?",
            "`max` takes a `key`: a function that gives the seconds of a (name, seconds) pair.",
        ),
        because="An observer is told the name and the seconds of each kernel as it finishes. "
        "All that's left is to find the pair with the largest second number.",
    ),
    Exercise(
        "2.12",
        "steps-what-a-replay-does",
        "What a replay does",
        predicts(five_calls),
        (
            "In which of the five calls does the Python of `step` run?",
            "The kernels are recorded and launched again. Does anything make them fewer?",
        ),
        shown_by="the next cell",
        because="Python runs in the first call and in the second one, which is recorded. The "
        "other three are replays: they launch the very same 15 kernels, and nothing else happens. "
        "TinyJit makes no kernel quicker; it takes away the Python between them.",
    ),
    Exercise(
        "2.13",
        "steps-safe-to-replay",
        "Safe to replay?",
        safe_to_replay,
        (
            "The first two calls run Python in any case. Which inputs can show a difference?",
            "`fast = TinyJit(function)`, then compare `fast(x)` with `function(x)` for every `x`. "
            "What happens to a `JitError` along the way?",
        ),
        because="Only a replay can go wrong, so all inputs are tried in order, the third and later "
        "ones above all. Refusing with a JitError is the polite way of not being safe.",
    ),
)  # fmt: skip
