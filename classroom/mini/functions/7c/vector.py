"""Hint: How do you find out whether element 0, 1, 2 … of a vector lie side by side? You wrote
something that tells the factor of a counter in a formula.
Hint: split with the kind, then look at every node that has lanes(node) and is a float.
terms(place).get(inner) is the distance from one lane to the next: it has to be 1. A STORE's value
is its third source.
Because: A vector instruction does one thing to elements that lie side by side. If one of these
conditions fails, C would still compile, and compute something else.
"""

# %% wrong: says should give a program
def vector(program, number, size):
    return None

# %% wrong: says needs the kind
def vector(program, number, size):
    return split(program, number, size)[0]

# %% wrong, changed: says no maximum of vectors
-         if node.op not in VECTORS or (node.op is Ops.REDUCE and node.arg is not Ops.ADD):
+         if node.op not in VECTORS or False:

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
