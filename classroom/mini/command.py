"""`python -m classroom mini`: how far your own framework is; `… mini join`, `… mini train`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from classroom.learner import record
from classroom.mini import loader, stages
from classroom.mini.check import Verdict, listed
from classroom.mini.checking import verdict
from classroom.mini.stages import STAGES, Stage
from classroom.tables import Table

HEADINGS = ("stage", "", "checks", "lines of yours", "of all", "")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m classroom mini", description="Your own framework, stage by stage."
    )
    parser.add_argument(
        "what",
        nargs="?",
        choices=("show", "join", "train"),
        default="show",
        help="show: stages, checks and lines (the default); join: write all stages as one file, "
        "my_mini.py; train: 8x8 digits with what you wrote",
    )
    asked_for = parser.parse_args(arguments)
    if record.place() is None and (Path.cwd() / record.COPY).is_dir():
        os.chdir(record.COPY)  # at the root of the repository, the copy is one step down
    return {"show": show, "join": join, "train": train}[asked_for.what]()


def show() -> int:
    folder = stages.learners_folder()
    if folder is None:
        print("Your own mini is in my_course/mini, which python3 start.py makes. "
              "These are the reference's stages.")  # fmt: skip
        folder = stages.REFERENCE
    rows: list[tuple[str, ...]] = []
    below: dict[str, Path] = {}
    for stage, choice in zip(STAGES, loader.choose(STAGES[-1]), strict=True):
        path = folder / stage.file
        if path.is_file():
            rows.append(_row(stage, path, verdict(stage, below | {stage.module: path})))
        else:
            rows.append((stage.name, stage.title, "-", "-", "-", "the file is not there"))
        below[stage.module] = choice.path
    print(Table(HEADINGS, rows))
    return 0


def _row(stage: Stage, path: Path, found: Verdict) -> tuple[str, ...]:
    try:
        yours, everything = stages.lines_of(stage, path.read_text())
    except SyntaxError:
        return stage.name, stage.title, "-", "-", "-", f"{path.name} does not run"
    passed = f"{found.passed}/{len(found.results)}"
    if found.state == "open":
        said = f"to write: {listed(found.unwritten).replace('`', '')}"
    else:
        said = "" if found.state == "right" else f"check_mini({stage.name}) says what is wrong"
    return stage.name, stage.title, passed, str(yours), str(everything), said


def join() -> int:
    from classroom.mini import joining

    path = joining.join()
    paths = {stage.module: path for stage in STAGES}
    failed = [stage.name for stage in STAGES if verdict(stage, paths).state != "right"]
    lines = len(stages.code_lines(path.read_text()))
    print(f"{path.name}: {lines} lines of code, in {path.parent}")
    if failed:
        print(f"As one file it does not pass the checks of stage {', '.join(failed)}.")
        return 1
    print("As one file it passes the checks of every stage.")
    return 0


def train() -> int:
    from classroom.mini import digits

    choices, _ = loader.use(STAGES[-1])
    print("\n".join(map(str, choices)).replace("`", ""))
    digits.train()
    return 0
