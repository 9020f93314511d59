"""Folds large graphs to fit on a screen, by drawing several nodes as one.

`fitted` takes the mildest of three measures that is enough: each tree of elementwise and movement
ops becomes one node; each kernel's box becomes one node; only the nodes nearest to the results are
drawn, and one more stands for all the others. Each node counts the nodes it stands for.

The size of a picture is estimated from the words on its nodes, so that its text is the same with
and without a layout program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from tinyframe.viz.nodes import Box, Node, grouped, lines_of, plural, wrapped

LIMIT = 60  # nodes: more cannot be taken in at a glance
HIGH, WIDE = 66, 190  # lines and letters that are still readable when scaled to a screen
MOST_USERS = 6  # of a node: one with more has little to do with each of them
FOLDABLE = {"elementwise", "movement", "constant"}


def fitted(nodes: Sequence[Node]) -> list[Node]:
    """The nodes, folded if they would not fit on a screen."""
    return as_many_as_fit(folded(nodes, lambda drawn: len(drawn) <= LIMIT and fits(drawn)))


def folded(nodes: Sequence[Node], is_enough: Callable[[list[Node]], bool]) -> list[Node]:
    """The nodes with each tree, and then each box, as one node, until that is enough."""
    drawn = list(nodes)
    for way in (trees_as_one, boxes_as_one):
        if not is_enough(drawn):
            drawn = way(drawn)
    return drawn


def as_many_as_fit(nodes: Sequence[Node], wide: int = WIDE) -> list[Node]:
    """As many nodes as fit on a screen, or in `wide` letters of it, nearest to the results."""
    counts = range(min(len(nodes), LIMIT), 2, -4)
    return next((cut for n in counts if fits(cut := nearest(nodes, n), wide)), nearest(nodes, 3))


def fits(nodes: Sequence[Node], wide: int = WIDE) -> bool:
    """Whether a layout will put the nodes in rows that are neither too many nor too wide."""
    row: list[int] = []
    across, down = Counter[int](), dict[int, float]()
    for node in nodes:
        row.append(place := max((row[s] + 1 for s in node.sources), default=0))
        lines = [line for part, line in lines_of(node) if part != "operand"]
        across[place] += 5 + max(map(len, lines))
        down[place] = max(down.get(place, 0), len(lines) + 2 + 1.5 * bool(node.operands))
    headings = sum(len(wrapped(box.words)) + 3 for box in {node.box for node in nodes} if box)
    return max(across.values(), default=0) <= wide and sum(down.values()) + headings <= HIGH


def joined(
    nodes: Sequence[Node], stands_for: Sequence[int], as_one: Callable[[list[Node]], Node]
) -> list[Node]:
    """The nodes with each group as one. stands_for: each node's group. Only the last node of a
    group may be used outside it, or there would be a cycle."""
    members = grouped((group, number) for number, group in enumerate(stands_for))
    order = sorted(members, key=lambda group: members[group][-1])
    place = {group: n for n, group in enumerate(order)}
    drawn: list[Node] = []
    for group in order:
        inside = [nodes[m] for m in members[group]]
        sources = tuple(place[stands_for[s]] for node in inside for s in node.sources)
        if len(inside) > 1:
            sources = tuple(dict.fromkeys(s for s in sources if s != place[group]))
        drawn.append(replace(as_one(inside), sources=sources))
    return drawn


def users_of(nodes: Sequence[Node]) -> list[set[int]]:
    users = grouped((s, number) for number, node in enumerate(nodes) for s in node.sources)
    return [set(users.get(number, ())) for number in range(len(nodes))]


def trees_as_one(nodes: Sequence[Node]) -> list[Node]:
    """Each tree of elementwise and movement ops becomes its last op, which leaves the places where
    values are shared, reduced, read and written. A node with a name or a mark stays, or is the last
    op of a tree."""
    users = users_of(nodes)
    last = list(range(len(nodes)))
    for number, node in reversed([*enumerate(nodes)]):
        if len(users[number]) == 1 and node.kind in FOLDABLE and not (node.names or node.mark):
            (user,) = users[number]
            other = nodes[user]
            if other.kind in FOLDABLE and not other.mark and node.box == other.box:
                last[number] = last[user]

    def as_one(inside: list[Node]) -> Node:
        if len(inside) == 1:
            return inside[0]
        ops = Counter(node.title.split()[0] for node in inside)
        count, end = sum(node.count for node in inside), inside[-1]
        note = ", ".join(name if n == 1 else f"{n} {name}" for name, n in ops.most_common())
        return replace(end, kind="folded", title=plural(count, "op"), count=count, operands=(),
                       note=note, of=None)  # fmt: skip

    return joined(nodes, last, as_one)


def boxes_as_one(nodes: Sequence[Node]) -> list[Node]:
    """The nodes of each box become one, with the words of the box."""
    first: dict[Box, int] = {}
    group = [n if node.box is None else first.setdefault(node.box, n)
             for n, node in enumerate(nodes)]  # fmt: skip

    def as_one(inside: list[Node]) -> Node:
        box, last, count = inside[0].box, inside[-1], sum(node.count for node in inside)
        if box is None:
            return last
        return Node(box.style, box.heading, last.value, box.words, names=last.names, count=count)

    return joined(nodes, group, as_one)


def nearest(nodes: Sequence[Node], most: int) -> list[Node]:
    """At most `most` nodes, those nearest to the marked ones, or else to the results; one of them
    stands for all that are left out."""
    if len(nodes) <= most:
        return list(nodes)
    users = users_of(nodes)
    marked = [n for n, node in enumerate(nodes) if node.mark]
    kept = (marked or [n for n in range(len(nodes)) if not users[n]])[-(most - 1) :]
    seen = set(kept)
    for number in kept:  # grows while it is walked: breadth first
        around = users[number] if marked and len(users[number]) <= MOST_USERS else ()
        for s in (*nodes[number].sources, *sorted(around)):
            if s not in seen and len(kept) < most - 1:
                seen.add(s)
                kept.append(s)
    count = sum(node.count for number, node in enumerate(nodes) if number not in seen)
    where = "farther from the change" if marked else "farther from the results"
    drawn = [Node("folded", plural(count, "more node"), note=where, count=count)]
    place = {number: n for n, number in enumerate(sorted(seen), 1)}
    for number in sorted(seen):
        sources = tuple(place.get(s, 0) for s in nodes[number].sources)
        if not nodes[number].operands and sources.count(0) > 1:
            sources = tuple(dict.fromkeys(sources))
        drawn.append(replace(nodes[number], sources=sources))
    return drawn
