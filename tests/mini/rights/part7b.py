"""(function, a right and unusual way to write it)"""

RIGHTS = [
    ("value_at", """
        values = lambda i: tuple(loops.value(source, i) for source in node.src)
        if node.op is Ops.CONST:
            return node
        if node.op in MEMORY:
            parameter, place = loops.element(node, index)
            return UOp(Ops.LOAD, (parameter, place))
        if node.op is Ops.PAD:
            shape = node.src[0].shape
            is_inside = ZERO + inside(index, shape, node.arg)
            (x,) = values(SOURCE_INDEX[Ops.PAD](index, shape, node.arg))
            return is_inside.where(x, 0.0)
        if node.op in SOURCE_INDEX:
            return values(SOURCE_INDEX[node.op](index, node.src[0].shape, node.arg))[0]
        if node.op is Ops.REDUCE_AXIS:
            op, axes = node.arg
            inner, own = list(index), []
            for axis in reversed(axes):
                inner[axis] = loops.counter(node.src[0].shape[axis])
                if inner[axis].op is Ops.RANGE:
                    own.append(inner[axis])
            (x,) = values(inner)
            return UOp(Ops.REDUCE, (x, *own), op) if own else x
        return UOp(node.op, values(index), node.arg)
        """),
    ("lower", """
        loops = Loops(kernel.memory)
        index = [loops.counter(size) for size in kernel.memory.shape]
        parameter, place = loops.element(kernel.memory, index)
        value = value_at(kernel.graph, index, loops)
        return simplify(UOp(Ops.SINK, (UOp(Ops.STORE, (parameter, place, value)),))), [
            *loops.arguments
        ]
        """),
    ("linearize", """
        nodes = [node for node in sink.toposort() if node.op not in (Ops.CONST, Ops.SINK)]
        reduces = [node for node in nodes if node.op is Ops.REDUCE]
        inner = [] if not reduces else list(reduces[0].src[1:])
        outer = [n for n in nodes if n.op is Ops.RANGE and len(n.arg) == 2 and n not in inner]
        outer.sort(key=lambda node: node.arg[0])
        done, lines = set(), []
        below = {}
        for node in sink.toposort():
            below[node] = {node}.union(*(below[s] for s in node.src))
        late = [n for n in nodes if n.op is Ops.STORE or
                any(r in below[n] and n is not r for r in reduces)]
        def write(opened):
            for node in nodes:
                needed = [n for n in below[node] if n in outer or n in inner]
                ready = set(needed) <= set(opened) and node not in late
                if ready and node not in done and node.op not in (Ops.RANGE, Ops.REDUCE):
                    done.add(node)
                    lines.append(node)
        write([])
        for k, counter in enumerate(outer, 1):
            lines.append(counter)
            write(outer[:k])
        lines += [UOp(Ops.DEFINE_REG, (r,)) for r in reduces]
        for k, counter in enumerate(inner, 1):
            lines.append(counter)
            write(outer + inner[:k])
        lines += reduces
        lines += [UOp(Ops.ENDRANGE, (r,)) for r in inner[::-1]]
        lines += late
        return lines + [UOp(Ops.ENDRANGE, (r,)) for r in outer[::-1]]
        """),
    ("render", """
        names, body = {}, []
        write = lambda node: c_number(node.arg) if node.op is Ops.CONST else names.get(node, "0")
        parameters = {}
        for number, node in enumerate(lines):
            src = [write(s) for s in node.src]
            if node.op is Ops.DEFINE_GLOBAL:
                names[node] = f"data{node.arg[0]}"
                parameters[node.arg[0]] = f"float *{names[node]}"
            elif node.op is Ops.RANGE:
                names[node] = f"k{number}"
                body.append(f"int k{number} = 0; while (k{number} < {node.arg[1]}) {{")
            elif node.op is Ops.ENDRANGE:
                body.append(f"{src[0]} += 1; }}")
            elif node.op is Ops.DEFINE_REG:
                names[node.src[0]] = f"sum{number}"
                body.append(f"float sum{number} = {FIRST[node.src[0].arg]};")
            elif node.op is Ops.REDUCE:
                body.append(f"{names[node]} = {C[node.arg].format(names[node], src[0])};")
            elif node.op is Ops.STORE:
                body.append(f"{src[0]}[{src[1]}] = {src[2]};")
            else:
                is_load = node.op is Ops.LOAD
                text = f"{src[0]}[{src[1]}]" if is_load else C[node.op].format(*src)
                names[node] = f"v{number}"
                kind = c_type(node)
                body.append(f"{kind} v{number} = {text};")
        arguments = ", ".join(parameters[n] for n in sorted(parameters))
        text = f"void kernel({arguments}) {{" + " ".join(body) + "}"
        return "kernel", beginning(lines) + text
        """),
]  # fmt: skip
