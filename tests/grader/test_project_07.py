"""Project 7: the worked solution gets 100 points, a mistake costs what it should, and nothing else.

The mistakes are those of somebody who is tired. Each is a replacement in the worked solution. Those
that leave everything else as it was are graded as sets, in tasks of their own; those that nothing
can work with, in their own tasks alone. What uses a device that is shipped is graded in the
sandbox, where there is none.
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
from tests.grader.worked import Worked, gained, handed_in, lost

WORKED = Worked("07_custom_backend")


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """Some mistakes write files, which is here."""
    monkeypatch.chdir(tmp_path)


# what is replaced in the solution, by what, the points that it costs, and what the report says
MISTAKES = [
    {
        "MyAllocator": (
            "ctypes.memmove(dst, bytes(src), len(src))", "dst.raw = bytes(src).ljust(len(dst))",
            3, "is 32; it was ",
        ),
        "MyCompiler": (
            "if done.returncode:\n", "if done.returncode > 99:\n",
            2, "raised FileNotFoundError, without the compiler's words",
        ),
        "MyRunner": (
            "return perf_counter() - begin if wait else None", "return perf_counter() - begin",
            4, "return None",
        ),
        "MyDevice": (
            "super().__init__(device, MyAllocator()", 'super().__init__("MY", MyAllocator()',
            3, "the name of the device MY:1 is 'MY', and should be 'MY:1'",
        ),
        "benchmark": (
            "        Device[x.device].synchronize()\n", "",
            5, "it is back before it is done: Device[name].synchronize() waits for it",
        ),
        "explained": (
            "min(max(launches / longer, 0.0), 1.0)", "launches / longer",
            2, "and should be 0",
        ),
        "conformance": (
            "len(vals))(*vals)", "len(vals))()",
            2, "Variables, ",
        ),
    },
    {
        "MyCompiler": (
            '"-fwrapv", ', "",
            2, "2147483647 + 1 > 2147483647 came out as true: -fwrapv is missing",
        ),
        "MyRunner": (
            "range(global_size[0])", "range(1)",
            8, "with global_size (6, 1, 1), turn 1 ran 0 times",
        ),
        "benchmark": (
            "min(times[2:])", "times[0]",
            10, "is the first call, which compiles, in it, or not divided?",
        ),
        "explained": (
            'max(rows, key=lambda row: row["gflops"])', "rows[0]",
            10, "the list of the devices explained is",
        ),
    },
    {
        "MyRunner": (
            "self.entry(addresses, numbers, n, n + 1)", "self.entry(addresses, numbers, 0, n + 1)",
            14, "turn 0 ran 6 times",
        ),
        "benchmark": (
            "2 * n**3 / seconds / 1e9}", "n**3 / seconds / 1e9}",
            4, "gflops is",
        ),
        "explained": (
            'row["seconds"] / best["seconds"], "launch" if part > 0.5',
            'row["gflops"] / best["gflops"], "launch" if part > 0.5',
            4, "the 'times' of ",
        ),
    },
    {
        "benchmark": (
            "min(times[2:]) / count", "min(times[2:])",
            10, "is the first call, which compiles, in it, or not divided?",
        ),
        "explained": (
            '"launch" if part > 0.5 else "kernel"', '"launch" if launches > 0 else "kernel"',
            4, "is the launch, the reason is 'launch', and should be 'kernel'",
        ),
    },
]  # fmt: skip

# What nothing works with; in its own tasks it costs so much.
BROKEN = {
    "what comes before the first zero": (
        {"MyAllocator", "MyRunner"},
        ("dst[:] = src.raw[: len(dst)]", "dst[: len(src.value)] = src.value[: len(dst)]"),
        {"MyAllocator": 4, "MyRunner": 20},
        "MyAllocator comes first: what is copied in and out here is not the same",
    ),
    "what comes before the first zero, in its own task": (
        {"MyAllocator"},
        ("dst[:] = src.raw[: len(dst)]", "dst[: len(src.value)] = src.value[: len(dst)]"),
        {"MyAllocator": 4}, "The byte before it is a zero, where a text would end",
    ),
    "one memory for all": (
        {"MyAllocator"}, ("return ctypes.create_string_buffer(size)",
                          "self.all = getattr(self, 'all', None) or "
                          "ctypes.create_string_buffer(1 << 16)\n        return self.all"),
        {"MyAllocator": 3}, "what went into the second memory is in the first one too",
    ),
    "a view that cannot be written to": (
        {"MyAllocator"}, ("bytes(src), len(src))",
                          "(ctypes.c_char * len(src)).from_buffer(src), len(src))"),
        {"MyAllocator": 12}, "raised TypeError: underlying buffer is not writable",
    ),
    "fast mathematics": (
        {"MyCompiler"}, ('"-O2", ', '"-O2", "-ffinite-math-only", '),
        {"MyCompiler": 2}, "NaN came out as equal to itself: leave -ffast-math out",
    ),
    "the path, not the bytes": (
        {"MyCompiler"}, ("return library.read_bytes()", "return str(library)"),
        {"MyCompiler": 14}, "compile() returned an object of type str, but should return bytes",
    ),
    "a file with the kernel's name": (
        {"MyRunner"}, ('path = Path(place, "kernel.so")\n            path.write',
                       'path = Path(f"{name}.so").resolve()\n            path.unlink(True)\n'
                       "            path.write"),
        {"MyRunner": 4}, "two programs have kernels of one name: you called the other one's",
    ),
    "no seconds": (
        {"MyRunner", "conformance"},
        ("return perf_counter() - begin if wait else None", "return None"),
        {"MyRunner": 4, "conformance": 2},
        "with wait=True a launch gave None; return the seconds it took",
    ),
    "the memory of the first call": (
        {"MyRunner"}, ("        pointers = [",
                       "        self.bufs = bufs = getattr(self, 'bufs', bufs)\n"
                       "        pointers = ["),
        {"MyRunner": 14}, "after a += b, c += a, a += c, the list [a, b, c] is",
    ),
    "a device in place of its class": (
        {"MyDevice", "benchmark", "conformance"},
        ('Device._devices["MY"] = MyDevice\n###', 'Device._devices["MY"] = MyDevice("MY")\n###'),
        {"MyDevice": 14, "benchmark": 10, "conformance": 16}, "put the class itself there",
    ),
    "a device that is not registered": (
        {"MyDevice", "benchmark", "conformance"},
        ('Device._devices["MY"] = MyDevice\n###', 'Device._devices["MINE"] = MyDevice\n###'),
        {"MyDevice": 14, "benchmark": 10, "conformance": 16}, "not written yet",
    ),
    "a runner that takes no vals": (
        {"MyRunner", "MyDevice", "conformance"},
        [("local_size, vals=(), wait=False)", "local_size, wait=False)"),
         ("(ctypes.c_longlong * len(vals))(*vals)", "None")],
        {"conformance": 2}, "got an unexpected keyword argument 'vals'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_a_mistake_costs_its_points_and_no_others(number):
    mistakes = MISTAKES[number]
    pairs = [(right, wrong) for right, wrong, *_ in mistakes.values()]
    judged = WORKED.rows(WORKED.changed(*pairs))
    said = {row.task: "" for row in judged}
    for row in judged:
        said[row.task] += row.found
    assert lost(judged) == {task: points for task, (*_, points, _) in mistakes.items()}, said
    for task, (*_, words) in mistakes.items():
        assert words in said[task], said[task]


@pytest.mark.parametrize("name", BROKEN)
def test_what_breaks_everything_is_told_in_its_own_task(name):
    tasks, pairs, points, words = BROKEN[name]
    text = WORKED.changed(*(pairs if isinstance(pairs, list) else [pairs]))
    judged = WORKED.rows(text, tasks=tasks)
    said = "\n".join(row.found for row in judged)
    assert lost(judged) == points, said
    assert words in said, said


BUSY = """
quiet, calls = benchmark, []
def benchmark(devices, n):
    calls.append(n)
    rows = quiet(devices, n)
    for row in rows if len(calls) % 3 else []:
        row["launch"] *= 9
        row["share"] *= 9
    return rows
"""


def test_a_machine_that_is_busy_for_a_while_costs_nothing():
    judged = WORKED.rows(WORKED.text + BUSY, tasks={"benchmark"})
    assert judged and lost(judged) == {}, [row.found for row in judged]


# ---- what is shipped -----------------------------------------------------------------------------

HEAD = """
from tinyframe import Device
from tinyframe.device import Allocator, Compiler, Runner
"""
# what is loaded with the file cannot be loaded at all; what is used later, attacks.txt has
SHIPPED = {
    "an allocator that is derived": (
        "from tinyframe.runtime.host import HostAllocator as Bytes\n"
        "class MyAllocator(Bytes): pass\n",
        "tinyframe.runtime.host.HostAllocator belongs to a device",
    ),
    "CPU's device that is derived": (
        "from tinyframe.runtime.cpu import ClangDevice\nclass MyDevice(ClangDevice): pass\n",
        "tinyframe.runtime.cpu belongs to a device",
    ),
    "the runner of PYTHON": (
        "from importlib import import_module\n"
        "interpreter = import_module('.'.join(['tinyframe', 'runtime', 'python']))\n"
        "MyRunner = interpreter.PythonRunner\n",
        "tinyframe.runtime.python.PythonRunner belongs to a device",
    ),
    "the type of another device's allocator": (
        "MyAllocator = type(Device[''.join(['C', 'PU'])].allocator)\n",
        "tinyframe.runtime.cpu belongs to a device",
    ),
    "memory that is taken beforehand": (
        "pool = [Device['PYTHON'].allocator.alloc(4096) for _ in range(100)]\n",
        "PYTHON's memory belongs to a device",
    ),
    "mini's": ("from mini import part8\n", "mini's reference belongs to a device"),
    "the file as it is in the repository": (
        f"exec(open({str(ROOT / 'tinyframe/runtime/cpu.py')!r}).read())\n",
        "FileNotFoundError",
    ),
    "the solution": (
        f"exec(open({str(WORKED.path)!r}).read())\n",
        "FileNotFoundError",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHIPPED)
def test_what_comes_with_tinyframe_is_not_there(name, tmp_path):
    code, words = SHIPPED[name]
    path = handed_in(WORKED, HEAD + code, tmp_path)
    report = grade(path, WORKED.tasks, best_protection(), SLOW)
    assert (report.score, report.status) == (0, "crashed")
    assert words in report.notes[0]
    if "belongs" in words:
        assert "the device have to be your own" in report.notes[0]


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


def test_maps_arrays_and_tensors_that_name_no_device_are_as_good_where_it_is_graded(tmp_path):
    path = handed_in(WORKED, WORKED.changed(*ELSEWHERE) + SUITS, tmp_path)
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
    path = handed_in(WORKED, WORKED.text + "\nTHREE = (Tensor([1.0]) + 2).item()\n", tmp_path)
    report = grade(path, WORKED.tasks, best_protection(), SLOW)
    assert "nothing but your own device computes where this is graded" in report.notes[0]


def test_a_part_that_is_not_its_own_takes_what_needs_it_along(tmp_path):
    """A runner of CPU's, asked for at the last moment: the rest of the file is right."""
    text = WORKED.changed((
        "self.entry = ctypes.CDLL(str(path))",
        "Device[chr(67) + 'PU'].runner(name, lib)\n            self.entry = ctypes.CDLL(str(path))",
    ))  # fmt: skip
    report = grade(handed_in(WORKED, text, tmp_path), WORKED.tasks, best_protection(), SLOW)
    left = {"MyAllocator": 7, "MyCompiler": 8, "explained": 5}
    assert gained(report.rows) == left, [row.found for row in report.rows]
    said = [row for row in report.rows if row.task == "MyRunner"]
    assert all("tinyframe.runtime.cpu belongs to a device" in row.found for row in said)


# ---- the texts' skeletons ------------------------------------------------------------------------

# Classes, names and signatures are those of the outline and of "Hacking", the bodies are ours.
OUTLINE = """
class MyAllocator(Allocator):
    def _alloc(self, size: int, options):
        return ctypes.create_string_buffer(size)

    def _free(self, buf, options):
        return None

    def copyin(self, dst, src: memoryview):
        ctypes.memmove(dst, src.tobytes(), src.nbytes)

    def copyout(self, dst: memoryview, src):
        ctypes.memmove((ctypes.c_char * dst.nbytes).from_buffer(dst), src, dst.nbytes)


class MyCompiler(Compiler):
    def compile(self, src: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a.c").write_text(src)
            command = [*c_compiler(), "a.c", "-o", "a.so", "-O2", "-fwrapv", "-fPIC", "-shared"]
            done = subprocess.run([*command, "-lm"], cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                raise CompileError(done.stderr, src)
            return Path(folder, "a.so").read_bytes()


class MyRunner(Runner):
    def __init__(self, name: str, lib: bytes):
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            Path(file.name).write_bytes(lib)
            self.function = getattr(ctypes.CDLL(file.name), f"{name}_entry")

    def __call__(self, *bufs, global_size, local_size, wait=False):
        start = perf_counter()
        pointers = (ctypes.c_void_p * len(bufs))(*[ctypes.addressof(buf) for buf in bufs])
        for turn in range(global_size[0]):
            self.function(pointers, None, turn, turn + 1)
        return perf_counter() - start if wait else None


class MyDevice(Compiled):
    def __init__(self, device: str):
        super().__init__(
            device,
            MyAllocator(),
            CStyleLanguage(),
            MyCompiler(),
            MyRunner,
        )


Device._devices["MY"] = MyDevice
"""


def test_the_outlines_skeleton_works_as_it_stands_there():
    """It takes no Variables, which is a row of the table, and nothing else."""
    judged = WORKED.rows(f"{WORKED.text}\n{OUTLINE}")
    assert lost(judged) == {"conformance": 2}
    said = [row.found for row in judged if row.found]
    assert all("unexpected keyword argument 'vals'" in found for found in said)


HACKING = """
class MyRuntime:
    def __call__(self, name, lib):
        return MyRunner(name, lib)


class MyCustomDevice(Compiled):
    def __init__(self):
        super().__init__(
            allocator=MyAllocator(),
            compiler=MyCompiler(),
            runtime=MyRuntime()
        )


Device._devices["MY"] = lambda name: MyCustomDevice()
"""


def test_the_skeleton_of_the_other_text_works_but_for_its_name():
    judged = WORKED.rows(f"{WORKED.text}\n{HACKING}", tasks={"MyDevice", "conformance"})
    assert lost(judged) == {"MyDevice": 3}
    assert "the name of the device MY:1 is ''" in "".join(row.found for row in judged)


# ---- the folder ----------------------------------------------------------------------------------


def ran(path):
    """The program, as a learner runs it, without what slows tests down."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SPEC": "0"}
    return subprocess.run([sys.executable, path], capture_output=True, text=True, env=environment)


def test_the_report_of_the_worked_solution_has_nothing_open_and_leaves_nothing(tmp_path):
    path = handed_in(WORKED, WORKED.text, tmp_path)
    done = ran(path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "open" not in done.stdout and " NO" not in done.stdout
    assert "[5, 7, 9]" in done.stdout and "GFLOP/s" in done.stdout
    left = {file.name for file in path.iterdir()} - {"__pycache__"}  # that one is Python's
    assert left == {"__main__.py", "backend.py"}


def test_a_mistake_is_shown_where_it_is(tmp_path):
    text = WORKED.changed(("dst[:] = src.raw[: len(dst)]", "dst[:] = src.rows"))
    path = handed_in(WORKED, text, tmp_path)
    done = ran(path)
    assert done.returncode == 1 and "dst[:] = src.rows" in done.stderr


def test_its_folder_may_have_more_files_which_import_each_other(tmp_path):
    path = handed_in(WORKED, "from device import *\nfrom device import MyDevice\n", tmp_path)
    begin = WORKED.text.index("class MyDevice(Compiled)")
    (path / "parts").mkdir()
    (path / "parts" / "__init__.py").write_text("")
    (path / "parts" / "lower.py").write_text(WORKED.text[:begin])
    (path / "device.py").write_text(
        f"import backend\nfrom parts.lower import *\n{WORKED.text[begin:]}"
    )
    report = grade(path, WORKED.tasks, best_protection(), SLOW)
    assert report.score == 100, [report.notes, *(row.found for row in report.rows)]


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
    report = grade(handed_in(WORKED, text, tmp_path), WORKED.tasks, best_protection())
    assert lost(report.rows).keys() == ALL
    assert {row.found for row in report.rows if row.task in ALL} == {FROM_README}


@pytest.mark.parametrize("path", sorted((ROOT / "tests/grader/unusual").glob("07*")), ids=str)
def test_who_wrote_it_is_never_called_a_copier(path):
    for code in (WORKED.text, path.read_text(), f"{WORKED.text}\n{path.read_text()}"):
        assert copied_from({"backend.py": code}) == {}
