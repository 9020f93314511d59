"""Compiles C source to a shared library, with any C compiler.

The compiler is `$CC`, or else the first of gcc, clang and cc on the PATH, or else zig's clang,
which `pip install ziglang` provides on a machine without one.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from tinyframe.device import CompileError, Compiler, NoCompiler
from tinyframe.disk_cache import Cached, cached, place_for
from tinyframe.renderer import Target
from tinyframe.runtime.machine import cache_sizes, machine_identity, machine_is_x86
from tinyframe.settings import settings

# O2: kernels are unrolled, tiled and vectorized already; gcc's -O3 looks for more of that in vain,
# and takes four times as long. contract=fast: a*b+c is one instruction, even across statements.
# no-math-errno: sqrt is one instruction; no-trapping-math: so is trunc of a vector, as nobody asks
# which exceptions there were. Not -ffast-math: NaN and infinity keep their meaning.
# signed-char: clang compares vectors of bytes into chars, which are unsigned on ARM Linux: true
# would be 255, and a mask has to be -1. -w: no one reads the warnings.
FLAGS = (
    *("-O2", "-ftree-vectorize", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"),
    *("-fsigned-char", "-fPIC", "-w", "-fno-asynchronous-unwind-tables"),
)
# gcc 12 miscompiles a loop with a condition and its negation when it vectorizes for AVX-512 (seen).
# It need not vectorize: kernels say where they want vectors.
GCC_FLAGS = (
    "-fno-tree-loop-if-convert",
    # the parts of -O3 that a convolution needs: without them it takes 1.4 times as long
    *("-fpeel-loops", "-fsplit-paths", "-ftree-partial-pre"),
    # a tenth of the compile time, and no kernel was faster with them
    *("-fno-gcse", "-fno-tree-slp-vectorize"),
)

# clang repeats the body of a loop, to save jumps, until it is this large. Kernels are unrolled
# already: with its own limit, 150, the kernels of a CNN take a third longer to compile, and run no
# faster. Loops that it resolves completely have a limit of their own, which stays.
CLANG_FLAGS = ("-mllvm", "-unroll-partial-threshold=50")

# The flags that enable all instructions of this machine, by a macro of the compiler's target.
NATIVE_FLAGS = (
    # Without a width, clang splits 64-byte vectors in two on many processors that have them: a
    # matmul was half as fast. Where there are no such registers it changes nothing.
    ("__x86_64__", ("-march=native", "-mprefer-vector-width=512")),
    ("__i386__", ("-march=native", "-mprefer-vector-width=512")),
    # Elsewhere -mcpu chooses both the instructions and the tuning; some compilers know only that.
    ("", ("-mcpu=native",)),
)


_MACOS_TOOLS = ("/Library/Developer/CommandLineTools", "/var/db/xcode_select_link",
                "/Applications/Xcode.app")  # fmt: skip
_MACOS_SDKS = ("/Library/Developer/CommandLineTools/SDKs/MacOSX.sdk",
               "/Applications/Xcode.app/Contents/Developer/Platforms/MacOSX.platform/Developer/"
               "SDKs/MacOSX.sdk")  # fmt: skip
# macro -> the vector registers that the compiler may use if it is defined: bytes, number
_VECTORS = {
    "__AVX512F__": (64, 32), "__AVX__": (32, 16), "__SSE2__": (16, 16), "__aarch64__": (16, 32),
    "__ARM_NEON": (16, 16), "__ALTIVEC__": (16, 32),
}  # fmt: skip

# A source may begin with a flag that it needs, and why (WRAPS in cstyle.py).
_FLAG_OF_SOURCE = re.compile(r"\A// (-f[a-z-]+):")
# what clang and gcc say when they crash
_CRASHED = re.compile("PLEASE submit a bug report|internal compiler error")
# A function from elsewhere: one of the compiler's (such as __truncdfhf2, but not __tls_get_addr,
# which the loader has), or one of the mathematical ones that a kernel of float64 calls.
_SUPPORT_FUNCTION = re.compile(rb"\0(__(?!tls_get_addr\0)\w+|log2|sin|cos|pow|fmod)(?=\0)")


# ---- the compiler -------------------------------------------------------------------------------


class ClangCompiler(Compiler):
    """C to a shared library.

    command: the compiler with its subcommand, such as ("/usr/bin/zig", "cc"). extra_flags: more
    flags, which come last and so take precedence.
    """

    def __init__(self, command: tuple[str, ...], extra_flags: tuple[str, ...] = ()) -> None:
        self.command = command
        self.extra_flags = extra_flags
        self.is_zig = Path(command[0]).name == "zig"

    @property
    def machine_flags(self) -> tuple[str, ...]:
        """The flags that target this machine."""
        return self._asked[0]

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags for every source."""
        return (*FLAGS, *self.machine_flags, *self.extra_flags)

    @property
    def macros(self) -> frozenset[str]:
        """The macros that this compiler predefines with these flags, such as "__AVX2__"."""
        return self._asked[1]

    @property
    def linker(self) -> tuple[str, ...]:
        """The command that links an object; empty where that is left to the compiler."""
        return self._asked[2]

    def compile(self, src: str) -> bytes:
        """The library of a source. Where the compiler itself crashes, which clang 14 does for some
        stores of bools (seen), it gets a second chance with fewer optimizations."""
        try:
            return self._compiled(src, self._flags_for(src))
        except CompileError as error:
            if not _CRASHED.search(str(error)):
                raise
            return self._compiled(src, (*self._flags_for(src), "-O1"))

    def _compiled(self, src: str, flags: tuple[str, ...]) -> bytes:
        import tempfile  # imported here: it is slow to import, and a warm cache never needs it

        with tempfile.TemporaryDirectory(prefix="tinyframe-") as folder:
            library = Path(folder) / "kernel.so"
            arguments = [*flags, "-x", "c", "-"]
            # Apple's linker makes no library without the system's.
            alone = self.is_zig or self.linker
            if not (alone and self._links_alone(arguments, src, library)):
                self.run([*arguments, "-shared", "-o", str(library), "-lm"], src)
            if not (library.exists() and (lib := library.read_bytes())):
                words = "the C compiler reported no error, but wrote no library"
                raise CompileError(words, src, shlex.join([*self.command, *arguments]))
            return lib

    def _flags_for(self, src: str) -> tuple[str, ...]:
        more = () if self.is_zig or "__clang__" in self.macros else GCC_FLAGS
        return (*self.flags, *more, *_FLAG_OF_SOURCE.findall(src))

    def assembly(self, src: str) -> str:
        """The assembly of a source, as the compiler prints it, with `.loc` directives that map
        instructions to lines of the source."""
        intel = ("-masm=intel",) if "__x86_64__" in self.macros else ()
        flags = [*self._flags_for(src), "-g1", *intel, "-S", "-x", "c", "-", "-o", "-"]
        return self.run(flags, src).decode(errors="replace")

    def _links_alone(self, arguments: list[str], src: str, library: Path) -> bool:
        """Whether this source links against nothing but the C library that Python has loaded.

        It nearly always does, and then clang takes half as long: asked to link, it starts itself a
        second time, and looks for libraries. Only what the processor cannot do, such as double to
        half, needs the compiler's runtime functions, and a sine of float64 needs the mathematical
        library. These must be linked in: this process may have them from another library
        (PyTorch's), while the next process that loads these bytes from the cache may not. zig
        first compiles its own C library, which takes 5 to 10 s, once.
        """
        made = f"{library}.o"
        try:
            if self.linker:
                self.run([*arguments, "-c", "-o", made], src)
                self.run(["-shared", made, "-o", str(library)], "", self.linker)
            else:
                self.run([*arguments, "-shared", "-o", str(library), "-nostdlib"], src)
            self.try_to_load(library)
        except (CompileError, OSError):
            return False
        return not _SUPPORT_FUNCTION.search(library.read_bytes())

    def try_to_load(self, library: Path) -> None:
        """Loads a library where its kernels will run, and unloads it. OSError if that fails."""
        unload(ctypes.CDLL(os.fspath(library))._handle)

    def run(self, arguments: list[str], src: str, command: tuple[str, ...] = ()) -> bytes:
        """The output of the compiler, or of another command, with these arguments and `src` as its
        input. CompileError if it fails."""
        import subprocess

        command = (*(command or self.command), *arguments)
        try:
            done = subprocess.run(command, input=src.encode(), capture_output=True, check=False,
                                  env=self._environment())  # fmt: skip
        except OSError as error:
            raise CompileError(f"the C compiler could not be started: {error}",
                               command=shlex.join(command)) from error  # fmt: skip
        if done.returncode != 0:
            words = done.stderr.decode(errors="replace").strip()
            raise CompileError(words or f"the C compiler ended with status {done.returncode}",
                               src, shlex.join(command))  # fmt: skip
        return done.stdout

    def _environment(self) -> dict[str, str]:
        """The compiler's environment variables."""
        more: dict[str, str] = {}
        if self.is_zig:  # zig's cache: if it cannot write there, it never ends (seen)
            place = os.fspath(place_for("zig"))
            more = {"ZIG_GLOBAL_CACHE_DIR": place, "ZIG_LOCAL_CACHE_DIR": place}
        elif sys.platform == "darwin" and not self.command[0].startswith("/usr/bin/"):
            # where the libraries are: Apple's clang knows, conda's does not, and links nothing
            sdk = next(filter(os.path.isdir, _MACOS_SDKS), None)
            more = {"SDKROOT": sdk} if sdk else {}
        return {**more, **os.environ}

    @functools.cached_property
    def _identity(self) -> str:
        # Not what `--version` says: starting the compiler takes longer than a whole warm start.
        path = Path(shutil.which(self.command[0]) or self.command[0]).resolve()
        status = path.stat()
        version = f"{path} {status.st_size} {status.st_mtime_ns}"
        flags = (*FLAGS, *GCC_FLAGS, *CLANG_FLAGS, *map(str, NATIVE_FLAGS), *self.extra_flags)
        return "\n".join([version, *self.command[1:], *flags, machine_identity()])

    def identity(self) -> str:
        return self._identity

    @functools.cached_property
    def _asked(self) -> tuple[tuple[str, ...], frozenset[str], tuple[str, ...]]:
        """The flags that target this machine, the macros they define, and the linker. No flags if
        the compiler rejects them: it targets another kind of machine, or is older than this one.
        """

        def ask() -> bytes:
            macros = self._predefined(())
            flags: tuple[str, ...]
            family, flags = next(row for row in NATIVE_FLAGS if not row[0] or row[0] in macros)
            if bool(family) is not machine_is_x86():
                flags = ()  # where clang doesn't know the processor, it isn't said to be another's
            if self.is_zig:
                flags = tuple("-mcpu=native" if f == "-march=native" else f for f in flags)
            try:
                macros = self._predefined(flags)
            except CompileError:
                flags = ()
            if "__clang__" in macros:
                with contextlib.suppress(CompileError):  # options of LLVM may change
                    self._predefined(CLANG_FLAGS)
                    flags = (*flags, *CLANG_FLAGS)
            linker = ""
            if "__linux__" in macros and not self.is_zig:  # zig is its own linker
                with contextlib.suppress(CompileError):
                    linker = self.run(["-print-prog-name=ld"], "").decode().strip()
            return "\n".join([" ".join(flags), linker, *macros]).encode()

        native, linker, *names = cached("compiler", (self.identity(),), ask).decode().split("\n")
        return tuple(native.split()), frozenset(names), tuple(filter(None, [linker]))

    def _predefined(self, flags: tuple[str, ...]) -> list[str]:
        arguments = [*FLAGS, *flags, *self.extra_flags, "-x", "c", "-dM", "-E", "-"]
        lines = self.run(arguments, "").decode().splitlines()
        return [line.split()[1] for line in lines if line.startswith("#define")]


def find_compiler(cc: str = "", needed_by: str = "the CPU device") -> tuple[str, ...]:
    """The command of the C compiler: `cc` unless it is empty, else the first one on the PATH.

    NoCompiler if there is none; the error names who needs it.
    """
    if cc:
        command = shlex.split(cc)
        found = shutil.which(command[0]) if command else None
        if found is None:
            raise NoCompiler(
                f"CC={cc!r}: there is no such program. Set CC to a C compiler, or unset it to take "
                "gcc, clang, cc or zig, the first that is found"
            )
        return (found, *command[1:])
    # macOS has a /usr/bin/clang even without its tools; it only offers to install them
    has_tools = sys.platform != "darwin" or any(map(os.path.exists, _MACOS_TOOLS))
    # gcc 12 compiles a CNN's kernels in half the time of clang 14, and they take 0.995 times as
    # long, the geometric mean of the benchmarks' 78 rows (a quiet AVX-512 machine).
    for name in ("gcc", "clang", "cc"):
        if (found := shutil.which(name)) and (has_tools or not found.startswith("/usr/bin/")):
            return (found,)
    wheel = importlib.util.find_spec("ziglang")
    if wheel is not None and wheel.origin is not None:
        return (str(Path(wheel.origin).parent / "zig"), "cc")
    raise NoCompiler(
        f"{needed_by} needs a C compiler, and there is none: no CC is set, and gcc, clang and cc "
        "are not on the PATH. `pip install ziglang` installs one, for this Python only; or install "
        'your system\'s (Debian, Ubuntu: "apt install gcc"; macOS: "xcode-select --install"). '
        "DEVICE=PYTHON works without one, slowly"
    )


# ---- the target ---------------------------------------------------------------------------------


def target(compiler: ClangCompiler) -> Target:
    """This machine, as far as `compiler` makes use of it with its flags."""
    known = (vectors for macro, vectors in _VECTORS.items() if macro in compiler.macros)
    vector_bytes, count = next(known, (16, 16))  # else the compiler makes do with what there is
    return Target(vector_bytes, count, settings.THREADS, *cache_sizes())


# ---- loading ------------------------------------------------------------------------------------


def unload(handle: int) -> None:
    """Unloads a library, which ctypes never does: a session that keeps making kernels, or a search
    that tries hundreds, would grow without end."""
    import _ctypes

    _ctypes.dlclose(handle)


def load_library(lib: bytes) -> ctypes.CDLL:
    """The shared library in these bytes, loaded from their file or else from a temporary one."""
    path = lib.path if isinstance(lib, Cached) else None
    # On macOS a library is signed as a whole; the checksum after it might not be welcome.
    if path is not None and sys.platform != "darwin":
        try:
            return ctypes.CDLL(os.fspath(path))
        except OSError:
            pass  # deleted a moment ago, or on a disk mounted noexec
    import tempfile

    with tempfile.TemporaryDirectory(prefix="tinyframe-") as folder:
        copy = Path(folder) / "kernel.so"
        copy.write_bytes(lib)
        return ctypes.CDLL(os.fspath(copy))  # stays loaded after the file is gone
