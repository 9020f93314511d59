"""What was measured or graded in a learner's copy, and is worth showing one day: `.made.json`.

    keep("digits", 0.98, {"right": 0.98, "of": 450})

Under a name stays the entry with the highest rank, its parts in the order in which they were given:
a climb begins with its first step. As with progress, nothing is kept outside of a
learner's copy. `python -m classroom portfolio` shows it.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from classroom.learner import record
from classroom.written import written

FILE = ".made.json"


def keep(name: str, rank: float, entry: dict[str, Any], here: Path | None = None) -> None:
    """Keep an entry, unless one with at least that rank is there. here: a folder of the copy; by
    default the working directory."""
    if (progress := record.place(here)) is None:
        return
    file = progress.with_name(FILE)
    found = kept(progress.parent)
    before = found.get(name, {}).get("rank")
    if isinstance(before, (int, float)) and before >= rank:
        return
    with suppress(OSError):
        written(file, json.dumps(found | {name: {"rank": rank, **entry}}, indent=1) + "\n")


def kept(folder: Path) -> dict[str, dict[str, Any]]:
    """All entries of the copy in a folder, by name; none where the file makes no sense."""
    with suppress(OSError, ValueError):
        found = json.loads((folder / FILE).read_text())
        if isinstance(found, dict):
            return {name: entry for name, entry in found.items() if isinstance(entry, dict)}
    return {}
