"""Lessons for Google Colab: each a notebook alone, whose first cell fetches the rest of the course.

    python -m classroom colab FOLDER    # every lesson with that cell; the site's workflow puts them
                                        # on a branch, from where Colab opens them

Nothing is written down that a fork has to change: the cell gets the repository's address, and the
commit that the lesson belongs to, when it is made.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from classroom.address import ROOT, repository
from classroom.learner.record import COPY

# Jupyter is Colab's own, and without anywidget what can be stepped through is a picture.
NOT_THERE = ("jupyterlab", "jsonschema", "ipykernel", "anywidget")
CELL = """\
#@title Run this first: it fetches the course, once a session (about a minute)
import os, subprocess, sys
HERE = os.environ.get("TINYFRAME_HERE", "/content/the_course")
if not os.path.isdir(HERE + "/classroom"):
    git = ["git", "-C", HERE]
    for command in (
        ["git", "init", "-q", HERE],
        [*git, "fetch", "-q", "--depth", "1", {address!r}, {commit!r}],
        [sys.executable, "-m", "pip", "install", "-qq", *{needs!r}],
        [*git, "checkout", "-q", "FETCH_HEAD"],  # last: what was cut off begins again
    ):
        subprocess.run(command, check=True)
os.environ["TINYFRAME_REPOSITORY"] = {address!r}
sys.path.insert(0, HERE)
from classroom.colab import begin, keep
begin()"""
KEPT = "tinyframe_progress.zip"
HELLO = f"""\
The course is here. What you finish is remembered until Colab closes this session, and what you
write stays in the notebook if you save it (File, Save a copy in Drive). Before you go, keep()
downloads the rest as {KEPT}. Next time, upload that file (the folder on the left)
and then run this cell."""
NOWHERE = (
    "Colab fetches the course from the web, and this repository has no place there that git knows "
    "of. Set TINYFRAME_REPOSITORY to its address."
)
ROOMS = (".progress.json", ".made.json", "mini")  # what isn't in the notebook


def begin(folder: Path = Path("/content")) -> None:
    """Makes the learner's copy of the course, with what was kept of an earlier session, and goes
    there. folder: where an upload lands."""
    from classroom.learner.copy import Copy

    course = Copy(ROOT)
    course.make()
    if (kept := folder / KEPT).is_file():
        with zipfile.ZipFile(kept) as archive:
            mine = [n for n in archive.namelist() if n.split("/")[0] in ROOMS and ".." not in n]
            archive.extractall(course.folder, mine)
        kept.unlink()  # a second run of the cell must not put older work in the place of newer
        print(f"{KEPT} is in place: you go on where you stopped.")
    os.chdir(course.folder / "course")
    print(HELLO)


def keep(download: Callable[[str], Any] | None = None) -> None:
    """Downloads what is remembered of this session, apart from the notebook itself."""
    if download is None:
        from google.colab import files  # type: ignore[import-not-found, unused-ignore]

        download = files.download
    mine = ROOT / COPY
    with zipfile.ZipFile(mine / KEPT, "w") as archive:
        for room in ROOMS:
            for path in [mine / room, *sorted((mine / room).rglob("*.py"))]:
                if path.is_file():
                    archive.write(path, path.relative_to(mine))
    download(str(mine / KEPT))


def needs() -> list[str]:
    """What Colab hasn't got, or maybe has: the packages of a lesson."""
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [
        need for need in asked["dependencies"] + asked["optional-dependencies"]["course"]
        if not need.startswith(NOT_THERE)
    ]  # fmt: skip


def lesson(path: Path, address: str, commit: str) -> dict[str, Any]:
    """A notebook with the cell that fetches the course at this commit, below the title."""
    notebook: dict[str, Any] = json.loads(path.read_text())
    source = CELL.format(address=address, commit=commit, needs=needs())
    cell: dict[str, Any] = {
        "cell_type": "code", "execution_count": None, "id": "fetch", "outputs": [],
        "metadata": {"cellView": "form"}, "source": source,
    }  # fmt: skip
    notebook["cells"].insert(1, cell)
    return notebook


def main(arguments: list[str]) -> int:
    """`python -m classroom colab FOLDER`"""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("python -m classroom colab FOLDER writes the lessons as Google Colab opens them.")
        return 0 if set(arguments) & {"-h", "--help"} else 2
    if not (address := repository()):
        print(NOWHERE, file=sys.stderr)
        return 1
    asked = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((ROOT / "course").glob("*.ipynb")):
        text = json.dumps(lesson(path, address, commit), indent=1, ensure_ascii=False)
        (folder / path.name).write_text(text + "\n")
    return 0
