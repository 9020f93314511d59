"""Every planted answer gets the verdict that stands above it, and worked notebooks print what they
store.

Those to an exercise or a puzzle stand behind its check, in its file in `classroom/lessons/`, those
to a function of mini in `classroom/mini/functions/`. They are Python in cells:

    # %% shared                      what the answers below have in common
    # %% wrong, each line            one expression a line; ends with `# says …`, or with the reason
    # %% right: Horner's rule        statements in place of what the learner's cell has, or of a
                                     function of mini; an expression as last line is the answer
    # %% wrong, changed: why         a function of mini, as the worked one but for these lines (- +)
    # %% asked again                 recorded as nothing: not written yet, or no answer to this
    # %% guesses                     a tuple: the right guess first, then others

Every refusal of a check, a `raise Wrong(…)`, is what some answer is told.

`# says …` is text that the learner is told. Anything else behind a verdict is the reason for it:
**write both before you run it**. Where a row fails then, the check is unfair or was fooled (mend
the check), or the exercise wasn't read well enough (say so in the reason).

An answer is judged as the learner's cell is: in the worked notebook, after the cells above it, with
that notebook's imports and no others. A function of mini takes the place of the worked one, and the
first check of the stage that fails decides.
"""

from __future__ import annotations

import ast
import re
import tempfile
import textwrap
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from classroom.exercise_file import ANSWERS
from classroom.exercises import LESSONS, exercises, order, parts, place_of, puzzles
from classroom.mini import stages
from classroom.mini.helping import FUNCTIONS
from tests.classroom.as_learner import NOTEBOOKS, Answer, Told, run
from tests.classroom.raised import LABEL, refusals
from tests.mini.judged import verdicts
from tests.mini.planted import owner, paths_with, with_function

VERDICTS = {"open": "asked again"}
HEAD = re.compile(r"(shared|guesses|right|wrong|asked again)(, each line|, changed)?(?:: (.+))?")
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
    _, *cells = ANSWERS.split(path.read_text())
    for cell in cells:
        head, _, body = cell.partition("\n")
        said = HEAD.fullmatch(head)
        assert said and body.strip(), f"{path}: {head!r} is no head of a cell with something in it"
        kind, how, why = said[1], said[2], said[3] or ""
        if kind == "shared":
            shared += body
        elif kind == "guesses":
            guesses = ast.parse(body.strip(), mode="eval").body.elts
            rows += [
                Row("right" if n == 0 else "no longer right", "a guess", ast.unparse(guess))
                for n, guess in enumerate(guesses)
            ]
        elif how == ", changed":
            rows.append(Row(kind, why, shared + changed(worked(path), body)))
        elif how:
            for line in filter(str.strip, body.splitlines()):
                source, _, reason = line.rpartition("  # ")
                rows.append(Row(kind, reason if source else "", shared + (source or line)))
        else:
            rows.append(Row(kind, why, shared + body))
    return rows


def worked(path: Path) -> str:
    """The worked function of mini that a file is about."""
    stage = stages.find(path.parent.name.removeprefix("part"))
    functions = stages.functions(stage.reference.read_text())
    return textwrap.dedent(functions[path.stem].source)


def changed(text: str, difference: str) -> str:
    """A text in which the lines after `-` are those after `+`, paragraph by paragraph; lines after
    two blanks only tell where."""
    for paragraph in difference.strip("\n").split("\n\n"):
        lines = paragraph.splitlines()
        old, new = ("\n".join(li[2:] for li in lines if li[0] in kept) for kept in ("- ", "+ "))
        assert text.count(old) == 1, f"{text.count(old)} times in the worked answer: {old}"
        text = text.replace(old, new)
    return text


def files() -> dict[str, Path]:
    """Each file of answers, by its folder (a notebook, or a stage of mini) and its name."""
    found = {
        f"{notebook}/{name}": place_of(notebook, name)
        for notebook, names in order().items() for name in names
    }  # fmt: skip
    of_mini = sorted(FUNCTIONS.glob("*/*.py"))
    return found | {
        f"mini_{f.parent.name.removeprefix('part')}/{f.stem}": f for f in of_mini
        if f.stem != "shared"
    }  # fmt: skip


class Planted(NamedTuple):
    folder: str
    name: str
    row: Row


ROWS = {
    f"{file}-{number}": Planted(*file.split("/"), row)
    for file, path in files().items()
    for number, row in enumerate(rows_of(path), 1)
}

FOLDERS = sorted({folder for folder, _, _ in ROWS.values()})
WORKED = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))


def rows_in(folder: str) -> dict[str, Planted]:
    return {key: planted for key, planted in ROWS.items() if planted.folder == folder}


@cache
def ran(notebook: str) -> tuple[dict[str, Told], list[str]]:
    """What the answers of a notebook are told, and which of its cells differ."""
    rows = rows_in(notebook).items()
    answers = [Answer(key, NUMBERS[name], row.source) for key, (_, name, row) in rows]
    return run(NOTEBOOKS / f"{notebook}.ipynb", answers)


@cache
def told_in(folder: str) -> dict[str, Told]:
    """What the answers of a notebook, or of a stage of mini, are told."""
    if folder.startswith("mini_"):
        return told_by_mini(stages.find(folder.removeprefix("mini_")), rows_in(folder))
    return ran(folder)[0]


@pytest.mark.parametrize("notebook", WORKED, ids="{}/outputs".format)
def test_a_worked_notebook_prints_what_it_stores(notebook: str) -> None:
    _, differs = ran(notebook)
    assert not differs, "\n".join(differs)


def told_by_mini(stage: stages.Stage, rows: dict[str, Planted]) -> dict[str, Told]:
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, (_, name, row) in enumerate(rows.values()):
            file = Path(folder) / str(number) / stage.file
            file.parent.mkdir()
            file.write_text(with_function(stage.reference.read_text(), name, row.source))
            files.append(paths_with(stage, file))
        found = verdicts(stage, files)
    told = {}
    for (key, planted), verdict in zip(rows.items(), found, strict=True):
        failed = verdict.failed[0] if verdict.failed else None
        text = failed.text if failed else verdict.trouble or f"unwritten: {verdict.unwritten}"
        if failed:
            text = " ".join([text, *[f"{label} {value}" for label, value in failed.rows]])
        if failed and failed.of != owner(planted.name, stages.asked(stage)):
            text = f"{failed.of} is wrong: {text}"
        told[key] = Told(VERDICTS.get(verdict.state, verdict.state), text)
    return told


@pytest.mark.parametrize("key", ROWS)
def test_an_answer_gets_its_verdict(key: str) -> None:
    folder, _, row = ROWS[key]
    told = told_in(folder)[key]
    wanted = {"wrong", "asked again"} if row.verdict == "no longer right" else {row.verdict}
    words = f"{row.verdict.upper()} ({row.why}), but {told.verdict}: {told.text}\n{row.source}"
    assert told.verdict in wanted, words
    if row.why.startswith("says "):
        assert row.why.removeprefix("says ") in told.text, words


@pytest.mark.parametrize("folder", FOLDERS, ids="{}/refusals".format)
def test_every_refusal_is_reached(folder: str) -> None:
    """Those of a lesson's own files, or of a stage's; what several share (ask.py, guesses.py) is
    nobody's."""
    kind, _, name = folder.partition("_")
    own = FUNCTIONS / f"part{name}" if kind == "mini" else LESSONS / name
    told = [answer.text for answer in told_in(folder).values()]
    reached = {place for text in told for place in re.findall(rf"{LABEL} (\S+)", text)}
    checks = {place: text for file in own.glob("*.py") for place, text in refusals(file).items()}
    unreached = [f"{place} {text}" for place, text in checks.items() if place not in reached]
    assert not unreached, "\n".join(["no answer is told:", *unreached])


def test_every_exercise_and_every_function_of_mini_has_answers_and_none_is_there_twice() -> None:
    of_mini = {f"mini_{stage.name}": stages.asked(stage) for stage in stages.STAGES}
    answered: dict[str, set[str]] = {folder: set() for folder in of_mini}
    seen: dict[tuple[str, str], str] = {}
    for key, (folder, name, row) in ROWS.items():
        asked = of_mini.get(folder)
        answered.setdefault(folder, set()).add(owner(name, asked) if asked else name)
        same = name, ast.dump(ast.parse(row.source))
        assert same not in seen, f"{key} is {seen[same]} again"
        seen[same] = key
    for folder, functions in of_mini.items():
        assert answered.pop(folder) == {*functions}
    names = {name for notebook in answered.values() for name in notebook}
    assert EXERCISES.keys() <= names <= NUMBERS.keys()
