"""What the second witness says

Hint: Which of these does the `PYTHON` device do without: the stages of the compiler, or the C?
Hint: In the C above, the product is cut off already. Who wrote that C?
Because: The same wrong bills. `PYTHON` needs no C, but it gets its kernels from the same stages
of the compiler. The `(int)` in the C was a hint: the C compiler only did what it was told. So C,
its compiler and the processor are cleared, and it's one of the stages.
"""

from classroom.ask import (
    predicts,
)
from classroom.lessons.three_wrong_bills.shared import bills, shop
from classroom.sabotage import healthy, sabotage


def bills_of_python() -> str:
    """What the second witness says while the compiler is sabotaged."""
    with healthy():
        right = bills(*shop("PYTHON")).tolist()
        with sabotage():
            on_cpu, in_python = (bills(*shop(device)).tolist() for device in ("CPU", "PYTHON"))
    return "right" if in_python == right else "same" if in_python == on_cpu else "other"


check = predicts(bills_of_python, "right", "same", "other")

# %% guesses
("same", "right", "other")

# %% asked again, each line
'wrong'  # not one of the three words

# %% right, each line
'SAME'  # capital letters
