# %% right, each line
lambda labels, n: Tensor.ones(len(labels)) @ (labels[:, None] == Tensor.arange(n))  # ones times one-hot
lambda labels, n: (Tensor.arange(n)[:, None] == labels).sum(axis=1)  # the table the other way round
