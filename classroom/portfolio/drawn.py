"""A portfolio's drawings, as SVG that takes its colours from the page: light, dark or paper."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10

from classroom.portfolio.made import Speeds
from tinyframe.viz.drawing import xml

WIDE, HIGH = 350.0, 250.0  # of a roofline: a phone shows it as large as it is
LEFT, RIGHT, TOP, BOTTOM = 38.0, 12.0, 16.0, 34.0  # around what is plotted
CLOSEST = 14.0  # from one label to the next
BESIDE = 9.0  # from a label to a line
SIDE, STEP = 10, 15.0  # of a hundred dots: in a row, and from one to the next


def roofline(speeds: Speeds) -> str:
    """What the machine can do at most, and each step of the climb below it."""
    assert speeds.roof is not None
    flops, bandwidth = speeds.roof
    rates = list(speeds.rates.values())
    ridge = flops / bandwidth
    across = (min(0.25, ridge / 4), max(4 * speeds.intensity, 4 * ridge))
    up = (min(rates) / 2, 2 * max(flops, *rates))

    def x(value: float) -> float:
        return LEFT + (WIDE - LEFT - RIGHT) * _along(value, *across)

    def y(value: float) -> float:
        return HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * _along(value, *up)

    parts = [_ticks(across, up, x, y)]
    low = max(across[0], up[0] / bandwidth)  # where the slope enters
    corners = [(low, low * bandwidth), (ridge, flops), (across[1], flops)]
    path = " L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in corners)
    floor = y(up[0])
    parts.append(
        f'<path class="under" d="M{path} L{x(across[1]):.1f} {floor:.1f} L{x(low):.1f} '
        f'{floor:.1f} Z"/><path class="roof" d="M{path}"/>'
    )
    at = x(speeds.intensity)
    parts.append(f'<path class="climb" d="M{at:.1f} {y(rates[0]):.1f} V{y(max(rates)):.1f}"/>')
    to_left = at > WIDE / 2
    anchor, aside = ("end", at - 10) if to_left else ("start", at + 10)
    places = _apart([y(rate) for rate in rates], y(flops))
    for (label, rate), place in zip(speeds.rates.items(), places, strict=True):
        best = rate == speeds.best
        parts.append(
            f'<circle class="{"best" if best else "dot"}" cx="{at:.1f}" cy="{y(rate):.1f}" '
            f'r="{5 if best else 3.5}"/><text class="{"said best" if best else "said"}" '
            f'x="{aside:.1f}" y="{place + 3.5:.1f}" text-anchor="{anchor}">'
            f"{xml(label)}: {short(rate)}</text>"
        )
    alt = (
        f"The same multiplication of two matrices, from {short(speeds.first)} to "
        f"{short(speeds.best)} billion operations a second; the computer's limit is {short(flops)}."
    )
    return _svg(WIDE, HIGH, alt, "".join(parts), "roofline")


def _ticks(across: tuple[float, float], up: tuple[float, float], x, y) -> str:
    parts = []
    for power in range(-3, 6):
        value = 10.0**power
        if up[0] <= value <= up[1]:
            parts.append(
                f'<path class="grid" d="M{LEFT} {y(value):.1f} H{WIDE - RIGHT}"/><text class="tick"'
                f' x="{LEFT - 5}" y="{y(value) + 3.5:.1f}" text-anchor="end">{value:g}</text>'
            )
        if across[0] <= value <= across[1]:
            parts.append(
                f'<path class="grid" d="M{x(value):.1f} {TOP} V{HIGH - BOTTOM}"/><text class="tick"'
                f' x="{x(value):.1f}" y="{HIGH - BOTTOM + 13}" text-anchor="middle">{value:g}'
                "</text>"
            )
    middle = LEFT + (WIDE - LEFT - RIGHT) / 2
    parts.append(
        f'<text class="tick" x="{middle:.0f}" y="{HIGH - 5}" text-anchor="middle">operations for '
        f'each byte that is moved</text><text class="tick" x="2" y="10">billion operations a '
        f"second</text>"
    )
    return "".join(parts)


def _along(value: float, low: float, high: float) -> float:
    return (log10(value) - log10(low)) / (log10(high) - log10(low))


def _apart(places: Sequence[float], roof: float) -> list[float]:
    """Where labels go, from the lowest on the page upwards, none too close to the next one or on
    the roof."""
    found = list(places)
    free = HIGH
    for number in sorted(range(len(found)), key=lambda n: -found[n]):
        found[number] = min(found[number], free)
        if abs(found[number] - roof) < BESIDE:
            found[number] = roof - BESIDE
        free = found[number] - CLOSEST
    return found


def hundred(share: float) -> str:
    """A hundred dots, of which as many are filled as of a hundred digits were read right."""
    full = round(100 * share)
    dots = "".join(
        f'<circle class="{"hit" if n < full else "miss"}" cx="{8 + n % SIDE * STEP:g}" '
        f'cy="{8 + n // SIDE * STEP:g}" r="5.5"/>'
        for n in range(100)
    )
    side = 16 + (SIDE - 1) * STEP
    return _svg(side, side, f"{full} of a hundred dots are filled.", dots, "hundred")


def _svg(width: float, height: float, alt: str, inside: str, name: str) -> str:
    return (
        f'<svg class="{name}" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{xml(alt)}">{inside}</svg>'
    )


def short(value: float) -> str:
    """A number with as many digits as are worth reading: 1.8, 107."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.095 else f"{value:.2g}"
