# %% wrong: says the derivative of order 1
def once(f, x, n):
    return f(x).sum().gradient(x)[0]
once

# %% wrong: differences of differences, in 32 bits
def nth_derivative(f, x, n):
    if n == 0:
        return f(x)
    below, above = (nth_derivative(f, x + e, n - 1) for e in (-0.01, 0.01))
    return (above - below) / 0.02

# %% right: by recursion, the innermost first
def nth_derivative(f, x, n):
    return f(x) if n == 0 else nth_derivative(lambda t: f(t).sum().gradient(t)[0], x, n - 1)

# %% right: realizes on the way: that cuts nothing in tinyframe
def nth_derivative(f, x, n):
    y = f(x)
    while n:
        y, n = y.sum().gradient(x)[0].realize(), n - 1
    return y
