"""One table for a whole course: a row for each student, its projects side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote

from classroom import pages
from classroom.gradebook.names import Student, file_name
from classroom.gradebook.sheet import Row, Sheet
from classroom.grader.report import cell, render_rows

ABOUT = ("number", "login", "email", "section")  # what the file has of each student besides
TITLE = "The whole course"


@dataclass(frozen=True)
class Course:
    """sheets: one of each project, in their order."""

    sheets: Sequence[Sheet]

    @cached_property
    def rows(self) -> list[tuple[Student, list[Row | None]]]:
        """Each student, and what they have in each project."""
        by_key = [{row.student.key: row for row in sheet.rows} for sheet in self.sheets]
        found = {key: row.student for rows in by_key for key, row in rows.items()}
        return [(student, [rows.get(key) for rows in by_key])
                for key, student in sorted(found.items())]  # fmt: skip

    def cells(self) -> list[list[str]]:
        """As texts, the head first; empty where somebody isn't in a project's table."""
        head = ["student", *ABOUT, *(sheet.project for sheet in self.sheets), "points", "of"]
        of = str(sum(sheet.of for sheet in self.sheets))
        return [head] + [
            [cell(student.key), *(cell(getattr(student, each)) for each in ABOUT),
             *(str(row.final) if row else "" for row in rows), str(_sum(rows)), of]
            for student, rows in self.rows
        ]  # fmt: skip

    def shown(self) -> str:
        """For a terminal, projects by their numbers."""
        skip = 1 + len(ABOUT)
        (_, *head), *rows = [[row[0], *row[skip:]] for row in self.cells()]
        return render_rows(["student", *map(_short, head)], rows)

    def page(self) -> str:
        rows = [
            {"name": student.key, "sum": _sum(rows), "cells": [
                {"points": row.final, "status": row.record.status, "shade": row.shade,
                 "href": quote(f"pages/{sheet.project}/{file_name(student.key)}.html")}
                if row else None for row, sheet in zip(rows, self.sheets, strict=True)
            ]}
            for student, rows in self.rows
        ]  # fmt: skip
        sheets = [(_short(sheet.project), sheet) for sheet in self.sheets]
        of = sum(sheet.of for sheet in self.sheets)
        return pages.page(
            "course", TITLE, look="class", title=TITLE, rows=rows, sheets=sheets, of=of
        )


def _short(project: str) -> str:
    return project[:2] if project[:2].isdecimal() else project


def _sum(rows: list[Row | None]) -> int:
    return sum(row.final for row in rows if row)
