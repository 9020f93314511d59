"""Copies are found whatever they are dressed as, and who worked alone isn't."""

import html
from pathlib import Path

import pytest

from classroom.cut import without_marks
from classroom.gradebook import similar
from classroom.gradebook.handed import HandedIn
from classroom.gradebook.similar import SAME_BYTES, SAME_SHAPE, SAME_TOKENS, alike, blocks
from tests.gradebook.disguises import DISGUISES, padded, renamed
from tests.grader.submissions import unusual

ROOT = Path(__file__).parents[2]


def project(number):
    """The worked text of a project, and what is handed out."""
    (worked,) = (ROOT / "solutions" / "projects").glob(f"{number}_*.py")
    starter = ROOT / "projects" / worked.name
    return without_marks(worked.read_text()), {"submission.py": starter.read_bytes()}


TEXT, GIVEN = project("02")


def handed(**texts):
    return [HandedIn(name, {"submission.py": text.encode()}) for name, text in texts.items()]


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_copy_in_disguise_is_found(disguise):
    found = alike(handed(ann=TEXT, bob=DISGUISES[disguise](TEXT)), GIVEN)
    assert [group.names for group in found.groups] == [("ann", "bob")]
    assert found.groups[0].most >= 55


def test_a_line_that_does_nothing_after_every_second_one_does_not_hide_it():
    assert alike(handed(ann=TEXT, bob=padded(TEXT, 2)), GIVEN).groups[0].most >= similar.SUSPICIOUS


@pytest.mark.parametrize("number", ["01", "02", "03", "04", "06"])
def test_who_worked_alone_is_far_from_everybody_else(number, monkeypatch):
    monkeypatch.setattr(similar, "SUSPICIOUS", 13)
    text, given = project(number)
    assert alike(handed(worked=text, **unusual(number)), given).groups == ()


STARTER = GIVEN["submission.py"].decode()
OTHERS = unusual("01") | unusual("03") | unusual("06")
WORKED = {"submission.py": TEXT.encode()}


def test_what_was_handed_out_does_not_count():
    assert alike(handed(ann=STARTER, bob=STARTER, cy=STARTER + "\n"), GIVEN).groups == ()
    more = project("06")[0]
    both = handed(ann=f"{STARTER}\n{more}\nx = 1\n", bob=f"{STARTER}\n{more}\ny = [2]\n")
    assert len(alike(both, GIVEN).groups) == 1
    assert alike(both, GIVEN | {"lesson.py": more.encode()}).groups == ()
    notebook = {"course/04.ipynb": {"course/04.ipynb.py": more.encode()}}
    (group,) = alike(both, GIVEN, notebook).groups  # each is said to be from there
    assert {pair.names[1] for pair in group.pairs} == {"course/04.ipynb"}


@pytest.mark.parametrize("count", [2, 8, 16])
def test_identical_files_are_grouped_however_many_have_them(count):
    """What half the class has need not have been handed out: it may be a solution that leaked."""
    copies = {f"s{n}": TEXT for n in range(count)}
    found = alike(handed(**copies, **OTHERS), GIVEN)
    (group,) = [each for each in found.groups if "s0" in each.names]
    assert (set(group.names), found.groups[0]) == (set(copies), group)
    assert group.same == ((SAME_BYTES, tuple(copies)),) and group.most == 100


def test_copies_of_the_worked_solution_are_called_so_however_many_and_in_disguise():
    copies = {f"s{n}": DISGUISES[kind](TEXT) for n, kind in enumerate([*DISGUISES] * 2)}
    found = alike(handed(**copies, **OTHERS), GIVEN, {}, WORKED)
    assert {*copies, similar.SOLUTION} == set(found.groups[0].names)
    assert similar.SOLUTION in found.text() and similar.SOLUTION in found.page()
    assert alike(handed(**OTHERS), GIVEN, {}, WORKED).groups == ()


def test_copies_of_tinyframe_s_own_device_and_of_its_page_are_called_so():
    course = similar.handed_out()
    device, page = "tinyframe/runtime/clang.py", "tinyframe/runtime/README.md"
    worked = (ROOT / "solutions/projects/07_custom_backend/backend.py").read_bytes()
    one, two = ((*course[name].values(),)[0].decode() for name in (device, page))
    course["docs/old.md"] = {"old.py": padded(two).encode()}  # two pages may be alike
    texts = {"ann": one, "bob": padded(two, 3), "cy": padded(one), "dee": worked.decode()}
    found = alike(handed(**texts), {}, course)
    assert [group.names for group in found.groups] == [("ann", "cy", device), ("bob", page)]
    assert f"of cy's is in {device}; " in " ".join(found.text().split())
    assert not any(name.startswith("solutions/projects") for name in course)


def test_files_that_are_the_same_are_called_so_in_one_of_three_ways():
    other = without_marks((ROOT / "solutions" / "projects" / "06_custom_ops.py").read_text())
    found = alike(
        handed(ann=TEXT, bob=TEXT, cy=TEXT.replace("\n\n\n", "\n\n\n# mine\n"), dee=other,
               eve=other.replace("gelu", "mine"), fay=other.replace("\n\n\n", "\n\n\n\n")),
        GIVEN,
    )  # fmt: skip
    assert {group.names: group.same for group in found.groups} == {
        ("ann", "bob", "cy"): ((SAME_BYTES, ("ann", "bob")), (SAME_TOKENS, ("ann", "cy"))),
        ("dee", "eve", "fay"): ((SAME_TOKENS, ("dee", "fay")), (SAME_SHAPE, ("dee", "eve"))),
    }
    found = alike(handed(dee=other, eve=other.replace("gelu", "mine")), GIVEN)
    assert "def gelu" in found.page() and "def mine" in found.page()  # there is something to see
    assert "<td>" not in alike(handed(ann=TEXT, bob=TEXT), GIVEN).page()


def test_docstrings_and_blank_lines_hide_nothing():
    mine = "def f(x):\n    return [x + n * x for n in range(3) if n > x or x < 2 * n - 1]\n" * 4
    said = mine.replace(":\n    return", ':\n    """What I thought."""\n\n    return')
    (group,) = alike(handed(ann=mine, bob=said), {}).groups
    assert group.same == ((SAME_TOKENS, ("ann", "bob")),)


def test_three_that_are_alike_are_one_group_and_others_another():
    four = TEXT.split("\n# ---- ")
    half = "\n# ---- ".join(four[: len(four) // 2])
    other = project("06")[0]
    found = alike(handed(a=TEXT, b=padded(TEXT), c=half, x=other, y=padded(other)), GIVEN)
    assert sorted(group.names for group in found.groups) == [("a", "b", "c"), ("x", "y")]
    both = {frozenset(p.names): p.percents for g in found.groups for p in g.pairs}
    ways = both[frozenset("ac")]
    assert max(ways) > 95 and min(ways) < 80  # all of c is in a, and not the other way round


def test_the_lines_that_match_are_the_ones_that_were_copied():
    mine = "def start(n):\n    return [n] * 3\n\n\n" * 3
    at = TEXT.index("def loops_of_sum")
    copied = TEXT[at : TEXT.index("# ---- cells")]
    found = alike(handed(ann=TEXT, bob=mine + renamed(copied)), GIVEN)
    (pair,) = found.groups[0].pairs
    shown = blocks(*(found.works[name] for name in pair.names))
    first = TEXT[:at].count("\n") + 1
    last = first + copied.count("\n")
    assert shown
    for (_, begin, end), (_, there, _) in shown:
        # the next function begins alike
        assert first - 3 <= begin <= end <= last + 6 and there > 6


def test_the_page_is_inert_and_shows_lines_of_both_side_by_side():
    evil = "</pre><script>alert(1)</script>"
    text = TEXT.replace('"elementwise"', f'"{evil}\u202e"')
    page = alike(handed(**{"<b>ann": text, "bob": padded(text)}), GIVEN).page()
    assert "<script>" not in page and "<b>ann" not in page and "\u202e" not in page
    assert "&lt;script&gt;" in page and "&lt;b&gt;ann" in page
    assert page.count("def loops_of_sum") >= 2
    assert "They don't say why" in html.unescape(page)


def test_the_table_says_who_and_how_much_and_what_it_means():
    said = alike(handed(ann=TEXT, bob=padded(TEXT), cy="x = 1\n"), GIVEN).text()
    assert "ann" in said and "bob" in said and "cy" not in said and "the other way round" in said
    assert "They don't say why" in said
    assert "no two of them are alike" in alike(handed(ann=TEXT, cy="x = 1\n"), GIVEN).text()


def test_folders_are_compared_file_by_file_and_what_cannot_be_read_stops_nothing():
    parts = {"main.py": b"from parts import *\n", "parts.py": TEXT.encode(), "notes.txt": b"\xff"}
    moved = {"a.py": padded(TEXT).encode(), "b.py": b"\xff\x00(((", "c.py": b"if:\n  'x\n"}
    found = alike([HandedIn("ann", parts), HandedIn("bob", moved), HandedIn("cy")], GIVEN)
    assert [group.names for group in found.groups] == [("ann", "bob")]
    (pair,) = found.groups[0].pairs
    shown = blocks(*(found.works[name] for name in pair.names))
    assert {(mine, theirs) for (mine, *_), (theirs, *_) in shown} == {("parts.py", "a.py")}


def test_the_same_class_gives_the_same_page_every_time():
    some = handed(ann=TEXT, bob=padded(TEXT), cy=renamed(TEXT))
    assert alike(some, GIVEN).page() == alike(some, GIVEN).page()


def test_the_page_leaves_out_the_lines_that_everybody_was_given():
    at = TEXT.index("def ")
    mine = TEXT[at:]
    found = alike(handed(ann=mine, bob=padded(renamed(mine))), GIVEN)
    assert found.groups and not found.groups[0].same
    page = found.page()
    given = [line.strip() for line in GIVEN["submission.py"].decode().split("\n")]
    said = [line for line in given if len(line) > 40 and not line.startswith(("def ", "class "))]
    assert said and "⋯" in page
    assert not [line for line in said if html.escape(line) in page]
    assert "submission.py" not in page
