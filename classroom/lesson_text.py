"""A lesson's source, `classroom/lessons/NAME/lesson.md`: MyST Markdown, which jupytext reads.

A cell of code stands between ```{code-cell} and ```, two cells of text are parted by +++, and an
exercise has its name for a number:

    **Exercise {rules-bounds}, predict.** …     becomes  **Exercise 7.8, predict.** …
    check("rules-bounds", bounds)               becomes  check("7.8", bounds)

A picture in the lesson's folder is attached to the cell that shows it, `![](attachment:x.png)`.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

TITLE = re.compile(r"# (\d+)([a-z]?)\. ")
ASKS = re.compile(r'^(check|predict|puzzle)\("([\w-]+)"', re.MULTILINE)
CONFLICT = re.compile(r"^(<{7} |>{7} )", re.MULTILINE)  # as git marks it
PUZZLE = "puzzle-"  # how the name of a puzzle begins where exercises are listed; it has no number
NAME = re.compile(r'"([a-z]\w*(?:-\w+)+)"|\{([a-z]\w*(?:-\w+)+)\}')
PICTURE = re.compile(r"\]\(attachment:([\w.-]+)\)")


def lessons(folder: Path) -> Iterator[tuple[str, Path]]:
    """Each lesson, by the name of its notebook (`07a_rules`), in order. ValueError where a lesson
    doesn't begin with its number."""
    found = {}
    for path in folder.glob("*/lesson.md"):
        title = TITLE.match(path.read_text(encoding="utf-8"))
        if not title:
            raise ValueError(f"{path.parent.name}/{path.name} has to begin with `# 7a. Title`")
        found[f"{int(title[1]):02}{title[2]}_{path.parent.name}"] = path
    yield from sorted(found.items())


def order(folder: Path) -> dict[str, list[str]]:
    """The names of the exercises and puzzles of each lesson, in order. ValueError where one has no
    file beside its lesson, or is asked for twice."""
    found: dict[str, list[str]] = {}
    for notebook, path in lessons(folder):
        text = path.read_text(encoding="utf-8")
        if conflict := CONFLICT.search(text):
            line = text.count("\n", 0, conflict.start()) + 1
            raise ValueError(
                f"{path.parent.name}/lesson.md, line {line}: solve this conflict first"
            )
        for how, asked in ASKS.findall(text):
            name = f"{PUZZLE}{asked}" if how == "puzzle" else asked
            file = path.parent / file_of(name)
            asks = f"{path.parent.name}/lesson.md asks {name}"
            if not file.exists():
                raise ValueError(f"{asks}: there's no {file.name} beside it")
            if any(name in names for names in found.values()):
                raise ValueError(f"{asks}: that was asked before")
            found.setdefault(notebook, []).append(name)
    return found


def file_of(name: str) -> str:
    """The name of an exercise's file."""
    return f"{name.replace('-', '_')}.py"


def numbers(order: Mapping[str, list[str]]) -> dict[str, str]:
    """The number of each exercise, by its name: they are counted through a part."""
    found: dict[str, str] = {}
    counts: dict[int, int] = {}
    for notebook, names in order.items():
        part = int(notebook[:2])
        for name in names:
            if name.startswith(PUZZLE):
                continue
            counts[part] = counts.get(part, 0) + 1
            found[name] = f"{part}.{counts[part]}"
    return found


def notebook(path: Path, numbers: Mapping[str, str], stored: Any) -> Any:
    """The lesson as a notebook without outputs; a cell that `stored` has too keeps its id."""
    import jupytext

    made = jupytext.reads(path.read_text(encoding="utf-8"), fmt="md:myst")

    def number(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name not in numbers:
            return found[0]
        return f'"{numbers[name]}"' if found[1] else numbers[name]

    made.nbformat_minor = stored.nbformat_minor
    for cell in made.cells:
        cell.source = NAME.sub(number, cell.source)
        cell.id = "p" + hashlib.sha256(cell.source.encode()).hexdigest()[:7]
        if attached := PICTURE.findall(cell.source):
            pictures = {name: (path.parent / name).read_bytes() for name in attached}
            cell.attachments = {
                name: {"image/png": base64.b64encode(data).decode()}
                for name, data in pictures.items()
            }
    new, old = ([(c.cell_type, c.source) for c in nb.cells] for nb in (made, stored))
    for same in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        for n in range(same.size):
            made.cells[same.b + n].id = stored.cells[same.a + n].id
    return made
