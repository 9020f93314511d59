"""Downloads: from the first mirror that works, resumed after an interruption, and verified.

Bytes go to `NAME.part`. After an interruption that file stays, and the next attempt, in any
process, asks the server for the rest. It is renamed only once its checksum is right, so a file
named NAME is complete.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import http.client
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

TRIES = 3  # attempts at one mirror without progress
TIMEOUT = 30.0  # seconds without a byte
CHUNK = 1 << 18

Progress = Callable[[int], None]  # called with the number of bytes so far


class DownloadError(RuntimeError):
    """No mirror provided the file; the message has the error of each."""


def checksum(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(urls: Sequence[str], path: Path, sha256: str, size: int) -> Path:
    """The file with this checksum and size at `path`, downloaded unless it is there already.

    DownloadError if no mirror has it, or none can be reached.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with part.open("ab") as file:
        # One process downloads; others wait, and then find the file.
        fcntl.flock(file, fcntl.LOCK_EX)
        if path.exists() and checksum(path) == sha256:
            _remove_empty(part)
            return path
        problems = []
        with _shown(path.name, size) as progress:
            for url in urls:
                try:
                    _fill(url, file, size, progress)
                    if (found := checksum(part)) != sha256:
                        os.truncate(part, 0)  # whatever it is, more of it would not help
                        raise DownloadError(f"the file has the checksum {found}, not {sha256}")
                except (OSError, http.client.HTTPException, DownloadError) as error:
                    problems.append(f"{url}: {error}")
                else:
                    os.replace(part, path)
                    return path
        _remove_empty(part)
    raise DownloadError("\n".join(problems))


def _remove_empty(part: Path) -> None:
    if part.exists() and part.stat().st_size == 0:
        part.unlink()


def _fill(url: str, file: IO[bytes], size: int, progress: Progress) -> None:
    """Appends the missing part of `size` bytes, or all if the server does not support ranges."""
    failures = 0
    while True:
        have = file.seek(0, os.SEEK_END)
        if have > size:
            file.truncate(have := 0)
        if have == size:
            return
        try:
            _append(url, file, have, size, progress)
            problem: Exception = DownloadError("the connection ended too early")
        except urllib.error.HTTPError as error:
            if error.code < 500:  # it would fail again
                raise
            problem = error
        except (OSError, http.client.HTTPException) as error:
            problem = error
        failures = 0 if file.seek(0, os.SEEK_END) > have else failures + 1
        if failures == TRIES:
            raise problem


def _append(url: str, file: IO[bytes], have: int, size: int, progress: Progress) -> None:
    headers = {"User-Agent": "tinyframe", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        if have and not (answer.headers.get("Content-Range") or "").startswith(f"bytes {have}-"):
            file.truncate(0)  # no ranges: the server sends everything from the start
            have = 0
        while have <= size and (chunk := answer.read(CHUNK)):
            file.write(chunk)
            have += len(chunk)
            progress(have)
        file.flush()
    if have > size:
        file.truncate(0)
        raise DownloadError(f"the server sends more than the {size} bytes that the file has")


# ---- progress ------------------------------------------------------------------------------------


@contextlib.contextmanager
def _shown(name: str, size: int) -> Iterator[Progress]:
    """A progress bar on stderr: by rich if it is installed, otherwise a line of text."""
    try:
        from rich import progress as rich
        from rich.console import Console
    except ImportError:
        yield _plain(name, size)
        if sys.stderr.isatty():
            print(file=sys.stderr)
        return
    columns = [rich.TextColumn("{task.description}"), rich.BarColumn(), rich.DownloadColumn()]
    with rich.Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=size)
        yield lambda have: bar.update(task, completed=have)


def _plain(name: str, size: int) -> Progress:
    """On a terminal a growing line, elsewhere (a file, a notebook) a line per tenth."""
    live, last = sys.stderr.isatty(), -1

    def show(have: int) -> None:
        nonlocal last
        tenths = 10 * have // size
        if not live and tenths == last:
            return
        last = tenths
        bar = "#" * (2 * tenths) + "." * (20 - 2 * tenths)
        text = f"{name}  {bar}  {have / 1e6:.1f} of {size / 1e6:.1f} MB"
        print(f"\r{text}" if live else text, end="" if live else "\n", file=sys.stderr, flush=True)

    return show
