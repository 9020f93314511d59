"""Hint: There are three cases, and each is nearly one line with what you have. What's t * 0 if t is
infinite? So which of the three may also be used for floats?
Hint: All sources CONST: ALU[op] of their args, made x.dtype again. An ADD or MUL with x.dtype
int: total(rejoined(terms(x))). A CMPLT of ints whose two bounds are equal: that number.
Because: Sums of floats can't be put in a different order without changing a digit, so they're
left as they were written. Whole numbers can.
"""

from classroom.mini.check import Wrong, promise
from classroom.mini.functions.part7a.shared import (
    counters,
    expect_node,
    floats,
    keeps,
    number,
    plain,
    random_number,
)

EVERYTHING = ("match", "rewrite", "walk", "graph_rewrite", "bounds", "terms", "total", "divide")


@promise("Constants, equal sums, and comparisons that are decided",
         needs=("bounds", "terms", "total"))  # fmt: skip
def folded(mini) -> None:
    i, j, _ = counters(mini)
    two, three = number(mini, 2), number(mini, 3)
    expect_node("fold(2 + 3)", mini.fold(two + three), number(mini, 5))
    expect_node("fold(2 < 3)", mini.fold(two < three), number(mini, 1),
                {number(mini, 1.0): "A comparison of whole numbers is a whole number: `x.dtype` "
                "says which kind of number a node has."})  # fmt: skip
    half = mini.fold(number(mini, 0.5) + number(mini, 0.25))
    expect_node("fold(0.5 + 0.25)", half, number(mini, 0.75))
    for one, other in ((i + j + i, i * 2 + j), ((i + j) * 2, i * 2 + j * 2), (i + 2 + 3, i + 5)):
        a = mini.fold(one) or one
        keeps(mini, f"fold({plain(one)})", a, one)
        added = sum(node.op is mini.Ops.ADD for node in a.toposort())
        if added > max(len(mini.terms(a)) - 1, 0):
            raise Wrong(f"{plain(one)} has a term twice. It should be a sum with each term once.",
                        f"fold({plain(one)})", plain(other), plain(a))  # fmt: skip
    expect_node("fold(i < 4), with i from 0 to 3,", mini.fold(i < 4), number(mini, 1))
    expect_node("fold(j < 0), with j from 0 to 7,", mini.fold(j < 0), number(mini, 0))
    if (got := mini.fold(i < 2)) not in (None, i < 2):
        raise Wrong("i < 2 is true for some i and false for others, so there is nothing to fold.",
                    "fold(i < 2)", "None", plain(got))  # fmt: skip


@promise("Floats are left alone: their sums may not be put in order",
         needs=("bounds", "terms", "total"))  # fmt: skip
def floats_left(mini) -> None:
    t, u = floats(mini)
    for said, node in (
        ("t + u + t", t + u + t),
        ("t * 0.0", t * 0.0),
        ("t + 0.0", t + 0.0),
        ("t < t", t < t),
    ):
        got = mini.fold(node)
        if got is not None and got is not node:
            raise Wrong(f"{said} is about floats. Rounding, infinities and NaN make most rules of "
                        "whole numbers wrong for them: only constants may be folded.",
                        f"fold({said})", "None", plain(got))  # fmt: skip


@promise("simplify: (j * 11 + i) % 10 becomes j + i", needs=EVERYTHING)
def the_moment(mini) -> None:
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
            raise Wrong(f"{said} should become {plain(wanted[0])}.", f"simplify({said})",
                        plain(wanted[0]), plain(got))  # fmt: skip


@promise("simplify: eighty graphs keep their values, and come to an end", needs=EVERYTHING,
         seconds=20)  # fmt: skip
def all_rules(mini) -> None:
    for seed in range(80):
        node = random_number(mini, seed)
        try:
            got = mini.simplify(node)
        except RuntimeError as error:
            raise Wrong("The rules never come to an end here: one of them undoes another.",
                        plain(node)) from error  # fmt: skip
        keeps(mini, f"simplify({plain(node)})", got, node)

# %% wrong: the float that a comparison gives is a 1.0, and x is a whole number
def fold(x):
    if x.op in ALU and all(s.op is Ops.CONST for s in x.src):
        return UOp(Ops.CONST, (), ALU[x.op](*[s.arg for s in x.src]).item())
    if x.dtype is int and x.op in (Ops.ADD, Ops.MUL):
        return total(rejoined(terms(x)))
    if x.op is Ops.CMPLT and x.dtype is int and len({*bounds(x)}) == 1:
        return x.const(bounds(x)[0])

# %% wrong: says Is there a `return`?
def fold(x):
    return None

# %% wrong: says should be 5
def fold(x):
    if x.op in ALU and all(source.op is Ops.CONST for source in x.src):
        return UOp(Ops.CONST, (), float(ALU[x.op](*(source.arg for source in x.src))))

# %% wrong: says has a term twice
def fold(x):
    if x.op in ALU and all(source.op is Ops.CONST for source in x.src):
        return UOp(Ops.CONST, (), x.dtype(ALU[x.op](*(source.arg for source in x.src))))

# %% wrong, changed: says is about floats
# -     if x.dtype is int and x.op in (Ops.ADD, Ops.MUL):
# +     if x.op in (Ops.ADD, Ops.MUL):
#
# -     return None

# %% wrong, changed: says should become
# -         return total(rejoined(terms(x)))
# +         return total(terms(x))
#
# -     return None

# %% wrong, changed: says there is nothing to fold
# -     if x.dtype is int and x.op is Ops.CMPLT and len(set(bounds(x))) == 1:
# +     if x.dtype is int and x.op is Ops.CMPLT:
#
# -     return None

# %% wrong: says never come to an end
from math import gcd

def fold(x):
    if x.op in ALU and all(source.op is Ops.CONST for source in x.src):
        return UOp(Ops.CONST, (), x.dtype(ALU[x.op](*(source.arg for source in x.src))))
    if x.dtype is int and x.op in (Ops.ADD, Ops.MUL):
        parts = rejoined(terms(x))
        g = gcd(*parts.values())
        if x.op is Ops.MUL or g < 2:
            return total(parts)
        return total({term: factor // g for term, factor in parts.items()}) * g
    if x.dtype is int and x.op is Ops.CMPLT and len(set(bounds(x))) == 1:
        return UOp(Ops.CONST, (), bounds(x)[0])

# %% right
def fold(x):
    if x.op in ALU and not any(source.op is not Ops.CONST for source in x.src):
        value = ALU[x.op](*[source.arg for source in x.src])
        return x.const(x.dtype(value))
    if x.dtype is float:
        return x
    if x.op in (Ops.ADD, Ops.MUL):
        return total(rejoined(terms(x)))
    if x.op is Ops.CMPLT:
        low, high = bounds(x)
        return x.const(low) if low == high else x
    return x
