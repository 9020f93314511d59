"""(function, what somebody writes instead, what they are told)"""

MISTAKES = [
    ("stored", "return [node for node in sink.toposort() if node.src]", "The SINK has no values"),
    ("stored", "return sink.toposort()[:-1]", "`a` is in memory already"),
    (
        "stored",
        "return [node for node in sink.toposort()[:-1] if node.src]",
        "That makes 2 kernels, and 1 will do. `a * b` doesn't have to be stored.",
    ),
    ("stored", "return list(sink.src)", "`a` is in memory already"),
    ("stored", "keep = set(sink.src)", "returns nothing. Is there a `return`?"),
    (
        "stored",
        """
        return [node for node in sink.src if node.op is not Ops.BUFFER]
        """,
        "`slot` is in memory already",
    ),
    (
        "stored",
        """
        return [node for node in sink.src if node.op not in MEMORY]
        """,
        "Each element of `s` would be computed 20 times: in the kernel of `y`, an EXPAND",
    ),
    (
        "stored",
        """
        return [node for node in sink.toposort() if node.op is Ops.REDUCE_AXIS]
        """,
        "`a * b + a` was asked for, and it isn't stored",
    ),
    (
        "stored",
        """
        keep = [node for node in sink.toposort() if node.op is Ops.REDUCE_AXIS]
        return keep + [node for node in sink.src if node.op not in MEMORY and node not in keep]
        """,
        "That makes 2 kernels, and 1 will do. `s` doesn't have to be stored.",
    ),
    (
        "stored",
        """
        keep = [node for node in sink.toposort() if node.op is Ops.REDUCE_AXIS]
        return [node for node in sink.src if node.op not in MEMORY] + keep
        """,
        "A node is in the list twice",
    ),
    (
        "stored",
        """
        keep = [node for node in sink.toposort() if node.op is Ops.REDUCE_AXIS]
        return [node for node in sink.src if node.op not in {*MEMORY, Ops.REDUCE_AXIS}] + keep
        """,
        "`s + 1` comes before `s`, which its kernel reads",
    ),
    (
        "stored",
        """
        keep = {node for node in sink.toposort() if node.op is Ops.EXPAND} | set(sink.src)
        return [node for node in sink.toposort() if node in keep and node.op not in MEMORY]
        """,
        "Each element of `s` would be computed 20 times: in the kernel of `s.expand(4, 5)`",
    ),
    (
        "stored",
        """
        order = sink.toposort()
        keep = {node.src[0] for node in order if node.op is Ops.EXPAND} | set(sink.src)
        return [node for node in order if node in keep and node.op not in MEMORY]
        """,
        "would have two reductions, `s` and `t`. There's room for one.",
    ),
    (
        "stored",
        """
        order, users = sink.toposort(), {}
        for node in order:
            for source in node.src:
                users.setdefault(source, []).append(node)
        keep = set(sink.src)
        for end in [node for node in order if node.op is Ops.REDUCE_AXIS]:
            while end not in keep and len(users[end]) == 1 and users[end][0].shape == end.shape:
                (end,) = users[end]
            keep.add(end)
        return [node for node in order if node in keep and node.op not in MEMORY]
        """,
        "The kernel of `s + t` would have two reductions, `s` and `t`",
    ),
    (
        "stored",
        """
        order, users = sink.toposort(), {}
        for node in order:
            for source in node.src:
                users.setdefault(source, []).append(node)
        keep, taken = set(sink.src), set()
        for end in [node for node in order if node.op is Ops.REDUCE_AXIS]:
            while end not in keep and users[end][0].shape == end.shape:
                if users[end][0] in taken or users[end][0].op is Ops.REDUCE_AXIS:
                    break
                end = users[end][0]
                taken.add(end)
            keep.add(end)
        return [node for node in order if node in keep and node.op not in MEMORY]
        """,
        "would compute `s`. Each reduction should be computed once.",
    ),
    (
        "stored",
        """
        order = sink.toposort()
        used = [source for node in order for source in node.src]
        keep = {node for node in order if used.count(node) > 1} | set(sink.src)
        return [node for node in order if node in keep and node.op not in MEMORY]
        """,
        "kernels, and 1 will do",
    ),
    (
        "stored",
        """
        def below(node):
            return [node] + [found for source in node.src for found in below(source)]

        keep = [node for node in below(sink)[1:] if node.op is Ops.REDUCE_AXIS or node in sink.src]
        return [node for node in sink.toposort() if node in keep and node.op not in MEMORY]
        """,
        "This follows every path",
    ),
    ("cut", "return stored(sink)", "should be a list of Kernels"),
    ("cut", "return [Kernel(node, node, node) for node in stored(sink)]", "isn't a BUFFER"),
    (
        "cut",
        """
        return [Kernel(node, memory_for(node), node) for node in stored(sink)]
        """,
        "computes `a * b + a` again. Another kernel has stored it",
    ),
    (
        "cut",
        """
        keep, stands_for, kernels = set(stored(sink)), {}, []
        for node in sink.toposort()[:-1]:
            graph = UOp(node.op, tuple(stands_for[source] for source in node.src), node.arg)
            stands_for[node] = graph
            if node in keep:
                stands_for[node] = memory_for(node)
                kernels.append(Kernel(node, stands_for[node], graph))
        return kernels[::-1]
        """,
        "reads the `memory` of `a * b + a`, which is only written later",
    ),
    (
        "cut",
        """
        keep, stands_for, kernels = set(stored(sink)), {}, []
        for node in sink.toposort()[:-1]:
            graph = UOp(node.op, tuple(stands_for[source] for source in node.src), node.arg)
            stands_for[node] = graph
            if node in keep:
                stands_for[node] = memory_for(node)
                kernels.append(Kernel(node, memory_for(node), graph))
        return kernels
        """,
        "reads a BUFFER that no kernel writes",
    ),
    (
        "cut",
        """
        keep, stands_for, kernels = set(stored(sink)), {}, []
        for node in sink.toposort()[:-1]:
            graph = UOp(node.op, tuple(stands_for[source] for source in node.src), node.arg)
            stands_for[node] = memory_for(node)
            if node in keep:
                kernels.append(Kernel(node, stands_for[node], graph))
        return kernels
        """,
        "reads a BUFFER that no kernel writes",
    ),
    (
        "cut",
        """
        keep, stands_for, kernels = set(stored(sink)), {}, []
        for node in sink.toposort()[:-1]:
            graph = UOp(node.op, tuple(stands_for[source] for source in node.src), node.arg)
            stands_for[node] = graph
            if node in keep:
                stands_for[node] = new_memory(node)
                kernels.append(Kernel(node, stands_for[node], graph))
        return kernels
        """,
        "should be what memory_for(value) returned",
    ),
    (
        "cut",
        """
        keep, stands_for, kernels = set(stored(sink)), {}, []
        for node in sink.toposort()[:-1]:
            stands_for[node] = UOp(node.op, tuple(stands_for[s] for s in node.src), node.arg)
            if node in keep:
                stands_for[node] = memory_for(node)
                kernels.append(Kernel(node, stands_for[node], stands_for[node]))
        return kernels
        """,
        "reads the memory that it is about to write",
    ),
    (
        "cut",
        """
        keep, stands_for, kernels = set(stored(sink)), {}, []
        for node in sink.toposort()[:-1]:
            graph = UOp(node.op, tuple(stands_for[source] for source in node.src))
            stands_for[node] = graph
            if node in keep:
                stands_for[node] = memory_for(node)
                kernels.append(Kernel(node, stands_for[node], graph))
        return kernels
        """,
        "AttributeError",
    ),
    (
        "cut",
        """
        sinks = set(sink.src)
        stands_for, kernels = {}, []
        for node in sink.toposort()[:-1]:
            graph = UOp(node.op, tuple(stands_for[source] for source in node.src), node.arg)
            stands_for[node] = graph
            if node in sinks and node.op not in MEMORY:
                stands_for[node] = memory_for(node)
                kernels.append(Kernel(node, stands_for[node], graph))
        return kernels
        """,
        "stored(sink) has `s`, and no kernel stores it",
    ),
    (
        "cut",
        """
        keep, known = stored(sink), {}

        def graph_of(node):
            return UOp(node.op, tuple(known.get(s) or graph_of(s) for s in node.src), node.arg)

        kernels = []
        for node in keep:
            kernels.append(Kernel(node, memory_for(node), graph_of(node)))
            known[node] = kernels[-1].memory
        return kernels
        """,
        "deeper than Python allows",
    ),
    ("run_kernels", "return interpret(sink)", "the graph was run as a whole"),
    (
        "run_kernels",
        "return [kernel.memory.arg.data for kernel in cut(sink)]",
        "no kernel has written",
    ),
    (
        "run_kernels",
        """
        for kernel in cut(sink):
            kernel.memory.arg.data[...] = interpret(UOp(Ops.SINK, (kernel.graph,)))[0]
        """,
        "returns nothing",
    ),
    (
        "run_kernels",
        """
        return [interpret(UOp(Ops.SINK, (kernel.graph,)))[0] for kernel in cut(sink)]
        """,
        "one array for each source",
    ),
    (
        "run_kernels",
        """
        results = {}
        for kernel in cut(sink):
            results[kernel.value] = interpret(UOp(Ops.SINK, (kernel.graph,)))[0]
        return [results[source] if source in results else source.arg.data for source in sink.src]
        """,
        "one of the kernels read such memory",
    ),
    (
        "run_kernels",
        """
        memory = {}
        for kernel in cut(sink):
            kernel.memory.arg.data[...] = interpret(UOp(Ops.SINK, (kernel.graph,)))[0]
            memory[kernel.value] = kernel.memory
        return [memory.get(source, source) for source in sink.src]
        """,
        "this is a node",
    ),
    (
        "run_kernels",
        """
        memory = {}
        for kernel in cut(sink):
            kernel.memory.arg.data[...] = interpret(UOp(Ops.SINK, (kernel.graph,)))[0]
            memory[kernel.value] = kernel.memory
        return [memory[source].arg.data for source in sink.src]
        """,
        "KeyError",
    ),
]
