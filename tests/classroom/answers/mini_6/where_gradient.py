# %% wrong: says These two are swapped
@gradient_rule(Ops.WHERE)
def where_gradient(grad, node, condition, x, y):
    return None, condition.where(0, grad), condition.where(grad, 0)

# %% wrong: says a tuple with a gradient for each source
@gradient_rule(Ops.WHERE)
def where_gradient(grad, node, condition, x, y):
    return condition.where(grad, 0), condition.where(0, grad)

# %% wrong: says The condition's gradient is None
@gradient_rule(Ops.WHERE)
def where_gradient(grad, node, condition, x, y):
    return condition.where(grad, 0), condition.where(0, grad), None

# %% right: a condition is 1 or 0
@gradient_rule(Ops.WHERE)
def where_gradient(grad, node, condition, x, y):
    return None, grad * condition, grad * (1 - condition)

# %% right: a zero made from grad itself
@gradient_rule(Ops.WHERE)
def where_gradient(grad, node, condition, x, y):
    zero = grad - grad
    return None, condition.where(grad, zero), condition.where(zero, grad)
