"""A plan, week by week

Hint: In any week, which projects may be worked on, and how many hours do they still need?
Hint: Go week by week. Fill the week from the projects whose part is done, in order of that part,
until either the hours or the projects run out.
Because: As long as no week is idle while something can be done, it can't be done earlier.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from classroom.ask import Wrong, call, describe
from classroom.portfolio.projects import described

FIRST = 4  # the part that is done in week 1


Rows = Sequence[tuple[str, int, int]]


def check(answer) -> str:
    case = '`plan([("basics", 3, 4), ("ops", 4, 5)], 2)`'
    follows_the_rules(call(answer, [("basics", 3, 4), ("ops", 4, 5)], 2), 2,
                      [("basics", 3, 4), ("ops", 4, 5)], case)  # fmt: skip
    real = [(project.name, project.hours, project.after) for project in described()]
    weeks = 0
    for hours in (3, 6, 40):
        found = call(answer, list(real), hours)
        follows_the_rules(found := as_weeks(found), hours, real, f"the seven, {hours} hours a week")
        weeks = weeks or len(found)
    others = [
        [(name, random.randint(1, 9), random.randint(4, 8)) for name in "abcde"] for _ in range(5)
    ]
    for rows in [[("last", 2, 8)], *others]:  # one that nothing before it keeps waiting
        hours = random.randint(1, 9)
        follows_the_rules(call(answer, list(rows), hours), hours, rows, "other projects")
    best = earliest(real, 3)
    said = "and nobody could be done earlier" if weeks <= best else f"and {best} are possible"
    return f"No week too full, nothing before its part. At 3 hours, it takes {weeks} weeks, {said}."


def as_weeks(found: Any) -> list[Mapping[str, float]]:
    if isinstance(found, (str, Mapping)) or not isinstance(found, Iterable):
        raise Wrong("The answer has to be a list of weeks.", got=describe(found))
    weeks = list(found)
    for week in weeks:
        if not isinstance(week, Mapping):
            raise Wrong("Each week has to be a dict, from a name to hours.", got=describe(week))
        for name, spent in week.items():
            if not isinstance(spent, (int, float, np.number)) or isinstance(spent, bool):
                raise Wrong(f"The hours of {name!r} have to be a number.", got=describe(spent))
            if spent < 0:
                raise Wrong("Nobody works for less than 0 hours.", got=describe(dict(week)))
    return weeks


def follows_the_rules(found: Any, hours: float, rows: Rows, case: str) -> None:
    is_shown = case != "other projects"
    weeks = as_weeks(found)
    spent = {name: 0.0 for name, _, _ in rows}
    after = {name: part for name, _, part in rows}

    def wrong(text: str, week: Mapping[str, float] | None = None) -> Wrong:
        return Wrong(text, case, got=describe(dict(week)) if week is not None and is_shown else "")

    for number, week in enumerate(weeks, 1):
        if unknown := [name for name in week if name not in spent]:
            raise wrong(f"There's no project called {unknown[0]!r}.", week)
        if sum(week.values()) > hours + 1e-9:
            more = sum(week.values()) - hours
            raise wrong(f"Week {number} is too full, by {count_of(more)}." if is_shown else
                        "A week is too full.", week)  # fmt: skip
        for name, time in week.items():
            spent[name] += float(time)
            if time > 0 and after[name] > FIRST + number - 1:
                raise wrong(
                    f"In week {number} you've done part {FIRST + number - 1}, and {name!r} needs "
                    f"part {after[name]}." if is_shown else
                    "Something begins before the part that it needs is done.", week,
                )  # fmt: skip
    for name, needed, _ in rows:
        if abs(spent[name] - needed) > 1e-6:
            few = "too few" if spent[name] < needed else "too many"
            raise wrong(
                f"{name!r} takes {needed} hours, and gets {spent[name]:g}." if is_shown else
                f"A project gets {few} hours."
            )  # fmt: skip


def count_of(hours: float) -> str:
    return f"{hours:g} hour{'s' * (hours != 1)}"


def earliest(rows: Rows, hours: float) -> int:
    """In how many weeks it can be done: no week is idle while there is something to do."""
    left, week = {name: float(needed) for name, needed, _ in rows}, 0
    while any(left.values()):
        week += 1
        free = float(hours)
        for name, _, part in rows:
            if part <= FIRST + week - 1:
                spent = min(free, left[name])
                left[name] -= spent
                free -= spent
    return week

# %% wrong: says Week 1 is too full, by 5 hours
def all_at_once(projects, hours):
    return [{name: needed for name, needed, _ in projects}]
all_at_once

# %% wrong: says Each week has to be a dict
def listed(projects, hours):
    return [[name, needed] for name, needed, _ in projects]
listed

# %% wrong: says have to be a number
def in_words(projects, hours):
    return [{}, {}, {}, {}] + [{name: "1 h"} for name, _, _ in projects]
in_words

# %% wrong: says less than 0 hours
def in_debt(projects, hours):
    return [{name: -needed} for name, needed, _ in projects]
in_debt

# %% wrong: one week too early
def plan(projects, hours):
    weeks = []
    for name, needed, part in sorted(projects, key=lambda p: p[2]):
        while needed > 0:
            if len(weeks) < part - 5:
                weeks.append({})
                continue
            weeks.append({name: min(hours, needed)})
            needed -= hours
    return weeks

# %% wrong, each line
lambda projects, hours: sum(needed for _, needed, _ in projects) / hours  # says a list of weeks

# %% right
import numpy as np
def halves(projects, hours):
    yield from ({} for _ in range(4))
    for name, needed, _ in projects:
        yield from ({name: np.float64(0.5)} for _ in range(2 * needed))
halves

# %% right: latest first, with zeros for those that rest, and a holiday at the end
def plan(projects, hours):
    week, weeks = 4, []
    projects = [list(p) for p in projects]
    while any(p[1] for p in projects):
        free, now = hours, {}
        for p in reversed(projects):
            now[p[0]] = min(free, p[1]) if p[2] <= week else 0
            free, p[1] = free - now[p[0]], p[1] - now[p[0]]
        weeks, week = weeks + [now], week + 1
    return weeks + [{}]
