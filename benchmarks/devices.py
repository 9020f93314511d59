"""Times the same work on several devices of this machine, each in a process of its own.

    make bench DEVICES=CPU,CL
    python -m benchmarks.devices CPU,CL,WEBGPU --turns 9 matmul

They take turns, and each launch is waited for. The last columns say how many times as fast each of
the others is as the first one.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.measure import LeftOut, interleaved, ratio
from benchmarks.workers import Ready, Worker
from tinyframe import Device, Tensor, TinyJit
from tinyframe.device import DeviceUnavailable
from tinyframe.settings import settings

CALLS = 3  # before timing: TinyJit captures in the second
# name -> shapes of the inputs, and what is computed
ROWS: dict[str, tuple[tuple[tuple[int, ...], ...], Callable[..., Tensor]]] = {
    "matmul 512": (((512, 512),) * 2, lambda a, b: a @ b),
    "matmul 1024": (((1024, 1024),) * 2, lambda a, b: a @ b),
    "softmax 2048²": (((2048, 2048),), lambda x: x.softmax()),
    "layernorm 2048²": (((2048, 2048),), lambda x: x.layernorm()),
    "add 16 MB": (((2048, 2048),) * 2, lambda a, b: a + b),
    "sum of rows 2048²": (((2048, 2048),), lambda x: x.sum(1)),
    "transpose 2048²": (((2048, 2048),), lambda x: x.T.contiguous()),
    "conv 3×3 8×32×28×28": (((8, 32, 28, 28), (64, 32, 3, 3)), lambda x, w: x.conv2d(w, padding=1)),
}


def prepared(row: str) -> Ready:
    """A row on the default device of this process."""
    shapes, function = ROWS[row]
    random = np.random.default_rng(0)
    inputs = [Tensor(random.standard_normal(s, dtype=np.float32)).realize() for s in shapes]
    step = TinyJit(lambda *tensors: function(*tensors).realize())
    device = Device[Device.DEFAULT]

    def run() -> Tensor:
        result = step(*inputs)
        device.synchronize()
        return result

    result = [run() for _ in range(CALLS)][-1]
    return Ready(run, result.numpy)


def measure(row: str, devices: Sequence[str], turns: int) -> str:
    """A line of the table."""
    with contextlib.ExitStack() as stack:
        workers = {
            name: stack.enter_context(Worker(name, settings.THREADS, {"DEVICE": name}))
            for name in devices
        }
        results, failed = {}, {}
        for name, worker in workers.items():
            try:
                worker.prepare(prepared, row)
                results[name] = worker.results()
            except LeftOut as error:
                failed[name] = error.mark
        first, *_ = devices
        for name in results:
            np.testing.assert_allclose(results[name], results[first], rtol=1e-3, atol=1e-3)
        times = interleaved({name: workers[name] for name in results}, turns)
    cells = [
        failed[name] if name in failed else f"{times[name].median * 1e3:.2f} ms" for name in devices
    ]
    beside = ["" if name in failed else f"{ratio(times[first], times[name]):.2f} × {first}"
              for name in devices[1:]]  # fmt: skip
    return f"{row:<22}" + "".join(f"{cell:>14}" for cell in [*cells, *beside])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.devices",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("devices", help="their names, with commas between them")
    parser.add_argument("rows", nargs="*", help="only the rows whose names contain one of these")
    parser.add_argument("--turns", type=int, default=15,
                        help="how often each device is timed; by default %(default)s")  # fmt: skip
    options = parser.parse_intermixed_args(arguments)
    try:
        devices = [Device.named(name) for name in options.devices.split(",")]
    except (ValueError, DeviceUnavailable) as error:
        parser.error(str(error))
    rows = [row for row in ROWS if not options.rows or any(x in row for x in options.rows)]
    if not rows:
        wanted = " or ".join(map(repr, options.rows))
        parser.error(f"no row's name contains {wanted}; there are: {', '.join(ROWS)}")
    load = os.getloadavg()[0]
    print(f"{settings.THREADS} threads; the load before was {load:.1f}", flush=True)
    print(" " * 22 + "".join(f"{name:>14}" for name in devices), flush=True)
    for row in rows:
        print(measure(row, devices, options.turns), flush=True)


if __name__ == "__main__":
    # workers find functions by their module's name, and this one's is another now
    from benchmarks import devices

    devices.main()
