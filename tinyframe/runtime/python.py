"""The PYTHON device: interprets programs and checks every access; the reference for all others.

A program is rendered as text, one line for each UOp: its number, op, dtype, the numbers of its
sources, and its argument. There is no compiler; the Runner parses the text. `a + 1` on four floats
begins with

    # E_4: number, op, dtype, sources, argument
    (0, "DEFINE_GLOBAL", "float.ptr(4)", (), 0),
    (1, "DEFINE_GLOBAL", "float.ptr(4)", (), 1),
    (2, "CONST", "int", (), 4),
    (3, "RANGE", "int", (2,), (0, "LOOP")),

Each line becomes a statement of a Python function. A scalar is a Python number, a vector a tuple of
them. The table in `uop/evaluate.py` defines the ops, and each result is rounded to its dtype at
once. An index outside its buffer, or a read of uninitialized scratch memory, is an error that names
the line.

The blocks of a grid run one after the other. The threads of a block take turns: each runs up to the
next barrier before the next thread does. So if a barrier is missing, a thread reads memory that
has not been written yet. It is an error if the threads do not all reach the same barrier.
"""

from __future__ import annotations

import ast
import ctypes
import itertools
import struct
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import repeat
from operator import setitem
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from tinyframe.device import ONE, Compiled, Compiler, Runner, Size
from tinyframe.dtype import (
    INVERSE_DTYPES_DICT,
    AddrSpace,
    DType,
    PtrDType,
    bf16_to_f32,
    dtypes,
    f32_to_bf16,
    truncate,
)
from tinyframe.renderer import Renderer
from tinyframe.runtime.host import HostAllocator, HostMemory
from tinyframe.uop.evaluate import _shift, python_alu
from tinyframe.uop.node import GroupOp, Ops, UOp


class OutOfBounds(IndexError):
    """A program accesses memory outside a buffer."""


class UninitializedRead(ValueError):
    """A program reads scratch memory or an accumulator before writing it."""


class DivergentBarrier(RuntimeError):
    """The threads of a block do not all reach the same barrier."""


# ---- program to text, and back ------------------------------------------------------------------


class PythonRenderer(Renderer):
    """Renders a program as text for `ast.literal_eval`."""

    device = "PYTHON"
    # every op is supported, so nothing has to be decomposed
    code_for_op = {op: lambda *operands: "" for op in (*GroupOp.Elementwise, Ops.MMA)}
    native_casts = True
    default_target = replace(Renderer.default_target, l2=512 << 10)

    def render(self, name: str, uops: list[UOp]) -> str:
        number = {u: n for n, u in enumerate(uops)}
        lines = [f"# {name}: number, op, dtype, sources, argument"]
        for n, u in enumerate(uops):
            sources = tuple(number[s] for s in u.src)
            dtype, arg = _dtype_text(u.dtype), _arg_text(u)
            lines.append(f'({n}, "{u.op.name}", "{dtype}", {sources}, {arg}),')
        return "\n".join(lines) + "\n"


def _dtype_text(dtype: DType) -> str:
    if isinstance(dtype, PtrDType):
        where = "" if dtype.addrspace is AddrSpace.GLOBAL else f", {dtype.addrspace.name}"
        return f"{_dtype_text(dtype.base)}.ptr({dtype.size}{where})"
    name = INVERSE_DTYPES_DICT[dtype.scalar().name]
    return name if dtype.count == 1 else f"{name}.vec({dtype.count})"


@cache
def _dtype_of(text: str) -> DType:
    dtype: DType = eval(text, {**vars(dtypes), **AddrSpace.__members__})
    return dtype


def _arg_text(u: UOp) -> str:
    if u.op is Ops.CONST and isinstance(u.arg, float) and not np.isfinite(u.arg):
        return f'"{u.arg}"'  # inf and nan are not literals
    if u.op is Ops.RANGE:
        axis, kind = u.arg
        return repr((axis, kind.name))
    if u.op is Ops.SPECIAL:
        return repr(u.arg[0])  # the size is given at each launch
    return repr(u.arg if isinstance(u.arg, (bool, int, float, str, tuple)) else None)


class Line(NamedTuple):
    """One line of a program's text."""

    number: int
    op: Ops
    dtype: DType
    src: tuple[int, ...]
    arg: Any


def parse(text: str) -> list[Line]:
    """The lines of a program's text."""
    return [Line(number, Ops[op], _dtype_of(dtype), src, arg)
            for number, op, dtype, src, arg in ast.literal_eval(f"[\n{text}]")]  # fmt: skip


# ---- memory -------------------------------------------------------------------------------------


class _Floats:
    """Memory of a dtype that memoryview does not support: half, and bfloat16 stored as uint16."""

    def __init__(self, stored: np.ndarray, to_float: Callable, from_float: Callable) -> None:
        self.stored, self.to_float, self.from_float = stored, to_float, from_float

    def __getitem__(self, at: Any) -> Any:
        return self.to_float(self.stored[at]).tolist()

    def __setitem__(self, at: int, value: float) -> None:
        self.stored[at] = self.from_float(value)


def _view(memory: HostMemory, dtype: DType) -> Any:
    """Memory as a sequence of Python numbers."""
    if dtype is dtypes.half:
        return _Floats(memory.array.view(np.float16), lambda stored: stored, lambda value: value)
    if dtype is dtypes.bfloat16:
        return _Floats(memory.array.view(np.uint16), lambda stored: bf16_to_f32(np.asarray(stored)),
                       lambda value: f32_to_bf16(np.float32(value).reshape(1))[0])  # fmt: skip
    return memory.array.data.cast(dtype.fmt)  # type: ignore[call-overload]


# ---- what each op does --------------------------------------------------------------------------

# their results need no rounding
_EXACT = {Ops.MAX, Ops.MIN, Ops.WHERE, Ops.AND, Ops.OR, Ops.XOR, Ops.SHR, Ops.TRUNC, Ops.BITCAST,
          Ops.THREEFRY, *GroupOp.Comparison}  # fmt: skip


def _rounding(op: Ops, dtype: DType) -> Callable[[Any], Any] | None:
    """A function that rounds one lane of a result to `dtype`; None if there is nothing to round.

    It equals `truncate[dtype]`, but is faster in common cases: programs spend their time here.
    """
    wrap = truncate[dtype]
    if op is Ops.CAST:
        return wrap
    if op in _EXACT or dtype is dtypes.float64:
        return None
    if dtype is dtypes.float32:
        return _float32
    if dtypes.is_int(dtype):
        low, high = dtype.min, dtype.max
        return lambda x: x if low <= x <= high else wrap(x)
    return wrap


def _float32(x: float, stored: Any = ctypes.c_float) -> float:
    return stored(x).value


def _bitcast(source: DType, target: DType, value: Any) -> Any:
    return _from_bits(target, _to_bits(source, value))


def _to_bits(dtype: DType, value: Any) -> bytes:
    if dtype is dtypes.bfloat16:
        return f32_to_bf16(np.full(1, value, np.float32)).tobytes()
    return struct.pack(f"={dtype.fmt}", value)


def _from_bits(dtype: DType, bits: bytes) -> Any:
    if dtype is dtypes.bfloat16:
        return bf16_to_f32(np.frombuffer(bits, np.uint16)).tolist()[0]
    return struct.unpack(f"={dtype.fmt}", bits)[0]


def _function(op: Ops, dtype: DType, source: DType) -> Callable[..., Any]:
    """An elementwise op on the Python numbers of one lane, before rounding."""
    if op is Ops.BITCAST:
        return partial(_bitcast, source, dtype)
    if op in (Ops.SHL, Ops.SHR):
        return partial(_shift, op, dtype.bits)
    if op in GroupOp.Comparison and dtypes.is_int(dtype):  # a lane of a mask
        compare = python_alu[op]
        return lambda x, y: -compare(x, y)
    return python_alu[op]


# ---- the interpreter ----------------------------------------------------------------------------


# the names of memory in the C renderer
_NAMES = {Ops.DEFINE_GLOBAL: "data", Ops.DEFINE_LOCAL: "panel", Ops.DEFINE_REG: "acc"}
# Python allows at most 20 nested loops in one function
_MOST_LOOPS = 16


class PythonRunner(Runner):
    """A program translated to a Python function, one statement per line; `yield` is a barrier.

    It writes to a copy of the memory, which is copied back at the end, so a run that is
    interrupted has no effect.
    """

    notes_itself = True

    def __init__(self, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        self.lines = parse(lib.decode())
        self.arguments = self._defined(Ops.DEFINE_GLOBAL)
        self.variables = self._defined(Ops.DEFINE_VAR)
        self.panels = self._defined(Ops.DEFINE_LOCAL)
        self.places = self._defined(Ops.SPECIAL)
        stores = [line for line in self.lines if line.op is Ops.STORE]
        stored = {self.lines[line.src[0]].src[0] for line in stores}
        self.written = [n for n, line in enumerate(self.arguments) if line.number in stored]
        self.threads = self._compiled()

    def __call__(
        self, *bufs: HostMemory, global_size: Size = ONE, local_size: Size = ONE, vals: Size = (),
        wait: bool = False,
    ) -> float | None:  # fmt: skip
        start = perf_counter()
        kept = {n: bufs[n].array.copy() for n in self.written}
        used = [HostMemory(kept[n]) if n in kept else buf for n, buf in enumerate(bufs)]
        memory = [self._argument(*given) for given in zip(self.arguments, used, strict=True)]
        if len(vals) != len(self.variables):
            raise ValueError(f"kernel {self.name} has {len(self.variables)} Variables, not {vals}")
        # a THREAD loop runs as a loop, not as a grid
        asked = {line.arg for line in self.places}
        grid = [size if f"gidx{n}" in asked else 1 for n, size in enumerate(global_size)]
        for block in _numbers("g", grid):
            shared: dict[Any, Any] = {}  # by the threads of a block, for MMA
            panels = [[None] * _size(line.dtype) for line in self.panels]
            numbers = [{**block, **thread} for thread in _numbers("l", local_size)]
            self._take_turns([
                self.threads(n, shared, *memory, *vals, *panels,
                             *[numbers[n][line.arg] for line in self.places])
                for n in range(len(numbers))
            ])  # fmt: skip
        targets: list[Any] = [bufs[n].array.data for n in kept]
        self.launch(deque, map(setitem, targets, repeat(slice(None)), kept.values()), 0)
        return perf_counter() - start if wait else None

    def _take_turns(self, threads: Sequence[Iterator[int]]) -> None:
        """Runs each thread of a block up to the next barrier, in turn. The order is reversed at
        each barrier, so that every thread runs both before and after every other."""
        order = list(range(len(threads)))
        at: int | None = 0
        while at is not None:
            stops = {n: next(threads[n], None) for n in order}
            order.reverse()
            at = stops[0]
            if other := next((n for n in sorted(stops) if stops[n] != at), None):
                first, second = _stop_text(at), _stop_text(stops[other])
                raise DivergentBarrier(
                    f"kernel {self.name}: thread 0 of a block {first}, and thread {other} {second}"
                )

    def _defined(self, op: Ops) -> list[Line]:
        """The lines with this op in argument order: by slot or name."""
        return sorted((line for line in self.lines if line.op is op), key=lambda line: line.arg)

    def _argument(self, line: Line, buf: HostMemory) -> Any:
        assert isinstance(line.dtype, PtrDType)
        if buf.array.nbytes < line.dtype.nbytes:
            raise OutOfBounds(
                f"kernel {self.name}: argument {line.arg} is {line.dtype}, {line.dtype.nbytes} "
                f"bytes, but was given {buf.array.nbytes}"
            )
        return _view(buf, line.dtype.scalar())

    # ---- to Python ------------------------------------------------------------------------------

    def _compiled(self) -> Callable[..., Iterator[int]]:
        """A thread's code: a generator that yields the line of each barrier it reaches."""
        inputs = [*self.arguments, *self.variables, *self.panels, *self.places]
        given = ", ".join(["thread", "shared", *[f"v{line.number}" for line in inputs]])
        names: dict[str, Any] = {}  # constants and functions that the statements use
        text, depth = [f"def threads({given}):", " if 0: yield"], 1
        ends: list[str | None] = []  # the statement that closes each open loop, if any
        for line in self.lines:
            if line.op is Ops.ENDRANGE:
                end = ends.pop()
                depth -= 1 if end is None else 2
                text += [] if end is None else [" " * depth + end]
                continue
            if line.op is Ops.RANGE and len(ends) % _MOST_LOOPS == _MOST_LOOPS - 1:
                text.append(" " * depth + f"def loop{line.number}():")
                ends.append(f"yield from loop{line.number}()")
                depth += 1
                text.append(" " * depth + "if 0: yield")
            elif line.op is Ops.RANGE:
                ends.append(None)
            text += [" " * depth + statement for statement in self._statements(line, names)]
            if line.op is Ops.RANGE:
                depth += 1
                text.append(" " * depth + "pass")
        exec(compile("\n".join(text), f"<kernel {self.name}>", "exec"), names)
        threads: Callable[..., Iterator[int]] = names["threads"]
        return threads

    def _statements(self, line: Line, names: dict[str, Any]) -> list[str]:
        """A line in Python, where the value of line 7 is `v7`; adds the functions it calls to
        `names`."""
        number, out, sources = line.number, f"v{line.number}", [f"v{s}" for s in line.src]
        function, operands = f"f{number}", ", ".join(sources)

        def of_warp(mine: str, *more: str) -> list[str]:
            """A value made of what all threads of a warp share: the second barrier keeps that until
            all have read it."""
            return [
                f"shared[{number}, thread] = {mine}",
                f"yield {number}",
                f"{out} = {function}({', '.join(['shared', 'thread', *more])})",
                f"yield {number}",
            ]

        match line.op:
            case Ops.CONST:
                value = float(line.arg) if isinstance(line.arg, str) else line.arg
                names[out] = truncate[line.dtype](value)
                return []
            case (Ops.DEFINE_GLOBAL | Ops.DEFINE_VAR | Ops.DEFINE_LOCAL | Ops.SPECIAL | Ops.INDEX
                  | Ops.SINK):  # fmt: skip
                return []
            case Ops.DEFINE_REG:  # uninitialized again each time it is defined
                return [f"{out} = [None] * {_size(line.dtype)}"]
            case Ops.BARRIER:
                return [f"yield {number}"]
            case Ops.RANGE:
                return [f"for {out} in range({operands}):"]
            case Ops.VECTORIZE:
                return [f"{out} = {operands},"]
            case Ops.GEP:
                return [f"{out} = {operands}[{line.arg}]"]
            case Ops.MMA:
                from tinyframe.gpu import mma

                names[function] = partial(_mma, mma, line)
                names[f"read{number}"] = partial(_read, mma, line)
                a, b, *added = sources
                return of_warp(f"read{number}({a}), read{number}({b})", *added)
            case Ops.FRAGMENT:
                from tinyframe.gpu import mma

                row = line._replace(dtype=line.dtype.scalar().vec(mma.MATRIX))
                names[function] = partial(_fragment, mma, line)
                names[f"load{number}"] = self._load(row)
                return of_warp(f"load{number}({self._index_text(line)})")
            case Ops.LOAD:
                names[function] = self._load(line)
                return [f"{out} = {function}({self._index_text(line)})"]
            case Ops.STORE:
                names[function] = self._store(line)
                return [f"{function}({self._index_text(line)}, {sources[1]})"]
        if line.op not in GroupOp.Elementwise:
            raise NotImplementedError(f"kernel {self.name}: the PYTHON device cannot run {line.op},"
                                      f" line {number} of its program")  # fmt: skip
        dtype, source = line.dtype.scalar(), self.lines[line.src[0]].dtype.scalar()
        names[function] = _function(line.op, dtype, source)
        rounding = _rounding(line.op, dtype)
        names[f"round{number}"] = rounding
        if line.dtype.count == 1:
            text = f"{function}({operands})"
            return [f"{out} = round{number}({text})" if rounding else f"{out} = {text}"]
        text = f"map({function}, {operands})"
        return [f"{out} = tuple({f'map(round{number}, {text})' if rounding else text})"]

    # ---- memory ---------------------------------------------------------------------------------

    def _index_text(self, line: Line) -> str:
        """The memory, condition and index of a LOAD or STORE."""
        return ", ".join(f"v{s}" for s in self.lines[line.src[0]].src)

    def _load(self, line: Line) -> Callable[[Any, bool, int], Any]:
        count = line.dtype.count
        lanes, place = self._lanes(line, count, "reads")
        zero = truncate[line.dtype.scalar()](0)
        nothing: Any = zero if count == 1 else (zero,) * count

        def load(memory: Any, valid: bool, flat: int) -> Any:
            if not valid:
                return nothing
            at = place(flat)
            found = memory[at] if count == 1 else tuple([memory[at + n] for n in lanes])
            if found is None or (count > 1 and None in found):
                raise UninitializedRead(
                    f"kernel {self.name}, line {line.number}: {self._memory_name(line)}[{at}] is "
                    "read before anything was written there"
                )
            return found

        return load

    def _store(self, line: Line) -> Callable[[Any, bool, int, Any], None]:
        count = self.lines[line.src[1]].dtype.count
        lanes, place = self._lanes(line, count, "writes")

        def store(memory: Any, valid: bool, flat: int, value: Any) -> None:
            if not valid:
                return
            at = place(flat)
            if count == 1:
                memory[at] = value
            else:
                for n, x in zip(lanes, value, strict=True):
                    memory[at + n] = x

        return store

    def _lanes(self, line: Line, count: int, does: str) -> tuple[range, Callable[[int], int]]:
        """The offset of each lane of a LOAD or STORE from the first, and a function from the index
        to the position of the first; it raises OutOfBounds if a lane is outside the memory."""
        index = self.lines[line.src[0]]
        dtype = self.lines[index.src[0]].dtype
        assert isinstance(dtype, PtrDType)
        # a pointer to vectors is indexed by vectors, but here all memory is indexed by scalars
        unit, size = dtype.base.count, _size(dtype)
        step = 1 if index.arg is None else index.arg
        reach = step * (count - 1)

        def place(flat: int) -> int:
            at = flat * unit
            if 0 <= at < size and 0 <= at + reach < size:
                return at
            text = f"[{at}]" if count == 1 else f"[{at}:{at + count}]"
            raise OutOfBounds(
                f"kernel {self.name}, line {line.number}: {line.op.name} {does} "
                f"{self._memory_name(line)}{text}, which has {size} elements"
            )

        return range(0, step * count, step), place

    def _memory_name(self, line: Line) -> str:
        buffer = self.lines[self.lines[line.src[0]].src[0]]
        return f"{_NAMES[buffer.op]}{buffer.arg}"


def _numbers(letter: str, sizes: Sequence[int]) -> list[dict[str, int]]:
    """The indices of each block of a grid, or of each thread of a block, by name. Axis 0 varies
    fastest."""
    names = [f"{letter}idx{n}" for n in reversed(range(len(sizes)))]
    numbers = itertools.product(*map(range, reversed(sizes)))
    return [dict(zip(names, place, strict=True)) for place in numbers]


def _size(dtype: DType) -> int:
    """The number of scalars in memory of this type."""
    assert isinstance(dtype, PtrDType)
    return dtype.size * dtype.base.count


def _read(mma: Any, line: Line, numbers: Sequence[Any]) -> list[float]:
    """Operands as a tensor core reads them: from bits if the language lacks the dtype, or rounded
    to TF32."""
    if line.arg == "tf32":
        return list(map(mma.to_tf32, numbers))
    dtype = mma.DTYPES[line.arg]
    return [_from_bits(dtype, struct.pack("=H", x)) if isinstance(x, int) else x for x in numbers]


def _fragment(mma: Any, line: Line, shared: dict, thread: int) -> tuple:
    """A thread's elements, from the rows that the threads of its warp have shared."""
    first = thread - thread % mma.THREADS
    rows = [shared[line.number, first + n] for n in range(mma.THREADS)]
    return tuple(mma.fragment(rows, thread - first, line.dtype.count, line.arg))


def _mma(mma: Any, line: Line, shared: dict, thread: int, *added: Any) -> tuple:
    """A thread's results, from the operands that the threads of its warp have shared."""
    first = thread - thread % mma.THREADS
    given = [shared[line.number, first + n] for n in range(mma.THREADS)]
    found = mma.results(line.arg, thread - first, given)
    (before,) = added or [(0.0,) * mma.RESULTS]
    return tuple([_float32(x + y) for x, y in zip(before, found, strict=True)])


def _stop_text(line: int | None) -> str:
    return "ends" if line is None else f"waits at the barrier of line {line}"


class PythonDevice(Compiled):
    """The interpreter: slow, but it needs nothing installed."""

    times_kernels = False

    def __init__(self, device: str = "PYTHON") -> None:
        super().__init__(device, HostAllocator(), PythonRenderer(), Compiler(), PythonRunner)
