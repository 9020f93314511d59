"""Stub."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from classroom.gradebook.handed import HandedIn
from classroom.gradebook.names import student_name
from classroom.gradebook.roster import Roster
from classroom.grader.handed_in import CannotGrade, files_of


@dataclass
class TakenIn:
    handed: list[HandedIn]
    notes: list[str]


def taken_in(
    source: Path, tasks_name: str, main: str, roster: Roster | None, times: Mapping[str, str]
) -> TakenIn:
    found = []
    for folder in sorted(source.iterdir()):
        try:
            files = files_of(folder / tasks_name, main)
            found.append(HandedIn(student_name(folder.name), files, f"{folder.name}/{tasks_name}"))
        except CannotGrade as error:
            found.append(HandedIn(student_name(folder.name), problem=str(error)))
    return TakenIn(found, [])
