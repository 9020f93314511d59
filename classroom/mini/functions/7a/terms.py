"""Hint: A sum of sums: if you have the terms of both sides, what are the terms of x + y? If you have
those of x, what are the terms of x * 3?
Hint: It's recursive. CONST: {None: value}. A product with a CONST on either side: all factors
times that. ADD: both dicts, with the factors of what's in both added up; get(term, 0) helps.
Everything else: {node: 1}.
Because: In this form, 4*i + j + 4*i and 8*i + j are the same dict. That's what makes them the
same node when `total` builds them again.
"""

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
-     if node.op is Ops.MUL and any(source.op is Ops.CONST for source in node.src):
+     if node.op in (Ops.MUL, Ops.MOD) and any(source.op is Ops.CONST for source in node.src):

-         return {term: factor * c.arg for term, factor in terms(x).items()}
+         return {t: f * c.arg if node.op is Ops.MUL else f % c.arg for t, f in terms(x).items()}

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
