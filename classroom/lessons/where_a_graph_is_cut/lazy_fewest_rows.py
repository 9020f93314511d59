"""How many rows one kernel takes

Hint: Which function counts kernels without running them? Call it in a loop.
Hint: `for n in range(2, 100)`, print n and `kernels(shares(n))`. Where does it change?
Because: There are as many row sums as rows. With 32 of them the rule sees enough independent
results to keep a processor busy; with 31 it stores the sums first.
Right: You've measured a limit of the cost rule, without reading its code.
"""

from classroom.ask import Wrong, count, kernels, whole_number
from tinyframe import Tensor


def check(answer) -> None:
    """The number of rows from which on a division by row sums is a single kernel."""
    if isinstance(answer, str) and answer.strip().isdecimal():
        answer = int(answer)
    answer = whole_number(answer)
    if not 2 <= answer <= 4096:
        raise Wrong("The number of rows is somewhere between 2 and 4,096.", got=answer)
    case = f"rows of shape ({answer}, 64)"
    if (found := _kernels_of_shares(answer)) != 1:
        raise Wrong("That isn't enough rows.", case, "1 kernel", count(found, "kernel"))
    if _kernels_of_shares(answer - 1) == 1:
        raise Wrong("That gives one kernel, but one row fewer does too.", case)


def _kernels_of_shares(rows: int) -> int:
    a = Tensor.zeros(rows, 64).contiguous().realize()
    return kernels(a / a.sum(axis=1, keepdim=True))

# %% wrong, each line
31  # says isn't enough rows
64  # says one row fewer does too
1  # says between 2 and 4,096
31.5  # says a whole number

# %% right, each line
32.0
