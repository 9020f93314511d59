"""The same values with one kernel fewer

Hint: What does `why` say about the three?
Hint: What's the sum of all column sums? Is there a shorter way to write it?
Because: The sum of the column sums is the sum of everything. With `a.sum()` in the denominator,
only one place needs `a.sum(axis=0)`, so it's computed there.
Right: The compiler fuses the formula you wrote. Finding a better formula was up to you.
"""

from classroom.ask import fresh_sizes, fresh_tensor, runs_as, same_values, tensor_of
from classroom.lessons.where_a_graph_is_cut.shared import _left_to_the_rule


def check(answer) -> None:
    """answer(a): the values of a.sum(0) / a.sum(0).sum(), in two kernels."""
    a = fresh_tensor(*fresh_sizes(2))
    case = "`a.sum(axis=0) / a.sum(axis=0).sum()`"
    got = tensor_of(answer, a, case=case)
    _left_to_the_rule(got, case)
    runs_as(got, 2, case)
    sums = a.numpy().sum(0)
    same_values(got, sums / sums.sum(), case, shown=False)

# %% wrong, each line
lambda a: a.sum(axis=0)  # says takes 1 kernel
lambda a: a.sum(axis=1) / a.sum()  # says size
lambda a: (a.sum(axis=0) / a.sum()).contiguous()  # says CONTIGUOUS

# %% wrong: two kernels, but of shape (1, 64)
def one_less(a):
    return a.sum(axis=0, keepdim=True) / a.sum()

# %% right, each line
lambda a: (a / a.sum()).sum(axis=0)
