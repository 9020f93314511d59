"""Which are the same

Hint: Two Tensors can hold the same node. When does tinyframe need a new node, and when can it use
one that it already has?
Hint: Compare op, dtype, sources in their order, and argument. Nobody looks at values.
Because: `A` and `B` are two Tensors with one node, since both were built from the same op and the
same sources. `b + a` has its sources in a different order, and `a * 2` is a MUL where `a + a` is
an ADD. Their values agree, but nobody compares values.
"""

from classroom.ask import fresh_tensor, predicts


def which_are_the_same() -> tuple[bool, ...]:
    a, b = fresh_tensor(5), fresh_tensor(5)
    A, B = a + b, a + b
    return (A is B, A.uop is B.uop, (a + b).uop is (b + a).uop, (a * 2).uop is (a + a).uop)


check = predicts(which_are_the_same)

# %% guesses
(
    (False, True, False, False),
    (False, False, False, False),
    (True, True, True, True),
    (False, True, True, True),
)

# %% wrong, each line
(False, True, True, False)  # addition commutes, nodes don't

# %% asked again, each line
'F T F F'  # letters without commas; thought right

# %% right, each line
[0, 1, 0, 0]  # 0 and 1 for False and True
