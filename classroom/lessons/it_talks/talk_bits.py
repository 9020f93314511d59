"""How surprised a model is

Hint: What has the model been shown when it guesses the third letter of a word? And which guess is
the last one?
Hint: `word[:place]` is what comes before a letter, `LETTERS.index(letter)` is its place among the
shares, and `np.log2` is the logarithm. `word + "."` has the end in it.
Because: A word of five letters is six guesses: each letter after those before it, and then the
end. The surprise of each is -log2 of the share that the letter had.
Right: It measures any model that gives shares, be it a table or a network.
"""

from collections.abc import Callable

import numpy as np

from classroom.ask import Wrong, a_number, call, wrong_if
from classroom.mini.talk import LETTERS

HALVES = "a model that gives the right letter of `ab` a share of 1/2, then 1/4, and the end 1/8"


def check(answer) -> None:
    """answer(shares, word): bits, of models of which the right answer is known."""
    seen: list[str] = []

    def halves(beginning: str) -> np.ndarray:
        seen.append(beginning)
        found = np.zeros(len(LETTERS))
        right = {"": ("a", 1 / 2), "a": ("b", 1 / 4), "ab": (".", 1 / 8)}.get(beginning)
        if right is None:
            return np.full(len(LETTERS), 1 / len(LETTERS))
        found[:] = (1 - right[1]) / (len(LETTERS) - 1)
        found[LETTERS.index(right[0])] = right[1]
        return found

    got = a_number(call(answer, halves, "ab"), HALVES)
    if unknown := [beginning for beginning in seen if beginning not in ("", "a", "ab")]:
        raise Wrong(
            f"You asked for the letter after {unknown[0]!r}. A model is given what comes "
            'before a letter: "", then "a", then "ab".',
            HALVES,
        )
    said = {
        -2.0: "A surprise is positive: minus the logarithm of a share, which is less than 1.",
        2.0 * np.log(2): "That's in nats. Bits are logarithms to base 2.",
        6.0: "That's the sum. Take the mean: it doesn't grow with the word.",
        3.0: "You divided by the number of letters. There's one guess more than that: the end.",
        1.5: "The end is missing. It has to be predicted, too.",
        np.log2(
            24 / 7
        ): "That's the surprise of the mean share. Take logarithms first, and the mean last.",
    }
    for value, sentence in said.items():
        wrong_if(
            bool(np.isclose(got, value)) and value != 2.0, sentence, HALVES, 2.0, round(got, 4)
        )
    wrong_if(
        not np.isclose(got, 2.0),
        "It should be the mean of 1, 2 and 3 bits.",
        HALVES,
        2.0,
        round(got, 4),
    )
    dice = np.random.default_rng()
    for word in ("x", "get_name", "".join(dice.choice([*LETTERS[1:]], 15))):
        model = _random_model(dice)
        expected = -np.mean(
            [np.log2(model(word[:n])[LETTERS.index(c)]) for n, c in enumerate(word + ".")]
        )
        got = a_number(call(answer, model, word))
        wrong_if(
            not np.isclose(got, expected),
            "It's right for `ab`, but not for every word.",
            "a fresh model, and a fresh word",
        )


def _random_model(dice: np.random.Generator) -> Callable[[str], np.ndarray]:
    table = dice.dirichlet(np.ones(len(LETTERS)), (17, len(LETTERS)))
    return lambda beginning: table[len(beginning), LETTERS.index(("." + beginning)[-1])]

# %% shared
import numpy as np
from classroom.mini.talk import LETTERS
def guesses(shares, word):
    return [shares(word[:n])[LETTERS.index(c)] for n, c in enumerate(word + ".")]

# %% wrong, each line
lambda shares, word: np.mean(np.log2(guesses(shares, word)))  # says A surprise is positive
lambda shares, word: -np.mean(np.log(guesses(shares, word)))  # says That's in nats
lambda shares, word: -np.sum(np.log2(guesses(shares, word)))  # says That's the sum
lambda shares, word: -np.sum(np.log2(guesses(shares, word))) / len(word)  # says one guess more
lambda shares, word: -np.mean(np.log2(guesses(shares, word)[:-1]))  # says The end is missing
lambda shares, word: -np.log2(np.mean(guesses(shares, word)))  # says Take logarithms first
lambda shares, word: -np.mean([np.log2(shares(word)[LETTERS.index(c)]) for c in word])  # says the mean of 1, 2 and 3 bits
lambda shares, word: 2.0  # says not for every word
lambda shares, word: "2 bits"  # says has to be a number
lambda shares, word: 4.8  # says the mean of 1, 2 and 3 bits

# %% wrong: the model is shown the letter that it's to guess
def bits(shares, word):
    return -np.mean([np.log2(shares((word + ".")[: n + 1])[LETTERS.index(c)]) for n, c in enumerate(word + ".")])

# %% right: backwards, by division
def bits(shares, word):
    total, rest = 0.0, word
    letter = "."
    while True:
        total += np.log2(1 / shares(rest)[LETTERS.index(letter)])
        if not rest:
            return total / (len(word) + 1)
        rest, letter = rest[:-1], rest[-1]
