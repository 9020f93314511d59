"""The roster: read as Canvas, Moodle, Gradescope, GitHub Classroom and people write it, and asked
for students under whatever they are called."""

import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from classroom.gradebook.roster import Roster, Student, read_roster, squeezed
from classroom.grader.handed_in import CannotGrade


@pytest.fixture
def read(tmp_path):
    def reads(text, encoding="utf-8"):
        path = tmp_path / "roster.csv"
        path.write_bytes(text.encode(encoding))
        return read_roster(path)

    return reads


def test_the_gradebook_that_canvas_exports(read):
    roster = read(
        "Student,ID,SIS User ID,SIS Login ID,Section,Quiz 1 (23),Final Score\n"
        ",,,,,Manual Posting,\n"
        '"    Points Possible",,,,,10.00,(read only)\n'
        '"Smith, Ann",4711,20123456,asmith,CS 1-01,8.00,80\n'
        '"King, Martin Luther, Jr.",4712,20123457,mlk,CS 1-01,8.00,80\n'
        '"Student, Test",9,,0c9f,CS 1-01,,\n'
    )
    assert roster.students[0] == Student("Ann Smith", "Ann Smith", "", "", "asmith", "20123456",
                                         "CS 1-01", "4711")  # fmt: skip
    assert [each.key for each in roster.students] == ["Ann Smith", "King, Martin Luther, Jr."]
    assert roster.with_id("4711") == roster.find("smithann") == roster.students[0]


def test_the_grading_worksheet_of_moodle(read):
    roster = read(
        '\ufeffIdentifier,"Full name","ID number","Email address",Status,Grade,"Maximum Grade"\n'
        '"Participant 1234567","Ann Smith",20123456,ann@uni.edu,"Submitted for grading",,100.00\n'
    )
    (ann,) = roster.students
    assert (ann.key, ann.number, ann.email) == ("Ann Smith", "20123456", "ann@uni.edu")
    assert roster.with_id("1234567") == ann and roster.with_id("20123456") is None


def test_the_gradebook_that_moodle_exports_with_semicolons(read):
    roster = read('"First name";"Last name";"ID number";Institution;"Email address"\r\n'
                  'Ann;Smith;20123456;;ann@uni.edu\r\n')  # fmt: skip
    assert roster.students == (Student("Ann Smith", "Ann Smith", "ann@uni.edu", number="20123456"),)


def test_the_roster_of_gradescope_without_its_staff(read):
    roster = read("First Name,Last Name,SID,Email,Role\nAnn,Smith,1,ann@uni.edu,Student\n"
                  "Ida,Prof,2,ida@uni.edu,Instructor\nTim,Aide,3,tim@uni.edu,TA\n")  # fmt: skip
    assert [(each.key, each.number) for each in roster.students] == [("Ann Smith", "1")]


def test_the_roster_of_github_classroom(read):
    roster = read("identifier,github_username,github_id,name\n"
                  '"Smith, Ann",ann-codes,1001,\nbob@uni.edu,bobby,1002,Bob Ray\n'
                  "20123456,,,\n")  # fmt: skip
    assert [(each.key, each.name, each.github, each.email, each.number)
            for each in roster.students] == [
        ("Smith, Ann", "Smith, Ann", "ann-codes", "", ""),
        ("Bob Ray", "Bob Ray", "bobby", "bob@uni.edu", ""),
        ("20123456", "", "", "", "20123456"),
    ]  # fmt: skip
    assert roster.find("Ann Smith") == roster.find("ANN-CODES") == roster.students[0]


@pytest.mark.parametrize("comma", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_table_that_a_person_wrote(comma, encoding, read):
    lines = [
        "EMAIL,Name,GitHub,id",
        "",
        "ann@uni.edu,Ann Smith,@ann-codes,1",
        ",,,",
        "b@uni.edu,Bo",
    ]
    roster = read("\r\n".join(lines).replace(",", comma), encoding)
    assert roster.students == (
        Student("Ann Smith", "Ann Smith", "ann@uni.edu", "ann-codes", number="1"),
        Student("Bo", "Bo", "b@uni.edu"),
    )


def test_a_comma_in_a_header_and_odd_line_ends_in_a_cell_mislead_nobody(read):
    roster = read('"a, b, c";name;section\r1;Ann\u2028Smith;2\x0c3\r')
    assert roster.students == (Student("Ann Smith", "Ann Smith", section="2 3"),)


def test_two_of_one_name_have_keys_that_tell_them_apart(read):
    roster = read("name,email,login\nAnn Smith,a@uni.edu,asmith1\nann  smith,b@uni.edu,\n"
                  "Bo Ray,c@uni.edu,bray\n")  # fmt: skip
    keys = ["Ann Smith (asmith1)", "ann smith (b@uni.edu)", "Bo Ray"]
    assert [each.key for each in roster.students] == keys
    assert roster.find("Ann Smith") is None and roster.find("smithann") is None
    assert [roster.find(key).key for key in keys] == keys
    assert roster.find("B@UNI.EDU").key == keys[1]


JOINED = [  # two tables, and each student's key, login, GitHub name and address
    ("name,login\nAnn Lee,alee\nBo Ray,bray\n", "login,github,email\nbray,bo-codes,\nALEE,,a@x\n",
     [("Ann Lee", "alee", "", "a@x"), ("Bo Ray", "bray", "bo-codes", "")]),
    ("name,number\nAnn Lee,1\nAnn Lee,2\n", "number,github\n2,two\n",
     [("Ann Lee (1)", "", "", ""), ("Ann Lee (2)", "", "two", "")]),
    ("name\nAnn Lee\n", 'name,email\n"Lee, Ann",a@x\nBo Ray,b@x\n',
     [("Ann Lee", "", "", "a@x"), ("Bo Ray", "", "", "b@x")]),
    ("name,login,email\nAnn Lee,a@x,\nCy,c@x,c@y\n", "email,github\na@x,ann-l\n",  # it is one
     [("Ann Lee", "a@x", "ann-l", "a@x"), ("Cy", "c@x", "", "c@y")]),
]  # fmt: skip


@pytest.mark.parametrize(("one", "two", "found"), JOINED)
def test_two_tables_are_joined_by_whatever_both_have(one, two, found, tmp_path):
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path, text in zip(paths, (one, two), strict=True):
        path.write_text(text)
    roster = read_roster(*paths)
    assert [(s.key, s.login, s.github, s.email) for s in roster.students] == found
    assert [note.rpartition(": ")[2] for note in roster.notes] == ["Bo Ray (b@x)"] * ("b@x" in two)


def test_where_two_tables_leave_open_who_is_meant_that_is_said(tmp_path):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("name,number\nAnn Lee,1\nAnn Lee,2\n")
    two.write_text("name,email\nAnn Lee,a@x\n")
    with pytest.raises(CannotGrade, match="two.csv: .* could be Ann Lee .1. or Ann Lee .2.. Give"):
        read_roster(one, two)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,email\nAnn,a@x\nBo,A@X\n", "line 3: line 2 has the same email (a@x)"),
        ("name\nAnn Smith\nann smith\n", "line 3: line 2 has the same name (ann smith); add a col"),
        ("name,email\nSmith, Ann,a@x\n", "line 2: it has 3 cells, and the header has 2; put quota"),
        ("name,section\n,1\n", "line 2: there is neither a name nor an email address"),
        ("name,email\n\n", "has no students in it; its first line names the columns"),
        ("Ann Smith,ann@x\nBo Ray,bo@x\n", "has no students in it"),
        ('name\n"Ann\n', "line 2: unexpected end of data"),
        ("\n \n", "is empty"),
    ],
)
def test_a_table_that_cannot_be_right_is_refused_with_its_line(text, words, read):
    with pytest.raises(CannotGrade, match="roster.csv") as caught:
        read(text)
    assert words in str(caught.value)


def test_a_table_in_another_encoding_or_none_at_all(read, tmp_path):
    with pytest.raises(CannotGrade, match="is not text in UTF-8; save it as CSV in UTF-8"):
        read("name\nJosé\n", "latin-1")
    with pytest.raises(CannotGrade, match="nothing.csv cannot be read: No such file"):
        read_roster(tmp_path / "nothing.csv")


@pytest.mark.parametrize("text", [
    "Ann Smith", "ann smith", "Smith, Ann", "smith ann", "smithann", "ANN_SMITH", "annsmith",
    "\uff21nn\u00a0Smith", "an\u200bn smith", "20123456", "Ann@Uni.edu", "asmith", "ann-codes",
])  # fmt: skip
def test_a_student_is_found_under_every_name(text):
    ann = Student("Ann Smith", "Ann Smith", "ann@uni.edu", "ann-codes", "asmith", "20123456")
    bob = Student("Bob Smith", "Bob Smith", "bob@uni.edu")
    assert Roster([ann, bob]).find(text) == ann
    assert Roster([bob]).find(text) is None


def test_what_could_be_two_students_is_nobody():
    one, other = Student("Li Wang", "Li Wang"), Student("Wang Li", "Wang Li")
    roster = Roster([one, other, Student("Smith", "Smith"), Student("Ann", "Ann", login="smith")])
    assert roster.find("liwang") is None and roster.find("Wang, Li") is None
    assert roster.find("smith") is None
    assert roster.find("Li Wang") == one and roster.find("Wang Li") == other  # the keys themselves


names = st.lists(
    st.text(st.characters(categories=["L", "Mn", "Mc", "Nd"]), min_size=1, max_size=8),
    min_size=1, max_size=4,
).map(" ".join)  # fmt: skip


@given(names, st.integers(0, 3))
@example("ศิริ วงศ์", 1)
@example("Ana María López García", 2)
@example("Straße İpek", 1)
@example("Jürgen Müller", 1)
def test_names_are_found_turned_squeezed_and_in_any_normal_form(name, at):
    words = name.split()
    at %= len(words)
    assume(squeezed(name))
    student = Student(name, name)
    roster = Roster([student])
    turned = " ".join(words[at:]) + ", " + " ".join(words[:at]) if at else name
    for text in (name, turned, squeezed(turned)):
        for form in ("NFC", "NFD"):
            assert roster.find(unicodedata.normalize(form, text)) == student
