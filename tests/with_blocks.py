"""The devices that run blocks of threads without a GPU, for tests of what a GPU is given.

BLOCKS checks every access, and has the threads of a block run in one order or the other
(`gpu_device.py`). PYTHON defines what is right. CL is any OpenCL driver; on a processor its
work-items run in blocks too, if it is asked to. A test goes through those of `DEVICES`:

    @pytest.mark.parametrize("name", DEVICES)
    def test_...(name, monkeypatch):
        device = with_blocks(name, monkeypatch)
"""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from typing import Any

from tests import devices, gpu_device
from tinyframe import Device
from tinyframe.device import DeviceUnavailable
from tinyframe.renderer import Renderer, Target
from tinyframe.runtime.python import PythonRenderer
from tinyframe.settings import settings


def _has_opencl() -> bool:
    if importlib.util.find_spec("pyopencl") is None:
        return False
    try:
        return Device["CL"] is not None
    except DeviceUnavailable:
        return False


RUNNERS = {"BLOCKS": gpu_device.BlocksRunner, "BLOCKS, backwards": gpu_device.Backwards,
           "BLOCKS, at once": gpu_device.AtOnce}  # fmt: skip
# What runs blocks by itself; CUDA may be its emulator, which then looks for races.
REAL = [name for name in ("CUDA", "WEBGPU") if name in devices.there()]
DEVICES = ["BLOCKS", "BLOCKS, backwards", "PYTHON", *(["CL"] if _has_opencl() else [])]


def with_blocks(name: str, monkeypatch: Any, **limits: Any) -> str:
    """The name of a device that runs blocks of threads until the test ends. limits: what its Target
    has instead."""
    if name in REAL:
        monkeypatch.setenv("CUDA_EMULATE", "2" if settings.CUDA_EMULATE else "0")
        return name
    device = name.partition(",")[0]
    if name in RUNNERS:
        monkeypatch.setitem(Device._devices, device, gpu_device.BlocksDevice)
        monkeypatch.setattr(Device[device], "runner", RUNNERS[name])
    monkeypatch.setattr(Device[device], "_renderer", _renderer(device, limits))
    return device


def _renderer(device: str, limits: dict[str, Any]) -> Renderer:
    """A new one, so that no kernel of other limits is used again."""
    if device == "CL":
        from tinyframe.gpu.drivers.opencl import language

        made: Renderer = language(Device["CL"].cl_device, has_blocks=True)
        made.target = replace(made.target, **limits)
        return made
    target: Target = replace(gpu_device.TARGET, **limits)
    return PythonRenderer(target) if device == "PYTHON" else gpu_device.BlocksLanguage(target)
