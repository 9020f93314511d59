"""The lines of words that a node shows, each with its part: whoever lays them out, and whoever
dresses them afterwards, go by the same list."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator

from tinyframe.viz.nodes import Node

FEWEST = 34  # characters of a line before it is broken
# Sizes, short tuples, and how many of an op there are.
NEVER_BROKEN = re.compile(r" × |\([^()]{1,24}\)|\b\d+ [A-Z]")


def lines_of(node: Node) -> Iterator[tuple[str, str]]:
    """(part, line) from top to bottom: of each operand, the names, mark, title, value and note."""
    yield from (("operand", word) for word in node.operands)
    for part, words in (
        ("name", names_text(node.names)),
        ("mark", node.mark),
        ("title", node.title),
        ("value", node.value),
        ("note", node.note),
    ):
        yield from ((part, line) for line in wrapped(words))


def names_text(names: tuple[str, ...]) -> str:
    return ", ".join(names)


def wrapped(words: str) -> list[str]:
    """Words in lines of about the same length, and more per line where there are many of them: a
    text of 2,000 characters becomes a block that is wider than high."""
    if len(words) <= FEWEST:
        return [words] if words else []
    words = NEVER_BROKEN.sub(lambda found: found[0].replace(" ", "\u00a0"), words)
    longest = max(FEWEST, round(2.5 * math.sqrt(len(words))))
    count = math.ceil(len(words) / longest)
    for width in range(math.ceil(len(words) / count), longest + 1):  # as even as words allow
        lines = textwrap.wrap(words, width, break_long_words=False)
        if len(lines) <= count and max(map(len, lines)) <= longest:
            return lines
    return textwrap.wrap(words, longest)


def described(node: Node) -> str:
    """All that a node shows, in one line."""
    named = f"{names_text(node.names)} =" if node.names else ""
    title = " ".join(word for word in (named, node.title) if word)
    return ", ".join(word for word in (node.mark, title, node.value, node.note) if word)
