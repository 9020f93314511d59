"""Project 1: what its checks ask, what they are worth, and a hint for each.

Whatever a constant could answer is drawn at random, different for every file that is handed in.
"""

import numpy as np

from classroom import measured
from classroom.grader.recorded import answer
from classroom.grader.tasks import (
    Expression,
    Open,
    Project,
    described,
    expect,
    expect_close,
    expect_equal,
    expect_integers,
    expect_kind,
    looks_like,
)

project = Project(
    "Project 1: Tensor basics",
    points=100,
    afterwards="You can now predict how many kernels an expression takes, and find each operation "
    "in the C code of a kernel. Next: the rest of the course, where you look at how tinyframe "
    "finds those kernels.",
)
LINE_OPS = ("LOAD", "STORE", "ADD", "MUL", "RELU", "SUM")

# What tinyframe says of an expression; in the students' release, what it said.
kernels = answer(measured.kernels)
last_op = answer(measured.last_op)
source_of = answer(measured.source)
lines_of = answer(measured.lines)


def random_text(ask):
    """An expression of a and b that nobody has seen, in one to three kernels."""
    text = "a"
    steps = [" + b", " * b", " - 0.5", ".relu()", ".exp2()", ".contiguous()", ".contiguous()"]
    for step in ask.rng.permutation(steps)[:5]:
        text = followed(text, step)
    return text + str(ask.rng.choice([".sum()", ".max()", ".sum(1)", "", ""]))


def followed(text, step):
    """The expression with one more step, in brackets where it needs them."""
    return f"({text}{step})" if step[0] == " " else text + step


def floats_for(ask, *shapes):
    return dict(zip("ab", (ask.floats(*shape, low=0.5) for shape in shapes), strict=False))


def random_expressions(ask, count, *answers):
    """Several expressions to which no constant is the answer, to any of these questions."""
    while True:
        shape = ask.integer(2, 5), ask.integer(6, 9)
        found = [Expression(random_text(ask), floats_for(ask, shape, shape)) for _ in range(count)]
        if all(len(set(map(answer, found))) > 1 for answer in answers):
            return found


def counted(kernels):
    return f"{kernels} kernel{'' if kernels == 1 else 's'}"


# ---- 1 describe ----------------------------------------------------------------------------------

CODES = {"bool": "bool", "int8": "char", "int32": "int", "int64": "long", "float16": "half",
         "float32": "float"}  # fmt: skip


def expect_described(ask, *arrays):
    """And a Tensor that no memory is large enough for."""
    large = tuple(ask.integer(100_000, 999_999) for _ in range(3))
    lazy = np.broadcast_to(np.float32(1), large)
    answers = [ask("describe", array) for array in arrays]
    answers.append(ask("describe", Expression(f"Tensor.ones{large}", {}, None)))
    for found in answers:
        expect_kind(found, tuple, "the result of describe()")
        expect(len(found) == 3, f"describe() returned {len(found)} values, not 3")
    for place, part in enumerate(("shape", "dtype", "bytes")):
        with ask.part(part):
            for array, found in zip([*arrays, lazy], answers, strict=True):
                dtype = f"dtypes.{CODES[array.dtype.name]}"
                wanted = (array.shape, dtype, array.nbytes)
                name = f"for a Tensor of shape {array.shape} and {dtype}, describe(x)[{place}]"
                expect_equal(found[place], wanted[place], name)


@project.check("describe", 3, "matrices", "A Tensor has .shape, .dtype and .nbytes.")
def _(ask):
    rows, columns = ask.integer(2, 9), ask.integer(10, 15)
    expect_described(ask, ask.floats(rows, columns), np.ones((columns, rows), np.int32))


# ---- 2 factories ---------------------------------------------------------------------------------


def made(found, name):
    expect(name in found, "it is not in the dict")
    expect_kind(found[name], np.ndarray, "it")
    return found[name]


ANY = {"floats": "f", "integers": "iu", "numbers": "fiu"}  # of any size; NumPy's letters


def expect_dtype(got, dtype):
    """One dtype, or any of those that a word means."""
    fits = got.dtype.kind in ANY[dtype] if dtype in ANY else got.dtype == dtype
    expect(fits, f"it has dtype {got.dtype}, not {dtype}")


def expect_made(found, name, dtype, wanted):
    got = made(found, name)
    expect_dtype(got, dtype)
    expect_close(got, wanted, "it", rtol=1e-5)


def ruled(rows, columns):
    """Name, dtype and values of the eight that follow a rule."""
    shape = (rows, columns)
    return [
        ("zeros", "floats", np.zeros(shape)),
        ("ones", "floats", np.ones(shape)),
        ("full", "int32", np.full(shape, 7)),
        ("arange", "int32", np.arange(rows * columns).reshape(shape)),
        ("linspace", "floats", np.linspace(-1, 1, columns)),
        ("eye", "numbers", np.eye(rows)),
        ("like", "int32", np.ones(shape)),
        ("list", "bool", np.arange(columns) % 2 == 0),
    ]


@project.check(
    "factories",
    6,
    "the eight that follow a rule",
    "help(Tensor.full) shows its arguments; arange has one axis until you reshape it; "
    "full_like, ones_like and zeros_like keep the dtype.",
)
def _(ask):
    rows, columns = ask.integer(2, 5), ask.integer(6, 9)
    found = ask("factories", rows, columns)
    expect_kind(found, dict, "the result of factories()")
    for name, dtype, wanted in ruled(rows, columns):
        with ask.part(name):
            expect_made(found, name, dtype, wanted)


# ---- 3 checkerboard ------------------------------------------------------------------------------


def expect_boards(ask, *sizes):
    """A board of floats loses half; one that is not made as asked, all."""
    boards = []
    for rows, columns in sizes:
        board = ask.graph("checkerboard", rows, columns)
        expect_close(board.run(), np.add.outer(np.arange(rows), np.arange(columns)) % 2, "board")
        expect("BUFFER" not in board.ops, "its graph has a BUFFER: it reads numbers from memory")
        expect(board.kernels <= 1, f"it takes {counted(board.kernels)}, not 1")
        boards.append(board)
    with ask.part("values"):
        pass
    with ask.part("integers"):
        for board in boards:
            expect_integers(board.run(), "the board")


@project.check(
    "checkerboard",
    5,
    "a board without data, in one kernel",
    "Add two aranges, one of shape (rows, 1) and one of shape (1, columns).",
)
def _(ask):
    expect_boards(ask, (ask.integer(2, 5), ask.integer(6, 9)))


# ---- 4 kernel_count ------------------------------------------------------------------------------


def expect_counts(ask, expressions):
    for n in ask.rng.permutation(len(expressions)):
        build = expressions[n]
        got = ask("kernel_count", build)
        expect_equal(got, kernels(build), f"kernel_count(lambda: {build.text})")


@project.check(
    "kernel_count",
    5,
    "expressions of one to three kernels",
    "GlobalCounters.kernel_count counts the kernels that ran since GlobalCounters.reset().",
)
def _(ask):
    expect_counts(ask, random_expressions(ask, 4, kernels))


# ---- 5 chain -------------------------------------------------------------------------------------


def expect_chains(ask, *lengths):
    chains = [(n, ask.graph("chain", ask.floats(5, 3), n), ask.floats(5, 3)) for n in lengths]
    for _, links, _ in chains:
        begun = "its graph does not start at x; did you compute something already?"
        expect(links.inputs == [0], begun)
    with ask.part("values"):
        for n, links, other in chains:
            expect_close(links.run(other), other + n, f"chain(x, {n})")
    with ask.part("kernels"):
        for n, links, _ in chains:
            expect(links.kernels == n, f"chain(x, {n}) takes {counted(links.kernels)}")


@project.check("chain", 6, "two to four kernels", "contiguous() asks for the values in memory.")
def _(ask):
    expect_chains(ask, 2, ask.integer(3, 4))


# ---- 6 one_pass ----------------------------------------------------------------------------------


def expect_one_pass(ask, shape):
    total = ask.graph("one_pass", ask.floats(*shape), ask.floats(*shape))
    begun = "its graph does not start at a and b; did you compute something already?"
    expect(total.inputs == [0, 1], begun)
    a, b = ask.floats(*shape), ask.floats(*shape)
    expect_close(total.run(a, b), np.vdot(a, b) + np.sum(a) - np.sum(b), "one_pass(a, b)")
    expect(total.kernels == 1, f"it takes {counted(total.kernels)}, not 1")
    reads = total.reads[0]
    expect(reads == 1, f"its kernel reads the same buffer in {reads} places")


@project.check("one_pass", 6, "vectors", "Add up everything under one sum instead of three.")
def _(ask):
    expect_one_pass(ask, (ask.integer(6, 20),))


# ---- 7 before_and_after --------------------------------------------------------------------------


def expect_changes(ask, expressions):
    """With a constant among them, which stays one."""
    number, shape = ask.integer(2, 9) / 2, (ask.integer(2, 5), ask.integer(6, 9))
    constant = Expression(f"Tensor.full({shape}, {number})")
    expressions.insert(ask.integer(0, len(expressions)), constant)
    answers = [ask("before_and_after", build) for build in expressions]
    for found in answers:
        expect_kind(found, tuple, "the result of before_and_after()")
        expect(len(found) == 4, f"before_and_after() returned {len(found)} values, not 4")
    for part, place in (("kernels", 0), ("ops", 1)):
        with ask.part(part):
            for build, found in zip(expressions, answers, strict=True):
                op, in_memory = last_op(build), "CONST" if build is constant else "BUFFER"
                before, after = ((kernels(build), 0), (op, in_memory))[place]
                name = f"before_and_after(lambda: {build.text})"
                expect_equal(found[place], before, f"{name}[{place}]")
                expect_equal(found[place + 2], after, f"{name}[{place + 2}]")


@project.check(
    "before_and_after",
    5,
    "expressions of one to three kernels",
    "Build it three times: for the op, for its schedule, and to realize it.",
)
def _(ask):
    expect_changes(ask, random_expressions(ask, 3, kernels, last_op))


# ---- 8 compare -----------------------------------------------------------------------------------

STEPS = ["t + b", "t * b", "t - 0.5", "t.relu()", "t.permute(1, 0)", "t.contiguous()"]
# The numbers decide how many kernels these take, and whether the next one makes different numbers
# each time; one of three cases makes some that change nothing.
LOOKS = ["(t * 2.0 if t.sum().item() > {} else (t - b).contiguous())",
         "((t + b).contiguous() if t.max().item() + t.min().item() > {} else t)"]  # fmt: skip
FRESH = ["t + (t > {}).where(fresh(), 0.0)"] * 2 + ["t + fresh() * 0.0 * {}"]


@answer
def compared(texts, numbers):
    """How many kernels run together and apart, and whether both ways give the same numbers."""
    return measured.compared(*steps_of(texts, numbers))


def steps_of(texts, numbers):
    """On whole numbers, of which all sums and products here are exact, whatever the order."""
    arrays = {name: np.array(rows, np.float32) for name, rows in numbers.items()}
    start = Expression("a", {"a": arrays.pop("a")})
    # an argument of its own, so that no other `fresh` can be put into a function's globals
    return start, [Expression(text, arrays, "t, fresh=fresh") for text in texts]


def random_case(ask, count, look, fresh):
    """The texts of so many steps, and the numbers in them."""
    texts = [str(step) for step in ask.rng.permutation(STEPS)[: count - 3]]
    texts.insert(ask.integer(1, len(texts)), str(look).format(ask.integer(-3, 3)))
    ending = str(ask.rng.choice(["t.sum()", "t.max()", "t.sum(1)", "t * 2"]))
    numbers = ask.rng.integers(1, 9, (2, 3, 3)) * ask.rng.choice([-1, 1], (2, 3, 3))
    return (
        [*texts, str(fresh).format(ask.integer(5, 40)), ending],
        dict(zip("ab", numbers.tolist(), strict=True)),
    )


def random_cases(ask, *counts):
    """As many steps each, with different numbers of kernels, both together and apart, and with both
    ways to look; not all of them give the same numbers, or different ones."""
    while True:
        looks = ask.rng.permutation([*LOOKS, ask.rng.choice(LOOKS)])
        news = ask.rng.permutation(FRESH)
        cases = [random_case(ask, *each) for each in zip(counts, looks, news, strict=True)]
        found = [compared(*case) for case in cases]
        columns = [each[:2] for each in found] + list(zip(*found, strict=True))
        if all(len(set(each)) > 1 for each in columns):
            return cases


def entry(found, name):
    """In any capitals: those asked for are a part of their own."""
    alike = {key.casefold(): key for key in found if isinstance(key, str)}
    expect(name in alike, f"there is no {name!r} in the dict")
    return found[alike[name]]


NAMES = [f"{what} {how}" for what in ("kernels", "seconds") for how in ("together", "apart")]


def expect_compared(ask, cases):
    """cases: the texts of the steps, and the numbers in them."""
    asked = []
    for case in cases:
        start, steps = steps_of(*case)
        asked.append((ask("compare", start, steps), " then ".join(case[0]), compared(*case)))
        expect_kind(asked[-1][0], dict, "the result of compare()")
    answers = [found for found, *_ in asked]
    with ask.part("kernels"):
        for found, named, counts in asked:
            for name, count in zip(NAMES[:2], counts, strict=False):
                expect_equal(entry(found, name), count, f"{name!r} of {named}")
    with ask.part("seconds", "kernels", "equal"):
        times = [(name, entry(found, name)) for found in answers for name in NAMES[2:]]
        for name, seconds in times:
            expect_kind(seconds, float, repr(name))
            expect(0 < seconds < 60, f"{name!r} is {seconds!r}")
        same = "every time is the same to the last digit; did you measure them?"
        expect(len({seconds for _, seconds in times}) > 1, same)
    with ask.part("equal"):
        for found, named, (*_, equal) in asked:
            expect_equal(entry(found, "equal"), equal, f"'equal' of {named}")
    with ask.part("names", "kernels", "equal"):
        for found in answers:
            for name in (*NAMES, "equal"):
                expect(name in found, f"there is no {name!r} in the dict")


@project.check(
    "compare",
    8,
    "steps that look at their numbers, and steps that make new ones every time",
    "Loop over the steps twice, the second time with a realize() in the loop; reset the counters "
    "before each loop, and not in it; compare the two results for 'equal'.",
    trusts="the seconds",
)
def _(ask):
    expect_compared(ask, random_cases(ask, 5, 5, 6))


# ---- 9 find_op -----------------------------------------------------------------------------------


def random_kernel(ask, ending):
    """A kernel with up to four operations, a sum (with `ending`), and up to two more after it."""
    steps = [" + b", " * b", " + 1.5", " * 0.5", ".relu()"]
    after = [" + 2.0", " * 3.0", ".relu()"]
    text = "a"
    for step in ask.rng.permutation(steps)[: ask.integer(2, 4)]:
        text = followed(text, step)
    text += ending
    for step in ask.rng.permutation(after)[: ask.integer(0, 2)]:
        text = followed(text, step)
    return text


def random_kernels(ask, *endings):
    """Kernels in which each op is on a line of at least one."""
    while True:
        shape = ask.integer(3, 9), ask.integer(3, 9)
        arrays = floats_for(ask, shape, shape)
        found = [Expression(random_kernel(ask, ending), arrays) for ending in endings]
        lines = [lines_of(expression) for expression in found]
        if all(any(each[op] for each in lines) for op in LINE_OPS):
            return found


def expect_lines(ask, expressions):
    """Who counts lines from 0 loses one part."""
    asked = [(e, source_of(e), lines_of(e)) for e in expressions]
    from_0 = None
    for op in LINE_OPS:
        with ask.part(op):
            for expression, source, lines in asked:
                got = ask("find_op", source, op)
                name = f"find_op(source of {expression.text}, {op!r})"
                expect_kind(got, list, name)
                from_0 = from_0 or ""
                if got and looks_like(got, [n - 1 for n in lines[op]]):
                    from_0 = f"{name} is {described(list(got))}; the first line has the number 1"
                else:
                    expect_equal(got, lines[op], name)
    with ask.part("counted from 1", *LINE_OPS):
        if from_0 is None:
            raise Open
        expect(not from_0, from_0)


@project.check(
    "find_op",
    4,
    "in two random kernels, one with a sum",
    "Leave out lines that declare an int, and ignore what is in square brackets.",
)
def _(ask):
    expect_lines(ask, random_kernels(ask, ".sum()", ""))


# ---- 10 report -----------------------------------------------------------------------------------


def random_rows(ask, count):
    """Rows as compare() gives them, and the lines they should become. No gain is halfway between
    two that are printed, and no two are printed alike."""
    tenths = [int(n) for n in ask.rng.permutation(np.arange(5, 300))[:count]]
    rows, lines = [], []
    letters = list("abcdefghij")
    for n, first in zip(tenths, ask.rng.permutation(letters), strict=False):
        name = first + "".join(map(str, ask.rng.choice(letters, ask.integer(2, 5))))
        together, seconds = ask.integer(1, 3), ask.integer(2, 40) / 1024
        apart, gain = together + ask.integer(1, 6), (n + ask.integer(-3, 3) / 10) / 10
        row = {"name": name, "kernels apart": apart, "kernels together": together, "equal": True}
        rows.append(row | {"seconds apart": gain * seconds, "seconds together": seconds})
        line = name, f" {apart} kernels -> {together}", f" {n / 10:.1f} times as fast"
        lines.append((n, line))
    return rows, [line for _, line in sorted(lines, reverse=True)]


def expect_report(ask, count):
    rows, wanted = random_rows(ask, count)
    got = ask("report", rows)
    expect_kind(got, str, "the result of report()")
    lines = [line.rstrip() for line in got.strip().split("\n")]
    names = [name for name, *_ in wanted]
    order = [name for name in (line.partition(":")[0] for line in lines) if name in names]
    with ask.part("a line for each row", "kernels", "gain"):
        expect_equal(sorted(order), sorted(names), "the list of the names, sorted,")
        expect(len(lines) == len(wanted), f"it has {len(lines)} lines for {len(wanted)} rows")
    for place, part in enumerate(("kernels", "gain"), 1):
        with ask.part(part):
            there = [row for row in wanted if row[0] in order]
            expect(bool(there), f"there is no line that begins with '{names[0]}:'")
            for row in there:
                line = f"{row[0]}:{row[1]},{row[2]}"
                same = [each for each in lines if each.startswith(f"{row[0]}:")]
                told = f"there is no line {line!r}, only {same[0]!r}"
                fits = [each.partition(":")[2].split(",")[place - 1 : place] for each in same]
                expect(fits == [[row[place]]] and same[0].count(",") == 1, told)
    with ask.part("order", "kernels", "gain"):
        expect_equal(order, [name for name in names if name in order], "the order of the names")


@project.check(
    "report",
    4,
    "two rows",
    "sorted(..., reverse=True) puts the largest first; {gain:.1f} has one digit after the point.",
)
def _(ask):
    expect_report(ask, 2)


### BEGIN HIDDEN
# ---- the instructor's own checks -----------------------------------------------------------------


@project.check(
    "describe",
    3,
    "a scalar, and other dtypes",
    "Different dtypes take different numbers of bytes, so ask the Tensor.",
)
def _(ask):
    others = [np.ones(ask.integer(2, 30), dtype) for dtype in ("bool", "int8", "float16", "int64")]
    expect_described(ask, np.array(1.5, np.float32), *others)


@project.check(
    "factories",
    4,
    "the four that are random",
    "Check whether low and high are included, and what randn takes for its shape.",
)
def _(ask):
    rows, columns = ask.integer(2, 4), 400  # enough that what is right always passes
    first, second = ask("factories", rows, columns), ask("factories", rows, columns)
    for found in (first, second):
        expect_kind(found, dict, "the result of factories()")
    whole = ((2 * rows + 1) ** 2 - 1) ** 0.5  # of the whole numbers from -rows to rows, times √12
    random = [
        ("rand", "floats", 0, 1, 12**-0.5),
        ("randn", "floats", -7, 7, 1.0),
        ("uniform", "floats", -2, 3, 5 * 12**-0.5),
        ("randint", "integers", -rows, rows, whole * 12**-0.5),
    ]
    for name, dtype, low, high, spread in random:
        with ask.part(name):
            got, again = made(first, name), made(second, name)
            expect_dtype(got, dtype)
            shape = (rows, columns)
            expect(got.shape == shape, f"it has shape {got.shape}, not {shape}")
            inside = bool(((got >= low) & (got <= high)).all())
            expect(inside, f"it has values outside {low} to {high}")
            if name == "randint":
                least, most = int(got.min()), int(got.max())
                goes = f"it goes from {least} to {most}, not from {low} to {high}"
                expect((least, most) == (low, high), goes)
            middle = (low + high) / 2
            off = abs(float(got.mean()) - middle) / spread
            expect(off < 0.25, f"its mean is {got.mean():.2g}, far from {middle:g}")
            ratio = float(got.std()) / spread
            far = f"its standard deviation is {ratio:.1f} times what it should be"
            expect(0.8 < ratio < 1.2, far)
            expect(not np.array_equal(got, again), "it is the same at every call")


@project.check(
    "checkerboard",
    5,
    "other sizes, down to one row",
    "Take the shape from the arguments; a single row or column needs no special case.",
)
def _(ask):
    expect_boards(ask, (1, 1), (1, 5), (ask.integer(5, 9), ask.integer(5, 9)))


@project.check(
    "kernel_count",
    5,
    "other expressions",
    "A movement by itself runs no kernel, so its count is 0.",
)
def _(ask):
    n, m = ask.integer(3, 6), ask.integer(7, 9)
    others = [
        Expression("a.softmax(1)", floats_for(ask, (n, m))),
        Expression("a.T.contiguous() @ b", floats_for(ask, (m, n), (m, 3))),
        Expression("a.reshape(2, -1).permute(1, 0)", floats_for(ask, (2 * n, m))),
        Expression(
            "((a - a.mean()).contiguous() * b.sum()).contiguous().max()",
            floats_for(ask, (n, n), (n, n)),
        ),
    ]
    expect_counts(ask, [*others, *random_expressions(ask, 2, kernels)])


@project.check(
    "chain", 6, "one kernel, and more", "One kernel needs one contiguous(), five need five."
)
def _(ask):
    expect_chains(ask, 1, ask.integer(5, 8))


@project.check("one_pass", 6, "matrices", "Sum over all axes.")
def _(ask):
    expect_one_pass(ask, (ask.integer(3, 6), ask.integer(3, 6)))


@project.check(
    "before_and_after",
    5,
    "other expressions",
    "Write no number and no name by hand: the schedule and tensor.uop.base give you all four.",
)
def _(ask):
    expect_changes(ask, random_expressions(ask, 5, kernels, last_op))


@project.check(
    "compare",
    6,
    "longer steps",
    "Some steps give new numbers at every call, so compare the two results to find 'equal'.",
    trusts="the seconds",
)
def _(ask):
    expect_compared(ask, random_cases(ask, 5, 6, 7))


@project.check(
    "find_op",
    4,
    "in other kernels",
    "A `*` or `+` between integers is a place in memory; in acc0 = acc0 + x * y there is a MUL and "
    "no ADD.",
)
def _(ask):
    expect_lines(ask, random_kernels(ask, ".sum()", "", ".sum(1)", ".sum(0)"))


@project.check("report", 4, "many rows, and none", "An empty list becomes an empty text.")
def _(ask):
    none = ask("report", [])
    expect_kind(none, str, "report([])")
    expect(not none.strip(), f"report([]) is {described(none)}, not ''")
    expect_report(ask, ask.integer(4, 6))


### END HIDDEN
