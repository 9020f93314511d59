"""The scavenger hunt: what is right is found, in whatever way it is written; wrong answers are told
how warm they are; and nothing in tinyframe stays changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from classroom.exercise import judge
from classroom.learner import record
from classroom.puzzlebook import play
from classroom.puzzlebook.changes import TILE
from classroom.puzzlebook.game import exercise_of, games
from classroom.puzzlebook.games.hunt import GAME
from classroom.puzzlebook.hunted import Names, Words
from tinyframe import Context, Tensor, thresholds
from tinyframe.algebra.symbolic import one_value, value_rules
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.codegen.program import function_name
from tinyframe.observe import Observer, observing
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.renderer.program_text import Writer
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.uop import Ops
from tinyframe.viz import why

NOTEBOOK = Path(__file__).parents[2] / "solutions" / "course" / "10c_scavenger_hunt.ipynb"
BY_NAME = {question.name: question for question in GAME.puzzles}
A_NAME = [q.name for q in GAME.puzzles if isinstance(q.check, (Names, Words))]


def tried(name, answer):
    return judge(exercise_of(BY_NAME[name]), answer)


# ---- what the learner writes ---------------------------------------------------------------------


def in_one(x):
    return (x.reshape(1, *x.shape) / x.sum()).reshape(*x.shape).fuse()


def in_two(x):
    return x / x.sum()


def along_rows(x):
    return (x / x.sum(axis=1, keepdim=True)).fuse()


class Added(CStyleLanguage):
    code_for_op = {**CStyleLanguage.code_for_op, Ops.ADD: lambda a, b, dtype: f"add( {a},{b} )"}


class Swapped(CStyleLanguage):
    code_for_op = {**CStyleLanguage.code_for_op, Ops.ADD: lambda a, b, dtype: f"add({b}, {a})"}


class Everything(Added):
    code_for_op = {**Added.code_for_op, Ops.MUL: lambda a, b, dtype: f"mul({a}, {b})"}


class Untouched(CStyleLanguage):
    """C that calls add(a, b)."""

    ...


def times_one(rule):
    return "Ops.MUL, src=[x, one]" in repr(rule)


def without_the_row():
    return PatternMatcher([rule for rule in value_rules.rules if not times_one(rule)])


def without_two_rows():
    return PatternMatcher([r for r in value_rules.rules if "one" not in repr(r)])


class Watching(Observer):
    def __init__(self):
        self.found = []

    def ran(self, work):
        self.found.append(work)


def names_seen(job):
    with observing(Watching()) as watching:
        job()
    return tuple(work.spec.name for work in watching.found)


def only_the_last(job):
    return list(names_seen(job))[-1:]


def never_runs_it(job):
    return []


RIGHT = [
    ("one_turn", one_value),
    ("one_turn", "algebra/symbolic.py: `one_value()`"),
    ("one_turn", "(UPat({Ops.RANGE, Ops.DEFINE_VAR, Ops.SPECIAL}, name='u'), one_value),"),
    ("minus", "idioms.difference"),
    ("endless", "RewriteLog"),
    ("endless", "RewriteLog.add"),
    ("who_stores", "_CostModel.reason_to_store"),
    ("who_stores", "CostModel.reason_to_store in schedule/fuse.py"),
    ("one_number", ("thresholds.RECOMPUTE_LIMIT", 4.5)),
    ("one_number", {"CHEAP": 100}),
    ("one_number", [["RECOMPUTE_LIMIT", 1000]]),
    ("one_kernel", in_one),
    ("long_sums", "thresholds.MOST_ADDITIONS"),
    ("promotion", "least_upper_dtype"),
    ("dead_end", Ops.CMPNE),
    ("dead_end", "Ops.DETACH"),
    ("watchman", "SPEC=1"),
    ("watchman", {"SPEC": 1}),
    ("no_work", {"NOOPT": "0", "RELAXED": True, "DEBUG": 0}),
    ("no_work", Context(RELAXED=1, NOOPT=0)),
    ("lanes", "expand_lanes"),
    ("lanes", "the pass expand lanes"),
    ("registers", [Opt(OptOps.VECTOR, 1, 16), Opt(OptOps.UPCAST, 0, 4)]),
    ("registers", (Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 0, 8))),
    ("kernel_name", function_name),
    ("kernel_name", "program.function_name"),
    ("better_exp", Path("tinyframe/codegen/decompose/elementary.py")),
    ("better_exp", "elementary"),
    ("better_exp", "elementary.exp2"),
    ("no_peeking", Writer.load),
    ("spelled", Added),
    ("spelled", Added()),
    ("cache_key", "ClangCompiler.identity()"),
    ("row_out", without_the_row),
    ("row_out", without_the_row()),
    ("witness", names_seen),
]

WRONG = [
    ("one_turn", "fold", "Hot: `fold` is in the right file"),
    ("one_turn", "linearize", "Cold: `linearize` is in codegen/linearize.py"),
    ("one_turn", "unloop", "Nothing in tinyframe is called `unloop`"),
    ("one_turn", "one_value, or else fold", "Burning hot"),
    ("minus", "floor_divide", "Warm: `floor_divide` is in codegen/decompose/integers.py"),
    ("minus", Tensor([1.0]), "has to be a name"),
    ("endless", "PatternMatcher", "Hot: `patternmatcher` is in the right file"),
    ("who_stores", "schedule/fuse.py", "Hot: that's the right file"),
    ("who_stores", "schedule", "Warm: that's the right folder"),
    ("one_number", ("PANEL_ROWS", 64), "This number is about sums of products"),
    ("one_number", ("RECOMPUTE", 64), "no number called `RECOMPUTE`"),
    ("one_number", ("CHEAP", "a lot"), "has to be a number"),
    ("one_number", 5, "has to be a pair"),
    ("one_kernel", in_two, "It takes 2 kernels; it should take 1"),
    ("one_kernel", along_rows, ""),
    ("one_kernel", lambda x: 1, "has to be a Tensor"),
    ("long_sums", "LONG_SUM", "the C stays the same"),
    ("promotion", "to_dtype", "Hot"),
    ("dead_end", "MUL", "There's a row for that one"),
    ("dead_end", "RESHAPE", "it's no op that computes"),
    ("watchman", "DEBUG", "nobody minds"),
    ("no_work", {"RELAXED": 1}, "still nobody does it"),
    ("no_work", {"NOOPT": 0}, "operations are left"),
    ("no_work", {"FAST": 1}, "unknown setting"),
    ("no_work", {"RELAXED": 7}, "must be 0 or 1"),
    ("no_work", "RELAXED", "has to be a dict"),
    ("lanes", "optimize", "no new VECTORIZE"),
    ("registers", [Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 0, 2)], "not twice as much"),
    ("registers", [Opt(OptOps.VECTOR, 1, 16), Opt(OptOps.UPCAST, 0, 8)], "You changed 2 numbers"),
    ("registers", [*TILE, Opt(OptOps.UPCAST, 1, 2)], "Keep these two Opts"),
    ("registers", [TILE[0], Opt(OptOps.UPCAST, 0, 1000)], ""),
    ("registers", 8, "has to be a list of Opts"),
    ("kernel_name", "render", "Cold"),
    ("better_exp", "tensor/elementwise.py", "Cold"),
    ("no_peeking", "store", "Hot"),
    ("spelled", Swapped, "isn't written like that"),
    ("spelled", Everything, "products look different"),
    ("spelled", "add", "has to be a language"),
    ("cache_key", "compile_cached", "Cold"),
    ("row_out", lambda: value_rules, "still makes `x * 1`"),
    ("row_out", without_two_rows, "rows are missing"),
    ("row_out", lambda: PatternMatcher([(UPat.var("x") * 2, lambda x: x)]), "rows are missing"),
    ("row_out", lambda: [1], "has to be a PatternMatcher"),
    ("witness", only_the_last, "not the kernels that ran"),
    ("witness", never_runs_it, "not the kernels that ran"),
    ("witness", lambda job: "E_3", "has to be a list"),
]


@pytest.fixture(autouse=True, scope="module")
def nothing_stays_changed():
    rules, numbers = [*value_rules.rules], {n: getattr(thresholds, n) for n in thresholds.TABLE}
    yield
    assert [*value_rules.rules] == rules
    assert {n: getattr(thresholds, n) for n in thresholds.TABLE} == numbers


def shown(value):
    """For the name of a test, which has to be the same in every worker: no address is in it."""
    return str(value).partition(" at 0x")[0][:30]


@pytest.mark.parametrize("name, answer", RIGHT, ids=shown)
def test_a_right_answer_is_right_however_it_is_written(name, answer):
    outcome = tried(name, answer)
    assert outcome.state == "right", (outcome.text, outcome.rows)


@pytest.mark.parametrize("name, answer, said", WRONG, ids=shown)
def test_a_wrong_answer_is_told_what_is_different(name, answer, said):
    outcome = tried(name, answer)
    assert outcome.state == "wrong" and said in outcome.text, (outcome.text, outcome.rows)
    assert "Your answer raised" not in outcome.text


def test_the_worked_answers_are_right_and_stand_in_the_notebook_with_their_questions():
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    texts = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
    shown = "\n".join(
        "".join(output.get("data", {}).get("text/plain", ""))
        for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]
    )  # fmt: skip
    for question in GAME.puzzles:
        assert f"✓ {question.name} right." in shown, question.name
        (asked,) = [text for text in texts if text.startswith(f"**{question.name}.**")]
        assert " ".join(question.sentence.split())[-40:] in " ".join(asked.split()), question.name
    assert len(GAME.puzzles) == 20 and len(A_NAME) == 13


@pytest.mark.parametrize("name", BY_NAME)
def test_there_is_an_answer_and_no_hint_gives_it_away(name):
    check, question = BY_NAME[name].check, BY_NAME[name]
    if isinstance(check, Names):
        assert check.places and not any(p.short in question.sentence for p in check.places)
        assert not any(f"`{place.short}`" in question.hints[0] for place in check.places)
    elif isinstance(check, Words):
        assert check.right and not any(word in question.sentence for word in check.right)


OPEN = {
    "registers": [*TILE],
    "spelled": Untouched,
    "one_kernel": lambda x: None,
    "one_turn": ...,
    "row_out": lambda: None,
    "witness": lambda job: None,
}


@pytest.mark.parametrize("name, nothing", OPEN.items(), ids=[*OPEN])
def test_what_a_learners_version_begins_with_is_open(name, nothing):
    assert tried(name, nothing).state == "open"


def test_the_scoreboard_has_no_scores_and_counts_what_is_done(tmp_path, monkeypatch, capsys):
    (tmp_path / record.COPY).mkdir()
    monkeypatch.chdir(tmp_path / record.COPY)
    play.puzzle("dead_end", "CMPLT")
    play.puzzle("watchman", "BEAM")
    capsys.readouterr()
    play.puzzles("hunt")
    board = capsys.readouterr().out.splitlines()
    assert board[0].split() == ["puzzle", "done"]
    assert board[-1] == "1 of 20 done."
    assert [line.split() for line in board[1:-1] if "✓" in line] == [["dead_end", "✓"]]


def test_games_are_in_the_order_of_the_course():
    assert [game.part for game in games()] == ["3b", "7a", "7c", "8c", "10c"]


def test_reasons_are_those_that_why_prints():
    from classroom.puzzlebook.hunted import scaled

    assert "needed 4 times" in {stored.reason for stored in why(scaled())}
