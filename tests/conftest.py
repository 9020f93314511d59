"""Every test runs with SPEC=1 and with the emulator as CUDA; hypothesis repeats its examples."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests import arm64_device, cpp_device

os.environ["SPEC"] = "1"
os.environ.setdefault("CUDA_EMULATE", "1")

# DEVICE=ARM64 runs any test on it
arm64_device.register()

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=25,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("repeatable")

# PyTorch is a reference for tests only, and gigabytes: a learner need not have it.
# So is a browser, which the explorer's page is tested in, a driver for OpenCL, and NVIDIA's
# compiler, which needs no GPU.
OPTIONAL = {  # a package, and the tests that need it
    "torch": "torch",
    "playwright": "browser",
    "pyopencl": "backends/test_opencl.py",
    "cuda": "backends/test_nvrtc.py",
}
# And METAL and HIP are run as C++, where there is a compiler for that.
collect_ignore = [f for package, f in OPTIONAL.items() if not importlib.util.find_spec(package)]
collect_ignore += [f for f, compiler in cpp_device.NEEDED_BY.items() if compiler() is None]
collect_ignore += [] if arm64_device.is_available() else ["backends/test_arm64.py"]
collect_ignore += [] if any(map(shutil.which, arm64_device.CLANGS)) else ["backends/test_macos.py"]


@pytest.fixture(scope="module", autouse=True)
def what_is_there_already_is_left_alone() -> None:
    """A collection looks at what a file of tests has made, not at all that those before it left."""
    gc.collect()
    gc.freeze()


def pytest_report_header() -> str:
    from tests import devices

    return f"devices: {', '.join(devices.there())}"
