"""Large graphs made small enough to look at, in two ways; `repeats.py` has a third.

An op whose only user is of the same sort, elementwise or movement, is drawn as one with that
user: what is left are the places where values are shared, reduced, read and written. This cannot
make a ring, since what is folded away has no other way out. Where even that is too much, only the
nodes nearest to the results are drawn, and one node stands for all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tinyframe.viz.nodes import Box, Node, contents_text, plural

MOST_USERS = 6  # of a node: what is used more often has little to do with each of them
FOLDABLE = {"elementwise", "movement", "constant"}


def folded(nodes: Sequence[Node]) -> list[Node]:
    """The nodes with each tree of elementwise and movement ops as one."""
    users: list[set[int]] = [set() for _ in nodes]
    for number, node in enumerate(nodes):
        for s in node.sources:
            users[s].add(number)
    last = list(range(len(nodes)))  # the op that each is drawn as one with, and whose value shows
    for number in reversed(range(len(nodes))):
        if len(users[number]) == 1 and nodes[number].kind in FOLDABLE:
            (user,) = users[number]
            if may_join(nodes[number], nodes[user]):
                last[number] = last[user]
    members: dict[int, list[int]] = {}
    for number, end in enumerate(last):
        members.setdefault(end, []).append(number)
    drawn: list[Node] = []
    place: dict[int, int] = {}
    for end in sorted(members):
        sources = [place[last[s]] for m in members[end] for s in nodes[m].sources if last[s] != end]
        is_one = len(members[end]) == 1
        merged = tuple(sources if is_one else dict.fromkeys(sources))
        place[end] = len(drawn)
        drawn.append(as_one([nodes[m] for m in members[end]], merged))
    return drawn


def may_join(node: Node, user: Node) -> bool:
    """Whether a node may be drawn as one with its only user. What has a name or a mark stays, at
    least as the last op of several."""
    return (
        user.kind in FOLDABLE
        and not (node.names or node.mark or user.mark)
        and node.box == user.box
        and node.count == user.count
    )


def as_one(nodes: list[Node], sources: tuple[int, ...]) -> Node:
    """A node for several, the last of which gives the value."""
    if len(nodes) == 1:
        return replace(nodes[0], sources=sources)
    ops = Counter(node.title.split()[0] for node in nodes)
    count = sum(node.count for node in nodes)
    words = contents_text(dict(ops.most_common()))
    last = nodes[-1]
    return Node(
        "folded", plural(count, "op"), last.value, words, sources, (), last.names, last.box, count
    )


def one_for_each_box(nodes: Sequence[Node]) -> list[Node]:
    """The nodes with those in a box as one, which says what the box says."""
    first: dict[Box, int] = {}
    stands_for = [
        number if node.box is None else first.setdefault(node.box, number)
        for number, node in enumerate(nodes)
    ]
    members: dict[int, list[int]] = {}
    for number, representative in enumerate(stands_for):
        members.setdefault(representative, []).append(number)
    # in the order of their last nodes, since sources come first
    order = sorted(members, key=lambda number: members[number][-1])
    place = {number: n for n, number in enumerate(order)}
    drawn = []
    for number in order:
        group = [nodes[m] for m in members[number]]
        sources = [place[stands_for[s]] for node in group for s in node.sources]
        box = group[0].box
        if box is None:
            drawn.append(replace(group[0], sources=tuple(sources)))
            continue
        outside = tuple(dict.fromkeys(s for s in sources if s != place[number]))
        last, count = group[-1], sum(node.count for node in group)
        title, note = box.heading, box.words
        drawn.append(Node(box.style, title, last.value, note, outside, (), last.names, None, count))
    return drawn


def nearest(nodes: Sequence[Node], most: int) -> list[Node]:
    """At most so many nodes, those nearest to the results, or to the marked ones where some are;
    what is left out is one node more."""
    if len(nodes) <= most:
        return list(nodes)
    users: list[list[int]] = [[] for _ in nodes]
    for number, node in enumerate(nodes):
        for s in node.sources:
            users[s].append(number)
    marked = [n for n, node in enumerate(nodes) if node.mark]
    kept = (marked or [n for n in range(len(nodes)) if not users[n]])[-(most - 1) :]
    seen = set(kept)
    for number in kept:  # grows while it is walked: breadth first
        around = users[number] if marked and len(users[number]) <= MOST_USERS else []
        for s in (*nodes[number].sources, *around):
            if s not in seen and len(kept) < most - 1:
                seen.add(s)
                kept.append(s)
    left_out = [node for number, node in enumerate(nodes) if number not in seen]
    count = sum(node.count for node in left_out)
    place = {number: n for n, number in enumerate(sorted(seen), 1)}
    where = "farther from the change" if marked else "farther from the results"
    rest = Node("folded", f"{plural(count, 'more node')}", note=where)
    drawn = [replace(rest, count=count)]
    for number in sorted(seen):
        sources = tuple(place.get(s, 0) for s in nodes[number].sources)
        if not nodes[number].operands:
            sources = tuple(dict.fromkeys(sources)) if sources.count(0) > 1 else sources
        drawn.append(replace(nodes[number], sources=sources))
    return drawn
