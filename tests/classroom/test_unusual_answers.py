"""Unusual answers get the verdict that somebody wrote down before they were run.

A reader who goes through a part brings a table, `tests/classroom/answers/unusual_NAME.py`, with
right answers that are spelled as nobody expected, and wrong ones that look right:

    ANSWERS = [
        # the exercise's permanent name, the answer, the verdict, and why it should be that
        ("why-products-in-a-gradient", "3.708e3", "right", "a float that is a whole number"),
        ("why-products-in-a-gradient", "'many'", "asked again", "a word is no number"),
        ("lazy-count-nodes", '''
    def count_nodes(tensor, op):
        return len([*filter(lambda u: u.op is op, tensor.uop.toposort())])
    ''', "right", "a filter in place of a comprehension"),
        ("puzzle-outer", "lambda a, b: a[:, None] + b", "wrong", "sums, not products"),
    ]
    MINI = [
        # the stage, the function (or "Class.method"), its source text, the verdict, and why
        ("3", "flat", '''
    def flat(index, shape):
        place = 0
        for i, n in zip(index, shape):
            place = place * n + i
        return place
    ''', "right", "Horner's rule"),
    ]

**Write the verdict first**, then run `pytest tests/classroom/test_unusual_answers.py -k NAME`.
Where it fails, the check is unfair or was fooled (mend the check, keep the row), or you hadn't read
the exercise well enough (say so in the last column when you change the verdict).

An exercise's name is the second thing in its row of `classroom/exercises/part_NN.py`, and stays
when numbers move; a puzzle's is `puzzle-` and its own name. An answer is run as the learner's cell
is: in the learner's notebook (`course/`), after the cells above it, with that notebook's imports
and no others (so bring `import numpy as np` where it has none). An expression is the answer itself;
statements replace the cell, up to its line `check(…)`. The verdicts:

    right         ✓
    wrong         ✗
    asked again   ○, and nothing is recorded: not written yet, or no answer to this question

In a row of MINI the source takes the place of one function in the worked stage, and the checks of
`check_mini` judge it: "right" if every check of the stage passes. What the source has beside that
function (imports, helpers) comes before it.
"""

from __future__ import annotations

import ast
import textwrap
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from classroom.exercises import exercises, parts, puzzles
from classroom.mini import stages
from tests.classroom import as_learner
from tests.mini.judged import verdicts
from tests.mini.planted import paths_with

ROOT = Path(__file__).resolve().parents[2]
VERDICTS = ("right", "wrong", "asked again")

TABLES = {
    path.stem.removeprefix("unusual_"): import_module(f"tests.classroom.answers.{path.stem}")
    for path in sorted((Path(__file__).parent / "answers").glob("unusual_*.py"))
}
# by the name of a row, which is its table, what it answers, and its place in the table
ANSWERS = {
    f"{who}-{row[0]}-{number}": row
    for who, table in TABLES.items()
    for number, row in enumerate(getattr(table, "ANSWERS", []), 1)
}
MINI = {
    f"{who}-stage {row[0]}-{row[1]}-{number}": row
    for who, table in TABLES.items()
    for number, row in enumerate(getattr(table, "MINI", []), 1)
}
ALL = [*puzzles(), *[exercise for part in parts() for exercise in exercises(part)]]
NUMBERS = {exercise.name: exercise.number for exercise in ALL}


def disagreement(row: str, wanted: str, why: str, told: as_learner.Told, source: str) -> str:
    """What to read when a row fails: which, what was expected, and what the answer was told."""
    return (
        f"\n{row}: this should be {wanted.upper()} ({why}), and it is {told.verdict.upper()}."
        f"\nIt was told: {told.text or '(nothing)'}\n{textwrap.dedent(source).strip()}"
    )


# ---- answers to exercises and puzzles -----------------------------------------------------------


@cache
def notebook_of(number: str) -> Path | None:
    """The learner's notebook that has an exercise."""
    found = (ROOT / "course").glob("[0-9][0-9]*.ipynb")
    return next((path for path in sorted(found) if number in as_learner.asked_in(path)), None)


@cache
def told_in(notebook: Path) -> dict[str, as_learner.Told]:
    """What the rows of a notebook are told, by the name of the row."""
    asked = [
        (row, NUMBERS[name], textwrap.dedent(source))
        for row, (name, source, _, _) in ANSWERS.items()
        if name in NUMBERS and notebook_of(NUMBERS[name]) == notebook
    ]
    return as_learner.run(notebook, asked)


@pytest.mark.parametrize("row", ANSWERS)
def test_an_unusual_answer_gets_the_verdict_that_was_written_down(row):
    name, source, wanted, why = ANSWERS[row]
    assert name in NUMBERS, f"{row}: no exercise has the name {name!r} any more"
    notebook = notebook_of(NUMBERS[name])
    assert notebook, f"{row}: no notebook asks {NUMBERS[name]}"
    told = told_in(notebook)[row]
    assert told.verdict == wanted, disagreement(row, wanted, why, told, source)


# ---- functions of mini --------------------------------------------------------------------------


def with_function(text: str, function: str, source: str) -> str:
    """The text of a stage in which one function is a different one.

    Whatever else the source has comes before it: before its class, if it is a method.
    """
    tree = ast.parse(text)
    owner, _, name = function.rpartition(".")
    outer = _named(tree.body, owner) if owner else None
    old = _named(outer.body if isinstance(outer, ast.ClassDef) else tree.body, name)
    own = textwrap.dedent(source).strip()
    new = _named(ast.parse(own).body, name)
    lines, theirs = text.splitlines(), own.splitlines()
    first, last = _span(new)
    written, beside = theirs[first:last], [*theirs[:first], *theirs[last:]]
    first, last = _span(old)
    lines[first:last] = [f"{' ' * old.col_offset}{line}" for line in written]
    before = _span(outer or old)[0]
    lines[before:before] = beside
    return "\n".join(lines) + "\n"


def _named(body: list[ast.stmt], name: str) -> ast.FunctionDef | ast.ClassDef:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return node
    raise LookupError(f"there is no {name!r}")


def _span(node: ast.FunctionDef | ast.ClassDef) -> tuple[int, int]:
    """Its lines, decorators too, as a slice of all lines."""
    first = min([node.lineno, *[each.lineno for each in node.decorator_list]])
    return first - 1, node.end_lineno or node.lineno


@cache
def told_by_mini(stage: str, folder: Path) -> dict[str, as_learner.Told]:
    """What the rows of a stage are told by its checks."""
    of, files, names = stages.find(stage), [], []
    for row, (asked, function, source, _, _) in MINI.items():
        if asked == stage:
            place = folder / str(len(files)) / of.file
            place.parent.mkdir()
            place.write_text(with_function(of.reference.read_text(), function, source))
            files.append(paths_with(of, place))
            names.append(row)
    told = {}
    for row, found in zip(names, verdicts(of, files), strict=True):
        wrong = found.failed[0] if found.failed else None
        text = f"{wrong.of}: {wrong.text}" if wrong else found.trouble or str(found.unwritten)
        told[row] = as_learner.Told({"open": "asked again"}.get(found.state, found.state), text)
    return told


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """One folder for each stage, made when it is first asked for."""
    return cache(lambda stage: tmp_path_factory.mktemp(f"stage-{stage}"))


@pytest.mark.parametrize("row", MINI)
def test_an_unusual_function_of_mini_gets_the_verdict_that_was_written_down(row, folders):
    stage, _, source, wanted, why = MINI[row]
    told = told_by_mini(stage, folders(stage))[row]
    assert told.verdict == wanted, disagreement(row, wanted, why, told, source)


# ---- the tables, and what runs them --------------------------------------------------------------


def test_rows_are_well_formed_and_none_is_there_twice():
    seen = {}
    for row, (*what, source, verdict, why) in {**ANSWERS, **MINI}.items():
        assert verdict in VERDICTS, f"{row}: {verdict!r} is no verdict"
        assert why.strip(), f"{row}: why should it be {verdict}?"
        ast.parse(textwrap.dedent(source).strip())
        key = (*what, ast.dump(ast.parse(textwrap.dedent(source).strip())))
        assert key not in seen, f"{row} is {seen[key]} again"
        seen[key] = row


def test_an_answer_takes_the_place_of_what_the_cell_has():
    cell = 'def f(x):\n    ...\n\n\ncheck("1.1", f)'
    assert as_learner.as_cell(cell, "1.1", "lambda x: x") == 'check("1.1", (\nlambda x: x\n))'
    assert as_learner.as_cell(cell, "1.1", "f = abs\n") == 'f = abs\n\n\ncheck("1.1", f)'


def test_a_method_is_replaced_where_it_stands_and_helpers_come_before_its_class():
    text = "def a():\n    return 1\n\n\nclass C:\n    @property\n    def b(self):\n        ...\n"
    new = with_function(text, "C.b", "import math\n@property\ndef b(self):\n    return math.pi\n")
    assert new == (
        "def a():\n    return 1\n\n\nimport math\nclass C:\n"
        "    @property\n    def b(self):\n        return math.pi\n"
    )
    with pytest.raises(LookupError, match="'c'"):
        with_function(text, "C.c", "def c(self): return 3")
