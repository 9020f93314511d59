"""Each library in a process of its own, of which only one runs at any time.

The threads of a library go on looking for work after a call has returned (some 100 ms, for most
implementations of OpenMP), and libraries that shared a process, or merely ran at the same time,
would take cores from each other. So a Worker, which is such a process, stands still (SIGSTOP) as
soon as it has answered, and goes on (SIGCONT) when it is asked again:

    with Worker("torch", threads=2) as torch, Worker("tinyframe", threads=2) as ours:
        torch.prepare(function_of_a_module, *arguments)   # it gives a Ready
        ours.prepare(...)
        times = interleaved({"torch": torch, "ours": ours})

When a worker crashes, raises an exception, or never answers, that is a LeftOut here, and the next
row starts a new process. No worker outlives this process, however it ends: `with` kills them,
stopped or not, and where nothing can be done any more (SIGKILL), Linux does it (PR_SET_PDEATHSIG).
Elsewhere the system hangs up those that are stopped, as it does with every stopped process group
that loses its last tie to its session, and those that run find nobody to answer to.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

from benchmarks.measure import LeftOut, Program

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 120  # seconds until an answer counts as none: a cold compile of a training step takes 10
PR_SET_PDEATHSIG = 1  # of linux/prctl.h: the signal to get when the process that started us ends
# A process that has ended: its pipe is closed, it gets no signals (macOS says PermissionError).
GONE = (EOFError, ConnectionError, ProcessLookupError, PermissionError)


@dataclass(frozen=True)
class Ready:
    """A program in a worker: what is timed, its results on request, what there is to know, and how
    to wait until all that was started is done."""

    run: Callable[[], object]
    results: Callable[[], Any] = lambda: None
    facts: dict[str, Any] = field(default_factory=dict)
    wait: Callable[[], object] = lambda: None


class Worker:
    """A process that prepares programs and times them; it runs only while it is asked something.

    threads: how many cores it gets, and how many threads its libraries are told to use.
    patience: seconds that an answer may take. Functions that it is to run are named by module, so
    they may not be lambdas, and what they take and give is pickled.
    """

    def __init__(
        self,
        name: str,
        threads: int,
        environment: Mapping[str, str] | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self.name, self.threads, self.patience = name, threads, patience
        self.environment = dict(environment or {})
        self.process: subprocess.Popen | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- what it can be asked; each raises LeftOut where no answer comes ----

    def prepare(self, function: Callable[..., Ready], *arguments: Any) -> dict[str, Any]:
        """Makes the program of the turns to come, in place of the one before; gives its facts."""
        return self._ask("prepare", function, *arguments)

    def results(self) -> Any:
        """What the program has computed."""
        return self._ask("results")

    def turn(self) -> float:
        """Seconds of one call of the program."""
        return self._ask("turn")

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the function gives there."""
        return self._ask("call", function, *arguments)

    def close(self) -> None:
        """Ends the process, whatever it does; the next question starts a new one."""
        if self.process is not None:
            if self.process.returncode is None:
                with contextlib.suppress(*GONE):
                    os.killpg(self.process.pid, signal.SIGKILL)  # also what it has started
                self.process.wait()
            self.pipe.close()
            self.process = None

    # ---- the process ----

    def _ask(self, *question: Any) -> Any:
        if self.process is None:
            self._start()
        try:
            answer = self._answer(question)
        except GONE as error:
            raise LeftOut("crashed", self._death()) from error
        except BaseException:  # Ctrl-C, or it was too slow: nobody knows what it is doing
            self.close()
            raise
        if isinstance(answer, LeftOut):
            raise answer
        return answer

    def _answer(self, question: tuple[Any, ...]) -> Any:
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGCONT)
        self.pipe.send(question)
        if not self.pipe.poll(self.patience):
            raise LeftOut("no answer", f"no answer within {self.patience:g} s")
        answer = self.pipe.recv()
        os.killpg(self.process.pid, signal.SIGSTOP)
        _, status = os.waitpid(self.process.pid, os.WUNTRACED)  # until all its threads stand still
        if not os.WIFSTOPPED(status):
            self.process.returncode = os.waitstatus_to_exitcode(status)
            raise EOFError
        return answer

    def _start(self) -> None:
        self.pipe, other = multiprocessing.Pipe()
        limits = dict.fromkeys(
            ("THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
            str(self.threads),
        )
        code = f"from benchmarks.workers import serve; serve({other.fileno()}, {self.threads})"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, **limits, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=2,  # what a library prints is no part of the report
            pass_fds=(other.fileno(),),
            process_group=0,
        )
        other.close()

    def _death(self) -> str:
        """How the process ended, in words; it is over afterwards."""
        assert self.process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=5)
        code = self.process.returncode
        self.close()
        if code is None:
            return "its process closed the connection"
        if code < 0:
            return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with exit code {code}"


def serve(descriptor: int, threads: int) -> None:
    """What a worker's process does: answers questions, on `threads` cores, until none can come."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    pipe = Connection(descriptor)
    prepared = _Prepared()
    while True:
        try:
            what, *content = pipe.recv()
        except EOFError:
            return
        try:
            answer = getattr(prepared, what)(*content)
        except LeftOut as why:
            answer = why
        except Exception as error:  # whatever it is, the other libraries go on
            said = f"{type(error).__name__}: {error}".splitlines()[0]
            answer = LeftOut("failed", said[:120])
        pipe.send(answer)


class _Prepared:
    """The program that a worker's process has ready; a method for each question."""

    program: Program | None = None
    ready: Ready | None = None

    def prepare(self, function: Callable[..., Ready], *arguments: Any) -> dict[str, Any]:
        self.program = self.ready = None  # its memory is free before the next one takes some
        self.ready = function(*arguments)
        self.program = Program(self.ready.run, self.ready.wait)
        return self.ready.facts

    def results(self) -> Any:
        assert self.ready is not None
        return self.ready.results()

    def turn(self) -> float:
        assert self.program is not None
        return self.program.turn()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return function(*arguments)
