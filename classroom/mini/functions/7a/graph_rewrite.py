"""Hint: How do you know that a round has changed nothing? You don't have to compare two graphs node
by node: what's special about nodes that are equal?
Hint: `new is root` says it all. Do up to MOST_ROUNDS rounds of walk with `rewrite`, and return as
soon as one changes nothing. Behind the loop, raise.
Because: Rules make work for other rules, so one round isn't enough. Two rules that undo each
other would never end, and a compiler that hangs is worse than one that complains.
"""

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
-     for _ in range(MOST_ROUNDS):
+     for _ in range(10):

-     raise RuntimeError(f"the rules still change the graph after {MOST_ROUNDS} rounds")
+     raise RuntimeError("too many rounds")

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
