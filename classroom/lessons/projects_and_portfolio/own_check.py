"""A check that catches five cheats

Hint: Which questions does nobody ask? Numbers below zero, a different length, a matrix, and the
same length a second time with other numbers.
Hint: `ask.graph("larger", a, b).run(c, d)` runs the graph on numbers that the file has never
seen.
Because: Each cheat is right about something. A check catches it by asking about everything else,
and by running the graph on numbers that the file never saw.
"""

from classroom.ask import Wrong, count, wants_written, wrong_if
from classroom.toys.files import COUSINS, HONEST
from classroom.toys.grading import refused

SECONDS = 120.0


TRIES = 4  # of a check of the learner's, with each file


def check(answer) -> str:
    wants_written(answer)
    for how, text in HONEST.items():
        for seed in range(TRIES):
            if said := refused(answer, text, seed, is_honest=True):
                raise Wrong(f"Your check refuses honest work, the file that does it {how}.",
                            got=said)  # fmt: skip
    for what, text in COUSINS.items():
        caught = sum(bool(refused(answer, text, seed)) for seed in range(TRIES))
        wrong_if(not caught, f"Your check is fooled by a file that {what}.")
        wrong_if(caught < TRIES, f"A file that {what} gets away with it in {TRIES - caught} of "
                 f"{TRIES} tries. Ask for more numbers.")  # fmt: skip
    return (
        f"{count(len(COUSINS), 'cheat')} caught, every time, and {len(HONEST)} honest files let "
        "through. That's a check you could grade a class with."
    )

# %% shared
import numpy as np
from classroom.grader.tasks import expect, expect_close, expect_equal
def by_assert(ask):
    a, b, c, d = (ask.floats(4, 5) for _ in range(4))
    assert np.allclose(ask.graph("larger", a, b).run(c, d), np.maximum(c, d))
    a, b = ask.floats(9), ask.floats(9)
    assert np.allclose(ask("larger", a, b), np.maximum(a, b))

# %% wrong, each line
3  # says asks for a function

# %% wrong: says by a file that only knows three numbers
def of_three(ask):
    a, b = ask.floats(3), ask.floats(3)
    expect_close(ask("larger", a, b), np.maximum(a, b), "larger")
of_three

# %% wrong: says refuses honest work
def turned_round(ask):
    a, b = ask.floats(4, 5), ask.floats(4, 5)
    expect_close(ask("larger", a, b), np.minimum(a, b), "larger")
turned_round

# %% wrong: says raised AttributeError
def misspelled(ask):
    expect_close(ask("larger", ask.float(3), ask.float(3)), np.zeros(3), "larger")
misspelled

# %% wrong: never asks for a graph, so NumPy gets away with it
def catches_them(ask):
    for _ in range(3):
        a, b = ask.floats(3, 4), ask.floats(3, 4)
        expect((ask("larger", a, b) == np.where(a > b, a, b)).all(), "not the larger one")

# %% wrong: says Ask for more numbers
def of_one_number(ask):
    a, b, c, d = (ask.floats(2, 1) for _ in range(4))
    expect_close(ask.graph("larger", a, b).run(c, d), np.maximum(c, d), "larger")
of_one_number

# %% right, each line
by_assert

# %% right
def in_parts(ask):
    for shape in ((6,), (3, 4)):
        a, b, c, d = (ask.floats(*shape) for _ in range(4))
        with ask.part(f"{len(shape)} axes"):
            found = ask.graph("larger", a, b).run(c, d)
            expect(bool((found == np.maximum(c, d)).all() or np.allclose(found, np.maximum(c, d))),
                   "not the larger one")
in_parts
