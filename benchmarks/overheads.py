"""What tinyframe costs before any kernel runs: import, the first result in a new process,
compiling.

Measured: `import tinyframe` beside `import numpy`, and `(Tensor([1, 2, 3]) + 1).tolist()` with a
cold and a warm disk cache, as whole processes in turn less the time of an empty one; and
milliseconds of Python from `.realize()` to source, per kernel, in one process (CPU time, schedule
cache off).
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.measure import Times, processes, python, save

FIRST = "from tinyframe import Tensor; (Tensor([1, 2, 3]) + 1).tolist()"


def start_up(repeats: int) -> dict[str, Times]:
    """Whole processes in turn, each less an interpreter that does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"

        def before(name: str) -> None:
            if name == "first result, cold cache":
                shutil.rmtree(cache, ignore_errors=True)

        env = {
            **os.environ,
            "TINYFRAME_CACHE": str(cache),
            "PYTHONPATH": str(Path(__file__).parents[1]),
        }
        times = processes(
            {
                "nothing": python("pass"),
                "import numpy": python("import numpy"),
                "import tinyframe": python("import tinyframe"),
                "first result, cold cache": python(FIRST),
                "first result, warm cache": python(FIRST),
            },
            repeats,
            env,
            before,
        )
    empty = times.pop("nothing").median
    return {name: Times(name, tuple(s - empty for s in t.seconds)) for name, t in times.items()}


def python_per_kernel(repeats: int) -> dict[str, Times]:
    """CPU seconds of Python from realize() to source, per kernel: new shapes each time, nothing
    cached."""
    from tinyframe import Device, Tensor
    from tinyframe.codegen import get_program

    def programs(n: int):
        def empty(*shape: int) -> Tensor:
            return Tensor.empty(*shape).realize()

        x, w, s = empty(64 + n, 256), empty(256, 128 + n), empty(4, 64, 32 + n)
        image, filters = empty(2, 8, 28, 28 + n), empty(16, 8, 3, 3)
        yield "x + y", lambda: (x + x * 2,)
        yield "softmax", lambda: (x.softmax(),)
        yield "matmul", lambda: (x @ w,)
        yield "attention", lambda: ((s @ s.transpose(1, 2)).softmax() @ s,)
        yield "convolution", lambda: (image.conv2d(filters, padding=1),)

    seconds: dict[str, list[float]] = {}
    renderer = Device["CPU"].renderer
    for n in range(repeats):
        for name, build in programs(n):
            out = build()
            start = time.process_time()
            kernels = [item.ast for item in Tensor.schedule(*out)]
            for ast in kernels:
                get_program(ast, renderer)
            seconds.setdefault(name, []).append((time.process_time() - start) / len(kernels))
    return {name: Times(name, tuple(s[1:])) for name, s in seconds.items()}


def main(quick: bool = False, keep: Path | None = None) -> None:
    repeats = 5 if quick else 15
    start = start_up(repeats)
    print("start-up, milliseconds above an empty interpreter (median, quartiles):")
    for name, t in start.items():
        print(f"  {name:26s} {t.text()}")
    numpy, ours = start["import numpy"], start["import tinyframe"]
    print(
        f"  importing tinyframe takes {ours.median / numpy.median:.1f} times as long as importing "
        "numpy"
    )
    compiling = python_per_kernel(repeats)
    print("Python from realize() to source, CPU milliseconds per kernel:")
    for name, t in compiling.items():
        print(f"  {name:26s} {t.text()}")
    print(
        f"  median of all: {statistics.median(t.median for t in compiling.values()) * 1e3:.1f} ms"
    )
    save("overheads", start | compiling, keep)


if __name__ == "__main__":
    main()
