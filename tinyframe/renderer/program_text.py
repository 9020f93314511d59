"""Writes one program in a language of C's family.

This file has what the languages share: which values are inlined and which get a name, which
parentheses are redundant, loops, and memory accesses. The spelling is up to the language, in its
tables and small methods (`CStyleLanguage` in cstyle.py). All state belongs to the Writer of one
program, so several threads may share a language.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tinyframe.dtype import AddrSpace, DType, PtrDType, dtypes
from tinyframe.renderer import Renderer
from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp

if TYPE_CHECKING:
    from tinyframe.renderer.cstyle import CStyleLanguage

# a value used once is inlined, up to this depth of nesting
MOST_NESTING = 8

# An operand of higher precedence needs no parentheses, nor does a left operand of equal precedence.
# Comparisons, shifts and bitwise operators keep theirs: few readers know these by heart.
PRECEDENCE = {Ops.CAST: 4, Ops.NEG: 4, Ops.MUL: 3, Ops.FDIV: 3, Ops.CDIV: 3, Ops.CMOD: 3,
              Ops.ADD: 2, Ops.SUB: 2, Ops.CMPLT: 1, Ops.CMPLE: 1, Ops.CMPNE: 1,
              Ops.CMPEQ: 1}  # fmt: skip
MIRRORED = {"<": ">", "<=": ">="}
ASSOCIATIVE = {Ops.ADD, Ops.SUB, Ops.MUL, Ops.AND, Ops.OR, Ops.XOR}
# ops whose result may not fit into the operands' dtype
MAY_OVERFLOW = {Ops.ADD, Ops.SUB, Ops.MUL, Ops.NEG, Ops.SHL, Ops.CDIV}


# ---- rows of a language's tables ----------------------------------------------------------------


class infix:
    """An infix operator. The writer drops redundant parentheses."""

    def __init__(self, sign: str):
        self.sign = sign

    def __call__(self, a: str, b: str, dtype: DType) -> str:
        if self.sign == "^" and b in ("-1", "-1l", "-1ll"):
            return f"(~{a})"
        if self.sign in "+-" and b.startswith("-") and b != str(dtype.min):  # C cannot write -b
            return f"({a} {'-' if self.sign == '+' else '+'} {b[1:]})"
        return f"({a} {self.sign} {b})"


class call:
    """An op written as a function call: `max_float16(a, b)`. The name has the dtype in it, unless
    the language has one function for all of them (`typed=False`)."""

    def __init__(self, name: str, typed: bool = True):
        self.name, self.typed = name, typed

    def __call__(self, *operands) -> str:
        *x, dtype = operands
        name = f"{self.name}_{short(dtype)}" if self.typed else self.name
        return f"{name}({', '.join(map(without_parens, x))})"


def row_of(language: Renderer, u: UOp) -> Callable[..., str] | None:
    """How a language writes this op of this dtype; None if it can't."""
    own = language.code_for_double.get(u.op) if u.dtype.scalar() is dtypes.float64 else None
    return own or language.code_for_op.get(u.op)


def short(dtype: DType) -> str:
    """A type's name within an identifier: float16 is 16 floats."""
    name = repr(dtype.scalar()).removeprefix("dtypes.")
    return name + (str(dtype.count) if dtype.count > 1 else "")


def without_parens(text: str) -> str:
    """An expression without its outer parentheses."""
    return text[1:-1] if is_bracketed(text) else text


def is_bracketed(text: str) -> bool:
    """Whether one pair of parentheses encloses the whole expression."""
    if not text.startswith("("):
        return False
    depth = 0
    for before in text[1:-1].split(")")[:-1]:  # what stands before each closing bracket inside
        depth += before.count("(") - 1
        if depth < 0:
            return False
    return True


# ---- what is asked of a program -----------------------------------------------------------------


def argument_name(u: UOp) -> str:
    """The name of a buffer or a Variable, which no keyword or other name can clash with."""
    return f"data{u.arg}" if u.op is Ops.DEFINE_GLOBAL else f"var_{u.arg[0]}"


def variables(uops: list[UOp]) -> list[UOp]:
    """The Variables that a program uses, in the order of its arguments."""
    return sorted((u for u in uops if u.op is Ops.DEFINE_VAR), key=lambda u: u.arg)


def accessed_memory(u: UOp) -> UOp:
    """The memory that a LOAD or STORE accesses."""
    return u.src[0].src[0]


def is_threaded(uops: list[UOp]) -> bool:
    return any(u.op is Ops.RANGE and u.arg[1] is AxisType.THREAD for u in uops)


def has_all_bounds(u: UOp) -> bool:
    """Whether nothing is known about an integer, so that the operation may have overflowed."""
    return u.bounds == (u.dtype.min, u.dtype.max)


def may_overflow(u: UOp) -> bool:
    """Whether this may overflow: signed arithmetic on data wraps around, which is undefined in C.
    Indices never overflow, and C compilers exploit that: with -fwrapv some kernels are a tenth
    slower."""
    if u.op not in MAY_OVERFLOW or not dtypes.is_int(u.dtype) or not has_all_bounds(u):
        return False
    scalar = u.dtype.scalar()
    if dtypes.is_unsigned(scalar):  # uint16s are multiplied as ints
        return u.op is Ops.MUL and u.dtype is dtypes.ushort
    return scalar.itemsize >= 4 or u.dtype.count > 1


def is_splat(u: UOp) -> bool:
    """A vector whose lanes are all the same value."""
    return u.op is Ops.VECTORIZE and len(set(u.src)) == 1


def is_number(u: UOp) -> bool:
    """A constant, or a vector of one constant."""
    return (u.src[0] if is_splat(u) else u).op is Ops.CONST


def is_true(u: UOp) -> bool:
    return u.op is Ops.CONST and bool(u.arg)


def used_in_other_bodies(uops: list[UOp]) -> set[UOp]:
    """The values computed in one loop body and used in another."""
    body_of: dict[UOp, int] = {}
    found: set[UOp] = set()
    bodies, number = [0], 0
    for u in uops:
        if u.op is Ops.ENDRANGE:
            bodies.pop()
        here = bodies[-1]
        for s in u.src:
            if body_of.get(s, here) != here:
                found.add(s)
        body_of[u] = here
        if u.op is Ops.RANGE:
            bodies.append(number := number + 1)
    return found


def innermost_loops(uops: list[UOp], most: int) -> set[UOp]:
    """The loops of at most so many iterations that have no loop inside."""
    loops = [u for u in uops if u.op in (Ops.RANGE, Ops.ENDRANGE)]
    found = {u for u, after in itertools.pairwise(loops) if after.src == (u,)}
    return {u for u in found if u.src[0].op is Ops.CONST and u.src[0].arg <= most}


# ---- the writer ---------------------------------------------------------------------------------


class Writer:
    """The text of one program.

    lines: the body of its function. outside: declarations that precede the function.
    """

    def __init__(self, language: CStyleLanguage, uops: list[UOp]):
        self.language = language
        self.lines: list[str] = []
        self.outside: list[str] = []
        self.depth = 1
        self.names: dict[UOp, str] = {}  # a value's name, or its expression if it is inlined
        self.nesting: dict[UOp, int] = {}
        # of an inlined expression: its outermost op, and the expression without a cast that
        # an assignment does too
        self.outermost: dict[UOp, Ops] = {}
        self.uncast: dict[UOp, str] = {}
        self.numbers: Counter[str] = Counter()
        self.declared: set[UOp] = set()
        self.uses: Counter[UOp] = Counter(s for u in uops for s in u.src)
        self.used_elsewhere = used_in_other_bodies(uops)
        self.nontemporal_stores = (
            language.nontemporal_stores(uops) if language.nontemporal_stores else set()
        )
        self.unrolled = innermost_loops(uops, language.unrolled)
        self.rounded = language.rounded(uops) if language.rounded else set()
        for u in uops:
            self.write(u)

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def write(self, u: UOp) -> None:
        """Writes one instruction. Most values take no line of their own: they are inlined."""
        language, names = self.language, self.names
        match u.op:
            case Ops.DEFINE_GLOBAL | Ops.DEFINE_VAR:
                names[u] = argument_name(u)
            case Ops.DEFINE_REG:
                names[u] = f"acc{u.arg}"
            case Ops.DEFINE_LOCAL:
                assert isinstance(u.dtype, PtrDType)
                names[u] = f"panel{u.arg}"
                outside, inside = language.scratch(names[u], u.dtype)
                self.outside += outside
                if inside:
                    self.line(inside)
            case Ops.CONST:
                names[u] = language.constant(u.arg, u.dtype)
            case Ops.SPECIAL:
                names[u] = name = u.arg[0]
                kind, place = language.type_name(u.dtype), language.workitem(name)
                self.line(language.declare.format(type=kind, name=name, value=place))
            case Ops.BARRIER:
                self.line(language.barrier_statement())
            case Ops.RANGE:
                names[u] = f"ridx{u.arg[0]}"
                is_shared = u.arg[1] is AxisType.THREAD
                start, stop = ("start", "stop") if is_shared else ("0", names[u.src[0]])
                kind = language.type_name(u.dtype)
                if u in self.unrolled:
                    self.line("#pragma unroll")
                self.line(language.loop.format(type=kind, name=names[u], start=start, stop=stop))
                self.depth += 1
            case Ops.ENDRANGE:
                self.depth -= 1
                self.line("}")
            case Ops.INDEX:
                pass  # written by the LOAD or STORE
            case Ops.LOAD:
                self.load(u)
            case Ops.FRAGMENT:
                kind, place = language.type_name(u.dtype), without_parens(self.pointer(u.src[0]))
                self.declare(u, f"{'transposed_' * u.arg}fragment<{kind}>({place})", "val")
            case Ops.ASYNC_COPY:
                self.copy(u)
            case Ops.COMMIT:
                self.line("commit_copies();")
            case Ops.WAIT:
                self.line(f"wait_for_copies({u.arg[1]});")
            case Ops.STORE:
                self.store(u)
            case _:
                self.value(u)

    # ---- memory ---------------------------------------------------------------------------------

    def load(self, u: UOp) -> None:
        (index,) = u.src
        memory, valid, flat = index.src
        language, names = self.language, self.names
        if memory.addrspace is AddrSpace.REG:
            names[u] = names[memory]
            return
        if index.arg is not None:
            place = functools.partial(self.lane_of, index)
            text = language.gather(index, u.dtype, self.pointer(index), place)
        elif u.dtype.count > 1:
            text = language.load_vector(index, u.dtype, self.pointer(index))
        else:
            text = language.read(memory, names[memory], without_parens(names[flat]))
        if not is_true(valid):
            condition, zero = names[valid], language.zero(u.dtype)
            text = language.guarded.format(
                condition=condition, bare=without_parens(condition), value=text, zero=zero
            )
        self.declare(u, text, "val")

    def store(self, u: UOp) -> None:
        index, value = u.src
        memory, valid, flat = index.src
        language, names = self.language, self.names
        text = without_parens(self.uncast.get(value, names[value]))
        if memory.addrspace is AddrSpace.REG:
            form = "{name} = {value};" if memory in self.declared else language.accumulate
            kind = language.type_name(value.dtype)
            statement = form.format(type=kind, name=names[memory], value=text)
            self.declared.add(memory)
        elif index.arg is not None:
            place = functools.partial(self.lane_of, index)
            statement = language.scatter(value.dtype, self.named(value), place)
        elif value.dtype.count > 1:
            write = (
                language.stream_vector if u in self.nontemporal_stores else language.store_vector
            )
            statement = write(index, value.dtype, self.pointer(index), text)
        else:
            offset = without_parens(names[flat])
            statement = language.write(memory, names[memory], offset, text)
        self.line_where(valid, statement)

    def copy(self, u: UOp) -> None:
        place, source = (without_parens(self.pointer(index)) for index in u.src)
        (valid, exists) = (index.src[1] for index in u.src)
        statement = f"copy_async({place}, {source}, {without_parens(self.names[exists])});"
        self.line_where(valid, statement)

    def line_where(self, valid: UOp, statement: str) -> None:
        """A statement that is executed where a condition holds."""
        if not is_true(valid):
            condition = without_parens(self.names[valid])
            statement = self.language.if_statement.format(condition=condition, statement=statement)
        self.line(statement)

    def pointer(self, index: UOp) -> str:
        memory, _, flat = index.src
        if flat.op is Ops.CONST and not flat.arg:
            return self.names[memory]
        return f"({self.names[memory]} + {self.operand(flat, Ops.ADD, first=True)})"

    def lane_of(self, index: UOp, lane: int | str) -> str:
        """A lane's element in memory, where lanes are `arg` elements apart."""
        memory, _, flat = index.src
        sign, step = ("-" if index.arg < 0 else "+"), abs(index.arg)
        first = self.operand(flat, Ops.ADD, first=True)
        return f"{self.names[memory]}[{first} {sign} {lane} * {step}]"

    # ---- values ---------------------------------------------------------------------------------

    def value(self, u: UOp) -> None:
        """A value gets a name if it is used twice or in another loop, or is nested too deeply."""
        text = self.expression(u)
        if u in self.rounded:
            text = self.language.round(text, u.dtype)
        nesting = 1 + max((self.nesting.get(s, 0) for s in u.src), default=0)
        is_short = is_splat(u) and u.src[0] not in self.outermost
        is_used_here = self.uses[u] <= 1 and u not in self.used_elsewhere
        if is_short or (is_used_here and nesting < MOST_NESTING):
            self.names[u], self.nesting[u] = text, nesting
            self.outermost.setdefault(u, u.op)
        else:
            self.declare(u, text, "alu")

    def declare(self, u: UOp, text: str, prefix: str) -> None:
        text = self.uncast.pop(u, text)
        self.outermost.pop(u, None)
        self.names[u] = name = f"{prefix}{self.numbers[prefix]}"
        self.numbers[prefix] += 1
        kind = self.language.type_name(u.dtype)
        self.line(self.language.declare.format(type=kind, name=name, value=without_parens(text)))

    def named(self, u: UOp) -> str:
        """The value's name: only a variable can be indexed by lane."""
        if not self.names[u].isidentifier():
            self.declare(u, self.names[u], "alu")
        return self.names[u]

    def expression(self, u: UOp) -> str:
        """The expression for a value, made of those for its sources."""
        language = self.language
        if u.dtype.count > 1 or any(s.dtype.count > 1 for s in u.src):
            if (row := language.code_for_vector.get(u.op)) is None:
                return self.by_table(u)
            of_source = self.named if u.op is Ops.GEP else self.names.__getitem__
            return row(language, u, *map(of_source, u.src))
        if u.op is Ops.CAST:
            source = self.outermost.get(u.src[0])
            if source in GroupOp.Comparison and u.dtype is dtypes.int and language.bools_are_ints:
                self.outermost[u] = source
                return self.names[u.src[0]]
            return self.cast(u, self.names[u.src[0]])
        if u.op is Ops.BITCAST:
            return language.bitcast(self.names[u.src[0]], u.src[0].dtype, u.dtype)
        if u.op is Ops.CMPNE and u.src[0].dtype is dtypes.bool and is_true(u.src[1]):
            return f"!{self.names[u.src[0]]}"  # "not x" is x != True
        text = self.by_table(u)
        # C computes narrower types as int, without truncating the result
        narrow = dtypes.is_int(u.dtype) and u.dtype.itemsize < 4
        return self.cast(u, text) if narrow and u.op in MAY_OVERFLOW and has_all_bounds(u) else text

    def cast(self, u: UOp, text: str) -> str:
        """A cast to u's type, which assigning to a variable of that type does implicitly."""
        if u.dtype is not dtypes.bool and self.language.assignment_converts:
            self.uncast[u] = text
        self.outermost[u] = Ops.CAST
        return self.language.cast(text, u.dtype)

    def by_table(self, u: UOp) -> str:
        """The expression that the language's row gives."""
        row: Any = row_of(self.language, u)
        dtype = u.src[0].dtype if u.op in GroupOp.Comparison else u.dtype
        if not isinstance(row, infix):
            return row(*[self.names[s] for s in u.src], dtype)
        left, right = u.src
        is_mixed = not (is_splat(left) and is_splat(right))
        b = self.operand(right, u.op, as_number=is_mixed)
        a = self.operand(left, u.op, not is_bracketed(b), is_mixed)  # (a + b) + (c + d) keeps both
        if row.sign in MIRRORED and is_number(left) and not is_number(right):
            return infix(MIRRORED[row.sign])(b, a, dtype)  # x > 3 rather than 3 < x
        return row(a, b, dtype)

    def operand(self, u: UOp, op: Ops, first: bool = False, as_number: bool = False) -> str:
        """An operand of the infix `op`, without redundant parentheses.

        as_number: a vector of one value may be written as a scalar, if the language allows it and
        the scalar has the lanes' type: C promotes anything narrower than int.
        """
        if as_number and is_splat(u) and self.language.accepts_scalar_operand(u.dtype, op):
            (u, *_) = u.src
            if u.dtype.itemsize < 4 and u in self.outermost:
                return self.language.cast(self.names[u], u.dtype)
        text, inner = self.names[u], self.outermost.get(u)
        if inner is None:
            return text
        tighter = PRECEDENCE.get(inner, 0) - PRECEDENCE.get(op, 5)
        in_chain = first and (inner is op or tighter == 0) and op in ASSOCIATIVE
        return without_parens(text) if in_chain or tighter > 0 else text
