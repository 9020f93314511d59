"""C source, through any C compiler, to a shared library.

The compiler is `$CC`, or else the first of clang, gcc and cc that is on the PATH, or else zig's
clang, which `pip install ziglang` brings to a machine that has none.
"""

from __future__ import annotations

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
from tinyframe.runtime.machine import cache_sizes, machine_identity
from tinyframe.settings import settings

# O2: kernels say what is to be unrolled, tiled and made vectors of; gcc's -O3 looks for more of
# that, in vain, and takes four times as long. contract=fast: a*b+c is one instruction, across
# statements too. math-errno: sqrt is one instruction. Not -ffast-math: NaN and infinity keep their
# meaning. signed-char: where clang compares vectors of bytes, it gives chars, which are unsigned on
# Linux for ARM: true would be 255, and a mask has to be -1. -w: no one reads the warnings.
FLAGS = (
    *("-O2", "-ftree-vectorize", "-ffp-contract=fast", "-fno-math-errno", "-fsigned-char"),
    *("-fPIC", "-shared", "-w", "-fno-asynchronous-unwind-tables"),
)
# Where gcc 12 makes vectors of a loop with a condition and its opposite in it, it takes the wrong
# side on AVX-512 (seen). It need not: kernels say where they want vectors.
GCC_FLAGS = (
    "-fno-tree-loop-if-convert",
    # the parts of -O3 that a convolution needs: without them it takes 1.4 times as long
    *("-fpeel-loops", "-fsplit-paths", "-ftree-partial-pre"),
    # a tenth of the time to compile, and no kernel was quicker for it
    *("-fno-gcse", "-fno-tree-slp-vectorize"),
)

# For this very machine, with all the instructions it has: by a macro of what the compiler makes
# code for, the flags.
NATIVE_FLAGS = (
    # Without a width, clang cuts 64-byte vectors in two on many processors that have them: 2x
    # slower, measured on a matmul. It changes nothing where there are no such registers.
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
# the vector registers by a macro that says a compiler may use them: bytes, number
_VECTORS = {
    "__AVX512F__": (64, 32), "__AVX__": (32, 16), "__SSE2__": (16, 16), "__aarch64__": (16, 32),
    "__ARM_NEON": (16, 16), "__ALTIVEC__": (16, 32),
}  # fmt: skip

# A source may begin with a flag that it needs, and why (WRAPS in cstyle.py).
_FLAG_OF_SOURCE = re.compile(r"\A// (-f[a-z-]+):")
# A name in a library, of the compiler's own functions: __truncdfhf2, say. The loader has one too.
_SUPPORT_FUNCTION = re.compile(rb"\0__(?!tls_get_addr\0)\w+(?=\0)")


# ---- the compiler -------------------------------------------------------------------------------


class ClangCompiler(Compiler):
    """C to a shared library.

    command: the compiler, and what selects it, such as ("/usr/bin/zig", "cc"). extra_flags: more
    flags; they come last, and so override.
    """

    def __init__(self, command: tuple[str, ...], extra_flags: tuple[str, ...] = ()) -> None:
        self.command = command
        self.extra_flags = extra_flags
        self.is_zig = Path(command[0]).name == "zig"

    @property
    def machine_flags(self) -> tuple[str, ...]:
        """Those for this very machine."""
        return self._asked[0]

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that every source is compiled with."""
        return (*FLAGS, *self.machine_flags, *self.extra_flags)

    @property
    def macros(self) -> frozenset[str]:
        """The macros that this compiler predefines with these flags, such as "__AVX2__"."""
        return self._asked[1]

    def compile(self, src: str) -> bytes:
        import tempfile  # here: it takes a while to import, and a warm cache needs none of it

        with tempfile.TemporaryDirectory(prefix="tinyframe-") as folder:
            library = Path(folder) / "kernel.so"
            arguments = [*self._flags_for(src), "-x", "c", "-", "-o", str(library)]
            # Apple's linker makes no library without the system's.
            alone = self.is_zig or "__linux__" in self.macros
            if not (alone and self._links_alone(arguments, src, library)):
                self.run([*arguments, "-lm"], src)
            if not (library.exists() and (lib := library.read_bytes())):
                words = "the C compiler reported no error, and wrote no library"
                raise CompileError(words, src, shlex.join([*self.command, *arguments]))
            return lib

    def _flags_for(self, src: str) -> tuple[str, ...]:
        more = () if self.is_zig or "__clang__" in self.macros else GCC_FLAGS
        return (*self.flags, *more, *_FLAG_OF_SOURCE.findall(src))

    def assembly(self, src: str) -> str:
        """What the machine code of a source looks like, in the compiler's own words: instructions,
        and `.loc` directives that say which line of the source the next ones come from."""
        intel = ("-masm=intel",) if "__x86_64__" in self.macros else ()
        flags = [*self._flags_for(src), "-g1", *intel, "-S", "-x", "c", "-", "-o", "-"]
        return self.run(flags, src).decode(errors="replace")

    def _links_alone(self, arguments: list[str], src: str, library: Path) -> bool:
        """Whether the C library that Python has loaded is enough for this source.

        It nearly always is, and that saves a quarter of the time to compile a kernel. Only what
        the processor cannot do, such as double to half, needs the compiler's own functions. Those
        have to be in the library: this process may have them from another one (PyTorch's), and the
        next process to load these bytes from the cache may not. zig first compiles a C library of
        its own for it, which takes it 5 to 10 s, once.
        """
        try:
            self.run([*arguments, "-nostdlib"], src)
            self.try_to_load(library)
        except (CompileError, OSError):
            return False
        return not _SUPPORT_FUNCTION.search(library.read_bytes())

    def try_to_load(self, library: Path) -> None:
        """Loads a library where its kernels will run, and unloads it. OSError where that fails."""
        unload(ctypes.CDLL(os.fspath(library))._handle)

    def run(self, arguments: list[str], src: str) -> bytes:
        """What the compiler prints, given these arguments and `src` as its input. CompileError."""
        import subprocess

        command = [*self.command, *arguments]
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
        """The environment variables that the compiler is started with."""
        more: dict[str, str] = {}
        if self.is_zig:  # its own cache: where it cannot write that, it never ends (seen)
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
        flags = (*FLAGS, *GCC_FLAGS, *map(str, NATIVE_FLAGS), *self.extra_flags)
        return "\n".join([version, *self.command[1:], *flags, machine_identity()])

    def identity(self) -> str:
        return self._identity

    @functools.cached_property
    def _asked(self) -> tuple[tuple[str, ...], frozenset[str]]:
        """The flags for this very machine, and the macros with them. No flags where the compiler
        refuses these: it makes code for another kind of machine, or is older than this one.
        """

        def ask() -> bytes:
            macros = self._predefined(())
            flags: tuple[str, ...]
            flags = next(f for macro, f in NATIVE_FLAGS if not macro or macro in macros)
            if self.is_zig:
                flags = tuple("-mcpu=native" if f == "-march=native" else f for f in flags)
            try:
                macros = self._predefined(flags)
            except CompileError:
                flags = ()
            return "\n".join([" ".join(flags), *macros]).encode()

        native, *names = cached("macros", (self.identity(),), ask).decode().split("\n")
        return tuple(native.split()), frozenset(names)

    def _predefined(self, flags: tuple[str, ...]) -> list[str]:
        arguments = [*FLAGS, *flags, *self.extra_flags, "-x", "c", "-dM", "-E", "-"]
        lines = self.run(arguments, "").decode().splitlines()
        return [line.split()[1] for line in lines if line.startswith("#define")]


def find_compiler(cc: str = "", needed_by: str = "the CPU device") -> tuple[str, ...]:
    """The command of the C compiler: `cc` where it is not empty, else the first one on the PATH.

    NoCompiler where there is none, which names who needs it.
    """
    if cc:
        command = shlex.split(cc)
        found = shutil.which(command[0]) if command else None
        if found is None:
            raise NoCompiler(
                f"CC={cc!r}: there is no such program. Set CC to a C compiler, or unset it to take "
                "clang, gcc, cc or zig, the first that is found"
            )
        return (found, *command[1:])
    # macOS has a /usr/bin/clang even without its tools; it only offers to install them
    has_tools = sys.platform != "darwin" or any(map(os.path.exists, _MACOS_TOOLS))
    for name in ("clang", "gcc", "cc"):
        if (found := shutil.which(name)) and (has_tools or not found.startswith("/usr/bin/")):
            return (found,)
    wheel = importlib.util.find_spec("ziglang")
    if wheel is not None and wheel.origin is not None:
        return (str(Path(wheel.origin).parent / "zig"), "cc")
    raise NoCompiler(
        f"{needed_by} needs a C compiler, and there is none: no CC is set, and clang, gcc and cc "
        "are not on the PATH. `pip install ziglang` brings one, for this Python only; or install "
        'your system\'s (Debian, Ubuntu: "apt install gcc"; macOS: "xcode-select --install"). '
        "DEVICE=PYTHON works without one, slowly"
    )


# ---- the target ---------------------------------------------------------------------------------


def target(compiler: ClangCompiler) -> Target:
    """What this machine has, as far as `compiler` with its flags will use it."""
    known = (vectors for macro, vectors in _VECTORS.items() if macro in compiler.macros)
    vector_bytes, count = next(known, (16, 16))  # else the compiler makes do with what there is
    return Target(vector_bytes, count, settings.THREADS, *cache_sizes())


# ---- loading ------------------------------------------------------------------------------------


def unload(handle: int) -> None:
    """What ctypes does not do by itself: a session that makes ever new kernels, or a search that
    tries hundreds, would only grow."""
    import _ctypes

    _ctypes.dlclose(handle)


def load_library(lib: bytes) -> ctypes.CDLL:
    """The shared library in these bytes, from the file they are in or else a temporary one."""
    path = lib.path if isinstance(lib, Cached) else None
    # On macOS a library is signed as a whole; the checksum after it might not be welcome.
    if path is not None and sys.platform != "darwin":
        try:
            return ctypes.CDLL(os.fspath(path))
        except OSError:
            pass  # deleted a moment ago, or on a disk that may not hold programs
    import tempfile

    with tempfile.TemporaryDirectory(prefix="tinyframe-") as folder:
        copy = Path(folder) / "kernel.so"
        copy.write_bytes(lib)
        return ctypes.CDLL(os.fspath(copy))  # stays loaded after the file is gone
