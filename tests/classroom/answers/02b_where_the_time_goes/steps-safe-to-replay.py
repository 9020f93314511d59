# %% shared
import numpy as np
from tinyframe import GlobalCounters, Tensor, TinyJit
from tinyframe.jit.jit import JitError
def same(function, fast, x):
    return np.array_equal(fast(x).numpy(), function(x).numpy())

def always_tried(function, inputs):
    fast = TinyJit(function)
    return all(same(function, fast, x) for x in inputs)

# %% wrong, each line
lambda function, inputs: True  # says has to be False
always_tried  # says raised JitError
lambda function, inputs: [function(x) for x in inputs]  # says True or False

# %% wrong: one call is no replay
def safe(function, inputs):
    try:
        TinyJit(function)(inputs[0])
        return True
    except JitError:
        return False

# %% wrong: one call, and a Tensor for a bool
def safe(function, inputs):
    fast = TinyJit(function)
    try:
        return (fast(inputs[-1]) == function(inputs[-1])).all()
    except JitError:
        return False

# %% right: all the expected ones first: but a counter then counts on, and differs at once
def safe(function, inputs):
    fast = TinyJit(function)
    expected = [function(x).numpy() for x in inputs]
    try:
        return all((fast(x).numpy() == e).all() for x, e in zip(inputs, expected))
    except JitError:
        return False

# %% right: compared as Tensors; item gives a bool
def safe(function, inputs):
    fast = TinyJit(function)
    try:
        return all((fast(x) == function(x)).all().item() for x in inputs)
    except JitError:
        return False
