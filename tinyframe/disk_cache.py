"""The disk cache: what was compiled once is not compiled again, in this process or the next.

`cached("programs", (identity, source), make)` gives what `make()` gave when it was first called
with this key on this disk. An entry is one file, named by the SHA-256 of its key:

    TINYFRAME_CACHE/programs/3f/3f0c…a1     the bytes, then their SHA-256, then a mark

The checksum is at the end, so that a shared library can be loaded from its entry as it is. A cut or
damaged entry is noticed and made again. Entries are written under another name and then renamed:
any number of processes may share a folder.

Code is loaded from the folder, so it must be private: one that somebody else owns or can write to
is not used. Then, or where it cannot be written, one warning says so and the session goes on
without a cache.
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

# The number goes up where what was written before must not be read any more.
MARK = b"tinyframe cache\x02"
_TAIL = 32 + len(MARK)

# What the folder may hold: beyond it, the oldest entries go. A kernel takes some 16 kB.
MOST_BYTES = 256 << 20
# Its size is checked at the first write of a process, and at every 256th after that.
_CHECK_EVERY = 256


class CacheWarning(UserWarning):
    """The disk cache is not used, and why."""


class Cached(bytes):
    """Bytes that are also in a file: `path` starts with them, and a few more may follow."""

    path: Path | None

    def __new__(cls, data: bytes, path: Path | None = None) -> Cached:
        found = super().__new__(cls, data)
        found.path = path
        return found


def cached(kind: str, key: Iterable[str], make: Callable[[], bytes]) -> Cached:
    """What `make()` gives for this key, made only where it is not on disk already.

    kind: the subfolder. key: everything that the result depends on. With CACHE=0, or where the
    folder cannot be used, it is made every time.
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
    """Deletes the entry of this key: it is intact, but says what is not true any more."""
    folder = cache_folder()
    if folder is not None:
        with contextlib.suppress(OSError):
            _entry(folder, kind, key).unlink()


def cache_folder() -> Path | None:
    """The folder, made where it was missing; None where there is none to use. Warns once why."""
    if not settings.CACHE:
        return None
    folder = settings.TINYFRAME_CACHE
    if folder not in _usable:
        _usable[folder] = _prepare(folder)
    return folder if _usable[folder] else None


def place_for(program: str) -> Path:
    """A folder for the cache that another program keeps: in ours, or where there is none to use in
    one that goes when this process does."""
    return (cache_folder() or Path(_scratch_folder().name)) / program


@functools.cache
def _scratch_folder() -> tempfile.TemporaryDirectory[str]:
    import tempfile  # here: it takes a while to import

    return tempfile.TemporaryDirectory(prefix="tinyframe-")


_usable: dict[Path, bool] = {}
_writes = 0


def _prepare(folder: Path) -> bool:
    """Makes the folder. False, after a warning, if no code must be loaded from it."""
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
            problem = f"can be written to by others; `chmod go-w {folder}` closes it"
    if problem:
        _warn(folder, problem)
    return not problem


def _warn(folder: Path, problem: str) -> None:
    warnings.warn(
        f"the cache folder {folder} {problem}. Going on without it: kernels are compiled anew in "
        "every session. Set TINYFRAME_CACHE to a folder of your own, or CACHE=0 to not be told.",
        CacheWarning,
        stacklevel=2,
    )


def _entry(folder: Path, kind: str, key: Iterable[str]) -> Path:
    # The length goes before each part, or ("ab", "c") and ("a", "bc") would be the same.
    parts = [part.encode() for part in key]
    text = b"".join(b"%d:%s" % (len(part), part) for part in parts)
    name = hashlib.sha256(text).hexdigest()
    return folder / kind / name[:2] / name


def _read(path: Path) -> bytes | None:
    """The data of an entry; None where there is none, or it is damaged."""
    try:
        contents = path.read_bytes()
    except OSError:
        return None
    data, checksum = contents[:-_TAIL], contents[-_TAIL : -len(MARK)]
    intact = contents.endswith(MARK) and hashlib.sha256(data).digest() == checksum
    return data if intact else None


def _write(folder: Path, path: Path, data: bytes) -> bool:
    """Store an entry. False, after one warning for the folder, where that is not possible."""
    global _writes
    # Unique among threads and processes, machines that share the disk included.
    temporary = path.with_name(f"{path.name[:16]}.{os.urandom(8).hex()}.tmp")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            temporary.write_bytes(data + hashlib.sha256(data).digest() + MARK)
            os.replace(temporary, path)
        except BaseException:  # an interrupt too leaves nothing behind
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


def _evict(folder: Path, most_bytes: int | None = None) -> None:
    """Delete the oldest entries until the folder holds three quarters of what it may."""
    most_bytes = MOST_BYTES if most_bytes is None else most_bytes
    entries = []
    for path in folder.glob("*/*"):
        with contextlib.suppress(OSError):  # another process may have deleted it
            status = path.stat()
            entries.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in entries)
    if total <= most_bytes:
        return
    for _, size, path in sorted(entries):
        if total <= most_bytes * 3 // 4:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
