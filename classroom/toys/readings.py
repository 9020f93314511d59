"""A second toy of part 9, four functions of a table of temperatures. Loaded by the judge."""

from __future__ import annotations

import numpy as np

from classroom.grader.tasks import Project, expect_close, expect_equal

project = Project(
    "A toy: temperatures", points=100, afterwards="All four. Not bad for ten minutes."
)


def days(ask):
    """A table with a row for each day, and a reading for each hour."""
    return ask.floats(ask.integer(2, 3), ask.integer(4, 6), low=-20, high=30)


@project.check("fahrenheit", 20, "the scale", hint="Times 1.8, and then add 32.")
def _(ask):
    x = days(ask)
    expect_close(ask("fahrenheit", x), x * 1.8 + 32, "fahrenheit(x)")


@project.check("from_mean", 30, "each day by itself", hint="One mean a day; keep its axis.")
def _(ask):
    x = days(ask)
    expect_close(ask("from_mean", x), x - x.mean(1, keepdims=True), "from_mean(x)")


@project.check("changes", 30, "from hour to hour", hint="What comes later, less what was before.")
def _(ask):
    x = days(ask)
    expect_close(ask("changes", x), np.diff(x), "changes(x)")


@project.check("warm_days", 20, "how many", hint="A day is warm if its mean is above 20.")
def _(ask):
    x = days(ask) + ask.integer(5, 15)
    expect_equal(ask("warm_days", x), int((x.mean(1) > 20).sum()), "warm_days(x)")
