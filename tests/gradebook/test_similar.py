"""Copies are found whatever they are dressed as, and who worked alone isn't."""

import html
from pathlib import Path

import pytest

from classroom.cut import without_marks
from classroom.gradebook import similar
from classroom.gradebook.handed import HandedIn
from classroom.gradebook.similar import SAME_BYTES, SAME_SHAPE, SAME_TOKENS, alike, blocks
from tests.gradebook.disguises import DISGUISES, padded, renamed

ROOT = Path(__file__).parents[2]
UNUSUAL = ROOT / "tests" / "grader" / "unusual"


def project(number):
    """The worked text of a project, and what is handed out."""
    (worked,) = (ROOT / "solutions" / "projects").glob(f"{number}_*.py")
    starter = ROOT / "projects" / worked.name
    return without_marks(worked.read_text()), {"submission.py": starter.read_bytes()}


TEXT, GIVEN = project("02")


def handed(**texts):
    return [HandedIn(name, {"submission.py": text.encode()}) for name, text in texts.items()]


def percents(found):
    return {frozenset(p.students): max(p.percents) for group in found.groups for p in group.pairs}


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_copy_in_disguise_is_found(disguise):
    found = alike(handed(ann=TEXT, bob=DISGUISES[disguise](TEXT)), GIVEN)
    assert [group.students for group in found.groups] == [("ann", "bob")]
    assert found.groups[0].most >= 55


def test_a_line_that_does_nothing_after_every_second_one_does_not_hide_it():
    assert alike(handed(ann=TEXT, bob=padded(TEXT, 2)), GIVEN).groups[0].most >= similar.SUSPICIOUS


@pytest.mark.parametrize("number", ["01", "02", "03", "04", "06"])
def test_who_worked_alone_is_far_from_everybody_else(number, monkeypatch):
    monkeypatch.setattr(similar, "SUSPICIOUS", 13)
    text, given = project(number)
    others = {path.stem: path.read_text() for path in UNUSUAL.glob(f"{number}_*.py")}
    others.pop("01_torch", None)  # has a third of the worked solution's lines
    assert alike(handed(worked=text, **others), given).groups == ()


def test_what_was_handed_out_and_what_many_have_does_not_count():
    starter = GIVEN["submission.py"].decode()
    assert alike(handed(ann=starter, bob=starter, cy=starter + "\n"), GIVEN).groups == ()
    everybody = {f"s{n}": f"{starter}\n{renamed(TEXT) if n % 2 else TEXT}\n" for n in range(12)}
    assert not any(not g.identical for g in alike(handed(**everybody), GIVEN).groups)


def test_files_that_are_the_same_are_called_so_in_one_of_three_ways():
    other = without_marks((ROOT / "solutions" / "projects" / "06_custom_ops.py").read_text())
    found = alike(
        handed(ann=TEXT, bob=TEXT, cy=TEXT.replace("\n\n\n", "\n\n\n# mine\n"), dee=other,
               eve=other.replace("gelu", "mine"), fay=other.replace("\n\n\n", "\n\n\n\n")),
        GIVEN,
    )  # fmt: skip
    same = {group.students: group.identical for group in found.groups if group.identical}
    assert same == {("ann", "bob"): SAME_BYTES, ("dee", "fay"): SAME_TOKENS}
    near = [group.students for group in found.groups if not group.identical]
    assert {frozenset(names) for names in near} == {
        frozenset(("ann", "bob", "cy")), frozenset(("dee", "eve", "fay"))
    }  # fmt: skip
    found = alike(handed(dee=other, eve=other.replace("gelu", "mine")), GIVEN)
    assert [group.identical for group in found.groups] == [SAME_SHAPE]
    assert "def gelu" in found.page() and "def mine" in found.page()  # there is something to see
    assert "<td>" not in alike(handed(ann=TEXT, bob=TEXT), GIVEN).page()


def test_docstrings_and_blank_lines_hide_nothing():
    mine = "def f(x):\n    return [x + n * x for n in range(3) if n > x or x < 2 * n - 1]\n" * 4
    said = mine.replace(":\n    return", ':\n    """What I thought."""\n\n    return')
    (group,) = alike(handed(ann=mine, bob=said), {}).groups
    assert group.identical == SAME_TOKENS


def test_three_that_are_alike_are_one_group_and_others_another():
    four = TEXT.split("\n# ---- ")
    half = "\n# ---- ".join(four[: len(four) // 2])
    other = project("06")[0]
    found = alike(handed(a=TEXT, b=padded(TEXT), c=half, x=other, y=padded(other)), GIVEN)
    assert sorted(group.students for group in found.groups) == [("a", "b", "c"), ("x", "y")]
    both = {frozenset(p.students): p.percents for g in found.groups for p in g.pairs}
    ways = both[frozenset("ac")]
    assert max(ways) > 95 and min(ways) < 80  # all of c is in a, and not the other way round


def test_the_lines_that_match_are_the_ones_that_were_copied():
    mine = "def start(n):\n    return [n] * 3\n\n\n" * 3
    at = TEXT.index("def loops_of_sum")
    copied = TEXT[at : TEXT.index("# ---- cells")]
    found = alike(handed(ann=TEXT, bob=mine + renamed(copied)), GIVEN)
    (pair,) = found.groups[0].pairs
    shown = blocks(*(found.works[name] for name in pair.students))
    first = TEXT[:at].count("\n") + 1
    last = first + copied.count("\n")
    assert shown
    for block in shown:
        (begin, end), (there, _) = block.lines
        # the next function begins alike
        assert first - 3 <= begin <= end <= last + 6 and there > 6


def test_the_page_is_inert_and_shows_lines_of_both_side_by_side():
    evil = "</pre><script>alert(1)</script>"
    text = TEXT.replace('"elementwise"', f'"{evil}\u202e"')
    page = alike(handed(**{"<b>ann": text, "bob": padded(text)}), GIVEN).page()
    assert "<script>" not in page and "<b>ann" not in page and "\u202e" not in page
    assert "&lt;script&gt;" in page and "&lt;b&gt;ann" in page
    assert page.count("def loops_of_sum") >= 2
    assert "They don't say why" in page.replace("&#x27;", "'")


def test_the_table_says_who_and_how_much_and_what_it_means():
    said = alike(handed(ann=TEXT, bob=padded(TEXT), cy="x = 1\n"), GIVEN).text()
    assert "ann" in said and "bob" in said and "cy" not in said and "the other way round" in said
    assert "They don't say why" in said
    assert "no two of them are alike" in alike(handed(ann=TEXT, cy="x = 1\n"), GIVEN).text()


def test_folders_are_compared_file_by_file_and_what_cannot_be_read_stops_nothing():
    parts = {"main.py": b"from parts import *\n", "parts.py": TEXT.encode(), "notes.txt": b"\xff"}
    moved = {"a.py": padded(TEXT).encode(), "b.py": b"\xff\x00(((", "c.py": b"if:\n  'x\n"}
    found = alike([HandedIn("ann", parts), HandedIn("bob", moved), HandedIn("cy")], GIVEN)
    assert [group.students for group in found.groups] == [("ann", "bob")]
    (pair,) = found.groups[0].pairs
    files = {block.files for block in blocks(*(found.works[name] for name in pair.students))}
    assert files == {("parts.py", "a.py")}


def test_the_same_class_gives_the_same_page_every_time():
    some = handed(ann=TEXT, bob=padded(TEXT), cy=renamed(TEXT))
    assert alike(some, GIVEN).page() == alike(some, GIVEN).page()


def test_the_page_leaves_out_the_lines_that_everybody_was_given():
    at = TEXT.index("def ")
    mine = TEXT[at:]
    found = alike(handed(ann=mine, bob=padded(renamed(mine))), GIVEN)
    assert found.groups and not found.groups[0].identical
    page = found.page()
    given = [line.strip() for line in GIVEN["submission.py"].decode().split("\n")]
    said = [line for line in given if len(line) > 40 and not line.startswith(("def ", "class "))]
    assert said and "⋯" in page
    assert not [line for line in said if html.escape(line) in page]
    assert "submission.py" not in page
