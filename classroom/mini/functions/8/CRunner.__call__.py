"""Hint: C knows nothing about NumPy. What does a `float*` want?
Hint: ctypes.c_void_p(array.ctypes.data) for each array, in the order of the parameters.
Because: An array is an address, and a promise about what lies there. C gets the address, and
believes the promise.
"""

# %% wrong: says It wants the address of its memory
def __call__(self, *arrays):
    self.function(*arrays)

# %% wrong: says nothing is stored
def __call__(self, *arrays):
    return None

# %% right: pointers to floats
def __call__(self, *arrays):
    self.function(*[a.ctypes.data_as(ctypes.POINTER(ctypes.c_float)) for a in arrays])

# %% right
def __call__(self, *arrays):
    pointers = [array.ctypes.data_as(ctypes.POINTER(ctypes.c_float)) for array in arrays]
    self.function(*pointers)
