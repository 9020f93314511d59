"""Which row of a table is which student.

Nobody gets the mark of somebody else: a row and a student belong together where a number, a login
or an address says so, or else the name, and nothing speaks against it. Where two could be meant,
none is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from classroom.gradebook.names import Student, student_name

IDENTIFIERS = ("number", "login", "email", "github")


def named(lists: Mapping[str, Sequence[str]]) -> list[str]:
    """A sentence for each list that has somebody in it."""
    return [f"{head}: {'; '.join(names)}." for head, names in lists.items() if names]


@dataclass(frozen=True)
class Match:
    """found: for each student's key the number of their row. Everybody else is in a list, in words:
    those who have no row, rows of nobody, and those of whom it can't be told. guessed: all that is
    known of them is what their folder is called, which is a login or a number of the row."""

    found: Mapping[str, int]
    without: Sequence[str]
    nobodys: Sequence[str]
    unclear: Sequence[str]
    guessed: Sequence[str]

    def notes(self, what: str) -> list[str]:
        """Sentences on those who aren't matched. what: theirs, such as "the gradebook"."""
        return named({
            f"In your class, but not in {what}": self.without,
            f"In {what}, but not in your class": self.nobodys,
            "Left alone, because it isn't clear whose mark belongs there": self.unclear,
            "Matched by the name of their folder alone; look these over": self.guessed,
        })  # fmt: skip


def matched(students: Iterable[Student], people: Mapping[int, Student]) -> Match:
    """Which row is whose. people: who each row is, by its number."""
    all_of_us = list(students)
    bare = {student.key for student in all_of_us if _is_bare(student)}
    sure: dict[int, set[str]] = {}
    by_name: dict[int, set[str]] = {}
    disputed: dict[int, list[str]] = {}
    for row, person in people.items():
        for student in all_of_us:
            same, differs = _compared(student, person)
            alike = _plain(person.name) in {_plain(student.name), _plain(student.key)} - {""}
            if (same or alike) and differs:
                disputed.setdefault(row, []).append(
                    f"{_said(person)} isn't quite {student.key}: {differs}"
                )
            elif same:
                sure.setdefault(row, set()).add(student.key)
            elif alike:
                by_name.setdefault(row, set()).add(student.key)
    taken = set().union(*sure.values())
    meant = {row: sure.get(row) or by_name.get(row, set()) - taken for row in people}
    rows_of = Counter(key for keys in meant.values() for key in keys)
    found = {
        key: row for row, keys in meant.items() for key in keys
        if len(keys) == 1 and rows_of[key] == 1
    }  # fmt: skip
    at = set(found.values())
    unclear = [
        f"{_said(people[row])} could be {' or '.join(sorted(keys))}"
        for row, keys in meant.items() if keys and row not in at
    ]  # fmt: skip
    for row, why in disputed.items():
        if row not in at:
            unclear += why
    known = {key for keys in meant.values() for key in keys}
    guessed = [
        f"{key} is {_said(people[row])}" for key, row in found.items()
        if key in bare and _plain(people[row].name) != _plain(key)
    ]  # fmt: skip
    return Match(
        found,
        [s.key for s in all_of_us if s.key not in known],
        [_said(p) for row, p in people.items() if not meant[row] and row not in disputed],
        unclear,
        guessed,
    )


def _compared(student: Student, person: Student) -> tuple[bool, str]:
    """(whether an identifier of the row is the student's; in words, which one is not)."""
    theirs = {kind: _plain(getattr(person, kind)) for kind in IDENTIFIERS}
    ours = {kind: _plain(getattr(student, kind)) for kind in IDENTIFIERS}
    if "@" in theirs["login"]:  # many log in with their address
        theirs["email"] = theirs["email"] or theirs["login"]
        theirs["login"] = theirs["login"] if "@" in ours["login"] else ""
    if _is_bare(student):
        return _plain(student.key) in {*theirs.values()} - {""}, ""
    both = [kind for kind in IDENTIFIERS if ours[kind] and theirs[kind]]
    differ = [
        f"the {kind} is {theirs[kind]}, not {ours[kind]}"
        for kind in both if ours[kind] != theirs[kind]
    ]  # fmt: skip
    return any(ours[kind] == theirs[kind] for kind in both), "; ".join(differ)


def _said(person: Student) -> str:
    """Of a row, in words."""
    more = person.login or person.email or person.number
    name, more = student_name(person.name), student_name(more)
    return f"{name} ({more})" if name and more else name or more


def _is_bare(student: Student) -> bool:
    """Whether there is nothing but what a folder or file is called, because there is no roster."""
    return not any((student.number, student.login, student.email, student.github))


@cache
def _plain(text: str) -> str:
    """For comparing: the last name after the first ones, small letters."""
    text = student_name(text).casefold()
    if text.count(",") == 1:
        last, _, first = text.partition(",")
        text = f"{first.strip()} {last.strip()}"
    return text.strip()
