"""Part 2: unusual answers, and the verdict that was written down before each was run."""

ANSWERS = [
    # the smallest wrong bill
    ("steps-smallest-wrong-bill", "([1], [0.5])", "right", "an int is a float here"),
    ("steps-smallest-wrong-bill", "(1.0, 0.1)", "right", "one number for a list of one"),
    ("steps-smallest-wrong-bill", "((2,), (0.25,))", "right", "tuples"),
    ("steps-smallest-wrong-bill", "(np.array([1]), np.array([2.5]))", "right", "arrays"),
    ("steps-smallest-wrong-bill", "(Tensor([1.0]), Tensor([0.5]))", "right", "Tensors"),
    ("steps-smallest-wrong-bill", "([0.5], [1.0])", "right", "half of a thing goes missing too"),
    ("steps-smallest-wrong-bill", "([-1.0], [0.5])", "right", "something brought back"),
    ("steps-smallest-wrong-bill", "([1.0, 0.0], [0.5, 1.0])", "wrong", "two things"),
    ("steps-smallest-wrong-bill", "([3.0], [2.0])", "wrong", "the till gets it right"),
    ("steps-smallest-wrong-bill", "([0.0], [0.5])", "wrong", "nothing to pay, and the till agrees"),
    ("steps-smallest-wrong-bill", "[1.0, 0.5, 0.5]", "wrong", "three numbers are no two lists"),
    # the name of a kernel
    ("steps-name-of-column-sums", "'R_4_3'", "right", "capital letters"),
    ("steps-name-of-column-sums", "r'r_4_3 '", "right", "a space after it"),
    ("steps-name-of-column-sums", "43", "asked again", "a number is no name"),
    # what the C computes
    ("steps-what-the-c-computes",
     "lambda quantities, prices: (quantities.trunc() * prices.trunc()).sum(axis=1)", "right",
     "cut off, and still floats"),
    ("steps-what-the-c-computes", "lambda q, p: q.int() @ p.int()", "right", "a matrix product"),
    ("steps-what-the-c-computes", "lambda q, p: (q.int().float() * p.int()).sum(-1)", "right",
     "there and back"),
    ("steps-what-the-c-computes",
     "lambda q, p: Tensor((np.trunc(q.numpy()) * np.trunc(p.numpy())).sum(1))", "right",
     "NumPy computes the same, and the result is a Tensor"),
    ("steps-what-the-c-computes", "lambda q, p: (q.floor() * p.floor()).sum(axis=1)", "wrong",
     "-1.5 becomes -2"),
    ("steps-what-the-c-computes", "lambda q, p: (q * p).int().sum(axis=1)", "wrong",
     "cut off too late"),
    # the second witness
    ("steps-second-witness", "'SAME'", "right", "capital letters"),
    ("steps-second-witness", "'wrong'", "asked again", "not one of the three words"),
    ("steps-second-witness", "[13.0, 7.0, 7.0]", "asked again", "the numbers in place of a word"),
    # two devices
    ("steps-largest-difference", '''
def largest_difference(formula, *arrays):
    results = {}
    for device in ("PYTHON", "CPU"):
        results[device] = formula(*(Tensor(array, device=device) for array in arrays)).tolist()
    return max(abs(one - other) for one, other in zip(*results.values()))
''', "right", "lists, and a plain float"),
    ("steps-largest-difference", '''
def largest_difference(formula, *arrays):
    one, other = [formula(*[Tensor(a).to(d) for a in arrays]).to("CPU") for d in ("CPU", "PYTHON")]
    return (one - other).abs().max()
''', "right", "a Tensor without axes"),
    ("steps-largest-difference", '''
def largest_difference(formula, *arrays):
    a, b = (formula(*[Tensor(x, device=d) for x in arrays]).numpy() for d in ("CPU", "PYTHON"))
    return np.linalg.norm(a - b)
''', "wrong", "all differences together are not the largest"),
    # the culprit
    ("steps-culprit", "'Tidy Numbers'", "right", "capital letters"),
    ("steps-culprit", "'───── tidy numbers ─────'", "right", "with the rule around it"),
    ("steps-culprit", "'tidy_numbers'", "right", "as its function is called"),
    ("steps-culprit", "'simplify'", "wrong", "one stage later"),
    ("steps-culprit", "['tidy numbers']", "wrong", "a list is no name"),
    # a rule of one's own
    ("steps-rule-for-products", '''
def is_odd(node):
    if node.op == Ops.MUL:
        return {source.dtype for source in node.src} != {node.dtype}
''', "right", "nothing is said of other nodes"),
    ("steps-rule-for-products",
     "lambda node: node.op in (Ops.MUL, Ops.ADD) and any(s.dtype != node.dtype for s in node.src)",
     "right", "it holds for sums as well"),
    ("steps-rule-for-products",
     "lambda node: np.all([node.op is Ops.MUL, len({u.dtype for u in (node, *node.src)}) > 1])",
     "right", "NumPy's True"),
    ("steps-rule-for-products",
     "lambda node: node.op is Ops.MUL and str(node.src[0].dtype) != str(node.dtype)", "wrong",
     "the second source may be the odd one"),
    ("steps-rule-for-products",
     "lambda node: any(s.dtype != node.dtype for s in node.src)", "wrong",
     "a comparison of floats is a bool, and rightly so"),
    # a graph that makes no sense
    ("steps-spoiled-graph", '''
def spoil(sink):
    return sink.substitute({u: u.replace(src=()) for u in sink.toposort() if u.op.name == "RANGE"})
''', "right", "a loop without a length"),
    ("steps-spoiled-graph", '''
def spoil(sink):
    (store,) = [u for u in sink.toposort() if u.op is Ops.STORE]
    return sink.substitute({store: store.replace(src=store.src[:1])})
''', "right", "nothing to store"),
    ("steps-spoiled-graph", '''
def spoil(sink):
    return sink.substitute({u: u.replace(op=Ops.MAX) for u in sink.toposort() if u.op is Ops.MUL})
''', "wrong", "a different kernel, but a legal one"),
    # the compiler, mended
    ("steps-mended", "lambda stages, name: filter(lambda stage: stage[0] != name, stages)", "right",
     "a filter"),
    ("steps-mended", "lambda stages, name: tuple(s for s in stages if not s[0] == name)", "right",
     "a tuple"),
    ("steps-mended", '''
def mended(stages, name):
    for stage in list(stages):
        if stage[0] == name:
            stages.remove(stage)
    return stages
''', "right", "taken out of the list itself"),
    ("steps-mended", '''
def mended(stages, name):
    for stage in stages:
        if stage[0] == name:
            stages.remove(stage)
    return stages
''', "wrong", "a list that shrinks while one walks along it"),
    ("steps-mended", "lambda stages, name: [s for s in stages if name not in s[0]][1:]", "wrong",
     "one too many is gone"),
    # where the time goes
    ("steps-kernels-run", '''
def kernels_run(run):
    before = GlobalCounters.kernel_count
    run()
    return np.int64(GlobalCounters.kernel_count - before)
''', "right", "a difference, and NumPy's int"),
    ("steps-slowest-kernel", '''
def slowest(run):
    times = Times()
    with observing(times):
        run()
    return sorted(times.kernels, key=lambda kernel: -kernel[1])[0][0]
''', "right", "sorted in place of max"),
    ("steps-slowest-kernel", '''
def slowest(run):
    times = Times()
    with observing(times):
        run()
    seconds, name = max((seconds, name) for name, seconds in times.kernels)
    return name
''', "right", "the seconds come first in the pair"),
    ("steps-slowest-kernel", '''
def slowest(run):
    times = Times()
    with observing(times):
        run()
    return max(times.kernels)[0]
''', "wrong", "max compares the names"),
    ("steps-what-a-replay-does", "[2, 15]", "right", "a list"),
    ("steps-what-a-replay-does", "'2, 15'", "right", "a text"),
    ("steps-what-a-replay-does", "(2.0, np.int64(15))", "right", "whole numbers all the same"),
    ("steps-what-a-replay-does", "15", "asked again", "one number of two"),
    ("steps-safe-to-replay", '''
def safe(function, inputs):
    expected = [function(x).tolist() for x in inputs]
    replayed = TinyJit(function)
    try:
        return [replayed(x).tolist() for x in inputs] == expected
    except Exception:
        return False
''', "right", "all of Python's results first"),
    ("steps-safe-to-replay", '''
def safe(function, inputs):
    replayed = TinyJit(function)
    for x in inputs:
        try:
            if not np.allclose(replayed(x).numpy(), function(x).numpy()):
                return False
        except JitError:
            return False
    return np.True_
''', "right", "close is near enough, and NumPy's True"),
    ("steps-safe-to-replay", '''
def safe(function, inputs):
    replayed = TinyJit(function)
    try:
        for x in inputs:
            result = replayed(x)
        return np.array_equal(result.numpy(), function(inputs[-1]).numpy())
    except JitError:
        return False
''', "wrong", "only the last result is looked at"),
]  # fmt: skip
