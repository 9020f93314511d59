# %% shared
def name(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    said = []
    for u in number:
        what = u.shape if u.op.name == "BUFFER" else u.arg
        said.append(f"{u.op.name}{[number[s] for s in u.src]}{what!r}")
    return "; ".join(said)

# %% wrong, each line
lambda sink: tuple(sink.toposort())  # says has to be a string
lambda sink: ""  # says The name is empty
lambda sink: sink.op.name  # says Every graph gets the same name

# %% wrong: says the same name
def only_ops(sink):
    return " ".join(f"{u.op.name} {u.shape}" for u in sink.toposort())
only_ops

# %% wrong: says an address of memory
def with_buffers(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    return str([(u.op.name, u.arg, [number[s] for s in u.src]) for u in number])
with_buffers

# %% wrong: says different names
def with_ids(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    return str([(u.op.name, id(u), [number[s] for s in u.src]) for u in number])
with_ids

# %% wrong: says shapes of `x` and `y` differ
def without_shapes(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    return str(
        [(u.op.name, u.op.name != "BUFFER" and u.arg, [number[s] for s in u.src]) for u in number]
    )
without_shapes

# %% wrong: says Give each node a number
def written_out(sink):
    """A node wherever it is used; sixty doublings would take 2**60 letters."""
    number = {u: n for n, u in enumerate(u for u in sink.toposort() if u.op.name == "BUFFER")}

    def said(u):
        if u in number:
            return f"b{number[u]}{u.shape}"
        return f"{u.op.name}({','.join(map(said, u.src))};{u.arg!r})"

    return said(sink)
written_out

# %% wrong: says different in the next process
def hashed(sink):
    return str(hash(name(sink)))
hashed

# %% wrong: says in a different order
def without_order_of_results(sink):
    return " ".join(sorted(without_last(sink)))
def without_last(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    yield from (
        f"{u.op.name}{[number[s] for s in u.src]}{u.shape if u.op.name == 'BUFFER' else u.arg!r}"
        for u in number
        if u is not sink
    )
without_order_of_results

# %% wrong: nothing between the numbers: 1 and 12 look like 11 and 2
def name(sink):
    number = {node: n for n, node in enumerate(sink.toposort())}
    lines = []
    for node in number:
        what = node.shape if node.op is Ops.BUFFER else node.arg
        sources = "".join(str(number[s]) for s in node.src)
        lines.append(f"{node.op.name} {sources} {what!r}")
    return "; ".join(lines)

# %% right, each line
name

# %% right
def in_lines(sink):
    order = [*sink.toposort()]
    lines = []
    for u in order:
        what = "memory " + "x".join(map(str, u.shape)) if u.op.name == "BUFFER" else repr(u.arg)
        lines.append(" ".join([u.op.name, *(str(order.index(s)) for s in u.src), what]))
    return "\n".join(lines)
in_lines
