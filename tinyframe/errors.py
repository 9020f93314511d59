"""User errors: one exception for each kind of mistake with Tensors.

Frameworks disagree on which built-in exception a mistake raises: shapes that do not broadcast are a
ValueError in NumPy, a RuntimeError in PyTorch and an IndexError elsewhere. Ours inherit from all of
them, so `except ValueError` and `except RuntimeError` both work:

    try:
        Tensor.ones(2, 3) + Tensor.ones(4)
    except ValueError as error:
        print(error)    # shapes (2, 3) and (4,) do not broadcast: …

Every message names the two things that disagree.
"""

from __future__ import annotations


class ShapeError(ValueError, IndexError, RuntimeError):
    """Shapes that do not match, or sizes that an operation does not allow."""


class AxisError(IndexError, ValueError, RuntimeError):
    """An axis out of range, or one given twice."""


class TensorIndexError(IndexError, ValueError, RuntimeError):
    """An index or a label out of bounds, or too many indices."""


class DTypeError(TypeError, ValueError, RuntimeError):
    """A dtype that an operation is not defined for."""


class DeviceError(ValueError, RuntimeError):
    """Tensors of two devices in one operation."""


class LimitError(RuntimeError):
    """A kernel that needs more of some resource than its device has."""


class GradientError(RuntimeError, AssertionError, ValueError):
    """A gradient that cannot be computed: of a non-scalar or an int, or if nothing requires one."""


class AssignError(RuntimeError, ValueError):
    """An in-place change that is not possible."""


class BindError(ValueError, AssertionError):
    """A value outside a Variable's limits, or bind() of something that is not a Variable."""


class SingleElementError(AssertionError, TypeError, ValueError, RuntimeError):
    """`item()`, `float(t)` or `int(t)` of a Tensor without exactly one element."""


class ModeError(ValueError, NotImplementedError):
    """An unknown name of a mode, such as a kind of padding or reduction."""


def check_choice(name: str, value: object, *choices: str | None) -> None:
    """ModeError if the value of an argument is none of these choices."""
    if value not in choices:
        *others, last = ["None" if choice is None else f'"{choice}"' for choice in choices]
        known = f"{', '.join(others)} or {last}" if others else last
        raise ModeError(f"{name} must be {known}, not {value!r}")
