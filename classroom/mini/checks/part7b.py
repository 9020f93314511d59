"""Stage 7b: values at an index, lines in their loops, and C that a compiler takes."""

from __future__ import annotations

import ctypes
import random
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from classroom.exercise import Wrong
from classroom.limit import OutOfTime
from classroom.mini.check import Checks, describe
from classroom.mini.checks.part7a import number, plain
from tinyframe.runtime.clang import find_compiler

checks = Checks()

rng = np.random.default_rng(7)
SHAPE = (3, 4)


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def tensor(mini: Any, *shape: int) -> Any:
    return mini.Tensor(floats(*shape))


# ---- graphs to try things on ---------------------------------------------------------------------

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


def program(mini: Any, make: Callable[[Any, Any], Any]) -> tuple[Any, Any, np.ndarray]:
    """Loops and the node of one value of a graph, and the values that the graph has."""
    graph = make(tensor(mini, *SHAPE), tensor(mini, *SHAPE)).uop
    (values,) = mini.interpret(mini.UOp(mini.Ops.SINK, (graph,)))
    return mini.Loops(mini.new_memory(graph)), graph, np.asarray(values)


def random_graph(mini: Any, seed: int) -> Any:
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


def kernels_of(mini: Any, graph: Any) -> list[tuple[Any, dict[Any, np.ndarray]]]:
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


# ---- what a node of one number is worth ----------------------------------------------------------


class OutOfMemory(Exception):
    """A LOAD of what isn't there."""


def worth(mini: Any, node: Any, at: dict[Any, int], arrays: list[np.ndarray]) -> Any:
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


def expect_value_at(mini: Any, said: str, make: Callable[[Any, Any], Any]) -> Any:
    """Wrong unless value_at gives what the graph has, at every index. Returns the node."""
    loops, graph, values = program(mini, make)
    index = tuple(loops.counter(size) for size in values.shape)
    call = f"value_at({said}, index)"
    got = loops.value(graph, index)
    if not isinstance(got, mini.UOp):
        raise Wrong(f"{call} should give a node.", call, "a UOp", describe(got))
    Ops = mini.Ops
    known = {*mini.ALU, Ops.CONST, Ops.RANGE, Ops.LOAD, Ops.REDUCE, Ops.DEFINE_GLOBAL}
    for node in got.toposort():
        if node.op not in known:
            text = f"There is still a {node.op.name} in {call}: that's a whole array, not a number."
            raise Wrong(text, call, "LOADs and arithmetic", node.op.name)
        if node.op is Ops.REDUCE and any(c.op is not Ops.RANGE for c in node.src[1:]):
            text = (
                "One of the axes has a single element, so its counter is the constant 0, and no "
                "loop. Leave it out of the REDUCE's sources."
            )
            raise Wrong(text, call, "RANGEs", plain(node))
    arrays = [memory.arg.data for memory in loops.arguments]
    for place in np.ndindex(*values.shape):
        at = {c: i for c, i in zip(index, place, strict=True) if c.op is mini.Ops.RANGE}
        try:
            value = worth(mini, got, at, arrays)
        except OutOfMemory as error:
            raise Wrong(f"{said} at index {place} reads {error}. Nothing may be read outside of "
                        "the memory, not even what is thrown away.", call) from error  # fmt: skip
        if not np.isclose(value, values[place], rtol=1e-4, atol=1e-5, equal_nan=True):
            raise Wrong(f"{said} at index {place} should be {values[place]:.6g}, and your node "
                        f"gives {float(value):.6g}.", call, f"{values[place]:.6g}",
                        f"{float(value):.6g}")  # fmt: skip
    return got


@checks("value_at", "Memory is read, a constant is itself, arithmetic is done to values")
def simple_values(mini: Any) -> None:
    for said in ("a", "a * 2", "a + b"):
        expect_value_at(mini, said, CASES[said])
    loops, graph, _ = program(mini, CASES["a"])
    i, j = loops.counter(3), loops.counter(4)
    got = mini.value_at(graph, (i, j), loops)
    if got.op is not mini.Ops.LOAD or got.src[0].op is not mini.Ops.DEFINE_GLOBAL:
        raise Wrong("Memory is read by a LOAD, whose sources are what loops.element(node, index) "
                    "gives.", "value_at(a, (i, j), loops)", "LOAD", got.op.name)  # fmt: skip
    got = mini.value_at(number(mini, 2.0), (i, j), loops)
    if got is not number(mini, 2.0):
        raise Wrong("A constant is the same at every index.", "value_at(2.0, (i, j), loops)",
                    "2.0", plain(got))  # fmt: skip


@checks("value_at", "A movement op reads its source at a different index")
def moved_values(mini: Any) -> None:
    for said, make in CASES.items():
        expect_value_at(mini, said, make)


@checks(
    "value_at",
    "REDUCE_AXIS is a REDUCE with a counter for each axis that has more than one element",
)
def reduced_values(mini: Any) -> None:
    for said, make in SUMS.items():
        got = expect_value_at(mini, said, make)
        reduces = [node for node in got.toposort() if node.op is mini.Ops.REDUCE]
        if len(reduces) != 1:
            raise Wrong(f"{said} has one REDUCE in it.", f"value_at({said}, index)", "one",
                        str(len(reduces)))  # fmt: skip
    got = expect_value_at(mini, "a.reshape(12, 1).sum(1)", lambda a, b: a.reshape(12, 1).sum(1))
    if any(node.op is mini.Ops.REDUCE for node in got.toposort()):
        raise Wrong(
            "This sums an axis with one element: there's nothing to add, and no loop.",
            "value_at(a.reshape(12, 1).sum(1), index)",
            "no REDUCE",
            "a REDUCE",
        )
    both = "a.reshape(3, 1, 4).sum(1, 2)"
    expect_value_at(mini, both, lambda a, b: a.reshape(3, 1, 4).sum(1, 2))


EVERY_PATH = (
    "This follows every path through the graph. Ask loops.value for the values of sources: it "
    "remembers what it was asked before."
)


@checks(
    "value_at", "What is shared is worked out once: 2^40 in 40 steps", told={OutOfTime: EVERY_PATH}
)
def shared_values(mini: Any) -> None:
    loops, graph, _ = program(mini, CASES["a"])
    for _ in range(40):
        graph = mini.UOp(mini.Ops.ADD, (graph, graph))
    loops.value(graph, (loops.counter(3), loops.counter(4)))


@checks(
    "value_at", "Thirty graphs of all kinds have the values that the interpreter finds", seconds=20
)
def any_values(mini: Any) -> None:
    for seed in range(30):
        for kernel, _ in kernels_of(mini, random_graph(mini, seed)):
            loops = mini.Loops(kernel.memory)
            index = tuple(loops.counter(size) for size in kernel.value.shape)
            got = loops.value(kernel.graph, index)
            arrays = [memory.arg.data for memory in loops.arguments]
            wanted = kernel.memory.arg.data
            for place in list(np.ndindex(*wanted.shape))[:40]:
                at = {c: i for c, i in zip(index, place, strict=True) if c.op is mini.Ops.RANGE}
                try:
                    value = worth(mini, got, at, arrays)
                except OutOfMemory as error:
                    raise Wrong(
                        f"A graph of several steps reads {error}.",
                        " ← ".join(n.op.name for n in reversed(kernel.graph.toposort())),
                    ) from error
                if not np.isclose(value, wanted[place], rtol=1e-3, atol=1e-4):
                    raise Wrong(f"Element {place} of this graph should be {wanted[place]:.4g}.",
                                " ← ".join(n.op.name for n in reversed(kernel.graph.toposort())),
                                f"{wanted[place]:.4g}", f"{float(value):.4g}")  # fmt: skip


# ---- lines ---------------------------------------------------------------------------------------

# ---- lower ---------------------------------------------------------------------------------------


def expect_lower(mini: Any, said: str, make: Callable[[Any, Any], Any]) -> Any:
    """Wrong unless the STORE of a kernel puts each value where it belongs. Returns the SINK."""
    Ops, graph = mini.Ops, make(tensor(mini, *SHAPE), tensor(mini, *SHAPE)).uop
    kernel, read = kernels_of(mini, graph)[-1]
    wanted, call = np.array(kernel.memory.arg.data), f"lower(the kernel of {said})"
    got = mini.lower(kernel)
    if not isinstance(got, (tuple, list)) or len(got) != 2 or not isinstance(got[0], mini.UOp):
        raise Wrong(f"{call} should give a graph and a list of memory.", call, "a pair",
                    describe(got))  # fmt: skip
    sink, arguments = got
    if sink.op is not Ops.SINK or [source.op for source in sink.src] != [Ops.STORE]:
        raise Wrong("The graph is a SINK, and its only source is a STORE.", call, "SINK(STORE(…))",
                    plain(sink))  # fmt: skip
    if not arguments or arguments[0] is not kernel.memory:
        raise Wrong("The first of the arguments is the memory of the result, kernel.memory.", call)
    if any(node.op is Ops.BUFFER for node in sink.toposort()):
        raise Wrong("There is a BUFFER in the graph. Ask loops.element for memory: it gives the "
                    "parameter that stands for it.", call, "DEFINE_GLOBAL", "BUFFER")  # fmt: skip
    if {*arguments[1:]} != {*read}:
        raise Wrong("What is read should be the memory in kernel.graph, and nothing else. "
                    "kernel.graph begins at memory; kernel.value goes all the way down.", call,
                    f"{len(read)} to read", f"{len(arguments) - 1} to read")  # fmt: skip
    (store,) = sink.src
    sums = {c for node in sink.toposort() if node.op is Ops.REDUCE for c in node.src[1:]}
    outer = [n for n in sink.toposort() if n.op is Ops.RANGE and n not in sums]
    outer.sort(key=lambda node: node.arg[0])
    sizes = [size for size in kernel.value.shape if size > 1]
    if [counter.arg[1] for counter in outer] != sizes:
        raise Wrong("Every axis of kernel.value gets a counter, in the order of the axes.", call,
                    f"loops of {sizes}", f"{[c.arg[1] for c in outer]}")  # fmt: skip
    arrays = [memory.arg.data for memory in arguments]
    got_values = np.full(wanted.size, np.nan, np.float32)
    for place in np.ndindex(*sizes):
        at = dict(zip(outer, place, strict=True))
        where = worth(mini, store.src[1], at, arrays)
        if not 0 <= where < wanted.size:
            raise Wrong(f"{said} stores element {where} of {wanted.size}.", call)
        got_values[where] = worth(mini, store.src[2], at, arrays)
    for nth, value in enumerate(wanted.reshape(-1)):
        if not np.isclose(got_values[nth], value, rtol=1e-4, atol=1e-5, equal_nan=True):
            raise Wrong(f"Element {nth} of {said} should be {value:.6g}, and your STORE leaves "
                        f"{got_values[nth]:.6g} there.", call, f"{value:.6g}",
                        f"{got_values[nth]:.6g}")  # fmt: skip
    return sink


@checks("lower", "One STORE puts each value in its place, result first", needs=("value_at",))
def stored_values(mini: Any) -> None:
    for said in ("a * 2", "a + b", "a.pad((1, 0), (0, 2))", "a.sum(1)", "a @ b.permute(1, 0)"):
        expect_lower(mini, said, CASES.get(said) or SUMS[said])
    said = "b * a.sum(1, keepdim=True).expand(3, 4)"
    expect_lower(mini, said, lambda a, b: b * a.sum(1, keepdim=True).expand(*SHAPE))


@checks("lower", "What comes out is simplified", needs=("value_at",))
def tidy_places(mini: Any) -> None:
    said = "(a * 2).reshape(4, 3).reshape(3, 4) + b"
    sink = expect_lower(mini, said, lambda a, b: (a * 2).reshape(4, 3).reshape(3, 4) + b)
    left = {node.op.name for node in sink.toposort()} & {"IDIV", "MOD"}
    if left or mini.simplify(sink) is not sink:
        raise Wrong("There is still something to simplify in the graph.",
                    f"lower(the kernel of {said})", "no // and no %", plain(sink))  # fmt: skip


# ---- linearize -----------------------------------------------------------------------------------

LOOPS = ("value_at", "lower")


def told(node: Any) -> str:
    """A line as sentences name it: the LOAD of data1, RANGE i0."""
    if node.op.name in ("RANGE", "ENDRANGE"):
        counter = node.src[0] if node.op.name == "ENDRANGE" else node
        return f"{node.op.name} i{counter.arg[0]}"
    return f"the LOAD of data{node.src[0].arg[0]}" if node.op.name == "LOAD" else node.op.name


def listed(lines: list[Any]) -> str:
    return ", ".join(told(node).removeprefix("the ") for node in lines)


def silent(node: Any) -> bool:
    """Whether a node has no line: constants and the lanes of vectors."""
    return node.op.name == "CONST" or (node.op.name == "RANGE" and len(node.arg) > 2)


def expect_lines(mini: Any, said: str, sink: Any) -> list[Any]:
    """Wrong unless linearize gives lines in an order that can run, each in the loops it needs."""
    Ops = mini.Ops
    lines = mini.linearize(sink)
    call = f"linearize(loops of {said})"
    if not isinstance(lines, list) or not all(isinstance(node, mini.UOp) for node in lines):
        raise Wrong(f"{call} should give a list of nodes.", call, "a list", describe(lines)[:60])
    shown = listed(lines)
    nodes = [node for node in sink.toposort()[:-1] if not silent(node)]
    for node in lines:
        if silent(node):
            raise Wrong(f"{plain(node)} needs no line.", call, got=shown)
    for node in nodes:
        if lines.count(node) != 1:
            times = "no line" if node not in lines else f"{lines.count(node)} lines"
            raise Wrong(f"{told(node)} has {times}.", call, "one line each", shown)
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    inner = list(reduces[0].src[1:]) if reduces else []
    outer = sorted(
        (n for n in nodes if n.op is Ops.RANGE and n not in inner), key=lambda n: n.arg[0]
    )
    unclosed = [node for node in lines if node.op is Ops.RANGE]
    for node in lines:
        if node.op is Ops.ENDRANGE and node.src[0] in unclosed:
            unclosed.remove(node.src[0])
    if unclosed:
        raise Wrong(f"{told(unclosed[0])} is never closed.", call, got=shown)
    opened: list[Any] = []
    place: dict[Any, tuple[Any, ...]] = {}
    closed: set[Any] = set()
    for node in lines:
        if node.op is Ops.ENDRANGE:
            if not opened or opened[-1] is not node.src[0]:
                raise Wrong(f"{told(node)} closes a loop that isn't the innermost open one. Loops "
                            "are closed in the opposite order.", call, got=shown)  # fmt: skip
            closed.add(opened.pop())
            continue
        if node.op is Ops.DEFINE_REG:
            place[node.src[0]] = tuple(opened)
            continue
        for source in sorted(node.src, key=lambda source: source.op is not Ops.RANGE):
            if silent(source):
                continue
            if source.op is Ops.RANGE and node.op is Ops.REDUCE:
                if source not in opened:
                    raise Wrong(
                        "A REDUCE stands inside the loops that it runs over.", call, got=shown
                    )
                continue
            if source not in place:
                raise Wrong(f"{told(node)} needs {told(source)}, which has no line before it.",
                            call, got=shown)  # fmt: skip
            if source.op is Ops.REDUCE and not set(source.src[1:]) <= closed | {
                c for c in source.src[1:] if len(c.arg) > 2
            }:
                raise Wrong(f"{told(node)} needs the result of the REDUCE, and its loop is still "
                            "running.", call, got=shown)  # fmt: skip
            if tuple(opened[: len(place[source])]) != place[source]:
                raise Wrong(f"{told(node)} needs {told(source)}, which was computed in a loop that "
                            "is closed by now.", call, got=shown)  # fmt: skip
        if node.op is Ops.RANGE:
            if node in outer and [*opened, node] != outer[: len(opened) + 1]:
                text = "The outer loops are nested by their numbers, the smallest outermost."
                raise Wrong(text, call, ", ".join(map(told, outer)), shown)
            opened.append(node)
            place[node] = tuple(opened)
        elif node.op is Ops.REDUCE:
            if node not in place:
                raise Wrong("A REDUCE needs its DEFINE_REG before it.", call, got=shown)
            if any(counter in place[node] for counter in node.src[1:]):
                raise Wrong("The DEFINE_REG stands inside the loop of its REDUCE: the sum would "
                            "start again from 0 in every iteration.", call, got=shown)  # fmt: skip
            if list(place[node]) != outer:
                raise Wrong("The DEFINE_REG belongs inside all the outer loops: each result has a "
                            "sum of its own.", call, got=shown)  # fmt: skip
        else:
            place[node] = tuple(opened)
            needed = needs_loops(mini, node, outer + inner)
            if node.op is Ops.STORE:
                needed = max(needed, len(outer))
            if len(opened) > needed:
                raise Wrong(
                    f"{told(node)} stands inside {told(opened[-1])}, and nothing in it "
                    "depends on that. It would be repeated for nothing.",
                    call,
                    got=shown,
                )
    return lines


def needs_loops(mini: Any, node: Any, nest: list[Any]) -> int:
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


def execute(mini: Any, lines: list[Any], arrays: list[np.ndarray]) -> None:
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


def loops_of(mini: Any, make: Callable[[Any, Any], Any]) -> Any:
    graph = make(tensor(mini, *SHAPE), tensor(mini, *SHAPE)).uop
    ((kernel, _),) = kernels_of(mini, graph)
    return mini.lower(kernel)[0]


@checks(
    "linearize",
    "Loops are opened and closed, and every line comes after what it needs",
    needs=LOOPS,
)
def lines_in_order(mini: Any) -> None:
    for said in ("a * 2", "a + b", "a.permute(1, 0)", "a.pad((1, 0), (0, 2))"):
        expect_lines(mini, said, loops_of(mini, CASES.get(said) or SUMS[said]))


@checks("linearize", "A sum starts before its loop, and is used after it", needs=LOOPS)
def sums_in_order(mini: Any) -> None:
    for said, make in SUMS.items():
        expect_lines(mini, said, loops_of(mini, make))
    expect_lines(mini, "(a * b).sum(1).sqrt() * 2", loops_of(
        mini, lambda a, b: (a * a + b * b).sum(1).sqrt() * 2))  # fmt: skip


@checks("linearize", "Loops are nested by number, whichever comes first in the graph", needs=LOOPS)
def loops_by_number(mini: Any) -> None:
    sink = loops_of(mini, CASES["a.permute(1, 0)"])
    counters = [node for node in sink.toposort() if node.op is mini.Ops.RANGE]
    renamed = {
        node: mini.UOp(mini.Ops.RANGE, (), (9 - node.arg[0], node.arg[1])) for node in counters
    }
    expect_lines(mini, "a.permute(1, 0), its numbers swapped", mini.substitute(sink, renamed))


@checks(
    "linearize", "Lines of thirty graphs compute what the interpreter does", needs=LOOPS, seconds=20
)
def lines_compute(mini: Any) -> None:
    for seed in range(30):
        for kernel, _ in kernels_of(mini, random_graph(mini, seed)):
            sink, arguments = mini.lower(kernel)
            lines = expect_lines(mini, "a graph of several steps", sink)
            out = np.full(kernel.value.shape, np.nan, np.float32)
            execute(mini, lines, [out, *(memory.arg.data for memory in arguments[1:])])
            if not np.allclose(out, kernel.memory.arg.data, rtol=1e-3, atol=1e-4):
                raise Wrong("These lines can run, and compute something different.",
                            listed(lines))  # fmt: skip


# ---- C -------------------------------------------------------------------------------------------

LINES = ("value_at", "lower", "linearize")


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
            raise Wrong(
                f"There is no function `{name}` in the text. render gives a pair: the "
                "name of the function and the text that has it.",
                said,
            ) from None


def expect_c(mini: Any, said: str, graph: Any) -> None:
    """Wrong unless the C of every kernel of a graph computes what the interpreter does."""
    for kernel, _ in kernels_of(mini, graph):
        sink, arguments = mini.lower(kernel)
        rendered = mini.render(mini.linearize(sink))
        call = f"render(lines of {said})"
        if not (
            isinstance(rendered, tuple)
            and len(rendered) == 2
            and all(isinstance(part, str) for part in rendered)
        ):
            raise Wrong(f"{call} should give a pair of strings, (name, text).", call,
                        "(name, text)", describe(rendered))  # fmt: skip
        name, text = rendered
        function = machine_code(call, name, text)
        guard = np.full(64, 77.0, np.float32)  # around the result: nobody may write there
        size = kernel.memory.arg.data.size
        memory = np.concatenate([guard, np.full(size, np.nan, np.float32), guard])
        out = memory[64 : 64 + size]
        arrays = [out, *(m.arg.data for m in arguments[1:])]
        function(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
        if not (np.all(memory[:64] == 77) and np.all(memory[64 + size :] == 77)):
            raise Wrong(f"The C of {said} writes outside of its memory.", call, got=text)
        wanted = kernel.memory.arg.data
        if not np.allclose(out, wanted.reshape(-1), rtol=1e-3, atol=1e-4, equal_nan=True):
            differs = ~np.isclose(out, wanted.reshape(-1), rtol=1e-3, atol=1e-4, equal_nan=True)
            place = int(np.argmax(differs))
            body = "\n".join(
                line
                for line in text.splitlines()
                if not line.startswith(("#", "static", "typedef"))
            )
            raise Wrong(f"The C of {said} runs, but element {place} of the result should be "
                        f"{wanted.reshape(-1)[place]:.4g}, and it is {out[place]:.4g}.", call,
                        got=body)  # fmt: skip


@checks(
    "render",
    "Loops, loads and stores: a copy, a sum of two arrays, a transpose",
    needs=LINES,
    seconds=30,
)
def first_c(mini: Any) -> None:
    a, b = tensor(mini, *SHAPE), tensor(mini, *SHAPE)
    for said in ("a * 2", "a + b", "a.permute(1, 0)"):
        make = CASES[said]
        expect_c(mini, said, (make(a, b) + 0).uop if said == "a.permute(1, 0)" else make(a, b).uop)


@checks("render", "Sums and maxima, with what they start from", needs=LINES, seconds=30)
def sums_in_c(mini: Any) -> None:
    a, b = tensor(mini, *SHAPE), tensor(mini, *SHAPE)
    for said in ("a.sum(1)", "(a * b).sum(0) + 1", "a @ b.permute(1, 0)"):
        expect_c(mini, said, SUMS[said](a, b).uop)
    below = mini.Tensor(-np.abs(floats(*SHAPE)) - 1)
    expect_c(mini, "a.max(1), all of it below 0", below.max(1).uop)


@checks(
    "render",
    "Every elementwise op: comparison, choice, roots, powers, logarithms",
    needs=LINES,
    seconds=30,
)
def ops_in_c(mini: Any) -> None:
    a, b = tensor(mini, *SHAPE), tensor(mini, *SHAPE)
    positive = mini.Tensor(np.abs(floats(*SHAPE)) + 0.5)
    for said, made in (
        ("a < b", a < b), ("(a < b).where(a, 7)", (a < b).where(a, 7)),
        ("a.maximum(b)", a.maximum(b)), ("1 / positive", 1 / positive),
        ("positive.sqrt()", positive.sqrt()), ("a.exp()", a.exp()),
        ("positive.log()", positive.log()), ("a * 1e-8 + 1e20", a * 1e-8 + 1e20),
    ):  # fmt: skip
        expect_c(mini, said, made.uop)


@checks(
    "render", "Infinity and NaN get through: as constants, and in maxima", needs=LINES, seconds=30
)
def special_numbers(mini: Any) -> None:
    a = tensor(mini, *SHAPE)
    for said, made in (
        ("(a < 0).where(float('-inf'), a)", (a < 0).where(float("-inf"), a)),
        ("(a < 0).where(float('nan'), a)", (a < 0).where(float("nan"), a)),
    ):
        expect_c(mini, said, made.uop)
    with np.errstate(invalid="ignore"):
        holes = floats(*SHAPE)
        holes[0, 0], holes[1, 2], holes[2, 3] = np.nan, np.inf, -np.inf
        expect_c(mini, "a.max(1), with a NaN in it", mini.Tensor(holes).max(1).uop)
        expect_c(mini, "a.maximum(0), with a NaN in it", mini.Tensor(holes).maximum(0).uop)


@checks("render", "Twelve graphs of all kinds, padding and all", needs=LINES, seconds=30)
def any_c(mini: Any) -> None:
    for seed in range(12):
        expect_c(mini, "a graph of several steps", random_graph(mini, seed))
