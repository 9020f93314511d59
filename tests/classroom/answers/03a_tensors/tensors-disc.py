# %% shared
from tinyframe import Tensor
def disc(n, middle=None, radius=3, power=2):
    i = Tensor.arange(n) - (n // 2 if middle is None else middle)
    return abs(i)[:, None] ** power + abs(i) ** power < (n / radius) ** power

# %% wrong, each line
lambda n: ~disc(n)  # says Inside and outside are swapped
lambda n: disc(n)[0]  # says has 1 axis

# %% wrong: says There is a loop
(
    lambda n: Tensor(
        [
            [(r - n // 2) ** 2 + (c - n // 2) ** 2 < n * n / 9 for c in range(n)]
            for r in range(n)
        ]
    )
)

# %% wrong: a picture from -1 to 1: half a point off, and a little too large
def disc(n):
    r = Tensor.linspace(-1, 1, n)
    return r.unsqueeze(0).square() + r.unsqueeze(1).square() < (2 / 3) ** 2

# %% wrong: a diamond
def disc(n):
    r = (Tensor.arange(n) - n // 2).abs()
    return r[:, None] + r < n / 3

# %% right, each line
lambda n: 1 * disc(n)

# %% right: meshgrid, hypot, lt
def disc(n):
    r = Tensor.arange(n).float() - n // 2
    y, x = Tensor.meshgrid(r, r)
    return x.hypot(y).lt(n / 3)
