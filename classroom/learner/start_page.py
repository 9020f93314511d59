"""START.md, the page that JupyterLab opens on: the map of the course, and how far the learner is.

Everything in it is read from the files of the learner's copy: a part's title and time from the head
of its notebook, its exercises from its cells, a project from its docstring. So a part that is added
to the course is on the map by itself. The page is written at each start and whenever an exercise is
done.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from classroom.exercise import Exercise
from classroom.exercises import find
from classroom.learner.record import FILE, Record, is_done, parse

PAGE = "START.md"
ASKED = re.compile(r'^\w+\("(\d+\.\d+)"', re.MULTILINE)  # check("4.3", …), predict, hint …
MINI_CHECKED = re.compile(r"^check_mini\(\W*(\w+)", re.MULTILINE)
PUZZLE = re.compile(r'^puzzle\("(\w+)"', re.MULTILINE)
HOURS = ("one", "two", "three", "four", "five", "six")  # as docstrings of projects say them

HEAD = """\
# tinyframe

You're going to take a deep-learning framework apart, all the way from `loss.backward()` to the
machine code that runs, and build a small one of your own along the way, `mini`. This folder is your
copy. Change whatever you like in it, break it if you can; the original is one command away.

{next}

## The parts

| part | time | exercises |
|:---|---:|:---|
{parts}

{beside}
"""
A_NEW_KERNEL = """\
Python starts fresh today. So when you get there, first click into the grey cell, then choose *Run →
Run All Above Selected Cell*."""
MINI = """
## Your own framework

From part 3 on, you also write a framework of your own, `mini`, one file per part. The notebooks
tell you what to write, and check it. If you skip a file, the course uses a finished one in its
place.

| file | | yours |
|:---|:---|:---|
{stages}
"""
PROJECTS = """
## Projects

A project is a longer piece of work: an afternoon, and up to 100 points. Have it graded as often as
you like.

| project | you need |
|:---|:---|
{projects}

In a terminal (*File → New → Terminal*), the first line runs the project and the second grades it:

    python {example}
    python -m classroom grade {example}
"""
FOOT = """
## How exercises work

- **Predict.** Replace the `...` with your guess and run the cell (Shift+Enter) *before* you run the
  next one. Any guess counts as done, but only your first one goes into your score.
- **Check.** Replace the `...` with your code and run the cell. It says ✓ right, ✗ wrong or ○ open
  (not done yet), and if something is wrong, it says what.
- **`hint("1.2")`** gives you a hint. Call it again for a stronger one.
- **`answer("1.2")`** shows you a worked answer, and why it's right. If you hadn't solved the
  exercise by then, it's marked as looked up.
- What you write in `mini/` has hints too. Ask for them by name: **`hint("flat")`**, twice, and
  then `answer("flat")`.
- **`reset("1.2")`** forgets all of that, so you can do the exercise again.

No later cell needs your answers. Stuck? Leave it open, go on, and come back.

## If you get stuck

- **Tomorrow:** the same command in the same folder, `python3 start.py`. Everything is where you
  left it. (`python3 start.py remove` shows all that the course has put on this machine, and removes
  it if you say so.)
- **`name '…' is not defined`:** the kernel was restarted, and has forgotten it. Click into your
  cell, then *Run → Run All Above Selected Cell*.
- **"Server Connection Error":** the terminal in which you typed `python3 start.py` was closed. Type
  it again, and reload this page. Nothing that was saved is lost.
- **A narrow window:** Ctrl-B hides the list of files, and shows it again.
- **A cell never ends, or a result makes no sense:** *Kernel → Restart Kernel and Run up to Selected
  Cell*.
- **You want to start a part over:** in a terminal, in the folder where you first ran `start.py`,
  `python3 start.py reset 04`. What you wrote stays beside it, and the exercises are open again.
- **Something doesn't work on your machine:** in that same folder, `python3 start.py doctor` shows
  what is missing and how to fix it.
- **The course has changed:** save your notebooks and close their tabs. Then, in that folder,
  `python3 start.py update` fetches what is new and brings it into your copy. Your answers stay.
- **How far have you got?** `progress()` in a notebook, or this page: close it and open it again.
- **Something to show somebody?** `python -m classroom portfolio` in a terminal makes one page of
  what you've made.

*This page rewrites itself as you go along, so keep your notes somewhere else.*
"""


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

    @property
    def number(self) -> int:
        return int(self.path.name[:2])

    def to_do(self, record: Record) -> list[Exercise]:
        """The exercises that are not done yet."""
        return [e for e in self.exercises if not is_done(e, record.get(e.name, {}))]


def write(folder: Path) -> None:
    """Write the page of the copy in this folder, where it is not there or no longer true."""
    page, text = folder / PAGE, page_text(folder)
    if not page.is_file() or page.read_text() != text:
        unfinished = folder / f".{PAGE}.unfinished"
        unfinished.write_text(text)
        unfinished.replace(page)


def page_text(folder: Path) -> str:
    record, parts = _record(folder), _parts(folder)
    stages, projects = list(_stages(folder, record)), list(_projects(folder))
    rows = _map(folder, parts, record, sum(hours for *_, hours in projects))
    blocks = [HEAD.format(next=_next(parts, record), parts=rows, beside=_beside(folder))]
    if stages:
        blocks.append(MINI.format(stages="\n".join(stages)))
    if projects:
        rows = "\n".join(row for row, *_ in projects)
        blocks.append(PROJECTS.format(projects=rows, example=projects[0][1]))
    return "".join([*blocks, FOOT])


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


def _next(parts: list[Part], record: Record) -> str:
    """Where to go on. Nobody is sent back to a puzzle."""
    for part in parts:
        if to_do := [e for e in part.to_do(record) if "." in e.number]:
            file, number = part.path.as_posix(), to_do[0].number
            if len(part.to_do(record)) < len(part.exercises):
                place = f"{file}#cell-id={part.places[number]}"  # JupyterLab goes there
                return f"{A_NEW_KERNEL} **Go on with [{part.title}, exercise {number}]({place}).**"
            if part is parts[0]:
                return f"**Start here: [{part.title}]({file}) (Shift+Enter runs a cell)**"
            return f"**Go on with [{part.title}]({file}).**"
    return "**You have done every exercise there is.**"


def _map(folder: Path, parts: list[Part], record: Record, for_projects: int) -> str:
    ends = {name: part for part in parts for name in part.stages}  # a stage of two notebooks: once
    rows = [
        _row(folder, part, record, [name for name in part.stages if ends[name] is part])
        for part in parts
    ]
    hours = sum(part.minutes for part in parts) / 60
    total = [f"| *all of these* | {hours:.0f} hours | |"]
    if for_projects:
        total.append(f"| *with the projects below* | {hours + for_projects:.0f} hours | |")
    return "\n".join([*rows, *total])


def _row(folder: Path, part: Part, record: Record, stages: list[str]) -> str:
    """A part: its time, its exercises, and these stages of mini, which it finishes."""
    link = f"[{part.title}]({part.path.as_posix()})"
    minutes = f"{part.minutes}&nbsp;min" if part.minutes else ""
    total = len(part.exercises)
    bar = _bar(total - len(part.to_do(record)), total)
    if looked_up := sum(record.get(e.name, {}).get("helped", False) for e in part.exercises):
        bar += f" ({looked_up} looked up)"
    mini = "mini, stage {}" if len(stages) > 1 else "mini"
    done = [
        bar,
        *_scores(part, record),
        *(
            f"{mini.format(name)}: {said}"
            for name in stages
            if (said := _mini(folder, name, record))
        ),
    ]
    return f"| {link} | {minutes} | {'<br>'.join(filter(None, done))} |"


def _scores(part: Part, record: Record) -> Iterator[str]:
    """A learner's score in each game of a part, beside its par: "matmul golf: 6 opts, par 9"."""
    from classroom.puzzlebook.game import exercise_of, games, total

    names = {exercise.number for exercise in part.exercises}
    for game in games():
        entries = [(p, record.get(exercise_of(p).name, {})) for p in game.puzzles]
        counted = [(p, entry["score"]) for p, entry in entries if "score" in entry]
        if counted and counted[0][0].name in names:
            scores, pars = [score for _, score in counted], [p.par for p, _ in counted]
            of = f"{len(counted)} of {len(entries)} done, " if len(entries) > 1 else ""
            yield f"{game.title}: {of}{total(scores)} {game.unit}, par {total(pars)}"


def _bar(count: int, total: int) -> str:
    bar = f'<progress value="{count}" max="{total}"></progress> {count}&nbsp;of&nbsp;{total}'
    return bar if total else ""


def _beside(folder: Path) -> str:
    """What else is in course/."""
    texts = {
        "course/GLOSSARY.md": "The [glossary](course/GLOSSARY.md) explains every term.",
        "course/gallery.ipynb": "The [gallery](course/gallery.ipynb) shows every kind of picture.",
    }
    return " ".join(text for name, text in texts.items() if (folder / name).is_file())


def _projects(folder: Path) -> Iterator[tuple[str, str, int]]:
    """A row for each project, its path, and how many hours it says it takes. Of a project that is a
    folder, the link leads to the file that says so, and the path is the folder's."""
    room = _given(folder) / "projects"
    for path in sorted([*room.glob("[0-9][0-9]_*.py"), *room.glob("[0-9][0-9]_*/*.py")]):
        about, is_part = _docstring(path), path.parent != room
        if is_part and not about.startswith("Project "):
            continue
        needs = re.search(r"You need\s+(.+?)\.(?:\s|$)", about, re.DOTALL)
        title = about.removeprefix("Project ").split(".")[0].replace(":", ".", 1) or path.stem
        name = path.relative_to(_given(folder)).as_posix()
        hours = next((n for n, word in enumerate(HOURS, 1) if f"{word} hour" in about), 0)
        row = f"| [{title}]({name}) | {' '.join(needs[1].split()) if needs else ''} |"
        yield row, name.rpartition("/")[0] if is_part else name, hours


def _stages(folder: Path, record: Record) -> Iterator[str]:
    """A row for each stage of mini."""
    from classroom.mini.stages import STAGES

    known = {stage.file for stage in STAGES}
    paths = (_given(folder) / "mini").glob("part*.py")
    for path in sorted(p for p in paths if p.name in known):
        about = _docstring(path).split("\n")[0].partition(": ")[2]
        name = path.relative_to(_given(folder)).as_posix()
        said = _mini(folder, path.stem.removeprefix("part"), record)
        yield f"| [{path.name}]({name}) | {about[:1].upper()}{about[1:]} | {said} |"


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


def _docstring(path: Path) -> str:
    with suppress(OSError, ValueError, SyntaxError):
        return ast.get_docstring(ast.parse(path.read_text())) or ""
    return ""
