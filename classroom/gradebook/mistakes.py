"""What went wrong in a task, and in how many students' work: mistakes that are alike, counted.

Everybody is asked different questions, so what the grader found differs, too. Two mistakes are the
same where the sentences are, without numbers, quoted values and whatever stands in brackets.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from classroom.gradebook.feedback import parts_of
from classroom.gradebook.sheet import Row, Sheet
from classroom.grader.judge import NOT_LOADED, TIME_IS_UP
from classroom.grader.report import Row as Check

NOT_ASKED = (NOT_LOADED, TIME_IS_UP, "not asked, because")


def checks_of(row: Row, task: str) -> list[Check]:
    """What became of a task's checks; none where nothing could be graded."""
    report = row.record.report
    return [check for check in report.rows if check.task == task] if report else []


@dataclass
class Mistake:
    """What several students got wrong in the same way. parts: where, by name."""

    shape: str
    example: str
    check: Check
    students: dict[str, Row] = field(default_factory=dict)
    parts: dict[str, None] = field(default_factory=dict)


def shape_of(text: str) -> str:
    """What is left of a sentence about a mistake when numbers, quoted values and whatever stands in
    brackets become dots: the same for students who were asked different questions.

    >>> shape_of("board[0, 1] is 3, and should be 1")
    'board[…] is …, and should be …'
    """
    text = re.sub(r"(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"", "…", text)
    text = _without_brackets(text)
    text = re.sub(r" of [^,]+? is (?=.*, and should be )", " of … is ", text)
    text = re.sub(r"(?<![\w.])[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|nan\b|inf\b)", "…", text)
    return re.sub(r"…(?:, …)+", "…", text)


def _without_brackets(text: str) -> str:
    """What is in the outermost brackets as dots; those that are empty stay so."""
    shown, depth, since = [], 0, 0
    for place, c in enumerate(text):
        if c in "([{":
            if not depth:
                shown.append(c)
                since = place
            depth += 1
        elif c in ")]}" and depth:
            depth -= 1
            if not depth:
                shown.append(c if place == since + 1 else f"…{c}")
        elif not depth:
            shown.append(c)
    return "".join(shown) + "…" * bool(depth)


def mistakes_of(
    rows: Sequence[Row], task: str, shape: Callable[[str], str], with_hidden: bool = True
) -> list[Mistake]:
    """The commonest first. A student counts once for each."""
    found: dict[str, Mistake] = {}
    for row in rows:
        for check in checks_of(row, task):
            if check.passed or check.is_open or check.found.startswith(NOT_ASKED):
                continue
            if check.hidden and not with_hidden:
                continue
            head, lines = parts_of(check)
            for line in lines:
                part, _, text = line.partition(": ") if head else ("", "", line)
                if text.startswith("this counts as soon as "):  # another part's mistake
                    continue
                key = shape(text or part)
                mistake = found.setdefault(key, Mistake(key, text or part, check))
                mistake.students[row.student.key] = row
                if text and part:
                    mistake.parts[part] = None
    return sorted(found.values(), key=lambda mistake: -len(mistake.students))


def nameless(sheet: Sheet) -> Callable[[str], str]:
    """shape_of, without what a student may have written and what is part of anybody's name."""
    words = {
        word.casefold()
        for row in sheet.rows
        for text in (row.student.key, row.student.name, row.student.email, row.student.github,
                     row.student.login, row.student.number)
        for word in re.findall(r"\w{2,}", text)
    }  # fmt: skip

    def shape(text: str) -> str:
        kind = re.match(r"raised (\w+)", text)
        if kind:
            known = isinstance(getattr(builtins, kind[1], None), type)
            return f"raised {kind[1]}" if known else "raised an error of its own"
        text = re.sub(r"of type [^\s,]+", "of type …", shape_of(text))
        return re.sub(r"\w+", lambda m: "…" if m[0].casefold() in words else m[0], text)

    return shape
