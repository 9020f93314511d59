"""The PYTHON device: interprets programs, checks every access, and so defines what is right.

A program is rendered as text, one line for each UOp: its number, op, dtype, sources by number, and
argument. Nothing is compiled; the Runner reads the text back. `a + 1` on four floats begins

    # E_4: number, op, dtype, sources, argument
    (0, "DEFINE_GLOBAL", "float.ptr(4)", (), 0),
    (1, "DEFINE_GLOBAL", "float.ptr(4)", (), 1),
    (2, "CONST", "int", (), 4),
    (3, "RANGE", "int", (2,), (0, "LOOP")),

A value is a Python number, a vector a tuple of them. What an op does is `uop/evaluate.py`'s table,
and each result is rounded to its dtype at once. An index outside its buffer, or a read of scratch
memory that nothing was written to, stops the run and says where.

The blocks of a grid run one after the other. The threads of a block take turns: each runs up to the
next barrier, and then the next thread does, so that what a thread reads too early, because a
barrier is missing, has not been written yet. Threads that do not all get to the same barrier stop
the run.
"""

from __future__ import annotations

import ast
import ctypes
import itertools
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from tinyframe.device import Compiled, Compiler, Runner
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
from tinyframe.renderer import Renderer, Target
from tinyframe.runtime.host import HostAllocator, HostMemory
from tinyframe.uop import mma
from tinyframe.uop.evaluate import _shift, python_alu
from tinyframe.uop.node import GroupOp, Ops, UOp

Step = Callable[[], None]


class Waiting(NamedTuple):
    """A step with barriers in it. turns: runs it, and yields the line of each barrier on the
    way."""

    turns: Callable[[], Iterator[int]]


Steps = Sequence[Step | Waiting]


class OutOfBounds(IndexError):
    """A program reads or writes outside a buffer."""


class UninitializedRead(ValueError):
    """A program reads scratch memory or an accumulator before anything was written there."""


class DivergentBarrier(RuntimeError):
    """The threads of a block do not all get to the same barrier."""


# ---- program to text, and back ------------------------------------------------------------------


class PythonRenderer(Renderer):
    """A program as text that `ast.literal_eval` reads."""

    device = "PYTHON"
    # All there are: nothing has to be decomposed.
    code_for_op = {op: lambda *operands: "" for op in (*GroupOp.Elementwise, Ops.MMA)}
    native_casts = True

    def __init__(self, target: Target | None = None) -> None:
        super().__init__(target or Target(vector_bytes=16, vector_registers=16, threads=1,
                                          l1=32 << 10, l2=512 << 10))  # fmt: skip

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


def _dtype_of(text: str) -> DType:
    name, *calls = text.replace(")", "").split(".")
    dtype: DType = getattr(dtypes, name)
    for call in calls:
        method, _, given = call.partition("(")
        size, _, where = given.partition(", ")
        dtype = (dtype.vec(int(size)) if method == "vec"
                 else dtype.ptr(int(size), AddrSpace[where or "GLOBAL"]))  # fmt: skip
    return dtype


def _arg_text(u: UOp) -> str:
    if u.op is Ops.CONST and isinstance(u.arg, float) and not np.isfinite(u.arg):
        return f'"{u.arg}"'  # inf and nan are no literals
    if u.op is Ops.RANGE:
        axis, kind = u.arg
        return repr((axis, kind.name))
    if u.op is Ops.SPECIAL:
        return repr(u.arg[0])  # how many there are is said at each launch
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


class _Rare:
    """Memory of a dtype that a memoryview cannot read: half, and bfloat16 stored as uint16."""

    def __init__(self, stored: np.ndarray, to_float: Callable, from_float: Callable) -> None:
        self.stored, self.to_float, self.from_float = stored, to_float, from_float

    def __getitem__(self, at: Any) -> Any:
        return self.to_float(self.stored[at]).tolist()

    def __setitem__(self, at: int, value: float) -> None:
        self.stored[at] = self.from_float(value)


def _view(memory: HostMemory, dtype: DType) -> Any:
    """Memory that gives and takes Python numbers by index."""
    if dtype is dtypes.half:
        return _Rare(memory.array.view(np.float16), lambda stored: stored, lambda value: value)
    if dtype is dtypes.bfloat16:
        return _Rare(memory.array.view(np.uint16), lambda stored: bf16_to_f32(np.asarray(stored)),
                     lambda value: f32_to_bf16(np.float32(value).reshape(1))[0])  # fmt: skip
    return memory.array.data.cast(dtype.fmt)  # type: ignore[call-overload]


# ---- what each op does --------------------------------------------------------------------------

# Their results are values that their dtype has already.
_EXACT = {Ops.MAX, Ops.MIN, Ops.WHERE, Ops.AND, Ops.OR, Ops.XOR, Ops.SHR, Ops.TRUNC, Ops.BITCAST,
          Ops.THREEFRY, *GroupOp.Comparison}  # fmt: skip


def _rounding(op: Ops, dtype: DType) -> Callable[[Any], Any] | None:
    """What makes a result a value of `dtype`, one lane; None where it is one already.

    The same as `truncate[dtype]`, but quicker for what is usual: a program spends its time here.
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


def _number(form: str, x: Any) -> float:
    """What a tensor core reads: bits where a device has no such dtype, and of a float32 a part."""
    if form == "tf32":
        return mma.to_tf32(x)
    if isinstance(x, int):
        return _from_bits(mma.DTYPES[form], struct.pack("=H", x))
    return x


def _function(op: Ops, dtype: DType, source: DType) -> Callable[..., Any]:
    """An elementwise op on Python numbers, of one lane; its result is still to be rounded."""
    if op is Ops.BITCAST:
        return partial(_bitcast, source, dtype)
    if op in (Ops.SHL, Ops.SHR):
        return partial(_shift, op, dtype.bits)
    if op in GroupOp.Comparison and dtypes.is_int(dtype):  # a lane of a mask
        compare = python_alu[op]
        return lambda x, y: -compare(x, y)
    return python_alu[op]


# ---- the interpreter ----------------------------------------------------------------------------


# As the C renderer calls them.
_NAMES = {Ops.DEFINE_GLOBAL: "data", Ops.DEFINE_LOCAL: "panel", Ops.DEFINE_REG: "acc"}


def _in_turns(steps: Steps) -> Iterator[int]:
    """Runs steps, and yields the line of each barrier that they get to."""
    for step in steps:
        if isinstance(step, Waiting):
            yield from step.turns()
        else:
            step()


def _waits(steps: Steps) -> bool:
    """Whether there is a barrier in any of these."""
    return any(isinstance(step, Waiting) for step in steps)


def _places(letter: str, sizes: Sequence[int]) -> list[tuple[tuple[str, int], ...]]:
    """Each block of a grid, or thread of a block, as the numbers that it has along the axes. Axis 0
    changes first."""
    numbers = itertools.product(*map(range, reversed(sizes)))
    names = [f"{letter}idx{n}" for n in range(len(sizes))]
    return [tuple(zip(names, reversed(place), strict=True)) for place in numbers]


class PythonRunner(Runner):
    """A program made into nested lists of steps: a loop is a step that runs its own list."""

    def __init__(self, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        self.lines = parse(lib.decode())
        self.values: list[Any] = [None] * len(self.lines)  # what each line gave last
        self.arguments = self._defined(Ops.DEFINE_GLOBAL)
        self.variables = self._defined(Ops.DEFINE_VAR)
        self.panels = [line for line in self.lines if line.op is Ops.DEFINE_LOCAL]
        self.number_of = {line.arg: line.number for line in self._defined(Ops.SPECIAL)}
        self.steps = self._nested(iter(self.lines))
        self.thread = 0  # the one of a block that runs
        self._one_at_a_time = threading.Lock()

    def __call__(
        self,
        *bufs: HostMemory,
        global_size: tuple[int, ...] = (1, 1, 1),
        local_size: tuple[int, ...] = (1, 1, 1),
        vals: tuple[int, ...] = (),
        wait: bool = False,
    ) -> float | None:
        start = perf_counter()
        with self._one_at_a_time:
            for line, buf in zip(self.arguments, bufs, strict=True):
                self.values[line.number] = self._argument(line, buf)
            for line, value in zip(self.variables, vals, strict=True):
                self.values[line.number] = value
            try:
                self._run_grid(global_size, local_size)
            finally:
                for line in self.arguments:  # or the memory would live as long as this program
                    self.values[line.number] = None
        return perf_counter() - start if wait else None

    def _run_grid(self, global_size: Sequence[int], local_size: Sequence[int]) -> None:
        """Each block, along the axes whose number the program asks for: a loop that cores divide
        among themselves is run as a loop."""
        asked = [size if f"gidx{n}" in self.number_of else 1 for n, size in enumerate(global_size)]
        threads = _places("l", local_size)
        for place in _places("g", asked):
            self._set_numbers(self.values, place)
            for line in self.panels:
                self._scratch(line)()  # all threads of the block have the same
            if _waits(self.steps):
                self._run_in_turns(threads)
                continue
            for thread in threads:
                self._set_numbers(self.values, thread)
                for step in self.steps:
                    step()  # type: ignore[operator]

    def _run_in_turns(self, threads: Sequence[tuple[tuple[str, int], ...]]) -> None:
        """The threads of a block one after the other, each up to the next barrier; from there on in
        the opposite order, so that each of them is early and late. Each has values of its own."""
        running = [(self.values.copy(), _in_turns(self.steps)) for _ in threads]
        for thread, (own, _) in zip(threads, running, strict=True):
            self._set_numbers(own, thread)
        order = list(range(len(running)))
        at: int | None = 0
        while at is not None:
            stops: dict[int, int | None] = {}
            for n in order:
                own, turns = running[n]
                self.values[:], self.thread = own, n
                stops[n] = next(turns, None)
                own[:] = self.values
            order.reverse()
            at = stops[0]
            if other := next((n for n in sorted(stops) if stops[n] != at), None):
                first, second = _stop_text(at), _stop_text(stops[other])
                raise DivergentBarrier(
                    f"kernel {self.name}: thread 0 of a block {first}, and thread {other} {second}"
                )

    def _set_numbers(self, values: list[Any], place: tuple[tuple[str, int], ...]) -> None:
        """The number of a block or of a thread along each axis."""
        for name, number in place:
            if name in self.number_of:
                values[self.number_of[name]] = number

    def _defined(self, op: Ops) -> list[Line]:
        """The lines of this op by slot or name, the order of a kernel's arguments."""
        return sorted((line for line in self.lines if line.op is op), key=lambda line: line.arg)

    def _argument(self, line: Line, buf: HostMemory) -> Any:
        assert isinstance(line.dtype, PtrDType)
        if buf.array.nbytes < line.dtype.nbytes:
            raise OutOfBounds(
                f"kernel {self.name}: argument {line.arg} is {line.dtype}, {line.dtype.nbytes} "
                f"bytes, but was given {buf.array.nbytes}"
            )
        return _view(buf, line.dtype.scalar())

    def _nested(self, lines: Iterator[Line]) -> list[Step | Waiting]:
        """The steps up to the end of the loop or IF that `lines` stands in."""
        steps: list[Step | Waiting] = []
        for line in lines:
            if line.op in (Ops.ENDRANGE, Ops.ENDIF):
                break
            if (step := self._step(line, lines)) is not None:
                steps.append(step)
        return steps

    def _step(self, line: Line, rest: Iterator[Line]) -> Step | Waiting | None:
        """What a line does when the program gets there; None where it does nothing then."""
        values, out = self.values, line.number
        match line.op:
            case Ops.CONST:
                values[out] = truncate[line.dtype](float(line.arg) if isinstance(line.arg, str)
                                                   else line.arg)  # fmt: skip
                return None
            case Ops.DEFINE_GLOBAL | Ops.DEFINE_VAR | Ops.SPECIAL | Ops.INDEX | Ops.SINK:
                return None
            case Ops.DEFINE_LOCAL:
                return None  # the block makes it, for all of its threads
            case Ops.DEFINE_REG:
                return self._scratch(line)
            case Ops.BARRIER:
                return Waiting(lambda: iter((out,)))
            case Ops.MMA:
                return self._mma(line)
            case Ops.RANGE:
                return self._loop(line, self._nested(rest))
            case Ops.IF:
                return self._branch(line, self._nested(rest))
            case Ops.LOAD:
                return self._load(line)
            case Ops.STORE:
                return self._store(line)
            case Ops.VECTORIZE:
                sources = line.src
                def vectorize() -> None:
                    values[out] = tuple([values[s] for s in sources])
                return vectorize
            case Ops.GEP:
                source, lane = line.src[0], line.arg
                def gep() -> None:
                    values[out] = values[source][lane]
                return gep
        if line.op in GroupOp.Elementwise:
            return self._elementwise(line)
        raise NotImplementedError(f"kernel {self.name}: the PYTHON device cannot run {line.op}, "
                                  f"line {line.number} of its program")  # fmt: skip

    def _mma(self, line: Line) -> Waiting:
        """Each thread gives its numbers, and takes its results when all of its warp have."""
        values, (a, b, *added) = self.values, line.src
        number = partial(_number, line.arg)
        given: dict[int, tuple[list[float], list[float]]] = {}
        def turns() -> Iterator[int]:
            thread = self.thread
            given[thread] = list(map(number, values[a])), list(map(number, values[b]))
            yield line.number
            first = thread - thread % mma.THREADS
            found = mma.results(line.arg, thread - first,
                                [given[first + n] for n in range(mma.THREADS)])  # fmt: skip
            before = values[added[0]] if added else [0.0] * mma.RESULTS
            pairs = zip(before, found, strict=True)
            values[line.number] = tuple([_float32(x + y) for x, y in pairs])
            yield line.number  # nobody gives anything new before all have taken theirs
        return Waiting(turns)

    def _elementwise(self, line: Line) -> Step:
        values, out, sources, dtype = self.values, line.number, line.src, line.dtype.scalar()
        function = _function(line.op, dtype, self.lines[sources[0]].dtype.scalar())
        rounding = _rounding(line.op, dtype)
        if line.dtype.count > 1:
            def vector() -> None:
                lanes = map(function, *[values[s] for s in sources])
                values[out] = tuple(map(rounding, lanes) if rounding else lanes)
            return vector
        if len(sources) == 2:  # most are, so this is where the time goes
            x, y = sources
            def exact() -> None:
                values[out] = function(values[x], values[y])
            def rounded() -> None:
                values[out] = rounding(function(values[x], values[y]))  # type: ignore[misc]
            return rounded if rounding else exact
        def scalar() -> None:
            result = function(*[values[s] for s in sources])
            values[out] = rounding(result) if rounding else result
        return scalar

    def _loop(self, line: Line, body: Steps) -> Step | Waiting:
        values, out, (end,) = self.values, line.number, line.src
        def in_turns() -> Iterator[int]:
            for i in range(values[end]):
                values[out] = i
                yield from _in_turns(body)
        if _waits(body):
            return Waiting(in_turns)
        steps: list[Any] = list(body)
        def loop() -> None:
            for i in range(values[end]):
                values[out] = i
                for step in steps:
                    step()
        return loop

    def _branch(self, line: Line, body: Steps) -> Step | Waiting:
        values, condition = self.values, line.src[0]
        def in_turns() -> Iterator[int]:
            if values[condition]:
                yield from _in_turns(body)
        if _waits(body):
            return Waiting(in_turns)
        def branch() -> None:
            for _ in in_turns():
                pass
        return branch

    def _scratch(self, line: Line) -> Step:
        """Scratch memory and accumulators start anew, unwritten, wherever they are defined."""
        values, out, dtype = self.values, line.number, line.dtype
        assert isinstance(dtype, PtrDType)
        size = dtype.size * dtype.base.count
        def scratch() -> None:
            values[out] = [None] * size
        return scratch

    def _load(self, line: Line) -> Step:
        values, out, count = self.values, line.number, line.dtype.count
        buffer, valid, flat, unit, size, step = self._place(line)
        reach = step * (count - 1)  # from the first lane to the last
        nothing: Any = truncate[line.dtype.scalar()](0)
        scratch = self.lines[buffer].op is not Ops.DEFINE_GLOBAL
        if count > 1:
            nothing = (nothing,) * count
        def load() -> None:
            if not values[valid]:
                values[out] = nothing
                return
            at = values[flat] * unit
            if not (0 <= at < size and 0 <= at + reach < size):
                raise self._out_of_bounds(line, "reads", at, size)
            memory = values[buffer]
            if count == 1:
                found = memory[at]
            else:
                found = tuple([memory[at + step * lane] for lane in range(count)])
            if scratch and (found is None or (count > 1 and None in found)):
                raise UninitializedRead(
                    f"kernel {self.name}, line {line.number}: {self._name(buffer)}[{at}] is read, "
                    "and nothing was written there before"
                )
            values[out] = found
        return load

    def _store(self, line: Line) -> Step:
        values, value = self.values, line.src[1]
        count = self.lines[value].dtype.count
        buffer, valid, flat, unit, size, step = self._place(line)
        reach = step * (count - 1)
        def store() -> None:
            if not values[valid]:
                return
            at = values[flat] * unit
            if not (0 <= at < size and 0 <= at + reach < size):
                raise self._out_of_bounds(line, "writes", at, size)
            memory = values[buffer]
            if count == 1:
                memory[at] = values[value]
            else:
                for lane, x in enumerate(values[value]):
                    memory[at + step * lane] = x
        return store

    def _place(self, line: Line) -> tuple[int, int, int, int, int, int]:
        """Of a LOAD or STORE: the lines of buffer, condition and index, numbers per index, size,
        and
        how far apart the lanes of a vector are."""
        buffer, valid, flat = self.lines[line.src[0]].src
        dtype = self.lines[buffer].dtype
        assert isinstance(dtype, PtrDType)
        # A pointer to vectors counts in vectors; here all memory counts in single numbers.
        unit = dtype.base.count
        apart = self.lines[line.src[0]].arg
        return buffer, valid, flat, unit, dtype.size * unit, 1 if apart is None else apart

    def _out_of_bounds(self, line: Line, does: str, at: int, size: int) -> OutOfBounds:
        buffer = self.lines[line.src[0]].src[0]
        count = self.lines[line.src[1]].dtype.count if line.op is Ops.STORE else line.dtype.count
        place = f"[{at}]" if count == 1 else f"[{at}:{at + count}]"
        return OutOfBounds(
            f"kernel {self.name}, line {line.number}: {line.op.name} {does} "
            f"{self._name(buffer)}{place}, which has {size} elements"
        )

    def _name(self, buffer: int) -> str:
        line = self.lines[buffer]
        return f"{_NAMES[line.op]}{line.arg}"


def _stop_text(line: int | None) -> str:
    return "ends" if line is None else f"waits at the barrier of line {line}"


class PythonDevice(Compiled):
    """The interpreter. Slow, and needs nothing."""

    times_kernels = False

    def __init__(self, device: str = "PYTHON") -> None:
        super().__init__(device, HostAllocator(), PythonRenderer(), Compiler(), PythonRunner)
