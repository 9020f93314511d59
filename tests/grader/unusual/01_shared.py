"""Everything is built by functions that return functions; what is alike is built several times."""

from functools import reduce
from itertools import chain as chained
from operator import add
from time import perf_counter_ns

from tinyframe import GlobalCounters, Tensor, dtypes

one_pass = lambda a, b: ((a + 1) * b + (a - 2 * b)).sum()  # noqa: E731


def factories(rows, columns):
    several = {
        "zeros": lambda s: Tensor.ones(*s).zeros_like(),
        "ones": lambda s: Tensor.zeros(*s).exp(),
        "full": lambda s: Tensor(7, dtype=dtypes.int32).expand(*s),
        "arange": lambda s: Tensor.stack(
            *(Tensor.arange(columns * row, columns * (row + 1)) for row in range(rows))
        ),
        "like": lambda s: Tensor.ones_like(Tensor.full(s, 7, dtype=dtypes.int32)),
        "rand": lambda s: Tensor.uniform(*s),
        "randn": lambda s: (
            (-2 * (1 - Tensor.rand(*s)).log()).sqrt() * (Tensor.rand(*s) * 6.2831853).cos()
        ),
        "uniform": lambda s: Tensor.rand(*s) * 5 - 2,
        "randint": lambda s: Tensor.randint(*s, low=0, high=2 * rows + 1) - rows,
    }
    found = {name: make((rows, columns)) for name, make in several.items()}
    found["linspace"] = Tensor([2 * n / (columns - 1) - 1 for n in range(columns)])
    found["list"] = Tensor([not n & 1 for n in range(columns)])
    found["eye"] = Tensor.ones(rows, rows, dtype=dtypes.int32).triu().tril()
    return found


def chain(x, kernels):
    links = range(1, kernels)
    return reduce(lambda t, _: (t - 1).contiguous(), links, (x + 2 * kernels - 1).contiguous())


def compare(start, steps):
    found = {}

    def run(between):
        return reduce(lambda t, step: between(step(t)), steps, start()).realize()

    ways = {"together": lambda t: t, "apart": lambda t: t.realize()}
    results = []
    for name, way in chained(ways.items(), ways.items()):
        GlobalCounters.reset()
        begin = perf_counter_ns()
        results.append(run(way))
        found["seconds " + name] = (perf_counter_ns() - begin) / 1e9
        found["kernels " + name] = GlobalCounters.kernel_count
    gap = add(results[-1], -results[-2]).numpy()
    return {"equal": abs(gap).max() <= 1e-5, **found}
