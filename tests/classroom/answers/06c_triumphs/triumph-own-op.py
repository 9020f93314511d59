# %% shared
import numpy as np
from classroom.mini import triumphs
def tanh_row(grad, node, x):
    return (grad * (1 - node * node),)

# %% wrong, each line
(np.exp, tanh_row, triumphs.central)  # says mini can do that already
(lambda v: 3 * v, tanh_row, triumphs.central)  # says a straight line
(np.cumsum, tanh_row, triumphs.central)  # says element by element
(np.sum, tanh_row, triumphs.central)  # says the same shape
(lambda v: np.log(-v), tanh_row, triumphs.central)  # says defined between 0 and 1
np.tanh  # says three functions

# %% wrong: says doesn't agree with your row
def tanh_row_of_x(grad, node, x):
    return (grad * (1 - x * x),)
(np.tanh, tanh_row_of_x, triumphs.central)

# %% wrong: says returns a tuple
def bare_row(grad, node, x):
    return grad * (1 - node * node)
(np.tanh, bare_row, triumphs.central)

# %% wrong: says wrong itself
def biased(f, x, eps):
    return triumphs.central(f, x, eps) * 2
(np.tanh, tanh_row, biased)

# %% wrong: right at 0 and at 1 only
forward = lambda v: v**3
row = lambda grad, node, x: (grad * 3 * x,)
numerical = lambda f, x, eps=1e-2: np.array(
    [(f(x + e) - f(x - e)) / (2 * eps) for e in eps * np.eye(len(x))])

# %% wrong: forgets grad: it's the slope alone
import numpy as np

def numerical(f, x, eps=1e-2):
    return np.array([(f(x + e) - f(x - e)) / (2 * eps) for e in eps * np.eye(len(x))])

forward = np.tanh
row = lambda grad, node, x: (1 - node * node,)

# %% wrong: not element by element
import numpy as np

def numerical(f, x, eps=1e-2):
    return np.array([(f(x + e) - f(x - e)) / (2 * eps) for e in eps * np.eye(len(x))])

forward = lambda v: np.cumsum(v)
row = lambda grad, node, x: (grad,)

# %% wrong: an examiner that knows the answer
forward = np.tanh
row = lambda grad, node, x: (grad * (1 - node * node),)
numerical = lambda f, x, eps=1e-2: 1 - np.tanh(x) ** 2

# %% wrong: says gradient has the wrong shape
def row_of_a_row(grad, node, x):
    return ((grad * (1 - node * node)).reshape(1, *x.shape),)
(np.tanh, row_of_a_row, triumphs.central)

# %% right: a cube; a list for a tuple
forward = lambda v: v**3
row = lambda grad, node, x: [grad * 3 * x * x]
numerical = lambda f, x, eps=1e-2: np.array(
    [(f(x + e) - f(x - e)) / (2 * eps) for e in eps * np.eye(len(x))])

# %% right: a hyperbolic sine
def forward(values):
    return np.sinh(values)

def row(grad, node, x):
    return (grad * (x.exp() + (-x).exp()) / 2,)

def numerical(f, x, eps=1e-2):
    return np.array([f(x + e) - f(x - e) for e in np.diag([eps] * len(x))]) / (2 * eps)
