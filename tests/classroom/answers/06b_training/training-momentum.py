# %% wrong, each line
lambda p, v, g, r: (p - r * v, 0.9 * v + g)  # says old velocity
lambda p, v, g, r: (0.9 * v + g, p - r * (0.9 * v + g))  # says swapped
lambda p, v, g, r: (p + r * (0.9 * v + g), 0.9 * v + g)  # says uphill
lambda p, v, g, r: (p - r * g, g)  # says plain step
lambda p, v, g, r: p - r * (0.9 * v + g)  # says a pair of Tensors

# %% wrong: an optimizer is no velocity
def momentum_step(parameter, velocity, gradient, rate):
    p = Tensor(parameter.numpy(), requires_grad=True)
    p.grad = gradient
    o = nn.optim.SGD([p], lr=rate, momentum=0.9)
    return p, o

# %% wrong: the classical form, whose velocity holds the rate: not what was asked
def momentum_step(parameter, velocity, gradient, rate):
    velocity = 0.9 * velocity - rate * gradient
    return parameter + velocity, velocity

# %% right: the step first, and the velocity from it
def momentum_step(parameter, velocity, gradient, rate):
    step = rate * gradient + velocity * (rate * 0.9)
    return [parameter - step, step / rate]

# %% right: lerp from v to 10 g by a tenth is 0.9 v + g
def momentum_step(parameter, velocity, gradient, rate):
    velocity = velocity.lerp(gradient * 10, 0.1)
    return parameter - rate * velocity, velocity
