"""Part 8c, a GPU without a GPU: the exercises, and what an answer has to do."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from classroom.ask import predicts
from classroom.cuda.drawn import WARP, groups, lines_of
from classroom.cuda.judging import Inputs, Judgement, Task
from classroom.cuda.lesson import launch
from classroom.cuda.running import Run
from classroom.exercise import Exercise, Wrong

WIDE = 16  # threads in a block of 8.13

REVERSE = """
__shared__ float s[8];
int t = threadIdx.x;
s[t] = a[t];
out[t] = s[7 - t];
"""


def right_in_turns() -> int:
    """How many of eight numbers are reversed if threads run one after the other."""
    a = np.arange(1, 9, dtype=np.float32)
    run = launch(REVERSE, threads=8, races=False, a=a)
    assert run is not None
    return int((run.arrays["out"] == a[::-1]).sum())


def lines_that_move() -> tuple[int, ...]:
    """For a[t + 1], a[4 * t] and a[31 - t]: the lines of memory that a warp gets."""
    found = []
    for index in ("t + 1", "4 * t", "31 - t"):
        text = f"int t = threadIdx.x;\nout[t] = a[{index}];"
        run = launch(text, threads=WARP, out=np.zeros(WARP), a=np.zeros(4 * WARP))
        assert run is not None
        (group,) = groups(run, "a", is_write=False)
        found.append(len(lines_of(group)))
    return tuple(found)


# ---- 8.13: three faults --------------------------------------------------------------------------


def largest(a: np.ndarray, n: int) -> np.ndarray:
    return np.array([part.max() for part in np.split(a, range(WIDE, n, WIDE))])


def cold_days(rng: np.random.Generator) -> Inputs:
    """Numbers below zero, so that a 0 that fills up a block is the largest."""
    n = int(rng.integers(1, 5 * WIDE))
    return {"a": -rng.integers(1, 90, n).astype(np.float32), "n": n}


REPAIR = Task(
    "float* out, const float* a, int n",
    {"a": -np.arange(3, 23, dtype=np.float32), "n": 20},
    largest,
    cold_days,
    block=lambda **_: (WIDE,),
    grid=lambda n, **_: (ceil(n / WIDE),),
    one_each=False,
    most_shared=13,
)


def repaired(answer: Any) -> str:
    """The largest element of each block, by a tree, without a fault."""
    Judgement(REPAIR).check(answer)
    return (
        "No race, nothing out of bounds, and everybody comes to every barrier. All three faults "
        "could have stayed hidden on a GPU for a long time."
    )


# ---- 8.15: a transpose that coalesces ------------------------------------------------------------


def a_matrix(rng: np.random.Generator) -> Inputs:
    rows, columns = (int(x) for x in rng.integers(20, 80, 2))
    a = rng.integers(-9, 21, (rows, columns)).astype(np.float32)
    return {"a": a, "rows": rows, "columns": columns}


TRANSPOSE = Task(
    "float* out, const float* a, int rows, int columns",
    {"a": np.arange(40 * 70, dtype=np.float32).reshape(40, 70), "rows": 40, "columns": 70},
    lambda a, **_: a.T.copy(),
    a_matrix,
    block=lambda **_: (WARP, WARP),
    grid=lambda rows, columns, **_: (ceil(columns / WARP), ceil(rows / WARP)),
)
MOST_LINES = 2  # of a warp: 32 neighbours fill one line, or lie across two


def scattered(run: Run, name: str, is_write: bool) -> int:
    """The most lines that one warp's accesses to an array are in."""
    return max(len(lines_of(group)) for group in groups(run, name, is_write))


def transposes(answer: Any) -> str:
    """a.T, where neither the loads nor the stores of a warp are scattered over memory."""
    judgement = Judgement(TRANSPOSE)
    judgement.check(answer)
    run = judgement.run
    assert run is not None
    worst = {"reads `a`": scattered(run, "a", False), "writes `out`": scattered(run, "out", True)}
    if far := [(does, lines) for does, lines in worst.items() if lines > MOST_LINES]:
        both = " What it " + far[1][0].replace("writes", "writes to") + " is scattered, too." \
            if len(far) > 1 else ""  # fmt: skip
        does, lines = far[0]
        raise Wrong(
            f"The numbers are right. But where a warp {does}, its accesses are spread over {lines} "
            f"lines of memory. With neighbouring threads at neighbouring elements it takes "
            f"{MOST_LINES} at most.{both}",
            "a matrix of 40 × 70",
        )
    return (
        f"At most {max(worst.values())} lines for a warp, on the way in and on the way out. The "
        "crossing happens in shared memory, where it costs next to nothing."
    )


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "8.12",
        "gpu-in-turns",
        "How many of eight are right without a barrier",
        predicts(right_in_turns),
        (
            "Thread 0 runs to its end before thread 1 begins. Which element of `s` does it read, "
            "and has anybody written it by then?",
            "Thread `t` reads `s[7 - t]`, which thread `7 - t` writes. That thread has run already "
            "if its number is smaller.",
        ),
        shown_by="the next cell",
        because="Thread 4 reads what thread 3 wrote, so it's right, and so are 5, 6 and 7. The "
        "first four read what nobody has written yet.",
    ),
    Exercise(
        "8.13",
        "gpu-three-faults",
        "Repair a kernel with three faults",
        repaired,
        (
            "Run it, repair what it's told about, and run it again: each message is about one "
            "fault. Which of the 16 threads are in the branch where the barrier stands?",
            "What can stand beyond `n` and never be the largest? (`a[min(i, n - 1)]` is one way.) "
            "The barrier goes behind the `if`. And only one thread may write the result.",
        ),
        because="The guard keeps the last block inside of `a`; behind the `if`, every thread "
        "reaches the barrier; and with `if (t == 0)` only the thread that knows the result writes "
        "it.",
        seconds=120.0,
    ),
    Exercise(
        "8.14",
        "gpu-lines",
        "How many lines three reads of a warp take",
        predicts(lines_that_move),
        (
            "A line holds 32 floats, so elements 0 to 31 are the first one. Which is the last "
            "element that each of the three reads?",
            "They end at elements 32, 124 and 31. And does it matter to a line who reads what in "
            "it?",
        ),
        shown_by="the next cell",
        because="`a[t + 1]` ends at element 32, the first one of the next line. `a[4 * t]` ends at "
        "element 124, in the fourth line, and three quarters of what moves is thrown away. "
        "`a[31 - t]` is a full line, read from the other end, and memory doesn't mind.",
    ),
    Exercise(
        "8.15",
        "gpu-transpose",
        "A transpose that coalesces",
        transposes,
        (
            "Threads next to each other in `x` have to read neighbours, and write neighbours. They "
            "can't be the same elements. Who could carry them from one to the other?",
            "Read `a` into `tile[y][x]`, barrier, and then let thread (x, y) write what lies at "
            "`tile[x][y]`. For the place in `out`, swap the block's coordinates and not the "
            "thread's.",
        ),
        because="A block reads its tile row by row and writes it row by row. Only in between, in "
        "shared memory, does somebody go down a column.",
        seconds=120.0,
    ),
)
