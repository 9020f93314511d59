"""Stage 7c: the same kernel with other loops. Each change rewrites RANGEs, and no value changes.

It comes after stage 8, so that whatever you do to the loops can be compiled and timed at once.
"""

from mini.part4 import Ops, UOp
from mini.part7a import simplify, substitute, terms, walk
from mini.part7b import lanes


def counters(program):
    """The RANGEs of a program, {number: node}."""
    return {node.arg[0]: node for node in program.toposort() if node.op is Ops.RANGE}


def split(program, number, size, kind=()):
    """Loop `number` becomes two: an outer one, with the same number, and an inner one of `size`.

    Wherever the old counter stood, outer * size + inner stands now; a REDUCE that ran over the old
    counter runs over both. Return a pair: the new program, and the inner RANGE, whose number is one
    more than the highest there was. Its arg is (number, size, *kind). If `size` doesn't divide the
    size of the loop, raise a ValueError: some elements would be left over.

    Examples:
    - If loop 0, with counter i, is a loop of 12, split(program, 0, 4) has a loop of 3 and a loop of
      4 in its place, and data[i] has become data[i * 4 + inner].
    - split(program, 0, 5) is a ValueError.
    """
    ### BEGIN SOLUTION
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
    ### END SOLUTION


def upcast(program, number, size):
    """A loop does `size` elements in each of its iterations: that many copies of what is stored.

    Split the loop, and replace the inner counter by 0, by 1, and so on, in copies of every STORE.
    What doesn't depend on it stays the same node, and is done once for all copies: a value that is
    loaded for one result is in a register for the others, too.

    Examples:
    - If a program stores data0[i], upcast(program, 0, 2) stores data0[i * 2] and data0[i * 2 + 1],
      in half as many iterations.
    - For a matmul, upcast(upcast(program, 0, 4), 1, 2) has 8 STOREs, and 6 LOADs: 4 and 2.
    """
    ### BEGIN SOLUTION
    program, inner = split(program, number, size)
    copies = [substitute(s, {inner: inner.const(n)}) for s in program.src for n in range(size)]
    return simplify(UOp(Ops.SINK, tuple(copies)))
    ### END SOLUTION


VECTORS = {Ops.LOAD, Ops.STORE, Ops.REDUCE, Ops.ADD, Ops.MUL, Ops.SINK}  # what vectors can do


def vector(program, number, size):
    """The inner part of a loop becomes the lanes of a vector: one instruction for `size` elements.

    Split the loop, with kind=("VECTOR",): no loop is written for such a RANGE. For every float that
    depends on it, three things have to hold, or raise a ValueError:
    - Its op is one of VECTORS. If it's a REDUCE, it adds.
    - What is loaded or stored lies side by side: in the terms of its place, the factor of the new
      RANGE is 1.
    - The lanes of a STORE get different values, so its value depends on the new RANGE as well.

    Examples:
    - For data0[i] = data1[i] + data2[i], vector(program, 0, 8) loads and stores 8 elements at once.
    - For data0[i] = data1[i * 2], it's a ValueError.
    """
    ### BEGIN SOLUTION
    program, inner = split(program, number, size, ("VECTOR",))
    for node in program.toposort():
        if not lanes(node) or node.dtype is not float:
            continue
        if node.op not in VECTORS or (node.op is Ops.REDUCE and node.arg is not Ops.ADD):
            raise ValueError(f"there is no {node.op.name} of vectors")
        if node.op is Ops.STORE and not lanes(node.src[2]):
            raise ValueError("all lanes of a STORE would get the same value")
        if node.op in (Ops.LOAD, Ops.STORE) and terms(node.src[1]).get(inner) != 1:
            raise ValueError(f"the lanes of a {node.op.name} are not side by side")
    return program
    ### END SOLUTION


def reorder(program, *numbers):
    """The outer loops in a different order, the outermost first.

    Loops are nested by number, so the RANGEs trade their numbers.

    Examples, for loops 0, 1 and 2:
    - reorder(program, 2, 0, 1) makes loop 2 the outermost, then 0, then 1.
    - reorder(program, 2, 0) makes 2 and 0 trade places; 1 stays in the middle.
    """
    ### BEGIN SOLUTION
    new = dict(zip(numbers, sorted(numbers), strict=True))
    changed = {
        node: UOp(Ops.RANGE, (), (new[number], *node.arg[1:]))
        for number, node in counters(program).items()
        if number in new
    }
    return substitute(program, changed)
    ### END SOLUTION
