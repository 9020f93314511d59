"""What a confined process sees of the file system: one table, for all that closes it off.

    Row("read", "/usr")  Row("link", "/bin", "usr/bin")  Row("scratch", "/tmp/…/work", 268435456)

mounts.py builds a root of these rows and nothing else, `bubblewrap_words` says the same to
bubblewrap, and Landlock, where there is no namespace, allows the same files. What is in no row is
not there: homes, /tmp, /run, the repository with its solutions and tests, most of /etc.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tinyframe.device import NoCompiler
from tinyframe.runtime.clang import find_compiler
from tinyframe.settings import settings

# What a Python and a C compiler may have to read; more is added for this machine.
SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/opt", "/nix",
          "/sys/devices/system/cpu")  # fmt: skip
# Of /etc what finding libraries, time zones and programs takes, and who is called what.
OF_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "passwd",
          "group", "nsswitch.conf", "os-release")  # fmt: skip
# Not /dev: to root, who may grade, a disk is a file like any other.
# not /dev/zero: mapped, it is memory that nobody counts
DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")

Kind = Literal["read", "link", "device", "proc", "cover", "scratch"]


@dataclass(frozen=True)
class Row:
    """One place. `link`: where it leads; `scratch`: (most bytes, most files) of a new folder."""

    kind: Kind
    path: str
    more: Any = None


def view(readable: list[str], covered: list[str], scratch: str, disk: int, files: int) -> list[Row]:
    """The rows for this machine, each after those that it lies in.

    readable: what the process needs of the grader. covered: folders that must not be seen even
    where they lie in a readable one, as in a repository below a conda environment.
    """
    wanted = {*SYSTEM, *(f"/etc/{name}" for name in OF_ETC), *programs(), *readable}
    rows = {Row("proc", "/proc"), Row("scratch", scratch, (disk, files))}
    rows |= {Row("device", path) for path in DEVICES if os.path.exists(path)}
    rows |= {Row("cover", path) for path in covered if os.path.isdir(path)}
    for path in wanted - {"/"}:
        rows.update(_resolved(path))
    return _needed(sorted(rows, key=lambda row: Path(row.path).parts))


def _resolved(path: str) -> Iterator[Row]:
    """The file or folder itself, and the links on the way to it, which stay links."""
    place, parts = "/", list(Path(path).parts[1:])
    for _ in range(200):  # no path has more parts and links
        if not parts:
            break
        step = os.path.join(place, parts.pop(0))
        if os.path.islink(step):
            leads = os.readlink(step)
            yield Row("link", step, leads)
            whole = os.path.normpath(os.path.join(place, leads, *parts))
            place, parts = "/", list(Path(whole).parts[1:])
        else:
            place = step
    if place != "/" and os.path.exists(place):
        yield Row("read", place)


def _needed(rows: list[Row]) -> list[Row]:
    """Without what can be seen already, and without covers over what cannot."""
    kept: list[Row] = []
    for row in rows:
        inside = next((r for r in reversed(kept) if is_in(row.path, r.path)), None)
        seen = inside is not None and inside.kind == "read"
        if row.kind in ("read", "link") and seen or row.kind == "cover" and not seen:
            continue
        kept.append(row)
    return kept


def is_in(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(folder)


def programs() -> set[str]:
    """Where Python with its packages is, and the C compiler."""
    places = {sys.prefix, sys.base_prefix, sys.executable, *packages()}
    with contextlib.suppress(NoCompiler):
        compiler = find_compiler(settings.CC)[0]
        home = Path(compiler).resolve().parents[1]  # of clang itself, if it is not in /usr
        beside = ("bin", "lib", "lib64", "libexec", "include", "share")
        places |= {str(Path(compiler).parent), *(str(home / name) for name in beside)}
    return places


def packages() -> list[str]:
    """Where NumPy and other packages are installed."""
    return [p for p in sys.path if Path(p).name in ("site-packages", "dist-packages")]


def paths(rows: list[Row], *kinds: Kind) -> list[str]:
    """The places of these kinds."""
    return [row.path for row in rows if row.kind in kinds]


def bubblewrap_words(rows: list[Row]) -> list[str]:
    """The command that runs another one in this view, with namespaces of its own."""
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
    for row in rows:
        words += _BUBBLEWRAP[row.kind](row)
    return [*words, "--remount-ro", "/", "--"]


_BUBBLEWRAP = {
    "read": lambda row: ["--ro-bind", row.path, row.path],
    "link": lambda row: ["--symlink", row.more, row.path],
    "device": lambda row: ["--dev-bind", row.path, row.path],
    "proc": lambda row: ["--proc", row.path, "--remount-ro", row.path],
    "cover": lambda row: ["--tmpfs", row.path, "--remount-ro", row.path],
    "scratch": lambda row: ["--size", str(row.more[0]), "--tmpfs", row.path],
}
