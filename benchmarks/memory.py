"""Peak memory of a training step of the CNN of the texts (batch of 128, Adam), beside PyTorch.

Each in a process of its own, which imports everything, makes the batch, notes the most memory that
it has ever had (VmHWM, the baseline), and then builds the model and trains it for four steps.
Measured is by how much the maximum has grown: parameters, gradients, Adam's two states, activations
and all that lies between, and what the framework itself keeps, graphs and compiled kernels. Of
tinyframe, whose kernels come from a warm disk cache, there is also what its Buffers held at most.
"""

from __future__ import annotations

import importlib.util
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
BATCH, STEPS = 128, 4


def batch() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.random((BATCH, 1, 28, 28), np.float32)
    return x, rng.integers(0, 10, BATCH, dtype=np.int32)


def most_memory() -> int:
    """Bytes: the most that this process has had in memory."""
    try:  # ru_maxrss of a process that Linux forked begins at what its parent had
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) * 1024  # type: ignore[index]
    except OSError:
        pass
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def train_ours() -> dict[str, int]:
    from examples.mnist_cnn import Model
    from tinyframe import GlobalCounters, Tensor, TinyJit
    from tinyframe.nn.optim import Adam
    from tinyframe.nn.state import get_parameters

    x, y = (Tensor(array).realize() for array in batch())
    (x + 1).sum().item()  # the device is there, its compiler found
    GlobalCounters.reset()
    before, held = most_memory(), GlobalCounters.mem_used
    model = Model()
    optimizer = Adam(get_parameters(model))

    @TinyJit
    def step(x: Tensor, y: Tensor) -> Tensor:
        with Tensor.train():
            optimizer.zero_grad()
            loss = model(x).cross_entropy(y).backward()
            optimizer.step()
            return loss.realize()

    for _ in range(STEPS):
        step(x, y).item()
    return {"grown": most_memory() - before, "buffers": GlobalCounters.mem_peak - held}


def train_theirs() -> dict[str, int]:
    import torch
    from torch import nn

    x, y = (torch.tensor(array) for array in batch())
    (x + 1).sum().item()
    before = most_memory()
    model = nn.Sequential(
        nn.Conv2d(1, 32, 5), nn.ReLU(), nn.Conv2d(32, 32, 5), nn.ReLU(),
        nn.BatchNorm2d(32), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(),
        nn.BatchNorm2d(64), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(576, 10),
    )  # fmt: skip
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y.long())
        loss.backward()
        optimizer.step()
        loss.item()
    return {"grown": most_memory() - before}


def measured(name: str) -> dict[str, int]:
    """What `train_ours` or `train_theirs` gives in a new process."""
    code = f"import json, benchmarks.memory as m; print(json.dumps(m.{name}()))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def main(quick: bool = False, keep: Path | None = None) -> None:
    repeats = 3 if quick else 7
    names = ["train_ours"]
    if importlib.util.find_spec("torch"):
        names.append("train_theirs")
    measured("train_ours")  # compiles
    runs: list[dict[str, Any]] = [{name: measured(name) for name in names} for _ in range(repeats)]

    def median(name: str, what: str) -> float:
        return statistics.median(run[name][what] for run in runs) / 2**20

    print(f"peak memory of a training step of the CNN, batch of {BATCH}, above what was there "
          "before the model:")  # fmt: skip
    ours, buffers = median("train_ours", "grown"), median("train_ours", "buffers")
    print(f"  tinyframe                  {ours:8.1f} MiB, of which Buffers {buffers:.1f} MiB")
    if len(names) == 2:
        theirs = median("train_theirs", "grown")
        print(f"  PyTorch                    {theirs:8.1f} MiB")
        print(f"  tinyframe needs {ours / theirs:.2f} times as much (asked: at most 1.2)")
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / "memory.json").write_text(json.dumps(runs, indent=1))


if __name__ == "__main__":
    main("--quick" in sys.argv)
