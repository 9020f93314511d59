"""Hint: What are the three kinds of pattern? For a hole, when does a node *not* fit? For a node
with sources, what has to agree before you look at the sources at all?
Hint: Carry a list of ways along, which begins as [found]. For each pair of sources, replace it by
all the ways in which each of the old ways can be continued: match(part, source, way) gives these.
If the op is COMMUTATIVE, do all that twice, and join the lists.
Because: A way that fills x too early may lead nowhere, so all of them are kept until the end. Nodes
are unique, so `is` tells 1 from 1.0 where == doesn't.
"""

from typing import Any

from classroom.mini.check import Wrong, describe, promise, wrong_if
from classroom.mini.functions.part7a.shared import counters, floats, number, plain


def expect_ways(
    mini,
    said: str,
    pattern: Any,
    node: Any,
    wanted: list[dict[str, Any]],
    why: str = "",
    found: dict[str, Any] | None = None,
) -> None:
    """Wrong unless match gives these dicts, in any order, each once or more."""
    got = mini.match(pattern, node, dict(found or {}))
    wrong_if(not isinstance(got, list) or not all(isinstance(way, dict) for way in got),
             f"{said} should give a list of dicts, one for each way to fill the holes.", said,
             "a list of dicts", describe(got) if got is None else type(got).__name__)  # fmt: skip

    def told(ways: list[dict[str, Any]]) -> str:
        rows = [", ".join(f"{name}: {plain(n)}" for name, n in sorted(w.items())) for w in ways]
        return "[" + ", ".join("{" + row + "}" for row in dict.fromkeys(rows)) + "]"

    def as_set(ways: list[dict[str, Any]]) -> set[frozenset[Any]]:
        return {frozenset((name, id(filled)) for name, filled in way.items()) for way in ways}

    if as_set(got) != as_set(wanted):
        text = why or f"{said} should be {told(wanted)}."
        raise Wrong(text, said, told(wanted), told(got))


@promise("A hole takes any node, but constants only if its name begins with c")
def holes(mini) -> None:
    i, j, _ = counters(mini)
    x, c, c1, four = mini.hole("x"), mini.hole("c"), mini.hole("c1"), number(mini, 4)
    for said, pattern, node, wanted, why in (
        ('match(x, i + j, {}), for x = hole("x"),', x, i + j, [{"x": i + j}], ""),
        ('match(c, 4, {}), for c = hole("c"),', c, four, [{"c": four}], ""),
        ('match(c, i, {}), for c = hole("c"),', c, i, [],
         "i isn't a constant, and the name of this hole begins with c."),
        ('match(hole("c1"), i, {})', c1, i, [],
         "c1 begins with c as well, so it takes constants only."),
    ):  # fmt: skip
        expect_ways(mini, said, pattern, node, wanted, why)


@promise("Op, arg and sources have to agree", needs=())
def agree(mini) -> None:
    i, j, _ = counters(mini)
    x, y, (t, _) = mini.hole("x"), mini.hole("y"), floats(mini)
    row = mini.UOp(mini.Ops.REDUCE_AXIS, (x,), (mini.Ops.ADD, (0,)))
    column = mini.UOp(mini.Ops.REDUCE_AXIS, (t,), (mini.Ops.ADD, (1,)))
    one, two = mini.UOp(mini.Ops.SINK, (x,)), mini.UOp(mini.Ops.SINK, (i, j))
    for said, pattern, node, wanted, why in (
        ("match(x // y, i % 4, {})", x // y, i % 4, [], "`//` and `%` are different ops."),
        ("match(x // y, i // j, {})", x // y, i // j, [{"x": i, "y": j}], ""),
        ("match(x * 1.0, t * 2.0, {})", x * 1.0, t * 2.0, [],
         "The pattern has the constant 1.0 in it, and the node has 2.0."),
        ("match(x * 1.0, i * 1, {})", x * 1.0, i * 1, [],
         "1.0 and 1 are different constants, although Python says that 1.0 == 1. There is "
         "only one node for each, so `is` can tell."),
        ("a sum over axis 0 as pattern, a sum over axis 1 as node:", row, column, [],
         "The args differ: one sums axis 0, the other axis 1."),
        ("match(SINK of one source, SINK of two, {})", one, two, [],
         "The pattern has one source and the node has two."),
    ):  # fmt: skip
        expect_ways(mini, said, pattern, node, wanted, why)


@promise("A hole that occurs twice is filled by the same node twice")
def twice(mini) -> None:
    i, j, _ = counters(mini)
    x, y = mini.hole("x"), mini.hole("y")
    for said, pattern, node, wanted, why, found in (
        ("match(x + x, i + i, {})", x + x, i + i, [{"x": i}], "", {}),
        ("match(x + x, i + j, {})", x + x, i + j, [],
         "x can't be i and j at once. Was it filled before? Then only by the same node.", {}),
        ('match(x, j, {"x": i})', x, j, [],
         "`found` says that x is i already, and here is j.", {"x": i}),
        ('match(y // x, j // i, {"x": i})', y // x, j // i, [{"x": i, "y": j}],
         "What `found` says already belongs in every dict of the result.", {"x": i}),
    ):  # fmt: skip
        expect_ways(mini, said, pattern, node, wanted, why, found)


@promise("+, * and MAX match either way round; //, % and < do not")
def either_way(mini) -> None:
    i, j, _ = counters(mini)
    x, y, c, four = mini.hole("x"), mini.hole("y"), mini.hole("c"), number(mini, 4)
    both = "i * 4 is 4 * i as well, so both orders of its sources may match."
    for said, pattern, node, wanted, why in (
        ("match(x * c, i * 4, {})", x * c, i * 4, [{"x": i, "c": four}], both),
        ("match(c * x, i * 4, {})", c * x, i * 4, [{"x": i, "c": four}], both),
        ("match(x + y, i + j, {})", x + y, i + j, [{"x": i, "y": j}, {"x": j, "y": i}],
         "There are two ways: x is i and y is j, or the other way round. The list needs both."),
        ("match(x // y, j // i, {})", x // y, j // i, [{"x": j, "y": i}],
         "`//` isn't the same the other way round."),
        ("match(x < c, 4 < i, {})", x < c, four < i, [],
         "`<` isn't the same the other way round."),
        ("match((x + y) * x, (i + j) * j, {})", (x + y) * x, (i + j) * j, [{"x": j, "y": i}],
         "x = i comes first and leads nowhere, since j is not i. Then the other way to "
         "match i + j has to be tried: keep all ways until the end."),
        ("match((x + y) * x, j * (i + j), {})", (x + y) * x, j * (i + j), [{"x": j, "y": i}], ""),
    ):  # fmt: skip
        expect_ways(mini, said, pattern, node, wanted, why)


@promise("The dict that it is given stays as it was")
def untouched(mini) -> None:
    i, j, _ = counters(mini)
    x, y = mini.hole("x"), mini.hole("y")
    given: dict[str, Any] = {}
    mini.match(x + y, i + j, given)
    mini.match(x + x, i + j, given)
    mini.match(x, i, given)
    if given:
        raise Wrong("match put something into `found`. An attempt that fails would leave it behind "
                    "for the next one: make a new dict.", "match(x + y, i + j, found)", "{}",
                    "{" + ", ".join(given) + ": …}")  # fmt: skip

# %% wrong: a constant's arg compared by ==, which takes 1 for 1.0; I had thought that it may
def match(pattern, node, found):
    if pattern.op is Ops.HOLE:
        if pattern.arg[0] == "c" and node.op is not Ops.CONST:
            return []
        if found.get(pattern.arg, node) is not node:
            return []
        return [{**found, pattern.arg: node}]
    if pattern.op is not node.op or pattern.arg != node.arg or len(pattern.src) != len(node.src):
        return []
    orders = {node.src, node.src[::-1]} if node.op in COMMUTATIVE else {node.src}
    ways = []
    for sources in orders:
        so_far = [found]
        for part, source in zip(pattern.src, sources):
            so_far = [more for way in so_far for more in match(part, source, way)]
        ways += so_far
    return ways

# %% wrong: says should be [{x: i + j}]
def match(pattern, node, found):
    return []

# %% wrong: says should give a list of dicts
def match(pattern, node, found):
    return None

# %% wrong: says match put something into `found`
def match(pattern, node, found):
    if pattern.op is Ops.HOLE:
        if pattern.arg[0] == "c" and node.op is not Ops.CONST:
            return []
        if found.get(pattern.arg, node) is not node:
            return []
        found[pattern.arg] = node
        return [dict(found)]
    if not pattern.src:
        return [found] if pattern is node else []
    if (pattern.op, pattern.arg, len(pattern.src)) != (node.op, node.arg, len(node.src)):
        return []
    matches = []
    for sources in (node.src, node.src[::-1]) if node.op in COMMUTATIVE else (node.src,):
        ways = [dict(found)]
        for part, source in zip(pattern.src, sources):
            ways = [more for way in ways for more in match(part, source, way)]
        matches += ways
    return matches

# %% right
def match(pattern, node, found):
    if pattern.op is Ops.HOLE:
        if pattern.arg.startswith("c") and node.op != Ops.CONST:
            return []
        known = found.get(pattern.arg)
        return [found | {pattern.arg: node}] if known in (None, node) else []
    if not pattern.src:
        return [dict(found)] * (pattern is node)
    same = pattern.op == node.op and pattern.arg == node.arg
    if not same or len(pattern.src) != len(node.src):
        return []
    def all_of(parts, sources, way):
        if not parts:
            yield way
            return
        for more in match(parts[0], sources[0], way):
            yield from all_of(parts[1:], sources[1:], more)
    ways = list(all_of(pattern.src, node.src, found))
    if node.op in COMMUTATIVE:
        ways += [w for w in all_of(pattern.src, tuple(reversed(node.src)), found)
                 if w not in ways]
    return ways
