"""Part 1: what somebody might answer, and what they are told."""

from __future__ import annotations

import numpy as np

from tinyframe import Variable

# exercises that ask for an object, and not for a function
OBJECTS = {"1.7"}

# for each prediction what is right, and what somebody might think
GUESSES = {
    "1.1": (0, 1, 2),
    "1.2": (0, 1, 2),
    "1.3": (1, 2, 3),
    "1.4": ((24, 8), (20, 8), (12, 4), (8, 24)),
    "1.5": ("+0.002", "-0.002", "+0.02"),
    "1.6": (3708, 103, 36, 3709),
    "1.8": ("grow", "fall", "stay"),
}


def times_itself(x):
    return x.reshape(-1, 1, 1) * x.reshape(1, -1, 1) * x.reshape(1, 1, -1)


def other_axes(x):
    return x.reshape(1, 1, -1) * x.reshape(1, -1, 1) + x.reshape(-1, 1, 1)


def flat(x):
    return x * x + x


def only_for_three(x):
    x = x[:3]
    return x.reshape(-1, 1, 1) * x.reshape(1, -1, 1) + x.reshape(1, 1, -1)


def computed(x):
    return other_axes(x[:3]).realize()


# number of an exercise, a wrong answer, what is said about it
WRONG = [
    ("1.7", 0.75, "sign is wrong"),
    ("1.7", "-3/4", "a number"),
    ("1.7", np.float32(0.75), "sign is wrong"),
    ("1.7", 0.5, "x = 3, y = 2"),
    ("1.9", lambda v: (v + v + v, lambda v: v * 3), "does not match"),
    ("1.9", lambda v: (v * 2 + v, lambda v: v * 4), "a different value"),
    ("1.9", lambda v: (v * 2 + v, lambda v: v + v * 2), "Its value is right"),
    ("1.9", lambda v: v * 2 + v, "a tuple of two"),
    ("1.9", lambda v: (Variable("i", 0, 7) * 3, lambda v: v * 3), "write it with `v`"),
    ("1.9", lambda v: (v * 2 + v, v * 3), "is a function"),
    ("1.10", times_itself, "[0, 0, 0] should be `x[0] * x[0] + x[0]`"),
    ("1.10", other_axes, "[0, 0, 1] should be"),
    ("1.10", flat, "three axes of 3"),
    ("1.10", only_for_three, "not for a million"),
    ("1.10", computed, "computes something already"),
]
