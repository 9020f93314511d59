"""Part 8a: what somebody might answer, and what they are told."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from classroom.mini import own_c

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = {"8.2"}

# for each prediction what is right, and what somebody might think
GUESSES: dict[str, tuple[Any, ...]] = {"8.3": ((1, 5, 1), (1, 1, 1), (5, 5, 5), (1, 5, 5))}

# ---- 8.1 -----------------------------------------------------------------------------------------


def address(array):
    return ctypes.c_void_p(array.ctypes.data)


def in_order(array):
    return np.ascontiguousarray(array)


def fade(function, one, other, t):
    one, other, out = in_order(one), in_order(other), np.empty(one.shape, np.float32)
    function(address(out), address(one), address(other), ctypes.c_float(t), one.size)
    return out


def with_arrays(function, one, other, t):
    out = np.empty_like(one)
    function(out, one, other, t, one.size)
    return out


def with_ints(function, one, other, t):
    out = np.empty_like(one)
    pointers = (array.ctypes.data for array in (out, one, other))
    function(*pointers, ctypes.c_float(t), one.size)
    return out


def with_a_python_float(function, one, other, t):
    out = np.empty_like(one)
    function(address(out), address(one), address(other), t, one.size)
    return out


def with_a_double(function, one, other, t):
    out = np.empty_like(one)
    function(address(out), address(one), address(other), ctypes.c_double(t), one.size)
    return out


def rows_only(function, one, other, t):
    out = np.empty_like(one)
    function(address(out), address(one), address(other), ctypes.c_float(t), len(one))
    return out


def in_bytes(function, one, other, t):
    out = np.empty_like(one)
    function(address(out), address(one), address(other), ctypes.c_float(t), one.nbytes)
    return out


def into_doubles(function, one, other, t):
    out = np.zeros(one.shape)
    function(address(out), address(one), address(other), ctypes.c_float(t), one.size)
    return out


def into_the_first(function, one, other, t):
    function(address(one), address(one), address(other), ctypes.c_float(t), one.size)
    return one


def as_it_lies(function, one, other, t):
    out = np.empty(one.shape, np.float32)
    function(address(out), address(one), address(other), ctypes.c_float(t), one.size)
    return out


def the_other_way(function, one, other, t):
    return fade(function, other, one, t)


def four_arguments(function, one, other, t):
    out = np.empty_like(one)
    function(address(out), address(one), address(other), ctypes.c_float(t))
    return out


def without_c(function, one, other, t):
    return (1 - t) * one + t * other


def nowhere(function, one, other, t):
    out = np.empty_like(one)
    function(None, address(one), address(other), ctypes.c_float(t), one.size)
    return out


def as_doubles_by_type(function, one, other, t):
    function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_double, ctypes.c_int]
    out = np.empty_like(one)
    function(out.ctypes.data, one.ctypes.data, other.ctypes.data, t, one.size)
    return out


def by_argtypes(function, one, other, t):
    function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_float, ctypes.c_int]
    function.restype = None
    one, other = in_order(one), in_order(other)
    out = np.zeros(one.shape, np.float32)
    function(out.ctypes.data, one.ctypes.data, other.ctypes.data, t, one.size)
    return out


def by_pointers(function, one, other, t):
    arrays = [np.zeros(one.shape, "f4"), one.copy(), other.copy(order="C")]
    arrays[1] = np.array(arrays[1], order="C")
    floats = ctypes.POINTER(ctypes.c_float)
    function(*(a.ctypes.data_as(floats) for a in arrays), ctypes.c_float(t), ctypes.c_int(one.size))
    return arrays[0]


def by_ndpointer(function, one, other, t):
    rows = np.ctypeslib.ndpointer(np.float32, flags="C")
    function.argtypes = [rows, rows, rows, ctypes.c_float, ctypes.c_int]
    out = np.zeros(one.shape, np.float32)
    function(out, in_order(one), in_order(other), np.float32(t), out.size)
    return out


def by_ctypes_attribute(function, one, other, t):
    one, other, out = in_order(one), in_order(other), np.zeros(one.shape, np.float32)
    function(out.ctypes, one.ctypes, other.ctypes, ctypes.c_float(t), one.size)
    return out


# ---- 8.2 -----------------------------------------------------------------------------------------

LARGE = 2.0**24
SUM = [LARGE, *[1.0] * 30, -LARGE]

# ---- 8.4 -----------------------------------------------------------------------------------------


def name(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    said = []
    for u in number:
        what = u.shape if u.op.name == "BUFFER" else u.arg
        said.append(f"{u.op.name}{[number[s] for s in u.src]}{what!r}")
    return "; ".join(said)


def only_ops(sink):
    return " ".join(f"{u.op.name} {u.shape}" for u in sink.toposort())


def with_buffers(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    return str([(u.op.name, u.arg, [number[s] for s in u.src]) for u in number])


def with_ids(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    return str([(u.op.name, id(u), [number[s] for s in u.src]) for u in number])


def without_sources(sink):
    return " ".join(
        f"{u.op.name} {u.shape if u.op.name == 'BUFFER' else u.arg!r}" for u in sink.toposort()
    )


def without_shapes(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    return str(
        [(u.op.name, u.op.name != "BUFFER" and u.arg, [number[s] for s in u.src]) for u in number]
    )


def rounded(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    said = []
    for u in number:
        what = f"{u.arg:g}" if u.op.name == "CONST" else u.shape
        what = str(u.arg) if u.op.name not in ("CONST", "BUFFER") else what
        said.append(f"{u.op.name}{[number[s] for s in u.src]}{what}")
    return "; ".join(said)


def without_sign_of_zero(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    said = []
    for u in number:
        what = u.shape if u.op.name == "BUFFER" else u.arg
        what = 0.0 if u.op.name == "CONST" and what == 0 else what
        said.append((u.op.name, [number[s] for s in u.src], what))
    return str(said)


def written_out(sink):
    """A node wherever it is used; sixty doublings would take 2**60 letters."""
    number = {u: n for n, u in enumerate(u for u in sink.toposort() if u.op.name == "BUFFER")}

    def said(u):
        if u in number:
            return f"b{number[u]}{u.shape}"
        return f"{u.op.name}({','.join(map(said, u.src))};{u.arg!r})"

    return said(sink)


def hashed(sink):
    return str(hash(name(sink)))


def without_order_of_results(sink):
    return " ".join(sorted(without_last(sink)))


def without_last(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    yield from (
        f"{u.op.name}{[number[s] for s in u.src]}{u.shape if u.op.name == 'BUFFER' else u.arg!r}"
        for u in number
        if u is not sink
    )


def by_numbered(sink):
    """What somebody writes who knows stage 8 well: numbered parameters are what they are."""
    return name(own_c.module("part8").numbered(sink)[0])


def in_lines(sink):
    order = [*sink.toposort()]
    lines = []
    for u in order:
        what = "memory " + "x".join(map(str, u.shape)) if u.op.name == "BUFFER" else repr(u.arg)
        lines.append(" ".join([u.op.name, *(str(order.index(s)) for s in u.src), what]))
    return "\n".join(lines)


# ---- 8.5 -----------------------------------------------------------------------------------------


def stripes(x, y):
    for _ in range(6):
        x = (x * x - 0.3).maximum(-1) * 2
    return x


def plane(x, y):
    return x + y


def with_a_sum(x, y):
    for _ in range(6):
        x = x * y + 0.3
    return x - x.sum()


def sum_first(x, y):
    return (own_c.julia(x, y) - own_c.julia(x, y).max()) * x


def numbers(x, y):
    return own_c.julia(x, y).realize()


def photograph(x, y):
    noise = own_c.module("part8").Tensor(np.random.default_rng(1).random(x.shape))
    return own_c.julia(x, y) + noise


def runs_away(x, y):
    a = x
    for _ in range(30):
        a = a * a + 2 + y
    return a


def of_numpy(x, y):
    return own_c.julia(x, y).numpy()


def one_number(x, y):
    return own_c.julia(x, y).sum()


def rings(x, y):
    d = (x * x + y * y).sqrt() * 12
    for _ in range(6):
        d = (d - 1).maximum(1 - d)  # folded again and again
    return d * x.exp()


def checks(x, y):
    total = 0
    for n in range(1, 9):
        total = (x * n < y * y) + total
    return total.uop


# number of an exercise, a wrong answer, what is said about it
WRONG: list[Any] = [
    ("8.1", with_arrays, "never heard of NumPy"),
    ("8.1", with_ints, "Half of it would be lost"),
    ("8.1", with_a_python_float, "won't guess"),
    ("8.1", with_a_double, "read half of your number"),
    ("8.1", as_doubles_by_type, "read half of your number"),
    ("8.1", rows_only, "too small"),
    ("8.1", in_bytes, "behind the end"),
    ("8.1", into_doubles, "an array of float64"),
    ("8.1", into_the_first, "has changed"),
    ("8.1", as_it_lies, "C sees an address, and no shape"),
    ("8.1", the_other_way, "swapped"),
    ("8.1", four_arguments, "takes five arguments"),
    ("8.1", without_c, "never called"),
    ("8.1", nowhere, "address 0"),
    ("8.2", [1.0] * 30, "Your C should say 0."),
    ("8.2", [LARGE, 1.0, -LARGE], "20 or more"),
    ("8.2", [LARGE, *[4.0] * 5, -LARGE], "Your C should say 0."),
    ("8.2", [LARGE * 64, *[4.0] * 5, -LARGE * 64], "as much of it as your C"),
    ("8.2", [LARGE, *[1.0] * 200, -LARGE], "have to be enough"),
    ("8.2", [1e40, 1.0, -1e40], "finite"),
    ("8.2", "numbers", "a list of numbers"),
    ("8.4", only_ops, "the same name"),
    ("8.4", with_buffers, "an address of memory"),
    ("8.4", with_ids, "different names"),
    ("8.4", without_sources, "who is whose source"),
    ("8.4", without_shapes, "shapes of `x` and `y` differ"),
    ("8.4", rounded, "rounded when it was written"),
    ("8.4", without_sign_of_zero, "0.0 == -0.0"),
    ("8.4", written_out, "Give each node a number"),
    ("8.4", hashed, "different in the next process"),
    ("8.4", without_order_of_results, "in a different order"),
    ("8.4", lambda sink: tuple(sink.toposort()), "has to be a string"),
    ("8.4", lambda sink: "", "The name is empty"),
    ("8.5", stripes, "from top to bottom"),
    ("8.5", plane, "take 10 or more"),
    ("8.5", sum_first, "One kernel"),
    ("8.5", numbers, "numbers already"),
    ("8.5", photograph, "a picture in your formula already"),
    ("8.5", runs_away, "no number, or infinite"),
    ("8.5", of_numpy, "a Tensor of mini"),
    ("8.5", one_number, "the shape of `x`"),
]

RIGHT: list[Any] = [
    ("8.1", fade),
    ("8.1", by_argtypes),
    ("8.1", by_pointers),
    ("8.1", by_ndpointer),
    ("8.1", by_ctypes_attribute),
    ("8.2", SUM),
    ("8.2", np.array(SUM)),
    ("8.2", tuple(map(int, SUM))),
    ("8.2", (LARGE * 4, *[2] * 40, -4 * LARGE)),
    ("8.4", name),
    ("8.4", by_numbered),
    ("8.4", in_lines),
    ("8.5", own_c.julia),
    ("8.5", rings),
    ("8.5", checks),
]
