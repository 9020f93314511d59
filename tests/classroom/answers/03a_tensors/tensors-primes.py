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
lambda n: Tensor.arange(n) % Tensor.arange(1, n + 1)[:, None] == 0  # says has 2 axes

# %% wrong: for n = 2 there are two divisors, and both divide 0
def primes(n):
    divisors = Tensor.arange(1, n + 1)[:, None]
    numbers = Tensor.arange(n)
    return (numbers % divisors == 0).sum(axis=0) == 2

# %% wrong: begins at 1, so everything is one place off
def primes(n):
    r = Tensor.arange(1, n + 1)
    return (r % r[:, None] == 0).count_nonzero(dim=0) == 2

# %% right, each line
lambda n: primes(n).int().realize()

# %% right: no proper divisor
def primes(n):
    numbers = Tensor.arange(n)
    proper = Tensor.arange(1, n + 1)[:, None] + 1
    divided = (numbers % proper == 0) & (proper < numbers)
    return (divided.sum(axis=0) == 0) & (numbers > 1)
