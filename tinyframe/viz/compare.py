"""`compare(a, b)`: two graphs side by side, with what differs marked.

compare(mine, asked)
print(compare(mine, asked))    # what differs, in words, and both graphs
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import Ops, UOp
from tinyframe.viz.fit import LIMIT, SCREEN, WIDEST, fits_a_screen
from tinyframe.viz.fold import nearest
from tinyframe.viz.graphs import GraphPicture, lines_of_text, roots_of
from tinyframe.viz.matching import TAKES, Difference, differences, matched, same_memory
from tinyframe.viz.names import Names, given, of_variables
from tinyframe.viz.nodes import Box, Node, Numbering, of_graph
from tinyframe.viz.repeats import general

MOST_KINDS = 3  # of ops that are named
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def compare(
    a: Any,
    b: Any,
    /,
    *,
    titles: tuple[str, str] = ("the first", "the second"),
    **names: Tensor | UOp,
) -> GraphPicture:
    """A picture of two graphs side by side, with what they share at the same height, and what
    differs marked.

    a, b: Tensors, UOps, ScheduleItems, ProgramSpecs, or lists of one of them. titles: what the two
    are called. names: as in graph(). TypeError for what cannot be drawn.
    """
    called = given(names) if names else of_variables(sys._getframe(1))
    return comparison(a, b, titles, called)


def comparison(a: Any, b: Any, titles: tuple[str, str], names: Names) -> GraphPicture:
    """compare() with these names only."""
    first, second = _numbered_alike(_roots(a), _roots(b), names)
    pairs = matched(first, second)
    found = differences(first, second, pairs)
    for d in found:
        if d.first is not None:
            first[d.first] = _marked(first[d.first], d.words[0])
        if d.second is not None:
            second[d.second] = _marked(second[d.second], d.words[1])
    said = sentence_of(found, first, second, titles)
    # a number for what stands at the same height, in place of the UOp, which need not be kept
    first = [replace(node, of=n) for n, node in enumerate(first)]
    back = {m: n for n, m in pairs.items()}
    second = [replace(node, of=back.get(m)) for m, node in enumerate(second)]
    left, right = _framed(first, 0, titles[0]), _framed(second, 1, titles[1])
    at = {node.of: n for n, node in enumerate(right, len(left)) if node.of is not None}
    shifted = [replace(node, sources=tuple(s + len(left) for s in node.sources)) for node in right]
    lines = [f"two graphs: {said}"]
    for nodes, title in zip((left, right), titles, strict=True):
        lines += [title, *lines_of_text([replace(node, box=None) for node in nodes])]
    about = lines[0], "\n".join(lines)
    beside = [(n, at[node.of]) for n, node in enumerate(left) if node.of in at]
    return GraphPicture("comparison", [*left, *shifted], SCREEN, about, beside)


def _roots(x: Any) -> list[UOp]:
    things = list(x) if isinstance(x, (list, tuple)) else [x]
    return [root for thing in things for root in roots_of(thing)]


def _numbered_alike(
    roots: list[UOp], others: list[UOp], names: Names
) -> tuple[list[Node], list[Node]]:
    """The nodes of two graphs, with the same number for a BUFFER of one and what stands for it."""
    numbering = Numbering()
    first = of_graph(roots, names=names, numbering=numbering)
    second = of_graph(others, names=names)
    for n, m in same_memory(first, second).items():
        ours, theirs = first[n].of, second[m].of
        if isinstance(ours, UOp) and ours.op is theirs.op is Ops.BUFFER:
            numbering.numbers[theirs.src[0]] = numbering.numbers[ours.src[0]]
    return first, of_graph(others, names=names, numbering=numbering)


def _marked(node: Node, words: str) -> Node:
    """The node with a mark; and where that is about its sources, a word for each arrow."""
    if words.startswith(TAKES) and not node.operands and len(node.sources) > 1:
        node = replace(node, operands=tuple(map(ordinal, range(1, len(node.sources) + 1))))
    return replace(node, mark=words)


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th: of places in a row of sources, of which there are few."""
    return f"{number}{('st', 'nd', 'rd')[number - 1] if number < 4 else 'th'}"


def _framed(nodes: list[Node], number: int, title: str) -> list[Node]:
    """What fits of a graph, nearest to the marks, in a frame with its title."""
    drawn = next(
        (cut for n in range(LIMIT, 2, -4) if fits_a_screen(cut := nearest(nodes, n), WIDEST / 2)),
        nearest(nodes, 3),
    )
    frame = Box("side", number, title)
    return [replace(node, box=frame) for node in drawn]


def sentence_of(
    found: Sequence[Difference],
    first: Sequence[Node],
    second: Sequence[Node],
    titles: tuple[str, str],
) -> str:
    """The first difference, and how many there are."""
    if not found:
        return "they are the same"
    d = found[0]
    if d.first is not None and d.second is not None:
        node = second[d.second]
        if node.mark.startswith(TAKES):
            said = f"in {titles[1]}, {node.title} {node.mark}"
            return said if d.words[0] == node.mark else f"{said}; in {titles[0]}, it {d.words[0]}"
        return f"in {titles[1]}, {node.title} {node.mark.replace('differs:', 'is')}"
    counts = [
        Counter(general(node) for node in nodes if node.mark == "only here")
        for nodes in (first, second)
    ]
    more = [_counted(counts[0] - counts[1]), _counted(counts[1] - counts[0])]
    if more[0] and more[1]:
        return f"{titles[0]} has {more[0]}, and {titles[1]} has {more[1]} instead"
    for title, words in zip(titles, more, strict=True):
        if words:
            return f"{title} has {words} more"
    return f"{titles[1]} has the same ops, put together differently"


def _counted(ops: Counter[str]) -> str:
    """`two SIN and one EXP2`; of many kinds, `fourteen nodes`."""
    if len(ops) > MOST_KINDS:
        return f"{_number(ops.total())} nodes"
    return " and ".join(f"{_number(n)} {op}" for op, n in ops.items())


def _number(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"
