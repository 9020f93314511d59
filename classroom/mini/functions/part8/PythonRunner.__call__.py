"""Hint: You have written an interpreter before, in stage 4: a dict from node to value. What's new
here is that lines run more than once. Who decides which line comes next?
Hint: Keep the number of the current line, and add 1 after each. An ENDRANGE sets it back to the
line of its RANGE if there's more to do, so that the next is the one after it. src = [s.arg if
it's a CONST, else its value] saves a lot of writing. Check the place before NumPy sees it: a[-3]
means something in Python.
Because: This is what the program means, one line at a time. It's slow; but if C and this
disagree, you know which one to suspect.
"""

import numpy as np

from classroom.mini.check import Wrong, promise
from classroom.mini.functions.part7b.shared import kernels_of, random_graph, tensor
from classroom.mini.functions.part8.shared import SHAPE, expect_device, several


@promise("Loops, loads and stores are executed line by line", seconds=30)
def python_stores(mini) -> None:
    for said, graph in several(mini)[:3]:
        expect_device(mini, mini.PythonRunner, "PythonRunner", said, graph)


@promise("A sum starts anew for each result, and a maximum from minus infinity")
def python_reduces(mini) -> None:
    for said, graph in several(mini)[3:]:
        expect_device(mini, mini.PythonRunner, "PythonRunner", said, graph)
    below = mini.Tensor(-1 - np.abs(np.random.default_rng(8).standard_normal(SHAPE)))
    expect_device(mini, mini.PythonRunner, "PythonRunner", "a.max(1), all of it below 0",
                  below.max(1).uop)  # fmt: skip


@promise("Ten graphs of all kinds", seconds=20)
def python_any(mini) -> None:
    for seed in range(10):
        expect_device(mini, mini.PythonRunner, "PythonRunner", "a graph of several steps",
                      random_graph(mini, seed))  # fmt: skip


@promise("Whole numbers stay whole, and floats have 32 bits", seconds=30)
def kinds_of_number(mini) -> None:
    ones = mini.Tensor(np.full((2,), 16777216, np.float32))  # 2**24, the end of all odd floats
    expect_device(mini, mini.PythonRunner, "PythonRunner", "(a + 1) - a, for a = 2**24",
                  ((ones + 1) - ones).uop)  # fmt: skip
    expect_device(mini, mini.PythonRunner, "PythonRunner", "the sum of 2**24, 1 and 1",
                  mini.Tensor([16777216.0, 1.0, 1.0]).sum().uop)  # fmt: skip


@promise("An access outside of the memory is an IndexError", seconds=30)
def no_such_element(mini) -> None:
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
        raise Wrong(f"This {what} element -3. Python counts that from the end, but memory has no "
                    "such element.", "PythonRunner(lines)(…)", "IndexError", "nothing")  # fmt: skip

# %% shared
def run(self, *arrays):
    values, at = {}, 0
    line_of = {node: number for number, node in enumerate(self.lines)}
    while at < len(self.lines):
        node = self.lines[at]
        src = [s.arg if s.op is Ops.CONST else values.get(s) for s in node.src]
        if node.op in (Ops.LOAD, Ops.STORE) and not 0 <= src[1] < len(src[0]):
            raise IndexError(f"{node.op.name} at {src[1]} of {len(src[0])} elements")
        if node.op is Ops.DEFINE_GLOBAL:
            values[node] = arrays[node.arg[0]].reshape(-1)
        elif node.op is Ops.RANGE:
            values[node] = 0
        elif node.op is Ops.ENDRANGE:
            counter = node.src[0]
            values[counter] += 1
            if values[counter] < counter.arg[1]:
                at = line_of[counter]
        elif node.op is Ops.DEFINE_REG:
            values[node.src[0]] = np.float32(0 if node.src[0].arg is Ops.ADD else -np.inf)
        elif node.op is Ops.REDUCE:
            values[node] = ALU[node.arg](values[node], src[0])
        elif node.op is Ops.LOAD:
            values[node] = src[0][src[1]]
        elif node.op is Ops.STORE:
            src[0][src[1]] = src[2]
        else:
            kind = np.float32 if node.dtype is float else int
            values[node] = kind(ALU[node.op](*src))
        at += 1

# %% wrong: says nothing is stored
def __call__(self, *arrays):
    return None

# %% wrong, changed: says LOAD at 12 of 12 elements
# -             if values[counter] < counter.arg[1]:
# +             if values[counter] <= counter.arg[1]:

# %% wrong, changed: says a loop that never ends
# -                 at = line_of[counter]
# +                 at = line_of[counter] - 1

# %% wrong, changed: says and it is 0
# -             values[node.src[0]] = np.float32(0 if node.src[0].arg is Ops.ADD else -np.inf)
# +             values[node.src[0]] = np.float32(0)

# %% wrong, changed: says This writes element -3
# -         if node.op in (Ops.LOAD, Ops.STORE) and not 0 <= src[1] < len(src[0]):
# +         if node.op is Ops.LOAD and not 0 <= src[1] < len(src[0]):

# %% wrong, changed: says only integers
# -             kind = np.float32 if node.dtype is float else int
# +             kind = np.float64

# %% wrong: says of an array that has 5
def __call__(self, *arrays):
    """With zeros behind each array, so that nothing is read behind its end."""
    out, *read = arrays
    run(self, out, *(np.pad(array.reshape(-1), (0, 64)) for array in read))

# %% right: loops as Python's own loops, by recursion; NumPy raises the other IndexError
def __call__(self, *arrays):
    values = {}

    def value(node):
        return node.arg if node.op is Ops.CONST else values[node]

    def memory(node):
        array, place = values[node.src[0]], value(node.src[1])
        if place < 0:
            raise IndexError(f"there is no element {place}")
        return array, place

    def run(lines):
        while lines:
            node, lines = lines[0], lines[1:]
            match node.op:
                case Ops.RANGE:
                    end = next(n for n, line in enumerate(lines)
                               if line.op is Ops.ENDRANGE and line.src[0] is node)
                    for values[node] in range(node.arg[1]):
                        run(lines[:end])
                    lines = lines[end + 1:]
                case Ops.DEFINE_GLOBAL:
                    values[node] = arrays[node.arg[0]].ravel()
                case Ops.DEFINE_REG:
                    first = 0 if node.src[0].arg is Ops.ADD else -np.inf
                    values[node.src[0]] = np.float32(first)
                case Ops.REDUCE:
                    values[node] = ALU[node.arg](values[node], value(node.src[0]))
                case Ops.LOAD:
                    array, place = memory(node)
                    values[node] = array[place]
                case Ops.STORE:
                    array, place = memory(node)
                    array[place] = value(node.src[2])
                case op:
                    kind = {float: np.float32}.get(node.dtype, node.dtype)
                    values[node] = kind(ALU[op](*map(value, node.src)))

    run(list(self.lines))
