"""Four dtypes

Hint: Which of the Python numbers are ints, and which are floats?
Hint: An int stays out of the way, a float doesn't. And what do you get when you count `True`s:
could that be a bool, or a byte?
Because: One float in a list makes all of it `float`. The 1 is an int and adapts, so bytes stay
`uchar`; 0.5 is a float, and turns them into `float`. A comparison gives bools, and a sum of bools
counts: `int`.
"""

from classroom.ask import predicts
from tinyframe import Tensor


def names_of(*tensors: Tensor) -> tuple[str, ...]:
    return tuple(str(t.dtype).removeprefix("dtypes.") for t in tensors)


def dtypes_of_pixels() -> tuple[str, ...]:
    pixels = Tensor([50, 100, 200], dtype="uint8")
    return names_of(Tensor([1, 2.0]), pixels + 1, pixels * 0.5, (pixels > 99).sum())


check = predicts(dtypes_of_pixels)

# %% guesses
(
    ("float", "uchar", "float", "int"),
    ("int", "uchar", "float", "bool"),
    ("float", "int", "uchar", "uchar"),
)

# %% wrong, each line
('float32', 'uint8', 'float32', 'int64')  # PyTorch counts in int64

# %% right, each line
(float, 'uchar', float, int)  # Python's types
