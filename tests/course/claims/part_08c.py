"""What the last page of 8c claims."""

from __future__ import annotations

from typing import Any

import numpy as np

from classroom.cuda.drawn import groups, lines_of
from classroom.cuda.lesson import PLAIN, launch
from classroom.cuda.running import Run
from tests.course.claims import claim

NUMBERS = np.arange(1, 9, dtype=np.float32)


def ran(text: str, **given: Any) -> Run:
    run = launch(text, **given)
    assert run is not None
    return run


def fine(text: str, **given: Any) -> Run:
    run = ran(text, **given)
    assert run.trouble is None, run.trouble.text
    return run


SHIFTED = """
__shared__ float s[8];
int t = threadIdx.x;
s[t] = a[t];
out[t] = t > 0 ? s[t - 1] : 0;
"""
TILED = """
__shared__ float at[4][4], bt[4][4];
int c = threadIdx.x, r = threadIdx.y;
int down = 4 * blockIdx.y + r, along = 4 * blockIdx.x + c;
float total = 0;
for (int from = 0; from < n; from += 4) {
  at[r][c] = a[down * n + from + c];
  bt[r][c] = b[(from + r) * n + along];
  __syncthreads();
  for (int i = 0; i < 4; i++) total += at[r][i] * bt[i][c];
  __syncthreads();
}
out[down * n + along] = total;
"""
TREE = """
__shared__ float s[16];
int t = threadIdx.x;
s[t] = a[t];
__syncthreads();
for (int half = 8; half > 0; half /= 2) {
  if (t < half) s[t] += s[t + half];
  __syncthreads();
}
if (t == 0) out[0] = s[0];
"""
BARRIER = "s[t] = a[t];\n__syncthreads();"


@claim("All threads run the same text, and only their numbers differ.")
def only_the_numbers_differ():
    run = fine("out[threadIdx.x] = threadIdx.x;", threads=8, out=np.zeros(8))
    assert run.arrays["out"].tolist() == list(range(8))
    assert set(np.bincount(run.log["thread"])) == {1} and len(set(run.log["line"])) == 1
    same = fine("out[0] = a[3];", threads=8, a=NUMBERS)  # who has no number does as all others
    assert {int(i) for i in same.accesses_of("a")["index"]} == {3}
    assert len(same.accesses_of("a")) == 8


@claim(
    "Between two barriers nobody knows who comes first, so nobody may use what another thread "
    "writes there."
)
def a_barrier_says_who_comes_first():
    race = ran(SHIFTED, threads=8, a=NUMBERS).trouble
    assert race is not None and race.kind == "race"
    run = fine(SHIFTED.replace("s[t] = a[t];", BARRIER), threads=8, a=NUMBERS)
    assert run.arrays["out"].tolist() == [0, *NUMBERS[:-1]]


@claim("Every thread of a block has to reach every barrier.")
def all_threads_reach_all_barriers():
    for barrier in ("if (t < 7) __syncthreads();", "if (t == 7) return;\n__syncthreads();"):
        trouble = ran(f"int t = threadIdx.x;\n{barrier}", threads=8, a=NUMBERS).trouble
        assert trouble is not None and trouble.kind == "barrier"


@claim("Memory delivers lines of 128 bytes, and a warp pays for each line that it touches.")
def a_warp_pays_for_lines():
    for step, lines in {1: 1, 2: 2, 32: 32}.items():
        text = f"out[threadIdx.x] = a[threadIdx.x * {step}];"
        run = fine(text, threads=32, a=np.zeros(1024), out=np.zeros(32))
        (group,) = groups(run, "a", is_write=False)
        assert len(lines_of(group)) == lines
        assert run.loads() == 32


@claim("A number that several threads need is fetched once, into shared memory.")
def shared_memory_saves_loads():
    n = 8
    a = np.arange(n * n, dtype=np.float32).reshape(n, n)
    given = {"blocks": (2, 2), "threads": (4, 4), "a": a, "b": a, "n": n}
    alone, tiled = (fine(text, **given) for text in (PLAIN["tiled_matmul"], TILED))
    assert np.array_equal(alone.arrays["out"], tiled.arrays["out"])
    assert alone.loads() == 4 * tiled.loads()


@claim("If the numbers are right, there's no race.")
def right_numbers_by_luck():
    lucky = ran(SHIFTED, threads=8, races=False, a=NUMBERS)
    assert lucky.arrays["out"].tolist() == [0, *NUMBERS[:-1]]
    race = ran(SHIFTED, threads=8, a=NUMBERS).trouble
    assert race is not None and race.kind == "race"


@claim("A tree adds less than a loop.")
def a_tree_adds_as_often():
    given = {"threads": 16, "a": np.ones(16), "out": [0]}
    run = fine(TREE, **given)
    tree = run.accesses_of("s")
    additions = tree[(tree["phase"] > 0) & (tree["is_write"] == 1)]
    assert len(additions) == 15  # as a loop over 16 numbers has
    assert len(set(additions["phase"])) == 4


@claim("Reading backwards is slower.")
def backwards_takes_the_same_lines():
    found = []
    for index in ("threadIdx.x", "31 - threadIdx.x"):
        run = fine(f"out[threadIdx.x] = a[{index}];", threads=32, a=np.zeros(32))
        (group,) = groups(run, "a", is_write=False)
        found.append(lines_of(group))
    assert found[0] == found[1] == [0]


@claim("A thread with nothing to do may return early.")
def an_early_return_misses_the_barrier():
    text = "__shared__ float s[8];\nint t = threadIdx.x;\nif (t >= n) return;\n" + BARRIER
    trouble = ran(text + "\nout[t] = s[t];", threads=8, a=NUMBERS[:6], n=6).trouble
    assert trouble is not None and trouble.kind == "barrier"
    fine(text.partition("s[t] =")[0] + "out[t] = a[t];", threads=8, a=NUMBERS[:6], n=6)
