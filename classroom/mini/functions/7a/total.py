"""Hint: Three things must not show up in the sum: a product with 1, a product with 0, and a constant
0. What is left if that's everything there was?
Hint: Make a list first: for each term that isn't None and whose factor isn't 0, the term or a
product. Then the constant, if it isn't 0 or the list is empty. `sum` adds nodes, too; its second
argument is what it starts from.
Because: If the order is always the same, equal sums are one node, and the rules can tell that
nothing changes any more.
"""

# %% wrong: Python's sum begins with a 0, and i * 1 is left
def total(parts):
    return sum(f if t is None else t * f for t, f in parts.items() if f)

# %% wrong: says a different value
def total(parts):
    return sum(t * f for t, f in parts.items() if t)

# %% wrong: says there's more in it than it takes
def total(parts):
    added = [t * f for t, f in parts.items() if t]
    added.append(UOp(Ops.CONST, (), parts.get(None, 0)))
    return sum(added[1:], added[0])

# %% wrong: says Leave the dict as it is
def total(parts):
    constant = parts.pop(None, 0)
    added = [t if f == 1 else t * f for t, f in parts.items() if f]
    if constant or not added:
        added.append(UOp(Ops.CONST, (), constant))
    return sum(added[1:], added[0])

# %% wrong: says The constant comes last
def total(parts):
    added = [t if f == 1 else t * f for t, f in parts.items() if t and f]
    if parts.get(None) or not added:
        added.insert(0, UOp(Ops.CONST, (), parts.get(None, 0)))
    return sum(added[1:], added[0])

# %% wrong, changed: says stay in their order
-     added = [t if factor == 1 else t * factor for t, factor in parts.items() if t and factor]
+     added = [t if f == 1 else t * f for t, f in parts.items() if t and f][::-1]

# %% wrong: says should give a node
def total(parts):
    added = [t if factor == 1 else t * factor for t, factor in parts.items() if t and factor]
    constant = parts.get(None, 0)
    if not added:
        return constant
    whole = sum(added[1:], added[0])
    return whole + constant if constant else whole

# %% right: Python's sum, with a start of its own
def total(parts):
    nodes = [t if f == 1 else t * f for t, f in parts.items() if t is not None and f]
    if parts.get(None) or not nodes:
        nodes.append(UOp(Ops.CONST, (), parts.get(None, 0)))
    return sum(nodes[1:], nodes[0])

# %% right
def total(parts):
    result = None
    for term, factor in parts.items():
        if term is not None and factor != 0:
            product = term * factor if factor != 1 else term
            result = product if result is None else result + product
    constant = parts.get(None, 0)
    if result is None:
        return UOp(Ops.CONST, (), constant)
    return result + constant if constant else result
