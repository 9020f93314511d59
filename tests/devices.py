"""The devices that this machine has, for tests that run on each of them.

CUDA is its emulator (conftest.py sets CUDA_EMULATE), unless the environment says otherwise.
"""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

from tests import cpp_device
from tinyframe import Device
from tinyframe.device import NoCompiler
from tinyframe.runtime.clang import find_compiler
from tinyframe.settings import settings

ALL = ("CPU", "CL", "CUDA", "WEBGPU", "PYTHON")


def there() -> list[str]:
    """Those of all devices that can be opened here."""
    return [name for name in ALL if Device.why_not(name) is None and name not in _uncompiled()]


def c_compilers() -> list[str]:
    """The C compilers of this machine, as settings.CC names them: each clang, gcc, and zig's."""
    commands = ("clang", *(f"clang-{version}" for version in range(14, 40)), "gcc")
    by_file = {
        Path(at).resolve(): name for name in reversed(commands) if (at := shutil.which(name))
    }
    wheel = importlib.util.find_spec("ziglang")
    zig = [f"{Path(wheel.origin).parent / 'zig'} cc"] if wheel and wheel.origin else []
    return [*reversed(by_file.values()), *zig]


def _uncompiled() -> set[str]:
    """Those whose sources no compiler here can read."""
    emulator = {"CUDA"} if settings.CUDA_EMULATE and cpp_device.cxx() is None else set()
    try:
        find_compiler(settings.CC)
    except NoCompiler:
        return {"CPU"} | emulator
    return emulator
