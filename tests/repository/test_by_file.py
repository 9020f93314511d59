"""A worker that dies takes one test with it, and the run comes to its end."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONFTEST = """
from tests.by_file import ByFile

def pytest_xdist_make_scheduler(config, log):
    return ByFile(config, log)
"""
PASSES = """
import pytest

@pytest.mark.parametrize("n", range({count}))
def test_it(n):
    pass
"""
DIES = """
import os
import pytest

@pytest.mark.parametrize("n", range(6))
def test_it(n):
    if n in {fatal}:
        os._exit(1)
"""
HANGS = """
from threading import Event

def test_first():
    pass

def test_it():
    Event().wait()

def test_last():
    pass
"""


@pytest.mark.parametrize(
    "files, failed, passed",
    [
        ({"a": PASSES.format(count=9), "z": DIES.format(fatal=[2])}, 1, 14),
        ({"a": DIES.format(fatal=[2]), "b": PASSES.format(count=9), "c": PASSES.format(count=1),
          "d": PASSES.format(count=1)}, 1, 16),
        ({"a": DIES.format(fatal=[4]), "b": DIES.format(fatal=[5]), "c": DIES.format(fatal=[0])},
         3, 15),
        ({"a": DIES.format(fatal=[0, 1]), "b": PASSES.format(count=2)}, 2, 6),
        ({"a": HANGS, "b": PASSES.format(count=3)}, 1, 5),
    ],
    ids=["at the end", "at the beginning", "each", "twice", "never ends"],
)  # fmt: skip
def test_a_run_comes_to_its_end(files, failed, passed, tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for name, text in files.items():
        (tmp_path / f"test_{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile", "-p",
               "no:cacheprovider", "--no-loadscope-reorder", "--rootdir", str(tmp_path), "-o",
               "faulthandler_timeout=3", "-o", "faulthandler_exit_on_timeout=true",
               "-o", f"pythonpath={ROOT}", str(tmp_path)]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=90)
    said = re.search(r"(\d+) failed, (\d+) passed", done.stdout)
    assert said and said.groups() == (str(failed), str(passed)), done.stdout + done.stderr
    if files["a"] == HANGS:
        assert "in test_it" in done.stderr
