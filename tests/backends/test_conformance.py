"""The table of conformance: what is right passes, and what is wrong is shown with its source."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from tests.course.refresh import FENCE, ROOT
from tinyframe import Device, dtypes
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.renderer.writer import infix
from tinyframe.runtime import conformance
from tinyframe.runtime.clang import ClangCompiler, find_compiler
from tinyframe.runtime.cpu import ClangDevice, ClangRunner
from tinyframe.runtime.host import HostAllocator
from tinyframe.uop.node import Ops

SKELETON = FENCE.search((ROOT / "tinyframe/runtime/README.md").read_text())[2]


def run_in(folder, *arguments):
    command = [sys.executable, "-m", "tinyframe.runtime.conformance", *arguments]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("form", ["in order", "by name"])
def test_the_backend_of_the_readme_passes(form, tmp_path):
    given = "MyAllocator(), CStyleLanguage(), MyCompiler(), MyRunner"
    by_name = "allocator=MyAllocator(), compiler=MyCompiler(), runtime=MyRunner"
    assert given in SKELETON
    text = SKELETON if form == "in order" else SKELETON.replace(given, by_name)
    (tmp_path / "my_backend.py").write_text(text)
    only = [] if form == "in order" else ["--only", "matmul"]
    done = run_in(tmp_path, "--module", "my_backend", "MY", *only)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Everything is right." in done.stdout
    assert " NO" not in done.stdout.partition("\n\n")[2]


def test_a_runner_that_goes_through_the_divided_loop_in_python_is_right(tmp_path):
    threads = "CStyleLanguage(Target(16, 16, threads=4, l1=32 << 10, l2=256 << 10))"
    text = SKELETON.replace("CStyleLanguage()", threads)
    text = "from tinyframe.renderer import Target\n" + text
    text += """
import numpy as np
x = np.arange(300 * 200, dtype=np.float32).reshape(300, 200) % 7
product = Tensor(x, device="MY").realize() @ Tensor(x.T.copy(), device="MY").realize()
(item,) = product.schedule()
from tinyframe.engine.realize import get_kernel
assert get_kernel(item.ast, "MY").spec.global_size[0] > 1
assert (product.numpy() == x @ x.T).all()
"""
    subprocess.run([sys.executable, "-c", text], check=True, cwd=ROOT)


class Wrong(CStyleLanguage):
    """C in which a number is less than itself."""

    device = "WRONG"
    code_for_op = {**CStyleLanguage.code_for_op, Ops.CMPLT: infix("<=")}


class WrongDevice(ClangDevice):
    def __init__(self, device="WRONG"):
        super(ClangDevice, self).__init__(
            device, HostAllocator(), Wrong(), ClangCompiler(find_compiler()), ClangRunner
        )

    renderer = property(lambda self: self._renderer)
    compiler = property(lambda self: self._compiler)


def test_a_wrong_op_is_shown_with_its_source_and_the_first_element(monkeypatch):
    monkeypatch.setitem(Device._devices, "WRONG", WrongDevice)
    lines = []
    stories = conformance.run("WRONG", lines.append, only="less")
    (row,) = [line for line in lines if line.startswith("less")]
    assert row.split().count("NO") == len(dtypes.all) - 1  # bools are compared by their logic
    assert re.search(r"less, int, on WRONG:\n  \d+ of 121 elements are wrong; element 0 is True, "
                     "and should be False", stories[4])  # fmt: skip
    assert "<=" in stories[4].partition("The last kernel was:")[2]


def test_a_dtype_that_the_language_lacks_is_no_failure(monkeypatch):
    monkeypatch.setitem(Device._devices, "WRONG", WrongDevice)
    monkeypatch.setattr(Wrong, "unsupported", frozenset({dtypes.double}))
    lines = []
    assert conformance.run("WRONG", lines.append, only="whole part") == []
    assert lines[-1].split()[-4:] == ["ok", "ok", "ok", "--"]


def test_units_in_the_last_place():
    for dtype in (np.float16, np.float32, np.float64):
        one = np.array([1, -1, 0, np.inf, np.nan, np.nan, np.inf], dtype)
        next_one = np.nextafter(dtype(1), dtype(2))
        two = np.array([next_one, -1, -0.0, np.inf, np.nan, 1, -np.inf], dtype)
        found = conformance.distance(one, two)
        assert list(found[:5]) == [1, 0, 0, 0, 0]
        assert min(found[5:]) > 1000


@pytest.mark.parametrize("arguments, words", [
    (["TPU"], "unknown device 'TPU'"),
    (["CL:99"], "device CL:99 cannot be used here"),
])  # fmt: skip
def test_a_device_that_is_not_there_is_told_without_a_traceback(arguments, words, capsys):
    with pytest.raises(SystemExit):
        conformance.main(arguments)
    assert words in capsys.readouterr().err
