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

# %% wrong: says Is there a `return`?
def rewrite(node, rules):
    for pattern, replacement in rules:
        for found in match(pattern, node, {}):
            new = replacement(**found)
            if new is not None and new is not node:
                return new

# %% right
def rewrite(node, rules):
    made = (function(**way) for pattern, function in rules
            for way in match(pattern, node, {}))
    return next((new for new in made if new is not None and new is not node), node)
