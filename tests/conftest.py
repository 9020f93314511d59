"""Every test runs with SPEC=1, and hypothesis gives the same examples every time."""

from __future__ import annotations

import importlib.util
import os

from hypothesis import HealthCheck, Phase, settings

os.environ["SPEC"] = "1"

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
# So is a browser, which the explorer's page is tested in, and a driver for OpenCL.
OPTIONAL = {  # a package, and the tests that need it
    "torch": "torch",
    "playwright": "browser",
    "pyopencl": "backends/test_opencl.py",
}
collect_ignore = [f for package, f in OPTIONAL.items() if not importlib.util.find_spec(package)]
