"""Hint: A sum of sums: if you have the terms of both sides, what are the terms of x + y? If you
have those of x, what are the terms of x * 3?
Hint: It's recursive. CONST: {None: value}. A product with a CONST on either side: all factors times
that. ADD: both dicts, with the factors of what's in both added up; get(term, 0) helps. Everything
else: {node: 1}.
Because: In this form, 4*i + j + 4*i and 8*i + j are the same dict. That's what makes them the same
node when `total` builds them again.
"""

from typing import Any

from classroom.mini.check import Wrong, describe, promise, wrong_if
from classroom.mini.functions.part7a.shared import (
    PLACES,
    counters,
    number,
    plain,
    random_number,
    value,
)


def expect_terms(mini, said: str, node: Any, wanted: dict[Any, int], why: str = "") -> None:
    got = mini.terms(node)
    wrong_if(not isinstance(got, dict), f"terms({said}) should be a dict.", f"terms({said})",
             "a dict", describe(got) if got is None else type(got).__name__)  # fmt: skip

    def told(parts: dict[Any, Any]) -> str:
        rows = (f"{plain(t) if t is not None else None}: {f}" for t, f in parts.items())
        return "{" + ", ".join(rows) + "}"

    if {t: f for t, f in got.items() if f != 0} != wanted:
        raise Wrong(why or f"terms({said}) should be {told(wanted)}.", f"terms({said})",
                    told(wanted), told(got))  # fmt: skip


@promise("Sums and multiples are taken apart; all else is a term")
def taken_apart(mini) -> None:
    i, j, k = counters(mini)
    expect_terms(mini, "i", i, {i: 1})
    expect_terms(mini, "the constant 5", number(mini, 5), {None: 5})
    expect_terms(mini, "i * 4 + j + 3", i * 4 + j + 3, {i: 4, j: 1, None: 3})
    expect_terms(mini, "4 * i", 4 * i, {i: 4}, "The constant may stand on the left, too: 4 * i.")
    expect_terms(mini, "i + i", i + i, {i: 2}, "i occurs twice: the factors add up.")
    expect_terms(mini, "i * 4 + i", i * 4 + i, {i: 5}, "i occurs twice: the factors add up.")
    expect_terms(mini, "i * 2 + j - i * 2", i * 2 + j - i * 2, {j: 1})
    expect_terms(mini, "(i + j) * 2 + i", (i + j) * 2 + i, {i: 3, j: 2},
                 "The 2 multiplies both i and j.")  # fmt: skip
    expect_terms(mini, "((i + 1) * 3 + j) * 2", ((i + 1) * 3 + j) * 2, {i: 6, j: 2, None: 6},
                 "Multiples of multiples: 3 times 2 is 6, and the 1 inside counts, "
                 "too.")  # fmt: skip
    expect_terms(mini, "i * j + k // 2", i * j + k // 2, {i * j: 1, k // 2: 1},
                 "i * j is one term: neither of them is a constant.")  # fmt: skip
    expect_terms(mini, "i + 2 + 3", i + 2 + 3, {i: 1, None: 5})


@promise("The sum of the terms is the number, for a hundred others")
def same_sum(mini) -> None:
    for seed in range(100):
        node = random_number(mini, seed)
        parts = mini.terms(node)
        for at in PLACES[::5]:
            got = sum(f * (1 if t is None else value(mini, t, at)) for t, f in parts.items())
            if got != value(mini, node, at):
                raise Wrong(f"The terms of {plain(node)} don't add up to it.",
                            f"terms({plain(node)})", str(value(mini, node, at)),
                            str(got))  # fmt: skip

# %% wrong: 2 * i has its constant on the left
def terms(node):
    if node.op is Ops.CONST:
        return {None: node.arg}
    if node.op is Ops.ADD:
        x, y = map(terms, node.src)
        return {t: x.get(t, 0) + y.get(t, 0) for t in {**x, **y}}
    if node.op is Ops.MUL and node.src[1].op is Ops.CONST:
        return {t: f * node.src[1].arg for t, f in terms(node.src[0]).items()}
    return {node: 1}

# %% wrong: says should be {None: 5}
def terms(node):
    return {node: 1}

# %% wrong: says should be a dict
def terms(node):
    return [node]

# %% wrong, changed: says don't add up to it
# -     if node.op is Ops.MUL and any(source.op is Ops.CONST for source in node.src):
# +     if node.op in (Ops.MUL, Ops.MOD) and any(source.op is Ops.CONST for source in node.src):
#
# -         return {term: factor * c.arg for term, factor in terms(x).items()}
# +         return {t: f * c.arg if node.op is Ops.MUL else f % c.arg for t, f in terms(x).items()}

# %% right
def terms(node):
    added, waiting = {}, [(node, 1)]
    while waiting:
        term, factor = waiting.pop()
        if term.op is Ops.ADD:
            waiting += [(source, factor) for source in reversed(term.src)]
        elif term.op is Ops.CONST:
            added[None] = added.get(None, 0) + term.arg * factor
        elif term.op is Ops.MUL and Ops.CONST in (term.src[0].op, term.src[1].op):
            x, y = term.src
            x, y = (x, y) if y.op is Ops.CONST else (y, x)
            waiting.append((x, factor * y.arg))
        else:
            added[term] = added.get(term, 0) + factor
    return added
