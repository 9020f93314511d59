"""An exercise is a row of a table; a check says what an answer is worth.

    Exercise("4.5", "two-kernels", "Two kernels", check=two_kernels, hints=("…", "…"))

A check is given the answer. It raises `Wrong` (never with the solution in it) or `Open`, or returns
a sentence on what a right answer shows, unless that is always the same one (`right`). `judge` calls
it with a limit on time, so that an answer which raises, loops or has the wrong type becomes a
sentence too. The learner's `check` and the grader both call `judge`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

from classroom.frames import learners_lines
from classroom.limit import OutOfTime, time_limit
from tinyframe import Context, Tensor
from tinyframe.tensor.random import Random
from tinyframe.uop import UOp

State = Literal["right", "wrong", "open"]


@dataclass(frozen=True)
class Graphs:
    """The learner's graph and the one that was asked for. names: what some nodes are called."""

    got: UOp
    asked: UOp
    names: dict[str, Tensor]


class Wrong(Exception):
    """The answer is wrong: a sentence that says how, and the case that shows it.

    expected, got: shown where they look different, since long lists are cut. more: further rows of
    (label, value). graphs: where a different graph was asked for, the two of them, which are drawn
    side by side.
    """

    def __init__(
        self,
        text: str,
        case: str = "",
        expected: Any = "",
        got: Any = "",
        *,
        more: tuple[tuple[str, str], ...] = (),
        graphs: Graphs | None = None,
    ):
        super().__init__(text)
        self.graphs = graphs
        named = {"case": case, "expected": expected, "got": got}
        if str(expected) == str(got):
            named = {"case": case}
        shown = [(name, str(value)) for name, value in named.items() if str(value) != ""]
        self.rows = (*shown, *more)


def wrong_if(is_so: object, text: str, *rows: Any, **more: Any) -> None:
    """Raise Wrong, with this sentence and whatever else Wrong takes, if something is so.

    The sentence is made in either case. One that says what only then is there takes an `if`.
    """
    if is_so:
        raise Wrong(text, *rows, **more)


class Open(Exception):
    """There is no answer yet; a sentence on what is missing, or nothing to say."""


@dataclass(frozen=True)
class Exercise:
    """One exercise of a part.

    name: what progress is kept under; it stays when an update of the course moves the number, and
        changes when it becomes a different exercise.
    shown_by: of a prediction, the place that shows what really happens ("the next cell").
    because: why the right answer is right. For a prediction it is shown, folded, once a guess has
        been made; for any other exercise it stands beside the worked answer.
    right: what a right answer is told where the check returns nothing.
    seconds: how long a check may take.
    hints_first: whether the worked answer can be looked at only after the hints.
    """

    number: str
    name: str
    title: str
    check: Callable[[Any], str | None]
    hints: tuple[str, ...]
    shown_by: str = ""
    because: str = ""
    right: str = ""
    seconds: float = 10.0
    hints_first: bool = False

    @property
    def part(self) -> int:
        return int(self.number.split(".")[0])


@dataclass(frozen=True)
class Outcome:
    """What a check found: `rows` are (label, value) of the case that went wrong, `graphs` what is
    drawn of it."""

    exercise: Exercise
    state: State
    text: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    graphs: Graphs | None = None


def judge(exercise: Exercise, answer: Any) -> Outcome:
    """What this answer is worth. Only KeyboardInterrupt gets out of here."""
    if is_untouched(answer):
        return Outcome(exercise, "open")
    try:
        # Whatever the learner has set: a check is quiet, and does not search.
        with time_limit(exercise.seconds), Context(DEBUG=0, BEAM=0), _own_random_numbers(exercise):
            return Outcome(exercise, "right", exercise.check(answer) or exercise.right)
    except Open as nothing:
        return Outcome(exercise, "open", str(nothing))
    except Wrong as wrong:
        return Outcome(exercise, "wrong", str(wrong), wrong.rows, wrong.graphs)
    except OutOfTime as stopped:
        text = f"Stopped after {exercise.seconds:g} seconds."
        text += " Run it again." if exercise.shown_by else " Is there a loop that never ends?"
        return _unfinished(exercise, text, stopped)
    except KeyboardInterrupt as stopped:  # by the learner, who need not see the way through here
        where = "".join(f", in your line {line}" for _, line in _place(stopped.__traceback__))
        raise KeyboardInterrupt(f"you stopped the check of {exercise.number}{where}") from None
    except (Exception, SystemExit) as error:
        name, words = type(error).__name__, " ".join(str(error).split())
        words = words if len(words) <= 300 else words[:300] + " …"
        who = "Checking this" if exercise.shown_by else "Your answer"
        text = f"{who} raised {name}: {words}" if words else f"{who} raised {name}."
        return _unfinished(exercise, text, error)


def _unfinished(exercise: Exercise, text: str, error: BaseException) -> Outcome:
    """What an error or the limit on time comes to: of a guess, nothing is known then."""
    state: State = "open" if exercise.shown_by else "wrong"
    return Outcome(exercise, state, text, _place(error.__traceback__))


@contextmanager
def _own_random_numbers(exercise: Exercise) -> Iterator[None]:
    """What a check draws at random takes nothing from the learner's own random numbers. And what it
    draws by `random` is the same each time: an answer has one verdict, and its kernels are in the
    cache the next time."""
    before, learners = (Random._key, Random._counter), random.getstate()
    random.seed(exercise.name)
    try:
        yield
    finally:
        Random._key, Random._counter = before
        random.setstate(learners)


def is_untouched(answer: Any) -> bool:
    """Whether this is what the learner's version begins with: `...`, or nothing at all."""
    if isinstance(answer, (tuple, list)):
        return any(item is ... for item in answer)
    if isinstance(answer, dict):
        return any(item is ... for item in answer.values())
    return answer is None or answer is ...


def _place(traceback: TracebackType | None) -> tuple[tuple[str, str], ...]:
    """The learner's own line that was running, as a row; none where there is no such line."""
    lines = [*learners_lines(traceback)]
    if not lines:
        return ()
    number, text, _ = lines[-1]
    return (("your line", f"{number}: `{text}`" if text else str(number)),)
