"""What threads do with memory, drawn.

accesses(run)        which thread reads and writes which element, from barrier to barrier
fetched(run, "a")    the lines of 128 bytes that a warp's accesses to an array take
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from classroom.cuda.running import Run, as_index
from tinyframe.viz.drawing import MUTED, PAGE, Drawing, width_of
from tinyframe.viz.kinds import ARROW, MARKED
from tinyframe.viz.picture import DrawnPicture

READ, WRITTEN, BOTH, UNTOUCHED, RACE = "#cfe6fa", "#ffdf9e", "#d3efd0", "#f4f4f4", "#ffd8b0"
HIGH, NARROWEST, GAP, TITLE = 21.0, 24.0, 26.0, 18.0  # points
MOST_PHASES = 6  # that are drawn
ABREAST = 16  # elements of an array with one axis, in a row
BEYOND = 8  # cells that are drawn behind the end of an array, to show who was there
WARP, LINE = 32, 128  # threads that go in step; bytes that memory delivers at once
MOST_LINES = 8  # that are drawn in full


@dataclass(frozen=True)
class Panel:
    """An array in a phase. words: what is in each cell. reads, writes: which cells they happened
    to. marked: the cell that is in trouble. beyond: how many cells come after the array's end."""

    name: str
    words: list[str]
    reads: np.ndarray
    writes: np.ndarray
    columns: int
    marked: int | None = None
    size: int = 0

    def fill(self, n: int) -> str:
        if n == self.marked:
            return RACE
        if self.reads[n]:
            return BOTH if self.writes[n] else READ
        return WRITTEN if self.writes[n] else UNTOUCHED

    def text(self) -> str:
        def cell(n: int) -> str:
            kind = "r" * bool(self.reads[n]) + "w" * bool(self.writes[n])
            return f"{kind}{self.words[n]}{'!' * (n == self.marked)}" if kind else "."

        rows = [
            " ".join(map(cell, range(n, min(n + self.columns, len(self.words)))))
            for n in range(0, len(self.words), self.columns)
        ]
        return f"  {self.name}: {' / '.join(rows)}"


def accesses(run: Run) -> DrawnPicture:
    """Which thread reads and writes which element, between one barrier and the next. Of a shared
    array, every block has its own; it is drawn for the first, or for the block in trouble."""
    phases = sorted({int(p) for p in run.log["phase"]}) or [0]
    if len(phases) > MOST_PHASES:
        phases = [*phases[: MOST_PHASES - 1], phases[-1]]
    said, sheet, y = [_summary(run)], Drawing(), 0.0
    for number, phase in enumerate(phases):
        last = phase == phases[-1]
        panels = list(_panels(run, phase, last))
        title = _title(phase, phases, number)
        if title:
            sheet.words(0, y + 12, title, 11, bold=True, colour=MUTED)
            y += TITLE
            said.append(title)
        said += [panel.text() for panel in panels]
        y = _flow(sheet, panels, y) + 12
    legend = [(READ, "read"), (WRITTEN, "written"), (BOTH, "both")]
    x = 0.0
    for fill, word in legend:
        sheet.box(x, y, 14, 12, fill, radius=0, thick=0.75)
        sheet.words(x + 19, y + 10, word, 10, colour=MUTED)
        x += 32 + width_of(word, 10)
    sheet.words(x + 6, y + 10, _whose(run), 10, colour=MUTED)
    return DrawnPicture(said[0], "\n".join(said), sheet)


def _summary(run: Run) -> str:
    shared = "" if run.is_global.all() else f", {int((~run.is_global).sum())} to shared memory"
    return f"{len(run.log)} accesses: {run.loads()} loads from the GPU's memory{shared}"


def _whose(run: Run) -> str:
    thread = "thread" if len(run.launch.block) == 1 else "thread x,y"
    if math.prod(run.launch.grid) == 1:
        return f"the number is the {thread}"
    return f"the number is the {'block' if len(run.launch.grid) == 1 else 'block x,y'}.{thread}"


def _title(phase: int, phases: list[int], number: int) -> str:
    if len(phases) == 1:
        return ""
    if phase == 0:
        return "before the first barrier"
    skipped = phase - phases[number - 1] - 1
    more = f" ({skipped} in between aren't drawn)" if skipped else ""
    return f"after barrier {phase}{more}"


def _label(run: Run, access: np.void, is_shared: bool) -> str:
    thread = ",".join(map(str, run.launch.place(int(access["thread"]))))
    if is_shared or math.prod(run.launch.grid) == 1:
        return thread
    block = ",".join(map(str, run.launch.place(int(access["block"]), is_block=True)))
    return f"{block}.{thread}"


def _panels(run: Run, phase: int, last: bool) -> Iterator[Panel]:
    """The arrays that are touched in a phase: those read first, the shared ones, those written."""
    log = run.log[run.log["phase"] == phase]
    trouble = run.trouble
    cell = trouble.cell if trouble and last else None
    touched = {int(n) for n in log["region"]}
    names = [name for name, *_ in run.regions]
    if cell and cell[0] in names:
        touched.add(names.index(cell[0]))
    outputs = len(run.arrays)

    def order(region: int) -> tuple[int, int]:
        writes = bool(log[log["region"] == region]["is_write"].any())
        return (1 if region >= outputs else 2 if writes else 0), region

    for region in sorted(touched, key=order):
        name, size, _ = run.regions[region]
        is_shared = region >= outputs
        its = log[log["region"] == region]
        block = 0
        if is_shared and len(its):
            block = int(its["block"][-1 if trouble else 0])
            its = its[its["block"] == block]
        mark = cell[1] if cell and cell[0] == name else None
        cells = size
        if mark is not None and size <= mark < size + BEYOND:
            cells = mark + 1
        yield _panel(run, name, cells, its, is_shared, mark if mark in range(cells) else None,
                     block, size)  # fmt: skip


def _panel(
    run: Run, name: str, cells: int, its: np.ndarray, is_shared: bool, mark: int | None, block: int,
    size: int,
) -> Panel:  # fmt: skip
    who: list[list[str]] = [[] for _ in range(cells)]
    reads, writes = np.zeros(cells, bool), np.zeros(cells, bool)
    for access in its:
        index = int(access["index"])
        (writes if access["is_write"] else reads)[index] = True
        label = _label(run, access, is_shared)
        if label not in who[index]:
            who[index].append(label)
    words = [
        " ".join(each) if len(each) < 3 else f"{each[0]} +{len(each) - 1}" for each in who
    ]
    columns = _columns(run, name, cells)
    blocks = math.prod(run.launch.grid)
    place = as_index(run.launch.place(block, is_block=True))
    called = f"{name}, shared" + f", of block {place}" * (blocks > 1) if is_shared else name
    return Panel(called, words, reads, writes, columns, mark, size)


def _columns(run: Run, name: str, cells: int) -> int:
    array = run.arrays.get(name)
    shape = array.shape if array is not None else run.kernel.shared_shapes.get(name, (cells,))
    return shape[-1] if len(shape) > 1 else min(cells, ABREAST)


def _flow(sheet: Drawing, panels: list[Panel], y: float) -> float:
    """Panels beside one another where they fit; gives where the last row of them ends."""
    x, below = 0.0, y
    for panel in panels:
        drawn = _grid(panel)
        if x and x + drawn.width > PAGE:
            x, y = 0.0, below + 8
        sheet.put(drawn, x, y)
        below = max(below, y + drawn.height)
        x += drawn.width + GAP
    return below


def _grid(panel: Panel) -> Drawing:
    sheet = Drawing()
    sheet.words(0, 11, panel.name, 11, colour=MUTED, bold=True)
    wide = max([NARROWEST, *(width_of(word, 10) + 6 for word in panel.words)])
    order = sorted(range(len(panel.words)), key=lambda n: n == panel.marked)
    for n in order:
        row, column = divmod(n, panel.columns)
        marked = n == panel.marked
        sheet.box(
            column * wide, TITLE + row * HIGH, wide, HIGH, panel.fill(n),
            MARKED["color"] if marked else ARROW, [panel.words[n]], radius=0,
            thick=2.5 if marked else 0.75, dashed=n >= panel.size, size=10,
            title=f"{panel.name}[{n}]",
        )  # fmt: skip
    return sheet


# ---- what memory delivers ------------------------------------------------------------------------


def groups(run: Run, name: str, is_write: bool) -> Iterator[np.ndarray]:
    """The accesses to an array that a warp makes at once: the same line of the kernel, in the same
    turn of its loops."""
    its = run.accesses_of(name)
    its = its[its["is_write"] == is_write]
    turn: dict[tuple[int, ...], int] = {}
    made: dict[tuple[int, ...], list[np.void]] = {}
    for access in its:
        thread, block, line = (int(access[key]) for key in ("thread", "block", "line"))
        nth = turn[block, thread, line] = turn.get((block, thread, line), -1) + 1
        made.setdefault((block, thread // WARP, line, nth), []).append(access)
    for group in made.values():
        yield np.array(group, its.dtype)


def lines_of(group: np.ndarray, itemsize: int = 4) -> list[int]:
    """The numbers of the lines of memory that these accesses are in."""
    return sorted({int(index) * itemsize // LINE for index in group["index"]})


def lines_fetched(run: Run, name: str, is_write: bool = False) -> int:
    """How many lines memory has to move for all accesses to an array; one that two warps want is
    counted twice."""
    itemsize = run.arrays[name].itemsize
    return sum(len(lines_of(group, itemsize)) for group in groups(run, name, is_write))


def fetched(run: Run, name: str, *, stores: bool = False) -> DrawnPicture:
    """The first warp's first access to an array: each thread's element, in the lines that memory
    moves for it. A row is one line."""
    group = next(groups(run, name, stores))
    itemsize = run.arrays[name].itemsize
    lines, per_line = lines_of(group, itemsize), LINE // itemsize
    who = {int(a["index"]): int(a["thread"]) % WARP for a in group}
    used, moved = len(who) * itemsize, len(lines) * LINE
    moves = "stores" if stores else "loads"
    count = f"{len(lines)} line{'s' * (len(lines) != 1)}"
    said = (
        f"{len(group)} threads, {moves} of `{name}`: {count} of {LINE} bytes move, {moved} bytes in "
        f"all, and {used} of them are wanted"
    )
    sheet, cell = Drawing(), 17.0
    bottom = sheet.paragraph(0, 0, said.replace("`", ""), PAGE, 11, bold=True) + 8
    text = [said]
    drawn = lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], lines[-1]]
    for row, line in enumerate(drawn):
        skipped = line - drawn[row - 1] - 1 if row and len(drawn) < len(lines) else 0
        if skipped and row == len(drawn) - 1:
            sheet.words(88, bottom + 12, f"… {len(lines) - len(drawn)} more lines …", 10,
                        colour=MUTED)  # fmt: skip
            bottom += 20
        sheet.words(0, bottom + 13, f"bytes from {line * LINE}", 10, colour=MUTED)
        for n in range(per_line):
            thread = who.get(line * per_line + n)
            sheet.box(
                88 + n * cell, bottom, cell, 18, READ if thread is not None else UNTOUCHED,
                words=[str(thread)] if thread is not None else [], radius=0, thick=0.5, size=9,
            )  # fmt: skip
        wanted = [str(who.get(line * per_line + n, ".")) for n in range(per_line)]
        text.append(f"  bytes from {line * LINE}: {' '.join(wanted)}")
        bottom += 20
    return DrawnPicture(said, "\n".join(text), sheet)
