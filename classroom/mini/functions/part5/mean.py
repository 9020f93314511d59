"""Hint: A mean is a sum divided by a number of elements. Which number? Not always all of them.
Hint: The elements of x, shared out among the elements of the sum: the product of one shape,
divided by that of the other. You needn't look at the axes at all.
Because: Each element of the sum adds up as many elements as there are in x per element of the
result. So negative axes, several, and none are right without a thought.
"""

import numpy as np

from classroom.mini.check import expect_values, promise
from classroom.mini.functions.part5.shared import AXES, BROADCASTS, floats


@promise("Of everything, of rows, of columns, of two axes", needs=(*BROADCASTS, "reduce"))
def means(mini) -> None:
    x = floats(2, 3, 4) + 1
    for axes in AXES:
        said = f"x.mean({', '.join(map(str, axes))}), where x has the shape (2, 3, 4)"
        got = mini.Tensor(x).mean(*axes).numpy()
        expect_values(said, got, np.asarray(x.mean(axes or None)), (
            (x.sum(axes or None), "This is the sum. How many do you divide it by?"),
            (x.sum(axes or None) / x.size, "You divided by the number of all elements. How many go "
                                           "into each of these means?"),
        ))  # fmt: skip

# %% wrong: says This is the sum
@method
def mean(x, *axes):
    return x.sum(*axes)

# %% right: the ratio of the numbers of elements
@method
def mean(x, *axes):
    total = x.sum(*axes)
    return total * (math.prod(total.shape) / math.prod(x.shape))
