# %% wrong, each line
lambda x, y: x.maximum(y)  # says There's a maximum in your graph
lambda x, y: (x < y).where(y, x)  # says here the second one is
lambda x, y: (x < y).where(y, x).sum()  # says different shape
lambda x, y: ((x + y) + ((x + y * -1) * (x + y * -1)).sqrt()) * 0.5  # says op SQRT
lambda x, y: (~(x >= y)).where(y, x)  # x is NaN, and y is chosen
lambda x, y: -((-x).minimum(-y))  # a MAX in disguise
lambda x, y: np.maximum(x.numpy(), y.numpy())  # says has to be a Tensor

# %% right, each line
lambda x, y: ((x < y) + (y != y)).where(y, x)  # + for |

# %% right
def in_two_steps(x, y):
    chosen = (x < y).where(y, x)
    return (y != y).where(y, chosen)
in_two_steps
