"""Part 3: what somebody might answer, and what they are told."""

from __future__ import annotations

import numpy as np

from tinyframe import Tensor

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = set()

# for each prediction what is right, and what somebody might think
GUESSES = {
    "3.1": (("int", "float", "long"), ("int", "float", "int"), ("long", "double", "long")),
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
        ("char", "float", "half", "int"),
        ("int", "float", "float", "int"),
        ("char", "half", "half", "bool"),
    ),
}


def primes(n, smallest=1, divisors=2):
    numbers = Tensor.arange(n)
    return (numbers % Tensor.arange(smallest, n + 1)[:, None] == 0).sum(axis=0) == divisors


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
    ("3.6", lambda n: Tensor([k in (2, 3, 5, 7, 11) for k in range(n)]), "list"),
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
