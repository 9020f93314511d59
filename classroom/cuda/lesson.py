"""What part 8c calls: a kernel on arrays, without a GPU and with one, and tinyframe's beside it.

run = launch(reverse, threads=8, a=range(8))    says what went wrong, if anything did
accesses(run)                                   draws it
side_by_side("tiled_matmul", tiled_matmul)      tinyframe's kernel for the same op
on_a_gpu(tiled_matmul)                          for real, if there is a GPU
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from classroom.cuda.beside import beside
from classroom.cuda.drawn import accesses, fetched
from classroom.cuda.judging import is_open
from classroom.cuda.running import Argument, Launch, NotCompiled, Run, Size, runs
from classroom.cuda.source import Kernel, body_of, parameters_of
from classroom.exercise import judge
from classroom.puzzlebook.game import by_name, exercise_of
from tinyframe import Device, Tensor
from tinyframe.device import Buffer
from tinyframe.dtype import dtypes
from tinyframe.settings import settings
from tinyframe.viz.picture import DrawnPicture

__all__ = ["accesses", "fetched", "launch", "on_a_gpu", "side_by_side"]

# What is put beside tinyframe's kernels until a puzzle is solved: right, and no answer to it.
PLAIN = {
    "axis_sum": """
if (threadIdx.x > 0) return;
float sum = 0;
for (int k = 0; k < columns; k++) sum += a[blockIdx.x * columns + k];
out[blockIdx.x] = sum;
""",
    "tiled_matmul": """
int x = blockIdx.x * 4 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
if (x >= n || y >= n) return;
float sum = 0;
for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
out[y * n + x] = sum;
""",
}
YOURS, PLAINLY = "yours", "a plain one"


def launch(
    text: str,
    *,
    blocks: int | Size = 1,
    threads: int | Size = 8,
    races: bool = True,
    **arguments: Any,
) -> Run | None:
    """What a kernel does with these arrays and numbers, and a sentence if it must not do that; None
    if nothing has been written yet.

    `out` is as large as the first array, unless it is given too. A whole number is an `int` of the
    kernel. races: whether a race stops it; without that, threads simply take turns.
    """
    if is_open(text):
        print("Nothing to draw yet: the kernel hasn't been written.")
        return None
    given: dict[str, Argument] = {
        name: int(value) if isinstance(value, (int, np.integer)) else np.array(value, np.float32)
        for name, value in arguments.items()
    }
    first = next(value for value in given.values() if isinstance(value, np.ndarray))
    given = {"out": np.zeros_like(first), **given}
    kernel = Kernel(parameters_of(given), body_of(text))
    grid, block = (x if isinstance(x, tuple) else (x,) for x in (blocks, threads))
    try:
        (run,) = runs(kernel, [Launch(grid, block, given)], races=races)
    except NotCompiled as error:
        where = f" in line {error.line}" if error.line else ""
        raise ValueError(f"the compiler doesn't understand it{where}: {error}") from None
    if run.trouble is not None:
        print(run.trouble.text.replace("`", ""))
    return run


# ---- the learner's answer, or a plain one --------------------------------------------------------


def yours_or_plain(name: str, text: Any) -> tuple[str, str]:
    """The text, if it solves the puzzle, else a plain kernel that computes the same; and what it is
    called. Says so."""
    if judge(exercise_of(by_name()[name]), text).state == "right":
        print("With your kernel.")
        return str(text), YOURS
    print("With a plain kernel, until yours solves the puzzle.")
    return PLAIN[name], PLAINLY


def side_by_side(name: str, text: Any) -> DrawnPicture:
    """The learner's kernel for a puzzle, or a plain one, and tinyframe's for the same op on 64 × 64
    numbers."""
    example = EXAMPLES[name]
    written, called = yours_or_plain(name, text)
    inputs = {each: _numbers(64, 64, seed) for seed, each in enumerate(example.inputs)}
    launched = example.launch(64, inputs)
    kernel = Kernel(parameters_of(launched.arguments), body_of(written))
    return beside(kernel, launched, inputs, example.compute, titles=(called, "tinyframe's"))


@dataclass(frozen=True)
class Example:
    """A puzzle's op on larger matrices: n × n numbers in each of its inputs."""

    inputs: Sequence[str]
    number: str  # what the kernel calls n
    compute: Callable[..., Tensor]
    grid: Callable[[int], Size]
    block: Size
    out: Callable[[int], Size]

    def launch(self, n: int, inputs: Mapping[str, np.ndarray]) -> Launch:
        out = np.zeros(self.out(n), np.float32)
        return Launch(self.grid(n), self.block, {"out": out, **inputs, self.number: n})


EXAMPLES = {
    "axis_sum": Example(
        ("a",), "columns", lambda a: a.sum(axis=1), lambda n: (n,), (16,), lambda n: (n,),
    ),
    "tiled_matmul": Example(
        ("a", "b"), "n", lambda a, b: a @ b, lambda n: (-(-n // 4), -(-n // 4)), (4, 4),
        lambda n: (n, n),
    ),
}  # fmt: skip


def _numbers(rows: int, columns: int, seed: int) -> np.ndarray:
    """Small whole numbers as floats: their sums are exact in any order."""
    return np.random.default_rng(seed).integers(-4, 5, (rows, columns)).astype(np.float32)


# ---- a real one ----------------------------------------------------------------------------------


def on_a_gpu(text: Any, n: int = 100, timed: int = 1024) -> None:
    """Runs the tiled matmul on this machine's GPU by way of tinyframe, and says how that went;
    where there is none, says why."""
    written, _ = yours_or_plain("tiled_matmul", text)
    if why := Device.why_not("CUDA"):
        print("There's no GPU here that tinyframe can use, so the emulator has the last word.")
        print(f"({' '.join(why.split())[:160]} …)")
        return
    a, b = _numbers(n, n, 0), _numbers(n, n, 1)
    small = EXAMPLES["tiled_matmul"].launch(n, {"a": a, "b": b})
    kernel = Kernel(parameters_of(small.arguments), body_of(written))
    got, _ = launched(kernel, small)
    right = "right" if np.array_equal(got["out"], a @ b) else "WRONG"
    if settings.CUDA_EMULATE:
        print(f"CUDA is tinyframe's emulator here, which stands in for a GPU. {n} × {n}: {right}.")
        return
    a, b = _numbers(timed, timed, 0), _numbers(timed, timed, 1)
    given = EXAMPLES["tiled_matmul"].launch(timed, {"a": a, "b": b})
    seconds = min(launched(kernel, given)[1] for _ in range(3))
    rate = 2 * timed**3 / seconds / 1e9
    print(f"On the GPU of this machine, {n} × {n}: {right}.")
    print(f"{timed} × {timed} takes it {seconds * 1e3:.2f} ms, which is {rate:.0f} GFLOP/s")


def launched(kernel: Kernel, given: Launch) -> tuple[dict[str, np.ndarray], float]:
    """A launch on tinyframe's CUDA device: the buffers after it, and the seconds it took.
    DeviceUnavailable where there is no GPU."""
    device = Device["CUDA"]
    text = kernel.watched if settings.CUDA_EMULATE else kernel.cuda
    runner = device.runner("kernel", device.compiler.compile(text))
    values, buffers = list[int](), dict[str, Buffer]()
    for name, value in given.arguments.items():
        if isinstance(value, np.ndarray):
            data = np.ascontiguousarray(value, np.float32).tobytes()
            buffers[name] = Buffer("CUDA", value.size, dtypes.float, initial_value=data)
        else:
            values.append(value)
    grid, block = ((*size, 1, 1)[:3] for size in (given.grid, given.block))
    memory = [buffer._buf for buffer in buffers.values()]
    seconds = runner(*memory, global_size=grid, local_size=block, vals=tuple(values), wait=True)
    arrays = {
        name: buffer.numpy().reshape(given.arguments[name].shape)  # type: ignore[union-attr]
        for name, buffer in buffers.items()
    }
    return arrays, float(seconds)
