"""The file of what a learner writes: an exercise, or a function of mini.

a docstring     a title; two hints (`Hint: …`); why the right answer is right (`Because: …`)
code            what checks an answer
# %% cells      planted answers, which only tests read
"""

from __future__ import annotations

import re
from typing import NamedTuple

ANSWERS = re.compile(r"^# %% ", re.MULTILINE)


class Description(NamedTuple):
    """What a docstring says."""

    title: str
    hints: tuple[str, ...]
    because: str


def description(docstring: str) -> Description:
    title, *said = re.split(r"(?:^|\n)\s*(?=Hint: |Because: )", docstring.strip())
    words = [" ".join(paragraph.split()).partition(": ") for paragraph in said]
    hints = tuple(text for label, _, text in words if label == "Hint")
    return Description(title, hints, next((t for label, _, t in words if label == "Because"), ""))


def without_answers(text: str) -> str:
    """What is run of a file: all that stands before the planted answers."""
    return ANSWERS.split(text)[0].rstrip() + "\n"
