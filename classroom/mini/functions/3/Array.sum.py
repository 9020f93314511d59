"""Hint: Take the shape (2, 3) and sum over axis 1. Somebody asks for element (1,) of the result.
Which indices of the old Array do you need? Now the same over axis 0.
Hint: An index of the result lacks one number. Cut it in two at `axis`, and put k between the
halves, for each k from 0 up to the size of that axis. Shapes can be cut the same way.
Because: The index and the shape are cut at the same spot. In the index a k goes in; out of the
shape, the size goes.
"""

# %% wrong: keepdim
def sum(self, axis):
    shape = tuple(1 if k == axis else n for k, n in enumerate(self.shape))
    return Array(shape, lambda i: sum(
        self.at(i[:axis] + (k,) + i[axis + 1:]) for k in range(self.shape[axis])))

# %% wrong: says An index has one number for each axis
def sum(self, axis):
    shape = self.shape[:axis] + self.shape[axis + 1 :]
    return Array(shape, lambda i: sum(
        self.at(i[:axis] + (k,) + i[axis + 1 :]) for k in range(self.shape[axis])))

# %% wrong: says The summed axis should disappear
def sum(self, axis):
    shape = self.shape[:axis] + (1,) + self.shape[axis + 1 :]
    return Array(shape, lambda i: sum(self.at((*i[:axis], k, *i[axis + 1 :]))
                                      for k in range(self.shape[axis])))

# %% wrong: says Element
def sum(self, axis):
    shape = self.shape[:axis] + self.shape[axis + 1 :]
    return Array(shape, lambda i: sum(self.at((*i, k)) for k in range(self.shape[axis])))

# %% right: tuples put together
def sum(self, axis):
    n = self.shape[axis]
    def at(index):
        total = 0
        for k in range(n):
            total = total + self.at(index[:axis] + (k,) + index[axis:])
        return total
    return Array(self.shape[:axis] + self.shape[axis + 1:], at)

# %% right: pop
def sum(self, axis=0):
    shape = list(self.shape)
    n = shape.pop(axis)
    return Array(tuple(shape), lambda i: sum(self.at((*i[:axis], k, *i[axis:])) for k in range(n)))
