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
from classroom.cuda.source import Kernel, body_of
from classroom.exercise import judge
from classroom.puzzlebook.game import by_name, exercise_of
from tinyframe import Device, Tensor
from tinyframe.device import Buffer
from tinyframe.dtype import dtypes
from tinyframe.settings import settings
from tinyframe.viz.picture import DrawnPicture

__all__ = ["accesses", "fetched", "launch", "on_a_gpu", "side_by_side"]

# The worked answers of the puzzles that tinyframe's kernels are put beside.
OURS = {
    "axis_sum": """
__shared__ float s[16];
int t = threadIdx.x;
float sum = 0;
for (int k = t; k < columns; k += 16) sum += a[blockIdx.x * columns + k];
s[t] = sum;
__syncthreads();
for (int half = 8; half > 0; half /= 2) {
  if (t < half) s[t] += s[t + half];
  __syncthreads();
}
if (t == 0) out[blockIdx.x] = s[0];
""",
    "tiled_matmul": """
__shared__ float at[4][4], bt[4][4];
int x = threadIdx.x, y = threadIdx.y;
int row = blockIdx.y * 4 + y, column = blockIdx.x * 4 + x;
float sum = 0;
for (int k = 0; k < n; k += 4) {
  at[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
  bt[y][x] = k + y < n && column < n ? b[(k + y) * n + column] : 0;
  __syncthreads();
  for (int j = 0; j < 4; j++) sum += at[y][j] * bt[j][x];
  __syncthreads();
}
if (row < n && column < n) out[row * n + column] = sum;
""",
}


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
    kinds = [f"{_kind(name, value)} {name}" for name, value in given.items()]
    kernel = Kernel(", ".join(kinds), body_of(text))
    grid, block = (x if isinstance(x, tuple) else (x,) for x in (blocks, threads))
    try:
        (run,) = runs(kernel, [Launch(grid, block, given)], races=races)
    except NotCompiled as error:
        where = f" in line {error.line}" if error.line else ""
        raise ValueError(f"the compiler doesn't understand it{where}: {error}") from None
    if run.trouble is not None:
        print(run.trouble.text.replace("`", ""))
    return run


def _kind(name: str, value: Argument) -> str:
    if isinstance(value, int):
        return "int"
    return "float*" if name == "out" else "const float*"


# ---- the learner's answer, or ours ---------------------------------------------------------------


def yours_or_ours(name: str, text: Any) -> str:
    """The text if it solves the puzzle, else ours; says which."""
    if judge(exercise_of(by_name()[name]), text).state == "right":
        print("With your kernel.")
        return str(text)
    print("With our kernel, until yours solves the puzzle.")
    return OURS[name]


def side_by_side(name: str, text: Any) -> DrawnPicture:
    """The learner's kernel for a puzzle, or ours, and tinyframe's for the same op on 64 × 64
    numbers."""
    example = EXAMPLES[name]
    kernel = Kernel(example.parameters, body_of(yours_or_ours(name, text)))
    inputs = {each: _numbers(64, 64, seed) for seed, each in enumerate(example.inputs)}
    return beside(kernel, example.launch(64, inputs), inputs, example.compute)


@dataclass(frozen=True)
class Example:
    """A puzzle's op on larger matrices: n × n numbers in each of its inputs."""

    parameters: str
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
        "float* out, const float* a, int columns", ("a",), "columns",
        lambda a: a.sum(axis=1), lambda n: (n,), (16,), lambda n: (n,),
    ),
    "tiled_matmul": Example(
        "float* out, const float* a, const float* b, int n", ("a", "b"), "n",
        lambda a, b: a @ b, lambda n: (-(-n // 4), -(-n // 4)), (4, 4), lambda n: (n, n),
    ),
}  # fmt: skip


def _numbers(rows: int, columns: int, seed: int) -> np.ndarray:
    """Small whole numbers as floats: their sums are exact in any order."""
    return np.random.default_rng(seed).integers(-4, 5, (rows, columns)).astype(np.float32)


# ---- a real one ----------------------------------------------------------------------------------


def on_a_gpu(text: Any, n: int = 100, timed: int = 1024) -> None:
    """Runs the tiled matmul on this machine's GPU by way of tinyframe, and says how that went;
    where there is none, says why."""
    kernel = Kernel(EXAMPLES["tiled_matmul"].parameters,
                    body_of(yours_or_ours("tiled_matmul", text)))  # fmt: skip
    if why := Device.why_not("CUDA"):
        print("There's no GPU here that tinyframe can use, so the emulator has the last word.")
        print(f"({' '.join(why.split())[:160]} …)")
        return
    a, b = _numbers(n, n, 0), _numbers(n, n, 1)
    got, _ = launched(kernel, EXAMPLES["tiled_matmul"].launch(n, {"a": a, "b": b}))
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
    runner = device.runner("kernel", device.compiler.compile(kernel.cuda))
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
