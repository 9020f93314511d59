"""`python -m classroom grade-class`: a row for every student, whatever they handed in."""

import csv
import zipfile

import pytest

from classroom.__main__ import main
from classroom.grader import gradebook, judge
from classroom.grader.handed_in import CannotGrade
from tests.grader.here import HALF, RIGHT, TOY, grade_once


@pytest.fixture
def course(tmp_path, monkeypatch, capsys):
    """A folder for submissions; `course(...)` grades what is in it: (status, rows, stdout)."""
    monkeypatch.setattr(judge, "TASKS", (TOY.parent,))
    monkeypatch.setattr(gradebook, "grade", grade_once)

    class Course:
        folder, book = tmp_path / "class", tmp_path / "scores.csv"

        def hand_in(self, student, text, place="toy.py"):
            path = self.folder / student / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return path

        def grade(self, *options):
            given = [str(self.folder), "--project", "toy", "--out", str(self.book), "--slow", "9"]
            status = main(["grade-class", *given, *options])
            self.out, self.err = capsys.readouterr()
            return status, self.rows()

        def rows(self):
            with open(self.book, newline="") as file:
                return {row["student"]: row for row in csv.DictReader(file)}

    Course.folder.mkdir()
    return Course()


def test_every_student_has_a_row_with_points_for_each_task(course):
    course.hand_in("ann", RIGHT)
    course.hand_in("bob", HALF, "projects/toy.py")  # as in a clone of a repository
    status, rows = course.grade()
    facts = [[row[k] for k in ("student", "status", "points", "of", "double", "lazily")]
             for row in rows.values()]  # fmt: skip
    assert facts == [["ann", "graded", "100", "100", "60", "40"],
                     ["bob", "graded", "60", "100", "60", "0"]]  # fmt: skip
    assert status == 0
    assert "ann" in course.out and "2 students: 2 graded" in course.out


def test_an_untouched_file_has_0_points_in_every_cell(course, tmp_path, monkeypatch):
    (tmp_path / "projects").mkdir()
    (tmp_path / "projects" / "toy.py").write_text("def double(x): ...")
    monkeypatch.setattr(judge, "ROOT", tmp_path)
    course.hand_in("ann", "def double(x):  ...\n")
    _, rows = course.grade()
    found = rows["ann"]
    assert [found[k] for k in ("status", "points", "double", "lazily")] == ["graded", "0", "0", "0"]
    assert "Nothing in this file has changed yet" in found["note"]


def test_missing_refused_and_crashed_ones_have_rows_too(course, monkeypatch):
    (course.folder / "absent").mkdir()
    target = course.hand_in("ann", RIGHT)
    course.hand_in("binary", "x")
    (course.folder / "binary" / "toy.py").write_bytes(b"\xff\xfe\x00")
    course.hand_in("broken", "raise ValueError('=no')")
    (course.folder / "linked").mkdir()
    (course.folder / "linked" / "toy.py").symlink_to(target)
    (course.folder / "borrowed").symlink_to(course.folder / "ann")
    course.hand_in("huge", "#" * (2 << 20))
    course.hand_in("zoe", RIGHT)
    status, rows = course.grade()
    assert {name: row["status"] for name, row in rows.items()} == {
        "absent": "missing", "ann": "graded", "binary": "refused", "borrowed": "refused",
        "broken": "crashed", "huge": "refused", "linked": "refused", "zoe": "graded",
    }  # fmt: skip
    assert status == 1
    assert all(row["note"] for row in rows.values() if row["status"] != "graded")
    assert "ValueError: =no" in rows["broken"]["note"]
    assert "symbolic link" in rows["linked"]["note"] and "at most 1 MB" in rows["huge"]["note"]


def test_a_crash_of_the_grader_stops_nobody_else(course, monkeypatch):
    course.hand_in("ann", RIGHT)
    course.hand_in("bob", RIGHT)
    course.hand_in("cy", RIGHT)
    real = gradebook.grade

    def fails(path, *rest):
        if path.parent.name == "bob":
            raise RuntimeError("no space left")
        return real(path, *rest)

    monkeypatch.setattr(gradebook, "grade", fails)
    status, rows = course.grade()
    assert status == 1
    assert [row["points"] for row in rows.values()] == ["100", "0", "100"]
    assert rows["bob"]["status"] == "crashed"
    assert rows["bob"]["note"] == "the grader failed (RuntimeError: no space left)"
    monkeypatch.setattr(gradebook, "grade", real)
    assert course.grade()[1]["bob"]["points"] == "100"  # only graded ones are kept


def graded_paths(course, monkeypatch):
    """The students that are graded from here on."""
    asked, real = [], gradebook.grade

    def noted(path, *rest):
        asked.append(path.parent.name)
        return real(path, *rest)

    monkeypatch.setattr(gradebook, "grade", noted)
    return asked


def test_started_again_it_grades_only_what_has_changed(course, monkeypatch):
    course.hand_in("ann", HALF)
    course.hand_in("bob", RIGHT)
    before = course.grade()
    asked = graded_paths(course, monkeypatch)
    assert course.grade() == before and asked == []
    course.hand_in("ann", RIGHT)
    rows = course.grade()[1]
    assert asked == ["ann"] and rows["ann"]["points"] == "100"
    course.grade("--again")
    assert asked == ["ann", "ann", "bob"]


def test_points_stay_when_the_file_is_gone_or_the_grader_fails_later(course, monkeypatch):
    course.hand_in("ann", RIGHT)
    course.hand_in("bob", RIGHT)
    course.hand_in("cy", RIGHT)
    course.grade()
    (course.folder / "ann" / "toy.py").unlink()
    (course.folder / "bob" / "toy.py").unlink()
    (course.folder / "bob").rmdir()

    def fails(*rest):
        raise RuntimeError

    monkeypatch.setattr(gradebook, "grade", fails)
    rows = course.grade("--again")[1]
    assert [row["points"] for row in rows.values()] == ["100", "100", "100"]
    assert "from an earlier run; now: there is no toy.py" in rows["ann"]["note"]
    assert "from an earlier run; now: the grader failed" in rows["cy"]["note"]


def test_what_is_done_is_kept_when_it_is_stopped(course, monkeypatch):
    course.hand_in("ann", RIGHT)
    course.hand_in("bob", RIGHT)
    real = gradebook.grade

    def stopped(path, *rest):
        if path.parent.name == "bob":
            raise KeyboardInterrupt
        return real(path, *rest)

    monkeypatch.setattr(gradebook, "grade", stopped)
    status, rows = course.grade()
    assert status == 2 and list(rows) == ["ann"] and rows["ann"]["points"] == "100"
    assert "stopped" in course.err


def test_a_project_that_is_a_folder_is_graded_as_it_is_and_as_a_zip(course, monkeypatch):
    tasks = course.folder.parent / "toy.py"
    tasks.write_text(TOY.read_text().replace("points=100", 'points=100, main="main.py"'))
    monkeypatch.setattr(judge, "TASKS", (tasks.parent,))
    monkeypatch.setattr(gradebook, "grade", judge.grade)
    course.hand_in("ann", RIGHT, "toy/main.py")
    course.hand_in("bob", "from parts import *\n", "projects/toy/main.py")
    course.hand_in("bob", HALF, "projects/toy/parts.py")
    with zipfile.ZipFile(course.hand_in("cid", "", "toy.zip"), "w") as archive:
        archive.writestr("toy/main.py", RIGHT)
    with zipfile.ZipFile(course.hand_in("dee", "", "toy.zip"), "w") as archive:
        archive.writestr("../toy/main.py", RIGHT)
    course.hand_in("eve", RIGHT, "toy.py")
    _, rows = course.grade()
    found = {name: (row["status"], row["points"]) for name, row in rows.items()}
    assert found == {"ann": ("graded", "100"), "bob": ("graded", "60"), "cid": ("graded", "100"),
                     "dee": ("refused", "0"), "eve": ("missing", "0")}  # fmt: skip
    assert "leads out of the folder" in rows["dee"]["note"]
    before = rows["bob"]["made from"]
    course.hand_in("bob", RIGHT, "projects/toy/parts.py")
    _, rows = course.grade()
    assert rows["bob"]["points"] == "100" and rows["bob"]["made from"] != before


def test_another_table_is_not_overwritten(course):
    course.hand_in("ann", RIGHT)
    course.book.write_text("name,grade\nann,A\n")
    assert course_status(course) == 2
    assert course.book.read_text() == "name,grade\nann,A\n"


def course_status(course):
    given = [str(course.folder), "--project", "toy", "--out", str(course.book)]
    return main(["grade-class", *given])


@pytest.mark.parametrize(
    ("name", "shown"),
    [("=1+1", "'=1+1"), ("\uff1d1+1", "'\uff1d1+1"), ("nina;=1+1", "nina,=1+1")],
)
def test_names_are_no_formulas_and_are_read_back(name, shown, course, monkeypatch):
    course.hand_in(name, RIGHT)
    rows = course.grade()[1]
    assert list(rows) == [shown]
    asked = graded_paths(course, monkeypatch)
    assert list(course.grade()[1]) == [shown] and asked == []


def test_the_name_of_a_link_cannot_write_to_the_terminal(course):
    folder = course.folder / "e\x1b[31mve"
    folder.mkdir()
    (folder / "toy.py").symlink_to(course.folder / "nobody")
    course.grade()
    assert "\x1b" not in course.out + course.err
    assert "\x1b" not in course.book.read_text()


def test_files_that_are_in_nobodys_folder_are_named(course):
    course.hand_in("ann", RIGHT)
    (course.folder / "loose.py").write_text(RIGHT)
    course.grade()
    assert "not graded: loose.py" in course.err


def test_where_there_is_no_class_that_is_said(course, capsys):
    assert course_status(course) == 2
    assert "no students' folders" in capsys.readouterr().err
    with pytest.raises(CannotGrade, match="no folder"):
        gradebook.students_in(course.folder / "nowhere")


def test_folders_that_look_the_same_are_refused(course):
    course.hand_in("ann", RIGHT)
    course.hand_in("an\u200bn", RIGHT)
    with pytest.raises(CannotGrade, match="look the same: ann"):
        gradebook.students_in(course.folder)


def test_the_progress_says_who_is_graded(course, monkeypatch):
    told = []
    monkeypatch.setattr(gradebook, "progress", told.append)
    course.hand_in("ann", HALF)
    course.hand_in("bob", HALF)
    course.grade()
    assert told == ["1 of 2: ann", "2 of 2: bob", ""]
