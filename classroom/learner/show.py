"""What a check says, below its cell: HTML with a text beside it; outside a notebook, the text.

A sign, a word and a colour say the same thing. Text keeps the colour of the page, so it can be read
on light and on dark.
"""

from __future__ import annotations

import base64
import re
from contextlib import suppress
from pathlib import Path

from markupsafe import Markup

from classroom.exercise import Exercise, Graphs, Outcome
from classroom.pages import filled

SIDES = ("yours", "what was asked for")
SIGNS = {"right": "✓", "wrong": "✗", "open": "○", "hint": "?", "note": "!"}
COLORS = {"right": "#2e9e5b", "wrong": "#d1603d", "open": "#8a8f98", "hint": "#4a90d9"}


def outcome(found: Outcome, note: str = "", link: str = "") -> None:
    """Show what a check found. link: HTML below it."""
    exercise = found.exercise
    if exercise.shown_by and found.state != "open":
        _prediction(found, note)
        return
    words = found.text
    if found.state == "open" and not words:
        words = exercise.title + "." * (not exercise.title.endswith("?"))
    message(found.state, f"{exercise.number} {found.state}.", words, found.rows, note, link=link)
    if found.graphs is not None:
        graphs(found.graphs)


def _prediction(found: Outcome, note: str) -> None:
    """Whether a guess was right, and what explains it, to be unfolded."""
    exercise = found.exercise
    verdict = "right" if found.state == "right" else f"not this time: {found.text}"
    words = f"Run {exercise.shown_by} to see what happens."
    message(found.state, f"{exercise.number} {verdict}.", words, note=note,
            folded=("Why", exercise.because))  # fmt: skip


def answer(exercise: Exercise, code: str, note: str = "") -> None:
    """Show a worked answer, and the reason for it."""
    what = "the answer" if exercise.shown_by else "a worked answer"
    message("hint", f"{exercise.number}, {what}:", "", note=note, code=code,
            after=exercise.because)  # fmt: skip


def graphs(two: Graphs) -> None:
    """The learner's graph beside the one that was asked for, with what differs marked."""
    from tinyframe.viz import compare

    with suppress(Exception):  # a learner's node may be one that has no words; that has been said
        picture = compare(two.got, two.asked, titles=SIDES, **two.names)
        both(picture.text, picture._repr_mimebundle_().get("text/html", ""))


def message(
    kind: str,
    head: str,
    words: str,
    rows: tuple[tuple[str, str], ...] = (),
    note: str = "",
    *,
    code: str = "",
    after: str = "",
    folded: tuple[str, str] = ("", ""),
    link: str = "",
) -> None:
    """A sign and a bold beginning, a sentence, rows of (label, value), code, a sentence after it, a
    smaller note, what has to be unfolded to be read: (its title, the words), and HTML."""
    sign = SIGNS[kind]
    width = max((len(label) for label, _ in rows), default=0)
    lines = [" ".join(part for part in (sign, head, words) if part)]
    lines += [f"    {label:{width}}  {value}" for label, value in rows]
    lines += [f"    {line}".rstrip() for line in code.splitlines()]
    lines += [part for part in (after, note) if part]

    title, secret = folded
    lines += [f"{title}: {secret}"] * bool(secret)
    both("\n".join(lines), filled(
        "message.html", color=COLORS.get(kind, COLORS["open"]), sign=sign, head=head, words=words,
        rows=rows, code=code, after=after, note=note, title=title, secret=secret,
        link=Markup(link),
    ))  # fmt: skip


def picture(file: Path) -> None:
    """An SVG that says in its <title> and <desc> what is in it; FileNotFoundError."""
    svg = file.read_text()
    said = [" ".join(words.split()) for words in re.findall(r"<(?:title|desc).*?>([^<]*)<", svg)]
    data = base64.b64encode(svg.encode()).decode()
    alt = " ".join(said)
    both(alt, f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}" style="max-width: 100%">')


def both(text: str, as_html: str) -> None:
    """Shown as HTML where that can be seen, else printed as text."""
    if as_html and _in_notebook():
        from IPython.display import publish_display_data

        publish_display_data({"text/plain": text, "text/html": as_html})
    else:
        print(text)


def _in_notebook() -> bool:
    """Whether an IPython kernel runs this."""
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return False
    return getattr(get_ipython(), "kernel", None) is not None
