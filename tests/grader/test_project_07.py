"""Project 7: what comes with tinyframe is not there, and whose work a file is. What uses a device
that is shipped is graded in the sandbox, where there is none.
"""

import os
import re
import subprocess
import sys

import pytest

from classroom.grader.handed_in import files_of
from classroom.grader.judge import grade, grade_files
from classroom.grader.sandbox import ROOT, best_protection
from classroom.prints import python_in
from tests.grader.here import SLOW
from tests.grader.submissions import unusual
from tests.grader.worked import Worked, gained, handed_in, lost

WORKED = Worked("07_custom_backend")


def graded(text, folder):
    return grade(handed_in(WORKED, text, folder), WORKED.tasks, best_protection(), SLOW)


# ---- what is shipped -----------------------------------------------------------------------------

# what is loaded with the file cannot be loaded at all; what is used later, attacks.txt has
SHIPPED = {
    "from tinyframe.runtime.host import HostAllocator as Bytes\nclass MyAllocator(Bytes): pass":
        "tinyframe.runtime.host.HostAllocator belongs to a device",
    "from tinyframe.runtime.cpu import ClangDevice\nclass MyDevice(ClangDevice): pass":
        "tinyframe.runtime.cpu belongs to a device",
    "from importlib import import_module\n"
    "MyRunner = import_module('.'.join(['tinyframe', 'runtime', 'python'])).PythonRunner":
        "tinyframe.runtime.python.PythonRunner belongs to a device",
    "MyAllocator = type(Device[''.join(['C', 'PU'])].allocator)":
        "tinyframe.runtime.cpu belongs to a device",
    "pool = [Device['PYTHON'].allocator.alloc(4096) for _ in range(100)]":
        "PYTHON's memory belongs to a device",
    "from mini import part8": "mini's reference belongs to a device",
    f"exec(open({str(ROOT / 'tinyframe/runtime/cpu.py')!r}).read())": "FileNotFoundError",
    f"exec(open({str(WORKED.path)!r}).read())": "FileNotFoundError",
}  # fmt: skip


def test_what_comes_with_tinyframe_is_not_there(tmp_path):
    """All are tried, and the first of them ends the file."""
    text = f"""
from tinyframe import Device
for code in {list(SHIPPED)!r}:
    try:
        exec(code)
        print("it was there")
    except Exception as error:
        print(type(error).__name__, error)
{next(iter(SHIPPED))}
"""
    report = graded(text, tmp_path)
    assert (report.score, report.status) == (0, "crashed")
    assert "the device have to be your own" in report.notes[0]
    for said, words in zip(report.printed.splitlines(), SHIPPED.values(), strict=True):
        assert words in said, report.printed


# whatever suits somebody
SUITS = """
import mmap
class MyAllocator(Allocator):
    def _alloc(self, size, options):
        return mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    def copyin(self, dst, src): dst[: len(src)] = bytes(src)
    def copyout(self, dst, src): dst[:] = src[: len(dst)]
    def as_array(self, opaque): return np.frombuffer(opaque, np.uint8)
class Mapped(MyRunner):
    def __call__(self, *bufs, **how):
        return super().__call__(*((ctypes.c_char * len(b)).from_buffer(b) for b in bufs), **how)
MyRunner = Mapped
ONE, TWO = Tensor([0.0, 1.0]).realize(), Tensor(np.ones(3, np.float32))
"""
ELSEWHERE = [
    ("(Tensor(matrix, device=device).realize()", "(Tensor(matrix).to(device).realize()"),
    ("Tensor([0.0], device=device)", "(Tensor.rand(1) * 0).to(device)"),
]


def test_maps_arrays_and_tensors_that_name_no_device_in_many_files_are_as_good(tmp_path):
    text = WORKED.changed(*ELSEWHERE) + SUITS
    path = handed_in(WORKED, "from device import *\nfrom device import MyDevice\n", tmp_path)
    begin = text.index("class MyDevice(Compiled)")
    (path / "parts").mkdir()
    (path / "parts" / "__init__.py").write_text("")
    (path / "parts" / "lower.py").write_text(text[:begin])
    (path / "device.py").write_text(f"import backend\nfrom parts.lower import *\n{text[begin:]}")
    report = grade(path, WORKED.tasks, best_protection(), SLOW)
    assert report.score == 100, [report.notes, *(row.found for row in report.rows)]


@pytest.mark.parametrize(
    "task, right, other",
    [
        ("MyAllocator", "return ctypes.create_string_buffer(size)",
         "return __import__('mmap').mmap(-1, size)"),
        ("MyRunner", "path.write_bytes(lib)", "path.write_bytes(lib)\n            "
         "os.memfd_create('kernel')"),
    ],
)  # fmt: skip
def test_what_the_sandbox_denies_is_said_in_the_task_and_in_the_error(task, right, other, tmp_path):
    path = handed_in(WORKED, WORKED.changed((right, other)), tmp_path)
    files = files_of(path, WORKED.project.main)
    report = grade_files(files, "", WORKED.tasks, best_protection(), SLOW, only={task})
    assert report.score == 0
    for word in ("MAP_PRIVATE", "memfd_create"):
        assert all(word in row.found for row in report.rows) and word in WORKED.starter.read_text()


def test_who_computes_without_naming_a_device_reads_where_that_goes(tmp_path):
    report = graded(WORKED.text + "\nTHREE = (Tensor([1.0]) + 2).item()\n", tmp_path)
    assert "nothing but your own device computes where this is graded" in report.notes[0]


def test_a_part_that_is_not_its_own_takes_what_needs_it_along(tmp_path):
    """A runner of CPU's, asked for at the last moment: the rest of the file is right."""
    text = WORKED.changed((
        "self.entry = ctypes.CDLL(str(path))",
        "Device[chr(67) + 'PU'].runner(name, lib)\n            self.entry = ctypes.CDLL(str(path))",
    ))  # fmt: skip
    report = graded(text, tmp_path)
    left = {"MyAllocator": 7, "MyCompiler": 8, "explained": 5}
    assert gained(report.rows) == left, [row.found for row in report.rows]
    said = [row for row in report.rows if row.task == "MyRunner"]
    assert all("tinyframe.runtime.cpu belongs to a device" in row.found for row in said)


def test_a_mistake_is_shown_where_it_is(tmp_path):
    text = WORKED.changed(("dst[:] = src.raw[: len(dst)]", "dst[:] = src.rows"))
    done = subprocess.run(
        [sys.executable, handed_in(WORKED, text, tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 1 and "dst[:] = src.rows" in done.stderr


# ---- whose is it? --------------------------------------------------------------------------------

RUNTIME = ROOT / "tinyframe" / "runtime"
PARTS = {"MyAllocator", "MyCompiler", "MyRunner"}
OTHERS = {"library": "so", "folder": "place", "addresses": "pointers", "MyCompiler": "MyShell"}


def of_the_readme():
    """Its backend with other names."""
    code = python_in("README.md", (RUNTIME / "README.md").read_bytes()).decode()
    return re.sub("|".join(OTHERS), lambda at: OTHERS[at[0]], code)


def copied_from(texts):
    return WORKED.project.copied({name: text.encode() for name, text in texts.items()})


ALL = PARTS | {"MyDevice", "conformance"}
FROM_README = "this is tinyframe's own, from runtime/README.md, whatever you renamed; write yours"


@pytest.mark.parametrize(
    "disguise",
    [
        lambda code: {"backend.py": code},
        lambda code: {"backend.py": f"exec({code!r})\n"},
        lambda code: {"backend.py": code, "notes.py": "not Python at all"},
        lambda code: {"backend.py": code, "zz.py": "class MyRunner: pass"},
        lambda code: {"backend.py": code.replace("self.", "(self).")},
    ],
    ids=["names", "a text", "notes", "classes", "brackets"],
)
def test_a_copy_with_other_names_earns_nothing_and_is_told_where_it_is_from(disguise):
    code = f"{WORKED.starter.read_text()}\n{of_the_readme()}\nMyCompiler = MyShell\n"
    assert copied_from(disguise(code)) == dict.fromkeys(ALL, FROM_README)


def test_a_copy_of_the_cpu_device_in_files_of_its_own_is_one():
    files = {f"my_{name}.py": (RUNTIME / f"{name}.py").read_text() for name in ("clang", "cpu")}
    files["my_clang.py"] = files["my_clang.py"].replace("ClangCompiler", "Chef")
    main = "from my_clang import Chef as MyCompiler\nimport my_cpu\n"
    main += "MyRunner = my_cpu.ClangRunner\n"
    found = copied_from({"backend.py": f"{WORKED.text}\n{main}", **files})
    assert found.keys() == {"MyCompiler", "MyRunner"}
    assert "from runtime/clang.py" in found["MyCompiler"]


def test_the_report_of_a_copy_says_so(tmp_path):
    text = f"{WORKED.text}\n{of_the_readme()}\nMyCompiler = MyShell\n"
    report = graded(text, tmp_path)
    assert lost(report.rows).keys() == ALL
    assert {row.found for row in report.rows if row.task in ALL} == {FROM_README}


def test_who_wrote_it_is_never_called_a_copier():
    for own in unusual("07").values():
        for code in (WORKED.text, own, f"{WORKED.text}\n{own}"):
            assert copied_from({"backend.py": code}) == {}
