"""What is tested on the emulator, once more on the NVIDIA GPU of this machine, if it has one.

Each file of tests gets a process of its own, in which CUDA is the GPU.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).parents[2]
# files of tests, and which of them use CUDA and don't ask for what only the emulator has
FILES = {
    "tests/ops/test_devices.py": "CUDA",
    "tests/backends/test_tensor_cores.py": "CUDA and not barrier",
}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        env={**os.environ, "CUDA_EMULATE": "0"}, cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip


def test_the_gpu_computes_what_it_should_op_by_op():
    done = run("tinyframe.runtime.conformance", "CUDA")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]


@pytest.mark.parametrize("file", FILES)
def test_a_file_of_tests_passes_on_the_gpu(file):
    done = run("pytest", "-q", "-p", "no:cacheprovider", file, "-k", FILES[file])
    assert done.returncode == 0, done.stdout[-4000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None and int(passed[1]) > 0
