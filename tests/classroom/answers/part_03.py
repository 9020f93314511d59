"""Part 3: what somebody might answer, and what they are told."""

from __future__ import annotations

import numpy as np

from tinyframe import Tensor

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = set()

# for each prediction what is right, and what somebody might think
GUESSES = {
    "3.2": (
        ((2, 4), (2, 3, 1), (3,)),
        ((2, 1, 4), (2, 3), (1, 3, 1)),
        ((3, 4), (2, 1, 4), (3,)),
    ),
    "3.5": (
        ((5, 7), (2, 3, 4), (6, 2, 5)),
        ((5, 7), (2, 1, 4), (6, 2, 5)),
        ((5, 1), (2, 3, 4), (6, 3, 5)),
    ),
    "3.8": (
        ("float", "uchar", "float", "int"),
        ("int", "uchar", "float", "bool"),
        ("float", "int", "uchar", "uchar"),
    ),
}


def disc(n, middle=None, radius=3, power=2):
    i = Tensor.arange(n) - (n // 2 if middle is None else middle)
    return abs(i)[:, None] ** power + abs(i) ** power < (n / radius) ** power


def square(n):
    i = abs(Tensor.arange(n) - n // 2)
    return (i[:, None] < n / 3) & (i < n / 3)


def primes_in_a_loop(n):
    numbers, count = Tensor.arange(n), 0
    for divisor in range(1, n + 1):
        count = count + (numbers % divisor == 0)
    return count == 2


def primes(n, smallest=1, divisors=2):
    numbers = Tensor.arange(n)
    found = (numbers % Tensor.arange(smallest, n + 1)[:, None] == 0).sum(axis=0)
    return (found == divisors) & (numbers > 0)


def life(board, survive=(2, 3), born=3, middle=False, wrap=False):
    if wrap:
        around = sum(board.roll((r, c), (0, 1)) for r in (-1, 0, 1) for c in (-1, 0, 1)) - board
    else:
        p = board.pad(((1, 1), (1, 1)))
        rows, columns = board.shape
        around = sum(p[r : r + rows, c : c + columns] for r in range(3) for c in range(3))
        around = around if middle else around - board
    alive = (around == survive[0]) | (around == survive[1])
    return ((board == 1) & alive) | (around == born)


# number of an exercise, a wrong answer, what is said about it
WRONG = [
    ("3.1", lambda n: disc(n, middle=0), "around the corner"),
    ("3.1", lambda n: disc(n, power=1), "a diamond"),
    ("3.1", square, "That's a square"),
    ("3.1", lambda n: ~disc(n), "Inside and outside are swapped"),
    ("3.1", lambda n: disc(n, radius=6), "the diameter"),
    ("3.1", lambda n: disc(n, radius=n / (n // 3)), "`//` rounds down"),
    ("3.1", lambda n: disc(n)[0], "has 1 axis"),
    (
        "3.1",
        lambda n: Tensor((np.square(np.indices((n, n)) - n // 2)).sum(0) <= n * n / 9),
        "`<`, and not `<=`",
    ),
    (
        "3.1",
        lambda n: Tensor(
            [
                [(r - n // 2) ** 2 + (c - n // 2) ** 2 < n * n / 9 for c in range(n)]
                for r in range(n)
            ]
        ),
        "There is a loop",
    ),
    ("3.3", lambda x: x - x.mean(), "mean of the whole table"),
    ("3.3", lambda x: x - x.mean(axis=1, keepdim=True), "mean of each row"),
    ("3.3", lambda x: x.mean(axis=0), "has 1 axis"),
    ("3.3", lambda x: x - x.mean(axis=1), "raised ShapeError"),
    ("3.4", lambda x: x.T, "reversed along axis 1"),
    ("3.4", lambda x: x.T.flip(0), "reversed along every axis"),
    ("3.4", lambda x: x.flip(1), "Rows and columns are swapped"),
    ("3.4", lambda x: x.T.flip(1) + 0, "kernel"),
    ("3.4", lambda x: Tensor(np.rot90(x.numpy(), -1).copy()).realize(), "copies of the numbers"),
    ("3.6", lambda n: primes(n, smallest=2), "[2] is 0"),
    ("3.6", lambda n: primes(n, divisors=1), "[1] is 1"),
    ("3.6", lambda n: Tensor([k in (2, 3, 5, 7, 11) for k in range(n)]), "There is a loop"),
    ("3.6", primes_in_a_loop, "There is a loop"),
    (
        "3.6",
        lambda n: (Tensor.arange(n) % Tensor.arange(1, n + 1)[:, None] == 0).sum(0) == 2,
        "0 isn't a prime",
    ),
    ("3.6", lambda n: Tensor.arange(n) % Tensor.arange(1, n + 1)[:, None] == 0, "has 2 axes"),
    ("3.7", lambda x, holes: holes.where(x.mean(), x), "includes the elements in the holes"),
    ("3.7", lambda x, holes: holes.where(0, x), "[0, 0] is 0"),
    ("3.7", lambda x, holes: holes.where(holes.where(0, x).mean(), x), "as zeros"),
    ("3.7", lambda x, holes: (~holes).where(x.mean(), x), "[0, 0] is 1"),
    ("3.7", lambda x, holes: holes.where(x, x[~holes].mean()), "that are not holes"),
    ("3.9", lambda a, b: (a + b) // 2, "they wrapped around"),
    ("3.9", lambda a, b: (a + b) / 2, "they wrapped around"),
    ("3.9", lambda a, b: a // 2 + b // 2 + 1, "[0] is 16"),
    ("3.9", lambda a, b: (a.int() + b) // 2, "no longer bytes"),
    ("3.9", lambda a, b: (a.int() + b) / 2, "no longer bytes"),
    ("3.10", lambda board: life(board, middle=True), "its own neighbour"),
    ("3.10", lambda board: life(board, survive=(3, 3)), "[2, 2] is 0"),
    ("3.10", lambda board: life(board, born=2), "[0, 2] is 1"),
    ("3.10", lambda board: life(board, wrap=True), "wraps around"),
    ("3.10", lambda board: board == 1 and board == 2, "in place of `and`"),
    ("3.10", lambda board: board == 1 | board == 2, "brackets around each comparison"),
    ("3.10", lambda board: board.pad(((1, 1), (1, 1))), "axis 0 has a different size"),
]


def life_by_rolling(board):
    """On a board with a dead border, wrapping round does no harm."""
    rows, columns = board.shape
    p = board.pad(((1, 1), (1, 1)))
    around = sum(p.roll((r, c), (0, 1)) for r in (-1, 0, 1) for c in (-1, 0, 1)) - p
    return (((around == 3) | (p * around == 2)) * 1)[1 : rows + 1, 1 : columns + 1]


# unusual, and right
RIGHT = [
    ("3.1", lambda n: ((Tensor.arange(n) - n // 2) ** 2 + (Tensor.arange(n) - n // 2)[:, None] ** 2)
     .sqrt() < n / 3),
    ("3.1", lambda n: Tensor((np.square(np.indices((n, n)) - n // 2)).sum(0) < n * n / 9)),
    ("3.1", lambda n: 1 * disc(n)),
    ("3.3", lambda x: x + -1 * (x.sum(0) / len(x))),
    ("3.3", lambda x: (x.T - x.T.mean(axis=1, keepdim=True)).T),
    ("3.3", lambda x: (x - x.mean(axis=-2, keepdim=True)).realize()),
    ("3.4", lambda x: x.flip(0).T),
    ("3.4", lambda x: x[::-1].permute(1, 0)),
    ("3.4", lambda x: x.transpose(0, 1).flip(-1)),
    ("3.6", lambda n: (Tensor.arange(1, n) % (Tensor.arange(n)[:, None] + 1) < 1).sum(0).eq(2)
     .pad(((1, 0),))),
    ("3.6", lambda n: primes(n).int().realize()),
    ("3.6", lambda n: (Tensor(np.arange(n)) % (1 + Tensor.arange(n)[:, None]) == 0).sum(0)
     * (Tensor.arange(n) > 0) == 2),
    ("3.7", lambda x, holes: holes.where(x[~holes].mean(), x)),
    ("3.7", lambda x, holes: x * ~holes + holes * x[~holes].mean()),
    ("3.9", lambda a, b: (a & b) + (a ^ b) // 2),
    ("3.9", lambda a, b: ((a.float() + b) / 2).floor().cast("uint8")),
    ("3.9", lambda a, b: a // 2 + b // 2 + (a & b & 1)),
    ("3.10", life_by_rolling),
    ("3.10", lambda board: life(board).float()),
]  # fmt: skip
