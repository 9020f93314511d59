"""The disk cache: nothing is compiled twice, in this process or a later one.

`cached("programs", (identity, source), make)` gives the result of the first `make()` for this key.
An entry is one file, named by the SHA-256 of its key:

    TINYFRAME_CACHE/programs/3f/3f0c…a1     the bytes, then their SHA-256, then a mark

The checksum is at the end, so that a shared library can be loaded straight from its entry. A
truncated or damaged entry is detected and made again. Entries are written to a temporary file which
is then renamed, so any number of processes may share a folder.

Code is loaded from the folder, so it must be private: a folder that somebody else owns or can write
to is not used. In that case, or if it cannot be written, the session continues without a cache
after one warning.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tinyframe.settings import settings

if TYPE_CHECKING:
    import tempfile

# a higher number invalidates all entries written before
MARK = b"tinyframe cache\x02"
_TAIL = 32 + len(MARK)

# The size limit of a folder of entries; beyond it the oldest are deleted. A kernel is about 16 kB.
MOST_BYTES = 256 << 20
# The size is checked at the first write of a process, and at every 256th after that.
_CHECK_EVERY = 256


class CacheWarning(UserWarning):
    """The disk cache is not used; the message says why."""


class Cached(bytes):
    """Bytes that the file `path` begins with, if it is not None; its checksum and mark follow."""

    path: Path | None

    def __new__(cls, data: bytes, path: Path | None = None) -> Cached:
        found = super().__new__(cls, data)
        found.path = path
        return found


def cached(kind: str, key: Iterable[str], make: Callable[[], bytes]) -> Cached:
    """The result of `make()` for this key, from the disk if it is there.

    kind: the subfolder. key: everything the result depends on. With CACHE=0, or if the folder
    cannot be used, `make()` is called every time.
    """
    folder = cache_folder()
    if folder is None:
        return Cached(make())
    path = _entry(folder, kind, key)
    if (data := _read(path)) is not None:
        return Cached(data, path)
    data = make()
    return Cached(data, path if _write(folder, path, data) else None)


def forget(kind: str, key: Iterable[str]) -> None:
    """Deletes the entry of this key: it is intact, but out of date."""
    folder = cache_folder()
    if folder is not None:
        with contextlib.suppress(OSError):
            _entry(folder, kind, key).unlink()


def cache_folder() -> Path | None:
    """The folder, created if missing. None with CACHE=0, or after a warning if it is unusable."""
    if not settings.CACHE:
        return None
    folder = settings.TINYFRAME_CACHE
    if folder not in _usable:
        _usable[folder] = _prepare(folder)
    return folder if _usable[folder] else None


def place_for(program: str) -> Path:
    """A folder for another program's cache: in ours, or if that cannot be used, in one that is
    deleted when this process ends."""
    return (cache_folder() or Path(_scratch_folder().name)) / program


@functools.cache
def _scratch_folder() -> tempfile.TemporaryDirectory[str]:
    import tempfile  # imported here because it is slow to import

    return tempfile.TemporaryDirectory(prefix="tinyframe-")


_usable: dict[Path, bool] = {}
_writes = 0


def _prepare(folder: Path) -> bool:
    """Creates the folder. False, after a warning, if no code may be loaded from it."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        status = folder.stat()
    except OSError as error:
        problem = f"cannot be used ({error.strerror or error})"
    else:
        problem = ""
        if not stat.S_ISDIR(status.st_mode):
            problem = "is not a folder"
        elif status.st_uid != os.getuid():
            problem = f"belongs to another user (number {status.st_uid})"
        elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            problem = f"can be written to by others; `chmod go-w {folder}` fixes that"
    if problem:
        _warn(folder, problem)
    return not problem


def _warn(folder: Path, problem: str) -> None:
    warnings.warn(
        f"the cache folder {folder} {problem}. Continuing without it: kernels are compiled again "
        "in every session. Set TINYFRAME_CACHE to your own folder, or CACHE=0 to silence this.",
        CacheWarning,
        stacklevel=2,
    )


def _entry(folder: Path, kind: str, key: Iterable[str]) -> Path:
    # each part starts with its length, or ("ab", "c") and ("a", "bc") would be the same
    parts = [part.encode() for part in key]
    text = b"".join(b"%d:%s" % (len(part), part) for part in parts)
    name = hashlib.sha256(text).hexdigest()
    return folder / kind / name[:2] / name


def _read(path: Path) -> bytes | None:
    """The data of an entry; None if it is missing or damaged."""
    try:
        contents = path.read_bytes()
    except OSError:
        return None
    data, checksum = contents[:-_TAIL], contents[-_TAIL : -len(MARK)]
    intact = contents.endswith(MARK) and hashlib.sha256(data).digest() == checksum
    return data if intact else None


def _write(folder: Path, path: Path, data: bytes) -> bool:
    """Store an entry. False, after one warning for the folder, if that is impossible."""
    global _writes
    # unique among threads and processes, even of different machines that share the disk
    temporary = path.with_name(f"{path.name[:16]}.{os.urandom(8).hex()}.tmp")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            temporary.write_bytes(data + hashlib.sha256(data).digest() + MARK)
            os.replace(temporary, path)
        except BaseException:  # nothing is left behind, even by Ctrl-C
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        if _usable.get(folder):
            _usable[folder] = False
            _warn(folder, f"cannot be written to ({error.strerror or error})")
        return False
    if _writes % _CHECK_EVERY == 0:
        _evict(path.parent.parent)
    _writes += 1
    return True


def _evict(folder: Path) -> None:
    """If the folder is too large, delete the oldest entries down to three quarters of the limit."""
    entries = []
    for path in folder.glob("*/*"):
        with contextlib.suppress(OSError):  # another process may have deleted it
            status = path.stat()
            entries.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in entries)
    if total <= MOST_BYTES:
        return
    for _, size, path in sorted(entries):
        if total <= MOST_BYTES * 3 // 4:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
