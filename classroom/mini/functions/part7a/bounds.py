"""Hint: What are the bounds of x + y, if you know those of x and y? And of x * y, if x may be
negative? At which of the four corners is the smallest value?
Hint: CONST, RANGE and MOD are known by themselves. For the rest, `product(*map(bounds,
node.src))` gives all corners, one number of each source; ALU[op] computes each; and the smallest
and the largest of these are the answer.
Because: These ops rise or fall in each of their sources, as long as the others stay put, so their
extremes are at corners. `%` goes up and down, so it gets a case of its own.
"""

from classroom.mini.check import Wrong, expect, promise
from classroom.mini.functions.part7a.shared import (
    PLACES,
    counters,
    number,
    plain,
    random_number,
    value,
)


@promise("The smallest and the largest value of what has one op")
def simple_bounds(mini) -> None:
    i, j, k = counters(mini)
    corners = "Four corners count: smallest times largest can be the smallest of all."
    for said, node, wanted, mistakes in (
        ("i", i, (0, 3), {(0, 4): "i counts from 0 to 3: a RANGE of size 4 never gets to 4."}),
        ("the constant 7", number(mini, 7), (7, 7), {}),
        ("i + j", i + j, (0, 10), {}),
        ("i * 5 + 1", i * 5 + 1, (1, 16), {}),
        ("i * -1", i * -1, (-3, 0), {
            (0, -3): "The smaller one comes first. A negative factor swaps the ends."}),
        ("(i - 3) * (j - 2)", (i - 3) * (j - 2), (-15, 6),
         dict.fromkeys([(-15, 0), (0, 6), (6, 0)], corners)),
        ("j // 3", j // 3, (0, 2), {}),
        ("(i - 2) // 2", (i - 2) // 2, (-1, 0), {}),
        ("j % 5", j % 5, (0, 4), {(0, 5): "A remainder of a division by 5 is 4 at most."}),
        ("i < 4", i < 4, (1, 1), {
            (0, 1): "i is 3 at most, so this is always true. Ask both ends of i."}),
        ("i < 2", i < 2, (0, 1), {}),
        ("k < i", k < i, (0, 1), {}),
        ("maximum(i, 2)", i.maximum(2), (2, 3), {}),
    ):  # fmt: skip
        got = mini.bounds(node)
        if isinstance(got, list):
            got = tuple(got)
        if isinstance(got, tuple) and len(got) == 2 and all(float(end).is_integer() for end in got):
            got = (int(got[0]), int(got[1]))
        if node is j % 5 and got == (0, 4):
            continue
        expect(f"bounds({said}), with i from 0 to 3, j to 7 and k to 2,", got, wanted, mistakes)


@promise("No value of a hundred other numbers is outside of its bounds", seconds=20)
def never_too_narrow(mini) -> None:
    for seed in range(60):
        node = random_number(mini, seed)
        low, high = mini.bounds(node)
        for at in PLACES:
            if not low <= (got := value(mini, node, at)) <= high:
                at_text = ", ".join(f"{n}={v}" for n, v in zip("ijk", at, strict=True))
                raise Wrong(f"{plain(node)} is {got} at {at_text}: outside of your bounds. They "
                            "may be too wide, never too narrow.", f"bounds({plain(node)})",
                            f"at most {got}, at least {got}, and more",
                            f"({low}, {high})")  # fmt: skip

# %% wrong: says a RANGE of size 4 never gets to 4
@cache
def bounds(node):
    if node.op is Ops.RANGE:
        return 0, node.arg[1]
    return 0, 0

# %% wrong: says They may be too wide, never too narrow
@cache
def bounds(node):
    if node.op is Ops.CONST:
        return node.arg, node.arg
    if node.op is Ops.RANGE:
        return 0, node.arg[1] - 1
    if node.op is Ops.MOD:
        x, c = map(bounds, node.src)
        return x if x[1] < c[0] else (0, c[0] - 1)
    ends = [int(ALU[node.op](*corner)) for corner in product(*map(bounds, node.src))]
    return min(ends), max(ends)

# %% right
@cache
def bounds(node):
    if node.op is Ops.CONST:
        return [node.arg, node.arg]
    if node.op is Ops.RANGE:
        return [0, node.arg[1] - 1]
    ((a, b), (c, d)) = (bounds(source) for source in node.src)
    if node.op is Ops.ADD:
        return [a + c, b + d]
    if node.op is Ops.MUL:
        corners = sorted([a * c, a * d, b * c, b * d])
        return [corners[0], corners[-1]]
    if node.op is Ops.IDIV:
        corners = sorted([a // c, a // d, b // c, b // d])
        return [corners[0], corners[-1]]
    if node.op is Ops.MAX:
        return [max(a, c), max(b, d)]
    if node.op is Ops.MOD:
        return [a, b] if 0 <= a and b < c else [0, c - 1]
    return [int(b < c), int(a < d)]
