"""(function, a right and unusual way to write it)"""

RIGHTS = [
    # a generator
    (
        "stored",
        """
        order, users = sink.toposort(), {}
        for node in order:
            for source in set(node.src):
                users.setdefault(source, []).append(node)
        keep, taken = set(sink.src), set()
        for end in [node for node in order if node.op is Ops.REDUCE_AXIS]:
            while end not in keep and len(users[end]) == 1:
                (user,) = users[end]
                alike = math.prod(user.shape) == math.prod(end.shape)
                if user.op is Ops.REDUCE_AXIS or user in taken or not alike:
                    break
                end = user
                taken.add(end)
            keep.add(end)
        return (node for node in order if node in keep and node.op not in MEMORY)
        """,
    ),
    # the last reduction first
    (
        "stored",
        """
        order, users = sink.toposort(), {}
        for node in order:
            for source in set(node.src):
                users.setdefault(source, []).append(node)
        keep, taken = set(sink.src), set()
        for end in [node for node in reversed(order) if node.op is Ops.REDUCE_AXIS]:
            while end not in keep and len(users[end]) == 1:
                (user,) = users[end]
                alike = math.prod(user.shape) == math.prod(end.shape)
                if user.op is Ops.REDUCE_AXIS or user in taken or not alike:
                    break
                end = user
                taken.add(end)
            keep.add(end)
        return tuple(node for node in order if node in keep and node.op not in MEMORY)
        """,
    ),
    # from the results down: the sum itself, unless a result can finish it
    (
        "stored",
        """
        order, keep = sink.toposort(), {}
        users = {}
        for node in order:
            for source in set(node.src):
                users.setdefault(source, set()).add(node)
        finished, seen = set(), set()
        for result in dict.fromkeys(sink.src):
            below = [result]
            while below:
                node = below.pop()
                if node in seen:
                    continue
                seen.add(node)
                if node.op is Ops.REDUCE_AXIS:
                    finished.add(node)
                    break
                below += [
                    source for source in node.src
                    if math.prod(source.shape) == math.prod(node.shape) and users[source] == {node}
                    and source not in sink.src
                ]
        keep = {node for node in order if node.op is Ops.REDUCE_AXIS} - finished | set(sink.src)
        return [node for node in order if node in keep and node.op not in MEMORY]
        """,
    ),
    # where all the ways from a sum meet again
    (
        "stored",
        """
        order, users = sink.toposort(), {}
        for node in order:
            for source in set(node.src):
                users.setdefault(source, []).append(node)
        keep, inside = set(sink.src), {}
        for start in [node for node in order if node.op is Ops.REDUCE_AXIS]:
            end, group = start, {start}
            while end not in keep:
                open_ends = {u for node in group for u in users.get(node, ())} - group
                grow = [u for u in order if u in open_ends]
                if not grow or any(
                    u.op in (Ops.REDUCE_AXIS, Ops.SINK) or u in inside
                    or math.prod(u.shape) != math.prod(start.shape)
                    for u in grow
                ) or any(node in keep for node in group):
                    break
                group.add(grow[0])
                open_ends = {u for node in group for u in users.get(node, ())} - group
                leaving = [n for n in group if set(users.get(n, ())) - group or n in keep]
                if len(leaving) == 1:
                    end = leaving[0]
            if end is start:
                group = {start}
            leaving = [n for n in group if set(users.get(n, ())) - group or n in keep]
            if leaving != [end]:
                end = start if len(users[start]) > 1 else end
                group = {start}
            inside.update(dict.fromkeys(group))
            keep.add(end)
        return [node for node in order if node in keep and node.op not in MEMORY]
        """,
    ),
    # tuples
    (
        "cut",
        """
        keep, stands_for, kernels = set(stored(sink)), {}, []
        for node in sink.toposort()[:-1]:
            graph = UOp(node.op, tuple(stands_for[source] for source in node.src), node.arg)
            stands_for[node] = graph
            if node in keep:
                stands_for[node] = memory_for(node)
                kernels.append((node, stands_for[node], graph))
        return tuple(kernels)
        """,
    ),
    # memory first, then each kernel by itself
    (
        "cut",
        """
        places = {node: memory_for(node) for node in stored(sink)}
        for value in places:
            stands_for = {}
            for node in value.toposort():
                graph = UOp(node.op, tuple(stands_for[s] for s in node.src), node.arg)
                stands_for[node] = places.get(node, graph)
            yield Kernel(value, places[value], graph)
        """,
    ),
    # each kernel's values into an array of its own, which takes the place of the memory's
    (
        "run_kernels",
        """
        memory = {}
        for value, place, graph in cut(sink):
            place.arg.data = interpret(UOp(Ops.SINK, (graph,)))[0]
            memory[value] = place.arg.data
        return (memory[s] if s in memory else s.arg.data for s in sink.src)
        """,
    ),
    # asks interpret for what is in memory
    (
        "run_kernels",
        """
        places = {}
        for kernel in cut(sink):
            np.copyto(kernel.memory.arg.data, *interpret(UOp(Ops.SINK, (kernel.graph,))))
            places[kernel.value] = kernel.memory
        return interpret(UOp(Ops.SINK, tuple(places.get(s, s) for s in sink.src)))
        """,
    ),
]
