"""Random programs that make, view, change, copy, drop and read Tensors, beside a model of memory.

A program is a list of instructions over named variables. It is carried out twice: on Tensors, and
in a model where a storage is a NumPy array and a variable is an array of places in it. So a view is
other places in the same array, and everything that is computed is a new array, made at once. What a
Tensor gives has to be what the model gave when it was written down.

Some programs call a function several times, under TinyJit; its body is such a program too.

By hand, for as long as you like:

    python -m tests.fuzz.memory --minutes 60 --seed 1
"""

from __future__ import annotations

import argparse
import copy
import gc
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from tinyframe import Context, Tensor, TinyJit
from tinyframe.errors import AssignError
from tinyframe.jit.jit import JitError

LIMIT = 40.0  # values are kept small, so that float32 holds them exactly


@dataclass
class Program:
    """Instructions (name, …); `seed` says where they come from."""

    seed: Any
    steps: list[tuple] = field(default_factory=list)

    def __str__(self) -> str:
        return f"program {self.seed}:\n" + "\n".join(f"  {step}" for step in self.steps)


# ---- the model -----------------------------------------------------------------------------------


@dataclass
class Variable:
    """Places in a storage; `writable` where each place is there once."""

    storage: np.ndarray
    places: np.ndarray
    writable: bool = True

    @property
    def value(self) -> np.ndarray:
        return self.storage[self.places]

    @staticmethod
    def of(value: np.ndarray) -> Variable:
        value = np.asarray(value, np.float32)
        return Variable(value.reshape(-1).copy(), np.arange(value.size).reshape(value.shape))

    def seen(self, places: np.ndarray, writable: bool = True) -> Variable:
        return Variable(self.storage, places, self.writable and writable)


def keep_small(x: Any) -> Any:
    return x.clip(-LIMIT, LIMIT)


# name -> (on a Tensor, on places): the same elements seen in another way
VIEWS = {
    "first": (lambda t: t[0], lambda p: p[0]),
    "tail": (lambda t: t[1:], lambda p: p[1:]),
    "front": (lambda t: t[:-1], lambda p: p[:-1]),
    "every other": (lambda t: t[::2], lambda p: p[::2]),
    "backwards": (lambda t: t[::-1], lambda p: p[::-1]),
    "last axis": (lambda t: t[..., 1:], lambda p: p[..., 1:]),
    "turned": (lambda t: t.T, lambda p: p.T),
    "flat": (lambda t: t.reshape(-1), lambda p: p.reshape(-1)),
    "column": (lambda t: t.reshape(-1, 1), lambda p: p.reshape(-1, 1)),
    "in two": (lambda t: t.reshape(2, -1), lambda p: p.reshape(2, -1)),
    "unsqueezed": (lambda t: t.unsqueeze(0), lambda p: p[None]),
    "detached": (lambda t: t.detach(), lambda p: p),
    "wide": (lambda t: t.unsqueeze(0).expand(2, *t.shape),
             lambda p: np.broadcast_to(p[None], (2, *p.shape))),
}  # fmt: skip

# name -> (on a Tensor, on values): something new
COMPUTED = {
    "plus one": (lambda t: keep_small(t + 1), lambda a: keep_small(a + 1)),
    "double": (lambda t: keep_small(t * 2), lambda a: keep_small(a * 2)),
    "times one": (lambda t: t * 1, lambda a: a * 1),
    "power one": (lambda t: t**1, lambda a: a),
    "negative": (lambda t: -t, lambda a: -a),
    "relu": (lambda t: t.relu(), lambda a: np.maximum(a, 0)),
    "sum": (lambda t: keep_small(t.sum()), lambda a: keep_small(a.sum())),
    "sum of rows": (lambda t: keep_small(t.sum(0)), lambda a: keep_small(a.sum(0))),
    "maximum": (lambda t: t.max(-1, keepdim=True), lambda a: a.max(-1, keepdims=True)),
    "flipped": (lambda t: t.flip(0), lambda a: np.flip(a, 0)),
    "rolled": (lambda t: t.roll(1, 0), lambda a: np.roll(a, 1, 0)),
    "repeated": (lambda t: t.reshape(-1).repeat(1), lambda a: a.reshape(-1)),
    "padded": (lambda t: t.pad(((1, 0),) + ((0, 0),) * (t.ndim - 1)),
               lambda a: np.pad(a, ((1, 0),) + ((0, 0),) * (a.ndim - 1))),
    "joined": (lambda t: Tensor.cat(t, t), lambda a: np.concatenate([a, a])),
    "running sum": (lambda t: keep_small(t.cumsum(0)), lambda a: keep_small(np.cumsum(a, 0))),
    "cloned": (lambda t: t.clone(), lambda a: a),
    "contiguous": (lambda t: t.contiguous(), lambda a: a),
    "gathered": (lambda t: t[[0, -1]], lambda a: a[[0, -1]]),
    "deep copy": (copy.deepcopy, lambda a: a),
    "pickled": (lambda t: pickle.loads(pickle.dumps(t)), lambda a: a),
    "same graph": (lambda t: Tensor(t.uop), lambda a: a),
}  # fmt: skip
NOT_CAPTURED = {"deep copy", "pickled"}

PAIRS = {
    "sum": (lambda x, y: keep_small(x + y), lambda x, y: keep_small(x + y)),
    "difference": (lambda x, y: keep_small(x - y), lambda x, y: keep_small(x - y)),
    "larger": (lambda x, y: x.maximum(y), np.maximum),
    "choice": (lambda x, y: (x > y).where(x, y * 1), lambda x, y: np.where(x > y, x, y)),
}  # fmt: skip

# name -> (on a Tensor, on the model's array of values), both in place, with a value that broadcasts
CHANGES = {
    "assign": (lambda t, v: t.assign(v), lambda a, v: v),
    "assign and realize": (lambda t, v: t.assign(v).realize(), lambda a, v: v),
    "add": (lambda t, v: t.assign(keep_small(t + v)), lambda a, v: keep_small(a + v)),
    "set all": (lambda t, v: t.__setitem__(Ellipsis, v), lambda a, v: v),
    "set first": (lambda t, v: t.__setitem__(0, v), None),
    "set tail": (lambda t, v: t.__setitem__(slice(1, None), v), None),
    "set listed": (lambda t, v: t.__setitem__([0, -1], v), None),
}  # fmt: skip
PART = {"set first": 0, "set tail": slice(1, None), "set listed": [0, -1]}


# ---- making a program ----------------------------------------------------------------------------


class Grower:
    """Grows a Program, carrying it out in the model as it goes, so that every step is possible."""

    def __init__(self, rng: Random, captured: bool = False) -> None:
        self.rng, self.captured = rng, captured
        self.model: dict[str, Variable] = {}
        self.steps: list[tuple] = []
        self.count = 0

    def add(self, step: tuple) -> None:
        carry_out_in_model(step, self.model)
        self.steps.append(step)

    def new_name(self) -> str:
        self.count += 1
        return f"{'y' if self.captured else 'x'}{self.count}"

    def pick(self, test: Any = lambda v: True) -> str | None:
        fitting = [name for name, v in self.model.items() if test(v)]
        # what is young is more likely to be used
        return self.rng.choice(fitting[-6:]) if fitting else None

    def create(self) -> None:
        shape = self.rng.choice([(3,), (4,), (2, 3), (3, 2), (2, 2), (1, 4), ()])
        kind = self.rng.choice(["data", "realized", "constant", "memory"])
        values = [self.rng.randint(-9, 9) for _ in range(int(np.prod(shape)))]
        self.add(("create", self.new_name(), kind, shape, values))

    def view(self) -> None:
        kind = self.rng.choice(list(VIEWS))
        name = self.pick(lambda v: fits(lambda: VIEWS[kind][1](v.places)))
        if name is not None and self.model[name].places.ndim < 5:
            self.add(("view", self.new_name(), kind, name))

    def compute(self) -> None:
        kinds = [k for k in COMPUTED if not (self.captured and k in NOT_CAPTURED)]
        kind = self.rng.choice(kinds)

        def is_possible(v: Variable) -> bool:
            return 0 < v.places.size <= 24 and v.places.ndim > 0 and v.places.shape[0] > 0

        if (name := self.pick(is_possible)) is not None:
            self.add(("compute", self.new_name(), kind, name))

    def pair(self) -> None:
        first = self.pick(lambda v: v.places.size)
        if first is None:
            return
        shape = self.model[first].places.shape

        def matches(v: Variable) -> bool:
            return fits(lambda: np.broadcast_shapes(v.places.shape, shape)) and v.places.size <= 24

        second = self.pick(matches)
        if second is not None:
            self.add(("pair", self.new_name(), self.rng.choice(list(PAIRS)), first, second))

    def change(self) -> None:
        kind = self.rng.choice(list(CHANGES))
        if self.captured and kind == "set listed":
            kind = "assign"

        def is_possible(v: Variable) -> bool:
            enough = v.places.ndim and v.places.shape[0] and v.places.size
            return v.places.size > 0 and (kind not in PART or bool(enough))

        target = self.pick(is_possible)
        if target is None:
            return
        places = self.model[target].places
        shape = (places[PART[kind]] if kind in PART else places).shape

        def suits(v: Variable) -> bool:
            return fits(lambda: np.broadcast_to(v.value, shape))

        source = self.pick(suits) if self.rng.random() < 0.7 else None
        self.add(("change", target, kind, source if source else float(self.rng.randint(-5, 5))))

    def alias(self) -> None:
        if (name := self.pick()) is not None:
            self.add(("alias", self.new_name(), name))

    def realize(self) -> None:
        names = [n for n in self.model if self.rng.random() < 0.3]
        if names:
            self.add(("realize", names))

    def read(self) -> None:
        if (name := self.pick()) is not None:
            self.add(("read", name))

    def drop(self) -> None:
        if len(self.model) > 3:
            self.add(("drop", self.rng.choice(list(self.model))))

    def call(self) -> None:
        """A function of up to two new arguments that uses and changes what is there, called a few
        times with something in between."""
        body = Grower(self.rng, captured=True)
        outer = [n for n in self.model if self.rng.random() < 0.4][-4:]
        shapes = [self.rng.choice([(3,), (2, 2), (2, 3)]) for _ in range(self.rng.randint(1, 2))]
        arguments = [f"a{n}" for n in range(len(shapes))]
        # the body is tried on a copy of the model
        trial = copy.deepcopy({name: self.model[name] for name in outer})
        body.model = trial | {
            name: Variable.of(np.ones(shape)) for name, shape in zip(arguments, shapes, strict=True)
        }
        for _ in range(self.rng.randint(2, 6)):
            makers = [body.compute, body.pair, body.view, body.change, body.change, body.realize]
            self.rng.choice(makers)()
        made = [n for n in body.model if n not in outer and body.model[n].places.size]
        results = made[-3:]
        if not results:
            return
        number = self.new_name()
        for k in range(self.rng.randint(3, 5)):
            values = [
                [self.rng.randint(-9, 9) for _ in range(int(np.prod(shape)))] for shape in shapes
            ]
            given = list(zip(arguments, shapes, values, strict=True))
            names = {result: f"{number}c{k}{result}" for result in results}
            self.add(("call", number, tuple(body.steps), outer, given, names))
            for _ in range(self.rng.randint(0, 2)):
                self.rng.choice([self.change, self.compute, self.read, self.view])()
            if any(name not in self.model for name in outer):
                return

    def grow(self, steps: int, calls: bool = False) -> list[tuple]:
        self.create()
        for _ in range(steps):
            makers = [self.create, self.view, self.view, self.view, self.compute, self.compute,
                      self.pair, self.change, self.change, self.change, self.alias, self.realize,
                      self.read, self.drop]  # fmt: skip
            self.rng.choice(makers + [self.call] * (2 if calls else 0))()
        return self.steps


def fits(attempt: Any) -> bool:
    try:
        attempt()
    except (ValueError, IndexError):
        return False
    return True


def random_program(seed: Any, calls: bool = False) -> Program:
    rng = Random(seed)
    return Program(seed, Grower(rng).grow(rng.randint(5, 14), calls))


# ---- carrying it out -----------------------------------------------------------------------------


def carry_out_in_model(step: tuple, model: dict[str, Variable]) -> None:
    what, *rest = step
    if what == "create":
        name, kind, shape, values = rest
        filled = np.full(shape, values[0]) if kind == "constant" else np.reshape(values, shape)
        model[name] = Variable.of(filled)
    elif what == "view":
        name, kind, source = rest
        v = model[source]
        model[name] = v.seen(VIEWS[kind][1](v.places), kind != "wide")
    elif what == "alias":
        name, source = rest
        v = model[source]
        model[name] = Variable(v.storage, v.places, v.writable)
    elif what == "compute":
        name, kind, source = rest
        v = model[source]
        if kind in NOT_CAPTURED:  # a view stays a view, of memory of its own
            model[name] = Variable(v.storage.copy(), v.places, v.writable)
        else:
            model[name] = Variable.of(COMPUTED[kind][1](v.value))
    elif what == "pair":
        name, kind, first, second = rest
        model[name] = Variable.of(PAIRS[kind][1](model[first].value, model[second].value))
    elif what == "change":
        target, kind, source = rest
        v = model[target]
        value = model[source].value if isinstance(source, str) else np.float32(source)
        if v.writable:
            if kind in PART:
                v.storage[v.places[PART[kind]]] = value
            else:
                v.storage[v.places] = CHANGES[kind][1](v.value, value)
    elif what == "drop":
        del model[rest[0]]
    elif what in ("realize", "read"):
        assert all(name in model for name in ([rest[0]] if what == "read" else rest[0]))
    elif what == "call":
        _, body, outer, given, names = rest
        inner = {name: model[name] for name in outer}
        for name, shape, values in given:
            inner[name] = Variable.of(np.reshape(values, shape))
        for inner_step in body:
            carry_out_in_model(inner_step, inner)
        for result, name in names.items():
            model[name] = inner[result]


def carry_out(
    step: tuple, tensors: dict[str, Tensor], model: dict[str, Variable], jits: dict[str, Any]
) -> None:
    """One step, in both worlds; `model` is None inside a function."""
    what, *rest = step
    if what == "create":
        name, kind, shape, values = rest
        if kind == "constant":
            tensors[name] = Tensor.full(shape, float(values[0]))
        else:
            data = np.reshape(np.float32(values), shape)
            tensors[name] = Tensor(data)
            if kind == "realized":
                tensors[name].realize()
            elif kind == "memory":
                tensors[name] = Tensor.empty(*shape).assign(Tensor(data))
    elif what == "view":
        name, kind, source = rest
        tensors[name] = VIEWS[kind][0](tensors[source])
    elif what == "alias":
        name, source = rest
        tensors[name] = copy.copy(tensors[source])
    elif what == "compute":
        name, kind, source = rest
        tensors[name] = COMPUTED[kind][0](tensors[source])
    elif what == "pair":
        name, kind, first, second = rest
        tensors[name] = PAIRS[kind][0](tensors[first], tensors[second])
    elif what == "change":
        target, kind, source = rest
        value = tensors[source] if isinstance(source, str) else source
        change_both(tensors[target], kind, value, model.get(target) if model else None)
    elif what == "realize":
        Tensor.realize(*[tensors[name] for name in rest[0]])
    elif what == "read":
        compare(tensors, model, rest[0])
    elif what == "drop":
        del tensors[rest[0]]
        gc.collect(0)
    elif what == "call":
        number, body, outer, given, names = rest
        if number not in jits:
            held = {name: tensors[name] for name in outer}

            def function(*arguments: Tensor) -> list[Tensor]:
                inner = held | {n: t for (n, _, _), t in zip(given, arguments, strict=True)}
                for inner_step in body:
                    carry_out(inner_step, inner, {}, {})
                return [inner[name] for name in names_of_results]

            names_of_results = list(names)
            jits[number] = TinyJit(function)
        arguments = [Tensor(np.reshape(np.float32(v), s)).realize() for _, s, v in given]
        results = jits[number](*arguments)
        tensors.update(zip(names.values(), results, strict=True))


def change_both(tensor: Tensor, kind: str, value: Any, v: Variable | None) -> None:
    try:
        CHANGES[kind][0](tensor, value)
    except AssignError as error:
        assert "more than once" in str(error)
        assert v is None or not v.writable


def compare(tensors: dict[str, Tensor], model: dict[str, Variable], name: str) -> None:
    np.testing.assert_array_equal(tensors[name].numpy(), model[name].value, err_msg=name)


def check(program: Program) -> None:
    """AssertionError where a Tensor gives something else than the model. A TinyJit may refuse."""
    tensors: dict[str, Tensor] = {}
    model: dict[str, Variable] = {}
    jits: dict[str, Any] = {}
    for step in program.steps:
        try:
            carry_out(step, tensors, model, jits)
        except JitError:
            break
        carry_out_in_model(step, model)
    names = list(model)
    Random(program.seed).shuffle(names)
    for name in names:
        compare(tensors, model, name)


def shortened(steps: list, fails: Callable[[list], bool]) -> list:
    """Fewer steps that fail too: some that lie side by side are left out, many at first."""
    for size in (32, 16, 8, 4, 2, 1, 1):
        n = 0
        while n < len(steps):
            fewer = steps[:n] + steps[n + size :]
            if fails(fewer):
                steps = fewer
            else:
                n += 1
    return steps


def shrunk(program: Program, error: type[Exception]) -> Program:
    """A smaller program that fails like this too."""

    def fails(steps: list[tuple]) -> bool:
        model: dict[str, Variable] = {}
        try:
            for step in steps:
                carry_out_in_model(step, model)
        except (KeyError, ValueError, IndexError, AssertionError):
            return False  # it needs what was left out
        try:
            check(Program(program.seed, steps))
        except Exception as found:
            return type(found) is error
        return False

    return Program(program.seed, shortened(program.steps, fails))


def hunt(doc: str, attempt: Callable[[int], Any], agree: str) -> None:
    """Makes attempts, each with a seed of its own, for as long as the command line says. What goes
    wrong is shown, with the notes that the error carries."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep-going", action="store_true", help="after one that goes wrong too")
    options = parser.parse_args()
    start, count, wrong = time.monotonic(), 0, 0
    while time.monotonic() < start + 60 * options.minutes:
        seed = options.seed * 10_000_000 + count
        count += 1
        try:
            attempt(seed)
        except Exception as error:
            notes = "\n".join(getattr(error, "__notes__", ()))
            print(f"{seed}: {type(error).__name__}: {error}\n{notes}", flush=True)
            if not options.keep_going:
                raise
            wrong += 1
    print(f"{count - wrong} of {count} {agree}")


def attempt(seed: int) -> None:
    program = random_program(seed, calls=seed % 2 == 1)
    with Context(SPEC=1, NOOPT=int(seed % 5 == 4)):
        try:
            check(program)
        except Exception as error:
            error.add_note(str(shrunk(program, type(error))))
            raise


def main() -> None:
    hunt(__doc__ or "", attempt, "programs agree with the model")


if __name__ == "__main__":
    main()
