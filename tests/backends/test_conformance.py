"""The table of conformance: what is right passes, and what is wrong is shown with its source."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from tests.course.refresh import FENCE, ROOT
from tinyframe import Device, Tensor, dtypes
from tinyframe.device import Allocator, Compiled, Compiler
from tinyframe.renderer import Target
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.renderer.program_text import infix
from tinyframe.runtime.clang import ClangCompiler, find_compiler
from tinyframe.runtime.cpu import ClangRunner
from tinyframe.runtime.host import HostAllocator
from tinyframe.runtime.python import PythonRenderer, PythonRunner
from tinyframe.tools import conformance
from tinyframe.uop.node import Ops

SKELETON = FENCE.search((ROOT / "tinyframe/runtime/README.md").read_text())[2]


def run_in(folder, *arguments):
    command = [sys.executable, *arguments]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


# What a backend's own four parts do. How C is written is CStyleLanguage's, and checked for CPU.
PROGRAM = "-m", "tinyframe.runtime.conformance"
OF_ITS_PARTS = (*conformance.PARTS, "copy", "matmul", "in place", "Variables", "captured")
EACH = f"""
import my_backend
from tinyframe.tools import conformance
for row in {OF_ITS_PARTS}:
    for story in conformance.run("MY", print, row):
        raise SystemExit(story)
"""


def test_the_backend_of_the_readme_passes(tmp_path):
    (tmp_path / "my_backend.py").write_text(SKELETON)
    done = run_in(tmp_path, "-c", EACH)
    assert done.returncode == 0, done.stdout + done.stderr
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
from tinyframe.run.realize import get_kernel
assert get_kernel(item.ast, "MY").spec.global_size[0] > 1
assert (product.numpy() == x @ x.T).all()
"""
    subprocess.run([sys.executable, "-c", text], check=True, cwd=ROOT)


def opened(of=Compiled, **parts):
    """A device called WRONG: the CPU's parts, and in place of some of them these."""
    given = {"allocator": HostAllocator(), "renderer": CStyleLanguage(),
             "compiler": ClangCompiler(find_compiler()), "runtime": ClangRunner}  # fmt: skip
    return lambda device: of(device, **{**given, **parts})


class Wrong(CStyleLanguage):
    """C in which a number is less than itself."""

    device = "WRONG"
    code_for_op = {**CStyleLanguage.code_for_op, Ops.CMPLT: infix("<=")}


def test_a_wrong_op_is_shown_with_its_source_and_the_first_element(monkeypatch):
    monkeypatch.setitem(Device._devices, "WRONG", opened(renderer=Wrong()))
    lines = []
    stories = conformance.run("WRONG", lines.append, only="less")
    (row,) = [line for line in lines if line.startswith("less")]
    assert row.split().count("NO") == len(dtypes.all) - 1  # bools are compared by their logic
    low = dtypes.min(dtypes.int)
    assert re.search(rf"less, int, on WRONG:\n  \d+ of 121 elements are wrong; element 0, of {low} "
                     rf"and {low}, is True, and should be False", stories[4])  # fmt: skip
    assert "<=" in stories[4].partition("The first kernel that goes wrong")[2]


def test_the_kernel_that_goes_wrong_is_shown_and_not_the_last_one(monkeypatch):
    class WithoutValues(ClangRunner):
        def __call__(self, *bufs, vals=(), **given):
            return super().__call__(*bufs, vals=tuple([0 for _ in vals]), **given)

    monkeypatch.setitem(Device._devices, "WRONG", opened(runtime=WithoutValues))
    stories = conformance.run("WRONG", [].append, only="Variables")
    source = stories[0].partition("The first kernel that goes wrong")[2]
    assert "var_n" in source and "data3" not in source  # it sums; the last one stacks the sums


def test_an_exception_is_shown_with_the_line_of_the_backend(monkeypatch):
    class Broken(ClangRunner):
        def __call__(self, *bufs, **given):
            raise OSError("the cable is loose")

    monkeypatch.setitem(Device._devices, "WRONG", opened(runtime=Broken))
    story = conformance.run("WRONG", [].append, only="launches")[0]
    assert "OSError: the cable is loose" in story
    assert 'raise OSError("the cable is loose")' in story and "realize.py" not in story


def test_a_dtype_that_the_language_lacks_is_no_failure(monkeypatch):
    monkeypatch.setitem(Device._devices, "WRONG", opened(renderer=Wrong()))
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


def test_a_row_that_does_not_exist_is_told(capsys):
    with pytest.raises(SystemExit):
        conformance.main(["PYTHON", "--only", "logarithm"])
    assert "no row's name contains 'logarithm'; there are: names, memory" in capsys.readouterr().err


@pytest.mark.parametrize("module, words", [
    ("my_backend", "there is no module my_backend in "),
    ("no_such/my_backend.py", "there is no module my_backend in "),
    (None, "unknown device 'MINE'"),
])  # fmt: skip
def test_a_backend_that_is_not_found_is_told(module, words, capsys):
    with pytest.raises(SystemExit):
        conformance.main([*(["--module", module] if module else []), "MINE"])
    said = capsys.readouterr().err
    assert words in said and ("--module registers a device of your own" in said) == (not module)


def test_a_module_may_be_named_by_its_file_and_a_crash_says_where(tmp_path):
    (tmp_path / "mine").mkdir()
    addresses = "(ctypes.c_void_p * len(bufs))(*map(ctypes.addressof, bufs))"
    assert addresses in SKELETON
    text = SKELETON.replace(addresses, "(ctypes.c_void_p * len(bufs))()")
    lines = text.splitlines()
    (tmp_path / "mine/null.py").write_text("\n".join(lines[:-1]))
    done = run_in(
        tmp_path, *PROGRAM, "--module", str(tmp_path / "mine/null.py"), "MY", "--only", "launches"
    )
    assert done.returncode < 0
    where = next(n for n, line in enumerate(lines, 1) if "self.entry(" in line)
    assert f'null.py", line {where} in __call__' in done.stderr


# ---- the parts ----------------------------------------------------------------------------------


class Handles(HostAllocator):
    """Memory by numbers, as a driver's often is. What is given back is gone."""

    def __init__(self):
        self.memory = {}

    def _alloc(self, size, options=None):
        self.memory[number := len(self.memory) + 1] = super()._alloc(size, options)
        return number

    def copyin(self, dst, src):
        super().copyin(self.memory[dst], src)

    def copyout(self, dst, src):
        super().copyout(dst, self.memory[src])

    as_array = Allocator.as_array


class Forgetful(Handles):
    def _free(self, opaque, options):
        self.memory.clear()


class Late(ClangRunner):
    """Launches take effect when somebody waits."""

    waiting: list = []

    def __call__(self, *bufs, wait=False, **given):
        self.waiting.append(lambda: ClangRunner.__call__(self, *bufs, wait=wait, **given))
        return Late.finish() if wait else None

    @staticmethod
    def finish():
        took = [launch() for launch in Late.waiting]
        Late.waiting.clear()
        return took[-1] if took else None


class LateDevice(Compiled):
    def synchronize(self):
        Late.finish()


class MisspeltDevice(Compiled):
    def synchronise(self):
        Late.finish()


class InTurn(HostAllocator):
    """What `Late` needs: a copy waits for the launches that were made before it."""

    def copyin(self, dst, src):
        Late.finish()
        super().copyin(dst, src)


class FirstShareOnly(ClangRunner):
    def __call__(self, *bufs, global_size, **given):
        return super().__call__(*bufs, global_size=(1, 1, 1), **given)


class WithoutSeconds(ClangRunner):
    def __call__(self, *bufs, **given):
        super().__call__(*bufs, **given)


class OnlyTimed(ClangRunner):
    def __call__(self, *bufs, wait=False, **given):
        return 0.001 if wait else super().__call__(*bufs, **given)


class WithoutBarriers(PythonRenderer):
    def render(self, name, uops):
        text = super().render(name, uops)
        return re.sub(r'(\d+), "BARRIER".*', r'\1, "CONST", "int", (), 0),', text)


class WithoutConditions(CStyleLanguage):
    if_statement = "{statement}"


SHARED = CStyleLanguage(Target(16, 16, threads=4, l1=32 << 10, l2=256 << 10))
BLOCKS = Target(16, 64, threads=1, l1=32 << 10, l2=1 << 20, block_threads=64,
                shared_bytes=32 << 10, grid=(65535,) * 3, warp=32)  # fmt: skip


@pytest.mark.parametrize("row, parts, words", [
    ("names", {"of": MisspeltDevice, "runtime": Late},
     "MisspeltDevice defines synchronise, which nothing calls; did you mean synchronize?"),
    ("memory", {"allocator": Handles()}, "define _free(opaque, options)"),
    ("memory", {"allocator": Forgetful()}, "KeyError"),
    ("launches", {"runtime": WithoutSeconds}, "the seconds it took, not None"),
    ("launches", {"runtime": OnlyTimed}, "1 + 1 + 1 is 2.0: one launch had no effect"),
    ("order", {"of": MisspeltDevice, "runtime": Late}, "synchronize() has to wait"),
    ("order", {"of": LateDevice, "runtime": Late}, "copyin changed the input of launches"),
    ("shares of a loop", {"renderer": SHARED, "runtime": FirstShareOnly},
     "with global_size (8, 1, 1) and local_size (1, 1, 1), 84 of 96 numbers are wrong; element 12"),
    ("blocks of threads", {"renderer": WithoutBarriers(BLOCKS), "compiler": Compiler(),
                           "runtime": PythonRunner}, "UninitializedRead"),
    ("conditions of stores", {"renderer": WithoutConditions()},
     "1 of 8 numbers are wrong; element 7 is 1.0, and should be 0.0"),
])  # fmt: skip
def test_a_part_that_does_not_keep_its_promise_is_told(monkeypatch, row, parts, words):
    monkeypatch.setattr(Late, "waiting", [])
    monkeypatch.setitem(Device._devices, "WRONG", opened(**parts))
    story, *_ = conformance.run("WRONG", [].append, only=row)
    assert story.startswith(f"{row}, on WRONG:\n  ") and words in story


@pytest.mark.parametrize("parts", [
    {"renderer": SHARED},
    {"of": LateDevice, "runtime": Late, "allocator": InTurn()},
    {"renderer": PythonRenderer(BLOCKS), "compiler": Compiler(), "runtime": PythonRunner},
], ids=["cores", "late", "blocks"])  # fmt: skip
@pytest.mark.parametrize("row", conformance.PARTS)
def test_good_parts_keep_their_promises(monkeypatch, row, parts):
    monkeypatch.setitem(Device._devices, "WRONG", opened(**parts))
    assert conformance.PARTS[row]("WRONG") == ""


# ---- the smallest language ----------------------------------------------------------------------

NEEDED = {Ops.ADD, Ops.MUL, Ops.FDIV, Ops.CDIV, Ops.CMPLT, Ops.CMPNE, Ops.WHERE, Ops.AND, Ops.OR,
          Ops.XOR, Ops.SHL, Ops.SHR}  # fmt: skip


def only_with(ops):
    class Language(CStyleLanguage):
        code_for_op = {op: CStyleLanguage.code_for_op[op] for op in ops}

    return Language()


@pytest.mark.parametrize("row", ["largest", "whole part", "remainder"])
def test_a_language_of_what_the_readme_says_is_needed_is_enough(monkeypatch, row):
    monkeypatch.setitem(Device._devices, "WRONG", opened(renderer=only_with(NEEDED)))
    assert conformance.run("WRONG", [].append, only=row) == []


def test_a_needed_op_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(Device._devices, "WRONG", opened(renderer=only_with(NEEDED - {Ops.WHERE})))
    with pytest.raises(NotImplementedError, match="has no WHERE .*give Language.code_for_op a"):
        Tensor([-1.0, 2.0], device="WRONG").relu().tolist()


def test_a_function_of_float64_that_a_language_lacks_is_named(monkeypatch):
    language = only_with(NEEDED)
    monkeypatch.setattr(type(language), "code_for_double", {})
    monkeypatch.setitem(Device._devices, "WRONG", opened(renderer=language))
    assert Tensor([0.0], device="WRONG").sin().tolist() == [0.0]
    with pytest.raises(NotImplementedError, match="has no SIN of dtypes.double"):
        Tensor(np.zeros(1), device="WRONG").sin().tolist()
