"""Random programs whose indices are read from memory, under paddings, slices, sorts and scatters.

An index that was loaded becomes part of the next one, and each is guarded: what a kernel reads has
to lie inside its memory wherever the conditions hold, those of loads inside of an index too. The
interpreter raises OutOfBounds where one does not, SPEC refuses the kernel before, and the values
are those of NumPy, with which each operation is written a second time here.

A program is a list of steps (operation, numbers of the values it takes, arguments). By hand:

    python -m tests.fuzz.guards --minutes 60 --seed 1
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from tests.fuzz.memory import hunt
from tinyframe import Context, Tensor, Variable

LARGEST = 1 << 20  # whole floats stay exact
MOST_ELEMENTS = 300
Array = np.ndarray
Step = tuple[str, tuple[int, ...], tuple[Any, ...]]


# ---- what the operations mean --------------------------------------------------------------------


def picked(a: Array, axis: int, index: Array, wraps: bool) -> Array:
    """Slices `index` along an axis; none where it is out of range, and -1 is the last if it
    wraps."""
    size = a.shape[axis]
    index = np.where((index < 0) & wraps, index + size, index)
    inside = (index >= 0) & (index < size)
    shape = (*[1] * axis, *index.shape, *[1] * (a.ndim - axis - 1))
    found = np.take(np.concatenate([a, np.zeros_like(a[:1])]) if not size else a,
                    np.where(inside, index, 0), axis)  # fmt: skip
    return np.where(inside.reshape(shape), found, none_of(a)).astype(a.dtype)


def none_of(a: Array) -> float:
    """What an index reads that points nowhere."""
    return math.nan if a.dtype.kind == "f" else 0


def facing(a: Array, axis: int, index: Array):
    """For each element of the indices of a gather or scatter: where it is, and where it points."""
    for place in np.ndindex(index.shape):
        there = (*place[:axis], int(index[place]), *place[axis + 1 :])
        if 0 <= there[axis] < a.shape[axis]:
            yield place, there


def gathered(a: Array, index: Array, axis: int) -> Array:
    out = np.full(index.shape, none_of(a), a.dtype)
    for place, there in facing(a, axis, index):
        out[place] = a[there]
    return out


def scattered(a: Array, index: Array, source: Array, axis: int, adds: bool) -> Array:
    out = a.copy()
    for place, there in facing(a, axis, index):
        out[there] = out[there] + source[place] if adds else source[place]
    return out


def written(a: Array, index: Array, value: int) -> Array:
    out = a.copy()
    for n in index.reshape(-1):
        if -len(a) <= n < len(a):
            out[n] = value
    return out


def ordered(a: Array, axis: int, descending: bool) -> Array:
    keys = -a.astype(np.int64) if descending else a
    return np.argsort(keys, axis, kind="stable")


def padded(a: Array, widths: tuple) -> Array:
    """np.pad, and a negative width cuts off."""
    out = np.pad(a, [(max(before, 0), max(after, 0)) for before, after in widths])
    ends = [(max(-b, 0), n - max(-e, 0)) for (b, e), n in zip(widths, out.shape, strict=True)]
    return out[tuple(slice(*end) for end in ends)]


def written_to(x: Tensor, index: Tensor, value: int) -> Tensor:
    out = x.clone()
    out[index] = value
    return out


def from_variable(x: Tensor, start: int, count: int) -> Tensor:
    v = Variable(f"from_{start}_{x.shape[0]}", 0, x.shape[0] - count).bind(start)
    return x[v : v + count]


def upto_variable(x: Tensor, count: int) -> Tensor:
    """The sum of the first elements, as many as a Variable says."""
    return x[: Variable(f"upto_{count}_{x.shape[0]}", 1, x.shape[0]).bind(count)].sum(0)


@dataclass(frozen=True)
class Operation:
    """How many values it takes, of which dtypes ("i": ints, "f": floats, "x": any, "s": any, as the
    first); what to ask of them; and its meaning, twice."""

    takes: str
    arguments: Callable[..., tuple[Any, ...] | None]
    tensor: Callable[..., Tensor]
    numpy: Callable[..., Array]


def some_axis(rng: Random, *arrays: Array) -> tuple[Any, ...] | None:
    return (rng.randrange(arrays[0].ndim),) if arrays[0].ndim else None


def axis_and_way(rng: Random, a: Array) -> tuple[Any, ...] | None:
    return (rng.randrange(a.ndim), rng.random() < 0.5) if a.ndim else None


def facing_axis(rng: Random, a: Array, index: Array, *source: Array) -> tuple[Any, ...] | None:
    """An axis, and to which sizes the indices are cut so that they face the value and the source:
    narrower than the value in the other axes, often."""
    if not a.ndim or index.ndim != a.ndim or any(s.ndim != a.ndim for s in source):
        return None
    axis = rng.randrange(a.ndim)
    most = [
        min([n, *[s.shape[d] for s in source], *([a.shape[d]] if d != axis else [])])
        for d, n in enumerate(index.shape)
    ]
    return axis, tuple((0, rng.randint(min(n, 1), n)) for n in most)


def cut(part: tuple) -> tuple[slice, ...]:
    return tuple(slice(*ends) for ends in part)


def widths(rng: Random, a: Array) -> tuple[Any, ...] | None:
    """For a pad: wider or narrower at each end, and something is left."""
    if not a.ndim:
        return None
    ends = [(rng.choice([0, 0, 1, 2, -1]), rng.choice([0, 0, 1, -1, -2])) for _ in a.shape]
    return (tuple((b, e) if n + min(b, 0) + min(e, 0) > 0 else (0, 0)
                  for (b, e), n in zip(ends, a.shape, strict=True)),)  # fmt: skip


def slices(rng: Random, a: Array) -> tuple[Any, ...]:
    parts = []
    for n in a.shape:
        begin = rng.randint(0, max(n - 1, 0))
        parts.append((begin, rng.randint(begin + 1, max(n, begin + 1)), rng.choice([1, 1, 2, -1])))
    return (tuple(parts),)


def taken(parts: tuple) -> tuple[slice, ...]:
    return tuple(
        slice(begin, end, step) if step > 0 else slice(end - 1, begin - 1 if begin else None, step)
        for begin, end, step in parts
    )


def factors(rng: Random, a: Array) -> tuple[Any, ...]:
    rest, shape = a.size, []
    while rest > 1 and len(shape) < 2:
        shape.append(rng.choice([d for d in range(1, rest + 1) if rest % d == 0]))
        rest //= shape[-1]
    return ((*shape, rest),)


def constant(rng: Random, a: Array) -> tuple[Any, ...]:
    return (rng.randint(-2, 3),)


def same_shape(rng: Random, *arrays: Array) -> tuple[Any, ...] | None:
    return () if len({a.shape for a in arrays}) == 1 else None


OPERATIONS: dict[str, Operation] = {
    # indices from memory
    "rows": Operation("xi", lambda rng, a, i: () if a.ndim and a.shape[0] else None,
                      lambda x, i: x[i], lambda a, i: picked(a, 0, i, wraps=True)),
    "columns": Operation("xi", lambda rng, a, i: () if a.ndim > 1 and a.shape[1] else None,
                         lambda x, i: x[:, i], lambda a, i: picked(a, 1, i, wraps=True)),
    "select": Operation("xi", some_axis,
                        lambda x, i, axis: x.index_select(axis, i.flatten()),
                        lambda a, i, axis: picked(a, axis, i.reshape(-1), wraps=False)),
    "take": Operation("xi", lambda rng, a, i: (), lambda x, i: x.take(i),
                      lambda a, i: picked(a.reshape(-1), 0, i, wraps=True)),
    "gather": Operation("xi", facing_axis,
                        lambda x, i, axis, part: x.gather(axis, i[cut(part)]),
                        lambda a, i, axis, part: gathered(a, i[cut(part)], axis)),
    "scatter": Operation("xis", facing_axis,
                         lambda x, i, s, axis, part: x.scatter(axis, i[cut(part)], s),
                         lambda a, i, s, axis, part: scattered(a, i[cut(part)], s, axis, False)),
    "scatter_add": Operation("xis", facing_axis,
                             lambda x, i, s, axis, part: x.scatter_add(axis, i[cut(part)], s),
                             lambda a, i, s, axis, part: scattered(a, i[cut(part)], s, axis, True)),
    "write": Operation("xi", lambda rng, a, i: (rng.randint(1, 3),) if a.ndim else None,
                       written_to, written),
    "sort": Operation("x", axis_and_way,
                      lambda x, axis, down: x.sort(axis, down)[0],
                      lambda a, axis, down: np.take_along_axis(a, ordered(a, axis, down), axis)),
    "argsort": Operation("x", axis_and_way,
                         lambda x, axis, down: x.argsort(axis, down),
                         lambda a, axis, down: ordered(a, axis, down).astype(np.int32)),
    "one_hot": Operation("i", constant, lambda i, n: i.one_hot(n + 3),
                         lambda i, n: (i[..., None] == np.arange(n + 3)).astype(np.int32)),
    # movement
    "pad": Operation("x", widths, lambda x, ends: x.pad(ends), padded),
    "slice": Operation("x", slices, lambda x, parts: x[taken(parts)],
                       lambda a, parts: a[taken(parts)]),
    "reshape": Operation("x", factors, lambda x, shape: x.reshape(shape),
                         lambda a, shape: a.reshape(shape)),
    "turn": Operation("x", lambda rng, a: (tuple(rng.sample(range(a.ndim), a.ndim)),),
                      lambda x, order: x.permute(order), lambda a, order: a.transpose(order)),
    "spread": Operation("x", lambda rng, a: (rng.randint(2, 3),),
                        lambda x, n: x.unsqueeze(0).expand((n, *x.shape)),
                        lambda a, n: np.broadcast_to(a, (n, *a.shape))),
    "join": Operation("xs", lambda rng, a, b: same_shape(rng, a[:1], b[:1]) if a.ndim and b.ndim
                      else None, lambda x, y: x.cat(y), lambda a, b: np.concatenate([a, b])),
    "from variable": Operation(
        "x", lambda rng, a: (rng.randint(0, a.shape[0] - 1), 1) if a.ndim and a.shape[0] else None,
        from_variable, lambda a, start, count: a[start : start + count]),
    "up to variable": Operation(
        "x", lambda rng, a: (rng.randint(1, a.shape[0]),) if a.ndim and a.shape[0] else None,
        upto_variable, lambda a, count: a[:count].sum(0, dtype=a.dtype)),
    "contiguous": Operation("x", lambda rng, a: (), lambda x: x.contiguous(), lambda a: a),
    # arithmetic on indices, and values that become some
    "plus": Operation("x", constant, lambda x, n: x + n, lambda a, n: a + a.dtype.type(n)),
    "times": Operation("x", constant, lambda x, n: x * n, lambda a, n: a * a.dtype.type(n)),
    "quotient": Operation("i", lambda rng, a: (rng.randint(2, 4),), lambda x, n: x // n,
                          lambda a, n: a // a.dtype.type(n)),
    "remainder": Operation("i", lambda rng, a: (rng.randint(2, 5),), lambda x, n: x % n,
                           lambda a, n: a % a.dtype.type(n)),
    "clamp": Operation("i", lambda rng, a: (rng.randint(1, 4),), lambda x, n: x.clamp(0, n),
                       lambda a, n: np.clip(a, 0, n)),
    "sum of two": Operation("xs", same_shape, lambda x, y: x + y, np.add),
    "choose": Operation("xs", same_shape, lambda x, y: (x < y).where(y, x), np.maximum),
    "zeros": Operation("xs", same_shape, lambda x, y: (x < y).where(x, 0),
                       lambda a, b: np.where(a < b, a, 0).astype(a.dtype)),
    "sum": Operation("x", some_axis, lambda x, axis: x.sum(axis),
                     lambda a, axis: a.sum(axis, dtype=a.dtype)),
    "largest": Operation("x", some_axis, lambda x, axis: x.max(axis),
                         lambda a, axis: a.max(axis) if a.shape[axis] else None),
    "argmax": Operation("x", some_axis, lambda x, axis: x.argmax(axis),
                        lambda a, axis: a.argmax(axis).astype(np.int32) if a.shape[axis] else None),
    "running sum": Operation("x", some_axis, lambda x, axis: x.cumsum(axis),
                             lambda a, axis: a.cumsum(axis, dtype=a.dtype)),
    "index": Operation("f", lambda rng, a: (), lambda x: x.cast("int32"),
                       lambda a: a.astype(np.int32)),
    "value": Operation("i", lambda rng, a: (), lambda x: x.cast("float32"),
                       lambda a: a.astype(np.float32)),
}  # fmt: skip
# those that this is about are chosen more often
NAMES = [*OPERATIONS, *["rows", "gather", "scatter", "sort", "pad", "pad", "slice", "select"] * 2]


# ---- programs ------------------------------------------------------------------------------------


@dataclass
class Program:
    """The inputs, which the first values are, the steps, and NumPy's value of each."""

    seed: int
    inputs: list[Array]
    steps: list[Step]
    values: list[Array]

    def needed(self, root: int) -> list[int]:
        """The numbers of the values that a value is made of, itself included."""
        found, pending = set(), [root]
        while pending:
            if (n := pending.pop()) not in found:
                found.add(n)
                if n >= len(self.inputs):
                    pending += self.steps[n - len(self.inputs)][1]
        return sorted(found)

    def text(self, root: int) -> str:
        lines = [f"# program {self.seed}"]
        for n in self.needed(root):
            if n < len(self.inputs):
                lines.append(f"x{n} = {self.inputs[n]!r}")
            else:
                name, sources, arguments = self.steps[n - len(self.inputs)]
                lines.append(f"x{n} = {name}({', '.join(f'x{s}' for s in sources)}, *{arguments})")
        return "\n".join(lines)


def random_input(rng: Random) -> Array:
    shape = tuple(rng.choice([1, 2, 3, 3, 4, 5, 6]) for _ in range(rng.choice([1, 1, 2, 2, 2, 3])))
    numbers = [rng.randint(-2, 6) for _ in range(math.prod(shape))]
    dtype = rng.choice([np.int32, np.int32, np.int64, np.float32, np.float32])
    return np.array(numbers).astype(dtype).reshape(shape)


def random_program(seed: int, length: int = 10) -> Program:
    rng = Random(seed)
    inputs = [random_input(rng) for _ in range(3)]
    program = Program(seed, inputs, [], list(inputs))
    for _ in range(20 * length):
        if len(program.steps) == length:
            break
        name = rng.choice(NAMES)
        if (step := random_step(rng, program.values, name)) is not None:
            arrays = [program.values[n] for n in step[1]]
            value = OPERATIONS[name].numpy(*arrays, *step[2])
            small = value is not None and 0 < value.size <= MOST_ELEMENTS
            if small and np.abs(np.nan_to_num(value.astype(np.float64))).max() < LARGEST:
                program.steps.append(step)
                program.values.append(np.array(value, order="C"))
    return program


def random_step(rng: Random, values: list[Array], name: str) -> Step | None:
    """The operation on some of the values, mostly late ones; None if it doesn't fit them."""
    operation, chosen = OPERATIONS[name], []
    for kind in operation.takes:
        fits = {
            "i": lambda a: a.dtype.kind == "i",
            "f": lambda a: a.dtype.kind == "f",
            "x": lambda a: True,
            "s": lambda a: a.dtype == values[chosen[0]].dtype,
        }[kind]
        found = [n for n, a in enumerate(values) if fits(a) and not np.isnan(a).any()]
        if not found:
            return None
        chosen.append(found[max(rng.randrange(len(found)), rng.randrange(len(found)))])
    arguments = operation.arguments(rng, *[values[n] for n in chosen])
    return None if arguments is None else (name, tuple(chosen), arguments)


def tensor_of(program: Program, root: int) -> Tensor:
    """A value of the program, not computed yet."""
    tensors: dict[int, Tensor] = {}
    for n in program.needed(root):
        if n < len(program.inputs):
            # an int that is not looked at before it is computed may point outside
            tensors[n] = Tensor(program.inputs[n]).realize() + 0
        else:
            name, sources, arguments = program.steps[n - len(program.inputs)]
            tensors[n] = OPERATIONS[name].tensor(*[tensors[s] for s in sources], *arguments)
    return tensors[root]


def check(program: Program, last: int = 2) -> None:
    """AssertionError where one of the last values isn't NumPy's."""
    for root in range(max(len(program.values) - last, len(program.inputs)), len(program.values)):
        try:
            got = tensor_of(program, root).numpy()
            np.testing.assert_array_equal(got, program.values[root], strict=True)
        except Exception as error:
            error.add_note(program.text(root))
            raise


def shortest(program: Program, error: type) -> Program:
    """The program up to the first value that goes wrong in this way."""
    for end in range(1, len(program.steps) + 1):
        count = len(program.inputs) + end
        less = Program(program.seed, program.inputs, program.steps[:end], program.values[:count])
        try:
            check(less, last=1)
        except Exception as found:
            if type(found) is error:
                return less
    return program


def attempt(seed: int) -> None:
    program = random_program(seed)
    # the interpreter says where a kernel touches what is not its own
    python = {"DEVICE": "PYTHON"}
    settings = (python, {**python, "NOOPT": 1}, {}, python, python, python)[seed % 6]
    with Context(SPEC=1, **settings):
        try:
            check(program)
        except Exception as error:
            less = shortest(program, type(error))
            error.add_note(f"{settings} {less.text(len(less.values) - 1)}")
            raise


def main() -> None:
    hunt(__doc__, attempt, "programs agree with NumPy")


if __name__ == "__main__":
    main()
