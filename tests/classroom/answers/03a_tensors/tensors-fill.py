# %% wrong, each line
lambda x, holes: holes.where(x.mean(), x)  # says includes the elements in the holes
lambda x, holes: holes.where(0, x)  # says [0, 0] is 0
lambda x, holes: x.where(~holes, x[~holes].mean())  # PyTorch's x.where(mask, other); here the mask stands in front

# %% right, each line
lambda x, holes: holes.where(x[~holes].mean(), x)
lambda x, holes: x * ~holes + holes * (x * ~holes).sum() / (~holes).sum()  # multiplied by the mask
