"""`python -m classroom grade-class`: everybody has a row, and what was found is never lost."""

import json
import os
from types import SimpleNamespace

import pytest

from classroom.gradebook import command, job, workers
from classroom.gradebook.job import Job, version_of
from classroom.gradebook.records import Records
from classroom.grader import command as grader
from classroom.grader import judge
from classroom.grader.handed_in import CannotGrade
from tests.grader.here import HALF, RIGHT, TOY, WRONG


def facts(rows, *columns):
    return [[row[column] for column in columns] for row in rows.values()]


def test_every_student_has_a_row_with_points_for_each_task(course):
    course.hand_in("ann", RIGHT)
    course.hand_in("bob", HALF, "projects/toy.py")  # as in a clone of a repository
    status, rows = course.grade()
    assert facts(rows, "student", "status", "points", "of", "double", "lazily") == [
        ["ann", "graded", "100", "100", "60", "40"], ["bob", "graded", "60", "100", "60", "0"]
    ]  # fmt: skip
    assert status == 0
    assert "ann" in course.out and "2 students: 2 graded" in course.out
    assert "a folder for each student: 2 of 2 students handed something in" in course.err


def test_an_untouched_file_has_0_points_in_every_cell(course, tmp_path, monkeypatch):
    (tmp_path / "projects").mkdir()
    (tmp_path / "projects" / "toy.py").write_text("def double(x): ...")
    monkeypatch.setattr(judge, "ROOT", tmp_path)
    course.hand_in("ann", "def double(x):  ...\n")
    _, rows = course.grade()
    assert facts(rows, "status", "points", "double", "lazily") == [["graded", "0", "0", "0"]]
    assert "Nothing in this file has changed yet" in rows["ann"]["note"]


def test_missing_refused_and_crashed_ones_have_rows_too(course):
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


ALIKE = "name,login\nAnn Ash,ash1\nAnn Ash,ash2\nBob,bob\nCy,cy\nDee,dee\n"


def test_a_file_of_another_kind_is_named_on_every_page_and_namesakes_are_told_apart(
    course, tmp_path
):
    """With a roster and without: of the first, Canvas would say that they handed something in."""
    (tmp_path / "roster.csv").write_text(ALIKE)
    course.tasks.with_stem("toy2").write_bytes(course.tasks.read_bytes())
    for student, name in ("bob", "essay.pdf"), ("cy", "toy2.py"), ("ash1", "toy.py"):
        course.hand_in(student, RIGHT, name)
    assert course.grade()[1]["bob"]["note"] == "There is no toy.py, only essay.pdf"
    Records(course.grades, "toy").path("ash1").unlink()
    rows = course.grade("--roster", str(tmp_path / "roster.csv"))[1]
    assert facts(rows, "student", "status", "points") == [
        ["Ann Ash (ash1)", "graded", "100"], ["Ann Ash (ash2)", "missing", "0"],
        ["Bob", "wrong file", "0"], ["Cy", "other project", "0"], ["Dee", "missing", "0"],
    ]  # fmt: skip
    pages = {path.stem: path.read_text() for path in (course.grades / "pages/toy").glob("*.html")}
    theirs = next(text for name, text in pages.items() if name.startswith("Bob"))
    for text in (course.out, theirs, (course.grades / "toy.html").read_text()):
        assert "essay.pdf" in text and "/essay.pdf" not in text
    for key in ("Ann Ash (ash1)", "Ann Ash (ash2)"):
        assert key in (course.grades / "toy.html").read_text()
        assert any(f"<bdi>{key}</bdi>" in text for text in pages.values())


def test_what_the_grader_could_not_do_is_said_in_its_own_words(course, monkeypatch):
    course.hand_in("ann", RIGHT)

    def fails(*rest, **more):
        raise CannotGrade("its process could not be started")

    monkeypatch.setattr(job, "grade_files", fails)
    rows = course.grade()[1]
    assert (rows["ann"]["status"], rows["ann"]["note"]) == (
        "failed", "its process could not be started"
    )  # fmt: skip


def test_a_failure_of_the_grader_stops_nobody_else_and_is_tried_again(course, monkeypatch):
    for name in ("ann", "bob", "cy"):
        course.hand_in(name, RIGHT)
    real = job.grade_files

    def fails(files, name, *rest, **more):
        if name.startswith("bob"):
            raise RuntimeError("no space left")
        return real(files, name, *rest, **more)

    monkeypatch.setattr(job, "grade_files", fails)
    status, rows = course.grade()
    assert status == 1
    assert facts(rows, "points") == [["100"], ["0"], ["100"]]
    assert rows["bob"]["status"] == "failed"
    assert rows["bob"]["note"] == "the grader failed (RuntimeError: no space left)"
    monkeypatch.setattr(job, "grade_files", real)
    course.asked.clear()
    assert course.grade()[1]["bob"]["points"] == "100"
    assert course.asked == ["bob/toy.py"]


def test_started_again_it_grades_only_what_has_changed(course):
    course.hand_in("ann", HALF)
    course.hand_in("bob", "raise ValueError")  # it will crash the next time, too
    before = course.grade()
    course.asked.clear()
    assert course.grade() == before and course.asked == []
    course.hand_in("ann", RIGHT)
    rows = course.grade()[1]
    assert course.asked == ["ann/toy.py"] and rows["ann"]["points"] == "100"
    course.grade("--again")
    assert course.asked == ["ann/toy.py", "ann/toy.py", "bob/toy.py"]


def test_other_tasks_or_another_grader_mean_that_all_is_graded_again(course, monkeypatch):
    course.hand_in("ann", HALF)
    course.grade()
    course.asked.clear()
    course.tasks.write_text(course.tasks.read_text() + "# a word\n")
    version_of.cache_clear()
    course.grade()
    assert course.asked == ["ann/toy.py"]


def test_one_student_or_one_task_is_graded_again(course):
    course.hand_in("ann", HALF)
    course.hand_in("bob", HALF)
    course.grade()
    course.asked.clear()
    course.grade("--again", "--student", "bob")
    assert course.asked == ["bob/toy.py"]
    # The instructor finds that lazily() is checked too strictly, and mends it.
    text = TOY.read_text().replace('expect(graph.kernels == 1, f"it takes', 'expect(True, f"it')
    course.tasks.write_text(text.replace("2 * x,", "3 * x,"))  # and spoils the other one
    version_of.cache_clear()
    rows = course.grade("--task", "lazily")[1]
    assert facts(rows, "double") == [["60"], ["60"]]  # it wasn't asked
    line = Records(course.grades, "toy").get("ann").gradings[-1]
    assert line.tasks == ("lazily",)
    assert course.grade("--task", "nothing")[0] == 2 and "no task 'nothing'" in course.err
    assert course.grade("--student", "eve")[0] == 2 and "nobody here is called 'eve'" in course.err


def test_a_task_alone_is_not_enough_where_the_file_has_changed(course):
    course.hand_in("ann", WRONG)
    course.grade()
    course.hand_in("ann", RIGHT)
    assert course.grade("--task", "lazily")[1]["ann"]["points"] == "100"


def test_points_stay_when_the_file_is_gone_or_the_grader_fails_later(course, monkeypatch):
    for name in ("ann", "bob", "cy"):
        course.hand_in(name, RIGHT)
    course.grade()
    (course.folder / "ann" / "toy.py").unlink()
    (course.folder / "bob" / "toy.py").unlink()
    (course.folder / "bob").rmdir()

    def fails(*rest, **more):
        raise RuntimeError

    monkeypatch.setattr(job, "grade_files", fails)
    rows = course.grade("--again")[1]
    assert facts(rows, "points") == [["100"], ["100"], ["100"]]
    assert "from an earlier run; now: " in rows["ann"]["note"]
    assert "from an earlier run; now: the grader failed" in rows["cy"]["note"]


def test_what_is_done_is_kept_when_it_is_stopped(course, monkeypatch):
    course.hand_in("ann", RIGHT)
    course.hand_in("bob", RIGHT)
    real = job.grade_files

    def stopped(files, name, *rest, **more):
        if name.startswith("bob"):
            raise KeyboardInterrupt
        return real(files, name, *rest, **more)

    monkeypatch.setattr(job, "grade_files", stopped)
    status, _ = course.grade()
    assert status == 2 and "stopped" in course.err
    kept = [record.student for record in Records(course.grades, "toy").all()]
    assert kept == ["ann"]
    monkeypatch.setattr(job, "grade_files", real)
    course.asked.clear()
    assert facts(course.grade()[1], "points") == [["100"], ["100"]]
    assert course.asked == ["bob/toy.py"]


def test_a_project_that_is_a_folder_is_graded(course):
    course.tasks.write_text(TOY.read_text().replace("points=100", 'points=100, main="main.py"'))
    version_of.cache_clear()
    course.hand_in("ann", RIGHT, "toy/main.py")
    course.hand_in("bob", "from parts import *\n", "projects/toy/main.py")
    course.hand_in("bob", HALF, "projects/toy/parts.py")
    _, rows = course.grade()
    assert facts(rows, "status", "points") == [["graded", "100"], ["graded", "60"]]
    before = rows["bob"]["made from"]
    course.hand_in("bob", RIGHT, "projects/toy/parts.py")
    _, rows = course.grade()
    assert rows["bob"]["points"] == "100" and rows["bob"]["made from"] != before


@pytest.mark.parametrize(
    ("name", "shown"),
    [("=1+1", "'=1+1"), ("\uff1d1+1", "'\uff1d1+1"), ("nina;=1+1", "nina,=1+1")],
)
def test_names_are_no_formulas_in_the_table_and_are_known_again(name, shown, course):
    course.hand_in(name, RIGHT)
    assert list(course.grade()[1]) == [shown]
    course.asked.clear()
    assert list(course.grade()[1]) == [shown] and course.asked == []


def test_the_name_of_a_link_cannot_write_to_the_terminal(course):
    folder = course.folder / "e\x1b[31mve"
    folder.mkdir()
    (folder / "toy.py").symlink_to(course.folder / "nobody")
    course.grade()
    written = [path.read_text() for path in course.grades.rglob("*.*")]
    assert "\x1b" not in "".join([course.out, course.err, *written])


def test_where_there_is_no_class_that_is_said(course, tmp_path):
    assert course.grade()[0] == 2 and "grade-class: " in course.err
    given = [str(tmp_path / "nowhere"), "--project", "toy", "--grades", str(course.grades)]
    assert command.main(["--jobs", "1", *given]) == 2


def test_the_progress_says_how_far_it_is_and_who_is_graded(course, monkeypatch):
    told = []
    monkeypatch.setattr(command, "progress", told.append)
    for name in ("ann", "bob", "cy"):
        course.hand_in(name, HALF)
    course.grade()
    assert told[0] == "0 of 3 graded: ann" and "1 of 3 graded" in told[1]
    assert told[-2] == "3 of 3 graded, less than a minute left" and told[-1] == ""


def test_a_log_has_a_line_a_minute_at_most(capsys, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(grader.time, "monotonic", lambda: clock[0])
    for second in range(150):
        clock[0] = second
        grader.progress(f"after {second} s")
    grader.progress("")
    grader.progress("of the next command")
    grader.progress("")
    assert capsys.readouterr().err == "after 60 s\nafter 120 s\n"


@pytest.mark.parametrize("folder", ["", "/sys/fs/cgroup/mine"])
def test_a_machine_whose_kernel_counts_no_memory_is_told_of_once(folder, course, monkeypatch):
    group = SimpleNamespace(folder=folder, remove=lambda: None)
    monkeypatch.setattr(command, "MemoryGroup", lambda most: group)
    for name in ("ann", "bob"):
        course.hand_in(name, RIGHT)
    course.grade()
    assert course.err.count("no memory control group here") == (not folder)


def test_a_record_that_is_no_record_is_named_and_left_alone(course):
    course.hand_in("ann", RIGHT)
    course.grade()
    path = Records(course.grades, "toy").path("ann")
    path.write_text('{"points": 7}')
    assert course.grade()[0] == 2
    assert "ann.json is not a record of a grading" in course.err
    assert path.read_text() == '{"points": 7}'


def test_a_line_on_each_grading_says_how_the_points_came_about(course):
    course.hand_in("ann", HALF)
    course.grade("--seed", "of today")
    course.hand_in("ann", RIGHT)
    course.grade()
    record = Records(course.grades, "toy").get("ann")
    first, last = record.gradings
    assert (first.points, last.points, first.seed, last.seed) == (60, 100, "of today", "")
    assert first.digest != last.digest and first.version == last.version == version_of("toy")
    assert "limits on time, memory, processes, output, disk" in last.protections
    assert last.commit.rstrip("+").isalnum()  # of this repository
    assert course.grades_command("show", "ann") == 0
    assert "graded, 60 points" in course.out and "seed 'of today'" in course.out


# ---- points by hand ------------------------------------------------------------------------------


def test_points_by_hand_have_a_name_and_a_reason_and_stay_when_graded_again(course):
    course.hand_in("ann", HALF)
    course.grade()
    because = ["--by", "Lee", "--why", "the task was unclear"]
    assert course.grades_command("set", "ann", "lazily", "25", *because) == 0
    found = course.rows()["ann"]
    assert found["points"] == "85" and "lazily 25 by hand" in found["note"]
    assert course.grade("--again")[1]["ann"]["points"] == "85"
    assert course.grades_command("set", "ann", "style", "5", "--extra", *because) == 0
    assert course.rows()["ann"]["style"] == "5" and course.rows()["ann"]["points"] == "90"
    assert course.grades_command("set", "ann", "lazily", "undo", *because) == 0
    assert course.rows()["ann"]["points"] == "65"
    course.grades_command("show", "ann")
    assert course.out.count("by Lee: the task was unclear") == 3


@pytest.mark.parametrize(("words", "said"), [
    (["ann", "lazily", "25"], "needs a name and a reason"),
    (["ann", "lazily", "25", "--by", "Lee", "--why", " "], "needs a name and a reason"),
    (["ann", "lasily", "25", "--by", "L", "--why", "w"], "no task 'lasily'"),
    (["ann", "lazily", "41", "--by", "L", "--why", "w"], "40 points at most"),
    (["eve", "lazily", "25", "--by", "L", "--why", "w"], "nothing is kept of 'eve'"),
])  # fmt: skip
def test_a_change_that_is_wrong_is_refused_and_changes_nothing(words, said, course):
    course.hand_in("ann", HALF)
    course.grade()
    before = course.rows()
    assert course.grades_command("set", *words) == 2 and said in course.err
    assert course.rows() == before


# ---- several processes ---------------------------------------------------------------------------


def jobs_of(count):
    return [Job(f"s{n}", "toy", {"submission.py": b"x"}, "toy.py", "v") for n in range(count)]


class Dies(Job):
    """A job whose process is killed when it takes it up."""

    def __setstate__(self, state):
        os.kill(os.getpid(), 9)


def test_a_process_that_dies_of_a_job_twice_takes_no_other_job_with_it():
    one = Dies("dead", "toy", {"submission.py": b"x"}, "toy.py", "v")
    began = []
    done = list(workers.worked_off([*jobs_of(3), one], 2, lambda job: began.append(job.student)))
    failed = {each.student: each.failed for each in done}
    assert failed.pop("dead") == "the grader's process was killed by SIGKILL, twice"
    assert began.count("dead") == 2
    assert sorted(failed) == ["s0", "s1", "s2"]
    # which have been done: there, where no project is called toy
    assert all("there is no project 'toy'" in text for text in failed.values())


def test_a_worker_with_another_version_says_so(course):
    done = job.do(jobs_of(1)[0])
    assert done.report is None and "another version" in done.failed


def test_records_are_the_same_whatever_order_they_came_in(course):
    course.hand_in("ann", RIGHT)
    course.grade()
    path = Records(course.grades, "toy").path("ann")
    record = Records(course.grades, "toy").get("ann")
    text = path.read_text()
    Records(course.grades, "toy").keep(record)
    assert path.read_text() == text and json.loads(text)["student"] == "ann"
    assert [each.name for each in path.parent.iterdir()] == ["ann.json"]
