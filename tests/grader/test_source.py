"""The file that is handed in: its encoding, its lines, and line numbers that it claims."""

import ast

import pytest

from classroom.grader.judge import grade, judge_check, lines_of, raised_body, why_not_python
from classroom.grader.sandbox import best_protection
from classroom.grader.tasks import Check, Raised
from tests.grader.here import SLOW, TOY


@pytest.mark.parametrize("name", ["latin-1", "cp1252", "ascii", "utf-16", "utf-7", "nonsense"])
@pytest.mark.parametrize("form", ["# -*- coding: {} -*-\n", "#!/usr/bin/python\n# coding={}\n"])
def test_encodings_other_than_utf_8_are_refused_by_name(name, form):
    said = why_not_python(form.format(name).encode() + b"x = '\xc3\xa9'\n")
    assert said == f"the file says it is in {name}; save it as UTF-8 without that line."


@pytest.mark.parametrize(
    "source",
    [b"# coding: utf-8\n", b"# coding: UTF8\n", b"# vim: fileencoding=utf_8\n",
     b"\xef\xbb\xbf# coding: utf-8\n", b"\xef\xbb\xbfx = 1\n", b"x = 1\n\n# coding: latin-1\n",
     b"x = 1\n# coding: latin-1\n", b"# \xc3\xa9\n"],
)  # fmt: skip
def test_utf_8_is_taken_however_it_is_named(source):
    compile(source, "x", "exec")  # Python takes it too
    assert why_not_python(source) == ""


def test_bytes_that_are_not_utf_8_are_refused():
    assert "not text in UTF-8" in why_not_python(b"x = '\xe9'\n")
    assert "not text in UTF-8" in why_not_python(b"# coding: utf-8\nx = '\xe9'\n")


def test_lines_are_split_as_python_splits_them():
    source = 'a = """x\x0by\x0cz\x1c\u2028\x85"""\r\nb = 1\rc = 2\nd = 3'.encode()
    lines = lines_of(source)
    for node in ast.parse(source).body:
        assert lines[node.lineno - 1].startswith(node.targets[0].id)
    assert len(lines) == 4


def row_of(line):
    """The row of a check whose submission raised in this line of a file of three lines."""

    def judge(ask):
        raise Raised(raised_body({"type": "ValueError", "message": "no", "line": line}))

    class Asked:
        parts, last = (), None

    return judge_check(Check("task", 1, "x", "y", judge), Asked(), ["first", "second", "third"])


@pytest.mark.parametrize("line", [0, -1, 4, 10**4000, True, "2", 1.0, None, [2]])
def test_a_line_that_is_not_in_the_file_is_not_shown(line):
    row = row_of(line)
    assert (row.line, row.text, row.where) == (None, "", "")
    assert row.found == "raised ValueError: no"


def test_a_line_of_the_file_is_shown():
    assert (row_of(2).line, row_of(2).text) == (2, "second")


def test_what_a_submission_says_it_raised_may_be_anything():
    for body in (None, [], {}, {"type": ["x"] * 50, "message": {"a": 1}, "line": {}}):
        assert raised_body(body) == {"type": "something", "message": "", "line": None}


def test_a_file_that_cannot_be_graded_is_refused_with_one_note(tmp_path):
    path = tmp_path / "submission.py"
    path.write_text("# coding: latin-1\ndef double(x): return x + x\n")
    report = grade(path, TOY, best_protection(), SLOW)
    assert (report.score, report.status) == (0, "refused")
    assert report.notes == ["This file cannot be graded: the file says it is in latin-1; "
                            "save it as UTF-8 without that line."]  # fmt: skip


def test_the_learners_line_is_the_one_that_python_means(tmp_path):
    path = tmp_path / "submission.py"
    path.write_text('text = "a\x0cb\x1cc\u2028d"\ndef double(x):\n    return [][x]\n')
    row = grade(path, TOY, best_protection(), SLOW).rows[0]
    assert row.where == "line 3: return [][x]"
