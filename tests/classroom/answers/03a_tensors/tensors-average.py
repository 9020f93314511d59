# %% wrong, each line
lambda a, b: (a + b) / 2  # says they wrapped around
lambda a, b: a // 2 + b // 2 + 1  # says [0] is 16
lambda a, b: (a.int() + b) / 2  # says no longer bytes
lambda a, b: ((a + b) / 2).cast('uint8')  # wrapped around
lambda a, b: (a.int() + b.int()) // 2  # not cast back
lambda a, b: a + (b - a) // 2  # b - a wraps around

# %% right, each line
lambda a, b: (a & b) + (a ^ b) // 2
lambda a, b: Tensor.stack([a, b]).mean(dim=0).cast('uint8')  # stack
