"""A picture of a circle

Hint: How far is the point (r, c) from the middle? Pythagoras knows, and its square is enough: you
can compare squares.
Hint: `i = Tensor.arange(n) - n // 2` counts from the middle. `i[:, None] ** 2` is a column, `i **
2` is a row. What do they make together?
Because: `i` counts from the middle. The column i² and the row i² add up to a table of squared
distances, and a comparison with (n / 3)² says which of them are inside.
Right: A circle from a column, a row and one comparison. Pythagoras would be pleased.
"""

import numpy as np

from classroom.ask import call, fresh_sizes, same_values, unlike, wants
from classroom.lessons.tensors.shared import without_a_loop
from tinyframe import Tensor

SHOWN = (7, 9)  # sizes of a picture that can be told


def check(answer) -> None:
    """answer(n): a filled circle of True."""
    without_a_loop(answer)
    odd, half = fresh_sizes(2)
    # 7 can be shown, but there a diamond is a small circle; of 9, four points are at n / 3 exactly
    given = {n: call(answer, n) for n in (7, 9, odd, 2 * half)}
    for n, got in given.items():
        wants(got, Tensor, "a Tensor", _rows(n))
        if n == 7:
            continue
        mistakes = {
            "That's a circle around the corner (0, 0). Its middle should be (n // 2, n // 2).":
                np.add(*(np.indices((n, n)) ** 2)) < (n / 3) ** 2,
            "That's a diamond: you added the two distances. In a circle, their squares are added.":
                np.abs(np.indices((n, n)) - n // 2).sum(0) < n / 3,
            "That's a square. In a circle, the squares of the two distances are added.":
                np.abs(np.indices((n, n)) - n // 2).max(0) < n / 3,
            "Inside and outside are swapped.": ~circle(n, n / 3),
            "Your circle is as wide as it should be if the diameter were n / 3. That's the radius.":
                circle(n, n / 6),
            "Your circle is a little too small. Its radius is n / 3, and `//` rounds down.":
                circle(n, n // 3),
            "A point at exactly n / 3 from the middle isn't closer than that: `<`, and not `<=`.":
                circle(n, n / 3 + 1e-9),
            "Your middle lies between the points. It should be one of them, (n // 2, n // 2).":
                circle(n, n / 3, middle=n / 2 if n % 2 else (n - 1) / 2),
        }  # fmt: skip
        unlike(got, mistakes, circle(n, n / 3), _rows(n), shown=False)
    for n, got in given.items():
        expected = circle(n, n / 3).astype(np.int32)
        same_values(got.int(), expected, _rows(n), shown=n in SHOWN)


def circle(n: int, radius: float, middle: float | None = None) -> np.ndarray:
    """Which of n x n points are closer than the radius to the one in the middle."""
    away = np.indices((n, n)) - (n // 2 if middle is None else middle)
    return (away**2).sum(0) < radius**2


def _rows(n: int) -> str:
    return f"`n = {n}`" if n in SHOWN else f"a larger {'odd' if n % 2 else 'even'} `n`"

# %% shared
from tinyframe import Tensor
def disc(n, middle=None, radius=3, power=2):
    i = Tensor.arange(n) - (n // 2 if middle is None else middle)
    return abs(i)[:, None] ** power + abs(i) ** power < (n / radius) ** power

# %% wrong, each line
lambda n: ~disc(n)  # says Inside and outside are swapped
lambda n: disc(n)[0]  # says has 1 axis

# %% wrong: says There is a loop
(
    lambda n: Tensor(
        [
            [(r - n // 2) ** 2 + (c - n // 2) ** 2 < n * n / 9 for c in range(n)]
            for r in range(n)
        ]
    )
)

# %% wrong: a diamond
def disc(n):
    r = (Tensor.arange(n) - n // 2).abs()
    return r[:, None] + r < n / 3

# %% right, each line
lambda n: 1 * disc(n)
