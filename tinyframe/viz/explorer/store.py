"""A trace as a file: a zip archive of JSON members, which is read one member at a time.

realize/0    the line that called realize(), its schedule, and the kernels that ran
schedule/0   the graph that was scheduled, and its stages
kernel/0     the stages of one kernel, its source and numbers
binary/0     its machine code
overview     a summary of all the above; written last, so that a trace without one is cut short
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import weakref
import zipfile
import zlib
from functools import partial
from pathlib import Path
from typing import Any

from tinyframe.nn.state import replacing

FORMAT, VERSION = "tinyframe trace", 1
OVERVIEW = "overview"
FOREIGN = "not a tinyframe trace"
LARGEST = 1 << 28  # bytes of a member that is read: a foreign archive may claim any size
new_archive = partial(zipfile.ZipFile, mode="w", compression=zipfile.ZIP_DEFLATED, compresslevel=1)


# The errors of reading a member of a damaged archive.
DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError)


class TraceError(ValueError):
    """A file that isn't a trace, or one that cannot be read here."""


class Store:
    """Named members, which can be read while others are still being written."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._lock = threading.Lock()

    @staticmethod
    def temporary() -> Store:
        """A Store that disappears with the process."""
        file = tempfile.TemporaryFile()
        archive = new_archive(file)
        store = Store(archive)
        for part in (file, archive):  # closed in the reverse order
            weakref.finalize(store, part.close)
        return store

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Store:
        """A trace from a file. TraceError if it isn't a trace, is cut short, or is of another
        version; FileNotFoundError if there is no such file."""
        path = Path(path)
        try:
            store = Store(zipfile.ZipFile(path))
        except zipfile.BadZipFile:
            cut = path.read_bytes().startswith(b"PK")  # as an archive does
            what = "is cut short: it was not written to its end" if cut else f"is {FOREIGN}"
            raise TraceError(f"{path} {what}") from None
        try:
            about = store.json(OVERVIEW)
        except KeyError:
            raise TraceError(f"{path} is {FOREIGN}: it is a different archive") from None
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise TraceError(f"{path} is {FOREIGN}")
        if about.get("version") != VERSION:
            versions = f"trace version {about.get('version')}, and this one reads {VERSION}"
            written = f"was written by a different version of tinyframe ({versions})"
            raise TraceError(f"{path} {written}: write it again")
        return store

    def write(self, name: str, data: Any) -> None:
        """Adds a member: bytes unchanged, anything else as JSON."""
        raw = data if isinstance(data, bytes) else json.dumps(data, separators=(",", ":")).encode()
        with self._lock:
            self._archive.writestr(name, raw)

    def raw(self, name: str) -> bytes:
        """A member's bytes. KeyError if there is no such member; TraceError if it is damaged."""
        with self._lock:
            if self._archive.getinfo(name).file_size > LARGEST:
                raise TraceError(f"{name} in this trace is larger than any that tinyframe writes")
            try:
                return self._archive.read(name)
            except DAMAGED as error:
                raise TraceError(f"{name} in this trace is damaged: {error}") from error

    def json(self, name: str) -> Any:
        """A member's JSON. KeyError if there is no such member; TraceError if it is damaged."""
        try:
            return json.loads(self.raw(name))
        except ValueError as error:
            raise TraceError(f"{name} in this trace is damaged: {error}") from error

    def save(self, path: Path, overview: dict[str, Any]) -> None:
        """Writes everything to a file, completely or not at all."""
        with replacing(path) as temporary, new_archive(temporary) as archive:
            copy = Store(archive)
            for name in self._archive.namelist():
                copy.write(name, self.raw(name))
            copy.write(OVERVIEW, overview)
