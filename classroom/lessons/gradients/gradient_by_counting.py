"""A gradient of n, …, 2, 1

Hint: `v.sum()` counts every element once. What would you add to it, so that `v[0]` counts once
more than the others?
Hint: `v[:2].sum()` counts the first two. Add such sums, one for each length. Or find the one
Tensor method that makes all of them at once; the next exercise has its name.
Because: The gradient of a sum is 1 for each time that an element was counted. In the running sum,
`v[0]` is in all n places, and the last element only in its own.
Right: A gradient made to order, and nothing was multiplied: you decided who counts how often.
"""

import numpy as np

from classroom.ask import describe, fresh_sizes, fresh_tensor, same_values, tensor_of
from classroom.exercise import Wrong, wrong_if
from classroom.lessons.gradients.shared import close
from tinyframe import Tensor
from tinyframe.uop import Ops

SECONDS = 60.0  # a sum for each length is right, and takes a while


MULTIPLIES = {Ops.MUL, Ops.MULACC, Ops.FDIV, Ops.RECIP, Ops.POW}


def check(answer) -> None:
    """answer(v): one number, with the gradient n, …, 2, 1 for a v of shape (n,)."""
    fixed, fresh = Tensor([5.0, 6.0, 7.0]).realize(), fresh_tensor(*fresh_sizes(1))
    for case, v in {"`v = [5, 6, 7]`": fixed, "a different length": fresh}.items():
        n = v.numel()
        total = tensor_of(answer, v, case=case)
        if total.numel() != 1:
            raise Wrong("The total has to be a single number.", case, got=describe(total))
        multiplies = sorted(u.op.name for u in total.uop.toposort() if u.op in MULTIPLIES)
        if multiplies:
            raise Wrong(f"Your graph multiplies or divides: there's {multiplies[0]} in it. Use the "
                        "elements of `v` as they are.", case)  # fmt: skip
        (got,) = total.sum().gradient(v, materialize_grads=True)
        wrong_if(close(got, np.ones(n)),
                 "Each element counts once in your total. `v[0]` should count n times.",
                 case)  # fmt: skip
        same_values(got, np.arange(n, 0, -1), f"the gradient for {case}", shown=n == 3)
        whole = float((v.numpy().astype(float) * np.arange(n, 0, -1)).sum())
        if not np.isclose(value := total.numpy().item(), whole, rtol=1e-4):
            raise Wrong("The gradient is right, but there's more in your total than elements of "
                        "`v`.", case,
                        *((whole, round(value, 4)) if case[0] == "`" else ()))  # fmt: skip

# %% wrong, each line
lambda v: v.sum()  # says counts once
lambda v: v.sum() * 3  # says multiplies or divides
lambda v: v.flip(0).cumsum(0).sum()  # says reversed
lambda v: v.cumsum(0)  # says a single number
lambda v: v.detach().cumsum(0).sum()  # says detach()
lambda v: (v.cumsum(0).sum(),)  # a tuple is no Tensor
lambda v: v.cumsum(0).sum() + 100  # has the gradient, but it's no total of elements of v

# %% right, each line
lambda v: sum(v[: k + 1].sum() for k in range(v.shape[0]))  # a sum of sums
