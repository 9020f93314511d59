"""Stage 8: lines as machine code and in Python, numbered graphs, and a captured step."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from classroom.exercise import Wrong
from classroom.mini import digits
from classroom.mini.check import Checks, describe
from classroom.mini.checks.part7b import (
    CASES,
    SUMS,
    kernels_of,
    random_graph,
    tensor,
)

checks = Checks()

SHAPE = (3, 4)


@contextmanager
def usual_run(mini: Any) -> Iterator[None]:
    """Whatever happens inside, Tensors are computed afterwards as before."""
    before = mini.Tensor.__dict__["run"]
    try:
        yield
    finally:
        mini.Tensor.run = before


def expect_device(mini: Any, device: Any, name: str, said: str, graph: Any) -> None:
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


def several(mini: Any) -> list[tuple[str, Any]]:
    a, b = tensor(mini, *SHAPE), tensor(mini, *SHAPE)
    chosen = ("a * 2", "a + b", "(a + 1).pad((0, 1), (1, 0)) * 3")
    found = [(said, CASES[said](a, b).uop) for said in chosen]
    return found + [(said, make(a, b).uop) for said, make in SUMS.items()]


# ---- two devices ---------------------------------------------------------------------------------


@checks("CRunner.__init__", "It has a function that was compiled, and the text that it's made of")
def compiled_function(mini: Any) -> None:
    a = tensor(mini, *SHAPE)
    ((kernel, _),) = kernels_of(mini, (a * 2).uop)
    lines = mini.linearize(mini.lower(kernel)[0])
    runner = mini.CRunner(lines)
    if "for (" not in str(getattr(runner, "text", "")):
        raise Wrong("Keep the text in self.text: whoever has a runner will want to read it.",
                    "CRunner(lines).text", "the text of the C function",
                    describe(sorted(vars(runner))))  # fmt: skip


@checks(
    "CRunner.__call__",
    "C computes what the interpreter does",
    needs=("CRunner.__init__",),
    told={
        ctypes.ArgumentError: "C can't do anything with a NumPy array. It wants the address of its "
        "memory, as a ctypes.c_void_p."
    },
)
def c_computes(mini: Any) -> None:
    for said, graph in several(mini):
        expect_device(mini, mini.CRunner, "CRunner", said, graph)


@checks("PythonRunner.__call__", "Loops, loads and stores are executed line by line", seconds=30)
def python_stores(mini: Any) -> None:
    for said, graph in several(mini)[:3]:
        expect_device(mini, mini.PythonRunner, "PythonRunner", said, graph)


@checks(
    "PythonRunner.__call__", "A sum starts anew for each result, and a maximum from minus infinity"
)
def python_reduces(mini: Any) -> None:
    for said, graph in several(mini)[3:]:
        expect_device(mini, mini.PythonRunner, "PythonRunner", said, graph)
    below = mini.Tensor(-1 - np.abs(np.random.default_rng(8).standard_normal(SHAPE)))
    expect_device(mini, mini.PythonRunner, "PythonRunner", "a.max(1), all of it below 0",
                  below.max(1).uop)  # fmt: skip


@checks("PythonRunner.__call__", "Ten graphs of all kinds", seconds=20)
def python_any(mini: Any) -> None:
    for seed in range(10):
        expect_device(mini, mini.PythonRunner, "PythonRunner", "a graph of several steps",
                      random_graph(mini, seed))  # fmt: skip


@checks("PythonRunner.__call__", "Whole numbers stay whole, and floats have 32 bits", seconds=30)
def kinds_of_number(mini: Any) -> None:
    ones = mini.Tensor(np.full((2,), 16777216, np.float32))  # 2**24, the end of all odd floats
    expect_device(mini, mini.PythonRunner, "PythonRunner", "(a + 1) - a, for a = 2**24",
                  ((ones + 1) - ones).uop)  # fmt: skip
    expect_device(mini, mini.PythonRunner, "PythonRunner", "the sum of 2**24, 1 and 1",
                  mini.Tensor([16777216.0, 1.0, 1.0]).sum().uop)  # fmt: skip


@checks("PythonRunner.__call__", "An access outside of the memory is an IndexError", seconds=30)
def no_such_element(mini: Any) -> None:
    a = tensor(mini, *SHAPE)
    ((kernel, _),) = kernels_of(mini, (a * 2).uop)
    lines = mini.linearize(mini.lower(kernel)[0])
    whole = np.zeros(12, np.float32)
    for what, arrays in (("reads", [whole, whole[:5]]), ("writes", [whole[:5], whole])):
        try:
            mini.PythonRunner(lines)(*arrays)
        except IndexError:
            continue
        raise Wrong(f"This {what} 12 elements of an array that has 5. C would do that without a "
                    "word; this device has to notice.", "PythonRunner(lines)(…)", "IndexError",
                    "nothing")  # fmt: skip
    Ops = mini.Ops
    (store,) = mini.lower(kernel)[0].src
    memory, place, value = store.src
    (load,) = [node for node in value.toposort() if node.op is Ops.LOAD]
    early = mini.UOp(Ops.LOAD, (load.src[0], place + -3))
    for what, at, values in (
        ("reads", place, mini.substitute(value, {load: early})),
        ("writes", place + -3, value),
    ):
        moved = mini.UOp(Ops.SINK, (mini.UOp(Ops.STORE, (memory, at, values)),))
        try:
            mini.PythonRunner(mini.linearize(moved))(whole, whole)
        except IndexError:
            continue
        text = (
            f"This {what} element -3. Python counts that from the end, but memory has no such "
            "element."
        )
        raise Wrong(text, "PythonRunner(lines)(…)", "IndexError", "nothing")


# ---- each program once ---------------------------------------------------------------------------


def sink(mini: Any, *tensors: Any) -> Any:
    return mini.UOp(mini.Ops.SINK, tuple(t.uop for t in tensors))


@checks("numbered", "Equal work on different memory is the same node")
def same_node(mini: Any) -> None:
    a, b, c, d = (tensor(mini, *SHAPE) for _ in range(4))
    numbered = mini.numbered(sink(mini, a + b))
    if not (isinstance(numbered, tuple) and len(numbered) == 2):
        raise Wrong("numbered gives a pair: the graph, and {parameter: array}.", "numbered(a + b)",
                    "(graph, arrays)", describe(numbered))  # fmt: skip
    graph, arrays = numbered
    if any(node.op is mini.Ops.BUFFER for node in graph.toposort()):
        raise Wrong("There is still a BUFFER in the graph.", "numbered(a + b)")
    if graph is not mini.numbered(sink(mini, c + d))[0]:
        raise Wrong("a + b and c + d are the same work, but you made different nodes of them. Do "
                    "the numbers start at 0 every time?", "numbered(a + b) and numbered(c + d)",
                    "one node", "two nodes")  # fmt: skip
    for made, said in ((a + a, "a + a"), (b * a, "b * a")):
        if mini.numbered(sink(mini, made))[0] is graph:
            raise Wrong(f"{said} isn't the same work as a + b.", f"numbered({said})",
                        "a different node", "the same node")  # fmt: skip
    if {id(array) for array in arrays.values()} != {id(a.uop.arg.data), id(b.uop.arg.data)}:
        raise Wrong(
            "The dict should have the array of each BUFFER, and not a copy.",
            "numbered(a + b)[1]",
            "the arrays of a and b",
            describe(list(arrays.values())),
        )


@checks("numbered", "Parameters are numbered from 0, and know their shapes")
def parameters(mini: Any) -> None:
    a, b = tensor(mini, 4, 3), tensor(mini, 3, 2)
    graph, arrays = mini.numbered(sink(mini, a @ b, a * 2))
    found = sorted(node.arg for node in graph.toposort() if node.op is mini.Ops.DEFINE_GLOBAL)
    if found != [(0, (4, 3)), (1, (3, 2))]:
        raise Wrong(
            "Two BUFFERs become DEFINE_GLOBAL 0 and 1, in the order of toposort, with the shapes "
            "that they had.",
            "numbered(a @ b, a * 2)",
            "[(0, (4, 3)), (1, (3, 2))]",
            describe(found),
        )
    for slot, array in arrays.items():
        if slot.arg[1] != array.shape:
            raise Wrong(
                "A parameter got the array of a different one.",
                "numbered(a @ b, a * 2)",
                f"an array of shape {slot.arg[1]}",
                f"one of shape {array.shape}",
            )


def called(mini: Any, device: Any, *tensors: Any) -> Any:
    graph, arrays = mini.numbered(sink(mini, *tensors))
    return mini.call(graph, dict(arrays), device)


@checks(
    "call",
    "Kernels run in order, each into memory of its own",
    needs=("numbered", "PythonRunner.__call__"),
)
def kernels_in_order(mini: Any) -> None:
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
        if not isinstance(got, list) or len(got) != len(wanted):
            raise Wrong(
                f"call gives a list with an array for each result: here {len(wanted)}.",
                f"call(numbered({said}), …)",
                f"{len(wanted)} arrays",
                describe(got),
            )
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


@checks(
    "numbered",
    "A hundred steps need the same plan",
    needs=("CRunner.__init__", "CRunner.__call__", "call"),
)
def one_plan(mini: Any) -> None:
    x = tensor(mini, 4)
    before = mini.plan.cache_info().misses
    with usual_run(mini):
        mini.Tensor.run = mini.run_on(mini.CRunner)
        for _ in range(100):
            x = (x * 0.5 + 1).realize()
    made = mini.plan.cache_info().misses - before
    if made > 1:
        raise Wrong(
            "x * 0.5 + 1 a hundred times is one plan, used a hundred times.",
            "x = (x * 0.5 + 1).realize(), a hundred times",
            "1 plan",
            f"{made} plans",
        )
    if not np.allclose(x.numpy(), 2, atol=1e-3):
        raise Wrong("x * 0.5 + 1 a hundred times comes to 2.", got=describe(x.numpy().tolist()))


# ---- the whole step ------------------------------------------------------------------------------

DEVICES = ("CRunner.__init__", "CRunner.__call__", "numbered", "call")


def steps(
    mini: Any, function: Callable[..., Any], state: list[Any], inputs: list[Any]
) -> list[Any]:
    with usual_run(mini):
        mini.Tensor.run = mini.run_on(mini.CRunner)
        captured = mini.jit(function, state)
        return [captured(mini.Tensor(value)) for value in inputs]


@checks(
    "replay",
    "New inputs give new results",
    needs=DEVICES,
    told={
        KeyError: "A kernel reads memory that isn't there. Some parameters belong neither to an "
        'input nor to the state: start from what tape["memory"] has.'
    },
)
def new_inputs(mini: Any) -> None:
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


@checks("replay", "State goes on from where it was", needs=DEVICES, seconds=30)
def state_goes_on(mini: Any) -> None:
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


@checks("replay", "A training is the same, step for step", needs=DEVICES, seconds=30)
def training(mini: Any) -> None:
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

        with usual_run(mini):
            mini.Tensor.run = mini.run_on(mini.CRunner)
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
