"""Worked answers, which `answer("4.3")` shows: the marked solutions of the worked notebooks.

`make course` writes them to answers.json, by the names of the exercises; the answer to a prediction
is computed, and that of a function of mini is the reference's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from classroom.cut import without_marks
from classroom.exercise import Exercise
from classroom.guesses import Prediction
from classroom.mini import helping
from tinyframe import Context

FILE = Path(__file__).with_name("answers.json")

# a line check("4.3", …), predict("4.1", …) or puzzle("outer", …) of a cell
ASKED = re.compile(r'^(?:check|predict|puzzle)\("([\w.]+)".*', re.MULTILINE)


def worked_answer(exercise: Exercise) -> str:
    """The code of a worked answer, or the value of a prediction; "" where there is none yet."""
    if isinstance(exercise.check, Prediction):
        with Context(DEBUG=0, BEAM=0):
            return repr(exercise.check.value)
    if exercise.name.startswith(helping.PREFIX):
        return helping.worked_answer(exercise)
    return stored().get(exercise.name, "")


def stored(file: Path = FILE) -> dict[str, str]:
    """What answers.json has."""
    return json.loads(file.read_text()) if file.exists() else {}


def collected(cells: Iterable[str], exercises: Iterable[Exercise]) -> dict[str, str]:
    """By name of the exercise, what the cells of a worked notebook answer; not the predictions."""
    found = {}
    by_number = {exercise.number: exercise for exercise in exercises}
    for source in cells:
        for number in ASKED.findall(source):
            exercise = by_number.get(number)
            if exercise is not None and not isinstance(exercise.check, Prediction):
                found[exercise.name] = ASKED.sub("", without_marks(source)).strip()
    return found


def write(answers: dict[str, str], file: Path = FILE) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n")
