"""CUDA C++: GLOBAL and LOCAL loops become the indices of a block and of a thread in it.

    extern "C" __global__ void __launch_bounds__(64) E_4_64(
        float* __restrict__ data0, const float* __restrict__ data1)

Vectors such as float4 can only be loaded and stored; there is no arithmetic on them (scalarize.py).
An MMA is a PTX instruction, wrapped in a function. The only header that is needed is cuda_fp16.h,
for kernels that read or write float16; they compute in float32.

See the CUDA C++ Programming Guide: C++ language extensions (execution and memory spaces, built-in
vector types, `__launch_bounds__`); the CUDA Math API: type casting intrinsics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from tinyframe import thresholds
from tinyframe.dtype import DType, dtypes
from tinyframe.gpu.languages.base import GPULanguage
from tinyframe.gpu.languages.scalarize import scalarize
from tinyframe.gpu.languages.signed_overflow import wrap_integers
from tinyframe.renderer import Target
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.renderer.program_text import without_parens
from tinyframe.rewrite.spec import MMA_FORMS
from tinyframe.uop.node import Ops, UOp

LANES = (2, 4, 8)  # of the vectors that exist, or are defined here
VECTOR_BYTES = 16  # the most that one instruction moves, and the alignment it requires
STATIC_BYTES = 48 << 10  # of shared memory; more has to be asked for at the launch
KERNEL = 'extern "C" __global__ '
HALF_HEADER = "#include <cuda_fp16.h>"
PANEL = re.compile(r"(__shared__ __align__\(\d+\) ([\w ]+) (panel\d+)\[(\d+)\];)")
# name -> the definition that a source with this name in it needs
_, *_parts = re.split(r"^//: (\w+)\n", Path(__file__).with_suffix(".h").read_text(), flags=re.M)
PARTS = dict(zip(_parts[::2], _parts[1::2], strict=True))

# dtype -> prefix of its vectors' names, if it is not the dtype's own name
VECTOR_WORDS = {
    dtypes.char: "char", dtypes.uchar: "uchar", dtypes.ushort: "ushort", dtypes.uint: "uint",
    dtypes.long: "longlong", dtypes.ulong: "ulonglong", dtypes.half: "half",
}  # fmt: skip


# compute capability -> KiB of shared memory that a block may ask for (Programming Guide, "Technical
# Specifications per Compute Capability")
SHARED_KIB = {75: 64, 80: 163, 86: 99, 87: 163, 89: 99, 90: 227, 100: 227, 120: 99}


def target_for(architecture: str) -> Target:
    """The Target of any GPU of an architecture such as "sm_90"."""
    number = re.search(r"\d+", architecture)
    capability = int(number[0]) if number else 0
    return replace(
        CUDALanguage.default_target, tensor_cores=tensor_cores(capability // 10),
        async_copies=capability >= 80, shared_bytes=SHARED_KIB.get(capability, 48) << 10,
    )  # fmt: skip


def tensor_cores(major: int) -> tuple[str, ...]:
    """The operand formats of the tensor cores of this (major) compute capability."""
    return tuple(MMA_FORMS.values()) if major >= 8 else ()


def _mma(language: CStyleLanguage, u: UOp, *x: str) -> str:
    added = x if len(x) == 3 else (*x, language.zero(u.dtype))
    return f"mma_{u.arg}({', '.join(map(without_parens, added))})"


class CUDALanguage(GPULanguage):
    """CUDA C++, as NVRTC compiles it."""

    device = "CUDA"
    # for all GPUs of compute capability 8.0 and newer (Programming Guide, "Technical Specifications
    # per Compute Capability"); gpu/drivers/cuda.py queries the actual GPU
    default_target = Target(
        vector_bytes=VECTOR_BYTES, vector_registers=64, threads=1, l1=32 << 10, l2=4 << 20,
        most_lanes=LANES[-1], block_threads=1024, shared_bytes=99 << 10,
        grid=(2**31 - 1, 65535, 65535), warp=32, tensor_cores=tensor_cores(8),
        async_copies=True,
    )  # fmt: skip
    passes = (("wrap integers", wrap_integers), ("scalarize", scalarize(VECTOR_BYTES, LANES)))
    kernel_prefix = f"{KERNEL}void __launch_bounds__({{threads}})"
    function_prefix = "static __device__ inline"
    local_prefix = f"__shared__ __align__({VECTOR_BYTES}) "
    barrier = "__syncthreads();"
    # what a thread reads of a panel next is then in flight while it computes
    unrolled = thresholds.PANEL_STEP
    code_for_workitem = {
        "g": lambda axis: f"blockIdx.{'xyz'[axis]}",
        "l": lambda axis: f"threadIdx.{'xyz'[axis]}",
    }
    type_names = {
        dtypes.bool: "bool", dtypes.half: "half", dtypes.char: "signed char",
        dtypes.uchar: "unsigned char", dtypes.ushort: "unsigned short",
        dtypes.uint: "unsigned int", dtypes.long: "long long", dtypes.ulong: "unsigned long long",
    }  # fmt: skip
    infinity, not_a_number = "__int_as_float(0x7f800000)", "__int_as_float(0x7fc00000)"
    suffixes: Mapping[DType, str] = {dtypes.long: "ll", dtypes.ulong: "ull", dtypes.uint: "u"}
    code_for_op: Mapping[Ops, Callable[..., str]] = {
        **GPULanguage.code_for_op,
        Ops.MMA: lambda *x: "",  # see code_for_vector
    }
    vector, splats = "make_{kind}({lanes})", False
    code_for_vector: Mapping[Ops, Callable[..., str]] = {
        **GPULanguage.code_for_vector,
        Ops.MMA: _mma,
    }
    vector_functions: Mapping[str, Callable[..., str]] = {}

    # ---- one thing each -------------------------------------------------------------------------

    def type_name(self, dtype: DType) -> str:
        if dtype.count == 1:
            return super().type_name(dtype)
        scalar = dtype.scalar()
        return f"{VECTOR_WORDS.get(scalar, scalar.name)}{dtype.count}"

    def bitcast(self, x: str, old: DType, new: DType) -> str:
        if not (dtypes.is_float(old) or dtypes.is_float(new)):
            return self.cast(x, new)
        # the intrinsics exist for long, but not for ulong
        kinds = [dtypes.long if d is dtypes.ulong else d for d in (old, new)]
        given = f"(long long)({without_parens(x)})" if old is dtypes.ulong else without_parens(x)
        text = f"__{'_as_'.join(VECTOR_WORDS.get(d, d.name) for d in kinds)}({given})"
        return f"((unsigned long long){text})" if new is dtypes.ulong else text

    def zero(self, dtype: DType) -> str:
        zero = "(half)0.0f" if dtype.scalar() is dtypes.half else "0"
        return self.of_lanes(dtype, [zero] * dtype.count) if dtype.count > 1 else zero

    def load_vector(self, index: UOp, dtype: DType, pointer: str) -> str:
        const = "const " * (index.src[0].op is Ops.DEFINE_GLOBAL)
        return f"*reinterpret_cast<{const}{self.type_name(dtype)}*>({without_parens(pointer)})"

    def store_vector(self, index: UOp, dtype: DType, pointer: str, value: str) -> str:
        return f"*reinterpret_cast<{self.type_name(dtype)}*>({without_parens(pointer)}) = {value};"

    # ---- a program ------------------------------------------------------------------------------

    def render(self, name: str, uops: list[UOp]) -> str:
        """Panels of more than STATIC_BYTES are parts of one array. A launch has to give its size,
        which is in the name of a variable."""
        text, start, nbytes = super().render(name, uops), "shared", 0
        kinds = {f"panel{u.arg}": u.dtype.base for u in uops if u.op is Ops.DEFINE_LOCAL}
        parts = text
        for line, kind, panel, size in PANEL.findall(text):
            part = f"{kind}* {panel} = reinterpret_cast<{kind}*>({start});  // {size}"
            parts, count = parts.replace(line, part), -(-int(size) // VECTOR_BYTES) * VECTOR_BYTES
            start, nbytes = f"{panel} + {count}", nbytes + count * kinds[panel].itemsize
        needed = f'{PARTS["shared"]}extern "C" __device__ int shared_bytes_{nbytes};\n{KERNEL}'
        return text if nbytes <= STATIC_BYTES else parts.replace(KERNEL, needed, 1)

    def typedefs(self, text: str) -> list[str]:
        found: list[str] = []
        for name, lines in reversed(PARTS.items()):
            if re.search(rf"(\b|make_){name}[<( ]", "\n".join([*found, text])):
                found = [lines.rstrip("\n"), *found]
        return [HALF_HEADER] * bool(re.search(r"\bhalf[248]?\b", text)) + found
