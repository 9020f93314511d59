"""A page on how a class did in a project, for its instructor.

    page(sheet)                    with names, and links to each student's page
    page(sheet, anonymous=True)    which may be shown to the class

It has how many were graded, how their points are spread, the tasks from the hardest on, what went
wrong in each and how often, who needs a look, and a table of all. Beside every plot stands what it
shows in words, and shades of one colour and stripes tell its parts apart.

Anonymous, it has no names, files, times or lines of code, and nothing that hidden checks found.
Rows are in the order of a digest that takes all submissions to make, and in classes below FEWEST
there are none. Of what went wrong it has what SHARED students or more have in common, without the
words of an error that they may have written themselves, and without any that is part of a name.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Callable, Sequence
from statistics import median, quantiles
from urllib.parse import quote

from classroom.gradebook.feedback import is_silent
from classroom.gradebook.mistakes import Mistake, checks_of, mistakes_of, nameless, shape_of
from classroom.gradebook.names import file_name, student_name
from classroom.gradebook.records import FAILED, MISSING
from classroom.gradebook.sheet import Row, Sheet
from classroom.grader.report import Row as Check
from classroom.grader.report import cleaned
from classroom.look import bar, counted, document

FEWEST = 5  # students of an anonymous class with a row each
SHARED = 3  # students with the same mistake, from which on an anonymous page has it
MOST_MISTAKES = 3  # of a task that are told
NAMED = 5  # students with a mistake
BINS = 10  # of the distribution
ENOUGH = 8  # students from which on somebody can be far below the others
OUTSIDE = 1.5  # times the middle half's width (Tukey, Exploratory Data Analysis, 1977)
STATUSES = {"graded": "graded", "out of time": "ran out of time", MISSING: "handed in nothing",
            "refused": "couldn't be graded as handed in", "crashed": "didn't load",
            FAILED: "failed in the grader"}  # fmt: skip


def page(sheet: Sheet, anonymous: bool = False) -> str:
    asked = [row for row in sheet.rows if _was_asked(row)]
    few = anonymous and len(sheet.rows) < FEWEST
    who = "" if anonymous else " For the instructor: it has names, and the hidden checks."
    sections = [
        f"<header><h1>{html.escape(sheet.title)}</h1>"
        f"<p>How {counted(len(sheet.rows), 'student')} did.{who}</p></header>",
        _tiles(sheet, [] if few else asked),
        "" if anonymous else _needs_a_look(sheet, asked),
        _distribution(sheet, asked) if asked and not few else "",
        _tasks(sheet, asked) if asked and not few else "",
        "" if few else _mistakes(sheet, asked, anonymous),
        "" if few else _table(sheet, anonymous),
        _section("Each student", f"There are fewer than {FEWEST} students, so this page has no "
                 "points of a single one.", "") if few else "",
        _time(sheet, anonymous),
    ]  # fmt: skip
    return document(f"{sheet.title}: the class", "\n".join(filter(None, sections)), STYLE)


def _was_asked(row: Row) -> bool:
    """Whether the points say something about the tasks; of a file that didn't load, they don't."""
    report = row.record.report
    return report is not None and (row.record.status == "graded" or not is_silent(report))


def _section(title: str, said: str, body: str) -> str:
    return f"<section><h2>{title}</h2><p>{html.escape(said)}</p>{body}</section>"


def _shown(row: Row) -> str:
    return student_name(row.student.name or row.student.key)


def _linked(sheet: Sheet, row: Row) -> str:
    place = quote(f"pages/{sheet.project}/{file_name(row.student.key)}.html")
    return f'<a href="{place}"><bdi>{html.escape(_shown(row))}</bdi></a>'


# ---- how many, and their points ------------------------------------------------------------------


def _tiles(sheet: Sheet, asked: list[Row]) -> str:
    counts = sheet.counts()
    late = sum(bool(row.lateness and row.lateness.days) for row in sheet.rows)
    tiles = [(str(counts.get(status, 0)), said) for status, said in STATUSES.items()
             if status in counts or status in ("graded", MISSING)]  # fmt: skip
    tiles += [(str(late), "handed in late")] if late else []
    if asked:
        middle = median(row.final for row in asked)
        tiles.append((f"{middle:g}", f"points of {asked[0].of} in the middle of the class"))
    rows = "".join(f"<div><b>{n}</b><span>{said}</span></div>" for n, said in tiles)
    return f'<div class="tiles">{rows}</div>'


WIDE, HIGH = 350.0, 190.0  # of the distribution: a phone shows it as large as it is
SIDE, TOP, BOTTOM = 14.0, 16.0, 44.0  # around what is plotted


def _distribution(sheet: Sheet, asked: list[Row]) -> str:
    points, of = [row.final for row in asked], max(1, asked[0].of)
    counts = [0] * BINS
    for each in points:
        counts[min(BINS - 1, BINS * each // of)] += 1
    said = (f"Of {counted(len(asked), 'student')}, half have {median(points):g} points or more. "
            f"The lowest has {min(points)}, the highest {max(points)}, and the mean is "
            f"{sum(points) / len(points):.0f}.")  # fmt: skip
    if left := len(sheet.rows) - len(asked):
        said += f" That leaves out {counted(left, 'student')} without anything that could be run."
    figure = f"<figure>{_histogram(counts, of, median(points))}</figure>"
    return _section("How the points are spread", said, figure)


def _histogram(counts: list[int], of: int, middle: float) -> str:
    """counts: of as many equal ranges of points, up to `of`, which the last one includes."""
    step, floor = (WIDE - 2 * SIDE) / len(counts), HIGH - BOTTOM
    edges = [of * n / len(counts) for n in range(len(counts) + 1)]
    parts, alt = [], []
    for n, count in enumerate(counts):
        high, x = (floor - TOP) * count / max(counts), SIDE + n * step
        alt.append(f"from {edges[n]:g} to {edges[n + 1]:g} points: {count}")
        if count:
            parts.append(
                f'<rect class="hit" x="{x + 1.5:.1f}" y="{floor - high:.1f}" '
                f'width="{step - 3:.1f}" height="{high:.1f}" rx="2"/><text class="count" '
                f'x="{x + step / 2:.1f}" y="{floor - high - 4:.1f}" text-anchor="middle">'
                f"{count}</text>"
            )
    ticks = "".join(
        f'<text x="{SIDE + n * step:.1f}" y="{floor + 13:g}" text-anchor="middle">{edge:g}</text>'
        for n, edge in enumerate(edges)
    )
    at = SIDE + (WIDE - 2 * SIDE) * min(1.0, middle / of)
    anchor = "end" if middle > of / 2 else "start"
    aside = -8 if anchor == "end" else 8
    return (
        f'<svg viewBox="0 0 {WIDE:g} {HIGH:g}" role="img" aria-label="{"; ".join(alt)}">'
        f'{"".join(parts)}<path class="axis" d="M{SIDE} {floor} H{WIDE - SIDE}"/>{ticks}'
        f'<path class="middle" d="M{at:.1f} {floor + 18:g} l5 9 h-10 z"/><text class="count" '
        f'x="{at + aside:.1f}" y="{floor + 28:g}" text-anchor="{anchor}">middle: {middle:g} '
        "points</text></svg>"
    )


# ---- tasks ---------------------------------------------------------------------------------------

KINDS = {"all": "all of its points", "part": "a part", "none": "none",
         "open": "not started"}  # fmt: skip


def _tasks(sheet: Sheet, asked: list[Row]) -> str:
    found = []
    for number, task in enumerate(sheet.tasks, 1):
        rows = [(row, checks) for row in asked if (checks := checks_of(row, task))]
        if not rows:  # points beside those of the tasks
            continue
        of = sum(check.of for check in rows[0][1])
        share = sum(row.points[task] for row, _ in rows) / (of * len(rows)) if of else 1.0
        kinds = [_kind(row.points[task], checks) for row, checks in rows]
        found.append((share, number, task, {kind: kinds.count(kind) for kind in KINDS}))
    items = "".join(_task(*each) for each in sorted(found))
    legend = "".join(f'<span><i class="{kind}"></i>{said}</span>' for kind, said in KINDS.items())
    said = ("The hardest first, by the share of its points that the class has. Each bar is the "
            f"{counted(len(asked), 'student')}.")  # fmt: skip
    return _section(
        "The tasks", said, f'<p class="legend">{legend}</p><ul class="rows">{items}</ul>'
    )


def _kind(points: int, checks: list[Check]) -> str:
    if points >= sum(check.of for check in checks):
        return "all"
    if points > 0:
        return "part"
    return "open" if all(check.is_open for check in checks) else "none"


def _task(share: float, number: int, task: str, kinds: dict[str, int]) -> str:
    whole = sum(kinds.values())
    parts = "".join(f'<i class="{kind}" style="width:{100 * n / whole:.2f}%"></i>'
                    for kind, n in kinds.items() if n)  # fmt: skip
    words = ", ".join(f"{KINDS[kind]}: {n}" for kind, n in kinds.items() if n)
    return (f'<li><h3>{number}. <code>{html.escape(task)}</code><b>{share:.0%}</b></h3>'
            f'<div class="parts">{parts}</div><p>{words}</p></li>')  # fmt: skip


# ---- what went wrong -----------------------------------------------------------------------------


def _mistakes(sheet: Sheet, asked: list[Row], anonymous: bool) -> str:
    shape = nameless(sheet) if anonymous else shape_of
    items = []
    for number, task in enumerate(sheet.tasks, 1):
        missed: dict[str, set[str]] = {}
        for row in asked:
            for check in checks_of(row, task):
                if not check.passed:
                    missed.setdefault(check.shows, set()).add(row.student.key)
        mistakes = mistakes_of(asked, task, shape, with_hidden=not anonymous)
        if anonymous:
            mistakes = [each for each in mistakes if len(each.students) >= SHARED]
        if missed and mistakes:
            students = set().union(*missed.values())
            worst = sorted(missed.items(), key=lambda each: -len(each[1]))
            checks = "; ".join(f"{len(keys)} in “{html.escape(shows)}”" for shows, keys in worst)
            told = "".join(_mistake(sheet, each, len(asked), anonymous)
                           for each in mistakes[:MOST_MISTAKES])  # fmt: skip
            more = len(mistakes) - MOST_MISTAKES
            told += f"<li><p>and {counted(more, 'other mistake')}</p></li>" if more > 0 else ""
            items.append((-len(students), (
                f"<li><h3>{number}. <code>{html.escape(task)}</code></h3><p>"
                f"{counted(len(students), 'student')} of {len(asked)} lost points: {checks}.</p>"
                f"<ul>{told}</ul></li>")))  # fmt: skip
    said = ("By task, from the one in which most students lost points. Mistakes that differ only "
            "in numbers, and in what stands in quotes or brackets, count as the same.")  # fmt: skip
    if anonymous:
        said += (f" Only those are here that {SHARED} students or more have in common, and none "
                 "from the instructor's own checks.")  # fmt: skip
    body = "".join(item for _, item in sorted(items, key=lambda each: each[0]))
    return _section("What went wrong", said, f'<ul class="look">{body}</ul>') if body else ""


def _mistake(sheet: Sheet, mistake: Mistake, whole: int, anonymous: bool) -> str:
    count, rows = len(mistake.students), list(mistake.students.values())
    text = html.escape(mistake.shape if anonymous else mistake.example)
    lines = [
        f'<p class="found">{text}</p>',
        f'<div class="share"><span>{counted(count, "student")}</span>{bar(100 * count / whole)}'
        "</div>",
    ]
    if mistake.parts and not anonymous:
        parts = html.escape(", ".join(mistake.parts))
        lines.append(f"<p>part{'s' * (len(mistake.parts) > 1)}: {parts}</p>")
    if not anonymous:
        who = [_linked(sheet, row) for row in rows[:NAMED]]
        who += [f"{count - NAMED} more"] if count > NAMED else []
        lines.append(f"<p>{', '.join(who)}</p>")
        if mistake.check.line:
            own = html.escape(mistake.check.text)
            name = html.escape(_shown(rows[0]))
            lines.append(f"<p>line {mistake.check.line} of <bdi>{name}</bdi>:</p>"
                         f"<code>{own}</code>")  # fmt: skip
    return f"<li>{''.join(lines)}</li>"


# ---- who needs a look ----------------------------------------------------------------------------


def _needs_a_look(sheet: Sheet, asked: list[Row]) -> str:
    low, trusted = far_below(asked), _on_trust(asked)
    few = len(trusted) <= max(2, len(asked) // 5)  # else it's said once, of all
    items = []
    for row in sheet.rows:
        record, why = row.record, []
        if record.status not in ("graded", MISSING):
            why.append(STATUSES[record.status])
        if record.note and record.status != MISSING:
            why.append(cleaned(record.note))
        if row.student.key in low:
            why.append(f"{counted(row.final, 'point')}, far below the others")
        if few and row.student.key in trusted:
            why.append(f"taken on trust: {trusted[row.student.key]}")
        if why:
            said = html.escape(" ".join(map(_sentence, why)))
            items.append(f"<li><h3>{_linked(sheet, row)}</h3><p>{said}</p></li>")
    if trusted and not few:
        what = ", ".join(dict.fromkeys(", ".join(trusted.values()).split(", ")))
        items.append(f"<li><h3>{counted(len(trusted), 'student')}</h3><p>Some of their points rest "
                     f"on what only their own program could tell: {html.escape(what)}.</p></li>"
                     )  # fmt: skip
    said = ("Whoever couldn't be graded as usual, has far fewer points than the others, or left "
            "the grader with something to tell you.")  # fmt: skip
    return _section("Who needs a look", said, f'<ul class="rows">{"".join(items)}</ul>') * bool(
        items
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "." * (text[-1:] not in ".?!")


def far_below(asked: Sequence[Row]) -> set[str]:
    """Students whose points are further below the middle half of the class than OUTSIDE times its
    width."""
    if len(asked) < ENOUGH:
        return set()
    lower, _, upper = quantiles([row.final for row in asked], n=4, method="inclusive")
    least = lower - OUTSIDE * (upper - lower)
    return {row.student.key for row in asked if row.final < least}


def _on_trust(asked: list[Row]) -> dict[str, str]:
    """By student, the checks with points that only the submission's own word stands for."""
    found = {}
    for row in asked:
        checks = row.record.report.rows if row.record.report else []
        trusted = {f"{each.task} ({each.trusts})": None for each in checks
                   if each.trusts and each.points}  # fmt: skip
        if trusted:
            found[row.student.key] = ", ".join(trusted)
    return found


def _time(sheet: Sheet, anonymous: bool) -> str:
    # the last time that all tasks were asked
    whole = ((row, [g for g in row.record.gradings if not g.tasks]) for row in sheet.rows)
    took = {row.student.key: gradings[-1].seconds for row, gradings in whole if gradings}
    if not took:
        return ""
    slowest = max(sheet.rows, key=lambda row: took.get(row.student.key, 0.0))
    who = "" if anonymous else f" ({_linked(sheet, slowest)})"
    return (f"<section><h2>The time it took</h2><p>Half of the submissions were graded within "
            f"{_seconds(median(took.values()))}, the slowest in {_seconds(max(took.values()))}"
            f"{who}, all together in {_seconds(sum(took.values()))} of work.</p></section>"
            )  # fmt: skip


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


# ---- everybody -----------------------------------------------------------------------------------


def _table(sheet: Sheet, anonymous: bool) -> str:
    rows, tasks = list(enumerate(sheet.rows)), list(enumerate(sheet.tasks, 1))
    of = {check.task: 0 for row in sheet.rows for check in _all(row)}
    for task in of:
        checks = next(found for row in sheet.rows if (found := checks_of(row, task)))
        of[task] = sum(check.of for check in checks)
    if anonymous:
        rows = list(enumerate(sorted(sheet.rows, key=_order(sheet)), 1))
        tasks = [(number, task) for number, task in tasks if task in of]
    has_late = any(row.late for row in sheet.rows)
    head = ["student", "points", *map(str, (number for number, _ in tasks)), "status"]
    head += [] if anonymous else [*(["late"] if has_late else []), "note"]
    lines = []
    for number, row in rows:
        name = f"student {number}" if anonymous else _linked(sheet, row)
        cells = [f'<th scope="row">{name}</th>', f"<td><b>{row.final}</b></td>"]
        cells += [_cell(row.points.get(task), of.get(task, 0)) for _, task in tasks]
        cells.append(f"<td>{html.escape(row.record.status)}</td>")
        if not anonymous:
            late = [f"<td>{html.escape(row.late)}</td>"] if has_late else []
            cells += [*late, f'<td class="note">{html.escape(cleaned(row.note))}</td>']
        lines.append(f"<tr>{''.join(cells)}</tr>")
    top = "".join(f'<th scope="col">{name}</th>' for name in head)
    legend = ", ".join(f"{number} {task}" for number, task in tasks)
    said = ("The stronger a cell's colour, the more of the task's points. The tasks: "
            f"{cleaned(legend, 1000)}.")  # fmt: skip
    body = (f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{"".join(lines)}</tbody>'
            "</table></div>")  # fmt: skip
    return _section("Each student", said, body)


def _all(row: Row) -> list[Check]:
    return row.record.report.rows if row.record.report else []


def _order(sheet: Sheet) -> Callable[[Row], str]:
    """By a digest that stays the same while the class does. Who knows names alone can't make it:
    the submissions of all are in it."""
    salt = " ".join(row.record.digest for row in sheet.rows)

    def order(row: Row) -> str:
        return hashlib.sha256(f"{salt} {row.student.key}".encode()).hexdigest()

    return order


def _cell(points: int | None, of: int) -> str:
    if points is None:
        return "<td></td>"
    shade = round(4 * max(0, min(points, of)) / of) if of else 0
    return f'<td class="n h{shade}">{points}</td>'


STYLE = """
main{max-width:62rem}
h1{font-size:clamp(2rem,7vw,3rem)}
a{color:var(--main);text-underline-offset:.2em}
code{font:.95em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
svg .hit{fill:var(--main)}
svg .count{font-size:11px;font-weight:600;fill:var(--ink)}
svg .axis{stroke:var(--soft);stroke-width:1}
svg .middle{fill:var(--warm)}
.rows h3 b{float:right;color:var(--main)}
.parts{display:flex;gap:2px;height:14px;margin-top:.45rem}
.parts i{display:block}
.all{background:var(--main)}
.part{background:repeating-linear-gradient(135deg,var(--main) 0 3px,var(--pale) 3px 7px)}
.none{background:var(--miss);box-shadow:inset 0 0 0 1px var(--soft)}
.open{border:1px dashed var(--soft)}
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;margin-top:1rem;font-size:.9rem}
.legend i{display:inline-block;width:22px;height:12px;margin-right:.4rem;vertical-align:-1px}
.look>li{background:var(--card);border:1px solid var(--line);border-radius:14px;
padding:1rem 1.3rem .4rem;margin-top:1rem;break-inside:auto}
.look>li>p{color:var(--soft);font-size:.94rem}
.look ul{margin-top:.6rem}
.look ul li{border-top:1px solid var(--line);padding:.6rem 0 .7rem}
.found{font:.88rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;margin:0;
overflow-wrap:anywhere}
.look ul p:not(.found){color:var(--soft);font-size:.9rem;margin:.25rem 0 .3rem}
.share{display:grid;grid-template-columns:6rem minmax(4rem,16rem);align-items:center;
font-size:.9rem;margin-top:.3rem}
.share .bar{margin:0}
.look ul code{display:block;background:var(--page);border:1px solid var(--line);border-radius:8px;
padding:.4rem .8rem;font-size:.84rem;white-space:pre-wrap}
.wide{overflow-x:auto;margin-top:1.2rem;border:1px solid var(--line);border-radius:14px;
background:var(--card)}
table{border-collapse:collapse;width:100%;font-size:.86rem}
th,td{padding:.4rem .55rem;border-bottom:1px solid var(--line);text-align:left;
vertical-align:baseline}
thead th{color:var(--soft);font-weight:600;white-space:nowrap}
tbody th{position:sticky;left:0;background:var(--card);font-weight:400;min-width:8rem}
td{white-space:nowrap}
td:last-child{white-space:normal;overflow-wrap:anywhere}
td.note{min-width:11rem}
td.n{text-align:right}
.h1{background:color-mix(in srgb,var(--main) 8%,transparent)}
.h2{background:color-mix(in srgb,var(--main) 15%,transparent)}
.h3{background:color-mix(in srgb,var(--main) 23%,transparent)}
.h4{background:color-mix(in srgb,var(--main) 32%,transparent)}
@media print{@page{margin:1.5cm}.wide{overflow:visible;border:0}table{font-size:7.5pt}
th,td{padding:.15rem .25rem}tbody th{position:static}tr{break-inside:avoid}}
"""
