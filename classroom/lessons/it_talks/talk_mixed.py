"""Mixtures of values

Hint: How do you get from `scores.log_softmax()` to shares that add up to 1 in each row? Then each
place needs a sum over all places, itself included: share times value.
Hint: `.exp()` of the log_softmax is the softmax. Shares as (n, places, places, 1) times values as
(n, 1, places, width), added up along axis 2.
Because: Row i of the shares says how much place i takes from each place j, so the sum runs over j.
That's one more product of matrices for each name.
Right: Each place takes what it wants from the others. That's the heart of attention.
"""

import numpy as np

from classroom.ask import wrong_if
from classroom.lessons.it_talks.shared import expect, expect_no_mistake, shares_of, values_of

CASE = "scores `[[0, log 3], [0, 0]]`, values `[[4, 0], [8, 4]]`"
S, V = np.log([[[1.0, 3.0], [1.0, 1.0]]]), np.array([[[4.0, 0.0], [8.0, 4.0]]])


def check(answer) -> None:
    """answer(scores, v): softmax, and the weighted sums."""
    got = values_of(answer, S, V, case=CASE)
    shares = shares_of(S)
    right = shares @ V
    down = np.exp(S) / np.exp(S).sum(1, keepdims=True)
    mistakes = {
        "You mixed by the scores themselves. Make shares of them first, by a softmax.": S @ V,
        "You used the logarithms as weights: `log_softmax` still needs an `exp`.": np.log(shares)
        @ V,
        "The shares don't add up to 1 yet.": np.exp(S) @ V,
        "Your shares add up to 1 in each column. It has to be in each row.": down @ V,
        "You added up along the wrong axis: place i mixes by row i of the shares.": shares.swapaxes(
            1, 2
        )
        @ V,
    }
    expect_no_mistake(got, right, mistakes, case=CASE)
    expect(got, right, CASE, shown=True)
    dice = np.random.default_rng()
    for scale, case in ((1, "three names, five places"), (1000, "scores of 1,000 and more")):
        s = (scale * dice.standard_normal((3, 5, 5))).astype(np.float32)
        v = dice.standard_normal((3, 5, 4)).astype(np.float32)
        with np.errstate(all="ignore"):
            got = values_of(answer, s, v, case=case)
        wrong_if(
            scale > 1 and bool(np.isnan(got).any()),
            "exp of 1,000 is too much for 32 bits. Your `log_softmax` takes care of that.",
            case,
        )
        expect(got, shares_of(s) @ v, case, shown=False)

# %% shared
def mix(shares, v, axis=2):
    n, places, width = v.shape
    return (shares.reshape(n, places, places, 1) * v.reshape(n, 1, places, width)).sum(axis)

def by_exp(scores):
    return scores.exp() / scores.exp().sum(2, keepdim=True)

# %% wrong, each line
lambda s, v: mix(s, v)  # says by the scores themselves
lambda s, v: mix(s.log_softmax(), v)  # says used the logarithms
lambda s, v: mix(s.exp(), v)  # says don't add up to 1
lambda s, v: mix(s.permute(0, 2, 1).log_softmax().exp().permute(0, 2, 1), v)  # says in each column
lambda s, v: mix(s.log_softmax().exp().permute(0, 2, 1), v)  # says along the wrong axis
lambda s, v: mix(by_exp(s), v)  # says too much for 32 bits
lambda s, v: s.log_softmax().exp()  # says doesn't use all
lambda s, v: mix(s.log_softmax().exp(), v).numpy()  # says has to be a Tensor
lambda s, v: mix(s.log_softmax().exp(), v, 3)  # says 4 elements are wrong

# %% right: the largest taken off by hand
def by_hand(s, v):
    s = (s - s.detach().max(2, keepdim=True)).exp()
    return mix(s, v) / s.sum(2, keepdim=True)
by_hand
