"""Hint: A rule can fail to apply in two ways: its pattern doesn't match, or its function has
nothing to say. What happens next in each case?
Hint: Two loops, one in the other: over the rules, and over the ways in which a pattern matches. The
function takes the dict as `replacement(**way)`. Return as soon as you have a node that's neither
None nor the old one.
Because: The order of the table decides, which makes it possible to put a special case first. A rule
that gives the same node back would otherwise never let the rounds end.
"""

from classroom.mini.check import promise
from classroom.mini.functions.part7a.shared import counters, expect_node, floats, number


@promise("The first rule that applies decides", needs=("match",))
def first_rule(mini) -> None:
    i, j, _ = counters(mini)
    x, c = mini.hole("x"), mini.hole("c")
    t, u = floats(mini)
    rules = [(x * 1.0, lambda x: x)]
    expect_node("the rule x * 1.0 → x on t * 1.0:", mini.rewrite(t * 1.0, rules), t)
    expect_node("the rule x * 1.0 → x on t * 2.0:", mini.rewrite(t * 2.0, rules), t * 2.0)
    two = [(x * c, lambda x, c: x), (x * c, lambda x, c: x + x)]
    expect_node("x * c → x, then x * c → x + x, on i * 4:", mini.rewrite(i * 4, two), i,
                {i + i: "The last rule won. The first one that applies decides."})  # fmt: skip
    more = [(x * c, lambda x, c: x + x), (x + x, lambda x: x * 2)]
    expect_node(
        "x * c → x + x, then x + x → x * 2, on i * 4:",
        mini.rewrite(i * 4, more),
        i + i,
        {i * 2: "Stop at the first rule that applies. What it made is for the next round."},
    )
    expect_node("no rules at all, on i + j:", mini.rewrite(i + j, []), i + j)


@promise("A rule that returns None, or the node itself, passes", needs=("match",))
def passes(mini) -> None:
    i, j, _ = counters(mini)
    x, y, c = mini.hole("x"), mini.hole("y"), mini.hole("c")
    zero = number(mini, 0)
    rules = [(x * c, lambda x, c: None), (x * c, lambda x, c: x * c), (x * c, lambda x, c: zero)]
    expect_node("x * c → None, then → itself, then → 0, on i * 4:", mini.rewrite(i * 4, rules),
                zero, {i * 4: "A rule that has nothing to say (None, or the same node) shouldn't "
                "end the search. The next one gets its turn."})  # fmt: skip
    only = [(x + y, lambda x, y: x if y is i else None)]
    expect_node("x + y → x if y is i, on i + j:", mini.rewrite(i + j, only), j,
                {i + j: "The first match has nothing to say here, but the second has: x is j and y "
                "is i. Try every match of a rule."})  # fmt: skip

# %% wrong: gives up after the first match, though the next rule gets its turn
def rewrite(node, rules):
    for pattern, function in rules:
        for way in match(pattern, node, {}):
            return function(**way) or node
    return node

# %% wrong: says Stop at the first rule that applies
def rewrite(node, rules):
    for pattern, replacement in rules:
        for found in match(pattern, node, {}):
            node = replacement(**found) or node
    return node

# %% wrong, changed: says Is there a `return`?
# -     return node

# %% right
def rewrite(node, rules):
    made = (function(**way) for pattern, function in rules
            for way in match(pattern, node, {}))
    return next((new for new in made if new is not None and new is not node), node)
