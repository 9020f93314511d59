"""When projects are due, and what comes off for handing in late.

    deadlines = read_deadlines(Path("deadlines.csv"), Path("extensions.csv"), roster)
    deadlines.lateness("Ann Smith", {"01_tensor_basics": "2026-10-06T08:00:00+02:00"})

A table has a line for each project:

    project,due,until,free days,percent a day,grace minutes,zone
    01_tensor_basics,2026-10-05 23:59,2026-10-12 23:59,3,10,15,Europe/Berlin
    02_op_types,2026-10-19,,,10,15,Europe/Berlin

due: ISO 8601, such as 2026-10-05 23:59, and that minute still counts; without a time, the end of
that day. Without an offset from UTC it is the time in `zone`, or this machine's. grace minutes: so
much later is still on time. After that, each day that has begun is a day late. free days: late days
that cost nothing; they are for the whole course, so all lines with a number have the same, and are
spent in the order of due dates. percent a day: comes off for each other late day. until: what comes
later is worth no points.

Extensions are another table, with a line for a student and a project: `days` more, or `until` a new
date; the last moment moves along.

    student,project,days,until,reason
    Ann Smith,01_tensor_basics,2,,was ill
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

from classroom.gradebook.names import folded, student_name
from classroom.gradebook.roster import Roster
from classroom.gradebook.tables import Line, lines_of, same
from classroom.grader.handed_in import CannotGrade
from classroom.grader.report import cleaned
from classroom.pages import counted

DEADLINES = ("project", "due", "until", "free days", "percent a day", "grace minutes", "zone")
EXTENSIONS = ("student", "project", "days", "until", "reason")
TIMES = ("student", "time", "zone")
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Lateness:
    """days: late, rounded up, after grace and extensions. free: of these, paid with free late days.
    percent: what comes off the points. note: a sentence or two for the student, "" when on time."""

    days: int = 0
    free: int = 0
    percent: int = 0
    note: str = ""


@dataclass(frozen=True)
class Deadline:
    """due, until: on the clocks of `zone`; None is this machine's. grace: minutes."""

    project: str
    due: datetime
    until: datetime | None = None
    zone: tzinfo | None = None
    free: int = 0
    percent: int = 0
    grace: int = 0

    def moment(self, on_clocks: datetime) -> datetime:
        """When that is, in UTC. An hour that clocks show twice counts until its second end, and one
        that they leave out until it would have been."""
        readings = (on_clocks.replace(tzinfo=self.zone, fold=fold) for fold in (0, 1))
        last = max(reading.astimezone(UTC) for reading in readings)
        return last + timedelta(minutes=self.grace)

    def days_late(self, when: datetime) -> int:
        """Days as clocks count them: the same time on the next day is one day later, even when the
        night was an hour longer."""
        days = max(0, (when - self.moment(self.due)) // DAY - 1)
        while when > self.moment(self.due + days * DAY):
            days += 1
        return days

    def shown(self, on_clocks: datetime) -> str:
        zone = f" ({self.zone})" if self.zone else ""
        return f"{on_clocks:%A} {on_clocks.day} {on_clocks:%B %Y, %H:%M}{zone}"


class Deadlines:
    """extended: the deadlines of single students, by the folded name and the project."""

    def __init__(
        self,
        deadlines: list[Deadline],
        extended: Mapping[tuple[str, str], Deadline] | None = None,
    ) -> None:
        self.of_project = {deadline.project: deadline for deadline in deadlines}
        self.extended = dict(extended or {})

    def of(self, student: str, project: str) -> Deadline:
        return self.extended.get((folded(student), project), self.of_project[project])

    def lateness(self, student: str, when: Mapping[str, str]) -> dict[str, Lateness]:
        """How late each project was that has a deadline and a time (ISO 8601; "" where that isn't
        known). CannotGrade where one is no time."""
        known = [each for each in self.of_project.values() if when.get(each.project)]
        left = max((each.free for each in self.of_project.values()), default=0)
        found = {}
        for usual in sorted(known, key=lambda each: (each.moment(each.due), each.project)):
            deadline = self.of(student, usual.project)
            late = _late(deadline, _when(when[usual.project]), left, deadline is not usual)
            found[usual.project] = late
            left -= late.free
        return found


def _when(text: str) -> datetime:
    """In UTC and whole seconds."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC).replace(microsecond=0)
    except (ValueError, OverflowError):
        raise CannotGrade(f"{cleaned(text, 60)!r} is not a time in ISO 8601") from None


def _late(deadline: Deadline, when: datetime, left: int, is_extended: bool) -> Lateness:
    """left: free late days that there still are."""
    days = deadline.days_late(when)
    if days == 0:
        return Lateness()
    yours = "with your extension, it was" if is_extended else "it was"
    due = f"{yours} due {deadline.shown(deadline.due)}"
    if deadline.until and when > deadline.moment(deadline.until):
        last = deadline.shown(deadline.until)
        note = f"This came in {counted(days, 'day')} late ({due}). After {last} it earns no points."
        return Lateness(days, 0, 100, note)
    free = min(left, days) if deadline.percent else 0
    percent = min(100, (days - free) * deadline.percent)
    note = f"You handed this in {counted(days, 'day')} late ({due})."
    if free:
        rest = f"{left - free} left" if left > free else "none left"
        note += f" That uses {free} of your free late days, so you have {rest}."
    if percent:
        others = f" for the other {counted(days - free, 'day')}" if free else ""
        note += f" {percent}% comes off{others}."
    else:
        note += " Nothing comes off."
    return Lateness(days, free, percent, note)


# ---- tables --------------------------------------------------------------------------------------


def read_deadlines(
    deadlines: Path, extensions: Path | None = None, roster: Roster | None = None
) -> Deadlines:
    """roster: where there is one, students may be called in extensions as find() knows them, and
    must be in it. CannotGrade names the file and the line that can't be right."""
    usual: dict[str, Deadline] = {}
    free: tuple[str, int] | None = None
    for line in lines_of(deadlines, same(DEADLINES), ("project", "due")):
        new = _deadline(line)
        if new.project in usual:
            line.refuse(f"there is a line for {new.project} already")
        if line["free days"]:
            if free and free[1] != new.free:
                line.refuse(f"free days are for the whole course: {free[0]} says {free[1]}, and "
                            f"this line {new.free}")  # fmt: skip
            free = (new.project, new.free)
        usual[new.project] = new
    extended: dict[tuple[str, str], Deadline] = {}
    for line in (
        lines_of(extensions, same(EXTENSIONS), ("student", "project")) if extensions else ()
    ):
        who = _student(line, roster)
        if (project := line["project"]) not in usual:
            line.refuse(f"there is no deadline for the project {project!r}")
        if (folded(who), project) in extended:
            line.refuse(f"{who} has an extension for {project} already; make one line of the two")
        extended[folded(who), project] = _extended(line, usual[project])
    return Deadlines(list(usual.values()), extended)


def read_times(path: Path, roster: Roster | None = None) -> dict[str, str]:
    """When students handed in, by an instructor's table with the columns student, time and, if you
    like, zone; in ISO 8601 with an offset from UTC. As strict as read_deadlines."""
    found: dict[str, str] = {}
    for line in lines_of(path, same(TIMES), ("student", "time")):
        who = _student(line, roster)
        if who in found:
            line.refuse(f"there is a line for {who} already")
        zone = _zone(line)
        given = _date(line, "time", zone)
        if given is None or not _has_time(line["time"]):
            line.refuse("the time is missing; write it like 2026-10-05 23:59")
        found[who] = given.replace(tzinfo=zone).astimezone().isoformat()
    return found


def _student(line: Line, roster: Roster | None) -> str:
    if not (shown := student_name(line["student"])):
        line.refuse("the student is missing")
    if roster is None:
        return shown
    if (student := roster.find(shown)) is None:
        line.refuse(f"{cleaned(shown, 60)} is nobody in the roster, or more than one student")
    return student.key


def _deadline(line: Line) -> Deadline:
    if not line["project"]:
        line.refuse("the project is missing")
    zone = _zone(line) or _offset(line["due"])
    due, until = _end(line, "due", zone), _end(line, "until", zone)
    if due is None:
        line.refuse("the date is missing in 'due'")
    if until and until < due:
        line.refuse(f"it is due after the last moment, {until:%Y-%m-%d %H:%M}")
    free, percent = _whole(line, "free days"), _whole(line, "percent a day")
    if percent > 100:
        line.refuse("more than 100 percent a day can't come off")
    grace = _whole(line, "grace minutes")
    return Deadline(line["project"], due, until, zone, free, percent, grace)


def _extended(line: Line, usual: Deadline) -> Deadline:
    """The last moment moves by as much as the date."""
    if bool(line["days"]) == bool(line["until"]):
        line.refuse("say either how many days more, or until when")
    more = timedelta(days=_whole(line, "days"))
    if until := _end(line, "until", usual.zone):
        more = until - usual.due
        if more <= timedelta():
            line.refuse(f"{usual.project} is due {usual.due:%Y-%m-%d %H:%M}, which is no earlier")
    return replace(usual, due=usual.due + more, until=usual.until and usual.until + more)


def _zone(line: Line) -> ZoneInfo | None:
    if not line["zone"]:
        return None
    try:
        return ZoneInfo(line["zone"])
    except (KeyError, ValueError, OSError):
        line.refuse(f"there is no time zone {line['zone']!r}; they are called like Europe/Berlin")


def _offset(text: str) -> tzinfo | None:
    try:
        return datetime.fromisoformat(text).tzinfo
    except ValueError:
        return None


def _end(line: Line, column: str, zone: tzinfo | None) -> datetime | None:
    """The last second of the day or the minute that is named; None where nothing is."""
    if (found := _date(line, column, zone)) is None:
        return None
    if not _has_time(line[column]):
        return found.replace(hour=23, minute=59, second=59)
    return found.replace(second=found.second or 59)


def _has_time(text: str) -> bool:
    return any(sign in text for sign in "T :")


def _date(line: Line, column: str, zone: tzinfo | None) -> datetime | None:
    """On the clocks of the zone; None where nothing is there."""
    if not (text := line[column]):
        return None
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo:
            found = found.astimezone(zone).replace(tzinfo=None)
    except (ValueError, OverflowError):
        found = datetime.min
    if not 1970 <= found.year <= 2200:
        line.refuse(f"{text!r} in {column!r} is not a date; write it like 2026-10-05 23:59")
    return found.replace(microsecond=0)


def _whole(line: Line, column: str) -> int:
    """A number of at least 0, which a nothing stands for too."""
    text = line[column].removesuffix("%").strip() or "0"
    if not (text.isdecimal() and text.isascii() and len(text) < 6):
        line.refuse(f"{text!r} in {column!r} is not a whole number")
    return int(text)
