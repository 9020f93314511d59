"""Help with what a learner writes: `hint("Array.sum")` twice, then `answer("Array.sum")`.

Each function of mini is an exercise whose number is its name. Its hints, and the reason for the
worked answer, stand in `functions/STAGE/NAME.py`; the answer is the reference's code. No hint has a
line of the answer in it.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from classroom.exercise import Exercise
from classroom.exercise_file import description, without_answers
from classroom.mini import stages
from classroom.mini.stages import STAGES, Stage

PREFIX = "mini-"
FUNCTIONS = Path(__file__).with_name("functions")


def find(name: str) -> Exercise | None:
    """What is called so: `Array.sum`, or `sum` if that is clear. Underscores may be left out."""
    everything = [exercise for stage in STAGES for exercise in exercises(stage)]
    for spelled in (str, _last, _plain):
        found = [exercise for exercise in everything if spelled(exercise.number) == name]
        if len(found) == 1:
            return found[0]
    return None


@cache
def exercises(stage: Stage) -> tuple[Exercise, ...]:
    """What a learner writes in a stage, each as an exercise that can be helped with and kept."""
    return tuple(_exercise(stage, name) for name in stages.asked(stage))


def place_of(stage: Stage, name: str) -> Path:
    """The file about a function."""
    return FUNCTIONS / f"part{stage.name}" / f"{name}.py"


def _exercise(stage: Stage, name: str) -> Exercise:
    text = without_answers(place_of(stage, name).read_text(encoding="utf-8"))
    said = description(ast.get_docstring(ast.parse(text)) or "")
    return Exercise(
        name,
        f"{PREFIX}{stage.name}-{name}",
        f"{name} in mini/{stage.file}",
        _checked_elsewhere,
        said.hints,
        because=said.because,
        hints_first=True,
    )


def worked_answer(exercise: Exercise) -> str:
    """The reference's code for it, without its docstring."""
    for stage in STAGES:
        if exercise in exercises(stage):
            return stages.functions(stage.reference.read_text())[exercise.number].source
    return ""


def _checked_elsewhere(answer: object) -> str:
    return "`check_mini` checks what you write in mini."


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _plain(name: str) -> str:
    return _last(name).strip("_")
