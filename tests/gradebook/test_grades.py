"""`python -m classroom grades`: what is kept of a class goes where it has to."""

import csv
import html
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from classroom.__main__ import main
from classroom.gradebook import grades as commands
from classroom.gradebook.mail import Sent
from classroom.grader.judge import ROOT
from tests.gradebook.classes import Tags
from tests.grader.here import HALF, RIGHT, WRONG

ROSTER = "name,email,github\nann,ann@uni.example,ann-s\nbob,bob@uni.example,\nzoe,,zoe\n"
WHY = ["--by", "Lee", "--why", "nice"]
PEOPLE = ["--from", "Lee <lee@uni.example>"]


@pytest.fixture
def graded(course, tmp_path):
    """Two who handed in and one who didn't."""
    course.roster = tmp_path / "roster.csv"
    course.roster.write_text(ROSTER)
    course.hand_in("ann", RIGHT)
    course.hand_in("bob", HALF)
    course.grade("--roster", str(course.roster))

    def run(name, *options):
        return course.grades_command(name, "--roster", str(course.roster), *options)

    course.run = run
    return course


@pytest.fixture
def tables(tmp_path):
    """Writes tables of a class: `tables(deadlines=…, times=…)` gives the options that name them."""

    def written(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.csv").write_text(text)
        return [word for name in texts for word in (f"--{name}", str(tmp_path / f"{name}.csv"))]

    return written


DUE = "project,due,percent a day,zone\ntoy,2026-10-05 23:59,10,Europe/Berlin\n"
BOBS = "student,time\nbob,2026-10-07T10:00:00+02:00\n"
ILL = "student,project,days,reason\nbob@uni.example,toy,{},ill\n"


def test_everybody_in_the_roster_has_a_row_and_a_page(graded):
    assert {name: row["status"] for name, row in graded.rows().items()} == {
        "ann": "graded", "bob": "graded", "zoe": "missing"
    }  # fmt: skip
    pages = sorted(path.name for path in (graded.grades / "pages" / "toy").iterdir())
    assert pages == [f"{n}.{end}" for n in ("ann", "bob", "zoe") for end in ("html", "md")]
    assert "lazily" in (graded.grades / "pages" / "toy" / "bob.md").read_text()
    assert 'href="pages/toy/bob.html"' in (graded.grades / "toy.html").read_text()


def test_who_comes_later_has_a_row_from_then_on(graded):
    graded.roster.write_text(ROSTER + "yan,yan@uni.example,\n")
    assert graded.run("pages") == 0
    assert graded.rows()["yan"]["status"] == "missing"


def test_an_anonymous_page_is_written_when_asked_for(graded):
    path = graded.grades / "toy_anonymous.html"
    assert graded.run("pages") == 0 and not path.exists()
    assert graded.run("pages", "--anonymous") == 0
    assert "bob" not in path.read_text() and "bob" in (graded.grades / "toy.html").read_text()
    path.write_text("of last week")
    assert graded.run("set", "bob", "lazily", "1", *WHY) == 0
    assert "last week" not in path.read_text()


def test_mails_are_looked_at_before_they_are_sent(graded, monkeypatch):
    assert graded.run("mail", *PEOPLE) == 0
    folder = graded.grades / "mail" / "toy"
    assert sorted(path.name for path in folder.iterdir()) == ["ann.eml", "bob.eml"]
    assert "zoe: gets none, no address" in graded.out and "Nothing was sent" in graded.out
    asked = []

    def sends(letters, server, sent, progress):
        asked.append(server.host)
        first, second = letters
        sent.add(first)
        return [(second[0], "550 no such user")]

    monkeypatch.setattr(commands, "send", sends)
    assert graded.run("mail", *PEOPLE, "--server", "smtp://localhost:2525") == 1
    assert asked == ["localhost"] and "not sent to bob: 550 no such user" in graded.out
    assert "1 mail went out now. 1 mail to be sent." in graded.out
    assert graded.run("mail", *PEOPLE) == 0 and "ann: has it already" in graded.out
    monkeypatch.setattr(commands, "send", lambda *rest: [])
    assert graded.run("mail", *PEOPLE, "--server", "smtp://localhost:2525") == 0


@pytest.mark.parametrize("options", [[], ["--from", "nobody"], [*PEOPLE, "--server", "uni.ex"]])
def test_a_sender_or_a_server_that_is_none_is_refused(options, graded):
    try:
        status = graded.run("mail", *options)
    except SystemExit as ended:
        status = ended.code
    assert status == 2


def test_marks_go_into_the_gradebook_that_was_downloaded(graded, tmp_path):
    theirs = tmp_path / "canvas.csv"
    theirs.write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section,Toy (77)\n"
        '"    Points Possible",,,,,50\n'
        "ann,1,,ann@uni.example,A,\nbob,2,,bob@uni.example,A,40\n"
    )
    given = ["canvas", "--into", str(theirs), "--column", "Toy"]
    assert graded.run("export", *given) == 0
    path = graded.grades / "exports" / "toy" / "canvas" / "canvas.csv"
    marks = {row["Student"]: row["Toy (77)"] for row in csv.DictReader(path.open())}
    assert (marks["ann"], marks["bob"]) == ("50", "40") and "bob" in graded.out
    assert graded.run("export", *given, "--overwrite") == 0
    marks = {row["Student"]: row["Toy (77)"] for row in csv.DictReader(path.open())}
    assert marks["bob"] == "30"


@pytest.mark.parametrize("name", [*commands.FORMATS])
def test_each_format_is_written_and_says_who_is_left_out(name, graded):
    options = ["--repositories", "cs101/toy-{github}"] if name == "github" else []
    assert graded.run("export", name, *options) == 0
    folder = graded.grades / "exports" / "toy" / name
    assert any(path.is_file() for path in folder.rglob("*"))
    if name == "junit":
        root = ElementTree.parse(folder / "junit.xml").getroot()
        assert [suite.get("name") for suite in root] == ["ann", "bob", "zoe"]
    else:
        assert "zoe" in graded.out or "bob" in graded.out


def test_a_table_that_is_not_there_is_named(graded, tmp_path):
    given = ["export", "moodle", "--into", str(tmp_path / "no.csv")]
    assert graded.run(*given) == 2 and "no.csv cannot be read" in graded.err


def test_submissions_that_are_alike_are_for_the_instructor(graded):
    graded.hand_in("cy", f"{WRONG}# mine\n")
    graded.hand_in("dee", f"{WRONG}# mine\n")
    assert graded.run("similar", str(graded.folder)) == 0
    assert "cy" in graded.out and "dee" in graded.out
    page = (graded.grades / "toy_similar.html").read_text()
    assert "cy" in page and "ann" not in page.replace("cannot", "")


# ---- what an instructor says, and is asked -------------------------------------------------------

ON = [("On the whole, well done.", []), ("Why not a view?", ["--task", "lazily"]),
      ("A sum would do.", ["--line", "2"])]  # fmt: skip


def read_by(graded, student, end):
    return (graded.grades / "pages" / "toy" / f"{student}.{end}").read_text()


def test_comments_are_on_the_student_s_page_and_stay_when_graded_again(graded):
    for text, about in ON:
        assert graded.run("comment", "bob", text, "--by", "Lee", *about) == 0
    graded.hand_in("bob", RIGHT)
    line = HALF.splitlines()[1].strip()
    for command in ([], ["--again"]):
        graded.grade(*command)
        for end in ("html", "md"):
            page = html.unescape(read_by(graded, "bob", end)).replace("\\", "")
            assert all(text in page for text, _ in ON) and "Lee" not in page
            assert line in page and "Line 2" in page and "lazily" in page
    assert graded.run("show", "bob") == 0 and "Line 2, by Lee: A sum would do." in graded.out
    assert graded.run("comment", "bob", "--undo") == 0 and "2 comments" in graded.out
    assert "A sum would do." not in read_by(graded, "bob", "html")


@pytest.mark.parametrize(("words", "said"), [
    (["ann", "Nice.", "--by", " "], "a text and a name"), (["ann", "--by", "Lee"], "a text and a"),
    (["ann", "--undo"], "no comment to take back"),
    (["ann", "x", "--by", "Lee", "--task", "lasily"], "no task 'lasily'; it has double, lazily"),
    (["ann", "x", "--by", "Lee", "--line", "99"], "there is no line 99"),
    (["ann", "x", "--by", "Lee", "--line", "b.py:1"], "there is no line b.py:1"),
    (["zoe", "x", "--by", "Lee", "--line", "1"], "isn't the one that was graded"),
    (["eve", "x", "--by", "Lee"], "nothing is kept of 'eve'"),
])  # fmt: skip
def test_a_comment_that_is_wrong_is_refused_and_changes_nothing(words, said, graded):
    before = read_by(graded, "ann", "html")
    assert graded.run("comment", *words) == 2 and said in graded.err
    assert read_by(graded, "ann", "html") == before


@pytest.mark.parametrize("name", ["bob", "bob@uni.example"])
def test_a_request_to_look_again_is_listed_until_it_is_answered(name, graded):
    path = graded.grades / "records" / "toy" / f"{name}.txt"
    path.write_text("My <lazily> is\nright, I think.\n")
    os.utime(path, (2e9, 2e9))
    graded.run("pages", "--anonymous")
    text = html.unescape((graded.grades / "toy.html").read_text())
    assert "Who asks you to look again" in text and "My <lazily> is right, I think." in text
    assert "right, I think" not in (graded.grades / "toy_anonymous.html").read_text()
    assert graded.run("show") == 0 and "bob: asks to look again: My <lazily>" in graded.out
    os.utime(path, (1e9, 1e9))
    graded.run("comment", "bob", "It isn't: look at the last line.", "--by", "Lee")
    assert "to look again" not in (graded.grades / "toy.html").read_text()
    path.rename(path.with_stem("eve"))
    assert graded.run("show") == 2 and "eve.txt beside the records asks to look" in graded.err


def test_a_project_is_graded_without_names_until_they_are_asked_for(graded):
    graded.hand_in("bob", WRONG, "bob_of_the_hill.py")
    assert graded.grade("--blind")[0] == 1
    graded.run("comment", "ann", "Well done.", "--by", "Lee")
    codes = {row["points"]: code for code, row in graded.rows().items() if row["file"] == ""}
    assert len(codes) == 3 and [*graded.rows()] == sorted(codes.values())
    assert graded.run("set", codes["60"], "lazily", "7", *WHY) == 0
    assert graded.out == f"{codes['60']}: 67 points, 60 before\n"
    assert graded.run("show", codes["60"]) == 0 and graded.out.startswith(f"{codes['60']}, toy")
    written = [path for path in graded.grades.rglob("*.*")
               if path.suffix in (".html", ".md", ".csv")]  # fmt: skip
    names = ("ann", "bob", "zoe")
    assert len(written) == 8
    for path in written:
        assert not set(re.findall(r"\w+", f"{path.name} {path.read_text()}")) & {*names}
    for command in (["mail", *PEOPLE], ["export", "junit"]):
        assert graded.run(*command) == 2 and "without names as yet" in graded.err
    assert graded.run("pages", "--names") == 0
    assert {name: row["points"] for name, row in graded.rows().items()} == {
        "ann": "100", "bob": "67", "zoe": "0"
    }  # fmt: skip
    assert sorted({path.stem for path in (graded.grades / "pages" / "toy").iterdir()}) == [*names]
    assert graded.run("export", "junit") == 0


def test_one_table_has_all_projects_side_by_side(graded):
    (graded.tasks.parent / "toy2.py").write_bytes(graded.tasks.read_bytes())
    graded.hand_in("zoe", RIGHT, "toy2.py")
    whole = [str(graded.folder), "--project", "toy2", "--grades", str(graded.grades), "--jobs", "1"]
    main(["grade-class", *whole])
    assert main(["grades", "course", "--grades", str(graded.grades)]) == 0
    head, *rows = csv.reader((graded.grades / "course.csv").open())
    assert "ann" in graded.rows() and "other project" in (graded.grades / "toy2.csv").read_text()
    assert head == ["student", "number", "login", "email", "section", "toy", "toy2", "points", "of"]
    assert [[row[0], row[3], *row[5:]] for row in rows] == [
        ["ann", "ann@uni.example", "100", "0", "100", "200"],
        ["bob", "bob@uni.example", "60", "0", "60", "200"], ["zoe", "", "0", "100", "100", "200"],
    ]  # fmt: skip
    page = Tags((graded.grades / "course.html").read_text())
    links = {attributes["href"] for tag, attributes in page.found if tag == "a"}
    assert {"toy.html", "toy2.html", "pages/toy2/zoe.html"} < links and not page.wrong
    assert all((graded.grades / link).is_file() for link in links) and "missing" in page.text
    graded.run("pages", "--blind")
    assert main(["grades", "course", "--grades", str(graded.grades)]) == 0
    assert "toy,toy2" not in (graded.grades / "course.csv").read_text().replace('"', "")


def test_being_late_costs_what_the_table_says(graded, tables):
    given = tables(deadlines=DUE, times=BOBS + "ann,2026-10-05T20:00:00+02:00\n")
    rows = graded.grade(*given)[1]
    assert (rows["ann"]["points"], rows["ann"]["late"]) == ("100", "")
    assert (rows["bob"]["points"], rows["bob"]["late"]) == ("48", "2 days, -20 %")
    rows = graded.grade(*given, *tables(extensions=ILL.format(2)))[1]
    assert (rows["bob"]["points"], rows["bob"]["late"]) == ("60", "")


def test_deadlines_without_a_time_say_so(graded, tables):
    graded.grade(*tables(deadlines=DUE))
    assert "nothing says when 2 of them handed in, so they count as in time" in graded.err


def test_records_follow_a_student_whom_the_roster_calls_otherwise(graded):
    graded.run("set", "ann", "style", "3", "--extra", *WHY)
    request = graded.grades / "records" / "toy" / "ann.txt"
    request.write_text("Look again.")
    os.utime(request, (2e9, 2e9))
    mended = "name,email,github\nAnn Lee,ann@uni.example,ann-s\nAnn Lee,a2@uni.example,\n"
    graded.roster.write_text(mended + "bob,bob@uni.example,\n")
    assert graded.run("pages") == 0
    rows = graded.rows()
    assert [*rows] == ["Ann Lee (a2@uni.example)", "Ann Lee (ann-s)", "bob"]
    assert rows["Ann Lee (ann-s)"]["points"] == "103"
    assert "Look again." in rows["Ann Lee (ann-s)"]["note"]
    assert rows["Ann Lee (a2@uni.example)"]["status"] == "missing"
    assert not (graded.grades / "pages" / "toy" / "ann.html").exists()
    graded.roster.write_text(ROSTER)
    assert graded.run("pages") == 0 and graded.rows()["ann"]["points"] == "103"


@pytest.mark.parametrize("place", [(Path, "unlink"), (Sent, "rename")])
def test_a_renaming_that_was_interrupted_goes_on(place, graded, monkeypatch):
    def sends(letters, server, sent, progress):
        sent.add(letters[0])
        return []

    monkeypatch.setattr(commands, "send", sends)
    assert graded.run("mail", *PEOPLE, "--server", "smtp://localhost:2525") == 0
    graded.roster.write_text(ROSTER.replace("ann,", "Ann Ash,", 1))
    with monkeypatch.context() as broken:
        broken.setattr(*place, lambda *rest, **more: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            graded.run("pages")
    assert graded.run("pages") == 0
    sent = (graded.grades / "mail" / "toy" / "sent.csv").read_text()
    assert "Ann Ash" in sent and '"ann"' not in sent
    assert {name: row["points"] for name, row in graded.rows().items()} == {
        "Ann Ash": "100", "bob": "60", "zoe": "0"
    }  # fmt: skip


def test_records_of_somebody_else_are_never_written_over(graded):
    graded.roster.write_text("name,email\nbobby,bob@uni.example\n")
    graded.hand_in("bobby", RIGHT)
    (graded.grades / "people.json").unlink()  # as if nobody knew that bobby is bob
    rows = graded.grade("--roster", str(graded.roster))[1]
    assert (rows["bob"]["points"], rows["bobby"]["points"]) == ("60", "100")


def test_whoever_is_kept_and_is_nobody_any_more_is_named(graded):
    (graded.folder / "bob").rename(graded.folder / "bobby")
    graded.roster.write_text("name,github\nann,ann-s\nbobby,bobby\n")
    graded.grade()
    assert "neither in the roster nor handed in now: bob. If they are nobody, delete" in graded.err
    (graded.grades / "records" / "toy" / "bob.json").unlink()
    assert [*graded.grade()[1]] == ["ann", "bobby"]


def test_a_reader_who_stops_early_is_no_error(graded):
    """As `grades show | head -1` does."""
    command = [sys.executable, "-m", "classroom", "grades", "show", "--project", "01_tensor_basics"]
    command += ["--grades", str(graded.grades)]
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(command, stdout=writes, stderr=subprocess.PIPE, cwd=ROOT)
    os.close(writes)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_file_that_nobody_began_is_not_late_and_spends_no_free_days(graded, tables):
    given = tables(deadlines=DUE, times=BOBS.replace("bob", "ann"))
    assert graded.grade(*given)[1]["ann"]["late"] == "2 days, -20 %"
    graded.hand_in("ann", "def double(x): ...\ndef lazily(x): ...\n")
    rows = graded.grade(*given)[1]
    assert (rows["ann"]["points"], rows["ann"]["late"]) == ("0", "")


def test_tables_are_remembered_so_that_no_command_forgets_what_being_late_costs(graded, tables):
    more = tables(extensions=ILL.format(1))
    assert graded.grade(*more)[0] == 2 and "--deadlines" in graded.err
    _, _, _, times = given = tables(deadlines=DUE, times=BOBS)
    graded.grade(*given)
    late = ["bob", "missing", "48", "2 days, -20 %"]
    for command in (["pages"], ["set", "bob", "lazily", "0", *WHY]):
        assert graded.grades_command(*command) == 0
        bob, zoe = graded.rows()["bob"], graded.rows()["zoe"]
        assert [bob["student"], zoe["status"], bob["points"], bob["late"]] == late
    assert graded.grade()[1]["bob"]["late"] == late[-1]
    assert graded.grades_command("pages", *more) == 0
    assert graded.rows()["bob"]["late"] == "1 day, -10 %"
    assert graded.grades_command("show", "bob") == 0
    assert graded.out.startswith("bob, toy: graded, 60 points; 1 day, -10 %: 54 count\n")
    assert graded.grades_command("set", "bob", "style", "10", "--extra", *WHY) == 0
    assert graded.out == "bob: 70 points, 60 before; 1 day, -10 %: 63 count\n"
    assert graded.grades_command("set", "bob", "style", "undo", *WHY) == 0
    assert "no line for toy" not in graded.err
    tables(deadlines=DUE.replace("toy", "toys"), extensions="student,project,days\n")
    assert graded.grade()[1]["bob"]["late"] == "" and "no line for toy, so" in graded.err
    Path(times).unlink()
    assert graded.grade()[0] == 2 and "times.csv" in graded.err
    (graded.grades / "tables.json").write_text("[]")
    assert graded.grades_command("show") == 2 and "name them again" in graded.err


@pytest.mark.parametrize("name", ["ann", "ann@uni.example", "ann-s"])
def test_a_student_may_be_named_by_login_or_address(name, graded):
    assert graded.run("show", name) == 0 and graded.out.startswith("ann, toy")
    assert graded.grade("--student", name)[0] == 1
    assert graded.run("show", "an") == 2 and "nothing is kept of 'an' in toy; 'ann'?" in graded.err
