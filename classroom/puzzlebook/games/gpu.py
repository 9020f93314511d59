"""Part 8c: twelve kernels for a GPU that need not be there, scored by loads from its memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np

from classroom import grids
from classroom.cuda.judging import Inputs, Judgement, Task
from classroom.cuda.running import Size
from classroom.puzzlebook.game import Game, against_par
from tinyframe.viz.picture import Picture

T = 8  # threads in a block
WIDE, WIDER = 16, 32  # threads in a block whose work is a tree
SIDE = 4  # of a block of threads with two axes


@dataclass
class KernelTrial:
    """One try at a puzzle."""

    puzzle: KernelPuzzle
    judgement: Judgement

    @property
    def score(self) -> float | None:
        return self.judgement.loads

    def check(self, answer: Any) -> str:
        said = self.judgement.check(answer)
        assert self.score is not None
        return f"{said} {against_par(self.score, self.puzzle)}"

    def picture(self) -> Picture | None:
        return self.judgement.picture()


@dataclass(frozen=True)
class KernelPuzzle:
    """A kernel to be written. score: loads from the GPU's memory for each result, in the
    example."""

    name: str
    sentence: str
    task: Task
    par: float
    best: float
    hints: tuple[str, str]
    because: str
    seconds: float = field(default=60.0)

    def trial(self) -> KernelTrial:
        return KernelTrial(self, Judgement(self.task))

    def example(self) -> Picture:
        inputs = self.task.example
        shown = [(name, value) for name, value in inputs.items() if isinstance(value, np.ndarray)]
        return grids.example(shown, np.asarray(self.task.expected(**inputs)))


# ---- inputs --------------------------------------------------------------------------------------


def some(*shape: int) -> np.ndarray:
    """1, 2, 3, … as floats, and after 9 again from 1."""
    return (np.arange(np.prod(shape)) % 9 + 1).astype(np.float32).reshape(shape)


def numbers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Whole numbers from -9 to 20: floats add them up exactly, in any order."""
    return rng.integers(-9, 21, shape).astype(np.float32)


def vector(rng: np.random.Generator, least: int, most: int) -> Inputs:
    n = int(rng.integers(least, most + 1))
    return {"a": numbers(rng, n), "n": n}


def matrix(rng: np.random.Generator, least: int, most: int) -> Inputs:
    rows, columns = (int(x) for x in rng.integers(least, most + 1, 2))
    return {"a": numbers(rng, rows, columns), "rows": rows, "columns": columns}


def column_and_row(rng: np.random.Generator) -> Inputs:
    rows, columns = (int(x) for x in rng.integers(1, SIDE + 1, 2))
    return {"a": numbers(rng, rows), "b": numbers(rng, columns), "rows": rows, "columns": columns}


def two_vectors(rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(1, WIDE + 1))
    return {"a": numbers(rng, n), "b": numbers(rng, n), "n": n}


def signal(rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(1, 4 * T))
    return {"a": numbers(rng, n), "w": numbers(rng, 3), "n": n}


def two_matrices(rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(2, 3 * SIDE))
    return {"a": numbers(rng, n, n), "b": numbers(rng, n, n), "n": n}


# ---- what has to come out ------------------------------------------------------------------------


def plus_ten(a: np.ndarray, **_: Any) -> np.ndarray:
    return a + 10


def shares(a: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([x / x.sum() for x in np.split(a, range(T, n, T))])


def last_three(a: np.ndarray, n: int) -> np.ndarray:
    return np.array([a[max(i - 2, 0) : i + 1].sum() for i in range(n)], np.float32)


def slid(a: np.ndarray, w: np.ndarray, n: int) -> np.ndarray:
    padded = np.concatenate([a, np.zeros(2, np.float32)])
    return sum((w[k] * padded[k : k + n] for k in range(3)), np.zeros(n, np.float32))


# ---- how many threads, and blocks ----------------------------------------------------------------


def a_block(**_: Any) -> Size:
    return (T,)


def a_wide_block(**_: Any) -> Size:
    return (WIDE,)


def a_square(**_: Any) -> Size:
    return (SIDE, SIDE)


def enough(n: int, **_: Any) -> Size:
    """So many blocks that each of n results has a thread."""
    return (ceil(n / T),)


ONE_ROW = "float* out, const float* a, int n"

PUZZLES = (
    KernelPuzzle(
        "map",
        "Add 10 to each element. There is one block, with exactly as many threads as there are "
        "elements.",
        Task(
            "float* out, const float* a",
            {"a": some(T)},
            plus_ten,
            lambda rng: {"a": numbers(rng, int(rng.integers(1, 20)))},
            block=lambda a: (len(a),),
        ),
        par=1,
        best=1,
        hints=(
            "All threads run the same text. What is different from one thread to the next?",
            "`threadIdx.x` is 0 in the first thread, 1 in the next one. Use it as an index.",
        ),
        because="There is no loop: where C would count, a GPU has a thread for each number.",
    ),
    KernelPuzzle(
        "guard",
        "The same, but there are always 8 threads, and `n` may be less. Nobody may touch what "
        "isn't there.",
        Task(
            ONE_ROW,
            {"a": some(5), "n": 5},
            plus_ten,
            lambda rng: vector(rng, 1, T),
            block=a_block,
        ),
        par=1,
        best=1,
        hints=(
            "What should thread 6 do if there are 5 elements?",
            "Nothing. `if (i < n)` in front of the line that reads and writes.",
        ),
        because="Blocks come in one size and data in any, so almost every kernel begins with a "
        "guard.",
    ),
    KernelPuzzle(
        "two_d",
        "Add 10 to each element of a matrix. The block has 4 × 4 threads, and `threadIdx` has an "
        "`x` and a `y`. The matrix lies in memory row after row, and may be smaller.",
        Task(
            "float* out, const float* a, int rows, int columns",
            {"a": some(3, 4), "rows": 3, "columns": 4},
            plus_ten,
            lambda rng: matrix(rng, 1, SIDE),
            block=a_square,
        ),
        par=1,
        best=1,
        hints=(
            "How far into memory does row `y` begin?",
            "At `y * columns`. And two things have to be guarded.",
        ),
        because="Two indices are a convenience: memory has one, so a row number is multiplied by "
        "the length of a row.",
    ),
    KernelPuzzle(
        "broadcast",
        "A table of sums: in row `y` and column `x`, `a[y] + b[x]`. One block of 4 × 4 threads.",
        Task(
            "float* out, const float* a, const float* b, int rows, int columns",
            {"a": some(4), "b": 10 * some(4), "rows": 4, "columns": 4},
            lambda a, b, **_: a[:, None] + b,
            column_and_row,
            block=a_square,
        ),
        par=2,
        best=0.5,
        hints=(
            "Which of the two numbers does the thread at (x, y) need?",
            "`out[y * columns + x] = a[y] + b[x]`, behind a guard.",
        ),
        because="Nothing is stretched: an index that doesn't name an axis repeats along it. (For "
        "fewer loads, come back after the puzzle `shared`.)",
    ),
    KernelPuzzle(
        "blocks",
        "The square of each element. Now there are as many elements as you like: blocks of 8 "
        "threads, and just enough of them.",
        Task(
            ONE_ROW,
            {"a": some(13), "n": 13},
            lambda a, n: a * a,
            lambda rng: vector(rng, 1, 5 * T),
            block=a_block,
            grid=enough,
        ),
        par=1,
        best=1,
        hints=(
            "Thread 0 of block 1 comes after thread 7 of block 0. Which element is its own?",
            "`blockIdx.x * blockDim.x + threadIdx.x`. And if your score is 2: you read the same "
            "number twice.",
        ),
        because="A number that is used twice is read once and kept in a variable, which is a "
        "register of the thread.",
    ),
    KernelPuzzle(
        "shared",
        "Each element divided by the sum of its block's elements. Blocks of 8 threads; the last "
        "block may have fewer elements.",
        Task(
            ONE_ROW,
            {"a": some(13), "n": 13},
            shares,
            lambda rng: {
                "a": (a := np.abs(numbers(rng, int(rng.integers(1, 30)))) + 1),
                "n": len(a),
            },
            block=a_block,
            grid=enough,
        ),
        par=1,
        best=1,
        hints=(
            "Everybody needs all 8 numbers. Can each thread bring one, and all of them look?",
            "Put your element into `s[threadIdx.x]`, or 0 if there is none. Then a barrier, "
            "outside of any `if`. Then add up all 8.",
        ),
        because="Each number crosses the slow road to memory once, and is read 8 times from where "
        "reading is cheap.",
    ),
    KernelPuzzle(
        "pooling",
        "The sum of each element and the two before it; at the start there are fewer. One block of "
        "8 threads.",
        Task(
            ONE_ROW,
            {"a": some(8), "n": 8},
            last_three,
            lambda rng: vector(rng, 1, T),
            block=a_block,
        ),
        par=1,
        best=1,
        hints=(
            "Your neighbours have read the two numbers that you need.",
            "Shared memory and a barrier; after it, `i > 0` and `i > 1` say which neighbours "
            "exist.",
        ),
        because="Neighbours read the same numbers, so they read them once, together.",
    ),
    KernelPuzzle(
        "dot",
        "The dot product of `a` and `b`, in `out[0]`: the sum of all `a[i] * b[i]`. One block of "
        "16 threads, and the sum is to be a tree: 16 numbers, then 8, 4, 2, 1.",
        Task(
            "float* out, const float* a, const float* b, int n",
            {"a": some(16), "b": some(16)[::-1].copy(), "n": 16},
            lambda a, b, n: np.array([a @ b], np.float32),
            two_vectors,
            block=a_wide_block,
            most_shared=13,
        ),
        par=32,
        best=32,
        hints=(
            "Eight threads can turn 16 numbers into eight sums. How far away is the one that each "
            "of them adds?",
            "`for (int half = 8; half > 0; half /= 2)`: threads below `half` add `s[i + half]` to "
            "`s[i]`. A barrier after each round, for everybody.",
        ),
        because="Four rounds for 16 numbers, ten for 1,024. The threads that have nothing to add "
        "still come to the barrier.",
    ),
    KernelPuzzle(
        "prefix_sum",
        "The running sum: each element plus all those before it. One block of 32 threads, and "
        "again no thread may do it alone.",
        Task(
            ONE_ROW,
            {"a": some(32), "n": 32},
            lambda a, n: np.cumsum(a),
            lambda rng: vector(rng, 1, WIDER),
            block=lambda **_: (WIDER,),
            most_shared=28,
        ),
        par=1,
        best=1,
        hints=(
            "Add what is 1 place to your left, then what is 2 places to your left. What does each "
            "place know after that?",
            "In each round, read into a variable, barrier, then write, barrier. With one barrier "
            "fewer, somebody reads a number that is already from the next round.",
        ),
        because="After rounds of 1, 2 and 4, a place knows the sum of up to 8 numbers, its own the "
        "last; after 8 and 16, of all 32.",
    ),
    KernelPuzzle(
        "axis_sum",
        "The sum of each row of a matrix: block number `r` has row `r`, and 16 threads for it. "
        "Rows can be longer than that. A tree, please.",
        Task(
            "float* out, const float* a, int columns",
            {"a": some(3, 20), "columns": 20},
            lambda a, columns: a.sum(axis=1),
            lambda rng: {
                "a": (a := numbers(rng, *map(int, rng.integers(1, 40, 2)))),
                "columns": a.shape[1],
            },
            block=a_wide_block,
            grid=lambda a, columns: (len(a),),
            most_shared=13,
        ),
        par=20,
        best=20,
        hints=(
            "Let each thread first add up its own part of the row, in a variable.",
            "`for (int k = threadIdx.x; k < columns; k += 16)`. After it you have 16 numbers, and "
            "a tree for 16 numbers is something you've written.",
        ),
        because="The threads of a block walk along the row side by side, which is how memory likes "
        "to be read. Then comes `dot`'s tree.",
    ),
    KernelPuzzle(
        "convolution",
        "A convolution: `out[i]` is `a[i] * w[0] + a[i+1] * w[1] + a[i+2] * w[2]`, and what is "
        "beyond the end of `a` counts as 0. Blocks of 8 threads, as many as needed.",
        Task(
            "float* out, const float* a, const float* w, int n",
            {"a": some(16), "w": np.array([1, 10, 100], np.float32), "n": 16},
            slid,
            signal,
            block=a_block,
            grid=enough,
        ),
        par=1.5,
        best=1.5,
        hints=(
            "Eight results need ten elements. Who brings the other two?",
            "A shared array of 10: everybody brings one, and threads 0 and 1 bring one more, if it "
            "exists. Three threads bring the weights.",
        ),
        because="The two elements that belong to the next block are called the halo. At each "
        "border they are read twice, once by each neighbour.",
    ),
    KernelPuzzle(
        "tiled_matmul",
        "The product of two matrices of `n` × `n`, in blocks of 4 × 4 threads. `n` is any number. "
        "With every product from memory it's 2 · `n` loads; do it with far fewer.",
        Task(
            "float* out, const float* a, const float* b, int n",
            {"a": some(8, 8), "b": some(8, 8) - 4, "n": 8},
            lambda a, b, n: a @ b,
            two_matrices,
            block=a_square,
            grid=lambda n, **_: (ceil(n / SIDE), ceil(n / SIDE)),
        ),
        par=4,
        best=4,
        hints=(
            "The 16 threads of a block need 4 rows of `a` and 4 columns of `b`. Bring them in "
            "pieces of 4 × 4, and use each piece before you bring the next.",
            "Two shared arrays `[4][4]`. In a loop over pieces: load one element of each, or 0 "
            "beyond the end; barrier; add up four products; barrier.",
        ),
        because="Each number that is brought is used four times, so there are a quarter of the "
        "loads. tinyframe does this with larger tiles.",
    ),
)

GAME = Game("gpu", "8c", "Twelve GPU puzzles", "loads for each result", PUZZLES)
