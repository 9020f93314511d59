"""Every test runs with SPEC=1 and with the emulator as CUDA; hypothesis repeats its examples."""

from __future__ import annotations

import gc
import importlib.util
import os

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests import arm64_device

os.environ["SPEC"] = "1"
os.environ.setdefault("CUDA_EMULATE", "1")

# DEVICE=ARM64 runs any test on it
arm64_device.register()

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=20,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("repeatable")

# PyTorch is a reference for tests only, and gigabytes: a learner need not have it. So is a browser,
# which the explorer's page is tested in. A folder with a list of its own, as tests/backends has,
# does not look at this one.
OPTIONAL = {"torch": "torch", "playwright": "browser"}  # a package, and the tests that need it
collect_ignore = [f for package, f in OPTIONAL.items() if not importlib.util.find_spec(package)]


@pytest.fixture(scope="module", autouse=True)
def what_is_there_already_is_left_alone() -> None:
    """A collection looks at what a file of tests has made, not at all that those before it left."""
    gc.collect()
    gc.freeze()


def pytest_report_header() -> str:
    from tests import devices

    return f"devices: {', '.join(devices.there())}"
