"""What x86 has one instruction for and C no words: functions in C that a kernel begins with.

Each is right on every processor and with every compiler; GCC's builtins are used where it has them,
and clang finds the instruction by itself.
"""

from __future__ import annotations

from tinyframe.dtype import DType, PtrDType, dtypes
from tinyframe.renderer.writer import memory_of
from tinyframe.uop.node import Ops, UOp

# vectors by their bytes: the macro that says they are there, and how the builtins' names end
VECTORS = {16: ("__SSE2__", ""), 32: ("__AVX__", "256"), 64: ("__AVX512F__", "512")}
# bytes of a line of memory, which caches fetch and write as one
LINE = 64

# Writes past the caches are not seen in order, as others are: who waits for a kernel has to find
# them all.
STREAMED = """\
static inline void streamed(void) {
#if defined(__SSE__)
  __builtin_ia32_sfence();
#endif
}"""


def streams(uops: list[UOp], caches: int) -> set[UOp]:
    """The STOREs that are written past the caches: none of these could keep what they write until
    it is read, and a line that is written whole need not be fetched before it. Not to what the
    kernel also reads, and no vectors that fill a line together with another statement's.

    caches: bytes of the largest.
    """
    stores = [u for u in uops if u.op is Ops.STORE and memory_of(u).op is Ops.DEFINE_GLOBAL]
    read = {memory_of(u) for u in uops if u.op is Ops.LOAD}

    def is_streamed(u: UOp) -> bool:
        memory, vector = memory_of(u), u.src[1].dtype
        if memory in read or u.src[0].arg is not None or dtypes.is_bool(vector):
            return False  # with lanes apart, or bools, which are bytes there
        fills = vector.itemsize == LINE or (vector.itemsize in VECTORS and len(stores) == 1)
        assert isinstance(memory.dtype, PtrDType)
        return fills and memory.dtype.nbytes > caches

    return set(filter(is_streamed, stores))


def stream(kind: str, size: int) -> str:
    """stream_kind(p, x): writes a vector past the caches, so that the line is not read first."""
    feature, width = VECTORS[size]
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


def gather(function: str, kind: str, element: str, dtype: DType) -> str:
    """function(p, step): the lanes p[0], p[step], p[2 * step], …

    The instruction's own indices have 32 bits, and 16 lanes of 4 bytes are what it reads at once.
    As 16 statements GCC takes twice as long to compile them.
    """
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
static inline {kind} {function}(const {element}* p, long long step) {{
{at_once if (dtype.count, dtype.scalar().itemsize) == (16, 4) else ""}\
  {kind} r;
  for (int l = 0; l < {dtype.count}; l++) r[l] = p[l * step];
  return r;
}}"""


def compares(dtype: DType) -> bool:
    """Whether a processor may have an instruction for the larger of two such vectors."""
    return dtype.scalar() in (dtypes.float, dtypes.double) and dtype.itemsize in VECTORS


def choose(which: str, kind: str, mask: str, element: int, size: int) -> str:
    """larger_kind(a, b): a > b ? a : b, or smaller_kind(a, b): a < b ? a : b; b where one is NaN.

    mask: the vector of integers that a comparison gives. element: bytes of one lane.
    """
    feature, width = VECTORS[size]
    sign, builtin = (">", "max") if which == "larger" else ("<", "min")
    builtin += {4: "ps", 8: "pd"}[element] + width
    # of AVX-512 the one with a mask (all lanes) and a rounding (as always)
    call = f"{builtin}_mask(a, b, a, -1, 4)" if size == 64 else f"{builtin}(a, b)"
    return f"""\
static inline {kind} {which}_{kind}({kind} a, {kind} b) {{
#if defined({feature}) && !defined(__clang__)
  return __builtin_ia32_{call};
#else
  {mask} c = a {sign} b; return ({kind})((c & ({mask})a) | (~c & ({mask})b));
#endif
}}"""


def nan_or(kind: str, mask: str, element: int, size: int) -> str:
    """nan_or_kind(a, b): b where that is NaN, otherwise a. The parameters are those of `choose`."""
    feature, width = VECTORS[size] if size == 64 else ("__AVX512VL__", str(8 * size))
    entry, letters = {4: ("int", "ps"), 8: ("long long", "pd")}[element]
    rounding = ", 4" if size == 64 else ""
    # for each class of b the table says what comes out: b (1) of the first two, which are NaNs
    return f"""\
static inline {kind} nan_or_{kind}({kind} a, {kind} b) {{
#if defined({feature}) && !defined(__clang__)
  typedef {entry} table __attribute__((vector_size({size})));
  return __builtin_ia32_fixupimm{letters}{width}_mask(a, b, (table){{0}} + 0x11, 0, -1{rounding});
#else
  {mask} c = b != b; return ({kind})((c & ({mask})b) | (~c & ({mask})a));
#endif
}}"""


# lanes of float16 that one instruction converts -> the macro that says so, and how the builtins end
HALVES = {8: ("__F16C__", "256"), 16: ("__AVX512F__", "512")}


def converts(old: DType, new: DType) -> str | None:
    """The function that converts between vectors of float16 and of float32, where a processor may
    have an instruction for them."""
    if old.count not in HALVES:
        return None
    pair = old.scalar(), new.scalar()
    names = {(dtypes.half, dtypes.float): "widen", (dtypes.float, dtypes.half): "narrow"}
    return names.get(pair)


def convert(which: str, count: int) -> str:
    """widen_half8(x): as floats, or narrow_half8(x): as float16, rounded to even."""
    feature, width = HALVES[count]
    floats, halves = f"float{count}", f"half{count}"
    if which == "widen":
        kind, given = floats, halves
        call = f"vcvtph2ps{width}"
        call += f"_mask((bits)x, ({floats}){{0}}, -1, 4)" if count == 16 else "((bits)x)"
    else:
        kind, given = halves, floats
        call = f"vcvtps2ph{width}" + ("_mask(x, 4, (bits){0}, -1)" if count == 16 else "(x, 4)")
    return f"""\
static inline {kind} {which}_{halves}({given} x) {{
#if defined({feature}) && !defined(__clang__)
  typedef short bits __attribute__((vector_size({2 * count})));
  return ({kind})__builtin_ia32_{call};
#else
  return __builtin_convertvector(x, {kind});
#endif
}}"""
