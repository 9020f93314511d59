"""Process replay of a handful of expressions: which kernels does a change alter?

    replay(clone)        # a picture: a box for each expression

The recorder is the repository's (tests/replay), which maintainers run over thousands of kernels.
Here it records what 26 expressions become, in the C of the NULL device, which is the same on every
machine and runs nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from classroom.contributing.scratch import Clone, Text
from classroom.exercise import Wrong
from tinyframe import Tensor
from tinyframe.observe import observing
from tinyframe.viz.drawing import MUTED, Drawing
from tinyframe.viz.picture import DrawnPicture

Make = Callable[[Tensor, Tensor], Tensor]
EXPRESSIONS: dict[str, Make] = {
    "x + y": lambda x, y: x + y,
    "x / y": lambda x, y: x / y,
    "x @ y": lambda x, y: x @ y,
    "x.sum(0)": lambda x, y: x.sum(0),
    "x.mean()": lambda x, y: x.mean(),
    "x.std()": lambda x, y: x.std(),
    "x.square()": lambda x, y: x.square(),
    "x.sqrt()": lambda x, y: x.sqrt(),
    "x.rsqrt()": lambda x, y: x.rsqrt(),
    "x.exp()": lambda x, y: x.exp(),
    "x.log()": lambda x, y: x.log(),
    "x.sin()": lambda x, y: x.sin(),
    "x.tan()": lambda x, y: x.tan(),
    "x.tanh()": lambda x, y: x.tanh(),
    "x.cosh()": lambda x, y: x.cosh(),
    "x.erf()": lambda x, y: x.erf(),
    "x.log1p()": lambda x, y: x.log1p(),
    "x.hypot(y)": lambda x, y: x.hypot(y),
    "x.lerp(y, 0.3)": lambda x, y: x.lerp(y, 0.3),
    "x.relu()": lambda x, y: x.relu(),
    "x.sigmoid()": lambda x, y: x.sigmoid(),
    "x.gelu()": lambda x, y: x.gelu(),
    "x.softmax()": lambda x, y: x.softmax(),
    "x.layernorm()": lambda x, y: x.layernorm(),
    "x.maximum(y)": lambda x, y: x.maximum(y),
    "x.sinc()": lambda x, y: x.sinc(),
}
SAME, CHANGED, NEW = "#d3efd0", "#ffb27a", "#cfe6fa"  # fills
WIDE, HIGH, GAP, ACROSS = 122.0, 24.0, 6.0, 5

Sources = dict[str, list[str]]  # of each expression: the C of its kernels


def kernels(names: Sequence[str] = ()) -> Sources:
    """What kernels these expressions become, with the tinyframe that is imported; all of them where
    none is named. One that can't be made has none."""
    from tests.replay.record import Recorder
    from tests.replay.recording import Recording

    recording = Recording("here", [], [], "NULL")
    recorder = Recorder(recording)
    with observing(recorder):
        for name in names or EXPRESSIONS:
            recorder.begin(name)
            x, y = (Tensor.empty(16, 16, device="NULL") for _ in range(2))
            try:
                EXPRESSIONS[name](x, y).realize()
            except AttributeError:
                continue
    found: Sources = {name: [] for name in names or EXPRESSIONS}
    for kernel in recording.kernels.values():
        for name in kernel.files:
            found[name] += [program.source for program in kernel.programs]
    return {name: sorted(sources) for name, sources in found.items()}


def compared(old: Sources, new: Sources) -> dict[str, str]:
    """Of each expression: "same", "changed", "new", or "" where neither has it."""
    return {
        name: "" if not new[name] else "same" if new[name] == old[name]
        else "changed" if old[name] else "new"
        for name in old
    }  # fmt: skip


class Replay(DrawnPicture):
    """old, new: the kernels of each expression."""

    def __init__(self, old: Sources, new: Sources) -> None:
        self.old, self.new = old, new
        self.states = {name: state for name, state in compared(old, new).items() if state}
        lists = {kind: [n for n, s in self.states.items() if s == kind] for kind in WORDS}
        same, changed, added = lists.values()
        said = f"{len(same)} of {len(old)} expressions have the same kernels, {len(changed)} others"
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


def replay(clone: Any) -> Replay | None:
    """Which kernels a copy generates differently from tinyframe as it is."""
    try:
        return Replay(as_it_is(), clone.job(kernels=[])["kernels"])
    except Wrong as wrong:
        print("\n".join([str(wrong), *(value for _, value in wrong.rows)]))
        return None
