"""(function, a right and unusual way to write it)"""

RIGHTS = [
    ("split", """
        ranges = counters(program)
        old = ranges[number]
        times, left = divmod(old.arg[1], size)
        if left:
            raise ValueError("left over")
        outer = UOp(Ops.RANGE, (), (number, times) + old.arg[2:])
        inner = UOp(Ops.RANGE, (), (1 + max(ranges), size) + tuple(kind))
        new = {}
        for node in program.toposort():
            src = []
            for source in node.src:
                is_loop = node.op is Ops.REDUCE and source is old
                src += [outer, inner] if is_loop else [new[source]]
            new[node] = UOp(node.op, tuple(src), node.arg)
            if node is old:
                new[node] = outer * size + inner
        return simplify(new[program]), inner
        """),
    ("upcast", """
        program, inner = split(program, number, size)
        stores = []
        for n in range(size):
            copy = substitute(program, {inner: UOp(Ops.CONST, (), n)})
            stores.extend(copy.src)
        return simplify(UOp(Ops.SINK, tuple(stores)))
        """),
    ("vector", """
        new, inner = split(program, number, size, ("VECTOR",))
        wide = [n for n in new.toposort() if n.dtype is float and lanes(n)]
        for node in wide:
            fine = node.op in VECTORS and node.arg is not Ops.MAX
            if node.op in (Ops.LOAD, Ops.STORE):
                fine = fine and terms(node.src[1]).get(inner, 0) == 1
            if node.op is Ops.STORE:
                fine = fine and lanes(node.src[2]) == size
            if not fine:
                raise ValueError(f"{node.op.name} can't be done by vectors")
        return new
        """),
    ("reorder", """
        order = sorted(numbers)
        def change(node):
            if node.op is Ops.RANGE and node.arg[0] in numbers:
                place = order[list(numbers).index(node.arg[0])]
                return UOp(Ops.RANGE, (), (place,) + node.arg[1:])
            return node
        return walk(program, change)
        """),
]  # fmt: skip
