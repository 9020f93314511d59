"""`python -m classroom release DIR`: write the repository for students, without solutions.

DIR gets what git knows of this repository, without the worked notebooks and projects, what tests
them, and what is only for instructors; its READMEs come without the rows and paragraphs about
those. The worked stages of mini stay, since a learner who skips a stage goes on with those. Of each
project's tasks DIR gets what is not hidden, as classroom/projects/NAME.py, and a workflow that
grades at every push. It must be empty or not there, and is written whole, or not at all; or it's
the repository of an earlier release, all of it committed, whose files are replaced.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import shutil
import subprocess
import sys
from pathlib import Path

from classroom.cut import hidden_lines
from classroom.exercise_file import without_answers

ROOT = Path(__file__).resolve().parents[1]

# What stays here, as patterns of paths.
KEPT_BACK = (
    "classroom/lessons/*.md",  # worked notebooks are made of them
    "solutions/course/*",
    "solutions/projects/*",
    "INSTRUCTOR.md",
    "docs/sandbox.md",  # says what it doesn't hold
    "docs/cluster.md",
    "tests/course/test_*.py",  # hold notebooks against the worked ones, READMEs as they are here
    "tests/classroom/test_answers.py",  # reads them
    "tests/classroom/test_puzzles.py",  # runs the worked answers
    "tests/classroom/snake.py",  # mends part 8b's device
    "tests/classroom/test_own_device.py",  # needs it
    "tests/grader/test_project*.py",  # hold solutions
    "tests/grader/test_submissions.py",
    "tests/grader/submissions*",  # mistakes in them
    "tests/grader/worked.py",  # changes the solution
    "tests/grader/repeat.py",  # grades it
    "tests/grader/test_release.py",
    "tests/grader/test_new_project.py",  # reads what new projects are made from
    "tests/gradebook/test_similar.py",  # compares solutions
    "classroom/measured.py",  # works answers out
    "tests/grader/test_recorded.py",  # needs it
    "tests/grader/attacks.*",  # how to attack it
    "tests/grader/hostile.*",
    "tests/grader/holes.*",
    "tests/grader/test_attacks.py",
    "tests/grader/test_hostile.py",
    "tests/grader/test_sandbox.py",
    "tests/grader/test_bounds.py",
)
NAMES_OF_THOSE = ("solutions/course", "solutions/projects", "INSTRUCTOR.md", "docs/sandbox.md",
                  "docs/cluster.md")  # fmt: skip
# The part of a text that is about how the course is made begins at this line.
AUTHORS_ONLY = {"docs/writing_lessons.md": "## What a lesson consists of"}
# exercises and functions of mini, and behind what checks them planted answers
ANSWERED = ("classroom/lessons/*.py", "classroom/mini/functions/*.py")
MOVED = {"classroom/grade.yml": ".github/workflows/grade.yml"}
TASKS = "solutions/projects/tasks"


class CannotRelease(Exception):
    """Why there is no release; a message for the person who gave the command."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m classroom release",
        description="Write the repository for students, without solutions.",
    )
    parser.add_argument("folder", type=Path, help="where to: empty, or not there yet, or the git "
                        "repository of an earlier release, whose files are replaced")  # fmt: skip
    told = parser.parse_args(arguments)
    try:
        count = release(told.folder)
    except CannotRelease as error:
        print(f"release: {error}", file=sys.stderr)
        return 2
    begin = "" if (told.folder / ".git").exists() else "git init; "
    print(f"{count} files in {told.folder}. Next, there: {begin}git add --all; git commit")
    return 0


def release(folder: Path) -> int:
    """How many files were written. CannotRelease where the folder holds anything but an earlier
    release, committed."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise CannotRelease(f"{folder} is not a folder")
    earlier = committed(folder)
    if not earlier and folder.is_dir() and any(folder.iterdir()):
        raise CannotRelease(f"{folder} is not empty; name a folder that is, or that is not there, "
                            "or the git repository of an earlier release")  # fmt: skip
    texts = contents()
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = folder.parent / f".{folder.name}.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        for name, (source, data) in texts.items():
            place = unfinished / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            place.chmod(source.stat().st_mode & 0o777)
        for name in earlier:
            (folder / name).unlink(missing_ok=True)
        if earlier:
            shutil.copytree(unfinished, folder, dirs_exist_ok=True)
        else:
            unfinished.replace(folder)
    except OSError as error:
        raise CannotRelease(f"{folder} could not be written: {error}") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return len(texts)


def committed(folder: Path) -> list[str]:
    """What an earlier release holds, as git knows it; nothing where there is no repository.
    CannotRelease where something there isn't committed, and would be lost."""
    if not (folder / ".git").exists():
        return []

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    try:
        if git("status", "--porcelain"):
            raise CannotRelease(f"{folder} has changes that aren't committed, and they'd be lost")
        names = [name for name in git("ls-files", "-z").split("\0") if name]
    except (OSError, subprocess.CalledProcessError) as error:
        raise CannotRelease(f"git can't read {folder}: {error}") from None
    if "start.py" not in names or "INSTRUCTOR.md" in names:
        raise CannotRelease(f"{folder} is a repository, but not that of a release")
    return names


def contents() -> dict[str, tuple[Path, bytes]]:
    """Each file of a release: where it is from, and its bytes."""
    found: dict[str, tuple[Path, bytes]] = {}
    for name in files():
        path = ROOT / name
        if any(fnmatch.fnmatch(name, pattern) for pattern in KEPT_BACK):
            continue
        data = path.read_bytes()
        if any(fnmatch.fnmatch(name, pattern) for pattern in ANSWERED):
            data = without_answers(data.decode()).encode()
        if path.suffix == ".md":
            data = for_students(name, data.decode()).encode()
        found[MOVED.get(name, name)] = path, data
    for path in sorted((ROOT / TASKS).glob("*.py")):
        visible = without_worked(without_hidden(path.read_text(), path.name))
        found[f"classroom/projects/{path.name}"] = path, visible.encode()
    for path in sorted((ROOT / TASKS).glob("*.json")):
        found[f"classroom/projects/{path.name}"] = path, path.read_bytes()
    return found


def without_worked(text: str) -> str:
    """Tasks with `name = recorded("name")` for each function that works an answer out, without what
    only these need."""
    lines: list[str | None] = list(text.splitlines())
    for node in ast.parse(text).body:
        begin, end, new = node.lineno, node.end_lineno or node.lineno, None
        match node:
            case ast.FunctionDef(decorator_list=[ast.Name(id="answer")], name=name):
                begin, new = node.decorator_list[0].lineno, f'{name} = recorded("{name}")'
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name("answer"), args=[ast.Attribute(attr=function)]),
            ):
                new = f'{name} = recorded("{function}")'
            case ast.ImportFrom(names=[ast.alias(name="answer")]):
                new = f"from {node.module} import recorded"
            case ast.ImportFrom(names=[ast.alias(name="measured")]):
                pass
            case _:
                continue
        lines[begin - 1 : end] = [new, *[None] * (end - begin)]
    kept = "\n".join(line for line in lines if line is not None)
    return _without_unused(kept)


def _without_unused(text: str) -> str:
    """Without private functions and imported names that nothing uses any more."""
    while True:
        tree = ast.parse(text)
        used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        lines: list[str | None] = list(text.splitlines())
        for node in tree.body:
            begin, end, names = node.lineno, node.end_lineno or node.lineno, []
            if isinstance(node, ast.FunctionDef) and node.name.startswith("_") and node.name != "_":
                names = [node.name]
                begin = min([d.lineno for d in node.decorator_list], default=begin)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [alias.asname or alias.name for alias in node.names]
            if names and used.isdisjoint(names):
                lines[begin - 1 : end] = [None] * (end - begin + 1)
        kept = "\n".join(line for line in lines if line is not None) + "\n"
        if kept == text:
            return text
        text = kept


def files() -> list[str]:
    """What git knows here; without git, all that .gitignore does not name."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        names = [name for name in listed.split("\0") if (ROOT / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        names = []
    return sorted(names or _not_ignored())


def _not_ignored() -> list[str]:
    lines = (ROOT / ".gitignore").read_text().splitlines()
    ignored = [".git", *(x.strip("/") for x in lines if x.strip() and not x.startswith("#"))]

    def is_ignored(path: Path) -> bool:
        name = path.relative_to(ROOT).as_posix()
        return any(fnmatch.fnmatch(name, p) or fnmatch.fnmatch(path.name, p) for p in ignored)

    names, pending = [], [ROOT]
    while pending:
        for path in pending.pop().iterdir():
            if path.is_symlink() or is_ignored(path):
                continue
            if path.is_dir():
                pending.append(path)
            else:
                names.append(path.relative_to(ROOT).as_posix())
    return names


def for_students(name: str, text: str) -> str:
    """A Markdown text without the table rows and paragraphs that name what they do not get."""
    if name in AUTHORS_ONLY:
        text = text.partition(AUTHORS_ONLY[name])[0].rstrip() + "\n"  # a release has none any more
    blocks = []
    for block in text.split("\n\n"):
        lines = block.split("\n")
        if block.lstrip().startswith("|"):
            block = "\n".join(line for line in lines if not _is_about_them(line))
        elif _is_about_them(block):
            continue
        blocks.append(block)
    return "\n\n".join(blocks).rstrip() + "\n"


def _is_about_them(text: str) -> bool:
    return any(name in text for name in NAMES_OF_THOSE)


def without_hidden(text: str, name: str) -> str:
    """A file of tasks without its hidden checks. CannotRelease where the marks do not pair."""
    try:
        hidden = hidden_lines(text)
    except ValueError as error:
        raise CannotRelease(f"{name}, {error}") from None
    kept = [line for number, line in enumerate(text.splitlines(), 1) if number not in hidden]
    return "\n".join(kept).rstrip() + "\n"
