"""HIP, for AMD's GPUs: CUDA's keywords for blocks and threads, with clang's vector extensions.

    extern "C" __global__ void __launch_bounds__(64) E_8_64(float* __restrict__ data0) {

HIP's compilers include headers with a `float4` of their own, a struct that cannot be compared lane
by lane. So a program has a namespace, in which `float4` is clang's vector. float16 is clang's
`_Float16`, which HIP's `__half` wraps, and bfloat16 is a uint16 of its bits (codegen/decompose/).
The headers' functions of float64 are used, and `sqrtf`, which rounds correctly; clang's builtin was
an approximation for years. `long` has 32 bits on Windows, hence `long long`.

See the HIP documentation (AMD, C++ language extensions), and Clang's on vectors and builtins.
"""

from __future__ import annotations

from collections.abc import Callable

from tinyframe.dtype import DType, dtypes
from tinyframe.gpu.languages.base import GPULanguage
from tinyframe.gpu.languages.cuda import CUDALanguage
from tinyframe.gpu.languages.signed_overflow import wrap_integers
from tinyframe.renderer import Target, gcc
from tinyframe.renderer.cstyle import CStyleLanguage, max_and_min
from tinyframe.renderer.masks import masks
from tinyframe.renderer.program_text import without_parens
from tinyframe.uop.node import Ops, UOp

# `trunc` is clang's own
FROM_HEADERS = {**gcc.library("::"), "trunc": gcc.builtin}


class HIPLanguage(CUDALanguage):
    """HIP C++."""

    device = "HIP"
    default_target = Target(
        vector_bytes=16, vector_registers=64, threads=1, l1=16 << 10, l2=4 << 20,
        block_threads=1024, shared_bytes=64 << 10, grid=((1 << 31) - 1, 65535, 65535), warp=64,
    )  # fmt: skip
    passes = (("masks", masks), ("wrap integers", wrap_integers))
    function_prefix = "static inline __device__"
    local_prefix, local_suffix = "__shared__ ", " __attribute__((aligned(16)))"
    type_names = {
        dtypes.half: "_Float16",
        dtypes.bool: "bool",
        dtypes.long: "long long",
        dtypes.ulong: "unsigned long long",
    }
    type_name, typedefs = CStyleLanguage.type_name, CStyleLanguage.typedefs
    typedef: Callable[..., str] | None = gcc.typedef
    infinity, not_a_number = CStyleLanguage.infinity, CStyleLanguage.not_a_number
    code_for_op, code_for_double = CStyleLanguage.code_for_op, CStyleLanguage.code_for_double
    vector = "{kind}{{ {lanes} }}"
    code_for_vector = {
        **gcc.code_for_vector,
        Ops.VECTORIZE: GPULanguage.code_for_vector[Ops.VECTORIZE],
        Ops.CAST: lambda language, u, x: (
            f"__builtin_convertvector({without_parens(x)}, {language.type_name(u.dtype)})"
        ),
        Ops.WHERE: lambda language, u, c, a, b: f"({c} ? {a} : {b})",
    }
    functions = {**CStyleLanguage.functions, **FROM_HEADERS}
    vector_functions = {**max_and_min("(b {sign} a){nan} ? b : a", " | (b != b)"), **FROM_HEADERS}
    load_vector, store_vector = gcc.load, gcc.store
    variable, variable_inside = CStyleLanguage.variable, CStyleLanguage.variable_inside

    def bitcast(self, x: str, old: DType, new: DType) -> str:
        if dtypes.is_int(old) and dtypes.is_int(new):
            return self.cast(x, new)
        # the inner cast makes a lane of a vector a value: without it clang 14 takes the first lane
        return f"__builtin_bit_cast({self.type_name(new)}, ({self.type_name(old)}){x})"

    def zero(self, dtype: DType) -> str:
        return f"{self.type_name(dtype)}{{}}" if dtype.count > 1 else "0"

    def render(self, name: str, uops: list[UOp]) -> str:
        return f"namespace tinyframe {{\n{super().render(name, uops)}}}\n"
