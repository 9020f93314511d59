"""Where there is no full sandbox, as on macOS, submissions are still graded, but not trusted ones
only: what is hostile is tried on Linux."""

import sys

import pytest

from classroom.grader.sandbox import common_library
from classroom.mini import loader
from classroom.mini.stages import STAGES

collect_ignore = [] if sys.platform == "linux" else ["test_hostile.py", "test_sandbox.py"]


@pytest.fixture(scope="session", autouse=True)
def library():
    """Made before any test has temporary folders elsewhere, and for a while only."""
    common_library(False)


@pytest.fixture
def somewhere_else(tmp_path, monkeypatch):
    """A submission that is graded in this process writes its files, and into mini's tables."""
    monkeypatch.chdir(tmp_path)
    yield
    loader.install({stage.module: stage.reference for stage in STAGES})
