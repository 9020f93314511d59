"""Mend the row of MUL

Hint: Take `x` = 3 and `y` = 5, so that `x * y` is 15. What is it if `x` grows by 1?
Hint: It grows by 5, which is `y`. So which of the two belongs to the first source?
Because: If `x` grows a little, `x * y` grows `y` times as much. So `x` gets `grad * y`, and `y`
gets `grad * x`.
Right: Mended. If `x` grows a little, `x * y` grows `y` times as much, so `x` gets `grad * y`; and
the other way round.
"""

from typing import Any

import numpy as np

from classroom.ask import Wrong, call, same_values
from classroom.rows import fitting, row_of
from tinyframe import Tensor


def check(answer) -> None:
    """answer(grad, x, y): what MUL sends back to x and to y."""
    fresh = np.random.default_rng().random((3, 4)) + 0.5
    shown = np.array([[1, 10], [2, 3], [5, 7]])
    for case, values in (("`grad = [1, 10]`, `x = [2, 3]`, `y = [5, 7]`", shown), ("", fresh)):
        given = [Tensor(row.astype(np.float32)).realize().uop for row in values]
        right: Any = row_of("MUL").function(*given)
        found = fitting("MUL", call(answer, *given), right)
        case = case or "different numbers"
        for name, other, got, expected in zip("xy", "yx", found, right, strict=True):
            if got is None:
                raise Wrong(f"`{name}` gets nothing. If `{name}` grows, `x * y` changes.", case)
            try:
                same_values(Tensor(got), Tensor(expected).numpy(), case, shown=values is shown)
            except Wrong as wrong:
                said = f"What `{name}` gets is wrong. Suppose `{name}` grows by 1, and `{other}` "
                said += "stays: how much does `x * y` grow?"
                if got is given[1 + "yx".index(name)]:
                    said = f"How fast `x * y` grows with `{name}` is right. Multiply that by what "
                    said += "arrives, `grad`."
                rows = dict(wrong.rows)
                raise Wrong(said, case, rows.get("expected", ""), rows.get("got", "")) from None

# %% wrong, each line
lambda grad, x, y: (grad * y, None)  # says `y` gets nothing
lambda grad, x, y: (grad * y, grad * x, None)  # three
lambda ctx, x, y: (y, x)  # says Multiply that by what arrives

# %% right, each line
lambda g, a, b: (g * b, g * a)
