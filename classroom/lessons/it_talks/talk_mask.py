"""No looking ahead

Hint: In the row of place i, which columns lie ahead? Draw it for four places.
Hint: `np.triu(np.ones((places, places)), 1)` is 1 above the diagonal and 0 elsewhere. Add a large
negative multiple of it, as a Tensor.
Because: Above the diagonal, j is after i. A billion below all others, such a score gets a share of
exactly 0. One table fits all names in the batch.
Right: No place sees what it's to guess, and nothing else is hidden from it.
"""

import numpy as np

from classroom.ask import wrong_if
from classroom.lessons.it_talks.shared import expect, shares_of, values_of

CASE = "scores of 0 everywhere, three places"
SHOWN = np.tril(np.ones((3, 3)))


def check(answer) -> None:
    """answer(scores): those ahead so low that softmax makes 0 of them, the others as they were."""
    zeros = values_of(answer, np.zeros((1, 3, 3)), case=CASE)
    wrong_if(zeros.shape != (1, 3, 3), "The shape has changed.", CASE, (1, 3, 3), zeros.shape)
    wrong_if(
        bool(np.isnan(zeros).any()),
        "Some of the scores are NaN: 0 times infinity is. A large negative number will do.",
        CASE,
    )
    with np.errstate(invalid="ignore"):
        shares = shares_of(zeros)[0]
    seen, right = shares > 1e-6, SHOWN > 0
    both = SHOWN.tolist(), seen.astype(float).tolist()
    wrong_if(
        np.array_equal(seen, right.T),
        "It's the other way round: each place sees what lies ahead "
        "of it, and not what it has behind it.",
        CASE,
        *both,
    )
    wrong_if(
        bool(seen.all()),
        "Nothing is hidden. After a softmax, a score of 0 has a share like any "
        "other: what lies ahead needs a score that's far below the rest.",
        CASE,
    )
    wrong_if(
        np.array_equal(seen, right & ~np.eye(3, dtype=bool)) or not seen[1, 1],
        "A place may look at itself. In particular, the first one has nothing else.",
        CASE,
        *both,
    )
    wrong_if(not np.array_equal(seen, right), "The wrong places are hidden.", CASE, *both)
    dice = np.random.default_rng()
    scores = (1000 * dice.standard_normal((2, 6, 6))).astype(np.float32)
    got, case = (
        values_of(answer, scores, case="large scores"),
        "two names, six places, large scores",
    )
    ahead = np.triu(np.ones((6, 6), bool), 1)
    expect(np.where(ahead, 0, got), np.where(ahead, 0, scores), case, shown=False)
    wrong_if(
        bool((shares_of(got)[:, ahead] > 0).any()),
        "With large scores, something of what lies ahead shows through. Make it lower.",
        case,
    )

# %% shared
import numpy as np
from classroom.mini.own_c import module
def with_table(table, by=-1e9):
    return lambda scores: scores + module("part4").Tensor(by * table(np.ones(scores.shape[-2:])))

# %% wrong, each line
with_table(np.tril, -1e9)  # says A place may look at itself
with_table(lambda ones: np.tril(ones, -1))  # says It's the other way round
with_table(lambda ones: np.triu(ones))  # says A place may look at itself
with_table(lambda ones: np.triu(ones, 2))  # says The wrong places are hidden
with_table(lambda ones: np.triu(ones, 1), -100)  # says shows through
with_table(lambda ones: np.triu(ones, 1), -np.inf)  # says 0 times infinity
lambda scores: scores  # says Nothing is hidden
lambda scores: scores * module("part4").Tensor(np.tril(np.ones(scores.shape[-2:])))  # says Nothing is hidden
lambda scores: scores.sum(0)  # says The shape has changed
lambda scores: scores.numpy()  # says has to be a Tensor

# %% wrong: shares are hidden, and everything is a share
def by_shares(scores):
    seen = module("part4").Tensor(np.tril(np.ones(scores.shape[-2:])))
    return scores.log_softmax() + (seen - 1) * 1e9
by_shares

# %% right: where, with minus infinity
def by_choice(scores):
    places = scores.shape[-1]
    ahead = module("part4").Tensor(np.triu(np.ones((places, places)), 1))
    return ahead.where(-1e30, scores)
by_choice
