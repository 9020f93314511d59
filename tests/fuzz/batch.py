"""Running many kernels at the price of one compiler start: all of their C in one file.

A Batch is a list of calls of kernels on arrays. It runs in this process from a shared library, or
in a process of its own that was compiled with sanitizers, where every array is a `malloc` of just
its size, so that the sanitizer sees an access right beside it.
"""

from __future__ import annotations

import ctypes
import re
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.codegen.program import ProgramSpec
from tinyframe.device import Device
from tinyframe.dtype import to_np_dtype
from tinyframe.runtime.clang import find_compiler
from tinyframe.runtime.host import HostMemory
from tinyframe.settings import settings
from tinyframe.uop.node import Ops, UOp

SANITIZERS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
              "-fno-omit-frame-pointer")  # fmt: skip


def arguments_of(ast: UOp) -> list[tuple[int, np.dtype]]:
    """Size and dtype of each argument of a kernel, by slot."""
    places = {u.arg: u.dtype for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL}
    return [(places[n].size, to_np_dtype(places[n].base)) for n in range(len(places))]


class Batch:
    """Kernels to run on numbered arrays, in order."""

    def __init__(self, flags: Sequence[str] = ("-O1",)) -> None:
        self.flags = [*flags, "-ffp-contract=fast", "-fno-math-errno", "-w", "-march=native"]
        self.arrays: list[np.ndarray] = []
        self.calls: list[tuple[ProgramSpec, str, list[int]]] = []
        self.preamble: dict[str, None] = {}
        self.functions: dict[str, tuple[str, str]] = {}  # source -> (its name here, the text)

    def array(self, contents: np.ndarray) -> int:
        self.arrays.append(np.ascontiguousarray(contents).reshape(-1).copy())
        return len(self.arrays) - 1

    def call(
        self, ast: UOp, arrays: Sequence[int], opts: Sequence[Opt] | None = None
    ) -> ProgramSpec:
        """Adds a kernel with these arrays as its arguments, by slot."""
        spec = get_program(ast, Device["CPU"].renderer, opts)
        self.calls.append((spec, self._function(spec), [arrays[n] for n in spec.globals]))
        return spec

    def _function(self, spec: ProgramSpec) -> str:
        if spec.src not in self.functions:
            name = f"k{len(self.functions)}"
            before, kernel, after = spec.src.partition(f"void {spec.function}(")
            definitions = re.split(r"^(?=typedef|static)", before, flags=re.MULTILINE)
            self.preamble.update(dict.fromkeys(definitions))
            text = re.sub(rf"\b{spec.function}(_entry)?\b", rf"{name}\1", kernel + after)
            self.functions[spec.src] = name, text
        return self.functions[spec.src][0]

    def source(self) -> str:
        return "".join([*self.preamble, *[text for _, text in self.functions.values()]])

    def run(self) -> list[np.ndarray]:
        """All calls, in this process; the arrays afterwards. The outer loop runs last half
        first."""
        with tempfile.TemporaryDirectory(prefix="tinyframe-") as folder:
            path = Path(folder) / "batch.so"
            self._compile(
                ["-shared", "-fPIC", "-x", "c", "-", "-o", str(path), "-lm"], self.source()
            )
            library = ctypes.CDLL(str(path))
        memory = [HostMemory(np.append(a, a[:1]) if not a.size else a) for a in self.arrays]
        for spec, name, arrays in self.calls:
            entry = library[f"{name}_entry"]
            entry.restype = None
            bufs = struct.pack(f"{len(arrays)}P", *[memory[n].address for n in arrays])
            half = spec.global_size[0] // 2
            for start, stop in ((half, spec.global_size[0]), (0, half)):
                if start < stop:
                    entry(bufs, None, start, stop)
        return self.arrays

    def run_sanitized(self) -> list[np.ndarray]:
        """The same in a process of its own, with sanitizers. AssertionError with what they
        found."""
        with tempfile.TemporaryDirectory(prefix="tinyframe-") as folder:
            program, data = Path(folder) / "batch", Path(folder) / "data"
            data.write_bytes(b"".join(a.tobytes() for a in self.arrays))
            self._compile(["-x", "c", "-", "-o", str(program), "-lm"], self.source() + self._main())
            done = subprocess.run([str(program), str(data)], capture_output=True, check=False,
                                  env={"ASAN_OPTIONS": "detect_leaks=0"})  # fmt: skip
            assert done.returncode == 0, done.stderr.decode()[:4000]
            written = data.read_bytes()
        place, out = 0, []
        for a in self.arrays:
            out.append(np.frombuffer(written, a.dtype, a.size, place))
            place += a.nbytes
        return out

    def _main(self) -> str:
        lines = ["", "#include <stdio.h>", "#include <stdlib.h>"]
        lines += ["int main(int count, char** words) {", '  FILE* file = fopen(words[1], "r+b");']
        for n, a in enumerate(self.arrays):
            lines.append(f"  void* a{n} = malloc({a.nbytes}); fread(a{n}, 1, {a.nbytes}, file);")
        for spec, name, arrays in self.calls:
            half = spec.global_size[0] // 2
            bufs = ", ".join(f"a{n}" for n in arrays)
            lines.append(f"  {{ void* bufs[] = {{ {bufs} }};")
            if half:
                lines.append(f"    {name}_entry(bufs, 0, {half}, {spec.global_size[0]});")
            lines.append(f"    {name}_entry(bufs, 0, 0, {half or spec.global_size[0]}); }}")
        lines.append("  rewind(file);")
        lines += [
            f"  fwrite(a{n}, 1, {a.nbytes}, file); free(a{n});" for n, a in enumerate(self.arrays)
        ]
        return "\n".join([*lines, "  return fclose(file);", "}", ""])

    def _compile(self, arguments: list[str], source: str) -> None:
        command = [*find_compiler(settings.CC), *self.flags, *arguments]
        done = subprocess.run(command, input=source.encode(), capture_output=True, check=False)
        assert done.returncode == 0, f"{done.stderr.decode()[:4000]}\n{source}"


def interpret(
    ast: UOp, arrays: Sequence[np.ndarray], opts: Sequence[Opt] | None = None
) -> list[np.ndarray]:
    """One kernel on the PYTHON device, which checks every access; the arrays afterwards."""
    device = Device["PYTHON"]
    spec = get_program(ast, device.renderer, opts)
    memory = [HostMemory(a.copy()) for a in arrays]
    runner = device.runner(spec.function, spec.src.encode())
    runner(*[memory[n] for n in spec.globals])
    return [m.array.view(a.dtype) for m, a in zip(memory, arrays, strict=True)]
