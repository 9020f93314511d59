"""What is handed in: a file, or for a project that is a folder, the folder or a zip of it.

    files_of(path, "backend.py")    # {"backend.py": b"…", "more/of_it.py": b"…"}

A folder and its zip give the same entries, which are read when they are needed. A zip is never
unpacked where the grader works: its entries are read up to a limit, and what leads out of the
folder is refused by name.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from classroom.grader.report import cleaned

MOST_BYTES = 1 << 20  # of a submission, and of a zip
MOST_FILES = 100
LONGEST = 200  # characters of a path
# by tools; not part of what is handed in
LEFT_BEHIND = {"__pycache__", "__MACOSX", "Thumbs.db"}
BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError,
          ValueError)  # fmt: skip
# Of these, Python decompresses no more at a time than it is asked for.
USUAL = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
IN_A_FILE = "submission.py"  # what it is called where it runs
Files = dict[str, bytes]  # by path from the folder; the one that is loaded comes first


class CannotGrade(Exception):
    """There is nothing to grade, and why; a message for the person who gave the command."""


@dataclass(frozen=True)
class Entry:
    """A file in a folder or a zip, not read yet.

    path: from there, with "/". read: its bytes; CannotGrade where it is not a plain file, or has
    more than `most`, a usual size if nothing is said. date: when it was last changed, in seconds
    since 1970, as the folder or the zip says; 0 where that is not known. problem: why nobody should
    read it.
    """

    path: str
    read: Callable[..., bytes]
    date: float = 0.0
    problem: str = ""


def files_of(path: Path, main: str = "") -> Files:
    """What is there to grade. main: the file of a folder that is loaded; "" where one file is all.

    CannotGrade where it is not there, too large, or leads to somewhere else.
    """
    if not main:
        return {IN_A_FILE: read_submission(path)}
    shown = cleaned(path)
    refuse_links(path)
    if path.is_dir():
        files = gathered(in_folder(path), shown)
    else:
        what = f"{shown} is not a folder; this project is one: name the folder, or a zip of it"
        data = read_submission(path)
        if not data.startswith(b"PK"):
            raise CannotGrade(what)
        with opened(io.BytesIO(data), shown) as archive:
            files = _without_top(gathered(in_zip(archive, shown), shown), main)
    if main not in files:
        raise CannotGrade(f"there is no {main} in {shown}")
    return {main: files.pop(main), **dict(sorted(files.items()))}


def read_submission(path: Path, shown: str = "", most: int = MOST_BYTES) -> bytes:
    """The file's bytes. CannotGrade where it is not a plain file of a usual size. shown: its name
    in what is said about it. most: bytes that it may have.

    A link is not followed, nor is the last folder: in a learner's repository either could lead to
    the solution.
    """
    shown = shown or cleaned(path)
    refuse_links(path, shown)
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise CannotGrade(f"{shown} cannot be read: {error.strerror}") from None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise CannotGrade(f"{shown} is not a file")
        if status.st_size > most:
            size = status.st_size / 1e6
            raise CannotGrade(f"{shown} has {size:.1f} MB; a project's file has at most 1 MB")
        return os.read(file, most)
    finally:
        os.close(file)


def refuse_links(path: Path, shown: str = "") -> None:
    shown = shown or cleaned(path)
    if not os.path.lexists(path):
        raise CannotGrade(f"there is no file {shown}")
    if path.is_symlink() or path.absolute().parent.is_symlink():
        raise CannotGrade(f"{shown} is a symbolic link; give the file that it leads to")


def gathered(entries: Iterable[Entry], shown: str) -> Files:
    """What is in them, within the limits, which are looked at before the next one is read."""
    files: Files = {}
    folders: set[str] = set()
    for entry in entries:
        name = entry.path
        if entry.problem:
            raise CannotGrade(entry.problem)
        above = {parent.as_posix() for parent in PurePosixPath(name).parents}
        if name in files or name in folders or not above.isdisjoint(files):
            raise CannotGrade(f"{shown} has two files called {cleaned(name)}")
        if len(name) > LONGEST:
            raise CannotGrade(f"in {shown}, a path has more than {LONGEST} characters")
        if not name.isprintable():
            raise CannotGrade(f"in {shown}, the name of {cleaned(name)!r} cannot be printed")
        files[name], folders = entry.read(), folders | above
        if sum(map(len, files.values())) > MOST_BYTES:
            raise CannotGrade(f"the files in {shown} have more than 1 MB together")
        if len(files) > MOST_FILES:
            raise CannotGrade(f"{shown} has more than {MOST_FILES} files")
    return files


def in_folder(
    folder: Path,
    enters: Callable[[str], bool] = lambda path: True,
    show: Callable[[str], str] = cleaned,
) -> Iterator[Entry]:
    """Its files, without what tools leave behind, and folders that are links, with a problem.

    enters: whether a folder within is looked into. show: how a path is named in what is said about
    it.
    """
    left = [(folder, "")]
    while left:
        place, above = left.pop()
        try:
            found = sorted(os.scandir(place), key=lambda each: each.name)
        except OSError as error:
            problem = f"{show(above[:-1]) or cleaned(folder)} cannot be read: {error.strerror}"
            if not above:
                raise CannotGrade(problem) from None
            yield Entry(above, partial(read_submission, place), 0.0, problem)
            continue
        for each in found:
            path = above + each.name
            if is_left_behind(each.name):
                continue
            if each.is_dir(follow_symlinks=False):
                if enters(path):
                    left.append((place / each.name, f"{path}/"))
                continue
            problem = ""
            if each.is_symlink() and each.is_dir():
                problem = f"{show(path)} is a symbolic link; give the folder that it leads to"
            read = partial(read_submission, place / each.name, show(path))
            yield Entry(path, read, each.stat(follow_symlinks=False).st_mtime, problem)


def opened(file: IO[bytes] | Path, shown: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except BROKEN as error:
        raise CannotGrade(f"{shown} cannot be unpacked: {cleaned(error)}") from None


def in_zip(archive: zipfile.ZipFile, shown: str) -> Iterator[Entry]:
    """Its files, without what tools leave behind. What leads elsewhere is there with a problem."""
    for entry in archive.infolist():
        if entry.is_dir():
            continue
        path, problem = name_in(entry), ""
        try:
            refuse_entry(entry, shown)
        except CannotGrade as error:
            problem = str(error)
        if problem or not any(map(is_left_behind, path.split("/"))):
            read = partial(_read_entry, archive, entry, shown)
            yield Entry(path, read, _date_of(entry), problem)


def _read_entry(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, shown: str, most: int = MOST_BYTES
) -> bytes:
    try:
        with archive.open(entry) as file:  # what it says of its size may be a lie
            data = file.read(most + 1)
    except BROKEN as error:
        raise CannotGrade(f"{shown} cannot be unpacked: {cleaned(error)}") from None
    if len(data) > most:
        raise CannotGrade(f"in {shown}, {cleaned(name_in(entry))!r} has more than {most >> 20} MB")
    return data


def name_in(entry: zipfile.ZipInfo) -> str:
    """Its path with "/". Many programs write UTF-8 without the flag that says so."""
    name = entry.filename
    if not entry.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode()
        except UnicodeError:
            pass
    return PurePosixPath(name.replace("\\", "/")).as_posix()


def _date_of(entry: zipfile.ZipInfo) -> float:
    try:
        return datetime(*entry.date_time).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


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
    if entry.compress_type not in USUAL:
        raise CannotGrade(f"{of} is packed in an unusual way; make a plain zip")


def _without_top(files: Files, main: str) -> Files:
    """Most zips of a folder hold the folder; some only what is in it."""
    tops = {name.partition("/")[0] for name in files}
    if main in files or len(tops) != 1:
        return files
    return {name.partition("/")[2]: data for name, data in files.items() if "/" in name}


def is_left_behind(name: str) -> bool:
    return name in LEFT_BEHIND or name.startswith(".")
