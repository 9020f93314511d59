"""Source text in languages of C's family. A language is a table of how each op is written.

`CStyleLanguage` writes plain C with the vector extensions that GCC and Clang share; a backend for
another language of the family subclasses it and changes what differs.
"""

from __future__ import annotations

import copy
import math
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tinyframe.dtype import AddrSpace, DType, PtrDType, dtypes
from tinyframe.renderer import Renderer, variables, x86
from tinyframe.renderer.masks import masks
from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp

# a value used once is written where it is used, up to this depth of brackets
MOST_NESTING = 8
# scratch arrays up to this size live on the stack
STACK_BYTES = 16 << 10


# those that a text may need, each before what is made of it
FUNCTIONS = [r"panel\d+", "streamed", r"all_\w+", r"larger_\w+", r"smaller_\w+", r"where_\w+",
             r"max_\w+", r"min_\w+", r"sqrt_\w+", r"trunc_\w+", r"stream_\w+"]  # fmt: skip


class infix:
    """How an op with a sign between its operands is written. The writer leaves out the brackets
    that nobody misses."""

    def __init__(self, sign: str):
        self.sign = sign

    def __call__(self, a: str, b: str, dtype: DType) -> str:
        if self.sign == "^" and b in ("-1", "-1l"):
            return f"(~{a})"
        if self.sign in "+-" and b.startswith("-"):
            return f"({a} {'-' if self.sign == '+' else '+'} {b[1:]})"
        return f"({a} {self.sign} {b})"


class call:
    """How an op that is a function is written: `max_float16(a, b)`."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, *operands) -> str:
        *x, dtype = operands
        return f"{self.name}_{short(dtype)}({', '.join(x)})"


# How tightly a sign binds: an operand that binds tighter needs no brackets, nor does the first one
# of two that bind alike. Of comparisons, shifts and bits not everybody knows.
BINDS = {Ops.CAST: 4, Ops.NEG: 4, Ops.MUL: 3, Ops.FDIV: 3, Ops.CDIV: 3, Ops.CMOD: 3, Ops.ADD: 2,
         Ops.SUB: 2, Ops.CMPLT: 1, Ops.CMPLE: 1, Ops.CMPNE: 1, Ops.CMPEQ: 1}  # fmt: skip
TURNED = {"<": ">", "<=": ">="}
CHAINS = {Ops.ADD, Ops.SUB, Ops.MUL, Ops.AND, Ops.OR, Ops.XOR}


class CStyleLanguage(Renderer):
    """C with GCC's vector extensions: `float16` is 16 floats that are added with `+`."""

    device = "CPU"
    passes = (("masks", masks),)
    restrict = "restrict"
    kernel_prefix = "void"
    # of the text that is being written: the vector types and the functions that it uses
    vector_types: dict[DType, None]
    helpers: dict[str, str]

    type_names: Mapping[DType, str] = {dtypes.bool: "_Bool", dtypes.half: "_Float16"}
    # how each op is written, given its operands' texts and its dtype (comparisons: the operands')
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

    # ---- types and constants --------------------------------------------------------------------

    def type_name(self, dtype: DType) -> str:
        if dtype.count > 1:
            if dtypes.is_bool(dtype):  # bytes, since a mask is what else a vector of bools could be
                dtype = dtype.mask()
            self.vector_types[dtype] = None
            return short(dtype)
        return self.type_names.get(dtype, dtype.name)

    def constant(self, value, dtype: DType) -> str:
        if dtypes.is_float(dtype):
            if math.isnan(value):
                text = '__builtin_nanf("")'
            elif math.isinf(value):
                text = "-__builtin_inff()" if value < 0 else "__builtin_inff()"
            else:
                text = f"{value!r}" if dtype is dtypes.double else f"{_shortest(value)}f"
            return f"({self.type_name(dtype)}){text}" if dtype is dtypes.half else text
        if dtypes.is_bool(dtype):
            return "1" if value else "0"
        if dtype is dtypes.int and value == dtypes.min(dtypes.int):
            return "(-2147483647-1)"
        if dtype is dtypes.long and value == dtypes.min(dtypes.long):
            return "(-9223372036854775807l-1)"
        suffix = {dtypes.long: "l", dtypes.ulong: "ul", dtypes.uint: "u"}.get(dtype, "")
        return f"{value}{suffix}"

    # ---- a program ------------------------------------------------------------------------------

    def render(self, name: str, uops: list[UOp]) -> str:
        # What a text needs besides the kernel is kept in a copy of the language: another thread may
        # be writing with it too.
        own = copy.copy(self)
        own.vector_types, own.helpers = {}, {}
        writer = _Writer(own, uops)
        body = writer.body()
        signature = own.signature(name, uops, writer)
        return own.around(name, uops, signature, body, writer)

    def arguments(self, uops: list[UOp], writer: _Writer) -> list[str]:
        written = {_root(u.src[0]) for u in uops if u.op is Ops.STORE}
        out = []
        for u in sorted((u for u in uops if u.op is Ops.DEFINE_GLOBAL), key=lambda u: u.arg):
            const = "" if u in written else "const "
            out.append(f"{const}{self.type_name(u.dtype.base)}* {self.restrict} {writer.names[u]}")
        out += [f"const {self.type_name(u.dtype)} {variable_name(u)}" for u in variables(uops)]
        return out

    def signature(self, name: str, uops: list[UOp], writer: _Writer) -> str:
        extra = ["const int start", "const int stop"] if is_threaded(uops) else []
        return f"{self.kernel_prefix} {name}({', '.join(self.arguments(uops, writer) + extra)})"

    def around(
        self, name: str, uops: list[UOp], signature: str, body: list[str], writer: _Writer
    ) -> str:
        """The whole source: types and helpers that are used, the kernel, and its entry point."""
        kernel = [
            f"{signature} {{",
            *body,
            *(["  streamed();"] if "streamed" in self.helpers else []),
            "}",
            *self.entry(name, uops),
        ]
        # What was prepared for an expression may not be in it after all.
        text = "\n".join(kernel) + "\n"
        for name in reversed(FUNCTIONS):
            for word in reversed(dict.fromkeys(re.findall(rf"\b{name}\b", text))):
                text = f"{self.helpers[word]}\n{text}" if word in self.helpers else text
        lines = {kind: line for line, kind in self.typedefs()}
        words = dict.fromkeys(re.findall(r"\b[a-z]+\d+\b", text))
        types = [lines[word] for word in words if word in lines]
        notes = [WRAPS] if any(map(may_overflow, uops)) else []
        return "\n".join([*notes, *types, text])

    def typedefs(self) -> Iterable[tuple[str, str]]:
        """Each vector type: its definition, and its name."""
        for dtype in self.vector_types:
            scalar = dtype.scalar()
            element = self.type_name(scalar)
            layout = f"vector_size({scalar.itemsize * dtype.count}), aligned({scalar.itemsize})"
            name = short(dtype)
            yield f"typedef {element} {name} __attribute__(({layout}));", name

    def entry(self, name: str, uops: list[UOp]) -> list[str]:
        """One signature for all kernels: buffers, Variables' values, a share of the THREAD loop."""
        count = sum(u.op is Ops.DEFINE_GLOBAL for u in uops)
        given = [f"bufs[{n}]" for n in range(count)] + [
            f"vals[{n}]" for n in range(len(variables(uops)))
        ]
        given += ["start", "stop"] if is_threaded(uops) else []
        return [
            f"void {name}_entry(void** bufs, const long long* vals, int start, int stop) {{",
            f"  {name}({', '.join(given)});",
            "}",
        ]

    def helper(self, name: str, text: str) -> str:
        self.helpers.setdefault(name, text)
        return name

    def streamed(self, uops: list[UOp]) -> set[UOp]:
        """The arguments that are written past the caches: none of these could keep them until they
        are read, and a line that is written whole need not be fetched before it. Not what the
        kernel also reads, and no vectors that fill a line together with another statement's."""
        stores = [u for u in uops if u.op is Ops.STORE and _root(u.src[0]).op is Ops.DEFINE_GLOBAL]
        read = {_root(u.src[0]) for u in uops if u.op is Ops.LOAD}
        caches = max(self.target.l2, self.target.l3)
        return {
            buffer
            for buffer, value in [(_root(u.src[0]), u.src[1]) for u in stores]
            if buffer not in read
            and isinstance(buffer.dtype, PtrDType)
            and buffer.dtype.size * buffer.dtype.base.itemsize > caches
            and value.dtype.scalar() is not dtypes.bool
            and value.dtype.itemsize in x86.VECTORS
            and (value.dtype.itemsize == x86.LINE or len(stores) == 1)
        }

    def stream(self, dtype: DType) -> str:
        """The function that writes a vector past the caches."""
        kind = self.type_name(dtype)
        self.helper("streamed", x86.STREAMED)
        return self.helper(f"stream_{kind}", x86.stream(kind, dtype.itemsize))

    def compares(self, dtype: DType) -> bool:
        """Whether a processor may have an instruction for the larger of two such vectors."""
        return dtype.scalar() in (dtypes.float, dtypes.double) and dtype.itemsize in x86.VECTORS

    def choose(self, which: str, a: str, b: str, dtype: DType) -> str:
        """`a > b ? a : b` (larger) or `a < b ? a : b` (smaller), so b where one is NaN."""
        kind, size = self.type_name(dtype), dtype.scalar().itemsize
        mask = self.type_name(dtype.mask())
        text = x86.choose(which, kind, mask, size, dtype.itemsize)
        return f"{self.helper(f'{which}_{kind}', text)}({a}, {b})"


def _shortest(value: float) -> str:
    """The fewest digits that give this number as a float32."""
    (rounded,) = struct.unpack("f", struct.pack("f", value))
    for digits in range(6, 10):
        text = repr(float(f"{rounded:.{digits}g}"))
        if struct.pack("f", float(text)) == struct.pack("f", rounded):
            break
    return text


def short(dtype: DType) -> str:
    """A name for a type that can be part of an identifier: float16 is 16 floats."""
    name = repr(dtype.scalar()).removeprefix("dtypes.")
    return name + (str(dtype.count) if dtype.count > 1 else "")


def is_threaded(uops: list[UOp]) -> bool:
    return any(u.op is Ops.RANGE and u.arg[1] is AxisType.THREAD for u in uops)


def _root(index: UOp) -> UOp:
    return index.src[0] if index.op is Ops.INDEX else index


def variable_name(u: UOp) -> str:
    """A Variable's name in C: never a word that C or the kernel has for something else."""
    return f"var_{u.arg[0]}"


class _Writer:
    """Writes the body of one program."""

    def __init__(self, language: CStyleLanguage, uops: list[UOp]):
        self.language, self.uops = language, uops
        self.names: dict[UOp, str] = {}
        self.nesting: dict[UOp, int] = {}
        # of a text that stands where it is used: its outermost op, and the text without a cast that
        # an assignment does too
        self.outermost: dict[UOp, Ops] = {}
        self.uncast: dict[UOp, str] = {}
        self.numbers: Counter[str] = Counter()
        self.streamed = language.streamed(uops)
        # uses of each value, and whether they are all in the loop body where it is computed
        self.uses: Counter[UOp] = Counter(s for u in uops for s in u.src)
        body_of: dict[UOp, int] = {}
        self.used_elsewhere: set[UOp] = set()
        bodies, number = [0], 0
        for u in uops:
            if u.op is Ops.ENDRANGE:
                bodies.pop()
            for s in u.src:
                if body_of.get(s, bodies[-1]) != bodies[-1]:
                    self.used_elsewhere.add(s)
            body_of[u] = bodies[-1]
            if u.op is Ops.RANGE:
                bodies.append(number := number + 1)

    def body(self) -> list[str]:
        self.lines: list[str] = []
        self.depth = 1
        self.declared: set[UOp] = set()
        for u in self.uops:
            write = _writers.get(u.op, _Writer._value)
            write(self, u)
        return self.lines

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def number(self, prefix: str) -> str:
        self.numbers[prefix] += 1
        return f"{prefix}{self.numbers[prefix] - 1}"

    # ---- structure ------------------------------------------------------------------------------

    def _global(self, u: UOp) -> None:
        self.names[u] = f"data{u.arg}"

    def _variable(self, u: UOp) -> None:
        self.names[u] = variable_name(u)

    def _scratch(self, u: UOp) -> None:
        assert isinstance(u.dtype, PtrDType)
        self.names[u] = name = f"panel{u.arg}"
        element = self.language.type_name(u.dtype.base)
        panel = f"{element} {name}[{max(u.dtype.size, 1)}] __attribute__((aligned(64)));"
        if u.dtype.size * u.dtype.base.itemsize <= STACK_BYTES:
            self.line(panel)
            return
        # A function of its own finds a thread's memory: that may have to be allocated first, and
        # clang 14 forgets that this call changes AVX-512's upper registers. The empty asm keeps it
        # from seeing through the function.
        self.language.helpers[name] = (
            f"static __attribute__((noinline)) {element}* {name}_of_thread(void) "
            f"{{ static __thread {panel} {element}* p = {name}; "
            '__asm__ volatile("" : "+r"(p)); return p; }'
        )
        self.line(f"{element}* {self.language.restrict} {name} = {name}_of_thread();")

    def _register(self, u: UOp) -> None:
        self.names[u] = f"acc{u.arg}"

    def _range(self, u: UOp) -> None:
        self.names[u] = i = f"ridx{u.arg[0]}"
        start, stop = (
            ("start", "stop") if u.arg[1] is AxisType.THREAD else ("0", self.text(u.src[0]))
        )
        kind = self.language.type_name(u.dtype)
        self.line(f"for ({kind} {i} = {start}; {i} < {stop}; {i}++) {{")
        self.depth += 1

    def _end(self, u: UOp) -> None:
        self.depth -= 1
        self.line("}")

    def _if(self, u: UOp) -> None:
        self.line(f"if ({self.text(u.src[0])}) {{")
        self.depth += 1

    def _constant(self, u: UOp) -> None:
        self.names[u] = self.language.constant(u.arg, u.dtype)

    def _nothing(self, u: UOp) -> None:
        pass

    # ---- memory ---------------------------------------------------------------------------------

    def place(self, index: UOp, dtype: DType) -> str:
        buffer, _, flat = index.src
        if buffer.addrspace is AddrSpace.REG:
            return self.names[buffer]
        if dtype.count == 1:
            return f"{self.names[buffer]}[{self.text(flat, bare=True)}]"
        pointer = (
            f"{self.names[buffer]}"
            if flat.op is Ops.CONST and not flat.arg
            else f"({self.names[buffer]} + {self.operand(flat, Ops.ADD, first=True)})"
        )
        return f"*({self.language.type_name(dtype)}*){pointer}"

    def _load(self, u: UOp) -> None:
        index = u.src[0]
        if index.arg is not None:
            self._load_apart(u, index)
            return
        place = self.place(index, u.dtype)
        if index.src[0].addrspace is AddrSpace.REG:
            self.names[u] = place
            return
        if not is_true(index.src[1]):
            nothing = f"({self.type_of(u)}){{0}}" if u.dtype.count > 1 else "0"
            place = f"({self.text(index.src[1])} ? {place} : {nothing})"
        self.declare(u, place, "val")

    def lanes(self, index: UOp, count: int) -> tuple[str, str]:
        """A loop over the lanes of a vector, and the place of lane `l` in memory `arg` apart."""
        sign, step = ("-" if index.arg < 0 else "+"), abs(index.arg)
        first = self.operand(index.src[2], Ops.ADD, first=True)
        place = f"{self.names[index.src[0]]}[{first} {sign} l * {step}]"
        return f"for (int l = 0; l < {count}; l++)", place

    def _load_apart(self, u: UOp, index: UOp) -> None:
        """Lanes that do not lie side by side, one by one."""
        loop, place = self.lanes(index, u.dtype.count)
        start, guard = "", ""
        if not is_true(index.src[1]):
            start, guard = " = {0}", f"if ({self.text(index.src[1], bare=True)}) "
        self.names[u] = name = self.number("val")
        self.line(f"{self.type_of(u)} {name}{start}; {guard}{loop} {name}[l] = {place};")

    def _store(self, u: UOp) -> None:
        index, value = u.src
        buffer = index.src[0]
        if index.arg is not None:
            loop, place = self.lanes(index, value.dtype.count)
            lane = f"{self.named(value)}[l]"
            guard = "" if is_true(index.src[1]) else f"if ({self.text(index.src[1], bare=True)}) "
            self.line(f"{guard}{loop} {place} = {lane};")
            return
        text = _unbracketed(self.uncast.get(value, self.names[value]))
        if buffer.addrspace is AddrSpace.REG and buffer not in self.declared:
            self.declared.add(buffer)
            self.line(f"{self.type_of(value)} {self.names[buffer]} = {text};")
            return
        guard = "" if is_true(index.src[1]) else f"if ({self.text(index.src[1], bare=True)}) "
        place = self.place(index, value.dtype)
        if value.dtype.count > 1 and buffer in self.streamed:
            self.line(f"{guard}{self.language.stream(value.dtype)}(&{place}, {text});")
        else:
            self.line(f"{guard}{place} = {text};")

    # ---- values ---------------------------------------------------------------------------------

    def text(self, u: UOp, bare: bool = False) -> str:
        return _unbracketed(self.names[u]) if bare else self.names[u]

    def type_of(self, u: UOp) -> str:
        return self.language.type_name(u.dtype)

    def operand(self, u: UOp, op: Ops, first: bool = False) -> str:
        """The text of a value beside the sign of `op`, without brackets that nobody misses."""
        inner = self.outermost.get(u)
        if inner is None:
            return self.text(u)
        tighter = BINDS.get(inner, 0) - BINDS.get(op, 5)
        in_chain = first and (inner is op or tighter == 0) and op in CHAINS
        return self.text(u, bare=in_chain or tighter > 0)

    def operands(self, u: UOp) -> list[str]:
        """The texts beside the sign of an op."""
        beside = self.operand if all(map(is_splat, u.src)) else self.lanes_of
        a, b = u.src
        second = beside(b, u.op)
        return [beside(a, u.op, not _is_bracketed(second)), second]  # (a + b) + (c + d) stays so

    def written(self, u: UOp) -> str:
        """As the language's table has it."""
        write: Any = self.language.code_for_op[u.op]
        dtype = u.src[0].dtype if u.op in GroupOp.Comparison else u.dtype
        if isinstance(write, call):
            return write(*[self.text(s, bare=True) for s in u.src], dtype)
        if not isinstance(write, infix):
            return write(*map(self.text, u.src), dtype)
        a, b = self.operands(u)
        if write.sign in TURNED and is_number(u.src[0]) and not is_number(u.src[1]):
            return infix(TURNED[write.sign])(b, a, dtype)  # x > 3 rather than 3 < x
        return write(a, b, dtype)

    def lanes_of(self, u: UOp, op: Ops, first: bool = False) -> str:
        """The same of an op on vectors. Where all lanes are one number C takes that number, if its
        type is the lanes': half is computed in float, and what is narrower than int in int."""
        if not is_splat(u) or u.dtype.scalar() in (dtypes.bool, dtypes.half):
            return self.operand(u, op, first)
        x = u.src[0]
        if x.dtype.itemsize < 4 and x in self.outermost:
            return f"(({self.language.type_name(x.dtype)}){self.text(x)})"
        return self.operand(x, op, first)

    def declare(self, u: UOp, text: str, prefix: str) -> None:
        text = self.uncast.pop(u, text)
        self.outermost.pop(u, None)
        self.names[u] = name = self.number(prefix)
        self.line(f"{self.type_of(u)} {name} = {_unbracketed(text)};")

    def _value(self, u: UOp) -> None:
        text = self.expression(u)
        nesting = 1 + max((self.nesting.get(s, 0) for s in u.src), default=0)
        short = is_splat(u) and u.src[0] not in self.outermost
        if short or (self.uses[u] <= 1 and u not in self.used_elsewhere and nesting < MOST_NESTING):
            self.names[u], self.nesting[u] = text, nesting
            self.outermost.setdefault(u, u.op)
        else:
            self.declare(u, text, "alu")

    def expression(self, u: UOp) -> str:
        return (
            self.vector_expression(u)
            if u.dtype.count > 1 or any(s.dtype.count > 1 for s in u.src)
            else self.scalar_expression(u)
        )

    def scalar_expression(self, u: UOp) -> str:
        language, x = self.language, [self.text(s) for s in u.src]
        if u.op is Ops.CAST:
            source = self.outermost.get(u.src[0])
            if u.dtype is dtypes.int and source in GroupOp.Comparison:  # C's are ints
                self.outermost[u] = source
                return x[0]
            return self.cast(u, x[0])
        if u.op is Ops.BITCAST:
            old, new = (language.type_name(d) for d in (u.src[0].dtype, u.dtype))
            return f"((union {{ {old} from; {new} to; }}){{ .from = {x[0]} }}).to"
        if u.op is Ops.GEP:
            return x[0]
        if is_not(u):
            return f"!{x[0]}"
        self._need_helper(u)
        text = self.written(u)
        # C computes in int what is narrower, and keeps what does not fit
        narrow = dtypes.is_int(u.dtype) and u.dtype.itemsize < 4
        return self.cast(u, text) if narrow and u.op in LEAVES and has_all_bounds(u) else text

    def cast(self, u: UOp, text: str) -> str:
        """A number as u's type; to assign it to that does the same."""
        if u.dtype is not dtypes.bool:
            self.uncast[u] = text
        self.outermost[u] = Ops.CAST
        return f"(({self.language.type_name(u.dtype)}){text})"

    def vector_expression(self, u: UOp) -> str:
        write = vector_texts.get(u.op)
        if write is not None:
            return write(self, u)
        self._need_helper(u)
        return self.written(u)

    def _vector_cast(self, u: UOp) -> str:
        text = self.text(u.src[0], bare=True)
        return f"__builtin_convertvector({text}, {self.type_of(u)})"

    def _vector_bitcast(self, u: UOp) -> str:
        (x,) = u.src
        same = self.type_of(x) == self.type_of(u)  # bools in memory are bytes
        return self.text(x) if same else f"(({self.type_of(u)}){self.text(x)})"

    def _vector_where(self, u: UOp) -> str:
        language, (condition, yes, no) = self.language, u.src
        a, b = self.text(yes, bare=True), self.text(no, bare=True)
        if condition.op is Ops.CMPLT and language.compares(u.dtype):
            # often one instruction: a choice between what is compared, x < low ? low : x
            left, right = condition.src
            which = {(no, yes): "larger", (yes, no): "smaller"}.get((left, right))
            if which is not None:
                return language.choose(which, a, b, u.dtype)
        kind, mask = self.type_of(u), self.type_of(condition)
        language.helper(
            f"where_{kind}",
            f"static inline {kind} where_{kind}({mask} c, {kind} a, {kind} b) "
            f"{{ return ({kind})((c & ({mask})a) | (~c & ({mask})b)); }}",
        )
        return f"where_{kind}({self.text(condition, bare=True)}, {a}, {b})"

    def _lane(self, u: UOp) -> str:
        return f"{self.named(u.src[0])}[{u.arg}]"

    def named(self, u: UOp) -> str:
        """The value's name; a lane can only be taken of a variable."""
        if not self.names[u].isidentifier():
            self.declare(u, self.names[u], "alu")
        return self.names[u]

    def _vectorize(self, u: UOp) -> str:
        kind = self.type_of(u)
        if len(set(u.src)) > 1:
            return f"({kind}){{ {', '.join(self.text(s, bare=True) for s in u.src)} }}"
        scalar, name = self.language.type_name(u.dtype.scalar()), f"all_{kind}"
        lanes = ", ".join("x" * len(u.src))
        self.language.helper(
            name, f"static inline {kind} {name}({scalar} x) {{ return ({kind}){{ {lanes} }}; }}"
        )
        return f"{name}({self.text(u.src[0], bare=True)})"

    def _need_helper(self, u: UOp) -> None:
        """Functions that C has no operator for."""
        language, kind = self.language, short(u.dtype)
        if u.op not in (Ops.MAX, Ops.MIN, Ops.SQRT, Ops.TRUNC):
            return
        name, t = f"{u.op.name.lower()}_{kind}", language.type_name(u.dtype)
        is_float, vector = dtypes.is_float(u.dtype), u.dtype.count > 1
        if u.op in (Ops.MAX, Ops.MIN):
            which, sign = ("larger", ">") if u.op is Ops.MAX else ("smaller", "<")
            if vector:
                m = language.type_name(u.dtype.mask())
                if language.compares(u.dtype):  # it is a where that is NaN
                    wins, other = "b != b", language.choose(which, "b", "a", u.dtype)
                else:
                    nan = f" | ({m})(b != b)" if is_float else ""
                    wins, other = f"({m})(b {sign} a)" + nan, "a"
                body = f"{m} c = {wins}; return ({t})((c & ({m})b) | (~c & ({m}){other}));"
            else:
                body = f"return b {sign} a{' || b != b' if is_float else ''} ? b : a;"
            language.helper(name, f"static inline {t} {name}({t} a, {t} b) {{ {body} }}")
            return
        builtin = f"__builtin_{u.op.name.lower()}" + (
            "" if u.dtype.scalar() is dtypes.double else "f"
        )
        body = (
            f"{t} r; for (int i = 0; i < {u.dtype.count}; i++) r[i] = {builtin}(a[i]); return r;"
            if vector
            else f"return {builtin}(a);"
        )
        language.helper(name, f"static inline {t} {name}({t} a) {{ {body} }}")


# the first line of a source for which the compiler needs a flag; see ClangCompiler
WRAPS = "// -fwrapv: signed integers wrap around"
# what may give a number that the operands' dtype does not hold
LEAVES = {Ops.ADD, Ops.SUB, Ops.MUL, Ops.NEG, Ops.SHL, Ops.CDIV}


def has_all_bounds(u: UOp) -> bool:
    """Nothing is known of an integer: what gave it may have left its dtype's range."""
    return u.bounds == (dtypes.min(u.dtype), dtypes.max(u.dtype))


def may_overflow(u: UOp) -> bool:
    """Signed arithmetic on data wraps around, which C leaves open. Indices do not overflow, and a
    C compiler makes good use of that: with -fwrapv some kernels take a tenth longer."""
    scalar = u.dtype.scalar()
    if u.op not in LEAVES or not dtypes.is_int(scalar) or not has_all_bounds(u):
        return False
    if dtypes.is_unsigned(scalar):  # two of 16 bits are multiplied as ints
        return u.op is Ops.MUL and u.dtype is dtypes.ushort
    return scalar.itemsize >= 4 or u.dtype.count > 1


def is_splat(u: UOp) -> bool:
    """A vector with one number in every lane."""
    return u.op is Ops.VECTORIZE and all(s is u.src[0] for s in u.src)


def is_number(u: UOp) -> bool:
    """A constant, or one in every lane."""
    return (u.src[0] if is_splat(u) else u).op is Ops.CONST


def is_not(u: UOp) -> bool:
    """ "not x" is written x != True."""
    if u.op is not Ops.CMPNE or u.src[0].dtype.scalar() is not dtypes.bool:
        return False
    true = u.src[1].src[0] if is_splat(u.src[1]) else u.src[1]
    return is_true(true)


def is_true(u: UOp) -> bool:
    return u.op is Ops.CONST and bool(u.arg)


def _unbracketed(text: str) -> str:
    return text[1:-1] if _is_bracketed(text) else text


def _is_bracketed(text: str) -> bool:
    """Is the whole text inside one pair of brackets?"""
    if not text.startswith("(") or not text.endswith(")"):
        return False
    depth = 0
    for n, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return n == len(text) - 1
    return False


vector_texts: dict[Ops, Callable[[_Writer, UOp], str]] = {
    Ops.CAST: _Writer._vector_cast,
    Ops.BITCAST: _Writer._vector_bitcast,
    Ops.WHERE: _Writer._vector_where,
    Ops.GEP: _Writer._lane,
    Ops.VECTORIZE: _Writer._vectorize,
}
_writers: dict[Ops, Callable[[_Writer, UOp], None]] = {
    Ops.DEFINE_GLOBAL: _Writer._global,
    Ops.DEFINE_VAR: _Writer._variable,
    Ops.DEFINE_LOCAL: _Writer._scratch,
    Ops.DEFINE_REG: _Writer._register,
    Ops.RANGE: _Writer._range,
    Ops.ENDRANGE: _Writer._end,
    Ops.IF: _Writer._if,
    Ops.ENDIF: _Writer._end,
    Ops.CONST: _Writer._constant,
    Ops.INDEX: _Writer._nothing,
    Ops.NOOP: _Writer._nothing,
    Ops.BARRIER: _Writer._nothing,
    Ops.LOAD: _Writer._load,
    Ops.STORE: _Writer._store,
}
