"""(function, a right and unusual way to write it)"""

RIGHTS = [
    ("match", """
        if pattern.op is Ops.HOLE:
            if pattern.arg.startswith("c") and node.op != Ops.CONST:
                return []
            known = found.get(pattern.arg)
            return [found | {pattern.arg: node}] if known in (None, node) else []
        if not pattern.src:
            return [dict(found)] * (pattern is node)
        same = pattern.op == node.op and pattern.arg == node.arg
        if not same or len(pattern.src) != len(node.src):
            return []
        def all_of(parts, sources, way):
            if not parts:
                yield way
                return
            for more in match(parts[0], sources[0], way):
                yield from all_of(parts[1:], sources[1:], more)
        ways = list(all_of(pattern.src, node.src, found))
        if node.op in COMMUTATIVE:
            ways += [w for w in all_of(pattern.src, tuple(reversed(node.src)), found)
                     if w not in ways]
        return ways
        """),
    ("rewrite", """
        made = (function(**way) for pattern, function in rules
                for way in match(pattern, node, {}))
        return next((new for new in made if new is not None and new is not node), node)
        """),
    ("walk", """
        new = {}
        for node in root.toposort():
            rebuilt = UOp(node.op, tuple(map(new.__getitem__, node.src)), node.arg)
            new[node] = change(rebuilt)
        *_, last = new.values()
        return last
        """),
    ("graph_rewrite", """
        rounds = 0
        while True:
            before = root
            root = walk(root, lambda node: rewrite(node, rules))
            if root is before:
                return root
            rounds += 1
            if rounds >= MOST_ROUNDS:
                raise RuntimeError("these rules go round in circles")
        """),
    ("bounds", """
        if node.op is Ops.CONST:
            return [node.arg, node.arg]
        if node.op is Ops.RANGE:
            return [0, node.arg[1] - 1]
        ((a, b), (c, d)) = (bounds(source) for source in node.src)
        if node.op is Ops.ADD:
            return [a + c, b + d]
        if node.op is Ops.MUL:
            corners = sorted([a * c, a * d, b * c, b * d])
            return [corners[0], corners[-1]]
        if node.op is Ops.IDIV:
            corners = sorted([a // c, a // d, b // c, b // d])
            return [corners[0], corners[-1]]
        if node.op is Ops.MAX:
            return [max(a, c), max(b, d)]
        if node.op is Ops.MOD:
            return [a, b] if 0 <= a and b < c else [0, c - 1]
        return [int(b < c), int(a < d)]
        """),
    ("terms", """
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
        """),
    ("total", """
        result = None
        for term, factor in parts.items():
            if term is not None and factor != 0:
                product = term * factor if factor != 1 else term
                result = product if result is None else result + product
        constant = parts.get(None, 0)
        if result is None:
            return UOp(Ops.CONST, (), constant)
        return result + constant if constant else result
        """),
    ("divide", """
        parts = terms(x)
        whole = total({t: f // c.arg for t, f in parts.items()})
        rest = total({t: f % c.arg for t, f in parts.items()})
        low, high = bounds(rest)
        if low // c.arg == high // c.arg:
            more = low // c.arg
            return whole + more if op is Ops.IDIV else rest - more * c.arg
        if rest is x:
            return UOp(op, (x, c))
        return whole + rest // c if op is Ops.IDIV else rest % c
        """),
    ("fold", """
        if x.op in ALU and not any(source.op is not Ops.CONST for source in x.src):
            value = ALU[x.op](*[source.arg for source in x.src])
            return x.const(x.dtype(value))
        if x.dtype is float:
            return x
        if x.op in (Ops.ADD, Ops.MUL):
            return total(rejoined(terms(x)))
        if x.op is Ops.CMPLT:
            low, high = bounds(x)
            return x.const(low) if low == high else x
        return x
        """),
]  # fmt: skip
