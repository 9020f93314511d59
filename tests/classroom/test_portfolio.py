"""The portfolio: what is the learner's, and nobody else's, on one page that needs nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from classroom.exercise import Outcome
from classroom.exercises import exercises
from classroom.grader.command import _keep
from classroom.grader.report import Report, Row
from classroom.learner import kept, record
from classroom.mini import loader
from classroom.mini.stages import HANDED_OUT, REFERENCE, ROOT, STAGES, find
from classroom.portfolio import portfolio, sample
from classroom.portfolio.command import main
from classroom.portfolio.drawn import hundred, roofline
from classroom.portfolio.lines import whose_lines
from classroom.portfolio.made import Made, Speeds, made
from classroom.portfolio.page import ABOUT, MARK, Portfolio
from classroom.puzzlebook.game import by_name, exercise_of, games
from tests.gradebook.classes import Tags

OWN = """\
    def element_of_mine(self, *place):
        wanted = sum(step * at for step, at in zip(self.paces, place, strict=True))
        return self.contents[wanted]
"""


OWN_CLASS = f"\n\nclass OfMyOwn:\n{OWN}"


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A learner's copy in which nothing has been done."""
    folder = tmp_path / record.COPY
    for stage in STAGES:
        for room in (folder / "mini", folder / ".originals" / "mini"):
            room.mkdir(parents=True, exist_ok=True)
            (room / stage.file).write_bytes((HANDED_OUT / stage.file).read_bytes())
    monkeypatch.chdir(folder)
    return folder


# ---- whose lines ---------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [HANDED_OUT, REFERENCE], ids=["handed out", "reference"])
def test_a_copied_file_has_no_lines_of_ones_own(copy, room):
    for stage in STAGES:
        (copy / "mini" / stage.file).write_bytes((room / stage.file).read_bytes())
    assert [stage.own for stage in made(copy).stages] == [0] * len(STAGES)
    assert made(copy).is_empty


def test_comments_spaces_quotes_and_docstrings_make_no_line_ones_own():
    text = (REFERENCE / "part3.py").read_text()
    dressed = text.replace(" = ", "   =  ").replace("\n    ", "\n\n    # mine\n    ")
    assert whose_lines("return self.uop.shape") == (0, 1, 1)  # as the notebook says
    assert whose_lines("# all of it by me\n" + dressed.replace('""""', '"""My own. "')).own == 0


def test_lines_of_ones_own_count_and_only_those(copy):
    path = copy / "mini" / "part3.py"
    path.write_text(path.read_text() + OWN_CLASS)
    first = made(copy).stages[0]
    assert (first.own, made(copy).own) == (4, 4)
    assert first.lines == whose_lines(path.read_text()).lines > 4


# what is written below the file as it was handed out: certainly the learner's, and as the course
WRITTEN = [
    (OWN_CLASS, 4, 0),
    ("\n\nclass OfMine:\n    def shape(self):\n        return self.uop.shape\n", 1, 2),
    ("\n\n# nothing but a remark\n", 0, 0),
]


@pytest.mark.parametrize("text, own, same", WRITTEN)
def test_a_line_is_certainly_ones_own_or_written_as_in_the_solution_or_given(copy, text, own, same):
    """The last two were one, and a stage in which nothing was written had a row of zeros."""
    path = copy / "mini" / "part3.py"
    given = whose_lines(path.read_text()).lines
    path.write_text(path.read_text() + text)
    first, *others = made(copy).stages
    assert (first.own, first.same, first.lines) == (own, same, given + own + same)
    assert not any(stage.own + stage.same for stage in others)
    page = portfolio().html()
    assert page.count("lines certainly mine") == bool(own) and "0 of " not in page
    assert (f"{same} written as in the solution" in page) == bool(same)
    assert page.count("class=light") == bool(same)


def test_a_file_that_is_not_python_counts_for_nothing(copy):
    (copy / "mini" / "part3.py").write_text("def element(:\n")
    (copy / "mini" / "part4.py").unlink()
    assert made(copy).own == 0


def test_lines_of_an_earlier_version_of_the_course_are_not_ones_own(copy):
    for room in ("mini", ".originals/mini"):
        path = copy / room / "part3.py"
        path.write_text(path.read_text() + "\n\nclass Earlier:\n" + OWN)
    assert made(copy).own == 0


# ---- what is kept --------------------------------------------------------------------------------


def test_the_best_of_each_is_kept(copy):
    for right in (0.9, 0.97, 0.95):
        kept.keep("digits", right, {"right": right, "of": 450})
    assert kept.kept(copy)["digits"]["right"] == 0.97


def test_outside_of_a_copy_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept.keep("digits", 1.0, {"right": 1.0, "of": 450})
    assert list(tmp_path.iterdir()) == []


NONSENSE = (
    "",
    "[]",
    "{",
    '{"digits": 3, "climb": {"rates": {"a": "x"}}}',
    '{"climb": {"rates": {"a": -1}}, "own c": {"rates": []}}',
    '{"project 01_tensor_basics": {"points": 60, "of": 52}}',
)


@pytest.mark.parametrize("text", NONSENSE)
def test_a_file_that_makes_no_sense_shows_nothing(copy, text):
    (copy / kept.FILE).write_text(text)
    (copy / record.FILE).write_text(text)
    assert made(copy).is_empty and "Nothing here yet" in portfolio().html()


def test_points_of_a_project_in_the_copy_are_kept(copy):
    row = Row("larger", "numbers", 41, 48, "wrong", "hint")
    report = Report("Project 2", "02_op_types.py", 100, 52, [], [row])
    _keep(copy / "projects" / "02_op_types.py", "02_op_types", report)
    (project,) = made(copy).graded
    assert (project.described.number, project.points, project.of) == (2, 41, 48)
    assert "<b>41</b> of 48 points" in portfolio().html()


@pytest.mark.parametrize("room", ["projects", "solutions/projects"])
def test_a_project_that_was_copied_earns_no_points_here(copy, room):
    path = copy / "projects" / "02_op_types.py"
    path.parent.mkdir()
    if (source := ROOT / room / path.name).is_file():  # a release has no solutions
        path.write_text("# mine\n" + source.read_text())
        _keep(path, "02_op_types", Report("", "", 48, 0, [], [Row("", "", 48, 48, "", "")]))
    assert not made(copy).graded


def test_points_of_somebody_elses_project_are_not(copy, tmp_path):
    row = Row("larger", "numbers", 41, 48, "wrong", "hint")
    _keep(tmp_path / "02_op_types.py", "02_op_types", Report("", "", 48, 0, [], [row]))
    assert not made(copy).graded


def test_digits_and_names_are_shown_only_of_a_framework_with_lines_of_ones_own(copy):
    kept.keep("digits", 0.97, {"right": 0.97, "of": 450})
    kept.keep("names", -1.8, {"nats": 1.8, "names": ["make_compile", "a<b"]})
    assert made(copy).digits is None and made(copy).names == ()
    path = copy / "mini" / "part3.py"
    path.write_text(path.read_text() + OWN_CLASS)
    assert made(copy).digits.of == 450
    assert "<b>make_compile, a&lt;b</b>" in portfolio().html()
    kept.keep("names", 0.0, {"names": 3})
    assert made(copy).names == ()


def test_stages_are_the_learners_only_where_each_of_them_is(copy, monkeypatch):
    paths = {stage.module: copy / "mini" / stage.file for stage in STAGES}
    monkeypatch.setattr(loader._finder, "paths", paths)
    assert loader.is_learners(find("6"))
    paths["mini.part4b"] = REFERENCE / "part4b.py"
    assert not loader.is_learners(find("6"))


def test_a_climb_is_kept_with_its_roof(copy):
    from classroom.race import _keep as keep_climb
    from tinyframe.viz.roof import Roof

    keep_climb(0.08, ["a sum"], [1.0], Roof(1e11, 1e10))  # adding is no product
    assert made(copy).climb is None
    keep_climb(85.0, ["loops", "vectors"], [1.5, 14.0], Roof(1e11, 1e10))
    keep_climb(85.0, ["loops"], [99.0], Roof(1e11, 1e10))  # fewer steps
    climb = made(copy).climb
    assert climb.rates == {"loops": 1.5, "vectors": 14.0} and climb.roof == (100.0, 10.0)
    keep_climb(85.0, ["three loops", "6 rows", "a panel"], [1.5, 46.0, 90.0], Roof(1e11, 1e10))
    climb = made(copy).climb
    assert (climb.first, climb.best) == (1.5, 90.0)  # in the order of the climb


def test_exercises_and_games_are_those_of_the_record(copy):
    first, second, *_ = exercises(1)
    record.note(Outcome(first, "right"))
    puzzle = by_name()["outer"]
    record.note(Outcome(exercise_of(puzzle), "right"))
    record.note_score(exercise_of(puzzle), puzzle.par)
    record.note_help(second, answer=True)
    found = made(copy)
    assert (found.done, found.parts[0].helped) == (1, 1)
    (game,) = [game for game in found.games if game.done]
    assert (game.done, game.score, game.par) == (1, puzzle.par, puzzle.par)


# ---- the page ------------------------------------------------------------------------------------

FULL = replace(sample(), own_c=Speeds({"as lowered": 1.1, "8 lanes": 22.0}, numpy=97.0))
EMPTY = Made()


@pytest.mark.parametrize("shown", [FULL, EMPTY, sample()], ids=["full", "empty", "sample"])
def test_the_page_needs_nothing_but_itself(shown):
    text = Portfolio(shown).html()
    tags = Tags(text)
    assert not tags.wrong
    assert not {"script", "link", "img", "iframe", "a"} & {*tags.names}
    assert not re.search(r"https?:|url\(|@import|\bsrc=|\bhref=|\bon\w+=", text)
    assert len(text) < 60_000


def test_it_is_for_phones_for_the_dark_and_for_paper():
    text = Portfolio(FULL).html()
    assert 'name="viewport"' in text and "prefers-color-scheme:dark" in text
    assert "@media print" in text


def test_there_is_no_name_date_or_path_on_it_unless_asked_for(copy, capsys):
    assert main([]) == 0
    page = copy / "my_portfolio.html"
    assert str(page) in capsys.readouterr().out
    text = page.read_text()
    assert "<h1>What I built</h1>" in text and str(copy.parent) not in text
    assert not re.search(r"\b20\d\d\b", text)
    assert main(["--name", "Ada <b>", "--date", "a rainy Sunday"]) == 0
    text = page.read_text()
    assert "<h1>What Ada &lt;b&gt; built</h1>" in text and "<p>a rainy Sunday</p>" in text
    assert main(["--date"]) == 0 and re.search(r"<p>\d+ \w+ 20\d\d</p>", page.read_text())


def test_a_file_that_is_no_portfolio_is_left_alone(copy, capsys):
    page = copy / "my_portfolio.html"
    page.write_text("<h1>My garden</h1>")
    (copy / "elsewhere.html").symlink_to(page)
    for told in ([], ["--out", "elsewhere.html"], ["--out", "mini"]):
        assert main(told) == 2
        assert "left alone" in capsys.readouterr().err
    assert page.read_text() == "<h1>My garden</h1>"
    assert main(["--out", "nowhere/page.html"]) == 2
    assert "nothing was written" in capsys.readouterr().err


def test_outside_of_a_copy_it_says_where_to_go_and_beside_one_it_works(copy, monkeypatch, capsys):
    monkeypatch.chdir(copy.parent)
    assert main([]) == 0 and (copy / "my_portfolio.html").is_file()
    (copy.parent / "other").mkdir()
    monkeypatch.chdir(copy.parent / "other")
    assert main([]) == 2
    assert "my_course" in capsys.readouterr().err


def test_help_says_what_it_does(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert stopped.value.code == 0
    assert "--name" in said and "Nothing leaves your computer" in said


def test_what_the_page_shows_is_what_it_says_as_text():
    words = Tags(Portfolio(FULL).html()).text
    for number in ("285", "97.2%", "63", "1.8", "96", "71", "52", "41", "22"):
        assert number in words
    assert "looked up" in words and "after a look at the answer" in words
    assert repr(Portfolio(EMPTY)).startswith("a page with nothing")
    assert MARK in Portfolio(EMPTY).html() and "How this was counted" not in Portfolio(EMPTY).html()


def test_labels_of_a_climb_do_not_lie_on_each_other():
    close = {f"step {n}": 90.0 + n / 10 for n in range(7)}
    text = roofline(Speeds(close, roof=(118.0, 14.0), intensity=85.0))
    places = [float(y) for y in re.findall(r'class="said[^"]*" x="[\d.]+" y="([\d.]+)"', text)]
    assert len(places) == 7
    assert min(abs(a - b) for a, b in zip(sorted(places), sorted(places)[1:], strict=False)) > 11
    (roof,) = {float(y) for y in re.findall(r'class="roof" d="M.* ([\d.]+)"', text)}
    assert min(abs(place - 3.5 - roof) for place in places) > 8
    assert re.findall(r'<circle class="best"', text) == ['<circle class="best"']


def test_a_hundred_dots_are_filled_by_their_share():
    assert hundred(0.973).count('"hit"') == 97 and hundred(0.973).count("<circle") == 100


def test_a_record_of_the_real_page_is_valid_json(copy):
    kept.keep("climb", 2.0, {"rates": {"a": 1.0}})
    assert json.loads(Path(copy / kept.FILE).read_text())["climb"]["rank"] == 2.0


def test_a_framework_is_said_to_do_no_more_than_its_stages():
    text = Portfolio(replace(sample(), stages=sample().stages[:2])).html()
    assert "writes down what is to be computed, and waits." in text
    assert (
        "derivatives" not in text.partition("A framework of my own")[2].partition("</section>")[0]
    )
    broken = replace(sample().stages[1], passes=False)
    text = Portfolio(replace(sample(), stages=(sample().stages[0], broken))).html()
    assert "holds tables of numbers without storing them." in text


def test_every_game_is_described_and_one_without_a_score_has_none(copy):
    assert {game.name for game in games()} == set(ABOUT["games"])
    hunt = next(game for game in games() if game.name == "hunt")
    record.note(Outcome(exercise_of(hunt.puzzles[0]), "right"))
    assert str(Portfolio(made(copy))).endswith("The scavenger hunt: 1 of 20")
