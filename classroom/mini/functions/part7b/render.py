"""Hint: Each line either gives a piece of text that others use, or a statement, or both. Which do
what? Write the C of a * 2 by hand first, line by line.
Hint: A dict from node to its text, a list of statements, and a depth for indentation. Memory is
data0, data1 …; a counter is i and its number; a REDUCE's text is the name of its variable.
Constants have no line: c_number writes them. C[op].format(…) does the arithmetic. What isn't
inlined gets a name: c_type(node) says of which type.
Because: C is the lines once more, with semicolons. All decisions were made before: which value is
stored, where it's computed, and in which order.
"""

import ctypes
from typing import Any

import numpy as np

from classroom.mini.check import Wrong, describe, promise
from classroom.mini.functions.part7b.shared import (
    CASES,
    SHAPE,
    SUMS,
    floats,
    kernels_of,
    machine_code,
    random_graph,
    tensor,
)

LINES = ("value_at", "lower", "linearize")


def expect_c(mini, said: str, graph: Any) -> None:
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


@promise("Loops, loads and stores: a copy, a sum of two arrays, a transpose", needs=LINES,
         seconds=30)  # fmt: skip
def first_c(mini) -> None:
    a, b = tensor(mini, *SHAPE), tensor(mini, *SHAPE)
    for said in ("a * 2", "a + b", "a.permute(1, 0)"):
        make = CASES[said]
        expect_c(mini, said, (make(a, b) + 0).uop if said == "a.permute(1, 0)" else make(a, b).uop)


@promise("Sums and maxima, with what they start from", needs=LINES, seconds=30)
def sums_in_c(mini) -> None:
    a, b = tensor(mini, *SHAPE), tensor(mini, *SHAPE)
    for said in ("a.sum(1)", "(a * b).sum(0) + 1", "a @ b.permute(1, 0)"):
        expect_c(mini, said, SUMS[said](a, b).uop)
    below = mini.Tensor(-np.abs(floats(*SHAPE)) - 1)
    expect_c(mini, "a.max(1), all of it below 0", below.max(1).uop)


@promise("Every elementwise op: comparison, choice, roots, powers, logarithms", needs=LINES,
         seconds=30)  # fmt: skip
def ops_in_c(mini) -> None:
    a, b = tensor(mini, *SHAPE), tensor(mini, *SHAPE)
    positive = mini.Tensor(np.abs(floats(*SHAPE)) + 0.5)
    for said, made in (
        ("a < b", a < b), ("(a < b).where(a, 7)", (a < b).where(a, 7)),
        ("a.maximum(b)", a.maximum(b)), ("1 / positive", 1 / positive),
        ("positive.sqrt()", positive.sqrt()), ("a.exp()", a.exp()),
        ("positive.log()", positive.log()), ("a * 1e-8 + 1e20", a * 1e-8 + 1e20),
    ):  # fmt: skip
        expect_c(mini, said, made.uop)


@promise("Infinity and NaN get through: as constants, and in maxima", needs=LINES, seconds=30)
def special_numbers(mini) -> None:
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


@promise("Twelve graphs of all kinds, padding and all", needs=LINES, seconds=30)
def any_c(mini) -> None:
    for seed in range(12):
        expect_c(mini, "a graph of several steps", random_graph(mini, seed))

# %% wrong: says There is no function
def render(lines):
    return function_name(lines), beginning(lines)

# %% wrong: says should give a pair of strings
def render(lines):
    return None

# %% wrong, changed: says writes outside of its memory
# -             said = f"for (int {i} = 0; {i} < {node.arg[1]}; {i}++) {{"
# +             said = f"for (int {i} = 0; {i} <= {node.arg[1]}; {i}++) {{"

# %% wrong, changed: says should be
# -             said = f"{text[node]} = {C[node.arg].format(text[node], src[0])};"
# +             said = f"{text[node]} = {src[0]};"

# %% wrong, changed: says The C compiler refuses this
# -         src = [c_number(s.arg) if s.op is Ops.CONST else text.get(s, "0") for s in node.src]
# +         src = [str(s.arg) if s.op is Ops.CONST else text.get(s, "0") for s in node.src]

# %% right
def render(lines):
    names, body = {}, []
    write = lambda node: c_number(node.arg) if node.op is Ops.CONST else names.get(node, "0")
    parameters = {}
    for number, node in enumerate(lines):
        src = [write(s) for s in node.src]
        if node.op is Ops.DEFINE_GLOBAL:
            names[node] = f"data{node.arg[0]}"
            parameters[node.arg[0]] = f"float *{names[node]}"
        elif node.op is Ops.RANGE:
            names[node] = f"k{number}"
            body.append(f"int k{number} = 0; while (k{number} < {node.arg[1]}) {{")
        elif node.op is Ops.ENDRANGE:
            body.append(f"{src[0]} += 1; }}")
        elif node.op is Ops.DEFINE_REG:
            names[node.src[0]] = f"sum{number}"
            body.append(f"float sum{number} = {FIRST[node.src[0].arg]};")
        elif node.op is Ops.REDUCE:
            body.append(f"{names[node]} = {C[node.arg].format(names[node], src[0])};")
        elif node.op is Ops.STORE:
            body.append(f"{src[0]}[{src[1]}] = {src[2]};")
        else:
            is_load = node.op is Ops.LOAD
            text = f"{src[0]}[{src[1]}]" if is_load else C[node.op].format(*src)
            names[node] = f"v{number}"
            kind = c_type(node)
            body.append(f"{kind} v{number} = {text};")
    arguments = ", ".join(parameters[n] for n in sorted(parameters))
    text = f"void kernel({arguments}) {{" + " ".join(body) + "}"
    return "kernel", beginning(lines) + text
