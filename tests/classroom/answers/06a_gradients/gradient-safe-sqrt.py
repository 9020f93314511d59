# %% wrong, each line
lambda x: x.abs().sqrt()  # says element
lambda x: (x > 0).where(x.abs().sqrt().detach(), 0.0)  # says went through detach()
lambda x: x.maximum(0).sqrt()  # nan, or infinite, at 0
lambda x: (x > 0).where((x.detach() > 0).where(x, 1.0).sqrt().detach(), 0.0)  # no nan, and no gradient

# %% wrong: says `nan` in the gradient
def outer_where_only(x):
    return (x > 0).where(x.sqrt(), 0.0)
outer_where_only

# %% wrong: a logarithm has the same trouble at 0
def safe_sqrt(x):
    return (x > 0).where((x.log() * 0.5).exp(), 0)

# %% right, each line
lambda x: x.abs().sqrt() * (x > 0)  # I expected nan at 0; but abs() takes a constant there, so nothing gets back to x

# %% right: arithmetic in place of where
def safe_sqrt(x):
    inside = (x > 0).detach()
    safe = x * inside.float() + (1 - inside.float())
    return safe.sqrt() * inside.float()
