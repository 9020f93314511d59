"""Tests are collected where what they need is there, and left out where it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def collected(path: str, **environment: str) -> set[str]:
    """The files of tests in a folder that have tests for a machine with such an environment."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only"]
    done = subprocess.run([*pytest, path], cwd=ROOT, env={**os.environ, **environment},
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    return {Path(line.partition("::")[0]).name for line in done.stdout.splitlines() if "::" in line}


def test_what_no_compiler_here_can_read_is_not_tested(tmp_path):
    all_files = {p.name for p in (ROOT / "tests/backends").glob("test_*.py")}
    found = collected("tests/backends", PATH=str(tmp_path))
    need_a_program = {"test_arm64.py", "test_macos.py", "test_cpp_devices.py",
                      "test_amd_compiler.py"}  # fmt: skip
    need_a_driver = {"test_opencl.py", "test_nvrtc.py", "test_webgpu.py", "test_gpu.py"}
    assert need_a_program <= all_files
    assert not found & need_a_program
    assert found >= all_files - need_a_program - need_a_driver
