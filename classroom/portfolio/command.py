"""`python -m classroom portfolio`: write the page, and say where it is."""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path

from classroom.learner import record
from classroom.portfolio.made import made
from classroom.portfolio.page import FILE, Portfolio

HELP = """\
Make one page of what you made in this course: exercises, your own framework, puzzles, speeds,
projects. It is a single file without links or scripts, to be mailed, printed or put on a website.

Neither your name nor a date is on it unless you ask for them:

    python -m classroom portfolio --name "Ada L." --date

Nothing leaves your computer. Exercises and points are those kept in your copy of the course."""


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(
        prog="python -m classroom portfolio",
        description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = whole.add_argument
    add("--name", default="", help="whose page it is; without it, the title is What I built")
    add("--date", nargs="?", const="today", default="", metavar="TEXT",
        help="today's date, or any other text below the title")  # fmt: skip
    add("--out", type=Path, metavar="FILE", help=f"where to write it (default: {FILE} in your copy "
        "of the course); a file that isn't a portfolio is never overwritten")  # fmt: skip
    return whole


def main(arguments: list[str]) -> int:
    told = parser().parse_args(arguments)
    progress = record.place() or record.place(Path.cwd() / record.COPY)  # one step down
    if progress is None:
        print(f"portfolio: there is no {record.COPY}/ here, your own copy of the course. "
              "python3 start.py makes it; run this inside it, or beside it.",
              file=sys.stderr)  # fmt: skip
        return 2
    today = date.today()
    said = f"{today.day} {today:%B %Y}" if told.date == "today" else told.date
    page = Portfolio(made(progress.parent), told.name, said)
    path: Path = told.out or progress.parent / FILE
    try:
        page.save(path)
    except FileExistsError as error:
        print(f"portfolio: {error}, so it was left alone. Choose a different name: --out FILE",
              file=sys.stderr)  # fmt: skip
        return 2
    except OSError as error:
        print(f"portfolio: nothing was written: {error.strerror or error}", file=sys.stderr)
        return 2
    print(page)
    print(f"\nWritten to {path.absolute()}. Open it in a browser.")
    return 0
