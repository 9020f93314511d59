"""Which nodes of two graphs are the same, and what differs.

Sources come first, so what is the same from the leaves up is found by giving each node a key made
of its words and of its sources' keys: equal keys are equal graphs. What has no equal is matched
with what differs from it in the order of sources only, where that does not change the values.
BUFFERs are the same where they are one object, else by their place: the first of a shape is the
first of that shape. What is left over is matched in order, as lines of two texts are (difflib).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from tinyframe.viz.nodes import Node
from tinyframe.viz.repeats import general

TAKES = "takes "
OTHER_ORDER = f"{TAKES}its sources in a different order"  # where their titles are the same
MOST_LEFT = 2000  # nodes that are matched in order, which takes their number squared


@dataclass(frozen=True)
class Difference:
    """What sets one node apart. first, second: its number in each graph, None where it is in one
    only. words: of it as it is in the first, and in the second."""

    first: int | None
    second: int | None
    words: tuple[str, str]


def matched(first: Sequence[Node], second: Sequence[Node]) -> dict[int, int]:
    """The nodes of the first that stand for one of the second, by number; each at most once."""
    leaves = same_memory(first, second)
    pairs: dict[int, int] = {}
    for ordered in (True, False):
        keys: dict[tuple, int] = {}
        ours = _keys(first, keys, {n: ("memory", n) for n in leaves}, ordered)
        theirs = _keys(second, keys, {m: ("memory", n) for n, m in leaves.items()}, ordered)
        waiting: dict[int, deque[int]] = {}
        for m in sorted(set(range(len(second))).difference(pairs.values())):
            waiting.setdefault(theirs[m], deque()).append(m)
        for n, key in enumerate(ours):
            if n not in pairs and waiting.get(key):
                pairs[n] = waiting[key].popleft()
    taken = set(pairs.values())
    rest = [n for n in range(len(first)) if n not in pairs]
    others = [m for m in range(len(second)) if m not in taken]
    if len(rest) <= MOST_LEFT >= len(others):
        a, b = [general(first[n]) for n in rest], [general(second[m]) for m in others]
        for block in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
            for i in range(block.size):
                pairs[rest[block.a + i]] = others[block.b + i]
    return pairs


def same_memory(first: Sequence[Node], second: Sequence[Node]) -> dict[int, int]:
    """The memory of the first that is, or stands for, one of the second, by number."""
    ours = [n for n, node in enumerate(first) if node.kind == "memory" and not node.sources]
    theirs = [m for m, node in enumerate(second) if node.kind == "memory" and not node.sources]
    by_node = {second[m].of: m for m in theirs}
    pairs = {n: by_node[first[n].of] for n in ours if first[n].of in by_node}
    taken = set(pairs.values())
    free: dict[tuple[str, str], deque[int]] = {}
    for m in theirs:
        if m not in taken:
            free.setdefault(_leaf(second[m]), deque()).append(m)
    for n in ours:
        if n not in pairs and free.get(_leaf(first[n])):
            pairs[n] = free[_leaf(first[n])].popleft()
    return pairs


def _leaf(node: Node) -> tuple[str, str]:
    return node.value, node.note


def _keys(
    nodes: Sequence[Node], known: dict[tuple, int], leaves: dict[int, tuple], ordered: bool
) -> list[int]:
    """A number for each node, equal for equal graphs. known: the numbers so far, which grows.
    ordered: whether graphs with sources in a different order are always different graphs."""
    found: list[int] = []
    for number, node in enumerate(nodes):
        sources = [found[s] for s in node.sources]
        if not ordered and not node.operands and node.kind == "elementwise":
            sources.sort()  # their order does not matter to the values
        key = leaves.get(number) or (*words_of(node), node.operands, tuple(sources))
        if node.kind == "memory" and number not in leaves:
            key = ("alone", id(nodes), number)
        found.append(known.setdefault(key, len(known)))
    return found


def words_of(node: Node) -> tuple[str, str, str]:
    return node.title, node.value, node.note


def differences(
    first: Sequence[Node], second: Sequence[Node], pairs: dict[int, int]
) -> list[Difference]:
    """What differs, from the sources on; what only follows from that is left out."""
    back = {m: n for n, m in pairs.items()}
    found: list[Difference] = []
    changed: set[int] = set()  # nodes of the first that differ, or have such sources
    for n, node in enumerate(first):
        if n not in pairs:
            found.append(Difference(n, None, ("only here", "")))
            continue
        other = second[pairs[n]]
        below = [pairs.get(s) for s in node.sources]
        follows = any(s in changed or s not in pairs for s in node.sources)
        follows |= any(s not in back for s in other.sources)
        words = _differing(node, other, follows)
        if words is None and _taken_differ(below, other.sources, follows):
            words = _taken(first, n), _taken(second, pairs[n])
            words = (OTHER_ORDER, OTHER_ORDER) if words[0] == words[1] else words
        if words is not None:
            found.append(Difference(n, pairs[n], words))
        if words is not None or follows:
            changed.add(n)
    found += [Difference(None, m, ("", "only here")) for m in range(len(second)) if m not in back]
    # In the order of the second graph; what only the first has stands before what comes next there.
    following = len(second)
    place: dict[int, int] = {}
    for n in reversed(range(len(first))):
        following = min(following, pairs.get(n, following))
        place[n] = following
    return sorted(
        found,
        key=lambda d: (place[d.first], 0) if d.second is None and d.first is not None
        else (d.second or 0, 1),
    )  # fmt: skip


def _differing(node: Node, other: Node, follows: bool) -> tuple[str, str] | None:
    """Words for two nodes of one op that say different things; None where they say the same."""
    for ours, theirs in ((node.note, other.note), (node.value, other.value)):
        if ours != theirs and not (follows and ours is node.value):
            return f"differs: {_or_nothing(ours)}, not {_or_nothing(theirs)}", (
                f"differs: {_or_nothing(theirs)}, not {_or_nothing(ours)}"
            )
    return None


def _taken_differ(below: Sequence[int | None], theirs: Sequence[int], follows: bool) -> bool:
    """Whether sources differ by themselves, and not only because one of them differs."""
    if follows and Counter(below) != Counter(theirs):
        return False
    return tuple(below) != tuple(theirs)


def _taken(nodes: Sequence[Node], number: int) -> str:
    """What a node takes as its sources, in their order: "takes b, then a", "takes b as x …"."""
    node = nodes[number]
    names = [" or ".join(nodes[s].names) or nodes[s].title for s in node.sources]
    if any(node.operands):
        roles = [f" as {operand}" if operand else "" for operand in node.operands]
        return f"{TAKES}{', '.join(map(''.join, zip(names, roles, strict=True)))}"
    return f"{TAKES}{', then '.join(names)}"


def _or_nothing(words: str) -> str:
    return words or "nothing"
