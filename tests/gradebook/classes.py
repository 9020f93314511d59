"""Classes made by hand, for tests of what is made of them."""

from html.parser import HTMLParser

from classroom.gradebook.deadlines import Lateness
from classroom.gradebook.records import Change, Grading, Record
from classroom.gradebook.roster import Student
from classroom.gradebook.sheet import Row, Sheet
from classroom.grader.report import Report
from classroom.grader.report import Row as Check
from classroom.grader.tasks import NOT_WRITTEN

PROJECT = "01_tensor_basics"
OPEN = NOT_WRITTEN


def check(task, found="", points=None, of=10, **more):
    """A check that is right unless something was found."""
    points = (0 if found else of) if points is None else points
    more = {"shows": "small numbers", "hint": f"Look at {task}.", **more}
    return Check(task=task, points=points, of=of, found=found, **more)


def report(*checks, status="graded", **more):
    file = "/home/prof/class/ann/01_tensor_basics.py"
    total = sum(each.of for each in checks)
    return Report("Tensors", file, total, 0, [("files", True)], list(checks), status=status, **more)


def row(key, *checks, status="graded", note="", changes=(), lateness=None, notes=(), **more):
    """A student's row; with no checks, there is no report."""
    told = {key: more.pop(key) for key in ("printed", "afterwards") if key in more}
    made = report(*checks, status=status, notes=list(notes), **told) if checks else None
    gradings = [Grading("2026-01-01T10:00:00+01:00", status, 0, "d", "v", seconds=4.0)]
    record = Record(
        key, PROJECT, status, note, f"{key}/01_tensor_basics.py", report=made,
        digest=f"digest of {key}", changes=list(changes), gradings=gradings if made else [],
    )  # fmt: skip
    student = Student(key, **{"name": key, **more})
    return Row(student, record, sum(each.of for each in checks) or 20, lateness or Lateness())


def change(task, points, why="I say so.", by="Prof. Ellis"):
    return Change(task, points, by, why, "2026-01-02T10:00:00+01:00")


def sheet(*rows):
    tasks = dict.fromkeys(task for row in rows for task in row.points)
    return Sheet(PROJECT, "Tensors", 20, tuple(tasks), tuple(rows))


class Tags(HTMLParser):
    """The elements of a page, its text, and what is wrong with how it is nested."""

    EMPTY = {"meta", "br", "rect", "path", "circle"}

    def __init__(self, text):
        super().__init__()
        self.found, self.text, self.open, self.wrong = [], "", [], []
        self.feed(text)
        self.wrong += self.open

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        self.text += " "
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data

    @property
    def names(self):
        return [tag for tag, _ in self.found]
