"""Ten mutants: none is killed by anything smaller than `best`, and the rows that are right are
right. What kills and what survives is planted beside each mutant (test_answers.py)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from classroom.exercise import Outcome, judge
from classroom.lies import lie, number, written
from classroom.puzzlebook.game import exercise_of
from classroom.puzzlebook.games.mutants import GAME, HONEST, Mutant, Trial
from tinyframe import Variable
from tinyframe.dtype import dtypes
from tinyframe.rewrite import graph_rewrite
from tinyframe.uop import GroupOp, Ops, UOp

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "solutions" / "course" / "07a_rules.ipynb"
MUTANTS: tuple[Mutant, ...] = GAME.puzzles  # type: ignore[assignment]
BY_NAME = {mutant.name: mutant for mutant in MUTANTS}

every_mutant = pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)

x, y = number("x"), number("y")
i = Variable("i", -2, 6)


def whole(value: int) -> UOp:
    return UOp.const(dtypes.int, value)


def real(value: float) -> UOp:
    return UOp.const(dtypes.float, value)


def tried(name: str, answer: object) -> tuple[Outcome, Trial]:
    trial = BY_NAME[name].trial()
    return judge(exercise_of(BY_NAME[name], trial.check), answer), trial


# ---- nothing smaller -----------------------------------------------------------------------------

BINARY = (Ops.ADD, Ops.MUL, Ops.IDIV, Ops.MOD, Ops.CMOD, Ops.MAX, Ops.CMPLT, Ops.CMPNE)
FLOATING = (Ops.ADD, Ops.MUL, Ops.FDIV, Ops.MAX, Ops.CMPLT, Ops.CMPNE)

WHOLE = (i, Variable("j", 0, 5), Variable("k", dtypes.int.min, dtypes.int.max),
         *map(whole, (-2, -1, 0, 1, 2, 5)))  # fmt: skip
REAL = (x, y, *map(real, (0.0, -0.0, 1.0, 1e30, float("nan"))))
TRUTH = (UOp.const(dtypes.bool, True), Variable("p", 0, 1, dtypes.bool))


def nodes_on(nodes: tuple[UOp, ...], ops: frozenset[Ops]) -> Iterator[UOp]:
    """Every node that one operation can make of these."""
    for u in nodes:
        if Ops.SQRT in ops and u.dtype is dtypes.float:
            yield u.sqrt()
        for dtype in (dtypes.int, dtypes.float):
            if Ops.CAST in ops and u.dtype is not dtype:
                yield u.cast(dtype)
    for u, v in itertools.product(nodes, repeat=2):
        if u.dtype is not v.dtype:
            continue
        for op in FLOATING if u.dtype is dtypes.float else BINARY:
            if op in ops and (u.dtype is not dtypes.bool or op in (Ops.CMPNE, Ops.CMPLT)):
                dtype = dtypes.bool if op in GroupOp.Comparison else u.dtype
                yield UOp(op, dtype, (u, v))
    if Ops.WHERE in ops:
        for condition, u, v in itertools.product(nodes, repeat=3):
            if condition.dtype is dtypes.bool and u.dtype is v.dtype:
                yield condition.where(u, v)


def expressions(size: int, leaves: tuple[UOp, ...], ops: frozenset[Ops]) -> Iterator[UOp]:
    """Every expression of this many nodes: sets of nodes are grown by a leaf or an operation, and
    one that needs all others is an expression."""
    known = {frozenset[UOp]()}
    for _ in range(size - 1):
        known = {
            nodes | {new}
            for nodes in known
            for new in itertools.chain(leaves, nodes_on(tuple(nodes), ops))
            if new not in nodes
        }
    for nodes in known:
        unused = nodes - {s for u in nodes for s in u.src}
        if len(unused) <= 3:
            for root in nodes_on(tuple(nodes), ops):
                if unused <= set(root.src) and root not in nodes:
                    yield root
    if size == 1:
        yield from leaves


ALL = frozenset({*BINARY, Ops.FDIV, Ops.SQRT, Ops.WHERE, Ops.CAST})


def kills(mutant: Mutant, expression: UOp) -> bool:
    after, fired = mutant.compiled(expression)
    return bool(fired) and lie(expression, after) is not None


def leaves_for(mutant: Mutant) -> tuple[UOp, ...]:
    about_floats = mutant.name in ("itself", "root", "opposite")
    return (*(REAL if about_floats else WHOLE), *TRUTH)


@every_mutant
def test_no_smaller_expression_kills(mutant):
    """All expressions with fewer nodes than `best`, of a few leaves and every op of the rows."""
    found: list[str] = []
    for size in range(1, min(mutant.best, 4)):
        found += [written(e) for e in expressions(size, leaves_for(mutant), ALL)
                  if kills(mutant, e)]  # fmt: skip
    assert not found


def test_four_nodes_do_not_kill_the_one_that_turns_comparisons():
    """With five known, expressions of four nodes are tried, too, of fewer leaves and ops."""
    mutant = BY_NAME["turned"]
    ops = frozenset({Ops.CMPLT, Ops.WHERE, Ops.ADD, Ops.MAX, Ops.CMPNE})
    leaves = (i, Variable("j", 0, 5), *map(whole, (-1, 0, 2)), *TRUTH)
    tried = 0
    for expression in expressions(4, leaves, ops):
        tried += 1
        assert not kills(mutant, expression), written(expression)
    assert tried > 1000


def test_the_search_finds_what_is_known():
    """It would have found the smallest ones, had it gone so far."""
    for name in ("itself", "root", "nearly"):
        mutant = BY_NAME[name]
        leaves = leaves_for(mutant)
        assert any(kills(mutant, e) for e in expressions(mutant.best, leaves, ALL)), name


def test_the_honest_rows_are_right():
    for leaves in (WHOLE, REAL):
        for size in (2, 3):
            for expression in expressions(size, (*leaves, *TRUTH), ALL):
                after = graph_rewrite(expression, HONEST)
                assert lie(expression, after) is None, written(expression)


# ---- what is drawn ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer, state, drawn",
    [
        (x / x, "right", "is right, the mutant has"),
        (x / 2.0, "wrong", written(x / 2.0)),
        (UOp.range(4, 0) % 4, "wrong", None),
    ],
)
def test_a_kill_and_a_survivor_are_drawn_and_what_is_no_answer_is_not(answer, state, drawn):
    outcome, trial = tried("itself", answer)
    assert outcome.state == state and (trial.score is None) == (state == "wrong")
    picture = trial.picture()
    assert (picture is None) == (drawn is None)
    assert picture is None or (drawn in picture.text and picture.svg().startswith("<svg"))


@every_mutant
def test_the_row_that_is_shown_is_the_one_that_runs(mutant):
    assert mutant.row.startswith("(") and "lambda" in mutant.row
    assert mutant.row in mutant.sentence
