"""Project 5: what its checks ask, what they are worth, and a hint for each.

Expressions, rules and lists of Opts are composed at random, of random sizes: what was right for an
earlier file isn't for the next one, and no name in a question says what is. What a schedule or a
stage is like is read off the judge's own. Whether a rule lies is decided by NumPy, on numbers where
floats break.
"""

import math
import re
from collections import Counter

import numpy as np

from classroom.grader.recorded import answer
from classroom.grader.tasks import (
    Expression,
    Project,
    Wrong,
    described,
    expect,
    expect_equal,
    expect_kind,
    or_known,
)
from tinyframe import Context, Device, dtypes
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.opt import Opt, OptOps
from tinyframe.observe import Observer, observing
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop.node import GroupOp, Ops
from tinyframe.viz import why

project = Project(
    "Project 5: Inspecting the compiler",
    points=100,
    times=2.0,  # for a search
    afterwards="You know which stage did what to whom, you caught rules that lie, and yours don't. "
    "Next: project 6, where you put something in: an operation of your own.",
)

OF_KERNEL = ".schedule()[-1].ast"


def arrays_of(ask, *shape):
    return {name: ask.floats(*shape, low=0.25) for name in "abc"}


def expression(ask, text, n, parameters=None):
    """Of square matrices a, b and c. It arrives as what it gives, or as a function."""
    return Expression(text, arrays_of(ask, n, n), parameters)


def told(each):
    return each.text.removesuffix(OF_KERNEL)


def expect_dict(found, keys, name):
    expect_kind(found, dict, name)
    for key in keys:
        expect(key in found, f"there is no {key!r} in {name}")


# ---- 1 schedule_of -------------------------------------------------------------------------------

STEPS = ["({} @ b)", "({} @ c)", "{}.exp()", "{}.contiguous()", "{}.softmax(1)", "({} + a)",
         "({} * b).relu()", "(lambda t: t / t.sum())({})"]  # fmt: skip
START = ["(a @ b)", "(a + b)", "(a @ c).relu()", "(b @ a).exp()"]


def chain(ask, count):
    return ask.composed(START, STEPS, count)


# Of one kernel; k is a number.
BORN = ["a", "(a * b)", "(a - b)", "(b / a)"]
PRODUCTS = ["(a @ b)", "(b @ a)", "(a @ c)", "((a + b) @ c)"]
GROWN = ["{}.exp()", "({} * {k}.0)", "({} + {k}.0)", "{}.sqrt()", "{}.relu()", "{}.permute(1, 0)",
         "{}.flip(0)", "{}[1:]"]  # fmt: skip
SUMS = ["{}.sum(1)", "{}.sum(0)", "{}.max(1)"]


@answer
def kernels_of(each):
    return len(each.function()().schedule())


def one_kernel(ask, n, born=(*BORN, PRODUCTS[0]), last=("{}", *SUMS)):
    """An expression that takes one kernel, drawn: its text."""
    while True:
        text = ask.composed(born, GROWN, ask.integer(1, 3), last)
        if kernels_of(expression(ask, text, n, "")) == 1:
            return text


@answer
def plan_of(each):
    """reduces, memory, kernels of each kernel; and whether it reads memory that was used twice."""
    found, places = [], {}
    items = each.argument().schedule()
    for number, item in enumerate(items):
        read = {id(buffer) for buffer in item.bufs[1:]}
        reduces = len([u for u in item.ast.toposort() if u.op is Ops.REDUCE])
        earlier = sorted(places[place][-1] for place in read & places.keys())
        twice = any(len(places[place]) > 1 for place in read & places.keys())
        found.append([reduces, len(read - places.keys()), earlier, twice])
        places.setdefault(id(item.bufs[0]), []).append(number)
    return found


PLAN = ("reduces", "memory", "kernels")


def expect_plan(ask, count, reused=False):
    while True:  # until there is something to tell apart
        n = ask.integer(40, 64)
        asked = [expression(ask, chain(ask, count), n) for _ in range(3)]
        plans = [plan_of(each) for each in asked]
        twice = any(kernel[-1] for plan in plans for kernel in plan)
        is_varied = len({len(plan) for plan in plans}) > 1 and max(map(len, plans)) > 2
        if is_varied and twice >= reused:
            break
    answers = []
    for each, plan in zip(asked, plans, strict=True):
        name = f"schedule_of({told(each)})"
        found = ask("schedule_of", each)
        expect_kind(found, list, name)
        kernels = f"{name} has {len(found)} kernels, and the schedule {len(plan)}"
        expect(len(found) == len(plan), kernels)
        for number, kernel in enumerate(found):
            expect_dict(kernel, PLAN, f"kernel {number} of {name}")
        answers.append((name, found))
    for place, key in enumerate(PLAN):
        with ask.part(key):
            for (name, found), plan in zip(answers, plans, strict=True):
                for number, (kernel, wanted) in enumerate(zip(found, plan, strict=True)):
                    what = f"{name}[{number}][{key!r}]"
                    expect_equal(kernel[key], wanted[place], what)


@project.check(
    "schedule_of",
    4,
    "chains of products and what is between them",
    "Go through tensor.schedule() in order, with a dict from id(buffer) to the kernel that wrote "
    "that buffer last: the same buffer is the same object.",
)
def _(ask):
    expect_plan(ask, 3)


# ---- 2 boundaries --------------------------------------------------------------------------------

WORDS = {
    "contiguous": "asked",
    "several kernels": "shared",
    "needed": "repeated",
    "too little parallel work": "narrow",
    "a tile would share": "tile",
}
MEANS = {
    "asked": "somebody asked for it",
    "shared": "several kernels read it",
    "repeated": "it would be computed again and again",
    "narrow": "too little would be left to do in parallel",
    "tile": "the product would lose its tiles",
}
ENDINGS = ["({} @ c).sum(1)", "(lambda t: t / t.sum())({})", "({} @ b).contiguous()",
           "({}.exp() @ b)", "(lambda t: t.exp() / (t.sum() + 1.0))({} @ c)"]  # fmt: skip


@answer
def reasons_of(each):
    """A word for each value that is stored, the first one first; "" for an unusual reason."""
    reasons = [row.reason for row in reversed(why(each.argument())) if row.reason != "output"]
    return [next((w for part, w in WORDS.items() if part in r), "") for r in reasons]


def expect_boundaries(ask, *words):
    for word in words:
        with ask.part(word):
            for _ in range(2):
                asked, wanted = with_reason(ask, word)
                found = ask("boundaries", asked)
                name = f"boundaries({told(asked)})"
                expect_kind(found, list, name)
                many = f"{name} has {len(found)} words; {len(wanted)} values are stored"
                expect(len(found) == len(wanted), f"{many} before the result")
                for place, (got, right) in enumerate(zip(found, wanted, strict=True)):
                    expect(
                        got == right and type(got) is str,
                        f"in {name}, value {place} has {described(got)}, but it's stored because "
                        f"{MEANS[right]}",
                    )
                expect_equal(list(found), wanted, name)


def with_reason(ask, word):
    """An expression with a value that is stored for this reason and one that is not, and the
    reasons of all."""
    while True:
        text = str(ask.rng.choice(ENDINGS)).format(chain(ask, ask.integer(0, 3)))
        asked = expression(ask, text, ask.integer(40, 64))
        wanted = reasons_of(asked)
        if word in wanted and all(wanted) and len(set(wanted)) > 1 and len(wanted) < 5:
            return asked, wanted


@project.check(
    "boundaries",
    5,
    "walls that somebody asked for, and those that keep work from being repeated",
    "reversed(why(tensor)) begins with the value that is computed first. Look for a part of the "
    "reason's text, since the number in it varies.",
)
def _(ask):
    expect_boundaries(ask, "asked", "repeated")


# ---- 3 price -------------------------------------------------------------------------------------


@answer
def prices_of(each):
    """Operations as scheduled and fused; and two ways to count wrong: each line once, or lines
    that compute places as well."""
    found = {}
    for name, tensor in (("scheduled", each.function()()), ("fused", each.function()().fuse())):
        right = once = with_places = 0
        for item in tensor.schedule():
            with Context(NOOPT=1):
                lines = get_program(item.ast, CStyleLanguage()).uops
            sizes = []
            for u in lines:
                if u.op is Ops.RANGE:
                    sizes.append(u.src[0].arg)
                elif u.op is Ops.ENDRANGE:
                    sizes.pop()
                elif u.op in GroupOp.ALU:
                    times = math.prod(sizes)
                    with_places += times
                    right += times * dtypes.is_float(u.dtype)
                    once += dtypes.is_float(u.dtype)
        found[name] = [right, once, with_places]
    return found


def expect_prices(ask, starts, steps, count):
    while True:  # until it costs something to tear down some of the walls, and not others
        texts = [ask.composed(starts, steps, count + n) for n in range(3)]
        asked = [expression(ask, text, ask.integer(5, 9), parameters="") for text in texts]
        prices = [prices_of(each) for each in asked]
        if len({each["scheduled"] == each["fused"] for each in prices}) == 2:
            break
    answers = []
    for each in asked:
        found = ask("price", each)
        expect_dict(found, ("scheduled", "fused"), f"price(lambda: {each.text})")
        answers.append(found)
    for key in ("scheduled", "fused"):
        with ask.part(key):
            for each, found, price in zip(asked, answers, prices, strict=True):
                right, once, with_places = price[key]
                n = each.arrays["a"].shape[0]
                name = f"price(lambda: {each.text})[{key!r}], of {n} x {n} matrices,"
                mistakes = {
                    f"{name} is {once}: that's each line once, however often its loops go around":
                        once,
                    f"{name} is {with_places}: that has the integers in it that compute places":
                        with_places,
                }  # fmt: skip
                with or_known(found[key], mistakes):
                    expect_equal(found[key], right, name)


@project.check(
    "price",
    5,
    "products by themselves, and after something else",
    "Keep a number `times`: multiply it by the size of a RANGE where one begins, and divide it "
    "where its ENDRANGE (whose src[0] is that RANGE) ends it.",
)
def _(ask):
    steps = ["({} @ c)", "({} @ b)", "{}.exp()", "({} + a)", "({} * {k}.0)", "{}.relu()"]
    expect_prices(ask, PRODUCTS, steps, 0)


# ---- 4 difference --------------------------------------------------------------------------------

IMPORTED = "__import__('tinyframe.{}', fromlist=['x'])"
REWRITTEN = (
    f"{IMPORTED.format('codegen')}.full_rewrite_to_sink(({{}}){OF_KERNEL}, "
    f"{IMPORTED.format('renderer.cstyle')}.CStyleLanguage())"
)
DIFFERENT = ("appeared", "vanished", "kept")


@answer
def differences(before, after):
    one, other = before.argument().toposort(), after.argument().toposort()
    counts = [Counter(u.op.name for u in nodes) for nodes in (one, other)]
    apart = {op: counts[1][op] - counts[0][op] for op in {**counts[0], **counts[1]}}
    more, fewer = ({op: s * n for op, n in apart.items() if s * n > 0} for s in (1, -1))
    return [more, fewer, sum(u in one for u in other)]


def expect_differences(ask, is_compiled=False):
    """Between drawn kernels and others, or themselves compiled."""
    while True:  # until something appears, something vanishes, and something is kept
        n, pairs = 4 * ask.integer(2, 6), []
        for _ in range(3):
            one, other = one_kernel(ask, n), one_kernel(ask, n)
            after = REWRITTEN.format(one) if is_compiled else f"({other}){OF_KERNEL}"
            both = [expression(ask, text, n) for text in (f"({one}){OF_KERNEL}", after)]
            kernels = f"the kernel of {one}, and " + (
                "itself compiled" if is_compiled else f"of {other}"
            )
            pairs.append((kernels, both, differences(*both)))
        if all(any(right[place] for *_, right in pairs) for place in range(3)):
            break
    asked = []
    for kernels, both, right in pairs:
        found = ask("difference", *both)
        expect_dict(found, DIFFERENT, f"the result of difference() for {kernels}")
        asked.append((kernels, found, right))
    for place, key in enumerate(DIFFERENT):
        with ask.part(key):
            for kernels, found, right in asked:
                got, wanted = found[key], right[place]
                if isinstance(got, dict):
                    got = {op: n for op, n in got.items() if n != 0}
                expect_equal(got, wanted, f"for {kernels}, {key!r}")


@project.check(
    "difference",
    4,
    "two kernels, which have much in common",
    "Counter(u.op.name for u in root.toposort()) counts, and one Counter less another has what the "
    "first has more of. The same node is the same object, so sets tell what is in both.",
)
def _(ask):
    expect_differences(ask)


# ---- 5 life_of -----------------------------------------------------------------------------------


def _watched(each, language):
    """Of an expression's only kernel: the nodes after each stage, and how often a rule fired."""
    nodes, fired = {}, {}

    class Watcher(Observer):
        def wants(self, work):
            return True

        def stage(self, name, before, after, passes):
            nodes[name] = list(after if isinstance(after, list) else after.toposort())
            fired[name] = sum(len(each.steps) for each in passes)

    with observing(Watcher()):
        get_program(each.function()().schedule()[-1].ast, language)
    return nodes, fired


@answer
def lives(each):
    """The first and the last stage that has one, for each op."""
    with Context(NOOPT=0):
        nodes, _ = _watched(each, CStyleLanguage())
    found = {}
    for stage, each in nodes.items():
        for op in {u.op.name for u in each}:
            found[op] = [*found.get(op, [stage])[:1], stage]
    return found


def expect_lives(ask, parts):
    """parts: for each the ops that it may ask about, of two expressions in both of which they live,
    and differently: a table of ops has no right answers. And ops that live in one of them."""
    while True:
        sizes = [4 * ask.integer(2, 6) for _ in range(2)]
        pair = [expression(ask, one_kernel(ask, n), n, "") for n in sizes]
        one, other = found = [lives(each) for each in pair]
        asked = {
            part: [op for op in ask.rng.permutation(ops).tolist()
                   if op in one and op in other and one[op] != other[op]][:1]
            for part, (ops, _) in parts.items()
        }  # fmt: skip
        if all(asked.values()):
            break
    for part, (_, others) in parts.items():
        with ask.part(part):
            for each, its in zip(pair, found, strict=True):
                there = [op for op in ask.rng.permutation(others).tolist() if op in its]
                for op in asked[part] + there[:1]:
                    expect_life(ask, each, op)
    with ask.part("what never comes", *parts):
        for each, its in zip(pair, found, strict=True):
            expect_life(ask, each, next(op for op in NEVER if op not in its))


NEVER = ["SIN", "CDIV", "LOG2"]  # of BORN and GROWN
EARLY, LATE = ["ADD", "MUL", "CONST"], ["VECTORIZE", "SUB", "CMPLT", "WHERE", "MAX"]


def expect_life(ask, each, op):
    name = f"life_of(lambda: {each.text}, {op!r})"
    wanted = lives(each).get(op, [])
    found = ask("life_of", each, op)
    expect_kind(found, list, name)
    expect(wanted != [] or len(found) == 0, f"{name} is {described(found)}, but no stage has one")
    expect(len(found) == len(wanted), f"{name} has {len(found)} names, not {len(wanted)}")
    for which, got, right in zip(("first", "last"), found, wanted, strict=False):
        expect(got == right and type(got) is str,
               f"{name}: {described(got)} is not the {which} stage with one")  # fmt: skip


@project.check(
    "life_of",
    5,
    "two expressions: what the scheduler turns into what",
    "stages_of(build) is a list of (name, nodes) in order: keep the names of those that have the "
    "op, and give the first and the last of them.",
)
def _(ask):
    before = ["REDUCE_AXIS", "EXPAND", "PERMUTE", "FLIP", "SHRINK"]
    loops = ["RANGE", "REDUCE", "STORE", "DEFINE_REG"]
    expect_lives(
        ask,
        {"before there are loops": (EARLY, before), "loops": (LATE, loops)},
    )


# ---- 6 looks -------------------------------------------------------------------------------------

LOOKS = {"initial": "tensor graph", "folded": "lower to ranges", "loops": "optimize",
         "linear": "linearize"}  # fmt: skip


@answer
def nodes_at_stages(each, noopt):
    """How many nodes there are after each stage, and how many instructions compute floats."""
    with Context(NOOPT=noopt):
        stages, _ = _watched(each, CStyleLanguage())
    floats = [u for u in stages["linearize"] if dtypes.is_float(u.dtype)]
    counts = {name: len(nodes) for name, nodes in stages.items()}
    return [counts, sum(u.op in GroupOp.ALU for u in floats)]


def expect_looks(ask, born, last):
    while True:  # until the four looks at each are four numbers, and none is that of the other one
        n, asked = 4 * ask.integer(2, 6), []
        for text in (f"({one_kernel(ask, n, born, last)}) * 1 + 0" for _ in range(2)):
            each = expression(ask, text, n, parameters="")
            asked += [(each, noopt, *nodes_at_stages(each, noopt)) for noopt in (0, 1)]
        one, _, other, _ = ([counts[each] for each in LOOKS.values()] for *_, counts, _ in asked)
        if len({*one}) == len({*other}) == 4 and not any(map(int.__eq__, one, other)):
            break
    answers = []
    for each, noopt, *right in asked:
        name = f"looks(lambda: {each.text}, {noopt})"
        found = ask("looks", each, noopt)
        expect_dict(found, [*LOOKS, "arithmetic"], name)
        answers.append((name, found, right))
    asked = answers
    for key, stage in LOOKS.items():
        with ask.part(key):
            for name, found, (counts, _) in asked:
                other = [n for n, count in counts.items() if count == found[key]]
                at = f"; that's how many there are after {other[0]!r}" if other else ""
                right = counts[stage]
                expect_kind(found[key], int, f"{name}[{key!r}]")
                expect(
                    found[key] == right,
                    f"{name}[{key!r}] is {found[key]}{at}, and should be {right}",
                )
    with ask.part("arithmetic"):
        for name, found, (_, floats) in asked:
            expect_equal(found["arithmetic"], floats, f"{name}['arithmetic']")


@project.check(
    "looks",
    5,
    "x * 1 + 0, and a little more",
    "Print (name, len(nodes)) for each stage of lambda: x * 1 + 0. Where do two nodes go? And with "
    "NOOPT=0, where do some come back, to make lanes?",
)
def _(ask):
    expect_looks(ask, BORN, ["{}"])


# ---- 7 from_trace --------------------------------------------------------------------------------

# Writes a trace of what `build` gives, on the interpreter's device: no compiler, no lanes.
_MODULES = ("viz.explorer.record", "viz.explorer.store", "observe", "settings")
RECORD = Expression(
    "(lambda record, store, observe, settings: (lambda recorder: (lambda *within: ("
    "setattr(recorder, '_roof', {'flops': 1e9, 'bandwidth': 1e9}), "
    "[each.__enter__() for each in within], [build().realize() for build in builds], "
    "[each.__exit__(None, None, None) for each in within], "
    "recorder.store.save(path, recorder.overview()), 1)[-1])"
    "(settings.Context(NOOPT=1), observe.observing(recorder)))"
    "(record.Recorder(store.Store.temporary(), ['script.py'])))"
    f"({', '.join(map(IMPORTED.format, _MODULES))})",
    {},
    "builds, path",
)
TRACED = ("elementwise", "reduce", "loop", "fired")
PROOFS = ("elementwise", "fired")  # of the other two there are few, so whoever guesses may be right


@answer
def counts_at(each, stage):
    """elementwise, reduce, loop, fired, in the only kernel of an expression."""
    with Context(NOOPT=1):
        stages, fired = _watched(each, Device["PYTHON"].renderer)
    kinds = GroupOp.Elementwise, {Ops.REDUCE}, {Ops.RANGE}
    return [*(len([u for u in stages[stage] if u.op in kind]) for kind in kinds), fired[stage]]


def expect_traced(ask, count, stages):
    while True:  # until no two kernels are alike, and none of the four numbers is the same for all
        path, n = f"run{ask.integer(100, 999)}.trace", ask.integer(4, 8)
        texts = [one_kernel(ask, n) for _ in range(count)]
        there = [f"(lambda a, b, c: {t})(*(t.to('PYTHON') for t in (a, b, c)))" for t in texts]
        builds = [expression(ask, text, n, "") for text in there]
        right = {stage: [counts_at(build, stage) for build in builds] for stage in stages}
        last = right[stages[-1]]
        if len({*map(tuple, last)}) == count and np.ptp(last, axis=0).all():
            break
    ask(RECORD, builds, path)
    for number, stage in ((k, s) for s in stages for k in range(count)):
        found = ask("from_trace", path, number, stage)
        name = f"from_trace(path, {number}, {stage!r}), where kernel {number} is {texts[number]},"
        expect_dict(found, TRACED, name)
        for key, wanted in zip(TRACED, right[stage][number], strict=True):
            with ask.part(key, *(() if key in PROOFS else PROOFS)):
                expect_equal(found[key], wanted, f"{name} the number for {key!r}")


@project.check(
    "from_trace",
    3,
    "two kernels, before and after their places are flat",
    "Trace.open(path).described(f'kernel/{number}').stages is a list; take the one of that name. "
    "Its after.toposort() gives nodes with an op, as of a UOp.",
)
def _(ask):
    expect_traced(ask, 2, ["simplify", "flatten indices"])


# ---- 8 lie ---------------------------------------------------------------------------------------

NUMPY = "(lambda np: {})(__import__('numpy'))"
WITHIN = "np.float32({})"
LAST_DIGIT = [("x / {k}", "x * (1 / {k})"), ("(x + {k}) - {k}", "x"),
              ("x * y + x", "x * (y + {one})"), ("x * {k} / {k}", "x")]  # fmt: skip
FAR_OUT = [("x * {p} / {p}", "x"), ("x / {p} * {p}", "x"), ("np.sqrt(x * x)", "np.abs(x)"),
           ("x * {huge} * {huge}", "x * ({huge} * {huge})")]  # fmt: skip
NO_NUMBERS = [("np.where(x < y, y, x)", "np.maximum(x, y)"), ("x - x", "{zero} * y * y"),
              ("np.where(x < y, x, y)", "np.minimum(x, y)"), ("x / x", "y * {zero} + {one}"),
              ("np.maximum(x * {p}, y * {p})", "np.where(x < y, y, x) * {p}")]  # fmt: skip
HONEST = [("x / {p}", "x * (1 / {p})"), ("x * {zero}", "x - x"), ("x + x", "x * ({one} + {one})"),
          ("np.maximum(x, y)", "np.maximum(y, x)"), ("{zero} - x", "-x"),
          ("x * {p} * {p}", "x * ({p} * {p})"), ("np.abs(-x * y)", "np.abs(x) * np.abs(y)"),
          ("(x < y) * {one}", "np.where(y > x, {one}, {zero})")]  # fmt: skip


# What may stand for x and y. A rule that holds does so for these as well; and none of them makes
# digits or a NaN, or takes away a number that is positive, so a lie stays where it is.
TERMS = ["np.abs({})", "np.maximum({}, -{k})", "np.maximum(-{k}, {})"]
SEEN = 0.01  # of pairs of floats where they break: the plain rules are seen at 0.019 or more


def rule_of(ask, pair, is_lie=False):
    """The two sides of a rule, with terms for its x and y. A lie is one that can be found."""
    terms = {name: ask.composed([name], TERMS, ask.integer(0, 2)) for name in "xy"}
    values = {"k": ask.rng.choice([3, 5, 7, 11, 13]), "p": ask.rng.choice([2, 4, 8, 16]),
              "huge": "1e30", "one": 1, "zero": 0}  # fmt: skip
    texts = {name: WITHIN.format(value) for name, value in values.items()}
    sides = [re.sub(r"\b[xy]\b", lambda at: terms[at[0]], text).format(**texts) for text in pair]
    x, y = numbers(ask)
    if is_lie and (~same(*(numpy_values(side, x, y) for side in sides))).mean() < SEEN:
        return rule_of(ask, pair, is_lie)
    return sides


def function_of(text):
    return Expression(NUMPY.format(text), {}, "x, y")


def numpy_values(text, x, y):
    with np.errstate(all="ignore"):
        return np.asarray(eval(text, {"np": np, "x": x, "y": y}), np.float32)


def numpy_value(text, x, y):
    return numpy_values(text, np.float32([x]), np.float32([y]))[0]


def same(one, other):
    return (one == other) | ((one != one) & (other != other))


def spoken(text):
    """Without what makes numbers 32 bits wide."""
    return re.sub(r"np\.float32\(([^()]*)\)", r"\1", text).replace("np.", "")


def expect_caught(ask, pair):
    before, after = rule_of(ask, pair, is_lie=True)
    rule = f"{spoken(before)}  ->  {spoken(after)}"
    found = ask("lie", function_of(before), function_of(after))
    expect_kind(found, list, f"the result of lie() for {rule}")
    expect(len(found) > 0, f"{rule} does lie somewhere, and nobody noticed")
    expect(len(found) == 2, f"the result of lie() for {rule} has {len(found)} numbers, not two")
    x, y = found
    for number in found:
        expect(type(number) in (int, float), f"{described(number)} is no float, for {rule}")
    one, other = (numpy_value(text, x, y) for text in (before, after))
    at = f"{rule}: for x = {x:g} and y = {y:g}"
    expect(not same(one, other), f"{at}, both are {one:g}")


def expect_cleared(ask, pair):
    before, after = rule_of(ask, pair)
    rule = f"{spoken(before)}  ->  {spoken(after)}"
    found = ask("lie", function_of(before), function_of(after))
    expect_kind(found, list, f"the result of lie() for {rule}")
    if len(found) == 2 and all(type(n) in (int, float) for n in found):
        one = numpy_value(before, *found)
        at = f"for x = {found[0]:g} and y = {found[1]:g}"
        raise Wrong(f"{rule} holds everywhere; {at}, both are {one:g}")
    expect(len(found) == 0, f"{rule} holds everywhere, and lie() returned {described(found)}")


def expect_lies(ask, **families):
    """Each name is a part, with the rules of its family; honest ones are a part too."""
    for name, family in families.items():
        with ask.part(name.replace("_", " ")):
            for n in ask.rng.permutation(len(family)):
                expect_caught(ask, family[n])
    with ask.part("rules that hold", *(name.replace("_", " ") for name in families)):
        for n in ask.rng.permutation(len(HONEST))[:5]:
            expect_cleared(ask, HONEST[n])


@project.check(
    "lie",
    5,
    "the last digit, and what is not a number",
    "Put special numbers and a few dozen ordinary ones of all sizes into one array, and try every "
    "pair: np.meshgrid makes them. Two NaNs are equal here, although NumPy says they aren't.",
)
def _(ask):
    expect_lies(ask, the_last_digit=LAST_DIGIT, NaN_and_infinity=NO_NUMBERS[:3])


# ---- 9 safe_rules --------------------------------------------------------------------------------

# The submission's rules applied in its own process; a row [op, sources, arg] for each node comes
# back, and is computed here.
REWRITE = Expression(
    "(lambda m: (lambda nodes: (lambda at: [[u.op.name, [at[s] for s in u.src], "
    "u.arg if u.op.name == 'CONST' else u.arg[0] if u.op.name == 'DEFINE_VAR' else None] "
    "for u in nodes])({u: n for n, u in enumerate(nodes)}))"
    "(list(m.graph_rewrite(root, m.PatternMatcher([*rows])).toposort())))"
    f"({IMPORTED.format('rewrite.matcher')})",
    {},
    "rows, root",
)
_LEAVES = (
    f"(lambda node: (node.UOp(Ops.DEFINE_VAR, dtypes.float, (), (name, -1e38, 1e38)) "
    f"for name in 'xy'))({IMPORTED.format('uop.node')})"
)
MOST_ROWS = 200

MEANING = {
    "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "FDIV": np.divide, "MAX": np.maximum,
    "NEG": np.negative, "RECIP": np.reciprocal, "SQRT": np.sqrt, "CMPLT": np.less,
    "CMPNE": np.not_equal, "CMPEQ": np.equal, "CMPLE": np.less_equal, "WHERE": np.where,
    "AND": np.logical_and, "OR": np.logical_or, "EXP2": np.exp2, "LOG2": np.log2,
}  # fmt: skip
_F = np.finfo(np.float32)
_FLOATS = np.float32(
    [0, 1, 3, _F.max, _F.max / 3, _F.smallest_subnormal, 3 * _F.smallest_subnormal, 2.0**-100,
     1e20, 1 / 3, 2.0**100, np.pi, 0.1, 12.7, np.inf]
)  # fmt: skip


def numbers(ask):
    """Pairs of floats where floats break, and of ordinary ones."""
    usual = ask.rng.normal(size=20) * 10.0 ** ask.rng.integers(-3, 4, 20)
    values = np.float32([*_FLOATS, *-_FLOATS, np.nan, *usual])
    return [part.ravel() for part in np.meshgrid(values, values)]


def expression_of(text):
    return Expression(f"(lambda x, y: {text})(*{_LEAVES})", {}, None)


class Node:
    """A node of an expression, as a row of a table: what UOps are built like, without any."""

    def __init__(self, table, op, sources=(), arg=None):
        self.table = table
        self.place = table.setdefault((op, sources, arg), len(table))

    def of(self, op, *others):
        nodes = [
            other if isinstance(other, Node) else Node(self.table, "CONST", (), float(other))
            for other in others
        ]
        return Node(self.table, op, tuple(node.place for node in (self, *nodes)))


OPERATORS = {
    **dict.fromkeys(("__add__", "__radd__"), lambda x, y: x.of("ADD", y)),
    **dict.fromkeys(("__mul__", "__rmul__"), lambda x, y: x.of("MUL", y)),
    "__truediv__": lambda x, y: x.of("FDIV", y),
    "__lt__": lambda x, y: x.of("CMPLT", y),
    "__neg__": lambda x: x * -1.0,
    "__sub__": lambda x, y: x + y * -1.0,
    "maximum": lambda x, y: x.of("MAX", y),
    "where": lambda c, x, y: c.of("WHERE", x, y),
    "sqrt": lambda x: x.of("SQRT"),
}
for _name, _operator in OPERATORS.items():
    setattr(Node, _name, _operator)


def table_of(text):
    """[op, sources, arg] for each node of an expression of x and y, sources first."""
    table = {}
    names = {name: Node(table, "DEFINE_VAR", (), name) for name in "xy"}
    last = eval(text, names).place
    rows = [[op, list(sources), arg] for op, sources, arg in table]
    needed, waiting = set(), [last]
    while waiting:
        needed.add(place := waiting.pop())
        waiting += rows[place][1]
    kept = sorted(needed)
    return [[rows[p][0], [kept.index(s) for s in rows[p][1]], rows[p][2]] for p in kept]


def computed(table, x, y):
    """The values of the last row. Wrong where it is no table of known ops."""
    is_table = isinstance(table, list) and 0 < len(table) <= MOST_ROWS
    expect(is_table, f"after your rules, there are no nodes or more than {MOST_ROWS}")
    values = []
    for number, row in enumerate(table):
        expect(isinstance(row, list) and len(row) == 3, "a node is no node")
        op, places, arg = row
        known = type(op) is str and (op in MEANING or op in ("CONST", "DEFINE_VAR"))
        expect(known, f"your rules put {described(op)} there, which isn't arithmetic on floats")
        fits = isinstance(places, list) and all(type(p) is int and 0 <= p < number for p in places)
        expect(fits, f"{op} has sources that are none")
        if op == "DEFINE_VAR":
            expect(arg in ("x", "y"), f"{described(arg)} is neither x nor y")
            values.append(x if arg == "x" else y)
        elif op == "CONST":
            expect(type(arg) in (int, float, bool), f"{described(arg)} is a constant of its own")
            with np.errstate(all="ignore"):
                values.append(np.full_like(x, arg))
        else:
            with np.errstate(all="ignore"):
                try:
                    found = np.broadcast_to(MEANING[op](*(values[p] for p in places)), x.shape)
                except Exception:
                    raise Wrong(f"{op} with {len(places)} sources") from None
            values.append(found if found.dtype == bool else found.astype(np.float32))
    return values[-1]


def expect_same(ask, rows, text):
    """The table after the rules; Wrong where a value has changed."""
    after = ask(REWRITE, rows, expression_of(text))
    x, y = numbers(ask)
    one, other = (computed(table, x, y) for table in (table_of(text), after))
    equal = same(one, other)
    if not equal.all():
        n = int(np.argmin(equal))
        was, now, at_x, at_y = (f"{values[n]:.9g}" for values in (one, other, x, y))
        at = f"for x = {at_x} and y = {at_y}"
        raise Wrong(f"{text}: {at}, it was {was}, and after your rules it is {now}")
    return after


def expect_short(ask, rows, text, ideal):
    """No more nodes than those of `ideal`, of the same value."""
    after = expect_same(ask, rows, text)
    most = len(table_of(ideal))
    took = f"{text} has {len(after)} nodes after your rules; {ideal} has {most}"
    expect(len(after) <= most, took)
    expect("/" in ideal or all(op != "FDIV" for op, _, _ in after), f"{text} still divides")


INNER = ["x", "(x + y)", "(x * y)", "x.maximum(y)"]
LOOKALIKES = {
    "x * 1": ["{e} * 0.0", "{e} * 1.5"],
    "-(-x)": ["{e} - {e}", "-{e} * -2.0"],
    "where": ["({e} < y).where(y, {e})", "({e} < y).where({e}, y)"],
    "maximum": ["{e}.sqrt() * {e}.sqrt()", "{e}.maximum(-{e})"],
    "x * a * b": ["{e} * 3.0 * 5.0", "{e} * 1e30 * 1e-30", "{e} * 1e30 * 1e30", "x * 0.5 * 2.0",
                  "{e} * 3.0 * 7.0 * 11.0", f"x * {2.0**100} * {2.0**100}", "{e} * 4.0 * 0.5",
                  "{e} * 0.5 * 4.0", "{e} * 0.5 * 0.25"],
    "x / a": ["{e} / 3.0", "{e} / 1e-40", "{e} / 10.0", f"x / {2.0**-140}"],
}  # fmt: skip


def firing(ask, form, e):
    """(an expression of this form, what is left of it)."""
    p, q = (2.0 ** ask.integer(1, 5) for _ in range(2))
    left = ask.integer(0, 1)
    return {
        "x * 1": (f"1.0 * {e}" if left else f"{e} * 1.0", e),
        "-(-x)": (f"-(-{e})", e),
        "where": (f"(y < {e}).where({e}, {e})", e),
        "maximum": (f"{e}.maximum({e})", e),
        "x * a * b": (f"{p} * ({e} * {q})" if left else f"{e} * {p} * {q}", f"{e} * {p * q}"),
        "x / a": (f"{e} / {p}", f"{e} * {1 / p}"),
    }[form]


def expect_rules(ask, forms, longer):
    """Each form fires, and what looks like it is left alone; and (text, what is left) of longer
    ones. A rule that lies anywhere spoils the last part, too."""
    rows = ask.keep("safe_rules")
    for form in forms:
        with ask.part(form):
            for e in ask.rng.permutation(INNER)[:2]:
                expect_short(ask, rows, *firing(ask, form, str(e)))
            for lookalike in LOOKALIKES[form]:
                for e in ("x", ask.rng.choice(INNER[1:])):
                    expect_same(ask, rows, lookalike.format(e=e))
    with ask.part("longer ones", *forms):
        for text, ideal in longer:
            expect_short(ask, rows, text, ideal)
        for text in ("x / x", "x + 1.0 + 2.0", "x - x", "(x + y) * 0.0", "x * 0.5 * 2.0",
                     "x * 3.0 / 3.0", "(x < y).where(y, x)"):  # fmt: skip
            expect_same(ask, rows, text)


@project.check(
    "safe_rules",
    8,
    "three forms that always hold, and one that does sometimes",
    "(UPat.var('x') * 1.0, lambda x: x) is a row. For two constants, name them with UPat.cvar, and "
    "return None where the rule doesn't hold; math.frexp tells a power of two.",
)
def _(ask):
    expect_rules(
        ask,
        ["x * 1", "-(-x)", "maximum", "x * a * b"],
        [("(-(-(x * 1.0))).maximum(1.0 * x)", "x"),
         ("x * 2.0 * 2.0 * 4.0 * 8.0", "x * 128.0")],
    )  # fmt: skip


# ---- 10 tile_of ----------------------------------------------------------------------------------


def tiled(axes, op, axis, n):
    """The axes, [name, size], after one more Opt: none of it asks the compiler."""
    if op == "REORDER":
        return [axes[a] for a in axis]
    name, size = axes[axis]
    outer, inner = [[name, size // n]] * (size > n), [[name, n]] * (op == "SPLIT")
    return [*axes[:axis], *outer, *inner, *axes[axis + 1 :]]


def drawn_opts(ask, split, *wanted):
    """(sizes, rows, tile) of a product. split, wanted: (op, name of an axis, n); all but the first
    are in a drawn order, and each has one of the axes of this name."""
    sizes = [n * ask.integer(2, 3) for n in (8, 16, 8)]
    axes = [[name, size] for name, size in zip("rck", sizes, strict=True)]
    rows, found = [], {"r": 1, "c": 1, "k": 1}
    for op, name, n in (split, *(wanted[n] for n in ask.rng.permutation(len(wanted)))):
        places = [p for p, (its, size) in enumerate(axes) if its == name and size % n == 0]
        axis = int(ask.rng.choice(places))
        if op == "REORDER":
            outer = [p for p, (its, _) in enumerate(axes) if its != "k"]
            axis, n = [*ask.rng.permutation(outer).tolist(), *range(len(outer), len(axes))], None
        elif op != "SPLIT":
            found[name] *= n
        rows.append([op, axis, n])
        axes = tiled(axes, op, axis, n)
    return sizes, rows, {"rows": found["r"], "columns": found["c"], "steps": found["k"]}


def expect_tiles(ask, *lists):
    asked = []
    for (n, m, k), rows, right in lists:
        arrays = {"a": ask.floats(n, k), "b": ask.floats(k, m)}
        kernel = Expression(f"(a @ b){OF_KERNEL}", arrays, None)
        name = f"for a product of {n} x {k} and {k} x {m}, and {rows}, tile_of()"
        found = ask("tile_of", kernel, rows)
        expect_dict(found, ("rows", "columns", "steps"), name)
        asked.append((name, found, right))
    for key in ("rows", "columns", "steps"):
        with ask.part(key):
            for name, found, right in asked:
                expect_equal(found[key], right[key], f"{name}[{key!r}]")


@project.check(
    "tile_of",
    4,
    "lanes, copies and unrolled steps",
    "Take the RANGEs of index.src[2].toposort() whose kind is AxisType.UPCAST or AxisType.VECTOR, "
    "and multiply their sizes; math.prod does that.",
)
def _(ask):
    up, more, few = (int(n) for n in ask.rng.permutation([2, 4, 8]))
    expect_tiles(
        ask,
        drawn_opts(ask, ("SPLIT", "r", 8), ("VECTOR", "c", 4), ("UPCAST", "r", up)),
        drawn_opts(ask, ("SPLIT", "r", 8), ("UPCAST", "r", more), ("UNROLL", "k", few)),
        drawn_opts(ask, ("SPLIT", "c", 16), ("UPCAST", "c", few), ("UNROLL", "k", up)),
    )


# ---- 11 searched ---------------------------------------------------------------------------------

SECONDS = "the seconds, and that a search took place"


# The plan's list for a kernel, and whether one is legal: asked where the search took place.
_COMPILE = (
    f"{IMPORTED.format('codegen')}.get_program(kernel, {IMPORTED.format('device')}.Device['CPU']"
)
PLANNED = Expression(
    f"[[o.op.name, o.axis, o.arg] for o in {_COMPILE}.renderer).opts]", {}, "kernel"
)
LEGAL = Expression(
    f"(lambda opt: {_COMPILE}.renderer, [opt.Opt(opt.OptOps[op], tuple(axis) if isinstance(axis, "
    "list) else axis, arg) for op, axis, arg in rows]) is not None)"
    f"({IMPORTED.format('codegen.optimize.opt')})",
    {},
    "kernel, rows",
)


def listed(value):
    return list(map(listed, value)) if isinstance(value, (list, tuple)) else value


def expect_searched(ask, text, shapes, planned=None, compiles=None):
    """planned, compiles: the plan's list for a kernel, and a function that raises where a list is
    not legal for it; by default, the submission's process is asked."""
    arrays = {name: ask.floats(*shape) for name, shape in shapes.items()}
    kernel = Expression(f"({text}){OF_KERNEL}", arrays, None)
    found = ask("searched", kernel, 1)
    expect_dict(found, ("plan", "found", "seconds", "tried"), "the result of searched()")
    name = f"for the kernel of {text}, of {' and '.join(map(str, shapes.values()))},"
    with ask.part("plan"):
        wanted = listed(planned(kernel) if planned else ask(PLANNED, kernel))
        expect_kind(found["plan"], list, "'plan'")
        got = listed(found["plan"])
        expect(got == wanted, f"{name} 'plan' is {described(got)}, and should be {wanted}")
    with ask.part("found", "plan"):
        expect_kind(found["found"], list, "'found'")
        for row in listed(found["found"]):
            fits = isinstance(row, list) and len(row) == 3 and type(row[0]) is str
            expect(fits, f"{described(row)} is not [name, axis, arg]")
        try:
            (compiles or (lambda *given: ask(LEGAL, *given)))(kernel, listed(found["found"]))
        except Exception as error:
            raise Wrong(f"{name} 'found' is not legal ({error})") from None
    with ask.part("seconds and tried", "plan"):
        expect_kind(found["seconds"], list, "'seconds'")
        expect(len(found["seconds"]) == 2, "'seconds' has two numbers, the plan's and the search's")
        for each in found["seconds"]:
            expect_kind(each, float, "one of 'seconds'")
            expect(0 <= each < 1, f"one of 'seconds' is {each}")
        planned_seconds, best = found["seconds"]
        turned = "the search's is slower than the plan's; are they the other way round?"
        expect(best <= planned_seconds, turned)
        expect_kind(found["tried"], int, "'tried'")
        expect(found["tried"] > 1, f"'tried' is {found['tried']}; a search tries at least two")


@project.check(
    "searched",
    2,
    "a small product",
    "opt.op.name is a text. result.planned is the time with the plan's list, result.seconds the "
    "time with the best one.",
    trusts=SECONDS,
)
def _(ask):
    n, k = ask.integer(3, 5), ask.integer(5, 9)
    expect_searched(ask, "a @ b", {"a": (n, k), "b": (k, 8)})


### BEGIN HIDDEN
# ---- the instructor's own checks -----------------------------------------------------------------


@project.check(
    "schedule_of", 4, "longer chains", "A kernel may read the results of several earlier ones."
)
def _(ask):
    expect_plan(ask, 5, reused=True)


@project.check(
    "boundaries",
    5,
    "walls for tiles, narrow reduces, and what several kernels share",
    "Print why() for (a @ b).sum(1), a / a.sum() and (lambda t: t / t.sum())(a @ b).",
)
def _(ask):
    expect_boundaries(ask, "tile", "narrow", "shared")


@project.check(
    "price",
    5,
    "softmax, and several products in a row",
    "Loops stand inside of loops: after an ENDRANGE, you're back at the number from before.",
)
def _(ask):
    steps = ["({} @ c)", "{}.softmax(1)", "({} @ (b + {k}.0))", "{}.exp()", "({} * b)"]
    expect_prices(ask, [*PRODUCTS, "a.softmax(1)", "b.exp()"], steps, 1)


@project.check(
    "difference",
    4,
    "a kernel, and what the compiler makes of it",
    "Leave out ops of which there are as many as before.",
)
def _(ask):
    expect_differences(ask, is_compiled=True)


@project.check(
    "life_of",
    5,
    "what comes late, and what never comes",
    "An op may come, go and come again: only the first and the last stage count. Is your list "
    "empty if none has it?",
)
def _(ask):
    expect_lives(
        ask,
        {
            "what comes late": (LATE, ["DEFINE_REG", "ENDRANGE", "SHL", "GEP", "BITCAST"]),
            "what goes": (EARLY, ["EXP2", "REDUCE_AXIS", "REDUCE", "PERMUTE", "EXPAND"]),
        },
    )


@project.check(
    "looks",
    5,
    "products and sums",
    "Is the whole of it inside `with Context(NOOPT=noopt):`? And does the last number leave out "
    "the integers that compute places?",
)
def _(ask):
    expect_looks(ask, [*BORN, *PRODUCTS], SUMS)


@project.check(
    "from_trace", 3, "three kernels", "A trace has the kernels in the order in which they were met."
)
def _(ask):
    expect_traced(ask, 3, ["decompose", "flatten indices"])


@project.check(
    "lie",
    5,
    "far out, and everything else",
    "Is the largest float there is among your numbers? And the smallest that isn't 0?",
)
def _(ask):
    expect_lies(ask, far_out=FAR_OUT, NaN_and_infinity=NO_NUMBERS, the_last_digit=LAST_DIGIT[:2])


@project.check(
    "safe_rules",
    8,
    "the other two, long chains, and constants where floats break",
    "A product of two powers of two may be larger than any float, or smaller. And is there always "
    "a 1 / a?",
)
def _(ask):
    x60 = 2.0**60
    chain = f"x * {x60} * {x60} * {x60}"
    expect_rules(
        ask,
        ["where", "x / a", "x * a * b", "maximum"],
        [("(x < y).where(-(-y), 1.0 * y).maximum(y)", "y"),
         ("-(-(-(-(x * 2.0 * 4.0))))", "x * 8.0"),
         (chain, chain), ("x * 0.5 * 2.0", "x * 0.5 * 2.0"), (f"x * {2.0**127} * 2.0",) * 2,
         (f"x * {2.0**-100} * {2.0**100}",) * 2, (f"x / {2.0**-140}",) * 2,
         (f"x * 0.5 * {2.0**-149}",) * 2],
    )  # fmt: skip


@project.check(
    "tile_of",
    4,
    "axes that are split, moved and used up",
    "The numbers of axes shift. The kinds of the RANGEs in the index don't.",
)
def _(ask):
    up, more = (int(n) for n in ask.rng.permutation([2, 4]))
    expect_tiles(
        ask,
        drawn_opts(ask, ("SPLIT", "k", 8), ("VECTOR", "c", 4), ("UPCAST", "r", up),
                   ("REORDER", "c", 1), ("UNROLL", "k", 8)),
        drawn_opts(ask, ("UPCAST", "c", 8), ("VECTOR", "r", 4), ("UNROLL", "k", more)),
        drawn_opts(ask, ("SPLIT", "r", up), ("UPCAST", "r", up), ("UPCAST", "c", 8),
                   ("VECTOR", "c", 2)),
    )  # fmt: skip


def plan_of_kernel(kernel):
    opts = get_program(kernel.argument(), Device["CPU"].renderer).opts
    return [[opt.op.name, opt.axis, opt.arg] for opt in opts]


def compiled(kernel, rows):
    opts = [
        Opt(OptOps[op], tuple(axis) if isinstance(axis, list) else axis, arg)
        for op, axis, arg in rows
    ]
    get_program(kernel.argument(), Device["CPU"].renderer, opts)


@project.check(
    "searched",
    2,
    "a kernel that is no product",
    "Give the plan's list as it is, even if the search found the same one.",
    trusts=SECONDS,
)
def _(ask):
    n = ask.integer(5, 9)
    shapes = {"a": (n, 8), "b": (n, 8)}
    expect_searched(ask, "(a * b).sum(1)", shapes, planned=plan_of_kernel, compiles=compiled)


### END HIDDEN
