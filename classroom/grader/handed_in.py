"""What is handed in: a file, or for a project that is a folder, the folder or a zip of it.

    files_of(path, "backend.py")    # {"backend.py": b"…", "more/of_it.py": b"…"}

A folder and its zip give the same files. A zip is never unpacked where the grader works: its
entries are read up to a limit, and what leads out of the folder is refused by name.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from classroom.grader.report import cleaned

MOST_BYTES = 1 << 20  # of a submission, and of a zip
MOST_FILES = 100
LONGEST = 200  # characters of a path
# by tools; not part of what is handed in
LEFT_BEHIND = {"__pycache__", "__MACOSX", "Thumbs.db"}
BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError,
          ValueError)  # fmt: skip
IN_A_FILE = "submission.py"  # what it is called where it runs
Files = dict[str, bytes]  # by path from the folder; the one that is loaded comes first


class CannotGrade(Exception):
    """There is nothing to grade, and why; a message for the person who gave the command."""


def files_of(path: Path, main: str = "") -> Files:
    """What is there to grade. main: the file of a folder that is loaded; "" where one file is all.

    CannotGrade where it is not there, too large, or leads to somewhere else.
    """
    if not main:
        return {IN_A_FILE: read_submission(path)}
    shown = cleaned(path)
    refuse_links(path)
    if path.is_dir():
        files = _gathered(_in_folder(path), shown)
    else:
        what = f"{shown} is not a folder; this project is one: name the folder, or a zip of it"
        data = read_submission(path)
        if not data.startswith(b"PK"):
            raise CannotGrade(what)
        files = _without_top(_gathered(_in_zip(data, shown), shown), main)
    if main not in files:
        raise CannotGrade(f"there is no {main} in {shown}")
    return {main: files.pop(main), **dict(sorted(files.items()))}


def read_submission(path: Path) -> bytes:
    """The file's bytes. CannotGrade where it is not a plain file of a usual size.

    A link is not followed, nor is the last folder: in a learner's repository either could lead to
    the solution.
    """
    refuse_links(path)
    shown = cleaned(path)
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise CannotGrade(f"{shown} cannot be read: {error.strerror}") from None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise CannotGrade(f"{shown} is not a file")
        if status.st_size > MOST_BYTES:
            size = status.st_size / 1e6
            raise CannotGrade(f"{shown} has {size:.1f} MB; a project's file has at most 1 MB")
        return os.read(file, MOST_BYTES)
    finally:
        os.close(file)


def refuse_links(path: Path) -> None:
    shown = cleaned(path)
    if not os.path.lexists(path):
        raise CannotGrade(f"there is no file {shown}")
    if path.is_symlink() or path.absolute().parent.is_symlink():
        raise CannotGrade(f"{shown} is a symbolic link; give the file that it leads to")


def _gathered(found: Iterator[tuple[str, bytes]], shown: str) -> Files:
    """All of them, within the limits, which are looked at before the next one is read."""
    files: Files = {}
    folders: set[str] = set()
    for name, data in found:
        above = {parent.as_posix() for parent in PurePosixPath(name).parents}
        if name in files or name in folders or not above.isdisjoint(files):
            raise CannotGrade(f"{shown} has two files called {cleaned(name)}")
        if len(name) > LONGEST:
            raise CannotGrade(f"in {shown}, a path has more than {LONGEST} characters")
        files[name], folders = data, folders | above
        if sum(map(len, files.values())) > MOST_BYTES:
            raise CannotGrade(f"the files in {shown} have more than 1 MB together")
        if len(files) > MOST_FILES:
            raise CannotGrade(f"{shown} has more than {MOST_FILES} files")
    return files


def _in_folder(folder: Path) -> Iterator[tuple[str, bytes]]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise CannotGrade(f"{cleaned(folder)} cannot be read: {error.strerror}") from None
    for path in entries:
        if _is_left_behind(path.name):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from ((f"{path.name}/{name}", data) for name, data in _in_folder(path))
        else:
            yield path.name, read_submission(path)


def _in_zip(data: bytes, shown: str) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                if entry.is_dir():
                    continue
                refuse_entry(entry, shown)
                path = PurePosixPath(entry.filename)
                if any(map(_is_left_behind, path.parts)):
                    continue
                with archive.open(entry) as file:  # what it says of its size may be a lie
                    yield path.as_posix(), file.read(MOST_BYTES + 1)
    except BROKEN as error:
        raise CannotGrade(f"{shown} cannot be unpacked: {cleaned(error)}") from None


def refuse_entry(entry: zipfile.ZipInfo, shown: str) -> None:
    name, of = entry.filename, f"in {shown}, {cleaned(entry.filename)!r}"
    # Some zips write a folder's sign as on Windows.
    if name.startswith(("/", "\\")) or ":" in name:
        raise CannotGrade(f"{of} is an absolute path; zip the folder itself")
    if ".." in name.replace("\\", "/").split("/"):
        raise CannotGrade(f"{of} leads out of the folder")
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise CannotGrade(f"{of} is a link, or no file; put the file itself into the zip")


def _without_top(files: Files, main: str) -> Files:
    """Most zips of a folder hold the folder; some only what is in it."""
    tops = {name.partition("/")[0] for name in files}
    if main in files or len(tops) != 1:
        return files
    return {name.partition("/")[2]: data for name, data in files.items() if "/" in name}


def _is_left_behind(name: str) -> bool:
    return name in LEFT_BEHIND or name.startswith(".")
