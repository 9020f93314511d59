"""What a user can get wrong with Tensors, each as one exception.

Texts and habits differ in which built-in exception a mistake raises: a shape that does not
broadcast is a ValueError in NumPy, a RuntimeError in PyTorch and an IndexError elsewhere. Ours is
all that it is taken for, so `except ValueError` and `except RuntimeError` both catch it:

    try:
        Tensor.ones(2, 3) + Tensor.ones(4)
    except ValueError as error:
        print(error)    # shapes (2, 3) and (4,) do not broadcast: …

Every message names the two things that disagree.
"""

from __future__ import annotations


class ShapeError(ValueError, IndexError, RuntimeError):
    """Shapes that do not fit each other, or sizes that an operation cannot have."""


class AxisError(IndexError, ValueError, RuntimeError):
    """An axis that the shape does not have, or one named twice."""


class TensorIndexError(IndexError, ValueError, RuntimeError):
    """An index or a label out of bounds, or too many indices."""


class DTypeError(TypeError, ValueError, RuntimeError):
    """A dtype that an operation is not defined for."""


class DeviceError(ValueError, RuntimeError):
    """Tensors of two devices in one operation."""


class LimitError(RuntimeError):
    """A kernel that its device cannot run, since it needs more of something than there is."""


class GradientError(RuntimeError, AssertionError, ValueError):
    """A gradient that cannot be had: of a non-scalar, of an int, or where nothing asks for one."""


class AssignError(RuntimeError, ValueError):
    """A change in place that cannot be."""


class BindError(ValueError, AssertionError):
    """A value that a Variable cannot have, or no Variable at all."""


class SingleElementError(AssertionError, TypeError, ValueError, RuntimeError):
    """`item()`, `float(t)` or `int(t)` of a Tensor that has not exactly one element."""


class ModeError(ValueError, NotImplementedError):
    """A way of doing something, given by name, that there is not."""


def check_choice(name: str, value: object, *choices: str | None) -> None:
    """ModeError where an argument that names a way of doing something names none of these."""
    if value not in choices:
        *others, last = ["None" if choice is None else f'"{choice}"' for choice in choices]
        known = f"{', '.join(others)} or {last}" if others else last
        raise ModeError(f"{name} is {known}, not {value!r}")
