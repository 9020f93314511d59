"""What checks are made of: calling the learner's function, and comparing what comes back.

A check begins with a small fixed case, which is shown to whoever gets it wrong, and goes on with
fresh inputs, so that no answer can be learned by heart; nothing about those is named. Their sizes
come from `fresh_sizes`: primes that no lesson uses, since a kernel's name counts how often a size
was seen. Each of these says *what* is different, never only that something is.
"""

from __future__ import annotations

import dis
import inspect
import random
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from numbers import Real
from types import CodeType, FunctionType
from typing import Any
from unittest import mock

import numpy as np

from classroom import differences
from classroom.exercise import Open, Wrong, wrong_if
from classroom.guesses import Prediction
from tinyframe import Tensor
from tinyframe.schedule import create_schedule
from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.tensor.laziness import unrealized
from tinyframe.uop import Ops, UOp
from tinyframe.viz import why
from tinyframe.viz.words import sentence

PRIMES = (37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
LONGEST = 160  # characters of an answer that are shown
A_FUNCTION = "This exercise asks for a function. Pass its name, without brackets after it."


def fresh_sizes(count: int) -> list[int]:
    """Sizes that differ from each other, and from one call of a check to the next."""
    return random.sample(PRIMES, count)


def fresh_tensor(*shape: int) -> Tensor:
    """Realized floats between 0.5 and 1.5, new ones each time."""
    values = np.random.default_rng().random(shape, dtype=np.float32) + 0.5
    return Tensor(values).realize()


def small_tensor(rows: int, columns: int) -> Tensor:
    """[[1, 2, …], …], realized: a case that can be shown."""
    return Tensor(
        np.arange(1, rows * columns + 1, dtype=np.float32).reshape(rows, columns)
    ).realize()


def wants_function(answer: Any, text: str = A_FUNCTION) -> None:
    """Wrong, with this text, unless an answer is a function, or a class."""
    if not callable(answer):
        raise Wrong(text, got=describe(answer))


def wants_written(answer: Any, text: str = A_FUNCTION) -> None:
    """Wrong, with this text, unless an answer is a function; Open where it does nothing yet."""
    wants_function(answer, text)
    if does_nothing(answer):
        raise Open("")


def call(function: Any, *inputs: Any) -> Any:
    """What the learner's function gives; Open where it gives nothing yet."""
    wants_function(function)
    result = function(*inputs)
    if result is None or result is ...:
        written = "" if does_nothing(function) else "It returns nothing. Did you forget `return`?"
        raise Open(written)
    return result.item() if isinstance(result, np.generic) else result  # np.int64(3) is 3


def tensor_of(function: Any, *inputs: Any, case: str = "") -> Tensor:
    """The Tensor that the learner's function gives; Wrong where that is anything else."""
    got = call(function, *inputs)
    wants(got, Tensor, "a Tensor", case)
    return got


def once(answer: Any, run: Callable[[], Any], case: str = "") -> Any:
    """What answer(run) gives; Wrong where it runs that more than once: a program has effects."""
    calls = list[None]()

    def counted() -> Any:
        calls.append(None)
        return run()

    got = call(answer, counted)
    wrong_if(len(calls) > 1, f"You ran it {len(calls)} times, and whatever it does has happened as "
             "often. Run it once.", case)  # fmt: skip
    return got


def does_nothing(function: Callable[..., Any]) -> bool:
    """Whether the body of a function is `...`, `pass` or a docstring."""
    code = getattr(function, "__code__", None)
    does = {step.opname for step in dis.get_instructions(code)} if code is not None else {""}
    return does <= {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}


def written_without(
    answer: Any, names: set[str], why: str = "which is what you are asked to build"
) -> None:
    """Wrong where the learner's function, or one of their own that it calls, uses one of these, by
    whatever name, or the operator `@`."""
    used, seen, pending = set[str](), list[Any](), [answer]
    while pending:
        function = pending.pop()
        if not isinstance(function, FunctionType) or function in seen:
            continue
        seen.append(function)
        words = {*_words(function.__code__)}
        used |= words & names
        scope = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
        for value in map(scope.get, words):
            if isinstance(value, FunctionType) and value.__globals__ is function.__globals__:
                pending.append(value)
            elif getattr(value, "__module__", "").startswith("tinyframe"):
                used |= {getattr(value, "__name__", "")} & names
    if used:
        raise Wrong(f"Your function uses `{min(used)}`, {why}.")


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, and of those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def _words(code: CodeType) -> Iterator[str]:
    """What a function, and each function inside it, looks up by name, be it in quotes; and "@" if
    it multiplies by it."""
    for each in codes(code):
        yield from (*each.co_names, *each.co_freevars)
        yield from (constant for constant in each.co_consts if isinstance(constant, str))
        for instruction in dis.get_instructions(each):
            if instruction.opname == "BINARY_OP" and instruction.argrepr in ("@", "@="):
                yield "@"


def wants(value: Any, kind: type, what: str, case: str = "") -> None:
    """Wrong unless a value is of a kind; `what` says it in words: "a Tensor"."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        raise Wrong(f"The answer has to be {what}.", case, expected=what, got=describe(value))


def whole_number(got: Any, case: str = "") -> int:
    """A whole number, in whatever type it comes; Wrong where it is none."""
    got = got.numpy() if isinstance(got, Tensor) else got
    if isinstance(got, (np.ndarray, np.generic)) and got.size == 1:
        got = got.item()
    if isinstance(got, float) and got.is_integer():
        got = int(got)
    wants(got, int, "a whole number", case)
    return int(got)


def a_number(got: Any, case: str = "", what: str = "a number") -> float:
    """A number, in whatever type it comes; Wrong where it is none."""
    got = got.item() if isinstance(got, np.ndarray) and got.ndim == 0 else got
    wrong_if(isinstance(got, bool) or not isinstance(got, Real), f"The answer has to be {what}.",
             case, got=describe(got))  # fmt: skip
    return float(got)


def describe(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, Tensor):
        dtype = str(value.dtype).removeprefix("dtypes.")
        return f"a Tensor of shape {value.shape} and dtype {dtype}"
    if isinstance(value, UOp):
        return f"a UOp {value.op.name} of shape {value.shape}"
    text = " ".join(repr(value).split())
    text = text if len(text) <= LONGEST else text[:LONGEST] + " …"
    return text if isinstance(value, (list, tuple)) else f"{text} ({type(value).__name__})"


def _planned(*tensors: Tensor) -> list[ScheduleItem]:
    """The kernels that realize() would run for these. Nothing is run, and no Tensor changes."""
    if not (roots := unrealized(*tensors)):
        return []
    items, _, _ = create_schedule(UOp.sink(*roots))
    return [item for item in items if item.ast.op is Ops.SINK]


def kernels(*tensors: Tensor) -> int:
    """How many kernels realize() would run for these. Nothing is run, and no Tensor changes."""
    return len(_planned(*tensors))


def runs_as(tensor: Tensor, wanted: int, case: str = "", shown: bool = False) -> None:
    """Wrong unless a Tensor becomes `wanted` kernels; says what each does, and why it is one.

    shown: whether sizes are named; of fresh inputs they are not.
    """
    items = _planned(tensor)
    if len(items) == wanted:
        return
    text = f"It takes {count(len(items), 'kernel')}; it should take {wanted or 'none'}."
    rows = [(f"kernel {n}", sentence(item.ast)) for n, item in enumerate(items, 1)]
    rows += [
        ("stored", f"`{stored.op.name}`: {stored.reason}")
        for stored in why(tensor)
        if stored.reason != "output"
    ]
    if not shown:
        rows = [(label, re.sub(r"\b[\d,]*\d\b", "N", words)) for label, words in rows]
    raise Wrong(text, case, more=tuple(rows))


def same_values(
    got: Tensor,
    expected: np.ndarray,
    case: str,
    shown: bool = True,
    mistakes: dict[str, np.ndarray] | None = None,
) -> None:
    """Wrong unless shape and values agree, within what float32 rounds; says how they differ.

    Where inputs are fresh, `shown` is False: then no value is named. mistakes: as `unlike` has it.
    """
    unlike(got, mistakes or {}, expected, case, shown)
    expected = np.asarray(expected)
    values = got.numpy()
    if values.shape != expected.shape:
        shapes = (str(expected.shape), str(values.shape)) if shown else ("", "")
        raise Wrong(differences.of_shapes(values.shape, expected.shape), case, *shapes)
    if text := differences.of_values(values, expected, named=shown):
        both = (describe(expected.tolist()), describe(values.tolist())) if shown else ("", "")
        raise Wrong(text, case, *both)


def unlike(
    got: Tensor, mistakes: dict[str, np.ndarray], expected: np.ndarray, case: str, shown: bool
) -> None:
    """Wrong, with its sentence, where an answer has the values that a well-known mistake gives."""
    values = got.numpy()
    if differences.close(values, expected):
        return
    for said, mistaken in mistakes.items():
        if differences.close(values, mistaken):
            both = (expected, values) if shown else ()
            raise Wrong(said, case, *(describe(each.tolist()) for each in both))


def same_number(got: Any, expected: float, case: str = "", unit: str = "") -> None:
    """Wrong unless an answer is this number; says how it differs.

    unit: what is counted, in the plural ("bytes", "kernels"); whole numbers that have one are "too
    many" or "too few". An int is asked for where `expected` is one, otherwise any number.
    """
    got = got.item() if isinstance(got, np.generic) else got
    kinds = int if isinstance(expected, int) else (int, float)
    if isinstance(got, bool) or not isinstance(got, kinds):
        what = "a whole number" if isinstance(expected, int) else "a number"
        raise Wrong(f"The answer has to be {what}{f' of {unit}' * bool(unit)}.", case,
                    got=describe(got))  # fmt: skip
    if text := differences.of_numbers(got, expected, unit):
        raise Wrong(text, case, f"{expected:.6g}" if isinstance(expected, float) else expected, got)


def predicts(compute: Callable[[], Any], *options: str) -> Prediction:
    """The check of a prediction: `compute` really does what is predicted, and gives the value.

    A guess is right where it has that value, in whatever form it was typed. options: the words to
    choose from, in lower case; a guess that is none of them is asked for again.
    """
    return Prediction(compute, options)


def count(number: int, thing: str) -> str:
    return f"{number or 'no'} {thing}{'' if number == 1 else 's'}"


def moves(answer: Any, expected: Callable[[np.ndarray], np.ndarray], name: str) -> None:
    """Wrong unless answer(matrix) has these values, and takes no kernel; `name` is the matrix's."""
    inputs = {f"`{name} = [[1, 2, 3], [4, 5, 6]]`": small_tensor(2, 3)}
    inputs["a different shape"] = fresh_tensor(*fresh_sizes(2))
    for case, matrix in inputs.items():
        shown = matrix.numel() == 6
        got = tensor_of(answer, matrix, case=case)
        runs_as(got, 0, case, shown)
        same_values(got, expected(matrix.numpy()), case, shown)
        no_copy(got, matrix, name, case)


def no_copy(got: Tensor, source: Tensor, name: str, case: str) -> None:
    """Wrong unless an answer has been made from a Tensor of this name."""
    if source.uop.base not in got.uop.toposort():
        raise Wrong(f"These are copies of the numbers. Move the elements of `{name}` itself.", case)


@contextmanager
def forbidden(text: str, *places: tuple[Any, str]) -> Iterator[None]:
    """Inside, whoever calls one of these, by its owner and its name, is Wrong, with this text."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise Wrong(text)

    with ExitStack() as stack:
        for owner, name in places:
            stack.enter_context(mock.patch.object(owner, name, refuse))
        yield
