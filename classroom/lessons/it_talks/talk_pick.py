"""Roll the dice

Hint: What's the softmax of scores that have been divided by the temperature? And how do you draw a
number when each has a share of its own?
Hint: `np.exp((scores - scores.max()) / temperature)`, divided by its sum, is the softmax.
`dice.choice(len(scores), p=shares)` draws by it.
Because: Divided by a small number, differences grow, and the likeliest takes it all. Divided by a
large one, they vanish. The largest score is subtracted first, so that exp can't overflow.
Right: One knob, from what everybody says to what nobody would.
"""

import numpy as np

from classroom.ask import Wrong, call, whole_number, wrong_if

CASE = "28 scores: 26 of -50, then 0 and log 4; temperature 0.5, 2,000 draws"
DRAWS = 2000


def check(answer) -> None:
    """answer(scores, temperature, dice): draws by the softmax of scores / temperature."""
    scores = np.array([-50.0] * 26 + [0.0, np.log(4)])
    share = _share_of_last(answer, scores, 0.5, CASE)
    # 16 of 17, and what else it might be; the noise is the same each time, 0.005 for the right one
    said = {
        1.0: "It's always the likeliest. Roll the dice.",
        1 / 28: "All of them come up equally often. What happened to the scores?",
        0.8: "The temperature has no effect.",
        2 / 3: "You multiplied by the temperature. Divide by it.",
        0.0: "It's never the likeliest.",
    }
    for value, sentence in said.items():
        wrong_if(
            abs(share - value) < 0.015,
            sentence,
            CASE,
            "about 94% the last one",
            f"{share:.0%} the last one",
        )
    wrong_if(
        abs(share - 16 / 17) > 0.02,
        "The shares are wrong.",
        CASE,
        "about 94% the last one",
        f"{share:.0%} the last one",
    )
    case = "scores of 1,000 and more, temperature 0.01"
    with np.errstate(all="ignore"):
        got = _share_of_last(answer, np.full(28, 1000.0), 0.01, case)
    wrong_if(
        abs(got - 1 / 28) > 0.02,
        "exp of such scores is too large for a float. Subtract the "
        "largest score first: shares don't change.",
        case,
    )
    first, again = (
        [call(answer, scores, 3.0, np.random.default_rng(7)) for _ in range(20)] for _ in range(2)
    )
    wrong_if(
        first != again,
        "The same seed should give the same numbers. Draw with `dice`, and with nothing else.",
        "twice, with the same seed",
    )


def _share_of_last(answer, scores: np.ndarray, temperature: float, case: str) -> float:
    dice, last = np.random.default_rng(0), 0
    for _ in range(DRAWS):
        try:
            number = whole_number(call(answer, scores.copy(), temperature, dice), case)
        except ValueError as error:
            if "NaN" not in str(error):
                raise
            raise Wrong(
                "exp of such scores is too large for a float. Subtract the largest score "
                "first: shares don't change.",
                case,
            ) from None
        wrong_if(
            not 0 <= number < len(scores),
            "Return the number of a letter, from 0 on.",
            case,
            got=number,
        )
        last += number == len(scores) - 1
    return last / DRAWS

# %% shared
import numpy as np
def softmax(x):
    weights = np.exp(x - x.max())
    return weights / weights.sum()

# %% wrong, each line
lambda s, t, dice: int(np.argmax(s))  # says always the likeliest
lambda s, t, dice: dice.integers(len(s))  # says equally often
lambda s, t, dice: dice.choice(len(s), p=softmax(s))  # says no effect
lambda s, t, dice: dice.choice(len(s), p=softmax(s * t))  # says Divide by it
lambda s, t, dice: int(np.argmin(s))  # says never the likeliest
lambda s, t, dice: dice.choice(len(s), p=softmax(softmax(s) / t))  # says The shares are wrong
lambda s, t, dice: dice.choice(len(s), p=np.exp(s / t) / np.exp(s / t).sum())  # says largest score first
lambda s, t, dice: len(s)  # says from 0 on
lambda s, t, dice: softmax(s / t)  # says has to be a whole number
lambda s, t, dice: np.random.default_rng().choice(len(s), p=softmax(s / t))  # says The same seed

# %% wrong: infinite weights, and a search that finds the first of them
def pick(scores, temperature, dice):
    ends = np.cumsum(np.exp(scores / temperature))
    return int(np.searchsorted(ends, dice.random() * ends[-1]))

# %% right: the Gumbel trick
lambda s, t, dice: int(np.argmax(s / t + dice.gumbel(size=len(s))))

# %% right: by running sums
lambda s, t, dice: int(np.searchsorted(np.cumsum(softmax(s / t)), dice.random()))
