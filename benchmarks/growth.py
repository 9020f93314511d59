"""How time grows with size: a matmul, a chain of elementwise work, and the number of kernels.

`python -m benchmarks.growth [NAME …]` measures first calls instead (FIRST_CALLS): what it takes
to schedule, write, compile and run a graph that was not seen before, at two sizes, each in a
process of its own with an empty cache, and the exponent with which that grows.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.measure import Times

KERNELS = (10, 100, 1000, 10_000)


def scheduling(kernels: int, repeats: int) -> Times:
    """Seconds of Python, per kernel, to schedule a graph of so many that was not seen before."""
    from tinyframe import Tensor

    start = Tensor.zeros(16).contiguous().realize()
    seconds = []
    for repeat in range(repeats):
        t = start
        for _ in range(kernels):
            t = (t + (time.perf_counter_ns() % 10**6 + repeat)).contiguous()
        begin = time.perf_counter()
        found = len(t.schedule())
        seconds.append((time.perf_counter() - begin) / found)
    return Times(f"{kernels} kernels", tuple(seconds))


# ---- the first call: scheduling, code and compiling of a graph that was not seen before ----------


def adds(n: int) -> list[Any]:
    """x + 1 + 1 + …, n times, where each 1 is memory: nothing can be folded."""
    from tinyframe import Tensor

    x, one = Tensor.rand(16).realize(), Tensor.ones(16).contiguous().realize()
    for _ in range(n):
        x = x + one
    return [x]


def sines(n: int) -> list[Any]:
    """x.sin().sin() …: each is some 60 ops for a device without a sine."""
    from tinyframe import Tensor

    x = Tensor.rand(16).realize()
    for _ in range(n):
        x = x.sin()
    return [x]


def tanh_gradient(n: int) -> list[Any]:
    """The gradient through n times (x * w).tanh()."""
    from tinyframe import Tensor

    x, w = Tensor.rand(16).realize(), Tensor.rand(16).realize()
    y = x
    for _ in range(n):
        y = (y * w).tanh()
    return y.sum().gradient(x, w)


def joined(n: int) -> list[Any]:
    """n tensors, one after the other."""
    from tinyframe import Tensor

    first, *others = [Tensor.rand(4).realize() for _ in range(n)]
    return [first.cat(*others)]


def lstm_step(n: int) -> list[Any]:
    """One training step of an LSTM over n time steps: forward, backward and the optimizer."""
    from tinyframe import Tensor, nn

    layer = nn.LSTM(8, 16)
    x = Tensor.rand(n, 4, 8).realize()
    optimizer = nn.optim.SGD(nn.state.get_parameters(layer), lr=0.01)
    with Tensor.train():
        loss = layer(x)[0].square().mean()
        loss.backward()
        return [loss, *optimizer.schedule_step()]


def sorted_values(n: int) -> list[Any]:
    from tinyframe import Tensor

    return list(Tensor.rand(n).realize().sort())


def top_values(n: int) -> list[Any]:
    from tinyframe import Tensor

    return list(Tensor.rand(n).realize().topk(10))


class FirstCall(NamedTuple):
    """One row of the table: what grows, at which two sizes, and the Tensors to be realized."""

    name: str
    sizes: tuple[int, int]
    results: Callable[[int], list[Any]]


FIRST_CALLS = [
    FirstCall("adds", (20_000, 50_000), adds),
    FirstCall("sines", (1000, 2000), sines),
    FirstCall("tanh gradient", (500, 2000), tanh_gradient),
    FirstCall("cat", (100, 500), joined),
    FirstCall("LSTM step", (25, 100), lstm_step),
    FirstCall("sort", (10**4, 10**6), sorted_values),
    FirstCall("topk", (10**4, 10**6), top_values),
]


def first_call(case: FirstCall, size: int) -> dict[str, float]:
    """Seconds of each part of the first call, and the number of kernels. Compilers run beside
    Python, so the compilers' part is what is left when Python is done."""
    from tinyframe import codegen
    from tinyframe.run import realize

    begin = time.perf_counter()
    results = case.results(size)
    built = time.perf_counter()
    first, *others = results
    items = first.schedule(*others)
    scheduled = time.perf_counter()
    python = 0.0

    def timed(*args: Any) -> Any:
        nonlocal python
        start = time.perf_counter()
        program = written(*args)
        python += time.perf_counter() - start
        return program

    written, codegen.get_program = codegen.get_program, timed
    try:
        realize.run_schedule(items)
    finally:
        codegen.get_program = written
    end = time.perf_counter()
    return {"graph": built - begin, "schedule": scheduled - built, "code": python,
            "compile and run": end - scheduled - python, "all": end - begin,
            "kernels": len(items)}  # fmt: skip


def apart(case: FirstCall, size: int) -> dict[str, float]:
    """first_call in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.growth", "--one", str(size), case.name]
    done = subprocess.run(
        command, env={**os.environ, "CACHE": "0"}, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=", ".join(case.name for case in FIRST_CALLS))
    parser.add_argument("--one", type=int, metavar="SIZE", help="in this process; prints JSON")
    options = parser.parse_args()
    cases = [c for c in FIRST_CALLS if not options.names or c.name in options.names]
    if options.one:
        print(json.dumps(first_call(cases[0], options.one)))
        return
    print(f"{'':<14}{'size':>8}{'kernels':>8}{'graph':>8}{'schedule':>9}{'code':>8}"
          f"{'compile+run':>12}{'all, s':>8}  exponent")  # fmt: skip
    for case in cases:
        found = [apart(case, size) for size in case.sizes]
        (small, large), times = case.sizes, [f["all"] for f in found]
        exponent = math.log(times[1] / times[0]) / math.log(large / small)
        for size, f in zip(case.sizes, found, strict=True):
            print(f"{case.name:<14}{size:>8}{f['kernels']:>8}{f['graph']:>8.2f}"
                  f"{f['schedule']:>9.2f}{f['code']:>8.2f}{f['compile and run']:>12.2f}"
                  f"{f['all']:>8.2f}" + (f"  {exponent:.2f}" if size == large else ""),
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
