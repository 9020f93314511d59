"""NumPy wherever there are numbers: strides of arrays, einsum's axes, arrays of counts."""

import numpy as np
from numpy.lib.stride_tricks import as_strided


def array_of(view):
    """An array of this view; the numbers in it are never looked at."""
    return as_strided(np.zeros(1, np.int8), view["shape"], view["strides"])


def moved(view, name, argument):
    array, offset = array_of(view), view["offset"]
    if name == "permute":
        array = array.transpose(argument)
    elif name == "flip":
        offset += sum((array.shape[axis] - 1) * array.strides[axis] for axis in argument)
        array = np.flip(array, argument)
    elif name == "shrink":
        offset += np.dot(np.array(argument)[:, 0], array.strides)
        array = array[tuple(slice(*pair) for pair in argument)]
    elif name == "expand":
        array = np.broadcast_to(array, argument)
    else:
        axis, size, step = argument
        array = np.lib.stride_tricks.sliding_window_view(array, size, axis)
        array = array[(slice(None),) * axis + (slice(None, None, step),)]
    return {"shape": array.shape, "strides": array.strides, "offset": offset}


def reshaped(view, shape):
    array = array_of(view).view()
    try:
        array.shape = shape  # raises where it would have to copy
    except AttributeError:
        return "copy"
    return {"shape": array.shape, "strides": array.strides, "offset": view["offset"]}


def einsum(formula, *tensors):
    """One Tensor after another, all letters in the order of the alphabet; permuted at the end."""
    before, after = formula.split("->")
    names = before.split(",")
    letters = sorted({*before} - {","})

    def whole(name, tensor):
        in_order = [name.index(c) for c in sorted(name)]
        shape = np.array([tensor.shape[name.index(c)] if c in name else 1 for c in letters])
        return tensor.permute(*in_order).reshape(*map(int, shape))

    found = np.prod([whole(*pair) for pair in zip(names, tensors, strict=True)])
    gone = [n for n, c in enumerate(letters) if c not in after]
    found = found.sum(*gone) if gone else found
    left = [c for c in letters if c in after]
    return found.permute(*(left.index(c) for c in after)) if after else found
