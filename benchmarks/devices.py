"""Times the same work on several devices of this machine, each in a process of its own; or on one
GPU beside PyTorch.

    make bench DEVICES=CPU,CL
    python -m benchmarks.devices CPU,CL,WEBGPU --turns 9 matmul
    python -m benchmarks.devices CUDA             larger work, beside PyTorch where it is installed
    python -m benchmarks.devices CUDA --docs      and the results into docs/gpu.md

They take turns. The last columns say how many times as fast each of the others is as the first one,
or tinyframe as PyTorch. Of several devices, each launch is waited for; of one, only the last of as
many as fill 30 ms.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
from collections.abc import Sequence
from pathlib import Path

from benchmarks import gpu
from benchmarks.gpu import Case, case
from benchmarks.measure import LeftOut, Times, interleaved, ratio
from benchmarks.run import check
from benchmarks.workers import Ready, Worker
from tinyframe import Device
from tinyframe.device import DeviceUnavailable
from tinyframe.settings import settings

PAGE = Path(__file__).resolve().parents[1] / "docs" / "gpu.md"
PYTORCH = "PyTorch"
# for several devices, one of which may be a processor
SMALL = [
    case("matmul 512", [(512, 512)] * 2, lambda a, b: a @ b),
    case("matmul 1024", [(1024, 1024)] * 2, lambda a, b: a @ b),
    case("softmax 2048²", [(2048, 2048)], lambda x: x.softmax()),
    case("layernorm 2048²", [(2048, 2048)], lambda x: x.layernorm()),
    case("add 16 MB", [(2048, 2048)] * 2, lambda a, b: a + b),
    case("sum of rows 2048²", [(2048, 2048)], lambda x: x.sum(1)),
    case("transpose 2048²", [(2048, 2048)], lambda x: x.T.contiguous()),
    case("conv 3×3 8×32×28×28", [(8, 32, 28, 28), (64, 32, 3, 3)],
         lambda x, w: x.conv2d(w, padding=1)),
]  # fmt: skip
CASES = {each.name: each for each in SMALL}


def rows_for(devices: Sequence[str]) -> dict[str, Case]:
    return gpu.CASES if len(devices) == 1 else CASES


def prepared(row: str, waits: bool) -> Ready:
    """A row on the default device of this process."""
    return gpu.ours((CASES if waits else gpu.CASES)[row], waits)


def prepared_by_pytorch(row: str, waits: bool) -> Ready:
    return gpu.pytorchs(gpu.CASES[row])


def measure(
    row: str, devices: Sequence[str], turns: int
) -> tuple[dict[str, Times], dict[str, LeftOut]]:
    """The times of each device, and of PyTorch beside a single one; and why some have none."""
    libraries = dict.fromkeys(devices, prepared)
    if len(devices) == 1:
        libraries[PYTORCH] = prepared_by_pytorch
    with contextlib.ExitStack() as stack:
        workers = {
            name: stack.enter_context(Worker(name, settings.THREADS, {"DEVICE": name}
                                             if name in devices else {}))
            for name in libraries
        }  # fmt: skip
        results, failed = {}, dict[str, LeftOut]()
        for name, worker in workers.items():
            try:
                worker.prepare(libraries[name], row, len(devices) > 1)
                results[name] = worker.results()
                check(results[name], next(iter(results.values())))
            except LeftOut as error:
                failed[name] = error
        timed = {name: workers[name] for name in results if name not in failed}
        return interleaved(timed, turns, failed.__setitem__), failed


def cell(name: str, times: dict[str, Times], failed: dict[str, LeftOut], unit: float) -> str:
    return f"{times[name].median / unit:,.2f}" if name in times else failed[name].mark


def beside(other: str, name: str, times: dict[str, Times]) -> str:
    """How many times as fast `name` is as the other one; empty if one has no times."""
    return f"{ratio(times[other], times[name]):.2f}" if {other, name} <= times.keys() else ""


def line(row: str, devices: Sequence[str], turns: int) -> str:
    """A line of the table of several devices."""
    times, failed = measure(row, devices, turns)
    first, *others = devices
    cells = [cell(name, times, failed, 1e-3) + " ms" * (name in times) for name in devices]
    found = [beside(first, name, times) for name in others]
    cells += [f"{times_as_fast} × {first}" if times_as_fast else "" for times_as_fast in found]
    return f"{row:<22}" + "".join(f"{cell:>14}" for cell in cells)


def cells_of(row: str, device: str, turns: int) -> list[str]:
    """The row of one device: its name, µs, speed, PyTorch's µs, and how many times as fast."""
    times, failed = measure(row, [device], turns)
    for name, why in failed.items():
        if name == device or why.mark not in (gpu.ABSENT, gpu.NOT_HERE):
            print(f"{row}, {name}: {why}", flush=True)
    speed = gpu.CASES[row].speed(times[device].median) if device in times else ""
    ours, theirs = (cell(name, times, failed, 1e-6) for name in (device, PYTORCH))
    return [row, ours, speed, theirs, beside(PYTORCH, device, times)]


def parse(arguments: Sequence[str] | None) -> tuple[argparse.Namespace, list[str], list[str]]:
    """The options, the devices, and the names of the rows."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.devices",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("devices", help="their names, with commas between them")
    parser.add_argument("rows", nargs="*", help="only the rows whose names contain one of these")
    parser.add_argument("--turns", type=int, default=15,
                        help="how often each device is timed; by default %(default)s")  # fmt: skip
    parser.add_argument("--docs", action="store_true",
                        help="put the rows of one GPU into docs/gpu.md")  # fmt: skip
    options = parser.parse_intermixed_args(arguments)
    try:
        devices = [Device.named(name) for name in options.devices.split(",")]
    except (ValueError, DeviceUnavailable) as error:
        parser.error(str(error))
    if options.docs and (devices != ["CUDA"] or settings.CUDA_EMULATE):
        parser.error("--docs is for a single GPU: CUDA, without CUDA_EMULATE")
    known = rows_for(devices)
    rows = [row for row in known if not options.rows or any(x in row for x in options.rows)]
    if not rows:
        wanted = " or ".join(map(repr, options.rows))
        parser.error(f"no row's name contains {wanted}; there are: {', '.join(known)}")
    return options, devices, rows


def main(arguments: Sequence[str] | None = None) -> None:
    options, devices, rows = parse(arguments)
    load = os.getloadavg()[0]
    print(f"{settings.THREADS} threads; the load before was {load:.1f}", flush=True)
    if len(devices) > 1:
        print(" " * 22 + "".join(f"{name:>14}" for name in devices), flush=True)
        for row in rows:
            print(line(row, devices, options.turns), flush=True)
        return
    widths, measured = (34, 12, 16, 12, 10), []
    lines = (cells_of(row, devices[0], options.turns) for row in rows)
    for cells in itertools.chain([gpu.HEAD[:5]], lines):
        aligned = [f"{x:>{n}}" for x, n in zip(cells[1:], widths[1:], strict=True)]
        print(f"{cells[0]:<{widths[0]}}" + "".join(aligned), flush=True)
        measured.append(cells)
    if options.docs:
        gpu.fill_page(PAGE, measured[1:])


if __name__ == "__main__":
    # workers find functions by their module's name, and this one's is another now
    from benchmarks import devices

    devices.main()
