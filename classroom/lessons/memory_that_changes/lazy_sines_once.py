"""Each sine only once

Hint: Which value do all three expressions need? What keeps a value in memory?
Hint: One method from part 4b stores a value in the middle of an expression. After which step do
you want it?
Because: `contiguous()` asks for the waves to be stored. The first call computes and stores them,
and they stay in memory as long as some expression needs them. The other two calls read them.
Right: The first call computes each sine. The other two read what you stored.
"""

import numpy as np

from classroom.ask import Wrong, call, fresh_sizes, fresh_tensor, same_values, small_tensor
from classroom.lessons.memory_that_changes.shared import _tensors, times_computed
from tinyframe import GlobalCounters
from tinyframe.run.realize import run_schedule
from tinyframe.uop import Ops


def check(answer) -> None:
    """answer(u): three expressions, realized in turn, that compute each sine once between them."""
    for u in (small_tensor(1, 3), fresh_tensor(*fresh_sizes(1))):
        case = "`u = [[1, 2, 3]]`" if u.numel() == 3 else "a longer `u`"
        before = GlobalCounters.kernel_count
        plans = _tensors(call(answer, u), 3, "a list of three Tensors")
        if GlobalCounters.kernel_count > before:
            words = "A kernel has run already. Return expressions, and don't realize anything."
            raise Wrong(words, case)
        waves, total = np.exp(np.sin(u.numpy())), 0
        for factor, plan in zip((2, 3, 4), plans, strict=True):
            items = plan.schedule()
            total += times_computed(items, Ops.SIN)
            run_schedule(items)
            expected = (waves * factor).sum()
            same_values(plan, expected, f"{case}, times {factor}", shown=u.numel() == 3)
        if total != u.numel():
            each = total / u.numel()
            raise Wrong(f"The values are right, but each sine is computed {each:g} times.", case,
                        "each sine once", f"each sine {each:g} times")  # fmt: skip

# %% shared
def three(waves):
    return [(waves * k).sum() for k in (2, 3, 4)]

# %% wrong, each line
lambda u: three(u.sin().exp())  # says each sine 3 times
lambda u: three(u.sin().exp().realize())  # says run already
lambda u: three(u.sin().contiguous())  # says times 2
lambda u: u.sin().exp().contiguous().sum()  # says list of three

# %% right, each line
lambda u: three(u.sin().contiguous().exp())
