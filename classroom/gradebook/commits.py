"""When a file of a clone was committed, by the clone's own history: its author can write there what
they like."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from classroom.grader.handed_in import CannotGrade, read_submission


def committed(clone: Path, inner: str) -> str:
    """When the last commit that touched the file was made; empty where that can't be told.

    A repository's own settings may start programs, so git is run in an empty one, which has nothing
    of the clone but its objects.
    """
    git, head = clone / ".git", ""
    if shutil.which("git") is None or not _is_folder(git) or not _is_folder(git / "objects"):
        return ""
    try:
        head = _head(git)
    except CannotGrade:
        return ""
    if not head:
        return ""
    with tempfile.TemporaryDirectory(prefix="tinyframe-git-") as empty:
        for name in ("refs", "objects"):
            (Path(empty) / name).mkdir()
        (Path(empty) / "HEAD").write_text("ref: refs/heads/none\n")
        settings = {
            "PATH": os.environ.get("PATH", ""),
            "GIT_DIR": empty,
            "GIT_OBJECT_DIRECTORY": str((git / "objects").absolute()),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_LITERAL_PATHSPECS": "1",
        }
        command = ["git", "log", "-1", "--format=%cI", head, "--", inner or "."]
        try:
            ran = subprocess.run(command, env=settings, cwd=empty, capture_output=True, text=True,
                                 timeout=20)  # fmt: skip
        except (OSError, subprocess.SubprocessError, ValueError):
            return ""
    try:
        found = datetime.fromisoformat(ran.stdout.strip())
        return found.isoformat() if found.astimezone(UTC) and ran.returncode == 0 else ""
    except (ValueError, OverflowError):
        return ""


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _head(git: Path) -> str:
    """The commit that is checked out; empty where there is none."""
    text = read_submission(git / "HEAD").decode(errors="replace").strip()
    if name := re.fullmatch(r"ref: (refs/heads/[^\0]+)", text):
        text = ""
        if (git / name[1]).is_file():
            text = read_submission(git / name[1]).decode(errors="replace").strip()
        elif (git / "packed-refs").is_file():
            packed = read_submission(git / "packed-refs").decode(errors="replace")
            line = re.search(rf"^([0-9a-f]+) {re.escape(name[1])}$", packed, re.MULTILINE)
            text = line[1] if line else ""
    return text if re.fullmatch(r"[0-9a-f]{40}", text) else ""
