"""Part 2: what somebody might answer, and what they are told."""

from __future__ import annotations

from tinyframe import Tensor

# exercises that ask for an object, and not for a function
OBJECTS = {"2.1"}

# for each prediction what is right, and what somebody might think
GUESSES = {
    "2.2": (("int", "float", "half"), ("bool", "int", "half"), ("int", "float", "float")),
    "2.3": ((0, 1, 0, 1), (2, 0, 0, 2), (0, 2, 0, 2), (0, 1, 1, 1)),
}

# number of an exercise, a wrong answer, what is said about it
WRONG = [
    ("2.1", Tensor.arange(4) % 2, "shape"),
    ("2.1", Tensor.arange(4).reshape(4, 1).expand(4, 4) % 2, "chessboard"),
    ("2.1", Tensor([[0, 1, 0, 1], [1, 0, 1, 0]] * 2), "list"),
    ("2.4", lambda x: x[:, 1], "values"),
    ("2.4", lambda x: x[:, -1].flip(0), "Every value is 1 too large"),
    ("2.4", lambda x: x[:, 1].flip(0) + 0, "kernel"),
]
