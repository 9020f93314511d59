# %% wrong: as many as axes
def tolist(self):
    return list(self.at(unflat(p, self.shape)) for p in range(len(self.shape)))

# %% wrong: places in place of indices
def tolist(self):
    return [self.at(place) for place in range(prod(self.shape))]

# %% wrong: says IndexError
def tolist(self):
    return [self.at((i,)) for i in range(self.shape[0])]

# %% right: all indices, in reading order
def tolist(self):
    import itertools
    return [self.at(i) for i in itertools.product(*map(range, self.shape))]

# %% right: a map
def tolist(self):
    return [*map(lambda place: self.at(unflat(place, self.shape)), range(prod(self.shape)))]
