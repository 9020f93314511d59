"""A file that is written as a whole, or not at all: whoever reads it meanwhile sees the old one.
And the place of one that keeps what was found out, by all that it depends on."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from tinyframe.settings import settings


def place_of(folder: str, said: str, files: Iterable[Path]) -> Path:
    """Where in the cache that is kept which depends on this text, on these files and on Python."""
    digest = hashlib.sha256(f"{said} {sys.version}".encode())
    for path in files:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return Path(settings.TINYFRAME_CACHE) / folder / f"{digest.hexdigest()[:32]}.json"


def written(path: Path, content: str | bytes) -> None:
    """Its folder is made where it isn't there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
