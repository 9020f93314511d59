"""One row in each library: a program to be timed, and its result after `CALLS` calls.

tinygrad works in a process of its own, for its threads and settings would get in the way of ours;
it is told over a pipe when its turn is, and answers with the seconds.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import multiprocessing
import os
import platform
import shutil
import sys
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from benchmarks.measure import Program
from benchmarks.work import TABLES, Work

CALLS = 3  # of each program before it is timed: TinyJit captures in the second
PATIENCE = 120  # seconds that tinygrad may take for one answer
Results = list[np.ndarray]


class LeftOut(Exception):
    """Why a library does not take part, or not in this row."""


def parts(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def run_ours(work: Work, arrays: tuple[np.ndarray, ...]) -> tuple[Program, Results, Any]:
    """Also the TinyJit, which knows the kernels."""
    from tinyframe import Tensor, TinyJit

    tensors = [Tensor(array).realize() for array in arrays]
    step: Any = TinyJit(work.ours)
    result = [step(*tensors) for _ in range(CALLS)][-1]
    return Program(lambda: step(*tensors)), [r.numpy() for r in parts(result)], step


def run_torch(
    work: Work, arrays: tuple[np.ndarray, ...], shape: tuple[int, ...], threads: int
) -> tuple[Program, Results]:
    if not importlib.util.find_spec("torch"):
        raise LeftOut("not installed")
    import torch

    torch.set_num_threads(threads)
    tensors = [torch.from_numpy(array) for array in arrays]
    ready = {"out": torch.empty(shape)} if work.ready else {}
    result = [work.theirs(*tensors, **ready) for _ in range(CALLS)][-1]
    return Program(lambda: work.theirs(*tensors, **ready)), [
        r.detach().numpy() for r in parts(result)
    ]


def run_numpy(
    work: Work, arrays: tuple[np.ndarray, ...], shape: tuple[int, ...]
) -> tuple[Program, Results]:
    if (into := work.numpy) is None:
        raise LeftOut("not in this row")
    out = np.empty(shape, np.float32)
    into(*arrays, out=out)
    return Program(lambda: into(*arrays, out=out)), [out.copy()]


def differences(results: Results, expected: Results) -> float:
    """The largest difference, as a part of the largest number."""
    return max(
        float(np.max(np.abs(a - b)) / max(np.max(np.abs(b)), 1e-30))
        for a, b in zip(results, expected, strict=True)
    )


# ---- tinygrad -----------------------------------------------------------------------------------


class Tinygrad:
    """A process that runs tinygrad on its CPU device, with `threads` threads at most; where `beam`
    is not 0, tinygrad searches for its kernels' loops with BEAM=beam."""

    def __init__(self, threads: int, beam: int = 0) -> None:
        if not importlib.util.find_spec("tinygrad"):
            raise LeftOut("not installed")
        if not shutil.which("clang"):
            raise LeftOut("it needs clang, which is not on the PATH")
        self.threads, self.beam = threads, beam
        self.process: Any = None

    def run(self, table: str, work: Work) -> tuple[Tinygrad, Results]:
        """Ready for the turns of this row."""
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.pipe, other = context.Pipe()
            self.process = context.Process(target=serve, args=(other, self.threads, self.beam))
            self.process.start()
            other.close()
        return self, self._ask((table, work.name))

    def turn(self) -> float:
        return self._ask("turn")

    def _ask(self, what: Any) -> Any:
        self.pipe.send(what)
        try:
            patience = PATIENCE * (5 if self.beam else 1)
            if not self.pipe.poll(patience):
                raise LeftOut(f"no answer within {patience} s")
            fine, answer = self.pipe.recv()
        except (EOFError, LeftOut) as error:
            self.close()
            raise LeftOut(str(error) or "its process died") from error
        if not fine:
            raise LeftOut(answer)
        return answer

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def serve(pipe: Connection, threads: int, beam: int) -> None:
    """What tinygrad's process does."""
    os.environ["DEV"] = "CPU"
    os.environ["BEAM"] = str(beam)
    os.environ.pop("CC", None)  # a setting of ours too; tinygrad wants clang
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    program = None
    while True:
        try:
            wanted = pipe.recv()
        except EOFError:
            return
        try:
            if wanted == "turn":
                assert program is not None
                pipe.send((True, program.turn()))
            else:
                table, name = wanted
                program, results = run_tinygrad(next(w for w in TABLES[table]() if w.name == name))
                pipe.send((True, results))
        except Exception as error:  # whatever it is, the other libraries go on
            pipe.send((False, f"{type(error).__name__}: {error}".splitlines()[0][:90]))


def run_tinygrad(work: Work) -> tuple[Program, Results]:
    from tinygrad import Device, Tensor, TinyJit

    def body(*tensors: Any) -> Any:
        results = parts(work.ours(*tensors))
        return results[0].realize(*results[1:]), *results[1:]

    jit = TinyJit(body)
    tensors = [Tensor(array).realize() for array in work.inputs()]

    def step() -> Any:
        result = jit(*tensors)
        Device["CPU"].synchronize()
        return result

    result = [step() for _ in range(CALLS)][-1]
    return Program(step), [r.numpy() for r in result]


# ---- where this is ------------------------------------------------------------------------------


def machine() -> dict[str, str]:
    """Processor, system, compilers and versions."""
    from tinyframe.runtime.clang import find_compiler
    from tinyframe.settings import settings

    found = {"processor": processor(), "system": f"{platform.system()} {platform.machine()}",
             "cores": str(os.cpu_count()), "python": platform.python_version(),
             "C compiler": os.path.basename(find_compiler(settings.CC)[0])}  # fmt: skip
    for name in ("numpy", "torch", "tinygrad", "scipy", "matplotlib"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as table:
            names = [line.partition(":")[2].strip() for line in table if "model name" in line]
        return names[0]
    except (OSError, IndexError):
        return platform.processor() or sys.platform
