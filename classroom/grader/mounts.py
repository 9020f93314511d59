"""A root of its own for a confined process, built of the rows of view.py; then the old one goes.

Runs in a new mount namespace, as the first thing that confine.py does. Nothing but the standard
library is imported here. Raises OSError with what could not be done.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
MNT_DETACH = 2
# Linux 5.12; where there is none, bubblewrap may know a way
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE = 442, -100, 0x8000
PIVOT_ROOT = {"x86_64": 155}  # 41 on those that came later


def enter(root: str, rows: list[list[Any]]) -> None:
    """Makes `root` the whole file system, with these rows (kind, path, more) in it."""
    mount("none", "/", flags=MS_REC | MS_PRIVATE)
    mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=755")
    for kind, path, more in rows:
        ROWS[kind](root + path, path, more)
    os.chdir(root)
    number = PIVOT_ROOT.get(platform.machine(), 41)
    check(libc().syscall(number, b".", b"."), "the old root was not left")
    check(libc().umount2(b".", MNT_DETACH), "the old root is still there")
    os.chdir("/")
    mount(None, "/", flags=MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def _read(target: str, path: str, more: Any, flags: int = MS_NOSUID | MS_NODEV) -> None:
    _bind(target, path)
    read_only(target, flags)


def _link(target: str, path: str, more: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    os.symlink(more, target)


def _cover(target: str, path: str, more: Any) -> None:
    mount("tmpfs", target, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k")


def _scratch(target: str, path: str, more: list[int]) -> None:
    os.makedirs(target, exist_ok=True)
    room = f"size={more[0]},nr_inodes={more[1]},mode=700"
    mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, room)


ROWS: dict[str, Callable[[str, str, Any], None]] = {
    "read": _read,
    "device": lambda target, path, more: _bind(target, path),
    # That of the new PID namespace. Read-only: to root, /proc/sys are the settings of the machine.
    "proc": partial(_read, flags=MS_NOSUID | MS_NODEV | MS_NOEXEC),
    "link": _link,
    "cover": _cover,
    "scratch": _scratch,
}


def _bind(target: str, path: str) -> None:
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    mount(path, target, flags=MS_BIND | MS_REC)


def read_only(target: str, flags: int) -> None:
    """Closes a mount to writing, and all that is mounted below it."""
    attributes = struct.pack("QQQQ", MS_RDONLY | flags, 0, 0, 0)  # the same numbers, as it happens
    calls = libc()
    done = calls.syscall(
        MOUNT_SETATTR, AT_FDCWD, os.fsencode(target), AT_RECURSIVE, attributes, ctypes.c_size_t(32)
    )
    check(done, f"{target} cannot be made read-only")


def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def check(status: int, what: str) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(
    source: str | None, target: str, kind: str | None = None, flags: int = 0, options: str = ""
) -> None:
    words = [None if x is None else os.fsencode(x) for x in (source, target, kind)]
    done = libc().mount(*words, ctypes.c_ulong(flags), os.fsencode(options))
    check(done, f"{target} was not mounted")
