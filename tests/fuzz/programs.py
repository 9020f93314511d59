"""Random tensor-level programs, and what they mean.

`random_program(rng)` makes a graph of movement, elementwise work, reductions and in-place changes
on a few small buffers. Every value is computed with NumPy while the graph grows, so that the graph
can avoid what has no one right answer: floats are whole numbers and small, hence exact in any order
of summation, until an operation that rounds; after that nothing is compared or cut to an int.

What each op means is said by tests/reference.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from tests.reference import reduced, scanned, value_in, value_of
from tinyframe.device import Buffer, buffer_of, set_buffer
from tinyframe.dtype import DType, dtypes, to_np_dtype
from tinyframe.run.realize import run_schedule
from tinyframe.schedule import create_schedule
from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import GroupOp, Ops, UOp

DTYPES = [dtypes.float32, dtypes.int32, dtypes.bool, dtypes.int8, dtypes.float64, dtypes.uint8,
          dtypes.int64]  # fmt: skip
# whole floats up to here are exact, and so is their sum in any order
EXACT = 1 << 22
MOST_ELEMENTS = 700
DEVICE = UOp(Ops.DEVICE, arg="PYTHON")


# ---- a program -----------------------------------------------------------------------------------


@dataclass
class Program:
    """What is to be computed (`roots`, some of them ASSIGNs), on which buffers, and the answers."""

    inputs: dict[UOp, np.ndarray] = field(default_factory=dict)  # BUFFER -> contents
    roots: list[UOp] = field(default_factory=list)
    values: dict[UOp, np.ndarray] = field(default_factory=dict)
    inexact: set[UOp] = field(default_factory=set)

    def expected_memory(self) -> dict[UOp, np.ndarray]:
        """What each buffer holds in the end."""
        memory = {b: a.copy() for b, a in self.inputs.items()}
        for u in UOp.sink(*self.roots).toposort():
            if u.op is Ops.ASSIGN and len(u.src) == 2:  # the others are to copies
                buffer, places = _places(u.src[0])
                memory[buffer][places] = self.values[u]
        return memory

    def __repr__(self) -> str:
        """Python that makes the graph again."""
        names: dict[UOp, str] = {}
        lines = []
        for u in UOp.sink(*self.roots).toposort():
            if u.op in (Ops.UNIQUE, Ops.DEVICE, Ops.SINK):
                continue
            name = names[u] = f"{u.op.name[0].lower()}{len(names)}"
            if u.op is Ops.BUFFER:
                lines.append(f"{name} = buffer(np.{self.inputs[u]!r})".replace("\n", ""))
            else:
                sources = "".join(names[s] + ", " for s in u.src if s in names)
                made = f"UOp({u.op}, {u.dtype}, ({sources}), {u.arg!r})"
                lines.append(f"{name} = {made}  # {u.shape}")
        return "\n".join([*lines, f"roots = [{', '.join(names[r] for r in self.roots)}]"])


def _places(target: UOp) -> tuple[UOp, np.ndarray]:
    """The BUFFER behind a target of ASSIGN, and where in it each element of the target is."""
    chain = []
    while target.op is not Ops.BUFFER:
        if target.op is not Ops.ASSIGN:
            chain.append(target)
        target = target.src[0]
    places = np.arange(target.arg)
    for u in reversed(chain):
        places = value_of(u, [places])
    return target, places


def buffer(array: np.ndarray, device: str = "PYTHON") -> UOp:
    """A BUFFER that holds the elements of `array`."""
    dtype = next(d for d in (*DTYPES, *dtypes.all) if to_np_dtype(d) == array.dtype)
    uop = UOp.new_buffer(device, array.size, dtype)
    data = np.ascontiguousarray(array).reshape(-1)
    made = Buffer(device, array.size, dtype)
    if array.size:
        made.copyin(data.view(np.uint8).data)
    set_buffer(uop, made)
    return uop


def of_graph(roots: list[UOp], inputs: dict[UOp, np.ndarray]) -> Program:
    """A Program of a graph that was written by hand."""
    program = Program(dict(inputs), roots)
    with np.errstate(all="ignore"):
        for u in UOp.sink(*roots).toposort():
            if u.op not in (Ops.UNIQUE, Ops.DEVICE, Ops.SINK):
                is_input = u.op is Ops.BUFFER
                program.values[u] = inputs[u] if is_input else value_in(program.values, u)
    return program


def on_device(program: Program, device: str) -> tuple[list[UOp], dict[UOp, UOp]]:
    """The roots on fresh buffers of a device, and which buffer stands for which."""
    fresh = {b: buffer(a, device) for b, a in program.inputs.items()}
    there = {**fresh, DEVICE: UOp(Ops.DEVICE, arg=device)}
    return list(UOp.sink(*program.roots).substitute(there).src), fresh


# ---- running it ----------------------------------------------------------------------------------


def run(program: Program, device: str) -> tuple[list[np.ndarray], dict[UOp, np.ndarray]]:
    """The values of the roots, and what the buffers hold afterwards."""
    roots, fresh = on_device(program, device)
    # The scheduler alone: a Tensor would first see to it that nobody else needs the old values.
    items, becomes, values = create_schedule(UOp.sink(*roots))
    run_schedule(items, values)
    results = [Tensor._of(r.substitute(becomes)).numpy() for r in roots]
    return results, {b: buffer_of(new).numpy().copy() for b, new in fresh.items()}


def check(program: Program, device: str) -> None:
    """AssertionError where the compiler's answer differs from NumPy's."""
    results, memory = run(program, device)
    for n, (root, got) in enumerate(zip(program.roots, results, strict=True)):
        compare(got, program.values[root], root in program.inexact, f"root {n}")
    if may_wait_for_itself(program):
        return  # then some of it is made in new memory
    for b, expected in program.expected_memory().items():
        assigned = any(u.op is Ops.ASSIGN and u in program.inexact for u in program.values)
        compare(memory[b], expected, assigned, f"buffer {list(program.inputs).index(b)}")


def compare(got: np.ndarray, expected: np.ndarray, inexact: bool, what: str) -> None:
    assert got.shape == expected.shape, f"{what}: shape {got.shape}, not {expected.shape}"
    assert got.dtype == expected.dtype, f"{what}: {got.dtype}, not {expected.dtype}"
    if inexact:
        with np.errstate(all="ignore"):
            finite = expected[np.isfinite(expected)]
            scale = float(np.abs(finite).max(initial=1))
        np.testing.assert_allclose(got, expected, rtol=2e-4, atol=2e-5 * scale, err_msg=what)
    else:
        np.testing.assert_array_equal(got, expected, err_msg=what)


# ---- making one ----------------------------------------------------------------------------------


class Grower:
    """Adds random nodes to a Program."""

    def __init__(
        self,
        rng: Random,
        in_place: bool = True,
        among: Sequence[DType] = DTYPES,
    ):
        self.rng, self.in_place, self.among = rng, in_place, among
        self.program = Program()
        self.pool: list[UOp] = []
        self.states: dict[UOp, UOp] = {}  # BUFFER -> its last state

    # -- small choices

    def size(self, most: int = 9) -> int:
        return min(most, self.rng.choice([1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9]))

    def shape(self) -> tuple[int, ...]:
        shape = tuple(self.size() for _ in range(self.rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])))
        while math.prod(shape) > 200:
            shape = shape[1:]
        return shape

    def pick(self, condition=lambda u: True) -> UOp | None:
        found = [u for u in self.pool if condition(u)]
        if not found:
            return None
        # mostly a recent one, so that chains are long
        return found[max(self.rng.randrange(len(found)), self.rng.randrange(len(found)))]

    def exact(self, u: UOp) -> bool:
        return u not in self.program.inexact

    # -- nodes

    def input(self) -> None:
        dtype = self.rng.choice([dtypes.float32, dtypes.float32, *self.among])
        shape = self.shape()
        size = math.prod(shape)
        numbers = [self.rng.randint(-3, 3) for _ in range(size)]
        array = np.array(numbers).astype(to_np_dtype(dtype))
        made = buffer(array)
        self.program.inputs[made] = self.program.values[made] = array
        self.states[made] = made
        self.add(made.reshape(shape))

    def add(self, u: UOp, inexact: bool = False) -> UOp | None:
        """Puts a node, and those below it that are new, into the pool; None where it does not
        fit."""
        values = self.program.values
        new = []
        for x in u.toposort():
            if x in values or x.op in (Ops.UNIQUE, Ops.DEVICE):
                continue
            with np.errstate(all="ignore"):
                value = value_in(values, x)
            is_overwritten = x.op is Ops.ASSIGN and len(x.src) == 2
            read = x.src[1:] if is_overwritten else x.src
            below = any(s in self.program.inexact for s in read)
            if dtypes.is_float(x.dtype):
                reduces = x.op in (Ops.REDUCE_AXIS, Ops.SCAN_AXIS)
                large = self._largest_partial(x) if reduces else value
                finite = np.abs(large[np.isfinite(large)])
                if finite.size and finite.max() >= EXACT:
                    return None
                if not below and not inexact and (finite != np.trunc(finite)).any():
                    return None
            values[x] = value
            new.append(x)
            if below or (inexact and x is u):
                self.program.inexact.add(x)
        self.pool.append(u)
        return u

    def _largest_partial(self, u: UOp) -> np.ndarray:
        a = np.abs(self.program.values[u.src[-1]])
        a = np.where(np.isfinite(a), a, 0)
        if u.arg[0] is Ops.MUL:
            a = np.maximum(a, 1)
        if u.op is Ops.REDUCE_AXIS:
            return reduced(u, a)
        factors = [np.abs(self.program.values[s]) for s in u.src[:-1]]
        return scanned(u, *[np.where(np.isfinite(f), f, 0) for f in factors], a)

    def movement(self) -> None:
        u = self.pick()
        rng, shape = self.rng, u.shape
        rank = len(shape)
        kind = rng.choice([Ops.RESHAPE, Ops.PERMUTE, Ops.EXPAND, Ops.PAD, Ops.SHRINK, Ops.FLIP,
                           Ops.WINDOW, Ops.WINDOW, Ops.UNWINDOW])  # fmt: skip
        if kind is Ops.RESHAPE:
            out = u.reshape(self.factors(math.prod(shape)))
        elif kind is Ops.PERMUTE:
            order = list(range(rank))
            rng.shuffle(order)
            out = u.permute(tuple(order))
        elif kind is Ops.EXPAND:
            if rank < 4 and (1 not in shape or rng.random() < 0.3):
                place = rng.randint(0, rank)
                u = u.reshape((*shape[:place], 1, *shape[place:]))
            sizes = [self.size() if s == 1 and rng.random() < 0.7 else s for s in u.shape]
            out = u.expand(tuple(sizes))
        elif kind is Ops.PAD:
            out = u.pad(tuple((rng.choice([0, 0, 1, 2]), rng.choice([0, 0, 1, 3])) for _ in shape))
        elif kind is Ops.SHRINK:
            bounds = []
            for s in shape:
                begin = rng.randint(0, max(s - 1, 0)) if rng.random() < 0.5 else 0
                end = rng.randint(min(begin + 1, s), s) if rng.random() < 0.5 else s
                bounds.append((begin, end))
            out = u.shrink(tuple(bounds))
        elif kind is Ops.FLIP:
            out = u.flip(tuple(rng.random() < 0.5 for _ in shape))
        elif kind is Ops.WINDOW:
            if not rank or rank > 4:
                return
            axis = rng.randrange(rank)
            size = rng.choice([1, 2, 2, 3, 3, 4])
            stride, dilation = rng.choice([1, 1, 2, 3]), rng.choice([1, 1, 2, 3])
            if (size - 1) * dilation + 1 > shape[axis]:
                return
            out = u.window(axis, size, stride, dilation)
        else:
            if rank < 2 or 0 in shape:
                return
            axis = rng.randrange(rank - 1)
            stride, dilation = rng.choice([1, 1, 2, 3]), rng.choice([1, 1, 2, 3])
            fitted = (shape[axis] - 1) * stride + (shape[-1] - 1) * dilation + 1
            length = max(1, fitted + rng.choice([-2, -1, 0, 0, 1, 3]))
            out = u.unwindow(axis, stride, dilation, length)
        if math.prod(out.shape) <= MOST_ELEMENTS and len(out.shape) <= 5:
            self.add(out)

    def factors(self, size: int) -> tuple[int, ...]:
        """A shape of `size` elements."""
        shape: list[int] = []
        left = size
        while len(shape) < 4 and (left > 1 or self.rng.random() < 0.15):
            divisors = [d for d in range(1, left + 1) if left % d == 0]
            d = self.rng.choice(divisors)
            shape.append(d)
            left //= d
        if left > 1:
            shape.append(left)
        return tuple(shape)

    def fitted(self, u: UOp, shape: tuple[int, ...]) -> UOp | None:
        """`u` in another shape: axes added, expanded, cut or padded."""
        if len(u.shape) > len(shape):
            total = math.prod(u.shape)
            u = u.reshape((total,))
            if not shape:
                return u.shrink(((0, 1),)).reshape(()) if total else None
        u = u.reshape((1,) * (len(shape) - len(u.shape)) + u.shape)
        sizes = list(zip(u.shape, shape, strict=True))
        u = u.shrink(tuple((0, min(s, n) if s != 1 else 1) for s, n in sizes))
        sizes = list(zip(u.shape, shape, strict=True))
        u = u.expand(tuple(n if s == 1 and self.rng.random() < 0.8 else s for s, n in sizes))
        sizes = list(zip(u.shape, shape, strict=True))
        if any(s > n for s, n in sizes):
            return None
        spare = [(n - s, self.rng.randint(0, n - s)) for s, n in sizes]
        return u.pad(tuple((before, all_of_it - before) for all_of_it, before in spare))

    def cast(self, u: UOp, dtype: DType) -> UOp | None:
        if u.dtype is dtype:
            return u
        value = self.program.values.get(u)
        if value is None:
            if self.add(u) is None:
                return None
            value = self.program.values[u]
        if dtypes.is_float(u.dtype):
            if not self.exact(u):
                return None if not dtypes.is_float(dtype) else u.cast(dtype)
            if dtypes.is_int(dtype) and value.size:
                fits = value.min() >= dtype.min and value.max() <= dtype.max
                if not (np.isfinite(value).all() and fits):
                    return None
        if dtypes.is_float(dtype) and np.abs(value.astype(np.float64)).max(initial=0) >= EXACT:
            return None
        return u.cast(dtype)

    def partner(self, u: UOp, dtype: DType | None = None) -> UOp | None:
        """Another value of the same shape, and of `dtype` (that of `u`)."""
        dtype = dtype or u.dtype
        if self.rng.random() < 0.2:
            numbers = [0, 1, 2, 3] if dtypes.is_unsigned(dtype) else [0, 1, 2, 3, -1]
            value: Any = self.rng.choice(numbers)
            value = self.rng.random() < 0.5 if dtypes.is_bool(dtype) else value
            constant = UOp(Ops.CONST, dtype, (DEVICE,), dtypes.as_const(value, dtype))
            return constant.broadcast_to(u.shape)
        if self.rng.random() < 0.5:
            same = self.pick(lambda x: x.shape == u.shape and x is not u)
            if same is not None:
                return self.cast(same, dtype)
        other = self.pick()
        moved = self.fitted(other, u.shape)
        return None if moved is None else self.cast(moved, dtype)

    def binary(self) -> None:
        u = self.pick()
        dtype, rng = u.dtype, self.rng
        v = self.partner(u)
        if v is None or self.add(v) is None:
            return
        exact = self.exact(u) and self.exact(v)
        comparisons = [Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ]
        if dtypes.is_bool(dtype):
            ops = [Ops.AND, Ops.OR, Ops.XOR, Ops.MUL, Ops.ADD, Ops.MAX, *comparisons]
        elif dtypes.is_float(dtype):
            ops = [Ops.ADD, Ops.ADD, Ops.SUB, Ops.MUL, Ops.MUL, Ops.MAX]
            ops += comparisons if exact else []
        else:
            ops = [Ops.ADD, Ops.SUB, Ops.MUL, Ops.MAX, *comparisons, Ops.IDIV, Ops.MOD]
            ops += [Ops.AND, Ops.OR, Ops.XOR]
        op = rng.choice(ops)
        a, b = (u, v) if rng.random() < 0.7 else (v, u)
        self.add(a.alu(op, b))

    def unary(self) -> None:
        u = self.pick()
        if dtypes.is_float(u.dtype):
            functions = [Ops.SQRT, Ops.EXP2, Ops.SIN, Ops.RECIP]
            op = self.rng.choice([Ops.NEG, Ops.NEG, Ops.TRUNC, *functions])
            value = self.program.values[u]
            largest = np.abs(value[np.isfinite(value)]).max(initial=0)
            least = 0 if self.exact(u) else 0.01
            if (
                (op is Ops.TRUNC and not self.exact(u))
                or (op is Ops.EXP2 and largest > 20)
                or (op is Ops.SIN and largest > 1000)
                or (op in (Ops.SQRT, Ops.RECIP) and not (value > least).all())
            ):
                return
            self.add(u.alu(op), inexact=op in functions)
        else:
            self.add(u.alu(Ops.NEG))

    def where(self) -> None:
        u = self.pick()
        condition = self.pick(lambda x: dtypes.is_bool(x.dtype) and x.shape == u.shape)
        if condition is None:
            condition = self.partner(u, dtypes.bool)
        v = self.partner(u)
        if condition is None or v is None or self.add(condition) is None or self.add(v) is None:
            return
        a, b = (u, v) if self.rng.random() < 0.5 else (v, u)
        self.add(condition.alu(Ops.WHERE, a, b))

    def conversion(self) -> None:
        u = self.pick()
        out = self.cast(u, self.rng.choice(self.among))
        if out is not None and out is not u:
            self.add(out)

    def reduce(self) -> None:
        u = self.pick(lambda x: any(s != 1 for s in x.shape))
        if u is None:
            return
        axes = [d for d in range(len(u.shape)) if self.rng.random() < 0.5]
        axes = axes or [self.rng.randrange(len(u.shape))]
        op = self.rng.choice([Ops.ADD, Ops.ADD, Ops.ADD, Ops.MAX, Ops.MUL])
        out = u.reduce_axis(op, axes)
        if out is u or (op is Ops.MUL and not self.exact(u)):
            return
        if self.add(out) is not None and self.rng.random() < 0.4:
            # what normalizes: the reduced value beside the one it was made of
            self.add(out.expand(u.shape))

    def scan(self) -> None:
        u = self.pick(lambda x: any(s != 1 for s in x.shape))
        if u is None:
            return
        op = self.rng.choice([Ops.ADD, Ops.ADD, Ops.MAX, Ops.MUL, Ops.MULACC])
        term = self.pick(lambda x: x.dtype is u.dtype and x.shape == u.shape)
        if op is Ops.MULACC and (term is None or not dtypes.is_float(u.dtype)):
            op = Ops.ADD
        if op in (Ops.MUL, Ops.MULACC) and not self.exact(u):
            return
        out = u.scan_axis(op, self.rng.randrange(len(u.shape)), *[term] * (op is Ops.MULACC))
        if out is not u:
            self.add(out)

    def places(self) -> tuple[UOp, int, UOp] | None:
        """A value, an axis of it, and numbers along that, some of them beside it, in a buffer of
        their own; None where they do not fit."""
        u = self.pick(lambda x: x.shape)
        if u is None:
            return None
        axis = self.rng.randrange(len(u.shape))
        sizes = (*u.shape[:axis], self.size(), *u.shape[axis + 1 :])
        numbers = [self.rng.randint(-1, u.shape[axis]) for _ in range(math.prod(sizes))]
        made = buffer(np.array(numbers, self.rng.choice([np.int32, np.int32, np.int8])))
        array = np.array(numbers, to_np_dtype(made.dtype))
        self.program.inputs[made] = self.program.values[made] = array
        index = made.reshape(sizes)
        fits = index.size <= MOST_ELEMENTS and self.add(index) is not None
        return (u, axis, index) if fits else None

    def take(self) -> None:
        if (found := self.places()) is not None:
            u, axis, index = found
            self.add(u.take(axis, index))

    def scatter(self) -> None:
        if (found := self.places()) is None:
            return
        u, axis, index = found
        value = self.partner(index, u.dtype)
        if value is None or self.add(value) is None:
            return
        exact = self.exact(u) and self.exact(value)
        op = self.rng.choice([None, Ops.ADD, Ops.ADD, Ops.MAX, *[Ops.MUL] * exact])
        memory = u.contiguous().rtag(len(self.pool))  # nobody else's
        self.add(memory.assign(value, memory.take(axis, index), op))

    def contiguous(self) -> None:
        self.add(self.rng.choice([UOp.contiguous, UOp.fuse])(self.pick()))

    def assign(self) -> None:
        """The last state of a buffer, seen through movement, overwritten."""
        buffer = self.rng.choice(list(self.states) or [None])
        if buffer is None or buffer.arg == 0:
            return
        target = state = self.states[buffer]
        # ASSIGN to a part of the memory cannot be assigned to as a whole again
        if state.op is Ops.BUFFER:
            target = state.reshape(self.factors(buffer.arg))
        for _ in range(self.rng.choice([0, 0, 1, 1, 2, 3])):
            shape = target.shape
            kind = self.rng.choice([Ops.SHRINK, Ops.FLIP, Ops.PERMUTE, Ops.RESHAPE])
            if kind is Ops.SHRINK:
                begins = [self.rng.randint(0, max(s - 1, 0)) for s in shape]
                ends = [self.rng.randint(min(b + 1, s), s)
                        for b, s in zip(begins, shape, strict=True)]  # fmt: skip
                target = target.shrink(tuple(zip(begins, ends, strict=True)))
            elif kind is Ops.FLIP:
                target = target.flip(tuple(self.rng.random() < 0.5 for _ in shape))
            elif kind is Ops.PERMUTE:
                order = list(range(len(shape)))
                self.rng.shuffle(order)
                target = target.permute(tuple(order))
            else:
                target = target.reshape(self.factors(math.prod(shape)))
        if self.add(target) is None:
            return
        if self.rng.random() < 0.5:
            # from the same memory, turned or shifted
            views = [u for u in self.pool if state in u.toposort()]
            source = self.rng.choice(views) if views else target
            value = self.fitted(source, target.shape)
            if value is not None and self.rng.random() < 0.5 and target.shape:
                value = value.flip(tuple(self.rng.random() < 0.5 for _ in target.shape))
            if value is not None:
                value = self.cast(value, target.dtype)
            other = self.partner(target)
            both = value is not None and other is not None and not dtypes.is_bool(target.dtype)
            if both and self.rng.random() < 0.5:
                value = value + other
        else:
            value = self.partner(target)
        if value is None or self.add(value) is None:
            return
        if (made := self.add(target.assign(value))) is not None:
            self.states[buffer] = made

    def grow(self, steps: int) -> Program:
        for _ in range(self.rng.choice([1, 1, 2, 2, 3])):
            self.input()
        makers = [self.movement] * 6 + [self.binary] * 5
        makers += [self.unary, self.where, self.conversion, self.contiguous]
        makers += [self.reduce] * 3 + [self.scan, self.scan, self.take, self.take, self.scatter]
        makers += [self.assign] * 2 if self.in_place else []
        for _ in range(steps):
            self.rng.choice(makers)()
        last = set(self.states.values())
        wanted = [
            u
            for u in self.pool
            if (memory := _memory(u)) is None or (memory in last and memory.op is Ops.ASSIGN)
        ]
        if not wanted:
            negated = [self.add(u.alu(Ops.NEG)) for u in list(self.pool)]
            wanted = [u for u in negated if u is not None]
        roots = [wanted[-1]] if wanted else []
        for _ in range(self.rng.choice([0, 0, 1, 2])):
            roots.append(wanted[self.rng.randrange(len(wanted))])
        roots += [s for s in self.states.values() if s.op is Ops.ASSIGN]
        self.program.roots = list(dict.fromkeys(roots))
        return self.program


def _memory(u: UOp) -> UOp | None:
    """The state of memory (or the CONST) that `u` is only a view of."""
    while u.op in GroupOp.Movement or u.op in (Ops.CONTIGUOUS, Ops.FUSE):
        u = u.src[0]
    return u if u.op in (Ops.BUFFER, Ops.ASSIGN, Ops.CONST) else None


def random_program(rng: Random, steps: int = 8, **options: Any) -> Program:
    return Grower(rng, **options).grow(steps)


def may_wait_for_itself(program: Program) -> bool:
    """Whether what must be stored may need memory as it was before an ASSIGN and as it is after, or
    two ASSIGNs each the other's old memory. Then one of them is made in new memory."""
    sink = UOp.sink(*program.roots)
    stored = {u for u in sink.toposort() if u.op in (Ops.ASSIGN, Ops.CONTIGUOUS)}
    reads: dict[UOp, set[UOp]] = {}
    for u in sink.toposort():
        reads[u] = set()
        for s in u.src:
            reads[u] |= {s} if s.op is Ops.BUFFER or s in stored else reads[s]
    writers = {_states(u)[1]: u for u in stored if u.op is Ops.ASSIGN}
    kernels = stored | {r.base for r in program.roots}
    after: dict[UOp, set[UOp]] = {u: reads[u] & stored for u in kernels}
    for u in kernels:
        for s in reads[u]:
            if (w := writers.get(s, u)) is not u:
                after[w].add(u)
    done: set[UOp] = set()
    while ready := [u for u in kernels - done if after[u] <= done]:
        done |= set(ready)
    return done != kernels


def _states(state: UOp) -> list[UOp]:
    """A state of memory, and those before it, down to the BUFFER."""
    states = [state]
    while state.op is not Ops.BUFFER:
        state = state.src[0]
        while state.op in GroupOp.Movement:
            state = state.src[0]
        states.append(state)
    return states
