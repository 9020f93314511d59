"""Which devices work on this machine: `start.py doctor` and a lesson's `machine()` both ask here.

    python -m classroom device CL               prints what hardware it is, or why it can't be used
    python -m classroom device CUDA --measure   and, of a GPU, how much of it our kernels use

Each is opened in a process of its own, since a broken driver can end the one that opens it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tinyframe.device import Device

ROOT = Path(__file__).resolve().parents[1]


def of_opencl() -> Iterable[str]:
    from tinyframe.gpu.drivers.opencl import all_devices

    return [device.name for device in all_devices()]


def of_webgpu() -> Iterable[str]:
    from tinyframe.gpu.drivers.webgpu import all_adapters

    return [adapter.info["device"] for adapter in all_adapters()]


def of_cuda(measures: bool = False) -> Iterable[str]:
    from tinyframe.gpu.drivers.cuda import CUDADevice
    from tinyframe.tools.card import card, described, reached

    device = Device["CUDA"]
    if not isinstance(device, CUDADevice):  # the emulator
        return []
    found = card(device.context)
    return [described(found, *reached("CUDA")) if measures else str(found)]


# The devices that need a driver, and what names their hardware.
HARDWARE: dict[str, Callable[[], Iterable[str]]] = {
    "CL": of_opencl,
    "CUDA": of_cuda,
    "WEBGPU": of_webgpu,
}


def main(arguments: list[str]) -> int:
    """Prints the hardware of a device, or on stderr why it can't be used."""
    name, *measure = arguments
    if why := Device.why_not(name):
        print(" ".join(why.split()), file=sys.stderr)
        return 1
    print(*of_cuda(measures=True) if measure else HARDWARE[name](), sep=", ")
    return 0


def tried(name: str) -> tuple[str, str]:
    """(its hardware, "") of a device that works here, ("", why not) of any other."""
    command = [sys.executable, "-m", "classroom", "device", name]
    env = {**os.environ, "CUDA_EMULATE": "0"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    if done.returncode == 0:
        return done.stdout.strip(), ""
    if done.returncode < 0:
        return "", f"its driver ended Python with signal {-done.returncode}"
    last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    return "", last.partition("cannot be used here: ")[2] or last


def there_and_missing() -> tuple[dict[str, str], dict[str, str]]:
    """{name: its hardware} of the devices that work here, and {name: why not} of all others."""
    names = [name for name in Device._devices if name in HARDWARE]
    with ThreadPoolExecutor() as pool:
        asked = dict(zip(names, pool.map(tried, names), strict=True))
    answers = {name: asked.get(name, ("", "")) for name in Device._devices}
    there = {name: hardware for name, (hardware, why) in answers.items() if not why}
    return there, {name: why for name, (_, why) in answers.items() if why}
