# %% shared
from tinyframe import Tensor
import numpy as np
def rounds():
    assert Tensor([3.14159]).round(decimals=2).item() == np.float32(3.14)

# %% wrong, each line
(99, rounds)  # says numbers from 1 to
(8, "it rounds")  # says two things
8  # says two things
{8: lambda: np.testing.assert_allclose(round(Tensor([3.1416]), 2).numpy(), [3.14])}  # a dict, where the cell passes a pair (I had said right)

# %% wrong: says It passes today
def passes():
    assert Tensor([1, 2]).sum(dim=0).item() == 3
(2, passes)

# %% wrong: says doesn't come near the issue
def of_nothing():
    assert 1 == 2
(2, of_nothing)

# %% wrong: says your test that fails here
def typing_error():
    assert Tensr([1]).count_nonzero(dim=0).item() == 1  # noqa: F821
(2, typing_error)

# %% right, each line
(8, rounds)

# %% right: as PyTorch's ExponentialLR is called
my_issue = 7
def done():
    from tinyframe import nn
    w = Tensor([1.0])
    optimizer = nn.optim.SGD([w], lr=1.0)
    schedule = nn.lr.ExponentialLR(optimizer, 0.5)
    schedule.step()
    assert optimizer.lr == 0.5
