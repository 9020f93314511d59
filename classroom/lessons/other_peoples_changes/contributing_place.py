"""Mend it

Hint: Which of a view's four attributes does the patch's line use, and which did the line that it
replaced?
Hint: One step down is view.strides[0] cells further in the list, one step to the right
view.strides[1]. For a flipped view that's -1.
Because: The number of columns is only the distance between rows as long as nobody has cropped or
swapped anything, and + j is only one to the right as long as nobody has flipped anything. Strides
are there to know both.
Right: The owl is whole again, and place is what its author had in mind: one line in one place.
There was nothing wrong with the idea.
"""

import random
from typing import Any

from classroom.ask import call, same_number
from classroom.contributing.history import History

OWL = History()


def check(answer) -> None:
    """answer(view, i, j): where in its cells a view's cell (i, j) is."""
    make = OWL.module(0)["View"]
    whole = make("", (17, 10), (10, 1))
    cases = {
        "a whole drawing": whole,
        "a part of it": make("", (15, 8), (10, 1), 12),
        "the drawing, flipped": make("", (17, 10), (10, -1), 9),
        "a part of the flipped one": make("", (4, 3), (10, -1), 27),
        "rows and columns swapped": make("", (10, 17), (1, 10)),
    }
    for words, view in cases.items():
        for i, j in ((0, 0), (1, 1), (2, 1)):
            one_place(answer, view, i, j, f"{words}: shape {view.shape}, strides {view.strides}, "
                      f"offset {view.offset}; i, j = {i}, {j}")  # fmt: skip
    rng = random.Random(11)
    for _ in range(100):
        strides = tuple(rng.sample(range(-30, 31), 2))
        view = make("", (rng.randint(1, 9), rng.randint(1, 9)), strides, rng.randint(0, 99))
        i, j = rng.randint(0, 20), rng.randint(0, 20)
        one_place(answer, view, i, j, f"strides {strides}, offset {view.offset}; i, j = {i}, {j}")


def one_place(answer, view: Any, i: int, j: int, case: str) -> None:
    down, right = view.strides
    got = call(answer, view, i, j)
    if isinstance(got, float) and got.is_integer():
        got = int(got)
    same_number(got, view.offset + i * down + j * right, case)

# %% wrong, each line
lambda view, i, j: view.offset + i * view.shape[1] + j  # says offset 12
lambda view, i, j: (i, j)  # says has to be a whole number
lambda view, i, j: view.offset + i * view.strides[0] + j  # right as long as nobody flips it

# %% right, each line
lambda view, i, j: float(view.offset + i * view.strides[0] + j * view.strides[1])
lambda view, *at: view.offset + sum(n * step for n, step in zip(at, view.strides))  # for any number of axes
