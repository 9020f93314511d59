# %% shared
def product(a, n):
    result = a
    for _ in range(n - 1):
        result = result * a
    return result

# %% wrong, each line
product  # says too many multiplications
lambda a, n: a**n  # says POW
lambda a, n: a * n  # says case `a = [[1, 2, 3]]`, n = 2

# %% wrong: 99 multiplications
def power(a, n):
    t = a
    for _ in range(n - 1):
        t = t * a
    return t

# %% wrong: no products only
def power(a, n):
    return (a.log() * n).exp()

# %% right: all the squares first, then the product of those that n has a bit for
from functools import reduce

def power(a, n):
    squares = [a]
    for _ in range(n.bit_length() - 1):
        squares.append(squares[-1] * squares[-1])
    return reduce(lambda x, y: x * y, [s for k, s in enumerate(squares) if n >> k & 1])
