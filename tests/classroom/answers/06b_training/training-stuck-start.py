# %% shared
from tinyframe import Tensor, nn

# %% wrong, each line
lambda hidden: Tensor.ones(2, hidden)  # says three Tensors
lambda h: (Tensor.randn(2, h), Tensor.randn(h), Tensor.randn(h, 1))  # random, as it should be
lambda h: (Tensor.ones(2, h), Tensor.zeros(h), Tensor.ones(h, 1))  # zeros
lambda h: (Tensor.full((2, h), 50.0), Tensor.full((h,), 900.0), Tensor.full((h, 1), 0.5))  # copies, but so far out that they never move

# %% wrong: says differ from one another
def ones_with_different_ends(hidden):
    ends = Tensor([[0.5 + k] for k in range(hidden)])
    return Tensor.ones(2, hidden), Tensor.ones(hidden), ends
ones_with_different_ends

# %% wrong: says has a 0 in it
def with_zeros(hidden):
    return Tensor.zeros(2, hidden), Tensor.ones(hidden), Tensor.ones(hidden, 1)
with_zeros

# %% wrong: says nothing moves at all
def far_out(hidden):
    return Tensor.full((2, hidden), 1e4), Tensor.full((hidden,), 1e6), Tensor.ones(hidden, 1)
far_out

# %% wrong: says wrong shape
def transposed_start(hidden):
    return Tensor.ones(hidden, 2), Tensor.ones(hidden), Tensor.ones(hidden, 1)
transposed_start

# %% wrong: says isn't finite
def infinite(hidden):
    return Tensor.ones(2, hidden) / 0, Tensor.ones(hidden), Tensor.ones(hidden, 1)
infinite

# %% right: the rows differ, the columns don't; a view
def stuck_start(hidden):
    column = Tensor([[0.5], [-0.25]]).expand(2, hidden)
    return column, Tensor.full((hidden,), 0.1), Tensor.full((hidden, 1), 0.3)

# %% right: random, and the same for all: views of one draw
def stuck_start(hidden):
    one = Tensor.randn(2, 1), Tensor.randn(1), Tensor.randn(1, 1)
    return one[0].expand(2, hidden), one[1].expand(hidden), one[2].expand(hidden, 1)
