"""Deadlines: when a day is late, what free days pay, what comes off, and what is said of it."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classroom.gradebook.deadlines import Deadline, Deadlines, Lateness, read_deadlines, read_times
from classroom.gradebook.roster import Roster, Student
from classroom.grader.handed_in import CannotGrade

BERLIN = ZoneInfo("Europe/Berlin")
HEAD = "project,due,until,free days,percent a day,grace minutes,zone\n"
ON = Lateness()


@pytest.fixture
def read(tmp_path):
    def reads(table, extensions="", roster=None):
        (tmp_path / "deadlines.csv").write_text(table)
        (tmp_path / "extensions.csv").write_text(extensions)
        path = tmp_path / "extensions.csv" if extensions else None
        return read_deadlines(tmp_path / "deadlines.csv", path, roster)

    return reads


def late(deadlines, when, project="one", student="Ann Smith"):
    return deadlines.lateness(student, {project: when})[project]


@pytest.mark.parametrize(
    ("when", "days", "percent"),
    [
        ("2026-10-05T23:59:59+02:00", 0, 0),
        ("2026-10-05T21:59:30+00:00", 0, 0),  # the minute that is named counts
        ("2026-10-06T00:14:59+02:00", 0, 0),  # and the minutes of grace
        ("2026-10-06T00:15:00+02:00", 1, 10),
        ("2026-10-07T00:14:59+02:00", 1, 10),
        ("2026-10-07T00:15:00+02:00", 2, 20),
        ("2026-10-13T00:14:59+02:00", 7, 70),
        ("2026-10-13T00:15:00+02:00", 8, 100),  # after `until`
    ],
)  # fmt: skip
def test_days_that_have_begun_are_late_after_grace(read, when, days, percent):
    deadlines = read(HEAD + "one,2026-10-05 23:59,2026-10-12 23:59,,10,15,Europe/Berlin\n")
    found = late(deadlines, when)
    assert (found.days, found.free, found.percent) == (days, 0, percent)
    assert bool(found.note) == bool(days)


def test_the_sentences_for_the_student(read):
    deadlines = read(HEAD + "one,2026-10-05 23:59,2026-10-12 23:59,3,10,,Europe/Berlin\n"
                     "two,2026-10-19,,3,10%,,Europe/Berlin\nthree,2026-10-26,,,,,\n",
                     "student,project,days,until,reason\nBob,one,1,,ill\n")  # fmt: skip
    due = "(it was due Monday 5 October 2026, 23:59 (Europe/Berlin))"
    found = deadlines.lateness("Ann", {
        "one": "2026-10-07T12:00:00+02:00", "two": "2026-10-22T12:00:00+02:00",
        "three": "2026-10-29T12:00:00+02:00",
    })  # fmt: skip
    assert found["one"] == Lateness(2, 2, 0, (
        f"You handed this in 2 days late {due}. That uses 2 of your free late days, so you have 1 "
        "left. Nothing comes off."
    ))  # fmt: skip
    assert found["two"] == Lateness(3, 1, 20, (
        "You handed this in 3 days late (it was due Monday 19 October 2026, 23:59 (Europe/Berlin))."
        " That uses 1 of your free late days, so you have none left. 20% comes off for the other 2 "
        "days."
    ))  # fmt: skip
    assert found["three"].note.endswith("late (it was due Monday 26 October 2026, 23:59). Nothing "
                                        "comes off.")  # fmt: skip
    assert late(deadlines, "2026-10-20T12:00:00+02:00").note == (
        f"This came in 15 days late {due}. After Monday 12 October 2026, 23:59 (Europe/Berlin) it "
        "earns no points."
    )
    assert late(deadlines, "2026-10-07T12:00:00+02:00", student="bob").note.startswith(
        "You handed this in 1 day late (with your extension, it was due Tuesday 6 October 2026, "
    )


def test_free_days_are_spent_in_the_order_of_due_dates_and_never_in_vain(read):
    deadlines = read(HEAD + "b,2026-10-19T12:00+00:00,,,10,,\nz,2026-10-05T12:00+00:00,,2,10,,\n"
                     "c,2026-10-01T12:00Z,,,,,\nd,2026-10-02T12:00Z,2026-10-03,,5,,\n")  # fmt: skip
    found = deadlines.lateness("Ann", {
        "b": "2026-10-20T12:30+00:00",  # two days late, when one free day is left
        "z": "2026-10-05T13:00+00:00",  # one
        "c": "2026-10-09T13:00+00:00",  # nothing comes off anyway
        "d": "2026-10-09T13:00+00:00",  # worth nothing anyway
        "e": "2026-10-09T13:00+00:00",  # without a deadline
    })  # fmt: skip
    facts = {project: (each.days, each.free, each.percent) for project, each in found.items()}
    assert facts == {"z": (1, 1, 0), "b": (2, 1, 10), "c": (9, 0, 0), "d": (8, 0, 100)}


def test_a_date_with_an_offset_is_shown_with_it(read):
    deadlines = read("project,due\none,2026-10-05T12:00-05:00\n")
    note = late(deadlines, "2026-10-06T12:00:00+00:00").note
    assert "due Monday 5 October 2026, 12:00 (UTC-05:00)" in note


def test_what_has_no_known_time_has_no_lateness(read):
    deadlines = read("project;due\none;2026-10-05\ntwo;2026-10-06\n")
    assert deadlines.lateness("Ann", {"one": "", "three": "2026-10-06T12:00:00+00:00"}) == {}
    with pytest.raises(CannotGrade, match="'yesterday' is not a time in ISO 8601"):
        deadlines.lateness("Ann", {"one": "yesterday"})


@pytest.mark.parametrize(
    ("due", "zone", "last"),
    [
        ("2026-10-05", "Europe/Berlin", "2026-10-05T23:59:59+02:00"),
        ("2026-10-05 23:59", "Asia/Bangkok", "2026-10-05T23:59:59+07:00"),
        ("2026-10-05T23:59:10", "Asia/Bangkok", "2026-10-05T23:59:10+07:00"),
        ("2026-10-05T12:00-05:00", "", "2026-10-05T12:00:59-05:00"),
        ("2026-10-05T12:00Z", "Europe/Berlin", "2026-10-05T14:00:59+02:00"),
        ("2026-10-25 02:30", "Europe/Berlin", "2026-10-25T02:30:59+01:00"),  # the second one
        ("2026-03-29 02:30", "Europe/Berlin", "2026-03-29T03:30:59+02:00"),  # which is left out
    ],
)  # fmt: skip
def test_when_it_is_due(read, due, zone, last):
    deadlines = read(HEAD + f"one,{due},,,10,,{zone}\n")
    second = timedelta(seconds=1)
    moment = datetime.fromisoformat(last)
    assert late(deadlines, moment.isoformat()) == ON
    assert late(deadlines, (moment + second).isoformat()).days == 1


def test_without_an_offset_or_a_zone_the_machine_s_own_counts(read, monkeypatch):
    import time

    for zone, last in (("Asia/Tokyo", "+09:00"), ("America/New_York", "-04:00")):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        deadlines = read("project,due\none,2026-10-05 12:00\n")
        assert late(deadlines, f"2026-10-05T12:00:59{last}") == ON
        assert late(deadlines, f"2026-10-05T12:01:00{last}").days == 1
    monkeypatch.undo()
    time.tzset()


def test_extensions_move_the_date_and_the_last_moment(read):
    table = HEAD + "one,2026-10-05 12:00,2026-10-06 12:00,,10,,Europe/Berlin\n"
    extensions = ("Student;Project;Days;Until;Reason\nann smith;one;2;;was ill\n"
                  "Bob Ray;one;;2026-10-10;moved house\n")  # fmt: skip
    deadlines = read(table, extensions)
    for student, last, gone in (("Ann Smith", 7, 8), ("Bob Ray", 10, 11), ("Cy", 5, 6)):
        hours = 22 if student == "Bob Ray" else 10
        assert late(deadlines, f"2026-10-{last:02}T{hours}:00+02:00", student=student) == ON
        found = late(deadlines, f"2026-10-{gone:02}T{hours}:00+02:00", student=student)
        assert (found.days, found.percent) == (1, 10)
        assert late(deadlines, "2026-10-20T12:00+02:00", student=student).percent == 100


def test_with_a_roster_students_are_known_under_any_of_their_names(read, tmp_path):
    roster = Roster([Student("Ann Smith", "Ann Smith", "ann@uni.edu")])
    table = "project,due\none,2026-10-05T12:00Z\n"
    deadlines = read(table, "student,project,days\nann@uni.edu,one,1\n", roster)
    assert late(deadlines, "2026-10-06T12:00Z") == ON
    with pytest.raises(CannotGrade, match="extensions.csv, line 2: Anne is nobody in the roster"):
        read(table, "student,project,days\nAnne,one,1\n", roster)
    (tmp_path / "times.csv").write_text(
        "student,time,zone\nSmith Ann,2026-10-05 12:00,Asia/Tokyo\n"
    )
    assert [datetime.fromisoformat(when) for when in
            read_times(tmp_path / "times.csv", roster).values()] == [
        datetime(2026, 10, 5, 12, tzinfo=ZoneInfo("Asia/Tokyo"))
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("one,5.10.2026,,,,,", "line 2: '5.10.2026' in 'due' is not a date; write it like"),
        ("one,9999-12-31,,,,,", "line 2: '9999-12-31' in 'due' is not a date"),
        ("one,,,,,,", "line 2: the date is missing in 'due'"),
        (",2026-10-05,,,,,", "line 2: the project is missing"),
        ("one,2026-10-05,2026-10-04,,,,", "line 2: it is due after the last moment, 2026-10-04 23"),
        ("one,2026-10-05,,two,,,", "line 2: 'two' in 'free days' is not a whole number"),
        ("one,2026-10-05,,-1,,,", "line 2: '-1' in 'free days' is not a whole number"),
        ("one,2026-10-05,,,2.5,,", "line 2: '2.5' in 'percent a day' is not a whole number"),
        ("one,2026-10-05,,,101,,", "line 2: more than 100 percent a day can't come off"),
        ("one,2026-10-05,,,,,Berlin", "line 2: there is no time zone 'Berlin'"),
        ("one,2026-10-05,,,,,../etc", "line 2: there is no time zone '../etc'"),
        ("one,2026-10-05,,2,,,\ntwo,2026-10-06,,3,,,", "line 3: free days are for the whole"),
        ("one,2026-10-05,,,,,\none,2026-10-06,,,,,", "line 3: there is a line for one already"),
    ],
)  # fmt: skip
def test_a_bad_row_is_refused_with_its_line(read, row, words):
    with pytest.raises(CannotGrade, match="deadlines.csv") as caught:
        read(HEAD + row + "\n")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("project,due,percent per day\n", "line 1: there is no column 'percent per day' in this"),
        ("project,until\n", "line 1: the column 'due' is missing"),
        ("", "is empty"),
    ],
)
def test_a_table_whose_columns_nobody_knows_is_refused(read, table, words):
    with pytest.raises(CannotGrade, match="deadlines.csv") as caught:
        read(table)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("Ann,two,1,", "line 2: there is no deadline for the project 'two'"),
        ("Ann,one,,", "line 2: say either how many days more, or until when"),
        ("Ann,one,1,2026-10-09", "line 2: say either how many days more, or until when"),
        ("Ann,one,,2026-10-04", "line 2: one is due 2026-10-05 23:59, which is no earlier"),
        (",one,1,", "line 2: the student is missing"),
        ("Ann,one,x,", "line 2: 'x' in 'days' is not a whole number"),
        ("Ann,one,1,\nANN,one,2,", "line 3: ANN has an extension for one already"),
    ],
)
def test_a_bad_extension_is_refused_with_its_line(read, row, words):
    with pytest.raises(CannotGrade, match="extensions.csv") as caught:
        read("project,due\none,2026-10-05\n", f"student,project,days,until\n{row}\n")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("Ann,2026-10-05", "line 2: the time is missing"),
        ("Ann,noon", "line 2: 'noon' in 'time' is not a date"),
        ("Ann,2026-10-05 12:00\nAnn,2026-10-06 12:00", "line 3: there is a line for Ann already"),
    ],
)
def test_a_bad_time_is_refused_with_its_line(tmp_path, rows, words):
    (tmp_path / "times.csv").write_text(f"student,time\n{rows}\n")
    with pytest.raises(CannotGrade, match=f"times.csv, {words}"):
        read_times(tmp_path / "times.csv")


clocks = st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31))
zones = st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"])
waits = st.timedeltas(timedelta(days=-3), timedelta(days=400))


@given(clocks, zones, waits, waits, st.integers(0, 600))
def test_who_hands_in_later_is_never_less_late(due, zone, one, other, grace):
    deadline = Deadline("one", due, None, ZoneInfo(zone), grace=grace)
    start = deadline.moment(due)
    early, later = sorted([one, other])
    assert deadline.days_late(start + early) <= deadline.days_late(start + later)
    days = deadline.days_late(start + later)
    assert (days == 0) == (later <= timedelta())
    assert abs(days - later / timedelta(days=1)) < 1 + 1 / 12 or days == 0  # clocks may be changed


@given(clocks, zones, st.integers(0, 300))
def test_the_same_time_of_day_is_whole_days_late(due, zone, days):
    """By the clock on the wall, whatever happens to it in between."""
    deadline = Deadline("one", due.replace(microsecond=0), None, ZoneInfo(zone))
    then = deadline.moment(deadline.due + timedelta(days=days))
    assert deadline.days_late(then) == days
    assert deadline.days_late(then + timedelta(seconds=1)) == days + 1


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 12), st.integers(0, 40))
def test_free_days_are_a_budget(lates, free, percent):
    start = datetime(2026, 1, 1, 12)
    each = [Deadline(f"p{n}", start + timedelta(days=10 * n), None, BERLIN, free, percent)
            for n in range(len(lates))]  # fmt: skip
    both = list(zip(each, lates, strict=True))
    when = {d.project: d.moment(d.due + timedelta(days=n)).isoformat() for d, n in both}
    found = Deadlines(each[::-1]).lateness("Ann", when)
    assert [found[d.project].days for d in each] == lates
    used = sum(one.free for one in found.values())
    assert used == (min(free, sum(lates)) if percent else 0)
    for d, n in both:
        one = found[d.project]
        assert one.percent == min(100, percent * (n - one.free)) and bool(one.note) == bool(n)
