"""What the C really computes

Hint: `(int)val0 * (int)val1`: what happens first, the multiplication or the cutting off?
Hint: `quantities.int()` is a Tensor of whole numbers. It cuts off fractions, as C does.
Because: `(int)` in C is `.int()` of a Tensor: the fraction is cut off. The C does it to each
quantity and each price before it multiplies, so 0.5 becomes 0, and -1.5 becomes -1.
Right: Your formula is wrong in just the way the till is. You've read the C right.
"""

import numpy as np

from classroom.ask import fresh_sizes, fresh_tensor, same_values, tensor_of
from classroom.lessons.three_wrong_bills.shared import bills, shop
from classroom.sabotage import healthy, sabotage
from tinyframe import Tensor


@healthy()
def check(answer) -> None:
    """answer(quantities, prices): what the sabotaged kernel computes, said with Tensors."""
    weighed = Tensor([[1.5, 0.75, 2.25], [3.5, 2.5, 0.5]]).realize()
    refund = Tensor([[-1.5, 2.0], [-0.5, -2.5]]).realize()
    rows, things = fresh_sizes(2)
    some = Tensor(np.random.default_rng().uniform(-9, 9, (rows, things)).astype(np.float32))
    cases = {
        "the three bills": shop(),
        "`quantities = [[1.5, 0.75, 2.25], [3.5, 2.5, 0.5]]`, `prices = [2, 4, 1.5]`":
            (weighed, Tensor([2.0, 4.0, 1.5]).realize()),
        "`quantities = [[-1.5, 2], [-0.5, -2.5]]`, `prices = [1, 2]` (somebody brings things back)":
            (refund, Tensor([1.0, 2.0]).realize()),
        "different numbers": (some.realize(), fresh_tensor(things)),
    }  # fmt: skip
    for case, inputs in cases.items():
        with sabotage():
            expected = bills(*inputs).numpy()
        got = tensor_of(answer, *inputs, case=case)
        shown = case != "different numbers"
        same_values(got, expected, case, shown, misread(*(each.numpy() for each in inputs)))


def misread(quantities: np.ndarray, prices: np.ndarray) -> dict[str, np.ndarray]:
    """What the C is often taken for, and what to say of it."""
    cut, floor = np.trunc, np.floor
    mistakes = {
        "You round down, and `(int)` in C cuts off. They differ below zero: of -1.5, rounding down "
        "makes -2, and cutting off makes -1.":
            floor(quantities) * floor(prices),
        "You round to the nearest whole number. `(int)` in C cuts the fraction off.":
            np.round(quantities) * np.round(prices),
        "You multiply first and cut off afterwards. In the C, each `(int)` comes before the `*`.":
            cut(quantities * prices),
        "Nothing is cut off the quantities. In the C, `(int)` stands before both numbers.":
            quantities * cut(prices),
        "Nothing is cut off the prices. In the C, `(int)` stands before both numbers.":
            cut(quantities) * prices,
    }  # fmt: skip
    return {said: products.sum(axis=1) for said, products in mistakes.items()}

# %% wrong, each line
lambda q, p: (q * p).sum(axis=1)  # says Nothing is cut off the prices
lambda q, p: (q.int() * p.int()).sum(axis=0)  # says shape
lambda q, p: (q.int() * p.int()).sum(axis=1).tolist()  # says has to be a Tensor
lambda q, p: (q * p).int().sum(1)  # cut off too late
lambda q, p: (q.int() * p.int()).sum(1, keepdim=True)  # a column, where the bills are a row

# %% right, each line
lambda q, p: q.int() @ p.int()  # a matrix product
