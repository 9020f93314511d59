"""Other languages over the common writer: what a backend for one of them has to say."""

from __future__ import annotations

from collections.abc import Callable

from tinyframe.dtype import DType, dtypes
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.renderer.writer import bare, call, short
from tinyframe.uop.node import Ops, UOp


def extreme(sign: str) -> Callable[..., str]:
    """NaN if either is, which OpenCL's fmax is not."""

    def definition(language, name: str, dtype: DType) -> str:
        kind = language.type_name(dtype)
        nan = " | (b != b)" if dtypes.is_float(dtype) else ""
        head = f"static inline {kind} {name}_{kind}({kind} a, {kind} b)"
        return f"{head} {{ return select(a, b, (b {sign} a){nan}); }}"

    return definition


def all_of(texts: list[str]) -> str:
    return ", ".join(map(bare, texts))


class OpenCL(CStyleLanguage):
    device = "CL"
    kernel_prefix, buffer_prefix = "__kernel void", "__global "
    local_prefix, local_suffix = "__local ", ""
    barrier = "barrier(CLK_LOCAL_MEM_FENCE);"
    code_for_workitem = {
        "g": lambda axis: f"get_group_id({axis})",
        "l": lambda axis: f"get_local_id({axis})",
    }
    type_names = {dtypes.bool: "char", dtypes.char: "char", dtypes.half: "half"}
    wraps = ""
    infinity, not_a_number = "INFINITY", "NAN"
    code_for_op = {
        **CStyleLanguage.code_for_op,
        Ops.SQRT: call("sqrt", typed=False),
        Ops.TRUNC: call("trunc", typed=False),
        Ops.MULACC: call("fma", typed=False),
    }
    code_for_vector = {
        Ops.CAST: lambda language, u, x: f"convert_{short(u.dtype)}({bare(x)})",
        Ops.BITCAST: lambda language, u, x: language.bitcast(x, u.src[0].dtype, u.dtype),
        Ops.WHERE: lambda language, u, c, a, b: f"select({all_of([b, a, c])})",
        Ops.GEP: lambda language, u, x: f"{x}.s{u.arg:x}",
        Ops.VECTORIZE: lambda language, u, *x: (
            f"({short(u.dtype)})({all_of([*dict.fromkeys(x)] if len(set(u.src)) == 1 else [*x])})"
        ),
    }
    vector_functions = {"max": extreme(">"), "min": extreme("<")}
    typedef = None

    def bitcast(self, x: str, old: DType, new: DType) -> str:
        return f"as_{short(new.mask() if dtypes.is_bool(new) else new)}({bare(x)})"

    def takes_a_number_beside(self, vector: DType, op: Ops) -> bool:
        return vector.scalar().itemsize >= 4 and op not in (Ops.SHL, Ops.SHR)

    def nothing(self, dtype: DType) -> str:
        return f"({self.type_name(dtype)})(0)" if dtype.count > 1 else "0"

    def load_vector(self, index: UOp, dtype: DType, pointer: str) -> str:
        return f"vload{dtype.count}(0, {bare(pointer)})"

    def store_vector(self, index: UOp, dtype: DType, pointer: str, value: str) -> str:
        return f"vstore{dtype.count}({value}, 0, {bare(pointer)});"

    def gather(self, index: UOp, dtype: DType, pointer: str, place: Callable) -> str:
        return f"({self.type_name(dtype)})({', '.join(map(place, range(dtype.count)))})"

    def scatter(self, dtype: DType, name: str, place: Callable) -> str:
        lanes = [f"{place(n)} = {name}.s{n:x};" for n in range(dtype.count)]
        return f"{{ {' '.join(lanes)} }}"

    def entry(self, name: str, uops: list[UOp]) -> list[str]:
        return []

    def streams(self, uops: list[UOp]) -> set[UOp]:
        return set()
