"""Project 5: Inspecting the compiler. You write one line, and a hundred lines of C come out. Who
wrote those, and can they be trusted?

You are the inspector. First you walk the building: which kernels there are, why the walls stand
where they stand, and what happens at each of the dozen stages that a kernel goes through. Then you
play the other side: you hunt for rules that lie, write a few that don't, and time what a search
finds when it may try anything. In part 7, x * 1 + 0 lost both its operations although nobody was
allowed to optimize it. Task 6 finds out who took them.

    python projects/05_compiler_pipeline.py                       a report, in a minute or two
    python -m classroom grade projects/05_compiler_pipeline.py    100 points, a hint for each miss

There are eleven functions to write. Each one says what it is given and what it should return;
replace the `...` with your code. You may add functions of your own. Run the file as often as you
like: a task you have not written yet is simply called open. The last one takes most of the minute.
You need parts 1 to 7 of the course, and about six hours.

A list is as good as a tuple everywhere. Ops and stages are named by their text, such as "ADD".
"""

import math
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tinyframe import Context, Device, Tensor, dtypes
from tinyframe.codegen import apply_opts, get_program, scheduled_kernel
from tinyframe.codegen.optimize.opt import Opt, OptOps
from tinyframe.observe import Observer, observing
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite.matcher import PatternMatcher, UPat, graph_rewrite
from tinyframe.search.beam import search_result
from tinyframe.uop import Ops
from tinyframe.uop.node import AxisType, GroupOp, UOp
from tinyframe.viz import why
from tinyframe.viz.explorer.record import Recorder
from tinyframe.viz.explorer.store import Store
from tinyframe.viz.explorer.trace import Trace

# ---- the walls -----------------------------------------------------------------------------------


def schedule_of(tensor):
    """Task 1 (8 points). The floor plan: a list with a dict for each kernel, in running order.

    "reduces"    how many REDUCE nodes are in its graph
    "memory"     how many buffers it reads that were there before the first kernel ran
    "kernels"    the kernels whose results it reads: their numbers from 0, in ascending order

    tensor.schedule() gives the kernels. Each has a graph, `ast`, and buffers, `bufs`, of which the
    first is the one that it writes. (Memory that nobody needs any more is used again. So two
    kernels may write the same buffer; what counts is who wrote it last.) For (a @ b).exp() @ c, the
    result is

        [{"reduces": 1, "memory": 2, "kernels": []}, {"reduces": 1, "memory": 1, "kernels": [0]}]
    """
    ### BEGIN SOLUTION
    found, writer = [], {}  # writer: by id, the kernel that wrote a buffer last
    items = tensor.schedule()
    for number, item in enumerate(items):
        first, *others = map(id, item.bufs)
        read = set(others)
        found.append(
            {
                "reduces": sum(u.op is Ops.REDUCE for u in item.ast.toposort()),
                "memory": len(read - writer.keys()),
                "kernels": sorted(writer[buffer] for buffer in read & writer.keys()),
            }
        )
        writer[first] = number
    return found
    ### END SOLUTION


def boundaries(tensor):
    """Task 2 (10 points). Why is each wall where it is? A list with a word for each value that is
    stored on the way to the result; the one that is computed first comes first.

    "asked"       somebody called contiguous()
    "repeated"    fused, it would be computed again and again
    "shared"      several kernels read the result of a reduce
    "narrow"      it's a reduce to so few numbers that nothing is left to do in parallel
    "tile"        it's a matrix product, and the sum that comes after it would break up its tiles

    `why(tensor)` has the scheduler's own reasons, the last value first. Each row has an op, a shape
    and a reason; print it for a few expressions before you write anything. The result itself is
    stored because it's the output. It needs no word.

    For (a @ b).exp().contiguous() @ c, with matrices of 64 x 64, the list is ["asked"].
    """
    ### BEGIN SOLUTION
    words = {
        "contiguous": "asked",
        "several kernels": "shared",
        "needed": "repeated",
        "too little": "narrow",
        "tile": "tile",
    }
    return [
        next(word for part, word in words.items() if part in row.reason)
        for row in reversed(why(tensor))
        if row.reason != "output"
    ]
    ### END SOLUTION


def price(build):
    """Task 3 (10 points). What would it cost to tear all walls down? A dict of two numbers:

    "scheduled"    arithmetic operations on floats that the kernels of build() execute, all together
    "fused"        the same for build().fuse(), which is one kernel

    build: a function without arguments that returns a Tensor. Only build its kernels; don't run
    them. `lines_of(item.ast)`, below, has the lines of a kernel as they would run. A line between a
    RANGE and its ENDRANGE runs as often as that loop goes around (u.src[0].arg times, for a RANGE
    u), and loops stand inside of loops. Count each line as often as it runs if u.op is in
    GroupOp.ALU and u.dtype is a float.

    For a product of two 16 x 16 matrices, both are 8192: 4096 multiplications and 4096 additions.
    For (a @ b).exp() @ c, one of them is ten times the other, and no bug is involved.
    """
    ### BEGIN SOLUTION

    def operations(tensor):
        total = 0
        for item in tensor.schedule():
            times = 1
            for u in lines_of(item.ast):
                if u.op is Ops.RANGE:
                    times *= u.src[0].arg
                elif u.op is Ops.ENDRANGE:
                    times //= u.src[0].src[0].arg
                elif u.op in GroupOp.ALU and dtypes.is_float(u.dtype):
                    total += times
        return total

    return {"scheduled": operations(build()), "fused": operations(build().fuse())}
    ### END SOLUTION


def lines_of(kernel):
    """Given: the lines of a kernel, a list of UOps, with its loops as they were written."""
    with Context(NOOPT=1):
        return get_program(kernel, CStyleLanguage()).uops


# ---- from stage to stage -------------------------------------------------------------------------


def stages_of(build):
    """Given: what the graph of build() looks like after each stage: a list of (name, nodes).

    build: a function without arguments; its Tensor takes one kernel. The first stages are the
    scheduler's, and the last one is a list of instructions. The C is written for no machine in
    particular, so that everybody gets the same.
    """

    class Watcher(Observer):
        def wants(self, work):
            return True

        def stage(self, name, before, after, passes):
            nodes = after if isinstance(after, list) else after.toposort()
            found.append((name, list(nodes)))

    found = []
    with observing(Watcher()):
        get_program(build().schedule()[-1].ast, CStyleLanguage())
    return found


def difference(before, after):
    """Task 4 (8 points). What a stage did to a graph: a dict.

    "appeared"    for each op that there are more nodes of than before, how many more
    "vanished"    for each op that there are fewer nodes of, how many fewer
    "kept"        how many nodes are in both graphs: the very same objects

    before, after: UOps, the last nodes of two graphs. `toposort()` has all nodes below one, and
    itself. For before = x + 1 and after = x * 3, it is
    {"appeared": {"MUL": 1}, "vanished": {"ADD": 1}, "kept": 1}. A 1 has gone and a 3 has come, but
    there is one CONST before and after; only x is the same object.

    You'll see very few nodes kept where a loop has been split. Nodes never change, so whoever
    depends on that loop had to be made anew.
    """
    ### BEGIN SOLUTION
    old, new = (list(root.toposort()) for root in (before, after))
    there, here = (Counter(u.op.name for u in nodes) for nodes in (old, new))
    return {
        "appeared": dict(here - there),
        "vanished": dict(there - here),
        "kept": len(set(old) & set(new)),
    }
    ### END SOLUTION


def life_of(build, op):
    """Task 5 (10 points). From when to when an op lives: the names of the first and of the last
    stage that has a node of it, [first, last]. An empty list if no stage has one.

    build: as for stages_of(build). op: the name of an op.
    For the product of two matrices, life_of(build, "REDUCE_AXIS") is ["tensor graph", "prepare"]:
    then it becomes a REDUCE, which owns its loop. Guess a few lives before you look. When does
    REDUCE itself go? Who needs a VECTORIZE?
    """
    ### BEGIN SOLUTION
    names = [name for name, nodes in stages_of(build) if any(u.op.name == op for u in nodes)]
    return [names[0], names[-1]] if names else []
    ### END SOLUTION


def looks(build, noopt):
    """Task 6 (10 points). The four looks at a kernel that older texts talk about, with and without
    the optimizer: a dict of how many nodes each has, and one number more.

    "initial"       what you wrote: movement and REDUCE_AXIS are still there
    "folded"        the first stage after which constants are folded: x * 1 + 0 is x
    "loops"         it has just been decided what becomes of each loop: lanes, copies, or a loop
    "linear"        no graph any more, but a list, in the order in which it runs
    "arithmetic"    how many instructions of that list compute floats, or vectors of floats: those
                    whose op is in GroupOp.ALU, with dtypes.is_float(u.dtype)

    noopt: 0 or 1; take the stages in `with Context(NOOPT=noopt):`.

    No text says which of our stages these are. Find out: look at stages_of(lambda: x * 1 + 0), for
    an x in memory, once with NOOPT=1 and once without. Where does the multiplication go?
    """
    ### BEGIN SOLUTION
    with Context(NOOPT=noopt):
        stages = dict(stages_of(build))
    return {
        "initial": len(stages["tensor graph"]),
        "folded": len(stages["lower to ranges"]),
        "loops": len(stages["optimize"]),
        "linear": len(stages["linearize"]),
        "arithmetic": sum(
            u.op in GroupOp.ALU and dtypes.is_float(u.dtype) for u in stages["linearize"]
        ),
    }
    ### END SOLUTION


def from_trace(path, number, stage):
    """Task 7 (6 points). The same questions, asked of a recording: a dict of four numbers.

    "elementwise", "reduce", "loop"    how many nodes in GroupOp.Elementwise, how many REDUCEs and
                                       how many RANGEs a kernel's graph has after a stage
    "fired"                            how often a rule fired during that stage

    VIZ=1 opens a page with all this, and VIZ_TRACE=run.trace writes a file in its place, so that
    you can ask a program that ran last night, on a machine that you can't log in to. `Trace`, in
    tinyframe/viz/explorer/trace.py, opens it: Trace.open(path).described("kernel/0") is the first
    kernel, and its `stages` have a name, `after` (a node with a toposort(), like a UOp) and
    `steps`, one for each time that a rule fired.

    path: the file. number: of the kernel, from 0. stage: its name. You won't be asked about the
    last stage, "linearize".
    """
    ### BEGIN SOLUTION
    stages = Trace.open(path).described(f"kernel/{number}").stages
    (found,) = (each for each in stages if each.name == stage)
    nodes = list(found.after.toposort())
    return {
        "elementwise": sum(u.op in GroupOp.Elementwise for u in nodes),
        "reduce": sum(u.op is Ops.REDUCE for u in nodes),
        "loop": sum(u.op is Ops.RANGE for u in nodes),
        "fired": len(found.steps),
    }
    ### END SOLUTION


# ---- rules ---------------------------------------------------------------------------------------


def lie(before, after):
    """Task 8 (10 points). A rule says: wherever you see `before`, write `after`. Does it lie?

    before, after: functions of two NumPy arrays of 32-bit floats, x and y, which return an array of
    the same shape. Return two floats, [x, y], for which the two functions differ. If there are no
    such floats, return an empty list.

    Equal means here: the same number, or both NaN. (0.0 and -0.0 are the same number.) For
    x / x and x * 0 + 1, [2.0, 1.0] shows nothing. [0.0, 1.0] does.

    You can't try all 2**64 pairs, and random ones will miss nearly everything. Think about where
    floats break: at the largest and the smallest, at infinity, at NaN, and in the last digit of
    quite ordinary numbers. One array may hold all of these at once.
    """
    ### BEGIN SOLUTION
    rng = np.random.default_rng(0)
    largest, smallest = np.finfo(np.float32).max, np.finfo(np.float32).smallest_subnormal
    special = [0, 1, 2, 3, largest, largest / 3, smallest, 3 * smallest, 1e-30, 1e20, np.inf]
    usual = rng.normal(size=40) * 10.0 ** rng.integers(-3, 4, 40)
    values = np.float32([*special, *np.negative(special), np.nan, *usual])
    x, y = (part.ravel() for part in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        one, other = before(x, y), after(x, y)
    (places,) = np.nonzero((one != other) & ~(np.isnan(one) & np.isnan(other)))
    return [float(x[places[0]]), float(y[places[0]])] if len(places) else []
    ### END SOLUTION


def safe_rules():
    """Task 9 (16 points). Rules of your own: a list of rows (pattern, function), as for a
    PatternMatcher. x and y are any expressions of floats; a and b are constants.

    Here is a wish list. Half of it is true, and the other half has been in somebody's compiler.

        x * 1             ->  x                 x * 0          ->  0
        -(-x)             ->  x                 x - x          ->  0
        c.where(x, x)     ->  x                 (x < y).where(y, x)     ->  x.maximum(y)
        x.maximum(x)      ->  x                 x.sqrt() * x.sqrt()     ->  x
        x * a * b         ->  x * (a * b)       x + a + b      ->  x + (a + b)
        x / a             ->  x * (1 / a)       x / x          ->  1

    On the left, the first four always hold. The last two only hold for some a and b, and they pay
    off for those; find out for which. (2, 4 and 8 are a good start. 1e30 and 1e-30 are not. Don't
    bother with negative ones.) On the right, nothing holds, as you can find out with task 8.

    Rules get expressions that are built with the operators of UOps, with a constant on either side
    of x; print a few. -x is a multiplication by -1. They fire until nothing changes any more, so
    they must not undo each other. "The same" means what it means in task 8. tinyframe's own rules
    are out of reach here, and these six are all that's needed.
    """
    ### BEGIN SOLUTION
    x, c = UPat.var("x"), UPat.var("c")
    a, b = UPat.cvar("a", dtypes.float), UPat.cvar("b", dtypes.float)

    def is_power(number):
        """A power of two, from 1 to 2**63: products of two of these are no infinity."""
        return 1 <= number < 2**64 and math.frexp(number)[0] == 0.5

    def once(x, a, b):
        if is_power(a.arg) and is_power(b.arg):
            return x * (a.arg * b.arg)

    def inverse(x, a):
        return x * (1 / a.arg) if is_power(a.arg) else None

    return [
        (x * 1.0, lambda x: x),
        (x * -1.0 * -1.0, lambda x: x),
        (c.where(x, x), lambda x: x),
        (x.alu(Ops.MAX, x), lambda x: x),
        (x * a * b, once),
        (UPat(Ops.FDIV, src=(x, a)), inverse),
    ]
    ### END SOLUTION


# ---- a search ------------------------------------------------------------------------------------


def as_opts(rows):
    """Given: [name, axis, arg] for each Opt, as Opts."""
    return [
        Opt(OptOps[name], tuple(axis) if isinstance(axis, list) else axis, arg)
        for name, axis, arg in rows
    ]


def optimized(kernel, rows):
    """Given: the graph of a kernel after these Opts, [name, axis, arg] for each."""
    device = Device["CPU"].renderer
    return apply_opts(scheduled_kernel(kernel, device), as_opts(rows), device.target)


def tile_of(kernel, rows):
    """Task 10 (8 points). The tile that a list of Opts makes: a dict of three numbers.

    "rows", "columns"    how many rows and columns of the result are computed at once
    "steps"              how many products are added up to each of them in one go around the loop

    kernel: the graph of a matrix product. rows: [name, axis, arg] for each Opt. The numbers of the
    axes shift when one is split or used up, so don't work them out from the list. Look at
    optimized(kernel, rows) instead: `src[0]` of it is the STORE, whose src[0] is an INDEX, whose
    src[2] is the row and src[3] the column, two expressions of RANGEs. A RANGE u is of the kind
    u.arg[1], an AxisType, and has u.src[0].arg iterations. UPCAST makes copies and VECTOR makes
    lanes. UNROLL copies what is inside of the sum.

    Without Opts, it is {"rows": 1, "columns": 1, "steps": 1}. For [["VECTOR", 1, 4],
    ["UPCAST", 1, 2], ["UPCAST", 0, 6]], it is {"rows": 6, "columns": 8, "steps": 1}.
    """
    ### BEGIN SOLUTION
    graph = optimized(kernel, rows)
    index = graph.src[0].src[0]

    def sizes(node, *kinds):
        nodes = node.toposort()
        return math.prod(u.src[0].arg for u in nodes if u.op is Ops.RANGE and u.arg[1] in kinds)

    return {
        "rows": sizes(index.src[2], AxisType.UPCAST, AxisType.VECTOR),
        "columns": sizes(index.src[3], AxisType.UPCAST, AxisType.VECTOR),
        "steps": sizes(graph, AxisType.UNROLL),
    }
    ### END SOLUTION


def searched(kernel, width):
    """Task 11 (4 points). What BEAM finds: a dict.

    "plan", "found"    lists of Opts, [name, axis, arg] for each: the plan's, and the search's
    "seconds"          what the kernel takes with each of the two, [plan, found]
    "tried"            how many lists the search timed

    kernel: the graph of a kernel. search_result(kernel, Device["CPU"], width) searches with a beam
    of this width, as BEAM=width does; its result has `opts`, `seconds`, `planned` (the seconds with
    the plan's) and `tried`. Do it in `with Context(CACHE=0):`, or it may remember the last time.
    get_program(kernel, Device["CPU"].renderer).opts is the plan's list. An Opt has op, axis, arg.
    """
    ### BEGIN SOLUTION
    with Context(CACHE=0):
        result = search_result(kernel, Device["CPU"], width)
    plan = get_program(kernel, Device["CPU"].renderer).opts

    def rows(opts):
        return [[opt.op.name, opt.axis, opt.arg] for opt in opts]

    return {
        "plan": rows(plan),
        "found": rows(result.opts),
        "seconds": [result.planned, result.seconds],
        "tried": result.tried,
    }
    ### END SOLUTION


# ---- run everything ------------------------------------------------------------------------------


def is_open(answer):
    """Whether a task has no answer yet."""
    return answer is None or answer is ...


def show(title, answer, look=str):
    """Print an answer, or that there is none yet; and say whether there is one."""
    print(f"   {title:42} {'open' if is_open(answer) else look(answer)}".rstrip())
    return not is_open(answer)


def show_each(cases, task, look=str):
    """The answers for several cases, by title, up to the first one that is open; and then True."""
    return all(show(title, task(case), look) for title, case in cases.items())


def matrix(rows, columns=None):
    """A fresh one, in memory."""
    return Tensor.rand(rows, columns or rows).realize()


def network(n=64):
    """Two layers, a softmax and one more product: more than five ops."""
    x, w, v = matrix(n), matrix(n), matrix(n)
    return ((x @ w).relu() @ v).softmax(axis=1) @ w


NETWORK = "((x @ w).relu() @ v).softmax(1) @ w"


def report_on_walls():
    print(f"1. The floor plan of {NETWORK}")
    plan = schedule_of(network())
    if is_open(plan):
        show("schedule_of", plan)
    else:
        for number, kernel in enumerate(plan):
            read = ["memory"] * kernel["memory"] + [f"kernel {k}" for k in kernel["kernels"]]
            reduces = "1 reduce " if kernel["reduces"] == 1 else f"{kernel['reduces']} reduces"
            print(f"   kernel {number}   {reduces}   <-- {', '.join(read)}")
    print("\n2. Why is a wall there?")
    a, b, c = matrix(64), matrix(64), matrix(64)
    show_each(
        {
            NETWORK: network(),
            "(a @ b).contiguous() + c": (a @ b).contiguous() + c,
            "(a @ b).sum(1)": (a @ b).sum(axis=1),
            "a / a.sum()": a / a.sum(),
            "(a + b).relu() * c": (a + b).relu() * c,
        },
        boundaries,
        lambda found: ", ".join(found) or "no walls at all",
    )
    print("\n3. And if somebody tore them down? Operations on floats, of 16 x 16 matrices")
    a, b, c = matrix(16), matrix(16), matrix(16)
    if show_each(
        {
            "a @ b": lambda: a @ b,
            "(a @ b).exp() @ c": lambda: (a @ b).exp() @ c,
            "a.softmax(1) @ b": lambda: a.softmax(axis=1) @ b,
        },
        price,
        bars,
    ):
        print("   Each exponential is needed by 16 results. Without a wall, each computes its own.")


def bars(costs):
    one, other = costs["scheduled"], costs["fused"]
    length = max(1, min(round(other / one), 30))
    more = f"{'█' * length}   {other / one:.1f} times as many"
    return f"{one:8,} █\n{'fused':>45} {other:8,} {more}"


LIVES = ["RESHAPE", "PERMUTE", "REDUCE_AXIS", "RANGE", "REDUCE", "LOAD", "VECTORIZE", "DEFINE_REG",
         "ENDRANGE"]  # fmt: skip


def report_on_stages():
    a, b, x = matrix(8), matrix(8), matrix(4)
    stages = stages_of(lambda: a @ b)
    print("\n4. What each stage does to a @ b, 8 x 8 (the others do nothing)")
    graphs = [(name, nodes[-1]) for name, nodes in stages if name != "linearize"]
    pairs = zip(graphs, graphs[1:], strict=False)
    show_each(
        {name: (before, after) for (_, before), (name, after) in pairs if before is not after},
        lambda pair: difference(*pair),
        changes,
    )
    print("\n5. Who lives when, on the way from a @ b to C")
    lives = {op: life_of(lambda: a @ b, op) for op in LIVES}
    if is_open(lives["LOAD"]):
        show("life_of", None)
    else:
        names = [name for name, _ in stages]
        for number, name in enumerate(names):
            print(f"   {'':14}{'│ ' * number}┌ {name}")
        for op, life in lives.items():
            first, last = map(names.index, life) if life else (1, 0)
            there = ("█" if first <= n <= last else "·" for n in range(len(names)))
            print(f"   {op:14}{' '.join(there)}")
    print("\n6. x * 1 + 0, 4 x 4, at its four looks")
    if show_each(
        {"NOOPT=1": 1, "NOOPT=0": 0},
        lambda noopt: looks(lambda: x * 1 + 0, noopt),
        lambda found: "   ".join(f"{name} {n}" for name, n in found.items()),
    ):
        print("   NOOPT=1 only keeps hands off the loops. The algebra was over before that.")


def changes(found):
    """In a few lines, since some stages are thorough."""
    more = [f"+{n} {op}" for op, n in found["appeared"].items()]
    words = [*more, *(f"-{n} {op}" for op, n in found["vanished"].items())]
    lines = [", ".join(words[n : n + 4]) for n in range(0, len(words), 4)]
    return f"{found['kept']:2} kept   " + f"\n{'':56}".join(lines)


def report_on_trace():
    print("\n7. The same from a recording: (a @ b).relu(), 8 x 8")
    a, b = (matrix(8).to("PYTHON") for _ in range(2))
    recorder = Recorder(Store.temporary(), [Path(__file__).name])
    with observing(recorder), Context(NOOPT=1):
        (a @ b).relu().realize()
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "run.trace")
        recorder.store.save(path, recorder.overview())
        show_each(
            {"after simplify": "simplify", "after flatten indices": "flatten indices"},
            lambda stage: from_trace(path, 0, stage),
            lambda found: "   ".join(f"{n} {name}" for name, n in found.items()),
        )


def report_on_rules():
    print("\n8. Which of these rules lie?")
    three, four = np.float32(3), np.float32(4)
    show_each(
        {
            "x * 0        ->  0": (lambda x, y: x * 0, lambda x, y: np.zeros_like(x)),
            "x / 3        ->  x * (1 / 3)": (lambda x, y: x / three, lambda x, y: x * (1 / three)),
            "x / 4        ->  x * (1 / 4)": (lambda x, y: x / four, lambda x, y: x * (1 / four)),
            "x * 4 / 4    ->  x": (lambda x, y: x * four / four, lambda x, y: x),
            "(x + y) - x  ->  y": (lambda x, y: (x + y) - x, lambda x, y: y),
        },
        lambda rule: lie(*rule),
        lambda at: f"lies at x = {at[0]:.4g}, y = {at[1]:.4g}" if at else "holds, it seems",
    )
    print("\n9. Your own rules at work")
    x, y = (UOp(Ops.DEFINE_VAR, dtypes.float, (), (name, -math.inf, math.inf)) for name in "xy")
    minus = -(x * 1)
    rows = safe_rules()
    show_each(
        {
            "-(-(x * 1))": -minus,
            "(x < y).where(y, y).maximum(y)": (x < y).where(y, y).maximum(y),
            "x * 2 * 4 * 8": x * 2 * 4 * 8,
            "x * 3 * 5 - x": x * 3 * 5 - x,
        },
        lambda u: None if is_open(rows) else (u, graph_rewrite(u, PatternMatcher(list(rows)))),
        lambda pair: " nodes -> ".join(str(len(u.toposort())) for u in pair),
    )


def report_on_search(n=1024, width=4):
    print("\n10. A tile: of a corner of the result, what is computed at once")
    kernel = (matrix(n) @ matrix(n)).schedule()[-1].ast
    rows = [["VECTOR", 1, 4], ["UPCAST", 1, 2], ["UPCAST", 0, 6]]
    show("two vectors of 4, six rows", tile_of(kernel, rows), drawn)
    print(f"\n11. BEAM={width}, a product of {n} x {n} matrices (this takes most of a minute)",
          flush=True)  # fmt: skip
    found = searched(kernel, width)
    if is_open(found):
        return show("searched", found)
    for name, seconds in zip(("plan", "found"), found["seconds"], strict=True):
        speed = 2 * n**3 / seconds / 1e9
        opts = " ".join(f"{op}({axis}, {arg})" for op, axis, arg in found[name])
        print(f"   {name:8}{seconds * 1e3:7.2f} ms {speed:7.1f} GFLOP/s   {opts}")
    show("its tile", tile_of(kernel, found["found"]), drawn)
    gain = found["seconds"][0] / found["seconds"][1]
    print(f"   The search timed {found['tried']} lists, and gained a factor of {gain:.2f}.")
    if gain == 1:
        print("   So the plan was the best there is, or at least the best that anybody found.")


def drawn(tile):
    """The tile in the corner of 8 x 32 results."""
    lines = [f"{tile['rows']} rows, {tile['columns']} columns, {tile['steps']} at a time"]
    for row in range(8):
        cells = ("█" if row < tile["rows"] and c < tile["columns"] else "·" for c in range(32))
        lines.append(f"{'':46}{''.join(cells)}")
    return "\n".join(lines)


def main():
    report_on_walls()
    report_on_stages()
    report_on_trace()
    report_on_rules()
    report_on_search()


if __name__ == "__main__":
    main()
