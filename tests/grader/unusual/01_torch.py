"""Somebody who has written PyTorch for years, and looks for its methods first."""

import re
from time import perf_counter

from tinyframe import GlobalCounters, Tensor, dtypes


def describe(tensor):
    return tensor.size(), tensor.dtype, tensor.numel() * tensor.element_size()


def factories(rows, columns):
    full = Tensor.full((rows, columns), 7, dtype=dtypes.int32)
    return {
        "zeros": Tensor.zeros(rows, columns),
        "ones": Tensor.ones((rows, columns)),
        "full": full,
        "arange": Tensor.arange(rows * columns).view(rows, columns),
        "linspace": Tensor.linspace(-1, 1, columns),
        "eye": Tensor.eye(rows),
        "like": full.ones_like(),
        "list": Tensor([i % 2 == 0 for i in range(columns)]),
        "rand": Tensor.rand(rows, columns),
        "randn": Tensor.randn(rows, columns),
        "uniform": Tensor.rand(rows, columns) * 5 - 2,
        "randint": (Tensor.rand(rows, columns) * (2 * rows + 1)).floor().int() - rows,
    }


def checkerboard(rows, columns):
    i, j = Tensor.arange(rows).unsqueeze(1), Tensor.arange(columns).unsqueeze(0)
    return (i ^ j).bitwise_and(1)


def kernel_count(build):
    return len(build().schedule())


def chain(x, kernels):
    for _ in range(kernels):
        x = x.add(1).clone()
    return x


def one_pass(a, b):
    return a.mul(b + 1).sub(b).sum()


def before_and_after(build):
    lazy = build()
    op = lazy.uop.base.op.name
    kernels = len(lazy.schedule())
    done = build().realize()
    return [kernels, op, len(done.schedule()), done.uop.base.op.name]


def compare(start, steps):
    def together():
        x = start()
        for step in steps:
            x = step(x)
        return x.realize()

    def apart():
        x = start()
        for step in steps:
            x = step(x).realize()
        return x

    found, results = {}, []
    for name, run in (("together", together), ("apart", apart)):
        run()
        GlobalCounters.reset()
        begin = perf_counter()
        results.append(run())
        found["seconds " + name] = perf_counter() - begin
        found["kernels " + name] = GlobalCounters.kernel_count
    together, apart = results
    return found | {"equal": ((together - apart).abs() < 1e-5).all().item()}


PATTERNS = {
    "LOAD": r"= data\d+",
    "STORE": r"^\s*data\d+\[.*\] =",
    "RELU": r"\?.*:",
    "SUM": r"(acc\d+) = \1 \+",
    "ADD": r"\+",
    "MUL": r"\*",
}


def find_op(source, op):
    found = []
    for number, line in enumerate(source.splitlines(), 1):
        if op in ("ADD", "MUL"):
            if re.search(r"\bint\b|\bfor\b|void|//", line):
                continue
            line = re.sub(r"(acc\d+) = \1 \+|\[[^\]]*\]", "", line)
        if re.search(PATTERNS[op], line):
            found.append(number)
    return found


def report(rows):
    def gain(row):
        return row["seconds apart"] / row["seconds together"]

    return "\n".join(
        "{name}: {kernels apart} kernels -> {kernels together}, ".format(**row)
        + f"{gain(row):.1f} times as fast"
        for row in sorted(rows, key=gain, reverse=True)
    )
