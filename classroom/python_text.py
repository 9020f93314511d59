"""Python as a language that kernels are written in, for a device made of nothing but Python.

`PythonText` walks through a program and writes a function:

    def E_3(data0, data1):
        data0 = frombuffer(data0, int32, 3)
        data1 = frombuffer(data1, int32, 3)
        for ridx0 in range(3):
            val0 = data1[ridx0]
            data0[ridx0] = (val0 + 1)

Its words are a subclass's: the table of ops, the table of types, and how a number is written to
memory. Numbers are NumPy's scalars, so they round and wrap around as their dtype says.
`function_of` makes what Python can call of such a text.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tinyframe.device import CompileError
from tinyframe.dtype import AddrSpace, DType, PtrDType, dtypes
from tinyframe.renderer import Renderer
from tinyframe.renderer.program_text import argument_name, is_true, used_in_other_bodies, variables
from tinyframe.uop.node import GroupOp, Ops, UOp

PLAIN = (dtypes.int, dtypes.float, dtypes.bool)  # of a constant that needs no type beside a number
LONGEST = 60  # characters of a value that gets no line of its own


class PythonText(Renderer):
    """Writes a program as a Python function. A subclass gives the rows of both tables."""

    type_names: Mapping[DType, str] = {}
    native_half = False
    default_target = replace(Renderer.default_target, vector_bytes=1)

    def write(self, place: str, value: str, condition: str) -> str:
        """The statement that stores a value in memory, where the condition is true. It is "True"
        where there is none."""
        raise NotImplementedError(f"{type(self).__name__} has to define write")

    def render(self, name: str, uops: list[UOp]) -> str:
        return _Text(self, name, uops).text


class _Text:
    """The text of one program, and what has to be remembered while it is written."""

    def __init__(self, language: PythonText, name: str, uops: list[UOp]) -> None:
        self.language, self.depth = language, 1
        self.lines: list[str] = []
        self.names: dict[UOp, str] = {}
        self.numbers: Counter[str] = Counter()
        self.uses = Counter(s for u in uops for s in u.src)
        self.elsewhere = used_in_other_bodies(uops)
        self.of_indices = _indices(uops)
        buffers = [u for u in uops if u.op is Ops.DEFINE_GLOBAL]
        given = [*sorted(buffers, key=lambda u: u.arg), *variables(uops)]
        for u in uops:
            statements.get(u.op, _Text.value)(self, u)
        head = f"def {name}({', '.join(map(argument_name, given))}):"
        self.text = "\n".join([head, *self.lines]) + "\n"

    def line(self, text: str) -> None:
        """A statement; of several lines, each gets the same indent before its own."""
        self.lines += ["    " * self.depth + part for part in text.split("\n")]

    def declare(self, u: UOp, text: str, prefix: str) -> None:
        self.names[u] = name = f"{prefix}{self.numbers[prefix]}"
        self.numbers[prefix] += 1
        self.line(f"{name} = {_bare(text)}")

    def type_name(self, dtype: DType) -> str:
        return self.language.type_names[dtype]

    def operand(self, s: UOp, user: UOp) -> str:
        """A source as it stands in the text of a node that uses it."""
        if s.op is Ops.CONST:
            beside = any(x.op is not Ops.CONST for x in user.src) and user.op is not Ops.WHERE
            return self.constant(s, user in self.of_indices or (beside and s.dtype in PLAIN))
        if s.op is Ops.RANGE and user not in self.of_indices:
            return f"{self.type_name(s.dtype)}({self.names[s]})"
        return self.names[s]

    def constant(self, u: UOp, is_plain: bool) -> str:
        value = u.arg
        if dtypes.is_unsigned(u.dtype):
            value %= 1 << 8 * u.dtype.itemsize
        return f"{value}" if is_plain else f"{self.type_name(u.dtype)}({value})"

    # ---- lines ----------------------------------------------------------------------------------

    def memory(self, u: UOp) -> None:
        assert isinstance(u.dtype, PtrDType)
        kind = self.type_name(u.dtype.base)
        if u.op is Ops.DEFINE_GLOBAL:
            self.names[u] = name = argument_name(u)
            self.line(f"{name} = frombuffer({name}, {kind}, {u.dtype.size})")
        else:
            self.names[u] = name = f"panel{u.arg}"
            self.line(f"{name} = zeros({u.dtype.size}, {kind})")

    def argument(self, u: UOp) -> None:
        self.names[u] = argument_name(u)

    def register(self, u: UOp) -> None:
        self.names[u] = f"acc{u.arg}"

    def loop(self, u: UOp) -> None:
        self.names[u] = name = f"ridx{u.arg[0]}"
        self.line(f"for {name} in range({_bare(self.operand(u.src[0], u))}):")
        self.depth += 1

    def end(self, u: UOp) -> None:
        self.depth -= 1

    def nothing(self, u: UOp) -> None:
        """A constant or an INDEX is written where it is used."""

    def place(self, index: UOp) -> str:
        buffer, _, flat = index.src
        if buffer.addrspace is AddrSpace.REG:
            return self.names[buffer]
        return f"{self.names[buffer]}[{_bare(self.operand(flat, index))}]"

    def load(self, u: UOp) -> None:
        (index,) = u.src
        place = self.place(index)
        if index.src[0].addrspace is AddrSpace.REG:
            self.names[u] = place
        elif is_true(index.src[1]):
            self.declare(u, place, "val")
        else:
            condition = _bare(self.operand(index.src[1], index))
            otherwise = f"{self.type_name(u.dtype)}(0)"
            self.declare(u, f"{place} if {condition} else {otherwise}", "val")

    def store(self, u: UOp) -> None:
        index, value = u.src
        text = self.operand(value, u)
        if index.src[0].addrspace is AddrSpace.REG:
            self.line(f"{self.place(index)} = {_bare(text)}")
        else:
            condition = _bare(self.operand(index.src[1], index))
            self.line(self.language.write(self.place(index), _bare(text), condition))

    def value(self, u: UOp) -> None:
        x = [self.operand(s, u) for s in u.src]
        if u.op is Ops.CAST:
            text = f"{self.type_name(u.dtype)}({_bare(x[0])})"
        elif u.op is Ops.BITCAST:
            text = f"{x[0]}.view({self.type_name(u.dtype)})"
        else:
            text = self.language.code_for_op[u.op](*x)
        if self.uses[u] <= 1 and u not in self.elsewhere and len(text) < LONGEST:
            self.names[u] = text
        else:
            self.declare(u, text, "alu")


statements: dict[Ops, Callable[[_Text, UOp], None]] = {
    Ops.DEFINE_GLOBAL: _Text.memory,
    Ops.DEFINE_LOCAL: _Text.memory,
    Ops.DEFINE_VAR: _Text.argument,
    Ops.DEFINE_REG: _Text.register,
    Ops.CONST: _Text.nothing,
    Ops.INDEX: _Text.nothing,
    Ops.RANGE: _Text.loop,
    Ops.ENDRANGE: _Text.end,
    Ops.LOAD: _Text.load,
    Ops.STORE: _Text.store,
}


def _indices(uops: list[UOp]) -> set[UOp]:
    """The nodes that only say where memory is touched, and how often: they need no type."""
    used: dict[UOp, list[UOp]] = {}
    found: set[UOp] = set()
    for u in reversed(uops):
        users = used.get(u, [])
        if u.op in (Ops.INDEX, Ops.RANGE) or (
            u.op in GroupOp.Elementwise and users and all(user in found for user in users)
        ):
            found.add(u)
        for s in u.src:
            used.setdefault(s, []).append(u)
    return found


def _bare(text: str) -> str:
    """A text without the brackets around all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            return text[1:-1] if place == len(text) - 1 else text
    return text


# ---- from text to a function ---------------------------------------------------------------------


def quotient(x: Any, y: Any) -> Any:
    """x / y of integers, rounded towards 0 as C does. (Python's // rounds down.)"""
    return x // y + ((x % y != 0) & ((x < 0) != (y < 0)))


WORDS: dict[str, Any] = {
    **{name: getattr(np, name) for name in (
        "bool_", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
        "float16", "float32", "float64", "frombuffer", "zeros", "inf", "nan", "where", "fmod")},
    "quotient": quotient,
}  # fmt: skip


def function_of(lib: bytes, name: str, **words: Any) -> Callable[..., Any]:
    """The function `name` of a text. words: what the text may use beside NumPy's types.

    CompileError where the text is no Python.
    """
    text = lib.decode()
    try:
        code = compile(text, f"<kernel {name}>", "exec")
    except SyntaxError as error:
        raise CompileError(f"{error.msg}, in line {error.lineno}", text) from None
    scope = {**WORDS, **words}
    exec(code, scope)
    function = scope[name]

    def run(*arguments: Any) -> None:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*arguments)

    return run
