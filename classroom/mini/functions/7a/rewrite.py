"""Hint: A rule can fail to apply in two ways: its pattern doesn't match, or its function has nothing
to say. What happens next in each case?
Hint: Two loops, one in the other: over the rules, and over the ways in which a pattern matches.
The function takes the dict as `replacement(**way)`. Return as soon as you have a node that's
neither None nor the old one.
Because: The order of the table decides, which makes it possible to put a special case first. A
rule that gives the same node back would otherwise never let the rounds end.
"""

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
-     return node

# %% right
def rewrite(node, rules):
    made = (function(**way) for pattern, function in rules
            for way in match(pattern, node, {}))
    return next((new for new in made if new is not None and new is not node), node)
