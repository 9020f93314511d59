"""Stage 7b: values at an index, lines in their loops, and C that a compiler takes."""

import ctypes
import random
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from classroom.exercise import Wrong
from tinyframe.runtime.clang import find_compiler

rng = np.random.default_rng(7)
SHAPE = (3, 4)


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def tensor(mini, *shape: int) -> Any:
    return mini.Tensor(floats(*shape))


# What is done to `a`, of shape (3, 4), and `b`, which has the same shape.
CASES: dict[str, Callable[[Any, Any], Any]] = {
    "a": lambda a, b: a,
    "a * 2": lambda a, b: a * 2,
    "a + b": lambda a, b: a + b,
    "a.reshape(2, 6)": lambda a, b: a.reshape(2, 6),
    "a.permute(1, 0)": lambda a, b: a.permute(1, 0),
    "a.shrink((1, 3), (0, 2))": lambda a, b: a.shrink((1, 3), (0, 2)),
    "a.flip(1)": lambda a, b: a.flip(1),
    "a.pad((1, 0), (0, 2))": lambda a, b: a.pad((1, 0), (0, 2)),
    "a.reshape(3, 4, 1).expand(3, 4, 2)": lambda a, b: a.reshape(3, 4, 1).expand(3, 4, 2),
    "a.detach() + 1": lambda a, b: a.detach() + 1,
    "(a + 1).pad((0, 1), (1, 0)) * 3": lambda a, b: (a + 1).pad((0, 1), (1, 0)) * 3,
    "a.flip(0).permute(1, 0) + b.reshape(4, 3)": lambda a, b: (
        a.flip(0).permute(1, 0) + b.reshape(4, 3)
    ),
}

SUMS: dict[str, Callable[[Any, Any], Any]] = {
    "a.sum(1)": lambda a, b: a.sum(1),
    "a.sum(0)": lambda a, b: a.sum(0),
    "a.sum()": lambda a, b: a.sum(),
    "a.max(1)": lambda a, b: a.max(1),
    "(a * b).sum(0) + 1": lambda a, b: (a * b).sum(0) + 1,
    "a @ b.permute(1, 0)": lambda a, b: a @ b.permute(1, 0),
    "a.pad((1, 1), (0, 0)).max(0)": lambda a, b: a.pad((1, 1), (0, 0)).max(0),
}


def random_graph(mini, seed: int) -> Any:
    """A graph of movement, arithmetic and sums, drawn by a seed."""
    draw = random.Random(seed)
    x = tensor(mini, 2, 3, 2)
    for _ in range(draw.choice((2, 3, 4, 5))):
        axis = draw.randrange(len(x.shape))
        widths = [(0, 0)] * len(x.shape)
        kind = draw.choice("arpmfwsx+")
        if kind == "a":
            x = draw.choice((lambda x: x.exp(), lambda x: x.relu(), lambda x: x * x - 1))(x)
        elif kind == "r":
            x = x.reshape(*draw.sample(x.shape, len(x.shape)))
        elif kind == "p":
            x = x.permute(*draw.sample(range(len(x.shape)), len(x.shape)))
        elif kind == "m":
            widths[axis] = (draw.choice((0, 1)), draw.choice((0, 2)))
            x = x.pad(*widths)
        elif kind == "f":
            x = x.flip(axis)
        elif kind == "w":
            bounds = [(0, size) for size in x.shape]
            bounds[axis] = (draw.randrange(x.shape[axis]), x.shape[axis])
            x = x.shrink(*bounds)
        elif kind == "s":
            x = draw.choice((x.sum, x.max))(axis, keepdim=True)
        elif kind == "x" and x.shape[axis] == 1:
            x = x.expand(*(3 if n == axis else size for n, size in enumerate(x.shape)))
        elif kind == "+":
            x = x + tensor(mini, *x.shape)
    return (x * 1.5).uop


def kernels_of(mini, graph: Any) -> list[tuple[Any, dict[Any, np.ndarray]]]:
    """The kernels of a graph and, for each, the arrays of the memory that it reads."""
    sink = mini.UOp(mini.Ops.SINK, (graph,))
    found = []
    for kernel in mini.cut(sink):
        (values,) = mini.interpret(mini.UOp(mini.Ops.SINK, (kernel.graph,)))
        kernel.memory.arg.data[...] = values
        found.append(
            (kernel, {n: n.arg.data for n in kernel.graph.toposort() if n.op is mini.Ops.BUFFER})
        )
    return found


def loops_of(mini, make: Callable[[Any, Any], Any]) -> Any:
    """What lower makes of a single kernel."""
    graph = make(tensor(mini, *SHAPE), tensor(mini, *SHAPE)).uop
    ((kernel, _),) = kernels_of(mini, graph)
    return mini.lower(kernel)[0]


def silent(node: Any) -> bool:
    """Whether a node has no line: constants and the lanes of vectors."""
    return node.op.name == "CONST" or (node.op.name == "RANGE" and len(node.arg) > 2)


def needs_loops(mini, node: Any, nest: list[Any]) -> int:
    """How many of the loops have to be open around a node."""
    needed, waiting, seen = 0, [node], set()
    while waiting:
        source = waiting.pop()
        if source in seen:
            continue
        seen.add(source)
        if source in nest:
            needed = max(needed, nest.index(source) + 1)
        if source.op is mini.Ops.REDUCE:
            needed = max(needed, len(nest) - len(source.src) + 1)
        else:
            waiting += source.src
    return needed


class OutOfMemory(Exception):
    """A LOAD of what isn't there."""


def worth(mini, node: Any, at: dict[Any, int], arrays: list[np.ndarray]) -> Any:
    """The value of a node, where counters are at these values. arrays: of the parameters."""
    Ops, known = mini.Ops, {}

    def of(node: Any) -> Any:
        if node not in known:
            known[node] = compute(node)
        return known[node]

    def compute(node: Any) -> Any:
        if node.op is Ops.CONST:
            return node.arg
        if node.op is Ops.RANGE:
            return at[node]
        if node.op is Ops.LOAD:
            memory, place = arrays[node.src[0].arg[0]].reshape(-1), of(node.src[1])
            if not 0 <= place < len(memory):
                raise OutOfMemory(f"element {place} of {len(memory)}")
            return memory[place]
        if node.op is Ops.REDUCE:
            value, *counters = node.src
            values = [
                worth(mini, value, at | dict(zip(counters, index, strict=True)), arrays)
                for index in np.ndindex(*(counter.arg[1] for counter in counters))
            ]
            return mini.ALU[node.arg].reduce(np.asarray(values, np.float32))
        return mini.ALU[node.op](*map(of, node.src))

    return of(node)


def told(node: Any) -> str:
    """A line as sentences name it: the LOAD of data1, RANGE i0."""
    if node.op.name in ("RANGE", "ENDRANGE"):
        counter = node.src[0] if node.op.name == "ENDRANGE" else node
        return f"{node.op.name} i{counter.arg[0]}"
    return f"the LOAD of data{node.src[0].arg[0]}" if node.op.name == "LOAD" else node.op.name


def execute(mini, lines: list[Any], arrays: list[np.ndarray]) -> None:
    """Run lines, as they are meant."""
    Ops, at = mini.Ops, 0
    values: dict[Any, Any] = {}
    while at < len(lines):
        node = lines[at]
        src: list[Any] = [s.arg if s.op is Ops.CONST else values.get(s) for s in node.src]
        if node.op is Ops.DEFINE_GLOBAL:
            values[node] = arrays[node.arg[0]].reshape(-1)
        elif node.op is Ops.RANGE:
            values[node] = 0
        elif node.op is Ops.ENDRANGE:
            values[node.src[0]] += 1
            if values[node.src[0]] < node.src[0].arg[1]:
                at = lines.index(node.src[0])
        elif node.op is Ops.DEFINE_REG:
            values[node.src[0]] = 0.0 if node.src[0].arg is Ops.ADD else -np.inf
        elif node.op is Ops.REDUCE:
            values[node] = mini.ALU[node.arg](values[node], src[0])
        elif node.op is Ops.LOAD:
            values[node] = src[0][src[1]]
        elif node.op is Ops.STORE:
            src[0][src[1]] = src[2]
        else:
            values[node] = mini.ALU[node.op](*src)
        at += 1


def machine_code(said: str, name: str, text: str) -> Any:
    """A function that a C compiler makes of some text. Wrong, with its words, if it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "kernel.so"
        done = subprocess.run(
            [*find_compiler(), "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-w",
             "-x", "c", "-", "-lm", "-o", str(library)],
            input=text.encode(), capture_output=True,
        )  # fmt: skip
        if done.returncode:
            errors = [line for line in done.stderr.decode().splitlines() if "error" in line]
            number_of = errors[0].split(":")[1] if errors and errors[0].count(":") > 2 else ""
            line = text.splitlines()[int(number_of) - 1] if number_of.isdigit() else ""
            what = errors[0].split("error:")[-1].strip() if errors else "no reason given"
            raise Wrong(f"The C compiler refuses this: {what}", said,
                        got=f"line {number_of}: `{line.strip()}`" if line else None)  # fmt: skip
        try:
            return ctypes.CDLL(str(library))[name]
        except AttributeError:
            raise Wrong(f"There is no function `{name}` in the text. render gives a pair: the name "
                        "of the function and the text that has it.", said) from None  # fmt: skip
