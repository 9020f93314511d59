"""How much faster can it get?

Hint: If it only did the arithmetic, how long would that take? If it only moved the bytes?
Hint: The larger of `operations / roof.flops` and `nbytes / roof.bandwidth` is the least time it
can take.
Because: Arithmetic and memory work side by side, so the slower of the two decides. No Opt changes
either number: an Opt only gets a kernel closer to them.
Right: You can now tell which kernels are worth an afternoon, and which aren't.
"""

import numpy as np

from classroom.ask import Wrong, a_number, call, wrong_if
from classroom.lessons.fast.shared import near
from tinyframe.viz.roof import Roof

SOME_ROOF = Roof(flops=100e9, bandwidth=20e9)


def check(answer) -> None:
    """answer(operations, nbytes, seconds, roof): how many times as fast it could be."""
    fresh = np.random.default_rng().uniform(1, 9, 5)
    cases: list[tuple[str, float, float, float, Roof]] = [
        ("2e9 operations, 12e6 bytes", 2e9, 12e6, 0.1, SOME_ROOF),
        ("16e6 operations, 192e6 bytes", 16e6, 192e6, 0.012, SOME_ROOF),
        ("a different kernel and machine", fresh[0] * 1e9, fresh[1] * 1e8, fresh[2],
         Roof(fresh[3] * 1e10, fresh[4] * 1e9)),
    ]  # fmt: skip
    for case, operations, nbytes, seconds, roof in cases:
        shown = roof is SOME_ROOF
        name = f"{case} in {seconds} s; 100e9 operations a second, 20e9 bytes" if shown else case
        got = a_number(
            call(answer, operations, nbytes, seconds, roof), name, "a number: how many times"
        )
        work, moving = operations / roof.flops, nbytes / roof.bandwidth
        expected = seconds / max(work, moving)
        if near(got, expected):
            continue
        shorter, longer = ("memory", "arithmetic") if work > moving else ("arithmetic", "memory")
        told = {
            seconds / (work + moving): "You added the two times. They overlap: while numbers are "
            "on their way, others are multiplied.",
            seconds / min(work, moving): f"That's what {shorter} alone would allow. Here "
            f"{longer} is the closer limit.",
            1 / expected: "Upside down: that's the part of the limit that it reaches.",
            max(work, moving): "That's the least time, in seconds. How many times as fast is it?",
        }
        for wrong, text in told.items():
            wrong_if(near(got, wrong), text, name)
        both = (f"{expected:.4g}", f"{got:.4g}") if shown else ("", "")
        raise Wrong("It has to be the time it took, over the least it could take.", name, *both)

# %% shared
def operations(m, n, k):
    return 2 * m * n * k

def least(operations, nbytes, roof):
    return operations / roof.flops, nbytes / roof.bandwidth

# %% wrong, each line
lambda o, b, s, roof: max(least(o, b, roof))  # says the least time
lambda o, b, s, roof: o / s  # says has to be the time
least  # says TypeError

# %% right, each line
lambda o, b, s, roof: min(s * roof.flops / o, s * roof.bandwidth / b)
