# %% shared
import numpy as np
import ctypes
def address(array):
    return ctypes.c_void_p(array.ctypes.data)

def in_order(array):
    return np.ascontiguousarray(array)

def fade(function, one, other, t):
    one, other, out = in_order(one), in_order(other), np.empty(one.shape, np.float32)
    function(address(out), address(one), address(other), ctypes.c_float(t), one.size)
    return out

# %% wrong: says never heard of NumPy
def with_arrays(function, one, other, t):
    out = np.empty_like(one)
    function(out, one, other, t, one.size)
    return out
with_arrays

# %% wrong: says Half of it would be lost
def with_ints(function, one, other, t):
    out = np.empty_like(one)
    pointers = (array.ctypes.data for array in (out, one, other))
    function(*pointers, ctypes.c_float(t), one.size)
    return out
with_ints

# %% wrong: says won't guess
def with_a_python_float(function, one, other, t):
    out = np.empty_like(one)
    function(address(out), address(one), address(other), t, one.size)
    return out
with_a_python_float

# %% wrong: says read half of your number
def with_a_double(function, one, other, t):
    out = np.empty_like(one)
    function(address(out), address(one), address(other), ctypes.c_double(t), one.size)
    return out
with_a_double

# %% wrong: says too small
def rows_only(function, one, other, t):
    out = np.empty_like(one)
    function(address(out), address(one), address(other), ctypes.c_float(t), len(one))
    return out
rows_only

# %% wrong: says behind the end
def in_bytes(function, one, other, t):
    out = np.empty_like(one)
    function(address(out), address(one), address(other), ctypes.c_float(t), one.nbytes)
    return out
in_bytes

# %% wrong: says an array of float64
def into_doubles(function, one, other, t):
    out = np.zeros(one.shape)
    function(address(out), address(one), address(other), ctypes.c_float(t), one.size)
    return out
into_doubles

# %% wrong: says has changed
def into_the_first(function, one, other, t):
    function(address(one), address(one), address(other), ctypes.c_float(t), one.size)
    return one
into_the_first

# %% wrong: says C sees an address, and no shape
def as_it_lies(function, one, other, t):
    out = np.empty(one.shape, np.float32)
    function(address(out), address(one), address(other), ctypes.c_float(t), one.size)
    return out
as_it_lies

# %% wrong: says swapped
def the_other_way(function, one, other, t):
    return fade(function, other, one, t)
the_other_way

# %% wrong: says takes five arguments
def four_arguments(function, one, other, t):
    out = np.empty_like(one)
    function(address(out), address(one), address(other), ctypes.c_float(t))
    return out
four_arguments

# %% wrong: says never called
def without_c(function, one, other, t):
    return (1 - t) * one + t * other
without_c

# %% wrong: says address 0
def nowhere(function, one, other, t):
    out = np.empty_like(one)
    function(None, address(one), address(other), ctypes.c_float(t), one.size)
    return out
nowhere

# %% wrong: right only if all three lie in the same order: empty_like keeps that of `one`
def fade(function, one, other, t):
    out = np.empty_like(one)
    function(address(out), address(one), address(other), ctypes.c_float(t), out.size)
    return out

# %% wrong: a NumPy number for n, which ctypes doesn't take
def fade(function, one, other, t):
    out = np.empty(one.shape, np.float32)
    n = np.prod(one.shape)
    one, other = map(np.ascontiguousarray, (one, other))
    function(address(out), address(one), address(other), ctypes.c_float(t), n)
    return out

# %% wrong: the copies are gone before C begins
def fade(function, one, other, t):
    out = np.empty(one.shape, np.float32)
    def at(array):
        return address(np.ascontiguousarray(array))
    function(address(out), at(one), at(other), ctypes.c_float(t), out.size)
    return out

# %% wrong: says has to be an address
def by_bytes(function, one, other, t):
    out = np.empty_like(one).tobytes()
    function(out, one.tobytes(), other.tobytes(), ctypes.c_float(t), one.size)
    return np.frombuffer(out, np.float32).reshape(one.shape)
by_bytes

# %% wrong: says doesn't get a float
def in_percent(function, one, other, t):
    out = np.empty_like(one)
    function(address(out), address(one), address(other), int(100 * t), one.size)
    return out
in_percent

# %% wrong: says has to be a whole number
def with_a_shape(function, one, other, t):
    out = np.empty_like(one)
    function(address(out), address(one), address(other), ctypes.c_float(t), one.shape)
    return out
with_a_shape

# %% wrong: says is an int, and its type
def all_floats(function, one, other, t):
    function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_float] * 2
    return fade(function, one, other, t)
all_floats

# %% wrong: says needs five types
def three_types(function, one, other, t):
    function.argtypes = [ctypes.c_void_p] * 3
    return fade(function, one, other, t)
three_types

# %% wrong: says its type in `argtypes` is
def addresses_are_ints(function, one, other, t):
    function.argtypes = [ctypes.c_long] * 3 + [ctypes.c_float, ctypes.c_int]
    return fade(function, one, other, t)
addresses_are_ints

# %% wrong: says ctypes says
def arrays_for_addresses(function, one, other, t):
    function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_float, ctypes.c_int]
    out = np.empty_like(one)
    function(out, one, other, t, one.size)
    return out
arrays_for_addresses

# %% wrong: says has to be the new array
def as_a_list(function, one, other, t):
    return fade(function, one, other, t).tolist()
as_a_list

# %% wrong: says shape
def flat(function, one, other, t):
    return fade(function, one, other, t).ravel()
flat

# %% wrong: says 1 of the 2 elements is wrong
def rounded(function, one, other, t):
    return fade(function, one, other, t).round()
rounded

# %% wrong: says are at the same address
def one_twice(function, one, other, t):
    return fade(function, one, one, t)
one_twice

# %% right, each line
fade

# %% right
def by_argtypes(function, one, other, t):
    function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_float, ctypes.c_int]
    function.restype = None
    one, other = in_order(one), in_order(other)
    out = np.zeros(one.shape, np.float32)
    function(out.ctypes.data, one.ctypes.data, other.ctypes.data, t, one.size)
    return out
by_argtypes
