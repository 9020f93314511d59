"""Hint: An Array is a shape and a function from an index to a number. You have a list and a shape.
Which function, given an index, finds the right element of the list?
Hint: `flat` says at which place of the list an index is. Wrap that into a `lambda`, and give it
to Array with the shape.
Because: The list is kept as it is. Only when somebody asks for an index is its place worked out.
"""

from classroom.mini.check import expect, promise
from classroom.mini.functions.part3.shared import is_array


@promise("An Array reads its elements from a list", needs=("flat",))
def reads_a_list(mini) -> None:
    said = "Array.of([10, 20, 30, 40, 50, 60], 2, 3)"
    array = mini.Array.of([10, 20, 30, 40, 50, 60], 2, 3)
    is_array(said, array, mini, (2, 3))
    expect(f"{said}.at((1, 0))", array.at((1, 0)), 40, {
        20: "You counted a row as 1 element. `flat` knows the place, given the shape (2, 3).",
        30: "You counted a row as 2 elements. `flat` knows the place, given the shape (2, 3).",
    })  # fmt: skip
    expect("Array.of([7]).at(())", mini.Array.of([7]).at(()), 7)

# %% wrong: the list itself in place of a function
def of(values, *shape):
    return Array(shape, values)

# %% wrong: says You counted a row as 1 element
@staticmethod
def of(values, *shape):
    return Array(shape, lambda index: values[index[0]])

# %% right: strides worked out once
def of(values, *shape):
    strides = [prod(shape[k + 1:]) for k in range(len(shape))]
    return Array(shape, lambda i: values[sum(a * s for a, s in zip(i, strides))])
