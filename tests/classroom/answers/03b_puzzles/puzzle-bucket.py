# %% right, each line
lambda a, edges: (edges <= a[:, None]).sum(1)  # turned round
lambda a, edges: len(edges) - (edges[:, None] > a).sum(0)  # all edges but those above
