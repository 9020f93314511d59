"""The terms of the course, made from its notebooks: `course/GLOSSARY.md`.

A notebook explains a term where it first needs it, and marks it there:

    A **<dfn>kernel</dfn>** is one program that runs over memory.

The glossary is a table of those sentences with a link to each. Where the sentence needs the ones
around it, a title has one that stands by itself: `<dfn title="A graph is …">graph</dfn>`.
`early_uses` finds what is used in a text before it has been explained, in the order of the course.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

MARK = re.compile(r'<dfn(?:\s+title="([^"]+)")?>(.+?)</dfn>', re.DOTALL)
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
# Where one sentence ends and the next begins.
BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z*`(<])|(?<=[.!?][)*])\s+(?=[A-Z*`(<])")
PLURALS = {"axis": "axes", "index": "indices", "matrix": "matrices"}

HEAD = """\
# Glossary

Each term of the course in one sentence, and where it is explained. (`make course` writes this page
from the notebooks.)

| term | | explained in |
|---|---|---|
"""


@dataclass(frozen=True)
class Paragraph:
    """A piece of a notebook's text: a paragraph, an item of a list, a row of a table.

    section: the heading above it. is_head: whether it is in the first cell, before the first
    section.
    """

    notebook: str
    section: str
    text: str
    is_head: bool = False

    @property
    def part(self) -> str:
        """4a for 04a_lazy_evaluation.ipynb."""
        return self.notebook.partition("_")[0].lstrip("0")

    @cached_property
    def prose(self) -> str:
        """What is read: without code, the targets of links, and marks."""
        text = re.sub(r"`[^`]*`", " ", self.text)
        text = re.sub(r"\]\([^)]*\)", "]", text)
        return re.sub(r"<[^>]+>|[*\[\]]", "", text)


@dataclass(frozen=True)
class Term:
    """A term, the sentence that explains it, and where that stands."""

    name: str
    sentence: str
    place: Paragraph

    @property
    def row(self) -> str:
        place = self.place
        link = f"{place.notebook}#{place.section.replace(' ', '-')}"
        words = self.sentence.replace("|", r"\|")
        return f"| **{self.name}** | {words} | [{place.part}, {place.section}]({link}) |"

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The term or its plural as a word. One with capitals in it, such as BUFFER or TinyJit, is
        meant exactly; of any other the first letter may be a capital."""
        first, rest = self.name[0], self.name[1:]
        start = f"[{first.lower()}{first.upper()}]" if rest.islower() else re.escape(first)
        singular = start + re.escape(rest).replace(r"\ ", r"\s+")
        words = [singular + ending for ending in ("", "s", "es")]
        head, _, last = self.name.rpartition(" ")
        if last in PLURALS:
            plural = f"{head} {PLURALS[last]}".strip()
            words.append(f"[{plural[0]}{plural[0].upper()}]{re.escape(plural[1:])}")
        elif self.name.endswith("y"):
            words.append(singular[:-1] + "ies")
        return re.compile(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])")


def paragraphs(notebook: str, cells: Iterable[Any]) -> Iterator[Paragraph]:
    """The text of a notebook, in order; code, indented or fenced, is none."""
    section, is_head = "", True
    for number, cell in enumerate(cells):
        if cell.cell_type != "markdown":
            continue
        is_head = number == 0
        fenced = re.sub(r"^```.*?^```", "", cell.source, flags=re.MULTILINE | re.DOTALL)
        for block in re.split(r"\n\s*\n|\n(?=[-*|] |\|)|\n(?=\d+\. )", fenced):
            if block.startswith("    ") or not block.strip():
                continue
            heading = HEADING.match(block.strip())
            if heading:
                section = heading[1].replace("`", "").replace("*", "").strip()
                block = block.strip()[heading.end() :]
            if block.strip():
                yield Paragraph(notebook, section, block.strip(), is_head)


def terms(course: Iterable[Paragraph]) -> list[Term]:
    """All that are marked, in the order of the course. ValueError where one is marked twice."""
    found: dict[str, Term] = {}
    for place in course:
        sentences = BETWEEN_SENTENCES.split(re.sub(r'(<dfn)\s+title="[^"]*"', r"\1", place.text))
        for title, marked in MARK.findall(place.text):
            name = " ".join(marked.split()).replace("`", "")
            if name in found:
                first = found[name].place
                raise ValueError(
                    f"{name!r} is explained twice: in {first.notebook}, {first.section!r}, and "
                    f"in {place.notebook}, {place.section!r}"
                )
            sentence = title or next(s for s in sentences if f"<dfn>{marked}</dfn>" in s)
            found[name] = Term(name, _plain(sentence), place)
    return list(found.values())


def _plain(sentence: str) -> str:
    """A sentence without marks, and with the words of its links only; a row of a table is one."""
    if sentence.startswith("|"):
        first, *others = (cell.strip() for cell in sentence.strip("| \n").split(" | "))
        sentence = f"{first}: {', '.join(others)}".rstrip(".") + "."
    text = re.sub(r"</?dfn[^>]*>|\*\*|^(?:[-*]|\d+\.) ", "", sentence.strip())
    text = re.sub(r"(?<![\w*])\*([^*]+)\*(?![\w*])", r"\1", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    return " ".join(text.split())


def early_uses(course: Iterable[Paragraph]) -> list[str]:
    """A sentence for each term and each notebook that uses it before it is explained.

    A heading may name what its section explains, and the head of a part, in its list of what one
    will be able to do, what the part explains: both announce, and nobody has to understand them
    yet. Code is not looked at, nor is what a cell prints.
    """
    course = list(course)
    said: dict[tuple[str, str], str] = {}
    for term in terms(course):
        for place in course:
            if place == term.place:
                break
            announces = place.is_head and place.part == term.place.part and place.text[0] == "-"
            if not announces and (found := term.pattern.search(place.prose)):
                where = f"{place.notebook}, {place.section!r}: "
                around = place.prose[max(found.start() - 30, 0) : found.end() + 30]
                words = (
                    f"{where}{found[0]!r} in “{' '.join(around.split())}” is explained "
                    f"later, in {term.place.notebook}, {term.place.section!r}"
                )
                said.setdefault((term.name, place.notebook), words)
    return list(said.values())


def page(course: Iterable[Paragraph]) -> str:
    """The glossary, as Markdown, in the order of the alphabet."""
    rows = sorted(terms(course), key=lambda term: (term.name.lower(), term.name))
    return HEAD + "".join(f"{term.row}\n" for term in rows)


def course_in(folder: Path) -> list[Paragraph]:
    """The text of every part in a folder, in order. The gallery and the like are no parts."""
    import nbformat

    found: list[Paragraph] = []
    for path in sorted(folder.glob("[0-9]*.ipynb")):
        found += paragraphs(path.name, nbformat.read(path, as_version=4).cells)
    return found
