"""What mini, the framework that learners write, reaches on C of its own.

    python -m benchmarks.own_c

trains the 8x8 digits on it, and multiplies two matrices of 512 × 512 with loops rearranged by
stage 7c, beside NumPy on one core. The stages are the learner's where they pass, as in a notebook.
Two lines of ratios; the times behind them differ from machine to machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from classroom.mini import digits, own_c

TURNS = 3  # of a whole climb: NumPy is in a process of its own, so it takes turns with that


def programs() -> dict[str, Any]:
    """Ways to compute a product, from the loops as they are lowered to tiles of vectors."""
    part7c, Tensor = own_c.module("part7c"), own_c.module("part6").Tensor
    a, b = (Tensor(np.zeros((own_c.N, own_c.N))) for _ in range(2))
    product = own_c.program_of(a @ b)
    found = {"as lowered": product}
    for lanes in (8, 16):
        vector = part7c.vector(product, 1, lanes)
        for wide, rows in ((1, 8), (1, 16), (2, 4), (2, 8)):
            tile = part7c.upcast(part7c.upcast(vector, 1, wide), 0, rows)
            found[f"{wide} × {lanes} lanes, {rows} rows"] = tile
    return found


def main() -> None:
    part8 = own_c.module("part8")
    with own_c.on(part8.CRunner):
        trained = digits.train(show=False, capture=part8.jit)
    raced = own_c.race().seconds
    by_numpy, by_jit = raced["NumPy"], raced["your C and your jit"]
    print(f"digits on its own C: {trained.accuracy:.1%} right; a step with the jit takes "
          f"{by_jit / by_numpy:.2f} of NumPy's time")  # fmt: skip
    ways, numpy, best = programs(), float("inf"), dict[str, float]()
    for _ in range(TURNS):
        climbed = own_c.climb(ways)
        numpy = min(numpy, climbed.numpy)
        best = {name: min(best.get(name, s), s) for name, s in climbed.seconds.items()}
    name = min(best, key=best.__getitem__)
    ratio, before = numpy / best[name], numpy / best["as lowered"]
    print(f"product of {own_c.N} × {own_c.N}: {ratio:.2f} of NumPy's speed on one core ({name}); "
          f"{before:.3f} as lowered")  # fmt: skip


if __name__ == "__main__":
    main()
