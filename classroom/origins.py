"""Which line of yours a node comes from, down to the C: what VIZ=1 shows, for one small function.

    def steps():
        doubled = a * 2
        return doubled.sum()

    origins(steps)                  # its lines, and what is left of each in the program
    left_of(steps)                  # {"doubled = a * 2": ["MUL"], …}, as data

`tinyframe/viz/explorer/record.py` watches; nothing here does any following of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from textwrap import dedent
from typing import Any

from classroom.exercise import Wrong
from tinyframe import Tensor
from tinyframe.observe import observing
from tinyframe.uop import GroupOp, Ops
from tinyframe.viz.drawing import MUTED, Drawing, colour_of, width_of
from tinyframe.viz.explorer.record import Recorder
from tinyframe.viz.explorer.rows import below
from tinyframe.viz.explorer.store import Store
from tinyframe.viz.explorer.trace import Trace
from tinyframe.viz.picture import DrawnPicture, Picture

WORK = {*GroupOp.Elementwise, Ops.REDUCE, Ops.SCAN}
NOTHING = "#eeeeee"
CODE, CHIP, LINE = 11.0, 9.5, 25.0  # points: letters of code, of an op; from line to line
WIDEST = 640.0


def left_of(function: Callable[[], Tensor]) -> dict[str, list[str]]:
    """For each line of a function's body: the ops in the finished kernels that come from it, in
    order. Only those that compute something are told."""
    lines = body_of(function)
    recorder = Recorder(Store.temporary(), [])
    with observing(recorder):
        function().realize()
    trace = Trace(recorder.store, recorder.overview)
    found: dict[str, list[str]] = {text: [] for text in lines.values()}
    shown = trace.overview["lines"]  # each a file, a number and the text
    for number in range(len(trace.overview["kernels"])):
        *graphs, _ = trace.described(f"kernel/{number}").stages  # the last one is a list
        for row in below(graphs[-1].roots):
            if row.line is None or row.op not in WORK:
                continue
            _, line, text = shown[row.line]
            if lines.get(line) == text:
                found[text].append(row.op.name)
    return found


def body_of(function: Callable[[], Any]) -> dict[int, str]:
    """The lines of a function by their number in its file, without `def` and what is no code."""
    try:
        source, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise Wrong("Write it as a function, with `def`, in a cell of its own.") from None
    numbered = enumerate(dedent("".join(source)).splitlines(), first)
    rows = [(number, line.partition("  #")[0].strip()) for number, line in numbered]
    return {n: text for n, text in rows if text and not text.startswith(("def ", '"""', "#", "@"))}


def origins(function: Callable[[], Tensor]) -> Picture:
    """The lines of a function, each beside what the program still has of it."""
    found = left_of(function)
    sheet, top = Drawing(), 0.0
    wide = max(width_of(text, CODE, mono=True) for text in found) + 16
    lines = []
    for number, (text, ops) in enumerate(found.items()):
        colour = colour_of(number, len(found)) if ops else NOTHING
        sheet.box(0, top, wide, LINE - 5, colour, radius=2)
        sheet.words(8, top + 14, text, CODE, mono=True)
        counted = {op: ops.count(op) for op in dict.fromkeys(ops)}
        x = wide + 26
        if not ops:
            sheet.words(x, top + 14, "nothing is left", CODE, colour=MUTED)
        else:
            sheet.line([(wide + 4, top + 10), (x - 4, top + 10)], arrow=True)
        for op, count in counted.items():
            word = op if count == 1 else f"{count} {op}"
            across = width_of(word, CHIP) + 14
            if x + across > WIDEST:
                x, top = wide + 26, top + LINE
            sheet.box(x, top, across, LINE - 5, colour, words=[word], size=CHIP, radius=8)
            x += across + 6
        said = ", ".join(f"{count} {op}" for op, count in counted.items()) or "nothing"
        lines.append(f"{text:{max(map(len, found))}}  {said}")
        top += LINE
    return DrawnPicture("what is left of each line", "\n".join(lines), sheet)


def remains(function: Callable[[], Tensor]) -> tuple[bool, ...]:
    """For each line of a function, whether the program has anything of it."""
    return tuple(bool(ops) for ops in left_of(function).values())
