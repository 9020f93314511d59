"""Hint: After a split, what do you have to do to the inner counter so that it's gone? And how many
stores are there then?
Hint: `substitute` makes a copy of a STORE in which the inner counter is a CONST, say 3. Make one
for each number below size, of each STORE in program.src. They are the sources of a new SINK.
Because: Equal nodes are one node, so what the copies have in common is there once, without
anybody looking for it: a number that is loaded for four results is loaded once.
"""

from classroom.mini.check import Wrong, promise, wrong_if
from classroom.mini.functions.part7c.shared import Case, sizes


@promise("Each iteration stores several elements", needs=("split",))
def upcast_stores(mini) -> None:
    for said, number, size in (("a * 2", 0, 4), ("a.permute(1, 0) + 1", 1, 3), ("a.sum(1)", 0, 2)):
        case = Case(mini, said)
        call = f"upcast({said}, {number}, {size})"
        program = mini.upcast(case.program, number, size)
        case.expect(call, program)
        before, found = sizes(mini, case.program), sizes(mini, program)
        if found.get(number) != before[number] // size:
            raise Wrong(f"{call}: the loop should have {before[number] // size} iterations.", call,
                        str(before[number] // size), str(found.get(number)))  # fmt: skip
        if len(program.src) != size:
            raise Wrong(f"{call} should store {size} elements in each iteration.", call,
                        f"{size} STOREs", f"{len(program.src)} STOREs")  # fmt: skip
        wrong_if(len(found) != len(before), "The inner counter is still there. It should be 0 in "
                 "the first copy, 1 in the second, and so on.", call, f"{len(before)} RANGEs",
                 f"{len(found)} RANGEs")  # fmt: skip


@promise("Twice, for a tile of a @ b: 4 rows and 2 columns", needs=("split",))
def upcast_twice(mini) -> None:
    case = Case(mini, "a @ b")
    tile = mini.upcast(mini.upcast(case.program, 0, 4), 1, 2)
    case.expect("upcast(upcast(a @ b, 0, 4), 1, 2)", tile)

# %% wrong: says should give a program
def upcast(program, number, size):
    return None

# %% wrong: says should store 4 elements
def upcast(program, number, size):
    return split(program, number, size)[0]

# %% wrong, changed: says never stored
# -     copies = [substitute(s, {inner: inner.const(n)}) for s in program.src for n in range(size)]
# +     copies = [substitute(s, {inner: inner.const(0)}) for s in program.src for n in range(size)]

# %% wrong, changed: says gives a program that can't run
# -     copies = [substitute(s, {inner: inner.const(n)}) for s in program.src for n in range(size)]
# +     copies = [substitute(s, {inner: UOp(Ops.CONST, (), float(n))}) for s in program.src for n in range(size)]

# %% wrong: says the loop should have 3 iterations
def upcast(program, number, size):
    return UOp(Ops.SINK, program.src * size)

# %% wrong: says The inner counter is still there
def upcast(program, number, size):
    program, _ = split(program, number, size)
    return UOp(Ops.SINK, program.src * size)

# %% wrong: says changes what is computed
def upcast(program, number, size):
    program, inner = split(program, number, size)
    copies = []
    for memory, place, value in [store.src for store in program.src]:
        first = substitute(value, {inner: inner.const(0)})
        for n in range(size):
            there = substitute(place, {inner: inner.const(n)})
            copies.append(UOp(Ops.STORE, (memory, there, first)))
    return simplify(UOp(Ops.SINK, tuple(copies)))

# %% right: copies in a different order, each simplified by itself
def upcast(program, number, size):
    program, inner = split(program, number, size)
    stores = [substitute(s, {inner: UOp.const(inner, n)}) for n in range(size) for s in program.src]
    return simplify(program).__class__(Ops.SINK, tuple(map(simplify, stores)))
