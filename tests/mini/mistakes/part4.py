"""(function, what somebody writes instead, what they are told)"""

MISTAKES = [
    ("UOp.__new__", """
        node = object.__new__(cls)
        node.op, node.src, node.arg = op, src, arg
        return node
        """, "There are two nodes for the same constant"),
    ("UOp.__new__", """
        key = (op, src, arg)
        node = cls.table.get(key)
        if node is None:
            node = cls.table[key] = object.__new__(cls)
            node.op, node.src, node.arg = op, src, arg
        return node
        """, "2 and 2.0 became the same node"),
    ("UOp.__new__", """
        key = (op, src, arg, type(arg))
        node = cls.table.get(key)
        if node is None:
            node = cls.table[key] = object.__new__(cls)
            node.op, node.src, node.arg = op, src, arg
        return node
        """, "0.0 and -0.0 became the same node"),
    ("UOp.__new__", """
        key = (op, str(src), repr(arg))
        node = cls.table.get(key)
        if node is None:
            node = cls.table[key] = object.__new__(cls)
            node.op, node.src, node.arg = op, src, arg
        return node
        """, "Two nodes with a different `src` became one"),
    ("UOp.__new__", """
        key = (op, src, repr(arg) if not isinstance(arg, Buffer) else str(arg.data))
        node = cls.table.get(key)
        if node is None:
            node = cls.table[key] = object.__new__(cls)
            node.op, node.src, node.arg = op, src, arg
        return node
        """, "Two nodes with a different `arg` became one"),
    ("UOp.__new__", """
        key = hash((op, src, arg, type(arg)))
        node = cls.table.get(key)
        if node is None:
            node = cls.table[key] = object.__new__(cls)
            node.op, node.src, node.arg = op, src, arg
        return node
        """, "-1.0 and -2.0 became the same node"),
    ("UOp.__new__", """
        key = (op, arg, type(arg))
        node = cls.table.get(key)
        if node is None:
            node = cls.table[key] = object.__new__(cls)
            node.op, node.src, node.arg = op, src, arg
        return node
        """, "Two nodes with a different `src` became one"),
    ("UOp.__new__", """
        cls.table = dict(cls.table)
        key = (op, src, arg, repr(arg))
        node = cls.table.get(key)
        if node is None:
            node = cls.table[key] = object.__new__(cls)
            node.op, node.src, node.arg = op, src, arg
        return node
        """, "keeps it alive: `UOp.table`. A `WeakValueDictionary` would let go."),
    ("UOp.__new__", """
        if not hasattr(cls, "mine"):
            cls.mine = {}
        key = (op, src, arg, repr(arg))
        if key not in cls.mine:
            node = cls.mine[key] = cls.table[key] = object.__new__(cls)
            node.op, node.src, node.arg = op, src, arg
        return cls.mine[key]
        """, "something keeps it alive"),
    ("UOp.__new__", "return object.__new__(cls)", "Set the `op`, `src` and `arg` of a node"),
    ("UOp.__new__", """
        node = object.__new__(cls)
        node.op, node.src, node.arg = op, src, arg
        cls.tabel[(op, src, arg, type(arg))] = node
        return node
        """, "has no attribute 'tabel'"),
    ("UOp.__new__", "key = (op, src, arg)", "should give a node. Is there a `return`?"),
    ("UOp.toposort", """
        order = []
        for source in self.src:
            order += [node for node in source.toposort() if node not in order]
        return order + [self]
        """, "This follows every path, and there are 2^60 of them"),
    ("UOp.toposort", """
        order, waiting = [], [self]
        while waiting:
            node = waiting.pop()
            order.append(node)
            waiting += node.src
        return order[::-1]
        """, "A node comes more than once"),
    ("UOp.toposort", """
        order, waiting = {}, [self]
        while waiting:
            node = waiting.pop()
            if node not in order:
                order[node] = None
                waiting += node.src
        return list(order)
        """, "A node comes before one of its sources"),
    ("UOp.toposort", """
        done = {}
        def visit(node):
            for source in node.src:
                if source not in done:
                    visit(source)
            done[node] = None
        visit(self)
        return list(done)
        """, "The function calls itself, and this chain is deeper than Python allows"),
    ("UOp.toposort", """
        done = {}
        todo = [self]
        while todo:
            missing = [s for s in todo[-1].src if s not in done]
            if missing:
                todo += missing[::-1]
            else:
                done[todo.pop()] = None
        return done
        """, "should be a list, and yours is a dict"),
    ("interpret", """
        def value(node):
            return COMPUTE[node.op](node, *(value(source) for source in node.src))
        return [value(source) for source in sink.src]
        """, "It computes shared nodes again and again"),
    ("interpret", """
        values = {}
        for node in sink.toposort():
            values[node] = COMPUTE[node.op](node, *(values[source] for source in node.src))
        return [values[source] for source in sink.src]
        """, "COMPUTE has no row for SINK"),
    ("interpret", """
        values = {}
        for node in sink.toposort()[:-1]:
            values[node] = COMPUTE[node.op](node, *(values[source] for source in node.src))
        return list(values.values())
        """, "should be a list with one array for each source of the SINK"),
    ("Tensor.realize", """
        Tensor.run(UOp(Ops.SINK, (self.uop, *(tensor.uop for tensor in others))))
        return self
        """, "t.uop is still an expression"),
    ("Tensor.realize", """
        for tensor in (self, *others):
            (values,) = Tensor.run(UOp(Ops.SINK, (tensor.uop,)))
            tensor.uop = UOp(Ops.BUFFER, (), Buffer(values))
        return self
        """, "This Tensor had a BUFFER already, and got a new one"),
    ("Tensor.realize", """
        for tensor in (self, *others):
            if tensor.uop.op is not Ops.BUFFER:
                (values,) = Tensor.run(UOp(Ops.SINK, (tensor.uop,)))
                tensor.uop = UOp(Ops.BUFFER, (), Buffer(values))
        return self
        """, "computed more than once. Put all expressions into one SINK"),
    ("Tensor.realize", """
        (values,) = Tensor.run(UOp(Ops.SINK, (self.uop,)))
        self.uop = UOp(Ops.BUFFER, (), values)
        return self
        """, "has to be a Buffer"),
    ("Tensor.realize", """
        (values,) = Tensor.run(UOp(Ops.SINK, (self.uop,)))
        if self.uop.op is not Ops.BUFFER:
            self.uop = UOp(Ops.BUFFER, (), Buffer(values))
        """, "t.realize() should return t itself"),
    ("Tensor.realize", """
        expressions = [tensor for tensor in (self, *others) if tensor.uop.op is not Ops.BUFFER]
        results = interpret(UOp(Ops.SINK, tuple(tensor.uop for tensor in expressions)))
        for tensor, values in zip(expressions, results, strict=True):
            tensor.uop = UOp(Ops.BUFFER, (), Buffer(values))
        return self
        """, "Call Tensor.run, which stage 8 will replace"),
    ("Tensor.numpy", "return self.uop.arg.data", "AttributeError"),
    ("Tensor.__init__", "self.uop = UOp(Ops.BUFFER, (), Buffer(data))", "TypeError"),
    ("Tensor.__init__", """
        self.uop = data if isinstance(data, UOp) else UOp(Ops.BUFFER, (), np.array(data))
        """, "The arg of a BUFFER node has to be a Buffer"),
    ("Derived.__sub__", "return x.const(y) + -x", "This is y - x"),
    ("Derived.__sub__", "x + y * -1", "should be a node. Is there a `return`?"),
    ("Derived.__rsub__", "return x + -1 * x.const(y)", "This is x - 1"),
    ("Derived.__truediv__", "return x * y.recip()", "'int' object has no attribute 'recip'"),
    ("Derived.__rtruediv__", "return x / y", "This is y / 6"),
    ("Derived.__gt__", "return 1 - (x < y)", "it says 1. That's >="),
    ("Derived.eq", "return 1 - (x < y)", "This is x >= y"),
    ("Derived.eq", "return (x < y) + (x > y)", "This is 1 where they differ"),
    ("Derived.eq", "return float(x is y)", "should be a node"),
    ("Derived.relu", "return x.maximum(-x)", "This is the absolute value"),
    ("Derived.exp", "return x.exp2()", "This is 2**x"),
    ("Derived.exp", "return (x * 1.4427).exp2()", "This has too few digits: log2(e) is 1.4426950"),
    ("Derived.log", "return x.log2() * 0.6931", "This has too few digits: ln(2) is 0.6931472"),
    ("Derived.log", "return x.log2() / math.log(2)", "log2 is the larger one: multiply"),
    ("Derived", "def __neg__(x):\n    return x * -1", "There is no `__sub__` in Derived"),
]  # fmt: skip
