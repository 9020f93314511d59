"""OpenCL C: vectors are built in, a panel is `__local` memory, a block is a work-group.

    __kernel void E_4(__global float* restrict data0, __global const float* restrict data1)

Two kinds of devices run it. On a GPU, which has blocks of threads, GLOBAL and LOCAL loops become
the indices of a work-group and of a work-item in it. On a processor, which has none, the loop that
is divided among cores (THREAD) becomes the index of a work-group with a single work-item.

The code needs OpenCL C 1.2 or newer (in its specification: 6.1.2 vector types, 6.2 conversions,
6.12 built-in functions).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tinyframe.dtype import DType, PtrDType, dtypes
from tinyframe.gpu.languages.base import GPULanguage
from tinyframe.gpu.languages.signed_overflow import wrap_integers
from tinyframe.renderer import Target
from tinyframe.renderer.cstyle import A_TYPE, DTYPES, CStyleLanguage, max_and_min
from tinyframe.renderer.masks import masks
from tinyframe.renderer.program_text import short, without_parens
from tinyframe.uop.node import Ops, UOp

UNALIGNED = "unaligned_"  # prefix of vector types that are aligned like one element
LANES = (2, 3, 4, 8, 16)  # of the vectors that exist (6.1.2)


def _convert(language: CStyleLanguage, u: UOp, x: str) -> str:
    return f"convert_{language.type_name(u.dtype)}({without_parens(x)})"


def _same_bits(language: CStyleLanguage, u: UOp, x: str) -> str:
    old, new = (language.type_name(d) for d in (u.src[0].dtype, u.dtype))
    return x if old == new else f"as_{new}({without_parens(x)})"


class OpenCLLanguage(GPULanguage):
    """OpenCL C 1.2.

    has_half, has_double: whether the device has these types (cl_khr_fp16, cl_khr_fp64). Without
    half, kernels handle float16 as its bits.
    """

    device = "CL"
    passes = (("masks", masks), ("wrap integers", wrap_integers))
    kernel_prefix = "__kernel void"
    buffer_prefix, restrict = "__global ", "restrict"
    local_prefix, local_suffix = "__local ", CStyleLanguage.local_suffix
    barrier = "barrier(CLK_LOCAL_MEM_FENCE);"
    share, share_inside = (), "const int start = get_group_id(0), stop = start + 1;"
    code_for_workitem = {"g": lambda n: f"get_group_id({n})", "l": lambda n: f"get_local_id({n})"}
    type_names = {dtypes.bool: "char", dtypes.half: "half"} | {
        dtype: short(dtype) for dtype in (dtypes.uchar, dtypes.ushort, dtypes.uint, dtypes.ulong,
                                          dtypes.char, dtypes.short, dtypes.long)}  # fmt: skip
    vector = "(({kind})({lanes}))"
    code_for_vector = {
        **GPULanguage.code_for_vector,
        Ops.CAST: _convert,
        Ops.BITCAST: _same_bits,
        Ops.GEP: lambda language, u, x: f"{x}.s{u.arg:x}",
    }  # fmt: skip
    # for a GPU; the local memory is the guaranteed minimum (OpenCL API, table of device queries)
    default_target = Target(
        vector_bytes=16, vector_registers=64, threads=1, l1=32 << 10, l2=1 << 20,
        most_lanes=LANES[-1], block_threads=256, shared_bytes=32 << 10, grid=(2**31 - 1,) * 3,
        warp=32,
    )  # fmt: skip
    functions = max_and_min("(b {sign} a){nan} ? b : a", " || (b != b)")

    def __init__(
        self, target: Target | None = None, has_half: bool = False, has_double: bool = True
    ) -> None:
        super().__init__(target)
        self.native_half = has_half
        self.unsupported = frozenset() if has_double else frozenset([dtypes.double])

    # ---- one thing each -------------------------------------------------------------------------

    def cast(self, x: str, dtype: DType) -> str:
        return f"({x} != 0)" if dtype is dtypes.bool else super().cast(x, dtype)

    def bitcast(self, x: str, old: DType, new: DType) -> str:
        if old.itemsize < 4 and not dtypes.is_float(old):  # C promotes it to int (6.2.6)
            return f"as_{self.type_name(new)}(({self.type_name(old)}){x})"
        return f"as_{self.type_name(new)}({without_parens(x)})"

    def constant(self, value: Any, dtype: DType) -> str:
        text = super().constant(value, dtype)
        is_a_float = dtype is dtypes.double and text.lstrip("-").isalpha()  # INFINITY or NAN
        return f"((double){text})" if is_a_float else text

    def accepts_scalar_operand(self, vector: DType, op: Ops) -> bool:
        """A scalar is at least as wide as an int (6.2.6), and cannot be shifted by a vector
        (6.3.j)."""
        return vector.scalar().itemsize >= 4 and op not in (Ops.SHL, Ops.SHR)

    def zero(self, dtype: DType) -> str:
        return self.of_lanes(dtype, ["0"]) if dtype.count > 1 else "0"

    def load_vector(self, index: UOp, dtype: DType, pointer: str) -> str:
        if self.target.block_threads:
            return f"vload{dtype.count}(0, {without_parens(pointer)})"
        return self._at_any_element(index, dtype, pointer)

    def store_vector(self, index: UOp, dtype: DType, pointer: str, value: str) -> str:
        if self.target.block_threads:
            return f"vstore{dtype.count}({value}, 0, {without_parens(pointer)});"
        return f"{self._at_any_element(index, dtype, pointer)} = {value};"

    def _at_any_element(self, index: UOp, dtype: DType, pointer: str) -> str:
        """A vector in memory that may start at any element, for processors. There vload and vstore
        may be function calls (in PoCL 3 they are), which clobber all registers."""
        space = self.buffer_prefix
        if index.src[0].op is not Ops.DEFINE_GLOBAL:
            space = self.local_prefix if self._is_shared(index.src[0].dtype) else ""
        return f"*({space}{UNALIGNED}{self.type_name(dtype)}*){pointer}"

    def _is_shared(self, memory: DType) -> bool:
        assert isinstance(memory, PtrDType)
        return bool(self.target.block_threads) or memory.nbytes <= self.target.shared_bytes

    def scatter(self, dtype: DType, name: str, place: Callable[[Any], str]) -> str:
        lanes = [f"{place(n)} = {name}.s{n:x};" for n in range(dtype.count)]
        return f"{{ {' '.join(lanes)} }}"

    def scratch(self, name: str, dtype: PtrDType) -> tuple[list[str], str]:
        array = f"{self.type_name(dtype.base)} {name}[{max(dtype.size, 1)}]{self.local_suffix};"
        return [], f"{self.local_prefix if self._is_shared(dtype) else ''}{array}"

    # ---- a program ------------------------------------------------------------------------------

    def render(self, name: str, uops: list[UOp]) -> str:
        used = {u.dtype.base.scalar() for u in uops}
        wanted = {"cl_khr_fp16": dtypes.half, "cl_khr_fp64": dtypes.double}
        lines = [f"#pragma OPENCL EXTENSION {extension} : enable"
                 for extension, dtype in wanted.items() if dtype in used]  # fmt: skip
        return "\n".join([*lines, super().render(name, uops)])

    def typedefs(self, text: str) -> list[str]:
        """Definitions of the vector types in this program that may start at any element."""
        loose = dict.fromkeys(re.findall(rf"\b{UNALIGNED}{A_TYPE}(\d+)\b", text))
        return [
            f"typedef {kind}{count} {UNALIGNED}{kind}{count} "
            f"__attribute__((aligned({DTYPES[kind].itemsize})));"
            for kind, count in loose
        ]
