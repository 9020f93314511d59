"""Part 10b: what somebody might answer, and what they are told."""

from __future__ import annotations

import numpy as np

from classroom.define_by_run import ops
from classroom.loop_nests import Var
from classroom.other_frameworks import FRIENDS, PINNED, ROOMS, room_of
from classroom.triton_like import tl
from tinyframe.codegen.optimize.loops import Opt, OptOps

OBJECTS: set[str] = {"10.10", "10.11", "10.13", "10.15", "10.16", "10.17"}

GUESSES: dict[str, tuple] = {}

VECTOR, UPCAST, REORDER = OptOps.VECTOR, OptOps.UPCAST, OptOps.REORDER
names = "x y k xo xi xm yo yi a b"
x, y, k, xo, xi, xm, yo, yi, a, b = (Var(v) for v in names.split())


# ---- 10.9 ----------------------------------------------------------------------------------------


def squares(t):
    return (t * t).mean(axis=1, keepdim=True)


def layernorm(t, w):
    centred = t - t.mean(axis=1, keepdim=True)
    return centred / (squares(centred) + 1e-6).sqrt() * w


# ---- 10.10 ---------------------------------------------------------------------------------------


def softmax(
    other=float("-inf"), minus=True, in_row=True, total=True, stores=True, masked=True, safe=True
):
    """A kernel that does or does not do what it should."""

    def kernel(x_ptr, out_ptr, columns, BLOCK):
        i = tl.arange(0, BLOCK)
        mask = i < columns if masked else None
        at = i + tl.program_id(0) * columns if in_row else i
        e = tl.load(x_ptr + at, mask=mask, other=other)
        e = tl.exp(e - tl.max(e) if minus else e)
        if stores:
            tl.store(out_ptr + at, e / tl.sum(e) if total else e, mask=mask)

    return kernel


def maximum_of_all(x_ptr, out_ptr, columns, BLOCK):
    i = tl.arange(0, BLOCK)
    at = i + tl.program_id(0) * columns
    e = tl.load(x_ptr + at, mask=i < columns, other=0.0)
    e = tl.exp(e - tl.max(e)) * (i < columns)
    tl.store(out_ptr + at, e / tl.sum(e), mask=i < columns)


def without_block(x_ptr, out_ptr, columns):
    tl.store(out_ptr, columns)


def by_log(x_ptr, out_ptr, columns, BLOCK):
    row = tl.program_id(0) * columns
    i = tl.arange(0, BLOCK)
    values = tl.load(row + x_ptr + i, i < columns, -1e30)
    values = values - tl.max(values, 0)
    tl.store(out_ptr + row + i, tl.exp(values - tl.log(tl.sum(tl.exp(values), 0))), i < columns)


def by_where(x_ptr, out_ptr, columns, BLOCK):
    i = tl.arange(0, BLOCK)
    values = tl.load(x_ptr + tl.program_id(0) * columns + i, mask=i < columns, other=0.0)
    values = tl.where(i < columns, values, -float("inf"))
    e = tl.exp(values - tl.max(values, axis=0))
    tl.store(out_ptr + tl.program_id(0) * columns + i, e / tl.sum(e, axis=0), mask=i < columns)


# ---- 10.11, 10.15 --------------------------------------------------------------------------------

ROOM_NAMES, FILES = list(ROOMS), list(PINNED)
PINS = {n: room_of(file) for n, file in enumerate(FILES, 1)}
MEANT = {n: word for n, (_, _, word, _) in enumerate(FRIENDS, 1)}


# ---- 10.12 ---------------------------------------------------------------------------------------


def at(index, place, then=None):
    i, j = index
    total = ops.add(ops.load("x", place(i, j)), ops.load("b", j))
    return (then or ops.relu)(total)


def with_maximum(index):
    n, m = index
    return ops.maximum(ops.constant(0.0), ops.load("b", m) + ops.load("x", n + 4 * m))


def wrong_row(index):
    i, j = index
    return ops.relu(ops.add(ops.load("x", j * 4 + i), ops.load("b", i)))


# ---- 10.13, 10.14 --------------------------------------------------------------------------------

ASKED = [Opt(VECTOR, 1, 16), Opt(UPCAST, 0, 4), Opt(REORDER, (1, 0, 2)), Opt(OptOps.THREAD, 0)]
OTHER_WAY = [Opt(REORDER, (1, 0, 2)), Opt(UPCAST, 1, 4), Opt(VECTOR, 0, 16), Opt(OptOps.THREAD, 0)]
BY_SPLIT = [Opt(OptOps.SPLIT, 0, 4), Opt(UPCAST, 1, 0), *ASKED[:1]]
BY_SPLIT += ASKED[2:]


def splits(c):
    return c.split(x, xo, xi, 8).split(xo, xo, xm, 2).split(y, yo, yi, 6)


def marked(c):
    return c.vectorize(xi).unroll(xm).unroll(yi)


def in_one(c):
    return (
        c.update()
        .tile(x, y, xo, yo, xi, yi, 16, 6)
        .reorder(xi, yi, k, xo, yo)
        .unroll(yi)
        .vectorize(xi, 8)
        .unroll(xi)
    )


def other_names(c):
    c = c.split(x, a, b, 16).split(b, b, xi, 8).split(y, y, yi, 6)
    return c.reorder(xi, yi, b, k, a, y).vectorize(xi).unroll(b).unroll(yi)


def nothing_given(c):
    marked(splits(c).reorder(xi, xm, yi, k, xo, yo))
    return 3


# ---- 10.17 ---------------------------------------------------------------------------------------


def translator(end=True, order=True, lanes_last=True, reorders=True, splits_in=True, inverse=False):
    """A translator that does or does not do what it should."""

    def to_tvm(sch, opts):
        loops, unrolled, vectors = [*sch.get_loops()], [], []
        for opt in opts:
            if opt.op is REORDER:
                if reorders:
                    loops = [loops[n] for n in opt.axis]
                continue
            if opt.op is OptOps.THREAD:
                sch.parallel(loops[opt.axis])
                continue
            halves = sch.split(loops[opt.axis], [None, opt.arg])
            if inverse:
                loops[opt.axis] = halves[1]
                continue
            kept = halves if opt.op is OptOps.SPLIT and splits_in else halves[:1]
            loops[opt.axis : opt.axis + 1] = kept
            if opt.op is not OptOps.SPLIT:
                (vectors if opt.op is VECTOR else unrolled).append(halves[1])
        if order:
            sch.reorder(*loops, *unrolled, *vectors)
        if end:
            for loop in unrolled:
                sch.unroll(loop)
            for loop in vectors:
                (sch.vectorize if lanes_last else sch.unroll)(loop)

    return to_tvm


def gives_it_back(sch, opts):
    translator()(sch, opts)
    return sch


def only_vectors(sch, opts):
    for opt in opts:
        if opt.op is VECTOR:
            *_, inner = sch.split(sch.get_loops()[opt.axis], factors=[None, opt.arg])
            sch.reorder(*[loop for loop in sch.get_loops() if loop != inner], inner)
            sch.vectorize(inner)


WRONG = [
    ("10.9", lambda t, w: t / (squares(t) + 1e-6).sqrt(), "Where did the weights go"),
    ("10.9", lambda t, w: t / ((t * t).sum(axis=1, keepdim=True) + 1e-6).sqrt() * w, "divides"),
    ("10.9", lambda t, w: t / (squares(t) + 1e-6) * w, "a square root"),
    ("10.9", lambda t, w: t / ((t * t).mean() + 1e-6).sqrt() * w, "sees one row only"),
    ("10.9", lambda t, w: t / ((t * t).mean(axis=0) + 1e-6).sqrt() * w, "mean of each column"),
    ("10.9", layernorm, "LayerNorm"),
    ("10.9", lambda t, w: t / squares(t).sqrt() * w, "What does the kernel add before the root"),
    ("10.9", lambda t, w: t.softmax(axis=1) * w, "x = [[3, 4, 0], [1, -1, 1]]"),
    ("10.9", lambda t, w: (t * w).sum(axis=1), "(2, 3)"),
    ("10.9", lambda t, w: t.numpy() * 2, "has to be a Tensor"),
    ("10.10", softmax(other=0.0), "adds up to less than 1"),
    ("10.10", softmax(other=None), "isn't defined"),
    ("10.10", maximum_of_all, "Your maximum looks behind the end"),
    ("10.10", softmax(minus=False), "more than a float can hold"),
    ("10.10", softmax(in_row=False), "Only the first row arrives"),
    ("10.10", softmax(stores=False), "Does each program store its row"),
    ("10.10", softmax(total=False), "expected"),
    ("10.10", softmax(masked=False), "A mask would leave it alone"),
    ("10.10", without_block, "TypeError"),
    ("10.10", "softmax", "asks for a kernel"),
    ("10.11", {**PINS, 1: "loops"}, "does something else: takes nodes two at a time"),
    ("10.11", {**PINS, 4: "schedule", 7: "IR"}, "One more isn't right"),
    ("10.11", dict.fromkeys(PINS, "loops"), "more aren't right"),
    ("10.11", {**PINS, 2: "kitchen"}, "There's no room 'kitchen'"),
    ("10.11", {**{n: PINS[n] for n in range(1, 10)}, "ops.c": "GPU"}, "Use their numbers"),
    ("10.11", "loops", "has to be a dict"),
    ("10.12", lambda index: at(index, lambda i, j: i * 3 + j), "order in which it lies in memory"),
    ("10.12", lambda index: at(index, lambda i, j: j * 4 + i, lambda v: v), "The relu is missing"),
    ("10.12", lambda index: ops.relu(ops.load("x", index[1] * 4 + index[0])), "And `b`?"),
    ("10.12", wrong_row, "b has 3 elements, and no element 3"),
    ("10.12", lambda index: at(index, lambda i, j: j * 3 + i), "expected"),
    ("10.12", lambda index: ops.load("y", 0), "there is no 'y'"),
    ("10.12", lambda index: index[0] + index[1], "made by `ops`"),
    ("10.12", lambda i, j: ops.load("x", i), "TypeError"),
    ("10.13", ASKED[:1], "Along y, there should be loops of 12 and 4"),
    ("10.13", [*ASKED[:2], Opt(UPCAST, 2, 0)], "a reduce's"),
    ("10.13", ASKED[:3], "The loop of 3 along x should be parallel"),
    ("10.13", [Opt(VECTOR, 1, 8), *ASKED[1:]], "Along x"),
    ("10.13", [ASKED[0], Opt(UPCAST, 0, 12), *ASKED[2:]], "Along y"),
    ("10.13", [*ASKED[:2], Opt(OptOps.THREAD, 0)], "The loop of 12 along y should be serial"),
    ("10.13", [Opt(OptOps.STAGE, 0, 2)], "something else than loops"),
    ("10.13", [Opt(VECTOR, 7, 16)], "there is no axis 7"),
    ("10.13", ["VECTOR"], "list of Opts"),
    ("10.13", 4, "list of Opts"),
    ("10.14", lambda c: marked(splits(c)), "runs inside the copies"),
    ("10.14", lambda c: marked(splits(c).reorder(yo, xo, k, yi, xm, xi)), "runs inside the copies"),
    ("10.14", lambda c: splits(c).reorder(xi, xm, yi, k, xo, yo), "The loop of 6 along y"),
    ("10.14", lambda c: marked(splits(c).reorder(xi, xm, yi, k, yo, xo)), "different order"),
    ("10.14", lambda c: c.split(x, xo, xi, 8).vectorize(xi), "Along y, there should be loops"),
    ("10.14", lambda c: c.split(x, xo, xi, 7), "don't divide by 7"),
    ("10.14", lambda c: splits(c).vectorize(x), "There is no loop x"),
    ("10.14", lambda c: c.vectorize(k), "part of the sum"),
    ("10.14", lambda c: c, "three plain loops"),
    ("10.14", nothing_given, "has to be the schedule itself"),
    ("10.15", {**MEANT, 1: "schedule", 2: "opts"}, "don't mean what we do"),
    ("10.15", {**MEANT, 3: "lowering", 4: "graph"}, "There's no loop in it yet"),
    ("10.15", {**MEANT, 8: "program"}, "Which of our words is 'program'"),
    ("10.15", ["kernel"] * 8, "Not that one"),
    ("10.15", "opts", "has to be a dict"),
    ("10.16", 3, "That claim is right"),
    ("10.16", 1, "a cell for each of them"),
    ("10.16", "5", "uop/ops.py"),
    ("10.16", 7, "a number from 1 to 6"),
    ("10.16", "Triton", "a number from 1 to 6"),
    ("10.16", True, "a number from 1 to 6"),
    ("10.17", translator(end=False), "should be vectorized"),
    ("10.17", translator(order=False), "a different order"),
    ("10.17", translator(lanes_last=False), "should be vectorized"),
    ("10.17", translator(reorders=False), "Along y, there should be a loop of 48"),
    ("10.17", translator(splits_in=False), "Opt(OptOps.SPLIT, 0, 4)"),
    ("10.17", translator(inverse=True), "should be vectorized"),
    ("10.17", only_vectors, "Along y, there should be loops of 8 and 6"),
    ("10.17", lambda sch, opts: print(end=""), "as it was"),
    ("10.17", lambda sch, opts: sch.vectorize("x9"), "There is no loop x9"),
    ("10.17", lambda opts: opts, "TypeError"),
    ("10.17", 3, "asks for a function"),
]

RIGHT = [
    ("10.9", lambda t, w: w * t * (squares(t) + 1e-6).rsqrt()),
    ("10.9", lambda t, w: t / ((t**2).sum(1, keepdim=True) / t.shape[1] + 1e-6).sqrt() * w),
    ("10.10", softmax()),
    ("10.10", by_log),
    ("10.10", by_where),
    ("10.11", PINS),
    ("10.11", list(PINS.values())),
    ("10.11", {n: ROOM_NAMES.index(room) + 1 for n, room in PINS.items()}),
    ("10.11", {file: PINS[n].upper() for n, file in enumerate(FILES, 1)}),
    ("10.11", {file.rpartition("/")[2]: room_of(file) for file in FILES}),
    ("10.11", {np.int64(n): room for n, room in PINS.items()}),
    ("10.12", with_maximum),
    ("10.12", lambda index: at(index, lambda i, j: i + j * 4)),
    ("10.13", ASKED),
    ("10.13", tuple(OTHER_WAY)),
    ("10.13", iter(BY_SPLIT)),
    ("10.14", in_one),
    ("10.14", other_names),
    ("10.14", lambda c: marked(splits(c).reorder(yi, xm, xi, k, xo, yo))),
    ("10.15", MEANT),
    ("10.15", tuple(MEANT.values())),
    ("10.15", {str(n): f" {word.capitalize()}" for n, word in MEANT.items()}),
    ("10.16", 4.0),
    ("10.16", "4."),
    ("10.16", np.int64(4)),
    ("10.17", translator()),
    ("10.17", gives_it_back),
]
