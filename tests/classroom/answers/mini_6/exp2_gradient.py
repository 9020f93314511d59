# %% wrong: forgets grad, which is 1 in both examples
@gradient_rule(Ops.EXP2)
def exp2_gradient(grad, node, x):
    return (node * math.log(2),)

# %% wrong: says The logarithm of 2 is missing
@gradient_rule(Ops.EXP2)
def exp2_gradient(grad, node, x):
    return (grad * node,)

# %% wrong: says Nearly, but not as close as 32 bits
@gradient_rule(Ops.EXP2)
def exp2_gradient(grad, node, x):
    return (grad * node * 0.69312,)

# %% right: the same node built again, and ln 2 as 1 / log2(e)
@gradient_rule(Ops.EXP2)
def exp2_gradient(grad, node, x):
    return (grad * x.exp2() / math.log2(math.e),)

# %% right
@gradient_rule(Ops.EXP2)
def exp2_gradient(grad, node, x):
    return (grad * x.exp2() * 0.6931471805599453,)
