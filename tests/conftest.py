"""Every test runs with SPEC=1 and with the emulator as CUDA; hypothesis repeats its examples.

The longest file is begun first, as one that is begun last keeps one worker busy, and no other.
"""

from __future__ import annotations

import gc
import importlib.util
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests import arm64_device

os.environ["SPEC"] = "1"
os.environ.setdefault("CUDA_EMULATE", "1")

# A collection looks at every graph that there is, and tests make graphs all the time: rarely, it
# takes a tenth less in all.
gc.set_threshold(50_000, 20, 20)

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


ROOT = Path(__file__).parents[1]
# How long files take, where it is not about a seventh of a second for each test.
SECONDS = {
    "tests/classroom/test_answers.py": 500,
    "tests/grader/test_submissions.py": 115, "tests/grader/test_projects.py": 55,
    "tests/grader/test_hostile.py": 60, "tests/grader/test_project_07.py": 25,
    "tests/grader/test_recorded.py": 15, "tests/grader/test_project_repeat.py": 55,
    "tests/grader/test_release.py": 40, "tests/grader/test_attacks.py": 30,
    "tests/grader/test_judge.py": 25, "tests/grader/test_command.py": 25,
    "tests/grader/test_sandbox.py": 20, "course/08a_your_own_c.ipynb": 40,
    "course/07c_fast.ipynb": 40, "course/06c_triumphs.ipynb": 30,
    "course/08b_a_device_of_your_own.ipynb": 20, "course/06b_training.ipynb": 20,
    "course/06a_gradients.ipynb": 15, "course/11a_a_change_of_your_own.ipynb": 15,
    "tests/repository/test_benchmarks.py": 40, "tests/repository/test_replay.py": 20,
    "tests/fuzz/test_schedules.py": 20, "tests/fuzz/test_sanitized.py": 10,
    "tests/mini/test_stages.py": 15, "tests/mini/test_join.py": 20,
    "tests/mini/test_loader.py": 25, "tests/mini/test_talk.py": 12, "tests/nn/test_gpt.py": 15,
    "course/08d_it_talks.ipynb": 20,
}  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    counts = Counter(item.path for item in items)

    def seconds(path: Path) -> float:
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
        return SECONDS.get(name, counts[path] / 7)

    items.sort(key=lambda item: (-seconds(item.path), item.path))


@pytest.fixture(scope="module", autouse=True)
def what_is_there_already_is_left_alone() -> None:
    """A collection looks at what a file of tests has made, not at all that those before it left."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    from tests.by_file import ByFile

    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_report_header() -> str:
    from tests import devices

    return f"devices: {', '.join(devices.there())}"
