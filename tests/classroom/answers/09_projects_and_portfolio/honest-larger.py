# %% shared
from classroom.toys.files import FORGED, HARD_CODED, UNDER_ANOTHER_NAME

# %% wrong, each line
HARD_CODED  # says has shape (3,), not (5,)
FORGED  # says could not be loaded
'def larger(a, b):\n    return Tensor.where(a > b, a, b)'  # as in PyTorch, but nobody has imported Tensor

# %% right, each line
'def larger(a, b):\n    return a + (b - a).relu()'  # relu, which is no MAX here

# %% right
ONE_LINE = "larger = lambda a, b: (a < b).where(b, a)"
ONE_LINE
