"""The vector extensions of GCC and clang: vectors are added with `+`, and live in registers.

    typedef float float4 __attribute__((vector_size(16), aligned(4)));

These are the rows of `CStyleLanguage` for vectors; other languages of the family have tables with
the same keys. A row is called with the language, the node and the expressions of its sources; loads
and stores get the dtype and expressions.

For some vector operations x86 has one instruction and C has no expression. A kernel then begins
with a helper function. Each helper is correct on every processor and with every compiler: it uses
GCC's builtins where they exist, and clang finds the instruction by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tinyframe.dtype import DType, PtrDType, dtypes
from tinyframe.renderer.program_text import accessed_memory, short, without_parens
from tinyframe.uop.node import Ops, UOp

# bytes of a vector -> the macro that says it is available, and the suffix of its builtins' names
REGISTERS = {16: ("__SSE2__", ""), 32: ("__AVX__", "256"), 64: ("__AVX512F__", "512")}
# the same for the number of float16 lanes that one instruction converts
HALVES = {8: ("__F16C__", "256"), 16: ("__AVX512F__", "512")}
# bytes of a cache line
CACHE_LINE = 64

# Nontemporal stores become visible in any order: this fence makes all of them visible to whoever
# waits for the kernel.
STREAMED = """\
static inline void streamed(void) {
#if defined(__SSE__)
  __builtin_ia32_sfence();
#endif
}"""


def typedef(language, dtype: DType) -> str:
    """A vector may start at any element, so its alignment is that of one element."""
    scalar = dtype.scalar()
    layout = f"vector_size({dtype.itemsize}), aligned({scalar.itemsize})"
    return f"typedef {language.type_name(scalar)} {short(dtype)} __attribute__(({layout}));"


# ---- values -------------------------------------------------------------------------------------


def has_max_instruction(dtype: DType) -> bool:
    """Whether a processor may have a max instruction for such vectors."""
    return dtype.scalar() in (dtypes.float, dtypes.double) and dtype.itemsize in REGISTERS


def select(language, u: UOp, condition: str, yes: str, no: str) -> str:
    """A choice between the values compared, x < low ? low : x, is often one instruction."""
    test, *choice = u.src
    function, operands = "where", [*map(without_parens, (condition, yes, no))]
    if test.op is Ops.CMPLT and has_max_instruction(u.dtype) and set(choice) == set(test.src):
        function = "smaller" if choice[0] is test.src[0] else "larger"
        del operands[0]
    return f"{function}_{short(u.dtype)}({', '.join(operands)})"


def lanes(language, u: UOp, *x: str) -> str:
    kind = language.type_name(u.dtype)
    if len(set(u.src)) == 1:
        return f"all_{kind}({without_parens(x[0])})"
    return f"({kind}){{ {', '.join(map(without_parens, x))} }}"


def same_bits(language, u: UOp, x: str) -> str:
    old, new = (language.type_name(d) for d in (u.src[0].dtype, u.dtype))
    return x if old == new else f"(({new}){x})"  # bools in memory are bytes


def convert(language, u: UOp, x: str) -> str:
    """Between float16 and float32 x86 has an instruction that GCC does not find by itself."""
    count, pair = u.dtype.count, (u.src[0].dtype.scalar(), u.dtype.scalar())
    names = {(dtypes.half, dtypes.float): "widen", (dtypes.float, dtypes.half): "narrow"}
    if pair in names and count in HALVES:
        return f"{names[pair]}_half{count}({without_parens(x)})"
    return f"__builtin_convertvector({without_parens(x)}, {language.type_name(u.dtype)})"


# op -> its expression if an operand or the result is a vector; all others are as for scalars
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
    """A nontemporal store, which bypasses the caches."""
    kind = language.type_name(dtype)
    return f"stream_{kind}(&{load(language, index, dtype, pointer)}, {value});"


def nontemporal_stores(language, uops: list[UOp]) -> set[UOp]:
    """The STOREs that bypass the caches, because the result is too large to stay there until it is
    read; a line that is written whole need not be fetched first. Excluded are memory that the
    kernel also reads, and vectors that share a line with another statement's.
    """
    caches = max(language.target.l2, language.target.l3)
    stores = [u for u in uops if u.op is Ops.STORE and accessed_memory(u).op is Ops.DEFINE_GLOBAL]
    read = {accessed_memory(u) for u in uops if u.op is Ops.LOAD}

    def is_streamed(u: UOp) -> bool:
        memory, vector = accessed_memory(u), u.src[1].dtype
        if memory in read or u.src[0].arg is not None or dtypes.is_bool(vector):
            return False  # lanes are not contiguous, or are bools, which are bytes in memory
        fills = vector.itemsize == CACHE_LINE or (vector.itemsize in REGISTERS and len(stores) == 1)
        assert isinstance(memory.dtype, PtrDType)
        return fills and memory.dtype.nbytes > caches

    return set(filter(is_streamed, stores))


def gather(language, index: UOp, dtype: DType, pointer: str, place: Callable[[Any], str]) -> str:
    """Lanes that are not contiguous."""
    return f"gather_{short(dtype)}({without_parens(pointer)}, {index.arg})"


def scatter(language, dtype: DType, name: str, place: Callable[[Any], str]) -> str:
    return f"for (int l = 0; l < {dtype.count}; l++) {place('l')} = {name}[l];"


def memory_of_thread(element: str, name: str, array: str) -> str:
    """A function that returns a thread's own memory, which may have to be allocated first; clang 14
    forgets that this call clobbers AVX-512's upper registers. The empty asm keeps it from inlining
    the function."""
    return (
        f"static __attribute__((noinline)) {element}* {name}_of_thread(void) "
        f"{{ static __thread {array} {element}* p = {name}; "
        '__asm__ volatile("" : "+r"(p)); return p; }'
    )


# ---- functions that a kernel begins with --------------------------------------------------------


def _types(language, dtype: DType) -> tuple[str, str, str]:
    """The names of a vector type, of its lanes' type and of its mask type."""
    vector, lane, mask = map(language.type_name, (dtype, dtype.scalar(), dtype.mask()))
    return vector, lane, mask


def _all(language, name: str, dtype: DType) -> str:
    kind, lane, _ = _types(language, dtype)
    body = f"return ({kind}){{ {', '.join('x' * dtype.count)} }};"
    return language.function(name, dtype, body, x=lane)


def _where(language, name: str, dtype: DType) -> str:
    kind, _, mask = _types(language, dtype)
    body = f"return ({kind})((c & ({mask})a) | (~c & ({mask})b));"
    return language.function(name, dtype, body, c=mask, a=kind, b=kind)


def _extreme(language, name: str, dtype: DType) -> str:
    """max_kind(a, b) and min_kind(a, b); NaN if either is NaN."""
    kind, _, mask = _types(language, dtype)
    instruction, sign = ("larger", ">") if name == "max" else ("smaller", "<")
    nan = f" | ({mask})(b != b)" if dtypes.is_float(dtype) else ""
    body = (
        f"return nan_or_{kind}({instruction}_{kind}(b, a), b);"
        if has_max_instruction(dtype)
        else f"{mask} c = ({mask})(b {sign} a){nan}; "
        f"return ({kind})((c & ({mask})b) | (~c & ({mask})a));"
    )
    return language.function(name, dtype, body, a=kind, b=kind)


# the op -> the C library's function of doubles, and its parameters
OF_DOUBLES = {
    Ops.LOG2: ("log2", "a"), Ops.SIN: ("sin", "a"), Ops.COS: ("cos", "a"), Ops.POW: ("pow", "ab"),
    Ops.FMOD: ("fmod", "ab"),
}  # fmt: skip


def builtin(
    language, name: str, dtype: DType, parameters: str = "a", prefix: str = "__builtin_"
) -> str:
    """A function of the C library, applied to each lane of a vector."""
    kind = language.type_name(dtype)
    function = f"{prefix}{name}{'' if dtype.scalar() is dtypes.double else 'f'}"
    body = f"return {function}({', '.join(parameters)});"
    if dtype.count > 1:
        lanes = ", ".join(f"{parameter}[i]" for parameter in parameters)
        loop = f"for (int i = 0; i < {dtype.count}; i++) r[i] = {function}({lanes});"
        body = f"{kind} r; {loop} return r;"
    return language.function(name, dtype, body, **dict.fromkeys(parameters, kind))


def _sqrt(language, name: str, dtype: DType) -> str:
    """sqrt_kind(a): clang before 16 takes the roots of the lanes one after the other (seen)."""
    each_lane = builtin(language, name, dtype)
    if (size := dtype.itemsize) not in REGISTERS:
        return each_lane
    (kind, lane, _), (feature, width) = _types(language, dtype), REGISTERS[size]
    call = f"sqrt{'ps' if lane == 'float' else 'pd'}{width}((whole)a{', 4' if size == 64 else ''})"
    at_once = f"""\
#if defined(__clang__) && __clang_major__ < 16 && defined({feature})
  typedef {lane} whole __attribute__((vector_size({size})));
  return ({kind})__builtin_ia32_{call};
#endif
"""
    return each_lane.replace("{ ", f"{{\n{at_once}  ", 1)


def library(prefix: str = "__builtin_") -> dict[str, Callable[..., str]]:
    """The functions of the C library that have this prefix in a language."""
    parameters = {"sqrt": "a", "trunc": "a", **dict(OF_DOUBLES.values())}
    return {n: partial(builtin, parameters=p, prefix=prefix) for n, p in parameters.items()}


def _stream(language, name: str, dtype: DType) -> str:
    """stream_kind(p, x): stores a vector without reading its cache line first."""
    return stream_definition(language.type_name(dtype), dtype.itemsize)


def stream_definition(kind: str, size: int) -> str:
    feature, width = REGISTERS[size]
    return f"""\
static inline void stream_{kind}({kind}* p, {kind} x) {{
  typedef float whole __attribute__((vector_size({size})));
  if ((unsigned long long)p % {size}) *p = x;
#if defined(__clang__)
  else __builtin_nontemporal_store((whole)x, (whole*)p);
#elif defined({feature})
  else __builtin_ia32_movntps{width}((float*)p, (whole)x);
#else
  else *p = x;
#endif
}}"""


def _gather(language, name: str, dtype: DType) -> str:
    """gather_kind(p, step): the lanes p[0], p[step], p[2 * step], …

    The instruction takes 32-bit indices and reads at most 16 lanes of 4 bytes. Written as 16
    statements, it takes GCC twice as long to compile.
    """
    kind, lane, _ = _types(language, dtype)
    at_once = f"""\
#if defined(__AVX512F__) && !defined(__clang__)
  typedef float whole __attribute__((vector_size(64)));
  typedef int places __attribute__((vector_size(64)));
  places n = {{ {", ".join(map(str, range(16)))} }};
  if (step > -(1 << 27) && step < 1 << 27)
    return ({kind})__builtin_ia32_gathersiv16sf((whole){{0}}, p, n * (int)step, -1, 4);
#endif
"""
    return f"""\
static inline {kind} gather_{short(dtype)}(const {lane}* p, long long step) {{
{at_once if (dtype.count, dtype.scalar().itemsize) == (16, 4) else ""}\
  {kind} r;
  for (int l = 0; l < {dtype.count}; l++) r[l] = p[l * step];
  return r;
}}"""


def _larger(language, name: str, dtype: DType) -> str:
    """larger_kind(a, b): a > b ? a : b; smaller_kind(a, b): a < b ? a : b. b if either is NaN."""
    (kind, _, mask), size = _types(language, dtype), dtype.itemsize
    feature, width = REGISTERS[size]
    sign, builtin = (">", "max") if name == "larger" else ("<", "min")
    builtin += {4: "ps", 8: "pd"}[dtype.scalar().itemsize] + width
    # AVX-512's form with a mask (all lanes) and a rounding mode (the current one)
    call = f"{builtin}_mask(a, b, a, -1, 4)" if size == 64 else f"{builtin}(a, b)"
    return f"""\
static inline {kind} {name}_{kind}({kind} a, {kind} b) {{
#if defined({feature}) && !defined(__clang__)
  return __builtin_ia32_{call};
#else
  {mask} c = a {sign} b; return ({kind})((c & ({mask})a) | (~c & ({mask})b));
#endif
}}"""


def _nan_or(language, name: str, dtype: DType) -> str:
    """nan_or_kind(a, b): b where that is NaN, otherwise a."""
    (kind, _, mask), size = _types(language, dtype), dtype.itemsize
    feature, width = REGISTERS[size] if size == 64 else ("__AVX512VL__", str(8 * size))
    entry, letters = {4: ("int", "ps"), 8: ("long long", "pd")}[dtype.scalar().itemsize]
    rounding = ", 4" if size == 64 else ""
    # the table gives the result for each class of b: b itself (1) for the first two, the NaNs
    return f"""\
static inline {kind} nan_or_{kind}({kind} a, {kind} b) {{
#if defined({feature}) && !defined(__clang__)
  typedef {entry} table __attribute__((vector_size({size})));
  return __builtin_ia32_fixupimm{letters}{width}_mask(a, b, (table){{0}} + 0x11, 0, -1{rounding});
#else
  {mask} c = b != b; return ({kind})((c & ({mask})b) | (~c & ({mask})a));
#endif
}}"""


def _convert_halves(language, name: str, dtype: DType) -> str:
    """widen_half8(x): as floats, or narrow_half8(x): as float16, rounded to even."""
    count = dtype.count
    (feature, width), is_masked = HALVES[count], count == 16
    kind, given = f"float{count}", f"half{count}"
    call = f"vcvtph2ps{width}"
    call += f"_mask((bits)x, ({kind}){{0}}, -1, 4)" if is_masked else "((bits)x)"
    if name == "narrow":
        kind, given = given, kind
        call = f"vcvtps2ph{width}" + ("_mask(x, 4, (bits){0}, -1)" if is_masked else "(x, 4)")
    return f"""\
static inline {kind} {name}_half{count}({given} x) {{
#if defined({feature}) && !defined(__clang__)
  typedef short bits __attribute__((vector_size({2 * count})));
  return ({kind})__builtin_ia32_{call};
#else
  return __builtin_convertvector(x, {kind});
#endif
}}"""


# name -> the definition of `name_float4`; each stands before the functions that use it
functions: dict[str, Callable[..., str]] = {
    "gather": _gather,
    "all": _all,
    "widen": _convert_halves,
    "narrow": _convert_halves,
    "larger": _larger,
    "smaller": _larger,
    "nan_or": _nan_or,
    "where": _where,
    "max": _extreme,
    "min": _extreme,
    **library(),
    "sqrt": _sqrt,
    "stream": _stream,
}
