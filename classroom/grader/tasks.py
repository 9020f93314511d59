"""What a project's file of tasks is written with.

    project = Project("Tensor basics", points=100)

    @project.check("describe", 4, "a scalar", hint="A scalar's shape is ().")
    def _(ask):
        x = ask.floats(3, 4)
        expect_equal(ask("describe", x), ((3, 4), "dtypes.float", 48), "describe(x)")

A check asks, and judges what comes back: it returns when the answer is right, and raises `Wrong`
(by `expect`) with a sentence about the difference when it is not. Any other exception counts as an
answer of the wrong form. `ask` has random numbers of its own, different ones for every submission.

A sentence that accuses, such as "you divided by the variance", belongs in `or_known`: whether the
answer is right is decided first, and only a wrong one is compared with what mistakes would give.

    with or_known(got, {"it is divided by the variance": x / x.var()}):
        expect_close(got, x / x.std(), "scaled(x)")

A check may have parts, which earn equal shares of its points, rounded down:

    for name, wanted in (("zeros", np.zeros(3)), ("ones", np.ones(3))):
        with ask.part(name):
            expect_close(found[name], wanted, name)

What fails outside of a part costs all of the check's points.
The text between `### BEGIN HIDDEN` and `### END HIDDEN` stays with the instructor; of the checks in
it, students see what they show, the points and the hint.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from classroom.grader.channel import Malformed, Message, NumpyArray, Other, decode, encode
from classroom.grader.expressions import Expression

__all__ = ["Ask", "Expression", "Graph", "Kept", "NumpyArray", "Open", "Project", "Raised",
           "Wrong", "described", "expect", "expect_close", "expect_equal", "expect_integers",
           "expect_kind", "looks_like", "or_known"]  # fmt: skip


class Wrong(Exception):
    """An answer that is not right; the message says what is wrong with it."""


class Open(Exception):
    """There is no answer yet."""


class NotStarted(Exception):
    """A process of the grader's does not work, before any of the submission has run in it."""


class Ended(Exception):
    """The submission's process is over; the message says how that came about."""


NOT_PERMITTED = (". Where this is graded, nothing can be shared with other processes: no mmap "
                 "without a file unless it's MAP_PRIVATE, no memfd_create, no sockets")  # fmt: skip


class Raised(Exception):
    """The submission raised something."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.kind, self.message, self.line = body["type"], body["message"], body["line"]
        if self.kind == "PermissionError" and self.message.startswith("[Errno 1]"):
            self.message += NOT_PERMITTED
        super().__init__(f"{self.kind}: {self.message}")


@dataclass(frozen=True)
class Finding:
    """What is wrong with an answer, in words, and the line of the submission, if there is one."""

    text: str
    line: int | None = None


NOT_WRITTEN = "not written yet"
DEEPEST_SHOWN = 3  # levels of containers that a sentence shows


def finding(error: Exception, last: Any = None) -> Finding:
    """What an exception of a check says about the answer, which is the last one that came."""
    match error:
        case Open():
            return Finding(NOT_WRITTEN)
        case Wrong() | Ended():
            return Finding(str(error) or "not right")
        case Raised():
            return Finding(f"raised {error}", error.line)
        case KeyError(args=(key,)) if isinstance(last, dict):
            return Finding(f"there is no {key!r} in {described(last)}")
        case _:
            return Finding(f"{described(last)} does not have the form that the task asks for")


# ---- what is declared ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """One row: it belongs to a task, is worth `points`, and shows something about it."""

    task: str
    points: int
    shows: str
    hint: str
    judge: Callable[[Ask], None]
    hidden: bool = False  # students do not get it, nor what it finds
    trusts: str = ""  # what of it only the submission's own process can know


class Project:
    """A title and checks; `points` is what all of them are worth, with the instructor's own.

    afterwards: what to say to a learner who has all points. times: how many times the usual time
    the submission may take, where it compiles or trains a lot. main: the file of a project that is
    a folder that is loaded. is_alone: tinyframe is there without the devices that come with it.
    copied: what gives, for files handed in, the tasks that earn nothing since they were copied, and
    where from, in words.
    cases: how many there are of each check, in a release, where what is asked has been recorded
    (recorded.py).
    """

    def __init__(
        self,
        title: str,
        points: int = 100,
        afterwards: str = "",
        times: float = 1.0,
        main: str = "",
        is_alone: bool = False,
    ) -> None:
        self.title, self.points, self.afterwards, self.times = title, points, afterwards, times
        self.main, self.is_alone = main, is_alone
        self.copied: Callable[[dict[str, bytes]], dict[str, str]] = lambda files: {}
        self.checks: list[Check] = []
        self.cases: int | None = None

    def check(self, task: str, points: int, shows: str, hint: str, trusts: str = ""):
        def add(judge: Callable[[Ask], None]) -> None:
            self.checks.append(Check(task, points, shows, hint, judge, trusts=trusts))

        return add

    @property
    def elsewhere(self) -> int:
        """Points that are decided by checks that are not here."""
        return self.points - sum(check.points for check in self.checks)


# ---- what a check asks with ----------------------------------------------------------------------


class Answers(Protocol):
    """Who is asked; judge.py."""

    def answer(self, who: str, kind: str, body: Any, arrays: list[np.ndarray]) -> Message: ...


@dataclass(frozen=True)
class Kept:
    """Something that a submission's function returned, and that stays in its process."""

    number: int


Texts = Sequence[str]
Called = str | Kept | Expression  # by name; what was kept; the grader's own text


class Ask:
    """`ask("name", arguments…)` calls the submission's function and gives what it returns.

    Arguments: numbers, texts, lists and dicts of them, arrays (which arrive as Tensors in memory),
    NumpyArrays (which arrive as NumPy arrays), Expressions (which arrive as functions, or as what
    they give), and what was kept. In place of the name, what was kept or an Expression is called
    too. In what comes back, Tensors are NumPy arrays, and NumPy arrays are NumpyArrays; every
    mapping is a dict, and every other sequence a list or tuple; dtypes and ops are texts such as
    "dtypes.float" and "Ops.ADD".
    """

    def __init__(self, answers: Answers, seed: int) -> None:
        self._answers = answers
        self.rng = np.random.default_rng(seed)
        self._parts: dict[str, Finding | None] = {}  # the first that was wrong; None: right
        self._proofs: dict[str, tuple[str, ...]] = {}
        self._kept = 0
        self.last: Any = None  # answer

    @contextmanager
    def part(self, name: str, *proofs: str) -> Iterator[None]:
        """One of several equal shares of the check's points. Asked about several times, it is right
        if it always was. With `proofs`, it only counts where one of those parts is right."""
        found = None
        try:
            yield
        except (Ended, NotStarted):
            raise
        except Exception as error:
            found = finding(error, self.last)
        self._parts[name] = self._parts.get(name) or found
        self._proofs[name] = proofs

    def parts(self) -> dict[str, Finding | None]:
        """What is wrong with each part; None where it is right, and counts."""
        missing = {
            name: Finding(f"this counts as soon as {' or '.join(map(repr, proofs))} is right")
            for name, proofs in self._proofs.items()
            if proofs and all(self._parts.get(proof, True) for proof in proofs)
        }
        return {name: found or missing.get(name) for name, found in self._parts.items()}

    def __call__(self, name: Called, *arguments: Any) -> Any:
        return self._value(self._send("value", name, arguments))

    def keep(self, name: Called, *arguments: Any) -> Kept:
        """What a function returns, kept in the submission's process: a model, or a function with a
        memory of its own. What comes back is only its number, for later questions of this check."""
        result, self._kept = Kept(self._kept), self._kept + 1
        if self._send("keep", name, arguments, keep=result.number).kind == "kept":
            return result
        raise Open

    def graph(self, name: Called, *arguments: Any) -> Graph:
        """What a function returns before it is computed. Arrays among the arguments are inputs 0, 1
        and so on of the graph."""
        message = self._send("graph", name, arguments)
        if message.kind == "graph":
            inputs = [a for a in arguments if isinstance(a, np.ndarray)]
            return Graph(self._answers, message.body, inputs, message.arrays)
        raise Wrong(wrong_kind(f"the result of {called(name)}", self._value(message), "a Tensor"))

    def apart(self, name: Expression, *arguments: Any) -> Any:
        """The same for the grader's own text, in a process in which the submission isn't loaded."""
        return self._value(self._send("value", name, arguments, "bench"))

    def floats(self, *shape: int, low: float = -1.0, high: float = 1.0) -> np.ndarray:
        """float32 with few enough digits that sums and products of some of them are exact."""
        return (np.round(self.rng.uniform(low, high, shape) * 64) / 64).astype(np.float32)

    def integer(self, low: int, high: int) -> int:
        """From low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def composed(self, starts: Texts, steps: Texts, count: int, last: Texts = ("{}",)) -> str:
        """An expression's text: a start, so many different steps and a last one, all drawn. {} in a
        step is what came before it, {k} a whole number."""
        text = str(self.rng.choice(starts))
        for step in [*self.rng.permutation(steps)[:count], self.rng.choice(last)]:
            text = str(step).format(text, k=self.integer(2, 9))
        return text

    def _send(
        self, kind: str, name: Called, arguments: Any, to: str = "answerer", **more: int
    ) -> Message:
        arrays: list[np.ndarray] = []
        sent = [_argument(a, arrays) for a in arguments]
        body = {"function": _argument(name, arrays), "arguments": sent, **more}
        message = self._answers.answer(to, kind, body, arrays)
        expect(message.kind != "missing", f"there is no function {called(name)} in the file")
        if message.kind == "refused":
            raise Wrong(f"{called(name)} returned {message.body}")
        return message

    def _value(self, message: Message) -> Any:
        try:
            value = decode(message.body, message.arrays)
        except Malformed as error:
            raise Wrong(f"what came back is not an answer: {error}") from None
        if value is None or value is ...:
            raise Open
        self.last = value
        return value


def called(name: Called) -> str:
    """A function as a sentence names it."""
    if isinstance(name, str):
        return f"{name}()"
    return name.text if isinstance(name, Expression) else "the function that you returned"


def _argument(value: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(value, Kept):
        return {"kept": value.number}
    if isinstance(value, Expression):
        start = len(arrays)
        arrays += value.arrays.values()
        named = {name: start + n for n, name in enumerate(value.arrays)}
        return {"expression": [value.text, named, value.parameters]}
    if isinstance(value, (list, tuple)):
        return [_argument(v, arrays) for v in value]
    if isinstance(value, dict):
        return {"dict": [[k, _argument(v, arrays)] for k, v in value.items()]}
    return encode(value, arrays)


class Graph:
    """A graph that a submission returned, rebuilt, scheduled and run by the referee."""

    def __init__(
        self, answers: Answers, table: Any, inputs: list[np.ndarray], arrays: list[np.ndarray]
    ) -> None:
        self._answers, self._table = answers, table
        self._inputs, self._arrays = inputs, arrays
        facts = self._ask("facts", inputs).body
        self.kernels: int = facts["kernels"]  # how many it is scheduled to
        self.reads: list[int] = facts["reads"]  # each kernel's most reads of one buffer
        self.ops: dict[str, int] = facts["ops"]  # how often each op is in it
        self.reductions: list[list[Any]] = facts["reductions"]  # [["ADD", axes, shape of what], …]
        self.shape = tuple(facts["shape"])
        self.inputs: list[int] = facts["inputs"]  # the inputs that it reads

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        """Its values: of the inputs that it was built from, or of others of the same shapes."""
        return self._ask("run", list(inputs) or self._inputs).arrays[0]

    def gradient(self, number: int, *inputs: np.ndarray) -> np.ndarray:
        """The gradient of the sum of its values with respect to one of its inputs."""
        chosen = list(inputs) or self._inputs
        found = self._ask("gradient", chosen, target=number).arrays[0]
        return found.reshape(chosen[number].shape)

    def _ask(self, kind: str, inputs: list[np.ndarray], **more: int) -> Message:
        body = {"table": self._table, "inputs": len(inputs), **more}
        flat = [a.reshape(-1) for a in inputs]
        answer = self._answers.answer("referee", kind, body, flat + self._arrays)
        expect(answer.kind != "refused", answer.body)
        return answer


# ---- what a check judges with --------------------------------------------------------------------


def expect(condition: Any, otherwise: str) -> None:
    """Wrong(otherwise), unless the condition is exactly true."""
    if condition is not True and not (isinstance(condition, np.bool_) and condition):
        raise Wrong(otherwise)


def expect_equal(got: Any, wanted: Any, what: str) -> None:
    """The same value. 1, 1.0 and True are told apart; a list and a tuple are not."""
    expect_kind(got, type(wanted), what)
    expect(_same(got, wanted), f"{what} is {described(got)}, and should be {described(wanted)}")


KINDS: dict[type, str] = {
    bool: "True or False", int: "an integer", float: "a float", str: "text", list: "a list",
    tuple: "a tuple", dict: "a dict", np.ndarray: "a Tensor", NumpyArray: "a NumPy array",
}  # fmt: skip


def expect_kind(got: Any, wanted: type, what: str) -> None:
    """Of exactly this type, which is one of KINDS; a list may stand for a tuple, and a tuple for a
    list."""
    either = (list, tuple)
    fits = type(got) in either if wanted in either else type(got) is wanted
    expect(fits, wrong_kind(what, got, KINDS[wanted]))


def wrong_kind(what: str, got: Any, asked_for: str) -> str:
    """The sentence about an answer of the wrong type."""
    return f"{what} is {described(got)}, but should be {asked_for}"


def _same(got: Any, wanted: Any) -> bool:
    if isinstance(wanted, (list, tuple)):
        return (
            isinstance(got, (list, tuple))
            and len(got) == len(wanted)
            and all(map(_same, got, wanted))
        )
    if type(got) is not type(wanted):
        return False
    if isinstance(wanted, dict):
        return got.keys() == wanted.keys() and all(_same(got[k], wanted[k]) for k in wanted)
    if isinstance(wanted, np.ndarray):
        return got.dtype == wanted.dtype and np.array_equal(got, wanted)
    return bool(got == wanted)


def expect_close(
    got: Any, wanted: np.ndarray | float, what: str, rtol: float = 1e-4, kind: type = np.ndarray
) -> None:
    """A Tensor of the same shape, with all values close; NaN is close to nothing. With
    kind=NumpyArray, a NumPy array."""
    wanted = np.asarray(wanted, np.float64)
    expect_kind(got, kind, what)
    if isinstance(got, NumpyArray):
        expect(got.values.dtype.kind in "biuf", f"{what} has dtype {got.values.dtype}")
        got = got.values
    expect(got.shape == wanted.shape, f"{what} has shape {got.shape}, not {wanted.shape}")
    if got.dtype.kind == "f":  # floats of 16 bits are as close as these can be
        rtol = max(rtol, float(np.finfo(got.dtype).eps))
    scale = float(np.max(np.abs(wanted), initial=1.0))
    with np.errstate(all="ignore"):  # one infinity less another is NaN
        apart = np.abs(got.astype(np.float64) - wanted)
    wrong = ~(apart <= rtol * scale)  # where a NaN is, no comparison is true
    if wrong.any():
        place = tuple(map(int, np.argwhere(wrong)[0]))
        at = f"[{', '.join(map(str, place))}]" if place else ""
        raise Wrong(f"{what}{at} is {got[place]:.6g}, and should be {wanted[place]:.6g}")


@contextmanager
def or_known(got: Any, mistakes: dict[str, Any]) -> Iterator[None]:
    """Around what decides whether `got` is right. Where it is not, and it is what a mistake gives,
    that mistake's sentence is told instead: Wrong in either case."""
    try:
        yield
    except Wrong:
        for sentence, value in mistakes.items():
            if looks_like(got, value):
                raise Wrong(sentence) from None
        raise


def looks_like(got: Any, value: Any) -> bool:
    """The same value; of an array, the same shape and about the same numbers."""
    got = got.values if isinstance(got, NumpyArray) else got
    if not isinstance(got, np.ndarray):
        return _same(got, value)
    return got.shape == np.shape(value) and np.allclose(got, value, 1e-3, 1e-4, equal_nan=True)


def expect_integers(got: np.ndarray, what: str) -> None:
    """A Tensor of whole numbers by its dtype, not only by its values."""
    named = f"{what} has dtype {got.dtype}, but should hold integers"
    expect(np.issubdtype(got.dtype, np.integer), named)


def described(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, (NumpyArray, Other)):
        return repr(value)
    if isinstance(value, np.ndarray):
        return f"a Tensor of shape {value.shape} and dtype {value.dtype}"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    text = repr(value)
    if _depth(value) > DEEPEST_SHOWN:
        return f"a {type(value).__name__} of things more than {DEEPEST_SHOWN} levels deep"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _depth(value: Any) -> int:
    """How many levels of containers."""
    if not isinstance(value, (list, tuple, dict)):
        return 0
    inside = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, inside), default=0)
