"""Part 9, projects and portfolio: the exercises, and what an answer has to do."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from classroom.ask import call, count, describe, does_nothing, predicts, wants, whole_number
from classroom.exercise import Exercise, Open, Wrong
from classroom.portfolio.projects import described
from classroom.toys.files import CHEATS, COUSINS, HALF_DONE, HONEST
from classroom.toys.grading import as_file, gullible, readings, really, refused

# ---- 9.1 to 9.5: a file, as text -----------------------------------------------------------------

TRIES = 4  # of a check of the learner's, with each file


def program(answer: Any) -> str:
    """The text of a file. Wrong where it is none, or not Python."""
    wants(answer, str, "a text: all lines of a file, between triple quotes")
    text = as_file(answer)
    if not text.strip():
        raise Open("The file is empty so far.")
    try:
        compile(text, "your file", "exec")
    except SyntaxError as error:
        raise Wrong(f"Python can't read your file: {error.msg}, in line {error.lineno}.") from None
    return text


def fools(grader: str, said: str) -> Callable[[Any], str]:
    """A check: does this file get 100 points from a gullible grader without deserving them?"""

    def check(answer: Any) -> str:
        text = program(answer)
        points, trouble = gullible(grader, text)
        more = (("it said", trouble),) if trouble else ()
        if points is None:
            raise Wrong(f"The {grader} grader never got as far as any points.", more=more)
        if points > 100:
            raise Wrong(f"{points} of 100 points? Even a gullible teacher would notice.")
        if points < 100:
            raise Wrong(f"The {grader} grader isn't fooled: {points} of 100 points.", more=more)
        if really(text).is_full:
            raise Wrong(
                "This fools nobody, because there's nothing wrong with it: it's honest work, and "
                "our own grader gives it 100 points. Keep it for exercise 9.5, and cheat here."
            )
        return said

    return check


def points_of_three() -> tuple[int, ...]:
    return tuple(really(text).score for _, text in CHEATS.values())


def honest(answer: Any) -> str:
    report = really(program(answer))
    if report.notes and report.score < 100:
        raise Wrong(report.notes[0])
    for row in report.rows:
        if not row.passed:
            more = (("your line", f"{row.line}: `{row.text}`"),) if row.line else ()
            raise Wrong(f"{report.score} of 100 points. {row.shows}: {row.found}.", more=more)
    return "100 of 100 points, from a grader that trusts nobody. Count your lines, and theirs."


# ---- 9.6: a report, and a file to mend -----------------------------------------------------------


def mended(answer: Any) -> str:
    report = readings(patched(HALF_DONE, answer))
    for row in report.rows[:3]:
        if not row.passed:
            more = (("the report", row.where),) if row.where else ()
            raise Wrong(f"{report.score} of 100 points. {row.task}: {row.found}.", more=more)
    if report.is_full:
        return "100 of 100, and you weren't even asked for the last one."
    return f"{report.score} of 100 points, from 20. Two lines, and the report told you which."


def patched(text: str, answer: Any) -> str:
    """The text with some of its lines replaced; where a new line isn't indented, it is."""
    if isinstance(answer, (list, tuple)) and all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in answer
    ):
        answer = dict(answer)
    wants(answer, Mapping, "a dict from the number of a line to what it should say")
    lines = text.splitlines()
    for number, new in answer.items():
        place = int(number) if str(number).strip().isdecimal() else 0
        if not 1 <= place <= len(lines):
            raise Wrong(f"The file has lines 1 to {len(lines)}.", got=describe(number))
        wants(new, str, "a dict whose values are lines of Python, as text")
        old = lines[place - 1]
        indent = old[: len(old) - len(old.lstrip())]
        new = textwrap.dedent(new).strip()
        lines[place - 1] = textwrap.indent(new, indent)
    found = "\n".join(lines) + "\n"
    try:
        compile(found, "the file", "exec")
    except SyntaxError as error:
        raise Wrong(f"Python can't read the file now: {error.msg}, line {error.lineno}.") from None
    return found


# ---- 9.7: a check of one's own -------------------------------------------------------------------


def catches(answer: Any) -> str:
    if not callable(answer):
        raise Wrong(
            "This exercise asks for a function. Pass its name, without brackets after it.",
            got=describe(answer),
        )
    if does_nothing(answer):
        raise Open("")
    for how, text in HONEST.items():
        for seed in range(TRIES):
            if said := refused(answer, text, seed, is_honest=True):
                raise Wrong(f"Your check refuses honest work, the file that does it {how}.",
                            got=said)  # fmt: skip
    for what, text in COUSINS.items():
        caught = sum(bool(refused(answer, text, seed)) for seed in range(TRIES))
        if not caught:
            raise Wrong(f"Your check is fooled by a file that {what}.")
        if caught < TRIES:
            raise Wrong(
                f"A file that {what} gets away with it in {TRIES - caught} of {TRIES} tries. Ask "
                "for more numbers."
            )
    return (
        f"{count(len(COUSINS), 'cheat')} caught, every time, and {len(HONEST)} honest files let "
        "through. That's a check you could grade a class with."
    )


# ---- 9.8: a plan ---------------------------------------------------------------------------------

FIRST = 4  # the part that is done in week 1

Rows = Sequence[tuple[str, int, int]]


def planned(answer: Any) -> str:
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


# ---- 9.9: whose line is it? ----------------------------------------------------------------------

GIVEN = """\
def double(x):
    ...


def triple(x):
    ...
"""
SOLUTION = """\
def double(x):
    return x + x


def triple(x):
    twice = double(x)
    return twice + x
"""


def whose(answer: Any) -> str:
    own = f"value_{random.randint(10, 99)}"
    copied = [line for line in SOLUTION.splitlines() if line.strip()]
    cases: list[tuple[str, str, int, int]] = [
        ("the file as it was handed out", GIVEN, 0, 0),
        ("our solution, copied", SOLUTION, 0, 0),
        ("our solution, with empty lines in between", "\n\n\n".join(copied), 0, 0),
        ("our solution, with comments between its lines",
         "\n".join(f"{line}\n    # so far so good" for line in copied), 0, 0),
        ("our solution, with a comment at the end of each line",
         "\n".join(f"{line}  # all mine" for line in copied), 0, 0),
        ("our solution, indented by a tab", SOLUTION.replace("    ", "\t"), 0, 0),
        ("half of it copied, and two lines that are new",
         SOLUTION.replace("    twice = double(x)\n    return twice + x",
                          "    total = x * 2\n    return total + x"), 1, 2),
        ("everything new, four lines of it",
         "def double(n):\n    return n * 2\n\n\ndef triple(n):\n    return n * 3\n", 1, 4),
    ]  # fmt: skip
    body = "\n".join(f"    {own} = {own} + x * {n}" for n in range(7))
    fresh = GIVEN.replace("    ...\n\n\ndef triple", f"{body}\n    return {own}\n\n\ndef triple")
    cases.append(("a different file", fresh, 1, 8))
    for case, text, least, most in cases:
        got = whole_number(call(answer, text, GIVEN, SOLUTION, case=case), case)
        wanted = str(most) if least == most else f"{least} to {most}"
        if got > most:
            text = "nothing in it is new" if not most else f"at most {most} lines are new"
            raise Wrong(f"You count too many: {text}.", case, wanted, got)
        if got < least:
            raise Wrong("You count too few: somebody worked on this.", case, wanted, got)
    return "A copied file counts for nothing, whatever it's dressed up in, and work counts."


# ---- the table -----------------------------------------------------------------------------------

TITLE = "Projects and portfolio"
EXERCISES = (
    Exercise(
        "9.1",
        "fool-first",
        "A file that fools the first grader",
        fools(
            "first",
            "100 of 100 points, for a function that can't do a thing. The next grader "
            "has heard of people like you.",
        ),
        (
            "The first grader asks one question, ever. What's the cheapest way to know the answer?",
            "Return a Tensor of the three numbers that it compares with. Don't forget the import.",
        ),
        because="A question that never changes needs no work, only memory.",
        seconds=300.0,
    ),
    Exercise(
        "9.2",
        "fool-second",
        "A file that fools the second grader",
        fools(
            "second",
            "100 of 100 points. It read your file and didn't find the word. It didn't "
            "look at what your file does.",
        ),
        (
            "The word may not be in the file. How else can you get hold of a method of `a`?",
            '`getattr(a, "…")` takes the name as text, and a text can be put together out of two.',
        ),
        because="A rule about the text of a program is a rule about spelling. There's always "
        "another way to spell it.",
        seconds=300.0,
    ),
    Exercise(
        "9.3",
        "fool-third",
        "A file that fools the third grader",
        fools(
            "third",
            "100 of 100 points, and nobody was asked to compute anything. Whoever "
            "runs in the same process as the judge can be the judge.",
        ),
        (
            "Your file is imported into the grader's own process. Which of its functions would you "
            "like to be different? Or where do the points go, and who else can write there?",
            "`np.allclose` decides. In your file, give NumPy one that says True to everything.",
        ),
        because="The grader and the submission share a process, so its functions, its variables "
        "and its files are the submission's to change.",
        seconds=300.0,
    ),
    Exercise(
        "9.4",
        "three-cheats",
        "What the real grader gives three cheats",
        predicts(points_of_three),
        (
            "Which of the two checks does each of them pass? One is about numbers, one about MAX.",
            "`getattr` finds the real `maximum`. What comes out, and what is in its graph?",
        ),
        shown_by="the next cell",
        because="Fresh numbers of a different size expose the first. The second computes the right "
        "numbers, so it gets the points for numbers, but its graph has a MAX in it, whatever it "
        "was called. The third is a process that ended without an answer. Points aren't written "
        "there, so there's nothing to forge.",
        seconds=300.0,
    ),
    Exercise(
        "9.5",
        "honest-larger",
        "A file that deserves its points",
        honest,
        (
            "In 7.3 you met the larger of two numbers without MAX. What did it look like?",
            "`condition.where(a, b)` takes from `a` where the condition holds, and else from `b`.",
        ),
        because="A comparison gives a Tensor of True and False, and `where` picks by it.",
        seconds=300.0,
    ),
    Exercise(
        "9.6",
        "read-a-report",
        "Two lines to mend",
        mended,
        (
            "Each row that isn't right has a hint, and one of them names a line. What does the "
            "other one's sign tell you?",
            "`x.mean(1)` has lost the axis that it should keep. And `before - after` is a change "
            "backwards.",
        ),
        because="`keepdims=True` keeps the mean in its row, so that it fits under the table again, "
        "and a change is what comes later less what was before.",
    ),
    Exercise(
        "9.7",
        "own-check",
        "A check that catches five cheats",
        catches,
        (
            "Which questions does nobody ask? Numbers below zero, a different length, a matrix, "
            "and the same length a second time with other numbers.",
            '`ask.graph("larger", a, b).run(c, d)` runs the graph on numbers that the file has '
            "never seen.",
        ),
        because="Each cheat is right about something. A check catches it by asking about "
        "everything else, and by running the graph on numbers that the file never saw.",
        seconds=120.0,
    ),
    Exercise(
        "9.8",
        "plan-projects",
        "A plan, week by week",
        planned,
        (
            "In any week, which projects may be worked on, and how many hours do they still need?",
            "Go week by week. Fill the week from the projects whose part is done, in order of that "
            "part, until either the hours or the projects run out.",
        ),
        because="As long as no week is idle while something can be done, it can't be done earlier.",
    ),
    Exercise(
        "9.9",
        "whose-line",
        "Whose line is it?",
        whose,
        (
            "What do you compare: whole files, or lines? And what about a line has to be ignored "
            "before you compare it?",
            "Cut each line at `#`, strip it, and drop it if nothing is left. Do that to all three "
            "texts, and count your lines that are in neither of the others.",
        ),
        because="Lines are compared without comments and spaces, so a copied one is found whatever "
        "it's dressed up in.",
    ),
)
