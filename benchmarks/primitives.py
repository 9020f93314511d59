"""The loop primitives carry the speed: Opt lists given by hand, through the whole pipeline from
Tensor.

The 1024 x 1024 matmul beside NumPy, and the 3 x 3 convolution (PAD, WINDOW, multiply, sum) beside a
hand-written loop nest in C of the same form. Buffers are reused, outputs are compared first, and
the programs run in turn, each in a process of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Times, interleaved, ratio, save
from benchmarks.workers import Ready, Worker
from tinyframe import Context, Device, Tensor
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.device import Buffer
from tinyframe.dtype import dtypes
from tinyframe.settings import settings

LOOP_NEST = Path(__file__).with_name("conv_loop_nest.c")


def matmul_opts(lanes: int) -> list[Opt]:
    """VECTOR j, 2 vectors wide; 8 rows; j outermost and divided among cores; B copied per column
    panel."""
    return [
        Opt(OptOps.VECTOR, 1, lanes),
        Opt(OptOps.UPCAST, 1, 2),
        Opt(OptOps.UPCAST, 0, 8),
        Opt(OptOps.REORDER, (1, 0, 2)),
        Opt(OptOps.STAGE, 0, 2),
        Opt(OptOps.THREAD, 0),
    ]


def conv_opts(lanes: int) -> list[Opt]:
    """Lanes on the output channels, 14 pixels; weights copied once, the padded input per image."""
    return [
        Opt(OptOps.VECTOR, 1, lanes),
        Opt(OptOps.UPCAST, 3, 14),
        Opt(OptOps.STAGE, -1, 2),
        Opt(OptOps.STAGE, 0, 1),
        Opt(OptOps.THREAD, 0),
    ]


def by_hand(out: Tensor, opts: list[Opt]) -> Ready:
    """The one kernel of `out` with these Opts, into the buffer of `out`."""
    (item,) = Tensor.schedule(out)
    device = Device["CPU"]
    spec = get_program(item.ast, device.renderer, opts)
    runner = device.runner(spec.function, device.compiler.compile_cached(spec.src))
    opaque = [b.ensure_allocated()._buf for b in item.bufs]

    def run() -> None:
        runner(*opaque, global_size=spec.global_size)

    run()
    return Ready(run, out.numpy)


def matrices(n: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((2, n, n), dtype=np.float32)


def matmul_by_hand(n: int) -> Ready:
    a, b = (Tensor(array).realize() for array in matrices(n))
    return by_hand(a @ b, matmul_opts(lanes()))


def matmul_numpy(n: int) -> Ready:
    (a, b), c = matrices(n), np.empty((n, n), np.float32)
    np.matmul(a, b, out=c)
    return Ready(lambda: np.matmul(a, b, out=c), lambda: c)


def images_and_filters() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((64, 32, 28, 28), dtype=np.float32)
    return x, rng.standard_normal((64, 32, 3, 3), dtype=np.float32)


def conv_by_hand() -> Ready:
    x, w = (Tensor(array).realize() for array in images_and_filters())
    return by_hand(x.conv2d(w, padding=1), conv_opts(lanes()))


def in_turn(repeats: int, *arguments: Any, **functions: Callable[..., Ready]) -> dict[str, Times]:
    """Times of these programs, each made by its function in a process of its own; they have to
    compute the same."""
    with contextlib.ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(name, settings.THREADS)) for name in functions}
        results = []
        for name, function in functions.items():
            workers[name].prepare(function, *arguments)
            results.append(workers[name].results().ravel())
        for other in results[1:]:
            np.testing.assert_allclose(results[0], other, rtol=1e-3, atol=1e-2)
        return interleaved(workers, repeats)


def conv_loop_nest() -> Ready:
    """The C of conv_loop_nest.c, compiled and threaded as our kernels are."""
    x, w = images_and_filters()
    device = Device["CPU"]
    source = LOOP_NEST.read_text().replace("LANES", str(lanes()))
    with Context(TINYFRAME_CFLAGS="-O3"):  # it leaves the unrolling to the compiler; kernels do not
        runner = device.runner("conv", device.compiler.compile_cached(source))
    buffers = [
        Buffer("CPU", size, dtypes.float).ensure_allocated()
        for size in (64 * 64 * 28 * 28, x.size, w.size)
    ]
    for buffer, array in zip(buffers[1:], (x, w), strict=True):
        buffer.copyin(memoryview(array).cast("B"))

    def run() -> None:
        runner(*[b._buf for b in buffers], global_size=(len(x), 1, 1))

    run()
    return Ready(run, buffers[0].numpy)


def lanes() -> int:
    return Device["CPU"].renderer.target.vector_bytes // 4


def main(quick: bool = False, keep: Path | None = None) -> None:
    repeats = 7 if quick else 25
    print(
        f"loop primitives with Opts given by hand, {settings.THREADS} threads (median, quartiles):"
    )
    for n in (512, 1024, 2048):
        times = in_turn(repeats, n, tinyframe=matmul_by_hand, numpy=matmul_numpy)
        flops = 2 * n**3
        gflops = ", ".join(
            f"{name} {flops / t.median * 1e-9:.0f} GFLOP/s" for name, t in times.items()
        )
        print(
            f"  matmul {n}: {gflops}; {ratio(times['numpy'], times['tinyframe']):.2f} times "
            "NumPy's speed"
        )
        save(f"matmul_{n}", times, keep)
    times = in_turn(repeats, tinyframe=conv_by_hand, loop_nest=conv_loop_nest)
    print(
        "  conv 64x32x28x28, 64 filters 3x3: "
        + ", ".join(f"{name} {t.text().strip()}" for name, t in times.items())
        + f"; {ratio(times['loop_nest'], times['tinyframe']):.2f} times the loop nest's speed"
    )
    save("convolution", times, keep)


if __name__ == "__main__":
    main()
