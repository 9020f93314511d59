"""Stage 8: lines as machine code and in Python, numbered graphs, and a captured step."""

from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

import numpy as np

from classroom.exercise import Wrong
from classroom.mini.functions.part7b.shared import CASES, SUMS, kernels_of, tensor

SHAPE = (3, 4)


def in_c(mini) -> AbstractContextManager[Any]:
    """Inside, Tensors are computed by CRunner; whatever happens there, afterwards as before."""
    return mock.patch.object(mini.Tensor, "run", mini.run_on(mini.CRunner))


def expect_device(mini, device: Any, name: str, said: str, graph: Any) -> None:
    """Wrong unless a device computes every kernel of a graph as the interpreter does."""
    for kernel, _ in kernels_of(mini, graph):
        program, arguments = mini.lower(kernel)
        call = f"{name}(lines of {said})"
        runner = device(mini.linearize(program))
        wanted = kernel.memory.arg.data
        for attempt in ("first", "second"):
            out = np.full(wanted.shape, np.nan, np.float32)
            runner(out, *(memory.arg.data for memory in arguments[1:]))
            if np.isnan(out[~np.isnan(wanted)]).all() and out.size:
                raise Wrong(f"{call} leaves the result as it was: nothing is stored.", call)
            if not np.allclose(out, wanted, rtol=1e-3, atol=1e-4, equal_nan=True):
                differs = ~np.isclose(out, wanted, rtol=1e-3, atol=1e-4, equal_nan=True)
                place = tuple(int(i) for i in np.argwhere(differs)[0])
                text = f"Element {place} should be {wanted[place]:.4g}, and it is {out[place]:.4g}"
                again = " when the runner is called a second time" * (attempt == "second")
                raise Wrong(f"{text}{again}.", call, f"{wanted[place]:.4g}", f"{out[place]:.4g}")


def several(mini) -> list[tuple[str, Any]]:
    a, b = tensor(mini, *SHAPE), tensor(mini, *SHAPE)
    chosen = ("a * 2", "a + b", "(a + 1).pad((0, 1), (1, 0)) * 3")
    found = [(said, CASES[said](a, b).uop) for said in chosen]
    return found + [(said, make(a, b).uop) for said, make in SUMS.items()]


def sink(mini, *tensors: Any) -> Any:
    return mini.UOp(mini.Ops.SINK, tuple(t.uop for t in tensors))
