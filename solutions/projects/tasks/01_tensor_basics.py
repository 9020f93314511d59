"""Project 1: what its checks ask, what they are worth, and a hint for each."""

import numpy as np

from classroom.grader.tasks import Expression, Project, expect, expect_close, expect_equal

project = Project("Project 1: Tensor basics", points=100)


def random_text(ask):
    """An expression of a and b that nobody has seen, in one to three kernels."""
    text = "a"
    steps = [" + b", " * b", " - 0.5", ".relu()", ".exp2()", ".contiguous()", ".contiguous()"]
    for step in ask.rng.permutation(steps)[:5]:
        text = f"({text}{step})"
    return f"{text}.{'sum' if ask.integer(0, 1) else 'max'}()"


# ---- 1 describe ----------------------------------------------------------------------------------


@project.check("describe", 3, "a matrix of floats", "A Tensor has .shape, .dtype and .nbytes.")
def _(ask):
    rows = ask.integer(2, 9)
    columns = rows + ask.integer(1, 5)
    wanted = ((rows, columns), "dtypes.float", 4 * rows * columns)
    expect_equal(ask("describe", ask.floats(rows, columns)), wanted, "describe(a matrix)")


# ---- 2 factories ---------------------------------------------------------------------------------

NUMPY = {"dtypes.float": "float32", "dtypes.int": "int32", "dtypes.bool": "bool"}


def tensor_in(found, name):
    expect(isinstance(found, dict), f"factories gives {type(found).__name__}, not a dict")
    expect(isinstance(found.get(name), np.ndarray), f"there is no Tensor {name!r} in the dict")
    return found[name]


def expect_made(found, name, dtype, wanted):
    got = tensor_in(found, name)
    expect(got.dtype == NUMPY[dtype], f"{name!r} has dtype {got.dtype}, not {NUMPY[dtype]}")
    expect_close(got, wanted, f"{name!r}", rtol=1e-5)


def expect_rules(found, rows, columns):
    shape = (rows, columns)
    expect_made(found, "zeros", "dtypes.float", np.zeros(shape))
    expect_made(found, "ones", "dtypes.float", np.ones(shape))
    expect_made(found, "full", "dtypes.int", np.full(shape, 7))
    expect_made(found, "arange", "dtypes.int", np.arange(rows * columns).reshape(shape))
    expect_made(found, "linspace", "dtypes.float", np.linspace(-1, 1, columns))
    expect_made(found, "eye", "dtypes.float", np.eye(rows))
    expect_made(found, "like", "dtypes.int", np.ones(shape))
    expect_made(found, "list", "dtypes.bool", np.arange(columns) % 2 == 0)


@project.check(
    "factories",
    6,
    "the eight that follow a rule",
    "help(Tensor.full) shows its arguments; arange has one axis until it is reshaped; "
    "full_like, ones_like and zeros_like keep the dtype.",
)
def _(ask):
    rows, columns = ask.integer(2, 5), ask.integer(6, 9)
    expect_rules(ask("factories", rows, columns), rows, columns)


# ---- 3 checkerboard ------------------------------------------------------------------------------


def expect_board(board, rows, columns):
    wanted = np.add.outer(np.arange(rows), np.arange(columns)) % 2
    expect_close(board.run(), wanted, "the board")
    expect("BUFFER" not in board.ops, "its graph reads a BUFFER: there is data in it")
    expect(board.kernels == 1, f"it takes {board.kernels} kernels, not 1")


@project.check(
    "checkerboard",
    5,
    "4 rows, 6 columns, from no data, in one kernel",
    "Two aranges, one of shape (rows, 1) and one of shape (1, columns), added up.",
)
def _(ask):
    expect_board(ask.graph("checkerboard", 4, 6), 4, 6)


# ---- 4 kernel_count ------------------------------------------------------------------------------


def expect_count(ask, text, *shapes):
    arrays = dict(zip("ab", (ask.floats(*shape, low=0.5) for shape in shapes), strict=False))
    build = Expression(text, arrays)
    expect_equal(ask("kernel_count", build), build.kernels(), f"kernel_count(lambda: {text})")


@project.check(
    "kernel_count",
    4,
    "one kernel, three, and some",
    "GlobalCounters.kernel_count counts what has run since GlobalCounters.reset().",
)
def _(ask):
    expect_count(ask, "(a + b).relu().sum()", (4, 8), (4, 8))
    expect_count(ask, "((a + b).contiguous().relu().contiguous()).sum()", (4, 8), (4, 8))
    expect_count(ask, random_text(ask), (4, 8), (4, 8))


# ---- 5 chain -------------------------------------------------------------------------------------


def expect_chain(ask, kernels):
    links = ask.graph("chain", ask.floats(5, 3), kernels)
    other = ask.floats(5, 3)
    expect(links.inputs == [0], "its graph does not begin at x: was something computed already?")
    expect_close(links.run(other), other + kernels, f"chain(x, {kernels})")
    expect(links.kernels == kernels, f"chain(x, {kernels}) takes {links.kernels} kernels")


@project.check("chain", 6, "three kernels", "contiguous() asks for the values in memory.")
def _(ask):
    expect_chain(ask, 3)


# ---- 6 one_pass ----------------------------------------------------------------------------------


def expect_one_pass(ask, shape):
    total = ask.graph("one_pass", ask.floats(*shape), ask.floats(*shape))
    expect(total.inputs == [0, 1], "its graph does not begin at a and b: was it computed already?")
    a, b = ask.floats(*shape), ask.floats(*shape)
    expect_close(total.run(a, b), (a * b + a - b).sum(), "one_pass(a, b)")
    expect(total.kernels == 1, f"it takes {total.kernels} kernels, not 1")
    reads = total.reads[0]
    expect(reads == 1, f"its kernel reads the same buffer in {reads} places")


@project.check("one_pass", 6, "vectors", "A sum of sums is the sum of what is in them.")
def _(ask):
    expect_one_pass(ask, (ask.integer(6, 20),))


# ---- 7 before_and_after --------------------------------------------------------------------------


def expect_change(ask, text, shape):
    build = Expression(text, {"a": ask.floats(*shape), "b": ask.floats(*shape)})
    wanted = (build.kernels(), build.op(), 0, "BUFFER")
    expect_equal(ask("before_and_after", build), wanted, f"before_and_after(lambda: {text})")


@project.check(
    "before_and_after",
    4,
    "a sum",
    "Build it three times: for the op, for its schedule, and to realize it.",
)
def _(ask):
    expect_change(ask, "(a * b).sum()", (3, 5))


# ---- 8 compare -----------------------------------------------------------------------------------


def expect_compared(ask, steps, together, apart, equal):
    start = Expression("a", {"a": ask.floats(4, 4)})
    b = ask.floats(4, 4)
    found = ask("compare", start, [Expression(text, {"b": b}, "t") for text in steps])
    named = " then ".join(steps)
    expect(isinstance(found, dict), f"compare gives {type(found).__name__}, not a dict")
    names = {f"{what} {how}" for what in ("kernels", "seconds") for how in ("together", "apart")}
    lacking = sorted({*names, "equal"} - found.keys())
    expect(not lacking, f"the dict lacks {', '.join(lacking)}")
    for name, count in (("kernels together", together), ("kernels apart", apart)):
        if count is not None:
            expect_equal(found[name], count, f"{name!r} of {named}")
    expect_equal(found["equal"], equal, f"'equal' of {named}")
    for name in ("seconds together", "seconds apart"):
        seconds = found[name]
        expect(type(seconds) is float and 0 < seconds < 60, f"{name!r} is {seconds!r}")


@project.check(
    "compare",
    8,
    "three steps in one kernel, or in three",
    "Two loops over the steps, one of them with a realize() in it; reset the counters before each.",
)
def _(ask):
    expect_compared(ask, ["t + b", "t.relu()", "t.sum()"], 1, 3, True)


# ---- 9 find_op -----------------------------------------------------------------------------------


def expect_lines(ask, expression, **marks):
    """marks: for each op, a piece of text that is on its lines and nowhere else."""
    source = expression.source()
    for op, mark in marks.items():
        lines = source.splitlines()
        wanted = [n for n, line in enumerate(lines, 1) if mark is not None and mark in line]
        expect_equal(ask("find_op", source, op), wanted, f"find_op({expression.text}, {op!r})")


@project.check(
    "find_op",
    6,
    "in the kernel of (a + b).relu().sum()",
    "Leave out lines that declare an int, and what stands in square brackets.",
)
def _(ask):
    shape = ask.integer(3, 9), ask.integer(3, 9)
    expression = Expression("(a + b).relu().sum()", {n: ask.floats(*shape) for n in "ab"})
    expect_lines(
        ask,
        expression,
        LOAD="= data",
        STORE="data0[0]",
        ADD="val0 + val1",
        MUL=None,
        RELU="? 0.0f",
        SUM="acc0 + ",
    )


# ---- 10 report -----------------------------------------------------------------------------------


def expect_report(ask, rows):
    """rows: name, kernels apart, kernels together, gain."""
    measured, lines = [], []
    for name, apart, together, gain in rows:
        measured.append(
            {
                "name": name,
                "kernels apart": apart,
                "kernels together": together,
                "seconds apart": gain / 64,
                "seconds together": 1 / 64,
                "equal": True,
            }
        )
        lines.append((gain, f"{name}: {apart} kernels -> {together}, {gain:.1f} times as fast"))
    wanted = [line for _, line in sorted(lines, reverse=True)]
    got = ask("report", measured)
    expect(isinstance(got, str), f"report gives {type(got).__name__}, not a text")
    expect_equal([line.rstrip() for line in got.splitlines()], wanted, "report(rows)")


@project.check(
    "report",
    4,
    "two rows",
    "sorted(..., reverse=True) has the largest first; {gain:.1f} has one digit after the point.",
)
def _(ask):
    expect_report(ask, [("norm", 3, 1, 4.5), ("mean", ask.integer(2, 9), 2, 6.25)])


### BEGIN HIDDEN
# ---- the instructor's own checks -----------------------------------------------------------------


@project.check("describe", 3, "a scalar, and other dtypes", "Ask the Tensor for all three of them.")
def _(ask):
    expect_equal(ask("describe", np.array(1.5, np.float32)), ((), "dtypes.float", 4), "a scalar")
    size = ask.integer(2, 30)
    for dtype, name in (("bool", "bool"), ("int8", "char"), ("float16", "half"), ("int64", "long")):
        wanted = ((size,), f"dtypes.{name}", size * np.dtype(dtype).itemsize)
        expect_equal(ask("describe", np.ones(size, dtype)), wanted, f"describe(a Tensor of {name})")


@project.check(
    "factories",
    4,
    "the four that are random",
    "Read what low and high include, and what randn takes for its shape.",
)
def _(ask):
    rows, columns = ask.integer(2, 4), 400  # so many that what is right passes for sure
    first, second = ask("factories", rows, columns), ask("factories", rows, columns)
    bounds = {"rand": (0, 1), "randn": (-7, 7), "uniform": (-2, 3), "randint": (-rows, rows)}
    whole = ((2 * rows + 1) ** 2 - 1) ** 0.5  # of the whole numbers from -rows to rows, times √12
    spreads = {"rand": 12**-0.5, "randn": 1.0, "uniform": 5 * 12**-0.5, "randint": whole * 12**-0.5}
    for name, (low, high) in bounds.items():
        got, again = tensor_in(first, name), tensor_in(second, name)
        dtype = "int32" if name == "randint" else "float32"
        expect(got.dtype == dtype, f"{name!r} has dtype {got.dtype}, not {dtype}")
        expect(got.shape == (rows, columns), f"{name!r} has shape {got.shape}")
        inside = bool(((got >= low) & (got <= high)).all())
        expect(inside, f"{name!r} has values outside {low} to {high}")
        middle, spread = (low + high) / 2, spreads[name]
        off = abs(float(got.mean()) - middle) / spread
        expect(off < 0.25, f"the mean of {name!r} is far from {middle}")
        ratio = float(got.std()) / spread
        expect(0.8 < ratio < 1.2, f"{name!r} is spread {ratio:.1f} times as far as it should be")
        expect(not np.array_equal(got, again), f"{name!r} is the same every time")
    least, most = int(first["randint"].min()), int(first["randint"].max())
    expect((least, most) == (-rows, rows), f"'randint' goes from {least} to {most}, rows is {rows}")


@project.check(
    "checkerboard",
    5,
    "other sizes, down to one row",
    "The shape comes from the arguments; a row and a column of 1 need no special case.",
)
def _(ask):
    for rows, columns in ((1, 1), (1, 5), (ask.integer(5, 9), ask.integer(5, 9))):
        expect_board(ask.graph("checkerboard", rows, columns), rows, columns)


@project.check("kernel_count", 4, "other expressions", "Count what runs, not what is written.")
def _(ask):
    expect_count(ask, "a.softmax(1)", (6, 20))
    expect_count(ask, "(a.T.contiguous() @ b)", (5, 4), (5, 3))
    expect_count(ask, "a.reshape(2, 6).permute(1, 0)", (3, 4))
    expect_count(ask, "((a - a.mean()).contiguous() * b.sum()).contiguous().max()", (4, 4), (4, 4))


@project.check(
    "chain", 6, "one kernel, and some more", "One kernel needs one contiguous(), five need five."
)
def _(ask):
    expect_chain(ask, 1)
    expect_chain(ask, ask.integer(4, 7))


@project.check("one_pass", 6, "matrices", "Sum over all axes.")
def _(ask):
    expect_one_pass(ask, (ask.integer(3, 6), ask.integer(3, 6)))


@project.check("before_and_after", 4, "other expressions", "Take all four from the Tensor.")
def _(ask):
    expect_change(ask, "(a + b).exp2()", (4, 3))
    expect_change(ask, random_text(ask), (5, 3))
    expect_change(ask, "((a * b).contiguous() - b).max()", (2, 7))


@project.check(
    "compare",
    6,
    "other steps",
    "'equal' comes from the two results, and the counts from the counters.",
)
def _(ask):
    expect_compared(ask, ["t * b", "t.permute(1, 0)", "t - 1", "t.max()"], 1, 3, True)
    expect_compared(ask, ["t + b", "t.contiguous()", "t * 2"], 2, 2, True)
    expect_compared(ask, ["t + Tensor.rand(4, 4)", "t * 2"], None, None, False)


@project.check(
    "find_op",
    6,
    "in other kernels",
    "A `*` or `+` between integers is a place in "
    "memory; in acc0 = acc0 + x * y there is a MUL and no ADD.",
)
def _(ask):
    rows, columns = ask.integer(3, 9), ask.integer(3, 9)
    arrays = {n: ask.floats(rows, columns) for n in "ab"}
    expect_lines(
        ask,
        Expression("(a * b).sum()", arrays),
        LOAD="= data",
        ADD=None,
        MUL="val0 * val1",
        RELU=None,
        SUM="acc0 + ",
    )
    expect_lines(
        ask,
        Expression("(a * b + a).relu()", arrays),
        STORE="data0[",
        MUL="val0 * val1",
        ADD="val0 * val1",
        RELU="? 0.0f",
        SUM=None,
    )


@project.check("report", 4, "many rows, and none", "An empty list gives an empty text.")
def _(ask):
    expect_equal(ask("report", []), "", "report([])")
    names = ["a", "bb", "ccc", "dddd", "eeeee"]
    gains = ask.rng.permutation([0.5, 1.25, 2.0, 8.0, 33.0])
    expect_report(
        ask, [(n, ask.integer(2, 9), 1, float(g)) for n, g in zip(names, gains, strict=True)]
    )


### END HIDDEN
