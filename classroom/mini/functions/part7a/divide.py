"""Hint: Take (i*12 + j) // 4, where j counts to 3. Why do you know at once that it's i*3? Two
different facts are at work. Which?
Hint: First fact: if the lowest and the highest x have the same quotient, so has everything in
between. Second: a term whose factor is f gives f // c to the quotient, and f % c stays inside.
Build both sums with `total`; if the inner one is x itself, you've gained nothing: None.
Because: x = whole*c + rest, so x // c is whole + rest // c, and x % c is rest % c, whatever sign
anything has: Python rounds down. The bounds then finish what's left.
"""

import random
from collections.abc import Callable
from typing import Any

from classroom.mini.check import Wrong, promise
from classroom.mini.functions.part7a.shared import counters, keeps, number, plain, random_number


@promise("Multiples come out, and bounds end a division", needs=("bounds", "terms", "total"))
def divided(mini) -> None:
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


def settled(mini, node: Any) -> Any:
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


def rebuilt_by(mini, root: Any, change: Callable[[Any], Any]) -> Any:
    new: dict[Any, Any] = {}
    for node in root.toposort():
        new[node] = change(mini.UOp(node.op, tuple(new[s] for s in node.src), node.arg))
    return new[root]


@promise("None where there is nothing to gain", needs=("bounds", "terms", "total"))
def nothing_to_gain(mini) -> None:
    i, j, _ = counters(mini)
    for said, x, by in (("j", j, 3), ("i", i, 2), ("j * 2 + i", j * 2 + i, 5)):
        for op in (mini.Ops.IDIV, mini.Ops.MOD):
            call = f"divide({said}, {by}, Ops.{op.name})"
            if (got := mini.divide(x, number(mini, by), op)) is not None:
                if settled_same(mini, got, x, by, op):
                    continue
                raise Wrong(f"{call} can't be simplified, so it should be None. What you return "
                            "would be rewritten for ever, or is wrong.", call, "None",
                            plain(got))  # fmt: skip


def settled_same(mini, got: Any, x: Any, by: int, op: Any) -> bool:
    """Whether this is the division as it was, which means the same to `rewrite`."""
    return bool(got is mini.UOp(op, (x, number(mini, by))))


def common_factor(mini, seed: int) -> tuple[Any, int]:
    """A sum, and a divisor that has a factor in common with all of it but the constant."""
    draw = random.Random(seed)
    i, j, _ = counters(mini)
    factor, *times = draw.choice((2, 3, 4)), *draw.choices((1, 2, 3, 5), k=3)
    one, other, by = (factor * n for n in times)
    return i * one + j * other + draw.randrange(-7, 8), by


@promise("A hundred other divisions keep their values", needs=("bounds", "terms", "total"),
         seconds=20)  # fmt: skip
def division_keeps(mini) -> None:
    some = [(random_number(mini, seed), (2, 3, 4, 6, 8, 10)[seed % 6]) for seed in range(100)]
    for x, by in some + [common_factor(mini, seed) for seed in range(60)]:
        for op in (mini.Ops.IDIV, mini.Ops.MOD):
            got = mini.divide(x, number(mini, by), op)
            if got is not None:
                call = f"divide({plain(x)}, {by}, Ops.{op.name})"
                keeps(mini, call, got, mini.UOp(op, (x, number(mini, by))))

# %% wrong: the common factor leaves x, and of c what is left is g (right by chance for c = g * g)
from math import gcd

def divide(x, c, op):
    low, high = (end // c.arg for end in bounds(x))
    if low == high:
        return x.const(low) if op is Ops.IDIV else x - low * c.arg
    parts = terms(x)
    rest = total({term: factor % c.arg for term, factor in parts.items()})
    if rest is not x:
        whole = total({term: factor // c.arg for term, factor in parts.items()})
        return whole + rest // c if op is Ops.IDIV else rest % c
    g = gcd(c.arg, *parts.values())
    if g == 1 or op is Ops.MOD:
        return None
    return total({term: factor // g for term, factor in parts.items()}) // g

# %% wrong: says can be simplified
def divide(x, c, op):
    return None

# %% wrong: says has a different value
def divide(x, c, op):
    rest = total({term: factor % c.arg for term, factor in terms(x).items()})
    whole = total({term: factor // c.arg for term, factor in terms(x).items()})
    low, high = (end // c.arg for end in bounds(rest))
    if low == high:
        return whole + low if op is Ops.IDIV else x
    if rest is not x:
        return whole + rest // c if op is Ops.IDIV else rest % c

# %% wrong, changed: says would be rewritten for ever
# -     if rest is x:
# -         return None

# %% wrong: says there is still a division in it
def divide(x, c, op):
    return x // c if op is Ops.IDIV else x % c

# %% right: a common factor comes out, too: (i*2 + 1) % 4 is i % 2 * 2 + 1
from math import gcd

def divide(x, c, op):
    low, high = (end // c.arg for end in bounds(x))
    if low == high:
        return x.const(low) if op is Ops.IDIV else x - low * c.arg
    parts = terms(x)
    rest = total({term: factor % c.arg for term, factor in parts.items()})
    if rest is not x:
        whole = total({term: factor // c.arg for term, factor in parts.items()})
        return whole + rest // c if op is Ops.IDIV else rest % c
    k = parts.get(None, 0)
    g = gcd(c.arg, *(factor for term, factor in parts.items() if term is not None))
    if g == 1:
        return None
    small = total({term: factor // g for term, factor in parts.items()})
    if op is Ops.IDIV:
        return small // (c.arg // g)
    return small % (c.arg // g) * g + k % g

# %% right
def divide(x, c, op):
    parts = terms(x)
    whole = total({t: f // c.arg for t, f in parts.items()})
    rest = total({t: f % c.arg for t, f in parts.items()})
    low, high = bounds(rest)
    if low // c.arg == high // c.arg:
        more = low // c.arg
        return whole + more if op is Ops.IDIV else rest - more * c.arg
    if rest is x:
        return UOp(op, (x, c))
    return whole + rest // c if op is Ops.IDIV else rest % c
