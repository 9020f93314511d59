"""Two Tensors exchange their values

Hint: After `x.assign(y)`, who still has the old values of `x`?
Hint: An expression keeps the values of the moment you wrote it down. Which expression has the
values of `x`, and is none of its views?
Because: `x + 0` is a result and not a view, so it keeps what `x` held when you wrote it down.
It's computed just before those numbers are overwritten.
Right: An expression was your third hand: it kept the old values while you overwrote them.
"""

from classroom.ask import call, fresh_sizes, fresh_tensor, same_values, small_tensor, wrong_if
from classroom.lessons.memory_that_changes.shared import _equal, _themselves


def check(answer) -> None:
    """answer(x, y): x and y, which have exchanged their values."""
    n, m = fresh_sizes(2)
    for x, y in (
        (small_tensor(1, 3), (small_tensor(1, 3) * 10).realize()),
        (fresh_tensor(n, m), (fresh_tensor(n, m) + 5).realize()),
    ):
        shown = x.numel() == 3
        case = "`x = [[1, 2, 3]]`, `y = [[10, 20, 30]]`" if shown else "larger ones"
        was_x, was_y = x.numpy().copy(), y.numpy().copy()
        _themselves(call(answer, x, y), {"x": x, "y": y}, case)
        now_x, now_y = x.numpy(), y.numpy()
        both = (
            "Both hold the old values of `{}` now. When `{}` was assigned, `{}` didn't hold its "
            "own any more. Who still has them?"
        )
        wrong_if(_equal(now_x, was_x) and _equal(now_y, was_y), "Nothing has changed.", case)
        wrong_if(_equal(now_x, was_y) and _equal(now_y, was_y), both.format(*"yyx"), case)
        wrong_if(_equal(now_x, was_x) and _equal(now_y, was_x), both.format(*"xxy"), case)
        same_values(x, was_y, f"{case}: `x` afterwards", shown)
        same_values(y, was_x, f"{case}: `y` afterwards", shown)

# %% shared
def exchanged(x, y, kept):
    x.assign(y)
    y.assign(kept)
    return x, y

# %% wrong, each line
lambda x, y: (y, x)  # says in the other order
lambda x, y: (x, y)  # says Nothing has changed
lambda x, y: (x * 1, y * 1)  # says returns a new Tensor
lambda x, y: x  # says the two Tensors `x` and `y`
lambda x, y: (y.assign(x), x.assign(y))[::-1]  # says the old values of `x` now

# %% wrong: NumPy's classic: by the second assignment, x has changed
def swap(x, y):
    x[:], y[:] = y, x
    return x, y

# %% right, each line
lambda x, y: exchanged(x, y, x + 0)
