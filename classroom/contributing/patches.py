"""A small module with a past: what it was at first, and the thirty patches that were made to it.

It draws an owl from views, without copying a number: a view is a shape, and where in a list its
cells are. owl.txt has it, and each patch below its message: lines that occur once, each after a -,
and after a + those that replace them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Patch:
    """message: what its author wrote. edits: pairs of texts, before and after."""

    message: str
    edits: tuple[tuple[str, str], ...]

    def applied(self, source: str) -> str:
        """The module after it. ValueError where a text isn't there exactly once."""
        for before, after in self.edits:
            if source.count(before) != 1:
                raise ValueError(
                    f"{self.message!r}: {before!r} occurs {source.count(before)} times"
                )
            source = source.replace(before, after)
        return source


def texts_in(name: str) -> dict[str, str]:
    """Those of a file of this folder, by the words after === above each."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    _, *parts = re.split(r"^\n?=== (.+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _patch(message: str, text: str) -> Patch:
    pairs = re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)+)", text, re.MULTILINE)
    edits = (tuple(re.sub(r"(?m)^.", "", lines)[:-1] for lines in pair) for pair in pairs)
    return Patch(message, tuple((before, after) for before, after in edits))


(_, FIRST), *_rest = texts_in("owl.txt").items()
PATCHES = tuple(_patch(*part) for part in _rest)
