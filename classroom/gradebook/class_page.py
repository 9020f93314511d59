"""A page on how a class did in a project, for its instructor.

    page(sheet)                    with names, and links to each student's page
    page(sheet, anonymous=True)    which may be shown to the class

It has how many were graded, how their points are spread, the tasks from the hardest on, what went
wrong in each and how often, who needs a look, and a table of all. Beside every plot stands what it
shows in words, and shades of one colour and stripes tell its parts apart.

Anonymous, it has no names, files, times or lines of code, and nothing that hidden checks found.
Rows are in the order of a digest that takes all submissions to make, and in classes below FEWEST
there are none. Of what went wrong it has what SHARED students or more have in common, without the
words of an error that they may have written themselves, and without any that is part of a name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any
from urllib.parse import quote

from classroom import pages
from classroom.gradebook.feedback import is_silent
from classroom.gradebook.handed import OTHER_PROJECT, WRONG_FILE
from classroom.gradebook.mistakes import Mistake, checks_of, mistakes_of, nameless, shape_of
from classroom.gradebook.names import file_name
from classroom.gradebook.records import FAILED, MISSING
from classroom.gradebook.sheet import Row, Sheet, shade
from classroom.grader.report import Row as Check
from classroom.grader.report import cleaned
from classroom.pages import counted

FEWEST = 5  # students of an anonymous class with a row each
SHARED = 3  # students with the same mistake, from which on an anonymous page has it
MOST_MISTAKES = 3  # of a task that are told
NAMED = 5  # students with a mistake
BINS = 10  # of the distribution
ENOUGH = 8  # students from which on somebody can be far below the others
OUTSIDE = 1.5  # times the middle half's width (Tukey, Exploratory Data Analysis, 1977)
STATUSES = {"graded": "graded", "out of time": "ran out of time", MISSING: "handed in nothing",
            WRONG_FILE: "handed in a different file", OTHER_PROJECT: "handed in another project",
            "refused": "couldn't be graded as handed in", "crashed": "didn't load",
            FAILED: "failed in the grader"}  # fmt: skip


KINDS = {"all": "all of its points", "part": "a part", "none": "none",
         "open": "not started"}  # fmt: skip


@dataclass(frozen=True)
class Who:
    """A student on the page; without a link on an anonymous one."""

    name: str
    href: str = ""


def page(sheet: Sheet, anonymous: bool = False) -> str:
    asked = [row for row in sheet.rows if _was_asked(row)]
    few = FEWEST if anonymous and len(sheet.rows) < FEWEST else 0
    shown = [] if few else asked
    return pages.page(
        "class", f"{sheet.title}: the class", title=sheet.title, students=len(sheet.rows),
        asked=len(asked), anonymous=anonymous, few=few, shared=SHARED, kinds=KINDS,
        requests=[(_who(sheet, row), row.asks) for row in sheet.rows if row.asks and not anonymous],
        tiles=list(_tiles(sheet, shown)), looks=[] if anonymous else list(_looks(sheet, asked)),
        spread=_spread(sheet, shown) if shown else None, tasks=sorted(_tasks(sheet, shown)),
        mistakes=[each for _, each in sorted(_mistakes(sheet, shown, anonymous),
                                             key=lambda found: found[0])],
        time=_time(sheet, anonymous), **({} if few else _table(sheet, anonymous)),
    )  # fmt: skip


def _was_asked(row: Row) -> bool:
    """Whether the points say something about the tasks; of a file that didn't load, they don't."""
    report = row.record.report
    return report is not None and (row.record.status == "graded" or not is_silent(report))


def _who(sheet: Sheet, row: Row) -> Who:
    key = row.student.key
    return Who(key, quote(f"pages/{sheet.project}/{file_name(key)}.html"))


def _tiles(sheet: Sheet, asked: list[Row]) -> Iterator[tuple[str, str]]:
    counts = sheet.counts()
    for status, said in STATUSES.items():
        if status in counts or status in ("graded", MISSING):
            yield str(counts.get(status, 0)), said
    if late := sum(bool(row.lateness and row.lateness.days) for row in sheet.rows):
        yield str(late), "handed in late"
    if asked:
        middle = median(row.final for row in asked)
        yield f"{middle:g}", f"points of {asked[0].of} in the middle of the class"


def _spread(sheet: Sheet, asked: list[Row]) -> dict[str, Any]:
    """How many have how many points, in as many equal ranges, the last of which includes all."""
    points, of = [row.final for row in asked], max(1, asked[0].of)
    counts = [0] * BINS
    for each in points:
        counts[min(BINS - 1, BINS * each // of)] += 1
    said = (f"Of {counted(len(asked), 'student')}, half have {median(points):g} points or more. "
            f"The lowest has {min(points)}, the highest {max(points)}, and the mean is "
            f"{sum(points) / len(points):.0f}.")  # fmt: skip
    if left := len(sheet.rows) - len(asked):
        said += f" That leaves out {counted(left, 'student')} without anything that could be run."
    edges = [of * n / BINS for n in range(BINS + 1)]
    words = [f"from {edges[n]:g} to {edges[n + 1]:g} points: {counts[n]}" for n in range(BINS)]
    return {"said": said, "counts": counts, "edges": edges, "words": words,
            "middle": median(points), "share": min(1.0, median(points) / of)}  # fmt: skip


def _tasks(sheet: Sheet, asked: list[Row]) -> Iterator[tuple[float, int, str, dict[str, int]]]:
    for number, task in enumerate(sheet.tasks, 1):
        rows = [(row, checks) for row in asked if (checks := checks_of(row, task))]
        if not rows:  # points beside those of the tasks
            continue
        of = sum(check.of for check in rows[0][1])
        share = sum(row.points[task] for row, _ in rows) / (of * len(rows)) if of else 1.0
        kinds = [_kind(row.points[task], checks) for row, checks in rows]
        yield share, number, task, {kind: kinds.count(kind) for kind in KINDS}


def _kind(points: int, checks: list[Check]) -> str:
    if points >= sum(check.of for check in checks):
        return "all"
    if points > 0:
        return "part"
    return "open" if all(check.is_open for check in checks) else "none"


def _mistakes(
    sheet: Sheet, asked: list[Row], anonymous: bool
) -> Iterator[tuple[int, dict[str, Any]]]:
    shape = nameless(sheet) if anonymous else shape_of
    for number, task in enumerate(sheet.tasks, 1):
        missed: dict[str, set[str]] = {}
        for row in asked:
            for check in checks_of(row, task):
                if not check.passed:
                    missed.setdefault(check.shows, set()).add(row.student.key)
        found = [each for each in mistakes_of(asked, task, shape, with_hidden=not anonymous)
                 if not anonymous or len(each.students) >= SHARED]  # fmt: skip
        if missed and found:
            students = set().union(*missed.values())
            worst = sorted(((shows, len(keys)) for shows, keys in missed.items()),
                           key=lambda each: -each[1])  # fmt: skip
            told = [_mistake(sheet, each, anonymous) for each in found[:MOST_MISTAKES]]
            yield -len(students), {"number": number, "name": task, "students": len(students),
                                   "worst": worst, "told": told,
                                   "more": len(found) - MOST_MISTAKES}  # fmt: skip


def _mistake(sheet: Sheet, mistake: Mistake, anonymous: bool) -> dict[str, Any]:
    rows = list(mistake.students.values())
    told = {"text": mistake.shape if anonymous else mistake.example, "count": len(rows)}
    more = {"parts": mistake.parts, "check": mistake.check,
            "who": [_who(sheet, row) for row in rows[:NAMED]]}  # fmt: skip
    return told | ({"parts": ()} if anonymous else more)


def _looks(sheet: Sheet, asked: list[Row]) -> Iterator[tuple[Who, str]]:
    low, trusted = far_below(asked), _on_trust(asked)
    few = len(trusted) <= max(2, len(asked) // 5)  # else it's said once, of all
    for row in sheet.rows:
        record, why = row.record, []
        if record.status not in ("graded", MISSING):
            why.append(STATUSES[record.status])
        if record.note and record.status != MISSING:
            why.append(cleaned(record.note))
        if row.student.key in low:
            why.append(f"{counted(row.final, 'point')}, far below the others")
        if few and row.student.key in trusted:
            why.append(f"taken on trust: {trusted[row.student.key]}")
        if why:
            yield _who(sheet, row), " ".join(map(_sentence, why))
    if trusted and not few:
        what = ", ".join(dict.fromkeys(", ".join(trusted.values()).split(", ")))
        yield (Who(counted(len(trusted), "student")), "Some of their points rest on what only "
               f"their own program could tell: {what}.")  # fmt: skip


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "." * (text[-1:] not in ".?!")


def far_below(asked: Sequence[Row]) -> set[str]:
    """Students whose points are further below the middle half of the class than OUTSIDE times its
    width."""
    if len(asked) < ENOUGH:
        return set()
    lower, _, upper = quantiles([row.final for row in asked], n=4, method="inclusive")
    least = lower - OUTSIDE * (upper - lower)
    return {row.student.key for row in asked if row.final < least}


def _on_trust(asked: list[Row]) -> dict[str, str]:
    """By student, the checks with points that only the submission's own word stands for."""
    found = {}
    for row in asked:
        checks = row.record.report.rows if row.record.report else []
        trusted = {f"{each.task} ({each.trusts})": None for each in checks
                   if each.trusts and each.points}  # fmt: skip
        if trusted:
            found[row.student.key] = ", ".join(trusted)
    return found


def _time(sheet: Sheet, anonymous: bool) -> dict[str, Any] | None:
    # the last time that all tasks were asked
    whole = ((row, [g for g in row.record.gradings if not g.tasks]) for row in sheet.rows)
    took = {row.student.key: gradings[-1].seconds for row, gradings in whole if gradings}
    if not took:
        return None
    slowest = max(sheet.rows, key=lambda row: took.get(row.student.key, 0.0))
    return {"middle": _seconds(median(took.values())), "most": _seconds(max(took.values())),
            "all": _seconds(sum(took.values())),
            "slowest": None if anonymous else _who(sheet, slowest)}  # fmt: skip


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def _table(sheet: Sheet, anonymous: bool) -> dict[str, Any]:
    """Its head, and a row for each student; cells are points, and how strong their colour is."""
    rows, tasks = list(sheet.rows), list(enumerate(sheet.tasks, 1))
    of = {task: sum(check.of for check in checks) for _, task in tasks
          for checks in [next(filter(None, (checks_of(row, task) for row in rows)), None)]
          if checks}  # fmt: skip
    if anonymous:
        rows = sorted(rows, key=_order(sheet))
        tasks = [(number, task) for number, task in tasks if task in of]
    has_late = not anonymous and any(row.late for row in rows)
    head = ["student", "points", *map(str, (number for number, _ in tasks)), "status",
            *["late"] * has_late, *["note"] * (not anonymous)]  # fmt: skip
    shown = []
    for number, row in enumerate(rows, 1):
        who = Who(f"student {number}") if anonymous else _who(sheet, row)
        cells = [(row.points.get(task), shade(row.points.get(task, 0), of.get(task, 0)))
                 for _, task in tasks]  # fmt: skip
        shown.append({"name": who.name, "href": who.href, "final": row.final, "cells": cells,
                      "rest": [row.record.status, *[row.late] * has_late],
                      "note": cleaned(row.note)})  # fmt: skip
    legend = ", ".join(f"{number} {task}" for number, task in tasks)
    return {"head": head, "rows": shown, "legend": cleaned(legend, 1000)}


def _order(sheet: Sheet) -> Callable[[Row], str]:
    """By a digest that stays the same while the class does. Who knows names alone can't make it:
    the submissions of all are in it."""
    salt = " ".join(row.record.digest for row in sheet.rows)

    def order(row: Row) -> str:
        return hashlib.sha256(f"{salt} {row.student.key}".encode()).hexdigest()

    return order
