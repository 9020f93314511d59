"""How each library runs a row: a Ready, made in the library's own process (workers.py)."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import math
import os
import platform
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measure import LeftOut
from benchmarks.rows import TABLES
from benchmarks.work import Arrays, Work
from benchmarks.workers import Ready

CALLS = 3  # of each program before it is timed: TinyJit captures in the second
ABSENT, NOT_HERE = "absent", "–"  # marks: the library is not installed; this row is not for it
Results = list[np.ndarray]
Shape = tuple[int, ...]


def parts(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def differences(results: Results, expected: Results) -> float:
    """The largest difference, as a part of the largest number; NaN where there is one,
    infinity where shapes differ."""
    if [r.shape for r in results] != [r.shape for r in expected]:
        return math.inf
    return max(
        float(np.max(np.abs(a - b)) / max(np.max(np.abs(b)), 1e-30))
        for a, b in zip(results, expected, strict=True)
    )


# ---- the libraries ------------------------------------------------------------------------------


def run_ours(work: Work, arrays: Arrays, shape: Shape | None = None) -> Ready:
    from tinyframe import Tensor, TinyJit

    tensors = [Tensor(array).realize() for array in arrays]
    step: Any = TinyJit(work.ours)
    result = [step(*tensors) for _ in range(CALLS)][-1]
    shapes = [tuple(r.shape) for r in parts(result)]
    return Ready(lambda: step(*tensors), lambda: [r.numpy() for r in parts(result)],
                 {"shapes": shapes, "kernels": kernels(step)})  # fmt: skip


def kernels(step: Any) -> list[dict[str, Any]]:
    """What is known of each kernel that a TinyJit has captured."""
    from tinyframe.run.realize import get_kernel
    from tinyframe.uop.show import summary

    specs = [get_kernel(ast, "CPU").spec for ast in step.captured.kernels]
    return [
        {"name": spec.function, "opts": [repr(opt) for opt in spec.opts], "source": spec.src,
         "loops": summary(spec.ast), "ops": spec.ops_estimate, "bytes": spec.mem_estimate}
        for spec in specs
    ]  # fmt: skip


def run_torch(work: Work, arrays: Arrays, shape: Shape | None) -> Ready:
    if not importlib.util.find_spec("torch"):
        raise LeftOut(ABSENT, "not installed")
    import torch

    tensors = [torch.from_numpy(array) for array in arrays]
    ready = {"out": torch.empty(shape)} if work.ready else {}
    result = [work.theirs(*tensors, **ready) for _ in range(CALLS)][-1]
    return Ready(lambda: work.theirs(*tensors, **ready),
                 lambda: [r.detach().numpy() for r in parts(result)])  # fmt: skip


def run_numpy(work: Work, arrays: Arrays, shape: Shape | None) -> Ready:
    if (into := work.numpy) is None:
        raise LeftOut(NOT_HERE, "not in this row")
    out = np.empty(shape or (), np.float32)
    into(*arrays, out=out)
    return Ready(lambda: into(*arrays, out=out), lambda: [out])


def run_tinygrad(work: Work, arrays: Arrays, shape: Shape | None) -> Ready:
    if not importlib.util.find_spec("tinygrad"):
        raise LeftOut(ABSENT, "not installed")
    if not shutil.which("clang"):
        raise LeftOut(ABSENT, "it needs clang, which is not on the PATH")
    os.environ.pop("CC", None)  # a setting of ours too; tinygrad wants clang
    from tinygrad import Device, Tensor, TinyJit

    def body(*tensors: Any) -> Any:
        results = parts(work.ours(*tensors))
        return results[0].realize(*results[1:]), *results[1:]

    jit = TinyJit(body)
    tensors = [Tensor(array).realize() for array in arrays]

    def step() -> Any:
        result = jit(*tensors)
        Device["CPU"].synchronize()
        return result

    result = [step() for _ in range(CALLS)][-1]
    return Ready(step, lambda: [r.numpy() for r in result])


RUN: dict[str, Callable[[Work, Arrays, Shape | None], Ready]] = {
    "tinyframe": run_ours,
    "numpy": run_numpy,
    "torch": run_torch,
    "tinygrad": run_tinygrad,
}


def ready(library: str, table: str, row: str, shape: Shape | None = None) -> Ready:
    """That row of that table, run by that library. shape: of the result, for who has to make room
    for it beforehand. LeftOut where the library does not take part."""
    (work,) = (work for work in TABLES[table].rows() if work.name == row)
    return RUN[library](work, work.inputs(), shape)


# ---- where this is ------------------------------------------------------------------------------


def machine() -> dict[str, str]:
    """Processor, system, compilers and versions."""
    from tinyframe.runtime.clang import find_compiler
    from tinyframe.runtime.machine import processor_name
    from tinyframe.settings import settings

    found = {"processor": processor_name(), "system": f"{platform.system()} {platform.machine()}",
             "cores": str(os.cpu_count()), "python": platform.python_version(),
             "C compiler": os.path.basename(find_compiler(settings.CC)[0])}  # fmt: skip
    for name in ("numpy", "torch", "tinygrad", "scipy", "matplotlib"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
