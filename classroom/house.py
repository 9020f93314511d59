"""tinyframe as a house by night: a floor for each folder, a window for each file.

by_walk("a + b")      the windows are lit that an addition passes
by_finds()            those are lit where you've found something in the hunt of part 10c
"""

from __future__ import annotations

from collections.abc import Mapping

from classroom.learner import record
from classroom.paths import floor_of, walked
from classroom.places import within
from classroom.puzzlebook.game import exercise_of
from classroom.puzzlebook.games.hunt import GAME, Question
from classroom.puzzlebook.hunted import Names
from classroom.walking import PACKAGE
from tinyframe.viz.drawing import MUTED, Drawing
from tinyframe.viz.picture import DrawnPicture, Picture

WALL, DARK, LIT, ROOF = "#46506a", "#2b3245", "#ffd764", "#8a5a44"
PALE = "#f2f2f2"  # letters on the wall
WINDOW, SPACE, FLOOR, LEFT, ACROSS = 11.0, 6.0, 21.0, 92.0, 28  # points; and windows on a floor


def floors() -> dict[str, list[str]]:
    """The files of each folder, the folder with most of them last."""
    found: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        found.setdefault(floor_of(within(path)), []).append(within(path))
    return dict(sorted(found.items(), key=lambda floor: (len(floor[1]), floor[0])))


def house(lit: Mapping[str, str], headline: str) -> Picture:
    """The house with some windows lit. lit: their files, and what is said under the pointer."""
    rows = [
        (name if start == 0 else "", files[start : start + ACROSS])
        for name, files in floors().items()
        for start in range(0, len(files), ACROSS)
    ]
    sheet, top = Drawing(), 26.0
    wide = LEFT + ACROSS * (WINDOW + SPACE) + SPACE
    sheet.box(10, 8, wide - 20, 14, ROOF, ROOF, radius=1)
    sheet.box(34, 0, 22, 10, ROOF, ROOF, radius=0)  # the chimney
    sheet.box(0, 20, wide, len(rows) * FLOOR + 10, WALL, WALL, radius=1)
    for name, files in rows:
        sheet.words(10, top + 11, name, 10, colour=PALE)
        for n, file in enumerate(files):
            x, fill = LEFT + n * (WINDOW + SPACE), LIT if file in lit else DARK
            said = f"{file}: {lit[file]}" if file in lit else ""
            sheet.box(x, top, WINDOW, WINDOW + 2, fill, fill, title=said, radius=1)
        top += FLOOR
    sheet.words(0, top + 22, headline, 11, colour=MUTED)
    lines = [headline, *[f"{file:32} {words}" for file, words in lit.items()]]
    return DrawnPicture(headline, "\n".join(lines), sheet)


def by_walk(expression: str) -> Picture:
    """The windows of the files that an expression passes on its way to C."""
    rooms = walked(expression).rooms
    picture = house(dict.fromkeys(rooms, "on the way"), f"the windows that {expression} passes")
    dark = [name for name, files in floors().items() if not rooms.keys() & files]
    picture.text = f"{picture.headline}\nall dark: {', '.join(dark)}"
    return picture


def by_finds() -> Picture:
    """The windows where the learner has found a name, from what is kept of the hunt."""
    file = record.place()
    noted = record.read(file)[0] if file else {}
    lit: dict[str, str] = {}
    for question in GAME.puzzles:
        done = noted.get(exercise_of(question).name, {}).get("done")
        if done and isinstance(question, Question) and isinstance(question.check, Names):
            place = question.check.places[0]
            lit[place.file] = ", ".join(filter(None, [lit.get(place.file), question.name]))
    windows = f"{len(lit)} window{'s' * (len(lit) != 1)}"
    return house(lit, f"{windows} lit by what you've found")
