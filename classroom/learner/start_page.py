"""START.md, the page that JupyterLab opens on: the map of the course, and how far the learner is.

Everything in it is read from the files of the learner's copy: a part's title and time from the head
of its notebook, its exercises from its cells, a project from its docstring. So a part that is added
to the course is on the map by itself. The page is written at each start and whenever an exercise is
done.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from classroom.exercise import Exercise
from classroom.exercises import find
from classroom.learner.record import FILE, Counts, Record, counts, parse
from classroom.pages import filled
from classroom.written import written

PAGE = "START.md"
ASKED = re.compile(r'^\w+\("(\d+\.\d+)"', re.MULTILINE)  # check("4.3", …), predict, hint …
MINI_CHECKED = re.compile(r"^check_mini\(\W*(\w+)", re.MULTILINE)
PUZZLE = re.compile(r'^puzzle\("(\w+)"', re.MULTILINE)
BESIDE = ("GLOSSARY.md", "gallery.ipynb")  # what else is in course/, where it's there


@dataclass(frozen=True)
class Part:
    """One notebook on the map, with its exercises in order, and the stages of mini it checks.

    places: the id of the cell above the first that asks for an exercise, by its number.
    """

    path: Path
    title: str
    minutes: int
    exercises: tuple[Exercise, ...]
    stages: tuple[str, ...]
    places: dict[str, str]


def write(folder: Path) -> None:
    """Write the page of the copy in this folder, where it is not there or no longer true."""
    page, text = folder / PAGE, page_text(folder)
    if not page.is_file() or page.read_text() != text:
        written(page, text)


def page_text(folder: Path) -> str:
    from classroom.portfolio.projects import described_in

    record, parts = _record(folder), _parts(folder)
    given = _given(folder)
    projects = list(described_in(given / "projects"))
    hours = sum(part.minutes for part in parts) / 60
    for_projects = sum(project.hours for project in projects)
    return filled(
        "START.txt", next=_next(parts, record), parts=list(_map(folder, parts, record)),
        hours=f"{hours:.0f}", stages=list(_stages(folder, record)),
        projects=[(project, project.file.relative_to(given), project.place.relative_to(given))
                  for project in projects],
        with_projects=f"{hours + for_projects:.0f}" if for_projects else "",
        beside=[name for name in BESIDE if (folder / "course" / name).is_file()],
    )  # fmt: skip


def _record(folder: Path) -> Record:
    """What has been done. If the file makes no sense, record.py deals with that, and not a page."""
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
        return parse((folder / FILE).read_text())
    return {}


def _given(folder: Path) -> Path:
    """Where the files are as they were given: small, and whole, whatever the learner does."""
    originals = folder / ".originals"
    return originals if originals.is_dir() else folder


def _parts(folder: Path) -> list[Part]:
    """The notebooks NN_name.ipynb of the copy, in order."""
    found = []
    for path in sorted((_given(folder) / "course").glob("[0-9][0-9]*.ipynb")):
        with suppress(ValueError, LookupError, TypeError, AttributeError):
            name = path.relative_to(_given(folder))
            found.append(_part(name, path.read_bytes()))
    return found


def _part(name: Path, notebook: bytes) -> Part:
    sources = _sources(notebook)
    ids = zip((cell["id"] for cell in json.loads(notebook)["cells"]), sources, strict=True)
    title = re.search(r"^# (.+)$", sources[0], re.MULTILINE)
    minutes = re.search(r"About (\d+) minutes(?:, and (?:then )?(\d+) more)?", sources[0])
    return Part(
        name,
        title[1].strip() if title else name.stem,
        sum(int(given or 0) for given in minutes.groups()) if minutes else 0,
        tuple(_exercises(sources)),
        tuple(dict.fromkeys(MINI_CHECKED.findall("\n".join(sources)))),
        # the text above the cell has the question
        {
            number: above
            for (above, _), (_, text) in reversed([*pairwise(ids)])
            for number in ASKED.findall(text)
        },
    )


def _sources(notebook: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(notebook)["cells"]]


def _exercises(sources: list[str]) -> Iterator[Exercise]:
    """The exercises and puzzles of a notebook, in order."""
    text = "\n".join(sources)
    puzzles = dict.fromkeys(PUZZLE.findall(text))
    for number in dict.fromkeys(ASKED.findall(text)):
        with suppress(LookupError):  # a notebook from before an update
            yield find(number)
    if puzzles:
        from classroom.puzzlebook.game import by_name, exercise_of

        yield from (exercise_of(by_name()[name]) for name in puzzles if name in by_name())


def recorded(folder: Path, name: Path, content: bytes) -> list[str]:
    """Under which names progress in this file of the copy is kept, if there is any (record.py)."""
    record = _record(folder)
    if name.parts[0] == "mini":  # a stage, and each of its functions
        stage = name.stem.replace("part", "mini-")
        return [each for each in record if each == stage or each.startswith(f"{stage}-")]
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        return [e.name for e in _exercises(_sources(content)) if e.name in record]
    return []


def _next(parts: list[Part], record: Record) -> dict[str, Any]:
    """Where to go on; nothing where all is done. Nobody is sent back to a puzzle."""
    for part in parts:
        far = counts(part.exercises, record)
        if numbers := [e.number for e in far.still if "." in e.number]:
            is_begun = far.done > 0
            return {"part": part, "is_first": part is parts[0], "is_begun": is_begun,
                    "number": numbers[0],
                    "cell": part.places[numbers[0]] if is_begun else ""}  # fmt: skip
    return {}


def _map(
    folder: Path, parts: list[Part], record: Record
) -> Iterator[tuple[Part, Counts, list[str]]]:
    """Each part: how far its exercises are, its games, and the stages of mini that it finishes."""
    ends = {name: part for part in parts for name in part.stages}  # a stage of two notebooks: once
    for part in parts:
        stages = [name for name in part.stages if ends[name] is part]
        mini = "mini, stage {}" if len(stages) > 1 else "mini"
        said = {name: _mini(folder, name, record) for name in stages}
        beside = [f"{mini.format(name)}: {text}" for name, text in said.items() if text]
        yield part, counts(part.exercises, record), [*_scores(part, record), *beside]


def _scores(part: Part, record: Record) -> Iterator[str]:
    """A learner's score in each game of a part, beside its par: "matmul golf: 6 opts, par 9"."""
    from classroom.puzzlebook.game import exercise_of, games, total

    names = {exercise.number for exercise in part.exercises}
    for game in games():
        entries = [(p, record.get(exercise_of(p).name, {})) for p in game.puzzles]
        counted = [(p, entry["score"]) for p, entry in entries if "score" in entry]
        if counted and counted[0][0].name in names:
            scores, pars = [score for _, score in counted], [p.par_here for p, _ in counted]
            of = f"{len(counted)} of {len(entries)} done, " if len(entries) > 1 else ""
            yield f"{game.title}: {of}{total(scores)} {game.unit}, par {total(pars)}"


def _stages(folder: Path, record: Record) -> Iterator[tuple[str, str, str, str]]:
    """Each stage of mini: its file, the way there, what it is about, and how far it is."""
    from classroom.mini.stages import STAGES
    from classroom.portfolio.projects import docstring

    known = {stage.file for stage in STAGES}
    paths = (_given(folder) / "mini").glob("part*.py")
    for path in sorted(p for p in paths if p.name in known):
        about = docstring(path).split("\n")[0].partition(": ")[2]
        name = path.relative_to(_given(folder)).as_posix()
        said = _mini(folder, path.stem.removeprefix("part"), record)
        yield path.name, name, about[:1].upper() + about[1:], said


def _mini(folder: Path, name: str, record: Record) -> str:
    """How far a learner is with a stage: whether it has passed, what is written, what was looked
    up."""
    from classroom.mini import stages

    with suppress(LookupError):
        stage = stages.find(name)
        count = stages.written(stage, folder / "mini")
        said = f"{count[0]} of {count[1]} written" if count else f"{stage.file} doesn't run"
        if count and count[0] == count[1] and record.get(f"mini-{name}", {}).get("done"):
            said = f"✓ all {count[1]} written, all checks pass"
        helped = sum(
            entry.get("helped", False)
            for key, entry in record.items()
            if key.startswith(f"mini-{name}-")
        )
        return said + (f", {helped} looked up" if helped else "")
    return ""
