"""A page for each student: what their work is worth, what is right, what isn't and why.

    page(row, sheet)       HTML, one file that needs nothing else
    markdown(row, sheet)   for a pull request, or a system that takes Markdown
    text(row, sheet)       the same as plain text, for mails
    mailed(row, sheet)     HTML of a mail, in as much of CSS as mail programs know

All four say the same, which is put together first (`said`). It is what `Report.for_student()` has,
and nothing else of the report. Neither who changed points is in it, nor where files lie.

In HTML all text is escaped. In Markdown it is, too (CommonMark 0.31, backslash escapes), and what
was found stands in code spans, in which nothing is markup and nobody is mentioned.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from classroom.gradebook.names import student_name
from classroom.gradebook.records import FAILED, MISSING
from classroom.gradebook.sheet import Row, Sheet
from classroom.grader.report import Report, cleaned
from classroom.grader.report import Row as Check
from classroom.grader.sandbox import ROOT
from classroom.look import bar, counted, document

RIGHT, PARTLY, WRONG, OPEN = "right", "partly right", "not right yet", "not started"
UNASKED = "could not be asked"
BY_HAND = "set by your instructor"
SIGNS = {RIGHT: "✓", PARTLY: "◐", WRONG: "○", OPEN: "–",
         UNASKED: "–", BY_HAND: "✎"}  # fmt: skip
COUNTS = {RIGHT: ("is right", "are right"), PARTLY: ("is partly right", "are partly right"),
          WRONG: ("isn't right yet", "aren't right yet"), OPEN: ("isn't started", "aren't started"),
          UNASKED: (UNASKED, UNASKED),
          BY_HAND: (f"was {BY_HAND}", f"were {BY_HAND}")}  # fmt: skip
OTHERS = "one of your instructor's own checks"
LEFT_OUT = {MISSING: "Nothing that could be graded was handed in. If you did hand something in, "
            "tell your instructor: it may have got lost on the way.",
            FAILED: "The grader couldn't do its work this time. That isn't your doing, and it "
            "costs you nothing: your work will be graded again."}  # fmt: skip
NOT_LOADED = ("Until the file loads, nothing in it can be asked. Often it's a single line: run the "
              "file with Python, and mend what it complains about first.")  # fmt: skip
OWN_CHECKS = ("Your instructor has checks of their own, which you can't run at home. They ask the "
              "same things of other inputs, and tell you a hint and nothing more.")  # fmt: skip


# ---- what is said --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """points: with what an instructor decided. state: one of SIGNS. checks: nothing is said on
    each of them where there are none."""

    name: str
    points: int
    of: int
    state: str
    checks: tuple[Check, ...] = ()

    @property
    def worth(self) -> str:
        return f"{self.points} of {counted(self.of, 'point')}"


@dataclass(frozen=True)
class Said:
    """What a student reads. about: sentences on the whole; changes: (what, why) of each that an
    instructor made; then: what comes next."""

    title: str
    student: str
    points: int
    of: int
    is_graded: bool
    about: list[str]
    tasks: list[Task]
    changes: list[tuple[str, str]]
    then: list[str]

    @property
    def to_mend(self) -> list[Task]:
        return [task for task in self.tasks if task.checks]

    def names(self, state: str) -> list[str]:
        return [task.name for task in self.tasks if task.state == state]


def said(row: Row, sheet: Sheet) -> Said:
    record, report = row.record, row.record.report
    seen = report.for_student() if report else None
    tasks = list(_tasks(row, seen)) if seen and not is_silent(seen) else []
    return Said(
        sheet.title, student_name(row.student.name or row.student.key), row.final, row.of,
        is_graded(row), list(_about(row, seen, tasks)), tasks,
        list(_changes(row)), [] if record.status == FAILED else list(_then(sheet, seen, tasks)),
    )  # fmt: skip


def is_graded(row: Row) -> bool:
    """Whether there are points to speak of, be they 0."""
    return row.record.report is not None or bool(row.record.decided())


def is_silent(report: Report) -> bool:
    """Whether no check says anything that the notes don't: nothing was asked."""
    found = {check.found for check in report.rows}
    return bool(report.notes) and len(found) == 1 and "" not in found


def _tasks(row: Row, report: Report) -> Iterator[Task]:
    for name, checks in report.tasks().items():
        earned, of = sum(check.points for check in checks), sum(check.of for check in checks)
        if all(check.passed for check in checks):
            state = RIGHT
        elif all(check.is_open for check in checks):
            state = OPEN
        elif not any(check.was_asked for check in checks):
            state = UNASKED
        else:
            state = PARTLY if earned else WRONG
        shown = () if state in (RIGHT, OPEN) else tuple(checks)
        is_changed = name in row.record.decided()
        yield Task(name, row.points[name], of, BY_HAND if is_changed else state, shown)


def _about(row: Row, report: Report | None, tasks: list[Task]) -> Iterator[str]:
    status, late = row.record.status, row.lateness
    if report is None:
        if status in LEFT_OUT:
            yield LEFT_OUT[status]
        else:
            why = _shown(row, row.record.note).rstrip(".")
            yield f"What you handed in couldn't be graded: {why}."
    else:
        yield from (_shown(row, note) for note in report.notes)
        if status == "crashed":
            yield NOT_LOADED
        if not tasks and not report.score:
            yield "So there are no points yet."
        if report.is_full:
            yield report.praise().removesuffix(report.afterwards).strip()
        elif tasks:
            yield _counts(tasks)
        if report.elsewhere:
            yield f"{report.elsewhere} more points depend on your instructor's own checks."
        file = PurePath(row.record.file)
        if file.name and not file.stem.endswith(row.record.project):  # Canvas puts more before it
            yield f"The file that was graded is called {cleaned(file.name)}."
    if late and late.note:
        yield cleaned(late.note)
    if row.final != row.total:
        yield f"It was worth {counted(row.total, 'point')}; {row.final} of them count."


def _counts(tasks: list[Task]) -> str:
    states = [task.state for task in tasks]
    counts = [f"{states.count(kind)} {words[states.count(kind) > 1]}"
              for kind, words in COUNTS.items() if kind in states]  # fmt: skip
    return f"Of {counted(len(tasks), 'task')}, {_listed(counts)}."


def _shown(row: Row, text: str) -> str:
    """A sentence without the folders that a file of this machine lies in."""
    for file in (row.record.file, row.record.report.file if row.record.report else ""):
        if file:
            text = text.replace(file, PurePath(file).name)
    return cleaned(re.sub(r"(?<![\w.])/(?:[^/\s'\"]+/)+", "", text))


def _changes(row: Row) -> Iterator[tuple[str, str]]:
    report = row.record.report
    found = report.tasks() if report else {}
    last = {change.task: change for change in row.record.changes}
    for task, change in last.items():
        if change.points is None:
            continue
        before = sum(check.points for check in found[task]) if task in found else None
        now = f"{change.points:+d}" if before is None else f"{change.points} instead of {before}"
        yield f"{cleaned(task)}: {now} points", cleaned(change.why, 1000)


def _then(sheet: Sheet, report: Report | None, tasks: list[Task]) -> Iterator[str]:
    if report and report.is_full:
        if report.afterwards:
            yield report.afterwards
        return
    begun = [task for task in tasks if task.state == PARTLY and task.points < task.of]
    rows = report.rows if report else []
    broken = [f"`{name}`" for name in dict.fromkeys(row.task for row in rows if row.broke_off)]
    if broken and not all(row.was_asked for row in rows):
        yield f"Begin with {_listed(broken)}: that's where the program broke off."
    elif begun:
        nearest = max(begun, key=lambda task: task.points / task.of)
        lack = counted(nearest.of - nearest.points, "more point")
        yield f"The shortest way to {lack}: `{nearest.name}`, where part of it is right already."
    elif missed := [task for task in tasks if task.state in (WRONG, OPEN)]:
        yield f"A good place to begin: `{missed[0].name}`."
    end = ".py" if (ROOT / "projects" / f"{sheet.project}.py").is_file() else ""
    yield (f"`python -m classroom grade projects/{sheet.project}{end}` runs the checks that you "
           "have at home, as often as you like.")  # fmt: skip
    if report and any(check.hidden and not check.passed for check in report.rows):
        yield OWN_CHECKS


def _listed(words: list[str]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""


@dataclass(frozen=True)
class Advice:
    """What is said on one check that isn't right, or on a whole task where all say the same.

    shows: what the check is about; "" of the whole task. note: which of its parts are right, or
    whose check it is. wrong: a line on each thing that isn't right. line: its number and text in
    the student's file.
    """

    shows: str
    state: str
    note: str
    wrong: list[str]
    line: tuple[int, str] | None
    hint: str


def advice(task: Task) -> Iterator[Advice]:
    same = len({check.found for check in task.checks}) == 1  # none of it was asked
    for check in task.checks[:1] if same else task.checks:
        if check.passed:
            yield Advice(check.shows, RIGHT, "", [], None, "")
            continue
        note, wrong = (OTHERS, []) if check.hidden and OTHERS in check.found else parts_of(check)
        state = PARTLY if check.points else OPEN if check.is_open else WRONG
        state = state if check.was_asked or check.is_open else UNASKED
        line = (check.line, check.text) if check.line else None
        yield Advice("" if same else check.shows, state, note, wrong, line, check.hint)


def parts_of(check: Check) -> tuple[str, list[str]]:
    """("1 of 2 parts right: kernels", the lines on the others); "" where it has no parts."""
    lines = check.found.splitlines()
    if lines and re.match(r"\d+ of \d+ parts right", lines[0]):
        return lines[0], lines[1:]
    return "", [] if check.is_open else lines


# ---- HTML ----------------------------------------------------------------------------------------


def page(row: Row, sheet: Sheet) -> str:
    """A page that stands for itself: light or dark, on paper, on a phone."""
    whole = said(row, sheet)
    return document(f"{whole.title}: {whole.student}", _body(whole), STYLE)


def mailed(row: Row, sheet: Sheet) -> str:
    """The same for a mail. Many programs know no variables, grids or dark pages, and some drop all
    style (caniemail.com, 2025), so this has little, and reads well without."""
    whole = said(row, sheet)
    return MAIL.format(title=html.escape(whole.title), body=_body(whole), style=MAIL_STYLE)


def _body(whole: Said) -> str:
    esc = html.escape
    share = 100 * whole.points / whole.of if whole.of else 0
    score = (f'<p class="score"><b>{whole.points}</b> of {counted(whole.of, "point")}</p>'
             f"{bar(share)}" if whole.is_graded else "")  # fmt: skip
    about = "".join(f"<p>{esc(text)}</p>" for text in whole.about)
    sections = [
        f"<header><h1>{esc(whole.title)}</h1><p><bdi>{esc(whole.student)}</bdi></p></header>",
        f'<div class="whole">{score}{about}</div>',
        _section("Task by task", "rows tasks", map(_glance, whole.tasks)),
        _section("Worth another look", "look", map(_task, whole.to_mend)),
        _section("What your instructor changed", "rows", (
            f"<li><h3>{esc(what)}</h3><p>{esc(why)}</p></li>" for what, why in whole.changes)),
        _section("What comes next", "rows", (
            f"<li>{with_code(text, esc, _code)}</li>" for text in whole.then)),
    ]  # fmt: skip
    return "\n".join(filter(None, sections))


def _section(title: str, kind: str, items: Iterator[str]) -> str:
    inside = "\n".join(items)
    return f'<section><h2>{title}</h2><ul class="{kind}">\n{inside}\n</ul></section>' * bool(inside)


def _glance(task: Task) -> str:
    name = html.escape(task.name)
    linked = f'<a href="#task-{name}">{name}</a>' if task.checks else name
    share = 100 * task.points / task.of if task.of else 0
    return (f'<li><h3>{linked}</h3>{bar(share)}<p>{task.worth}<span class="{_kind(task.state)}"> '
            f"{SIGNS[task.state]} {task.state}</span></p></li>")  # fmt: skip


def _task(task: Task) -> str:
    name = html.escape(task.name)
    checks = "".join(map(_advice, advice(task)))
    return (f'<li id="task-{name}"><h3>{name}<span> · {task.worth}</span></h3>'
            f"<ul>{checks}</ul></li>")  # fmt: skip


def _advice(told: Advice) -> str:
    esc = html.escape
    kind = f'<b class="{_kind(told.state)}">{SIGNS[told.state]} {told.state}</b>'
    parts = [f"<p>{kind}{' · ' * bool(told.shows)}{with_code(told.shows, esc, _code)}</p>"]
    parts += [f'<p class="note">{esc(told.note)}</p>'] if told.note else []
    parts += [f'<p class="found">{esc(line)}</p>' for line in told.wrong]
    if told.line:
        number, own = told.line
        parts.append(f'<p class="own">your line {number}<code>{esc(own)}</code></p>')
    parts += [f'<p class="hint"><b>Hint</b> {with_code(told.hint, esc, _code)}</p>'
              ] if told.hint else []  # fmt: skip
    return f"<li>{''.join(parts)}</li>"


def _kind(state: str) -> str:
    """The class of a state: its first word."""
    return f"is-{state.partition(' ')[0]}"


def _code(text: str) -> str:
    return f"<code>{html.escape(text)}</code>"


def with_code(text: str, plain: Callable[[str], str], code: Callable[[str], str]) -> str:
    """Text of a project, in which `this` is code."""
    pieces = re.split(r"`([^`]+)`", text)
    return "".join((code if n % 2 else plain)(piece) for n, piece in enumerate(pieces))


STYLE = """
h1{font-size:clamp(2rem,7vw,3rem)}
code{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
a{color:var(--main);text-underline-offset:.2em}
p{overflow-wrap:break-word}
.whole{margin-top:1.6rem;background:var(--card);border:1px solid var(--line);border-radius:14px;
padding:1.2rem 1.4rem 1.1rem}
.score{color:var(--soft);margin:0;font-size:1.1rem}
.score b{font:700 3.2rem/1 Georgia,"Times New Roman",serif;color:var(--main);margin-right:.15rem}
.whole .bar{margin:.7rem 0 1rem}
.tasks li{display:grid;grid-template-columns:11rem 1fr 17rem;gap:0 1rem;align-items:center;
padding:.5rem 0}
.tasks h3,.look h3{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;
font-size:.95rem;overflow-wrap:anywhere}
.tasks .bar,.tasks p{margin:0}
.tasks span::before{content:"·";color:var(--soft);margin:0 .2rem 0 .3rem}
.is-right{color:var(--main)}.is-partly,.is-not{color:var(--warm)}
.look>li{background:var(--card);border:1px solid var(--line);border-radius:14px;
padding:1rem 1.3rem .4rem;margin-top:1rem;break-inside:auto}
.look h3{font-size:1.05rem}
.look h3 span{color:var(--soft);font:400 .9rem system-ui,-apple-system,"Segoe UI",Roboto,Arial,
sans-serif}
.look ul{margin-top:.5rem}
.look ul li{border-top:1px solid var(--line);padding:.6rem 0 .7rem}
.look ul p{margin:.3rem 0}
.look ul .note{color:var(--soft);font-size:.9rem}
.found{font:.88rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;
padding-left:.8rem;border-left:3px solid var(--warm);overflow-wrap:anywhere}
.own{color:var(--soft);font-size:.86rem}
.own code{display:block;margin-top:.2rem;background:var(--page);border:1px solid var(--line);
border-radius:8px;padding:.5rem .8rem;color:var(--ink);font-size:.86rem;white-space:pre-wrap}
.hint{background:var(--pale);border-radius:8px;padding:.5rem .8rem;font-size:.94rem}
.hint b{margin-right:.3rem}
@media(max-width:36rem){main{padding-top:2rem}.tasks li{grid-template-columns:auto 1fr}
.tasks h3{white-space:nowrap}.tasks p{text-align:right}
.tasks .bar{grid-column:1/-1;grid-row:2;margin:.3rem 0 .2rem}}
"""

# Colours are given as they are: no variables. Widths and columns are left to the program.
MAIL_STYLE = """
body{margin:0;padding:16px;background:#ffffff;color:#1c2430;font-family:Arial,sans-serif;
font-size:15px;line-height:1.5}
h1{font-size:26px;margin:0 0 4px}
h2{font-size:20px;margin:28px 0 6px}
h3{font-size:16px;margin:0}
p{margin:4px 0}
ul{list-style-type:none;margin:0;padding:0}
li{margin:0;padding:8px 0;border-top:1px solid #e4dfd5}
code{font-family:Consolas,Menlo,monospace;font-size:13px}
.score b{font-size:34px;color:#2459b8}
.bar{height:8px;background:#e3ddd1;margin:6px 0;max-width:480px}
.bar i{display:block;height:8px;background:#2459b8}
.is-right{color:#2459b8}
.is-partly{color:#b43c0a}
.is-not{color:#b43c0a}
.found{font-family:Consolas,Menlo,monospace;font-size:13px;padding-left:10px;
border-left:3px solid #b43c0a}
.own code{display:block;background:#f4f1ea;padding:6px 10px}
.hint{background:#eaf0fb;padding:6px 10px}
"""

MAIL = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


# ---- Markdown, and plain text --------------------------------------------------------------------


def markdown(row: Row, sheet: Sheet) -> str:
    return _joined(_lines(said(row, sheet), _escaped, _span, "#"))


def text(row: Row, sheet: Sheet) -> str:
    return _joined(_lines(said(row, sheet), str, str, ""))


def _joined(lines: Iterator[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"


def _lines(
    whole: Said, plain: Callable[[str], str], code: Callable[[str], str], mark: str
) -> Iterator[str]:
    """mark: what a heading begins with; without it, one is underlined."""

    def heading(level: int, text: str, shown: str = "") -> list[str]:
        under = "=-~"[level - 1] * len(text)
        head = [f"{mark * level} {shown or text}"] if mark else [text, under]
        return ["", *head, ""]

    yield from [*heading(1, whole.title, plain(whole.title)), plain(whole.student), ""]
    if whole.is_graded:
        points = f"{whole.points} of {counted(whole.of, 'point')}"
        yield from [f"**{points}**" if mark else points, ""]
    for sentence in whole.about:
        yield from [plain(sentence), ""]
    if whole.tasks:
        yield from heading(2, "Task by task")
        yield from _glances(whole.tasks, code, mark)
    if whole.to_mend:
        yield from heading(2, "Worth another look")
    for task in whole.to_mend:
        name = f"{task.name}: {task.worth}"
        yield from heading(3, name, f"{code(task.name)}: {task.worth}")
        for told in advice(task):
            yield from _told(told, plain, code)
    if whole.changes:
        yield from heading(2, "What your instructor changed")
        yield from (f"- {plain(what)}. {plain(why)}" for what, why in whole.changes)
    if whole.then:
        yield from heading(2, "What comes next")
        yield from (f"- {with_code(text, plain, code)}" for text in whole.then)


def _glances(tasks: list[Task], code: Callable[[str], str], mark: str) -> Iterator[str]:
    if mark:
        yield from ["| task | points | |", "|---|---:|---|"]
        for task in tasks:
            yield (f"| {code(task.name)} | {task.points} of {task.of} | "
                   f"{SIGNS[task.state]} {task.state} |")  # fmt: skip
        return
    width = max(len(task.name) for task in tasks)
    for task in tasks:
        yield f"{task.name:{width}}  {task.worth:>15}  {task.state}"


def _told(told: Advice, plain: Callable[[str], str], code: Callable[[str], str]) -> Iterator[str]:
    shows = f": {with_code(told.shows, plain, code)}" if told.shows else ""
    yield f"- {SIGNS[told.state]} {told.state}{shows}"
    yield from [f"  - {plain(told.note)}"] if told.note else []
    yield from (f"  - {code(line)}" for line in told.wrong)
    if told.line:
        yield f"  - your line {told.line[0]}: {code(told.line[1])}"
    yield from [f"  - hint: {with_code(told.hint, plain, code)}"] if told.hint else []


def _escaped(text: str) -> str:
    """Text that no reader of Markdown takes for anything else. GitHub looks for @names, #numbers,
    :signs: and addresses in what it has rendered; a joiner that isn't seen keeps these apart."""
    text = re.sub(r"([\\`*_\[\]<>#|~&$^])", r"\\\1", text)
    text = re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", text)
    return re.sub(r"(?i)(?<=[@#])(?=\S)|(?<=:)(?=[/\w+-])|(?<=www)(?=\.)", "\u2060", text)


def _span(text: str) -> str:
    """A code span: in it nothing is markup. A row of backticks that is longer than any inside."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    room = " " * (longest > 0 or text.strip() != text)
    return f"{fence}{room}{text}{room}{fence}" if text else ""
