"""NVRTC compiles CUDA C++ to PTX, or to the machine code of one architecture, without a GPU.

    NVRTC("sm_80").compile(source)        a cubin for compute capability 8.0
    NVRTC("compute_80").compile(source)   PTX, which the driver compiles for any GPU from 8.0 on

https://docs.nvidia.com/cuda/nvrtc/, and for the Python binding
https://nvidia.github.io/cuda-python/cuda-bindings/latest/module/nvrtc.html
"""

from __future__ import annotations

import functools
import re
from typing import Any

from tinyframe.device import CompileError, Compiler, DeviceUnavailable
from tinyframe.gpu.languages.cuda import HALF_HEADER

ADVICE = "pip install 'tinyframe[cuda]' brings NVIDIA's bindings and compiler"


@functools.cache
def nvrtc() -> Any:
    """The module cuda.bindings.nvrtc. DeviceUnavailable if it or NVRTC itself is missing."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()  # the first call loads the library
    except Exception as error:  # a broken library may raise anything
        raise DeviceUnavailable(f"NVRTC cannot be loaded ({error}): {ADVICE}") from error
    return nvrtc


@functools.cache
def architectures() -> tuple[str, ...]:
    """The architectures that NVRTC compiles for, such as "sm_75", the oldest first."""
    return tuple(f"sm_{number}" for number in _value(nvrtc().nvrtcGetSupportedArchs()))


def architecture_for(major: int, minor: int) -> str:
    """The architecture to compile for on a GPU of this compute capability: its own, or if NVRTC
    does not know that yet, PTX for the newest one before it."""
    wanted, known = major * 10 + minor, [int(name[3:]) for name in architectures()]
    if wanted in known:
        return f"sm_{wanted}"
    older = [number for number in known if number < wanted]
    if not older:
        raise DeviceUnavailable(
            f"NVRTC {version()} compiles for {architectures()[0]} and newer, and this GPU is "
            f"sm_{wanted}. An older release does: pip install 'nvidia-cuda-nvrtc-cu12'"
        )
    return f"compute_{older[-1]}"


def version() -> str:
    """NVRTC's version, such as "13.0"."""
    _, major, minor = nvrtc().nvrtcVersion()
    return f"{major}.{minor}"


@functools.cache
def header_folder() -> str | None:
    """The folder of cuda_fp16.h, in NVIDIA's wheel or an installed toolkit."""
    from cuda.pathfinder import find_nvidia_header_directory

    return find_nvidia_header_directory("cudart")


class NVRTC(Compiler):
    """Compiles CUDA C++ for one architecture. ValueError if NVRTC does not know it."""

    def __init__(self, architecture: str) -> None:
        found = re.fullmatch(r"(sm|compute)_(\d+)[af]?", architecture)
        if found is None or f"sm_{found[2]}" not in architectures():
            raise ValueError(
                f"NVRTC {version()} does not know the architecture {architecture!r}; it knows "
                f"{', '.join(architectures())}, and compute_ in place of sm_ for PTX"
            )
        self.architecture, self.is_ptx = architecture, found[1] == "compute"

    def identity(self) -> str:
        return "\n".join([f"NVRTC {version()}", self.architecture, str(header_folder())])

    def options(self, src: str) -> list[str]:
        """NVRTC's defaults are fine: division and square root are rounded as in IEEE 754, denormals
        are kept, and a * b + c is one instruction."""
        options = [f"--gpu-architecture={self.architecture}"]
        if HALF_HEADER in src:
            if (folder := header_folder()) is None:
                raise CompileError(
                    "float16 needs cuda_fp16.h, and it is not found: pip install "
                    "'nvidia-cuda-runtime' brings it, as does an installed CUDA toolkit", src
                )  # fmt: skip
            options.append(f"--include-path={folder}")
        return options

    def compile(self, src: str) -> bytes:
        made, options = nvrtc(), self.options(src)
        program = _value(made.nvrtcCreateProgram(src.encode(), b"kernel.cu", 0, [], []))
        try:
            (status,) = made.nvrtcCompileProgram(
                program, len(options), [option.encode() for option in options]
            )
            if status != made.nvrtcResult.NVRTC_SUCCESS:
                log = _result(program, "ProgramLog")
                words = log.rstrip(b"\0 \n").decode(errors="replace")
                raise CompileError(words or str(status), src, " ".join(["nvrtc", *options]))
            return _result(program, "PTX" if self.is_ptx else "CUBIN")
        finally:
            made.nvrtcDestroyProgram(program)


def _result(program: Any, what: str) -> bytes:
    """The PTX, CUBIN or ProgramLog of a program."""
    result = bytearray(_value(getattr(nvrtc(), f"nvrtcGet{what}Size")(program)))
    _value(getattr(nvrtc(), f"nvrtcGet{what}")(program, result))
    return bytes(result)


def _value(returned: tuple[Any, ...]) -> Any:
    """The result of a call without its status. CompileError if that is an error."""
    status, *values = returned
    if status != nvrtc().nvrtcResult.NVRTC_SUCCESS:
        _, words = nvrtc().nvrtcGetErrorString(status)
        raise CompileError(f"NVRTC: {words.decode()}")
    return values[0] if values else None
