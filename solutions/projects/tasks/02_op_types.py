"""Project 2: what its checks ask, what they are worth, and a hint for each.

Expressions, shapes, views and lists of steps are drawn at random, different for every file that is
handed in. What a kernel is like is read off the kernel, where cells are is what NumPy says of an
array of their numbers, and how many kernels there are is counted in a schedule.
"""

from functools import cache

import numpy as np

from classroom import measured
from classroom.grader.recorded import answer
from classroom.grader.tasks import (
    Expression,
    Project,
    Raised,
    Wrong,
    described,
    expect,
    expect_close,
    expect_equal,
    expect_kind,
    or_known,
)
from classroom.mini.graphs import graph_of, sent
from tinyframe.uop.node import GroupOp, Ops

project = Project(
    "Project 2: Three kinds of op",
    points=100,
    afterwards="You can now take any network apart into elementwise ops, reductions and movement, "
    "and follow each of them to memory. With the same three you multiplied anything by anything, "
    "and got out of a maze. Next: part 6, where gradients are made of them.",
)

KINDS = ("elementwise", "reduction", "movement")
ARITHMETIC = [".relu()", ".exp2()", ".mul(3.0)", ".add(0.5)", ".sqrt()", ".reciprocal()"]
MOVEMENTS = [".flip(0)", ".flip(1)", ".transpose(0, 1)", "[1:]", "[:, 1:]", "[:-1, 2:]"]
SUMS = [".sum(0)", ".sum(1)", ".sum()", ".max(0)", ".max(1)"]


def expression(ask, text, **shapes):
    """It arrives as what it gives, and not as a function."""
    arrays = {name: ask.floats(*shape, low=0.5) for name, shape in shapes.items()}
    return Expression(text, arrays, None)


def random_text(ask, pad):
    """Arithmetic with movement in between, and mostly a sum: always a kernel."""
    moves = "".join(ask.rng.permutation(MOVEMENTS)[: ask.integer(1, 2)])
    first, *after = ask.rng.permutation(ARITHMETIC)[: ask.integer(2, 4)]
    text = f"(a * b){first}{moves}"
    if pad:  # what is added afterwards keeps the zeros from being left out
        text = f"({text}.pad((({ask.integer(1, 2)}, 0), (0, {ask.integer(1, 2)}))) + 2.0)"
    return text + "".join(after) + str(ask.rng.choice([*SUMS, ""]))


def random_expressions(ask, count, answer, ending="", pad=False):
    """Several expressions of which the answer has no entry that is the same for all of them."""
    while True:
        shape = ask.integer(4, 6), ask.integer(7, 9)
        texts = [random_text(ask, pad) for _ in range(count)]
        found = [expression(ask, text + ending, a=shape, b=shape) for text in texts]
        answers = [answer(each) for each in found]
        if all(len({each[key] for each in answers}) > 1 for key in answers[0]):
            return found


# ---- 1 kinds_of ----------------------------------------------------------------------------------

OF_KERNEL = ".schedule()[-1].ast"


def told(each):
    """The text of an expression as a learner would call it."""
    text = each.text.removesuffix(OF_KERNEL)
    return text if text == each.text else f"kernel_of({text})"


@answer
def kinds_in(each):
    nodes = each.argument().uop.toposort()
    groups = GroupOp.Elementwise, {Ops.REDUCE_AXIS}, GroupOp.Movement
    return dict(zip(KINDS, (sum(u.op in group for u in nodes) for group in groups), strict=True))


def expect_kinds(ask, name, expressions, answer):
    answers = [ask(name, each) for each in expressions]
    for found in answers:
        expect_kind(found, dict, f"the result of {name}()")
    for kind in KINDS:
        with ask.part(kind):
            for each, found in zip(expressions, answers, strict=True):
                expect(kind in found, f"there is no {kind!r} in the dict")
                wanted = answer(each)[kind]
                expect_equal(found[kind], wanted, f"{name}({told(each)})[{kind!r}]")


@project.check(
    "kinds_of",
    3,
    "arithmetic, movement and a sum",
    "tensor.uop.toposort() has every node once. GroupOp.Elementwise and GroupOp.Movement are sets "
    "of ops; a reduction is a REDUCE_AXIS.",
)
def _(ask):
    expect_kinds(ask, "kinds_of", random_expressions(ask, 3, kinds_in), kinds_in)


# ---- 2 kinds_in_kernel ---------------------------------------------------------------------------


@answer
def kinds_in_ast(each):
    """Places: all that an INDEX depends on. Values: what is stored, and what that is made of."""
    values, places, pending = set(), set(), []
    for u in (nodes := each.argument().toposort()):
        pending += u.src[1:2] if u.op is Ops.STORE else ()
        if u.op is Ops.INDEX:
            places |= set(u.toposort())
    while pending:
        u = pending.pop()
        if u not in values and u.op is not Ops.INDEX:
            values.add(u)
            pending += u.src
    both = [{u for u in of if u.op in GroupOp.Elementwise} for of in (values - places, places)]
    reductions = sum(u.op is Ops.REDUCE for u in nodes)
    return dict(zip(KINDS, (len(both[0]), reductions, len(both[1])), strict=True))


@project.check(
    "kinds_in_kernel",
    6,
    "kernels with a sum, and with movement before it",
    "Collect everything that the INDEX nodes depend on; each of them has a toposort(). An "
    "elementwise node that is in there computes a place, and any other computes a value.",
)
def _(ask):
    kernels = random_expressions(ask, 3, kinds_in_ast, OF_KERNEL)
    expect_kinds(ask, "kinds_in_kernel", kernels, kinds_in_ast)


# ---- 3 loops_of ----------------------------------------------------------------------------------


@answer
def loops_in(each):
    ranges = {u.arg[0]: u for u in each.argument().toposort() if u.op is Ops.RANGE}
    return [(ranges[n].src[0].arg, ranges[n].arg[1].name.lower()) for n in sorted(ranges)]


# Drawn piece by piece. The text alone doesn't say which loops there are: an axis of size 1, which
# some of these leave, has none.
NARROWED = ["", "", "[:1]", "[:, -1:]"]
BORN = ["(a * b)", "(b @ a.permute(1, 0))"]
ENDED = ["", ".sum(0)", ".max(1)", ".sum()", ".max(0)", ".sum(1)"]


@answer
def has_its_loops_in_order(each):
    numbers = [u.arg[0] for u in each.argument().toposort() if u.op is Ops.RANGE]
    return numbers == sorted(numbers)


def random_kernels(ask, count, born, ended, in_order):
    """Kernels of which no two have loops of the same kinds; with in_order=False, toposort() does
    not give all of their loops in the order of their numbers."""
    while True:
        shape = ask.integer(5, 7), ask.integer(8, 10)  # an axis may lose four of its elements
        texts = [
            str(ask.rng.choice(born))
            + "".join(ask.rng.permutation([*ARITHMETIC, *MOVEMENTS])[: ask.integer(2, 4)])
            + "".join(ask.rng.permutation([ask.rng.choice(NARROWED), ".transpose(0, 1)"]))
            + str(ask.rng.choice(ended))
            for _ in range(count)
        ]
        found = [expression(ask, f"({text}){OF_KERNEL}", a=shape, b=shape) for text in texts]
        kinds = {tuple(kind for _, kind in loops_in(each)) for each in found}
        if len(kinds) == count and all(map(has_its_loops_in_order, found)) is in_order:
            return found


def expect_loops(ask, expressions):
    asked = [(told(each), ask("loops_of", each), loops_in(each)) for each in expressions]
    for text, found, wanted in asked:
        expect_rows(found, 2, f"loops_of({text})")
        expect_count(found, wanted, f"loops_of({text})")
    for place, part in enumerate(("sizes", "kinds")):
        with ask.part(part):
            for text, found, wanted in asked:
                expect_column(found, wanted, place, part, f"loops_of({text})")


def expect_rows(found, width, name):
    """A list of so many entries each; `width` of them."""
    expect_kind(found, list, name)
    for row in found:
        expect_kind(row, tuple, f"an entry of {name}")
        expect(len(row) == width, f"an entry of {name} is {described(row)}, not {width} things")


def expect_count(found, wanted, name):
    expect(
        len(found) == len(wanted), f"{name} has {counted(len(found), 'loop')}, not {len(wanted)}"
    )


def expect_column(found, wanted, place, part, name):
    got, right = ([row[place] for row in rows] for rows in (found, wanted))
    expect_equal(got, right, f"the list of {part} in {name}")


def counted(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


@project.check(
    "loops_of",
    4,
    "a kernel without a sum, and with sums and maxima",
    "A RANGE u has its size in u.src[0].arg, its number in u.arg[0] and its AxisType in u.arg[1]; "
    "u.arg[1].name is its name.",
)
def _(ask):
    expect_loops(ask, random_kernels(ask, 3, BORN[:1], ENDED, in_order=True))


# ---- 4 loops_of_sum ------------------------------------------------------------------------------


@answer
def loops_wanted(shape, axes):
    steps = [stride // 8 for stride in np.empty(shape, np.float64).strides]
    kept = sorted(set(range(len(shape))) - set(axes))
    return [(shape[n], "loop", steps[n]) for n in kept] + [
        (shape[n], "reduce", steps[n]) for n in axes
    ]


def expect_loops_of_sums(ask, *cases):
    asked = []
    for shape, axes in cases:
        name = f"loops_of_sum({list(shape)}, {list(axes)})"
        asked.append((name, ask("loops_of_sum", shape, axes), loops_wanted(shape, axes)))
    for name, found, wanted in asked:
        expect_rows(found, 3, name)
        expect_count(found, wanted, name)
    with ask.part("loops"):
        for name, found, wanted in asked:
            for place, part in enumerate(("sizes", "kinds")):
                expect_column(found, wanted, place, part, name)
    with ask.part("steps"):
        for name, found, wanted in asked:
            expect_column(found, wanted, 2, "steps", name)


@project.check(
    "loops_of_sum",
    6,
    "matrices, along rows and along columns",
    "An axis that is left has a loop outside, and one that is added up has a loop inside. The step "
    "of an axis is its stride: the product of all sizes after it.",
)
def _(ask):
    n, m, k = (int(size) for size in ask.rng.permutation(np.arange(2, 10))[:3])
    expect_loops_of_sums(ask, ((n, m), [0]), ((m, k), [1]), ((k, n), [0]))


# ---- 5 cell --------------------------------------------------------------------------------------


def view_of(array):
    """The view that a NumPy array is, of the memory that it is a view of."""
    size = array.itemsize
    return {
        "shape": list(array.shape),
        "strides": [stride // size for stride in array.strides],
        "offset": int(array.flat[0]),
    }


def matrix(ask):
    """Cells in rows, from cell 0 on."""
    n, m = ask.integer(3, 5), ask.integer(6, 8)
    return np.arange(n * m).reshape(n, m)


def odd_view(ask):
    """Three axes: one of them backwards, one in steps of 2, one repeated, in any order."""
    n, m = ask.integer(3, 4), ask.integer(7, 9)
    cells = np.arange(100)[ask.integer(3, 9) :][: n * m].reshape(n, m)
    cells = np.broadcast_to(cells[::-1, ::2][:, None], (n, ask.integer(2, 3), (m + 1) // 2))
    return cells.transpose([int(axis) for axis in ask.rng.permutation(3)])


def expect_cells(ask, cells, count):
    view = view_of(cells)
    places = [tuple(ask.integer(0, size - 1) for size in cells.shape) for _ in range(count)]
    places.append(tuple(size - 1 for size in cells.shape))
    for place in places:
        got = ask("cell", view, place)
        expect_equal(got, int(cells[place]), f"cell({view}, {list(place)})")


@project.check(
    "cell", 2, "rows and columns", "From the offset, go index times stride cells along each axis."
)
def _(ask):
    cells = matrix(ask)
    expect_cells(ask, cells[1:], 3)
    expect_cells(ask, cells.T, 3)


# ---- 6 moved -------------------------------------------------------------------------------------


def unfolded(cells, argument):
    axis, size, step = argument
    windows = np.lib.stride_tricks.sliding_window_view(cells, size, axis)
    return windows[(slice(None),) * axis + (slice(None, None, step),)]


PLAYED = {
    "permute": lambda cells, axes: cells.transpose(axes),
    "flip": lambda cells, axes: np.flip(cells, axes),
    "shrink": lambda cells, bounds: cells[tuple(slice(*pair) for pair in bounds)],
    "expand": np.broadcast_to,
    "unfold": unfolded,
}


def random_movement(ask, name, cells):
    """A view that this movement is possible for, and what it could be given."""
    sizes = [size * (stride != 0) for size, stride in zip(cells.shape, cells.strides, strict=True)]
    longest, count = int(np.argmax(sizes)), cells.ndim  # of the axes that are not repeated
    match name:
        case "permute":
            turn = ask.integer(1, count - 1)
            return cells, [(axis + turn) % count for axis in range(count)]
        case "flip":
            return cells, [longest]
        case "shrink":
            bounds = [[0, size] for size in cells.shape]
            if (size := cells.shape[longest]) > 1:
                begin = ask.integer(1, size - 1)
                bounds[longest] = [begin, ask.integer(begin + 1, size)]
            return cells, bounds
        case "expand":
            one = PLAYED["shrink"](cells, [[s - 1 if n == longest else 0, s]
                                           for n, s in enumerate(cells.shape)])  # fmt: skip
            return one, [ask.integer(2, 4) if s == 1 else s for s in one.shape]
        case _:
            size = 3 if cells.shape[longest] > 4 else 2
            return cells, [longest, size, 2]


def expect_view(got, cells, name):
    """A view of these cells. The stride of an axis of size 1 may be any number."""
    expect_kind(got, dict, name)
    for key, kind in (("shape", list), ("strides", list), ("offset", int)):
        expect(key in got, f"{name} has no {key!r} in it")
        expect_kind(got[key], kind, f"{name}[{key!r}]")
    expect_equal(got["shape"], list(cells.shape), f"{name}['shape']")
    strides = got["strides"]
    expect(
        len(strides) == cells.ndim,
        f"{name} has {counted(len(strides), 'stride')}, not one per axis",
    )
    for stride in strides:
        expect_kind(stride, int, f"a stride of {name}")
    places = np.indices(cells.shape)
    found = got["offset"] + sum(s * p for s, p in zip(strides, places, strict=True))
    if (wrong := np.argwhere(found != cells)).size:
        place = tuple(int(i) for i in wrong[0])
        is_in = f"its element {list(place)} is in cell {found[place]}, and should be in cell"
        has = f"{name} has strides {list(strides)} and offset {got['offset']}"
        raise Wrong(f"{has}: {is_in} {cells[place]}")


def expect_moved(ask, name, cells):
    cells, argument = random_movement(ask, name, cells)
    view = view_of(cells)
    got = ask("moved", view, name, argument)
    expect_view(got, PLAYED[name](cells, argument), f"moved({view}, {name!r}, {argument})")


@project.check(
    "moved",
    5,
    "rows and columns, each movement by itself",
    "Which cell is the first element in now, and how far is it to the next one along each axis? A "
    "flip begins at the other end; a repeated axis has stride 0; both axes of windows go through "
    "the same cells.",
)
def _(ask):
    for name in PLAYED:
        with ask.part(name):
            expect_moved(ask, name, matrix(ask))


# ---- 7 reshaped ----------------------------------------------------------------------------------


def strides_fit(cells, shape):
    """Whether NumPy finds strides for this view in a different shape; it would copy otherwise."""
    return bool(np.shares_memory(cells, cells.reshape(shape)))


def expect_reshaped(ask, cells, shape):
    view = view_of(cells)
    name = f"reshaped({view}, {list(shape)})"
    got = ask("reshaped", view, shape)
    if strides_fit(cells, shape):
        expect(got != "copy", f"{name} is 'copy', but strides can describe it")
        expect_view(got, cells.reshape(shape), name)
        return
    if isinstance(got, dict):
        expect_view(got, cells.reshape(shape), name)  # says which element is elsewhere
    expect_equal(got, "copy", name)


def columns_of(ask):
    """Some columns of a matrix: there are gaps between its rows."""
    return matrix(ask)[:, 1:5]


@project.check(
    "reshaped",
    6,
    "rows, columns, and a matrix with gaps",
    "Work out the cells of all elements, in order, and give them the new shape. The first cell and "
    "its neighbours tell you the strides. Do all other cells fit them?",
)
def _(ask):
    rows = matrix(ask)
    cases = [(rows, (rows.size,)), (rows.T, (rows.size,)), (rows, (1, *rows.shape, 1))]
    columns = columns_of(ask)
    cases += [(columns, (len(columns), 2, 2)), (columns, (2 * len(columns), 2))]
    for name, some in (("rows and columns", cases[:3]), ("a matrix with gaps", cases[3:])):
        with ask.part(name):
            for n in ask.rng.permutation(len(some)):
                expect_reshaped(ask, *some[n])


# ---- 8 predicted_kernels -------------------------------------------------------------------------

TEXTS = {
    "transpose": "{}.permute(1, 0)",
    "flip": "{}.flip(0)",
    "exp": "{}.exp()",
    "product": "({} @ w)",
    "share": "(lambda t: t / t.sum(axis=1, keepdim=True))({})",
    "sums": "{}.sum(axis=1)",
    "store": "{}.contiguous()",
}
LARGEST = 64  # rows of a matrix whose kernels are counted; what comes out is the same above
NO_TENSOR = (
    "no Tensor can have that many elements. Work it out from the steps, or from a smaller matrix"
)


@answer
def counted_kernels(steps, n):
    """How many kernels realizing it takes: scheduled, not predicted."""
    return _scheduled(tuple(steps), min(n, LARGEST))


@cache
def _scheduled(steps, n):
    text = "t"
    for step in steps:
        text = TEXTS[step].format(text)
    return measured.kernels(Expression(text, dict.fromkeys("tw", np.ones((n, n), np.float32))))


def random_steps(ask, words, least, most, last=()):
    """Steps in which no movement comes twice in a row."""
    while True:
        steps = [str(step) for step in ask.rng.choice(words, ask.integer(least, most))]
        pairs = zip(steps, steps[1:], strict=False)
        if not any(a == b and a in ("transpose", "flip") for a, b in pairs):
            return [*steps, *last]


def predictions(ask, words, n, always, last=()):
    """Lists of steps, with how many kernels they take: those of `always`, which tell mistakes
    apart, and random ones that all take different numbers."""
    found = {}
    while len(found) < 3:
        steps = random_steps(ask, words, 2, 7, last)
        found.setdefault(counted_kernels(steps, n), steps)
    cases = [*found.values(), *([*steps, *last] for steps in always)]
    return [(cases[k], n, counted_kernels(cases[k], n)) for k in ask.rng.permutation(len(cases))]


def expect_predictions(ask, cases):
    for steps, n, kernels in cases:
        try:
            got = ask("predicted_kernels", steps, n)
        except Raised as error:
            if error.kind != "ShapeError":
                raise
            raise Wrong(f"{n:,} by {n:,}: {NO_TENSOR}") from None
        name = f"predicted_kernels({steps}, {n})"
        expect_kind(got, int, name)
        right = f"{name} is {got}, but it takes {counted(kernels, 'kernel')}"
        expect(got == kernels, right)


def expect_no_tensor(ask):
    """Outside of all parts: who builds a Tensor gets nothing. The number may be wrong here."""
    try:
        ask("predicted_kernels", ["exp", "transpose", "share"], 5_000_000_000)
    except Raised as error:
        if error.kind == "ShapeError":
            raise Wrong(f"5,000,000,000 by 5,000,000,000: {NO_TENSOR}") from None


# What random lists are made of, and lists that are asked in any case.
MOVING = ["transpose", "flip", "exp", "store"]
STORED = [["transpose", "store"], ["exp", "store", "flip"], ["flip", "transpose"]]
PRODUCTS = [*MOVING, "product", "product"]
STORED_FIRST = [["exp", "transpose", "product"], ["product", "exp", "product"],
                ["product", "store", "flip"]]  # fmt: skip
SHARES = ["transpose", "transpose", "exp", "store", "share", "share", "share"]  # none with a flip
TURNED = [["share", "transpose", "share"], ["share", "transpose", "exp", "transpose", "share"],
          ["transpose", "share", "share"], ["exp", "store", "transpose"]]  # fmt: skip
BOTH = [["product", "share"], ["product", "exp", "share", "transpose", "share"],
        ["exp", "transpose", "product"], ["share", "store", "transpose"]]  # fmt: skip


@project.check(
    "predicted_kernels",
    6,
    "a few steps: stores, products, shares",
    "Go through the steps and keep a list of those since something was stored. Before each step, "
    "ask whether anything in that list has to be stored first.",
)
def _(ask):
    expect_no_tensor(ask)
    for name, words, always in (
        ("movement, exp and store", MOVING, STORED),
        ("product", PRODUCTS, STORED_FIRST),
        ("share", SHARES, TURNED),
    ):
        with ask.part(name):
            expect_predictions(ask, predictions(ask, words, LARGEST, always))


# ---- 9 einsum ------------------------------------------------------------------------------------


def letters_of(ask, count):
    """So many different letters, in any order."""
    return [str(letter) for letter in ask.rng.permutation(list("abcdefghijklmn"))[:count]]


def expect_einsum(ask, *formulas):
    """formulas: with 0, 1 and so on for letters, which are drawn, and so are the sizes."""
    for pattern in formulas:
        drawn = letters_of(ask, 5)
        formula = "".join(drawn[int(c)] if c.isdigit() else c for c in pattern)
        sizes = dict(zip(drawn, map(int, ask.rng.permutation(np.arange(2, 7))), strict=True))
        names = formula.split("->")[0].split(",")
        shapes = [[sizes[letter] for letter in name] for name in names]
        given = [sent(ask, ask.floats(*shape)) for shape in shapes]
        graph = graph_of(ask, given, "einsum", formula, *given)
        fresh = [ask.floats(*shape) for shape in shapes]
        got, wanted = graph.run(*fresh), np.einsum(formula, *map(np.float64, fresh))
        where = "of Tensors of shape " + ", ".join(str(tuple(shape)) for shape in shapes)
        expect_close(got, wanted, f"einsum({formula!r}, ...) {where}")


@project.check(
    "einsum",
    5,
    "one Tensor, and two",
    "Give every Tensor all the letters, in one order and with size 1 where it hasn't got one: "
    "permute, then reshape. After that, `*` and one sum do the rest. (In mini, sum() without axes "
    "adds up everything.)",
)
def _(ask):
    with ask.part("one Tensor"):
        expect_einsum(ask, "012->201", "01->10", "012->1", "01->")
    with ask.part("two Tensors"):
        expect_einsum(ask, "01,12->02", "0,1->10", "01,01->")


# ---- 10 distances --------------------------------------------------------------------------------

STRAIGHT = ((0, 1), (0, -1), (1, 0), (-1, 0))
DIAGONAL = ((1, 1), (1, -1), (-1, 1), (-1, -1))


def walked(maze, start, steps, moves=STRAIGHT, wraps=False):
    """Step by step, from cell to cell."""
    found = np.full(maze.shape, steps + 1.0)
    found[start != 0] = 0
    for number in range(1, steps + 1):
        for place in np.argwhere(found == number - 1):
            for move in moves:
                there = place + move
                there = there % maze.shape if wraps else there
                is_in = (there >= 0).all() and (there < maze.shape).all()
                if is_in and maze[tuple(there)] and found[tuple(there)] > number:
                    found[tuple(there)] = number
    return found


def random_maze(ask, shape, walls):
    """A maze with this share of walls, and a start in it that is free."""
    maze = (ask.rng.random(shape) >= walls).astype(np.float32)
    start = np.zeros(shape, np.float32)
    place = tuple(ask.integer(0, size - 1) for size in shape)
    start[place] = maze[place] = 1
    return maze, start


def telling_maze(ask, shape, share, steps):
    """One in which it matters that there are walls, if there are, and that the edges are closed."""
    for _ in range(1000):
        maze, start = random_maze(ask, shape, share)
        right = walked(maze, start, steps)
        open_edges = walked(maze, start, steps, wraps=True)
        no_walls = right * 0 if share == 0 else walked(maze * 0 + 1, start, steps) * maze
        others = open_edges, no_walls + (steps + 1) * (1 - maze)
        if not any(np.array_equal(other, right) for other in others):
            break
    return maze, start


def expect_distances(ask, shape, steps, *shares):
    """The graph is built for one maze, and run on others: one for each share of walls."""
    given = [sent(ask, part) for part in random_maze(ask, shape, 0.3)]
    graph = graph_of(ask, given, "distances", *given, steps)
    for share in shares:
        maze, start = telling_maze(ask, shape, share, steps)
        got, wanted = graph.run(maze, start), walked(maze, start, steps)
        told = f"with {counted(steps, 'step')} in a maze of shape {shape}, distances()"
        mistakes = {
            "your steps go diagonally, too": walked(maze, start, steps, (*STRAIGHT, *DIAGONAL)),
            "your steps go out at one edge and come in at the opposite one":
                walked(maze, start, steps, wraps=True),
            "your steps go through walls": walked(maze * 0 + 1, start, steps),
            "every number is 1 too large: the start itself is 0 steps away": wanted + 1,
            "cells that you can't reach have -1; the task asks for steps + 1":
                np.where(wanted > steps, -1, wanted),
        }  # fmt: skip
        with or_known(got, mistakes):
            expect_close(got, wanted, told)


@project.check(
    "distances",
    5,
    "an empty room, and a few walls",
    "After one step, a cell is wet if it's free and it or a neighbour was wet: pad by one, and the "
    "four neighbours are four shrinks. How often was a cell still dry?",
)
def _(ask):
    shape = ask.integer(3, 4), ask.integer(5, 6)
    with ask.part("an empty room"):
        expect_distances(ask, shape, 9, 0.0)
    with ask.part("walls"):
        expect_distances(ask, shape, ask.integer(5, 7), 0.3, 0.3)


### BEGIN HIDDEN
# ---- the instructor's own checks -----------------------------------------------------------------


@project.check(
    "kinds_of",
    3,
    "padding, and more of everything",
    "Count nodes, not what you wrote: a number that is added is a node or two by itself.",
)
def _(ask):
    expect_kinds(ask, "kinds_of", random_expressions(ask, 4, kinds_in, pad=True), kinds_in)


@project.check(
    "kinds_in_kernel",
    6,
    "kernels with padding, the conditions of which are places too",
    "A condition is a source of an INDEX as well; take all of its sources.",
)
def _(ask):
    kernels = random_expressions(ask, 4, kinds_in_ast, OF_KERNEL, pad=True)
    expect_kinds(ask, "kinds_in_kernel", kernels, kinds_in_ast)


@project.check(
    "loops_of",
    4,
    "products, and sums over several axes",
    "toposort() has a loop where it is first used; sort by number.",
)
def _(ask):
    born = [*BORN, "(b.unsqueeze(0) + a.unsqueeze(1))"]
    ended = [*ENDED, ".sum((0, 1))", ".max(-1)"]
    expect_loops(ask, random_kernels(ask, 4, born, ended, in_order=False))


@project.check(
    "loops_of_sum",
    6,
    "three and four axes, several of them added up",
    "Work out the steps of all axes first, then sort the axes into those left and those added up.",
)
def _(ask):
    sizes = [int(size) for size in ask.rng.permutation(np.arange(2, 8))]
    cases = [(sizes[:3], [1]), (sizes[:3], [0, 2]), (sizes[1:5], [1, 2]), (sizes[2:6], [0, 1, 3])]
    expect_loops_of_sums(ask, *((tuple(shape), axes) for shape, axes in cases))


@project.check("cell", 2, "views that run backwards", "A stride below 0 needs no special case.")
def _(ask):
    expect_cells(ask, odd_view(ask), 5)


@project.check(
    "moved",
    7,
    "views that run backwards, repeat, or have gaps; and one movement after another",
    "Nothing in a movement depends on strides being above 0: calculate with the ones you get.",
)
def _(ask):
    for name in PLAYED:
        with ask.part(name):
            for _ in range(3):
                expect_moved(ask, name, odd_view(ask))
    for part in ("a chain", "a longer chain"):
        with ask.part(part):
            expect_chain(ask, 3 if part == "a chain" else 6)


CHAINED = ["permute", "flip", "shrink"]


def expect_chain(ask, length):
    """Each movement of what the submission made of the one before."""
    cells = odd_view(ask)
    view, done = view_of(cells), []
    first, names = ask.rng.permutation(CHAINED), ask.rng.choice(CHAINED, 3)
    for name in map(str, [*first, *names][:length]):
        _, argument = random_movement(ask, name, cells)
        done.append(name)
        cells, view = PLAYED[name](cells, argument), ask("moved", view, name, argument)
        expect_view(view, cells, f"the view after {', '.join(done)}")


@project.check(
    "reshaped",
    6,
    "views that run backwards, repeat, or have gaps",
    "Compare every cell, not only the first row: two axes can fit and a third one not.",
)
def _(ask):
    cells, columns = odd_view(ask), columns_of(ask)
    n, m = columns.shape
    cases = [(cells, (cells.size,)), (cells, (1, *cells.shape)), (columns.T, (2, 2, n)),
             (columns[::-1], (n, 2, 2)), (columns.T[::-1], (n * m,)),
             (np.broadcast_to(columns[0], (4, 4)), (2, 2, 4)),
             (np.broadcast_to(columns[0], (4, 4)), (16,)),
             (np.broadcast_to(columns[:1, :1], (4, 4)), (2, 8))]  # fmt: skip
    parts = (("backwards", cases[:2]), ("gaps", cases[2:5]), ("repeated", cases[5:]))
    for name, some in parts:
        with ask.part(name):
            for number in ask.rng.permutation(len(some)):
                expect_reshaped(ask, *some[number])


@project.check(
    "predicted_kernels",
    8,
    "longer lists, sums of few and of many rows, enormous matrices",
    "After a transpose, the rows of one share are the columns of the next; after two, they are "
    "rows again. And what is the rule for sums if n is below 32?",
)
def _(ask):
    expect_no_tensor(ask)
    few, many = ask.integer(4, 31), ask.integer(32, 99)
    for name, words, n, always, last in (
        ("products and shares", [*SHARES, "product"], many, BOTH, ()),
        ("sums of few rows", PRODUCTS, few, [["product"], ["exp", "product"]], ("sums",)),
        ("sums of many rows", PRODUCTS, many, [["product"], ["exp", "product"]], ("sums",)),
        ("enormous matrices", SHARES, ask.integer(4, 9) * 10**9, TURNED, ()),
    ):
        with ask.part(name):
            expect_predictions(ask, predictions(ask, words, n, always, last))


@project.check(
    "einsum",
    5,
    "three Tensors, and letters that stay",
    "A letter that two Tensors share, and that is in the result as well, isn't added up.",
)
def _(ask):
    with ask.part("three Tensors"):
        expect_einsum(ask, "01,12,23->03", "0,1,2->201", "012,1,2->0")
    with ask.part("letters that stay"):
        expect_einsum(ask, "012,023->013", "01,01->01", "3012,20->130", "102,3->23")


@project.check(
    "distances",
    5,
    "long ways round, and ways that are too long",
    "Water doesn't go through walls, and it doesn't go round the edges.",
)
def _(ask):
    with ask.part("long ways"):
        expect_distances(ask, (ask.integer(5, 6), ask.integer(7, 8)), 20, 0.4, 0.4, 0.3)
    with ask.part("few steps"):
        expect_distances(ask, (ask.integer(4, 5), ask.integer(6, 7)), ask.integer(1, 3), 0.1, 0.3)


### END HIDDEN
