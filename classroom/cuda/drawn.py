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
from tinyframe.tools.warps import WARP, split
from tinyframe.viz.drawing import MUTED, PAGE, Drawing, width_of
from tinyframe.viz.kinds import ARROW, MARKED
from tinyframe.viz.picture import DrawnPicture

READ, WRITTEN, BOTH, RACE = "#cfe6fa", "#ffdf9e", "#d3efd0", "#ffd8b0"
UNTOUCHED, ELSEWHERE = "#f4f4f4", "#e3ecf4"
HIGH, NARROWEST, GAP, TITLE = 21.0, 24.0, 26.0, 18.0  # points
MOST_PHASES = 6  # that are drawn
ABREAST = 16  # elements of an array with one axis, in a row
BEYOND = 8  # cells that are drawn behind the end of an array, to show who was there
LINE = 128  # bytes that memory delivers at once
MOST_LINES = 8  # that are drawn in full


@dataclass(frozen=True)
class Panel:
    """An array in a phase. words: what is in each cell. reads, writes: which cells they happened
    to. elsewhere: which cells only other blocks used. marked: the cell that is in trouble. size: of
    the array; cells from there on are beyond its end."""

    name: str
    words: list[str]
    reads: np.ndarray
    writes: np.ndarray
    elsewhere: np.ndarray
    columns: int
    size: int
    marked: int | None = None

    def fill(self, n: int) -> str:
        if n == self.marked:
            return RACE
        if self.reads[n]:
            return BOTH if self.writes[n] else READ
        if self.writes[n]:
            return WRITTEN
        return ELSEWHERE if self.elsewhere[n] else UNTOUCHED

    def text(self) -> str:
        def cell(n: int) -> str:
            kind = "r" * bool(self.reads[n]) + "w" * bool(self.writes[n])
            word = f"{kind}{self.words[n]}" if kind else "," if self.elsewhere[n] else "."
            return word + "!" * (n == self.marked)

        rows = [
            " ".join(map(cell, range(n, min(n + self.columns, len(self.words)))))
            for n in range(0, len(self.words), self.columns)
        ]
        return f"  {self.name}: {' / '.join(rows)}"


def accesses(run: Run | None) -> DrawnPicture | None:
    """Which thread reads and writes which element, between one barrier and the next. Of a shared
    array, every block has its own; it is drawn for the first, or for the block in trouble. Where
    blocks have two axes, that block is all that is drawn, and the others are pale."""
    if run is None:
        return None
    phases = sorted({int(p) for p in run.log["phase"]}) or [0]
    if len(phases) > MOST_PHASES:
        phases = [*phases[: MOST_PHASES - 1], phases[-1]]
    said, sheet, y = [_summary(run)], Drawing(), 0.0
    for number, phase in enumerate(phases):
        panels = list(_panels(run, phase, phase == phases[-1]))
        if title := _title(phase, phases, number):
            sheet.words(0, y + 12, title, 11, bold=True, colour=MUTED)
            y += TITLE
            said.append(title)
        said += [panel.text() for panel in panels]
        y = _flow(sheet, panels, y) + 12
    legend = [(READ, "read"), (WRITTEN, "written"), (BOTH, "both")]
    legend += [(ELSEWHERE, "by other blocks")] * _shows_one_block(run)
    x = 0.0
    for fill, word in legend:
        sheet.box(x, y, 14, 12, fill, radius=0, thick=0.75)
        sheet.words(x + 19, y + 10, word, 10, colour=MUTED)
        x += 34 + width_of(word, 10)
    sheet.words(x + 6, y + 10, _whose(run), 10, colour=MUTED)
    return DrawnPicture(said[0], "\n".join(said), sheet)


def _summary(run: Run) -> str:
    shared = "" if run.is_global.all() else f", {int((~run.is_global).sum())} to shared memory"
    return f"{len(run.log)} accesses: {run.loads()} loads from the GPU's memory{shared}"


def _shows_one_block(run: Run) -> bool:
    return len(run.launch.grid) > 1 and math.prod(run.launch.grid) > 1


def _has_block(run: Run) -> bool:
    """Whether a label begins with the block."""
    return math.prod(run.launch.grid) > 1 and not _shows_one_block(run)


def _whose(run: Run) -> str:
    thread = "thread" if len(run.launch.block) == 1 else "thread x,y"
    if _shows_one_block(run):
        thread += f" of block {as_index(run.launch.place(_block(run), is_block=True))}"
    return f"the number is the {'block.' * _has_block(run)}{thread}"


def _block(run: Run) -> int:
    """The block whose shared memory is drawn."""
    return run.trouble.block if run.trouble else 0


def _title(phase: int, phases: list[int], number: int) -> str:
    if len(phases) == 1:
        return ""
    if phase == 0:
        return "before the first barrier"
    skipped = phase - phases[number - 1] - 1
    more = f" ({skipped} in between aren't drawn)" if skipped else ""
    return f"after barrier {phase}{more}"


def _label(run: Run, thread: int, block: int, is_shared: bool) -> str:
    name = ",".join(map(str, run.launch.place(thread)))
    if is_shared or not _has_block(run):
        return name
    return f"{as_index(run.launch.place(block, is_block=True))}.{name}"


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
        mark = cell[1] if cell and cell[0] == names[region] else None
        yield _panel(run, region, log[log["region"] == region], mark)


def _panel(run: Run, region: int, its: np.ndarray, mark: int | None) -> Panel:
    name, size, _ = run.regions[region]
    is_shared, trouble = region >= len(run.arrays), run.trouble
    cells = mark + 1 if mark is not None and size <= mark < size + BEYOND else size
    block = _block(run)
    elsewhere = np.zeros(cells, bool)
    if is_shared or _shows_one_block(run):
        if not is_shared:
            elsewhere[its["index"]] = True
        its = its[its["block"] == block]
    who: list[list[str]] = [[] for _ in range(cells)]
    reads, writes = np.zeros(cells, bool), np.zeros(cells, bool)
    for access in its:
        index = int(access["index"])
        (writes if access["is_write"] else reads)[index] = True
        label = _label(run, int(access["thread"]), int(access["block"]), is_shared)
        if label not in who[index]:
            who[index].append(label)
    if mark is not None and size <= mark < cells and trouble:
        who[mark] = [_label(run, trouble.thread, trouble.block, is_shared)]
    one = is_shared and _has_block(run)
    place = as_index(run.launch.place(block, is_block=True))
    called = f"{name}, shared" * is_shared + f", of block {place}" * one or name
    return Panel(
        called, [_together(each) for each in who], reads, writes, elsewhere,
        _columns(run, name, cells), size, mark if mark in range(cells) else None,
    )  # fmt: skip


def _together(labels: list[str]) -> str:
    """Those who were at one cell, as far as there is room."""
    both = " ".join(labels)
    return both if len(labels) < 3 and len(both) < 8 else f"{labels[0]} +{len(labels) - 1}"


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
    """The accesses to an array that a warp makes at once."""
    its = run.accesses_of(name)
    yield from split(its[its["is_write"] == is_write])


def lines_of(group: np.ndarray, itemsize: int = 4) -> list[int]:
    """The numbers of the lines of memory that these accesses are in."""
    return sorted({int(index) * itemsize // LINE for index in group["index"]})


def fetched(run: Run | None, name: str, *, stores: bool = False) -> DrawnPicture | None:
    """The first warp's first access to an array: each thread's element, in the lines that memory
    moves for it. A row is one line."""
    if run is None:
        return None
    found = list(groups(run, name, stores))
    if not found:
        print(f"Nothing to draw: no thread {'writes' if stores else 'reads'} {name}.")
        return None
    group = min(found, key=lambda group: (int(group["block"].min()), int(group["thread"].min())))
    itemsize = run.arrays[name].itemsize
    lines, per_line = lines_of(group, itemsize), LINE // itemsize
    who = {int(a["index"]): int(a["thread"]) % WARP for a in group}
    used, moved = len(who) * itemsize, len(lines) * LINE
    does = "write" if stores else "read"
    count = "1 line moves" if len(lines) == 1 else f"{len(lines)} lines move"
    said = (
        f"{len(group)} threads {does} {name}: {count}, which is {moved} bytes, and {used} of them "
        "are wanted"
    )
    sheet, cell = Drawing(), 17.0
    bottom = sheet.paragraph(0, 0, said, PAGE, 11, bold=True) + 8
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
