"""A file that is written as a whole, or not at all: whoever reads it meanwhile sees the old one."""

from __future__ import annotations

import os
from pathlib import Path


def written(path: Path, content: str | bytes) -> None:
    """Its folder is made where it isn't there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
