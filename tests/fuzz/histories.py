"""Random programs of gradients across changes and captured calls, beside a model in PyTorch.

A program is a list of Python statements. It is carried out twice: on Tensors, and on the model's
`Value`s, in float64. What both are asked to show has to be the same. In the model every value that
a Tensor has had is a tensor of PyTorch of its own, a write makes a new one with `index_put`, and a
captured function is just called. So a program can be read, shortened and run by itself.

tinyframe may refuse (`REFUSALS`): that ends a program. It may not give anything else.

By hand, for as long as you like:

    python -m tests.fuzz.histories --minutes 60 --seed 1
"""

from __future__ import annotations

import ast
import gc
import itertools
import re
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
import torch

import tinyframe
from tests.fuzz.memory import hunt, shortened
from tinyframe import Context
from tinyframe.errors import AssignError, GradientError
from tinyframe.jit.jit import JitError
from tinyframe.nn.optim import SGD

# Each ends a program: the exception, and what its message says.
REFUSALS = [
    (JitError, ""),
    (GradientError, "TinyJit"),
    (GradientError, "are gone"),
    (AssignError, "detach"),
    (ValueError, "in Tensors that are realized together"),
    (ValueError, "n="),  # a size that is only equal for this value of the Variable
]

LIMIT = 1e3  # values stay so small that float32 is near enough to float64

# ---- the model -----------------------------------------------------------------------------------


class Impossible(Exception):
    """What no program does: it is a mistake, or nobody has said what it means."""


class Storage:
    """All values that something has had, flat. Each has a number: equal graphs have the same."""

    def __init__(
        self, value: torch.Tensor, number: int, requires_grad: bool, is_parameter: bool = False
    ) -> None:
        self.values, self.numbers = [as_beginning(value.reshape(-1))], [number]
        self.requires_grad, self.is_parameter = requires_grad, is_parameter
        self.unseen: set[int] = set()  # values whose gradient is that of the one before

    def becomes(self, value: torch.Tensor, number: int) -> None:
        self.values.append(as_beginning(value.detach() if self.is_parameter else value))
        self.numbers.append(number)

    def becomes_unseen(self, value: torch.Tensor, number: int) -> None:
        """Without gradients: they flow to what was there before, where that has a history."""
        if self.values[-1].grad_fn is None or self.is_parameter:
            self.becomes(value.detach(), number)
        else:
            self.unseen.add(len(self.values))
            self.becomes(Unseen.apply(self.values[-1], value), number)


class Unseen(torch.autograd.Function):
    """A value that gradients take for another one."""

    @staticmethod
    def forward(_, before: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return value.clone()

    @staticmethod
    def backward(_, grad: torch.Tensor) -> tuple[torch.Tensor, None]:  # type: ignore[override]
        return grad, None


def as_beginning(value: torch.Tensor) -> torch.Tensor:
    """Where nothing flows on to, a gradient can be asked for all the same."""
    if value.dtype is torch.bool:
        return value
    if not (value.abs() < LIMIT).all():
        raise Impossible("large numbers, or none")
    return value if value.requires_grad else value.detach().requires_grad_()


def joined(*values: torch.Tensor) -> torch.Tensor:
    if len({value.ndim for value in values}) > 1:  # PyTorch passes over a (0,)
        raise Impossible("a cat of different numbers of axes")
    return torch.cat(values)


VIEWS = {"reshape", "permute", "unsqueeze", "expand", "__getitem__"}

METHODS: dict[str, Callable] = {
    "max": torch.amax,
    "contiguous": torch.clone,
    "where": lambda condition, x, y: torch.where(condition, x, y),
    "cat": joined,
}


class Value:
    """Places in a storage. It has the methods of a Tensor that programs use."""

    parameters: list[Value]
    numbers: dict[Any, int]
    made: Counter

    @classmethod
    def begin(cls) -> None:
        cls.parameters, cls.numbers, cls.made = [], {}, Counter()

    def __init__(self, data: Any, requires_grad: bool = False) -> None:
        value = torch.tensor(data, dtype=torch.float64)
        Value.made["data"] += 1
        number = Value.number("data", Value.made["data"])
        self._see(Storage(value, number, requires_grad, requires_grad), value)
        if requires_grad:
            self.grad: Value | None = None
            Value.parameters.append(self)

    def _see(self, storage: Storage, value: torch.Tensor) -> None:
        self.storage, self.places = storage, torch.arange(value.numel()).reshape(value.shape)
        self.is_view, self.is_detached = False, False

    @staticmethod
    def number(*key: Any) -> int:
        """Of a new value; that of an equal one, if there was one."""
        number = Value.numbers.setdefault(key, len(Value.numbers))
        Value.made[number] += 1
        return number

    @classmethod
    def of(cls, value: torch.Tensor, number: int, requires_grad: bool) -> Value:
        made = object.__new__(cls)
        made._see(Storage(value, number, requires_grad and torch.is_grad_enabled()), value)
        return made

    @property
    def requires_grad(self) -> bool:
        return self.storage.requires_grad and not self.is_detached

    @property
    def value(self) -> torch.Tensor:
        value = self.storage.values[-1][self.places]
        return value.detach() if self.is_detached else value

    @property
    def key(self) -> tuple:
        places = (tuple(self.places.shape), *self.places.reshape(-1).tolist())
        return self.storage.numbers[-1], places, self.is_detached

    # ---- what is computed ------------------------------------------------------------------------

    def _seen(self, places: torch.Tensor, is_detached: bool = False) -> Value:
        view = object.__new__(Value)
        view.storage, view.places, view.is_view = self.storage, places, True
        view.is_detached = self.is_detached or is_detached
        return view

    def __getattr__(self, name: str) -> Any:
        is_method = name in METHODS or (hasattr(torch.Tensor, name) and name != "grad")
        if name.startswith("__") or not is_method:
            raise AttributeError(name)
        return lambda *arguments, **options: self._apply(name, *arguments, **options)

    def _apply(self, name: str, *arguments: Any, **options: Any) -> Value:
        if name == "__getitem__" and not isinstance(arguments[0], tuple):
            check_bounds(arguments[0], len(self.places))
        if name in VIEWS and not isinstance(arguments[0], list):
            return self._seen(getattr(self.places, name)(*arguments))
        method = METHODS.get(name) or getattr(torch.Tensor, name)
        given = [a.value if isinstance(a, Value) else a for a in (self, *arguments)]
        keys = [a.key if isinstance(a, Value) else repr(a) for a in (self, *arguments)]
        requires = any(a.requires_grad for a in (self, *arguments) if isinstance(a, Value))
        value = method(*given, **options)
        return Value.of(value, Value.number(name, *keys, repr(options)), requires)

    @property
    def T(self) -> Value:
        return self._seen(self.places.permute(*reversed(range(self.places.ndim))))

    def detach(self) -> Value:
        return self._seen(self.places, is_detached=True)

    def realize(self, *others: Value) -> Value:
        return self

    @staticmethod
    def zeros(*shape: int) -> Value:
        value = torch.zeros(shape, dtype=torch.float64)
        return Value.of(value, Value.number("zeros", shape), False)

    @staticmethod
    def no_grad() -> Any:
        return torch.no_grad()

    # ---- changes ---------------------------------------------------------------------------------

    def assign(self, value: Any) -> Value:
        """What is written has a history where gradients are enabled, and is unseen elsewhere."""
        other = value if isinstance(value, Value) else Value.zeros() + value
        if self.places.unique().numel() < self.places.numel():
            raise Impossible("a place that is written to twice")
        enabled = torch.is_grad_enabled()
        if self.is_detached and enabled and other.requires_grad:
            raise Impossible("a history written through detach()")
        written = other.value.broadcast_to(self.places.shape).reshape(-1)
        key = Value.number("write", self.storage.numbers[-1], self.key, other.key, enabled)
        becomes = self.storage.becomes
        if self.is_detached or not enabled:
            written, becomes = written.detach(), self.storage.becomes_unseen
        places, before = self.places.reshape(-1), self.storage.values[-1]
        with torch.enable_grad():
            if places.numel() == before.numel():  # nothing is left of what was there
                becomes(written[places.argsort()], key)
            else:
                becomes(before.index_put((places,), written), key)
        self.storage.requires_grad |= enabled and other.requires_grad
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, Value):
            if index.places.shape != self.places.shape or not self.places.ndim:
                raise Impossible("a mask of another shape")
            other = value if isinstance(value, Value) else Value.zeros() + value
            self.assign(index.where(other, self))
        else:
            self._seen(self.places[index]).assign(value)

    # ---- gradients -------------------------------------------------------------------------------

    def backward(self) -> Value:
        had = [(p, v) for p in Value.parameters for v in p.storage.values]
        if not self.requires_grad:
            raise Impossible("backward() of what requires no gradient")
        given = zip(had, flowing(self, [v for _, v in had]), strict=True)
        reached = [(parameter, grad) for (parameter, _), grad in given if grad is not None]
        if not reached:
            raise Impossible("backward() that reaches nothing")
        for parameter, grad in reached:
            before = 0 if parameter.grad is None else parameter.grad.value.detach()
            total = before + grad.reshape(parameter.places.shape)
            parameter.grad = Value.of(total, Value.number("grad", len(Value.numbers)), False)
        return self

    def gradient(self, *targets: Value) -> list[Value]:
        """By each target: its newest value that there is in the graph, and older ones of which
        that was not made."""
        grads = [self._by(target) for target in targets]
        if all(grad is None for grad in grads):
            raise Impossible("gradient() that reaches nothing")
        found = zip(targets, grads, strict=True)
        return [
            Value.of(
                torch.zeros(t.places.shape, dtype=torch.float64) if grad is None else grad,
                Value.number("grad", len(Value.numbers)),
                False,
            )
            for t, grad in found
        ]

    def _by(self, target: Value) -> torch.Tensor | None:
        storage, shape = target.storage, target.places.shape
        if target.is_view:
            raise Impossible("the gradient by a view")
        if any(Value.made[number] > 1 for number in storage.numbers):
            raise Impossible("the gradient by one of two equal values")
        values = [v for n, v in enumerate(storage.values) if n not in storage.unseen]
        by_value = list(zip(values, flowing(self, values), strict=True))
        total, counted = None, []
        for value, grad in reversed(by_value):
            if grad is None or any(leads_to(value, later) for later in counted):
                continue
            counted.append(value)
            total = grad if total is None else total + grad
        return None if total is None else total[target.places.reshape(-1)].reshape(shape)


for name in ("add", "sub", "mul", "matmul", "gt", "getitem", "neg"):
    method = f"__{name}__"
    setattr(Value, method, lambda self, *a, method=method: self._apply(method, *a))


def flowing(result: Value, values: list[torch.Tensor]) -> list[torch.Tensor | None]:
    if result.places.ndim or not result.value.requires_grad:
        raise Impossible("the gradient of what is no scalar or has no history")
    return list(torch.autograd.grad(result.value, values, retain_graph=True, allow_unused=True))


def leads_to(value: torch.Tensor, later: torch.Tensor) -> bool:
    if later.grad_fn is None:
        return False
    (grad,) = torch.autograd.grad(later.sum(), [value], retain_graph=True, allow_unused=True)
    return grad is not None


class Descent:
    """SGD with momentum."""

    def __init__(self, params: list[Value], lr: float, momentum: float = 0.0) -> None:
        self.params = list(dict.fromkeys(params))
        self.lr, self.momentum = lr, momentum
        self.kept = [0.0 for _ in self.params]

    def zero_grad(self) -> None:
        for p in self.params:
            p.grad = None

    def step(self) -> None:
        if all(p.grad is None for p in self.params):
            raise Impossible("a step without gradients")
        for n, p in enumerate(self.params):
            if p.grad is not None:
                self.kept[n] = self.momentum * self.kept[n] + p.grad.value.detach()
                new = p.value.detach() - self.lr * self.kept[n]
                p.storage.becomes(new.reshape(-1), Value.number("step", len(Value.numbers)))


class Bound(int):
    """The value of a Variable; `high` is the largest that it could have."""

    high: int

    @staticmethod
    def of(value: int, high: int) -> Bound:
        bound = Bound(value)
        bound.high = high
        return bound

    def __sub__(self, number: int) -> Bound:
        return Bound.of(int(self) - number, self.high - number)


class Size:
    """A Variable."""

    def __init__(self, name: str, low: int, high: int) -> None:
        self.high = high

    def bind(self, value: int) -> Bound:
        return Bound.of(value, self.high)


def check_bounds(index: Any, size: int) -> None:
    """Impossible where an index would be outside for another value of its Variable."""
    start, stop = (index.start, index.stop) if isinstance(index, slice) else (index, None)
    if isinstance(start, Bound) and start.high >= size:
        raise Impossible("an index that may be outside")
    if isinstance(stop, Bound) and stop.high > size:
        raise Impossible("a slice that may be outside")


class Called:
    """What TinyJit makes of a function: the function. Its arguments are alike in all calls."""

    def __init__(self, function: Callable) -> None:
        self.function, self.kinds = function, None

    def __call__(self, *arguments: Any) -> Any:
        kinds = [type(a) for a in arguments]
        if any(kind not in (Value, Bound) for kind in kinds) or self.kinds not in (None, kinds):
            raise Impossible("arguments of other kinds")
        self.kinds = kinds
        return self.function(*arguments)


# ---- two worlds ----------------------------------------------------------------------------------


def world(of_model: bool) -> tuple[dict[str, Any], list[Any]]:
    """The names that a program uses, and what it has been asked to show so far."""
    shown: list[Any] = []
    if of_model:
        Value.begin()

        def show(*values: Any) -> None:
            shown.extend(None if v is None else v.value.detach().numpy() for v in values)

        names = {"Tensor": Value, "TinyJit": Called, "Variable": Size, "SGD": Descent}
    else:

        def show(*values: Any) -> None:
            there = [v for v in values if v is not None]
            if there:
                tinyframe.Tensor.realize(*there)
            shown.extend(None if v is None else v.numpy() for v in values)

        names = {"Tensor": tinyframe.Tensor, "TinyJit": tinyframe.TinyJit,
                 "Variable": tinyframe.Variable, "SGD": SGD}  # fmt: skip
    return {**names, "show": show}, shown


class Different(AssertionError):
    """tinyframe shows something else than the model."""


def attempt(statement: str, names: dict[str, Any]) -> None:
    """Carries it out in the model. Impossible where PyTorch refuses it, too."""
    try:
        exec(statement, names)
    except Exception as error:
        raise Impossible(f"{statement}: {error}") from error


def check(program: list[str]) -> str | None:
    """Different where a Tensor shows something else than the model; any error that is no refusal.
    Gives back the refusal that ended the program."""
    names, expected = world(of_model=True)
    try:
        for statement in program:
            attempt(statement, names)
    finally:
        names.clear()
    names, shown = world(of_model=False)
    try:
        for number, statement in enumerate(program):
            exec(statement, names)
            compare(shown, expected, number, statement)
    except Exception as error:
        words = str(error)
        if any(isinstance(error, kind) and part in words for kind, part in REFUSALS):
            return f"{type(error).__name__}: {words}"
        raise
    finally:
        names.clear()
        gc.collect()  # what is left of one program must not be seen by the next
    return None


def compare(shown: list[Any], expected: list[Any], number: int, statement: str) -> None:
    """All that has been shown; it is taken from both lists."""
    for got, wanted in zip(shown, expected, strict=False):
        text = f"statement {number}, {statement}:\nshown {got}\nexpected {wanted}"
        if got is None or wanted is None:
            if got is not wanted:
                raise Different(text)
        elif got.shape != wanted.shape:
            raise Different(text)
        else:
            near = 1e-4 * max(1.0, float(np.abs(wanted).max(initial=0)))
            if not np.allclose(got, wanted, rtol=1e-4, atol=near):
                raise Different(text)
    del expected[: len(shown)]
    shown.clear()


# ---- making a program ----------------------------------------------------------------------------

# A statement is a row: how often, and a template. {Y} is a new name that begins with y, {y} one
# that there is, {wb} one that begins with w or b, {w1} twice the same; what else is in braces is a
# row of PARTS. Names say what they are: w parameters, x other leaves, b buffers, d views without
# gradients, y results, l losses, a arguments, o optimizers, r what captured functions give, s the
# same in a Variable's size.
PARTS: dict[str, list[tuple[float, str]]] = {
    "k": [(1, "2"), (1, "0.5"), (1, "3"), (1, "-1"), (1, "1.5")],
    "i": [(2, "0"), (2, "1"), (1, "-1")],
    "t": [(3, "{wxbyda}"), (1, "{wa}"), (1, "{by}"), (0.5, "{r}.detach()"), (0.01, "{r}")],
    "view": [(2, "{t}"), (1, "{t}[{i}]"), (1, "{t}[1:]"), (1, "{t}[::2]"), (1, "{t}[:, {i}]"),
             (1, "{t}.T"), (1, "{t}.reshape(-1)"), (1, "{t}.reshape(2, -1)"), (1, "{t}.detach()")],
    "e": [(6, "{view}"), (4, "({e} * {k})"), (2, "({e} + {e})"), (2, "({e} * {t})"),
          (1, "({e} - {k})"), (1, "({e} @ {t})"), (1, "{e}.tanh()"), (1, "{e}.relu()"),
          (1, "{e}.softmax(-1)"), (1, "{e}.sum(0)"), (1, "{e}.max(-1)"), (1, "{e}.maximum({e})"),
          (1, "({t} > {k}).where({e}, {e})"), (1, "{e}.square()"), (1, "{e}.contiguous()"),
          (1, "{e}.realize()"), (1, "{t}[[0, -1]]"), (1, "{t}.cat({t})"), (1, "{e}.mean(-1)")],
    "loss": [(3, "{e}.sum()"), (2, "{e}.square().sum()"), (2, "({e} - {t}).square().mean()"),
             (1, "({e} * {wa}).sum()"), (1, "{l} + {e}.sum()"), (1, "{l} * {k}")],
    "part": [(3, "{i}"), (2, "1:"), (1, "::2"), (1, ":, {i}"), (1, "..."), (1, "[0, -1]")],
    "value": [(2, "{k}"), (3, "{e}")],
}  # fmt: skip

CREATE = [
    (3, "{W} = Tensor({data}, requires_grad=True)"),
    (1, "{W} = Tensor({data}, requires_grad=True).realize()"), (2, "{X} = Tensor({data})"),
    (1, "{X} = Tensor({data}).realize()"),
    (2, "{B} = Tensor.zeros({shape}).contiguous().realize()"), (1, "{B} = {e}.contiguous()"),
    (1, "{O} = SGD([{w}, {w}], lr=0.25)"), (1, "{O} = SGD([{w}], lr=0.25, momentum=0.5)"),
]  # fmt: skip
COMPUTE = [
    (7, "{Y} = {e}"), (4, "{L} = {loss}"), (1, "{D} = {by}.detach()"),
    (1, "{Y} = {by}.{reshaped}"),
]  # fmt: skip
CHANGE = [
    (2, "with Tensor.no_grad(): {w}.assign({e})"),
    (1, "with Tensor.no_grad(): {w}.assign({w} * {k})"),
    (1, "with Tensor.no_grad(): {w1}.assign({w1} - {w1}.grad * 0.25)"),
    (1, "with Tensor.no_grad(): {wb}[{part}] = {value}"), (2, "{w}[{part}] = {value}"),
    (1, "{wby}.detach()[{part}] = {k}"), (1, "with Tensor.no_grad(): {by}.assign({e})"),
    (3, "{b}.assign({e})"), (2, "{b1}.assign({b1} + {e})"),
    (5, "{b}[{part}] = {value}"), (1, "{bx1}[{bx1} > {k}] = {k}"), (1, "{xd}[{part}] = {k}"),
    (1, "{by}[{part}] = {e}"),
]  # fmt: skip
BACK = [
    (8, "{L1} = {loss}\n{L1}.backward()"), (4, "{l}.backward()"), (2, "{o}.step()"),
    (1, "{o}.zero_grad()"), (0.3, "{w}.grad = None"),
]  # fmt: skip
SHOW = [
    (1, "{bylw}.realize()"), (1, "Tensor.realize({by}, {wl})"), (1, "show({bylwd})"),
    (1, "show({w}.grad)"), (1, "show(*{l}.gradient({w}, {wxb}))"),
    (1, "show({l}.gradient({wxby})[0])"), (2, "show({rs})"), (1, "show({s}[0])"),
    (0.03, "{L} = {rs}.sum()"), (1, "del {byd}"),
]  # fmt: skip
# What a function does with a1, whose size is a Variable, and with n1, which is bound.
SIZED = [
    (3, "{V} = {va} * {k}"), (1, "{V} = {va}.tanh()"), (2, "{V} = {va}.sum({axis})"),
    (1, "{V} = {va}.softmax(-1)"), (1, "{V} = {va}.T"), (1, "{V} = {va} @ {wx}"),
    (1, "{V} = {va} * {wx}"), (1, "{V} = {va}.max({axis})"), (1, "{V} = {va}.contiguous()"),
    (2, "{V} = {va}.realize()"), (1, "{L} = {va}.sum()"), (1, "{L} = ({va} * {wx}).sum()"),
    (1, "{l}.backward()"), (1, "{b}.assign({va}.sum(0))"), (1, "{b}.assign({b} + {va}.sum(0))"),
]  # fmt: skip
CUT = [
    (2, "{V} = {va}[:n1]"), (1, "{V} = {va}[n1 - 1]"), (1, "{V} = ({va} * {k}).realize()[n1 - 1]"),
    (1, "{V} = ({va} * {k}).realize()[:n1]"), (1, "{L} = ({va}[:n1] * {w}[:n1]).sum()"),
    (1, "{V} = {va}[n1 - 1:]"),
]  # fmt: skip
PARTS["axis"] = [(1, "0"), (1, "1"), (1, "-1")]
PARTS["reshaped"] = [(1, "reshape(-1)"), (1, "T"), (1, "detach()"), (1, "reshape(2, -1)")]

# What training() captures.
LOSSES = ["{L} = ({e} * weight).square().mean()", "{L} = (a1 * weight - {e}).square().mean()",
          "{L} = weight.square().sum() + a1.sum()"]  # fmt: skip

SHAPES = [(4,), (4, 2), (2, 2), (2,), (4, 2), (2,)]


class Grower:
    """Grows a program, carrying it out in the model as it goes, so that every step is possible."""

    parts, world = PARTS, staticmethod(lambda: world(of_model=True))

    def __init__(self, seed: Any, calls: bool) -> None:
        self.rng, self.has_calls = Random(seed), calls
        self.names, self.shown = self.world()
        self.program: list[str] = []
        self.counts: Counter = Counter()
        # of the last captured function: its name, text, results there and in the last call
        self.function, self.text, self.results, self.new = "", "", [""], [""]
        # from before the last change: a gradient through these is often refused, as in PyTorch
        self.stale: set[str] = set()
        self.avoided, self.care = self.stale, 0.995 if calls else 0.97

    # ---- text ------------------------------------------------------------------------------------

    def row(self, table: list[tuple[float, str]]) -> str:
        return self.rng.choices([text for _, text in table], [often for often, _ in table])[0]

    def fill(self, text: str, names: dict[str, Any], depth: int = 0) -> str:
        same: dict[str, str] = {}

        def part(match: re.Match) -> str:
            slot = match[1]
            if slot in same:
                return same[slot]
            kind = slot.rstrip("1")
            if kind == "shape":
                found = ", ".join(map(str, self.rng.choice(SHAPES)))
            elif kind == "data":
                found = self.data(self.rng.choice(SHAPES))
            elif kind in self.parts:
                table = self.parts[kind]
                # the first row is a leaf
                text = table[0][1] if kind == "e" and depth > 2 else self.row(table)
                found = self.fill(text, names, depth + 1)
            elif kind.isupper():
                letter = kind.lower()
                self.counts[letter] += 1
                found = f"{letter}{self.counts[letter]}"
            else:
                fitting = [n for n in names if n[0] in kind and n[1:].isdigit()]
                fitting = [n for n in fitting if n not in self.avoided]
                if not fitting:
                    raise Impossible(f"nothing that is a {kind}")
                found = self.rng.choice(fitting[-5:])  # what is young is more likely to be used
            if slot.endswith("1"):
                same[slot] = found
            return found

        return re.sub(r"\{(\w+)\}", part, text)

    def data(self, shape: tuple[int, ...]) -> str:
        """Numbers of which no two are equal, so that a maximum is at one place."""
        numbers = self.rng.sample(range(-12, 13), int(np.prod(shape)))
        return str((np.array(numbers).reshape(shape) / 4).tolist())

    def tried(self, table: list[tuple[float, str]], names: dict[str, Any]) -> str | None:
        """A statement that could be carried out, in these names; None where none was found."""
        self.avoided = self.stale if self.rng.random() < self.care else set()
        for _ in range(12):
            counts = self.counts.copy()
            try:
                statement = self.fill(self.row(table), names)
                attempt(statement, names)
                if table is CHANGE or ".step()" in statement:
                    self.changed(names)
                return statement
            except Impossible:
                self.counts = counts
        return None

    def add(self, *tables: list[tuple[float, str]]) -> None:
        if (statement := self.tried(self.rng.choice(tables), self.names)) is not None:
            self.program.append(statement)

    def carry_out(self, statement: str) -> None:
        attempt(statement, self.names)
        self.program.append(statement)
        if ".step()" in statement or re.search(r" = f\d+\(", statement):
            self.changed(self.names)

    def changed(self, names: dict[str, Any]) -> None:
        values = {n: v for n, v in names.items() if isinstance(v, Value) and n[0] in "lyb"}
        self.stale |= {n for n, v in values.items() if v.requires_grad}

    # ---- captured functions ----------------------------------------------------------------------

    def capture(
        self, given: Callable[[], dict[str, str]], tables: list, end: Iterable[str] = ()
    ) -> None:
        """Defines a function, which grows by being carried out: that is its first call.

        given: the arguments of a call. end: the last statements, with {l} for the last result.
        """
        self.counts["f"] += 1
        self.function, arguments = f"f{self.counts['f']}", given()
        passed = {name: eval(value, self.names) for name, value in arguments.items()}
        # what is passed is not used besides, and what has a history by then seldom is
        self.changed(self.names)
        inner = {n: v for n, v in self.names.items() if n not in str(arguments)} | passed
        body = [s for table in tables if (s := self.tried(table, inner)) is not None]
        made = [n for n in inner if n not in self.names and n not in arguments and n[1:].isdigit()]
        self.results = made[-self.rng.randint(1, 3) :]
        if not self.results:
            raise Impossible("a function without a result")
        for statement in end:
            body.append(statement.replace("{l}", self.results[-1]))
            attempt(body[-1], inner)
        lines = textwrap.indent("\n".join([*body, f"return [{', '.join(self.results)}]"]), "    ")
        self.text = f"def {self.function}({', '.join(arguments)}):\n{lines}"
        self.carry_out(f"@TinyJit\n{self.text}")
        self.program.append(self.call(arguments))
        self.changed(self.names)
        for name, result in zip(self.new, self.results, strict=True):
            self.names[name] = inner[result]

    def call(self, arguments: dict[str, str]) -> str:
        letter = "s" if "n.bind" in str(arguments) else "r"
        self.new = [f"{letter}{self.counts[letter] + n}" for n in range(len(self.results))]
        self.counts[letter] += len(self.new)
        return f"[{', '.join(self.new)}] = {self.function}({', '.join(arguments.values())})"

    def calls(self, given: Callable[[], dict[str, str]], between: Callable[[], None]) -> None:
        between()
        for _ in range(self.rng.randint(2, 5)):
            self.carry_out(self.call(given()))
            between()

    def arguments(self, *shapes: tuple[int, ...]) -> Callable[[], dict[str, str]]:
        """What gives the arguments of a call: data, or Tensors that the function does not use."""
        self.text = ""
        marked = ", requires_grad=True" if self.rng.random() < 0.03 else ""

        def one(shape: tuple[int, ...], taken: str) -> str:
            letters = "wxb" if self.rng.random() < 0.03 else "x"
            fitting = [n for n, v in self.names.items() if n[0] in letters and isinstance(v, Value)
                       and tuple(v.places.shape) == shape and n not in taken]  # fmt: skip
            if fitting and not marked and self.rng.random() < 0.3:
                return self.rng.choice(fitting)
            return f"Tensor({self.data(shape)}{marked})"

        def given() -> dict[str, str]:
            found: dict[str, str] = {}
            for n, shape in enumerate(shapes, 1):
                found[f"a{n}"] = one(shape, self.text + str(found))
            return found

        return given

    def any_function(self) -> None:
        """Whatever a function may do, called with something in between."""
        given = self.arguments(*self.rng.choices([(4, 2), (2,)], k=self.rng.randint(1, 2)))
        tables = self.rng.choices([COMPUTE, CHANGE, BACK, SHOW[:2]], [4, 2, 1, 1], k=4)
        self.capture(given, tables)
        self.calls(given, lambda: self.some(COMPUTE, CHANGE, BACK, SHOW))

    def training(self) -> None:
        """Forward, backward, step and zero_grad, each inside of the function or after its calls."""
        self.add([row for row in CREATE if "{O}" in row[1]])
        optimizer = [n for n in self.names if n[0] == "o" and n[1:].isdigit()][-1]
        parts = ["{l}.backward()", f"{optimizer}.step()", f"{optimizer}.zero_grad()"]
        order = self.row([(4, "bsz"), (4, "zbs"), (4, "bs"), (2, "zb"), (1, "b"), (0.05, "")])
        inside = [parts["bsz".index(letter)] for letter in order]
        outside = [part for part in parts if part not in inside]
        every, turn = self.rng.choice([1] * 9 + [2]), itertools.count(1)

        def between() -> None:
            number = next(turn)
            for part in outside:
                if part is not parts[2] or number % every == 0:
                    self.carry_out(part.replace("{l}", self.new[-1]))
            self.some(SHOW, SHOW, CHANGE, COMPUTE, chance=0.5)

        given = self.arguments((4, 2))
        tables = [COMPUTE] * self.rng.randint(0, 2) + [CHANGE] * self.rng.randint(0, 1)
        weight = self.rng.choice([n for n in self.names if n[0] == "w"])
        losses = [(1, text.replace("weight", weight)) for text in LOSSES]
        self.capture(given, [*tables, losses], inside)
        self.calls(given, between)

    def sized(self) -> None:
        """A function of a Variable, in the size of an argument or as an argument of its own."""
        if "n" not in self.names:
            self.carry_out('n = Variable("n", 1, 6)')
            for name, more in (("x60", ""), ("x62", ""), ("w60", ", requires_grad=True")):
                shape = (6, 2) if name == "x62" else (6,)
                self.carry_out(f"{name} = Tensor({self.data(shape)}{more})")
        name, is_cut = self.rng.choice(["x60", "x62", "x62", "w60"]), self.rng.random() < 0.5
        sizes = itertools.chain([3], iter(lambda: self.rng.randint(1, 6), 0))  # 3: as no other axis

        def given() -> dict[str, str]:
            fresh = f"Tensor({self.data(tuple(self.names[name].places.shape))})"
            value, bound = self.rng.choice([name] * 4 + [fresh]), f"n.bind({next(sizes)})"
            return {"a1": value, "n1": bound} if is_cut else {"a1": f"{value}[:{bound}]"}

        tables = [SIZED] * self.rng.randint(1, 3)
        self.capture(given, [CUT, *tables] if is_cut else tables)
        self.calls(given, lambda: self.some(SHOW, BACK, CHANGE, SHOW, chance=0.6))

    def some(self, *tables: list, chance: float = 0.7) -> None:
        while self.rng.random() < chance:
            self.add(*tables)
            chance /= 2

    def grow(self, steps: int) -> list[str]:
        self.add([CREATE[0]])
        self.add(CREATE)
        try:
            for n in range(steps):
                self.add(CREATE, COMPUTE, COMPUTE, CHANGE, CHANGE, BACK, SHOW)
                if self.has_calls and n % 5 == 4:
                    self.rng.choice([self.any_function, self.training, self.training, self.sized])()
        except Impossible:  # in a function or a call: the program ends before it
            pass
        return self.carried_out_again()

    def carried_out_again(self) -> list[str]:
        """The program as far as it can be carried out from the beginning (what was tried in vain
        may have left traces), and at its end everything is shown."""
        self.names.clear()
        self.names, _ = world(of_model=True)
        for number, statement in enumerate(self.program):
            try:
                attempt(statement, self.names)
            except Impossible:
                self.program = self.program[:number]
                break
        names = [n for n, v in self.names.items() if isinstance(v, Value)]
        self.rng.shuffle(names)
        last = [f"show({n})" for n in names]
        last += [f"show({n}.grad)" for n in names if n[0] == "w"]
        return self.program + last


def random_program(seed: Any, calls: bool = False) -> list[str]:
    rng = Random(seed)
    return Grower(seed, calls).grow(rng.randint(8, 18))


# ---- what went wrong, made short -----------------------------------------------------------------


def failure(program: list[str], check: Callable[[list[str]], Any] = check) -> tuple | None:
    """How a program fails, without the numbers; None where it doesn't, or can't be carried out."""
    try:
        check(program)
    except Impossible:
        return None
    except Different as error:
        return (Different, "None" in str(error).split("\n", 1)[1])
    except Exception as error:
        return type(error), re.sub(r"\d+", "", str(error))[:40]
    return None


def smaller(statement: str) -> Iterator[str]:
    """The statement with an expression replaced by a part of it, or without a statement or an
    option inside."""
    tree = ast.parse(statement)
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if name == "targets":
                continue
            parts = value if isinstance(value, list) else [value]
            for n, part in enumerate(parts):
                instead: list[Any] = []
                if isinstance(part, ast.expr):
                    below = [part.func, *part.args] if isinstance(part, ast.Call) else None
                    below = below or list(ast.iter_child_nodes(part))
                    below = [b.value if isinstance(b, ast.Attribute) else b for b in below]
                    instead = [[b] for b in below if isinstance(b, ast.expr)]
                is_optional = isinstance(part, (ast.stmt, ast.keyword))
                is_element = is_optional or isinstance(parent, ast.List)
                if (len(parts) > 1 and is_element) or name == "decorator_list":
                    instead.append([])
                for less in instead:
                    new = [*parts[:n], *less, *parts[n + 1 :]]
                    setattr(parent, name, new if isinstance(value, list) else new[0])
                    yield ast.unparse(tree)
                    setattr(parent, name, value)


def shrunk(
    program: list[str], seconds: float = 120, check: Callable[[list[str]], Any] = check
) -> list[str]:
    """A shorter program that fails alike, as far as one is found in this time."""
    wanted, end = failure(program, check), time.monotonic() + seconds

    def fails(fewer: list[str]) -> bool:
        return time.monotonic() < end and failure(fewer, check) == wanted

    before = None
    while program != before:
        before, program = program, shortened(program, fails)
        for n, statement in enumerate(program):
            changed = ([*program[:n], less, *program[n + 1 :]] for less in smaller(statement))
            program = next(filter(fails, changed), program)
    return program


def hunt_programs(
    doc: str,
    made: Callable[[int], list[str]],
    check: Callable[[list[str]], str | None],
    settings: Sequence[dict[str, Any]],
) -> None:
    """`hunt` in such programs, each with two seeds for every one of the settings; and what was
    refused is counted."""
    refused: Counter = Counter()
    gc.collect()
    gc.freeze()

    def attempt(seed: int) -> None:
        given, program = settings[seed // 2 % len(settings)], made(seed)
        with Context(SPEC=1, **given):
            try:
                if (refusal := check(program)) is not None:
                    refused[" ".join(re.sub(r"\S*\d\S*", "_", refusal).split()[:14])] += 1
            except Exception as error:
                short = "\n".join(shrunk(program, check=check))
                error.add_note(f"with {given}:\n{short}")
                raise

    hunt(doc, attempt, "programs agree or are refused")
    for words, often in refused.most_common():
        print(f"{often:6} {words}")


def main() -> None:
    # the interpreter says where a kernel touches what is not its own
    settings = ({}, {"DEVICE": "PYTHON"}, {}, {"NOOPT": 1})
    hunt_programs(__doc__, lambda seed: random_program(seed, calls=seed % 2 == 1), check, settings)


if __name__ == "__main__":
    main()
