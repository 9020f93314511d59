"""Hint: What does a kernel need before it can run, and where do later kernels find what it made?
Hint: For each kernel: np.empty(result.shape, np.float32) goes into the dict, under the parameter
of its result. Then call the runner with the arrays of its arguments, starred. In the end, look up
the results.
Because: The kernels are in an order in which everything is there before it's read, and the dict
is all the memory there is.
"""

from typing import Any

import numpy as np

from classroom.mini.check import Wrong, describe, promise, wrong_if
from classroom.mini.functions.part7b.shared import tensor
from classroom.mini.functions.part8.shared import SHAPE, sink


def called(mini, device: Any, *tensors: Any) -> Any:
    graph, arrays = mini.numbered(sink(mini, *tensors))
    return mini.call(graph, dict(arrays), device)


@promise("Kernels run in order, each into memory of its own",
         needs=("numbered", "PythonRunner.__call__"))  # fmt: skip
def kernels_in_order(mini) -> None:
    a, b = tensor(mini, *SHAPE), tensor(mini, *SHAPE)
    x, y = a.numpy().copy(), b.numpy().copy()
    for said, made, wanted in (
        ("a + b", (a + b,), (x + y,)),
        ("a", (a,), (x,)),
        ("a + b and a * b", (a + b, a * b), (x + y, x * y)),
        ("a - a.max(1), then its sum", ((a - a.max(1, keepdim=True)).sum(0),),
         ((x - x.max(1, keepdims=True)).sum(0),)),
    ):  # fmt: skip
        got = called(mini, mini.PythonRunner, *made)
        wrong_if(not isinstance(got, list) or len(got) != len(wanted),
                 f"call gives a list with an array for each result: here {len(wanted)}.",
                 f"call(numbered({said}), …)", f"{len(wanted)} arrays", describe(got))  # fmt: skip
        if not (np.array_equal(x, a.numpy()) and np.array_equal(y, b.numpy())):
            raise Wrong("An input was overwritten. Each result gets memory of its own.",
                        f"call(numbered({said}), …)")  # fmt: skip
        for one, other in zip(got, wanted, strict=True):
            if np.shape(one) != other.shape:
                raise Wrong("The result has a different shape.", f"call(numbered({said}), …)",
                            str(other.shape), str(np.shape(one)))  # fmt: skip
            if np.asarray(one).dtype != np.float32:
                text = "C will write 32-bit floats, so the array has to be made for them."
                raise Wrong(text, f"call(numbered({said}), …)", "float32", str(one.dtype))
            if not np.allclose(one, other, rtol=1e-4, atol=1e-5):
                raise Wrong("The values are different.", f"call(numbered({said}), …)")

# %% wrong: says a list with an array for each result
def call(sink, memory, device):
    return []

# %% wrong, changed: says C will write 32-bit floats
# -         memory[result] = np.empty(result.shape, np.float32)
# +         memory[result] = np.empty(result.shape)

# %% wrong, changed: says An input was overwritten
# -         memory[result] = np.empty(result.shape, np.float32)
# +         memory[result] = next(iter(memory.values()))

# %% wrong, changed: says The values are different
# -     return [memory[result] for result in results]
# +     return [memory[result] for result in reversed(results)]

# %% wrong, changed: says The result has a different shape
# -         memory[result] = np.empty(result.shape, np.float32)
# +         memory[result] = np.empty(result.shape, np.float32).ravel()

# %% wrong, changed: says is one plan, used a hundred times
# -     kernels, results = plan(sink, device)
# +     kernels, results = plan(sink, lambda lines: device(lines))

# %% wrong: says x * 0.5 + 1 a hundred times comes to 2
known = {}

def call(sink, memory, device):
    """The same graph, so the same results."""
    kernels, results = plan(sink, device)
    for function, result, arguments in kernels:
        memory[result] = np.empty(result.shape, np.float32)
        function(*(memory[parameter] for parameter in arguments))
    return known.setdefault(sink, [memory[result] for result in results])

# %% right: all memory first, and nobody's dict is changed
def call(sink, memory, device):
    kernels, results = plan(sink, device)
    memory = {**memory, **{m: np.zeros(m.arg[1], "f4") for _, m, _ in kernels}}
    for function, _, arguments in kernels:
        function(*map(memory.get, arguments))
    return list(map(memory.__getitem__, results))
