"""The elements in reverse order, without `flip` and without a negative step.
Hint: Multiplying by a matrix of 0 and 1 can exchange elements. Where are the ones?
Hint: Row i has its 1 in column n - 1 - i, and there i + j is always the same.
Because: The ones stand where i + j = n - 1: on the other diagonal. Each row picks one element.
"""

from classroom.puzzlebook.games.one_liners import OneLiner, a_vector, ints

puzzle = OneLiner(
    "flip(a)", (ints(5, 6, 7, 8),), lambda a: a[::-1], a_vector, par=13, best=5, without=("flip",)
)

# %% wrong, each line
lambda a: a.flip(0)  # says `flip` is not one of the tools
lambda a: a[::-1]  # a negative step

# %% right, each line
lambda a: a.expand(2 * len(a) - 1, len(a)).reshape(len(a), 2 * len(a) - 1)[:, len(a) - 1]  # says and we know no better way
