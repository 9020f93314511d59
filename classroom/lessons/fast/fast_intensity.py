"""Operations for each byte

Hint: For each of the m × n results, how many products are there, and how many additions?
Hint: Divide `2 * m * n * k` by the bytes of three matrices: m × k, k × n and m × n, with 4 bytes
for each element.
Because: Each result takes k products and k additions. What has to be moved at least is each
matrix once, so there's more work for each byte the larger they are.
Right: Now you know where any matmul stands on the roofline, before it has run.
"""

from classroom.ask import Wrong, a_number, call, fresh_sizes, wrong_if
from classroom.lessons.fast.shared import near


def check(answer) -> None:
    """answer(m, n, k): operations for each byte of a matmul of floats."""
    sizes = fresh_sizes(3)
    for m, n, k in ((512, 512, 512), (2, 3, 4), tuple(sizes)):
        shown = m not in sizes
        case = f"`m, n, k = {m}, {n}, {k}`" if shown else "different sizes"
        got = a_number(call(answer, m, n, k), case, "a number: operations for each byte")
        elements = m * k + k * n + m * n
        expected = 2 * m * n * k / (4 * elements)
        if near(got, expected):
            continue
        told = {
            expected / 2: "You counted the multiplications. Every product is added to something, "
            "too.",
            expected * 4: "That's for each element. A float takes 4 bytes.",
            expected * 2: "That's twice too many: is every element 4 bytes?",
            1 / expected: "Upside down: that's bytes for each operation.",
            2 * m * n * k / (4 * (m * k + k * n)): "The result has to be written to memory, too.",
            m * n * k / (4 * (m * k + k * n)): "Two things are missing: the additions, and the "
            "bytes of the result.",
            2 * m * n * k / (8 * m * n * k + 4 * m * n): "You count every load of the loop. Here "
            "each element counts once: that's what has to be moved at least.",
        }
        for wrong, text in told.items():
            wrong_if(near(got, wrong), text, case)
        both = (f"{expected:.4g}", f"{got:.4g}") if shown else ("", "")
        raise Wrong("It has to be the operations divided by the bytes.", case, *both)

# %% shared
import numpy as np
def elements(m, n, k):
    return m * k + k * n + m * n

# %% wrong, each line
lambda m, n, k: m * n * k / (4 * elements(m, n, k))  # says counted the multiplications
lambda m, n, k: m / 6  # says `m, n, k = 2, 3, 4`
lambda m, n, k: (m, n, k)  # says has to be a number

# %% right, each line
lambda m, n, k: np.array(0.5 / (1 / m + 1 / n + 1 / k))
