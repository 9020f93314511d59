"""What stands around the course: checked exercises, progress, the grader, notebooks made anew.

    from classroom import check, hint, predict, progress

Importing this imports nothing else; a notebook may set the environment before or after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from classroom.learner.notebook import check, hint, predict, progress

__all__ = ["check", "hint", "predict", "progress"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'classroom' has no attribute {name!r}")
    from classroom.learner import notebook

    return getattr(notebook, name)
