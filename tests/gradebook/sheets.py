"""Sheets made by hand, for tests of what is made of them."""

from classroom.gradebook.deadlines import Lateness
from classroom.gradebook.records import Change, Record
from classroom.gradebook.roster import Student
from classroom.gradebook.sheet import Row, Sheet
from classroom.grader import report
from classroom.grader.report import Report

SECRET = "lazily(x) is 7, not 9"
VISIBLE = "double(x) is 2, not 4"
CHECKS = [("double", "numbers", 60, False), ("lazily", "a graph", 40, True)]


def graded(*points):
    """A report with so many points of 60 and of 40; the second check is hidden."""
    rows = [
        report.Row(task, shows, got, of, "" if got == of else (SECRET if hidden else VISIBLE),
                   "Wait.", hidden=hidden)
        for (task, shows, of, hidden), got in zip(CHECKS, points, strict=True)
    ]  # fmt: skip
    return Report("Toy", "/home/prof/class/toy.py", 100, 0, [], rows, printed="printed")


def row(student, *points, status="graded", late=None, changes=()):
    """The row of a Student, or of one who is only called something, with a report on (60, 40)."""
    student = student if isinstance(student, Student) else Student(student, student)
    found = graded(*points) if points else None
    decided = [Change(task, n, "prof", "talked to them") for task, n in changes]
    record = Record(student.key, "toy", status if points else "missing", report=found,
                    changes=decided)  # fmt: skip
    lateness = Lateness(2, 0, late, f"2 days late: -{late} %") if late else None
    return Row(student, record, 100, lateness)


def sheet(*rows):
    return Sheet("toy", "Toy", 100, ("double", "lazily"), rows)
