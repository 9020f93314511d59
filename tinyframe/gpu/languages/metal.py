"""The Metal Shading Language, for Apple's GPUs.

    kernel void E_8_4(device float* data0 [[buffer(0)]], uint3 gid [[threadgroup_position_in_grid]])

How it differs from C++ (Metal Shading Language Specification, Apple, version 4, 2025):

- `device` memory is global, `threadgroup` memory belongs to a block, and the value of a Variable is
  passed as a `constant` reference. Arguments are numbered.
- Vectors have 2, 3 or 4 lanes. A `float4` is aligned to 16 bytes, but our vectors may start at any
  element, like a `packed_float4` (2.2.3). Types without a packed variant (bool, ulong) are loaded
  and stored lane by lane.
- Comparing vectors gives a `bool4`, for `select(no, yes, condition)`. Bools cannot be compared
  (3.1), so logical operators do it.
- There is no float64 (2.1). `%` of negative numbers is undefined (3.1), so it is not used.
- By default the compiler assumes that there are no NaNs. The pragma turns that off; before Metal
  3.2 a compiler option has to (`MTLCompileOptions.fastMathEnabled = NO`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinyframe.dtype import AddrSpace, DType, dtypes
from tinyframe.gpu.languages.base import GPULanguage
from tinyframe.gpu.languages.signed_overflow import wrap_integers
from tinyframe.renderer import Target, gcc
from tinyframe.renderer.program_text import call, short, without_parens
from tinyframe.uop.node import Ops, UOp

HEAD = """\
#include <metal_stdlib>
#if __METAL_VERSION__ >= 320
#pragma METAL fp math_mode(safe)
#endif
using namespace metal;
"""
# address space -> its qualifier
SPACES = {AddrSpace.GLOBAL: "device", AddrSpace.LOCAL: "threadgroup"}
# dtypes with packed vectors
PACKED = {dtypes.char, dtypes.uchar, dtypes.short, dtypes.ushort, dtypes.int, dtypes.uint,
          dtypes.long, dtypes.half, dtypes.float}  # fmt: skip
# the index of a block and of a thread in it: name -> parameter
PLACES = {
    "gid": "uint3 gid [[threadgroup_position_in_grid]]",
    "lid": "uint3 lid [[thread_position_in_threadgroup]]",
}


# ---- rows ----------------------------------------------------------------------------------------


def compare(sign: str, of_bools: str) -> Callable[..., str]:
    """A comparison of vectors; of_bools: the same for bools, with logical operators."""

    def row(language, u: UOp, a: str, b: str) -> str:
        text = of_bools if dtypes.is_bool(u.src[0].dtype) else f"{{a}} {sign} {{b}}"
        return f"({text.format(a=a, b=b)})"

    return row


class MetalLanguage(GPULanguage):
    """The Metal Shading Language."""

    device = "METAL"
    default_target = Target(
        vector_bytes=16, vector_registers=32, threads=1, l1=0, l2=4 << 20,
        block_threads=1024, shared_bytes=32 << 10, grid=((1 << 31) - 1,) * 3, warp=32, most_lanes=4,
    )  # fmt: skip
    unsupported = frozenset({dtypes.double})
    passes = (("wrap integers", wrap_integers),)
    kernel_prefix = "[[max_total_threads_per_threadgroup({threads})]] kernel void"
    buffer_prefix, restrict = "device ", ""
    variable, variable_inside = "constant {type}& {name}", ""
    local_prefix = "threadgroup "
    barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);"
    code_for_workitem = {
        "g": lambda axis: f"gid.{'xyz'[axis]}",
        "l": lambda axis: f"lid.{'xyz'[axis]}",
    }
    type_names = {
        dtypes.half: "half",
        **{dtype: short(dtype) for dtype in (dtypes.bool, *dtypes.ints)},
    }
    code_for_op = {
        **{op: row for op, row in GPULanguage.code_for_op.items() if op is not Ops.CMOD},
        Ops.SQRT: call("precise::sqrt", typed=False),
        # elsewhere these are computed in float64
        Ops.SIN: call("precise::sin", typed=False),
        Ops.COS: call("precise::cos", typed=False),
        Ops.POW: call("precise::pow", typed=False),
        Ops.FMOD: call("fmod", typed=False),
    }
    code_for_vector = {
        **GPULanguage.code_for_vector,
        Ops.CAST: lambda language, u, x: language.lanes(u, x),
        Ops.BITCAST: lambda language, u, x: language.bitcast(x, u.src[0].dtype, u.dtype),
        Ops.CMPLT: compare("<", "!{a} & {b}"),
        Ops.CMPLE: compare("<=", "!{a} | {b}"),
        Ops.CMPNE: compare("!=", "{a} ^ {b}"),
        Ops.CMPEQ: compare("==", "!({a} ^ {b})"),
    }

    # ---- values ---------------------------------------------------------------------------------

    def type_name(self, dtype: DType) -> str:
        return short(dtype) if dtype.count > 1 else super().type_name(dtype)

    def constant(self, value: Any, dtype: DType) -> str:
        if dtypes.is_bool(dtype):
            return "true" if value else "false"
        return super().constant(value, dtype)

    def bitcast(self, x: str, old: DType, new: DType) -> str:
        return f"as_type<{self.type_name(new)}>({without_parens(x)})"

    def accepts_scalar_operand(self, vector: DType, op: Ops) -> bool:
        return False

    def zero(self, dtype: DType) -> str:
        zero = self.constant(0, dtype.scalar())
        return self.of_lanes(dtype, [zero]) if dtype.count > 1 else zero

    # ---- memory ---------------------------------------------------------------------------------

    def _vector_at(self, index: UOp, dtype: DType, pointer: str) -> str:
        space = SPACES[index.src[0].addrspace]
        return f"*({space} packed_{short(dtype)}*){pointer}"

    def load_vector(self, index: UOp, dtype: DType, pointer: str) -> str:
        if dtype.scalar() in PACKED:
            return f"{short(dtype)}({self._vector_at(index, dtype, pointer)})"
        return self.gather(index, dtype, pointer, lambda n: f"{pointer}[{n}]")

    def store_vector(self, index: UOp, dtype: DType, pointer: str, value: str) -> str:
        if dtype.scalar() in PACKED:
            return f"{self._vector_at(index, dtype, pointer)} = {value};"
        kind = short(dtype)
        lanes = [f"{pointer}[{n}] = x.{'xyzw'[n]};" for n in range(dtype.count)]
        return f"{{ {kind} x = {value}; {' '.join(lanes)} }}"

    scatter = gcc.scatter

    # ---- a program ------------------------------------------------------------------------------

    def render(self, name: str, uops: list[UOp]) -> str:
        return HEAD + super().render(name, uops)

    def arguments(self, uops: list[UOp]) -> list[str]:
        texts = [f"{text} [[buffer({n})]]" for n, text in enumerate(super().arguments(uops))]
        letters = {u.arg[0][0] for u in uops if u.op is Ops.SPECIAL}
        return texts + [text for word, text in PLACES.items() if word[0] in letters]
