"""The fifteen first issues, read from docs/first_issues.md, and whether they are still open.

    python -m classroom.contributing.issues        a line for each

An issue is open as long as its snippet prints what stands below it. So a change that closes one
fails a test until it has taken the issue off the list.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tinyframe import Context

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "first_issues.md"
SETTINGS = {"NOOPT": 0, "DEBUG": 0, "BEAM": 0}  # that the snippets were run with


@dataclass(frozen=True)
class Issue:
    """One of them. size: "An hour". subject: "Error messages". shows: what the snippet prints.
    start: the files where to begin, each with the names in it. done: what would show that it is."""

    number: int
    title: str
    size: str
    subject: str
    text: str
    snippet: str
    shows: str
    start: tuple[tuple[str, tuple[str, ...]], ...]
    done: str

    def __str__(self) -> str:
        return f"{self.number}. {self.title} ({self.size.lower()})"

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(ROOT / path for path, _ in self.start)

    def printed(self) -> str:
        """What the snippet prints now."""
        with contextlib.redirect_stdout(io.StringIO()) as out, Context(**SETTINGS):
            exec(compile(self.snippet, f"first issue {self.number}", "exec"), {})
        return out.getvalue()

    @property
    def is_open(self) -> bool:
        return self.printed() == self.shows


@cache
def issues() -> tuple[Issue, ...]:
    """All of them, in the order of the page."""
    _, *parts = re.split(r"^## (?=\d)", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return tuple(map(_read, parts))


def issue(number: int) -> Issue:
    """The one of this number. KeyError where there is none."""
    return {one.number: one for one in issues()}[number]


def _read(part: str) -> Issue:
    """An issue of its section of the page."""
    head, rest = part.split("\n", 1)
    number, title = head.split(". ", 1)
    italics, text, code, shows, start, done = re.fullmatch(
        r"\s*\*(.*?)\*\n(.*?)```python\n(.*?)```\n\s*```\n(.*?)```\n\s*"
        r"\*\*Where to start\*\*\n(.*?)\*\*Done when\*\* (.*)",
        rest,
        flags=re.DOTALL,
    ).groups()  # type: ignore[union-attr]
    size, subject = italics.rstrip(".").split(". ", 1)
    return Issue(
        int(number), title, size, subject, _filled(text), code, shows, _places(start), _filled(done)
    )


def _filled(text: str) -> str:
    """A paragraph in lines that fit a cell's output."""
    return textwrap.fill(" ".join(text.split()), 88)


def _places(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Of each line that begins with a file, the file, and the names that are given after it."""
    found = []
    for line in text.split("\n- "):
        path, *names = re.findall(r"`([^`]+)`", line) or [""]
        if "/" in path:
            more = [name for name in names if "/" in name]
            found.append((path, tuple(name for name in names if "/" not in name)))
            found += [(other, ()) for other in more]
    return tuple(found)


def missing_names(path: str, names: tuple[str, ...]) -> list[str]:
    """Which names (`tile_rows`, `Tensor.to`) a file does not define at its top, or in a class."""
    defined: set[str] = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        own = _defined(node)
        defined |= own
        if isinstance(node, ast.ClassDef):
            defined |= {f"{node.name}.{name}" for one in node.body for name in _defined(one)}
            defined |= {name for one in node.body for name in _defined(one)}
    return [name for name in names if name not in defined]


def _defined(node: ast.stmt) -> set[str]:
    """What a statement gives a name to."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return {
        name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
    }


def main() -> None:
    """Say of each issue whether it is still open."""
    for one in issues():
        print(f"{'open  ' if one.is_open else 'closed'}  {one}")


if __name__ == "__main__":
    main()
