"""No text near a prediction gives it away.

The text after a prediction is on the same screen as the guess. So it may not contain the answer,
unless that is folded, up to the next exercise or heading, or to the cell after the one that shows
what happens:

    <details><summary>What happened</summary> … </details>
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from classroom.exercises import exercises
from classroom.guesses import Prediction
from tests.course.test_notebooks import every_part, part_of, read

PREDICTS = re.compile(r'^predict\("(\d+\.\d+)"', re.MULTILINE)
CHECKS = re.compile(r'^check\("', re.MULTILINE)
# Here the text is about something new.
NEW_SUBJECT = re.compile(r"^#+ |\*\*Exercise \d", re.MULTILINE)
NEAR = 1  # cells to be run between a guess and what may give the answer: the one that shows it
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
UNNUMBERED = re.compile(r"\*Predict\b[^*]*\*")

WORDS = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten",
         11: "eleven", 12: "twelve", 16: "sixteen", 20: "twenty", 60: "sixty",
         61: "sixty-one"}  # fmt: skip
NOTHING = re.compile(
    r"\bNone\b|\bnone (of (it|them)|has|have|ran)\b|\b[Nn]othing (has |had )?(run|ran)\b"
    r"|\b([Nn]o|[Nn]ot a single) kernels? (has |have |had )?(run|ran)\b"
)


def texts_after_predictions(cells: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """(number, the text that can be seen after it) of each prediction of a notebook."""
    for place, cell in enumerate(cells):
        if cell["cell_type"] == "code" and (found := PREDICTS.search("".join(cell["source"]))):
            yield found[1], _seen(cells[place + 1 :])


def _seen(cells: Sequence[Any]) -> str:
    """The text of these cells, unfolded, as far as it is near."""
    seen: list[str] = []
    run = 0
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            run += 1
            if run > NEAR or PREDICTS.search(source) or CHECKS.search(source):
                break
            continue
        end = NEW_SUBJECT.search(source)
        seen.append(FOLDED.sub("", source[: end.start()] if end else source))
        if end:
            break
    return "\n".join(seen)


def given_away(value: Any, text: str) -> str:
    """What in a text is the answer; "" where nothing is, as far as that can be told."""
    if isinstance(value, tuple):
        return _sequence(value, text) or _all_of(value, text)
    if value == 0 and not isinstance(value, bool):
        found = NOTHING.search(text)
        return found[0] if found else ""
    return _all_of((value,), text)


def _sequence(value: tuple, text: str) -> str:
    """(1, 2) as `1, 2`, `1` and `2` or 1 2."""
    between = r"[`'\",\s]*(?:\band\b)?[`'\",\s]*"
    found = re.search(between.join(map(_token, value)), text)
    return found[0] if found and len(value) > 1 else ""


def _all_of(values: tuple, text: str) -> str:
    """All the numbers above 2: smaller ones, and words, are everywhere."""
    telling = [v for v in dict.fromkeys(values) if type(v) in (int, float) and v > 2]
    found = [match[0] for v in telling if (match := re.search(_token(v), text))]
    return ", ".join(found) if found and len(found) == len(telling) else ""


def _token(value: Any) -> str:
    """A pattern of a value that stands by itself: 5000, 5,000; 61, sixty-one."""
    forms = [re.escape(str(value))]
    if type(value) is int:
        word = WORDS.get(value, "")
        forms += [f"{value:,}", *([word, word.capitalize()] if word else [])]
    return rf"(?<![\w.,-])(?:{'|'.join(forms)})(?!\w|[.,-]\w)"


def unfolded_explanations(cells: Sequence[Any]) -> list[str]:
    """The beginnings of texts that explain an unnumbered *Predict* and are not folded."""
    found = []
    for place, cell in enumerate(cells):
        source = "".join(cell["source"])
        unnumbered = UNNUMBERED.search(source) if cell["cell_type"] == "markdown" else None
        if unnumbered is None:
            continue
        rest = cells[place + 1 :]
        while rest and rest[0]["cell_type"] == "code":
            rest = rest[1:]
        text = "".join(rest[0]["source"]) if rest else ""
        if text and not NEW_SUBJECT.match(text) and "<details>" not in text:
            found.append(f"{' '.join(source[unnumbered.start() :].split())[:60]} … {text[:60]!r}")
    return found


@every_part
def test_no_text_near_a_prediction_gives_it_away(path):
    by_number = {exercise.number: exercise for exercise in exercises(part_of(path))}
    for number, text in texts_after_predictions(read(path)["cells"]):
        check = by_number[number].check
        if isinstance(check, Prediction):
            found = given_away(check.value, text)
            assert not found, (
                f"{number}: the text after it says {found!r}, which is the answer. Put that into "
                "`because`, or fold it: <details><summary>What happened</summary> … </details>"
            )


@every_part
def test_what_explains_an_unnumbered_prediction_is_folded(path):
    found = unfolded_explanations(read(path)["cells"])
    assert not found, "fold what explains these:\n" + "\n".join(found)


def test_a_text_that_gives_a_prediction_away_is_found():
    def cell(kind, source):
        return {"cell_type": kind, "source": source}

    cells = [
        cell("code", 'n = ...\npredict("4.3", n)'),
        cell("code", "print(n)"),
        cell("markdown", "SAID\n\n<details><summary>What happened</summary>\n\n61\n\n</details>"),
        cell("markdown", "More.\n\n**Exercise 4.4.** Not 61, 17."),
        cell("markdown", "After."),
    ]
    ((number, text),) = texts_after_predictions(cells)
    assert number == "4.3" and "SAID" in text and "More." in text
    assert not re.search("61|17|After", text)


@pytest.mark.parametrize(
    "value, says",
    [
        (61, "There are 61."), (61, "Sixty-one nodes."), (5000, "It is 5,000."), (8, "**8 MB**"),
        (0, "None. A plan holds"), (0, "None of them ran."), ((1, 2), "That is 1 and 2."),
        ((24, 8), "First 24 MB, then 8 MB."), ((1, 1, 2), "So (1, 1, 2)."), ((2, 1), "`2, 1`"),
        (("int", "half"), "They are `int` and `half`."),
    ],
)  # fmt: skip
def test_an_answer_is_recognized(value, says):
    assert given_away(value, says)


@pytest.mark.parametrize(
    "value, says",
    [
        (61, "It has 161 or 6.61 or 61.5 or 61-fold."), (2, "Two ways, 2 of them."),
        (0, "0 kernels."), ((24, 8), "Only 24."), ((1, 2), "2 and 1"),
        (("int", "half"), "An `int`."), (True, "True"), (60, "a 60x60 table"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_none(value, says):
    assert not given_away(value, says)


def test_what_comes_two_cells_later_is_not_near():
    sources = ('predict("1.6", n)', "text 1", "run()", "text 2", "run()", "It is 61.")
    kinds = [*("code", "markdown") * 3]
    cells = [{"cell_type": k, "source": s} for k, s in zip(kinds, sources, strict=True)]
    ((_, text),) = texts_after_predictions(cells)
    assert "text 2" in text and "61" not in text


def test_an_unnumbered_prediction_that_is_not_folded_is_found():
    def cells(after):
        sources = ("*Predict*, for each line.", "f()", after)
        kinds = ("markdown", "code", "markdown")
        return [{"cell_type": k, "source": s} for k, s in zip(kinds, sources, strict=True)]

    assert unfolded_explanations(cells("It is 3."))
    assert not unfolded_explanations(cells("<details><summary>What happened</summary>3</details>"))
    assert not unfolded_explanations(cells("## A new section\n\nText."))
