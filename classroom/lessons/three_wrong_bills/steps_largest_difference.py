"""Two devices, one answer

Hint: `Tensor(array, device="PYTHON")` puts numbers on the PYTHON device. What do you do with the
two results?
Hint: Call `.numpy()` on both and subtract. A difference can be negative: which NumPy function
helps before `max`?
Because: Only the device is different between the two calls. A difference can be in either
direction, so it is its size that counts, and the worst element decides.
Right: Now you can run any formula on both devices, and see how far apart they are.
"""

import numpy as np

from classroom.ask import Wrong, call, describe, same_number
from classroom.sabotage import healthy
from tinyframe import Tensor


class Formula:
    """A formula for a check: it remembers the devices that it was called on. On PYTHON its results
    are `wrong_by` more than they should be, one after another."""

    def __init__(self, *wrong_by: float) -> None:
        self.wrong_by, self.devices = wrong_by, set[str]()

    def __call__(self, x: Tensor, y: Tensor) -> Tensor:
        for tensor in (x, y):
            if not isinstance(tensor, Tensor):
                raise Wrong("`formula` has to be called with Tensors.", got=describe(tensor))
        if x.device != y.device:
            devices = f"{x.device} and {y.device}"
            raise Wrong("Both Tensors have to be on the same device.", got=devices)
        self.devices.add(x.device)
        wrong_by = np.array(self.wrong_by if x.device == "PYTHON" else [0.0] * len(self.wrong_by))
        return x * y + Tensor(wrong_by.astype(np.float32), device=x.device)


@healthy()
def check(answer) -> None:
    """answer(formula, *arrays): how far CPU and PYTHON are apart, at most."""
    a, b = np.array([1, 2, 3], np.float32), np.array([10, 20, 30], np.float32)
    cases = {
        "both devices agree": (0.0, 0.0, 0.0),
        "PYTHON gives 0.5 more for the second of three numbers": (0.0, 0.5, 0.0),
        "PYTHON gives 2 less for the last of three numbers, and 0.5 more for the first":
            (0.5, 0.0, -2.0),
    }  # fmt: skip
    for case, wrong_by in cases.items():
        formula = Formula(*wrong_by)
        got = call(answer, formula, a, b)
        if isinstance(got, (Tensor, np.ndarray)) and got.shape == ():
            got = got.item()
        if formula.devices != {"CPU", "PYTHON"}:
            raise Wrong("`formula` has to be called on CPU and on PYTHON.", case,
                        got="it was called on "
                        f"{', '.join(sorted(formula.devices)) or 'neither'}")  # fmt: skip
        largest = max(map(abs, wrong_by))
        signed = {max(wrong_by), -min(wrong_by)} - {largest}
        if isinstance(got, (float, np.floating)) and float(got) in signed:
            raise Wrong("A difference can be negative: take `np.abs` before you look for the "
                        "largest.", case, f"{largest:g}", f"{got:g}")  # fmt: skip
        same_number(got, largest, case)

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

# %% wrong: Tensors on two devices
def largest_difference(formula, *arrays):
    a, b = [formula(*[Tensor(x).to(d) for x in arrays]) for d in ("CPU", "PYTHON")]
    return (a - b).abs().max().item()

# %% right: a Tensor without axes
def largest_difference(formula, *arrays):
    one, other = [formula(*[Tensor(a).to(d) for a in arrays]).to("CPU") for d in ("CPU", "PYTHON")]
    return (one - other).abs().max()
