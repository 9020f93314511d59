"""The backward pass by hand

Hint: Go backwards. What does the row of ADD do with `grad`? And the row of SIN?
Hint: What arrives at the product is `grad * (a * b).cos()`, and MUL swaps its factors. Is there a
second path along which something gets to `a`?
Because: ADD hands `grad` on twice: once to the sine, once to `a`. SIN multiplies by the cosine of
its source. MUL multiplies by the other factor. What arrives at `a` on its two paths is added.
Right: You did the backward pass by hand: you multiplied along each path, and added where two paths
met.
"""

from classroom.ask import Wrong, call, fresh_sizes, fresh_tensor, same_values, wrong_if
from classroom.exercise import Graphs
from classroom.lessons.gradients.shared import close, pair, undifferentiated
from tinyframe import Tensor
from tinyframe.uop import UOp


def check(answer) -> None:
    """answer(grad, a, b): what arrives at a and at b for z = (a * b).sin() + a, as UOps."""
    fixed = tuple(Tensor(v).realize() for v in ([1.0, 2.0], [0.5, 1.0], [2.0, 3.0]))
    (n,) = fresh_sizes(1)
    fresh = tuple(fresh_tensor(n) for _ in range(3))
    cases = {"`grad = [1, 2]`, `a = [0.5, 1]`, `b = [2, 3]`": fixed, "fresh numbers": fresh}
    for case, (grad, a, b) in cases.items():
        with undifferentiated():
            got = pair(call(answer, grad.uop, a.uop, b.uop), UOp, "UOps", case)
        asked = ((a * b).sin() + a).gradient(a, b, gradient=grad)
        expected = [slope.numpy() for slope in asked]
        if close(got[0], expected[1]) and close(got[1], expected[0]):
            raise Wrong("The two are swapped: the gradient of `a` comes first.", case)
        wrong_if(close(got[0], expected[0] - grad.numpy()), "At `a`, one path is missing. `a` "
                 "reaches `z` through the sine, and once more through the addition.",
                 case)  # fmt: skip
        for name, part, values in zip("ab", got, expected, strict=True):
            try:
                same_values(Tensor(part), values, f"{case}, at `{name}`", shown=case[0] == "`")
            except Wrong as wrong:
                graphs = Graphs(part, asked["ab".index(name)].uop, {"grad": grad, "a": a, "b": b})
                raise Wrong(f"At `{name}`: {wrong}", case, graphs=graphs) from None

# %% wrong, each line
lambda grad, a, b: grad * b  # says a pair of UOps
lambda grad, a, b: ((a * b).cos() * b + 1, (a * b).cos() * a)  # says At `a`

# %% wrong: says one path is missing
def one_path(grad, a, b):
    at_product = grad * (a * b).cos()
    return at_product * b, at_product * a
one_path

# %% wrong: says swapped
def swapped(grad, a, b):
    at_product = grad * (a * b).cos()
    return at_product * a, at_product * b + grad
swapped

# %% wrong: tinyframe does the walk
def flow(grad, a, b):
    x, y = Tensor(a), Tensor(b)
    return tuple(t.uop for t in ((x * y).sin() + x).gradient(x, y, gradient=Tensor(grad)))

# %% right: a list, and the factors the other way round
def flow(grad, a, b):
    half = (a * b).cos() * grad
    return [grad + b * half, a * half]
