"""Stage 7a: rules. A pattern is a graph with holes, and a rule says what to put in its place.

Stage 5's index rules work on loop counters just as well as on numbers, but what comes out of them
is a mess: `(0 + i*4 + j) // 4` where `i` would do. This stage tidies such graphs up, without
knowing what they are for.
"""

from functools import cache
from itertools import product

from mini.part4 import ALU, Ops, UOp

# ---- patterns ------------------------------------------------------------------------------------


def hole(name):
    """A node for patterns, which anything fits. If its name begins with c, only constants fit."""
    return UOp(Ops.HOLE, (), name)


COMMUTATIVE = (Ops.ADD, Ops.MUL, Ops.MAX)  # x + y is y + x, so a pattern may be met either way


def match(pattern, node, found):
    """All the ways in which `node` looks like `pattern`: a list of dicts, [] if there is none.

    Each dict says which node fills each hole, by name, and includes `found`, the holes that have
    been filled already. A hole that occurs twice is filled by the same node both times. Whatever
    isn't a hole must have the same op, the same arg (1.0 and 1 are two constants), and sources that
    match; the two sources of a COMMUTATIVE op may match in either order. Leave `found` as it is.

    Examples, with x = hole("x"), y = hole("y") and c = hole("c"), and four for the node of 4:
    - match(x * c, i * 4, {}) is [{"x": i, "c": four}], and so is match(c * x, i * 4, {}).
    - match(x + y, i + j, {}) has two dicts in it, and match(x + x, i + j, {}) is [].
    """
    ### BEGIN SOLUTION
    if pattern.op is Ops.HOLE:
        name = pattern.arg
        fits = name[0] != "c" or node.op is Ops.CONST
        return [{**found, name: node}] if fits and found.get(name, node) is node else []
    if (pattern.op, pattern.arg, len(pattern.src)) != (node.op, node.arg, len(node.src)):
        return []
    if not pattern.src:
        return [found] if pattern is node else []  # 1 == 1.0, but they are two nodes
    matches = []
    for sources in (node.src, node.src[::-1]) if node.op in COMMUTATIVE else (node.src,):
        ways = [found]
        for part, source in zip(pattern.src, sources, strict=True):
            ways = [more for way in ways for more in match(part, source, way)]
        matches += ways
    return matches
    ### END SOLUTION


def rewrite(node, rules):
    """What the first rule that applies makes of a node; the node itself if none does.

    A rule is a pair: a pattern, and a function that gets what fills the holes, by name. If the
    function returns None, or the node as it was, the rule has nothing to say to this match, and the
    next match or rule gets its turn.

    Examples, for rules = [(x * 1.0, lambda x: x)], with x = hole("x"):
    - rewrite(t * 1.0, rules) is t.
    - rewrite(t * 2.0, rules) is t * 2.0.
    """
    ### BEGIN SOLUTION
    for pattern, replacement in rules:
        for found in match(pattern, node, {}):
            new = replacement(**found)
            if new is not None and new is not node:
                return new
    return node
    ### END SOLUTION


def walk(root, change):
    """The graph below `root` once more, with `change` applied to each node, sources first.

    Each node is rebuilt on top of what its sources have become; `change` is called with it, and
    what that returns takes its place. If nothing changes, the same nodes come back. Graphs get
    deep, as in stage 4.

    Examples, for root = i * 4 + i:
    - walk(root, lambda node: j if node is i else node) is j * 4 + j.
    - walk(root, lambda node: node) is root.
    """
    ### BEGIN SOLUTION
    new = {}
    for node in root.toposort():
        new[node] = change(UOp(node.op, tuple(new[source] for source in node.src), node.arg))
    return new[root]
    ### END SOLUTION


def substitute(root, replacements):
    """The graph with some nodes replaced by others, {old: new}."""
    return walk(root, lambda node: replacements.get(node, node))


MOST_ROUNDS = 100  # far more than any graph of this course needs


def graph_rewrite(root, rules):
    """Apply the rules to the whole graph, again and again, until a round changes nothing.

    Two rules may undo each other for ever. After MOST_ROUNDS rounds, raise a RuntimeError.

    Examples, with x = hole("x") and y = hole("y"):
    - With the rule (x + x, lambda x: x * 2.0), (t + t) + (t + t) becomes (t * 2.0) * 2.0.
    - With (x // y, lambda x, y: y // x), i // j would turn round and round: RuntimeError.
    """
    ### BEGIN SOLUTION
    for _ in range(MOST_ROUNDS):
        new = walk(root, lambda node: rewrite(node, rules))
        if new is root:
            return root
        root = new
    raise RuntimeError(f"the rules still change the graph after {MOST_ROUNDS} rounds")
    ### END SOLUTION


# ---- what is known about whole numbers -----------------------------------------------------------


@cache
def bounds(node):
    """The smallest and the largest value that a whole number can have, as a pair of ints.

    A CONST is what it is. A RANGE with arg (number, size) counts from 0 to size - 1. `x % c` is 0
    to c - 1 (every divisor here is a positive CONST). ADD, MUL, IDIV, MAX and CMPLT have their ends
    where their sources are at one of theirs; ALU[op] computes them. The true range may be narrower
    than what you return, never wider.

    Examples, with i from 0 to 3:
    - bounds(i * 5 + 1) is (1, 16).
    - bounds(i * -1) is (-3, 0).
    """
    ### BEGIN SOLUTION
    if node.op is Ops.CONST:
        return node.arg, node.arg
    if node.op in (Ops.RANGE, Ops.MOD):
        return 0, (node.arg[1] if node.op is Ops.RANGE else node.src[1].arg) - 1
    ends = [int(ALU[node.op](*corner)) for corner in product(*map(bounds, node.src))]
    return min(ends), max(ends)
    ### END SOLUTION


def terms(node):
    """A whole number as a sum: a dict from each term to its factor, with None for the constant.

    Sums are taken apart, and so are products with a constant, however they are nested. Everything
    else is a term. A factor may come out as 0.

    Examples:
    - terms(i * 4 + j + 3) is {i: 4, j: 1, None: 3}.
    - terms((i + j) * 2 + i) is {i: 3, j: 2}.
    """
    ### BEGIN SOLUTION
    if node.op is Ops.CONST:
        return {None: node.arg}
    if node.op is Ops.MUL and any(source.op is Ops.CONST for source in node.src):
        x, c = node.src if node.src[1].op is Ops.CONST else node.src[::-1]
        return {term: factor * c.arg for term, factor in terms(x).items()}
    if node.op is not Ops.ADD:
        return {node: 1}
    added = dict(terms(node.src[0]))
    for term, factor in terms(node.src[1]).items():
        added[term] = added.get(term, 0) + factor
    return added
    ### END SOLUTION


def total(parts):
    """And back: the sum of a dict of terms, as a node.

    The terms stay in their order, and the constant comes last. A term whose factor is 0 drops out,
    and so does a constant 0, unless nothing else is left. A factor of 1 needs no product.

    Examples:
    - total({i: 4, j: 1, None: 3}) is i * 4 + j + 3.
    - total({i: 0, None: 0}) is 0, and total({j: 1}) is j itself.
    """
    ### BEGIN SOLUTION
    added = [t if factor == 1 else t * factor for t, factor in parts.items() if t and factor]
    if parts.get(None) or not added:
        added.append(UOp(Ops.CONST, (), parts.get(None, 0)))
    return sum(added[1:], added[0])
    ### END SOLUTION


def rejoined(parts):
    """Terms in which `(x // c) * c` and `x % c` meet: together they are x."""
    for rest in [term for term in parts if term is not None and term.op is Ops.MOD]:
        x, c = rest.src
        quotient, factor = x // c, parts[rest]
        if factor and parts.get(quotient) == factor * c.arg:
            left = {t: f for t, f in parts.items() if t not in (rest, quotient)}
            return rejoined(terms(total(left) + x * factor))
    return parts


def divide(x, c, op):
    """`x // c` (for op = Ops.IDIV) or `x % c` (for Ops.MOD), made simpler; None if it can't be.

    c is a CONST above 0. Whatever is certain about x should help: what it's a sum of, and how large
    it can get. What comes back may have a division left in it, as long as it's a simpler one: the
    rules are applied again until nothing changes.

    Examples, with i from 0 to 3, for two and four as nodes:
    - divide(j * 4 + i, four, Ops.IDIV) may be j, or j + i // 4. With Ops.MOD it's i, or i % 4.
    - divide(i + 4, four, Ops.IDIV) is 1 in the end, since i + 4 is 4 to 7.
    - divide(i, two, Ops.IDIV) is None: there's nothing to be said about i // 2.
    """
    ### BEGIN SOLUTION
    low, high = (end // c.arg for end in bounds(x))
    if low == high:
        return x.const(low) if op is Ops.IDIV else x - low * c.arg
    rest = total({term: factor % c.arg for term, factor in terms(x).items()})
    if rest is x:
        return None
    whole = total({term: factor // c.arg for term, factor in terms(x).items()})
    return whole + rest // c if op is Ops.IDIV else rest % c
    ### END SOLUTION


def fold(x):
    """What can be worked out now; None if nothing can. Only the first rule is for floats, too.

    An elementwise op on constants is a constant. A sum or product of whole numbers becomes a sum
    with each term once, in which rejoined() has had its say. A comparison whose bounds show that it
    is always 0, or always 1, is that constant.

    Examples, with i from 0 to 3:
    - fold of the node 2 + 3 is 5, and fold(j + i + j) is j * 2 + i.
    - fold(i < 4) is 1, and fold(i < 2) is None.
    """
    ### BEGIN SOLUTION
    if x.op in ALU and all(source.op is Ops.CONST for source in x.src):
        return UOp(Ops.CONST, (), x.dtype(ALU[x.op](*(source.arg for source in x.src))))
    if x.dtype is int and x.op in (Ops.ADD, Ops.MUL):
        return total(rejoined(terms(x)))
    if x.dtype is int and x.op is Ops.CMPLT and len(set(bounds(x))) == 1:
        return UOp(Ops.CONST, (), bounds(x)[0])
    return None
    ### END SOLUTION


@cache
def all_rules():
    """The rules of this stage, as one list. Append rules of your own."""
    x, y, c = hole("x"), hole("y"), hole("c")
    return [
        (x, fold),
        (x * 1.0, lambda x: x),
        (x // c, lambda x, c: divide(x, c, Ops.IDIV)),
        (x % c, lambda x, c: divide(x, c, Ops.MOD)),
        (c.where(x, y), lambda c, x, y: x if c.arg else y),
    ]


def simplify(root):
    return graph_rewrite(root, all_rules())
