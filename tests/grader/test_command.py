"""`python -m classroom grade`: its formats, its exit codes, what it says where it cannot grade."""

import base64
import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
import xml.etree.ElementTree as ElementTree

import pytest

from classroom.__main__ import main
from classroom.grader import command, judge
from classroom.grader.report import FORMATS, Report, Row
from classroom.grader.sandbox import ROOT
from tests.grader.here import HALF, RIGHT, TOY, WRONG, grade_once


def report():
    rows = [
        Row("double", "numbers", 60, 60, "", "Add x."),
        Row("lazily", "a graph", 0, 40, "=raised TypeError: <no>", "Wait.", 6, "return [][x]"),
    ]
    return Report("Toy", "sub.py", 100, 0, [("Landlock", False)], rows, ["A note."], "printed")


@pytest.fixture
def graded(tmp_path, monkeypatch, capsys):
    """Runs the command on this text as a submission to the toy project: (status, stdout, stderr)"""
    monkeypatch.setattr(judge, "TASKS", (TOY.parent,))
    monkeypatch.setattr(command, "grade", grade_once)

    def run(text, *options):
        path = tmp_path / "toy.py"
        path.write_text(text)
        status = main(["grade", str(path), "--slow", "9", *options])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_full_marks_and_nothing_else_end_with_status_0(graded):
    assert graded(RIGHT)[0] == 0
    assert graded(HALF)[0] == 1


def test_enough_points_end_with_status_0(graded):
    assert graded(HALF, "--min-score", "60")[0] == 0
    assert graded(HALF, "--min-score", "61")[0] == 1


def test_the_table_shows_the_learners_own_line_and_a_hint(graded):
    _, out, _ = graded(HALF)
    assert "60/60" in out and "0/40" in out and "60 of 100 points" in out
    assert "line 6: return [][x]" in out
    assert "raised TypeError: list indices must be integers" in out
    assert "hint: Do not realize it." in out
    assert "It printed 1 line while it was graded" in FORMATS["table"](report())


def test_json_says_the_same(graded):
    found = json.loads(graded(HALF, "--json")[1])
    assert (found["score"], found["of"], found["full"]) == (60, 100, False)
    assert [row["line"] for row in found["rows"]] == [None, 6]
    assert "Landlock" in " ".join(found["protections"])


def test_the_same_file_gets_the_same_report_and_another_seed_other_numbers(graded, monkeypatch):
    monkeypatch.setattr(command, "grade", judge.grade)
    first = graded(WRONG, "--json")
    assert first == graded(WRONG, "--json")
    assert first != graded(WRONG, "--json", "--seed", "another")


def test_a_file_may_have_another_name(graded, tmp_path, capsys):
    graded(RIGHT)
    (tmp_path / "toy.py").rename(tmp_path / "ann.py")
    assert main(["grade", str(tmp_path / "ann.py")]) == 2
    assert "there is no project 'ann'" in capsys.readouterr().err
    assert main(["grade", str(tmp_path / "ann.py"), "--project", "toy", "--slow", "9"]) == 0


def test_a_folder_may_be_named_by_where_one_is(tmp_path, monkeypatch, capsys):
    (tmp_path / "tasks").mkdir()
    tasks = tmp_path / "tasks" / "toy.py"
    tasks.write_text(TOY.read_text().replace("points=100", 'points=100, main="main.py"'))
    monkeypatch.setattr(judge, "TASKS", (tasks.parent,))
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "main.py").write_text(RIGHT)
    for place, named in (("toy", "."), (".", "toy/"), (".", "toy")):
        monkeypatch.chdir(tmp_path / place)
        assert main(["grade", named, "--slow", "9"]) == 0
        assert "100 of 100 points" in capsys.readouterr().out
    assert main(["grade", "toy/main.py", "--project", "toy"]) == 2
    assert "main.py is not a folder; this project is one" in capsys.readouterr().err


def test_a_missing_file_is_named(graded, capsys):
    assert main(["grade", "nowhere/toy.py"]) == 2
    told = capsys.readouterr()
    assert "there is no file nowhere/toy.py" in told.err and not told.out


def test_gradescope_has_a_result_for_a_file_that_is_not_there(capsys):
    assert main(["grade", "nowhere/toy.py", "--format", "gradescope"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert (found["score"], found["tests"], found["output_format"]) == (0, [], "text")
    assert "Nothing was graded" in found["output"]


def test_a_student_or_the_instructor_can_be_named_as_the_reader(graded):
    said = {}
    for reader in ("student", "instructor"):
        _, out, _ = graded(f"print('what it was asked')\n{HALF}", "--json", "--for", reader)
        said[reader] = json.loads(out)["printed"].strip()
    assert said == {"student": "", "instructor": "what it was asked"}


def test_gradescope_has_a_test_for_each_check():
    found = json.loads(FORMATS["gradescope"](report()))
    assert found["score"] == 60
    assert [(t["score"], t["max_score"], t["status"]) for t in found["tests"]] == [
        (60, 60, "passed"), (0, 40, "failed"),
    ]  # fmt: skip
    assert "line 6" in found["tests"][1]["output"]


def test_junit_is_xml_with_a_failure():
    suite = ElementTree.fromstring(FORMATS["junit"](report()))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert "hint: Wait." in suite.find("testcase/failure").text


def test_csv_has_no_formulas():
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"](report()))))
    assert [row["points"] for row in rows] == ["60", "0", "60"]
    assert rows[1]["found"] == "'=raised TypeError: <no>"


def test_github_annotates_the_line_and_hands_the_result_on(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    out = FORMATS["github"](report())
    assert out.startswith("::error file=sub.py,line=6,title=lazily 0/40::=raised")
    name, _, encoded = (tmp_path / "output").read_text().strip().partition("=")
    result = json.loads(base64.b64decode(encoded))
    assert (name, result["max_score"], result["status"]) == ("result", 100, "fail")
    assert [test["score"] for test in result["tests"]] == [60, 0]
    assert "60 of 100" in (tmp_path / "summary").read_text()


def test_points_elsewhere_are_told():
    part = Report("Toy", "sub.py", 100, 48, [], report().rows)
    assert part.result() == "60 of 52 points; 48 more depend on your instructor's own checks"


# ---- where and how it is started -----------------------------------------------------------------

SHADOWS = ("numpy", "json", "typing", "difflib", "argparse", "rich", "tinyframe", "__future__")


@pytest.fixture
def folder_of_student(tmp_path):
    """With modules in it that say so when they are imported."""
    for name in SHADOWS:
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('the student's own {name}')")
    (tmp_path / "01_tensor_basics.py").write_text(
        "import numpy, tinyframe\nraise RuntimeError(f'{numpy.ones(2).sum()} and no other')\n"
    )
    return tmp_path


def expect_graded(folder, *command):
    """By the real modules, in the grader as in the submission's process."""
    arguments = ["grade", "01_tensor_basics.py", "--json"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *command, *arguments], cwd=folder, env=env,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "RuntimeError: 2.0 and no other" in json.loads(done.stdout)["notes"][0]


def test_modules_of_the_folder_where_it_is_started_are_not_imported(folder_of_student):
    expect_graded(folder_of_student, "-m", "classroom")


def test_as_a_program_it_does_not_see_a_students_classroom(folder_of_student):
    """Started by what pip writes for pyproject.toml's entry, and by -P."""
    classroom = folder_of_student / "classroom"
    classroom.mkdir()
    (classroom / "__init__.py").write_text("raise SystemExit('the student's own classroom')")
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, function = scripts["classroom"].split(":")
    program = folder_of_student / "bin" / "classroom"
    program.parent.mkdir()
    program.write_text(f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    expect_graded(folder_of_student, str(program))
    expect_graded(folder_of_student, "-P", "-m", "classroom")


def test_a_notebook_in_any_folder_keeps_the_modules_beside_it(tmp_path):
    """Only `-m classroom` leaves the folder out, not everybody who imports the package."""
    (tmp_path / "mini.py").write_text("name = 'mine'")
    code = "import classroom, mini; print(mini.name)"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True)
    assert done.stdout == b"mine\n", done.stderr


@pytest.mark.parametrize(("name", "number", "jobs"), [
    ("grade", signal.SIGTERM, 1), ("grade", signal.SIGHUP, 1), ("grade-class", signal.SIGINT, 1),
    ("grade-class", signal.SIGTERM, 2), ("record", signal.SIGTERM, 1),
])  # fmt: skip
def test_it_leaves_nothing_behind_when_it_is_ended(name, number, jobs, tmp_path):
    room = tmp_path / "room"
    room.mkdir(mode=0o711)
    for student in ("ann", "bob"):
        path = tmp_path / "class" / student / "01_tensor_basics.py"
        path.parent.mkdir(parents=True)
        path.write_text("import time\nwhile True: time.sleep(1)\n")
    whole = [str(tmp_path / "class"), "--project", path.stem, "--grades", str(tmp_path / "grades"),
             "--jobs", str(jobs)]  # fmt: skip
    arguments = {"grade": [str(path), "--json"], "grade-class": whole, "record": ["01"]}[name]
    command = [sys.executable, "-m", "classroom", name, *arguments]
    env = {**os.environ, "TMPDIR": str(room)}
    grader = subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True)
    while not (wardens := with_this_in_their_words(f"{room}/", "warden.py")):
        assert grader.poll() is None
        time.sleep(0.1)
    grader.send_signal(number)
    _, told = grader.communicate(timeout=60)
    *first, last = told.splitlines()
    assert grader.returncode == 2 and last.startswith(f"{name}: stopped")
    first = [line for line in first if "no memory control group" not in line]
    assert first == ["grade-class: a folder for each student: 2 of 2 students handed something in"
                     ] * (name == "grade-class")  # fmt: skip
    assert list(room.iterdir()) == []
    assert not with_this_in_their_words(f"{room}/"), wardens


def with_this_in_their_words(*words):
    """Processes whose commands have all these texts in them."""
    table = subprocess.run(["ps", "-Aww", "-o", "args="], capture_output=True, text=True).stdout
    return [line for line in table.splitlines() if all(word in line for word in words)]
