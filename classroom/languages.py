"""One kernel in every language that tinyframe writes, side by side, with what differs marked.

in_languages((x + 1).sum(), "C", "OpenCL C", "CUDA C++")
ptx((x + 1).sum())         # what NVIDIA's compiler makes of it, where that is installed
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from classroom.conformed import Story
from tinyframe import Tensor
from tinyframe.codegen import get_program
from tinyframe.device import Device, DeviceUnavailable
from tinyframe.uop.node import Ops, UOp
from tinyframe.viz.drawing import PAGE, Drawing
from tinyframe.viz.kinds import MARKED_TEXT, TEXT
from tinyframe.viz.picture import DrawnPicture

# a language -> the device whose renderer writes it; nothing runs there
WRITTEN_BY = {
    "C": "NULL:CPU",
    "OpenCL C": "NULL:CL",
    "CUDA C++": "NULL:CUDA",
    "Metal": "NULL:METAL",
    "WGSL": "NULL:WEBGPU",
    "the interpreter": "PYTHON",
}
WORD = re.compile(r"\s+|\w+|[^\w\s]")
LETTERS, LINE, TITLE, GAP, EDGE = 6.5, 8.6, 12.0, 10.0, 5.0  # points
ADVANCE = 0.602  # of a letter of the drawing's monospaced font, for each point of its size
ALIKE = 0.35  # below this share of common words nothing is marked: all of it differs
PANEL = "#f7f7f7"
ARCHITECTURE = "compute_80"


def kernel_of(result: Tensor) -> UOp:
    """The last kernel that a Tensor takes."""
    return [item.ast for item in result.schedule() if item.ast.op is Ops.SINK][-1]


def in_languages(result: Tensor, *languages: str) -> DrawnPicture:
    """The source of a Tensor's last kernel in some languages; what isn't in the first is marked.

    languages: rows of WRITTEN_BY, or devices; all of WRITTEN_BY where none is named.
    """
    kernel, names = kernel_of(result), languages or tuple(WRITTEN_BY)
    sources = {
        name: get_program(kernel, Device[WRITTEN_BY.get(name, name)].renderer).src for name in names
    }
    first = WORD.findall(next(iter(sources.values())))
    sheet, text, bottoms = Drawing(), [], [0.0, 0.0]
    for number, (name, source) in enumerate(sources.items()):
        words = marked(first, WORD.findall(source)) if number else _unmarked(source)
        added = Counter(word for word, is_new in words if is_new and word.strip())
        note = f"{len(added)} words of its own" if added else ""
        note = note or ("" if not number else "hardly a word in common")
        text += [f"---- {name}{f': {note}' if note else ''}", source.strip()]
        side = bottoms.index(min(bottoms))
        width = (PAGE - GAP) / 2
        panel = _panel(name, note, words, width)
        sheet.put(panel, side * (width + GAP), bottoms[side])
        bottoms[side] += panel.height + GAP
    said = f"one kernel in {len(sources)} languages"
    return DrawnPicture(said, "\n".join([said, *text]), sheet)


def marked(first: Sequence[str], words: Sequence[str]) -> list[tuple[str, bool]]:
    """Each word, and whether it is none of the first text's, in their order."""
    matcher = SequenceMatcher(None, first, words, autojunk=False)
    if matcher.ratio() < ALIKE:
        return [(word, False) for word in words]
    same = {
        place
        for block in matcher.get_matching_blocks()
        for place in range(block.b, block.b + block.size)
    }
    return [(word, place not in same) for place, word in enumerate(words)]


def _unmarked(source: str) -> list[tuple[str, bool]]:
    return [(word, False) for word in WORD.findall(source)]


def _panel(name: str, note: str, words: Sequence[tuple[str, bool]], width: float) -> Drawing:
    """A text with its marks, in lines that are at most so wide."""
    most = int((width - 2 * EDGE) / (LETTERS * ADVANCE))
    rows: list[list[tuple[int, str, bool]]] = [[]]
    column = 0
    for word, is_new in words:
        if "\n" in word:
            rows += [[] for _ in range(word.count("\n"))]
            column = len(word.rpartition("\n")[2])
            continue
        if column + len(word) > most and word.strip():
            rows.append([])
            column = 6
        if word.strip():
            rows[-1].append((column, word, is_new))
        column += len(word)
    while rows and not rows[-1]:
        rows.pop()
    content = Drawing()
    for number, row in enumerate(rows):
        for column, word, is_new in row:
            x, y = EDGE + column * LETTERS * ADVANCE, TITLE + EDGE + (number + 1) * LINE
            colour = MARKED_TEXT if is_new else TEXT
            content.words(x, y, word, LETTERS, mono=True, bold=is_new, colour=colour)
    panel = Drawing()
    panel.box(0, 0, width, TITLE + 2 * EDGE + len(rows) * LINE + 3, PANEL)
    panel.words(EDGE, TITLE, name, 10, bold=True)
    panel.words(width - EDGE, TITLE, note, 8, anchor="end", colour=MARKED_TEXT)
    panel.put(content, 0, 0)
    return panel


def ptx(result: Tensor) -> Story:
    """The last kernel of a Tensor in PTX, or why there is none here."""
    from tinyframe.gpu.drivers.nvrtc import NVRTC

    source = get_program(kernel_of(result), Device[WRITTEN_BY["CUDA C++"]].renderer).src
    try:
        text = NVRTC(ARCHITECTURE).compile(source).decode()
    except DeviceUnavailable as missing:
        return Story(f"No PTX here: {missing}")
    lines = [line.strip("\0") for line in text.splitlines()]
    return Story("\n".join(line for line in lines if line and not line.startswith("//")))
