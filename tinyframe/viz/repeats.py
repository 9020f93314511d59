"""What comes again and again, drawn once with a count: layers, chains, and nodes side by side.

Nodes stand in the order of a walk from the results down, sources first, so layers that are built
alike follow one another: node n + p says what node n says, where p is how many nodes a layer has,
and its sources are p further on too, or the very same. The longest such run is drawn as its first
layer in a frame, "× 12"; then the next longest, until what is left is small enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tinyframe.viz.nodes import Box, Node

NUMBERED = ("memory", "kernel")  # kinds of which each node has a number in its title
NUMBER = re.compile(r"^\d+\. | \d+(?= |$)|( and)? \d+")
PLURALS = ("BUFFER", "buffer", "kernel")  # their plural has an s
FEWEST = 3  # times: two alike are looked at one by one
OFTEN = 3  # names of one node for several that are listed; of more, the first and the last
LONGEST = 256  # nodes of a layer that is found
WORK = 500_000  # comparisons in one search: half a second
LEAST = 20  # of so many nodes a run saves one at least, or is not worth the search


@dataclass(frozen=True)
class Run:
    """`times` blocks of `period` nodes each, alike, the first of which begins at `start`."""

    start: int
    period: int
    times: int

    @property
    def saved(self) -> int:
        return (self.times - 1) * self.period

    def first(self, number: int) -> int:
        """The node of the first block that stands for this one."""
        inside = self.start <= number < self.start + self.times * self.period
        return self.start + (number - self.start) % self.period if inside else number


def repeated(nodes: Sequence[Node], is_enough: Callable[[list[Node]], bool]) -> list[Node]:
    """The nodes with runs of blocks as one block, the longest run first, until it is enough."""
    drawn = list(nodes)
    while not is_enough(drawn):
        run = longest_run(drawn)
        if run is None or run.saved * LEAST < len(drawn):
            break
        drawn = without(drawn, run)
    return drawn


def longest_run(nodes: Sequence[Node]) -> Run | None:
    """The run that saves most nodes; None where nothing comes three times in a row."""
    said = _numbered([_words(node) for node in nodes])
    lies = _numbered([tuple(n - s for s in node.sources) for n, node in enumerate(nodes)])
    best: Run | None = None
    longest = min(LONGEST, len(nodes) // FEWEST, WORK // max(len(nodes), 1))
    for period in range(1, longest + 1):
        same = said[:-period] == said[period:]
        moved = lies[:-period] == lies[period:]
        for n in np.flatnonzero(same & ~moved).tolist():  # the same source each time, maybe
            moved[n] = _goes_on(nodes[n].sources, nodes[n + period].sources, period)
        run = _run_in(nodes, said, same & moved, period)
        if run and (best is None or run.saved > best.saved):
            best = run
            if best.saved > 0.9 * len(nodes):
                break
    return best


def _words(node: Node) -> tuple:
    """What has to be equal. Numbers of buffers are not; and nodes in different frames are not."""
    return node.kind, general(node), node.value, node.note, node.operands, node.mark, node.box


def general(node: Node) -> str:
    """`BUFFER` of `BUFFER 3`, `reduce` of `2. reduce`."""
    return node.title if node.kind not in NUMBERED else NUMBER.sub("", node.title).strip()


def _numbered(keys: Sequence[tuple]) -> np.ndarray:
    numbers: dict[tuple, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys])


def _goes_on(sources: tuple[int, ...], later: tuple[int, ...], period: int) -> bool:
    """Whether each source is the same one, or the one a block further on."""
    return len(sources) == len(later) and all(
        t - s in (0, period) for s, t in zip(sources, later, strict=True)
    )


def _run_in(nodes: Sequence[Node], said: np.ndarray, alike: np.ndarray, period: int) -> Run | None:
    """The longest run of a period. alike: whether each node is like the one a block further on."""
    ends = np.flatnonzero(np.diff(np.concatenate(([0], alike.astype(np.int8), [0]))))
    starts, lengths = ends[::2], ends[1::2] - ends[::2]
    if not len(starts):
        return None
    at = int(lengths.argmax())
    start, length = int(starts[at]), int(lengths[at])
    times = length // period + 1
    if times < FEWEST - 1:
        return None

    def rank(start: int) -> tuple[int, bool, int]:
        before = _begins_before(nodes, said, Run(start, period, times))
        return _leaving(nodes, start, period), not before, start

    _, begins_here, start = min(map(rank, range(start, start + length % period + 1)))
    run = Run(start, period, times)
    if not begins_here:
        run = Run(start - period, period, times + 1)
    framed = period > 1 and any(node.box for node in nodes[run.start : run.start + period])
    return None if run.times < FEWEST or framed else run


def _leaving(nodes: Sequence[Node], start: int, period: int) -> int:
    """How many nodes of a block are used in the next one: at the seam of two layers it is one."""
    block = range(start, start + period)
    later = nodes[start + period : start + 2 * period]
    return len({s for node in later for s in node.sources if s in block})


def _begins_before(nodes: Sequence[Node], said: np.ndarray, run: Run) -> bool:
    """Whether the block before the first one is alike but for what comes into it from outside."""
    start = run.start - run.period
    if start < 0 or (said[start : run.start] != said[run.start : run.start + run.period]).any():
        return False
    for n in range(start, run.start):
        sources, later = nodes[n].sources, nodes[n + run.period].sources
        if len(sources) != len(later):
            return False
        for s, t in zip(sources, later, strict=True):
            if t - s not in (0, run.period) and not s < start <= t < run.start:
                return False
    return True


def without(nodes: Sequence[Node], run: Run) -> list[Node]:
    """The nodes with a run as its first block, which stands for all of them."""
    block_end, end = run.start + run.period, run.start + run.times * run.period
    kept = [*range(block_end), *range(end, len(nodes))]
    place = {number: n for n, number in enumerate(kept)}
    box = None
    if run.period > 1:
        goes_on = _leaving(nodes, run.start, run.period) > 0
        number = sum(1 for b in {node.box for node in nodes} if b is not None)
        how = "each on what the one before gives" if goes_on else "side by side"
        words = f"{run.times:,} times, {how}"
        box = Box("repeat", number, f"× {run.times:,}", words)
    drawn = []
    for number in kept:
        node = nodes[number]
        if run.start <= number < block_end:
            node = _for_all(nodes[number : end : run.period], box)
        sources = [place[run.first(s)] for s in node.sources]
        if not node.operands:
            sources = _each_once_where_folded(nodes[number].sources, sources)
        drawn.append(replace(node, sources=tuple(sources)))
    return drawn


def _each_once_where_folded(before: tuple[int, ...], after: list[int]) -> list[int]:
    """Two arrows from one node stay two; those that folding brought together become one."""
    found = dict(zip(zip(before, after, strict=True), after, strict=True))
    merged = len(set(after)) < len(set(before))
    return list(dict.fromkeys(found.values())) if merged else after


def _for_all(nodes: Sequence[Node], box: Box | None) -> Node:
    """The first of some nodes that are alike, with the names of all."""
    first, times = nodes[0], len(nodes)
    names = tuple(name for node in nodes for name in node.names)
    title = first.title
    if first.kind in NUMBERED:
        what = general(first)
        title = f"{times:,} {what}s" if what in PLURALS else f"{times:,} × {what}"
    elif box is None:
        title = f"{title} × {times:,}"
    return replace(
        first,
        title=title,
        names=names if len(names) <= OFTEN else (f"{names[0]} to {names[-1]}",),
        count=sum(node.count for node in nodes),
        box=box or first.box,
    )


def side_by_side(nodes: Sequence[Node]) -> list[Node]:
    """Nodes that say the same, of the same sources and for the same users, drawn as one."""
    users: list[set[int]] = [set() for _ in nodes]
    for number, node in enumerate(nodes):
        for s in node.sources:
            users[s].add(number)
    groups: dict[tuple, list[int]] = {}
    for number, node in enumerate(nodes):
        key = (*_words(node), node.sources, tuple(sorted(users[number])))
        groups.setdefault(key, []).append(number)
    stands_for = {
        number: group[0] if len(group) >= FEWEST else number
        for group in groups.values()
        for number in group
    }
    members: dict[int, list[int]] = {}
    for number in range(len(nodes)):
        members.setdefault(stands_for[number], []).append(number)
    place = {first: n for n, first in enumerate(members)}
    drawn = []
    for first, group in members.items():
        before = nodes[first].sources
        sources = [place[stands_for[s]] for s in before]
        if not nodes[first].operands:
            sources = _each_once_where_folded(before, sources)
        drawn.append(replace(_several([nodes[m] for m in group]), sources=tuple(sources)))
    return drawn


def _several(nodes: Sequence[Node]) -> Node:
    """One node for some that stand side by side."""
    if len(nodes) == 1:
        return nodes[0]
    node = _for_all(nodes, None)
    if node.kind in NUMBERED:
        return node
    note = " ".join(filter(None, (node.note, "side by side")))
    return replace(node, title=f"{len(nodes):,} × {nodes[0].title}", note=note)
