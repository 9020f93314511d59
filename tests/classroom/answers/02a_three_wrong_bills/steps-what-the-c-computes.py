# %% wrong, each line
lambda q, p: (q * p).sum(axis=1)  # says Nothing is cut off the prices
lambda q, p: (q.int() * p.int()).sum(axis=0)  # says shape
lambda q, p: (q.int() * p.int()).sum(axis=1).tolist()  # says has to be a Tensor
lambda q, p: (q * p).int().sum(1)  # cut off too late
lambda q, p: (q.int() * p.int()).sum(1, keepdim=True)  # a column, where the bills are a row

# %% right, each line
lambda q, p: q.int() @ p.int()  # a matrix product
lambda q, p: Tensor((np.trunc(q.numpy()) * np.trunc(p.numpy())).sum(1))  # NumPy computes the same, and the result is a Tensor
