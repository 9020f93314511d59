"""Element number `index[i]` of `a`, for each i. (`a[index]` does it with 19 ops. Do it with fewer.)
Hint: One-hot rows pick elements. You have done both halves.
Hint: `index[:, None] == Tensor.arange(…)` is a matrix that picks. Multiply it by `a`.
Because: To look something up is to multiply by one-hot rows. An embedding layer is this, with a
matrix in place of `a`.
"""

from classroom.puzzlebook.games.one_liners import OneLiner, ints, labels, numbers, size

puzzle = OneLiner(
    "take(a, index)",
    (ints(10, 20, 30, 40), ints(3, 0, 0)),
    lambda a, index: a[index],
    lambda rng: ((a := numbers(rng, size(rng))), labels(rng, len(a))),
    par=12,
    best=11,
)

# %% wrong, each line
lambda a, index: a[:3]  # says Element
lambda a, index: a.gather(0, index)  # gather is no tool

# %% right, each line
lambda a, index: one_hot(index, len(a)) @ a  # an answer that was given before is a tool
lambda a, index: a[index]  # as the text says, with 19 ops
