"""Pictures of what a copy's sinc does. What isn't there yet is said, and not drawn.

    microphones(clone)     a delay, learned from what two microphones heard
    near_zero(clone)       how far off the slope is, from a millionth to 1

Each draws with matplotlib; the cell prints what it is about, and ends in `plt.show()`.
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from classroom.contributing import job
from classroom.contributing.job import DELAY, STEPS
from classroom.contributing.scratch import Clone
from classroom.exercise import Wrong

FIRST, SECOND, WRONG = "#2f86d6", "#d9480f", "#8a8f98"


def answered(clone: Clone, name: str) -> Any:
    """What a job says; nothing, with a sentence, where the copy is broken. Of a copy in which
    nothing has changed, it's known without a process of its own."""
    if not [*clone.changed()]:
        return getattr(job, name)()
    try:
        return clone.job(**{name: True})[name]
    except Wrong as wrong:
        print("\n".join([str(wrong), *(value for _, value in wrong.rows)]))
        return None


def microphones(clone: Clone) -> None:
    """Two curves, what two microphones heard; and the delay between them after each step."""
    found = answered(clone, "delay")
    if found is None:
        return
    _, (left, right) = plt.subplots(1, 2, figsize=(7, 2.3))
    at = np.arange(len(found["first"]))
    for name, colour in (("first", FIRST), ("second", SECOND)):
        left.plot(at, found[name], "o-", ms=2.5, lw=0.8, color=colour, label=name)
    left.set(title="two microphones", xlabel="sample")
    left.legend()
    delays = found["delays"]
    right.axhline(DELAY, color=WRONG, lw=0.8, ls="--")
    right.plot(delays, "o-", ms=2.5, lw=0.8, color=SECOND)
    right.set(title="the delay, learned", xlabel="step", xlim=(-1, STEPS + 1),
              ylim=(-0.2, DELAY * 1.3))  # fmt: skip
    last = delays[-1]
    if "why" in found:
        print(found["why"])
    elif np.isnan(last):
        print(f"after step {len(delays) - 1}, the delay is nan")
    else:
        print(f"the delay is {last:.2f} samples (it was made to be {DELAY})")


def near_zero(clone: Clone) -> None:
    """The relative error of the slope of a copy's sinc, for small x, in float32."""
    found = answered(clone, "near_zero")
    if found is None:
        return
    if not found["x"]:
        print("Tensor has no sinc yet.")
        return
    error = np.maximum(found["error"], 1e-8)
    plt.figure(figsize=(6, 2.3))
    plt.loglog(found["x"], error, "o-", ms=3, lw=0.8, color=SECOND)
    plt.axhline(1, color=WRONG, lw=0.8, ls="--")
    plt.xlabel("x")
    plt.ylabel("relative error")
    bad = int(np.sum(error > 0.01))
    print(f"slopes that are off by more than 1 %: {bad} of {len(error)}")
