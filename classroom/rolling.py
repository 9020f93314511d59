"""A ball that rolls downhill by a learner's own gradients, and a file that keeps what moved it.

roll(height, Number, start=4.0)    # the path down, drawn
keep(Number)                       # the class as my_course/mini/number.py
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.exercise import judge
from classroom.exercises import find
from classroom.learner import record
from classroom.written import written
from tinyframe.viz.charts import LINES
from tinyframe.viz.drawing import MUTED, PAGE, Drawing, n
from tinyframe.viz.kinds import ARROW
from tinyframe.viz.picture import DrawnPicture, Picture

EXERCISE = "1.8"
NOT_YET = f"Nothing moves yet: the ball asks your Number, exercise {EXERCISE}, where down is."
STEPS, SECONDS = 60, 6  # downhill, and how long the ball takes for them
HIGH, ABOVE, SIDE = 190.0, 26.0, 24.0  # points: of the valley, and around it


def roll(height: Callable[[Any], Any], kind: type, start: float, rate: float = 0.3) -> Any:
    """Steps downhill from `start`, each against the gradient, over a valley of one number.

    height: of a Number, the Number that is to become small. rate: how far a step goes for each unit
    of slope.
    """
    if judge(find(EXERCISE), kind).state != "right":
        print(NOT_YET)
        return None
    path, x = list[tuple[float, float]](), float(start)
    for _ in range(STEPS + 1):
        ball = kind(x)
        ground = height(ball)
        path.append((x, ground.value))
        ground.backward()
        x -= rate * ball.grad
        if not abs(x) < 1e6:
            print(f"It's gone: step {len(path)} threw it to {x:.3g}. Try a smaller `rate`.")
            return None
    return _picture(path, lambda x: height(kind(x)).value)


def _picture(path: list[tuple[float, float]], height: Callable[[float], float]) -> Picture:
    places = [x for x, _ in path]
    room = 0.25 * (max(places) - min(places)) + 0.5
    ground = [(x, height(x)) for x in np.linspace(min(places) - room, max(places) + room, 160)]
    (left, right), heights = (ground[0][0], ground[-1][0]), [y for _, y in [*ground, *path]]
    low, high = min(heights), max(heights)

    def at(x: float, y: float) -> tuple[float, float]:
        across = SIDE + (PAGE - 2 * SIDE) * (x - left) / (right - left)
        return across, ABOVE + HIGH * (high - y) / ((high - low) or 1.0)

    sheet, points = Drawing(), [at(x, y) for x, y in path]
    line = " ".join(f"{n(x)},{n(y)}" for x, y in (at(*place) for place in ground))
    sheet.parts.append(f'<polyline points="{line}" fill="none" stroke="{ARROW}" stroke-width="2"/>')
    for x, y in points:
        sheet.parts.append(
            f'<circle cx="{n(x)}" cy="{n(y - 5)}" r="4" fill="{LINES[0][0]}" opacity="0.25"/>'
        )
    (x, y), (first, _), (last, lowest) = points[-1], path[0], path[-1]
    stops = "".join(
        f"{n(100 * step / STEPS)}%{{transform:translate({n(px - x)}px,{n(py - y)}px)}}"
        for step, (px, py) in enumerate(points)
    )
    sheet.parts.append(
        f"<style>@keyframes rolls{{{stops}}}.rolls{{animation:rolls {SECONDS}s linear}}"
        "@media (prefers-reduced-motion:reduce){.rolls{animation:none}}</style>"
        f'<circle class="rolls" cx="{n(x)}" cy="{n(y - 8)}" r="8" fill="{LINES[0][0]}"/>'
    )
    sheet.words(
        *(points[0][0], points[0][1] - 14), f"x = {first:g}", 11, anchor="middle", colour=MUTED
    )
    sheet.words(x, y + 22, f"x = {last:.3f}", 12, anchor="middle", bold=True, colour=MUTED)
    down = f"the height from {path[0][1]:.3f} to {lowest:.3f}"
    told = f"{STEPS} steps, each against the slope that your backward() found: {down}."
    sheet.words(SIDE, ABOVE + HIGH + 40, told, 11, colour=MUTED)
    sheet.width = PAGE
    text = f"{STEPS} steps: x from {first:g} to {last:.3f}, {down}"
    return DrawnPicture("a ball that rolls downhill", text, sheet)


def keep(kind: type) -> None:
    """Write the class, as the learner's cell has it, to mini/number.py of their copy."""
    if judge(find(EXERCISE), kind).state != "right":
        print("There's nothing to keep yet.")
    elif (progress := record.place()) is None:
        print("It's kept in my_course/, your own copy of the course. This notebook isn't in there.")
    else:
        place = progress.parent / "mini" / "number.py"
        text = f"import math\n\n\n{_source(kind)}\n"
        if place.is_file() and place.read_text() != text:
            place.replace(place.with_name("number_before.py"))  # the learner may have gone on there
        written(place, text)
        print("It's in mini/number.py, and it's yours.")


def _source(kind: type) -> str:
    """What a class says in its cell or its file, up to where the next statement begins."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    cells = shell.user_ns["In"] if shell else [inspect.getsource(kind)]
    begins = f"class {kind.__name__}"
    cell = next(cell for cell in reversed(cells) if begins in cell and "def backward" in cell)
    lines = cell[cell.index(begins) :].splitlines()
    ends = [number for number, line in enumerate(lines) if number and line[:1].strip()]
    return "\n".join(lines[: ends[0] if ends else None]).rstrip()
