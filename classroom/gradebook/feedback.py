"""A page for each student: what their work is worth, what is right, what isn't and why.

    page(row, sheet)       HTML, one file that needs nothing else
    markdown(row, sheet)   for a pull request, or a system that takes Markdown
    text(row, sheet)       the same as plain text, for mails
    mailed(row, sheet)     HTML of a mail, in as much of CSS as mail programs know

All four say the same, which is put together first (`said`). It is what `Report.for_student()` has,
and nothing else of the report. Neither who changed points is in it, nor where files lie.

In HTML all text is escaped. In Markdown it is, too (CommonMark 0.31, backslash escapes), and what
was found stands in code spans, in which nothing is markup and nobody is mentioned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from classroom import pages
from classroom.gradebook.handed import OTHER_PROJECT, WRONG_FILE
from classroom.gradebook.records import FAILED, MISSING
from classroom.gradebook.sheet import Row, Sheet
from classroom.grader.report import Report, cleaned
from classroom.grader.report import Row as Check
from classroom.grader.sandbox import ROOT
from classroom.pages import counted, listed

RIGHT, PARTLY, WRONG, OPEN = "right", "partly right", "not right yet", "not started"
UNASKED = "could not be asked"
BY_HAND = "set by your instructor"
SIGNS = {RIGHT: "✓", PARTLY: "◐", WRONG: "○", OPEN: "–",
         UNASKED: "–", BY_HAND: "✎"}  # fmt: skip
COUNTS = {RIGHT: ("is right", "are right"), PARTLY: ("is partly right", "are partly right"),
          WRONG: ("isn't right yet", "aren't right yet"), OPEN: ("isn't started", "aren't started"),
          UNASKED: (UNASKED, UNASKED),
          BY_HAND: (f"was {BY_HAND}", f"were {BY_HAND}")}  # fmt: skip
OTHERS = "one of your instructor's own checks"
LEFT_OUT = {MISSING: "Nothing that could be graded was handed in. If you did hand something in, "
            "tell your instructor: it may have got lost on the way.",
            FAILED: "The grader couldn't do its work this time. That isn't your doing, and it "
            "costs you nothing: your work will be graded again."}  # fmt: skip
NOT_LOADED = ("Until the file loads, nothing in it can be asked. Often it's a single line: run the "
              "file with Python, and mend what it complains about first.")  # fmt: skip
OWN_CHECKS = ("Your instructor has checks of their own, which you can't run at home. They ask the "
              "same things of other inputs, and tell you a hint and nothing more.")  # fmt: skip


# ---- what is said --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """points: with what an instructor decided. state: one of SIGNS. checks: nothing is said on
    each of them where there are none."""

    name: str
    points: int
    of: int
    state: str
    checks: tuple[Check, ...] = ()

    @property
    def worth(self) -> str:
        return f"{self.points} of {counted(self.of, 'point')}"


@dataclass(frozen=True)
class Told:
    """What an instructor changed or has to say. own: the student's line that it is about."""

    what: str
    text: str
    own: str = ""


@dataclass(frozen=True)
class Said:
    """What a student reads. about: sentences on the whole; then: what comes next."""

    title: str
    student: str
    points: int
    of: int
    is_graded: bool
    about: list[str]
    tasks: list[Task]
    from_instructor: list[Told]
    then: list[str]

    @property
    def to_mend(self) -> list[Task]:
        return [task for task in self.tasks if task.checks]


def said(row: Row, sheet: Sheet) -> Said:
    record, report = row.record, row.record.report
    seen = report.for_student() if report else None
    tasks = list(_tasks(row, seen)) if seen and not is_silent(seen) else []
    return Said(
        sheet.title, row.student.key, row.final, row.of,
        record.is_graded, list(_about(row, seen, tasks)), tasks,
        list(_from_instructor(row)),
        [] if record.status == FAILED else list(_then(sheet, seen, tasks)),
    )  # fmt: skip


def is_silent(report: Report) -> bool:
    """Whether no check says anything that the notes don't: nothing was asked."""
    found = {check.found for check in report.rows}
    return bool(report.notes) and len(found) == 1 and "" not in found


def _tasks(row: Row, report: Report) -> Iterator[Task]:
    for name, checks in report.tasks().items():
        earned, of = sum(check.points for check in checks), sum(check.of for check in checks)
        if all(check.passed for check in checks):
            state = RIGHT
        elif all(check.is_open for check in checks):
            state = OPEN
        elif not any(check.was_asked for check in checks):
            state = UNASKED
        else:
            state = PARTLY if earned else WRONG
        shown = () if state in (RIGHT, OPEN) else tuple(checks)
        is_changed = name in row.record.decided()
        yield Task(name, row.points[name], of, BY_HAND if is_changed else state, shown)


def _about(row: Row, report: Report | None, tasks: list[Task]) -> Iterator[str]:
    status, late = row.record.status, row.lateness
    if report is None:
        if status in LEFT_OUT:
            yield LEFT_OUT[status]
        else:
            why = _shown(row, row.record.note).rstrip(".")
            yield f"What you handed in couldn't be graded: {why[:1].lower()}{why[1:]}."
            if status in (WRONG_FILE, OTHER_PROJECT):
                yield "If you have the right file, hand it in, and tell your instructor."
    else:
        yield from (_shown(row, note) for note in report.notes)
        if status == "crashed":
            yield NOT_LOADED
        if not tasks and not report.score:
            yield "So there are no points yet."
        if report.is_full:
            yield report.praise().removesuffix(report.afterwards).strip()
        elif tasks:
            yield _counts(tasks)
        if report.elsewhere:
            yield f"{report.elsewhere} more points depend on your instructor's own checks."
        file = PurePath(row.record.file)
        if file.name and not file.stem.endswith(row.record.project):  # Canvas puts more before it
            yield f"The file that was graded is called {cleaned(file.name)}."
    if late and late.note:
        yield cleaned(late.note)
    if row.final != row.total:
        yield f"It was worth {counted(row.total, 'point')}; {row.final} of them count."


def _counts(tasks: list[Task]) -> str:
    states = [task.state for task in tasks]
    counts = [f"{states.count(kind)} {words[states.count(kind) > 1]}"
              for kind, words in COUNTS.items() if kind in states]  # fmt: skip
    return f"Of {counted(len(tasks), 'task')}, {listed(counts)}."


def _shown(row: Row, text: str) -> str:
    """A sentence without the folders that a file of this machine lies in."""
    for file in (row.record.file, row.record.report.file if row.record.report else ""):
        if file:
            text = text.replace(file, PurePath(file).name)
    return cleaned(re.sub(r"(?<![\w.])/(?:[^/\s'\"]+/)+", "", text))


def _from_instructor(row: Row) -> Iterator[Told]:
    report = row.record.report
    found = report.tasks() if report else {}
    last = {change.task: change for change in row.record.changes}
    for task, change in last.items():
        if change.points is None:
            continue
        before = sum(check.points for check in found[task]) if task in found else None
        now = f"{change.points:+d}" if before is None else f"{change.points} instead of {before}"
        yield Told(f"{cleaned(task)}: {now} points", cleaned(change.why, 1000))
    for each in row.record.comments:
        yield Told(each.about or "All in all", cleaned(each.text, 1000), cleaned(each.own))


def _then(sheet: Sheet, report: Report | None, tasks: list[Task]) -> Iterator[str]:
    if report and report.is_full:
        if report.afterwards:
            yield report.afterwards
        return
    begun = [task for task in tasks if task.state == PARTLY and task.points < task.of]
    rows = report.rows if report else []
    broken = [f"`{name}`" for name in dict.fromkeys(row.task for row in rows if row.broke_off)]
    if broken and not all(row.was_asked for row in rows):
        yield f"Begin with {listed(broken)}: that's where the program broke off."
    elif begun:
        nearest = max(begun, key=lambda task: task.points / task.of)
        lack = counted(nearest.of - nearest.points, "more point")
        yield f"The shortest way to {lack}: `{nearest.name}`, where part of it is right already."
    elif missed := [task for task in tasks if task.state in (WRONG, OPEN)]:
        yield f"A good place to begin: `{missed[0].name}`."
    end = ".py" if (ROOT / "projects" / f"{sheet.project}.py").is_file() else ""
    yield (f"`python -m classroom grade projects/{sheet.project}{end}` runs the checks that you "
           "have at home, as often as you like.")  # fmt: skip
    if report and any(check.hidden and not check.passed for check in report.rows):
        yield OWN_CHECKS


@dataclass(frozen=True)
class Advice:
    """What is said on one check that isn't right, or on a whole task where all say the same.

    shows: what the check is about; "" of the whole task. note: which of its parts are right, or
    whose check it is. wrong: a line on each thing that isn't right. line: its number and text in
    the student's file.
    """

    shows: str
    state: str
    note: str
    wrong: list[str]
    line: tuple[int, str] | None
    hint: str


def advice(task: Task) -> Iterator[Advice]:
    same = len({check.found for check in task.checks}) == 1  # none of it was asked
    for check in task.checks[:1] if same else task.checks:
        if check.passed:
            yield Advice(check.shows, RIGHT, "", [], None, "")
            continue
        note, wrong = (OTHERS, []) if check.hidden and OTHERS in check.found else parts_of(check)
        state = PARTLY if check.points else OPEN if check.is_open else WRONG
        state = state if check.was_asked or check.is_open else UNASKED
        line = (check.line, check.text) if check.line else None
        yield Advice("" if same else check.shows, state, note, wrong, line, check.hint)


def parts_of(check: Check) -> tuple[str, list[str]]:
    """("1 of 2 parts right: kernels", the lines on the others); "" where it has no parts."""
    lines = check.found.splitlines()
    if lines and re.match(r"\d+ of \d+ parts right", lines[0]):
        return lines[0], lines[1:]
    return "", [] if check.is_open else lines


# ---- its forms -----------------------------------------------------------------------------------


def page(row: Row, sheet: Sheet) -> str:
    """A page that stands for itself: light or dark, on paper, on a phone."""
    whole = said(row, sheet)
    return pages.page("student", f"{whole.title}: {whole.student}", **_values(whole))


def mailed(row: Row, sheet: Sheet) -> str:
    """The same for a mail. Many programs know no variables, grids or dark pages, and some drop all
    style (caniemail.com, 2025), so this has little, and reads well without."""
    return pages.filled("mail.html", **_values(said(row, sheet)))


def markdown(row: Row, sheet: Sheet) -> str:
    return _in_lines(said(row, sheet), _escaped, _span, "#")


def text(row: Row, sheet: Sheet) -> str:
    return _in_lines(said(row, sheet), str, str, "")


def _values(whole: Said) -> dict[str, Any]:
    return {"whole": whole, "signs": SIGNS, "advice": advice}


def _in_lines(
    whole: Said, plain: Callable[[str], str], code: Callable[[str], str], mark: str
) -> str:
    """mark: what a heading begins with; without it, one is underlined."""
    width = max((len(task.name) for task in whole.tasks), default=0)
    made = pages.filled("student.md", plain=plain, code=code, mark=mark, width=width,
                        coded=lambda text: pages.with_code(text, plain, code),
                        **_values(whole))  # fmt: skip
    return re.sub(r"\n{3,}", "\n\n", made).strip("\n") + "\n"


def _escaped(text: str) -> str:
    """Text that no reader of Markdown takes for anything else. GitHub looks for @names, #numbers,
    :signs: and addresses in what it has rendered; a joiner that isn't seen keeps these apart."""
    text = re.sub(r"([\\`*_\[\]<>#|~&$^])", r"\\\1", text)
    text = re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", text)
    return re.sub(r"(?i)(?<=[@#])(?=\S)|(?<=:)(?=[/\w+-])|(?<=www)(?=\.)", "\u2060", text)


def _span(text: str) -> str:
    """A code span: in it nothing is markup. A row of backticks that is longer than any inside."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    room = " " * (longest > 0 or text.strip() != text)
    return f"{fence}{room}{text}{room}{fence}" if text else ""
