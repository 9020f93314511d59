"""The file of what a learner writes: an exercise, a puzzle, or a function of mini.

a docstring     a title; two hints (`Hint: …`); why the right answer is right (`Because: …`); what
                one is told (`Right: …`), if the check doesn't say it
code            what checks an answer
# %% cells      planted answers, which only tests read
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ANSWERS = re.compile(r"^# %% ", re.MULTILINE)


class Description(NamedTuple):
    """What a docstring says."""

    title: str
    hints: tuple[str, ...]
    because: str
    right: str = ""


def description(docstring: str) -> Description:
    title, *said = re.split(r"(?:^|\n)\s*(?=Hint: |Because: |Right: )", docstring.strip())
    words = [" ".join(paragraph.split()).partition(": ") for paragraph in said]
    hints = tuple(text for label, _, text in words if label == "Hint")
    because, right = (
        next((text for label, _, text in words if label == wanted), "")
        for wanted in ("Because", "Right")
    )
    return Description(" ".join(title.split()), hints, because, right)


def without_answers(text: str) -> str:
    """What is run of a file: all that stands before the planted answers."""
    return ANSWERS.split(text)[0].rstrip() + "\n"


def load(file: Path) -> ModuleType:
    """What stands before the planted answers, as a module: `classroom.lessons.rules.rules_bounds`
    for that file. The name of a function of mini may have dots, with which none is imported."""
    module = ModuleType(".".join(file.relative_to(ROOT).with_suffix("").parts))
    module.__file__ = str(file)
    sys.modules[module.__name__] = module
    text = without_answers(file.read_text(encoding="utf-8"))
    exec(compile(text, module.__file__, "exec"), module.__dict__)
    return module
