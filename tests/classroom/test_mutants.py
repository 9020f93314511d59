"""Ten mutants: each is killed by its worked answer, at par, and by nothing smaller than `best`;
what survives is told why; and the rows that are right are right."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from classroom.exercise import Outcome, judge
from classroom.lies import lie, number, written
from classroom.puzzlebook.game import exercise_of
from classroom.puzzlebook.games.mutants import GAME, HONEST, Mutant, Trial
from tinyframe import Tensor, Variable
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


# ---- kills ---------------------------------------------------------------------------------------

# for each, the smallest that is known
SMALLEST = {
    "itself": x / x,
    "root": (x * x).sqrt(),
    "nearly": whole(5) % whole(5),
    "there_and_back": Variable("i", 0, 2**25).cast(dtypes.float).cast(dtypes.int),
    "clock": (i + 3).alu(Ops.CMOD, whole(3)),
    "clamped": i.maximum(2) < 2,
    "twice": i // -2 // -2,
    "scaled": i * -1 < -1,
    "turned": (i > 2).where(i, 5),
    "opposite": (x < x).logical_not(),
}


@every_mutant
def test_the_smallest_expression_that_is_known_kills(mutant):
    outcome, trial = tried(mutant.name, SMALLEST[mutant.name])
    assert outcome.state == "right", outcome.text
    assert trial.score == mutant.best
    assert "we know no better way" in outcome.text


def worked_answers() -> dict[str, UOp]:
    """The expressions of the worked notebook."""
    scope = {"Variable": Variable, "number": number, "Ops": Ops, "dtypes": dtypes, "UOp": UOp}
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and 'puzzle("' in source:
            exec(source.partition("puzzle(")[0], scope)
    return {name: scope[name] for name in BY_NAME}  # type: ignore[misc]


@every_mutant
def test_the_worked_answer_kills_at_par(mutant):
    outcome, trial = tried(mutant.name, worked_answers()[mutant.name])
    assert outcome.state == "right" and trial.score == mutant.par, outcome.text
    drawn = trial.picture()
    assert drawn is not None and drawn.svg().startswith("<svg")
    assert "is right, the mutant has" in drawn.text


def test_the_notebook_has_every_mutant_in_order():
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    assert re.findall(r'^puzzle\("(\w+)"', code, re.M) == [mutant.name for mutant in MUTANTS]
    assert len(MUTANTS) == 10


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


# ---- what survives, and what is no answer --------------------------------------------------------

SURVIVES = [
    ("itself", x / 2.0, "never fired"),
    ("itself", (x * x + 1.0) / (x * x + 2.0), "never fired"),
    ("root", x.sqrt(), "never fired"),
    ("root", (x * y).sqrt(), "never fired"),
    ("nearly", Variable("i", 0, 4) % 5, "The rule fired"),
    ("nearly", Variable("i", -1, 4) % 5, "never fired"),
    ("there_and_back", Variable("i", 0, 2**24).cast(dtypes.float).cast(dtypes.int), "fired, and"),
    ("there_and_back", x.cast(dtypes.int).cast(dtypes.float), "never fired"),
    ("clock", (Variable("i", 0, 9) + 3).alu(Ops.CMOD, whole(3)), "fired, and"),
    ("clock", (i + 3) % 3, "never fired"),
    ("clamped", i.maximum(2) < 3, "fired, and"),
    ("clamped", i.maximum(2) < 1, "never fired"),
    ("twice", i // 2 // 2, "fired, and"),
    ("twice", i // 2 * 2, "never fired: nothing in your expression matches the row"),
    # it does, until its sources are folded
    ("twice", whole(-1) // -2 // -2, "never fired: `(-1//-2)//-2` does match the row, but"),
    ("clamped", whole(1).maximum(2) < 2, "never fired: `max(1, 2)<2` does match the row, but"),
    ("scaled", i * 2 < 3, "fired, and"),
    ("scaled", i * 0 < 3, "never fired"),
    ("turned", (i > 2).where(i, 2), "fired, and"),
    ("turned", (i < 2).where(i, 2), "never fired"),
    ("opposite", (i < 3).logical_not(), "never fired"),
    ("opposite", x < y, "never fired"),
]  # fmt: skip


@pytest.mark.parametrize("name, answer, said", SURVIVES)
def test_a_survivor_is_told_why_and_drawn(name, answer, said):
    outcome, trial = tried(name, answer)
    assert outcome.state == "wrong" and said in outcome.text, outcome.text
    assert trial.score is None
    drawn = trial.picture()
    assert drawn is not None and written(answer) in drawn.text


def test_every_mutant_has_survived_twice():
    names = [name for name, _, _ in SURVIVES]
    assert all(names.count(mutant.name) >= 2 for mutant in MUTANTS)


NO_ANSWERS = [
    (Tensor([1.0]) / 2, "A Tensor has buffers"),
    (1.0, "Python has computed that already"),
    (True, "Python has computed that already"),
    ("x / x", "has to be an expression"),
    (UOp.range(4, 0) % 4, "There's a RANGE in it"),
    (sum((i * k for k in range(2, 150)), i), "It can be done in a handful"),
]


@pytest.mark.parametrize("answer, said", NO_ANSWERS, ids=[said for _, said in NO_ANSWERS])
def test_what_is_no_expression_is_told_what_one_is(answer, said):
    outcome, trial = tried("itself", answer)
    assert outcome.state == "wrong" and said in outcome.text, outcome.text
    assert trial.score is None and trial.picture() is None


def test_unusual_kills_count():
    for name, answer in {
        "itself": lambda: (x + 1.0) / (x + 1.0),  # a function that gives the expression
        "nearly": UOp.variable("n", 3, 3) % 3,  # a Variable of one value
        "twice": whole(-1) // i // i.const_like(-2),  # not what the row is about
        "opposite": x >= y,
        "root": (y * y).sqrt() + x,  # the mutant is in a part of it
    }.items():
        outcome, _ = tried(name, answer)
        expected = "wrong" if name == "twice" else "right"
        assert outcome.state == expected, (name, outcome.text)


def test_nothing_yet_is_open():
    for answer in (..., None, lambda: ...):
        outcome, _ = tried("itself", answer)
        assert outcome.state == "open"


@every_mutant
def test_the_row_that_is_shown_is_the_one_that_runs(mutant):
    assert mutant.row.startswith("(") and "lambda" in mutant.row
    assert mutant.row in mutant.sentence
