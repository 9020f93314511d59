"""WGSL, the language of WebGPU's compute shaders.

    @group(0) @binding(0) var<storage, read_write> data0: array<f32>;
    @group(0) @binding(1) var<storage, read> data1: array<f32>;

    @compute @workgroup_size(1, 1, 1)
    fn E_4(@builtin(workgroup_id) block: vec3<u32>, …) {
      for (var ridx0: i32 = 0; ridx0 < 4; ridx0++) {
        let val0: f32 = data1[ridx0];
        data0[ridx0] = val0 + 1.0f;
      }
    }

A buffer is a variable of the module; a GLOBAL loop becomes the index of a workgroup, a LOCAL loop
that of an invocation in it. WGSL differs from the other languages of the family:

- There are no implicit conversions, and the only types are bool, i32, u32 and f32. Integers of 8
  and 16 bits are computed in 32 bits and truncated. In memory four or two of them share a u32. Each
  buffer has a function to read an element, and one to write it in two atomic steps, since other
  threads may write to the same word.
- f16 needs a feature that an adapter may lack; i64, u64 and f64 are extensions of wgpu, which tells
  whether an adapter supports them.
- A compiler may rearrange floats as if they were real numbers (15.7.5): x for (x + y) - y. If the
  rounding in between matters, the bits of the value are XORed with an argument that is always 0.
- Some implementations of `!=` take a NaN as equal to itself, none of `==` does. And infinity cannot
  be written, not even as a constant expression, so its bits go through a variable.

https://www.w3.org/TR/WGSL/ (6.2 types, 8 expressions, 14.4 memory layout, 17 built-in functions)
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tinyframe.algebra.symbolic import fold
from tinyframe.dtype import AddrSpace, DType, PtrDType, dtypes, to_np_dtype
from tinyframe.gpu.languages.base import GPULanguage
from tinyframe.gpu.languages.emulate_int64 import emulate_int64
from tinyframe.gpu.languages.scalarize import scalarize
from tinyframe.renderer import Target
from tinyframe.renderer.cstyle import CStyleLanguage, max_and_min
from tinyframe.renderer.program_text import (
    accessed_memory,
    argument_name,
    call,
    infix,
    short,
    variables,
    without_parens,
)
from tinyframe.rewrite.matcher import PatternMatcher, UPat, graph_rewrite
from tinyframe.uop.node import GroupOp, Ops, UOp

# feature of an adapter -> the dtypes it provides
FEATURES = {
    "shader-f16": frozenset([dtypes.half]),
    "shader-int64": frozenset([dtypes.long, dtypes.ulong]),
    "shader-f64": frozenset([dtypes.double]),
}

# ---- what the language cannot express ----------------------------------------------------------


def float_of_bits(u: UOp, c: UOp) -> UOp:
    bits = np.array(c.arg, to_np_dtype(c.dtype))
    return UOp.const(u.dtype, float(bits.view(f"f{u.dtype.itemsize}")))


def where_finite(x: UOp, value: UOp) -> UOp:
    """The value if x is finite, else NaN."""
    unsigned = x.dtype.unsigned()
    size = x.bitcast(unsigned) & ((1 << (unsigned.bits - 1)) - 1)
    is_finite = size < x.const_like(math.inf).bitcast(unsigned)
    return is_finite.where(value, x.const_like(math.nan))


def times_zero(x: UOp, zero: UOp) -> UOp | None:
    if zero.arg != 0:
        return None
    unsigned = x.dtype.unsigned()
    sign_bit = 1 << (unsigned.bits - 1)
    sign = x.bitcast(unsigned) & sign_bit
    if math.copysign(1, zero.arg) < 0:
        sign = sign ^ sign_bit
    return where_finite(x, sign.bitcast(x.dtype))


_x = UPat.var("x", {dtypes.float, dtypes.double})
_a, _b = UPat.var("a", dtypes.bool), UPat.var("b", dtypes.bool)
rules = PatternMatcher([
    # bools cannot be compared with `<`, and have no `^`
    (UPat(Ops.CMPLT, src=(_a, _b)), lambda a, b: a.ne(True) & b),
    (UPat(Ops.CMPLE, src=(_a, _b)), lambda a, b: a.ne(True) | b),
    (UPat(Ops.XOR, src=(_a, _b)), lambda a, b: a.ne(b)),
    # a constant expression must not overflow, or give NaN or infinity
    (UPat(GroupOp.Elementwise - {Ops.BITCAST}, src=UPat(Ops.CONST), name="u"), fold),
    (UPat(Ops.BITCAST, {dtypes.float, dtypes.double}, (UPat.cvar("c"),), name="u"), float_of_bits),
    # A compiler may replace a division by the constant 0 with anything, fold x * 0 to 0, x - x to 0
    # and x / x to 1, which is wrong for NaN and infinity.
    (UPat(Ops.FDIV, src=(UPat.var("x"), UPat.cvar("zero"))),
     lambda x, zero: None if zero.arg else x * math.copysign(math.inf, zero.arg)),
    (UPat(Ops.MUL, src=[_x, UPat.cvar("zero")]), times_zero),
    (UPat(Ops.SUB, src=(_x, UPat.var("x"))), lambda x: where_finite(x, x.const_like(0.0))),
    (UPat(Ops.FDIV, src=(_x, UPat.var("x"))),
     lambda x: where_finite(x, x.eq(0).where(x.const_like(math.nan), x.const_like(1.0)))),
])  # fmt: skip


def replace_unsupported(sink: UOp) -> UOp:
    return graph_rewrite(sink, rules, name="replace unsupported ops")


# naga extends an integer to 64 bits by the signedness of the new type: -1 as a u64 would be
# 2**32 - 1.
by_own_sign = PatternMatcher([
    (UPat(Ops.CAST, dtypes.ulong, (UPat.var("x", {dtypes.char, dtypes.short, dtypes.int}),)),
     lambda x: x.cast(dtypes.long).bitcast(dtypes.ulong)),
    (UPat(Ops.CAST, dtypes.long, (UPat.var("x", {dtypes.uchar, dtypes.ushort, dtypes.uint}),)),
     lambda x: x.cast(dtypes.ulong).bitcast(dtypes.long)),
])  # fmt: skip


def widen_by_own_sign(sink: UOp) -> UOp:
    return graph_rewrite(sink, by_own_sign, name="widen by own sign")


# ---- rows of the tables -------------------------------------------------------------------------


class _Shift(infix):
    """A shift, whose count is always a u32."""

    def __call__(self, a: str, b: str, dtype: DType) -> str:
        count = re.fullmatch(r"(\d+)(u|li|lu)?", b)
        return f"({a} {self.sign} {f'{count[1]}u' if count else f'u32({without_parens(b)})'})"


class _Unequal(infix):
    """`!=` for which a NaN differs from itself."""

    def __call__(self, a: str, b: str, dtype: DType) -> str:
        return f"(!({a} == {b}))" if dtypes.is_float(dtype) else super().__call__(a, b, dtype)


def _of_bits(bits: int) -> Callable[..., str]:
    """A function that returns the float with these bits."""
    body = f"var bits = {bits:#x}u; return bitcast<f32>(bits);"
    return lambda language, name, dtype: language.function(name, dtype, body)


def _round(language: CStyleLanguage, name: str, dtype: DType) -> str:
    kind, bits = language.type_name(dtype), language.type_name(dtype.unsigned())
    body = f"return bitcast<{kind}>(bitcast<{bits}>(x) ^ {bits}(launch.zero));"
    return language.function(name, dtype, body, x=kind)


SUMS = (Ops.ADD, Ops.SUB)


def is_rearranged(inner: UOp, outer: UOp) -> bool:
    """Whether a compiler could merge two steps of a sum or product if floats were real numbers:
    they share an operand, or each has a constant."""
    others = [x for s in outer.src if (x := without_sign(s)) is not inner]
    operands = [without_sign(s) for s in inner.src]
    if inner.op in SUMS and outer.op in SUMS and any(x in operands for x in others):
        return True
    alike = {inner.op, outer.op} <= {*SUMS} or inner.op is outer.op is Ops.MUL
    return alike and all(any(x.op is Ops.CONST for x in of) for of in (operands, others))


def without_sign(u: UOp) -> UOp:
    return without_sign(u.src[0]) if u.op is Ops.NEG else u


def is_packed(memory: UOp) -> bool:
    """Whether several elements of a buffer share a word, because there is no type of their size."""
    narrow = memory.dtype.base.itemsize < 4 and memory.dtype.base is not dtypes.half
    return memory.addrspace is AddrSpace.GLOBAL and narrow


# ---- the language -------------------------------------------------------------------------------


class WGSLLanguage(GPULanguage):
    """WGSL.

    features: the adapter's; those in FEATURES provide dtypes. Without "shader-f16", kernels handle
    float16 as its bits; without "shader-int64", 64-bit integers are emulated with words; without
    "shader-f64", sin and cos are built-ins, which 15.7.4.1 only requires to be accurate to 2**-11
    from -pi to pi.
    """

    device = "WEBGPU"
    passes: tuple[tuple[str, Callable[[UOp], UOp]], ...] = (
        ("scalarize", scalarize(0, ())),
        ("replace unsupported ops", replace_unsupported),
    )
    declare, accumulate = "let {name}: {type} = {value};", "var {name}: {type} = {value};"
    loop = "for (var {name}: {type} = {start}; {name} < {stop}; {name}++) {{"
    if_statement = "if ({condition}) {{ {statement} }}"
    guarded = "select({zero}, {value}, {bare})"  # reading out of bounds is not an error (14.6)
    variable_inside = "let {name}: {type} = launch.{name};"
    barrier = "workgroupBarrier();"
    code_for_workitem = {"g": lambda n: f"i32(block.{'xyz'[n]})",
                         "l": lambda n: f"i32(thread.{'xyz'[n]})"}  # fmt: skip
    bools_are_ints = False
    assignment_converts = False
    type_names = {
        **dict.fromkeys((dtypes.char, dtypes.short, dtypes.int), "i32"),
        **dict.fromkeys((dtypes.uchar, dtypes.ushort, dtypes.uint), "u32"),
        dtypes.bool: "bool", dtypes.long: "i64", dtypes.ulong: "u64",
        dtypes.half: "f16", dtypes.float: "f32", dtypes.double: "f64",
    }  # fmt: skip
    infinity, not_a_number = "inf_float()", "nan_float()"
    suffixes = {dtypes.uchar: "u", dtypes.ushort: "u", dtypes.uint: "u",
                dtypes.long: "li", dtypes.ulong: "lu"}  # fmt: skip
    code_for_op: Mapping[Ops, Any] = {
        **GPULanguage.code_for_op,
        Ops.SHL: _Shift("<<"),
        Ops.SHR: _Shift(">>"),
        Ops.CMPNE: _Unequal("!="),
        Ops.WHERE: lambda c, a, b, dtype: (
            f"select({without_parens(b)}, {without_parens(a)}, {without_parens(c)})"
        ),
    }
    code_for_double: Mapping[Ops, Any] = {}  # of f64 naga has arithmetic and roots
    code_for_vector: Mapping[Ops, Any] = {}
    functions: Mapping[str, Any] = {
        # the built-in max() and min() may return either operand if one is NaN
        **max_and_min("select(a, b, b {sign} a{nan})", " || !(b == b)"), "round": _round,
        "inf": _of_bits(0x7F800000), "nan": _of_bits(0x7FC00000),
    }  # fmt: skip
    vector_functions: Mapping[str, Any] = {}
    # the limits that every adapter guarantees (WebGPU, 3.6.2 limits)
    default_target = Target(
        vector_bytes=16, vector_registers=64, threads=1, l1=32 << 10, l2=1 << 20, most_lanes=4,
        least_bytes=4, block_threads=256, shared_bytes=16 << 10, grid=(65535,) * 3, warp=32,
        most_buffers=8,
    )  # fmt: skip

    def __init__(
        self, target: Target | None = None, features: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(target)
        if "shader-int64" in features:
            self.passes = (*self.passes, ("widen by own sign", widen_by_own_sign))
        else:
            self.passes = (*self.passes, ("emulate int64", emulate_int64))
        if "shader-f64" not in features:  # else these are computed in float64
            self.code_for_op = {**self.code_for_op, Ops.SIN: call("sin", typed=False),
                                Ops.COS: call("cos", typed=False)}  # fmt: skip
        self.native_half = "shader-f16" in features
        self.unsupported = frozenset().union(
            *(found for feature, found in FEATURES.items() if feature not in features)
        )

    # ---- one thing each -------------------------------------------------------------------------

    def constant(self, value: Any, dtype: DType) -> str:
        if dtypes.is_bool(dtype):
            return "true" if value else "false"
        if dtype is dtypes.double and math.isfinite(value):
            return f"{value!r}lf"
        if dtypes.is_float(dtype):
            text = super().constant(value, dtypes.float)
            return text if dtype is dtypes.float else f"{self.type_name(dtype)}({text})"
        if dtypes.is_unsigned(dtype):
            value %= 1 << dtype.bits
        return super().constant(value, dtype)

    def cast(self, x: str, dtype: DType) -> str:
        text = f"{self.type_name(dtype)}({without_parens(x)})"
        is_narrow = dtypes.is_int(dtype) and dtype.itemsize < 4
        return f"extractBits({text}, 0u, {dtype.bits}u)" if is_narrow else text

    def bitcast(self, x: str, old: DType, new: DType) -> str:
        if old.itemsize >= 4:
            return f"bitcast<{self.type_name(new)}>({without_parens(x)})"
        if new is dtypes.half:
            return f"f16(unpack2x16float({self.cast(x, dtypes.ushort)}).x)"
        if old is dtypes.half:
            x = f"pack2x16float(vec2<f32>(f32({without_parens(x)}), 0.0f))"
        return self.cast(x, new)

    def zero(self, dtype: DType) -> str:
        return self.constant(0, dtype)

    def read(self, memory: UOp, name: str, place: str) -> str:
        return f"read_{name}({place})" if is_packed(memory) else super().read(memory, name, place)

    def write(self, memory: UOp, name: str, place: str, value: str) -> str:
        if is_packed(memory):
            return f"write_{name}({place}, {value});"
        return super().write(memory, name, place, value)

    def scratch(self, name: str, dtype: PtrDType) -> tuple[list[str], str]:
        array = f"array<{self.type_name(dtype.base)}, {max(dtype.size, 1)}>"
        return [f"var<workgroup> {name}: {array};"], ""

    def rounded(self, uops: list[UOp]) -> set[UOp]:
        floats = (u for u in uops if u.op in (*SUMS, Ops.MUL) and dtypes.is_float(u.dtype))
        steps = ((u, without_sign(s)) for u in floats for s in u.src)
        return {s for u, s in steps if s.op in (*SUMS, Ops.MUL) and is_rearranged(s, u)}

    def round(self, x: str, dtype: DType) -> str:
        return f"round_{short(dtype)}({without_parens(x)})"

    # ---- a program ------------------------------------------------------------------------------

    def render(self, name: str, uops: list[UOp]) -> str:
        """The kernel, preceded by its buffers, their accessors and the uniforms of a launch."""
        text = super().render(name, uops)
        written = {accessed_memory(u) for u in uops if u.op is Ops.STORE}
        buffers = sorted((u for u in uops if u.op is Ops.DEFINE_GLOBAL), key=lambda u: u.arg)
        has_half = any(u.dtype.base.scalar() is dtypes.half for u in uops)
        lines = ["enable f16;"] if has_half else []
        for binding, u in enumerate(buffers):
            lines.append(f"@group(0) @binding({binding}) {self.buffer(u, u in written)}")
        for u in filter(is_packed, buffers):
            lines += self.accessors(u, u in written, text)
        if "launch." in text:
            values = [f"{argument_name(u)}: {self.type_name(u.dtype)}" for u in variables(uops)]
            lines.append(f"struct Launch {{ {', '.join(['zero: u32', *values])} }}")
            lines.append(f"@group(0) @binding({len(buffers)}) var<uniform> launch: Launch;")
        return "\n".join([*lines, text])

    def buffer(self, u: UOp, is_written: bool) -> str:
        element = self.type_name(u.dtype.base)
        if is_packed(u):
            element = "atomic<u32>" if is_written else "u32"
        access = "read_write" if is_written else "read"
        return f"var<storage, {access}> {argument_name(u)}: array<{element}>;"

    def function(self, name: str, dtype: DType, body: str, **parameters: str) -> str:
        given = ", ".join(f"{parameter}: {kind}" for parameter, kind in parameters.items())
        return f"fn {name}_{short(dtype)}({given}) -> {self.type_name(dtype)} {{ {body} }}"

    def accessors(self, u: UOp, is_written: bool, text: str) -> list[str]:
        """The functions to read and write an element of a packed buffer, if the program calls
        them."""
        name, dtype = argument_name(u), u.dtype.base
        kind, bits, lanes = self.type_name(dtype), dtype.bits, 4 // dtype.itemsize
        place, shift = f"{name}[i / {lanes}]", f"u32(i % {lanes}) * {bits}u"
        lines = []
        if f"read_{name}(" in text:
            word = f"atomicLoad(&{place})" if is_written else place
            number = f"extractBits({{}}({word}), {shift}, {bits}u)"
            number = f"{number.format('u32')} != 0u" if kind == "bool" else number.format(kind)
            lines.append(f"fn read_{name}(i: i32) -> {kind} {{ return {number}; }}")
        if f"write_{name}(" in text:
            mask = f"{2**bits - 1:#x}u"
            lines += [
                f"fn write_{name}(i: i32, x: {kind}) {{",
                f"  let shift = {shift};",
                f"  atomicAnd(&{place}, ~({mask} << shift));",
                f"  atomicOr(&{place}, (u32(x) & {mask}) << shift);",
                "}",
            ]
        return lines

    def signature(self, name: str, uops: list[UOp]) -> str:
        sizes = dict(u.arg for u in uops if u.op is Ops.SPECIAL)
        block = ", ".join(str(sizes.get(f"lidx{axis}", 1)) for axis in range(3))
        builtins = {"block": "workgroup_id", "thread": "local_invocation_id"}
        given = ", ".join(f"@builtin({b}) {a}: vec3<u32>" for a, b in builtins.items())
        return f"@compute @workgroup_size({block})\nfn {name}({given})"
