"""Programs that are interrupted at any line of tinyframe, and then asked what they hold.

An interrupt is a KeyboardInterrupt raised where a line of tinyframe is about to run: more places
than Ctrl-C has, which comes between two calls. Whatever it hits, each value is afterwards the old
one or the new one, never lost and never changed twice; what changes together (the parameters and
state of an optimizer's step, the gradients of a `backward()`) is all old or all new; and the same
call, made again, does what it would have done.

By hand, for as long as you like:

    python -m tests.fuzz.interrupts --minutes 60 --seed 1
"""

from __future__ import annotations

import ctypes
import linecache
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import tinyframe
from tests.fuzz.memory import hunt
from tinyframe import Context, Tensor, TinyJit, nn

FOLDER = str(Path(tinyframe.__file__).parent)
START = np.arange(1.0, 5.0, dtype=np.float32)


@dataclass
class Program:
    """make: what a program begins with. act: what is interrupted. values: all that it holds, by
    name; those of a group change together."""

    make: Callable[[], Any]
    act: Callable[[Any], Any]
    values: Callable[[Any], dict[str, list[Tensor | None]]]


class Interrupted:
    """Raises KeyboardInterrupt at the line number `at` of tinyframe that runs inside, counted from
    1 on; `lines` is how many ran. With `at` None it only counts, and notes each place.

    again: so many lines later, a second one comes. Then both come as from a user who is impatient:
    where Python looks for signals next.
    """

    def __init__(self, at: int | None = None, again: int = 0) -> None:
        self.at, self.again, self.lines, self.places = at, again, 0, []

    def _trace(self, frame: Any, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(FOLDER):
            return None
        if event == "line" and not _is_with(frame):
            self.lines += 1
            if self.at is None:
                self.places.append((frame.f_code, frame.f_lineno))
            elif self.lines == self.at:
                self.place = f"{frame.f_code.co_filename[len(FOLDER) + 1 :]}:{frame.f_lineno}"
                if not self.again:
                    raise KeyboardInterrupt
            if self.again and self.lines in (self.at, (self.at or 0) + self.again):
                thread, error = ctypes.c_ulong(threading.get_ident()), KeyboardInterrupt
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(error))
        return self._trace

    def __enter__(self) -> Interrupted:
        self._before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: Any) -> None:
        sys.settrace(self._before)


def _is_with(frame: Any) -> bool:
    """Whether a `with` begins or ends. No signal is looked for at its end, and Python 3.11 confuses
    its stack where a trace raises there."""
    source = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return source.lstrip().startswith("with ")


def shown(groups: dict[str, list[Tensor | None]]) -> dict[str, Any]:
    return {
        name: [None if t is None else t.detach().numpy().tolist() for t in group]
        for name, group in groups.items()
    }


# ---- what is interrupted -------------------------------------------------------------------------


def _assign(t: Tensor) -> None:
    t.assign(t + 1).realize()


def _setitem(t: Tensor) -> None:
    t[1:3] = t[1:3] * 2
    t.realize()


def _in_turn(t: Tensor) -> None:
    t.assign(t * 2 + 3)
    t.realize(t + 1, t.sum())


class Training:
    """A layer, an optimizer, and one batch."""

    def __init__(self, optimizer: str, momentum: bool = False, captured: bool = False) -> None:
        self.w = Tensor(START.reshape(2, 2) / 8, requires_grad=True).realize()
        self.b = Tensor([0.5, -0.5], requires_grad=True).realize()
        options = {"momentum": 0.9} if momentum else {}
        self.optimizer = getattr(nn.optim, optimizer)([self.w, self.b], lr=0.125, **options)
        self.x, self.y = Tensor([[1.0, 2.0], [3.0, -1.0]]).realize(), Tensor([[1.0, 0.0]]).realize()
        self.call = TinyJit(self.body) if captured else self.body
        for _ in range(3 if captured else 1):
            self.call()

    def body(self) -> Tensor:
        self.optimizer.zero_grad()
        loss = (self.x @ self.w + self.b - self.y).square().sum()
        loss.backward()
        self.optimizer.step()
        return loss.realize()

    def values(self) -> dict[str, list[Tensor | None]]:
        kept = [v for v in nn.state.get_parameters(self.optimizer) if v is not self.optimizer.lr]
        return {"step": kept}

    def only_backward(self) -> None:
        self.loss = (self.x @ self.w + self.b - self.y).square().sum()
        self.loss.backward()

    def gradients(self) -> dict[str, list[Tensor | None]]:
        return {"gradients": [self.w.grad, self.b.grad], "parameters": [self.w, self.b]}


def _tensor() -> Tensor:
    return Tensor(START).realize()


def _alone(t: Tensor) -> dict[str, list[Tensor | None]]:
    return {"t": [t]}


class Captured:
    """A call that is captured when it is interrupted."""

    def __init__(self) -> None:
        self.t, self.x = _tensor(), Tensor(START).realize()
        self.step = TinyJit(self._step)
        self.step(self.x)

    def _step(self, x: Tensor) -> Tensor:
        self.t.assign(self.t * 2 + x)
        return (self.t + 1).realize(self.t)

    def act(self) -> None:
        self.y = self.step(self.x)


class Waiting:
    """Kernels that were scheduled, and run when a value is needed."""

    def __init__(self) -> None:
        self.t, self.u = _tensor(), _tensor()

    def act(self) -> None:
        self.t.assign((self.t.sum() + 1) * self.t)
        self.u.assign(self.u * 2)
        self.t.schedule(self.u)
        self.u.tolist()


PROGRAMS = {
    "assign": Program(_tensor, _assign, _alone),
    "in turn": Program(_tensor, _in_turn, _alone),
    "capture": Program(Captured, Captured.act, lambda s: {"t": [s.t]}),
    "waiting": Program(Waiting, Waiting.act, lambda s: {"t": [s.t], "u": [s.u]}),
    "setitem": Program(_tensor, _setitem, _alone),
    "step": Program(lambda: Training("SGD", True), Training.body, Training.values),
    "adam": Program(lambda: Training("Adam"), Training.body, Training.values),
    "captured": Program(lambda: Training("SGD", True, True), lambda s: s.call(), Training.values),
    "backward": Program(lambda: Training("SGD"), Training.only_backward, Training.gradients),
}


def _agree(found: list, expected: list) -> bool:
    if [f is None for f in found] != [e is None for e in expected]:
        return False
    return all(
        f is None or np.allclose(f, e, 1e-5, 1e-6) for f, e in zip(found, expected, strict=True)
    )


def complaint(name: str, at: int, again: int = 0) -> str | None:
    """What is wrong after an interrupt at this line of a program; None where nothing is."""
    program = PROGRAMS[name]
    expected = []  # after no call, one, two, three
    state = program.make()
    expected.append(shown(program.values(state)))
    for _ in range(3):
        program.act(state)
        expected.append(shown(program.values(state)))
    state = program.make()
    try:
        with Interrupted(at, again) as interrupted:
            program.act(state)
        return None
    except KeyboardInterrupt:
        where = f"{name} interrupted at line {at}, {interrupted.place}: "
    try:
        reached = []
        for group, found in shown(program.values(state)).items():
            fits = [n for n in (0, 1) if _agree(found, expected[n][group])]
            if not fits:
                old, new = expected[0][group], expected[1][group]
                return f"{where}{group} is {found}, and neither {old} nor {new}"
            reached.append(fits)
        program.act(state)
        for group, found in shown(program.values(state)).items():
            fits = reached.pop(0)
            if not any(_agree(found, expected[n + 1][group]) for n in fits):
                return f"{where}once more, {group} is {found} after {fits}"
    except Exception as error:
        return f"{where}{type(error).__name__}: {error}"
    return None


def lines_of(name: str) -> list[int]:
    """The numbers of a program's lines, the first and the last time that each of them runs."""
    program = PROGRAMS[name]
    for _ in range(2):  # what is compiled and kept runs once
        state = program.make()
        with Interrupted() as counted:
            program.act(state)
    first = {place: n for n, place in reversed(list(enumerate(counted.places, 1)))}
    last = {place: n for n, place in enumerate(counted.places, 1)}
    return sorted({*first.values(), *last.values()})


def attempt(seed: int) -> None:
    random = Random(seed)
    name, again = random.choice(list(PROGRAMS)), random.choice([0, 0, 0, 1, 3, 10, 30, 100, 300])
    with Context(DEVICE=random.choice(["CPU", "PYTHON"])):
        said = complaint(name, random.choice(lines_of(name)), again)
    assert said is None, said


def main() -> None:
    hunt(__doc__ or "", attempt, "interrupts lose nothing")


if __name__ == "__main__":
    main()
