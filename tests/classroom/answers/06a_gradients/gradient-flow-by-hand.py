# %% wrong, each line
lambda grad, a, b: grad * b  # says a pair of UOps
lambda grad, a, b: ((a * b).cos() * b + 1, (a * b).cos() * a)  # forgets grad

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

# %% wrong: says At `a`
def sine_of_the_result(grad, a, b):
    at_product = grad * (a * b).sin()
    return at_product * b + grad, at_product * a
sine_of_the_result

# %% wrong: tinyframe does the walk
def flow(grad, a, b):
    x, y = Tensor(a), Tensor(b)
    return tuple(t.uop for t in ((x * y).sin() + x).gradient(x, y, gradient=Tensor(grad)))

# %% right: a list, and the factors the other way round
def flow(grad, a, b):
    half = (a * b).cos() * grad
    return [grad + b * half, a * half]

# %% right: a cosine as a sine a quarter turn ahead
def flow(grad, a, b):
    z = a * b
    at_product = grad * (z + 1.5707963267948966).sin()
    return at_product * b + grad, at_product * a
