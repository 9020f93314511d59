"""Each element, `k` times over.
Hint: If each element had a row of its own, as long as `k`, how would you read the table?
Hint: `a[:, None]`, then `expand` to `k` columns, then one axis again with `reshape(-1)`.
Because: Three movements, and not one number is computed. Expanded the other way round, with
`a[None]`, you would have repeated the whole vector.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, ints, numbers, size

puzzle = OneLiner(
    "repeat(a, k)",
    (ints(7, 8, 9), 2),
    lambda a, k: np.repeat(a, k),
    lambda rng: (numbers(rng, size(rng)), size(rng, 1, 4)),
    par=3,
    best=3,
)

# %% wrong, each line
lambda a, k: a[None].expand(k, -1).reshape(-1)  # says not in the right places
lambda a, k: a[:, None].expand(-1, k)  # says the shape is wrong

# %% right, each line
lambda a, k: a[:, None].expand(-1, k).reshape(-1)  # -1 for an axis that stays
