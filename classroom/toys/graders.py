"""Three graders, each written in an evening, and each gullible in its own way.

    python -m classroom.toys.graders        and then lines on its stdin: "second FOLDER"

grades `submission.py` in that folder, and writes the points into `points.txt` beside it. That they
run in one process with the submission is one of their faults, and here that's the point. It's a
fork for each submission, so that tinyframe is imported once.
"""

from __future__ import annotations

import atexit
import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tinyframe import Tensor
from tinyframe.uop import Ops

Larger = Callable[[Tensor, Tensor], Any]


def first(larger: Larger) -> int:
    """Asks for the example that stands in the task."""
    result = larger(Tensor([1.0, 5.0, 2.0]), Tensor([4.0, 3.0, 2.5]))
    return 100 if result.tolist() == [4.0, 5.0, 2.5] else 0


def second(larger: Larger) -> int:
    """Asks with fresh numbers, and reads the file: the word max isn't in it."""
    if "max" in Path("submission.py").read_text():
        return 0
    a, b = np.random.rand(2, 6)
    return 100 if np.allclose(larger(Tensor(a), Tensor(b)).numpy(), np.maximum(a, b)) else 0


def third(larger: Larger) -> int:
    """Fresh numbers, and it reads the graph: no MAX, and no numbers but those of a and b."""
    a, b = (Tensor(np.random.rand(6)).realize() for _ in range(2))
    result = larger(a, b)
    for node in result.uop.toposort():
        is_foreign = node.op is Ops.BUFFER and node not in (a.uop.base, b.uop.base)
        if node.op is Ops.MAX or is_foreign:
            return 0
    return 100 if np.allclose(result.numpy(), np.maximum(a.numpy(), b.numpy())) else 0


def main(name: str) -> None:
    """Grades, and writes the points down."""
    grader = {"first": first, "second": second, "third": third}[name]
    submission = import_module("submission")
    points = grader(submission.larger)
    Path("points.txt").write_text(str(points))


def serve() -> None:
    """For each line, a fork that grades; then a line back, once that has ended."""
    sys.path.insert(0, "")
    for line in sys.stdin:
        name, _, folder = line.rstrip("\n").partition(" ")
        if (child := os.fork()) == 0:
            os.chdir(folder)
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(0, 1)
            os.dup2(os.open("said.txt", os.O_WRONLY | os.O_CREAT), 2)
            try:
                main(name)
            except BaseException:
                traceback.print_exc()
            atexit._run_exitfuncs()  # as at the end of any process
            sys.stderr.flush()
            os._exit(0)
        os.waitpid(child, 0)
        print(flush=True)


if __name__ == "__main__":
    serve()
