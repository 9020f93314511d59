"""A class that is graded in this process, and quickly: each text only once."""

import csv
import dataclasses

import pytest

from classroom.__main__ import main
from classroom.gradebook import job
from classroom.grader import judge
from tests.grader.here import TOY

_reports = {}


def graded_once(files, name, tasks, protection, limits=None, seed=None, kernels=None, only=()):
    key = tuple(files.items()), tasks.read_bytes(), limits, seed, only
    if key not in _reports:
        _reports[key] = judge.grade_files(files, name, tasks, protection, limits, seed, only=only)
    return dataclasses.replace(_reports[key], file=name)


@pytest.fixture
def course(tmp_path, monkeypatch, capsys):
    """A folder for submissions; `course.grade(...)` grades what is in it: (status, rows)."""
    tasks = tmp_path / "tasks" / "toy.py"
    tasks.parent.mkdir()
    tasks.write_bytes(TOY.read_bytes())
    monkeypatch.setattr(judge, "TASKS", (tasks.parent,))
    job.version_of.cache_clear()
    job.kernels_for.cache_clear()

    class Course:
        folder, grades = tmp_path / "class", tmp_path / "grades"
        of = TOY
        asked = []  # the files that were graded, by name

        def hand_in(self, student, text, place="toy.py"):
            path = self.folder / student / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return path

        def grade(self, *options, jobs=1):
            given = [str(self.folder), "--project", "toy", "--grades", str(self.grades)]
            status = main(["grade-class", *given, "--slow", "9", "--jobs", str(jobs), *options])
            self.out, self.err = capsys.readouterr()
            return status, self.rows()

        def grades_command(self, name, *options):
            given = ["--project", "toy", "--grades", str(self.grades)]
            status = main(["grades", name, *given, *options])
            self.out, self.err = capsys.readouterr()
            return status

        def rows(self):
            table = self.grades / "toy.csv"
            if not table.is_file():
                return {}
            with open(table, newline="", encoding="utf-8") as file:
                return {row["student"]: row for row in csv.DictReader(file)}

    made = Course()
    made.tasks, made.asked = tasks, []

    def noted(files, name, *rest, **more):
        made.asked.append(name)
        return graded_once(files, name, *rest, **more)

    monkeypatch.setattr(job, "grade_files", noted)
    Course.folder.mkdir()
    yield made
    job.version_of.cache_clear()
    job.kernels_for.cache_clear()
