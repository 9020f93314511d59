# %% wrong, each line
lambda x: x.T  # says reversed along axis 1
lambda x: x.flip(1)  # says Rows and columns are swapped
lambda x: x.T.flip(1) + 0  # says kernel
lambda x: x.T[::-1]  # counter-clockwise
lambda x: x.t().flip(dims=(1,))  # PyTorch's name for the axes, which tinyframe hasn't (I had said right)

# %% wrong: says copies of the numbers
import numpy as np
from tinyframe import Tensor
lambda x: Tensor(np.rot90(x.numpy(), -1).copy()).realize()

# %% right, each line
lambda x: x[::-1].T  # a negative step
lambda x: x.transpose(-2, -1).flip([1])  # a list of axes
