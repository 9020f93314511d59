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
