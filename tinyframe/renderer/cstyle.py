"""Source text in languages of C's family. A language is a table of how each op is written.

`CStyleLanguage` writes plain C with the vector extensions that GCC and Clang share; a backend for
another language of the family subclasses it and changes what differs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from tinyframe.dtype import AddrSpace, DType, PtrDType, dtypes
from tinyframe.renderer import Renderer, variables, x86
from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp

# a value used once is written where it is used, up to this depth of brackets
MOST_NESTING = 8
# scratch arrays up to this size live on the stack
STACK_BYTES = 16 << 10


def infix(sign: str) -> Callable[[str, str, DType], str]:
    return lambda a, b, dtype: f"({a} {sign} {b})"


class CStyleLanguage(Renderer):
    """C with GCC's vector extensions: `float16` is 16 floats that are added with `+`."""

    device = "CPU"
    restrict = "restrict"
    kernel_prefix = "void"

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
        Ops.CMPNE: infix("!="),
        Ops.CMPEQ: infix("=="),
        Ops.NEG: lambda a, dtype: f"(-{a})",
        Ops.SQRT: lambda a, dtype: f"sqrt_{short(dtype)}({a})",
        Ops.TRUNC: lambda a, dtype: f"trunc_{short(dtype)}({a})",
        Ops.MAX: lambda a, b, dtype: f"max_{short(dtype)}({a}, {b})",
        Ops.WHERE: lambda c, a, b, dtype: f"({c} ? {a} : {b})",
    }

    # ---- types and constants --------------------------------------------------------------------

    def type_name(self, dtype: DType) -> str:
        if dtype.count > 1:
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
                text = f"{value!r}" + ("" if dtype is dtypes.double else "f")
            return f"({self.type_name(dtype)}){text}" if dtype is dtypes.half else text
        if dtypes.is_bool(dtype):
            return "1" if value else "0"
        if dtype is dtypes.int and value == dtypes.min(dtypes.int):
            return "(-2147483647-1)"
        if dtype is dtypes.long and value == dtypes.min(dtypes.long):
            return "(-9223372036854775807l-1)"
        suffix = {dtypes.long: "l", dtypes.ulong: "ul", dtypes.uint: "u"}.get(dtype, "")
        text = f"{value}{suffix}"
        return text if dtype.itemsize >= 4 else f"(({self.type_name(dtype)}){text})"

    # ---- a program ------------------------------------------------------------------------------

    def render(self, name: str, uops: list[UOp]) -> str:
        self.vector_types: dict[DType, None] = {}
        self.helpers: dict[str, str] = {}
        writer = _Writer(self, uops)
        body = writer.body()
        signature = self.signature(name, uops, writer)
        return self.around(name, uops, signature, body, writer)

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
        lines = [
            *self.typedefs(),
            *self.helpers.values(),
            f"{signature} {{",
            *body,
            *(["  streamed();"] if "streamed" in self.helpers else []),
            "}",
            *self.entry(name, uops),
        ]
        return "\n".join(lines) + "\n"

    def typedefs(self) -> Iterable[str]:
        for dtype in self.vector_types:
            scalar = dtype.scalar()
            element = "char" if scalar is dtypes.bool else self.type_name(scalar)
            layout = f"vector_size({scalar.itemsize * dtype.count}), aligned({scalar.itemsize})"
            yield f"typedef {element} {short(dtype)} __attribute__(({layout}));"

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
        mask = self.type_name(_MASKS[size].vec(dtype.count))
        text = x86.choose(which, kind, mask, size, dtype.itemsize)
        return f"{self.helper(f'{which}_{kind}', text)}({a}, {b})"


def short(dtype: DType) -> str:
    """A name for a type that can be part of an identifier: float16 is 16 floats."""
    name = repr(dtype.scalar()).removeprefix("dtypes.")
    return name + (str(dtype.count) if dtype.count > 1 else "")


def is_threaded(uops: list[UOp]) -> bool:
    return any(u.op is Ops.RANGE and u.arg[1] is AxisType.THREAD for u in uops)


def _root(index: UOp) -> UOp:
    return index.src[0] if index.op is Ops.INDEX else index


_MASKS = {1: dtypes.char, 2: dtypes.short, 4: dtypes.int, 8: dtypes.long}


def variable_name(u: UOp) -> str:
    """A Variable's name in C: never a word that C or the kernel has for something else."""
    return f"var_{u.arg[0]}"


class _Writer:
    """Writes the body of one program."""

    def __init__(self, language: CStyleLanguage, uops: list[UOp]):
        self.language, self.uops = language, uops
        self.names: dict[UOp, str] = {}
        self.nesting: dict[UOp, int] = {}
        self.numbers: Counter[str] = Counter()
        self.masks: dict[UOp, int] = {}
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
        stored = dtypes.char.vec(dtype.count) if dtype.scalar() is dtypes.bool else dtype
        pointer = (
            f"{self.names[buffer]}"
            if flat.op is Ops.CONST and not flat.arg
            else f"({self.names[buffer]}+{self.text(flat)})"
        )
        return f"*({self.language.type_name(stored)}*){pointer}"

    def _load(self, u: UOp) -> None:
        index = u.src[0]
        if index.arg is not None:
            self._load_apart(u, index)
            return
        place = self.place(index, u.dtype)
        if index.src[0].addrspace is AddrSpace.REG:
            self.names[u], self.masks[u] = place, self.masks.get(index.src[0], 1)
            return
        if not is_true(index.src[1]):
            nothing = f"({self.type_of(u)}){{0}}" if u.dtype.count > 1 else "0"
            place = f"({self.text(index.src[1])} ? {place} : {nothing})"
        if u.dtype.scalar() is dtypes.bool and u.dtype.count > 1:
            place = f"({place} != 0)"
            self.masks[u] = 1
        self.declare(u, place, "val")

    def lanes(self, index: UOp, count: int) -> tuple[str, str]:
        """A loop over the lanes of a vector, and the place of lane `l` in memory `arg` apart."""
        sign, step = ("-" if index.arg < 0 else "+"), abs(index.arg)
        place = (
            f"{self.names[index.src[0]]}[{self.text(index.src[2], bare=True)} {sign} l * {step}]"
        )
        return f"for (int l = 0; l < {count}; l++)", place

    def _load_apart(self, u: UOp, index: UOp) -> None:
        """Lanes that do not lie side by side, one by one."""
        loop, place = self.lanes(index, u.dtype.count)
        sign, start, guard = "", "", ""
        if u.dtype.scalar() is dtypes.bool:
            self.masks[u], sign = 1, "-"
        if not is_true(index.src[1]):
            start, guard = " = {0}", f"if ({self.text(index.src[1], bare=True)}) "
        self.names[u] = name = self.number("val")
        self.line(f"{self.type_of(u)} {name}{start}; {guard}{loop} {name}[l] = {sign}{place};")

    def _store(self, u: UOp) -> None:
        index, value = u.src
        buffer = index.src[0]
        if index.arg is not None:
            loop, place = self.lanes(index, value.dtype.count)
            lane = f"{self.named(value)}[l]" + " != 0" * (value.dtype.scalar() is dtypes.bool)
            guard = "" if is_true(index.src[1]) else f"if ({self.text(index.src[1], bare=True)}) "
            self.line(f"{guard}{loop} {place} = {lane};")
            return
        text = self.text(value, bare=True)
        if value.dtype.scalar() is dtypes.bool and value.dtype.count > 1:
            if buffer.addrspace is AddrSpace.REG:  # as wide as what it begins with
                text = self.mask(value, self.masks.setdefault(buffer, self.mask_of(value)))
            else:
                text = f"-{self.mask(value, 1)}"
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
        text = self.names[u]
        return text[1:-1] if bare and _is_bracketed(text) else text

    def type_of(self, u: UOp) -> str:
        if u.dtype.scalar() is dtypes.bool and u.dtype.count > 1:
            return self.language.type_name(_MASKS[self.mask_of(u)].vec(u.dtype.count))
        return self.language.type_name(u.dtype)

    def mask_of(self, u: UOp) -> int:
        """A vector of bools is a vector of integers, 0 or -1, as wide as what was compared."""
        if u not in self.masks:
            inner = [
                self.mask_of(s)
                for s in u.src
                if s.dtype.count > 1 and s.dtype.scalar() is dtypes.bool
            ]
            compared = u.op in GroupOp.Comparison and u.src[0].dtype.scalar() is not dtypes.bool
            cast = u.op is Ops.CAST and u.src[0].dtype.scalar() is not dtypes.bool
            self.masks[u] = (
                u.src[0].dtype.scalar().itemsize if compared or cast else max(inner, default=1)
            )
        return self.masks[u]

    def mask(self, u: UOp, width: int) -> str:
        """A vector of bools as integers of `width` bytes."""
        if self.mask_of(u) == width:
            return self.text(u)
        mask = self.language.type_name(_MASKS[width].vec(u.dtype.count))
        return f"__builtin_convertvector({self.text(u)}, {mask})"

    def declare(self, u: UOp, text: str, prefix: str) -> None:
        self.names[u] = name = self.number(prefix)
        self.line(f"{self.type_of(u)} {name} = {text[1:-1] if _is_bracketed(text) else text};")

    def _value(self, u: UOp) -> None:
        text = self.expression(u)
        nesting = 1 + max((self.nesting.get(s, 0) for s in u.src), default=0)
        if self.uses[u] <= 1 and u not in self.used_elsewhere and nesting < MOST_NESTING:
            self.names[u], self.nesting[u] = text, nesting
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
            return f"(({language.type_name(u.dtype)}){x[0]})"
        if u.op is Ops.BITCAST:
            old, new = (language.type_name(d) for d in (u.src[0].dtype, u.dtype))
            return f"((union {{ {old} from; {new} to; }}){{ .from = {x[0]} }}).to"
        if u.op is Ops.GEP:
            return x[0]
        self._need_helper(u)
        dtype = u.src[0].dtype if u.op in GroupOp.Comparison else u.dtype
        if may_overflow(u):
            x = [f"(({language.type_name(_UNSIGNED[u.dtype])}){a})" for a in x]
        text = language.code_for_op[u.op](*x, dtype)
        if may_overflow(u):
            return f"(({language.type_name(u.dtype)}){text})"
        # C computes in int what is narrower
        narrow = dtypes.is_int(u.dtype) and u.dtype.itemsize < 4 and u.op in GroupOp.ALU
        return f"(({language.type_name(u.dtype)}){text})" if narrow else text

    def vector_expression(self, u: UOp) -> str:
        language, n = self.language, u.dtype.count
        if u.op is Ops.GEP:
            lane = f"{self.named(u.src[0])}[{u.arg}]"
            return f"({lane} != 0)" if u.dtype is dtypes.bool else lane
        if u.op is Ops.VECTORIZE:
            return self._vectorize(u)
        is_mask = u.dtype.scalar() is dtypes.bool
        if u.op is Ops.CAST:
            source = u.src[0]
            if is_mask:
                return f"({self.text(source)} != 0)"
            if source.dtype.scalar() is dtypes.bool:
                width = self.mask_of(source)
                ones = f"(-{self.text(source)})"
                if (
                    dtypes.is_int(u.dtype)
                    and not dtypes.is_unsigned(u.dtype)
                    and u.dtype.scalar().itemsize == width
                ):
                    return ones
                return f"__builtin_convertvector({ones}, {language.type_name(u.dtype)})"
            return f"__builtin_convertvector({self.text(source)}, {language.type_name(u.dtype)})"
        if u.op is Ops.BITCAST:
            return f"(({language.type_name(u.dtype)}){self.text(u.src[0])})"
        if u.op is Ops.WHERE:
            condition, yes, no = u.src
            if condition.op is Ops.CMPLT and language.compares(u.dtype):
                # often one instruction: a choice between what is compared, x < low ? low : x
                left, right = condition.src
                which = {(no, yes): "larger", (yes, no): "smaller"}.get((left, right))
                if which is not None:
                    return language.choose(which, self.text(yes), self.text(no), u.dtype)
            width = self.mask_of(u) if is_mask else u.dtype.scalar().itemsize
            m = language.type_name(_MASKS[width].vec(n))
            if is_mask:
                c, a, b = (self.mask(s, width) for s in u.src)
                return f"(({c} & {a}) | (~{c} & {b}))"
            kind = short(u.dtype)
            t = language.type_name(u.dtype)
            language.helper(
                f"where_{kind}",
                f"static inline {t} where_{kind}({m} c, {kind} a, {kind} b) "
                f"{{ return ({kind})((c & ({m})a) | (~c & ({m})b)); }}",
            )
            return f"where_{kind}({self.mask(condition, width)}, {self.text(yes)}, {self.text(no)})"
        if is_mask and u.src[0].dtype.scalar() is dtypes.bool:
            width = self.mask_of(u)
            a, b = (self.mask(s, width) for s in u.src)
            sign = {
                Ops.CMPNE: "^",
                Ops.CMPEQ: "^ ~",
                Ops.AND: "&",
                Ops.OR: "|",
                Ops.XOR: "^",
                Ops.MAX: "|",
                Ops.ADD: "|",
                Ops.MUL: "&",
            }.get(u.op)
            return f"({b} & ~{a})" if u.op is Ops.CMPLT else f"({a} {sign} {b})"
        self._need_helper(u)
        x = [self.text(s) for s in u.src]
        if may_overflow(u):
            unsigned = language.type_name(_UNSIGNED[u.dtype.scalar()].vec(n))
            x = [f"(({unsigned}){a})" for a in x]
        text = language.code_for_op[u.op](
            *x, u.src[0].dtype if u.op in GroupOp.Comparison else u.dtype
        )
        if may_overflow(u):
            return f"(({language.type_name(u.dtype)}){text})"
        if u.op in GroupOp.Comparison and dtypes.is_unsigned(u.src[0].dtype):
            return f"(({self.type_of(u)}){text})"
        return text

    def named(self, u: UOp) -> str:
        """The value's name; a lane can only be taken of a variable."""
        if not self.names[u].isidentifier():
            self.declare(u, self.names[u], "alu")
        return self.names[u]

    def _vectorize(self, u: UOp) -> str:
        kind = self.type_of(u)
        sign = "-" if u.dtype.scalar() is dtypes.bool else ""
        if len(set(u.src)) == 1:
            scalar = self.language.type_name(u.dtype.scalar())
            name = f"all_{kind}" + ("_mask" if sign else "")
            lanes = ", ".join([f"{sign}x"] * len(u.src))
            self.language.helper(
                name, f"static inline {kind} {name}({scalar} x) {{ return ({kind}){{ {lanes} }}; }}"
            )
            return f"{name}({self.text(u.src[0], bare=True)})"
        return f"({kind}){{ {', '.join(sign + self.text(s, bare=not sign) for s in u.src)} }}"

    def _need_helper(self, u: UOp) -> None:
        """Functions that C has no operator for."""
        language, kind = self.language, short(u.dtype)
        if u.op not in (Ops.MAX, Ops.SQRT, Ops.TRUNC):
            return
        name, t = f"{u.op.name.lower()}_{kind}", language.type_name(u.dtype)
        is_float, vector = dtypes.is_float(u.dtype), u.dtype.count > 1
        if u.op is Ops.MAX:
            if vector:
                m = language.type_name(_MASKS[u.dtype.scalar().itemsize].vec(u.dtype.count))
                if language.compares(u.dtype):  # the larger is a where that is NaN
                    wins, other = "b != b", language.choose("larger", "b", "a", u.dtype)
                else:
                    wins, other = f"({m})(b > a)" + (f" | ({m})(b != b)" if is_float else ""), "a"
                body = f"{m} c = {wins}; return ({t})((c & ({m})b) | (~c & ({m}){other}));"
            else:
                body = f"return b > a{' || b != b' if is_float else ''} ? b : a;"
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


_UNSIGNED = {
    dtypes.char: dtypes.uchar,
    dtypes.short: dtypes.ushort,
    dtypes.int: dtypes.uint,
    dtypes.long: dtypes.ulong,
}


def may_overflow(u: UOp) -> bool:
    """Signed arithmetic on data wraps around, which in C only unsigned arithmetic does. Indices do
    not overflow, and are left as they are: a C compiler makes good use of that."""
    return (
        u.op in (Ops.ADD, Ops.SUB, Ops.MUL, Ops.NEG, Ops.SHL)
        and u.dtype.scalar() in _UNSIGNED
        and u.bounds == (dtypes.min(u.dtype), dtypes.max(u.dtype))
    )


def is_true(u: UOp) -> bool:
    return u.op is Ops.CONST and bool(u.arg)


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
