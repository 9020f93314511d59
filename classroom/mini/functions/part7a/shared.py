"""Stage 7a: patterns, rules, rounds; and what is known about whole numbers."""

import itertools
import random
from typing import Any

from classroom.mini.check import Wrong, describe

SIZES = (4, 8, 3)  # how far the counters i, j and k count


def counters(mini) -> list[Any]:
    """Three loop counters, i, j and k."""
    return [mini.UOp(mini.Ops.RANGE, (), (n, size)) for n, size in enumerate(SIZES)]


def number(mini, value: float) -> Any:
    return mini.UOp(mini.Ops.CONST, (), value)


def floats(mini) -> list[Any]:
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


def value(mini, node: Any, at: tuple[int, ...]) -> int:
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


def random_number(mini, seed: int) -> Any:
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


def keeps(mini, call: str, got: Any, wanted: Any) -> None:
    """Wrong unless a node has the values of another one wherever the counters are."""
    if not isinstance(got, mini.UOp):
        raise Wrong(f"{call} should give a node.", call, "a UOp", describe(got))
    for at in PLACES:
        one, other = value(mini, wanted, at), value(mini, got, at)
        if one != other:
            at_text = ", ".join(f"{n}={v}" for n, v in zip("ijk", at, strict=True))
            text = f"{call} gives {plain(got)}, which has a different value at {at_text}."
            raise Wrong(text, call, str(one), str(other))
