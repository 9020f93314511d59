"""Which lines of a learner's framework are the learner's.

A line counts if it is code, and stands neither in a file as it was handed out nor in the course's
own version of it. Both are compared as Python would write them, so neither comments nor spaces nor
quotes make a line one's own. It is a strict count: of two people who write `return self.uop.shape`,
each wrote it, and here nobody gets it.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from classroom.mini.stages import HANDED_OUT, REFERENCE, ROOT


def spelled_out(text: str) -> list[str]:
    """The lines of code of a file, without docstrings, all spelled in one way. SyntaxError if it is
    not Python."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and (
            ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return [line.strip() for line in ast.unparse(tree).splitlines() if line.strip()]


@cache
def of_the_course() -> frozenset[str]:
    """Every line of every stage, as it is handed out and as it is worked."""
    files = [*HANDED_OUT.glob("part*.py"), *REFERENCE.glob("part*.py")]
    return frozenset(line for path in files for line in spelled_out(path.read_text()))


def own_lines(text: str, given: frozenset[str] = frozenset()) -> tuple[int, int]:
    """How many lines of a file are its author's own, and how many there are. given: lines that do
    not count, beside those of the course."""
    lines = spelled_out(text)
    return sum(line not in of_the_course() and line not in given for line in lines), len(lines)


def is_copied_project(path: Path, name: str) -> bool:
    """Whether a file, or each file of a folder, has no line but those of the project as it was
    handed out and of its worked solution, where that is here."""
    rooms = (ROOT / "projects", ROOT / "solutions" / "projects")
    sources = [
        each for room in rooms for each in (room / f"{name}.py", *(room / name).glob("*.py"))
    ]
    files = [path] if path.is_file() else [*path.glob("*.py")]
    try:
        known = {
            line for each in sources if each.is_file() for line in spelled_out(each.read_text())
        }
        return bool(files) and all(
            line in known for each in files for line in spelled_out(each.read_text())
        )
    except (OSError, ValueError, SyntaxError):  # a zip, or no Python
        return False


def of_folder(folder: Path) -> frozenset[str]:
    """The lines of the stages in a folder, such as those that a copy began with."""
    found: set[str] = set()
    for path in folder.glob("part*.py"):
        try:
            found.update(spelled_out(path.read_text()))
        except (OSError, ValueError, SyntaxError):
            continue
    return frozenset(found)
