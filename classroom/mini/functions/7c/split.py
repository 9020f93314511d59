"""Hint: Which two nodes take the place of the old counter, and what's the formula that has all of
its values in the same order? Where else does the old counter stand, apart from places in memory?
Hint: walk the program: the old RANGE becomes outer * size + inner. Then a REDUCE over it has that
sum among its sources, which isn't a RANGE: put outer and inner there instead. simplify at the
end.
Because: Every number below 12 is 4 times something below 3, plus something below 4, in exactly
one way. So the same iterations happen, in the same order.
"""

# %% shared
def rightly(program, number, size, kind=()):
    ranges = counters(program)
    old = ranges[number]
    if old.arg[1] % size:
        raise ValueError(f"{size} does not divide {old.arg[1]}")
    outer = UOp(Ops.RANGE, (), (number, old.arg[1] // size, *old.arg[2:]))
    inner = UOp(Ops.RANGE, (), (max(ranges) + 1, size, *kind))
    both = outer * size + inner

    def change(node):
        if node is old:
            return both
        if node.op is Ops.REDUCE and both in node.src[1:]:
            pairs = [(outer, inner) if source is both else (source,) for source in node.src]
            return UOp(node.op, tuple(source for pair in pairs for source in pair), node.arg)
        return node

    return simplify(walk(program, change)), inner

# %% wrong: says should give a pair
def split(program, number, size, kind=()):
    return None

# %% wrong: says two rows would be left over
def split(program, number, size, kind=()):
    ranges = counters(program)
    old = ranges[number]
    if False:
        raise ValueError(f"{size} does not divide {old.arg[1]}")
    outer = UOp(Ops.RANGE, (), (number, old.arg[1] // size, *old.arg[2:]))
    inner = UOp(Ops.RANGE, (), (max(ranges) + 1, size, *kind))
    both = outer * size + inner

    def change(node):
        if node is old:
            return both
        if node.op is Ops.REDUCE and both in node.src[1:]:
            pairs = [(outer, inner) if source is both else (source,) for source in node.src]
            return UOp(node.op, tuple(source for pair in pairs for source in pair), node.arg)
        return node

    return simplify(walk(program, change)), inner

# %% wrong: says outer * 4 + inner should stand
def split(program, number, size, kind=()):
    ranges = counters(program)
    old = ranges[number]
    if old.arg[1] % size:
        raise ValueError(f"{size} does not divide {old.arg[1]}")
    outer = UOp(Ops.RANGE, (), (number, old.arg[1] // size, *old.arg[2:]))
    inner = UOp(Ops.RANGE, (), (max(ranges) + 1, size, *kind))
    both = inner * (old.arg[1] // size) + outer

    def change(node):
        if node is old:
            return both
        if node.op is Ops.REDUCE and both in node.src[1:]:
            pairs = [(outer, inner) if source is both else (source,) for source in node.src]
            return UOp(node.op, tuple(source for pair in pairs for source in pair), node.arg)
        return node

    return simplify(walk(program, change)), inner

# %% wrong: says never stored
def split(program, number, size, kind=()):
    ranges = counters(program)
    old = ranges[number]
    if old.arg[1] % size:
        raise ValueError(f"{size} does not divide {old.arg[1]}")
    outer = UOp(Ops.RANGE, (), (number, old.arg[1] // size, *old.arg[2:]))
    inner = UOp(Ops.RANGE, (), (max(ranges) + 1, size, *kind))
    both = outer + inner

    def change(node):
        if node is old:
            return both
        if node.op is Ops.REDUCE and both in node.src[1:]:
            pairs = [(outer, inner) if source is both else (source,) for source in node.src]
            return UOp(node.op, tuple(source for pair in pairs for source in pair), node.arg)
        return node

    return simplify(walk(program, change)), inner

# %% wrong: says should leave loops of the sizes
def split(program, number, size, kind=()):
    ranges = counters(program)
    old = ranges[number]
    if old.arg[1] % size:
        raise ValueError(f"{size} does not divide {old.arg[1]}")
    outer = UOp(Ops.RANGE, (), (number, size))
    inner = UOp(Ops.RANGE, (), (max(ranges) + 1, old.arg[1] // size))
    both = outer * size + inner

    def change(node):
        if node is old:
            return both
        if node.op is Ops.REDUCE and both in node.src[1:]:
            pairs = [(outer, inner) if source is both else (source,) for source in node.src]
            return UOp(node.op, tuple(source for pair in pairs for source in pair), node.arg)
        return node

    return simplify(walk(program, change)), inner

# %% wrong: says comes after number and size
def split(program, number, size, kind=()):
    ranges = counters(program)
    old = ranges[number]
    if old.arg[1] % size:
        raise ValueError(f"{size} does not divide {old.arg[1]}")
    outer = UOp(Ops.RANGE, (), (number, old.arg[1] // size, *old.arg[2:]))
    inner = UOp(Ops.RANGE, (), (max(ranges) + 1, size))
    both = outer * size + inner

    def change(node):
        if node is old:
            return both
        if node.op is Ops.REDUCE and both in node.src[1:]:
            pairs = [(outer, inner) if source is both else (source,) for source in node.src]
            return UOp(node.op, tuple(source for pair in pairs for source in pair), node.arg)
        return node

    return simplify(walk(program, change)), inner

# %% wrong: says so it runs over both of the new ones
def split(program, number, size, kind=()):
    ranges = counters(program)
    old = ranges[number]
    if old.arg[1] % size:
        raise ValueError(f"{size} does not divide {old.arg[1]}")
    outer = UOp(Ops.RANGE, (), (number, old.arg[1] // size, *old.arg[2:]))
    inner = UOp(Ops.RANGE, (), (max(ranges) + 1, size, *kind))
    both = outer * size + inner

    def change(node):
        if node is old:
            return both
        if node.op is Ops.REDUCE and both in node.src[1:]:
            pairs = [(outer,) if source is both else (source,) for source in node.src]
            return UOp(node.op, tuple(source for pair in pairs for source in pair), node.arg)
        return node

    return simplify(walk(program, change)), inner

# %% wrong: says The REDUCE ran over the old loop
def split(program, number, size, kind=()):
    ranges = counters(program)
    old = ranges[number]
    if old.arg[1] % size:
        raise ValueError(f"{size} does not divide {old.arg[1]}")
    outer = UOp(Ops.RANGE, (), (number, old.arg[1] // size, *old.arg[2:]))
    inner = UOp(Ops.RANGE, (), (max(ranges) + 1, size, *kind))
    both = outer * size + inner

    def change(node):
        if node is old:
            return both
        if False:
            pairs = [(outer, inner) if source is both else (source,) for source in node.src]
            return UOp(node.op, tuple(source for pair in pairs for source in pair), node.arg)
        return node

    return simplify(walk(program, change)), inner

# %% wrong: says The second of the pair is the inner RANGE
def split(program, number, size, kind=()):
    program, _ = rightly(program, number, size, kind)
    return program, counters(program)[number]

# %% right: REDUCEs first, then the counter; the new counters at the end
def split(program, number, size, kind=()):
    ranges = counters(program)
    old = ranges[number]
    many, rest = divmod(old.arg[1], size)
    if rest:
        raise ValueError(f"{rest} would be left over")
    outer = UOp(Ops.RANGE, (), (number, many, *old.arg[2:]))
    inner = UOp(Ops.RANGE, (), (max(ranges) + 1, size, *kind))
    reduces = [n for n in program.toposort() if n.op is Ops.REDUCE and old in n.src[1:]]
    for node in reduces:
        both = [s for s in node.src[1:] if s is not old] + [outer, inner]
        new = UOp(Ops.REDUCE, (node.src[0], *both), node.arg)
        program = substitute(program, {node: new})
    return simplify(substitute(program, {old: outer * size + inner})), inner

# %% right
def split(program, number, size, kind=()):
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
