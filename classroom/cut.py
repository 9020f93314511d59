"""Solutions are marked where they stand, in the worked version, and cut out of the learner's.

Two kinds of mark, the same in a script and in a notebook's cell:

    def double(x):                          def double(x):
        ### BEGIN SOLUTION                      ...
        return x + x               becomes
        ### END SOLUTION

    kernels = 2  ### SOLUTION      becomes  kernels = ...

So what is left runs, and an answer that is not there yet is an Ellipsis or gives None.

In a project's tasks, what students do not get stands between `### BEGIN HIDDEN` and
`### END HIDDEN`.
"""

from __future__ import annotations

import re

BEGIN, END, ONE_LINE = "### BEGIN SOLUTION", "### END SOLUTION", "### SOLUTION"
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN", "### END HIDDEN"
MARKED_LINE = re.compile(rf"(?P<kept>\s*[^=#,]*[^=#,!<>] = )[^=].*{ONE_LINE}")


def cut_solutions(text: str) -> str:
    """The text with `...` for each marked solution; it ends in a newline if it did before.

    Raises ValueError, with the number of the line, where marks do not pair or make no sense.
    """
    kept: list[str] = []
    opened = 0  # the line that a solution began on, counted from 1; 0 outside one
    for number, line in enumerate(text.split("\n"), 1):
        mark = line.strip()
        if mark == BEGIN:
            if opened:
                raise ValueError(f"line {number}: {BEGIN} inside the one of line {opened}")
            opened = number
            kept.append(line[: line.index(BEGIN)] + "...")
        elif mark == END:
            if not opened:
                raise ValueError(f"line {number}: {END}, and no solution has begun")
            opened = 0
        elif not opened:
            kept.append(_without_answer(line, number) if ONE_LINE in line else line)
        if mark not in (BEGIN, END) and (BEGIN in line or END in line):
            raise ValueError(f"line {number}: {mark!r}: a mark stands on a line of its own")
    if opened:
        raise ValueError(f"line {opened}: {BEGIN} without {END}")
    return "\n".join(kept)


def without_marks(text: str) -> str:
    """The text of a worked version as somebody would write it: its solutions, without the marks."""
    lines = [line for line in text.split("\n") if line.strip() not in (BEGIN, END)]
    return "\n".join(line.removesuffix(ONE_LINE).rstrip() for line in lines)


def _without_answer(line: str, number: int) -> str:
    """`name = ...` of a line `name = answer  ### SOLUTION`."""
    found = MARKED_LINE.fullmatch(line.rstrip())
    if not found:
        raise ValueError(f"line {number}: {ONE_LINE} ends a line of the form `name = answer`")
    return found["kept"] + "..."


def hidden_lines(text: str) -> set[int]:
    """The numbers of the lines, from 1, that students do not get, the marks included.

    Raises ValueError, with the number of the line, where marks do not pair.
    """
    found: set[int] = set()
    hidden = False
    for number, line in enumerate(text.splitlines(), 1):
        mark = line.strip()
        if mark in (BEGIN_HIDDEN, END_HIDDEN):
            if hidden is (mark == BEGIN_HIDDEN):
                raise ValueError(f"line {number}: {mark} without the other before it")
            hidden = mark == BEGIN_HIDDEN
            found.add(number)
        elif BEGIN_HIDDEN in line or END_HIDDEN in line:
            raise ValueError(f"line {number}: {mark!r}: a mark stands on a line of its own")
        elif hidden:
            found.add(number)
    if hidden:
        raise ValueError(f"{BEGIN_HIDDEN} without {END_HIDDEN}")
    return found
