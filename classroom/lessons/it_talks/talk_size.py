"""How large a GPT is

Hint: Go through `GPT.__init__`: how many numbers are in each matrix of a layer, in widths times
widths? Which of them does one letter go through, and what does attention add for it?
Hint: q, k, v and out are width × width, up and down four times that: 12 · width² a layer. A row
times a matrix takes a multiplication for each number in it. For one letter, attention has a score
with each place, and a mixture of each place's values: `width` multiplications for each.
Because: Each number of a matrix is used once for each letter, so there are about as many
multiplications as parameters. What grows with the places is attention: 2 · places · width a layer.
Right: The same formula, for yours and for one that fills many graphics cards.
"""

from typing import Any

from classroom.ask import Wrong, call, whole_number, wrong_if

SMALL = "`size(28, 16, 48, 2)`"
SIZES = (28, 16, 48, 2)


def parts(letters: int, places: int, width: int, layers: int) -> dict[str, int]:
    """Numbers in each table of it."""
    return {
        "letters": letters * width,
        "places": places * width,
        "matrices": layers * 12 * width**2,
    }


def check(answer) -> None:
    """answer(letters, places, width, layers): parameters, and multiplications for a letter."""
    for sizes, case in ((SIZES, SMALL), ((30, 7, 12, 5), "a GPT of a different size")):
        got = call(answer, *sizes)
        if not isinstance(got, (tuple, list)) or len(got) != 2:
            raise Wrong("The answer has to be a pair: parameters, multiplications.", case)
        tables, (_, places, width, layers) = parts(*sizes), sizes
        square, looks = layers * width**2, layers * places * width
        right = sum(tables.values())
        four_times = "times width² in a layer. `up` and `down` are four times as wide on one side."
        mistakes = {
            **{right - tables[name]: f"`{name}` isn't in your parameters." for name in tables},
            right + tables["letters"]: "`letters` is used twice, at the beginning and at the end, "
            "but it's one table.",
            right - 6 * square: f"You counted six {four_times}",
            right - 4 * square: f"You counted eight {four_times}",
        }
        _expect("parameters", got[0], right, mistakes, case)
        once = tables["matrices"] + tables["letters"]  # each number of these is used once
        right = once + 2 * looks
        mistakes = {
            right - tables["letters"]: "The last product is missing: a row times all letters.",
            once: "Attention is missing: a product with every key, and a mixture of every value.",
            once
            + looks: "In attention, only the scores or only the mixtures are counted. Both take "
            "`width` multiplications for each place.",
            once + 2 * looks * places: "That's attention from every place. It's about one more "
            "letter, which looks at all places.",
            right * places: "That's for all places at once. It's about one more letter: what the "
            "others need has been computed before.",
            right + tables["letters"]: "Looking a letter up was to be free.",
        }
        _expect("multiplications", got[1], right, mistakes, case)


def _expect(what: str, got: Any, right: int, mistakes: dict[int, str], case: str) -> None:
    """Wrong, with what the mistake is if it's known, unless a number is the right one."""
    number = whole_number(got, case)
    wrong_if(number in mistakes, mistakes.get(number, ""), case)
    both = (f"{right:,}", f"{number:,}") if case == SMALL else ()
    wrong_if(number != right, f"The number of {what} has to be different.", case, *both)

# %% shared
def size(v, t, w, n, twelve=12, p=0, m=0):
    return (v + t) * w + n * twelve * w * w + p, n * 12 * w * w + v * w + 2 * n * t * w + m

# %% wrong, each line
lambda v, t, w, n: size(v, t, w, n, p=-v * w)  # says `letters` isn't in your parameters
lambda v, t, w, n: size(v, t, w, n, p=-t * w)  # says `places` isn't in your parameters
lambda v, t, w, n: ((v + t) * w, 0)  # says `matrices` isn't in your parameters
lambda v, t, w, n: size(v, t, w, n, p=v * w)  # says but it's one table
lambda v, t, w, n: size(v, t, w, n, twelve=6)  # says six times
lambda v, t, w, n: size(v, t, w, n, p=1)  # says parameters has to be different
lambda v, t, w, n: size(v, t, w, n, m=-v * w)  # says The last product is missing
lambda v, t, w, n: size(v, t, w, n, m=-2 * n * t * w)  # says Attention is missing
lambda v, t, w, n: size(v, t, w, n, m=-n * t * w)  # says Both take
lambda v, t, w, n: size(v, t, w, n, m=2 * n * t * w * (t - 1))  # says attention from every place
lambda v, t, w, n: (size(v, t, w, n)[0], t * size(v, t, w, n)[1])  # says for all places at once
lambda v, t, w, n: size(v, t, w, n, m=v * w)  # says was to be free
lambda v, t, w, n: size(v, t, w, n, m=1)  # says multiplications has to be different
lambda v, t, w, n: size(v, t, w, n)[0]  # says has to be a pair

# %% right: counted in a GPT without numbers
def counted(letters, places, width, layers):
    layer = [(width, width)] * 4 + [(width, 4 * width), (4 * width, width)]
    tables = [(letters, width), (places, width)] + layer * layers
    products = [(width, letters)] + (layer + [(places, width)] * 2) * layers
    return sum(a * b for a, b in tables), sum(a * b for a, b in products)
counted
