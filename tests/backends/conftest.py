"""Tests of what not every machine has are collected where it is there."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable

from tests import arm64_device, cpp_device, devices


def has_package(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


# tests -> whether what they need is there. NVRTC's need no GPU.
NEEDS: dict[str, Callable[[], object]] = {
    "test_opencl.py": lambda: "CL" in devices.there(),
    "test_nvrtc.py": lambda: has_package("cuda"),
    "test_webgpu.py": lambda: "WEBGPU" in devices.there(),
    "test_gpu.py": lambda: os.path.exists("/dev/nvidia0"),
    "test_arm64.py": arm64_device.is_available,
    "test_macos.py": lambda: any(map(shutil.which, arm64_device.CLANGS)),
    **cpp_device.NEEDED_BY,  # METAL and HIP are run as C++
}
collect_ignore = [file for file, is_there in NEEDS.items() if not is_there()]
