"""The exercises of every part: `part_04.py` has those of part 4, in a table `EXERCISES`."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from classroom.exercise import Exercise


def parts() -> dict[int, str]:
    """The parts that have exercises, and their titles."""
    return {number: import_module(module).TITLE for number, module in _modules().items()}


@cache
def exercises(part: int) -> tuple[Exercise, ...]:
    """Those of a part, in order; none where there is no such part."""
    module = _modules().get(part)
    return tuple(import_module(module).EXERCISES) if module else ()


def find(number: str) -> Exercise:
    """The exercise of that number, the puzzle of that name, or the function of mini. LookupError,
    with what there is, where there is none."""
    from classroom.mini import helping

    number = str(number)
    if found := next((p for p in puzzles() if p.number == number), None) or helping.find(number):
        return found
    part = number.split(".")[0]
    there = exercises(int(part)) if part.isdecimal() else ()
    for exercise in there:
        if exercise.number == number:
            return exercise
    known = f"; part {part} has {there[0].number} to {there[-1].number}" if there else ""
    raise LookupError(f"There is no exercise {number!r}{known}.")


@cache
def puzzles() -> tuple[Exercise, ...]:
    """The puzzles of all games, as exercises whose numbers are names."""
    from classroom.puzzlebook.game import by_name, exercise_of

    return tuple(exercise_of(puzzle) for puzzle in by_name().values())


@cache
def _modules() -> dict[int, str]:
    names = [m.name for m in pkgutil.iter_modules(__path__) if m.name.startswith("part_")]
    return {int(name.removeprefix("part_")): f"{__name__}.{name}" for name in sorted(names)}
