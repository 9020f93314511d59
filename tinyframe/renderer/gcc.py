"""C as GCC and clang extend it: vectors that are added with `+`, and memory of a thread's own.

    typedef float float4 __attribute__((vector_size(16), aligned(4)));

The rows of `CStyleLanguage` that are about vectors. Other languages of the family have tables of
the same keys. A row gets the language, the node and the texts of its sources; what reads or writes
memory gets the dtype and texts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinyframe.dtype import DType, dtypes
from tinyframe.renderer import x86
from tinyframe.renderer.writer import bare, short
from tinyframe.uop.node import Ops, UOp

# ---- types --------------------------------------------------------------------------------------


def typedef(language, dtype: DType) -> str:
    """A vector may begin at any element, so it is aligned as one is."""
    scalar = dtype.scalar()
    layout = f"vector_size({dtype.itemsize}), aligned({scalar.itemsize})"
    return f"typedef {language.type_name(scalar)} {short(dtype)} __attribute__(({layout}));"


# ---- values -------------------------------------------------------------------------------------


def select(language, u: UOp, condition: str, yes: str, no: str) -> str:
    """A choice between what is compared, x < low ? low : x, is often one instruction."""
    test, *choice = u.src
    function, operands = "where", [bare(condition), bare(yes), bare(no)]
    if test.op is Ops.CMPLT and x86.compares(u.dtype) and set(choice) == set(test.src):
        function = "smaller" if choice[0] is test.src[0] else "larger"
        del operands[0]
    return f"{function}_{short(u.dtype)}({', '.join(operands)})"


def lanes(language, u: UOp, *x: str) -> str:
    kind = language.type_name(u.dtype)
    if len(set(u.src)) == 1:
        return f"all_{kind}({bare(x[0])})"
    return f"({kind}){{ {', '.join(map(bare, x))} }}"


def same_bits(language, u: UOp, x: str) -> str:
    old, new = (language.type_name(d) for d in (u.src[0].dtype, u.dtype))
    return x if old == new else f"(({new}){x})"  # bools in memory are bytes


def convert(language, u: UOp, x: str) -> str:
    """Between float16 and float32 x86 has an instruction that GCC's words do not lead to."""
    if (function := x86.converts(u.src[0].dtype, u.dtype)) is not None:
        return f"{function}_{short(dtypes.half.vec(u.dtype.count))}({bare(x)})"
    return f"__builtin_convertvector({bare(x)}, {language.type_name(u.dtype)})"


# op -> how it is written where a vector is given or made; what is not here is as for numbers
code_for_vector: dict[Ops, Callable[..., str]] = {
    Ops.CAST: convert,
    Ops.BITCAST: same_bits,
    Ops.WHERE: select,
    Ops.GEP: lambda language, u, x: f"{x}[{u.arg}]",
    Ops.VECTORIZE: lanes,
}


# ---- memory -------------------------------------------------------------------------------------


def load(language, index: UOp, dtype: DType, pointer: str) -> str:
    return f"*({language.type_name(dtype)}*){pointer}"


def store(language, index: UOp, dtype: DType, pointer: str, value: str) -> str:
    return f"{load(language, index, dtype, pointer)} = {value};"


def stream(language, index: UOp, dtype: DType, pointer: str, value: str) -> str:
    """Past the caches."""
    kind = language.type_name(dtype)
    return f"stream_{kind}(&{load(language, index, dtype, pointer)}, {value});"


def gather(language, index: UOp, dtype: DType, pointer: str, place: Callable[[Any], str]) -> str:
    """Lanes that do not lie side by side."""
    return f"gather_{short(dtype)}({bare(pointer)}, {index.arg})"


def scatter(language, dtype: DType, name: str, place: Callable[[Any], str]) -> str:
    return f"for (int l = 0; l < {dtype.count}; l++) {place('l')} = {name}[l];"


def memory_of_thread(element: str, name: str, array: str) -> str:
    """A function that finds a thread's own memory: that may have to be allocated first, and clang
    14 forgets that this call changes AVX-512's upper registers. The empty asm keeps it from seeing
    through the function."""
    return (
        f"static __attribute__((noinline)) {element}* {name}_of_thread(void) "
        f"{{ static __thread {array} {element}* p = {name}; "
        '__asm__ volatile("" : "+r"(p)); return p; }'
    )


# ---- functions ----------------------------------------------------------------------------------


def define(body: Callable[[str, str, DType], str], *parameters: str) -> Callable[..., str]:
    """A function of vectors; `body` and parameters' types from the type and that of its masks."""

    def definition(language, name: str, dtype: DType) -> str:
        kind, mask = language.type_name(dtype), language.type_name(dtype.mask())
        types = {"x": language.type_name(dtype.scalar()), "c": mask}
        given = ", ".join(f"{types.get(p, kind)} {p}" for p in parameters)
        head = f"{language.function_prefix} {kind} {name}_{kind}({given})"
        return f"{head} {{ {body(kind, mask, dtype)} }}"

    return definition


def extreme(which: str, sign: str) -> Callable[[str, str, DType], str]:
    """The larger or the smaller of two, NaN if either is."""

    def body(kind: str, mask: str, dtype: DType) -> str:
        if x86.compares(dtype):
            return f"return nan_or_{kind}({which}_{kind}(b, a), b);"
        nan = f" | ({mask})(b != b)" if dtypes.is_float(dtype) else ""
        wins = f"({mask})(b {sign} a){nan}"
        return f"{mask} c = {wins}; return ({kind})((c & ({mask})b) | (~c & ({mask})a));"

    return body


def lane_by_lane(function: str) -> Callable[[str, str, DType], str]:
    def body(kind: str, mask: str, dtype: DType) -> str:
        builtin = f"__builtin_{function}{'' if dtype.scalar() is dtypes.double else 'f'}"
        loop = f"for (int i = 0; i < {dtype.count}; i++) r[i] = {builtin}(a[i]);"
        return f"{kind} r; {loop} return r;"

    return body


def chosen(language, name: str, dtype: DType) -> str:
    kind, mask = language.type_name(dtype), language.type_name(dtype.mask())
    return x86.choose(name, kind, mask, dtype.scalar().itemsize, dtype.itemsize)


def kept_nan(language, name: str, dtype: DType) -> str:
    kind, mask = language.type_name(dtype), language.type_name(dtype.mask())
    return x86.nan_or(kind, mask, dtype.scalar().itemsize, dtype.itemsize)


def gathered(language, name: str, dtype: DType) -> str:
    kinds = language.type_name(dtype), language.type_name(dtype.scalar())
    return x86.gather(f"{name}_{short(dtype)}", *kinds, dtype)


def halves(language, name: str, dtype: DType) -> str:
    return x86.convert(name, dtype.count)


# name -> the definition of `name_float4`, each before those that it is used in
functions: dict[str, Callable[..., str]] = {
    "gather": gathered,
    "all": define(lambda kind, mask, dtype: (
        f"return ({kind}){{ {', '.join('x' * dtype.count)} }};"), "x"),
    "widen": halves,
    "narrow": halves,
    "larger": chosen,
    "smaller": chosen,
    "nan_or": kept_nan,
    "where": define(lambda kind, mask, dtype: (
        f"return ({kind})((c & ({mask})a) | (~c & ({mask})b));"), "c", "a", "b"),
    "max": define(extreme("larger", ">"), "a", "b"),
    "min": define(extreme("smaller", "<"), "a", "b"),
    "sqrt": define(lane_by_lane("sqrt"), "a"),
    "trunc": define(lane_by_lane("trunc"), "a"),
    "stream": lambda language, name, dtype: (
        x86.stream(language.type_name(dtype), dtype.itemsize)),
}  # fmt: skip
