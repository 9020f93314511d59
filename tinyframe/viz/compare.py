"""`compare(a, b)`: two graphs side by side, with their differences marked.

    compare(mine, asked)
    print(compare(mine, asked))    # the differences in words, and both graphs

Nodes are matched from the leaves up. Each node gets a key, made of its words and its sources' keys:
equal keys mean equal graphs. A node without an equal is then matched with one that differs from it
only in the order of sources, if that does not affect the values. Two BUFFERs match if they are the
same object, or else by position: the first of a shape with the first of that shape. The remaining
nodes are matched in order, like the lines of two texts (difflib).
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import UOp
from tinyframe.viz.fold import WIDE, as_many_as_fit
from tinyframe.viz.graphs import GraphPicture, given, lines_of_text, of_variables, roots_of
from tinyframe.viz.layout import SCREEN
from tinyframe.viz.nodes import Box, Node, grouped, of_graph, ordinal

TITLES = "the first", "the second"
TAKES, ONLY_HERE = "takes ", "only here"
MOST_LEFT = 2000  # nodes that are matched in order, which takes quadratic time
MOST_KINDS = 3  # of ops that are named one by one
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def compare(
    a: Any, b: Any, /, *, titles: tuple[str, str] = TITLES, **names: Tensor | UOp
) -> GraphPicture:
    """A picture of two graphs side by side, with shared nodes at the same height, and differences
    marked.

    a, b: Tensors, UOps, ScheduleItems, ProgramSpecs, or lists of one of them. titles: names for the
    two graphs. names: as in graph(). TypeError for anything that cannot be drawn.
    """
    called = given(names) if names else of_variables(sys._getframe(1))
    numbering: dict[Any, int] = {}
    first, second = (of_graph(roots_of(x), names=called, numbering=numbering) for x in (a, b))
    pairs = matched(first, second)
    for n, m in pairs.items():  # matched BUFFERs have the same number
        if first[n].kind == "memory":
            second[m] = replace(second[m], title=first[n].title)
    found = differences(first, second, pairs)
    for d in found:
        for nodes, number, words in zip((first, second), (d.first, d.second), d.words, strict=True):
            if number is not None:
                nodes[number] = _marked(nodes[number], words)
    about = f"two graphs: {sentence_of(found, first, second, titles)}"
    # the number of the node at the same height, in place of the UOp, which need not be kept alive
    back = {m: n for n, m in pairs.items()}
    left = [replace(node, of=n) for n, node in enumerate(first)]
    right = [replace(node, of=back.get(m)) for m, node in enumerate(second)]
    sides, text = [], [about]
    for number, (nodes, title) in enumerate(zip((left, right), titles, strict=True)):
        shown, frame = as_many_as_fit(nodes, WIDE // 2), Box("side", number, title)
        text += [title, *lines_of_text(shown)]
        sides.append([replace(node, box=frame) for node in shown])
    left, right = sides
    at = {node.of: n for n, node in enumerate(right, len(left)) if node.of is not None}
    beside = [(n, at[node.of]) for n, node in enumerate(left) if node.of in at]
    shifted = [replace(node, sources=tuple(s + len(left) for s in node.sources)) for node in right]
    return GraphPicture("", [*left, *shifted], SCREEN, (about, "\n".join(text)), beside)


def _marked(node: Node, words: str) -> Node:
    """The node with a mark; if that is about its sources, also with a word for each arrow."""
    if words.startswith(TAKES) and not node.operands and len(node.sources) > 1:
        node = replace(node, operands=tuple(map(ordinal, range(1, 1 + len(node.sources)))))
    return replace(node, mark=words)


# ---- which nodes are the same --------------------------------------------------------------------


def matched(first: Sequence[Node], second: Sequence[Node]) -> dict[int, int]:
    """Matches nodes of the first graph with nodes of the second, by number; each at most once."""
    shared = {node.of for node in first} & {node.of for node in second} - {None}
    graphs = [(nodes, _leaves(nodes, shared)) for nodes in (first, second)]
    pairs: dict[int, int] = {}
    for ordered in (True, False):
        known: dict[tuple, int] = {}
        ours, theirs = (_keys(*of, known, ordered) for of in graphs)
        free = set(range(len(second))).difference(pairs.values())
        waiting = grouped((theirs[m], m) for m in sorted(free, reverse=True))
        for n, key in enumerate(ours):
            if n not in pairs and waiting.get(key):
                pairs[n] = waiting[key].pop()
    rest = [n for n in range(len(first)) if n not in pairs]
    others = sorted(set(range(len(second))).difference(pairs.values()))
    if len(rest) <= MOST_LEFT >= len(others):
        a, b = [_general(first[n]) for n in rest], [_general(second[m]) for m in others]
        for block in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
            for i in range(block.size):
                pairs[rest[block.a + i]] = others[block.b + i]
    return pairs


def _leaves(nodes: Sequence[Node], shared: set[Any]) -> dict[int, tuple]:
    """Keys for the memory of a graph: equal for the same buffer, or for the same position. shared:
    the nodes that are in both graphs."""
    found, count = dict[int, tuple](), Counter[tuple[str, str]]()
    for number, node in enumerate(nodes):
        if node.kind == "memory" and not node.sources:
            words = node.value, node.note
            found[number] = (*words, node.of if node.of in shared else count[words])
            count[words] += node.of not in shared
    return found


def _keys(
    nodes: Sequence[Node], leaves: dict[int, tuple], known: dict[tuple, int], ordered: bool
) -> list[int]:
    """A number for each node, equal for equal graphs. known: the numbers so far; new ones are
    added. ordered: whether a different order of sources always makes a different graph."""
    found: list[int] = []
    for number, node in enumerate(nodes):
        sources = [found[s] for s in node.sources]
        if not ordered and not node.operands and node.kind == "elementwise":
            sources.sort()  # their order does not affect the values
        words = node.title, node.value, node.note, node.operands, *sources
        found.append(known.setdefault(leaves.get(number) or words, len(known)))
    return found


def _general(node: Node) -> str:
    """The title without its number: `BUFFER` for `BUFFER 3`, `reduce` for `2. reduce`."""
    is_numbered = node.kind in ("memory", "kernel")
    return re.sub(r"^\d+\. | (data)?\d+$", "", node.title) if is_numbered else node.title


# ---- differences ---------------------------------------------------------------------------------


class Difference(NamedTuple):
    """A difference in one node. first, second: its number in each graph, None where it is missing.
    words: how it differs in the first graph, and in the second."""

    first: int | None
    second: int | None
    words: tuple[str, str]


def differences(
    first: Sequence[Node], second: Sequence[Node], pairs: dict[int, int]
) -> list[Difference]:
    """The differences, in the order of the second graph, without those that only follow from
    others."""
    back = {m: n for n, m in pairs.items()}
    found: list[tuple[tuple[int, int], Difference]] = []
    changed: set[int] = set()  # nodes of the first that differ, or have such sources
    for n, node in enumerate(first):
        m = pairs.get(n)
        if m is None:  # goes before the next matched node of the second graph
            matched_after = (pairs[k] for k in range(n, len(first)) if k in pairs)
            place = min(matched_after, default=len(second))
            found.append(((place, 0), Difference(n, None, (ONLY_HERE, ""))))
            continue
        other = second[m]
        follows = any(s in changed or s not in pairs for s in node.sources)
        follows |= any(s not in back for s in other.sources)
        words = _differing(node, other, follows)
        below = [pairs.get(s) for s in node.sources]
        moved = tuple(below) != tuple(other.sources)  # told unless only because a source differs
        if words is None and moved and not (follows and Counter(below) != Counter(other.sources)):
            words = _taken(first, n), _taken(second, m)
            if words[0] == words[1]:
                words = (f"{TAKES}its sources in a different order",) * 2
        if words is not None:
            found.append(((m, 1), Difference(n, m, words)))
        if words is not None or follows:
            changed.add(n)
    found += [((m, 1), Difference(None, m, ("", ONLY_HERE)))
              for m in range(len(second)) if m not in back]  # fmt: skip
    return [difference for _, difference in sorted(found, key=lambda pair: pair[0])]


def _differing(node: Node, other: Node, follows: bool) -> tuple[str, str] | None:
    """How two nodes of one op differ, in words; None if they don't."""
    for ours, theirs in ((node.note, other.note), (node.value, other.value)):
        if ours != theirs and not (follows and ours is node.value):
            a, b = ours or "nothing", theirs or "nothing"
            return f"differs: {a}, not {b}", f"differs: {b}, not {a}"
    return None


def _taken(nodes: Sequence[Node], number: int) -> str:
    """A node's sources in words, in order: "takes b, then a", "takes b as x …"."""
    node = nodes[number]
    names = [" or ".join(nodes[s].names) or nodes[s].title for s in node.sources]
    if any(node.operands):
        pairs = zip(names, node.operands, strict=True)
        return TAKES + ", ".join(f"{name} as {role}" if role else name for name, role in pairs)
    return TAKES + ", then ".join(names)


def sentence_of(
    found: Sequence[Difference], first: list[Node], second: list[Node], titles: tuple[str, str]
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
    a, b = (Counter(_general(node) for node in nodes if node.mark == ONLY_HERE)
            for nodes in (first, second))  # fmt: skip
    more = _counted(a - b), _counted(b - a)
    if all(more):
        return f"{titles[0]} has {more[0]}, and {titles[1]} has {more[1]} instead"
    for title, words in zip(titles, more, strict=True):
        if words:
            return f"{title} has {words} more"
    return f"{titles[1]} has the same ops, put together differently"


def _counted(ops: Counter[str]) -> str:
    """`two SIN and one EXP2`; `fourteen nodes` if there are many kinds."""

    def number(count: int) -> str:
        return NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"

    if len(ops) > MOST_KINDS:
        return f"{number(ops.total())} nodes"
    return " and ".join(f"{number(count)} {op}" for op, count in ops.items())
