"""Exercises, puzzles and mini's functions: all but their planted answers is code like any other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from classroom import exercises
from classroom.exercise_file import without_answers
from classroom.exercises import LESSONS, order, place_of
from classroom.mini.helping import FUNCTIONS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def checks(tmp_path_factory):
    """A folder with all of these files, without their answers, and without dots in their names."""
    folder = tmp_path_factory.mktemp("checks")
    for path in [*LESSONS.glob("*/*.py"), *FUNCTIONS.glob("*/*.py")]:
        file = folder / path.parent.name / f"{path.stem.replace('.', '_')}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(without_answers(path.read_text()))
    return folder


@pytest.mark.parametrize(
    "command",
    [("ruff", "check", "--no-cache", "--config"),
     ("ruff", "format", "--check", "--no-cache", "--config"),
     ("mypy", "--explicit-package-bases", "--config-file")],
    ids=["ruff check", "ruff format", "mypy"],
)  # fmt: skip
def test_checks_are_clean(checks, command):
    done = subprocess.run(
        [sys.executable, "-m", *command, ROOT / "pyproject.toml", checks],
        env={**os.environ, "MYPYPATH": f"{ROOT}:{checks}"}, cwd=ROOT,
        capture_output=True, text=True,
    )  # fmt: skip
    said = (done.stdout + done.stderr).replace(f"{checks}/", "")
    assert done.returncode == 0, f"{said}\n`ruff format FILE` before you plant answers fixes layout"


def test_a_part_of_a_forks_own_has_a_title(monkeypatch):
    ours = exercises.parts()
    more = exercises.order() | {"98a_light_fields": ["light-ray"], "98b_more_light": ["light-two"]}
    monkeypatch.setattr(exercises, "order", lambda: more)
    assert [*exercises.parts().items()] == [*ours.items(), (98, "Light fields")]
    assert [*ours] == sorted(ours) and {*exercises.TITLES} <= {*ours}


def test_each_file_is_an_exercise_of_its_lesson_and_says_no_number():
    files = {place_of(notebook, name) for notebook, names in order().items() for name in names}
    there = {path for path in LESSONS.glob("*/*.py") if path.name != "shared.py"}
    assert files == there
    for path in there:
        head = without_answers(path.read_text())
        assert not re.search(r"\bexercise \d+\.\d+", head), path
