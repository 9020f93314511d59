"""Each column minus its mean

Hint: Along which axis do you have to add up to get one number for each column?
Hint: `x.mean(axis=0)` has one number for each column. Can you subtract it from `x` as it is?
Because: `x.mean(axis=0)` goes down the rows and leaves one number for each column, with shape
(columns,). Sizes are compared from the right, so it meets the columns of `x`.
Right: Every column now has mean 0. This is the first half of what BatchNorm does.
"""

from classroom.ask import fresh_sizes, fresh_tensor, same_values, small_tensor, tensor_of


def check(answer) -> None:
    """answer(x): each column minus its mean."""
    for x in (small_tensor(2, 3), fresh_tensor(*fresh_sizes(2))):
        small = x.numel() == 6
        case = "`x = [[1, 2, 3], [4, 5, 6]]`" if small else "a different shape"
        values = x.numpy().copy()  # what the answer does to x is its own affair
        got = tensor_of(answer, x, case=case)
        shifted = values - values.mean(axis=0)
        mistakes = {
            "You subtracted the mean of each row. The columns have means of their own.":
                values - values.mean(axis=1, keepdims=True),
            "You subtracted the mean of the whole table. Each column has a mean of its own.":
                values - values.mean(),
            "You also divided by the standard deviation. Here the columns are only to be shifted.":
                shifted / values.std(axis=0, ddof=1),
        }  # fmt: skip
        same_values(got, shifted, case, small, mistakes)

# %% wrong, each line
lambda x: x - x.mean()  # says mean of the whole table
lambda x: x.mean(axis=0)  # says has 1 axis
lambda x: x - x.mean(axis=1)  # says raised ShapeError
lambda x: (x - x.mean(0)) / x.std(0)  # all of BatchNorm
lambda x: x.zero_()  # each column's mean is 0 now, true enough

# %% right, each line
lambda x: x - x.sum(0) / len(x)  # the mean by hand
