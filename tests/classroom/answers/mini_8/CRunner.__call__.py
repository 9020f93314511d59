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
