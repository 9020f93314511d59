"""What a rewrite did, as a short text: what stays the same is a letter.

    words = told(before, after)
    words.before, words.after      # a+(-b)  and  a-b
    words.where                    # a is data1[ridx0], b is 20 nodes that end in MAX reduce

Two nodes are compared, and the parts that both have are named a, b, c and so on, in the order in
which a reader meets them. Parts that only one has are written out, as far as they fit on a line or
two; what does not fit gets a letter too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Set
from dataclasses import dataclass

from tinyframe.uop.node import Ops
from tinyframe.uop.show import render
from tinyframe.viz.explorer.rows import Row, Word
from tinyframe.viz.nodes import plural

SHORT = 18  # characters: what is no longer than this needs no letter
FITS = 60  # characters that a letter is explained in, if its expression is no longer
LONGEST = 240  # characters of one side
MOST_WRITTEN = (14, 8, 4, 2, 1)  # operations of one side that are written out, the first that fits
LETTERS = "abcdefghijkmnpqrstuvwxyz"  # without l and o, which look like digits


@dataclass(frozen=True)
class Told:
    """A rewrite in words. letters: (letter, what it stands for) for each."""

    before: str
    after: str
    letters: tuple[tuple[str, str], ...]

    @property
    def where(self) -> str:
        """`a is data1[ridx0], b is …`; empty without letters."""
        return ", ".join(f"{letter} is {meaning}" for letter, meaning in self.letters)


def told(before: Row, after: Row) -> Told:
    """The rewrite of one node into the other, in words."""
    below = [row.toposort().keys() for row in (before, after)]
    shared = below[0] & below[1]
    taken = {row.arg[0] for row in below[0] | below[1] if row.op is Ops.DEFINE_VAR}
    free = (name for name in _letters() if name not in taken)
    names: dict[Row, str] = {}
    written = [_written(row, shared, names, free) for row in (before, after)]
    letters = tuple((name, meaning_of(row)) for row, name in names.items())
    return Told(written[0], written[1], letters)


def _written(root: Row, shared: Set[Row], names: dict[Row, str], free: Iterator[str]) -> str:
    """The text of a node, in which shared parts and those too deep are letters."""
    for most in MOST_WRITTEN:
        parts = _in_parts(root, shared, names.keys(), most)
        known = {**names, **{row: "?" for row in parts.letters if row not in names}}
        if len(parts.text(known)) <= LONGEST:
            break
    for row in parts.letters:
        if row not in names:
            names[row] = next(free)
    return parts.text(names)


@dataclass(frozen=True)
class _Parts:
    """A node's expression in parts: those that are written out, and those that a letter stands for,
    in reading order."""

    root: Row
    order: list[Row]
    spelled_out: set[Row]
    letters: list[Row]

    def text(self, names: dict[Row, str]) -> str:
        done: dict[Row, Row] = {}
        for row in self.order:
            if row in self.spelled_out:
                src = tuple(done[s] for s in row.src)
                done[row] = _all_lanes(row, src) or Row(
                    -1, row.op, row.dtype, src, row.arg, row.shape
                )
            else:
                done[row] = _named(row, names[row]) if row in names else row
        return text_of(done[self.root])


def _in_parts(root: Row, shared: Set[Row], names: Set[Row], most: int) -> _Parts:
    """At most so many operations are written out, the outermost first."""
    spelled_out: set[Row] = set()
    pending = [root]
    for row in pending:  # grows while it is walked: outermost operations first
        if row in spelled_out or row in names or _is_short(row):
            continue
        if row in shared and row is not root or len(spelled_out) >= most:
            continue
        spelled_out.add(row)
        pending += row.src
    met = spelled_out.union(*(row.src for row in spelled_out), {root})
    order = list(root.toposort(lambda row: row in met))
    letters = [row for row in order if row not in spelled_out and not _is_short(row)]
    return _Parts(root, order, spelled_out, letters)


def _named(row: Row, name: str) -> Row:
    """What is written as this name."""
    return Row(-1, Ops.DEFINE_VAR, row.dtype, (), (Word(name), 0, 0))


def _all_lanes(row: Row, src: tuple[Row, ...]) -> Row | None:
    """`vec8(500)` in place of a VECTORIZE that says 500 eight times."""
    if row.op is not Ops.VECTORIZE or len(set(row.src)) > 1 or len(src) == 1:
        return None
    return _named(row, f"vec{len(src)}({render(src[0])})")  # type: ignore[arg-type]


def _letters() -> Iterator[str]:
    """a, b, …, z, a1, b1, …"""
    for number in itertools.count():
        yield from (f"{letter}{number or ''}" for letter in LETTERS)


def _is_short(row: Row) -> bool:
    """Whether a node is as short as a letter would be."""
    if not row.src:
        return True
    return row.op is not Ops.SINK and len(row.src) <= 2 and len(render(row)) <= SHORT  # type: ignore[arg-type]


def text_of(row: Row) -> str:
    """An expression as a line, without the brackets around all of it."""
    if row.op is Ops.STORE:
        index, value, *_ = row.src
        return f"{render(index)} = {render(value)}"  # type: ignore[arg-type]
    text = render(row)  # type: ignore[arg-type]
    return text[1:-1] if _is_bracketed(text) else text


def _is_bracketed(text: str) -> bool:
    """Whether the first bracket is closed by the last."""
    depth = 0
    for place, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return c == ")" and place == len(text) - 1
    return False


def meaning_of(row: Row) -> str:
    """What a letter stands for: its expression where that is short, else how large it is."""
    text = text_of(_all_lanes(row, row.src) or row)
    if len(text) <= FITS and " ... " not in text:
        return text
    what = f"{row.arg.name} reduce" if row.op is Ops.REDUCE else row.op.name
    return f"{plural(len(row.toposort()), 'node')} that end in {what}"
