"""Every planted answer gets the verdict that stands above it.

`answers/07a_rules/rules-bounds.py` has those to one exercise, puzzle or function of mini, under the
name that it keeps when numbers move. It is Python in cells:

    # %% shared                      what the answers below have in common
    # %% wrong, each line            one expression a line; ends with `# says …`, or with the reason
    # %% right: Horner's rule        statements in place of what the learner's cell has, or of a
                                     function of mini; an expression as last line is the answer
    # %% asked again                 recorded as nothing: not written yet, or no answer to this
    # %% guesses                     a tuple: the right guess first, then others

`# says …` is text that the learner is told. Anything else behind a verdict is the reason for it:
**write both before you run it**. Where a row fails then, the check is unfair or was fooled (mend
the check), or the exercise wasn't read well enough (say so in the reason).

Every refusal of a check, a `raise Wrong(…)`, is what some answer is told.

An answer is judged as the learner's cell is: in the worked notebook, after the cells above it, with
that notebook's imports and no others. A function of mini takes the place of the worked one, and the
first check of the stage that fails decides.
"""

from __future__ import annotations

import ast
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import classroom
from classroom.exercises import exercises, parts, puzzles
from classroom.mini import stages
from tests.classroom.as_learner import NOTEBOOKS, Answer, Told, run
from tests.classroom.raised import LABEL, refusals
from tests.mini.judged import verdicts
from tests.mini.planted import owner, paths_with, with_function

VERDICTS = {"open": "asked again"}
FOLDER = Path(__file__).parent / "answers"
CHECKS = Path(classroom.__file__).parent
HEAD = re.compile(r"(shared|guesses|right|wrong|asked again)(, each line)?(?:: (.+))?")
EXERCISES = {e.name: e.number for part in parts() for e in exercises(part)}
NUMBERS = EXERCISES | {puzzle.name: puzzle.number for puzzle in puzzles()}


class Row(NamedTuple):
    """An answer, the verdict that it should get, and why. source: with what it shares before it."""

    verdict: str
    why: str
    source: str


def rows_of(path: Path) -> list[Row]:
    """The answers of a file."""
    shared, rows = "", []
    before, *cells = re.split(r"(?m)^# %% ", path.read_text())
    assert not before, f"{path}: what stands before the first cell is in none"
    for cell in cells:
        head, _, body = cell.partition("\n")
        said = HEAD.fullmatch(head)
        assert said and body.strip(), f"{path}: {head!r} is no head of a cell with something in it"
        kind, each_line, why = said[1], said[2], said[3] or ""
        if kind == "shared":
            shared += body
        elif kind == "guesses":
            guesses = ast.parse(body.strip(), mode="eval").body.elts
            rows += [
                Row("right" if n == 0 else "no longer right", "a guess", ast.unparse(guess))
                for n, guess in enumerate(guesses)
            ]
        elif each_line:
            for line in filter(str.strip, body.splitlines()):
                source, _, reason = line.rpartition("  # ")
                rows.append(Row(kind, reason if source else "", shared + (source or line)))
        else:
            rows.append(Row(kind, why, shared + body))
    return rows


ROWS = {
    f"{path.parent.name}/{path.stem}-{number}": (path, row)
    for path in sorted(FOLDER.glob("*/*.py"))
    for number, row in enumerate(rows_of(path), 1)
}
FOLDERS = sorted({path.parent.name for path, _ in ROWS.values()})
PARTS = {folder if folder.startswith("mini_") else folder[:2] for folder in FOLDERS}


@cache
def told_in(folder: str) -> dict[str, Told]:
    """What the answers of a notebook, or of a stage of mini, are told."""
    rows = {key: row for key, row in ROWS.items() if row[0].parent.name == folder}
    if folder.startswith("mini_"):
        return told_by_mini(stages.find(folder.removeprefix("mini_")), rows)
    return run(
        NOTEBOOKS / f"{folder}.ipynb",
        [Answer(key, NUMBERS[path.stem], row.source) for key, (path, row) in rows.items()],
    )


def told_by_mini(stage: stages.Stage, rows: dict[str, tuple[Path, Row]]) -> dict[str, Told]:
    with tempfile.TemporaryDirectory() as name:
        files = []
        for number, (path, row) in enumerate(rows.values()):
            file = Path(name) / str(number) / stage.file
            file.parent.mkdir()
            file.write_text(with_function(stage.reference.read_text(), path.stem, row.source))
            files.append(paths_with(stage, file))
        found = verdicts(stage, files)
    told = {}
    for (key, (path, _)), verdict in zip(rows.items(), found, strict=True):
        failed = verdict.failed[0] if verdict.failed else None
        text = failed.text if failed else verdict.trouble or f"unwritten: {verdict.unwritten}"
        if failed:
            text = " ".join([text, *[f"{label} {value}" for label, value in failed.rows]])
        if failed and failed.of != owner(path.stem, stages.asked(stage)):
            text = f"{failed.of} is wrong: {text}"
        told[key] = Told(VERDICTS.get(verdict.state, verdict.state), text)
    return told


@pytest.mark.parametrize("key", ROWS)
def test_an_answer_gets_its_verdict(key: str) -> None:
    path, row = ROWS[key]
    told = told_in(path.parent.name)[key]
    wanted = {"wrong", "asked again"} if row.verdict == "no longer right" else {row.verdict}
    words = f"{row.verdict.upper()} ({row.why}), but {told.verdict}: {told.text}\n{row.source}"
    assert told.verdict in wanted, words
    if row.why.startswith("says "):
        assert row.why.removeprefix("says ") in told.text, words


@pytest.mark.parametrize("part", sorted(PARTS), ids="{}/refusals".format)
def test_every_refusal_is_reached(part: str) -> None:
    """Those of a part's own files; what several parts share (ask.py, guesses.py) is nobody's."""
    if part.startswith("mini_"):
        files, folders = [CHECKS / f"mini/checks/part{part.removeprefix('mini_')}.py"], [part]
    else:
        files = [*CHECKS.glob(f"exercises/*_{part}*.py")]
        folders = [folder for folder in FOLDERS if folder.startswith(part)]
    told = [answer.text for folder in folders for answer in told_in(folder).values()]
    reached = {place for text in told for place in re.findall(rf"{LABEL} (\S+)", text)}
    checks = {place: text for file in files for place, text in refusals(file).items()}
    unreached = [f"{place} {text}" for place, text in checks.items() if place not in reached]
    assert checks and not unreached, "\n".join(["no answer is told:", *unreached])


def test_every_exercise_and_every_function_of_mini_has_answers_and_none_is_there_twice() -> None:
    of_mini = {f"mini_{stage.name}": stages.asked(stage) for stage in stages.STAGES}
    answered: dict[str, set[str]] = {folder: set() for folder in of_mini}
    seen: dict[tuple[Path, str], str] = {}
    for key, (path, row) in ROWS.items():
        folder, name = path.parent.name, path.stem
        asked = of_mini.get(folder)
        answered.setdefault(folder, set()).add(owner(name, asked) if asked else name)
        same = path, ast.dump(ast.parse(row.source))
        assert same not in seen, f"{key} is {seen[same]} again"
        seen[same] = key
    for folder, functions in of_mini.items():
        assert answered.pop(folder) == {*functions}
    names = {name for notebook in answered.values() for name in notebook}
    assert EXERCISES.keys() <= names <= NUMBERS.keys()
