"""Hint: Element [i, j] of the product is a sum over k of a[i, k] * b[k, j]. So you want one table
with three axes, i, j and k, and a sum. What shape does `a` need so that it fits?
Hint: `a` needs an axis of size 1 where j goes, `b` one where i goes. `*` broadcasts the two. Mind
the order of the axes of `b`: if you want k last, you have to permute, and not reshape.
Because: All n * m * k products are one elementwise `*`, and the sum over k does the rest. That's
all a matrix product is: movement, one multiplication, one sum.
"""

from classroom.mini.check import expect_values, promise
from classroom.mini.functions.part5.shared import NEEDED, counting, expression, floats


@promise("(2, 3) @ (3, 4)", needs=NEEDED)
def small_product(mini) -> None:
    a, b = counting(2, 3), counting(3, 4) - 5
    x, y = mini.Tensor(a), mini.Tensor(b)
    got = expression(mini, "a @ b", x.uop @ y.uop, x, y)
    said = "a @ b, where a is [[1, 2, 3], [4, 5, 6]]"
    not_permuted = a @ b.reshape(4, 3).T
    expect_values(said, got.numpy(), a @ b, (
        (not_permuted, "b was only reshaped. Its columns have to become rows first: permute."),
        ((a @ b).reshape(2, 1, 4), "There is one axis too many: the one you summed is still there, "
                                   "with size 1."),
    ))  # fmt: skip


@promise("Other shapes, down to 1 and up to 20", needs=NEEDED)
def other_products(mini) -> None:
    for n, k, m in ((1, 1, 1), (1, 5, 2), (7, 1, 3), (20, 13, 11)):
        a, b = floats(n, k), floats(k, m)
        said = f"a @ b of shapes {(n, k)} and {(k, m)}"
        expect_values(said, (mini.Tensor(a) @ mini.Tensor(b)).numpy(), a @ b)

# %% wrong, changed: says b was only reshaped
# -     return (a.reshape(n, 1, k) * b.permute(1, 0).reshape(1, m, k)).sum(2)
# +     return (a.reshape(n, 1, k) * b.reshape(1, m, k)).sum(2)

# %% wrong: says was computed at once
def __matmul__(a, b):
    return Tensor(Tensor(a).numpy() @ Tensor(b).numpy()).uop

# %% wrong, changed: says should be a node. Is there a `return`?
# -     return (a.reshape(n, 1, k) * b.permute(1, 0).reshape(1, m, k)).sum(2)
# +     (a.reshape(n, 1, k) * b.permute(1, 0).reshape(1, m, k)).sum(2)

# %% right: b lines up on the right by itself
def __matmul__(a, b):
    return (a.reshape(*a.shape, 1) * b).sum(1)
