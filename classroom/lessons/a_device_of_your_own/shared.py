"""What several exercises of this lesson need."""

import inspect
from collections.abc import Mapping
from typing import Any

from classroom.conformed import Marks
from tinyframe import dtypes
from tinyframe.dtype import DType


def _kind(value: Any) -> str:
    """A class's name, or what an object is one of; no address, which would never be the same."""
    if inspect.isclass(value):
        return f"the class {value.__name__}"
    return f"an object of the class {type(value).__name__}"


# what of a backend, and the box of the table that tells whether it's mended
PLACES: tuple[tuple[str, str, DType | None], ...] = (
    ("something is lost on the way out of memory", "memory", None),
    ("a store that a condition should have stopped", "conditions of stores", None),
    ("a division of integers", "divide, rounding down", dtypes.int),
    ("a choice between two values", "choose", dtypes.float),
    ("a comparison of unsigned numbers", "less", dtypes.ushort),
)


def _broken(marks: Mapping[str, Marks]) -> list[tuple[str, str]]:
    """The places that are still broken, and the story of each."""
    found = [(place, _sentence(marks[row][dtype])) for place, row, dtype in PLACES]
    return [(place, story) for place, story in found if story]


def _sentence(story: str) -> str:
    """What a story says first; "" of none."""
    if not story:
        return ""
    head, said = story.splitlines()[:2]
    return f"{head.partition(', on ')[0]}: {said.strip()}"
