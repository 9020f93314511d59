"""Which rows are wrong?

Hint: For each suspect you need two arrays: what the table says, and what you measure. When do you
call them the same?
Hint: `f(Tensor(x)).sum()` has a gradient, and your examiner takes `lambda v:
f(Tensor(v)).sum().item()`. `np.allclose(…, rtol=0.01)` compares the two, and is False for a
`nan`.
Because: Every suspect is measured, and the measurement knows nothing of the table. A tolerance of
a percent lets rounding pass and stops a row that is 5% off. `np.allclose` never calls a `nan`
close to anything.
Right: Every wrong row found, and nobody accused without reason.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.ask import Wrong, call, describe, wrong_if
from classroom.lessons.gradients.shared import in_front
from tinyframe import Tensor
from tinyframe.rewrite.matcher import UPat
from tinyframe.uop import Ops

SECONDS = 60.0


# the one op of each suspect, and a row that is wrong
BAD_ROWS: dict[str, tuple[UPat, Callable[..., Any]]] = {
    "sin": (UPat(Ops.SIN, src=(UPat.var("x"),)), lambda grad, x: (grad * x.cos() * 1.05,)),
    "sqrt": (UPat(Ops.SQRT, name="z"), lambda grad, z: (grad / z,)),
    "exp2": (UPat(Ops.EXP2, name="z"), lambda grad, z: (grad * z,)),
    "log2": (UPat(Ops.LOG2, src=(UPat.var("x"),)), lambda grad, x: (grad * (-x).log2(),)),
    "reciprocal": (UPat(Ops.RECIP, name="z"), lambda grad, z: (grad * z * z,)),
}


def check(answer) -> None:
    """answer(suspects, x): the names of those whose row of the table is wrong."""
    suspects = {name: getattr(Tensor, name) for name in BAD_ROWS}
    lineups = [("sqrt",), ("exp2", "reciprocal"), (), ("sin",), ("log2",), tuple(BAD_ROWS)]
    for planted in lineups:
        x = (
            np.array([0.7, 1.3])
            if planted == ("sqrt",)
            else np.random.default_rng().random(5) + 0.5
        )
        case = f"wrong rows: {', '.join(planted) or 'none'}"
        with in_front(*(BAD_ROWS[name] for name in planted)):
            named = _names(call(answer, dict(suspects), x), suspects, case)  # of a generator, too
        missed = [name for name in planted if name not in named]
        framed = [name for name in suspects if name in named and name not in planted]
        if framed:
            raise Wrong(f"You accuse {framed[0]}, whose row is fine. A measurement is never exact. "
                        "How large a difference do you allow?", case)  # fmt: skip
        wrong_if(missed == ["log2"], "The row of log2 gives `nan` here, and you let it pass. Is "
                 "your comparison ever true for a `nan`?", case)  # fmt: skip
        wrong_if(missed == ["sin"], "The row of sin is 5% too large, and you let it pass.", case)
        if missed:
            raise Wrong(f"You let {missed[0]} go, and its row is wrong.", case)


def _names(value: Any, suspects: Any, case: str) -> set[str]:
    """The names in a list, a tuple, a set or a generator, or a single one; Wrong for anything
    else."""
    value = [value] if isinstance(value, str) and value in suspects else value
    if not isinstance(value, (str, bool, int, float, type)):
        try:
            names = list(value)
        except TypeError:
            names = [None]
        if all(isinstance(name, str) and name in suspects for name in names):
            return set(names)
    raise Wrong("The answer has to be a list of names out of `suspects`.", case,
                got=describe(value))  # fmt: skip

# %% shared
import numpy as np
from tinyframe import Tensor, nn
def tells(suspects, x, is_bad):
    """The guilty, by a comparison of the table's slopes with measured ones."""
    found = []
    for name, f in suspects.items():
        t = Tensor(x)
        table = f(t).sum().gradient(t)[0].numpy()
        measured = (f(Tensor(x + 1e-4)).numpy() - f(Tensor(x - 1e-4)).numpy()) / 2e-4
        if is_bad(table, measured):
            found.append(name)
    return found

# %% wrong, each line
lambda suspects, x: []  # says let sqrt go
lambda suspects, x: ["sqrt"]  # says accuse sqrt
lambda suspects, x: ["square"]  # says names out of `suspects`

# %% wrong: says `nan`
def nan_passes(suspects, x):
    return tells(suspects, x, lambda a, b: abs(np.where(np.isinf(a), np.nan, a) - b).max() > 0.01)
nan_passes

# %% wrong: says 5% too large
def too_lenient(suspects, x):
    return tells(suspects, x, lambda a, b: not np.allclose(a, b, rtol=0.2))
too_lenient

# %% right: a generator
def guilty(suspects, x):
    for name, f in suspects.items():
        t = Tensor(x)
        m = (f(Tensor(x + 1e-4)) - f(Tensor(x - 1e-4))).numpy() / 2e-4
        if not np.allclose(f(t).sum().gradient(t)[0].numpy(), m, rtol=1e-2):
            yield name
