"""Part 11b, other people's changes: the exercises, and what an answer has to do."""

from __future__ import annotations

import inspect
import itertools
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

from classroom import differences
from classroom.ask import call, describe, does_nothing, predicts, same_number, wants
from classroom.contributing import history, issues, review
from classroom.contributing.history import BAD, GOOD, SKIP, History, most_trials, tried_by
from classroom.contributing.rms import HONEST, SPOILED, Pair
from classroom.exercise import Exercise, Open, Wrong
from tinyframe import Tensor

OWL = History()

# ---- what the prediction is about, done for real -------------------------------------------------


def halvings() -> tuple[int, ...]:
    """How many trials it takes at most to find the first bad one of 30, 1,000 and a million."""
    return tuple(map(worst_case, (30, 1_000, 1_000_000)))


def worst_case(patches: int) -> int:
    """Each trial leaves the larger half."""
    trials = 0
    while patches > 1:
        patches -= patches // 2
        trials += 1
    return trials


# ---- bisect --------------------------------------------------------------------------------------


def bisect(answer: Any) -> str:
    """answer(good, bad, is_bad): the first that's bad, in as few trials as halving takes."""
    for first_bad in (19, 1, 30, 2, 16, 15):
        one_bisect(
            answer, 0, 30, first_bad, f"30 patches, of which {first_bad} is the first bad one"
        )
    for low, count in itertools.product((0, 7), range(1, 40)):
        for first_bad in range(low + 1, low + count + 1):
            case = f"{low} is good, {low + count} is bad, and {first_bad} is the first bad one"
            one_bisect(answer, low, low + count, first_bad, case)
    return (
        "30 patches in 5 trials, wherever the first bad one is. A million would take 20, and that "
        "is why nobody reads a million patches."
    )


def one_bisect(answer: Any, low: int, high: int, first_bad: int, case: str) -> None:
    trials: list[int] = []

    def is_bad(n: Any) -> bool:
        trials.append(number_of_patch(n, low, high, case))
        return trials[-1] >= first_bad

    same_number(call(answer, low, high, is_bad), first_bad, case)
    allowed = max(worst_case(high - low), 0)
    if len(trials) > allowed:
        again = "" if len(set(trials)) == len(trials) else " Some were tried twice."
        raise Wrong(
            f"You found it, but in {several(len(trials), 'trial')}, and {allowed} would do. Each "
            f"trial can rule out half of what's left.{again}",
            case,
            more=(("you tried", shown(trials)),),
        )


def number_of_patch(n: Any, low: int, high: int, case: str) -> int:
    """n as the number of a patch between these; Wrong where it isn't one."""
    n = n.item() if isinstance(n, np.generic) else n
    if isinstance(n, float) and n == int(n):
        n = int(n)
    if isinstance(n, bool) or not isinstance(n, int):
        raise Wrong("What you try has to be the number of a patch.", case, got=describe(n))
    if not low <= n <= high:
        raise Wrong(f"You tried {n}, and the patches go from {low} to {high}.", case)
    return n


def shown(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:12])) + (" …" if len(numbers) > 12 else "")


# ---- a verdict -----------------------------------------------------------------------------------

ABOUT = {
    0: "the owl as it was at first",
    9: "the owl winks, on purpose",
    13: "it has stopped winking",
    14: "there's a frame around it",
    17: "the last one that draws it well",
    18: "this one raises an error",
    19: "its right half is in the wrong place",
    22: "this one raises an error",
    26: "two frames, and a broken owl in them",
    30: "today's owl",
}


def verdict(answer: Any) -> str:
    """answer(n): "good", "bad" or "skip" of each version of the owl."""
    numbers = [30, 0, 17, 19, 18, 22, 9, 14, *range(31)]
    for n in numbers:
        wanted = history.our_verdict(n)
        case = f"patch {n}" + (f": {ABOUT[n]}" if n in ABOUT else "")
        got = as_word(call(answer, n), case)
        if got == wanted:
            continue
        if wanted == SKIP:
            said = "A version that can't draw anything is neither good nor bad."
        elif n in range(9, 13):
            said = "It winks, and that's a joke and not the bug. How much of the owl differs then?"
        elif got == SKIP:
            said = "This version does draw a poster, so it can be tested."
        else:
            said = f'That one is {wanted}. Look at it: `owls({{"": owl.poster({n})}})`.'
        raise Wrong(said, case, expected=wanted, got=got)
    return (
        "All 31 versions, the joke and the broken ones among them. Your computer can take it from "
        "here."
    )


def as_word(got: Any, case: str) -> str:
    word = got.strip().lower() if isinstance(got, str) else ""
    if word not in (GOOD, BAD, SKIP):
        raise Wrong('The answer has to be "good", "bad" or "skip".', case, got=describe(got))
    return word


# ---- a search that can skip ----------------------------------------------------------------------


def suspects(answer: Any) -> str:
    """answer(good, bad, verdict): all that could be the first bad one, as a list."""
    one_search(answer, 0, 30, 16, set(), "30 patches; 16 is the first bad one; all can be tested")
    case = "30 patches; 20 is the first bad one; 15 can't be tested"
    one_search(answer, 0, 30, 20, {15}, case)
    case = "30 patches; 15 is the first bad one; 13 and 14 can't be tested"
    one_search(answer, 0, 30, 15, {13, 14}, case)
    case = "30 patches; 15 is the first bad one, but neither 15 nor 16 can be tested"
    one_search(answer, 0, 30, 15, {15, 16}, case)
    case = "3 patches; 1 and 2 can't be tested"
    one_search(answer, 0, 3, 1, {1, 2}, case)
    rng = random.Random(11)
    for _ in range(300):
        low, count = rng.randint(0, 9), rng.randint(2, 40)
        inner = range(low + 1, low + count)
        skipped = set(rng.sample(inner, rng.randint(0, min(4, len(inner)))))
        first_bad = rng.randint(low + 1, low + count)
        those = f"; {shown(sorted(skipped))} can't be tested" if skipped else ""
        case = f"{low} is good, {low + count} is bad, the first bad one is {first_bad}{those}"
        one_search(answer, low, low + count, first_bad, skipped, case)
    return (
        "It names one patch where that can be known, and where it can't, it says so rather than "
        "blaming somebody."
    )


def one_search(
    answer: Any, low: int, high: int, first_bad: int, skipped: set[int], case: str
) -> None:
    def judged(n: Any) -> str:
        n = number_of_patch(n, low, high, case)
        return SKIP if n in skipped else BAD if n >= first_bad else GOOD

    expected, _ = tried_by(history.our_search, low, high, judged)

    def search(*inputs: Any) -> Any:
        return call(answer, *inputs)

    got, trials = tried_by(search, low, high, judged)
    numbers = as_numbers(got, case)
    tried = (("you tried", shown([n for n, _ in trials])),)
    if numbers != expected:
        said = "The list has to be everything that could be the first bad one."
        said += f" {hint_on(numbers, expected, dict(trials))}"
        raise Wrong(said, case, expected=expected, got=numbers, more=tried)
    allowed = most_trials(high - low, len(skipped))
    if len(trials) > allowed:
        raise Wrong(
            f"You found it, but in {len(trials)} trials, and {allowed} would do.", case, more=tried
        )


def hint_on(got: list[int], expected: list[int], tried: dict[int, str]) -> str:
    """What's wrong with a list of suspects."""
    missing, extra = sorted(set(expected) - set(got)), sorted(set(got) - set(expected))
    if skipped := [n for n in missing if tried.get(n) == SKIP]:
        return f"Why not {skipped[0]}? It couldn't be tested, so nobody knows that it's good."
    if missing:
        return f"{missing[0]} is missing."
    if tested := [n for n in extra if tried.get(n) == GOOD]:
        return f"You tried {tested[-1]}, and it's good."
    if untried := [n for n in extra[:-1] if n not in tried]:
        return f"You've stopped too early: you could still try {untried[-1]}."
    return f"{extra[0]} can't be it."


def as_numbers(got: Any, case: str) -> list[int]:
    what = "The answer has to be a list of numbers of patches."
    if isinstance(got, (str, bytes)) or not isinstance(got, Iterable):
        raise Wrong(what, case, got=describe(got))
    found = [one.item() if isinstance(one, np.generic) else one for one in got]
    if any(isinstance(one, bool) or not isinstance(one, int) for one in found):
        raise Wrong(what, case, got=describe(found))
    return sorted(set(found))


# ---- mending it ----------------------------------------------------------------------------------


def place(answer: Any) -> str:
    """answer(view, i, j): where in its cells a view's cell (i, j) is."""
    make = OWL.module(0)["View"]
    whole = make("", (17, 10), (10, 1))
    cases = {
        "a whole drawing": whole,
        "a part of it": make("", (15, 8), (10, 1), 12),
        "the drawing, flipped": make("", (17, 10), (10, -1), 9),
        "a part of the flipped one": make("", (4, 3), (10, -1), 27),
        "rows and columns swapped": make("", (10, 17), (1, 10)),
    }
    for words, view in cases.items():
        for i, j in ((0, 0), (1, 1), (2, 1)):
            one_place(answer, view, i, j, f"{words}: shape {view.shape}, strides {view.strides}, "
                      f"offset {view.offset}; i, j = {i}, {j}")  # fmt: skip
    rng = random.Random(11)
    for _ in range(100):
        strides = tuple(rng.sample(range(-30, 31), 2))
        view = make("", (rng.randint(1, 9), rng.randint(1, 9)), strides, rng.randint(0, 99))
        i, j = rng.randint(0, 20), rng.randint(0, 20)
        one_place(answer, view, i, j, f"strides {strides}, offset {view.offset}; i, j = {i}, {j}")
    return (
        "The owl is whole again, and place is what its author had in mind: one line in one place. "
        "There was nothing wrong with the idea."
    )


def one_place(answer: Any, view: Any, i: int, j: int, case: str) -> None:
    down, right = view.strides
    got = call(answer, view, i, j)
    if isinstance(got, float) and got.is_integer():
        got = int(got)
    same_number(got, view.offset + i * down + j * right, case)


# ---- the review ----------------------------------------------------------------------------------


def marked(answer: Any) -> str:
    """answer: the numbers of the lines that are faults, one or more for each of the eight."""
    try:
        numbers = review.numbers_of(answer)
    except ValueError as odd:
        raise Wrong("A mark has to be the number of a line.", got=str(odd)) from None
    if not numbers:
        raise Open("Nothing is marked yet.")
    last = len(review.lines())
    if beyond := [n for n in numbers if not 1 <= n <= last]:
        raise Wrong(f"There's no line {beyond[0]}; they go from 1 to {last}.")
    found = review.reviewed(numbers)
    rows = [(f"line {n}", f"✓ {kind}") for kind, n in found.found.items()]
    rows += [(f"line {line.number}", f"✗ {line.why_innocent}") for line in found.innocent[:5]]
    if found.missed:
        total = len(review.FAULTS)
        head = f"You found {len(found.found)} of {total}."
        if found.innocent:
            head += f" {several(len(found.innocent), 'mark')} too many."
        raise Wrong(head, more=tuple(rows))
    if found.innocent:
        raise Wrong(
            f"You found all eight, and {several(len(found.innocent), 'line')} besides that aren't "
            "faults. An author who is wrongly accused stops reading.",
            more=tuple(rows[len(found.found) :]),
        )
    return "Eight of eight, and nobody accused wrongly. This change isn't getting in."


def several(number: int, thing: str) -> str:
    return f"one {thing}" if number == 1 else f"{number} {thing}s"


# ---- the test that it should have had ------------------------------------------------------------


def test_of_rms(answer: Any) -> str:
    """answer(rms, rms_gradient): a test, which raises AssertionError for each faulty pair only."""
    if not callable(answer):
        raise Wrong(
            "This exercise asks for a function. Pass its name, without brackets after it.",
            got=describe(answer),
        )
    if does_nothing(answer):
        raise Open("")
    for pair in HONEST:
        if (error := failure_of(answer, pair)) is not None:
            where = ("your line", learners_line(error))
            raise Wrong(
                "It fails for an rms that's right. (Are floats compared with `==`?)"
                if isinstance(error, AssertionError)
                else f"It raised {type(error).__name__}, and rms is right: {error}",
                pair.what,
                more=(where,) if where[1] else (),
            )
    failed = [pair for pair in SPOILED if failure_of(answer, pair) is not None]
    missed = [pair for pair in SPOILED if pair not in failed]
    if missed:
        raise Wrong(
            f"It catches {len(failed)} of {len(SPOILED)}. This one gets through.", missed[0].what,
            more=tuple((f"caught {n}", pair.what) for n, pair in enumerate(failed, 1)),
        )  # fmt: skip
    return (
        f"It passes for an rms that's right, however that's written, and fails for all "
        f"{len(SPOILED)} that aren't. Put it into the review. It says more than an opinion does."
    )


def failure_of(answer: Callable[..., Any], pair: Pair) -> BaseException | None:
    """What a test raises for a pair; None where it passes."""
    rms, gradient = pair.make()
    try:
        if answer(rms, gradient) is False:
            return AssertionError("it returned False")
    except Exception as error:
        return error
    return None


def learners_line(error: BaseException) -> str:
    from classroom.frames import learners_lines

    lines = [line.text for line in learners_lines(error.__traceback__) if line.text]
    return f"`{lines[-1]}`" if lines else ""


# ---- the gradient --------------------------------------------------------------------------------


def gradient(answer: Any) -> str:
    """answer(grad, x): what flows back to x from the rms of each row."""
    x = np.array([[3.0, 4.0], [6.0, 8.0]], np.float32)
    one_gradient(answer, np.ones(2, np.float32), x, "`x = [[3, 4], [6, 8]]`, `grad = [1, 1]`")
    grad = np.array([1.0, 10.0], np.float32)
    one_gradient(answer, grad, x, "`x = [[3, 4], [6, 8]]`, `grad = [1, 10]`")
    one_gradient(answer, np.ones(1), np.array([[1.0, 2.0, 2.0]]), "`x = [[1, 2, 2]]`, of float64")
    zero = np.zeros((1, 3))
    one_gradient(answer, np.ones(1), zero, "`x = [[0, 0, 0]]`")
    rng = np.random.default_rng()
    for shape in ((4,), (2, 5), (3, 1), (2, 3, 4)):
        values, flows = rng.normal(size=shape) + 3, np.asarray(rng.normal(size=shape[:-1]))
        one_gradient(answer, flows, values, f"an x of shape {shape}", named=False)
    return "That's the n that was missing, and PyTorch will check it once more in a moment."


def one_gradient(
    answer: Any, grad: np.ndarray, x: np.ndarray, case: str, named: bool = True
) -> None:
    kept = x.copy()
    got = call(answer, grad, x)
    if not isinstance(got, np.ndarray):
        raise Wrong("The answer has to be an array of NumPy's.", case, got=describe(got))
    if not np.array_equal(kept, x):
        raise Wrong("Your function changes x itself. It's somebody else's.", case)
    root = np.sqrt(np.mean(x * x, axis=-1))
    scale = np.divide(grad, x.shape[-1] * root, out=np.zeros_like(root), where=root > 0)
    expected = scale[..., None] * x
    if got.shape != expected.shape:
        raise Wrong(differences.of_shapes(got.shape, expected.shape), case, got=got.shape)
    if text := differences.of_values(got, expected, named=named):
        both = (expected.tolist(), got.tolist()) if named else ("", "")
        raise Wrong(text, case, *both)
    if got.dtype != x.dtype:
        raise Wrong(f"The gradient has to be of x's dtype, {x.dtype}.", case, x.dtype, got.dtype)


# ---- an issue of one's own -----------------------------------------------------------------------


def plan(answer: Any) -> str:
    """answer: (number, test): one of the fifteen, and a test of it that fails today."""
    pair = list(answer) if isinstance(answer, (tuple, list)) else []
    if len(pair) != 2:
        raise Wrong("The answer has to be two things: the number of an issue, and a function.")
    number, test = pair if not callable(pair[0]) else pair[::-1]
    known = [issue.number for issue in issues.issues()]
    text = str(number).strip().lstrip("#") if isinstance(number, (str, int, np.integer)) else ""
    if isinstance(number, bool) or not text.isdigit() or int(text) not in known:
        raise Wrong(
            f"The issues have numbers from {known[0]} to {known[-1]}.", got=describe(number)
        )
    wants(test, object, "a function")
    if not callable(test):
        raise Wrong("The answer has to be two things: the number of an issue, and a function.",
                    got=describe(test))  # fmt: skip
    if does_nothing(test):
        raise Open("")
    issue = issues.issue(int(text))
    error, files = what_fails(test)
    if error is None:
        raise Wrong(
            "It passes today. Then it can't tell whether anybody has done anything. What does the "
            "issue's own snippet print, and what should it?",
            str(issue),
        )
    own = learners_line(error)
    row = (("your line", own),) if own else ()
    if isinstance(error, (NameError, SyntaxError)) and not isinstance(error, AttributeError):
        raise Wrong(
            f"It's your test that fails here, and not tinyframe: {error}.", str(issue), more=row
        )
    if not is_about(test, files, issue):
        near = ", ".join(sorted({path.name for path in issue.files if path.suffix == ".py"})[:3])
        raise Wrong(
            f"It fails, but it doesn't come near the issue. Nothing in {near} ran.",
            str(issue),
            more=row,
        )
    name = type(error).__name__
    words = " ".join(str(error).partition(" (/")[0].split())[:90]
    return (
        f"It fails today, with {name}{f' ({words})' if words else ''}. When it passes, and "
        f"everything else still does, issue {issue.number} is done."
    )


def what_fails(test: Callable[..., Any]) -> tuple[BaseException | None, set[Path]]:
    """What a test raises, and which files of ours ran meanwhile."""
    with files_run() as files:
        try:
            if test() is False:
                return AssertionError("it returned False"), files
        except Exception as error:
            return error, files
    return None, files


@contextmanager
def files_run() -> Iterator[set[Path]]:
    """The files of this repository in which a function is called within the block."""
    names: set[str] = set()
    files: set[Path] = set()
    before = sys.getprofile()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            names.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        yield files
    finally:
        sys.setprofile(before)
        files |= {Path(name) for name in names if name.startswith(str(issues.ROOT))}


# names that say nothing about which issue a test is of
COMMON = set(
    "Tensor print getattr hasattr str int float list range len repr error name nn Context realize "
    "tolist item numpy shape dtype dtypes Ops tinyframe np for in if not is and or as with try "
    "except import from assert".split()
)


def is_about(test: Callable[..., Any], files: set[Path], issue: issues.Issue) -> bool:
    """Whether a test runs a file of the issue's that not everything runs, or uses a name that's in
    the issue's snippet or among those to start with."""
    if (files - files_of_anything()) & set(issue.files):
        return True
    snippet = set(re.findall(r"[A-Za-z_]\w+", issue.snippet))
    snippet |= {part for _, names in issue.start for name in names for part in name.split(".")}
    return bool((names_in(getattr(inspect.unwrap(test), "__code__", None)) & snippet) - COMMON)


def names_in(code: Any) -> set[str]:
    """The names and the words in quotes of a function, and of those inside of it."""
    if isinstance(code, str):
        return {code, *re.findall(r"[A-Za-z_]\w+", code)}
    if isinstance(code, (tuple, frozenset)):
        return {name for one in code for name in names_in(one)}
    if isinstance(code, CodeType):
        return {*code.co_names, *names_in(code.co_consts)}
    return set()


@cache
def files_of_anything() -> frozenset[Path]:
    """The files that run whatever is computed."""
    with files_run() as files:
        (Tensor([1.0, 2.0]) + 1).sum().item()
    return frozenset(files)


EXERCISES = (
    Exercise(
        "11.8",
        "contributing-halvings",
        "How many trials",
        predicts(halvings),
        (
            "After one trial in the middle, how many of the 30 can still be the one?",
            "30, 15, 8, 4, 2, 1: count the commas. And 1,000 is nearly 2 to the power of 10.",
        ),
        shown_by="the next cell",
        because="Each trial halves what's left, so it takes as many as you can halve: 30 is below "
        "2**5, 1,000 below 2**10, and a million below 2**20.",
    ),
    Exercise(
        "11.9",
        "contributing-bisect",
        "Bisect",
        bisect,
        (
            "You always know one that's good and one that's bad. When are you done? And which "
            "number between them do you try next?",
            "While bad - good is above 1: try the middle, (good + bad) // 2, and let it take the "
            "place of one of the two. At the end, bad is the first one.",
        ),
        because="Between good and bad there's always the place where it changed. Each trial keeps "
        "that so, and halves the distance. When they are neighbours, there's nothing left to ask.",
    ),
    Exercise(
        "11.10",
        "contributing-verdict",
        "Good, bad or neither",
        verdict,
        (
            "What's true of every good owl, with a frame or without, and not of today's? Hold a "
            "row up to a mirror: `row[::-1]`.",
            'Inside of `try`, get the rows; `except Exception` is "skip". Then count the rows '
            "that differ from their mirror image. The wink makes five of those, the bug fifteen.",
        ),
        because="The frame is symmetric, too, so mirrors don't mind it. The wink changes a few "
        "rows, the bug nearly all. And a version that can't run says nothing about the bug.",
    ),
    Exercise(
        "11.11",
        "contributing-suspects",
        "A search that can skip",
        suspects,
        (
            "Which patches between good and bad are still worth a trial? Those that haven't been "
            "skipped. What if none is left?",
            "Keep a set of skipped numbers. While there are untried ones between good and bad, try "
            "the one in the middle of those. At the end, everything after good, up to and "
            "including bad, is a suspect.",
        ),
        because="A skipped patch says nothing, so it stays a suspect as long as it's between the "
        "last good one and the first bad one. All others there have been tried.",
    ),
    Exercise(
        "11.12",
        "contributing-place",
        "Mend it",
        place,
        (
            "Which of a view's four attributes does the patch's line use, and which did the line "
            "that it replaced?",
            "One step down is view.strides[0] cells further in the list, one step to the right "
            "view.strides[1]. For a flipped view that's -1.",
        ),
        because="The number of columns is only the distance between rows as long as nobody has "
        "cropped or swapped anything, and + j is only one to the right as long as nobody has "
        "flipped anything. Strides are there to know both.",
    ),
    Exercise(
        "11.13",
        "contributing-review",
        "Eight faults",
        marked,
        (
            "Ask each line: is it needed for what the title says? Is what it claims true? For "
            "which input would it be wrong? What would have to happen for this test to fail?",
            "There's a new dependency, an unrelated change, a default value that remembers, a "
            "docstring about columns, a dtype that can't hold 256 squared, a gradient without its "
            "n, an exception that disappears, and a test that compares something with itself.",
        ),
        because="Five of them pass every test, as one of the eight is that the test can't fail.",
    ),
    Exercise(
        "11.14",
        "contributing-test",
        "The test that was missing",
        test_of_rms,
        (
            "What's the rms of 3 and 4, worked out by hand? Of 300 and 400? Of an array that was "
            "changed in place since? And how would you measure a slope without a formula?",
            "A square root is rounded, so use np.allclose. For the gradient: move one element of x "
            "by a little, and see by how much rms moves; or work out one case on paper. Try a row "
            "of large numbers, two different rows, and the same array twice, with other numbers.",
        ),
        because="A number worked out by hand is independent of the code. One large input, one "
        "array that changes, and one slope measured, and there's nowhere left to hide.",
        seconds=20,
    ),
    Exercise(
        "11.15",
        "contributing-gradient",
        "The gradient",
        gradient,
        (
            "rms is the root of m, where m is the mean of x * x. The derivative of the root is "
            "1 / (2 * root). What's that of m with respect to one element?",
            "It's 2 * x / n, so together x / (n * root). grad has an axis less than x: "
            "grad[..., None] gives it one. For a row of zeros, divide by 1e-30 rather than by 0.",
        ),
        because="The derivative of the root is 1 / (2 * root), that of the mean of squares is "
        "2 * x / n, and the product is x / (n * root), times what flows in, row by row.",
    ),
    Exercise(
        "11.16",
        "contributing-plan",
        "An issue of your own",
        plan,
        (
            "Run the snippet of the issue that you like best. What would you want it to print "
            "instead?",
            "Write that as asserts, without try: `assert t.sum(dim=0).tolist() == [3, 3]`, say. "
            "Look at what's below Done when, and make an assert of each sentence that can be one.",
        ),
        because="A test that fails today and will pass then is the clearest thing that can be said "
        "about what's wanted. It's also the first thing that a reviewer runs.",
        seconds=30,
    ),
)
