"""A planted bug for every so many refusals of the classroom: the condition before it, negated.

A refusal is an `if` whose body raises. Negated, it tells an answer what isn't true of it, or lets
pass what it was there for; and for each there is a planted answer that has to notice.
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
    "cuda": ("tests/classroom/test_gpu_puzzles.py",),
    "contributing": ("tests/classroom/test_contributing.py", "tests/classroom/test_race.py",
                     "tests/classroom/test_answers.py", "-k", "contributing or race or 11"),
    "grader": ("tests/grader/test_handed_in.py", "tests/grader/test_tasks.py",
               "tests/grader/test_judge.py", "tests/grader/test_sandbox.py"),
}  # fmt: skip


def refusal_mutations() -> Iterator[Mutation]:
    """Every so many refusals, in the order of rooms, files and lines."""
    found = [(path, room, node) for room in ROOMS for path, node in refusals(room)]
    for path, room, node in found[EVERY // 2 :: EVERY]:
        old, new = negated(path, node)
        named = path.stem.replace("_", "-")
        if room == "mini/functions" or path.stem == "shared":
            named = path.parent.name.removeprefix("part")
        tests = tuple(argument.format(name=named) for argument in ROOMS[room])
        name, why = f"{path.parent.name}/{path.stem}:{node.lineno}", ast.unparse(node.test)
        yield Mutation(name, old, new, f"a refusal when {why}", tests)


def refusals(room: str) -> Iterator[tuple[Path, ast.If]]:
    """Each refusal of a room, by file and line."""
    for path in sorted((ROOT / "classroom" / room).rglob("*.py")):
        nodes = (
            node
            for node in ast.walk(ast.parse(without_answers(path.read_text())))
            if isinstance(node, ast.If)
        )
        for node in sorted(nodes, key=lambda node: node.lineno):
            if isinstance(node.body[0], ast.Raise):
                yield path, node


def negated(path: Path, node: ast.If) -> tuple[str, str]:
    """The lines of a refusal, as many as make them unique, and the same with its condition
    negated."""
    lines, first = path.read_text().splitlines(keepends=True), node.lineno - 1
    test = node.test
    last = node.body[0].lineno
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
