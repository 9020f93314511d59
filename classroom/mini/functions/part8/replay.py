"""Hint: In the first call, every parameter had an array. Which of them are out of date by now, and
which aren't?
Hint: Start from a copy of tape["memory"]. zip(tape["slots"], tensors) says whose array belongs
where now. After `call`, tape["places"] picks the result and the new state out of the list; a
Tensor's new values are UOp(Ops.BUFFER, (), Buffer(array)).
Because: Inputs and state are put where they were, and nothing else is done: no graph, no rules,
no compiler. That's why a captured step is faster, and why it can't notice that a Python number
has changed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.mini import digits
from classroom.mini.check import Wrong, describe, promise
from classroom.mini.functions.part8.shared import in_c

DEVICES = ("CRunner.__init__", "CRunner.__call__", "numbered", "call")


def steps(mini, function: Callable[..., Any], state: list[Any], inputs: list[Any]) -> list[Any]:
    with in_c(mini):
        captured = mini.jit(function, state)
        return [captured(mini.Tensor(value)) for value in inputs]


@promise(
    "New inputs give new results",
    needs=DEVICES,
    told={
        KeyError: "A kernel reads memory that isn't there. Some parameters belong neither to an "
        'input nor to the state: start from what tape["memory"] has.'
    },
)
def new_inputs(mini) -> None:
    inputs = [np.full((2,), float(n), np.float32) for n in range(1, 5)]
    ones = mini.Tensor([1.0, 1.0])  # memory that is neither an input nor state
    got = steps(mini, lambda x: (x * x + ones).realize(), [], inputs)
    for n, (value, out) in enumerate(zip(inputs, got, strict=True), 1):
        if not isinstance(out, mini.Tensor):
            raise Wrong("A captured call gives a Tensor, as the function does.",
                        f"call {n} of jit(x * x + 1)", "a Tensor", describe(out))  # fmt: skip
        if not np.allclose(out.numpy(), value * value + 1):
            text = (
                "The first input was used again."
                if np.allclose(out.numpy(), 2)
                else "The result is wrong."
            )
            raise Wrong(text, f"call {n}: x * x + 1 for x = {value[0]:g}",
                        f"{value[0] ** 2 + 1:g}", f"{out.numpy()[0]:g}")  # fmt: skip


@promise("State goes on from where it was", needs=DEVICES, seconds=30)
def state_goes_on(mini) -> None:
    total = mini.Tensor([0.0])

    def add(x: Any) -> Any:
        total.uop = (total + x).uop
        out = x * 2
        total.realize(out)  # the state first, so the result is the second of these
        return out

    kept = total
    got = steps(mini, add, [total], [np.full((1,), n, np.float32) for n in range(1, 6)])
    if kept.uop.op is not mini.Ops.BUFFER:
        raise Wrong("After a captured call, a Tensor of the state should be realized.")
    if not np.allclose(total.numpy(), 15):
        text = "The state has to change with each call, and each call starts from the last one."
        raise Wrong(text, "total = total + x, for x = 1, 2, 3, 4, 5", "15", f"{total.numpy()[0]:g}")
    if not np.allclose([out.numpy()[0] for out in got], [2, 4, 6, 8, 10]):
        raise Wrong("The result of the function and the new state were mixed up.",
                    "(x * 2) for x = 1, 2, 3, 4, 5", "2, 4, 6, 8, 10",
                    ", ".join(f"{out.numpy()[0]:g}" for out in got))  # fmt: skip


@promise("A training is the same, step for step", needs=DEVICES, seconds=30)
def training(mini) -> None:
    dice = np.random.default_rng(3)
    x, y = dice.standard_normal((12, 8, 3)).astype(np.float32), dice.standard_normal((12, 8, 1))
    start = dice.standard_normal((3, 1))
    found = []
    for is_captured in (False, True):
        w = mini.Tensor(start)
        adam = mini.Adam([w], lr=0.05)

        def step(x: Any, y: Any, w: Any = w, adam: Any = adam) -> Any:
            error = x @ w - y
            return adam.step((error * error).mean())

        with in_c(mini):
            pairs = [(mini.Tensor(a), mini.Tensor(b)) for a, b in zip(x, y, strict=True)]
            tensors = digits.tensors_of(adam)
            before = [tensor.uop for tensor in tensors]
            losses = [float(step(*pairs[0]).numpy())]  # shows which Tensors a step changes
            state = [t for t, old in zip(tensors, before, strict=True) if t.uop is not old]
            function = mini.jit(step, state) if is_captured else step
            losses += [float(function(*pair).numpy()) for pair in pairs[1:]]
        found.append([*losses, *w.numpy().ravel()])
    names = [f"The loss of step {n}" for n in range(1, 13)] + ["A weight after that"] * start.size
    for name, one, other in zip(names, *found, strict=True):
        if not np.isclose(one, other, rtol=1e-4):
            raise Wrong(f"{name} is different when the step is captured.", "twelve steps of Adam",
                        f"{one:.5f}", f"{other:.5f}")  # fmt: skip

# %% wrong: says gives a Tensor
def replay(tape, tensors, state, device):
    return None

# %% wrong, changed: says used again
# -         memory[slot] = tensor.uop.arg.data
# +         pass

# %% wrong, changed: says start from what tape
# -     memory = dict(tape["memory"])
# +     memory = {}

# %% wrong, changed: says starts from the last one
# -         tensor.uop = node
# +         pass

# %% wrong, changed: says were mixed up
# -     return Tensor(out)
# +     return Tensor(results[0])

# %% wrong: says should be realized
def replay(tape, tensors, state, device):
    memory = dict(tape["memory"])
    for slot, tensor in zip(tape["slots"], tensors, strict=True):
        memory[slot] = tensor.uop.arg.data
    results = call(tape["sink"], memory, device)
    out, *changed = (Tensor(results[place]) for place in tape["places"])
    for tensor, new in zip(state, changed, strict=True):
        tensor.uop = (new + 0.0).uop
    return out

# %% wrong, changed: says is different when the step is captured
# -     for tensor, node in zip(state, changed, strict=True):
# +     for tensor, node in zip(state[:1], changed[:1], strict=True):

# %% right
def replay(tape, tensors, state, device):
    fresh = {slot: t.numpy() for slot, t in zip(tape["slots"], tensors) if slot is not None}
    results = call(tape["sink"], tape["memory"] | fresh, device)
    first, *rest = tape["places"]
    for n, place in enumerate(rest):
        state[n].uop = Tensor(results[place]).uop
    return Tensor(results[first])
