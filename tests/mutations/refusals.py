"""A planted bug for every so many refusals of the classroom: the condition before it, negated.

A refusal is an `if` whose body raises, or a call of `wrong_if`. Negated, it tells an answer what
isn't true of it, or lets pass what it was there for; and for each there is a planted answer that
has to notice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from classroom.exercise_file import without_answers
from tests.mutations.table import Mutation

ROOT = Path(__file__).resolve().parents[2]
EVERY = 15  # of some 620: forty
# A room of the classroom, and the arguments of pytest that test it. {name} is rules-bounds of
# rules_bounds.py, and 7a of what is in mini's part7a.
ROOMS = {
    "lessons": ("tests/classroom/test_answers.py", "-k", "{name}"),
    "mini/functions": ("tests/classroom/test_answers.py", "-k", "mini_{name}/"),
    "puzzlebook": ("tests/classroom/test_puzzles.py", "tests/classroom/test_golf.py",
                   "tests/classroom/test_hunt.py", "tests/classroom/test_answers.py", "-k",
                   "puzzle or golf or hunt"),
    "cuda": ("tests/classroom/test_gpu_puzzles.py", "tests/classroom/test_answers.py", "-k", "gpu"),
    "contributing": ("tests/classroom/test_contributing.py", "tests/classroom/test_race.py",
                     "tests/classroom/test_answers.py", "-k", "contributing or race or 11"),
    "grader": ("tests/grader/test_handed_in.py", "tests/grader/test_tasks.py",
               "tests/grader/test_judge.py", "tests/grader/test_sandbox.py"),
}  # fmt: skip


def refusal_mutations() -> Iterator[Mutation]:
    """Every so many refusals, in the order of rooms, files and lines."""
    found = [(path, room, test) for room in ROOMS for path, test in refusals(room)]
    for path, room, test in found[EVERY // 2 :: EVERY]:
        old, new = negated(path, test)
        named = path.stem.replace("_", "-")
        if room == "mini/functions" or path.stem == "shared":
            named = path.parent.name.removeprefix("part")
        tests = tuple(argument.format(name=named) for argument in ROOMS[room])
        name, why = f"{path.parent.name}/{path.stem}:{test.lineno}", ast.unparse(test)
        yield Mutation(name, old, new, f"a refusal when {why}", tests)


def refusals(room: str) -> Iterator[tuple[Path, ast.expr]]:
    """The condition of each refusal of a room, by file and line."""
    for path in sorted((ROOT / "classroom" / room).rglob("*.py")):
        nodes = [*ast.walk(ast.parse(without_answers(path.read_text())))]
        ifs = [node for node in nodes if isinstance(node, ast.If)]
        tests = [node.test for node in ifs if isinstance(node.body[0], ast.Raise)]
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        tests += [node.args[0] for node in calls if getattr(node.func, "id", "") == "wrong_if"]
        yield from ((path, test) for test in sorted(tests, key=lambda test: test.lineno))


def negated(path: Path, test: ast.expr) -> tuple[str, str]:
    """The lines of a condition, as many as make them unique, and the same with it negated."""
    lines, first = path.read_text().splitlines(keepends=True), test.lineno - 1
    last = test.end_lineno or test.lineno
    while sum(text.count("".join(lines[first:last])) for text in sources()) > 1:
        last += 1
    old = "".join(lines[first:last])
    condition = ast.get_source_segment("".join(lines), test) or ""
    return old, old.replace(condition, f"not ({condition})", 1)


@cache
def sources() -> tuple[str, ...]:
    """The texts in which a planted bug has to be unique."""
    folders = ROOT / "tinyframe", ROOT / "classroom"
    return tuple(path.read_text() for folder in folders for path in sorted(folder.rglob("*.py")))
