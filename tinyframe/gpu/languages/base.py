"""The common base of GPU languages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tinyframe.dtype import DType
from tinyframe.renderer import gcc
from tinyframe.renderer.cstyle import CStyleLanguage, max_and_min
from tinyframe.renderer.program_text import call, without_parens
from tinyframe.uop.node import Ops, UOp


class GPULanguage(CStyleLanguage):
    """A language with built-in vectors and without nontemporal stores, whose kernels are the code
    of one thread of a block."""

    wraps, entry, nontemporal_stores, native_half = "", "", None, True
    # all Variables are passed with one type, the only one that a launch knows
    variable, variable_inside = "const {long} {name}_given", "const {type} {name} = {name}_given;"
    restrict, local_suffix = "__restrict__", ""
    # a vector's constructor, and whether a single argument sets all lanes
    vector, splats = "{kind}({lanes})", True
    infinity, not_a_number = "INFINITY", "NAN"
    code_for_op: Mapping[Ops, Callable[..., str]] = {
        **CStyleLanguage.code_for_op,
        Ops.SQRT: call("sqrt", typed=False),
        Ops.TRUNC: call("trunc", typed=False),
    }
    code_for_double: Mapping[Ops, Callable[..., str]] = {
        op: call(name, typed=False) for op, (name, _) in gcc.OF_DOUBLES.items()
    }
    code_for_vector: Mapping[Ops, Callable[..., str]] = {
        Ops.VECTORIZE: lambda language, u, *x: language.lanes(u, *x),
        Ops.GEP: lambda language, u, x: f"{x}.{'xyzwstuv'[u.arg]}",
        Ops.WHERE: lambda language, u, c, a, b: (
            f"select({without_parens(b)}, {without_parens(a)}, {without_parens(c)})"
        ),
    }
    typedef: Callable[..., str] | None = None
    functions: Mapping[str, Callable[..., str]] = max_and_min()
    vector_functions: Mapping[str, Callable[..., str]] = max_and_min(
        "select(a, b, (b {sign} a){nan})", " | (b != b)"
    )

    def signature(self, name: str, uops: list[UOp]) -> str:
        """As for C, with the number of a block's threads filled in if the language needs it."""
        threads = math.prod(u.arg[1] for u in uops if u.op is Ops.SPECIAL and u.arg[0][0] == "l")
        return super().signature(name, uops).replace("{threads}", str(threads))

    def of_lanes(self, dtype: DType, lanes: Iterable[str]) -> str:
        return self.vector.format(kind=self.type_name(dtype), lanes=", ".join(lanes))

    def lanes(self, u: UOp, *x: str) -> str:
        is_one = self.splats and len(set(u.src)) == 1
        return self.of_lanes(u.dtype, map(without_parens, x[:1] if is_one else x))

    def gather(self, index: UOp, dtype: DType, pointer: str, place: Callable[[Any], str]) -> str:
        return self.of_lanes(dtype, map(place, range(dtype.count)))
