"""Gradebooks go in and come out as their systems' documents have them, and nobody gets the mark of
somebody else.

What reads a file back here does it as the system's own reader says that it does (exports.py names
them): canvas_reads as GradebookImporter, moodle_reads as assignfeedback_offline_grade_importer.
"""

import csv
import io
import json
import os
import re
import xml.etree.ElementTree as ElementTree

import pytest

from classroom.gradebook.exports import (
    HANDS_OVER,
    canvas_filled,
    canvas_new,
    github,
    gradescope,
    junit,
    moodle_filled,
    moodle_new,
)
from classroom.gradebook.roster import Student
from classroom.gradebook.theirs import Table, number, scaled
from classroom.grader.handed_in import CannotGrade
from tests.gradebook.sheets import SECRET, row, sheet

ANN = Student("ann", "Ann Smith", "ann@uni.edu", "ann-s", "asmith", "2001")
BOB = Student("bob", "Bob Bauer", "bob@uni.edu", "bobb", "bbauer", "2002")
SIRI = Student("siri", "ศิริ ใจดี", "siri@uni.edu", "siri", "siri", "2003")
CLASS = sheet(row(ANN, 60, 24), row(BOB, 60, 40), row(SIRI, 30, 0))

CANVAS = '''\
Student,ID,SIS User ID,SIS Login ID,Section,Homework (551),Toy (552),Assignments Current Score,\
Final Score
,,,,,,Manual Posting,,
    Points Possible,,,,,10.00,20.00,(read only),(read only)
"Smith, Ann",71,2001,asmith,"Lab ""A""",9.00,,90.00,45.00
"Bauer, Bob",72,2002,bbauer,Lab B and Lab C,8.50,,85.00,42.50
"ใจดี, ศิริ",73,2003,siri,Lab B,,,0.00,0.00
"Student, Test",99,,843b2ebf97d6dff55e1ba2ce8c7910f987d72b05,Lab B,,,0.00,0.00
'''

MOODLE = """\
Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",\
"Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 901","Ann Smith",ann@uni.edu,"Submitted for grading - ",,50.00,Yes,\
"Monday, 5 October 2026, 9:00 PM",-,
"Participant 902","Bob Bauer",bob@uni.edu,"Submitted for grading - ",-,50.00,Yes,\
"Monday, 5 October 2026, 9:01 PM",-,"Well, done"
"Participant 903","ศิริ ใจดี",siri@uni.edu,"No submission - ",,50.00,Yes,-,-,
"""


def canvas_reads(data, title):
    """The points that an assignment is worth, and {student: mark}, as Canvas reads the file."""
    text = data.decode("utf-8-sig")
    separator = max(",;", key=text.partition("\n")[0].count)
    rows = list(csv.reader(io.StringIO(text), delimiter=separator))
    head = rows[0]
    assert len(head) > 3 and "Student" in head[0] and "ID" in head[1] and "Section" in head
    assert head.index("Section") == 4  # the last column before those of assignments
    at = next(n for n, name in enumerate(head) if re.sub(r" \(\d+\)$", "", name) == title)
    worth, marks = None, {}
    for cells in rows[1:]:
        if "Points Possible" in cells[0]:
            worth = cells[at]
        elif not all(re.fullmatch(r"\s*(Muted|Manual Posting.*)?\s*", c) for c in cells):
            marks[cells[1] or cells[2] or cells[3] or cells[0]] = cells[at]
    return worth, marks


def moodle_reads(data):
    """{number in the identifier: (mark, comment)}, as the assignment reads its worksheet."""
    marks = {}
    for cells in csv.DictReader(io.StringIO(data.decode("utf-8-sig"))):
        assert cells["Last modified (grade)"]
        id = int(cells["Identifier"][len("Participant ") :])
        mark = cells["Grade"].strip()
        if mark in ("", "-") or not 0 <= float(mark) <= float(cells["Maximum Grade"]):
            mark = None  # skipped without a word
        marks[id] = (mark, cells["Feedback comments"])
    return marks


# ---- Canvas --------------------------------------------------------------------------------------


def test_canvas_reads_the_column_that_was_filled_scaled_to_what_it_is_worth():
    done = canvas_filled(CLASS, CANVAS.encode())
    worth, marks = canvas_reads(done.files["canvas.csv"], "Toy")
    assert (worth, marks) == ("20.00", {"71": "16.8", "72": "20", "73": "6", "99": ""})
    assert done.notes == ("The marks are scaled from 100 points to 20: 75 are 15.",)


@pytest.mark.parametrize("column", ["Toy", "552", "toy (552)"])
def test_everything_but_the_column_is_as_it_came(column):
    data = canvas_filled(CLASS, CANVAS.encode(), column).files["canvas.csv"].decode()
    expected = CANVAS.replace("9.00,,", "9.00,16.8,").replace("8.50,,", "8.50,20,")
    assert data == expected.replace("Lab B,,,0.00,0.00", "Lab B,,6,0.00,0.00", 1)


def semicolons(text):
    return "\r\n".join(
        ";".join(f'"{c}"' if ";" in c or '"' in c else c for c in cells)
        for cells in csv.reader(io.StringIO(re.sub(r"(\d)\.(\d)", r"\1·\2", text)))
    ).replace("·", ",").replace('"A"', '""A""')  # fmt: skip


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"], ids=lambda name: name
)
def test_marks_of_order_separator_decimal_comma_line_ends_and_encoding_stay(encoding):
    text = semicolons(CANVAS.replace("ใจดี, ศิริ", "Müller, Zoë"))
    given = text.encode(encoding)
    done = canvas_filled(CLASS, given).files["canvas.csv"]
    filled = text.replace("9,00;;", "9,00;16,8;").replace("8,50;;", "8,50;20;")
    assert done == filled.replace("Lab B;;;0", "Lab B;;6;0", 1).encode(encoding)
    assert done != given and done[:3] == given[:3]


SMALL = ["", "a", "a,b\n\n,\n", 'a,"b\n', '"a""b"c,"d"\r\ne']


@pytest.mark.parametrize("text", [CANVAS, MOODLE, semicolons(CANVAS), *SMALL])
def test_a_table_that_nothing_is_put_into_is_the_same_file(text):
    assert Table(text.encode()).data() == text.encode()


def test_a_mark_that_differs_stays_unless_told_otherwise_and_the_same_one_isnt_touched():
    there = CANVAS.replace("9.00,,", "9.00,7.00,").replace("8.50,,", "8.50,20.00,")
    done = canvas_filled(CLASS, there.encode())
    marks = canvas_reads(done.files["canvas.csv"], "Toy")[1]
    assert (marks["71"], marks["72"], marks["73"]) == ("7.00", "20.00", "6")
    assert "ann has 7.00 there, and 16.8 here" in " ".join(done.notes)
    assert "bob" not in " ".join(done.notes)
    done = canvas_filled(CLASS, there.encode(), overwrite=True)
    marks = canvas_reads(done.files["canvas.csv"], "Toy")[1]
    assert (marks["71"], marks["72"]) == ("16.8", "20.00")


def test_who_is_excused_stays_so_and_whom_it_isnt_for_has_no_mark_even_then():
    there = CANVAS.replace("9.00,,", "9.00,EX,").replace("8.50,,", "8.50,N/A,")
    for overwrite, ann in ((False, "EX"), (True, "16.8")):
        done = canvas_filled(CLASS, there.encode(), overwrite=overwrite)
        marks = canvas_reads(done.files["canvas.csv"], "Toy")[1]
        assert (marks["71"], marks["72"]) == (ann, "N/A")
        assert "bob (the assignment isn't for them)" in " ".join(done.notes)


def test_who_has_no_mark_has_none_there_and_is_named_and_gets_0_only_if_told_so():
    some = sheet(row(ANN, 60, 40), row(BOB), row(SIRI, changes=[("double", 50)]))
    done = canvas_filled(some, CANVAS.encode())
    assert canvas_reads(done.files["canvas.csv"], "Toy")[1] == {"71": "20", "72": "", "73": "10",
                                                               "99": ""}  # fmt: skip
    assert "No mark: bob (missing)." in done.notes
    done = canvas_filled(some, CANVAS.encode(), zeros=True)
    assert canvas_reads(done.files["canvas.csv"], "Toy")[1]["72"] == "0"


def test_being_late_and_what_an_instructor_decided_count():
    some = sheet(row(ANN, 60, 40, late=25), row(BOB, 0, 0, changes=[("bonus", 7)]))
    marks = canvas_reads(canvas_filled(some, CANVAS.encode()).files["canvas.csv"], "Toy")[1]
    assert (marks["71"], marks["72"]) == ("15", "1.4")


def test_students_that_only_one_side_has_are_named():
    zoe = Student("zoe", "Zoe Zhang", login="zzhang")
    notes = canvas_filled(sheet(row(ANN, 60, 40), row(zoe, 60, 40)), CANVAS.encode()).notes
    assert "In your class, but not in the gradebook: zoe." in notes
    (theirs,) = [note for note in notes if note.startswith("In the gradebook")]
    assert "Bauer, Bob (bbauer)" in theirs and "ศิริ" in theirs and "Test" not in theirs


def with_more(*more):
    lines = [f'"{name}",{n},{number},{login},Lab B,,,,\n' for name, n, number, login in more]
    return CANVAS + "".join(lines)


@pytest.mark.parametrize(
    ("students", "theirs"),
    [
        # two of ours, one of theirs, and only the name to go by
        ([Student("kim1", "Min Kim"), Student("kim2", "Min Kim")], [("Kim, Min", 80, "", "")]),
        # one of ours, two of theirs
        ([Student("kim1", "Min Kim")], [("Kim, Min", 80, "", "a"), ("Kim, Min", 81, "", "b")]),
        # somebody else of the same name
        ([Student("kim1", "Min Kim", login="mkim1")], [("Kim, Min", 80, "", "mkim2")]),
        ([Student("kim1", "Min Kim", number="5")], [("Kim, Min", 80, "6", "")]),
        # the number is one's, the login another's
        ([Student("a", "A", number="5", login="a"), Student("b", "B", number="6", login="b")],
         [("C", 80, "5", "b")]),
    ],
)  # fmt: skip
def test_where_two_could_be_meant_nobody_gets_a_mark_and_they_are_named(students, theirs):
    of = sheet(row(ANN, 60, 40), *(row(student, 60, 40) for student in students))
    done = canvas_filled(of, with_more(*theirs).encode())
    marks = canvas_reads(done.files["canvas.csv"], "Toy")[1]
    assert marks["71"] == "20" and not any(marks[str(n)] for _, n, _, _ in theirs)
    (said,) = [note for note in done.notes if note.startswith("Left alone")]
    assert theirs[0][0] in said
    assert all(s.key in " ".join(done.notes) for s in students if s.key != "b")


def test_an_identifier_is_enough_where_names_are_the_same_or_differ():
    two = sheet(row(Student("k1", "Min Kim", login="mkim1"), 60, 40),
                row(Student("k2", "Min Kim", number="77"), 0, 40),
                row(Student("k3", "Kate Ó Briain", email="kate@uni.edu"), 30, 0))  # fmt: skip
    theirs = with_more(("Kim, Min", 80, "", "mkim1"), ("Kim, Min", 81, "77", "mkim2"),
                         ("O'Brien, Catherine", 82, "", "Kate@uni.edu"))  # fmt: skip
    marks = canvas_reads(canvas_filled(two, theirs.encode()).files["canvas.csv"], "Toy")[1]
    assert (marks["80"], marks["81"], marks["82"]) == ("20", "8", "6")
    one_of_two = sheet(row(Student("k2", "Min Kim", number="77"), 0, 40),
                       row(Student("k3", "Min Kim"), 30, 0))  # fmt: skip
    theirs = with_more(("Kim, Min", 81, "77", "a"), ("Kim, Min", 82, "", "b"))
    marks = canvas_reads(canvas_filled(one_of_two, theirs.encode()).files["canvas.csv"], "Toy")[1]
    assert (marks["81"], marks["82"]) == ("8", "6")


def test_lines_that_are_no_students_are_passed_over_wherever_they_are():
    given = CANVAS + ",,,,,,Muted,,\n,,,,,,,,\n\n"
    done = canvas_filled(CLASS, given.encode())
    assert done.files["canvas.csv"].decode().endswith(",,,,,,Muted,,\n,,,,,,,,\n\n")
    assert len(done.notes) == 1 and "scaled" in done.notes[0]


def test_without_a_roster_a_folders_name_is_a_name_or_a_login_which_is_said():
    of = sheet(row("Ann Smith", 60, 40), row("bbauer", 60, 0))
    done = canvas_filled(of, CANVAS.encode())
    marks = canvas_reads(done.files["canvas.csv"], "Toy")[1]
    assert (marks["71"], marks["72"]) == ("20", "12")
    (said,) = [note for note in done.notes if "folder alone" in note]
    assert "bbauer is Bauer, Bob (bbauer)" in said and "Ann" not in said


def test_first_and_last_names_may_have_columns_of_their_own():
    text = """LastName,FirstName,ID,SIS Login ID,Section,Toy (552)\n\
    Points Possible,,,,,100\nSmith,Ann,71,,Lab A,\n"""
    data = canvas_filled(sheet(row("Ann Smith", 60, 24)), text.encode()).files["canvas.csv"]
    assert data.decode() == text.replace("Lab A,", "Lab A,84")


@pytest.mark.parametrize(
    ("data", "column", "why"),
    [
        ("name,points\nann,3\n", "", "not a gradebook of Canvas"),
        (CANVAS, "Essay", "no column called 'Essay'; the gradebook has: Homework .551.; Toy"),
        (CANVAS.replace("Homework", "Toy"), "Toy", "several columns"),
        (CANVAS.replace("20.00,(", "(read only),("), "", "only Canvas may fill"),
        (CANVAS.replace("20.00,(", "0.00,("), "", "worth no points"),
        (CANVAS.replace("    Points Possible", ""), "", "no line with Points Possible"),
        (CANVAS.replace("Smith", "X").replace("asmith", "").replace("2001", ""), "",
         "nobody in the gradebook is in your class"),
    ],
)  # fmt: skip
def test_what_is_no_gradebook_or_has_no_such_column_is_refused(data, column, why):
    with pytest.raises(CannotGrade, match=why):
        canvas_filled(sheet(row(ANN, 60, 40)), data.encode(), column)


def test_letters_in_no_known_encoding_are_refused():
    with pytest.raises(CannotGrade, match="save it as CSV in UTF-8"):
        Table(b"Student\x81\n")


def test_canvas_reads_a_gradebook_that_was_made_for_it():
    both = sheet(row(ANN, 60, 24), row(Student("=1+1", "=1+1", login="eve"), 60, 40), row(BOB),
                 row(Student("k1", "Min Kim"), 60, 0), row(Student("k2", "Min Kim"), 0, 0),
                 row(Student("li", "Li Wei"), 0, 40))  # fmt: skip
    done = canvas_new(both)
    worth, marks = canvas_reads(done.files["canvas.csv"], "Toy")
    assert (worth, marks) == ("100", {"2001": "84", "eve": "100", "Li Wei": "40"})
    assert b"'=1+1" in done.files["canvas.csv"]
    said = " ".join(done.notes)
    assert "Left out" in said and "k1; k2" in said
    assert "neither number nor login: li" in said and "No mark: bob" in said


# ---- Moodle --------------------------------------------------------------------------------------


def test_moodle_reads_the_marks_and_comments_of_its_worksheet():
    done = moodle_filled(CLASS, MOODLE.encode())
    read = moodle_reads(done.files["moodle.csv"])
    assert {n: mark for n, (mark, _) in read.items()} == {901: "42", 902: "50", 903: "15"}
    assert read[901][1] == "84 of 100 points.<br>double: 60 of 60<br>lazily: 24 of 40"
    assert read[902][1] == "Well, done"  # what is there stays
    assert SECRET not in done.files["moodle.csv"].decode()
    assert done.notes == ("The marks are scaled from 100 points to 50: 75 are 37.5.",)


def test_a_worksheet_keeps_all_else_as_it_came():
    bare = MOODLE.replace(',"Feedback comments"', "")
    given = b"\xef\xbb\xbf" + bare.replace("\n", "\r\n").encode()
    data = moodle_filled(CLASS, given).files["moodle.csv"].decode()
    for before, mark in (('for grading - ",,', "42"), ('for grading - ",-,', "50")):
        bare = bare.replace(before, before.rstrip(",-") + f",{mark},", 1)
    bare = bare.replace('"No submission - ",,', '"No submission - ",15,')
    assert data == "\ufeff" + bare.replace("\n", "\r\n")


def test_a_comment_of_theirs_can_be_replaced_and_is_neither_formula_nor_markup():
    late = sheet(row(ANN, 60, 40, changes=[("<b>", 1)], late=10), row(BOB, 0, 0))
    read = moodle_reads(moodle_filled(late, MOODLE.encode(), overwrite=True).files["moodle.csv"])
    assert "&lt;b&gt;: 1<br>2 days late: -10 %" in read[901][1]
    assert read[902][1].startswith("0 of 100")
    two_cells = sheet(row(ANN, 60, 40, changes=[("a;=1+1", 1)]))
    read = moodle_reads(moodle_filled(two_cells, MOODLE.encode()).files["moodle.csv"])
    assert "<br>a,=1+1: 1" in read[901][1]


def test_a_locked_grade_is_left_alone_and_one_above_the_maximum_would_be_dropped():
    locked = MOODLE.replace("50.00,Yes", "50.00,No", 1)
    some = sheet(row(ANN, 60, 40), row(BOB, 60, 40, changes=[("bonus", 10)]))
    done = moodle_filled(some, locked.encode())
    read = moodle_reads(done.files["moodle.csv"])
    assert (read[901], read[902][0]) == ((None, ""), "50")
    said = " ".join(done.notes)
    assert "Left alone in the worksheet: ann (it is locked)." in said
    assert "More than 50 isn't taken, so this is what they get: bob." in said


def test_letters_that_an_old_encoding_lacks_are_written_as_html():
    old = MOODLE.replace("ศิริ ใจดี", "Siri").replace("Well, done", "Schön").encode("cp1252")
    some = sheet(row(ANN, 60, 24, changes=[("ศิริ", 1)]))
    data = moodle_filled(some, old).files["moodle.csv"]
    assert b"&#3624;" in data and b"Ann Smith" in data


def test_an_anonymous_worksheet_is_matched_by_its_identifiers_or_refused():
    head = "Identifier,Status,Grade,Maximum grade,Last modified (grade)\n"
    blind = f"{head}Participant 901,-,,100,-\n"
    done = moodle_filled(sheet(row("Participant 901", 60, 0)), blind.encode())
    assert b"901,-,60,100" in done.files["moodle.csv"]
    with pytest.raises(CannotGrade, match="nobody in the worksheet is in your class: Participant"):
        moodle_filled(CLASS, blind.encode())


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (MOODLE.replace("Identifier", "ID").replace("Grade", "Bewertung"), "Switch Moodle to Eng"),
        (MOODLE.replace("50.00", "Good"), "not one number"),
        (CANVAS, "not a grading worksheet"),
    ],
)
def test_what_is_no_worksheet_of_numbers_is_refused(data, why):
    with pytest.raises(CannotGrade, match=why):
        moodle_filled(CLASS, data.encode())


def test_a_list_for_moodles_gradebook_has_one_identifier_for_everybody_in_it():
    some = sheet(row(ANN, 60, 24), row(Student("x", "X", number="9"), 60, 0), row(BOB),
                 row(SIRI, 60, 40, changes=[("bonus", 5)]))  # fmt: skip
    done = moodle_new(some)
    text = done.files["moodle.csv"].decode()
    assert text == ("ID number,Full name,Toy\r\n2001,Ann Smith,84\r\n9,X,60\r\n"
                    "2003,ศิริ ใจดี,100\r\n")  # fmt: skip
    assert "choose ID number" in done.notes[0] and "No mark: bob" in done.notes[-1]
    again = moodle_new(sheet(row(ANN, 60, 24), row(SIRI, 0, 0), row(Student("y", "Y"), 0, 0)))
    lines = again.files["moodle.csv"].decode().splitlines()
    assert lines == ["Email address,Full name,Toy", "ann@uni.edu,Ann Smith,84",
                     "siri@uni.edu,ศิริ ใจดี,0"]  # fmt: skip
    assert "Left out, because they have no email address of their own: y." in again.notes
    with pytest.raises(CannotGrade, match="needs a roster"):
        moodle_new(sheet(row("ann", 60, 40)))


@pytest.mark.parametrize(
    ("text", "value"),
    [("7", 7), ("7.50", 7.5), ("7,5", 7.5), ("1.234,5", 1234.5), ("1,234.5", 1234.5), ("-", None),
     ("", None), ("EX", None), ("50%", None), ("1e5", None), (" 3 ", 3)],
)  # fmt: skip
def test_numbers_are_read_with_point_or_comma(text, value):
    found = number(text)
    assert found == value if value is None else float(found) == value


def test_half_a_hundredth_is_rounded_up():
    assert [str(scaled(n, 100, number("12.50"))) for n in (1, 3, 100)] == ["0.13", "0.38", "12.50"]


# ---- Gradescope, JUnit, GitHub -------------------------------------------------------------------


def handed_over(done, tmp_path, *emails):
    """What Gradescope has after its autograder ran on a submission of these users."""
    for folder in ("source", "results"):
        (tmp_path / folder).mkdir(exist_ok=True)
    for name, data in done.files.items():
        path = tmp_path / "source" / name.removeprefix("gradescope/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    users = [{"email": email, "id": 1, "name": "x"} for email in emails]
    (tmp_path / "submission_metadata.json").write_text(json.dumps({"users": users}))
    program = (tmp_path / "source" / "run_autograder").read_text()
    exec(program.replace("/autograder", str(tmp_path).replace(os.sep, "/")), {})
    return json.loads((tmp_path / "results" / "results.json").read_text())


def test_gradescopes_autograder_hands_each_student_their_own_result(tmp_path):
    some = sheet(row(ANN, 60, 24, late=10, changes=[("double", 50)]), row(BOB), row(SIRI, 0, 0))
    done = gradescope(some)
    found = handed_over(done, tmp_path, "Ann@uni.edu")
    assert found["score"] == 67 and "double: 50 points, by your instructor" in found["output"]
    assert "2 days late" in found["output"] and "In all: 67 of 100 points" in found["output"]
    assert found["output_format"] == "text" and found["stdout_visibility"] == "hidden"
    seen = [test for test in found["tests"] if test["visibility"] == "visible"]
    hidden = [test for test in found["tests"] if test["visibility"] == "hidden"]
    assert SECRET not in json.dumps(seen) and SECRET in json.dumps(hidden)
    assert sum(test["max_score"] for test in seen) == 100 and not any(t["score"] for t in hidden)
    assert "nothing was handed in" in handed_over(done, tmp_path, "bob@uni.edu")["output"]
    assert "no result" in handed_over(done, tmp_path, "eve@uni.edu")["output"]
    # two of them on one submission: nobody gets the other's
    assert "no result" in handed_over(done, tmp_path, "ann@uni.edu", "siri@uni.edu")["output"]
    assert not any("/home/prof" in data.decode() for data in done.files.values())
    assert HANDS_OVER.startswith("#!") and {"gradescope/setup.sh"} <= done.files.keys()


def test_whom_gradescope_cannot_tell_apart_are_named():
    twin = Student("twin", "Twin", "ann@uni.edu")
    done = gradescope(sheet(row(ANN, 60, 40), row(twin, 0, 0), row("eve", 0, 0)))
    assert json.loads(done.files["gradescope/students.json"]) == {}
    assert "ann; twin; eve" in done.notes[0]


def test_a_long_text_is_cut_with_a_word_in_gradescope():
    long = row(ANN, 30, 40)
    long.record.report.rows[0] = type(long.record.report.rows[0])(
        "double", "numbers", 30, 60, "x" * 9000, "Wait."
    )
    long.record.report.notes.append("y" * 9000)
    found = json.loads(gradescope(sheet(long)).files["gradescope/results/ann.json"])
    for text in (found["output"], found["tests"][0]["output"]):
        assert len(text) == 4000 and text.endswith("(The rest was cut.)")


def test_junit_has_a_suite_for_each_student():
    bad = row("<eve> & co", 60, 40, changes=[("bonus", 3)])
    text = junit(sheet(row(ANN, 60, 24), row(BOB), bad)).files["junit.xml"]
    root = ElementTree.fromstring(text)
    assert (root.tag, root.get("tests"), root.get("failures")) == ("testsuites", "4", "1")
    for element in (root, *root):  # junit-10.xsd asks for all of them
        assert {"name", "tests", "failures", "errors"} <= set(element.keys())
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == ["ann", "bob", "<eve> & co"]
    tasks = [case.get("classname") for case in suites["ann"].iter("testcase")]
    assert tasks == ["double", "lazily"]
    assert [one.get("message") for one in root.iter("failure")] == [SECRET]  # instructors read it
    said = {p.get("name"): p.get("value") for p in suites["<eve> & co"].iter("property")}
    assert said == {"points": "103", "of": "100", "status": "graded"}


def test_github_gets_a_comment_for_each_repository_and_a_table_of_them():
    odd = Student("odd", "Odd", github="../../prof/secret")
    some = sheet(row(ANN, 60, 24), row(odd, 0, 0), row(BOB, 60, 40), row("eve", 0, 0))
    done = github(some, "cs101/toy-{github}", lambda row, sheet: f"{row.final} of {sheet.of}\n")
    table = list(csv.DictReader(io.StringIO(done.files["comments.csv"].decode())))
    assert [one["repository"] for one in table] == ["cs101/toy-ann-s", "cs101/toy-bobb"]
    assert [done.files[one["file"]] for one in table] == [b"84 of 100\n", b"100 of 100\n"]
    assert done.notes == ("Left out, because they have no GitHub account of their own in the "
                          "roster: odd; eve.",)  # fmt: skip
    long = github(sheet(row(ANN, 0, 0)), "a/{github}", lambda row, sheet: "x" * 70_000)
    assert len(long.files["ann-s.md"]) == 65_536
    with pytest.raises(CannotGrade, match="which repository is whose"):
        github(some, "cs101/toy", lambda row, sheet: "")
