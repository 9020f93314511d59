# %% shared
from classroom.mini import triumphs

# %% wrong, each line
lambda f, x: triumphs.circle(f, x)[:2]  # says three: across, up, radius
lambda f, x: (0.0, 0.5, 0.5)  # says has to be an array

# %% wrong: says can't be negative
import numpy as np
def signed_radius(f, x):
    across, up, radius = triumphs.circle(f, x)
    return across, up, np.where(up < f(x).numpy(), -radius, radius)
signed_radius

# %% wrong: says `across`
def of_the_slope_alone(f, x):
    (s,) = f(x).sum().gradient(x)
    s = s.numpy()
    return s, s, abs(s)
of_the_slope_alone

# %% wrong: without the absolute value
def circle(f, x):
    y = f(x).numpy()
    s = f(x).sum().gradient(x)[0].numpy()
    b = f(x).sum().gradient(x)[0].sum().gradient(x)[0].numpy()
    x = x.numpy()
    return [x - s * (1 + s**2) / b, y + (1 + s**2) / b, (1 + s**2) ** 1.5 / b]

# %% wrong: the centre on the wrong side: a sign
def circle(f, x):
    (s,) = f(x).sum().gradient(x)
    (b,) = s.sum().gradient(x)
    s, b = s.numpy(), b.numpy()
    return x.numpy() + s * (1 + s**2) / b, f(x).numpy() + (1 + s**2) / b, (1 + s**2) ** 1.5 / abs(b)

# %% right: all in mini's Tensors, the absolute value as a root
def circle(f, x):
    (s,) = f(x).sum().gradient(x)
    (b,) = s.sum().gradient(x)
    q = 1 + s * s
    return x - s * q / b, f(x) + q / b, q * q.sqrt() / (b * b).sqrt()

# %% right: one array with three rows
def circle(f, x):
    y = f(x)
    (s,) = y.sum().gradient(x)
    (b,) = s.sum().gradient(x)
    x, y, s, b = (t.numpy() for t in (x, y, s, b))
    return np.array([x - s * (1 + s**2) / b, y + (1 + s**2) / b, (1 + s**2) ** 1.5 / abs(b)])
