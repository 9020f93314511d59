"""Questions about expressions, answered by tinyframe: only the judge has these.

Nothing here is sent to where a submission runs, nor given to students: see recorded.py.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from classroom.grader.expressions import Expression
from tinyframe import Context, GlobalCounters, Tensor, dtypes
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop.node import Ops

LINE_OPS = ("LOAD", "STORE", "ADD", "MUL", "RELU", "SUM")


def kernels(build: Expression) -> int:
    """How many kernels realizing it takes."""
    return _kernels(build.function()())


def last_op(build: Expression) -> str:
    """The name of the op that its graph ends with, movement aside."""
    return build.function()().uop.base.op.name


def ops(build: Expression) -> list[str]:
    """The names of all ops in its graph."""
    return sorted({u.op.name for u in build.function()().uop.toposort()})


def estimates(build: Expression) -> list[tuple[str, int, int]]:
    """(source, bytes, operations) of each kernel that realizing it takes."""
    asts = [item.ast for item in build.function()().schedule() if item.ast.op is Ops.SINK]
    specs = [get_program(ast, CStyleLanguage()) for ast in asts]
    return [(spec.src, spec.mem_estimate, spec.ops_estimate) for spec in specs]


def source(build: Expression) -> str:
    """The C source of its last kernel with its loops as written, the same on every machine."""
    return _written_by(build, CStyleLanguage())


def lines(build: Expression) -> dict[str, list[int]]:
    """On which lines of source(), from 1, each op of floats is. The writer says so: it marks ADD,
    MUL and RELU where it writes them."""
    found: dict[str, list[int]] = {op: [] for op in LINE_OPS}
    for number, marked in enumerate(_written_by(build, _Marking()).splitlines(), 1):
        line = marked.strip()
        name, _, value = line.partition(" = ")
        is_sum = name.startswith("acc") and value.startswith(f"{name} + ")
        there = {op: marked.count(f"/*{op}*/") for op in ("ADD", "MUL", "RELU")}
        there["ADD"] -= is_sum  # the outermost one adds to the sum
        there |= {"SUM": is_sum, "LOAD": "= data" in line, "STORE": line.startswith("data")}
        for op in LINE_OPS:
            if there[op]:
                found[op].append(number)
    return found


def _written_by(build: Expression, language: CStyleLanguage) -> str:
    with Context(NOOPT=1):
        return get_program(build.function()().schedule()[-1].ast, language).src


def _marked(op: str, write: Callable[..., str]) -> Callable[..., str]:
    def marking(*operands) -> str:
        text = write(*operands)
        return f"{text[:-1]}/*{op}*/)" if dtypes.is_float(operands[-1]) else text

    return marking


class _Marking(CStyleLanguage):
    """The same C, with a comment at the end of each operation on floats."""

    code_for_op = {
        **CStyleLanguage.code_for_op,
        **{
            op: _marked(name, CStyleLanguage.code_for_op[op])
            for op, name in ((Ops.ADD, "ADD"), (Ops.MUL, "MUL"), (Ops.WHERE, "RELU"))
        },
    }


def _kernels(tensor: Tensor) -> int:
    return sum(item.ast.op is Ops.SINK for item in tensor.schedule())


def compared(start: Expression, steps: list[Expression]) -> tuple[int, int, bool]:
    """How many kernels these steps run together, and with a realize() after each; and whether both
    ways give the same numbers. They run here, on the device that needs no compiler."""
    counts, results = [], []
    ways: list[Callable[[Tensor], Tensor]] = [lambda tensor: tensor, Tensor.realize]
    with Context(DEVICE="PYTHON"):
        for realize in ways:
            tensor, before = start.function()(), GlobalCounters.kernel_count
            for step in [step.function() for step in steps]:
                tensor = realize(step(tensor))
            results.append(tensor.numpy())
            counts.append(GlobalCounters.kernel_count - before)
    return counts[0], counts[1], np.allclose(results[0], results[1], rtol=0, atol=1e-5)
