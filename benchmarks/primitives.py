"""The loop primitives carry the speed: Opt lists given by hand, through the whole pipeline from
Tensor.

The 1024 x 1024 matmul beside NumPy, and the 3 x 3 convolution (PAD, WINDOW, multiply, sum) beside a
hand-written loop nest in C of the same form. Buffers are reused, outputs are compared first, and
the programs run in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.measure import Times, interleaved, ratio, save
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


def compiled(out: Tensor, opts: list[Opt]) -> Callable[[], object]:
    """A function that runs the one kernel of `out` with these Opts, into the buffer of `out`."""
    (item,) = Tensor.schedule(out)
    device = Device["CPU"]
    spec = get_program(item.ast, device.renderer, opts)
    runner = device.runner(spec.function, device.compiler.compile_cached(spec.src))
    opaque = [b.ensure_allocated()._buf for b in item.bufs]
    return lambda: runner(*opaque, global_size=spec.global_size)


def matmul(n: int, repeats: int) -> dict[str, Times]:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, n, n), dtype=np.float32)
    out = Tensor(a).realize() @ Tensor(b).realize()
    run, c = compiled(out, matmul_opts(lanes())), np.empty((n, n), np.float32)
    run()
    np.testing.assert_allclose(out.numpy(), a @ b, rtol=1e-3, atol=1e-2)
    return interleaved(repeats, tinyframe=run, numpy=lambda: np.matmul(a, b, out=c))


def convolution(repeats: int) -> dict[str, Times]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((64, 32, 28, 28), dtype=np.float32)
    w = rng.standard_normal((64, 32, 3, 3), dtype=np.float32)
    out = Tensor(x).realize().conv2d(Tensor(w).realize(), padding=1)
    run = compiled(out, conv_opts(lanes()))
    nest, result = loop_nest(x, w)
    run()
    nest()
    np.testing.assert_allclose(out.numpy().ravel(), result.numpy(), rtol=1e-3, atol=1e-2)
    return interleaved(repeats, tinyframe=run, **{"loop nest": nest})


def loop_nest(x: np.ndarray, w: np.ndarray) -> tuple[Callable[[], object], Buffer]:
    """The C of conv_loop_nest.c, compiled and threaded as our kernels are, and the buffer it
    fills."""
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
    return lambda: runner(*[b._buf for b in buffers], global_size=(len(x), 1, 1)), buffers[0]


def lanes() -> int:
    return Device["CPU"].renderer.target.vector_bytes // 4


def main(quick: bool = False, keep: Path | None = None) -> None:
    repeats = 7 if quick else 25
    print(
        f"loop primitives with Opts given by hand, {settings.THREADS} threads (median, quartiles):"
    )
    for n in (512, 1024, 2048):
        times = matmul(n, repeats)
        flops = 2 * n**3
        gflops = ", ".join(
            f"{name} {flops / t.median * 1e-9:.0f} GFLOP/s" for name, t in times.items()
        )
        print(
            f"  matmul {n}: {gflops}; {ratio(times['numpy'], times['tinyframe']):.2f} times "
            "NumPy's speed"
        )
        save(f"matmul_{n}", times, keep)
    times = convolution(repeats)
    print(
        "  conv 64x32x28x28, 64 filters 3x3: "
        + ", ".join(f"{name} {t.text().strip()}" for name, t in times.items())
        + f"; {ratio(times['loop nest'], times['tinyframe']):.2f} times the loop nest's speed"
    )
    save("convolution", times, keep)


if __name__ == "__main__":
    main()
