"""Stage 7a: patterns, rules, rounds; and what is known about whole numbers."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

from classroom.exercise import Wrong
from classroom.mini.check import Checks, describe, expect

checks = Checks()

DOUBLINGS = 60
SIZES = (4, 8, 3)  # how far the counters i, j and k count


def counters(mini: Any) -> list[Any]:
    """Three loop counters, i, j and k."""
    return [mini.UOp(mini.Ops.RANGE, (), (n, size)) for n, size in enumerate(SIZES)]


def number(mini: Any, value: float) -> Any:
    return mini.UOp(mini.Ops.CONST, (), value)


def floats(mini: Any) -> list[Any]:
    """Two nodes of floats, t and u."""
    return [mini.Tensor([value]).uop for value in (2.0, 3.0)]


SIGNS = {"ADD": "+", "MUL": "*", "IDIV": "//", "MOD": "%", "CMPLT": "<"}


def written(node: Any) -> str:
    """A node as one would type it, with i, j and k for the counters and t for other leaves."""
    if not hasattr(node, "op"):
        return describe(node)
    if node.op.name == "CONST":
        return repr(node.arg)
    if node.op.name == "HOLE":
        return str(node.arg)
    if node.op.name == "RANGE":
        return "ijk"[node.arg[0]] if node.arg[0] < 3 else f"r{node.arg[0]}"
    parts = [written(source) for source in node.src]
    if node.op.name in SIGNS and len(parts) == 2:
        return f"({parts[0]} {SIGNS[node.op.name]} {parts[1]})"
    name = node.op.name.lower()
    return f"{name}({', '.join(parts)})" if parts else "t"


def plain(node: Any) -> str:
    text = written(node)
    return text[1:-1] if text.startswith("(") and closes_last(text) else text


def closes_last(text: str) -> bool:
    """Whether the first parenthesis closes at the very end."""
    depth = list(itertools.accumulate({"(": 1, ")": -1}.get(c, 0) for c in text))
    return 0 not in depth[:-1]


def expect_node(said: str, got: Any, wanted: Any, mistakes: dict[Any, str] | None = None) -> None:
    """Wrong unless this is the very node. mistakes: {node: what was done to get it}."""
    if got is wanted:
        return
    if got is None:
        raise Wrong(f"{said} returns None. Is there a `return`?", said, plain(wanted), "None")
    text = f"{said} should be {plain(wanted)}."
    if type(got) is type(wanted) and got.op is wanted.op and plain(got) == plain(wanted):
        text += " Yours looks the same, but is a different node: one of its parts isn't the same."
    for mistake, sentence in (mistakes or {}).items():
        if got is mistake:
            text = sentence
    raise Wrong(text, said, plain(wanted), plain(got))


# ---- match ---------------------------------------------------------------------------------------


def expect_ways(
    mini: Any,
    said: str,
    pattern: Any,
    node: Any,
    wanted: list[dict[str, Any]],
    why: str = "",
    found: dict[str, Any] | None = None,
) -> None:
    """Wrong unless match gives these dicts, in any order, each once or more."""
    got = mini.match(pattern, node, dict(found or {}))
    if not isinstance(got, list) or not all(isinstance(way, dict) for way in got):
        raise Wrong(
            f"{said} should give a list of dicts, one for each way to fill the holes.",
            said,
            "a list of dicts",
            describe(got) if got is None else type(got).__name__,
        )

    def told(ways: list[dict[str, Any]]) -> str:
        rows = [", ".join(f"{name}: {plain(n)}" for name, n in sorted(w.items())) for w in ways]
        return "[" + ", ".join("{" + row + "}" for row in dict.fromkeys(rows)) + "]"

    def as_set(ways: list[dict[str, Any]]) -> set[frozenset[Any]]:
        return {frozenset((name, id(filled)) for name, filled in way.items()) for way in ways}

    if as_set(got) != as_set(wanted):
        text = why or f"{said} should be {told(wanted)}."
        raise Wrong(text, said, told(wanted), told(got))


@checks("match", "A hole takes any node, but constants only if its name begins with c")
def holes(mini: Any) -> None:
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


@checks("match", "Op, arg and sources have to agree", needs=())
def agree(mini: Any) -> None:
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


@checks("match", "A hole that occurs twice is filled by the same node twice")
def twice(mini: Any) -> None:
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


@checks("match", "+, * and MAX match either way round; //, % and < do not")
def either_way(mini: Any) -> None:
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


@checks("match", "The dict that it is given stays as it was")
def untouched(mini: Any) -> None:
    i, j, _ = counters(mini)
    x, y = mini.hole("x"), mini.hole("y")
    given: dict[str, Any] = {}
    mini.match(x + y, i + j, given)
    mini.match(x + x, i + j, given)
    mini.match(x, i, given)
    if given:
        raise Wrong(
            "match put something into `found`. An attempt that fails would leave it "
            "behind for the next one: make a new dict.",
            "match(x + y, i + j, found)",
            "{}",
            "{" + ", ".join(given) + ": …}",
        )


# ---- rewrite -------------------------------------------------------------------------------------


@checks("rewrite", "The first rule that applies decides", needs=("match",))
def first_rule(mini: Any) -> None:
    i, j, _ = counters(mini)
    x, c = mini.hole("x"), mini.hole("c")
    t, u = floats(mini)
    rules = [(x * 1.0, lambda x: x)]
    expect_node("the rule x * 1.0 → x on t * 1.0:", mini.rewrite(t * 1.0, rules), t)
    expect_node("the rule x * 1.0 → x on t * 2.0:", mini.rewrite(t * 2.0, rules), t * 2.0)
    two = [(x * c, lambda x, c: x), (x * c, lambda x, c: x + x)]
    expect_node(
        "x * c → x, then x * c → x + x, on i * 4:",
        mini.rewrite(i * 4, two),
        i,
        {i + i: "The last rule won. The first one that applies decides."},
    )
    more = [(x * c, lambda x, c: x + x), (x + x, lambda x: x * 2)]
    expect_node(
        "x * c → x + x, then x + x → x * 2, on i * 4:",
        mini.rewrite(i * 4, more),
        i + i,
        {i * 2: "Stop at the first rule that applies. What it made is for the next round."},
    )
    expect_node("no rules at all, on i + j:", mini.rewrite(i + j, []), i + j)


@checks("rewrite", "A rule that returns None, or the node itself, passes", needs=("match",))
def passes(mini: Any) -> None:
    i, j, _ = counters(mini)
    x, y, c = mini.hole("x"), mini.hole("y"), mini.hole("c")
    zero = number(mini, 0)
    rules = [
        (x * c, lambda x, c: None),
        (x * c, lambda x, c: x * c),
        (x * c, lambda x, c: zero),
    ]
    expect_node(
        "x * c → None, then → itself, then → 0, on i * 4:",
        mini.rewrite(i * 4, rules),
        zero,
        {
            i * 4: "A rule that has nothing to say (None, or the same node) shouldn't end the "
            "search. The next one gets its turn."
        },
    )
    only = [(x + y, lambda x, y: x if y is i else None)]
    expect_node(
        "x + y → x if y is i, on i + j:",
        mini.rewrite(i + j, only),
        j,
        {
            i + j: "The first match has nothing to say here, but the second has: x is j and y "
            "is i. Try every match of a rule."
        },
    )


# ---- walk ----------------------------------------------------------------------------------------


@checks("walk", "Every node is rebuilt on top of its new sources")
def rebuilt(mini: Any) -> None:
    i, j, k = counters(mini)

    def become(old: Any, new: Any) -> Callable[[Any], Any]:
        return lambda node: new if node is old else node

    root = i * 4 + i
    expect_node(
        "walk(i * 4 + i), with i → j,",
        mini.walk(root, become(i, j)),
        j * 4 + j,
        {
            root: "Nothing has changed. Build each node on what its sources have become.",
            j: "You returned a source. The result is what the root has become.",
        },
    )
    seen = []

    def both(node: Any) -> Any:
        seen.append(node)
        return {i: j, j + 1: k}.get(node, node)

    expect_node(
        "walk((i + 1) * 2), with i → j and j + 1 → k,",
        mini.walk((i + 1) * 2, both),
        k * 2,
        {(j + 1) * 2: "`change` has to be called with the rebuilt node: j + 1, not the old i + 1."},
    )
    flipped = mini.UOp(mini.Ops.FLIP, (floats(mini)[0],), (0,))  # its shape needs no arg
    kept = mini.walk(flipped, lambda node: node)
    if getattr(kept, "arg", None) != flipped.arg:
        raise Wrong(
            "A node has an `arg`, too. It was lost on the way.",
            "walk(t.flip(0))",
            repr(flipped.arg),
            repr(getattr(kept, "arg", None)),
        )


@checks(
    "walk",
    "Where nothing changes, the same nodes come back; each is visited once",
    told={
        RecursionError: "This graph is deeper than Python lets functions call themselves. "
        "toposort gives you the nodes in order, without recursion."
    },
)
def same_nodes(mini: Any) -> None:
    i, j, _ = counters(mini)
    root = (i + j) * 4 + (i + j)
    expect_node("walk(root, lambda node: node)", mini.walk(root, lambda node: node), root)
    node = i
    for _ in range(DOUBLINGS):
        node = node + node
    calls = 0

    def count(node: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 10 * DOUBLINGS:
            raise Wrong(
                "The same nodes are visited again and again. A node that two others use is "
                "still one node: change it once.",
                "i + i, then doubled 59 times more",
                f"{DOUBLINGS + 1} calls of `change`",
                f"more than {10 * DOUBLINGS}",
            )
        return node

    mini.walk(node, count)
    deep = i
    for _ in range(5000):
        deep = deep + j
    expect_node("walk of a graph of 5,000 nodes", mini.walk(deep, lambda node: node), deep)


# ---- graph_rewrite -------------------------------------------------------------------------------


@checks("graph_rewrite", "It goes on until nothing changes", needs=("match", "rewrite", "walk"))
def until_done(mini: Any) -> None:
    x = mini.hole("x")
    t, _ = floats(mini)
    rules = [(x + x, lambda x: x * 2.0)]
    twice = t + t
    expect_node(
        "x + x → x * 2.0, on (t + t) + (t + t):",
        mini.graph_rewrite(twice + twice, rules),
        (t * 2.0) * 2.0,
    )
    i, j, k = counters(mini)
    chain = [(i, lambda: j * 2), (j, lambda: k * 2)]
    expect_node(
        "i → j * 2 and j → k * 2, on i + 1:",
        mini.graph_rewrite(i + 1, chain),
        k * 2 * 2 + 1,
        {
            j * 2 + 1: "What a rule makes may fit a rule, too: after one round, "
            "there is still a j. Go on until a round changes nothing."
        },
    )
    expect_node("no rules, on i + j:", mini.graph_rewrite(i + j, []), i + j)


@checks(
    "graph_rewrite",
    "Rules that undo each other for ever end in a RuntimeError",
    needs=("match", "rewrite", "walk"),
)
def for_ever(mini: Any) -> None:
    x, y = mini.hole("x"), mini.hole("y")
    i, j, _ = counters(mini)
    rules = [(x // y, lambda x, y: y // x)]
    try:
        got = mini.graph_rewrite(i // j, rules)
    except RuntimeError as error:
        if isinstance(error, RecursionError):
            raise Wrong(
                "This ends in a RecursionError. Count the rounds, and raise a RuntimeError "
                "after MOST_ROUNDS of them.",
                "x // y → y // x, on i // j",
            ) from None
        return
    raise Wrong(
        f"This rule turns i // j round and round. After MOST_ROUNDS = {mini.MOST_ROUNDS} "
        "rounds, raise a RuntimeError: a compiler that gives up silently hides a bug.",
        "x // y → y // x, on i // j",
        "RuntimeError",
        plain(got),
    )


@checks("graph_rewrite", "Forty rounds are not too many", needs=("match", "rewrite", "walk"))
def many_rounds(mini: Any) -> None:
    i, j, _ = counters(mini)
    rules = [(i + number(mini, n), lambda n=n: i + number(mini, n - 1)) for n in range(40, 0, -1)]
    try:
        got = mini.graph_rewrite(i + 40, rules)
    except RuntimeError as error:
        raise Wrong(
            f"These rules need 40 rounds and then they're done. MOST_ROUNDS is {mini.MOST_ROUNDS}.",
            "i + 40 → i + 39 → … → i + 0",
        ) from error
    expect_node("i + 40 → i + 39 → … → i + 0, on i + 40:", got, i + 0)


# ---- bounds --------------------------------------------------------------------------------------


def value(mini: Any, node: Any, at: tuple[int, ...]) -> int:
    """The value of a whole number for these values of the counters."""
    if node.op.name in ("CONST", "RANGE"):
        return int(node.arg if node.op.name == "CONST" else at[node.arg[0]])
    x, *others = [value(mini, source, at) for source in node.src]
    if node.op.name == "WHERE":
        return others[0] if x else others[1]
    (y,) = others
    return {
        "ADD": lambda: x + y,
        "MUL": lambda: x * y,
        "IDIV": lambda: x // y,
        "MOD": lambda: x % y,
        "MAX": lambda: max(x, y),
        "CMPLT": lambda: int(x < y),
    }[node.op.name]()


PLACES = tuple(itertools.product(*map(range, SIZES)))


def random_number(mini: Any, seed: int) -> Any:
    """Some whole number made of i, j, k and constants, as indices are."""
    draw = random.Random(seed)

    def make(depth: int) -> Any:
        if depth == 0:
            return draw.choice(counters(mini))
        x, c = make(depth - 1), draw.choice((2, 3, 4, 6, 8))
        kind = draw.choice("++**//%%<")
        if kind == "+":
            return x + draw.choice((make(depth - 1), draw.choice((-3, 1, 2, 5))))
        if kind == "*":
            return x * draw.choice((-1, c, c))
        return x // c if kind == "/" else x % c if kind == "%" else (x < c) + x

    return make(draw.choice((2, 3, 4)))


@checks("bounds", "The smallest and the largest value of what has one op")
def simple_bounds(mini: Any) -> None:
    i, j, k = counters(mini)
    for said, node, wanted, mistakes in (
        ("i", i, (0, 3), {(0, 4): "i counts from 0 to 3: a RANGE of size 4 never gets to 4."}),
        ("the constant 7", number(mini, 7), (7, 7), {}),
        ("i + j", i + j, (0, 10), {}),
        ("i * 5 + 1", i * 5 + 1, (1, 16), {}),
        (
            "i * -1",
            i * -1,
            (-3, 0),
            {(0, -3): "The smaller one comes first. A negative factor swaps the ends."},
        ),
        (
            "(i - 3) * (j - 2)",
            (i - 3) * (j - 2),
            (-15, 6),
            {
                (-15, 0): "Four corners count: smallest times largest can be the smallest of all.",
                (0, 6): "Four corners count: smallest times largest can be the smallest of all.",
                (6, 0): "Four corners count: smallest times largest can be the smallest of all.",
            },
        ),
        ("j // 3", j // 3, (0, 2), {}),
        ("(i - 2) // 2", (i - 2) // 2, (-1, 0), {}),
        ("j % 5", j % 5, (0, 4), {(0, 5): "A remainder of a division by 5 is 4 at most."}),
        (
            "i < 4",
            i < 4,
            (1, 1),
            {(0, 1): "i is 3 at most, so this is always true. Ask both ends of i."},
        ),
        ("i < 2", i < 2, (0, 1), {}),
        ("k < i", k < i, (0, 1), {}),
        ("maximum(i, 2)", i.maximum(2), (2, 3), {}),
    ):
        got = mini.bounds(node)
        if isinstance(got, list):
            got = tuple(got)
        if isinstance(got, tuple) and len(got) == 2 and all(float(end).is_integer() for end in got):
            got = (int(got[0]), int(got[1]))
        if node is j % 5 and got == (0, 4):
            continue
        expect(f"bounds({said}), with i from 0 to 3, j to 7 and k to 2,", got, wanted, mistakes)


@checks("bounds", "No value of a hundred other numbers is outside of its bounds", seconds=20)
def never_too_narrow(mini: Any) -> None:
    for seed in range(60):
        node = random_number(mini, seed)
        low, high = mini.bounds(node)
        for at in PLACES:
            if not low <= (got := value(mini, node, at)) <= high:
                at_text = ", ".join(f"{n}={v}" for n, v in zip("ijk", at, strict=True))
                raise Wrong(
                    f"{plain(node)} is {got} at {at_text}: outside of your bounds. They may be too "
                    "wide, never too narrow.",
                    f"bounds({plain(node)})",
                    f"at most {got}, at least {got}, and more",
                    f"({low}, {high})",
                )


# ---- terms ---------------------------------------------------------------------------------------


def expect_terms(mini: Any, said: str, node: Any, wanted: dict[Any, int], why: str = "") -> None:
    got = mini.terms(node)
    if not isinstance(got, dict):
        raise Wrong(
            f"terms({said}) should be a dict.",
            f"terms({said})",
            "a dict",
            describe(got) if got is None else type(got).__name__,
        )

    def told(parts: dict[Any, Any]) -> str:
        rows = (f"{plain(t) if t is not None else None}: {f}" for t, f in parts.items())
        return "{" + ", ".join(rows) + "}"

    if {t: f for t, f in got.items() if f != 0} != wanted:
        raise Wrong(
            why or f"terms({said}) should be {told(wanted)}.",
            f"terms({said})",
            told(wanted),
            told(got),
        )


@checks("terms", "Sums and multiples are taken apart; all else is a term")
def taken_apart(mini: Any) -> None:
    i, j, k = counters(mini)
    expect_terms(mini, "i", i, {i: 1})
    expect_terms(mini, "the constant 5", number(mini, 5), {None: 5})
    expect_terms(mini, "i * 4 + j + 3", i * 4 + j + 3, {i: 4, j: 1, None: 3})
    expect_terms(mini, "4 * i", 4 * i, {i: 4}, "The constant may stand on the left, too: 4 * i.")
    expect_terms(mini, "i + i", i + i, {i: 2}, "i occurs twice: the factors add up.")
    expect_terms(mini, "i * 4 + i", i * 4 + i, {i: 5}, "i occurs twice: the factors add up.")
    expect_terms(mini, "i * 2 + j - i * 2", i * 2 + j - i * 2, {j: 1})
    expect_terms(
        mini, "(i + j) * 2 + i", (i + j) * 2 + i, {i: 3, j: 2}, "The 2 multiplies both i and j."
    )
    expect_terms(
        mini,
        "((i + 1) * 3 + j) * 2",
        ((i + 1) * 3 + j) * 2,
        {i: 6, j: 2, None: 6},
        "Multiples of multiples: 3 times 2 is 6, and the 1 inside counts, too.",
    )
    expect_terms(
        mini,
        "i * j + k // 2",
        i * j + k // 2,
        {i * j: 1, k // 2: 1},
        "i * j is one term: neither of them is a constant.",
    )
    expect_terms(mini, "i + 2 + 3", i + 2 + 3, {i: 1, None: 5})


@checks("terms", "The sum of the terms is the number, for a hundred others")
def same_sum(mini: Any) -> None:
    for seed in range(100):
        node = random_number(mini, seed)
        parts = mini.terms(node)
        for at in PLACES[::5]:
            got = sum(f * (1 if t is None else value(mini, t, at)) for t, f in parts.items())
            if got != value(mini, node, at):
                raise Wrong(
                    f"The terms of {plain(node)} don't add up to it.",
                    f"terms({plain(node)})",
                    str(value(mini, node, at)),
                    str(got),
                )


# ---- total ---------------------------------------------------------------------------------------


@checks("total", "A sum with each term once, nothing that is 0, the constant last")
def added_up(mini: Any) -> None:
    i, j, k = counters(mini)
    cases = [
        ({i: 4, j: 1, None: 3}, i * 4 + j + 3),
        ({j: 1}, j),
        ({None: 7, k: 2}, k * 2 + 7),
        ({i: 0, j: -1, None: 0}, j * -1),
        ({i * j: 3, k // 2: 1}, i * j * 3 + k // 2),
        ({None: 5}, number(mini, 5)),
        ({i: 0}, number(mini, 0)),
        ({}, number(mini, 0)),
    ]
    for parts, wanted in cases:
        said = ", ".join(f"{plain(t) if t is not None else None}: {f}" for t, f in parts.items())
        call, before = f"total({{{said}}})", dict(parts)
        got = mini.total(parts)
        keeps(mini, call, got, wanted)
        if parts != before:
            raise Wrong("Leave the dict as it is: others may still need it.", call)
        size = len(wanted.toposort())
        if len(got.toposort()) > size:
            text = (
                "The value is right, but there's more in it than it takes: a product with 1 or "
                "with 0, or a constant 0."
            )
            raise Wrong(text, call, plain(wanted), plain(got))
        if None in parts and len(parts) > 1 and parts[None] and got.src[1].op is not mini.Ops.CONST:
            raise Wrong("The constant comes last.", call, plain(wanted), plain(got))


@checks("total", "Its terms, added up again, are the same node", needs=("terms",))
def stays_as_it_is(mini: Any) -> None:
    i, j, k = counters(mini)
    for parts in ({k: 1, j: 4, i: 2}, {i: 4, j: 1, None: 3}, {j // 2: 3, i: 1, None: -1}):
        once = mini.total(parts)
        again = mini.total(mini.terms(once))
        if again is not once:
            raise Wrong("The terms should stay in their order. A rule that turns i + j into j + i "
                        "is never done.", "total(terms(x))", plain(once), plain(again))  # fmt: skip


# ---- divide --------------------------------------------------------------------------------------


@checks(
    "divide", "Multiples come out, and bounds end a division", needs=("bounds", "terms", "total")
)
def divided(mini: Any) -> None:
    i, j, k = counters(mini)
    IDIV, MOD = mini.Ops.IDIV, mini.Ops.MOD
    done = [
        ("j * 4 + i", j * 4 + i, 4, j, i),
        ("i", i, 4, 0, i),
        ("i + 4", i + 4, 4, 1, i),
        ("j * 12", j * 12, 4, j * 3, 0),
        ("j * 8 + k * 4 + i", j * 8 + k * 4 + i, 4, j * 2 + k, i),
        ("i - 4", i - 4, 4, -1, i),
        ("j * 11 + k", j * 11 + k, 10, None, j + k),
    ]
    for said, x, by, quotient, remainder in done:
        c = number(mini, by)
        for op, sign, wanted in ((IDIV, "//", quotient), (MOD, "%", remainder)):
            if wanted is None:
                continue
            call = f"divide({said}, {by}, Ops.{op.name})"
            shown = str(wanted) if isinstance(wanted, int) else plain(wanted)
            got = mini.divide(x, c, op)
            if got is None:
                hint = (
                    f"Its bounds divided by {by} are the same number at both ends."
                    if mini.bounds(x)[0] // by == mini.bounds(x)[1] // by
                    else f"There are multiples of {by} in it, and they come out."
                )
                raise Wrong(f"({said}) {sign} {by} can be simplified. {hint}", call, shown, "None")
            keeps(mini, call, got, mini.UOp(op, (x, c)))
            if any(node.op in (IDIV, MOD) for node in settled(mini, got).toposort()):
                text = "The value is right, but there is still a division in it."
                raise Wrong(text, call, shown, plain(got))


def settled(mini: Any, node: Any) -> Any:
    """What is left of a node when divisions are divided again, as graph_rewrite would."""
    IDIV, MOD = mini.Ops.IDIV, mini.Ops.MOD

    def once(node: Any) -> Any:
        if node.op in (IDIV, MOD) and node.src[1].op is mini.Ops.CONST:
            x = mini.total(mini.terms(node.src[0]))
            return mini.divide(x, node.src[1], node.op) or node
        return node

    for _ in range(10):
        node = rebuilt_by(mini, node, once)
    return node


def rebuilt_by(mini: Any, root: Any, change: Callable[[Any], Any]) -> Any:
    new: dict[Any, Any] = {}
    for node in root.toposort():
        new[node] = change(mini.UOp(node.op, tuple(new[s] for s in node.src), node.arg))
    return new[root]


def keeps(mini: Any, call: str, got: Any, wanted: Any) -> None:
    """Wrong unless a node has the values of another one wherever the counters are."""
    if not isinstance(got, mini.UOp):
        raise Wrong(f"{call} should give a node.", call, "a UOp", describe(got))
    for at in PLACES:
        one, other = value(mini, wanted, at), value(mini, got, at)
        if one != other:
            at_text = ", ".join(f"{n}={v}" for n, v in zip("ijk", at, strict=True))
            text = f"{call} gives {plain(got)}, which has a different value at {at_text}."
            raise Wrong(text, call, str(one), str(other))


@checks("divide", "None where there is nothing to gain", needs=("bounds", "terms", "total"))
def nothing_to_gain(mini: Any) -> None:
    i, j, _ = counters(mini)
    for said, x, by in (("j", j, 3), ("i", i, 2), ("j * 2 + i", j * 2 + i, 5)):
        for op in (mini.Ops.IDIV, mini.Ops.MOD):
            call = f"divide({said}, {by}, Ops.{op.name})"
            if (got := mini.divide(x, number(mini, by), op)) is not None:
                if settled_same(mini, got, x, by, op):
                    continue
                raise Wrong(
                    f"{call} can't be simplified, so it should be None. What you return "
                    "would be rewritten for ever, or is wrong.",
                    call,
                    "None",
                    plain(got),
                )


def settled_same(mini: Any, got: Any, x: Any, by: int, op: Any) -> bool:
    """Whether this is the division as it was, which means the same to `rewrite`."""
    return bool(got is mini.UOp(op, (x, number(mini, by))))


def common_factor(mini: Any, seed: int) -> tuple[Any, int]:
    """A sum, and a divisor that has a factor in common with all of it but the constant."""
    draw = random.Random(seed)
    i, j, _ = counters(mini)
    factor, *times = draw.choice((2, 3, 4)), *draw.choices((1, 2, 3, 5), k=3)
    one, other, by = (factor * n for n in times)
    return i * one + j * other + draw.randrange(-7, 8), by


@checks(
    "divide",
    "A hundred other divisions keep their values",
    needs=("bounds", "terms", "total"),
    seconds=20,
)
def division_keeps(mini: Any) -> None:
    some = [(random_number(mini, seed), (2, 3, 4, 6, 8, 10)[seed % 6]) for seed in range(100)]
    for x, by in some + [common_factor(mini, seed) for seed in range(60)]:
        for op in (mini.Ops.IDIV, mini.Ops.MOD):
            got = mini.divide(x, number(mini, by), op)
            if got is not None:
                call = f"divide({plain(x)}, {by}, Ops.{op.name})"
                keeps(mini, call, got, mini.UOp(op, (x, number(mini, by))))


# ---- fold and the rules together -----------------------------------------------------------------

EVERYTHING = ("match", "rewrite", "walk", "graph_rewrite", "bounds", "terms", "total", "divide")


@checks(
    "fold",
    "Constants, equal sums, and comparisons that are decided",
    needs=("bounds", "terms", "total"),
)
def folded(mini: Any) -> None:
    i, j, _ = counters(mini)
    two, three = number(mini, 2), number(mini, 3)
    expect_node("fold(2 + 3)", mini.fold(two + three), number(mini, 5))
    expect_node(
        "fold(2 < 3)",
        mini.fold(two < three),
        number(mini, 1),
        {
            number(mini, 1.0): "A comparison of whole numbers is a whole number: `x.dtype` "
            "says which kind of number a node has."
        },
    )
    half = mini.fold(number(mini, 0.5) + number(mini, 0.25))
    expect_node("fold(0.5 + 0.25)", half, number(mini, 0.75))
    for one, other in ((i + j + i, i * 2 + j), ((i + j) * 2, i * 2 + j * 2), (i + 2 + 3, i + 5)):
        a = mini.fold(one) or one
        keeps(mini, f"fold({plain(one)})", a, one)
        added = sum(node.op is mini.Ops.ADD for node in a.toposort())
        if added > max(len(mini.terms(a)) - 1, 0):
            raise Wrong(
                f"{plain(one)} has a term twice. It should be a sum with each term once.",
                f"fold({plain(one)})",
                plain(other),
                plain(a),
            )
    expect_node("fold(i < 4), with i from 0 to 3,", mini.fold(i < 4), number(mini, 1))
    expect_node("fold(j < 0), with j from 0 to 7,", mini.fold(j < 0), number(mini, 0))
    if (got := mini.fold(i < 2)) not in (None, i < 2):
        raise Wrong(
            "i < 2 is true for some i and false for others, so there is nothing to fold.",
            "fold(i < 2)",
            "None",
            plain(got),
        )


@checks(
    "fold",
    "Floats are left alone: their sums may not be put in order",
    needs=("bounds", "terms", "total"),
)
def floats_left(mini: Any) -> None:
    t, u = floats(mini)
    for said, node in (
        ("t + u + t", t + u + t),
        ("t * 0.0", t * 0.0),
        ("t + 0.0", t + 0.0),
        ("t < t", t < t),
    ):
        got = mini.fold(node)
        if got is not None and got is not node:
            raise Wrong(
                f"{said} is about floats. Rounding, infinities and NaN make most rules of "
                "whole numbers wrong for them: only constants may be folded.",
                f"fold({said})",
                "None",
                plain(got),
            )


@checks("fold", "simplify: (j * 11 + i) % 10 becomes j + i", needs=EVERYTHING)
def the_moment(mini: Any) -> None:
    UOp, RANGE = mini.UOp, mini.Ops.RANGE
    j, o = UOp(RANGE, (), (0, 3)), UOp(RANGE, (), (1, 8))
    for said, node, wanted in (
        ("(i * 11 + j) % 10, with i to 2 and j to 7,", (j * 11 + o) % 10, (j + o, o + j)),
        ("((0 + i * 8 + j) // 8) % 3", ((0 + j * 8 + o) // 8) % 3, (j,)),
        (
            "(i * 3 + j) // 8 * 8 + (i * 3 + j) % 8",
            (j * 3 + o) // 8 * 8 + (j * 3 + o) % 8,
            (j * 3 + o, o + j * 3),
        ),
    ):
        got = mini.simplify(node)
        if got not in wanted:
            raise Wrong(
                f"{said} should become {plain(wanted[0])}.",
                f"simplify({said})",
                plain(wanted[0]),
                plain(got),
            )


@checks(
    "fold",
    "simplify: eighty graphs keep their values, and come to an end",
    needs=EVERYTHING,
    seconds=20,
)
def all_rules(mini: Any) -> None:
    for seed in range(80):
        node = random_number(mini, seed)
        try:
            got = mini.simplify(node)
        except RuntimeError as error:
            raise Wrong(
                "The rules never come to an end here: one of them undoes another.", plain(node)
            ) from error
        keeps(mini, f"simplify({plain(node)})", got, node)
