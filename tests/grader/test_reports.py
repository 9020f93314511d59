"""Reports: what a student may read, what the instructor does, and nothing that a reader obeys."""

import base64
import json
import unicodedata
from dataclasses import replace

import pytest

from classroom.grader.report import (
    FORMATS,
    READERS,
    Report,
    Row,
    as_csv,
    cell,
    cleaned,
    gradescope,
    rendered,
    table,
)

SECRET = "compare(t + b) is 7, not 9"
MARKUP = "raised ValueError: <img src=x onerror=alert(1)> **bold**"


def report(*rows, **changes):
    made = Report("Toy", "sub.py", 100, 0, [("Landlock: files", True)], list(rows))
    for name, value in changes.items():
        setattr(made, name, value)
    return made


RIGHT = Row("double", "numbers", 60, 60, "", "Add x.")
WRONG = Row("double", "numbers", 0, 60, "double(x) is 2, not 4", "Add x.", 3, "return x")
HIDDEN = Row("lazily", "a graph", 0, 40, SECRET, "Wait.", 6, "return [][x]", hidden=True)
PARTLY = Row("lazily", "a graph", 20, 40, f"1 of 2 parts right: one\nequal: {SECRET}", "Wait.",
             hidden=True)  # fmt: skip
OPEN = Row("lazily", "a graph", 0, 40, "not written yet", "Wait.", hidden=True)


# ---- students and instructors --------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("row", [HIDDEN, PARTLY], ids=["wrong", "partly"])
def test_of_a_hidden_check_a_student_reads_the_name_and_the_hint_only(name, row, monkeypatch):
    monkeypatch.delenv("GITHUB_OUTPUT", raising=False)
    text = rendered(report(WRONG, row, printed=SECRET), name, "student")
    assert "7, not 9" not in text and "[][x]" not in text
    assert "2, not 4" in text  # what a visible check found is theirs to know
    if name != "csv":
        assert "Wait." in text


@pytest.mark.parametrize("name", ["table", "json", "junit", "csv"])
def test_the_instructor_reads_what_was_wrong(name):
    assert READERS[name] == "instructor"
    assert "7, not 9" in rendered(report(RIGHT, HIDDEN), name)


def test_github_writes_for_students(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    text = rendered(report(RIGHT, HIDDEN), "github")
    handed_on = base64.b64decode((tmp_path / "output").read_text().partition("=")[2])
    assert "7, not 9" not in text + handed_on.decode()
    assert "hint: Wait." in text


def test_gradescope_keeps_what_was_wrong_from_students_and_shows_it_to_instructors():
    tests = json.loads(gradescope(report(RIGHT, HIDDEN)))["tests"]
    seen = [test for test in tests if test["visibility"] == "visible"]
    kept = [test for test in tests if test["visibility"] == "hidden"]
    assert [test["name"] for test in seen] == ["double: numbers", "lazily: a graph"]
    assert "7, not 9" not in json.dumps(seen) and "hint: Wait." in seen[1]["output"]
    assert "7, not 9" in kept[0]["output"] and kept[0]["max_score"] == 0
    assert sum(test["max_score"] for test in tests) == 100


def test_a_task_that_is_not_written_is_no_secret():
    assert OPEN.for_student() == OPEN


# ---- nothing that a reader obeys -----------------------------------------------------------------


def test_gradescope_is_told_that_everything_is_text():
    found = json.loads(gradescope(report(RIGHT, HIDDEN)))
    formats = ("output_format", "test_output_format", "test_name_format")
    assert [found[name] for name in formats] == ["text"] * 3
    assert all(t["output_format"] == t["name_format"] == "text" for t in found["tests"])
    assert found["stdout_visibility"] == "hidden"


def test_what_is_shown_as_html_is_escaped(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    rendered(report(RIGHT, notes=[MARKUP]), "github")
    summary = (tmp_path / "summary").read_text()
    assert "&lt;img src=x" in summary and "<img" not in summary
    assert summary.startswith("<pre>")  # where Markdown is not read either


def test_githubs_format_has_the_notes():
    text = rendered(report(WRONG, notes=["The file could not\nbe loaded: 100%."]), "github")
    assert "::warning title=note::The file could not%0Abe loaded: 100%25." in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\uff201", "'\uff201"),
        ("nina;=1+1", "nina,=1+1"),
        ("nina; =1+1", "nina, =1+1"),
        ("nina|+1", "nina,+1"),
        ("one; two", "one; two"),
        ("", ""),
    ],
)
def test_no_spreadsheet_takes_a_cell_or_a_part_of_it_for_a_formula(text, shown):
    assert cell(text) == shown


def test_a_csv_cell_with_spaces_before_it_is_no_formula():
    assert "' =1+1" in as_csv(report(Row("a", "b", 0, 1, " =1+1", "")))


def test_what_cannot_be_seen_is_dropped():
    assert cleaned("\x1b[31mred\x07\u202e") == "[31mred"
    assert cleaned("a\u200bb\u2060c\ufeffd\u00ade\u2066f\u3164g\u2800h\U000e0041") == "abcdefgh"
    assert cleaned("Z\u0335\u0321\u0489algo") == "Zalgo"
    assert cleaned("two\r\nlines\tand a tab") == "two  lines and a tab"
    assert cleaned("\ud800x") == "x"


def test_letters_with_accents_stay():
    assert cleaned("Café, Łódź, 日本") == "Café, Łódź, 日本"
    assert cleaned(unicodedata.normalize("NFD", "é")) == "é"


def test_long_text_is_cut():
    assert cleaned("x" * 500) == "x" * 300 + "..."
    assert len(cleaned("\u200b" * 10_000 + "x")) < 310


# ---- in a few words ------------------------------------------------------------------------------


def test_tasks_that_are_not_written_share_one_line():
    text = table(report(RIGHT, OPEN, Row("third", "x", 0, 0, "not written yet", "Try.")))
    assert "Not written yet, or nothing returned: lazily, third." in text
    assert "hint" not in text


def test_the_sandbox_takes_one_line():
    protections = [(f"protection {n}: {'x' * 60}", n != 3) for n in range(7)]
    lines = rendered(report(RIGHT, protections=protections), "table", "instructor").splitlines()
    (line,) = [line for line in lines if "protection" in line]
    assert line == "The sandbox is without protection 3."
    whole = report(RIGHT, protections=[(n, True) for n, _ in protections])
    assert "The sandbox has all protections." in rendered(whole, "table", "instructor")


def test_what_is_taken_on_trust_is_told_to_instructors_once():
    rows = [replace(row, trusts="the seconds") for row in (RIGHT, HIDDEN, HIDDEN)]
    told = "Taken on trust: double (the seconds), lazily (the seconds)."
    assert told in rendered(report(*rows), "table", "instructor")
    for name in FORMATS:
        assert "trust:" not in rendered(report(*rows), name, "student")


def test_the_sandbox_is_for_those_who_say_that_they_are_the_instructor():
    for reader in (None, "student"):
        for name in FORMATS.keys() - {"json"}:
            found = report(RIGHT, protections=[("x", False)])
            assert "sandbox" not in rendered(found, name, reader)


def test_full_marks_are_praised_and_what_comes_next_is_said():
    text = " ".join(table(report(RIGHT, afterwards="Next: project 2.")).split())
    assert text.endswith("60 of 100 points") and "Nice work" not in text
    full = report(RIGHT, total=60, afterwards="Next: project 2.")
    for name in ("table", "gradescope", "junit", "github"):
        shown = " ".join(FORMATS[name](full).split())
        assert "Nice work" in shown and "Next: project 2." in shown
