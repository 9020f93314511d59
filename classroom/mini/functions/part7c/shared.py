"""Stage 7c: split, upcast, vector and reorder keep all values, and change the loops as they say."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.mini.check import Wrong, describe
from classroom.mini.functions.part7b.shared import execute, kernels_of, machine_code, tensor

# What is computed from `a`, of shape (12, 8), and `b`, of shape (8, 16).
KERNELS: dict[str, Callable[[Any, Any], Any]] = {
    "a * 2": lambda a, b: a * 2,
    "a.permute(1, 0) + 1": lambda a, b: a.permute(1, 0) + 1,
    "a.sum(1)": lambda a, b: a.sum(1),
    "a @ b": lambda a, b: a @ b,
}


class Case:
    """A kernel's program, and what calling it should give."""

    def __init__(self, mini, said: str) -> None:
        graph = KERNELS[said](tensor(mini, 12, 8), tensor(mini, 8, 16)).uop
        ((kernel, _),) = kernels_of(mini, graph)
        self.said, self.mini = said, mini
        self.program, arguments = mini.lower(kernel)
        self.wanted = kernel.memory.arg.data
        self.read = [memory.arg.data for memory in arguments[1:]]

    def expect(self, call: str, program: Any, in_c: bool = False) -> None:
        """Wrong unless a program computes the same."""
        mini = self.mini
        if not isinstance(program, mini.UOp):
            raise Wrong(f"{call} should give a program, the SINK of a graph.", call, "a UOp",
                        describe(program))  # fmt: skip
        out = np.full(self.wanted.shape, np.nan, np.float32)
        lines = mini.linearize(program)
        if in_c:
            function = machine_code(call, *mini.render(lines))
            function(*(ctypes.c_void_p(array.ctypes.data) for array in [out, *self.read]))
        else:
            try:
                execute(mini, lines, [out, *self.read])
            except (IndexError, TypeError, KeyError) as error:
                raise Wrong(f"{call} gives a program that can't run: {error}.", call) from error
        if np.isnan(out).any():
            missing = f"{int(np.isnan(out).sum())} of {out.size}"
            raise Wrong(f"{call}: {missing} elements are never stored.", call)
        if not np.allclose(out, self.wanted, rtol=1e-3, atol=1e-4):
            place = tuple(int(i) for i in np.argwhere(~np.isclose(out, self.wanted, 1e-3, 1e-4))[0])
            raise Wrong(f"{call} changes what is computed: element {place} should be "
                        f"{self.wanted[place]:.4g}, and it is {out[place]:.4g}.", call)  # fmt: skip


def sizes(mini, program: Any) -> dict[int, int]:
    """{number: size} of the counters of a program."""
    ranges = [node for node in program.toposort() if node.op is mini.Ops.RANGE]
    return dict(sorted(node.arg[:2] for node in ranges))
