"""Hint: C knows nothing about NumPy. What does a `float*` want?
Hint: ctypes.c_void_p(array.ctypes.data) for each array, in the order of the parameters.
Because: An array is an address, and a promise about what lies there. C gets the address, and
believes the promise.
"""

import ctypes

from classroom.mini.check import promise
from classroom.mini.functions.part8.shared import expect_device, several


@promise("C computes what the interpreter does", needs=("CRunner.__init__",),
         told={ctypes.ArgumentError: "C can't do anything with a NumPy array. It wants the address "
         "of its memory, as a ctypes.c_void_p."})  # fmt: skip
def c_computes(mini) -> None:
    for said, graph in several(mini):
        expect_device(mini, mini.CRunner, "CRunner", said, graph)

# %% wrong: says It wants the address of its memory
def __call__(self, *arrays):
    self.function(*arrays)

# %% wrong: says nothing is stored
def __call__(self, *arrays):
    return None

# %% right: pointers to floats
def __call__(self, *arrays):
    self.function(*[a.ctypes.data_as(ctypes.POINTER(ctypes.c_float)) for a in arrays])
