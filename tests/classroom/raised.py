"""Where in the classroom a refusal was raised."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from classroom.exercise import Wrong
from classroom.exercise_file import without_answers

LABEL = "raised in"


def tell_where() -> None:
    """From now on, `Wrong` has one more row, where it was raised: `rules/rules_bounds.py:195`."""
    made = Wrong.__init__

    def made_here(self: Wrong, *args: Any, **named: Any) -> None:
        made(self, *args, **named)
        caller = sys._getframe(1)
        place = place_in(Path(caller.f_code.co_filename), caller.f_lineno)
        self.rows = (*self.rows, (LABEL, place))

    Wrong.__init__ = made_here  # type: ignore[method-assign]


def refusals(path: Path) -> Iterator[str]:
    """The places of a file where `Wrong` is raised."""
    for node in ast.walk(ast.parse(without_answers(path.read_text()))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == Wrong.__name__:
            yield place_in(path, node.lineno)


def place_in(path: Path, line: int) -> str:
    return f"{path.parent.name}/{path.name}:{line}"
