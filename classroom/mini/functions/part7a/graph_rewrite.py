"""Hint: How do you know that a round has changed nothing? You don't have to compare two graphs node
by node: what's special about nodes that are equal?
Hint: `new is root` says it all. Do up to MOST_ROUNDS rounds of walk with `rewrite`, and return as
soon as one changes nothing. Behind the loop, raise.
Because: Rules make work for other rules, so one round isn't enough. Two rules that undo each
other would never end, and a compiler that hangs is worse than one that complains.
"""

from classroom.mini.check import Wrong, promise
from classroom.mini.functions.part7a.shared import counters, expect_node, floats, number, plain


@promise("It goes on until nothing changes", needs=("match", "rewrite", "walk"))
def until_done(mini) -> None:
    x = mini.hole("x")
    t, _ = floats(mini)
    rules = [(x + x, lambda x: x * 2.0)]
    twice = t + t
    expect_node("x + x → x * 2.0, on (t + t) + (t + t):", mini.graph_rewrite(twice + twice, rules),
                (t * 2.0) * 2.0)  # fmt: skip
    i, j, k = counters(mini)
    chain = [(i, lambda: j * 2), (j, lambda: k * 2)]
    expect_node("i → j * 2 and j → k * 2, on i + 1:", mini.graph_rewrite(i + 1, chain),
                k * 2 * 2 + 1, {j * 2 + 1: "What a rule makes may fit a rule, too: after one "
                "round, there is still a j. Go on until a round changes nothing."})  # fmt: skip
    expect_node("no rules, on i + j:", mini.graph_rewrite(i + j, []), i + j)


@promise("Rules that undo each other for ever end in a RuntimeError",
         needs=("match", "rewrite", "walk"))  # fmt: skip
def for_ever(mini) -> None:
    x, y = mini.hole("x"), mini.hole("y")
    i, j, _ = counters(mini)
    rules = [(x // y, lambda x, y: y // x)]
    try:
        got = mini.graph_rewrite(i // j, rules)
    except RuntimeError as error:
        if isinstance(error, RecursionError):
            raise Wrong("This ends in a RecursionError. Count the rounds, and raise a RuntimeError "
                        "after MOST_ROUNDS of them.",
                        "x // y → y // x, on i // j") from None  # fmt: skip
        return
    raise Wrong(f"This rule turns i // j round and round. After MOST_ROUNDS = {mini.MOST_ROUNDS} "
                "rounds, raise a RuntimeError: a compiler that gives up silently hides a bug.",
                "x // y → y // x, on i // j", "RuntimeError", plain(got))  # fmt: skip


@promise("Forty rounds are not too many", needs=("match", "rewrite", "walk"))
def many_rounds(mini) -> None:
    i, j, _ = counters(mini)
    rules = [(i + number(mini, n), lambda n=n: i + number(mini, n - 1)) for n in range(40, 0, -1)]
    try:
        got = mini.graph_rewrite(i + 40, rules)
    except RuntimeError as error:
        raise Wrong("These rules need 40 rounds and then they're done. MOST_ROUNDS is "
                    f"{mini.MOST_ROUNDS}.", "i + 40 → i + 39 → … → i + 0") from error  # fmt: skip
    expect_node("i + 40 → i + 39 → … → i + 0, on i + 40:", got, i + 0)

# %% wrong: says What a rule makes may fit a rule, too
def graph_rewrite(root, rules):
    return walk(root, lambda node: rewrite(node, rules))

# %% wrong: says raise a RuntimeError: a compiler that gives up silently hides a bug
def graph_rewrite(root, rules):
    for _ in range(MOST_ROUNDS):
        root = walk(root, lambda node: rewrite(node, rules))
    return root

# %% wrong: says Count the rounds
def graph_rewrite(root, rules):
    new = walk(root, lambda node: rewrite(node, rules))
    return root if new is root else graph_rewrite(new, rules)

# %% wrong, changed: says These rules need 40 rounds
# -     for _ in range(MOST_ROUNDS):
# +     for _ in range(10):
#
# -     raise RuntimeError(f"the rules still change the graph after {MOST_ROUNDS} rounds")
# +     raise RuntimeError("too many rounds")

# %% right
def graph_rewrite(root, rules):
    rounds = 0
    while True:
        before = root
        root = walk(root, lambda node: rewrite(node, rules))
        if root is before:
            return root
        rounds += 1
        if rounds >= MOST_ROUNDS:
            raise RuntimeError("these rules go round in circles")
