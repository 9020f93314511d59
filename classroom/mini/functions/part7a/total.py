"""Hint: Three things must not show up in the sum: a product with 1, a product with 0, and a
constant 0. What is left if that's everything there was?
Hint: Make a list first: for each term that isn't None and whose factor isn't 0, the term or a
product. Then the constant, if it isn't 0 or the list is empty. `sum` adds nodes, too; its second
argument is what it starts from.
Because: If the order is always the same, equal sums are one node, and the rules can tell that
nothing changes any more.
"""

from classroom.mini.check import Wrong, promise, wrong_if
from classroom.mini.functions.part7a.shared import counters, keeps, number, plain


@promise("A sum with each term once, nothing that is 0, the constant last")
def added_up(mini) -> None:
    i, j, k = counters(mini)
    cases = [
        ({i: 4, j: 1, None: 3}, i * 4 + j + 3),
        ({j: 1}, j),
        ({None: 7, k: 2}, k * 2 + 7),
        ({i: 0, j: -1, None: 0}, j * -1),
        ({i * j: 3, k // 2: 1}, i * j * 3 + k // 2),
        ({None: 5}, number(mini, 5)),
        ({i: 0}, number(mini, 0)),
        ({}, number(mini, 0)),
    ]
    for parts, wanted in cases:
        said = ", ".join(f"{plain(t) if t is not None else None}: {f}" for t, f in parts.items())
        call, before = f"total({{{said}}})", dict(parts)
        got = mini.total(parts)
        keeps(mini, call, got, wanted)
        wrong_if(parts != before, "Leave the dict as it is: others may still need it.", call)
        size = len(wanted.toposort())
        if len(got.toposort()) > size:
            raise Wrong("The value is right, but there's more in it than it takes: a product with "
                        "1 or with 0, or a constant 0.", call, plain(wanted),
                        plain(got))  # fmt: skip
        if None in parts and len(parts) > 1 and parts[None] and got.src[1].op is not mini.Ops.CONST:
            raise Wrong("The constant comes last.", call, plain(wanted), plain(got))


@promise("Its terms, added up again, are the same node", needs=("terms",))
def stays_as_it_is(mini) -> None:
    i, j, k = counters(mini)
    for parts in ({k: 1, j: 4, i: 2}, {i: 4, j: 1, None: 3}, {j // 2: 3, i: 1, None: -1}):
        once = mini.total(parts)
        again = mini.total(mini.terms(once))
        if again is not once:
            raise Wrong("The terms should stay in their order. A rule that turns i + j into j + i "
                        "is never done.", "total(terms(x))", plain(once), plain(again))  # fmt: skip

# %% wrong: says there's more in it than it takes
def total(parts):
    return sum(f if t is None else t * f for t, f in parts.items() if f)

# %% wrong: says a different value
def total(parts):
    return sum(t * f for t, f in parts.items() if t)

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
# -     added = [t if factor == 1 else t * factor for t, factor in parts.items() if t and factor]
# +     added = [t if f == 1 else t * f for t, f in parts.items() if t and f][::-1]

# %% wrong: says should give a node
def total(parts):
    added = [t if factor == 1 else t * factor for t, factor in parts.items() if t and factor]
    constant = parts.get(None, 0)
    if not added:
        return constant
    whole = sum(added[1:], added[0])
    return whole + constant if constant else whole

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
