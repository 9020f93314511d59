"""What a check of mini is, and what becomes of it.

    @promise("It steps over whole rows")
    def rows(mini):
        expect("flat((1, 2), (3, 4))", mini.flat((1, 2), (3, 4)), 6, {5: "You multiplied by …"})

A check is given everything that the stages define, and raises `Wrong` with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from classroom.exercise import Wrong, wrong_if

SECONDS = 5.0  # for one check
LONGEST = 160  # characters of an answer that are shown
CLOSE = 1e-5  # a part of a number: what 32 bits round, once, is 100 times smaller
EXACT = 1e-6  # for a single operation or two, so that 0.6931 is no logarithm of 2


@dataclass(frozen=True)
class Check:
    """What a function of the learner's has to do.

    promise: a sentence on what is checked, which stands beside ✓ or ✗.
    function: is given everything that the stages define; raises Wrong.
    needs: the other functions of this stage that have to work first.
    told: the sentence for an error of a kind: {RecursionError: "…"}; OutOfTime and MemoryError too.
    of: the function, which the file is about.
    """

    promise: str
    function: Callable[[Any], None]
    needs: tuple[str, ...] = ()
    told: tuple[tuple[type[BaseException], str], ...] = ()
    seconds: float = SECONDS
    of: str = ""


def promise(
    text: str,
    needs: tuple[str, ...] = (),
    told: dict[type[BaseException], str] | None = None,
    seconds: float = SECONDS,
) -> Callable[[Callable[[Any], None]], Check]:
    """Make a check of a function."""
    return lambda function: Check(text, function, needs, tuple((told or {}).items()), seconds)


@dataclass(frozen=True)
class Result:
    """What became of one check. state: "right", "wrong", "open" (something that it needs is not
    written), or "waits" (something that it needs fails); then `text` names what, if it is not the
    function itself."""

    of: str
    promise: str
    state: str
    text: str = ""
    rows: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Verdict:
    """All results of a stage. trouble: why there are none, with rows; unwritten: what is open."""

    stage: str
    results: tuple[Result, ...] = ()
    unwritten: tuple[str, ...] = ()
    trouble: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    printed: str = ""

    @property
    def passed(self) -> int:
        return sum(result.state == "right" for result in self.results)

    @property
    def failed(self) -> list[Result]:
        return [result for result in self.results if result.state == "wrong"]

    @property
    def state(self) -> str:
        """ "right", "wrong" or "open", as of an exercise."""
        if self.trouble or self.failed:
            return "wrong"
        return "right" if self.passed == len(self.results) else "open"

    def upto(self, function: str) -> Verdict:
        """The verdict on a stage's functions up to this one, in the order of their checks."""
        names = list(dict.fromkeys(result.of for result in self.results))
        kept = names[: names.index(function) + 1] if function in names else names
        return replace(
            self,
            results=tuple(result for result in self.results if result.of in kept),
            unwritten=tuple(name for name in self.unwritten if name in kept),
        )

    @property
    def reason(self) -> str:
        """Why this stage cannot be used; "" if it can."""
        if self.state == "right":
            return ""
        if self.trouble:
            return f"yours does not run: check_mini({self.stage}) says why"
        if self.failed:
            return f"a check of `{self.failed[0].of}` fails"
        return f"{listed(self.unwritten)} {'is' if len(self.unwritten) == 1 else 'are'} still open"


def listed(names: tuple[str, ...]) -> str:
    """`a`, `b` and `c`; of more than three the first two and how many there are beside."""
    quoted = [f"`{name}`" for name in names]
    if len(names) > 3:
        quoted[2:] = [f"{len(names) - 2} more"]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if quoted[1:] else quoted)


# ---- what checks are made of ---------------------------------------------------------------------


def expect(said: str, got: Any, wanted: Any, mistakes: dict[Any, str] | None = None) -> None:
    """Wrong unless this is what was wanted, of the same type, or of NumPy's type for it.

    said: the call as it would be typed. mistakes: {a wrong result: what was done to get it}.
    """
    if is_alike(got, wanted) and got == wanted:
        return
    text = f"{said} should be {describe(wanted)}, and it is {describe(got)}."
    if got is None:
        text = f"{said} returns nothing. Is there a `return`?"
    elif type(got) is type(wanted) and got == wanted:
        text = f"{said} should be made of whole numbers, and it is {describe(got)}."
    elif type(got) is not type(wanted):
        text = f"{said} should be of type {type(wanted).__name__}, not {type(got).__name__}."
    for mistake, sentence in (mistakes or {}).items():
        if type(got) is type(mistake) and got == mistake:
            text = sentence
    raise Wrong(text, said, repr(wanted), describe(got))


def is_alike(got: Any, wanted: Any) -> bool:
    """Whether this is of the wanted type. NumPy's whole numbers are as good as Python's; what is in
    a tuple or a list counts too."""
    if isinstance(wanted, (tuple, list)) and type(got) is type(wanted):
        return len(got) != len(wanted) or all(map(is_alike, got, wanted))
    if type(wanted) is int:
        return type(got) is int or isinstance(got, np.integer)
    return type(got) is type(wanted)


def expect_values(
    said: str,
    got: Any,
    wanted: np.ndarray,
    mistakes: tuple[tuple[Any, str], ...] = (),
    within: float = CLOSE,
) -> None:
    """Wrong unless an array has this shape and, up to this part of each, these values."""
    wrong_if(got is None, f"{said} gives nothing. Is there a `return`?", said)
    values = np.asarray(got)
    if is_close(values, wanted, within):
        return
    text = difference(values, np.asarray(wanted), within)
    for mistake, sentence in mistakes:
        if is_close(values, mistake, 10 * CLOSE):
            text = sentence
    raise Wrong(text, said, shown(np.asarray(wanted)), shown(values))


def is_close(values: Any, wanted: Any, within: float = CLOSE) -> bool:
    """Whether two arrays have one shape and, up to this part of each, the same values."""
    is_one_shape = np.shape(values) == np.shape(wanted)
    return is_one_shape and np.allclose(values, wanted, rtol=within, atol=within, equal_nan=True)


def difference(values: np.ndarray, wanted: np.ndarray, within: float = CLOSE) -> str:
    """The first thing in which an array differs from the one that was wanted."""
    if values.shape != wanted.shape:
        return f"The shape should be {wanted.shape}, and it is {values.shape}."
    if is_close(values, -wanted):
        return "The sign is wrong."
    if is_close(values, wanted, 100 * within):
        return (
            "Nearly, but not as close as 32 bits get. Is there a constant with too few digits in "
            "it? `math` has them all."
        )
    differs = ~np.isclose(values, wanted, rtol=within, atol=within, equal_nan=True)
    place = tuple(int(i) for i in np.argwhere(differs)[0])
    which = f"Element {place}" if place else "It"
    return f"{which} should be {wanted[place]:.7g}, and it is {values[place]:.7g}."


def shown(values: np.ndarray) -> str:
    return describe(np.round(np.asarray(values, float), 6).tolist())


def describe(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"
