"""A portfolio's drawings, as SVG that takes its colours from the page: light, dark or paper."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10

from classroom.pages import filled, short
from classroom.portfolio.made import Speeds

WIDE, HIGH = 350, 250  # of a roofline: a phone shows it as large as it is
LEFT, RIGHT, TOP, BOTTOM = 38, WIDE - 12, 16, HIGH - 34  # of what is plotted
CLOSEST = 14.0  # from one label to the next
BESIDE = 9.0  # from a label to a line


def roofline(speeds: Speeds) -> str:
    """What the machine can do at most, and each step of the climb below it."""
    assert speeds.roof is not None
    flops, bandwidth = speeds.roof
    rates = list(speeds.rates.values())
    ridge = flops / bandwidth
    across = (min(0.25, ridge / 4), max(4 * speeds.intensity, 4 * ridge))
    up = (min(rates) / 2, 2 * max(flops, *rates))

    def x(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * _along(value, *across)

    def y(value: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * _along(value, *up)

    low = max(across[0], up[0] / bandwidth)  # where the slope enters
    corners = [(low, low * bandwidth), (ridge, flops), (across[1], flops)]
    powers = [10.0**power for power in range(-3, 6)]
    at = x(speeds.intensity)
    return filled(
        "roofline.svg", wide=WIDE, high=HIGH, left=LEFT, right=RIGHT, top=TOP, bottom=BOTTOM,
        rows=[(y(value), f"{value:g}") for value in powers if up[0] <= value <= up[1]],
        columns=[(x(value), f"{value:g}") for value in powers if across[0] <= value <= across[1]],
        roof=" L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in corners), low=x(low),
        at=at, begin=y(rates[0]), end=y(max(rates)), is_right=at > WIDE / 2,
        steps=[(f"{label}: {short(rate)}", y(rate), place, rate == speeds.best)
               for (label, rate), place in zip(speeds.rates.items(),
                                               _apart([*map(y, rates)], y(flops)), strict=True)],
        alt=f"The same multiplication of two matrices, from {short(speeds.first)} to "
        f"{short(speeds.best)} billion operations a second; the computer's limit is "
        f"{short(flops)}.",
    )  # fmt: skip


def _along(value: float, low: float, high: float) -> float:
    return (log10(value) - log10(low)) / (log10(high) - log10(low))


def _apart(places: Sequence[float], roof: float) -> list[float]:
    """Where labels go, from the lowest on the page upwards, none too close to the next one or on
    the roof."""
    found = list(places)
    free = float(HIGH)
    for number in sorted(range(len(found)), key=lambda n: -found[n]):
        found[number] = min(found[number], free)
        if abs(found[number] - roof) < BESIDE:
            found[number] = roof - BESIDE
        free = found[number] - CLOSEST
    return found


def hundred(share: float) -> str:
    """A hundred dots, of which as many are filled as of a hundred digits were read right."""
    return filled("hundred.svg", full=round(100 * share))
