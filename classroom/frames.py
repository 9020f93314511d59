"""Whose code was running: the learner's lines in a traceback, without those of the framework.

Nothing but Python's own library is imported here.
"""

from __future__ import annotations

import linecache
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import NamedTuple

# Frames from here are not the learner's: the course, the framework, Python and what is installed.
_ROOT = Path(__file__).resolve().parents[1]
_NOT_THE_LEARNERS = (
    str(_ROOT / "classroom"),
    str(_ROOT / "solutions"),
    str(_ROOT / "tinyframe"),
    *{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")},
    "<frozen",
)


class Line(NamedTuple):
    """A line of the learner's that was running: its number, its text, and the frame it was in."""

    number: int
    text: str
    frame: FrameType


def learners_lines(traceback: TracebackType | None) -> Iterator[Line]:
    """The learner's own lines in a traceback, the innermost last."""
    while traceback is not None:
        frame, number = traceback.tb_frame, traceback.tb_lineno
        file = frame.f_code.co_filename
        # Some instructions that Python adds, as those that keep variables for inner functions, are
        # on no line.
        if number and number > 0 and not file.startswith(_NOT_THE_LEARNERS):
            text = linecache.getline(file, number, frame.f_globals).strip()
            yield Line(number, text, frame)
        traceback = traceback.tb_next
