"""(function, what somebody writes instead, what they are told)"""

MISTAKES = [
    ("match", "return []", "should be [{x: i + j}]"),
    ("match", "return None", "should give a list of dicts"),
    ("match", """
        if pattern.op is Ops.HOLE:
            return [{**found, pattern.arg: node}]
        return []
        """, "the name of this hole begins with c"),
    ("match", """
        if pattern.op is Ops.HOLE:
            fits = pattern.arg != "c" or node.op is Ops.CONST
            return [{**found, pattern.arg: node}] if fits else []
        return []
        """, "c1 begins with c as well"),
    ("match", """
        if pattern.op is Ops.HOLE:
            fits = pattern.arg[0] != "c" or node.op is Ops.CONST
            return [{**found, pattern.arg: node}] if fits else []
        if pattern.op is not node.op or pattern.arg != node.arg:
            return []
        ways = [found]
        for part, source in zip(pattern.src, node.src):
            ways = [more for way in ways for more in match(part, source, way)]
        return ways
        """, "1.0 and 1 are different constants"),
    ("match", """
        if pattern.op is Ops.HOLE:
            fits = pattern.arg[0] != "c" or node.op is Ops.CONST
            return [{**found, pattern.arg: node}] if fits else []
        if not pattern.src:
            return [found] if pattern is node else []
        if pattern.op is not node.op or len(pattern.src) != len(node.src):
            return []
        ways = [found]
        for part, source in zip(pattern.src, node.src):
            ways = [more for way in ways for more in match(part, source, way)]
        return ways
        """, "one sums axis 0, the other axis 1"),
    ("match", """
        if pattern.op is Ops.HOLE:
            fits = pattern.arg[0] != "c" or node.op is Ops.CONST
            return [{**found, pattern.arg: node}] if fits else []
        if not pattern.src:
            return [found] if pattern is node else []
        if pattern.op is not node.op or pattern.arg != node.arg:
            return []
        ways = [found]
        for part, source in zip(pattern.src, node.src):
            ways = [more for way in ways for more in match(part, source, way)]
        return ways
        """, "The pattern has one source and the node has two"),
    ("match", """
        if pattern.op is Ops.HOLE:
            fits = pattern.arg[0] != "c" or node.op is Ops.CONST
            return [{**found, pattern.arg: node}] if fits else []
        if not pattern.src:
            return [found] if pattern is node else []
        if (pattern.op, pattern.arg, len(pattern.src)) != (node.op, node.arg, len(node.src)):
            return []
        ways = [found]
        for part, source in zip(pattern.src, node.src):
            ways = [more for way in ways for more in match(part, source, way)]
        return ways
        """, "x can't be i and j at once"),
    ("match", """
        if pattern.op is Ops.HOLE:
            fits = pattern.arg[0] != "c" or node.op is Ops.CONST
            if not fits or found.get(pattern.arg, node) is not node:
                return []
            return [{**found, pattern.arg: node}]
        if not pattern.src:
            return [found] if pattern is node else []
        if (pattern.op, pattern.arg, len(pattern.src)) != (node.op, node.arg, len(node.src)):
            return []
        ways = [found]
        for part, source in zip(pattern.src, node.src):
            ways = [more for way in ways for more in match(part, source, way)]
        return ways
        """, "so both orders of its sources may match"),
    ("match", """
        if pattern.op is Ops.HOLE:
            fits = pattern.arg[0] != "c" or node.op is Ops.CONST
            if not fits or found.get(pattern.arg, node) is not node:
                return []
            return [{**found, pattern.arg: node}]
        if not pattern.src:
            return [found] if pattern is node else []
        if (pattern.op, pattern.arg, len(pattern.src)) != (node.op, node.arg, len(node.src)):
            return []
        for sources in (node.src, node.src[::-1]) if node.op in COMMUTATIVE else (node.src,):
            ways = [found]
            for part, source in zip(pattern.src, sources):
                ways = [more for way in ways for more in match(part, source, way)]
            if ways:
                return ways
        return []
        """, "The list needs both"),
    ("match", """
        if pattern.op is Ops.HOLE:
            fits = pattern.arg[0] != "c" or node.op is Ops.CONST
            if not fits or found.get(pattern.arg, node) is not node:
                return []
            return [{**found, pattern.arg: node}]
        if not pattern.src:
            return [found] if pattern is node else []
        if (pattern.op, pattern.arg, len(pattern.src)) != (node.op, node.arg, len(node.src)):
            return []
        matches = []
        for sources in (node.src, node.src[::-1]):
            ways = [found]
            for part, source in zip(pattern.src, sources):
                ways = [more for way in ways for more in match(part, source, way)]
            matches += ways
        return matches
        """, "should be [{x: i, y: j}]"),
    ("match", """
        if pattern.op is Ops.HOLE:
            if pattern.arg[0] == "c" and node.op is not Ops.CONST:
                return []
            if found.get(pattern.arg, node) is not node:
                return []
            found[pattern.arg] = node
            return [dict(found)]
        if not pattern.src:
            return [found] if pattern is node else []
        if (pattern.op, pattern.arg, len(pattern.src)) != (node.op, node.arg, len(node.src)):
            return []
        matches = []
        for sources in (node.src, node.src[::-1]) if node.op in COMMUTATIVE else (node.src,):
            ways = [dict(found)]
            for part, source in zip(pattern.src, sources):
                ways = [more for way in ways for more in match(part, source, way)]
            matches += ways
        return matches
        """, "match put something into `found`"),
    ("rewrite", """
        for pattern, replacement in rules:
            for found in match(pattern, node, {}):
                node = replacement(**found) or node
        return node
        """, "Stop at the first rule that applies"),
    ("rewrite", """
        for pattern, replacement in reversed(rules):
            for found in match(pattern, node, {}):
                new = replacement(**found)
                if new is not None and new is not node:
                    return new
        return node
        """, "The last rule won"),
    ("rewrite", """
        for pattern, replacement in rules:
            for found in match(pattern, node, {}):
                return replacement(**found) or node
        return node
        """, "shouldn't end the search"),
    ("rewrite", """
        for pattern, replacement in rules:
            found = match(pattern, node, {})
            new = replacement(**found[0]) if found else None
            if new is not None and new is not node:
                return new
        return node
        """, "Try every match of a rule"),
    ("rewrite", """
        for pattern, replacement in rules:
            for found in match(pattern, node, {}):
                new = replacement(**found)
                if new is not None and new is not node:
                    return new
        """, "Is there a `return`?"),
    ("walk", "return change(root)", "Build each node on what its sources have become"),
    ("walk", """
        new = {}
        for node in root.toposort():
            new[node] = change(node)
        return new[root]
        """, "Build each node on what its sources have become"),
    ("walk", """
        new = {}
        for node in root.toposort():
            changed = change(node)
            if changed is node:
                changed = UOp(node.op, tuple(new[s] for s in node.src), node.arg)
            new[node] = changed
        return new[root]
        """, "`change` has to be called with the rebuilt node"),
    ("walk", """
        new = {}
        for node in root.toposort():
            new[node] = change(UOp(node.op, tuple(new[s] for s in node.src)))
        return new[root]
        """, "TypeError"),
    ("walk", """
        src = tuple(walk(source, change) for source in root.src)
        return change(UOp(root.op, src, root.arg))
        """, "change it once"),
    ("walk", """
        @cache
        def visit(node):
            return change(UOp(node.op, tuple(map(visit, node.src)), node.arg))
        return visit(root)
        """, "without recursion"),
    ("graph_rewrite", "return walk(root, lambda node: rewrite(node, rules))",
     "What a rule makes may fit a rule, too"),
    ("graph_rewrite", """
        for _ in range(MOST_ROUNDS):
            root = walk(root, lambda node: rewrite(node, rules))
        return root
        """, "raise a RuntimeError: a compiler that gives up silently hides a bug"),
    ("graph_rewrite", """
        new = walk(root, lambda node: rewrite(node, rules))
        return root if new is root else graph_rewrite(new, rules)
        """, "Count the rounds"),
    ("graph_rewrite", """
        for _ in range(10):
            new = walk(root, lambda node: rewrite(node, rules))
            if new is root:
                return root
            root = new
        raise RuntimeError("too many rounds")
        """, "These rules need 40 rounds"),
    ("bounds", """
        if node.op is Ops.RANGE:
            return 0, node.arg[1]
        return 0, 0
        """, "a RANGE of size 4 never gets to 4"),
    ("bounds", """
        if node.op is Ops.CONST:
            return node.arg, node.arg
        if node.op is Ops.RANGE:
            return 0, node.arg[1] - 1
        if node.op is Ops.MOD:
            return 0, node.src[1].arg - 1
        (a, b), (c, d) = map(bounds, node.src)
        return int(ALU[node.op](a, c)), int(ALU[node.op](b, d))
        """, "The smaller one comes first"),
    ("bounds", """
        if node.op is Ops.CONST:
            return node.arg, node.arg
        if node.op is Ops.RANGE:
            return 0, node.arg[1] - 1
        if node.op is Ops.MOD:
            return 0, node.src[1].arg - 1
        (a, b), (c, d) = map(bounds, node.src)
        ends = int(ALU[node.op](a, c)), int(ALU[node.op](b, d))
        return min(ends), max(ends)
        """, "Four corners count"),
    ("bounds", """
        if node.op is Ops.CONST:
            return node.arg, node.arg
        if node.op is Ops.RANGE:
            return 0, node.arg[1] - 1
        ends = [int(ALU[node.op](*corner)) for corner in product(*map(bounds, node.src))]
        return min(ends), max(ends)
        """, "should be (0, 4)"),
    ("bounds", """
        if node.op is Ops.CONST:
            return node.arg, node.arg
        if node.op is Ops.RANGE:
            return 0, node.arg[1] - 1
        if node.op is Ops.MOD:
            return 0, node.src[1].arg
        ends = [int(ALU[node.op](*corner)) for corner in product(*map(bounds, node.src))]
        return min(ends), max(ends)
        """, "is 4 at most"),
    ("bounds", """
        if node.op is Ops.CMPLT:
            return 0, 1
        if node.op is Ops.CONST:
            return node.arg, node.arg
        if node.op in (Ops.RANGE, Ops.MOD):
            return 0, (node.arg[1] if node.op is Ops.RANGE else node.src[1].arg) - 1
        ends = [int(ALU[node.op](*corner)) for corner in product(*map(bounds, node.src))]
        return min(ends), max(ends)
        """, "Ask both ends of i"),
    ("terms", "return {node: 1}", "should be {None: 5}"),
    ("terms", """
        if node.op is Ops.CONST:
            return {None: node.arg}
        if node.op is Ops.ADD:
            return terms(node.src[0]) | terms(node.src[1])
        if node.op is Ops.MUL and node.src[1].op is Ops.CONST:
            return {t: f * node.src[1].arg for t, f in terms(node.src[0]).items()}
        return {node: 1}
        """, "The constant may stand on the left"),
    ("terms", """
        if node.op is Ops.CONST:
            return {None: node.arg}
        if node.op is Ops.ADD:
            return terms(node.src[0]) | terms(node.src[1])
        if node.op is Ops.MUL and any(s.op is Ops.CONST for s in node.src):
            x, c = node.src if node.src[1].op is Ops.CONST else node.src[::-1]
            return {t: f * c.arg for t, f in terms(x).items()}
        return {node: 1}
        """, "the factors add up"),
    ("terms", """
        if node.op is Ops.CONST:
            return {None: node.arg}
        if node.op is Ops.MUL and any(s.op is Ops.CONST for s in node.src):
            x, c = node.src if node.src[1].op is Ops.CONST else node.src[::-1]
            return {x: c.arg}
        if node.op is not Ops.ADD:
            return {node: 1}
        added = dict(terms(node.src[0]))
        for term, factor in terms(node.src[1]).items():
            added[term] = added.get(term, 0) + factor
        return added
        """, "should be {j: 1}"),
    ("total", "return sum(t * f for t, f in parts.items() if t)", "a different value"),
    ("total", """
        added = [t * f for t, f in parts.items() if t]
        added.append(UOp(Ops.CONST, (), parts.get(None, 0)))
        return sum(added[1:], added[0])
        """, "there's more in it than it takes"),
    ("total", """
        added = [t if f == 1 else t * f for t, f in parts.items() if t and f]
        return sum(added[1:], added[0]) if added else UOp(Ops.CONST, (), 0)
        """, "has a different value"),
    ("total", """
        constant = parts.pop(None, 0)
        added = [t if f == 1 else t * f for t, f in parts.items() if f]
        if constant or not added:
            added.append(UOp(Ops.CONST, (), constant))
        return sum(added[1:], added[0])
        """, "Leave the dict as it is"),
    ("total", """
        added = [t if f == 1 else t * f for t, f in parts.items() if t and f]
        if parts.get(None) or not added:
            added.insert(0, UOp(Ops.CONST, (), parts.get(None, 0)))
        return sum(added[1:], added[0])
        """, "The constant comes last"),
    ("total", """
        added = [t if f == 1 else t * f for t, f in parts.items() if t and f][::-1]
        if parts.get(None) or not added:
            added.append(UOp(Ops.CONST, (), parts.get(None, 0)))
        return sum(added[1:], added[0])
        """, "stay in their order"),
    ("divide", "return None", "can be simplified"),
    ("divide", """
        low, high = bounds(x)
        if 0 <= low and high < c.arg:
            return x.const(0) if op is Ops.IDIV else x
        """, "(j * 4 + i) // 4 can be simplified"),
    ("divide", """
        rest = total({term: factor % c.arg for term, factor in terms(x).items()})
        whole = total({term: factor // c.arg for term, factor in terms(x).items()})
        low, high = (end // c.arg for end in bounds(rest))
        if low == high:
            return whole + low if op is Ops.IDIV else x
        if rest is not x:
            return whole + rest // c if op is Ops.IDIV else rest % c
        """, "has a different value"),
    ("divide", """
        low, high = (end // c.arg for end in bounds(x))
        if low == high:
            return x.const(low) if op is Ops.IDIV else x - low * c.arg
        """, "they come out"),
    ("divide", """
        low, high = (end // c.arg for end in bounds(x))
        if low == high:
            return x.const(low) if op is Ops.IDIV else x - low * c.arg
        rest = total({term: factor % c.arg for term, factor in terms(x).items()})
        whole = total({term: factor // c.arg for term, factor in terms(x).items()})
        return whole + rest // c if op is Ops.IDIV else rest % c
        """, "would be rewritten for ever"),
    ("divide", """
        low, high = (end // c.arg for end in bounds(x))
        if low == high:
            return x.const(low) if op is Ops.IDIV else x - low * c.arg
        rest = total({term: factor % c.arg for term, factor in terms(x).items()})
        if rest is x:
            return None
        whole = total({term: factor // c.arg for term, factor in terms(x).items()})
        return whole if op is Ops.IDIV else rest
        """, "has a different value"),
    ("fold", "return None", "Is there a `return`?"),
    ("fold", """
        if x.op in ALU and all(source.op is Ops.CONST for source in x.src):
            return UOp(Ops.CONST, (), float(ALU[x.op](*(source.arg for source in x.src))))
        """, "should be 5"),
    ("fold", """
        if x.op in ALU and all(source.op is Ops.CONST for source in x.src):
            return UOp(Ops.CONST, (), x.dtype(ALU[x.op](*(source.arg for source in x.src))))
        """, "has a term twice"),
    ("fold", """
        if x.op in ALU and all(source.op is Ops.CONST for source in x.src):
            return UOp(Ops.CONST, (), x.dtype(ALU[x.op](*(source.arg for source in x.src))))
        if x.op in (Ops.ADD, Ops.MUL):
            return total(rejoined(terms(x)))
        """, "fold(i < 4), with i from 0 to 3, returns None"),
    ("fold", """
        if x.op in ALU and all(source.op is Ops.CONST for source in x.src):
            return UOp(Ops.CONST, (), x.dtype(ALU[x.op](*(source.arg for source in x.src))))
        if x.op in (Ops.ADD, Ops.MUL):
            return total(rejoined(terms(x)))
        if x.dtype is int and x.op is Ops.CMPLT and len(set(bounds(x))) == 1:
            return UOp(Ops.CONST, (), bounds(x)[0])
        """, "is about floats"),
    ("fold", """
        if x.op in ALU and all(source.op is Ops.CONST for source in x.src):
            return UOp(Ops.CONST, (), x.dtype(ALU[x.op](*(source.arg for source in x.src))))
        if x.dtype is int and x.op in (Ops.ADD, Ops.MUL):
            return total(terms(x))
        if x.dtype is int and x.op is Ops.CMPLT and len(set(bounds(x))) == 1:
            return UOp(Ops.CONST, (), bounds(x)[0])
        """, "should become"),
]  # fmt: skip
