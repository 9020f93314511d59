"""How fast something is on the learner's machine, shown large.

    speeds({"loops as written": slow, "its plan": quick}, operations=2 * n**3)

as a cell's last line times each function and draws a card for each. The numbers differ from machine
to machine. They are in a form that tests of notebooks do not compare; the rest is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from tinyframe.settings import Context
from tinyframe.viz.drawing import MUTED, PAGE, Drawing, width_of, wrapped
from tinyframe.viz.kinds import TEXT
from tinyframe.viz.picture import DrawnPicture

SECONDS = 0.3  # that a function is timed for, in all
FEWEST, MOST = 3, 1000  # times that it runs

LABEL, NUMBER, LINE = 11.0, 22.0, 14.0  # points: letters of a label, of a number; a line's height
GAP, HIGH, PADDING = 14.0, 46.0, 8.0  # points: between cards; a card's height; at its sides
FIRST, OTHERS = "#e6e6e6", "#d3efd0"  # fills


class Card(NamedTuple):
    """A number with its unit, what it is, and a line to stand below it."""

    label: str
    number: str
    below: str = ""


def speeds(ways: Mapping[str, Callable[[], Any]], operations: float | None = None) -> DrawnPicture:
    """A card for each of a few ways of doing one thing, and how much faster than the first it is.

    operations: how many each way does; with it the cards show GFLOP/s, without it the time of a
    run.
    """
    times = least_seconds(ways)
    first = next(iter(times.values()))
    row = []
    for n, (label, took) in enumerate(times.items()):
        number = rate(operations, took) if operations else time_of(took)
        row.append(Card(label, number, faster(first / took, n)))
    return cards(row)


def least_seconds(ways: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """The least that each function took, in seconds.

    They run in turns, so that all of them see the same noise. Before that each runs three times:
    the first compiles, and a TinyJit records the second. DEBUG is 0 meanwhile.
    """
    with Context(DEBUG=0):
        for run in ways.values():
            for _ in range(3):
                run()
        best = {label: seconds_of(run) for label, run in ways.items()}
        turns = int(len(ways) * SECONDS / sum(best.values()))
        for _ in range(max(FEWEST, min(MOST, turns))):
            best = {label: min(best[label], seconds_of(run)) for label, run in ways.items()}
    return best


def seconds_of(run: Callable[[], Any], clock: Callable[[], float] | None = None) -> float:
    """The seconds that one call takes; clock: a different one to read them from."""
    now = clock or perf_counter
    start = now()
    run()
    return now() - start


def rate(operations: float, seconds: float) -> str:
    """Operations in a second: "115.3 GFLOP/s"."""
    return f"{operations / seconds / 1e9:.1f} GFLOP/s"


def time_of(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"


def faster(ratio: float, number: int) -> str:
    """What stands below a card; nothing below the first, which the others are compared with."""
    digits = 0 if ratio >= 10 else 1
    return "" if number == 0 else f"{ratio:.{digits}f} times as fast"


def cards(row: Sequence[Card]) -> DrawnPicture:
    """Cards side by side."""
    width = (PAGE - (len(row) - 1) * GAP) / len(row)
    labels = [wrapped(card.label, width, LABEL) for card in row]
    top = max(map(len, labels)) * LINE + 4
    sheet = Drawing()
    for n, (card, lines) in enumerate(zip(row, labels, strict=True)):
        x = n * (width + GAP)
        for above, line in enumerate(reversed(lines)):
            sheet.words(x, top - 8 - above * LINE, line, LABEL, colour=MUTED)
        sheet.box(x, top, width, HIGH, fill=FIRST if n == 0 else OTHERS, radius=6)
        size = min(
            NUMBER, NUMBER * (width - 2 * PADDING) / width_of(card.number, NUMBER, bold=True)
        )
        sheet.words(x + width / 2, top + HIGH / 2 + 0.36 * size, card.number, size,
                    anchor="middle", bold=True, colour=TEXT)  # fmt: skip
        sheet.words(x + width / 2, top + HIGH + LINE, card.below, LABEL,
                    anchor="middle", bold=True, colour=MUTED)  # fmt: skip
    wide = max(len(card.label) for card in row)
    text = "\n".join(
        f"{card.label:{wide}}  {card.number:>15}  {card.below:>24}".rstrip() for card in row
    )
    return DrawnPicture(f"{len(row)} measurements", text, sheet)
