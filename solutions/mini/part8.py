"""Stage 8: two devices. One compiles your C and calls it, and one executes your lines in Python.

One line, `Tensor.run = run_on(CRunner)`, and whatever you built in stages 4 to 6 runs as machine
code that you generated.
"""

import ctypes
import hashlib
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from os import environ, getpid
from pathlib import Path
from shutil import which

import numpy as np

from mini.part4 import ALU, Buffer, Ops, Tensor, UOp, interpret
from mini.part4b import cut
from mini.part7a import substitute
from mini.part7b import linearize, lower, render

# ---- the first device: a C compiler and the processor -------------------------------------------


def find_compiler():
    """The command of a C compiler: CC, or what is installed, or the one that `ziglang` brings."""
    if "CC" in environ:
        return shlex.split(environ["CC"])
    installed = [name for name in ("cc", "gcc", "clang") if which(name)]
    return installed[:1] or [sys.executable, "-m", "ziglang", "cc"]


FLAGS = "-O2 -march=native -ffp-contract=fast -fno-math-errno -shared -fPIC -x c - -lm -o".split()


def compiled(text):
    """The path of a library with this C in it. The same text is compiled only once, ever."""
    folder = Path(tempfile.gettempdir()) / "mini_kernels"
    folder.mkdir(exist_ok=True)
    library = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.so"
    if not library.exists():
        unfinished = library.with_suffix(f".{getpid()}")
        command = [*find_compiler(), *FLAGS, str(unfinished)]
        subprocess.run(command, input=text.encode(), check=True)
        unfinished.replace(library)
    return library


class CRunner:
    """Lines as machine code. Call it with the arrays of the kernel, the result first."""

    def __init__(self, lines):
        """Turn the lines into a function that can be called, and keep the text in self.text.

        Examples:
        - CRunner(lines).text begins with PREAMBLE.
        - ctypes.CDLL("/some/library.so")["r_4_5"] is the function r_4_5 of that library.
        """
        ### BEGIN SOLUTION
        name, self.text = render(lines)
        self.function = ctypes.CDLL(str(compiled(self.text)))[name]
        ### END SOLUTION

    def __call__(self, *arrays):
        """Run the function. C wants no arrays; it gets the address of each one's memory.

        Examples:
        - ctypes.c_void_p(array.ctypes.data) is the address of an array's memory.
        - For the lines of a * 2, runner(out, a) fills `out`, and returns nothing.
        """
        ### BEGIN SOLUTION
        self.function(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
        ### END SOLUTION


# ---- the second device: Python ------------------------------------------------------------------


class PythonRunner:
    """Lines, executed one after the other. Slow, but it says what a program means, and it notices
    when a program reads or writes outside of its memory."""

    def __init__(self, lines):
        self.lines = lines

    def __call__(self, *arrays):
        """Execute the lines. arrays[n] is the memory of the parameter with number n.

        Keep the value of each node in a dict. What each line does:
        - DEFINE_GLOBAL: its value is the array, as one long row.
        - RANGE starts its counter at 0. ENDRANGE adds 1 to the counter of its RANGE; if that is
          still below the size, go on with the line after the RANGE.
        - DEFINE_REG sets its REDUCE back to the first value, 0 or minus infinity, as float32.
        - REDUCE combines what it has with its value, by its arg, ADD or MAX.
        - LOAD and STORE read and write an element. If there is no such element, raise an IndexError
          that says so: a negative place is an error, too.
        - All others: ALU[op], turned into node.dtype.

        CONSTs have no line; their value is their arg.

        Examples:
        - For the lines of a * 2, runner(out, a) fills `out`, as CRunner's does.
        - runner(out, a[:1]) raises an IndexError, where C would read whatever lies behind it.
        """
        ### BEGIN SOLUTION
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
        ### END SOLUTION


# ---- each program once --------------------------------------------------------------------------


def numbered(sink):
    """The graph with numbered parameters in place of its BUFFERs, and {parameter: array}.

    Every step of a training has new BUFFERs, so its graph is a new one. But it asks for the same
    work, and this shows that: the first BUFFER, in the order of toposort, becomes
    UOp(Ops.DEFINE_GLOBAL, (), (0, shape)), the second gets number 1, and so on.

    Examples, for buffers of the same shape:
    - a + b and c + d become the same node, and the dicts differ.
    - a + a becomes a different one, with one parameter.
    """
    ### BEGIN SOLUTION
    buffers = [node for node in sink.toposort() if node.op is Ops.BUFFER]
    slots = {b: UOp(Ops.DEFINE_GLOBAL, (), (n, b.shape)) for n, b in enumerate(buffers)}
    return substitute(sink, slots), {slots[b]: b.arg.data for b in buffers}
    ### END SOLUTION


@cache
def runner(program, device):
    """A kernel's loops, ready to be called on a device. Equal programs are one node: made once."""
    return device(linearize(program))


@cache
def plan(sink, device):
    """The kernels of a numbered graph: [(runner, where the result goes, what it's called with)].

    Memory between kernels is a numbered parameter as well, with numbers that go on from there.
    """
    slots = [node for node in sink.toposort() if node.op is Ops.DEFINE_GLOBAL]

    def memory_for(node):
        slots.append(UOp(Ops.DEFINE_GLOBAL, (), (len(slots), node.shape)))
        return slots[-1]

    kernels, stored = [], {}
    for kernel in cut(sink, memory_for):
        program, arguments = lower(kernel)
        kernels.append((runner(program, device), kernel.memory, arguments))
        stored[kernel.value] = kernel.memory
    return kernels, [stored.get(source, source) for source in sink.src]


def call(sink, memory, device):
    """Run the kernels of a numbered graph, and return the arrays of its results, as a list.

    `memory` has the array of each parameter of the graph. plan(sink, device) gives two lists: the
    kernels, each as (runner, where its result goes, what it's called with), and the parameters in
    which the results of the whole graph are in the end. A result needs an array of float32 with the
    shape of its parameter; later kernels may read it.

    Examples:
    - For the numbered graph of a + b, and the arrays of a and b, it returns a list of one array.
    - For a graph whose only source is a parameter, nothing runs: its array is the result.
    """
    ### BEGIN SOLUTION
    kernels, results = plan(sink, device)
    for function, result, arguments in kernels:
        memory[result] = np.empty(result.shape, np.float32)
        function(*(memory[parameter] for parameter in arguments))
    return [memory[result] for result in results]
    ### END SOLUTION


def run_on(device):
    """What Tensor.run is to be: `Tensor.run = run_on(CRunner)`, and from then on, every Tensor is
    computed by your C. run_on(None) goes back to stage 4's interpreter."""
    if device is None:
        return staticmethod(interpret)
    return staticmethod(lambda sink: call(*numbered(sink), device))


# ---- the whole step, written down once -----------------------------------------------------------


def replay(tape, tensors, state, device):
    """Run the kernels of a captured step again. Give each Tensor of `state` its new values, and
    return a new Tensor: the result of the step.

    `tensors` are the step's inputs and then `state`, all of them realized. The tape says the rest:
    - tape["sink"] is the numbered graph, and tape["memory"] has the arrays of its parameters in the
      first call; some of them are still right, like that of a constant table.
    - tape["slots"] has a parameter for each of `tensors`: there its array belongs now. (None for a
      Tensor that the step didn't read.)
    - `call`, above, gives a list of results. tape["places"] has the place, in this list, of the
      step's own result, and then of the new values of each Tensor of `state`.

    Examples:
    - A step adds x to `total`, and returns x * 2. Then `tensors` is [x, total]. Say its parameters
      are p0 and p1. Then the tape is {"slots": [p0, p1], "memory": {p0: the array that x had then,
      p1: that of total}, "places": [0, 1], "sink": the graph}. Now x and total have other arrays.
    - If `total` was 3 and x is 4, `total` is 7 after this, and the Tensor returned is 8.
    """
    ### BEGIN SOLUTION
    memory = dict(tape["memory"])
    for slot, tensor in zip(tape["slots"], tensors, strict=True):
        memory[slot] = tensor.uop.arg.data
    results = call(tape["sink"], memory, device)
    out, *changed = (UOp(Ops.BUFFER, (), Buffer(results[place])) for place in tape["places"])
    for tensor, node in zip(state, changed, strict=True):
        tensor.uop = node
    return Tensor(out)
    ### END SOLUTION


def jit(function, state, device=CRunner):
    """`function`, which takes Tensors and returns one, without building its graph again.

    In the first call, `function` runs as always; it should realize its result and all of `state`,
    the Tensors that it changes, together, once. The numbered graph of that is kept. From the second
    call on, `function` isn't called at all: the arrays of the inputs and of `state` take the places
    that theirs had in the first call, the kernels run, and the Tensors get the results. So whatever
    is a Python number in `function` stays what it was in the first call.
    """
    tape = {}

    def record(sink):
        if tape:
            raise RuntimeError("a captured function has to realize everything together, once")
        sink, memory = numbered(sink)
        tape.update(sink=sink, memory=memory, results=call(sink, dict(memory), device))
        return tape["results"]

    def captured(*inputs):
        tensors = [tensor.realize() for tensor in (*inputs, *state)]
        if tape:
            for slot, tensor in zip(tape["slots"], tensors, strict=True):
                if slot is not None and slot.shape != tensor.shape:
                    raise ValueError(f"captured for shape {slot.shape}, and this is {tensor.shape}")
            return replay(tape, tensors, state, device)
        before = [id(tensor.uop.arg.data) for tensor in tensors]
        if len(set(before)) < len(before):
            raise ValueError("two of the Tensors share their memory: which one changes later?")
        usual, Tensor.run = Tensor.run, staticmethod(record)
        try:
            out = function(*inputs)
            place_of = {id(array): place for place, array in enumerate(tape.pop("results", ()))}
            made = [t.uop.arg.data if t.uop.op is Ops.BUFFER else None for t in (out, *state)]
            tape["places"] = [place_of.get(id(array)) for array in made]
            if None in tape["places"]:
                raise RuntimeError("the function has to realize its result and all of `state`")
        except BaseException:
            tape.clear()
            raise
        finally:
            Tensor.run = staticmethod(usual)
        slot_of = {id(array): slot for slot, array in tape["memory"].items()}
        tape["slots"] = [slot_of.get(one) for one in before]
        return out

    return captured
