"""The CPU device: finding a compiler, compiling, loading, calling."""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tinyframe import disk_cache as cache
from tinyframe.device import Buffer, CompileError, Device, NoCompiler
from tinyframe.dtype import dtypes
from tinyframe.runtime import clang, machine
from tinyframe.runtime.clang import ClangCompiler, find_compiler
from tinyframe.runtime.cpu import ClangRunner
from tinyframe.settings import Context

ROOT = Path(__file__).parents[2]

ADD = """
void E_4(float* restrict data0, const float* restrict data1, const int n, const long m) {
  for (int i = 0; i < 4; i++) data0[i] = data1[i] + n + m;
}
void E_4_entry(void** bufs, const long long* vals, int start, int stop) {
  E_4(bufs[0], bufs[1], vals[0], vals[1]);
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("TINYFRAME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_usable", {})
    return tmp_path / "cache"


@pytest.fixture
def compiler(folder):
    return ClangCompiler(find_compiler())


def run_add(lib, n=2, m=3):
    out, x = (Buffer("CPU", 4, dtypes.float).copyin(np.arange(4, dtype=np.float32).tobytes())
              for _ in range(2))  # fmt: skip
    ClangRunner("E_4", lib)(out._buf, x._buf, vals=(n, m))
    return out.numpy().tolist()


# *** compile, load, call ***


def test_source_becomes_something_that_can_be_called(compiler):
    assert run_add(compiler.compile(ADD)) == [5, 6, 7, 8]


def test_variables_are_passed_as_64_bits(compiler):
    big = 1 << 40
    assert run_add(compiler.compile(ADD), n=-1, m=big) == [float(big)] * 4


WRAPS = """
void E_4(int* restrict data0, const int* restrict data1) {
  for (int i = 0; i < 4; i++) data0[i] = data1[i] + 1 > data1[i];
}
void E_4_entry(void** bufs, const long long* vals, int start, int stop) { E_4(bufs[0], bufs[1]); }
"""


def test_a_source_may_begin_with_a_flag_that_it_needs(compiler, monkeypatch):
    """Of the largest int, x + 1 > x is true for a compiler that need not let it wrap around."""
    commands = []
    monkeypatch.setattr(
        ClangCompiler, "run",
        lambda self, arguments, src, *command, run=ClangCompiler.run: (
            commands.append(arguments), run(self, arguments, src, *command))[1],
    )  # fmt: skip
    lib = compiler.compile("// -fwrapv: signed integers wrap around" + WRAPS)
    assert "-fwrapv" in next(command for command in commands[::-1] if "-x" in command)
    out, x = (Buffer("CPU", 4, dtypes.int) for _ in range(2))
    x.copyin(np.array([1, 2**31 - 1, -(2**31), 0], np.int32).tobytes())
    ClangRunner("E_4", lib)(out._buf, x._buf)
    assert out.numpy().tolist() == [1, 0, 1, 1]
    compiler.compile(WRAPS)
    assert "-fwrapv" not in next(command for command in commands[::-1] if "-x" in command)


def test_a_warm_cache_starts_no_process(compiler, monkeypatch):
    compiler.compile_cached(ADD)
    target = clang.target(compiler)
    monkeypatch.setattr(subprocess, "Popen", None)
    second = ClangCompiler(find_compiler())
    assert run_add(second.compile_cached(ADD)) == [5, 6, 7, 8]
    assert clang.target(second) == target


def test_what_is_only_compiled_does_not_stay_in_memory(compiler):
    maps = Path("/proc/self/maps")  # where a system says what a process has loaded

    def loaded() -> int:
        return (maps.read_text() if maps.exists() else "").count("kernel.so")

    before = loaded()  # other tests may keep theirs
    assert compiler.compile(ADD)
    assert loaded() == before


def test_a_library_whose_file_is_gone_is_loaded_from_its_bytes(compiler):
    lib = compiler.compile_cached(ADD)
    lib.path.unlink()
    assert run_add(lib) == [5, 6, 7, 8]


def test_without_a_cache_kernels_work_all_the_same(compiler, folder):
    with Context(CACHE=0):
        assert run_add(compiler.compile_cached(ADD)) == [5, 6, 7, 8]
        assert clang.target(ClangCompiler(find_compiler())).vector_bytes >= 16
    assert not folder.exists()


def test_no_temporary_files_are_left(compiler, tmp_path, monkeypatch):
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with Context(CACHE=0):
        run_add(compiler.compile_cached(ADD))
    with pytest.raises(CompileError):
        compiler.compile("not C")
    assert list((tmp_path / "temporary").iterdir()) == []


def test_nan_and_infinity_keep_their_meaning(compiler):
    source = """
    void K_entry(void** bufs, const long long* vals, int start, int stop) {
      float *y = bufs[0], *x = bufs[1];
      y[0] = x[0] != x[0]; y[1] = x[1] - x[1]; y[2] = x[2] + 0.0f; y[3] = x[3] * 0.0f;
    }"""
    x = np.array([np.nan, np.inf, -0.0, -1], np.float32)
    out = Buffer("CPU", 4, dtypes.float)
    data = Buffer("CPU", 4, dtypes.float).copyin(x.tobytes())
    ClangRunner("K", compiler.compile(source))(out._buf, data._buf)
    np.testing.assert_array_equal(out.numpy(), [1, np.nan, 0, -0.0])
    assert np.signbit(out.numpy()).tolist()[2:] == [False, True]


def test_what_another_library_brought_into_this_process_is_not_relied_on(folder):
    """PyTorch makes the compiler's own functions everybody's. Its process fills the cache, and
    another, where nobody has them, loads what is in it."""
    process = """if True:
        import ctypes, sys
        if sys.argv[1] == "has them":
            for name in ("libgcc_s.so.1", "libgcc_s.1.dylib"):
                try:
                    ctypes.CDLL(name, ctypes.RTLD_GLOBAL)
                except OSError:
                    pass
        from tinyframe.runtime.clang import ClangCompiler, find_compiler, load_library
        source = "__int128 k(__int128 x, __int128 y) { return x / y; }"  # of no processor
        load_library(ClangCompiler(find_compiler()).compile_cached(source))
        """
    for first in ("has them", "has not"):
        done = subprocess.run([sys.executable, "-c", process, first], capture_output=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()


# *** what goes wrong ***


def test_a_refused_source_is_shown_with_the_compilers_words_and_the_command(compiler):
    with pytest.raises(CompileError) as error:
        compiler.compile_cached("int a;\nvoid broken( {}\n")
    text = str(error.value)
    assert "error" in text
    assert "   2 | void broken( {}" in text
    assert f"{compiler.command[0]} -O2" in text
    assert run_add(compiler.compile(ADD)) == [5, 6, 7, 8]


@pytest.mark.parametrize("script, words", [
    ("no program", "could not be started"),
    ("#!/bin/sh\nexit 3", "status 3"),
    ("#!/bin/sh\nexit 0", "wrote no library"),
    ('#!/bin/sh\nwhile [ $# -gt 1 ]; do [ "$1" = -o ] && : > "$2"; shift; done',
     "wrote no library"),
])  # fmt: skip
def test_a_compiler_that_does_nothing_is_a_compile_error(tmp_path, script, words):
    (tmp_path / "cc").write_text(f"{script}\n")
    (tmp_path / "cc").chmod(0o755 if script.startswith("#!") else 0o644)
    with pytest.raises(CompileError, match=words):
        ClangCompiler((str(tmp_path / "cc"),)).compile(ADD)


@pytest.mark.parametrize("said", ["PLEASE submit a bug report to", "cc1: internal compiler error:"])
def test_a_compiler_that_crashes_gets_a_second_chance(tmp_path, said):
    (tmp_path / "cc").write_text(f"""#!/bin/sh
case " $* " in
  *" -x c "*" -O1 "*|*" -O1 "*) exec {shlex.join(find_compiler())} "$@" ;;
  *" -E "*|*" -dM "*|*" --version "*) exec {shlex.join(find_compiler())} "$@" ;;
esac
echo {shlex.quote(said)} >&2; exit 1
""")
    (tmp_path / "cc").chmod(0o755)
    crashing = ClangCompiler((str(tmp_path / "cc"),))
    assert run_add(crashing.compile(ADD)) == [5, 6, 7, 8]


# *** which compiler ***


@pytest.fixture
def installed(monkeypatch):
    """The compilers that are on the PATH, and whether there is zig's wheel; both can be changed."""
    there = {"zig": None}
    monkeypatch.setattr(shutil, "which", lambda name, path=None: there.get(name))
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: there["zig"] if name == "ziglang" else find_spec(name, *rest),
    )
    return there


@pytest.mark.parametrize(
    ("there", "asked", "expected"),
    [("cc", "", ["/usr/bin/cc"]), ("cc clang", "", ["/usr/bin/clang"]),
     ("cc clang gcc", "", ["/usr/bin/gcc"]), ("zig", "", ["/lib/ziglang/zig", "cc"]),
     ("zig cc", "", ["/usr/bin/cc"]),
     ("clang ccache", "ccache gcc -m64", ["/usr/bin/ccache", "gcc", "-m64"])],
)  # fmt: skip
def test_a_compiler_is_the_one_that_is_asked_for_or_the_best_there_is(
    installed, there, asked, expected
):
    installed.update({name: f"/usr/bin/{name}" for name in there.split()})
    if "zig" in there:
        installed["zig"] = SimpleNamespace(origin="/lib/ziglang/__init__.py")
    assert find_compiler(*filter(None, [asked])) == tuple(expected)


@pytest.mark.parametrize("cache", [0, 1])
@pytest.mark.parametrize("alone", [True, False])
def test_zig_makes_its_c_library_only_where_it_must_and_in_our_folder(tmp_path, alone, cache):
    real, log = find_compiler(), tmp_path / "log"
    zig = tmp_path / "zig"
    zig.write_text(f"""#!{sys.executable}
import os, subprocess, sys
arguments = sys.argv[2:]
if "-E" not in arguments:
    with open({str(log)!r}, "a") as log:
        print("-nostdlib" in arguments, os.environ["ZIG_GLOBAL_CACHE_DIR"], file=log)
if "-nostdlib" in arguments and not {alone}:
    sys.exit("undefined symbol: __truncdfhf2")
sys.exit(subprocess.call([*{real!r}, *[a for a in arguments if not a.startswith("-m")]]))
""")
    zig.chmod(0o755)
    with Context(CACHE=cache):
        assert run_add(ClangCompiler((str(zig), "cc")).compile(ADD)) == [5, 6, 7, 8]
    calls = [line.split(maxsplit=1) for line in log.read_text().splitlines()]
    assert [with_own for with_own, _ in calls] == (["True"] if alone else ["True", "False"])
    for _, folder in calls:
        assert (folder == str(tmp_path / "cache" / "zig")) is bool(cache)


@pytest.mark.parametrize("tools", [True, False])
def test_macos_offer_to_install_a_compiler_is_none(installed, monkeypatch, tmp_path, tools):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(clang, "_MACOS_TOOLS", (str(tmp_path if tools else tmp_path / "none"),))
    installed.update(gcc="/usr/bin/gcc", clang="/opt/homebrew/bin/clang")
    assert find_compiler() == (("/usr/bin/gcc",) if tools else ("/opt/homebrew/bin/clang",))


@pytest.mark.parametrize(
    ("system", "there", "told"),
    [("darwin", ["tools", "xcode"], "tools"), ("darwin", ["xcode"], "xcode"), ("darwin", [], ""),
     ("linux", ["tools"], "")],
)  # fmt: skip
def test_a_compiler_that_is_not_apples_is_told_where_macos_libraries_are(
    tmp_path, monkeypatch, system, there, told
):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.delenv("SDKROOT", raising=False)
    for name in there:
        (tmp_path / name).mkdir()
    places = [str(tmp_path / name) for name in ("tools", "xcode")]
    monkeypatch.setattr(clang, "_MACOS_SDKS", places)
    theirs, apples = (ClangCompiler((name,)) for name in ("/opt/conda/bin/clang", "/usr/bin/clang"))
    assert theirs._environment().get("SDKROOT", "") == (str(tmp_path / told) if told else "")
    assert "SDKROOT" not in apples._environment()
    monkeypatch.setenv("SDKROOT", "my own")
    assert theirs._environment()["SDKROOT"] == "my own"


@pytest.mark.parametrize(
    ("there", "asked", "words"),
    [("gcc", "tcc", "CC='tcc': there is no such program"),
     ("", "", "(?s)(?=.*pip install ziglang)(?=.*DEVICE=PYTHON)")],
)  # fmt: skip
def test_where_there_is_no_compiler_it_says_how_to_get_one(installed, there, asked, words):
    installed.update({name: f"/usr/bin/{name}" for name in there.split()})
    with pytest.raises(NoCompiler, match=words):
        find_compiler(*filter(None, [asked]))


def test_memory_needs_no_compiler():
    code = """if True:
        from tinyframe.device import Buffer, Device
        from tinyframe.dtype import dtypes
        assert bytes(Buffer("CPU", 4, dtypes.uint8).copyin(b"abcd").as_memoryview()) == b"abcd"
        try:
            Device["CPU"].compiler
        except RuntimeError as error:
            print(type(error).__name__)
        """
    environment = {**os.environ, "PATH": "/nonexistent", "CC": "no-such-compiler",
                   "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert done.stdout.strip() == b"NoCompiler", done.stderr.decode()


# *** identity and target ***


def test_identity_changes_with_compiler_flags_and_processor(compiler, tmp_path, monkeypatch):
    other = tmp_path / "cc"
    other.write_text("")
    commands = [(compiler.command, ()), (compiler.command, ("-O1",)), ((str(other),), ()),
                ((str(other), "cc"), ())]  # fmt: skip
    identities = {ClangCompiler(*command).identity() for command in commands}
    other.write_text("a newer version")
    identities.add(ClangCompiler((str(other),)).identity())
    assert compiler.identity() in identities
    monkeypatch.setattr(clang, "machine_identity", lambda: "another machine")
    identities.add(ClangCompiler(compiler.command).identity())
    assert len(identities) == 6


@pytest.mark.parametrize(
    ("macro", "is_zig", "expected"),
    [("__x86_64__", False, ("-march=native", "-mprefer-vector-width=512")),
     ("__x86_64__", True, ("-mcpu=native", "-mprefer-vector-width=512")),
     ("__i386__", False, ("-march=native", "-mprefer-vector-width=512")),
     ("__aarch64__", False, ("-mcpu=native",)), ("__aarch64__", True, ("-mcpu=native",))],
)  # fmt: skip
def test_code_is_for_this_very_machine(macro, is_zig, expected, tmp_path, monkeypatch):
    for name, is_arm in [("x86_64", False), ("arm64", True)]:
        monkeypatch.setattr(platform, "machine", lambda name=name: name)
        compiler = a_compiler(tmp_path / ("zig" if is_zig else "cc"), [macro, "__STDC__"])
        assert compiler.machine_flags == (expected if is_arm == (macro == "__aarch64__") else ())


def a_compiler(path, macros, refused="no flag"):
    """A compiler that predefines these macros, refuses a flag, and is its own linker. It logs what
    else it is told."""
    path.write_text(f"""#!{sys.executable}
import sys
arguments = sys.argv[1:]
if {refused!r} in arguments:
    sys.exit("unknown argument: {refused}")
if "-E" in arguments:
    print(*["#define " + name + " 1" for name in {macros!r}], sep="\\n")
elif "-print-prog-name=ld" in arguments:
    print(sys.argv[0])
else:
    print(*arguments, file=open({f"{path}.log"!r}, "a"))
    open(arguments[arguments.index("-o") + 1], "w").write("a library")
""")
    path.chmod(0o755)
    return ClangCompiler((str(path),))


def test_a_compiler_that_does_not_know_this_machine_does_without_the_flag(tmp_path, monkeypatch):
    """As an old one on a new processor."""
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    for refused, native in [("-mcpu=native", []), ("no flag", ["-mcpu=native"])]:
        compiler = a_compiler(tmp_path / refused, ["__aarch64__", "__linux__"], refused)
        assert [flag for flag in compiler.flags if "native" in flag] == native
        assert compiler.macros == {"__aarch64__", "__linux__"}


def test_what_a_compiler_was_asked_is_kept_for_the_next_process(tmp_path):
    compiler = a_compiler(tmp_path / "cc", ["__aarch64__"])
    asked = compiler.flags, compiler.macros
    status = (tmp_path / "cc").stat()
    (tmp_path / "cc").write_text("no program".ljust(status.st_size))
    os.utime(tmp_path / "cc", ns=(status.st_atime_ns, status.st_mtime_ns))
    second = ClangCompiler(compiler.command)
    assert (second.flags, second.macros) == asked


@pytest.mark.parametrize(
    ("system", "steps"), [("__linux__", ["-c", "-shared", "-lm"]), ("__APPLE__", ["-lm"])]
)
def test_only_linux_links_a_library_without_the_systems(tmp_path, system, steps):
    """Apple's linker refuses one that is not linked with its libSystem."""
    a_compiler(tmp_path / "cc", ["__aarch64__", system]).compile(ADD)
    commands = [line.split() for line in (tmp_path / "cc.log").read_text().splitlines()]
    assert all(step in command for step, command in zip(steps, commands, strict=True))
    assert ["-lm" in command for command in commands] == [step == "-lm" for step in steps]


def test_a_compiler_that_knows_no_linker_links_by_itself(tmp_path):
    compiler = a_compiler(tmp_path / "cc", ["__linux__"], refused="-print-prog-name=ld")
    assert compiler.linker == ()
    compiler.compile(ADD)
    assert "-lm" in (tmp_path / "cc.log").read_text()


def test_what_is_optimized_when_it_is_linked_is_linked_by_the_compiler():
    """The linker by itself would make an empty library of it."""
    compiler = ClangCompiler(find_compiler(), ("-flto",))
    assert run_add(compiler.compile(ADD)) == [5, 6, 7, 8]


@pytest.mark.parametrize(
    ("macros", "expected"),
    [({"__SSE2__", "__AVX__", "__AVX2__", "__AVX512F__"}, (64, 32)),
     ({"__SSE2__", "__AVX__", "__AVX2__"}, (32, 16)), ({"__SSE2__"}, (16, 16)),
     ({"__ARM_NEON", "__aarch64__"}, (16, 32)), ({"__ARM_NEON", "__arm__"}, (16, 16)),
     (set(), (16, 16))],
)  # fmt: skip
def test_registers_are_those_that_the_compiler_may_use(macros, expected):
    target = clang.target(SimpleNamespace(macros=macros))
    assert (target.vector_bytes, target.vector_registers) == expected


def test_target_is_what_this_machine_has(compiler):
    target = clang.target(compiler)
    assert target.vector_bytes in (16, 32, 64)
    assert target.vector_registers in (16, 32)
    assert 4 << 10 <= target.l1 <= target.l2
    with Context(THREADS=3):
        assert clang.target(compiler).threads == 3


K, M = 1 << 10, 1 << 20


@pytest.mark.parametrize(
    ("siblings", "caches", "expected"),
    [
        # a desktop: two threads a core, a third level for all
        ("0,8", ["1 Data 32K 0,8", "1 Instruction 64K 0,8", "2 Unified 512K 0,8",
                 "3 Unified 32M 0-15"], (32 * K, 512 * K, 32 * M)),
        # a Raspberry Pi 4: the second level is the last, and all four cores share it
        ("0", ["1 Data 32K 0", "2 Unified 1024K 0-3"], (32 * K, 256 * K, 1 * M)),
        # a phone's processor: pairs share the second level
        ("0", ["1 Data 64K 0", "2 Unified 1M 0-1", "3 Unified 8M 0-3,5,6-7"],
         (64 * K, 512 * K, 8 * M)),
        # a virtual machine that says nothing
        ("0", [], (32 * K, 512 * K, 0)),
        ("0", ["1 Data ? 0", "4 Unified 64M 0"], (32 * K, 512 * K, 0)),
    ],
)  # fmt: skip
def test_caches_are_those_of_one_core(tmp_path, monkeypatch, siblings, caches, expected):
    (tmp_path / "topology").mkdir()
    (tmp_path / "topology" / "thread_siblings_list").write_text(siblings + "\n")
    for number, row in enumerate(caches):
        folder = tmp_path / "cache" / f"index{number}"
        folder.mkdir(parents=True)
        names = ("level", "type", "size", "shared_cpu_list")
        for name, text in zip(names, row.split(), strict=True):
            (folder / name).write_text(text + "\n")
    monkeypatch.setattr(machine, "_CPU", tmp_path)
    assert machine.cache_sizes.__wrapped__() == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        # Apple's: four of the fast cores share a second level, and there is no third
        ({"perflevel0.l1dcachesize": 128 * K, "perflevel0.l2cachesize": 12 * M,
          "perflevel0.cpusperl2": 4, "l1dcachesize": 64 * K, "l2cachesize": 4 * M},
         (128 * K, 3 * M, 12 * M)),
        ({"l1dcachesize": 32 * K, "l2cachesize": 256 * K, "l3cachesize": 6 * M},
         (32 * K, 256 * K, 6 * M)),
    ],
)  # fmt: skip
def test_caches_of_macos_are_those_of_a_fast_core(monkeypatch, said, expected):
    monkeypatch.setattr(machine.sys, "platform", "darwin")
    monkeypatch.setattr(machine, "_sysctl_int", lambda name: said.get(name.removeprefix("hw."), 0))
    assert machine.cache_sizes.__wrapped__() == expected


@pytest.mark.parametrize(
    ("system", "cpuinfo", "board", "expected"),
    [
        ("linux", "processor : 0\nmodel name : AMD Ryzen 5\n\nmodel name : x", None, "AMD Ryzen 5"),
        ("linux", "CPU part : 0xd0b", "Raspberry Pi 5 Model B Rev 1.0\0",
         "Raspberry Pi 5 Model B Rev 1.0"),
        ("linux", "CPU part : 0xd0b", None, "aarch64"),  # a virtual machine
        ("linux", None, None, "aarch64"),
        ("darwin", "model name : x", None, "Apple M2"),
    ],
)  # fmt: skip
def test_a_processor_has_a_name(tmp_path, monkeypatch, system, cpuinfo, board, expected):
    for name, text in (("_CPUINFO", cpuinfo), ("_BOARD", board)):
        monkeypatch.setattr(machine, name, tmp_path / name)
        if text is not None:
            (tmp_path / name).write_text(text)
    monkeypatch.setattr(machine.sys, "platform", system)
    monkeypatch.setattr(machine.platform, "machine", lambda: "aarch64")
    monkeypatch.setattr(machine, "_sysctl_text", lambda name: "Apple M2")
    assert machine.processor_name() == expected


def test_the_device_follows_settings_as_they_are_now():
    device = Device["CPU"]
    compiler, renderer = device.compiler, device.renderer
    with Context(TINYFRAME_CFLAGS="-O1 -DX='a b'"):
        assert device.compiler.flags[-2:] == ("-O1", "-DX=a b")
        assert device.renderer is not renderer
    with Context(THREADS=7):
        assert device.renderer.target.threads == 7
    assert device.compiler is compiler
    assert device.renderer is renderer
