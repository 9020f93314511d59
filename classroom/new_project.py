"""`python -m classroom new-project 08_my_topic`: a new graded project that works at once.

From the texts in solutions/projects/_new/ it makes all that a project consists of (INSTRUCTOR.md,
"Adding a project"): a worked solution, its tasks and what is recorded of them, the learner's
version, tests, a step in classroom/grade.yml, and rows in INSTRUCTOR.md, docs/projects.md and
course/README.md. What is left to do is to put your tasks in the place of the two examples. All of
it is written, or nothing.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from classroom.cut import cut_solutions
from classroom.grader.recorded import CASES
from classroom.record import answers

ROOT = Path(__file__).resolve().parents[1]
TEXTS = Path("solutions") / "projects" / "_new"
NAME = re.compile(r"(?!00)(\d\d)_[a-z][a-z0-9_]{0,40}")
TITLE = re.compile(r"[A-Z0-9][\w ,'&()+-]{0,59}")
MAIN = "work.py"  # of a project that is a folder

NEXT = """\
{count} files are new; classroom/grade.yml grades it, and INSTRUCTOR.md, docs/projects.md and
course/README.md list it.
It works already: python -m classroom grade solutions/projects/{file}

Now make it yours:
  1. {worked}: your tasks and their solutions,
     then make the learner's version of it: python -m classroom course {name}
  2. {tasks}: a visible and a hidden check for each task, about 50
     points each way, then record the answers: python -m classroom record {name}
  3. {changes}: answers that are right, unusual and wrong,
     and what they cost; attacks on it go into tests/grader/attacks.txt
  4. Try all of it: python -m pytest tests/grader -k {digits}
  5. Put right what INSTRUCTOR.md and docs/projects.md say of it (after which part it comes, how
     long it takes, what one makes), and git add it all: a release has only what git knows\
"""


class CannotMake(Exception):
    """Why there is no new project; a message for the person who gave the command."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m classroom new-project", description="Make a new graded project."
    )
    parser.add_argument("name", help="its number and name, such as 08_my_topic")
    parser.add_argument("--title", default="", help='such as "My topic"; made from the name if not')
    parser.add_argument("--folder", action="store_true", help="a folder, for several files")
    told = parser.parse_args(arguments)
    try:
        print(made(told.name, told.title, told.folder))
    except CannotMake as error:
        print(f"new-project: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("new-project: stopped; nothing was written", file=sys.stderr)
        return 2
    return 0


def made(
    name: str,
    title: str = "",
    is_folder: bool = False,
    root: Path = ROOT,
    recorded: Callable[[Path, Iterable[int]], dict[str, Any]] = answers,
) -> str:
    """Writes the project, and says what to do next. CannotMake where it can't be.

    recorded: what notes the judge's answers (record.py).
    """
    found = NAME.fullmatch(name)
    if not found:
        raise CannotMake(
            f"{name!r} is no name for a project: two digits, then small letters, digits and _, "
            "such as 08_my_topic"
        )
    number = found[1]
    title = title or name[3:].replace("_", " ").capitalize()
    if not TITLE.fullmatch(title):
        raise CannotMake(
            f"{title!r} is no title: it begins with a capital or a digit, has at most 60 letters, "
            "digits and blanks, and no full stop or colon"
        )
    if not (root / TEXTS).is_dir():
        raise CannotMake("this is a students' copy; it takes the whole repository")
    rooms = [root / "projects", root / "solutions" / "projects", root / TEXTS.parent / "tasks"]
    taken = sorted({p.name for room in rooms for p in room.glob(f"{number}_*")})
    taken += [p.name for p in (root / "tests" / "grader" / "submissions").glob(f"{number}_*")]
    if taken:
        raise CannotMake(f"number {number} is taken by {', '.join(taken)}; choose another one")
    new, changed = _texts(root, name, title, is_folder)
    tasks = root / TEXTS.parent / "tasks" / f"{name}.py"
    _write(root, new, changed, tasks, recorded)
    file = name if is_folder else f"{name}.py"
    worked = f"solutions/projects/{file}/{MAIN}" if is_folder else f"solutions/projects/{file}"
    return NEXT.format(
        count=len(new) + 1, file=file, name=name, digits=number, worked=worked,
        tasks=tasks.relative_to(root).as_posix(),
        changes=f"tests/grader/submissions/{name}.txt",
    )  # fmt: skip


def _texts(
    root: Path, name: str, title: str, is_folder: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """The files that are new, and those that change, by their paths."""
    number = str(int(name[:2]))
    words = {"NUMBER": number, "TITLE": title, "NAME": name, "MAIN": MAIN,
             "FILE": name if is_folder else f"{name}.py"}  # fmt: skip

    def text(file: str) -> str:
        whole = (root / TEXTS / file).read_text(encoding="utf-8")
        if not is_folder:
            whole = whole.replace('    main="MAIN",\n', "")
        return re.sub(rf"\b({'|'.join(words)})\b", lambda m: words[m[0]], whole)

    worked = text("project.py")
    place = f"{name}/{MAIN}" if is_folder else f"{name}.py"
    new = {
        f"solutions/projects/{place}": worked,
        f"projects/{place}": cut_solutions(worked),
        f"solutions/projects/tasks/{name}.py": text("tasks.py"),
        f"tests/grader/submissions/{name}.txt": text("submissions.txt"),
    }
    if is_folder:
        for room in ("solutions/projects", "projects"):
            new[f"{room}/{name}/__main__.py"] = text("report.py")
    changes: dict[str, Callable[[str], str]] = {
        "classroom/grade.yml": lambda text: _graded(text, number, words["FILE"]),
        "INSTRUCTOR.md": lambda text: _listed(text, name, is_folder),
        "docs/projects.md": lambda text: _put_in(
            text, r"(?m)(?:^\| \[\d+\. .*\n)+",
            f"| [{number}. {title}](../projects/{place}) | 4 | what you make |\n",
            "docs/projects.md",
        ),
        "course/README.md": lambda text: _put_in(
            text, r"(?m)(?:^\[project \d+\]: .*\n)+",
            f"[project {number}]: ../projects/{words['FILE']}\n", "course/README.md",
        ),
    }  # fmt: skip
    changed = {p: change((root / p).read_text(encoding="utf-8")) for p, change in changes.items()}
    return new, changed


def _graded(text: str, number: str, file: str) -> str:
    """The workflow with a step more, whose result is handed on as those of the others."""
    step = (
        f"      - id: project-{number}\n        continue-on-error: true\n"
        f"        run: python -m classroom grade projects/{file} --format github\n"
    )
    result = (
        f"          PROJECT-{number}_RESULTS: ${{{{ steps.project-{number}.outputs.result }}}}\n"
    )
    for pattern, more in (
        (r"(?m)^(?=      - if: github\.event_name == 'push'$)", step),
        (r"(?m)^(?=        with:\n          runners: )", result),
        (r"(?m)^          runners: .*\S$", f",project-{number}"),
    ):
        text = _put_in(text, pattern, more, "classroom/grade.yml")
    return text


def _listed(text: str, name: str, is_folder: bool) -> str:
    """The instructors' page with a row more in its table of projects."""
    what = f"`{name}` (a folder)" if is_folder else f"`{name}`"
    row = f"| {what} | 4 | 180 minutes | 50 of 100 |\n"
    return _put_in(text, r"(?m)(?:^\| `\d\d_\w+`.*\n)+", row, "INSTRUCTOR.md")


def _put_in(text: str, pattern: str, more: str, file: str) -> str:
    """The text with more after what the pattern finds."""
    found = list(re.finditer(pattern, text))
    if len(found) != 1:
        raise CannotMake(f"{file} has no place for it that looks as it did; put it in by hand")
    at = found[0].end()
    return text[:at] + more + text[at:]


def _write(
    root: Path,
    new: dict[str, str],
    changed: dict[str, str],
    tasks: Path,
    recorded: Callable[[Path, Iterable[int]], dict[str, Any]],
) -> None:
    """All of it, and what the judge answers to these tasks. If something fails, everything is as it
    was."""
    before = {path: (root / path).read_bytes() for path in changed}
    made: list[Path] = []

    def put(file: Path, text: str) -> None:
        folders = [folder for folder in file.parents if not folder.exists()]
        file.parent.mkdir(parents=True, exist_ok=True)
        made.extend(reversed(folders))
        with open(file, "x", encoding="utf-8", newline="\n") as out:
            made.append(file)
            out.write(text)

    try:
        for path, text in new.items():
            put(root / path, text)
        for path, text in changed.items():
            (root / path).write_text(text, encoding="utf-8", newline="\n")
        found = recorded(tasks, range(CASES))
        text = json.dumps(found, indent=0, sort_keys=True, ensure_ascii=False)
        put(tasks.with_suffix(".json"), f"{text}\n")
    except BaseException as error:
        for path, data in before.items():
            (root / path).write_bytes(data)
        for file in reversed(made):
            file.rmdir() if file.is_dir() else file.unlink()
        if isinstance(error, (OSError, RuntimeError)):
            raise CannotMake(f"nothing was written: {error}") from error
        raise
