"""Call a C function by hand

Hint: What does C get of an array: its shape, its dtype? Only where it begins. So you need three
addresses, one float and one int, and the array that `out` points to has to exist before the call.
Hint: `np.empty(one.shape, np.float32)` is memory to write to, `address(…)` is in the cells above,
and `ctypes.c_float(t)` is a float of 32 bits. `np.ascontiguousarray(x)` puts a transposed array
in order. Give it a name, so that it lives until C is done.
Because: C gets five words in registers: three addresses, a float, an int. All that NumPy knows
about shape and order stays behind, so you see to that before the call.
Right: You called C by hand. It trusted every word you said.
"""

import ctypes
from typing import Any

import numpy as np

from classroom import differences
from classroom.ask import Wrong, call, describe, fresh_sizes, wrong_if
from classroom.mini import own_c

SECONDS = 60.0


SLOTS = ("`out`", "`from`", "`to`", "`t`", "`n`")


WHOLE = (ctypes.c_int, ctypes.c_uint, ctypes.c_long, ctypes.c_ulong, ctypes.c_longlong,
         ctypes.c_ulonglong, ctypes.c_ssize_t)  # fmt: skip


HALF_AN_ADDRESS = (
    "{slot} gets a bare int. ctypes passes that as a C int, which has 32 bits, and an address has "
    "64. Half of it would be lost, and C would write there: that's a crash. Say that it's an "
    "address."
)


class Watched:
    """The C function, as ctypes gives it, with a guard in front: what would crash is said."""

    def __init__(self, elements: int) -> None:
        self.argtypes: Any = None
        self.restype: Any = None
        self.elements, self.calls = elements, 0

    def __call__(self, *given: Any) -> None:
        wrong_if(len(given) != len(SLOTS), "`fade` takes five arguments, and you passed "
                 f"{len(given)}. C doesn't count them: it would take whatever happens to be "
                 "there.")  # fmt: skip
        kinds = [None] * 5 if self.argtypes is None else [*self.argtypes]
        wrong_if(len(kinds) != len(SLOTS), f"`argtypes` needs five types, and it has {len(kinds)}.")
        for slot, kind, value in zip(SLOTS[:3], kinds[:3], given[:3], strict=True):
            _expect_address(slot, kind, value)
        _, one, other = (getattr(value, "value", None) for value in given[:3])
        wrong_if(isinstance(one, int) and one == other, "`from` and `to` are at the same address. "
                 "An array that nobody has a name for is gone before C begins, and the next one "
                 "gets its memory. Give both of them names.")  # fmt: skip
        _expect_float(kinds[3], given[3])
        _expect_count(kinds[4], given[4], self.elements)
        function = own_c.fade_in_c()
        function.argtypes = self.argtypes
        self.calls += 1
        try:
            function(*given)
        except ctypes.ArgumentError as error:
            raise Wrong(f"ctypes says: {error}.") from None


def _expect_address(slot: str, kind: Any, value: Any) -> None:
    if value is None or (isinstance(value, ctypes.c_void_p) and not value.value):
        raise Wrong(f"{slot} gets no address, and C would go to address 0: that's a crash.")
    if kind is not None:
        plain = isinstance(kind, type) and issubclass(kind, ctypes._SimpleCData)
        if plain and not issubclass(kind, ctypes.c_void_p):
            raise Wrong(f"{slot} is an address, and its type in `argtypes` is {kind.__name__}.")
        return
    wrong_if(isinstance(value, (int, np.integer)), HALF_AN_ADDRESS.format(slot=slot))
    wrong_if(isinstance(value, np.ndarray), f"{slot} gets a NumPy array, and C has never heard of "
             "NumPy. It wants the address of the array's memory: `array.ctypes.data` is that "
             "address, as a Python int.")  # fmt: skip
    if isinstance(value, (list, tuple, float, bytes, str)):
        raise Wrong(f"{slot} has to be an address of memory.", got=describe(value))


def _expect_float(kind: Any, value: Any) -> None:
    kind = kind or type(value)
    wrong_if(kind in (ctypes.c_double, ctypes.c_longdouble), "`t` gets a double, of 64 bits. This "
             "C function takes a float, of 32 bits, and would read half of your "
             "number.")  # fmt: skip
    wrong_if(kind in (float, np.float32, np.float64), "`t` gets a Python float, and ctypes won't "
             "guess whether C wants a float of 32 bits or a double of 64. Say which: "
             "`ctypes.c_float(…)`.")  # fmt: skip
    wrong_if(kind is not ctypes.c_float, "`t` doesn't get a float. C receives whole numbers and "
             "floats in different registers, so it would look for `t` where nothing was put.",
             got=describe(value))  # fmt: skip


def _expect_count(kind: Any, value: Any, elements: int) -> None:
    if kind is None and isinstance(value, np.integer):
        raise Wrong("`n` gets a NumPy number, which ctypes can't convert. `int(…)` is one it can.")
    number = getattr(value, "value", value)
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise Wrong("`n` has to be a whole number.", got=describe(value))
    if kind is not None and kind not in WHOLE:
        raise Wrong(f"`n` is an int, and its type in `argtypes` is {kind.__name__}.")
    wrong_if(number > elements, "`n` is larger than the number of elements. C would go on reading, "
             "and writing, behind the end of your memory.", "", elements, number)  # fmt: skip
    wrong_if(number < elements, "`n` is too small: not all of the elements would be computed. It's "
             "all of them, whatever the shape.", "", elements, number)  # fmt: skip


def check(answer) -> None:
    """answer(function, one, other, t): a new array, made by the C function."""
    dice = np.random.default_rng()
    high, wide = fresh_sizes(2)
    big = dice.random((3, high, wide), dtype=np.float32)
    ten = np.array([0.0, 10.0], np.float32), np.array([10.0, 30.0], np.float32)
    cases: list[tuple[str, np.ndarray, np.ndarray, float]] = [
        ("`one = [0, 10]`, `other = [10, 30]`, `t = 0.25`", *ten, 0.25),
        ("two larger pictures", big[0], big[1], float(dice.random())),
        ("two pictures, transposed: views of memory in a different order", big[0].T, big[1].T, 0.5),
        ("a picture that's transposed, and one that isn't", big[2].T, big[1].T.copy(), 0.5),
    ]
    for case, one, other, t in cases:
        shown, kept = case[0] == "`", (one.copy(), other.copy())
        function = Watched(one.size)
        try:
            got = call(answer, function, one, other, t)
        except Wrong as wrong:
            raise Wrong(str(wrong), case, more=wrong.rows if shown else ()) from None
        wrong_if(not isinstance(got, np.ndarray), "The answer has to be the new array.", case,
                 "a NumPy array", describe(got))  # fmt: skip
        wrong_if(not function.calls, "You never called the C function.", case)
        if not (np.array_equal(one, kept[0]) and np.array_equal(other, kept[1])):
            raise Wrong("One of the two pictures has changed. Write into new memory.", case)
        expected = (1 - t) * kept[0] + t * kept[1]
        if got.shape != expected.shape:
            raise Wrong(differences.of_shapes(got.shape, expected.shape), case)
        if np.allclose(got, expected, rtol=1e-4, atol=1e-5):
            continue
        wrong_if(got.dtype != np.float32, f"`out` is an array of {got.dtype}. C writes floats of "
                 "32 bits into it, so that's what it has to be made for.", case)  # fmt: skip
        if np.allclose(got, t * kept[0] + (1 - t) * kept[1], atol=1e-5):
            raise Wrong("The two pictures are swapped.", case)
        wrong_if(not one.flags.c_contiguous, "C sees an address, and no shape. A transposed array "
                 "has the same memory as before, in the same order, so element i isn't where C "
                 "looks. `np.ascontiguousarray(x)` puts the elements in order.", case)  # fmt: skip
        text = differences.of_values(got, expected, named=shown)
        both = (describe(expected.tolist()), describe(got.tolist())) if shown else ("", "")
        raise Wrong(text or "The values are wrong.", case, *both)

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
