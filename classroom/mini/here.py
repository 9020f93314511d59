"""The learner's own framework as a strip of its stages, with those that are theirs coloured.

    you_are_here("7b")

Without a copy of the learner's, the stages are the reference's, as far as the course has come.
"""

from __future__ import annotations

from classroom.learner import record
from classroom.mini.stages import STAGES
from classroom.speed import FIRST, OTHERS
from tinyframe.viz.drawing import MUTED, PAGE, Drawing
from tinyframe.viz.kinds import ARROW, MARKED
from tinyframe.viz.picture import DrawnPicture

WORDS = ("index rules", "graph", "kernels", "movement", "gradients", "rules", "C", "devices",
         "fast loops")  # fmt: skip
GAP, TOP, HIGH, SIZE = 9.0, 15.0, 40.0, 10.0  # points


def you_are_here(part: str, is_built: bool = False) -> DrawnPicture:
    """All stages in the order in which they're built. part: the name of one, "7b"; of a part that
    has none, "8d", it comes after them all. is_built: whether this stage's checks have passed."""
    file, names = record.place(), [stage.name for stage in STAGES]
    noted = record.read(file)[0] if file else {}
    come = names.index(part) + is_built if part in names else len(names)
    done = {name for name in names if noted.get(f"mini-{name}", {}).get("done")}
    done |= set() if file else {*names[:come]}
    wide = (PAGE - GAP * (len(STAGES) - 1)) / len(STAGES)
    sheet, told = Drawing(), []
    for n, (stage, words) in enumerate(zip(STAGES, WORDS, strict=True)):
        x, mark, here = n * (wide + GAP), " ✓" * (stage.name in done), stage.name == part
        if n:
            sheet.line([(x - GAP, TOP + HIGH / 2), (x, TOP + HIGH / 2)], arrow=True)
        sheet.box(x, TOP, wide, HIGH, OTHERS if mark else FIRST, radius=6, size=SIZE,
                  line=MARKED["color"] if here else ARROW, thick=2.5 if here else 1,
                  words=[f"{stage.name}{mark}", words])  # fmt: skip
        if here:
            sheet.words(x + wide / 2, SIZE, "you are here", SIZE, anchor="middle", bold=True,
                        colour=MUTED)  # fmt: skip
        told.append(f"{stage.name} {words}{mark}{' (you are here)' * here}")
    if part not in names:
        sheet.words(PAGE, SIZE, f"{part}: you have all of it", SIZE, anchor="end",
                    bold=True, colour=MUTED)  # fmt: skip
        told.append(f"{part}: you have all of it")
    whose = "your own framework" if file else "the reference of your framework"
    return DrawnPicture(f"{whose}, in {part}", f"{whose}: {', '.join(told)}", sheet)
