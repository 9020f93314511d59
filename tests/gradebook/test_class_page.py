"""The page on a class: what it counts, what it calls the same mistake, and that an anonymous one
tells nobody who is who."""

import re
from dataclasses import replace
from urllib.parse import unquote

import pytest

from classroom import pages
from classroom.gradebook.class_page import far_below, page
from classroom.gradebook.deadlines import Lateness
from classroom.gradebook.mistakes import mistakes_of, shape_of
from classroom.gradebook.names import file_name
from tests.gradebook.classes import OPEN, Tags, change, check, row, sheet
from tests.viz.drawn import contrast


def half(task, found, **more):
    return check(task, f"1 of 2 parts right: kernels\nvalues: {found}", 5, **more)


def text_of(rows, anonymous=False):
    return " ".join(Tags(page(sheet(*rows), anonymous)).text.split())


def test_it_says_how_many_were_graded_and_how_many_were_not_and_why():
    rows = [
        row("a", check("double")), row("b", check("double"), lateness=Lateness(2, 0, 20, "Late.")),
        row("c"), row("d", status="missing"), row("e", status="missing"),
        row("f", status="refused"), row("g", status="failed"),
        row("h", check("double"), status="out of time"),
        row("i", check("double", "the file could not be loaded"), status="crashed", notes=["No."]),
    ]  # fmt: skip
    text = text_of(rows)
    for said in ("9 students", "2 handed in nothing", "1 ran out of time", "1 didn't load",
                 "1 failed in the grader", "1 couldn't be graded as handed in", "1 handed in late",
                 "3 graded"):  # fmt: skip
        assert said in text
    assert "Of 3 students, half have 10 points or more" in text
    assert "That leaves out 6 students without anything that could be run" in text


def test_the_points_are_drawn_and_the_drawing_is_told_in_words():
    points = [0, 1, 2, 10, 19, 20]
    rows = [row(str(n), check("double", "no", p, 20)) for n, p in enumerate(points)]
    found = Tags(page(sheet(*rows))).found
    (drawing,) = [a for tag, a in found if tag == "svg"]
    assert drawing["role"] == "img"
    said = drawing["aria-label"].split("; ")
    assert said[0] == "from 0 to 2 points: 2" and said[1] == "from 2 to 4 points: 1"
    assert said[5] == "from 10 to 12 points: 1" and said[9] == "from 18 to 20 points: 2"
    assert sum(int(each.split(": ")[1]) for each in said) == len(points)
    heights = [float(a["height"]) for tag, a in found if tag == "rect"]
    assert heights[0] == heights[-1] == 2 * heights[1]


def test_tasks_stand_from_the_hardest_on_with_shares_in_words():
    rows = [
        row("a", check("easy"), check("hard", "no"), check("middle")),
        row("b", check("easy"), check("hard", "no", 2), check("middle", OPEN)),
    ]
    text = text_of(rows)
    assert text.index("2. hard 10%") < text.index("3. middle 50%") < text.index("1. easy 100%")
    assert "10% a part: 1, none: 1 " in text and "50% all of its points: 1, not started: 1 " in text


def test_points_that_an_instructor_gave_count_and_points_beside_the_tasks_are_no_task():
    rows = [row("a", check("hard", "no"), changes=[change("hard", 10), change("talk", 5)])]
    text = text_of(rows)
    assert "1. hard 100%" in text and "2. talk" not in text
    assert "hard 10 by hand" in text


SAME = [
    ("board[0, 1] is 3, and should be 1", "board[12, 0] is -4.5e-07, and should be nan"),
    ("f(lambda: (a + b).sum()) is 2, and should be 1", "f(lambda: a) is 38, and should be 2"),
    ("there is no 'kernels together' in the dict", "there is no 'x' in the dict"),
    ("the order is ['a', 'b'], and should be ['b', 'a']", "the order is [], and should be ['c']"),
    ("'equal' of t + b then t * 2 is True, and should be False",
     "'equal' of t.relu() is True, and should be False"),
    ("describe(x) is ((3, 4), 'a', 48), and", "describe(x) is ((7,), 'b', 9), and"),
    ("f(x) is (1, (2, 3...", "f(x) is (4..."),
]  # fmt: skip
DIFFERENT = [
    ("its graph has a BUFFER", "its graph does not start at x"),
    ("it has dtype float32, not int32", "it has dtype int64, not int32"),
    ("raised TypeError: 'int' object is not callable", "raised ValueError: no"),
    ("there is no function double() in the file", "there is no function chain() in the file"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_mistakes_that_differ_in_numbers_and_values_are_the_same(one, other):
    assert shape_of(one).replace("[]", "[…]") == shape_of(other).replace("[]", "[…]")


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_mistakes_are_not(one, other):
    assert shape_of(one) != shape_of(other)


def test_a_mistake_counts_each_student_once_and_names_its_parts():
    rows = [
        row("a", half("chain", "f(1) is 2, and should be 3"),
            half("chain", "f(4) is 2, and should be 9", shows="others", hidden=True)),
        row("b", check("chain", "0 of 2 parts right\nvalues: f(2) is 0, and should be 1\n"
                       "kernels: f(2) is 0, and should be 1\n"
                       "names: this counts as soon as 'values' is right")),
        row("c", half("chain", "it takes 3 kernels"), check("chain", OPEN)),
        row("d", check("chain", "the time limit for the whole project was reached")),
    ]  # fmt: skip
    first, second = mistakes_of(rows, "chain", shape_of)
    assert list(first.students) == ["a", "b"] and list(first.parts) == ["values", "kernels"]
    assert first.example == "f(1) is 2, and should be 3"
    assert list(second.students) == ["c"] and second.example == "it takes 3 kernels"


def test_the_instructor_reads_the_commonest_first_with_an_example_a_line_and_who():
    wrong = "raised NameError: name 'np' is not defined"
    rows = [
        row("Ann", check("chain", wrong, line=7, text="np.sum(<a>)", hidden=True)),
        row("Ben", check("chain", wrong)), row("Cem", check("chain", "f(1) is 2")),
    ]  # fmt: skip
    text = text_of(rows)
    assert "3 students of 3 lost points: 3 in “small numbers”" in text
    assert f"{wrong} 2 students" in text and "line 7 of Ann : np.sum(<a>)" in text
    assert text.index(wrong) < text.index("f(1) is 2 1 student")


def test_only_who_is_outside_of_what_the_class_does_is_far_below():
    points = [90, 88, 95, 91, 87, 92, 89, 20]
    rows = [row(str(p), check("double", "no", p, 100)) for p in points]
    assert far_below(rows) == {"20"}
    assert far_below(rows[:-1]) == set() == far_below(rows[-3:])


def test_who_needs_a_look_is_named_with_the_reason():
    rows = [row(f"s{n}", check("double", "no", 90 + n, 100)) for n in range(8)]
    rows += [
        row("Low", check("double", "no", 3, 100)),
        row("Crashed", status="crashed", note="Did it run?"),
        row("Lost", status="failed", note="the grader failed (OSError: x)"),
        row("Gone", status="missing"),
        row("Two", check("double", "no", 95, 100), note="two files; the newest was taken"),
        row("Trust", check("double", of=100, trusts="the seconds")),
    ]  # fmt: skip
    text = text_of(rows)
    look_ = text[text.index("Who needs a look") : text.index("How the points are spread")]
    assert "Low 3 points, far below the others." in look_
    assert "Crashed Didn't load. Did it run?" in look_ and "?." not in look_
    assert "Lost Failed in the grader. The grader failed (OSError: x)." in look_
    assert "Two Two files; the newest was taken." in look_
    assert "Trust Taken on trust: double (the seconds)." in look_
    assert "Gone" not in look_ and "s3" not in look_


def test_what_is_taken_on_trust_of_most_is_said_once():
    rows = [row(f"s{n}", check("double", trusts="the seconds")) for n in range(9)]
    text = text_of(rows)
    assert (
        "9 students Some of their points rest on what only their own program could tell: " in text
    )
    assert text.count("the seconds") == 1


NAMES = ["Ann Ashby", "a/b#c?d%e", "<b>Ben</b>", "ศิริ", 'Zoë "Z" O\'Brien']


def test_the_table_links_to_each_students_page_whatever_they_are_called():
    rows = [row(name, check("double")) for name in NAMES]
    found = Tags(page(sheet(*rows)))
    table = found.names.index("table")
    links = [a["href"] for tag, a in found.found[table:] if tag == "a"][: len(NAMES)]
    folder = "pages/01_tensor_basics/"
    assert [unquote(link) for link in links] == [f"{folder}{file_name(n)}.html" for n in NAMES]
    assert all(not re.search(r"[<>\"'#?\s]", link) for link in links)
    assert "<b>Ben</b>" in found.text and not found.wrong


def test_the_page_needs_nothing_from_anywhere():
    text = page(sheet(*(row(name, check("double", f"raised {name}")) for name in NAMES)))
    assert not {"script", "link", "img", "iframe", "b>"} & set(Tags(text).names)
    assert not re.search(r"https?:|url\(|@import", text)


# ---- anonymous -----------------------------------------------------------------------------------

SECRETS = ["Ashby", "ann@uni", "ann-hub", "4711", "Featherstone", "zoë", "my secret", "AnnError",
           "AnnTensor", "/home", "Nice talk", "walrus", "newest", "line 7"]  # fmt: skip


def class_with_secrets():
    """Whatever may tell who is who, in each place that a page is made of, and shared by three."""
    own = {"line": 7, "text": "x = 'my secret'"}
    found = ["raised AnnError: Ann Ashby was here", "raised ValueError: my secret",
             "f(x) is an object of type AnnTensor, but should be a Tensor",
             "there is no Featherstone in f", "f(x) is 'my secret', and should be 'a'"]  # fmt: skip
    people = [
        {"name": "Ann Ashby", "email": "ann@uni.example", "github": "ann-hub", "number": "4711"},
        {"name": "Bo Featherstone"},
        {"name": "Zoë Zed"},
    ]
    rows = []
    for n in range(3):
        checks = [check(f"task{k}", text, **own) for k, text in enumerate(found)]
        rows.append(row(
            people[n]["name"], *checks, check("double", trusts="the seconds"),
            notes=["my secret"], note="Ann Ashby: two files; the newest was taken",
            changes=[change("Nice talk", 5, "walrus")],
            lateness=Lateness(2, 0, 10, "walrus"), **people[n],
        ))  # fmt: skip
    return rows + [row(f"Student{n} Zed", check("task0")) for n in range(4)]


def test_an_anonymous_page_tells_nobody_who_is_who():
    rows = class_with_secrets()
    named = page(sheet(*rows))
    text = page(sheet(*rows), anonymous=True)
    assert all(secret.casefold() in named.casefold() for secret in ("Ashby", "AnnError", "newest"))
    assert [secret for secret in SECRETS if secret.casefold() in text.casefold()] == []
    assert not [a for tag, a in Tags(text).found if tag == "a" or "href" in a]
    assert "raised ValueError" in text and "raised an error of its own" in text
    assert "of type …, but should be" in Tags(text).text


def test_an_anonymous_page_has_what_three_students_have_in_common_and_no_more():
    rows = [row(f"s{n}", check("chain", "it takes 3 kernels" if n < 3 else "it has a BUFFER"))
            for n in range(5)]  # fmt: skip
    text = text_of(rows, anonymous=True)
    assert "it takes … kernels 3 students" in text and "BUFFER" not in text


def test_an_anonymous_page_has_nothing_that_hidden_checks_found():
    rows = [row(f"s{n}", check("chain", "it has a BUFFER", hidden=True)) for n in range(5)]
    assert "BUFFER" in text_of(rows) and "BUFFER" not in text_of(rows, anonymous=True)


def test_anonymous_rows_are_in_an_order_that_stays_and_that_names_alone_do_not_give():
    def order(rows):
        found = Tags(page(sheet(*rows), anonymous=True)).text
        return [int(n) for n in re.findall(r"student \d+ +(\d+)", found)]

    rows = [row(f"s{n:02}", check("double", "no", n, 20)) for n in range(20)]
    first = order(rows)
    assert sorted(first) == list(range(20)) != first
    assert order(rows) == first
    rows[3].record.digest = "of a file that nobody else has"
    assert order(rows) != first


@pytest.mark.parametrize("count", [1, 4, 5])
def test_of_fewer_than_five_students_an_anonymous_page_has_no_single_points(count):
    rows = [row(f"s{n}", check("double", "no", 13, 20)) for n in range(count)]
    text = text_of(rows, anonymous=True)
    assert ("13" in text) == (count >= 5)
    assert ("fewer than 5 students" in text) == (count < 5)


def test_a_class_of_which_nobody_handed_in_anything_has_a_page():
    for rows in ([], [row("a"), row("b")]):
        for anonymous in (False, True):
            assert not Tags(page(sheet(*rows), anonymous)).wrong


# ---- colours -------------------------------------------------------------------------------------


def mixed(one, other, share):
    parts = [[int(c[n : n + 2], 16) for n in (1, 3, 5)] for c in (one, other)]
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}"
                         for a, b in zip(*parts, strict=True))  # fmt: skip


def long(color):
    return color if len(color) == 7 else "#" + "".join(2 * c for c in color[1:])


LOOK = (pages.HERE / "templates/look.css").read_text()
SCHEMES = [{name: long(color) for name, color in re.findall(r"--(\w+):(#\w+)", each)}
           for each in LOOK.split(":root")[1:]]  # fmt: skip


@pytest.mark.parametrize("colors", SCHEMES, ids=["light", "dark", "paper"])
def test_all_text_can_be_read(colors):
    card, strongest = colors["card"], mixed(colors["main"], colors["card"], 0.32)
    assert "--main) 32%" in (pages.HERE / "gradebook/templates/class.css").read_text()
    for text in ("ink", "soft", "main", "warm"):
        for ground in (colors["page"], card):
            assert contrast(colors[text], ground) >= 4.5, (text, ground)
    for ground in (strongest, colors["pale"]):
        assert contrast(colors["ink"], ground) >= 4.5, ground
    assert contrast(colors["main"], colors["miss"]) >= 3  # a bar and what it isn't filled to


def test_the_time_it_took_is_that_of_whole_gradings():
    """Not of a single task that was asked again."""
    ann = row("ann", check("double"))
    ann.record.gradings.append(replace(ann.record.gradings[0], seconds=1.0, tasks=("double",)))
    assert "within 4 s, the slowest in 4 s" in text_of([ann])
