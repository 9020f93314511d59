"""Three versions of a file become one: as the course gave it, as the learner has it, as it is now.

    base  x = ...     mine  x = 42     new  x = ...  # metres     both changed the line: a conflict

`notebooks` merges cell by cell, and inside a cell line by line; `texts` merges line by line. What
only one side changed is taken from that side. Cells that both changed in the same place are kept in
both versions, the learner's first, with a note between them. Outputs are always the learner's.

The three-way merge is diff3's (Khanna, Kunal and Pierce, "A Formal Investigation of Diff3", 2007),
except that changes to neighbouring lines do not collide: a learner's answer often stands directly
below a sentence that the course improves.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

Cell = dict[str, Any]

BOTH_VERSIONS = (
    "**Two versions of one cell.** You changed this cell, and so did the course. Yours is above, "
    "the course's is below. Keep the one you want and delete the other."
)
ALIKE = 0.5  # with a smaller part of their words in common, only its id can say which cell it was
SAME_ID = 0.4  # the likeness of cells of which only the ids agree; less than any likeness in words


@dataclass(frozen=True)
class Merged:
    """The one file, and how many cells are in it in both versions."""

    content: bytes
    conflicts: int = 0


def merge(suffix: str, base: bytes, mine: bytes, new: bytes) -> Merged | None:
    """The merged file; None where it cannot be done: both changed the same lines of a text, or a
    file is not what its suffix says."""
    try:
        if suffix == ".ipynb":
            return notebooks(json.loads(base), json.loads(mine), json.loads(new))
        if mine == base:
            return Merged(new)
        old, theirs, ours = (_plain_ends(side.decode()) for side in (base, mine, new))
        text = texts(old, theirs, ours, is_python=suffix == ".py")
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    if text is not None and 2 * mine.count(b"\r\n") > mine.count(b"\n"):
        text = text.replace("\n", "\r\n")  # the learner's, throughout
    return None if text is None else Merged(text.encode())


def _plain_ends(text: str) -> str:
    """A text whose lines end as on Linux: an editor on Windows changes all ends, and no line."""
    return text.replace("\r\n", "\n")


# ---- texts ---------------------------------------------------------------------------------------


def texts(base: str, mine: str, new: str, is_python: bool) -> str | None:
    """A text with the changes of both sides; None where they collide, or where two texts that are
    Python become one that is not."""
    if mine == base or mine == new:
        return new
    if new == base:
        return mine
    lines = _merge_lines(*(text.splitlines(keepends=True) for text in (base, mine, new)))
    if lines is None:
        return None
    merged = "".join(lines)
    if is_python and _parses(mine) and _parses(new) and not _parses(merged):
        return None
    return merged


def _merge_lines(base: list[str], mine: list[str], new: list[str]) -> list[str] | None:
    edits = sorted({*_edits(base, mine), *_edits(base, new)})
    for (start, stop, _), (next_start, next_stop, _) in zip(edits, edits[1:], strict=False):
        both_insert = start == stop == next_start == next_stop
        if stop > next_start or both_insert:
            return None
    merged, at = [], 0
    for start, stop, lines in edits:
        merged += [*base[at:start], *lines]
        at = stop
    return merged + base[at:]


def _edits(base: list[str], other: list[str]) -> list[tuple[int, int, tuple[str, ...]]]:
    """What turns base into the other: (start, stop, the lines that come in place of those)."""
    matcher = SequenceMatcher(None, base, other, autojunk=False)
    return [
        (start, stop, tuple(other[first:last]))
        for kind, start, stop, first, last in matcher.get_opcodes()
        if kind != "equal"
    ]


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


# ---- notebooks -----------------------------------------------------------------------------------


def notebooks(base: dict[str, Any], mine: dict[str, Any], new: dict[str, Any]) -> Merged:
    """The new notebook with the learner's answers, own cells and outputs in it.

    The new one's order leads; a cell that the learner added follows the cell that it stood behind.
    """
    old, theirs, ours = base["cells"], mine["cells"], new["cells"]
    of_mine, of_new = _pairs(old, theirs), _pairs(old, ours)
    added_mine, added_new = _added(theirs, of_mine), _added(ours, of_new)
    cells: list[Cell] = []
    conflicts = 0
    for place in range(-1, len(old)):
        if place >= 0:
            one = theirs[of_mine[place]] if place in of_mine else None
            other = ours[of_new[place]] if place in of_new else None
            found = _resolve(old[place], one, other)
            conflicts += len(found) > 1
            cells += found
        cells += added_mine.get(place, []) + added_new.get(place, [])
    about = {**mine.get("metadata", {}), **new.get("metadata", {})}
    merged = {**mine, **new, "metadata": about, "cells": _with_different_ids(cells)}
    return Merged(as_bytes(merged), conflicts)


def as_bytes(notebook: dict[str, Any]) -> bytes:
    """A notebook as JupyterLab writes it."""
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    return (text + "\n").encode()


def said(cell: Cell) -> tuple[str, str]:
    """What a cell says: its kind and its text, without what running it leaves behind."""
    return cell["cell_type"], _plain_ends("".join(cell["source"]))


def _resolve(base: Cell, mine: Cell | None, new: Cell | None) -> list[Cell]:
    """What becomes of one cell of the base: no cell, one, or both versions with a note between."""
    if mine is None:  # the learner threw it away: it comes back when the course has changed it
        return [] if new is None or said(new) == said(base) else [new]
    if new is None:  # the course has dropped it: what the learner wrote in it stays
        return [] if said(mine) == said(base) else [mine]
    kept = {**mine, "id": new["id"]} if "id" in new else mine
    kept["metadata"] = {**mine.get("metadata", {}), **new.get("metadata", {})}
    if said(mine) == said(new) or said(new) == said(base):
        return [kept]
    if said(mine) == said(base):
        return [new]
    is_python = mine["cell_type"] == "code"
    text = texts(said(base)[1], said(mine)[1], said(new)[1], is_python)
    if text is None:
        note = {"cell_type": "markdown", "metadata": {}, "source": [BOTH_VERSIONS]}
        return [kept, note | ({"id": "two-versions"} if "id" in new else {}), new]
    return [{**kept, "source": text.splitlines(keepends=True)}]


def _pairs(base: list[Cell], other: list[Cell]) -> dict[int, int]:
    """Which cell of the base is which of the other, in order: first those that say the same, then,
    in the gaps between them, those that are most alike.

    JupyterLab keeps a cell's id however its text is edited, but whoever writes a lesson may number
    all cells anew: ids count where those cells that say the same have the same ids.
    """
    keys, other_keys = [said(cell) for cell in base], [said(cell) for cell in other]
    blocks = SequenceMatcher(None, keys, other_keys, autojunk=False).get_matching_blocks()
    equal = [(block.a + n, block.b + n) for block in blocks for n in range(block.size)]
    ids_count = all(base[i].get("id") == other[j].get("id") for i, j in equal)
    found = dict(equal)
    start, other_start = 0, 0
    for block in blocks:
        gap = _most_alike(base[start : block.a], other[other_start : block.b], ids_count)
        found |= {start + i: other_start + j for i, j in gap}
        start, other_start = block.a + block.size, block.b + block.size
    return found


def _most_alike(base: list[Cell], other: list[Cell], ids_count: bool) -> list[tuple[int, int]]:
    """The pairs, in order, whose likenesses add up to the most (Needleman and Wunsch, 1970)."""
    likeness = [[_likeness(one, two, ids_count) for two in other] for one in base]
    best = [[0.0] * (len(other) + 1) for _ in range(len(base) + 1)]  # of what is left from (i, j)
    for i in reversed(range(len(base))):
        for j in reversed(range(len(other))):
            paired = best[i + 1][j + 1] + likeness[i][j]
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    pairs, i, j = [], 0, 0
    while i < len(base) and j < len(other):
        if likeness[i][j] and best[i][j] == best[i + 1][j + 1] + likeness[i][j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _likeness(one: Cell, two: Cell, ids_count: bool) -> float:
    """How alike two cells are, in words, or else by id; 0 where they are different cells."""
    (kind, text), (other_kind, other_text) = said(one), said(two)
    if kind != other_kind:
        return 0.0
    in_words = SequenceMatcher(None, text.split(), other_text.split(), autojunk=False).ratio()
    if in_words >= ALIKE:
        return 1 + in_words
    same_id = ids_count and "id" in one and one["id"] == two.get("id")
    return SAME_ID * same_id


def _added(cells: list[Cell], pairs: dict[int, int]) -> dict[int, list[Cell]]:
    """The cells that are in no pair, by the place in the base that they follow; -1: before all."""
    places = {there: place for place, there in pairs.items()}
    found: dict[int, list[Cell]] = {}
    after = -1
    for number, cell in enumerate(cells):
        if number in places:
            after = places[number]
        else:
            found.setdefault(after, []).append(cell)
    return found


def _with_different_ids(cells: list[Cell]) -> list[Cell]:
    """The cells, each with an id of its own, as the format asks for."""
    seen: set[str] = set()
    for number, cell in enumerate(cells):
        if "id" in cell:
            name, again = cell["id"], 1
            while name in seen:
                again += 1
                name = f"{cell['id'][:56]}-{again}"
            seen.add(name)
            cells[number] = {**cell, "id": name}
    return cells
