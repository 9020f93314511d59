"""The process that rebuilds graphs from a submission: it may be slow or large, but not for long.

It is the grader's own code, in a process with the same limits, since a graph within all limits may
still take the scheduler or the interpreter too long.
"""

from __future__ import annotations

import os
from collections import Counter
from time import monotonic
from typing import Any

import numpy as np

from classroom.grader.answerer import A_DAY
from classroom.grader.channel import Channel, Closed, Message
from classroom.grader.graphs import Rebuilt, Refused, from_table, need, same_dtype
from tinyframe import Tensor
from tinyframe.device import buffer_of
from tinyframe.errors import GradientError
from tinyframe.schedule import create_schedule
from tinyframe.uop.node import Ops, UOp


def main(channel: Channel, path: str) -> None:
    os.environ["CACHE"] = "0"
    while True:
        try:
            question = channel.receive(monotonic() + A_DAY)
        except Closed:
            return
        arrays: list[np.ndarray] = []
        kind, body = answer(question, arrays)
        channel.send(question.nonce, kind, body, arrays, monotonic() + A_DAY)


def answer(question: Message, arrays: list[np.ndarray]) -> tuple[str, Any]:
    """The facts of a graph, its values or a gradient of it, as asked; or "refused", and why. Values
    are appended to `arrays`."""
    if question.kind == "hello":
        return "hello", None
    table, count = question.body["table"], question.body["inputs"]
    inputs = question.arrays[:count]
    try:
        rebuilt = from_table(table, question.arrays[count:])
        if question.kind == "facts":
            return "facts", facts(rebuilt)
        root = Tensor(rebuilt.root)
        if question.kind == "gradient":
            root = gradient(rebuilt, question.body["target"])
        run(root, rebuilt, inputs, arrays)
        return question.kind, None
    except Refused as error:
        return "refused", str(error)
    except Exception as error:
        return "refused", f"a graph that does not run ({type(error).__name__})"


def facts(rebuilt: Rebuilt) -> dict[str, Any]:
    """What is in the graph, and what it is scheduled to. `reads`: for each kernel, how many
    different places of the same buffer it reads at most."""
    nodes = rebuilt.root.toposort()
    base = rebuilt.root.base.op
    items = []
    if base not in (Ops.BUFFER, Ops.CONST, Ops.IOTA):
        items = create_schedule(UOp.sink(rebuilt.root))[0]
    kernels = [item.ast for item in items if item.ast.op is Ops.SINK]
    return {
        "kernels": len(kernels),
        "reads": [_reads(ast) for ast in kernels],
        "ops": {op.name: n for op, n in Counter(u.op for u in nodes).items()},
        "reductions": [_reduction(u) for u in nodes if u.op is Ops.REDUCE_AXIS],
        "shape": list(rebuilt.root.shape),
        "inputs": sorted(rebuilt.inputs),
    }


def _reduction(u: UOp) -> list[Any]:
    """What it reduces by, along which axes, and the shape of what it reduces."""
    op, axes = u.arg
    return [op.name, list(axes), list(u.src[0].shape)]


def _reads(ast: UOp) -> int:
    buffers = Counter(u.src[0].src[0].arg for u in ast.toposort() if u.op is Ops.LOAD)
    return max(buffers.values(), default=0)


def gradient(rebuilt: Rebuilt, target: int) -> Tensor:
    """The gradient of the sum of the graph with respect to this input, which is flat."""
    need(target in rebuilt.inputs, f"a graph that does not depend on input {target}")
    try:
        (found,) = Tensor(rebuilt.root).sum().gradient(Tensor(rebuilt.inputs[target]))
    except GradientError as error:
        raise Refused(f"a graph without that gradient: {error}") from None
    return found


def run(root: Tensor, rebuilt: Rebuilt, inputs: list[np.ndarray], arrays: list[np.ndarray]) -> None:
    """The values of `root`, which depends on nothing but the inputs and data of the graph."""
    contents = dict(rebuilt.data)
    for number, buffer in rebuilt.inputs.items():
        need(number < len(inputs), "an input that was not given")
        contents[buffer] = inputs[number]
    for buffer, array in contents.items():
        fits = array.size == buffer.arg and same_dtype(array, buffer.dtype)
        need(fits, "a buffer with contents of another size or dtype")
        buffer_of(buffer).ensure_allocated().copyin(np.ascontiguousarray(array).tobytes())
    arrays.append(np.array(root.numpy()))
