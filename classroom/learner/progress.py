"""How far a learner is: `progress()` in a notebook, `python -m classroom progress` in a shell."""

from __future__ import annotations

from pathlib import Path

from classroom.exercises import exercises, parts
from classroom.learner import record
from classroom.mini.helping import exercises as functions_of
from classroom.mini.stages import STAGES
from classroom.pages import filled
from classroom.puzzlebook.game import exercise_of, games

NOWHERE = (
    "Progress is kept in my_course/, your own copy of the course, which python3 start.py makes. "
    "This notebook is somewhere else."
)
HEADINGS = ("part", "", "done", "next", "predictions right first time", "looked up")


def rows(file: Path | None, only: int | None) -> tuple[list[tuple[str, ...]], str]:
    """A row for each part (or that one) under HEADINGS, and what there is to say beside."""
    noted, said = record.read(file) if file else ({}, NOWHERE)
    found: list[tuple[str, ...]] = []
    titled = [(str(part), title, exercises(part)) for part, title in parts().items()]
    titled += [(g.part, g.title, tuple(map(exercise_of, g.puzzles))) for g in games()]
    for part, title, of_it in sorted(titled, key=lambda row: (_number(row[0]), row[0])):
        if only is not None and _number(part) != only:
            continue
        found.append(_row(part, title, record.counts(of_it, noted)))
    if only is None:
        found += [_row(f"mini {stage.name}", stage.title,
                       record.counts(functions_of(stage), noted)) for stage in STAGES]  # fmt: skip
    return found, said


def _number(part: str) -> int:
    """The part that a notebook belongs to: 7, of "7c"."""
    return int(part.rstrip("abc"))


def _row(part: str, title: str, far: record.Counts) -> tuple[str, ...]:
    still = far.still[0].number if far.still else "-"
    first = f"{far.right}/{far.guessed}" if far.guessed else "-"
    return part, title, f"{far.done}/{far.of}", still, first, str(far.helped or "-")


def table(file: Path | None, only: int | None = None) -> tuple[str, str]:
    """The progress kept in a file, of all parts or of one, as text and as HTML."""
    body, said = rows(file, only)
    return as_table(HEADINGS, body, said)


def as_table(
    headings: tuple[str, ...], body: list[tuple[str, ...]], said: str = ""
) -> tuple[str, str]:
    """A table, and a sentence after it, as text and as HTML."""
    widths = [max(map(len, column)) for column in zip(headings, *body, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
             for row in (headings, *body)]  # fmt: skip
    text = "\n".join([*lines, *([said] if said else [])])

    return text, filled("progress.html", headings=headings, body=body, said=said)


def main(arguments: list[str]) -> int:
    if arguments:
        print("python -m classroom progress: exercises done, part by part; it takes no arguments")
        return 0 if set(arguments) <= {"-h", "--help"} else 2
    # At the root of the repository, the copy is one step down.
    print(table(record.place() or record.place(Path.cwd() / record.COPY))[0])
    return 0
