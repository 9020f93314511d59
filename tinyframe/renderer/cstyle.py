"""Source code in languages of C's family. A language is a table of templates.

`CStyleLanguage` is C with the vector extensions of GCC and clang (gcc.py), for a processor whose
threads divide a loop. Another language of the family is a subclass that overrides what differs:
templates, rows of tables, or one of the small methods, each of which writes one thing. What all of
them share, and the state of a program being written, is in program_text.py. The languages of GPUs
derive from `gpu/languages/base.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

import numpy as np

from tinyframe.dtype import DType, PtrDType, dtypes
from tinyframe.renderer import Renderer, gcc
from tinyframe.renderer.masks import masks
from tinyframe.renderer.program_text import (
    Writer,
    accessed_memory,
    argument_name,
    call,
    infix,
    is_threaded,
    may_overflow,
    short,
    variables,
)
from tinyframe.uop.node import Ops, UOp

# scratch arrays up to this size live on the stack
STACK_BYTES = 16 << 10
# the first line of a source for which the compiler needs a flag; see ClangCompiler
WRAPS = "// -fwrapv: signed integers wrap around"
# a type's name in an identifier, such as max_float4 -> the dtype
DTYPES = {short(dtype): dtype for dtype in dtypes.all}
A_TYPE = f"({'|'.join(sorted(DTYPES, key=len, reverse=True))})"


def max_and_min(
    body: str = "b {sign} a{nan} ? b : a", nan: str = " || b != b"
) -> dict[str, Callable[..., str]]:
    """The functions max and min, which give NaN if either operand is NaN. body: the expression they
    return. nan: what its condition adds for floats."""

    def definition(language: CStyleLanguage, name: str, dtype: DType) -> str:
        sign = ">" if name == "max" else "<"
        text = body.format(sign=sign, nan=nan if dtypes.is_float(dtype) else "")
        kind = language.type_name(dtype)
        return language.function(name, dtype, f"return {text};", a=kind, b=kind)

    return {"max": definition, "min": definition}


class CStyleLanguage(Renderer):
    """C with GCC's vector extensions: `float16` is 16 floats that are added with `+`."""

    device = "CPU"
    passes: tuple[tuple[str, Callable[[UOp], UOp]], ...] = (("masks", masks),)
    # templates of statements: a declaration, an accumulator's first value, a loop, conditions
    declare = accumulate = "{type} {name} = {value};"
    loop = "for ({type} {name} = {start}; {name} < {stop}; {name}++) {{"
    unrolled = 0  # innermost loops of at most so many iterations are written out by the compiler
    if_statement = "if ({condition}) {statement}"
    guarded = "({condition} ? {value} : {zero})"  # memory is only read where it holds
    # a Variable as a parameter, and its line at the top of the kernel's body
    variable, variable_inside = "const {type} {name}", ""
    # this thread's share of a THREAD loop: parameters, and a line at the top of the body
    share: tuple[str, ...] = ("const int start", "const int stop")
    share_inside = ""
    # one signature for all kernels: buffers, Variables' values, a share of the THREAD loop
    entry = """\
void {name}_entry(void** bufs, const long long* vals, int start, int stop) {{
  {name}({given});
}}
"""
    # before a kernel's name, before a buffer's type, after its `*`
    kernel_prefix = "void"
    # before the type of a function that a kernel calls
    function_prefix = "static inline"
    buffer_prefix = ""
    restrict = "restrict"
    # the qualifier of an array shared by a block's threads; without one each thread has its own
    local_prefix = ""
    local_suffix = " __attribute__((aligned(64)))"
    # the statement at which all threads of a block wait for each other
    barrier = ""
    # "g": the number of a block along an axis, "l": of a thread in its block
    code_for_workitem: Mapping[str, Callable[[int], str]] = {}
    # the first line of a program whose signed integers may overflow and have to wrap around
    wraps = WRAPS
    # whether a comparison is a number that can be added as it is
    bools_are_ints = True
    # whether assigning a number to a variable of another type converts it
    assignment_converts = True
    # C itself has no float16: a device whose compiler has `_Float16` says so
    native_half = False

    type_names: Mapping[DType, str] = {dtypes.bool: "_Bool", dtypes.half: "_Float16"}
    # inf and NaN; suffixes of integer literals
    infinity, not_a_number = "__builtin_inff()", '__builtin_nanf("")'
    suffixes: Mapping[DType, str] = {dtypes.long: "l", dtypes.ulong: "ul", dtypes.uint: "u"}

    # op -> its expression, given those of its operands and its dtype (for comparisons, theirs)
    code_for_op: Mapping[Ops, Callable[..., str]] = {
        Ops.ADD: infix("+"),
        Ops.SUB: infix("-"),
        Ops.MUL: infix("*"),
        Ops.FDIV: infix("/"),
        Ops.CDIV: infix("/"),
        Ops.CMOD: infix("%"),
        Ops.AND: infix("&"),
        Ops.OR: infix("|"),
        Ops.XOR: infix("^"),
        Ops.SHL: infix("<<"),
        Ops.SHR: infix(">>"),
        Ops.CMPLT: infix("<"),
        Ops.CMPLE: infix("<="),
        Ops.CMPNE: infix("!="),
        Ops.CMPEQ: infix("=="),
        Ops.NEG: lambda a, dtype: f"(-{a})",
        Ops.SQRT: call("sqrt"),
        Ops.TRUNC: call("trunc"),
        Ops.MAX: call("max"),
        Ops.MIN: call("min"),
        Ops.WHERE: lambda c, a, b, dtype: f"({c} ? {a} : {b})",
    }
    code_for_double: Mapping[Ops, Callable[..., str]] = {
        op: call(name) for op, (name, _) in gcc.OF_DOUBLES.items()
    }
    # ops with a vector among operands or results, and how vectors are loaded and stored; see gcc.py
    code_for_vector: Mapping[Ops, Callable[..., str]] = gcc.code_for_vector
    typedef: Callable[..., str] | None = gcc.typedef
    load_vector, store_vector, stream_vector = gcc.load, gcc.store, gcc.stream
    # which STOREs of vectors `stream_vector` writes; which values are wrapped in `round`
    nontemporal_stores: Callable[..., set[UOp]] | None = gcc.nontemporal_stores
    rounded: Callable[..., set[UOp]] | None = None
    round: Callable[[str, DType], str]
    gather, scatter = gcc.gather, gcc.scatter
    # name -> the definition of a function that the language lacks, `name_float` and `name_float4`
    functions: Mapping[str, Callable[..., str]] = {**max_and_min(), **gcc.library()}
    vector_functions: Mapping[str, Callable[..., str]] = gcc.functions

    # ---- types and constants --------------------------------------------------------------------

    def type_name(self, dtype: DType) -> str:
        if dtype.count > 1:  # vectors of bools are bytes in memory; comparisons give masks
            return short(dtype.mask() if dtypes.is_bool(dtype) else dtype)
        return self.type_names.get(dtype, dtype.name)

    def constant(self, value, dtype: DType) -> str:
        if dtypes.is_float(dtype):
            if math.isnan(value):
                text = self.not_a_number
            elif math.isinf(value):
                text = "-" * (value < 0) + self.infinity
            else:
                # of a float32 the shortest decimal that reads back as this number
                is_double = dtype is dtypes.double
                text = repr(value) if is_double else f"{float(str(np.float32(value)))}f"
            return f"({self.type_name(dtype)}){text}" if dtype is dtypes.half else text
        if dtypes.is_bool(dtype):
            return "1" if value else "0"
        suffix = self.suffixes.get(dtype, "")
        if dtype in (dtypes.int, dtypes.long) and value == dtype.min:
            return f"({value + 1}{suffix}-1)"  # minus is an operator, so C has no such literal
        return f"{value}{suffix}"

    # ---- one thing each -------------------------------------------------------------------------

    def cast(self, x: str, dtype: DType) -> str:
        return f"(({self.type_name(dtype)}){x})"

    def bitcast(self, x: str, old: DType, new: DType) -> str:
        fields = f"{self.type_name(old)} from; {self.type_name(new)} to;"
        return f"((union {{ {fields} }}){{ .from = {x} }}).to"

    def accepts_scalar_operand(self, vector: DType, op: Ops) -> bool:
        """Whether `v * 2.0f` equals `v` times a vector of twos: C computes half as float."""
        return vector.scalar() is not dtypes.half

    def zero(self, dtype: DType) -> str:
        return f"({self.type_name(dtype)}){{0}}" if dtype.count > 1 else "0"

    def read(self, memory: UOp, name: str, place: str) -> str:
        """One element of a buffer or a panel."""
        return f"{name}[{place}]"

    def write(self, memory: UOp, name: str, place: str, value: str) -> str:
        return f"{name}[{place}] = {value};"

    def scratch(self, name: str, dtype: PtrDType) -> tuple[list[str], str]:
        """An array: its declarations before the kernel, and inside it."""
        element = self.type_name(dtype.base)
        array = f"{element} {name}[{max(dtype.size, 1)}]{self.local_suffix};"
        if self.local_prefix or dtype.size * dtype.base.itemsize <= STACK_BYTES:
            return [], f"{self.local_prefix}{array}"
        pointer = f"{element}* {self.restrict} {name} = {name}_of_thread();"
        return [gcc.memory_of_thread(element, name, array)], pointer

    def workitem(self, name: str) -> str:
        """`gidx0`, the number of a block along axis 0, or `lidx0`, of a thread in its block."""
        if (code := self.code_for_workitem.get(name[0])) is None:
            raise self._lacks(name, f"give `code_for_workitem` a row {name[0]!r}")
        return code(int(name[-1]))

    def barrier_statement(self) -> str:
        if not self.barrier:
            raise self._lacks("BARRIER", "set `barrier`")
        return self.barrier

    def _lacks(self, what: str, remedy: str) -> NotImplementedError:
        name = type(self).__name__
        return NotImplementedError(f"{name} cannot write {what}: {remedy}")

    # ---- a program ------------------------------------------------------------------------------

    def render(self, name: str, uops: list[UOp]) -> str:
        writer = Writer(self, uops)
        if writer.nontemporal_stores:
            writer.outside.append(gcc.STREAMED)
            writer.line("streamed();")
        begin = [self.share_inside] * is_threaded(uops)
        begin += [self.of_variable(self.variable_inside, u) for u in variables(uops)]
        head = [f"{self.signature(name, uops)} {{", *[f"  {line}" for line in begin if line]]
        given = [f"bufs[{n}]" for n in range(sum(u.op is Ops.DEFINE_GLOBAL for u in uops))]
        given += [f"vals[{n}]" for n in range(len(variables(uops)))]
        given += ["start", "stop"] * is_threaded(uops)
        text = "\n".join([*head, *writer.lines, "}\n"])
        text += self.entry.format(name=name, given=", ".join(given))
        text = "\n".join([*writer.outside, *self.definitions(text), text])
        notes = [self.wraps] if self.wraps and any(map(may_overflow, uops)) else []
        return "\n".join([*notes, *self.typedefs(text), text])

    def signature(self, name: str, uops: list[UOp]) -> str:
        arguments = [*self.arguments(uops), *(self.share if is_threaded(uops) else ())]
        return f"{self.kernel_prefix} {name}({', '.join(arguments)})"

    def arguments(self, uops: list[UOp]) -> list[str]:
        written = {accessed_memory(u) for u in uops if u.op is Ops.STORE}
        buffers = sorted((u for u in uops if u.op is Ops.DEFINE_GLOBAL), key=lambda u: u.arg)
        return [
            *[self.buffer(u, is_written=u in written) for u in buffers],
            *[self.of_variable(self.variable, u) for u in variables(uops)],
        ]

    def buffer(self, u: UOp, is_written: bool) -> str:
        """A buffer as a parameter."""
        kind = f"{'' if is_written else 'const '}{self.type_name(u.dtype.base)}*"
        words = [f"{self.buffer_prefix}{kind}", self.restrict, argument_name(u)]
        return " ".join(filter(None, words))

    def of_variable(self, form: str, u: UOp) -> str:
        kind, long = self.type_name(u.dtype), self.type_name(dtypes.long)
        return form.format(type=kind, long=long, name=argument_name(u))

    def function(self, name: str, dtype: DType, body: str, **parameters: str) -> str:
        """The definition of a function that returns a `dtype`; parameters: name -> type."""
        given = ", ".join(f"{kind} {parameter}" for parameter, kind in parameters.items())
        head = f"{self.function_prefix} {self.type_name(dtype)} {name}_{short(dtype)}({given})"
        return f"{head} {{ {body} }}"

    def definitions(self, text: str) -> list[str]:
        """Definitions of the functions that a program calls and the language lacks."""
        found: list[str] = []
        for name in reversed({**self.vector_functions, **self.functions}):
            if f"{name}_" not in (seen := "\n".join([*found, text])):  # faster than a pattern
                continue
            here, named = [], re.findall(rf"\b{name}_{A_TYPE}(\d*)\b", seen)
            for kind, count in dict.fromkeys(named):
                table = self.vector_functions if count else self.functions
                here.append(table[name](self, name, DTYPES[kind].vec(int(count or 1))))
            found = here + found
        return found

    def typedefs(self, text: str) -> list[str]:
        """Definitions of the vector types that a program uses and the language lacks."""
        vectors = dict.fromkeys(re.findall(rf"\b{A_TYPE}(\d+)\b", text))
        define = self.typedef
        return [define(DTYPES[k].vec(int(n))) for k, n in vectors] if define else []
