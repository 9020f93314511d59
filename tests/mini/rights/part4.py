"""(function, a right and unusual way to write it)"""

RIGHTS = [
    ("UOp.__new__", """
        key = (op, src, arg, type(arg), str(arg))
        try:
            return cls.table[key]
        except KeyError:
            node = object.__new__(cls)
            node.op, node.src, node.arg = op, src, arg
            return cls.table.setdefault(key, node)
        """),
    ("UOp.__new__", """
        import struct
        bits = struct.pack("d", arg) if isinstance(arg, float) else arg
        key = (op, tuple(map(id, src)), type(arg), bits)
        if key in cls.table:
            return cls.table[key]
        node = super().__new__(cls)
        node.__dict__.update(op=op, src=src, arg=arg)
        cls.table[key] = node
        return node
        """),
    ("UOp.__new__", """
        nan_or_not = "nan" if arg != arg else arg
        key = (int(op), nan_or_not, type(arg).__name__, repr(arg), *src)
        node = cls.table.get(key)
        if node is None:
            node = object.__new__(cls)
            node.op, node.src, node.arg = op, src, arg
            cls.table[key] = node
        return node
        """),
    ("UOp.toposort", """
        import sys
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(1_000_000)
        done = {}

        def visit(node):
            if node not in done:
                for source in node.src:
                    visit(source)
                done[node] = None

        try:
            visit(self)
        finally:
            sys.setrecursionlimit(before)
        return list(done)
        """),
    ("UOp.toposort", """
        order, waiting = {}, [self]
        while waiting:
            node = waiting.pop()
            missing = [source for source in node.src if source not in order]
            if missing:
                waiting += [node, *missing]
            else:
                order[node] = None
        return list(order)
        """),
    ("UOp.toposort", """
        # Kahn: users are counted, and who has none left is next; from the end
        users, todo, seen = {}, [self], {self}
        while todo:
            for source in set(todo.pop().src):
                users[source] = users.get(source, 0) + 1
                if source not in seen:
                    seen.add(source)
                    todo.append(source)
        order, free = [], [self]
        while free:
            node = free.pop()
            order.append(node)
            for source in set(node.src):
                users[source] -= 1
                if users[source] == 0:
                    free.append(source)
        return tuple(reversed(order))
        """),
    ("UOp.toposort", """
        # by depth: sources are always less deep than their users
        depth, todo = {}, [(self, False)]
        while todo:
            node, is_ready = todo.pop()
            if node in depth:
                continue
            if is_ready:
                depth[node] = 1 + max((depth[source] for source in node.src), default=0)
            else:
                todo += [(node, True)] + [(source, False) for source in node.src]
        return sorted(depth, key=depth.get)
        """),
    ("interpret", """
        known = {}

        def value(node):
            return COMPUTE[node.op](node, *map(known.get, node.src))

        for node in sink.toposort():
            if node is not sink:
                known[node] = value(node)
        return tuple(known[source] for source in sink.src)
        """),
    ("Tensor.realize", """
        todo = {t: t.uop for t in (self, *others) if t.uop.op is not Ops.BUFFER}
        if todo:
            for t, values in zip(todo, Tensor.run(UOp(Ops.SINK, (*todo.values(),)))):
                t.uop = UOp(Ops.BUFFER, (), Buffer(values))
        return self
        """),
    ("Tensor", """
        __slots__ = ("uop",)
        shape = property(lambda self: self.uop.shape)

        def __init__(self, data):
            if not isinstance(data, UOp):
                data = UOp(Ops.BUFFER, (), Buffer(data))
            self.uop = data

        def realize(self, *others):
            everything = (self, *others)
            sink = UOp(Ops.SINK, tuple(t.uop for t in everything))
            for t, values in zip(everything, Tensor.run(sink)):
                if t.uop.op is not Ops.BUFFER:
                    t.uop = UOp(Ops.BUFFER, (), Buffer(values))
            return self

        def numpy(self):
            self.realize()
            return self.uop.arg.data
        """),
    ("Derived", """
        __neg__ = lambda x: x * -1.0
        __sub__ = lambda x, y: x + y * -1
        __rsub__ = lambda x, y: (x + y * -1) * -1
        __truediv__ = lambda x, y: x * x.const(y).recip()
        __rtruediv__ = lambda x, y: x.const(y) * x.recip()
        __gt__ = lambda x, y: (x.const(y) < x)
        eq = lambda x, y: (x < y).where(0, (x.const(y) < x).where(0, 1))
        relu = lambda x: (x < 0).where(0, x)
        exp = lambda x: (x * (1 / math.log(2))).exp2()
        log = lambda x: x.log2() * (1 / math.log2(math.e))
        """),
    ("Derived.eq", "return ((x < y) + (x > y) < 1)"),
]  # fmt: skip
