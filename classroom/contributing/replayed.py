"""Process replay as a picture: which kernels does a change alter?

replay(clone)        # a box for each expression of recorded.py
drive_by()           # the diff of five changes that nobody asked for (drive_by.py)
after_drive_by()     # a replay with all five
"""

from __future__ import annotations

import difflib
from functools import cache

from classroom.contributing.drive_by import HUNKS
from classroom.contributing.recorded import Sources, compared
from classroom.contributing.scratch import Clone, Text
from classroom.exercise import Wrong
from tinyframe.viz.drawing import MUTED, Drawing
from tinyframe.viz.picture import DrawnPicture

SAME, CHANGED, NEW = "#d3efd0", "#ffb27a", "#cfe6fa"  # fills
WIDE, HIGH, GAP, ACROSS = 122.0, 24.0, 6.0, 5


class Replay(DrawnPicture):
    """old, new: the kernels of each expression."""

    def __init__(self, old: Sources, new: Sources) -> None:
        self.old, self.new = old, new
        self.states = {name: state for name, state in compared(old, new).items() if state}
        lists = {kind: [n for n, s in self.states.items() if s == kind] for kind in WORDS}
        same = lists["same"]
        said = f"the same kernels: {len(same)} of {len(self.states)} expressions"
        lines = [said] + [f"  {WORDS[k]}: {', '.join(n)}" for k, n in lists.items()
                          if n and k != "same"]  # fmt: skip
        super().__init__(said, "\n".join(lines), _drawn(self.states))

    def of(self, name: str) -> Text:
        """What became different in the C of an expression."""
        if name not in self.old:
            return Text([f"There is no {name!r}. There are: {', '.join(self.old)}"])
        rows: list[str] = []
        for old, new in zip(self.old[name], self.new[name], strict=False):
            before, after = old.splitlines(), new.splitlines()
            rows += [*difflib.unified_diff(before, after, n=0, lineterm="")][2:]
        return Text(["@@" if row.startswith("@@") else row for row in rows] or ["No difference."])


WORDS = {"same": "the same", "changed": "different", "new": "new"}


def _drawn(states: dict[str, str]) -> Drawing:
    sheet = Drawing()
    fills = {"same": SAME, "changed": CHANGED, "new": NEW}
    for place, (name, state) in enumerate(states.items()):
        row, column = divmod(place, ACROSS)
        x, y = column * (WIDE + GAP), row * (HIGH + GAP)
        sheet.box(x, y, WIDE, HIGH, fills[state], fills[state], [name], radius=3, size=10,
                  title=f"{name}: {WORDS[state]}")  # fmt: skip
    below = (len(states) - 1) // ACROSS * (HIGH + GAP) + HIGH + 16
    for place, (kind, fill) in enumerate(fills.items()):
        sheet.box(place * 100, below - 9, 12, 12, fill, fill)
        sheet.words(place * 100 + 18, below + 1, WORDS[kind], 10, colour=MUTED)
    return sheet


@cache
def as_it_is() -> Sources:
    """What the expressions become without any change."""
    return Clone().job(kernels=[])["kernels"]


def replay(clone: Clone) -> Replay | None:
    """Which kernels a copy generates differently from tinyframe as it is."""
    if not [*clone.changed()]:
        return Replay(as_it_is(), as_it_is())
    try:
        return Replay(as_it_is(), clone.job(kernels=[])["kernels"])
    except Wrong as wrong:
        print("\n".join([str(wrong), *(value for _, value in wrong.rows)]))
        return None


# ---- five changes that nobody asked for ----------------------------------------------------------


def drive_by() -> Text:
    """The diff of all five."""
    lines: list[str] = []
    for letter, hunk in HUNKS.items():
        lines += [f"@@ {letter}, {hunk.function}", f"-    {hunk.old}", f"+    {hunk.new}"]
    return Text(lines)


def after_drive_by() -> Replay:
    """What kernels are generated with all five, beside those without."""
    clone = Clone()
    for hunk in HUNKS.values():
        clone.save(hunk.path, clone.text(hunk.path).replace(hunk.old, hunk.new))
    return Replay(as_it_is(), clone.job(kernels=[])["kernels"])
