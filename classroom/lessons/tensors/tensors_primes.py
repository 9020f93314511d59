"""All primes below n

Hint: How many divisors does a prime number have? In which table could you count them?
Hint: A column of divisors 1 … n meets a row of numbers 0 … n - 1 in a table of remainders. Which
remainder says that a divisor fits? And which number does every divisor fit?
Because: The column holds all divisors from 1 to n, the row all numbers below n, and the table is
True where one divides the other. A prime has exactly two divisors, 1 and itself. (Everything
divides 0, and for n = 2, everything is two divisors as well.)
Right: A table of all remainders and a sum along one axis: you tried every divisor, without a loop.
"""

import random

import numpy as np

from classroom.ask import Wrong, same_values, tensor_of
from classroom.lessons.tensors.shared import without_a_loop


def check(answer) -> None:
    """answer(n): a Tensor of n True and False, True where the index is prime."""
    without_a_loop(answer)
    for n in (12, random.randint(30, 150), 2, 3):
        case = f"`n = {n}`" if n <= 12 else "a larger `n`"
        got = tensor_of(answer, n, case=case)
        is_prime = [k > 1 and all(k % d for d in range(2, k)) for k in range(n)]
        if n == 2 and got.tolist() == [True, False]:
            raise Wrong("0 isn't a prime number. Every number divides it, so here 1 and 2 do, and "
                        "that makes two divisors.", case, is_prime, got.tolist())  # fmt: skip
        same_values(got.int(), np.array(is_prime, np.int32), case, shown=n <= 12)

# %% shared
from tinyframe import Tensor
def primes(n, smallest=1, divisors=2):
    numbers = Tensor.arange(n)
    found = (numbers % Tensor.arange(smallest, n + 1)[:, None] == 0).sum(axis=0)
    return (found == divisors) & (numbers > 0)

# %% wrong, each line
lambda n: primes(n, smallest=2)  # says [2] is 0
lambda n: Tensor([k in (2, 3, 5, 7, 11) for k in range(n)])  # says There is a loop
lambda n: (Tensor.arange(n) % Tensor.arange(1, n + 1)[:, None] == 0).sum(0) == 2  # says 0 isn't a prime

# %% wrong: begins at 1, so everything is one place off
def primes(n):
    r = Tensor.arange(1, n + 1)
    return (r % r[:, None] == 0).count_nonzero(dim=0) == 2

# %% right, each line
lambda n: primes(n).int().realize()
