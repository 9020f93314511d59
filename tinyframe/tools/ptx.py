"""Compiles CUDA kernels to PTX, or to the machine code of a GPU. No GPU is needed.

    python -m tinyframe.ptx "empty(512) * 2"                       PTX, for sm_80 and newer
    python -m tinyframe.ptx --source "empty(512) * 2"              CUDA C++, which needs no NVRTC
    python -m tinyframe.ptx --sass --arch sm_90 "empty(512) * 2"   the instructions of an H100
    python -m tinyframe.ptx --cubin folder "empty(512) * 2"        cubins, for other tools
    python -m tinyframe.ptx --traffic "empty(512) * 2"             bank conflicts, and sectors of
                                                                   memory that move (warps.py)

PTX is NVIDIA's portable assembly, which the driver translates to SASS, the machine code of the GPU
at hand. `pip install 'tinyframe[cuda]'` installs NVRTC, which makes both, and nvdisasm.

https://docs.nvidia.com/cuda/parallel-thread-execution/
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tinyframe import Context
from tinyframe.codegen import get_program
from tinyframe.codegen.program import ProgramSpec
from tinyframe.device import CompileError, DeviceUnavailable
from tinyframe.gpu.drivers.nvrtc import ADVICE, NVRTC
from tinyframe.gpu.languages.cuda import CUDALanguage, target_for
from tinyframe.tools.plans import EXPRESSION, tensor_of
from tinyframe.tools.warps import traffic_of
from tinyframe.uop.node import Ops


def programs(expression: str, architecture: str) -> list[ProgramSpec]:
    """The CUDA kernels that compute an EXPRESSION, in running order. ValueError if it is wrong."""
    with Context(DEVICE="NULL:CUDA"):
        renderer = CUDALanguage(target_for(architecture))
        items = tensor_of(expression).schedule()
        return [get_program(item.ast, renderer) for item in items if item.ast.op is Ops.SINK]


def ptx(source: str, architecture: str) -> str:
    """The PTX of a CUDA source, for an architecture such as "sm_80"."""
    made = NVRTC(architecture.replace("sm_", "compute_")).compile(source)
    return made.rstrip(b"\0").decode()


def sass(source: str, architecture: str) -> str:
    """The machine code of a CUDA source, disassembled. DeviceUnavailable without nvdisasm."""
    from cuda.pathfinder import find_nvidia_binary_utility

    cubin, program = NVRTC(architecture).compile(source), find_nvidia_binary_utility("nvdisasm")
    if program is None:
        raise DeviceUnavailable(f"nvdisasm, which shows SASS, was not found: {ADVICE}")
    with tempfile.TemporaryDirectory(prefix="tinyframe-") as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(cubin)
        done = subprocess.run([program, "-c", file], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(done.stderr, source, f"{program} -c kernel.cubin")
    return done.stdout


def show(program: ProgramSpec, options: argparse.Namespace) -> str:
    """The text to print for one kernel; with `--cubin`, writes the file and returns its path."""
    if options.source:
        return program.src
    if options.sass:
        return sass(program.src, options.arch)
    if options.traffic:
        return "".join(f"{line}\n" for line in traffic_of(program))
    if options.cubin is None:
        return ptx(program.src, options.arch)
    folder = Path(options.cubin)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{program.name}.{options.arch}.cubin"
    file.write_bytes(NVRTC(options.arch).compile(program.src))
    return f"{file}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tinyframe.ptx",
        description="Shows the PTX, the source or the machine code "
        "of the CUDA kernels that compute an expression. No GPU is needed.",
    )
    parser.add_argument("expression", help=EXPRESSION)
    parser.add_argument("--arch", default="sm_80",
                        help="the GPU's architecture, such as sm_90; by default sm_80")  # fmt: skip
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--ptx", action="store_true", help="PTX, the default")
    what.add_argument("--source", action="store_true", help="CUDA C++")
    what.add_argument("--sass", action="store_true", help="the machine code, disassembled")
    what.add_argument("--traffic", action="store_true",
                      help="what the memory accesses of a block cost")  # fmt: skip
    what.add_argument("--cubin", metavar="FOLDER", help="write the machine code to this folder")
    options = parser.parse_args(arguments)
    try:
        found = programs(options.expression, options.arch)
        for program in found:
            print(f"// {program.name}\n{show(program, options)}")
    except (ValueError, DeviceUnavailable) as error:
        parser.error(str(error))
    if not found:
        print("No kernel: nothing is computed.")
    return 0
