"""Parts 10a, 10c, 11a and a little of 11b: answers of a student who has done parts 1 to 8 and never
contributed to anything.

The verdicts were written before anything was run. "(I had said …)" marks those that changed.
"""

ANSWERS = [
    # ---- 10a -------------------------------------------------------------------------------------
    (
        "rooms-on-the-way",
        """
def rooms(calls):
    from collections import defaultdict
    seen = defaultdict(set)
    for file, name in calls:
        seen[file] |= {name}
    return {file: len(names) for file, names in seen.items()}
""",
        "right",
        "sets that come into being by themselves",
    ),
    (
        "rooms-on-the-way",
        """
def rooms(calls):
    from itertools import groupby
    return {file: len({*part}) for file, part in groupby(calls, key=lambda call: call[0])}
""",
        "wrong",
        "groupby only groups neighbours, so the last visit counts",
    ),
    (
        "rooms-on-the-way",
        """
def rooms(calls):
    files = {file for file, _ in calls}
    return {file: len({n for f, n in calls if f == file}) for file in files}
""",
        "wrong",
        "right numbers, in the order of a set",
    ),
    (
        "rooms-on-the-way",
        """
def rooms(calls):
    for file in dict(calls):
        yield file, len({name for other, name in calls if other == file})
""",
        "right",
        "a generator of pairs; dict(calls) keeps the place of the first call",
    ),
    (
        "rooms-on-the-way",
        """
def rooms(calls):
    found = {}
    for file, name in calls:
        found.setdefault(file, set()).add(name.rpartition(".")[2])
    return {file: len(names) for file, names in found.items()}
""",
        "wrong",
        "two classes may each have an `__init__`, and those are two functions",
    ),
    (
        "rooms-on-the-way",
        """
def rooms(calls):
    found = {}
    for file, name in calls:
        found.setdefault(file, set()).add(name)
    return found
""",
        "wrong",
        "the names themselves, not how many",
    ),
    (
        "front-rooms",
        '["Operators.__add__", "Ops.CONTIGUOUS", "_GraphKey", "UOp.__new__", "guard"]',
        "right",
        "the class, with the method that the question is about",
    ),
    (
        "front-rooms",
        '{1: "Operators", 4: "UOpMetaClass.__call__"}',
        "wrong",
        "that's where tinygrad does it",
    ),
    (
        "front-rooms",
        '{3: "It\'s the class _GraphKey"}',
        "asked again",
        "a whole sentence, and right; four rooms are still to be read",
    ),
    (
        "back-rooms",
        """
from tinyframe.gpu.drivers.cuda import CUDARunner
back = [Ops.ENDRANGE, "code_for_op", "_entry", CUDARunner, Tensor.linear]
""",
        "right",
        "the things themselves",
    ),
    (
        "back-rooms",
        '{8: "void E_3_entry(void** bufs, const long long* vals, int start, int stop)"}',
        "asked again",
        "copied from the C: right, and four rooms are still to be read",
    ),
    (
        "back-rooms",
        '{7: "CStyleLanguage.code_for_op[Ops.ADD]"}',
        "asked again",
        "the dict and the row in it: right, and four rooms are still to be read",
    ),
    ("back-rooms", '{9: "the CUDA driver"}', "wrong", "that's not in the room"),
    ("second-time", "[1, 1, 0, 0, 1]", "right", "a list, of numbers that stand for True and False"),
    ("second-time", '"TTFFT"', "asked again", "letters"),
    ("second-time", "{1, 2, 5}", "asked again", "the rooms that are entered, not five values"),
    ("from-inside-a-rule", '"up 9 ;; p len(ast.toposort())"', "right", "two commands in a line"),
    (
        "from-inside-a-rule",
        '["up 5", "p len(sink.toposort())"]',
        "right",
        "the frame of the cell above: its rules come first, so that's still the scheduler's graph "
        "(I had said wrong)",
    ),
    (
        "from-inside-a-rule",
        '["up 99", "p len(ast.toposort())"]',
        "wrong",
        "all the way out, past the compiler",
    ),
    (
        "from-inside-a-rule",
        """
commands = ["import sys; frame = sys._getframe()",
            "while 'ast' not in frame.f_locals: frame = frame.f_back",
            "p len(frame.f_locals['ast'].toposort())"]
""",
        "right",
        "goes out by itself, however far it is",
    ),
    ("lines-that-remain", "(1, 0, 0, 0, 1, 1, 1)", "right", "numbers for True and False"),
    ("lines-that-remain", "[True, False, False, False, True, True]", "asked again", "six of seven"),
    (
        "who-made-it",
        """
def who_made(node, passes):
    from itertools import chain
    steps = chain.from_iterable(one.steps for one in passes)
    is_new = lambda s: node in s.after.toposort() and node not in s.before.toposort()
    return next(filter(is_new, steps), None)
""",
        "right",
        "a chain and a filter",
    ),
    (
        "who-made-it",
        """
def who_made(node, passes):
    for one in passes:
        for step in one.steps:
            if step.after.render() == node.render():
                return step
""",
        "wrong",
        "text for identity, and only the top of what a step gave",
    ),
    (
        "who-made-it",
        """
def who_made(node, passes):
    steps = [step for one in passes for step in one.steps]
    for n, step in enumerate(steps):
        if node in step.after.toposort() and node not in step.before.toposort():
            return n
""",
        "wrong",
        "its number, and not the step",
    ),
    (
        "who-made-it",
        """
def who_made(node, passes):
    for step in passes[-1].steps:
        if node in step.after.toposort() and node not in step.before.toposort():
            return step
""",
        "wrong",
        "only the last pass is asked, in which nothing is made",
    ),
    ("the-long-way", '"Tensor.randn(9).topk(2)[0]"', "right", "normal numbers, and the largest"),
    ("the-long-way", '"m.sum()"', "wrong", "hardly longer than a + b"),
    ("the-long-way", '"Tensor.rand(3).sort()[0].sum( )"', "wrong", "31 characters"),
    ("the-long-way", '"print(a)"', "wrong", "there's nothing to compute"),
    # ---- 10c -------------------------------------------------------------------------------------
    (
        "puzzle-endless",
        '"RewriteLoopError"',
        "wrong",
        "that's what is raised, and it counts nothing",
    ),
    ("puzzle-dead_end", '"Ops.BITCAST"', "right", "bits have no slope"),
    ("puzzle-dead_end", '"WHERE"', "wrong", "both branches get some"),
    ("puzzle-one_number", '("RECOMPUTE_LIMIT", float("inf"))', "right", "never too often"),
    ("puzzle-one_number", '("RECOMPUTE_LIMIT", "100")', "wrong", "text for a number"),
    (
        "puzzle-one_kernel",
        "lambda x: x / x.sum().fuse()",
        "wrong",
        "FUSE is for what's below it: nothing there was stored before, and the sum itself is still "
        "needed by each element (I had said right)",
    ),
    (
        "puzzle-one_kernel",
        "lambda x: Tensor(x.numpy() / x.numpy().sum())",
        "wrong",
        "no kernel at all: NumPy did it",
    ),
    ("puzzle-no_work", '{"RELAXED": 1, "NOOPT": False}', "right", "False for 0"),
    ("puzzle-no_work", '{"relaxed": 1, "noopt": 0}', "wrong", "settings are in capitals"),
    (
        "puzzle-registers",
        """
import dataclasses
opts = [Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 0, 4)]
opts = [opts[0], dataclasses.replace(opts[1], arg=8)]
""",
        "right",
        "a copy with one number changed",
    ),
    (
        "puzzle-registers",
        "[Opt(OptOps.UPCAST, 0, 8), Opt(OptOps.VECTOR, 1, 8)]",
        "wrong",
        "the order is different, too",
    ),
    (
        "puzzle-spelled",
        """
class Spelled(CStyleLanguage):
    def __init__(self):
        super().__init__()
        self.code_for_op = self.code_for_op | {Ops.ADD: lambda a, b, dtype: "add(%s, %s)" % (a, b)}
""",
        "right",
        "a dict of its own, made when the language is",
    ),
    (
        "puzzle-spelled",
        """
class Spelled(CStyleLanguage):
    CStyleLanguage.code_for_op[Ops.ADD] = lambda a, b, dtype: f"add({a}, {b})"
""",
        "wrong",
        "changes everybody's C",
    ),
    (
        "puzzle-row_out",
        """
def without_times_one():
    from tinyframe.rewrite import graph_rewrite
    x = Tensor.empty(3).uop
    for row in value_rules.rules:
        rest = value_rules.without(row)
        if graph_rewrite(x * 1.0, rest) is not x:
            return rest
""",
        "wrong",
        "above the kernels, the 1 is expanded to three, and no row sees that (I had said right)",
    ),
    (
        "puzzle-row_out",
        """
def without_times_one():
    from tinyframe import Variable, dtypes
    from tinyframe.rewrite import graph_rewrite
    x = Variable("x", 0, 9).cast(dtypes.float)
    for row in value_rules.rules:
        rest = value_rules.without(row)
        if graph_rewrite(x * 1.0, rest) is not x:
            return rest
""",
        "right",
        "takes them out one by one, and looks; of a number, not of an array",
    ),
    (
        "puzzle-row_out",
        "lambda: PatternMatcher(value_rules.rules[1:])",
        "wrong",
        "a row is gone, and it's the wrong one",
    ),
    (
        "puzzle-witness",
        """
def names(job):
    import contextlib, io
    with contextlib.redirect_stdout(io.StringIO()) as said, Context(DEBUG=2):
        job()
    return [line.split()[1] for line in said.getvalue().splitlines() if line[:3] == "CPU"]
""",
        "right",
        "reads what DEBUG=2 prints",
    ),
    (
        "puzzle-witness",
        """
class Seen(Observer):
    def __init__(self):
        self.names = set()
    def ran(self, work):
        self.names.add(work.spec.name)

def names(job):
    with observing(Seen()) as seen:
        job()
    return sorted(seen.names)
""",
        "wrong",
        "in the order of the alphabet, and each only once",
    ),
    ("puzzle-cache_key", '"Compiler.identity"', "right", "where device.py declares it"),
    ("puzzle-promotion", '"tinyframe.dtype.least_upper_dtype"', "right", "as Python imports it"),
    ("puzzle-long_sums", '"MOST_ADDITIONS = 512"', "right", "the name and what it is"),
    ("puzzle-better_exp", '"tinyframe.codegen.decompose.elementary"', "right", "as a module"),
    ("puzzle-watchman", '"SPEC=1 python train.py"', "right", "how one would use it"),
    # ---- 11a -------------------------------------------------------------------------------------
    (
        "test-of-values",
        """
def test_sinc():
    assert hasattr(Tensor, "sinc")
""",
        "wrong",
        "fails today, but would pass whatever sinc does",
    ),
    (
        "test-of-values",
        """
def test_sinc():
    x = np.random.default_rng(0).normal(size=100)
    np.testing.assert_allclose(Tensor(x.astype(np.float32)).sinc().numpy(), np.sinc(x), atol=1e-6)
""",
        "wrong",
        "a hundred numbers, and none of them is 0",
    ),
    (
        "test-of-values",
        """
def test_sinc():
    x = np.arange(-40, 41) / 10
    return np.allclose(Tensor(x).sinc().numpy(), np.sinc(x))
""",
        "wrong",
        "says False, and raises nothing",
    ),
    (
        "test-of-values",
        """
def test_sinc():
    x = np.arange(-40, 41) / 10
    np.testing.assert_array_almost_equal(Tensor(x).sinc().numpy(), np.sinc(x), decimal=10)
""",
        "right",
        "in doubles",
    ),
    (
        "method-with-values",
        '''
@float_function
def sinc(self) -> Self:
    """NumPy's sinc."""
    x = self.abs().maximum(1e-20) * math.pi
    return x.sin() / x
''',
        "right",
        "never 0, and sinc is even",
    ),
    (
        "method-with-values",
        '''
@float_function
def sinc(self) -> Self:
    """NumPy's sinc."""
    x = self * math.pi
    return (x.sin() * x.reciprocal()).isnan().where(1, x.sin() / x)
''',
        "wrong",
        "of a NaN it makes a 1",
    ),
    (
        "test-of-slopes",
        """
def test_slope_of_sinc():
    x = Tensor([0.0])
    assert abs(x.sinc().sum().gradient(x)[0].item()) < 1e-6
""",
        "wrong",
        "only at 0",
    ),
    (
        "test-of-slopes",
        """
def test_slope_of_sinc():
    x = np.concatenate([-np.logspace(-5, 0, 30), [0], np.logspace(-5, 0.5, 30)])
    expected = np.sinc(x + 1e-30j).imag / 1e-30
    t = Tensor(x.astype(np.float32))
    np.testing.assert_allclose(t.sinc().sum().gradient(t)[0].numpy(), expected, atol=1e-5)
""",
        "right",
        "a step in the imaginary direction, which subtracts nothing",
    ),
    (
        "method-with-slopes",
        '''
@float_function
def sinc(self) -> Self:
    """The mean of cos(πxt) for t from 0 to 1, by Gauss's rule."""
    import numpy as np
    result = self * 0
    for t, weight in zip(*np.polynomial.legendre.leggauss(24)):
        result = result + (self * (math.pi * (t + 1) / 2)).cos() * (weight / 2)
    return result
''',
        "right",
        "sinc as an integral: nothing is divided anywhere",
    ),
    (
        "method-with-slopes",
        '''
@float_function
def sinc(self) -> Self:
    """NumPy's sinc."""
    x = self.abs().maximum(1e-20) * math.pi
    return x.sin() / x
''',
        "wrong",
        "right at 0, and lost beside it",
    ),
    ("guilty-hunks", '"B, C and E"', "right", "as one would say it"),
    ("guilty-hunks", '["exp", "lerp", "polynomial"]', "wrong", "names, and letters were asked for"),
    (
        "fair-comparison",
        """
def compare(old, new, clock):
    def turn(run):
        begin = clock()
        for _ in range(400):
            run()
        return clock() - begin
    pairs = [(turn(old), turn(new)) for _ in range(40)]
    return min(a for a, _ in pairs) / min(b for _, b in pairs)
""",
        "wrong",
        "the best of forty each, as timeit's page recommends: with a coarse clock the best is only "
        "the luckiest tick (I had said right)",
    ),
    (
        "fair-comparison",
        """
def compare(old, new, clock):
    def turn(run):
        begin = clock()
        for _ in range(400):
            run()
        return clock() - begin
    turn(old), turn(new)
    return np.float32(median(turn(old) / turn(new) for _ in range(41)))
""",
        "right",
        "NumPy's shorter float is a number, too",
    ),
    (
        "fair-comparison",
        """
def compare(old, new, clock):
    begin = perf_counter()
    old()
    middle = perf_counter()
    new()
    return (middle - begin) / (perf_counter() - middle)
""",
        "wrong",
        "a clock of its own, which isn't that of the machine",
    ),
    ("four-mistakes", '{2: "make", 10: "lazy", 22: "cold", 24: "max and min"}', "right", "a dict"),
    ("four-mistakes", "range(1, 25)", "wrong", "shouts at every line"),
    # ---- 11b -------------------------------------------------------------------------------------
    (
        "contributing-bisect",
        """
def bisect(good, bad, is_bad):
    from bisect import bisect_left
    return bisect_left(range(bad), True, lo=good + 1, key=is_bad)
""",
        "right",
        "Python has one",
    ),
    (
        "contributing-verdict",
        """
def verdict(n):
    try:
        return "good" if owl.poster(n) == owl.poster(0) else "bad"
    except Exception:
        return "skip"
""",
        "wrong",
        "the frame was on purpose",
    ),
]
