"""Hint: Nothing is moved! Somebody will ask the new Array for an index of *its own*. What do you
have to know in order to answer, and who can tell you?
Hint: Two functions in a row: first the one that turns a new index into an old one, then the one
that has the numbers. The new Array's function is the two together.
Because: It is the composition of two functions. So a transpose of a million by a million costs
nothing, and neither does the transpose of the transpose.
"""

# %% wrong: it computes everything at once: nothing may be stored
def moved(self, shape, source_index):
    values = [self.at(source_index(unflat(p, shape))) for p in range(prod(shape))]
    return Array.of(values, *shape)

# %% wrong: in place
def moved(self, shape, source_index):
    self.shape, old = shape, self.at
    self.at = lambda index: old(source_index(index))
    return self

# %% wrong: says The elements did not move
def moved(self, shape, source_index):
    return Array(shape, lambda index: self.at(index))

# %% wrong: says `at` should give a number
def moved(self, shape, source_index):
    return Array(shape, source_index)

# %% wrong: says Elements were computed when the Array was made
def moved(self, shape, source_index):
    import itertools
    stored = {i: self.at(source_index(i)) for i in itertools.product(*map(range, shape))}
    return Array(shape, stored.get)

# %% wrong: says should give an Array. Is there a `return`?
def moved(self, shape, source_index):
    Array(shape, lambda index: self.at(source_index(index)))

# %% wrong: says The shape should be (3, 2)
def moved(self, shape, source_index):
    return Array(self.shape, lambda index: self.at(source_index(index)))

# %% right: tuples whatever comes
def moved(self, shape, source_index):
    return Array(tuple(shape), lambda index: self.at(tuple(source_index(index))))

# %% right
def moved(self, shape, source_index):
    moved = Array(shape, None)
    moved.at = lambda index: self.at(source_index(index))
    return moved
