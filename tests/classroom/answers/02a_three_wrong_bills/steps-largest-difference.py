# %% shared
from tinyframe import GlobalCounters, Tensor, TinyJit
import numpy as np
def on(device, formula, arrays):
    return formula(*[Tensor(a, device=device) for a in arrays]).numpy()

# %% wrong, each line
lambda formula, *arrays: 0.0  # says on neither
lambda formula, *arrays: formula(*arrays)  # says called with Tensors

# %% wrong: says can be negative
def signed(formula, *arrays):
    return (on("PYTHON", formula, arrays) - on("CPU", formula, arrays)).max()
signed

# %% wrong: says 0.5
def mean(formula, *arrays):
    return np.abs(on("CPU", formula, arrays) - on("PYTHON", formula, arrays)).mean()
mean

# %% wrong: says on the same device
def mixed_devices(formula, a, b):
    return formula(Tensor(a), Tensor(b, device="PYTHON")).numpy().max()
mixed_devices

# %% wrong: no device
def largest_difference(formula, *arrays):
    return abs(formula(*arrays) - formula(*arrays)).max()

# %% wrong: the mean, as in an L1 loss
def largest_difference(formula, *arrays):
    a, b = [formula(*[Tensor(x).to(d) for x in arrays]).numpy() for d in ("CPU", "PYTHON")]
    return np.abs(a - b).mean()

# %% wrong: Tensors on two devices
def largest_difference(formula, *arrays):
    a, b = [formula(*[Tensor(x).to(d) for x in arrays]) for d in ("CPU", "PYTHON")]
    return (a - b).abs().max().item()

# %% right: lists, and a plain float
def largest_difference(formula, *arrays):
    results = {}
    for device in ("PYTHON", "CPU"):
        results[device] = formula(*(Tensor(array, device=device) for array in arrays)).tolist()
    return max(abs(one - other) for one, other in zip(*results.values()))

# %% right: a Tensor without axes
def largest_difference(formula, *arrays):
    one, other = [formula(*[Tensor(a).to(d) for a in arrays]).to("CPU") for d in ("CPU", "PYTHON")]
    return (one - other).abs().max()
