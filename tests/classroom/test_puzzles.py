"""The puzzles: worked answers stand in the notebooks, right and at par; wrong ones are drawn, tools
kept. What answers are told is planted beside each puzzle (test_answers.py)."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path
from types import FunctionType

import matplotlib.pyplot as plt
import numpy as np
import pytest

from classroom import grids
from classroom.exercise import Outcome, judge
from classroom.exercises import find
from classroom.learner import record
from classroom.puzzlebook import ops, play
from classroom.puzzlebook.game import against_par, by_name, exercise_of, games
from classroom.puzzlebook.games.one_liners import GAME, TOOLS
from classroom.puzzlebook.judge import Trial
from tinyframe import Tensor
from tinyframe.tensor.sorting import SHORT
from tinyframe.uop import Ops
from tinyframe.viz.drawing import PAGE

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "solutions" / "course" / "03b_puzzles.ipynb"

PUZZLES = GAME.puzzles
BY_NAME = {puzzle.name: puzzle for puzzle in PUZZLES}

every_puzzle = pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)


def cells(kind: str) -> list[str]:
    notebook = json.loads(NOTEBOOK.read_text())
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == kind]


def worked_answers() -> dict[str, FunctionType]:
    """The functions of the worked notebook, in one namespace as there."""
    scope: dict[str, object] = {"Tensor": Tensor}
    for source in cells("code"):
        if source.startswith("def "):
            exec(source.partition("\n\n\n")[0], scope)
    return {name: f for name, f in scope.items() if isinstance(f, FunctionType)}


WORKED = worked_answers()


def tried(name: str, answer: object) -> tuple[Outcome, Trial]:
    trial = Trial(BY_NAME[name])
    return judge(exercise_of(BY_NAME[name], trial.check), answer), trial


# ---- the worked notebook ------------------------------------------------------------------------


@every_puzzle
def test_the_notebook_states_the_call_and_the_rules(puzzle):
    (told,) = [text for text in cells("markdown") if text.startswith(f"**{puzzle.name}.**")]
    (written,) = [text for text in cells("code") if text.startswith(f"def {puzzle.call}:")]
    for tool in puzzle.without:
        assert f"**Without** `{tool}`" in told
    for tool in puzzle.also:
        assert f"`{tool}`" in told
    assert f'"""{puzzle.name}(' in written  # an example


@every_puzzle
def test_the_example_in_the_docstring_is_true(puzzle):
    call, _, result = (WORKED[puzzle.name].__doc__ or "").rstrip(".").partition(" is ")
    inputs = json.loads(f"[{call.partition('(')[2][:-1]}]")
    arrays = [np.array(x) if isinstance(x, list) else x for x in inputs]
    assert np.allclose(puzzle.expected(*arrays), json.loads(result))


def test_the_notebook_lists_the_tools():
    text = "\n".join(cells("markdown"))
    for tool in TOOLS:
        assert re.search(rf"`(Tensor)?\.?{tool}`", text), tool


# ---- wrong answers ------------------------------------------------------------------------------


def helper(a):
    return a.cumsum(0)


# the size is right in the first, and the numbers are not; then neither is; the last two are refused
DRAWN = [
    ("eye", lambda n: Tensor.ones(n, n), "Element [0, 1]", True),
    ("repeat", lambda a, k: a[:, None].expand(-1, k), "the shape is wrong", False),
    ("running_sum", lambda a: helper(a), "`cumsum` is not one of the tools", None),
    ("flip", lambda a: a[::-1], "called FLIP", None),
]


@pytest.mark.parametrize("name, answer, said, sizes_agree", DRAWN)
def test_a_wrong_answer_is_drawn_and_told_the_same_each_time(name, answer, said, sizes_agree):
    (outcome, trial), (again, other) = tried(name, answer), tried(name, answer)
    assert outcome.state == "wrong" and said in outcome.text
    assert (outcome.text, outcome.rows) == (again.text, again.rows)
    if sizes_agree is None:
        assert trial.case is None is trial.picture()
        return
    case, drawn = trial.case, trial.picture()
    assert np.array_equal(case.got, other.case.got)
    marked = np.count_nonzero(case.got != case.expected) if sizes_agree else 0
    assert drawn.svg().count(grids.WRONG_FILL) == marked
    assert sizes_agree or "the shape is" in drawn.headline
    for number in case.expected.ravel():
        assert f">{float(number):.4g}</text>" in drawn.svg()


# ---- tools --------------------------------------------------------------------------------------


def test_a_name_of_ones_own_is_no_tool():
    arange = WORKED["arange"]  # a variable called like a method
    assert ops.names(lambda n: arange(n) + 1) == {"Tensor", "ones", "cumsum"}


def test_a_name_that_an_inner_function_sees_is_no_tool_either():
    def inner(a):
        row, count = Tensor.arange(len(a)), len(a)
        return (lambda i: (i <= row[:, None]).where(a, 0))(Tensor.arange(count)).sum(axis=1)

    assert tried("running_sum", inner)[0].state == "right"
    assert ops.names(inner) == {"Tensor", "arange", "len", "where", "sum"}


AT_MOST = 64


def test_a_number_with_a_name_may_be_used():
    packed = tried("argmax", lambda a: (a * AT_MOST + Tensor.arange(len(a))).max() % AT_MOST)
    assert packed[0].state == "right", packed[0].text


# ---- the score ----------------------------------------------------------------------------------


def test_ops_are_counted_by_kind():
    a, b = (Tensor(np.arange(k, dtype=np.int32)).realize() for k in (3, 2))
    assert ops.count(a, a).total() == 0
    assert ops.count(a + 1, a) == {"elementwise": 1}
    assert ops.count(a * a + a, a) == {"elementwise": 2}
    assert ops.count(a[:, None] * b, a, b) == {"movement": 4, "elementwise": 1}
    assert ops.count(a.sum(), a) == {"reduction": 1, "movement": 1}
    assert ops.count(Tensor.arange(3)) == {"arange": 1}
    assert ops.count(Tensor.arange(1, 4)) == {"arange": 1, "elementwise": 1}
    assert ops.count(Tensor.ones(3, 3)).total() == 0


def test_who_finds_a_shorter_way_is_told_so():
    said = against_par(BY_NAME["sort"].best - 1, BY_NAME["sort"])
    assert said == "Par is 18, and the shortest way we knew has 14. Yours is shorter. Keep it!"


# ---- games --------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", games(), ids=lambda game: game.name)
def test_a_game_is_in_a_notebook_in_which_its_worked_answers_are_right_and_at_par(game):
    (path,) = NOTEBOOK.parent.glob(f"{game.part.zfill(3)}_*.ipynb")
    cells = [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    told = {}
    for cell in cells:
        if asked := re.findall(r'^puzzle\("(\w+)"', "".join(cell["source"]), re.M):
            (told[asked[0]], *_) = ["".join(o["data"]["text/plain"]) for o in cell["outputs"]]
    assert list(told) == [puzzle.name for puzzle in game.puzzles]
    for puzzle in game.puzzles:
        assert told[puzzle.name].startswith(f"✓ {puzzle.name} right.")
        if puzzle.par:  # golf's is that of the plan, on each machine
            assert "That is par" in told[puzzle.name]
            assert ("no better way" in told[puzzle.name]) == (puzzle.best == puzzle.par)
        assert puzzle.best <= puzzle.par_here and puzzle.sentence and puzzle.because
        assert len(puzzle.hints) == 2 and puzzle.trial().score is None


def test_names_of_puzzles_are_unique_among_all_games():
    counts = [len(game.puzzles) for game in games()]
    assert len(by_name()) == sum(counts) and counts == [20, 10, 3, 12, 20]


# ---- what a learner sees, and what is kept ------------------------------------------------------


@every_puzzle
def test_an_empty_answer_is_open_and_shows_the_example(puzzle, capsys):
    def unwritten(*inputs):
        """What it should do."""
        ...

    play.puzzle(puzzle.name, unwritten)
    shown = capsys.readouterr().out
    assert shown.startswith(f"○ {puzzle.name} open. {puzzle.sentence}")
    assert "what was asked for" in shown and "yours" not in shown


def test_an_unknown_puzzle_is_said_to_be_one(capsys):
    play.puzzle("outr")
    assert "There is no puzzle 'outr'" in capsys.readouterr().out


def test_hints_and_reasons_are_those_of_an_exercise():
    for puzzle in PUZZLES:
        exercise = find(puzzle.name)
        assert exercise.hints == puzzle.hints and exercise.because == puzzle.because
        assert all(text.endswith((".", "?", ".)")) for text in (*puzzle.hints, puzzle.because))


def test_the_scoreboard_keeps_the_fewest_ops(tmp_path, monkeypatch, capsys):
    (tmp_path / record.COPY).mkdir()
    monkeypatch.chdir(tmp_path / record.COPY)
    play.puzzle("outer", lambda a, b: a + b)
    play.puzzle("outer", lambda a, b: a.reshape(-1, 1) @ b.reshape(1, -1))
    play.puzzle("outer", lambda a, b: a[:, None] * b)
    play.puzzle("outer", lambda a, b: a.reshape(-1, 1) @ b.reshape(1, -1))
    play.puzzle("eye", lambda n: (Tensor.arange(n * n) % (n + 1) == 0).reshape(n, n))
    capsys.readouterr()
    play.puzzles()
    board = capsys.readouterr().out.splitlines()
    assert board[1].split() == ["outer", "✓", "5", "5", "5", "par"]
    assert board[2].split() == ["eye", "✓", "4", "6", "4", "2", "under", "par"]
    assert board[3].split() == ["triu", "-", "7"]
    assert board[-2].split() == ["total", "2", "9", "11", "9", "2", "under", "par"]
    assert board[-1] == "2 of 20 done."


def test_an_answer_that_was_looked_up_has_a_mark(tmp_path, monkeypatch, capsys):
    (tmp_path / record.COPY).mkdir()
    monkeypatch.chdir(tmp_path / record.COPY)
    record.note_help(exercise_of(BY_NAME["outer"]), answer=True)
    play.puzzle("outer", lambda a, b: a[:, None] * b)
    play.puzzle("diff", lambda a: a[1:] - a[:-1])
    record.note_help(exercise_of(BY_NAME["diff"]), answer=True)  # to compare, when it is done
    record.note_help(exercise_of(BY_NAME["eye"]), answer=True)  # and never written
    capsys.readouterr()
    play.puzzles()
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert rows["outer"].endswith("par, answer seen") and rows["eye"].endswith("answer seen")
    assert "seen" not in rows["diff"] + rows["triu"]
    assert rows["2"] == "2 of 20 done, 1 after a look at the answer."


# ---- pictures -----------------------------------------------------------------------------------


def test_grids_show_names_shapes_and_numbers():
    x = Tensor([[1.0, 2.5], [3.0, 4.0]])
    picture = grids.grids(x=x, total=x.sum())
    for words in ("x", "shape (2, 2)", "2.5", "shape ()"):
        assert f">{words}</text>" in picture.svg()
    assert ">total</text>" in picture.svg() and ">10.5</text>" in picture.svg()


def test_what_broadcasting_repeats_has_a_dashed_border():
    svg = grids.meet(np.ones((3, 1)), np.ones(4)).svg()
    # of 12 elements each, 3 and 4 are given
    assert svg.count("stroke-dasharray") == (12 - 3) + (12 - 4)


def test_a_large_array_is_drawn_in_part():
    svg = grids.grids(x=np.zeros((40, 30))).svg()
    assert svg.count("<rect") == grids.MOST**2 and "and more" in svg


def test_a_picture_has_a_dot_for_each_true():
    mask = np.array([[1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 1, 1]], bool)
    svg = grids.dots(Tensor(mask)).svg()
    drawn = pixels_of(svg)[..., 2]  # what is lit is less blue
    assert np.array_equal(drawn < drawn.max(), mask)


def test_images_say_what_was_read_and_mark_what_was_misread():
    pixels = np.zeros((3, 1, 2, 2))
    pixels[0, 0, 0, 1], pixels[1, 0] = 16, 8  # one dark pixel, four half as dark, none
    picture = grids.show_images(Tensor(pixels), read=[4, 7, 0], truth=np.array([4, 2, 0]))
    assert picture.text == "read: 4; 7, not 2; 0"
    svg = picture.svg()
    assert [svg.count(f'fill="{shade}" stroke') for shade in ("#000000", "#808080")] == [1, 4]
    assert svg.count('fill="none"') == 1


def test_a_film_holds_every_step_and_says_when_there_is_none(capsys):
    board = Tensor([[1, 0, 1], [0, 0, 0]])
    picture = grids.film(lambda b: b.flip(1).flip(0), board, steps=3)
    assert picture is not None
    assert picture.text.splitlines() == [
        "a board, for 3 steps", "at first", "#.#", "...", "after 3 steps", "...", "#.#",
    ]  # fmt: skip
    svg = picture.svg()
    strip = pixels_of(svg)[..., 2]
    there, back = board.numpy() != 0, board.numpy()[::-1] != 0
    assert np.array_equal(strip < strip.max(), np.concatenate([there, back, there, back]))
    assert "steps(4) infinite" in svg and "prefers-reduced-motion" in svg
    large = grids.film(lambda b: b.flip(0), Tensor.eye(90).int(), steps=1)
    assert large.text.splitlines()[1] == "at first, 90 of 8100 cells are alive"
    assert grids.film(lambda b: None, board, steps=1) is None
    assert "Nothing to draw yet" in capsys.readouterr().out


def test_shades_go_from_black_to_white():
    picture = grids.shades(slope=[[-1.0, 0.0], [1.0, 0.5]])
    assert picture.text == "slope: 2 × 2 dots, from -1 to 1"
    grey = np.rint(pixels_of(picture.svg())[..., 0] * 255)
    assert grey.tolist() == [[0, 128], [255, 191]]
    assert pixels_of(grids.shades(flat=np.ones((2, 3))).svg()).shape[:2] == (2, 3)  # all the same
    both = grids.shades(left=np.eye(400), right=Tensor.eye(9))
    assert both.text.count("dots") == 2 and both.drawing.width <= PAGE


def test_what_a_function_makes_is_drawn_and_where_it_makes_nothing_that_is_said(capsys):
    def big(n):
        return Tensor.arange(n * n).reshape(n, n)

    assert "9 of 9 dots" in grids.draw(lambda n: big(n) >= 0, 3).text
    assert grids.draw(big, 3).text == "big: 3 × 3 dots, from 0 to 8"
    for nothing in (lambda n: ..., lambda n: None, lambda n: big(n).sum(), lambda n: [[1]]):
        assert grids.draw(nothing, 3) is None
        assert "Nothing to draw yet" in capsys.readouterr().out


def pixels_of(svg: str) -> np.ndarray:
    (data,) = re.findall(r'href="data:image/png;base64,([^"]+)"', svg)
    return plt.imread(io.BytesIO(base64.b64decode(data)))


def test_tinyframe_sorts_short_axes_as_the_last_puzzle_does():
    text = "\n".join(cells("markdown"))
    assert f"sorts up to {SHORT:,} elements this way" in text.replace("\n", " ")
    values = np.random.default_rng(3).permutation(50).astype(np.int32)
    comparisons = [u for u in Tensor(values).sort()[0].uop.toposort() if u.op is Ops.CMPLT]
    assert (50, 50) in [u.shape for u in comparisons]
