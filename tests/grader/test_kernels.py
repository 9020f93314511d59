"""Kernels that were compiled before: a submission starts with them, and changes nobody else's."""

import zipfile

import pytest

from classroom.gradebook import cohort, command
from classroom.gradebook.job import Done
from classroom.grader import kernels
from classroom.grader.judge import grade
from classroom.grader.kernels import WORTH, fill, kept_for
from classroom.grader.sandbox import Protection, best_protection
from tests.grader.here import RIGHT, SLOW
from tinyframe.settings import Context

TASKS = """
from classroom.grader.tasks import Project, expect_close, expect_equal

project = Project("Toy", points=10)


@project.check("double", 5, "a vector", "add")
def _(ask):
    x = ask.floats(3 + ask.integer(0, 1))
    expect_close(ask("double", x), 2 * x, "double(x)")


@project.check("compiled", 5, "how many kernels", "none")
def _(ask):
    expect_equal(ask("compiled"), 0, "the number of kernels that were not there")
"""
COUNTS = """
import os
from pathlib import Path
folder = Path(os.environ["TINYFRAME_CACHE"])
def entries(): return {path for path in folder.rglob("*") if path.is_file()}
before = entries()
def double(x): return (x + x).realize()
def compiled(): return len(entries() - before) + (not before)
"""
SPOILS = COUNTS + """
for path in before: path.write_bytes(b"spoiled")
"""


@pytest.fixture
def toy(tmp_path):
    """A project with a worked solution, and a cache that is empty."""
    (tmp_path / "tasks").mkdir()
    tasks = tmp_path / "tasks" / "toy.py"
    tasks.write_text(TASKS)
    (tmp_path / "toy.py").write_text(RIGHT)
    with Context(TINYFRAME_CACHE=tmp_path / "cache"):
        yield tasks


def graded(toy, text, protection):
    path = toy.parent / "submission.py"
    path.write_text(text)
    return grade(path, toy, protection, SLOW, None, kept_for(toy))


@pytest.mark.parametrize("protection", [best_protection, Protection], ids=["best", "none"])
def test_it_starts_with_them_and_what_it_changes_is_its_own(toy, protection):
    assert kept_for(toy) is None
    assert graded(toy, COUNTS, protection()).score == 5  # its own is compiled
    fill(toy, print)
    kept = kept_for(toy)
    content = kept.read_bytes()
    assert graded(toy, COUNTS, protection()).score == 10
    assert graded(toy, SPOILS, protection()).score >= 5  # what is spoiled is made again
    assert graded(toy, COUNTS, protection()).score == 10
    assert kept.read_bytes() == content and zipfile.ZipFile(kept).testzip() is None


def test_they_are_made_once_for_what_they_were_made_for(toy):
    said = []
    fill(toy, said.append)
    assert said == ["compiling kernels, 1 of 2: double", "compiling kernels, 2 of 2: compiled"]
    old = kept_for(toy)
    fill(toy, said.append)
    assert len(said) == 2
    toy.write_text(TASKS + "# changed\n")
    assert kept_for(toy) is None
    fill(toy, said.append)
    assert kept_for(toy) != old and not old.exists()


def test_nothing_is_made_without_a_worked_solution(toy):
    (toy.parents[1] / "toy.py").unlink()
    fill(toy, print)
    assert kept_for(toy) is None


@pytest.mark.parametrize("students", [WORTH - 1, WORTH])
def test_a_larger_class_is_worth_it(toy, students, monkeypatch, tmp_path, capsys):
    filled = []
    monkeypatch.setattr(cohort, "tasks_of", lambda name: toy)
    monkeypatch.setattr(command, "version_of", lambda name: "")
    monkeypatch.setattr(command, "fill", lambda tasks, progress: filled.append(tasks))
    monkeypatch.setattr(command, "do", lambda job: Done(job.student, failed="not today"))
    for number in range(students):
        path = tmp_path / "class" / f"student{number}" / "toy.py"
        path.parent.mkdir(parents=True)
        path.write_text(f"# {number}")
    grades = ["--grades", str(tmp_path / "grades"), "--jobs", "1"]
    command.main([str(tmp_path / "class"), "--project", "toy", *grades])
    assert filled == [toy] * (students == WORTH)
    assert f"{students} failed" in capsys.readouterr().out


def test_an_interrupt_leaves_no_half_an_archive(toy, monkeypatch):
    def stops(*places):
        raise KeyboardInterrupt

    monkeypatch.setattr(kernels.os, "replace", stops)
    with pytest.raises(KeyboardInterrupt):
        fill(toy, print)
    assert kept_for(toy) is None
