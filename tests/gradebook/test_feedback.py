"""A student's page says what the terminal's table says, in HTML, Markdown and text, and nothing
that a student wrote is markup in it."""

import re

import pytest
from markdown_it import MarkdownIt

from classroom.gradebook import feedback
from classroom.gradebook.deadlines import Lateness
from tests.gradebook.classes import OPEN, Tags, change, check, row, sheet

HTML = [feedback.page, feedback.mailed]
ALL = [*HTML, feedback.markdown, feedback.text]
WRONG = check("lazily", "lazily(x) is 3, and should be 4", line=7, text="return x + 1",
              hint="Do not use `realize`.", shows="a graph")  # fmt: skip
HALF = check("chain", "1 of 2 parts right: kernels\nvalues: chain(x)[0] is 2, and should be 1", 5)


def said(form, each, *others):
    """What is read in this form: without marks, in one line."""
    text = form(each, sheet(each, *others))
    if form in HTML:
        text = Tags(text).text
    elif form is feedback.markdown:
        text = Tags(MarkdownIt("commonmark").enable("table").render(text)).text
    return " ".join(text.replace("\u2060", "").split())


@pytest.mark.parametrize("form", ALL)
def test_a_page_has_what_is_right_what_is_not_and_why_the_own_line_the_hint_and_what_is_open(form):
    text = said(form, row("Ann", check("double"), WRONG, HALF, check("report", OPEN)))
    assert "15 of 40 points" in text and "Ann" in text
    assert "1 is right, 1 is partly right, 1 isn't right yet and 1 isn't started" in text
    assert "lazily(x) is 3, and should be 4" in text
    assert re.search(r"your line 7:? ?return x \+ 1", text)
    assert re.search(r"[Hh]int:? Do not use `?realize", text)
    assert "1 of 2 parts right: kernels" in text
    assert "values: chain(x)[0] is 2, and should be 1" in text
    assert "not started" in text and "Look at report" not in text  # nothing to look at yet
    assert "The shortest way to 5 more points: `chain`" in text.replace(
        "points: chain", "points: `chain`"
    )
    assert "python -m classroom grade projects/01_tensor_basics.py" in text


@pytest.mark.parametrize("form", ALL)
def test_a_file_of_another_name_is_named(form):
    one = row("Ann", check("double"))
    told = "The file that was graded is called"
    project = one.record.project
    names = dict.fromkeys((f"{project} (1).py", "mine.py"), True) | dict.fromkeys(
        (f"{project}.py", project, f"ashann_101_5001_{project}.py", f"{project}.zip", ""), False
    )
    for name, is_told in names.items():
        one.record.file = f"class/ann/{name}" if name else ""
        assert (f"{told} {name}" in said(form, one).replace("\\", "")) == is_told
        assert is_told or told not in said(form, one)


def test_each_task_has_a_bar_as_long_as_its_points_and_the_same_in_words():
    page = feedback.page(row("Ann", check("double"), HALF), sheet())
    bars = [a["style"] for tag, a in Tags(page).found if tag == "i"]
    assert bars == ["width:75.0%", "width:100.0%", "width:50.0%"]
    assert "5 of 10 points ◐ partly right" in Tags(page).text


@pytest.mark.parametrize("form", ALL)
def test_of_a_hidden_check_a_student_reads_the_hint_and_nothing_that_was_found(form):
    secret = check("lazily", "asked_for(17) is 3, and should be 4", hidden=True, line=9,
                   text="secret = 17", hint="Try others.")  # fmt: skip
    text = said(form, row("Ann", check("double"), secret, printed="it asked 17"))
    assert "17" not in text and "line 9" not in text
    assert "Try others." in text and "one of your instructor's own checks" in text
    assert "which you can't run at home" in text


@pytest.mark.parametrize("form", ALL)
def test_what_an_instructor_changed_stands_with_its_reason_and_without_a_name(form):
    changes = [change("lazily", 3, "first"), change("lazily", 8, "Nice idea."),
               change("talk", 5, "A clear talk."), change("double", 0),
               change("double", None)]  # fmt: skip
    text = said(form, row("Ann", check("double"), WRONG, changes=changes))
    assert "lazily: 8 instead of 0 points" in text and "Nice idea." in text
    assert "talk: +5 points" in text and "A clear talk." in text
    assert "23 of 20 points" in text
    assert "Ellis" not in text and "first" not in text and "instead of 10" not in text


@pytest.mark.parametrize("form", ALL)
def test_being_late_is_a_sentence_and_says_what_counts(form):
    late = Lateness(2, 1, 10, "This came 2 days late.")
    text = said(form, row("Ann", check("double"), check("lazily"), lateness=late))
    assert "18 of 20 points" in text and "This came 2 days late." in text
    assert "It was worth 20 points; 18 of them count." in text
    assert "count." not in said(form, row("Ann", check("double")))


@pytest.mark.parametrize("form", ALL)
def test_somebody_with_all_points_is_praised_and_reads_what_comes_next(form):
    text = said(form, row("Ann", check("double"), afterwards="Next: project 2."))
    assert (
        "Nice work" in text
        and text.endswith("What comes next Next: project 2.")
        or ("- Next: project 2." in text)
    )
    assert "again" not in text and "Worth another look" not in text


NOTHING = {  # how it came to no points: what the row has, and what is and isn't read
    "missing": (
        row("Ann", status="missing", note="nothing was handed in"),
        "Nothing that could be graded was handed in", "of 20 points",
    ),
    "refused": (
        row("Ann", status="refused", note="in /home/prof/class/ann/p.zip, 'a/..' leads out"),
        "couldn't be graded: in p.zip, 'a/..' leads out.", "/home",
    ),
    "failed": (
        row("Ann", status="failed", note="the grader failed (OSError: /home/prof: disk full)"),
        "That isn't your doing", "disk full",
    ),
    "crashed": (
        row("Ann", *(check(task, "the file could not be loaded") for task in ("double", "lazily")),
            status="crashed", notes=["The file could not be loaded: NameError in line 3 (x)."]),
        "NameError in line 3 (x). Until the file loads", "Look at double",
    ),
    "out of time": (
        row("Ann", check("double"), check("lazily", "the time limit was reached"),
            status="out of time",
            notes=["1 of 2 checks were asked: then the time limit was reached."]),
        "1 of 2 checks were asked", "So there are no points",
    ),
    "untouched": (
        row("Ann", check("double", OPEN), check("lazily", OPEN),
            notes=["Nothing in this file has changed yet. Did you save it?"]),
        "Did you save it? So there are no points yet.", "Worth another look",
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", ALL)
@pytest.mark.parametrize("status", NOTHING)
def test_who_has_no_points_reads_how_that_came_about_once_and_no_path(status, form):
    each, there, absent = NOTHING[status]
    text = said(form, each)
    assert text.count(there) == 1 and absent not in text and "/home" not in text


@pytest.mark.parametrize("form", ALL)
def test_a_students_page_has_no_note_for_instructors(form):
    note = "two files; the newest was taken"
    assert "newest" not in said(form, row("Ann", check("double"), note=note))


NASTY = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;b&gt; &amp;",
    "`` ` ```", "`", "a ``` *b* <i> ``` c", "` *b* `", "a `b",
    r"\`x\`", "[a](http://evil.example)", "![a](b)", "| a | b |",
    "# big", "- one", "1. one", "12) one", "+ one", "===", "---", "> quoted", "~~~", "```",
    "**a** __b__ ~~c~~", "http://evil.example", "www.evil.example", "<http://evil.example>",
    "$x$", "a\\", "\\", "[x]: y", "&copy;", "{{ x }}", "@everyone #12 :tada:", " a ", "' \" ''",
]  # fmt: skip


def nasty(text):
    """A row with this text wherever one from a submission or a person may stand."""
    return row(
        text, check("double"), check("lazily", f"raised {text}", line=3, text=text),
        check("chain", f"1 of 2 parts right: {text}\nvalues: {text}", 5),
        notes=[text], changes=[change(text, 3, text)], lateness=Lateness(1, 0, 10, text),
    )  # fmt: skip


@pytest.mark.parametrize("form", HTML)
@pytest.mark.parametrize("text", NASTY)
def test_in_html_nothing_is_markup(text, form):
    plain, found = (Tags(form(nasty(each), sheet())) for each in ("harmless", text))
    assert found.names == plain.names and not found.wrong
    assert found.text.count(" ".join(text.split())) >= 4


@pytest.mark.parametrize("text", NASTY)
def test_in_markdown_nothing_is_markup(text):
    render = MarkdownIt("commonmark", {"linkify": False}).enable(["table", "strikethrough"]).render
    plain, found = (Tags(render(feedback.markdown(nasty(each), sheet())))
                    for each in ("harmless", text))  # fmt: skip
    assert found.names == plain.names and not found.wrong
    assert found.text.replace("\u2060", "").count(" ".join(text.split())) >= 6


def test_in_markdown_nobody_is_mentioned_and_no_address_is_a_link():
    text = feedback.markdown(nasty("@everyone #12 http://a.example www.a.example"), sheet())
    outside = re.sub(r"(`+) ?.*?[^`]\1(?!`)", "", text)  # in code, GitHub looks for neither
    assert "`raised @everyone #12 http://a.example www.a.example`" in text
    for sign in ("@everyone", "#12", "://", "www."):
        assert sign in text and sign not in outside


@pytest.mark.parametrize("form", HTML)
def test_a_page_needs_nothing_from_anywhere(form):
    page = form(row("Ann", check("double"), WRONG), sheet())
    tags = Tags(page)
    assert not {"script", "link", "img", "iframe"} & set(tags.names)
    assert not re.search(r"https?:|url\(|@import", page)
    links = [a["href"] for tag, a in tags.found if tag == "a"]
    ids = [f"#{a['id']}" for _, a in tags.found if "id" in a]
    assert links == ids == ["#task-lazily"]


def test_the_html_of_a_mail_keeps_to_css_that_mail_programs_know():
    page = feedback.mailed(row("Ann", check("double"), WRONG), sheet())
    style = page[page.index("<style>") : page.index("</style>")]
    assert not re.search(r"var\(|grid|flex|@|clamp|color-mix|::", style)
    assert len(page.encode()) < 102_000


def test_names_of_all_scripts_stand_as_they_are():
    for name in ("ศิริ สุขใจ", "Zoë", "فاطمة", "李小龍", "O'Brien"):
        assert all(name in said(form, row(name, check("double"))) for form in ALL)
