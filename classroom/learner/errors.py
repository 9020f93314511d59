"""An error in a notebook's cell: the message and the learner's own lines, and no others.

    ShapeError: shapes (2,) and (3,) do not broadcast

    line 2 of this cell:
          1  a, b = Tensor([1.0, 2.0]), Tensor([1.0, 2.0, 3.0])
    --->  2  total = a + b
          3  print(total.tolist())

    %tb shows every step.

IPython's own report also has the frames inside tinyframe, NumPy and the checks, which are pages. It
is one `%tb` away. In plain Python nothing changes. Nothing but Python's own library is imported
here: a notebook may not have set its environment yet.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

from classroom.frames import Line, learners_lines

AROUND = 2  # lines shown before and after one that was running
MOST = 3  # places of the learner's: of many the innermost
BOLD, QUIET, PLAIN = "\033[1m", "\033[2m", "\033[0m"
MARKS = re.compile(r"\033\[[\d;]*m")
SEE_ALL = "%tb shows every step."
FORGOTTEN = """\
Is it made further up? A kernel that was restarted has forgotten it. In JupyterLab, click into
this cell, then Run → Run All Above Selected Cell."""


def install(shell: Any) -> None:
    """From now on this IPython shell reports errors that way."""
    shell.set_custom_exc((Exception, KeyboardInterrupt), report)


def report(
    shell: Any, kind: type[BaseException], error: BaseException, traceback: TracebackType, **_: Any
) -> list[str] | None:
    """Shows an error; IPython calls this. Where no line is the learner's, all of it is shown."""
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, traceback  # for %tb
    lines = [*learners_lines(traceback)]
    if not lines:
        shell.showtraceback((kind, error, traceback))
        return None
    text = described(kind, error, lines, shell.compile.format_code_name)
    if os.environ.get("NO_COLOR"):
        text = MARKS.sub("", text)
    shell._showtraceback(kind, error, text.split("\n"))
    return text.split("\n")


def described(
    kind: type[BaseException],
    error: BaseException,
    lines: list[Line],
    cell_of: Callable[[str], tuple[str, str] | None],
) -> str:
    """The message, and the learner's lines that were running, the innermost last.

    cell_of: ("Cell", "In[3]") for the file name that IPython gave to a cell's code.
    """
    words = str(error) or ("you stopped this cell" if kind is KeyboardInterrupt else "")
    head = f"{BOLD}{kind.__name__}{PLAIN}{f': {words}' if words else ''}"
    this_cell = lines[0].frame.f_code.co_filename
    pieces = []
    for line in lines:
        file = line.frame.f_code.co_filename
        cell = cell_of(file)
        place = "this cell" if file == this_cell else f"cell {cell[1].strip('In')}" if cell else ""
        pieces.append(_excerpt(line, place or os.path.basename(file)))
    shown = list(dict.fromkeys(pieces))[-MOST:]  # of a recursion, each line once
    forgotten = [FORGOTTEN] * (kind is NameError)
    return "\n\n".join([head, *shown, *forgotten, f"{QUIET}{SEE_ALL}{PLAIN}"])


def _excerpt(line: Line, place: str) -> str:
    """A line with those around it, and where it stands."""
    code = line.frame.f_code
    inside = "" if code.co_name in ("<module>", "<lambda>") else f", in {code.co_name}()"
    source = linecache.getlines(code.co_filename, line.frame.f_globals)
    first, last = max(line.number - AROUND, 1), min(line.number + AROUND, len(source))
    while last > line.number and not source[last - 1].strip():
        last -= 1
    rows = [f"line {line.number} of {place}{inside}:"]
    for number in range(first, last + 1):
        text = source[number - 1].rstrip()
        if number == line.number:
            rows.append(f"--->{number:4}  {BOLD}{text}{PLAIN}")
        else:
            rows.append(f"    {number:4}  {text}".rstrip())
    return "\n".join(rows)
