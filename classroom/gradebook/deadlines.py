"""When a project was due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Lateness:
    days: int = 0
    free: int = 0
    percent: int = 0
    note: str = ""


class Deadlines:
    def lateness(self, student: str, when: Mapping[str, str]) -> dict[str, Lateness]:
        return {}


def read_deadlines(path: object, extensions: object) -> Deadlines:
    return Deadlines()


def read_times(path: object) -> dict[str, str]:
    return {}
