"""Part 9's pictures: the graders' scoreboard, the real one's walls, the projects, and a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from classroom.grader.report import Report
from classroom.portfolio.projects import described
from classroom.toys.files import CHEATS
from classroom.toys.grading import gullible, really
from tinyframe.viz.drawing import MUTED, PAGE, Drawing
from tinyframe.viz.picture import DrawnPicture

FOOLED, NOT_FOOLED, PLAIN, OWN = "#fbd5c8", "#d3efd0", "#e6e6e6", "#cfe0f5"  # fills
SHADES = ("#cfe0f5", "#d3efd0", "#fdebd0", "#e5d9f2", "#fbd5c8", "#d5eef0", "#eceab9")
LABEL, ROW = 168.0, 44.0  # points: names at the left, and from one row to the next


def scoreboard(*yours: Any) -> DrawnPicture:
    """Our three cheats before the grader that each was made for, and before the real one; and those
    of the learner, in the same order, that fool theirs."""
    rows = [(name, *graded) for name, graded in CHEATS.items()]
    for (name, (grader, _)), text in zip(CHEATS.items(), yours, strict=False):
        if isinstance(text, str) and gullible(grader, text)[0] == 100:
            rows.append((f"yours, {name}", grader, text))
    sheet, lines = Drawing(), list[str]()
    sheet.words(LABEL, 12, "a gullible grader", 11, colour=MUTED)
    sheet.words(LABEL + 130, 12, "ours", 11, colour=MUTED)
    wide = max(len(name) for name, *_ in rows)
    for number, (name, grader, text) in enumerate(rows):
        top, found = 22 + ROW * number, really(text)
        points, _ = gullible(grader, text)
        sheet.words(0, top + 22, name, 12, bold=True, colour=MUTED)
        sheet.box(LABEL, top, 110, 34, FOOLED)
        sheet.words(LABEL + 55, top + 23, f"{points}", 18, anchor="middle", bold=True)
        sheet.box(LABEL + 130, top, 110, 34, NOT_FOOLED)
        sheet.words(LABEL + 185, top + 23, f"{found.score}", 18, anchor="middle", bold=True)
        said = why(found)
        sheet.paragraph(LABEL + 254, top + 2, said, PAGE - LABEL - 254, 10.5, colour=MUTED)
        lines.append(f"{name:{wide}}  the {grader} grader: {points}   ours: {found.score}   {said}")
    return DrawnPicture("cheats, and what they earn", "\n".join(lines), sheet)


def why(report: Report) -> str:
    """The first thing that is wrong with a submission, as its report has it."""
    if report.notes:
        return report.notes[0]
    return next((row.found.split("\n")[0] for row in report.rows if not row.passed), "it's honest")


def walls() -> DrawnPicture:
    """Who runs where when a project is graded."""
    sheet = Drawing()
    sheet.box(0, 40, 180, 150, NOT_FOOLED, radius=8)
    for line, words in enumerate(("the grader", "", "draws questions", "judges the answers",
                                  "adds up the points", "writes the report")):  # fmt: skip
        sheet.words(90, 66 + 20 * line, words, 13 if line else 15, anchor="middle", bold=not line)
    sheet.box(390, 0, 270, 112, FOOLED, radius=8, dashed=True, thick=2)
    for line, words in enumerate(("your file", "a copy of it, in a process of its own:",
                                  "no files, no network, no signals,",
                                  "no solutions, little memory, little time")):  # fmt: skip
        sheet.words(525, 26 + 22 * line, words, 12 if line else 15, anchor="middle", bold=not line)
    sheet.box(390, 140, 270, 92, OWN, radius=8)
    for line, words in enumerate(("the referee", "rebuilds your graphs, counts kernels,",
                                  "and runs them on other numbers")):  # fmt: skip
        sheet.words(525, 166 + 22 * line, words, 12 if line else 15, anchor="middle", bold=not line)
    for y, words in ((40, "a question →"), (74, "← bytes and a shape"), (182, "a table of nodes →"),
                     (214, "← counts, values")):  # fmt: skip
        sheet.words(285, y, words, 12, anchor="middle", colour=MUTED)
    return DrawnPicture(
        "three processes, and only the first one judges",
        "the grader draws questions, judges the answers, adds up the points\n"
        "  question -> your file, in a sandbox -> bytes and a shape\n"
        "  table of nodes -> the referee, which rebuilds and runs graphs -> counts and values",
        sheet,
    )


def seven() -> DrawnPicture:
    """The projects in order: after which part each comes, and how many hours it takes."""
    sheet, lines, width = Drawing(), list[str](), 42.0
    for number, project in enumerate(described()):
        top = 34 * number
        sheet.words(0, top + 20, f"after part {project.after}", 11, colour=MUTED)
        sheet.box(84, top, width * project.hours, 28, SHADES[number % len(SHADES)])
        sheet.words(94, top + 19, project.title, 12, bold=True)
        sheet.words(94 + width * project.hours, top + 19, f"{project.hours} hours", 11,
                    colour=MUTED)  # fmt: skip
        lines.append(f"{project.number}  after part {project.after}  {project.hours} hours  "
                     f"{project.title}")  # fmt: skip
    total = sum(project.hours for project in described())
    lines.append(f"{total} hours in all")
    return DrawnPicture(f"seven projects, {total} hours", "\n".join(lines), sheet)


def calendar(weeks: Sequence[Mapping[str, float]], hours: float) -> DrawnPicture:
    """A plan, week by week: what is worked on, and for how long."""
    names = {project.name: project for project in described()}
    sheet, lines, room = Drawing(), list[str](), PAGE - 70
    for number, week in enumerate(weeks):
        top, left = 30 * number, 60.0
        sheet.words(0, top + 17, f"week {number + 1}", 11, colour=MUTED)
        sheet.box(left, top, room, 24, "none", line=MUTED, dashed=True)
        for name, spent in week.items():
            wide = room * float(spent) / hours
            project = names[name]
            sheet.box(left, top, wide, 24, SHADES[(project.number - 1) % len(SHADES)])
            label = project.title if wide > 130 else str(project.number)
            sheet.words(left + wide / 2, top + 16, label, 11, anchor="middle")
            left += wide
        said = ", ".join(f"{name} {float(spent):g} h" for name, spent in week.items())
        lines.append(f"week {number + 1}: {said or '-'}")
    return DrawnPicture(f"a plan of {len(weeks)} weeks", "\n".join(lines), sheet)
