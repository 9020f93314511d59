"""Hint: How do you find out whether element 0, 1, 2 … of a vector lie side by side? You wrote
something that tells the factor of a counter in a formula.
Hint: split with the kind, then look at every node that has lanes(node) and is a float.
terms(place).get(inner) is the distance from one lane to the next: it has to be 1. A STORE's value
is its third source.
Because: A vector instruction does one thing to elements that lie side by side. If one of these
conditions fails, C would still compile, and compute something else.
"""

from classroom.mini.check import Wrong, describe, promise
from classroom.mini.functions.part7b.shared import kernels_of, tensor
from classroom.mini.functions.part7c.shared import Case


@promise("Eight elements at a time", needs=("split",), seconds=30)
def vectors(mini) -> None:
    for said, number in (("a * 2", 1), ("a @ b", 1)):
        case = Case(mini, said)
        call = f"vector({said}, {number}, 8)"
        program = mini.vector(case.program, number, 8)
        case.expect(call, program, in_c=True)
        lanes = [node for node in program.toposort() if node.op is mini.Ops.RANGE and node.arg[2:]]
        if len(lanes) != 1 or lanes[0].arg[1:] != (8, "VECTOR"):
            raise Wrong("The inner RANGE needs the kind ('VECTOR',), so that no loop is written "
                        "for it.", call, "(…, 8, 'VECTOR')",
                        describe([n.arg for n in lanes]))  # fmt: skip


@promise("A vector in a tile: the way to a fast matmul", needs=("split", "upcast"), seconds=30)
def vector_tile(mini) -> None:
    case = Case(mini, "a @ b")
    tile = mini.upcast(mini.upcast(mini.vector(case.program, 1, 4), 1, 2), 0, 4)
    case.expect("a tile of 4 × 2 vectors of 4", tile, in_c=True)


@promise("What vectors can't do is a ValueError", needs=("split",), seconds=30)
def no_vectors(mini) -> None:
    a = tensor(mini, 8, 8)
    refused = [
        ("a.permute(1, 0) + 1", (a.permute(1, 0) + 1), 0,
         "What is loaded lies side by side, but what is stored doesn't: it's a whole row apart."),
        ("a.permute(1, 0) + 1", (a.permute(1, 0) + 1), 1,
         "What is stored lies side by side, but what is loaded doesn't: it's a whole row apart."),
        ("a.flip(1) + 1", (a.flip(1) + 1), 1,
         "These are loaded from the last to the first, and a vector has them the other way round."),
        ("a.sum(1)", a.sum(1), 1,
         "This loop is added up: the lanes would have to be, too, and nobody does that."),
        ("a.max(0)", a.max(0), 0, "There is no maximum of vectors in C."),
        ("a.exp()", a.exp(), 1, "There is no exp2f of vectors in C."),
        ("a.sum(1, keepdim=True) as 8 equal columns", mini.Tensor(
            mini.UOp(mini.Ops.EXPAND, (tensor(mini, 8, 1).uop * 2,), (8, 8))), 1,
         "All lanes would store the same value, and a number isn't a vector."),
    ]  # fmt: skip
    for said, graph, number, why in refused:
        ((kernel, _),) = kernels_of(mini, graph.uop)
        program = mini.lower(kernel)[0]
        try:
            mini.vector(program, number, 8)
        except ValueError:
            continue
        raise Wrong(why, f"vector({said}, {number}, 8)", "ValueError", "a program")

# %% wrong: says should give a program
def vector(program, number, size):
    return None

# %% wrong: says needs the kind
def vector(program, number, size):
    return split(program, number, size)[0]

# %% wrong, changed: says no maximum of vectors
# -         if node.op not in VECTORS or (node.op is Ops.REDUCE and node.arg is not Ops.ADD):
# +         if node.op not in VECTORS or False:

# %% right
def vector(program, number, size):
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
