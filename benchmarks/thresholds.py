"""Measures the compiler's thresholds again: the kernels that each moves, with other values.

    python -m benchmarks.thresholds                   all of them: some minutes
    python -m benchmarks.thresholds LONG_SUM          one
    python -m benchmarks.thresholds LONG_SUM --values 16 64 256

A line for each kernel: the milliseconds with each value, the one in the table (`thresholds.py`)
marked with a star. Values that make the same Opts make the same kernel, and differ by noise alone.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.measure import Program, interleaved
from tinyframe import Tensor, TinyJit, schedule, thresholds
from tinyframe.run import realize

Graph = Callable[..., Tensor]


@dataclass(frozen=True)
class Case:
    """A graph that a threshold moves: shapes of its inputs, and what is computed from them."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    graph: Graph


def product(m: int, k: int, n: int, across: str = "") -> Case:
    """A product of matrices; `across` names operands that are stored transposed."""
    a = (k, m) if "a" in across else (m, k)
    b = (n, k) if "b" in across else (k, n)

    def graph(x: Tensor, y: Tensor) -> Tensor:
        return (x.T if "a" in across else x) @ (y.T if "b" in across else y)

    return Case(f"{m}x{k}x{n}" + (f", {across} transposed" if across else ""), (a, b), graph)


def reduced(axis: int | None, *shape: int) -> Case:
    """A sum along an axis, or along all."""
    return Case(f"sum of {shape} along {axis}", (shape,), lambda x: x.sum(axis))


def written(rows: int, columns: int) -> Case:
    """Rows that are added to those of a table of 1000, each place some 16 times."""

    def added(x: Tensor) -> Tensor:
        places = Tensor.arange(rows, device=x.device) % 1000
        return Tensor.zeros(1000, columns, device=x.device).index_add(0, places, x)

    return Case(f"{rows} rows of {columns} added to 1000", ((rows, columns),), added)


def scanned(axis: int, *shape: int) -> Case:
    """A running sum along an axis."""
    return Case(f"running sum of {shape} along {axis}", (shape,), lambda x: x.cumsum(axis))


def weight_gradient(batch: int, channels: int, size: int, out: int) -> Case:
    """The gradient of a 3 x 3 convolution by its weight."""

    def graph(x: Tensor, w: Tensor, g: Tensor) -> Tensor:
        return x.conv2d(w, padding=1).gradient(w, gradient=g)[0]

    shapes = (batch, channels, size, size), (out, channels, 3, 3), (batch, out, size, size)
    return Case(f"conv {batch}x{channels}x{size}x{size} to {out} by weight", shapes, graph)


def convolution(batch: int, channels: int, size: int, out: int) -> Case:
    """A 3 x 3 convolution."""
    shapes = (batch, channels, size, size), (out, channels, 3, 3)
    name = f"conv {batch}x{channels}x{size}x{size} to {out}"
    return Case(name, shapes, lambda x, w: x.conv2d(w, padding=1))


def copied_transposed(*shape: int) -> Case:
    """A transposed copy of a matrix."""
    return Case(f"{shape} transposed", (shape,), lambda x: x.T.contiguous())


def elementwise(size: int) -> Case:
    """One addition for each element."""
    return Case(f"{size} + 1", ((size,),), lambda x: x + 1)


SHORT = [product(784, k, 128, "a") for k in (16, 32, 64, 128)]
FEW_ROWS = [product(rows, 512, 512) for rows in (8, 16, 32, 64)]
SQUARE = [product(n, n, n) for n in (256, 500, 1024)]
ACROSS = [product(n, n, n, "a") for n in (256, 512, 1024)]
ALONG = [product(32, k, 128, "b") for k in (128, 512, 784, 2048)]
LONG = [product(64, k, 64) for k in (2048, 4096, 16384)]
SUMS = [reduced(None, 1 << n) for n in (18, 20, 21, 22, 24)]

CHAIN = Case("chain of 2000 additions", ((1000,),), lambda x: sum([x] * 2000, start=x))


def tanh_gradient(x: Tensor) -> Tensor:
    """The gradient of 100 tanh in a row."""
    y = x
    for _ in range(100):
        y = y.tanh()
    return y.sum().gradient(x)[0]


TANHS = Case("gradient of 100 tanh", ((256, 256),), tanh_gradient)
EXP_PRODUCT = Case("exp(x) @ y", ((512, 512), (512, 64)), lambda x, y: x.exp() @ y)
SCALED = Case("conv of x * 2", ((32, 32, 28, 28), (64, 32, 3, 3)),
              lambda x, w: (x * 2).conv2d(w, padding=1))  # fmt: skip
SUM_OF_PRODUCT = [
    Case(f"sum of 512x{k}x512", ((512, k), (k, 512)), lambda x, y: (x @ y).sum())
    for k in (8, 16, 32, 64)
]


def input_gradient(x: Tensor, w: Tensor, g: Tensor) -> Tensor:
    """The gradient of a 3 x 3 convolution by its input."""
    return x.conv2d(w, padding=1).gradient(x, gradient=g)[0]


BY_INPUT = Case("conv 32x32x28x28 to 64 by input",
                ((32, 32, 28, 28), (64, 32, 3, 3), (32, 64, 28, 28)), input_gradient)  # fmt: skip

# threshold -> what it moves, and other values of it
MOVED: dict[str, tuple[Sequence[Case], Sequence[int | float]]] = {
    "PARALLEL_WORK": ([reduced(1, n, 1 << 16) for n in (8, 32, 128)], (8, 32, 128)),
    "TILED_FROM": (SUM_OF_PRODUCT, (8, 32, 128)),
    "EMPTY_PLACES": ([BY_INPUT], (1, 3, 9)),
    "SHORTER_BY": ([BY_INPUT], (0.01, 0.125, 0.5)),
    "RECOMPUTE_LIMIT": ([EXP_PRODUCT, SCALED], (2, 4, 16)),
    "RECOMPUTE_LIMIT_IN_ALL": ([EXP_PRODUCT, SCALED], (4, 16, 64)),
    "CHEAP": ([SCALED], (1, 2, 4)),
    "CHEAP_WITHOUT_MEMORY": (
        [
            Case(
                "arange of a product",
                ((512, 512),),
                lambda x: x @ Tensor.arange(512).reshape(512, 1),
            )
        ],
        (2, 8, 32),
    ),
    "RECOMPUTE_COST": ([TANHS], (64, 256, 1024)),
    "AT_HAND": ([TANHS], (4, 8, 16)),
    "LARGEST_KERNEL": ([CHAIN, TANHS], (300, 1000, 3000)),
    "LONG_SUM": (SHORT, (16, 32, 64, 128)),
    "PANEL_ROWS": (FEW_ROWS, (8, 16, 32, 64)),
    "MOST_ROWS": ([convolution(32, 32, 28, 64)], (8, 10, 12, 14)),
    "USUAL_ROWS": ([*SQUARE, convolution(32, 32, 28, 64)], (4, 6, 8, 10)),
    "WIDTH_ROUNDING": (
        [product(512, 512, 80), product(512, 512, 144), product(512, 512, 784)],
        (0.0, 0.05, 0.5, 1.0),
    ),
    "ROUNDING": ([product(1000, 1000, 1000), product(997, 512, 512)], (0.0, 0.01, 0.05)),
    "PANEL_OF_L2": ([product(512, k, 960) for k in (2000, 4096, 8000)], (0.25, 0.5, 0.75, 1.0)),
    "BLOCK_OF_L2": ([*ACROSS, convolution(32, 128, 14, 128)], (0.25, 0.5, 0.75)),
    "NEAR_OF_L2": (SHORT, (0.1, 0.25, 0.5, 1.0)),
    "LEAST_BLOCK": (ACROSS, (2, 4, 8)),
    "DOTS_LENGTH": (ALONG, (8, 16, 32, 64)),
    "DOTS_ROWS": ([product(n, 2048, n, "b") for n in (16, 32, 64, 128)], (8, 32, 64, 128)),
    "THREADS_FROM": ([elementwise(1 << n) for n in (14, 16, 17, 18)], (1 << 14, 1 << 16, 1 << 18)),
    "LONG_TURN": ([elementwise(1 << 20)], (1 << 16,)),  # only loops of 2**31 have turns
    "BLOCK_ROWS": ([copied_transposed(1024, 1024), copied_transposed(4096, 4096)], (4, 8, 16, 32)),
    "NARROWEST_VECTOR": ([reduced(1, 100_000, n) for n in (2, 4, 8)], (2, 4, 8)),
    "SUMS_AT_ONCE": ([reduced(1, 64, 1024), reduced(1, 256, 512)], (2, 4, 8)),
    "COLUMNS_AT_ONCE": ([reduced(0, 64, 1024), reduced(0, 256, 512)], (2, 4, 8)),
    "SCANS_AT_ONCE": ([scanned(1, 1000, 1000), scanned(0, 1000, 1000)], (2, 4, 8, 16)),
    # On a GPU; the kernels of other devices are the same with any value.
    "BLOCK_THREADS": ([*SQUARE, elementwise(1 << 22)], (64, 128, 256, 512)),
    "PIECE": ([copied_transposed(30, 1 << 16)], (32, 64, 128)),
    "MANY_THREADS": ([reduced(0, 1024, n) for n in (4096, 16384, 65536)], (4096, 16384, 65536)),
    "FILLING_BLOCKS": ([*SQUARE, reduced(1, 64, 4096)], (32, 128, 512)),
    "RESULTS_OF_REGISTERS": (SQUARE, (0.125, 0.25, 0.5)),
    "PANEL_STEP": (SQUARE, (4, 8, 16)),
    "READS_IN_FLIGHT": (SQUARE, (1, 4, 8, 16)),
    "PANELS_OF_SHARED": (SQUARE, (0.25, 0.5, 0.9)),
    "LEAST_TILE": ([product(n, 1024, 1024) for n in (2, 4, 8)], (2, 4, 8)),
    "SHARED_READS": ([reduced(1, n, 4096) for n in (64, 4096)], (2, 8, 32)),
    "READS_AT_ONCE": ([reduced(1, n, 4096) for n in (64, 4096)], (1, 4, 8)),
    "SHARED_PARTS": ([reduced(1, n, 4096) for n in (64, 4096)], (32, 64, 1024)),
    "LEAST_SHARED": ([reduced(1, 1 << 16, n) for n in (16, 32, 64)], (16, 32, 64)),
    "SQUARE": ([copied_transposed(1024, 1024), copied_transposed(4096, 4096)], (16, 32, 64)),
    "LARGE_REDUCE": (SUMS, (1 << 19, 1 << 21, 1 << 23)),
    "MANY_RESULTS": ([reduced(1, n, 1 << 18) for n in (8, 16, 32)], (8, 32, 64)),
    "PARTS": ([reduced(None, 1 << 24)], (16, 64, 256, 1024)),
    "LEAST_PARTS": ([reduced(None, 17 * (1 << 18))], (16, 32)),
    "LONG_FOR_A_THREAD": ([reduced(1, 8, 1 << n) for n in (14, 16, 18)], (32, 128, 512)),
    "LEAST_READS": ([reduced(1, 8, 1 << n) for n in (16, 18)], (4, 16, 64)),
    "FEW_WRITERS": ([written(1 << 14, n) for n in (1, 16, 64, 256)], (8, 64, 512)),
    "LEAST_WALKERS": ([written(1 << 14, n) for n in (256, 4096)], (2, 8, 1 << 20)),
    "LOOKED_AT": ([written(1 << n, 1) for n in (14, 17, 20)], (1, 1 << 26, 1 << 40)),
    "MEMORY_OF_PARTS": ([written(1 << 20, 1)], (1, 8, 32)),
    "BLOCKS_OF_PARTS": ([reduced(None, 1 << n) for n in (20, 24)], (256, 1024, 4096)),
    "PART_OF_WINDOWS": ([weight_gradient(64, 32, 28, 64)], (512, 2048, 8192)),
    "FEW_SUMS": ([product(n, 4096, n) for n in (64, 256, 512)], (1 << 12, 1 << 16, 1 << 20)),
    "LONG_PRODUCT": (LONG, (1024, 4096, 16384)),
    "PART_OF_PRODUCT": (LONG, (256, 1024, 4096)),
    "MOST_COPIES": ([product(512, 512, 512)], (64, 256)),
    "MOST_ADDITIONS": ([product(512, 512, 512), reduced(None, 1 << 20)], (64, 128, 512)),
    "LONG_SCAN": ([scanned(0, 1 << n) for n in (12, 14, 16, 18, 20)], (1 << 11, 1 << 15, 1 << 21)),
    "LONG_BLOCK": ([reduced(1, 1000, 700)], (8, 32, 64)),
    "TRANSPOSED_FROM": ([*ACROSS, product(2048, 2048, 2048, "a")], (256, 512, 4096)),
}


@contextmanager
def threshold(name: str, value: int | float) -> Iterator[None]:
    """A threshold with another value; kernels and schedules are made anew."""
    before = getattr(thresholds, name)
    setattr(thresholds, name, value)
    schedule._schedules.clear()
    realize._kernels.clear()
    try:
        yield
    finally:
        setattr(thresholds, name, before)
        schedule._schedules.clear()
        realize._kernels.clear()


def captured(case: Case) -> Callable[[], Any]:
    """A call that runs the case's kernels as they are made now."""
    inputs = [Tensor.rand(*shape).realize() for shape in case.shapes]
    run = TinyJit(lambda *tensors: case.graph(*tensors).realize())
    for _ in range(2):  # run, then captured
        run(*inputs)
    return lambda: run(*inputs)


def measured(name: str, values: Sequence[int | float], turns: int) -> Iterator[str]:
    """A line for each kernel that a threshold moves."""
    row = thresholds.TABLE[name]
    cases, usual = MOVED[name]
    candidates = list(dict.fromkeys(sorted([*(values or usual), row.value])))
    yield f"{name}, {row.unit}"
    for case in cases:
        programs = {}
        for value in candidates:
            with threshold(name, value):
                programs[str(value)] = Program(captured(case))
        times = interleaved(programs, turns)
        cells = [
            f"{value}{'*' if value == str(row.value) else ''}: {t.median * 1e3:.3f}"
            for value, t in times.items()
        ]
        yield f"  {case.name:40s} {'  '.join(cells)}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.thresholds",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="thresholds; all without one")
    parser.add_argument("--values", nargs="+", type=float, default=(), help="instead of the usual")
    parser.add_argument("--turns", type=int, default=9, help="of each value: %(default)s")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in MOVED:
            near = ", ".join(difflib.get_close_matches(name.upper(), MOVED)) or ", ".join(MOVED)
            parser.error(f"there is no threshold {name}; perhaps {near}")
    if options.values and len(options.names) != 1:
        parser.error("--values are of one threshold: name it")
    values = [int(v) if v == int(v) else v for v in options.values]
    for name in options.names or MOVED:
        for line in measured(name, values, options.turns):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
