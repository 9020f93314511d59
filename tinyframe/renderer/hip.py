"""HIP, for AMD's GPUs, as a table: C++ as clang has it, so vectors are those of plain C.

    extern "C" __global__ void __launch_bounds__(64) E_8_64(float* __restrict__ data0) {

HIP's headers, which its compilers bring along, have a `float4` of their own, a struct that cannot
be compared lane by lane. So a program is in a namespace, in which `float4` is clang's vector.
float16 is clang's `_Float16`, which HIP's `__half` wraps, bfloat16 is its bits, a uint16
(codegen/decompose/): of the headers, only `sqrt` and `sqrtf` are used, which are correctly rounded.
`long` has 32 bits on Windows, so `long long` is written.

From the HIP documentation (AMD, C++ language extensions) and Clang's on vectors and builtins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinyframe.dtype import DType, dtypes
from tinyframe.renderer import Target, gcc
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.renderer.masks import masks
from tinyframe.renderer.wrapping import wrapping
from tinyframe.renderer.writer import bare, threads_of_block
from tinyframe.uop.node import Ops, UOp

# ---- rows ----------------------------------------------------------------------------------------


def lanes(language, u: UOp, *x: str) -> str:
    return f"{language.type_name(u.dtype)}{{ {', '.join(map(bare, x))} }}"


def convert(language, u: UOp, x: str) -> str:
    return f"__builtin_convertvector({bare(x)}, {language.type_name(u.dtype)})"


def extreme(sign: str) -> Callable[..., str]:
    """The larger or the smaller of two vectors, NaN if either is."""

    def definition(language, name: str, dtype: DType) -> str:
        kind = language.type_name(dtype)
        nan = " | (b != b)" if dtypes.is_float(dtype) else ""
        head = f"{language.function_prefix} {kind} {name}_{kind}({kind} a, {kind} b)"
        return f"{head} {{ return (b {sign} a){nan} ? b : a; }}"

    return definition


def root(language, name: str, dtype: DType) -> str:
    """clang's own builtin was an approximation for years."""
    kind, function = language.type_name(dtype), root_of(dtype)
    return f"{language.function_prefix} {kind} sqrt_{kind}({kind} a) {{ return {function}(a); }}"


def roots(language, name: str, dtype: DType) -> str:
    kind, function = language.type_name(dtype), root_of(dtype)
    head = f"{language.function_prefix} {kind} sqrt_{kind}({kind} a)"
    loop = f"for (int l = 0; l < {dtype.count}; l++) a[l] = {function}(a[l]);"
    return f"{head} {{ {loop} return a; }}"


def root_of(dtype: DType) -> str:
    return "::sqrt" if dtype.scalar() is dtypes.double else "::sqrtf"


class HIPLanguage(CStyleLanguage):
    """HIP's C++, in which a kernel is what one thread of a block does."""

    device = "HIP"
    default_target = Target(
        vector_bytes=16, vector_registers=64, threads=1, l1=16 << 10, l2=4 << 20,
        block_threads=1024, shared_bytes=64 << 10, grid=((1 << 31) - 1, 65535, 65535), warp=64,
    )  # fmt: skip
    passes = (("masks", masks), ("wrap integers", wrapping))
    kernel_prefix, restrict = 'extern "C" __global__ void', "__restrict__"
    function_prefix = "static inline __device__"
    local_prefix, local_suffix = "__shared__ ", " __attribute__((aligned(16)))"
    barrier = "__syncthreads();"
    code_for_workitem = {
        "g": lambda axis: f"blockIdx.{'xyz'[axis]}",
        "l": lambda axis: f"threadIdx.{'xyz'[axis]}",
    }
    wraps = ""
    type_names = {
        dtypes.half: "_Float16",
        dtypes.bool: "bool",
        dtypes.long: "long long",
        dtypes.ulong: "unsigned long long",
    }
    suffixes = {dtypes.long: "ll", dtypes.ulong: "ull", dtypes.uint: "u"}
    code_for_vector = {
        **gcc.code_for_vector,
        Ops.CAST: convert,
        Ops.WHERE: lambda language, u, c, a, b: f"({c} ? {a} : {b})",
        Ops.VECTORIZE: lanes,
    }
    functions = {**CStyleLanguage.functions, "sqrt": root}
    vector_functions = {
        "max": extreme(">"),
        "min": extreme("<"),
        "sqrt": roots,
        "trunc": gcc.functions["trunc"],
    }

    def bitcast(self, x: str, old: DType, new: DType) -> str:
        if dtypes.is_int(old) and dtypes.is_int(new):
            return self.cast(x, new)
        # of a vector's lane that is not a value of its own, clang 14 takes the first lane's bits
        return f"__builtin_bit_cast({self.type_name(new)}, ({self.type_name(old)}){x})"

    def nothing(self, dtype: DType) -> str:
        return f"{self.type_name(dtype)}{{}}" if dtype.count > 1 else "0"

    def gather(self, index: UOp, dtype: DType, pointer: str, place: Callable[[Any], str]) -> str:
        return f"{self.type_name(dtype)}{{ {', '.join(map(place, range(dtype.count)))} }}"

    def streams(self, uops: list[UOp]) -> set[UOp]:
        return set()

    def render(self, name: str, uops: list[UOp]) -> str:
        return f"namespace tinyframe {{\n{super().render(name, uops)}}}\n"

    def launched_as(self, uops: list[UOp]) -> str:
        return f"{self.kernel_prefix} __launch_bounds__({threads_of_block(uops)})"

    def entry(self, name: str, uops: list[UOp]) -> list[str]:
        return []
