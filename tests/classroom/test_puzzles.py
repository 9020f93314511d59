"""The puzzles: worked answers are right and at par, wrong ones are told and drawn, tools kept."""

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


def test_the_notebook_has_every_puzzle_in_order():
    asked = [n for source in cells("code") for n in re.findall(r'^puzzle\("(\w+)"', source, re.M)]
    assert asked == [puzzle.name for puzzle in PUZZLES]
    assert len(PUZZLES) == 20


@every_puzzle
def test_the_worked_answer_is_right_and_at_par(puzzle):
    outcome, trial = tried(puzzle.name, WORKED[puzzle.name])
    assert outcome.state == "right", outcome.text
    assert trial.ops.total() == puzzle.par
    assert "That is par" in outcome.text


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


def column(n: int) -> Tensor:
    return Tensor.arange(n)[:, None]


# name of a puzzle, a wrong answer, what is said about it
WRONG = [
    ("outer", lambda a, b: b[:, None] * a, "swapped"),
    ("outer", lambda a, b: a[:, None] + b, "Element"),
    ("eye", lambda n: column(n) != Tensor.arange(n), "[0, 0]"),
    ("eye", lambda n: Tensor.ones(n, n), "Element [0, 1]"),
    ("triu", lambda n: column(n) < Tensor.arange(n), "[0, 0]"),
    ("triu", lambda n: column(n) >= Tensor.arange(n), "transposed"),
    ("one_hot", lambda labels, n: labels == Tensor.arange(n)[:, None], "swapped"),
    ("one_hot", lambda labels, n: labels[:, None] <= Tensor.arange(n), "Element"),
    ("checkerboard", lambda n: (column(n) + Tensor.arange(n) + 1) % 2, "reversed"),
    (
        "checkerboard",  # right for even n only
        lambda n: (Tensor.arange(n * (n + 1)) % 2).reshape(n, n + 1)[:, :n],
        "Element [1, 0]",
    ),
    ("arange", lambda n: Tensor.ones(n).cumsum(0), "1 too large"),
    ("arange", lambda n: Tensor.arange(n), "not one of the tools"),
    ("diff", lambda a: a[:-1] - a[1:], "sign"),
    ("diff", lambda a: a[1:] + a[:-1], "Element"),
    ("moving_average", lambda a: a[:-2] + a[1:-1] + a[2:], "factor of 3"),
    ("moving_average", lambda a: (a[:-1] + a[1:]) / 2, "axis 0"),
    ("repeat", lambda a, k: a[None].expand(k, -1).reshape(-1), "not in the right places"),
    ("repeat", lambda a, k: a[:, None].expand(-1, k), "the shape is wrong"),
    ("swap_halves", lambda a: a.flip(0), "not in the right places"),
    ("swap_halves", lambda a: a.reshape(2, -1).flip(0), "the shape is wrong"),
    ("normalise", lambda x: x / x.sum(), "factor of 2"),
    ("normalise", lambda x: x / x.sum(axis=0), "Element"),
    ("running_sum", lambda a: (Tensor.arange(len(a)) < column(len(a))) @ a, "Element [0]"),
    ("running_sum", lambda a: a.cumsum(0), "`cumsum` is not one of the tools"),
    ("flip", lambda a: a[::-1], "called FLIP"),
    ("flip", lambda a: a.flip(0), "`flip` is not one of the tools"),
    ("flip", lambda a: (column(len(a)) == Tensor.arange(len(a))) @ a, "reverse"),
    ("pad", lambda a, n: a.pad(((0, n - len(a)),)), "`pad` is not one of the tools"),
    ("pad", lambda a, n: (column(n) <= Tensor.arange(len(a))) @ a, "Element [0]"),
    ("take", lambda a, index: a[:3], "Element"),
    ("take", lambda a, index: (column(len(a)) == index).sum(axis=1) * a, "axis 0"),
    ("argmax", lambda a: a.max(), "9"),
    ("argmax", lambda a: a == a.max(), "axis"),
    ("histogram", lambda labels, n: labels[:, None] == Tensor.arange(n), "2 axes"),
    ("histogram", lambda labels, n: (labels[:, None] == Tensor.arange(n)).sum(axis=1), "axis 0"),
    ("bucket", lambda a, edges: (a[:, None] > edges).sum(axis=1), "Element [1]"),
    ("bucket", lambda a, edges: (a[:, None] < edges).sum(axis=1), "reversed"),
    ("distances", lambda a, b: (a[:, None] - b).sum(axis=2), "Element"),
    ("distances", lambda a, b: ((b[:, None] - a) ** 2).sum(axis=2), "swapped"),
    (
        "sort",  # from large to small
        lambda a: ((a[:, None] < a).sum(axis=1) == column(len(a))) @ a,
        "reverse",
    ),
    ("sort", lambda a: (a[:, None] > a).sum(axis=1), "Element"),
    ("sort", lambda a: a.sort()[0], "`sort` is not one of the tools"),
]


@pytest.mark.parametrize("name, answer, said", WRONG, ids=[f"{n}-{s}" for n, _, s in WRONG])
def test_a_wrong_answer_is_told_and_drawn(name, answer, said):
    outcome, trial = tried(name, answer)
    assert outcome.state == "wrong" and said in outcome.text, outcome.text
    forbidden = "tools" in outcome.text or "node" in outcome.text
    assert (trial.case is None) is forbidden
    if trial.case:
        case = trial.case
        drawn = trial.picture()
        marked = drawn.svg().count(grids.WRONG_FILL)
        if case.got.shape == case.expected.shape:
            assert marked == np.count_nonzero(case.got != case.expected) or marked > 0
        else:
            assert marked == 0 and "the shape is" in drawn.headline
        for number in case.expected.ravel():
            assert f">{float(number):.4g}</text>" in drawn.svg()


def test_every_puzzle_has_two_wrong_answers():
    told = [name for name, _, _ in WRONG]
    assert all(told.count(puzzle.name) >= 2 for puzzle in PUZZLES)


def test_the_same_wrong_answer_is_told_the_same_each_time():
    for name, answer, _ in WRONG:
        (one, first), (other, second) = tried(name, answer), tried(name, answer)
        assert (one.text, one.rows) == (other.text, other.rows), name
        if first.case and second.case:
            assert np.array_equal(first.case.got, second.case.got)


# ---- tools --------------------------------------------------------------------------------------


def helper(a):
    return a.cumsum(0)


@pytest.mark.parametrize(
    "answer, said",
    [
        (lambda a: helper(a), "`cumsum` is not"),  # through a function of one's own
        (lambda a: getattr(a, "cum" + "sum")(0), "`getattr` is not"),
        (lambda a: Tensor(np.cumsum(a.numpy())), "is not one of the tools"),
        (lambda a: Tensor([a[: k + 1].sum().item() for k in range(len(a))]), "is not one"),
        (Tensor.cumsum, "a function of your own"),
    ],
)
def test_tools_that_are_not_allowed_are_refused(answer, said):
    outcome, _ = tried("running_sum", answer)
    assert outcome.state == "wrong" and said in outcome.text, outcome.text


def test_a_division_that_rounds_is_an_operator_like_any_other():
    outcome = judge(exercise_of(BY_NAME["outer"]), lambda a, b: a.reshape(-1, 1) * b // 1.0)
    assert outcome.state == "right", outcome.text


def test_an_answer_may_use_earlier_answers():
    one_hot = WORKED["one_hot"]
    assert tried("take", lambda a, index: one_hot(index, len(a)) @ a)[0].state == "right"


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


def test_par_can_be_beaten_and_missed():
    diagonal = tried("eye", lambda n: (Tensor.arange(n * n) % (n + 1) == 0).reshape(n, n))
    assert diagonal[0].text == (
        "4 ops: 2 elementwise, 1 movement, 1 arange. Par is 6, and we know no better way."
    )
    index = tried("take", lambda a, index: a[index])
    assert index[0].text.startswith("19 ops")
    assert index[0].text.endswith("Par is 12. It can be done in 11. Can you?")


# The shortest ways known: what `best` stands for.
SHORTEST = {
    "outer": lambda a, b: a[:, None] * b,
    "eye": lambda n: Tensor.ones(n, 1).pad(((0, 0), (0, n))).reshape(-1)[: n * n].reshape(n, n),
    "triu": lambda n: (
        Tensor.ones(n, n)
        .pad(((0, 0), (0, n)))
        .reshape(-1)[: n * (2 * n - 1)]
        .reshape(n, 2 * n - 1)[:, :n]
    ),
    "one_hot": lambda labels, n: labels[:, None] == Tensor.arange(n),
    "checkerboard": lambda n: (Tensor.arange(n * (n | 1)) % 2).reshape(n, n | 1)[:, :n],
    "arange": lambda n: Tensor.ones(n).cumsum(0) - 1,
    "diff": lambda a: a[1:] - a[:-1],
    "moving_average": lambda a: (a[:-2] + a[1:-1] + a[2:]) / 3,
    "repeat": lambda a, k: a[:, None].expand(-1, k).reshape(-1),
    "swap_halves": lambda a: a.reshape(2, -1).flip(0).reshape(-1),
    "normalise": lambda x: x / x.sum(axis=1, keepdim=True),
    "running_sum": lambda a: (
        a.pad(((len(a) - 1, 0),))
        .expand(2 * len(a), 2 * len(a) - 1)
        .reshape(2 * len(a) - 1, 2 * len(a))[: len(a), : len(a)]
        .sum(axis=1)
    ),
    "flip": lambda a: a.expand(2 * len(a) - 1, len(a)).reshape(len(a), 2 * len(a) - 1)[
        :, len(a) - 1
    ],
    "pad": lambda a, n: (Tensor.arange(n) < len(a)).where(a.expand(n, len(a)).reshape(-1)[:n], 0),
    "take": lambda a, index: (index[:, None] == Tensor.arange(len(a))).where(a, 0).sum(axis=1),
    "argmax": lambda a: (a * len(a) + Tensor.arange(len(a))).max() % len(a),
    "histogram": lambda labels, n: (labels[:, None] == Tensor.arange(n)).sum(axis=0),
    "bucket": lambda a, edges: (a[:, None] < edges).where(0, 1).sum(axis=1),
    "distances": lambda a, b: ((a[:, None] - b) ** 2).sum(axis=2),
    "sort": lambda a: (
        (
            ((rows := a.expand(len(a), len(a))).T > rows).sum(axis=1, keepdim=True)
            == Tensor.arange(len(a))
        )
        .where(rows.T, 0)
        .sum(axis=0)
    ),
}


@every_puzzle
def test_the_fewest_ops_known_are_enough_and_are_told_to_whoever_took_more(puzzle):
    outcome, trial = tried(puzzle.name, SHORTEST[puzzle.name])
    assert outcome.state == "right", outcome.text
    assert trial.ops.total() == puzzle.best <= puzzle.par
    assert outcome.text.endswith("and we know no better way.")
    dared = tried(puzzle.name, WORKED[puzzle.name])[0].text.endswith(
        f"That is par. It can be done in {puzzle.best}. Can you?"
    )
    assert dared is (puzzle.best < puzzle.par)


def test_who_finds_a_shorter_way_is_told_so():
    said = against_par(BY_NAME["sort"].best - 1, BY_NAME["sort"])
    assert said == "Par is 18, and the shortest way we knew has 14. Yours is shorter. Keep it!"


# ---- games --------------------------------------------------------------------------------------


def test_every_game_is_in_a_notebook_and_names_are_unique():
    everything = [puzzle.name for game in games() for puzzle in game.puzzles]
    assert len(set(everything)) == len(everything) == len(by_name())
    for game in games():
        (path,) = NOTEBOOK.parent.glob(f"{game.part.zfill(3)}_*.ipynb")
        asked = re.findall(r'puzzle\(\\"(\w+)\\"', path.read_text())
        assert list(dict.fromkeys(asked)) == [puzzle.name for puzzle in game.puzzles]


@pytest.mark.parametrize("puzzle", by_name().values(), ids=lambda puzzle: puzzle.name)
def test_a_puzzle_of_any_game_has_what_all_have(puzzle):
    assert puzzle.best <= puzzle.par and puzzle.sentence and puzzle.because
    assert len(puzzle.hints) == 2 and puzzle.trial().score is None


def test_a_score_of_an_earlier_course_is_still_known():
    text = '{"exercises": {"puzzle-eye": {"done": true, "ops": 3}, "puzzle-x": {"score": 1.5}}}'
    assert record.parse(text) == {
        "puzzle-eye": {"done": True, "score": 3},
        "puzzle-x": {"score": 1.5},
    }


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
