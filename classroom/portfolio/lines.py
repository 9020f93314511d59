"""Whose the lines of a learner's framework are.

A line of code is given as often as it stands in the file that was handed out. What is written
beside that is certainly the learner's, unless the course has the same line: of two people who write
`return self.uop.shape`, each wrote it, and nobody can tell. All are compared as Python would write
them, so neither comments nor spaces nor quotes make a line one's own.
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

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


class Whose(NamedTuple):
    """How many lines of a file are certainly its author's, how many were written as the course has
    them, and how many there are."""

    own: int
    same: int
    lines: int


def whose_lines(text: str, given: str = "") -> Whose:
    """Whose the lines of a file are that was handed out as `given`. SyntaxError."""
    lines, handed_out = spelled_out(text), Counter(spelled_out(given))
    written = Counter(lines) - handed_out
    known = of_the_course() | handed_out.keys()
    own = sum(count for line, count in written.items() if line not in known)
    return Whose(own, written.total() - own, len(lines))


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
