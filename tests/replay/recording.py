"""What is kept of a run: each kernel's graph, and the programs that were made of it.

A recording is a folder:

    kernels.jsonl     a line for each kernel: its graph as text, programs, the files of tests
    manifest.json     the commit, the tests, the machine, and a checksum of the other file

A kernel is known by its graph as text, so that two recordings can be joined, whatever ran first.
The same kernels give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FORMAT = 1


class BrokenRecording(ValueError):
    """A folder that is no recording, or not all of one."""


@dataclass(frozen=True, order=True)
class Program:
    """A kernel in one language.

    settings: those that change what is generated and were not at their defaults, "NOOPT=1". name:
    the function's. opts: each as text. plan: the name of what chose them, empty where nothing did.
    source: or why there is none.
    """

    language: str
    settings: str
    name: str
    opts: tuple[str, ...]
    plan: str
    source: str


@dataclass
class Kernel:
    """A graph as text, what it became, and the files of tests that asked for it."""

    graph: str
    programs: set[Program] = field(default_factory=set)
    files: set[str] = field(default_factory=set)

    @property
    def key(self) -> str:
        return key_of(self.graph)


def key_of(graph: str) -> str:
    """The address of a kernel: a hash of its graph's text."""
    return hashlib.sha256(graph.encode()).hexdigest()[:16]


@dataclass
class Recording:
    """All kernels of a run, by key.

    label: the commit, or what else was recorded. tests: pytest's arguments. languages: what
    kernels were to be written in beside those of the tests' own devices. machine: what the
    programs depend on.
    """

    label: str
    tests: list[str]
    languages: list[str]
    machine: str
    kernels: dict[str, Kernel] = field(default_factory=dict)

    @property
    def written(self) -> set[str]:
        """The languages that there are programs in."""
        programs = (program for kernel in self.kernels.values() for program in kernel.programs)
        return {program.language for program in programs}

    def write(self, folder: Path) -> None:
        """Put it into a folder, the manifest last: without one it is no recording."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "manifest.json").unlink(missing_ok=True)
        rows = "".join(f"{_row(self.kernels[key])}\n" for key in sorted(self.kernels))
        (folder / "kernels.jsonl").write_text(rows, encoding="utf-8")
        about = {"format": FORMAT, "label": self.label, "tests": self.tests,
                 "languages": self.languages, "machine": self.machine,
                 "kernels": len(self.kernels), "checksum": _checksum(rows)}  # fmt: skip
        (folder / "manifest.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Recording:
        """The recording in a folder. BrokenRecording says what is wrong with it."""
        about, rows = _manifest(folder), _kernels(folder)
        if about["checksum"] != _checksum(rows):
            raise BrokenRecording(
                f"{folder}: kernels.jsonl is not the file that manifest.json was written with "
                "(cut off, or changed since); record it again"
            )
        found = cls(about["label"], about["tests"], about["languages"], about["machine"])
        for line in rows.splitlines():
            kernel = _kernel(json.loads(line))
            found.kernels[kernel.key] = kernel
        return found


def _row(kernel: Kernel) -> str:
    programs = [asdict(program) for program in sorted(kernel.programs)]
    row = {"key": kernel.key, "files": sorted(kernel.files), "programs": programs}
    return json.dumps({**row, "graph": kernel.graph}, ensure_ascii=False)


def _kernel(row: dict[str, Any]) -> Kernel:
    programs = {Program(**{**said, "opts": tuple(said["opts"])}) for said in row["programs"]}
    return Kernel(row["graph"], programs, set(row["files"]))


def _checksum(rows: str) -> str:
    return hashlib.sha256(rows.encode()).hexdigest()


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        about = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BrokenRecording(
            f"{folder} is no recording, or one that was interrupted: it has no manifest.json"
        ) from None
    except (OSError, ValueError) as error:
        raise BrokenRecording(f"{folder}: manifest.json cannot be read: {error}") from error
    needed = {"format", "label", "tests", "languages", "machine", "checksum"}
    if not isinstance(about, dict) or not needed <= about.keys() or about["format"] != FORMAT:
        raise BrokenRecording(f"{folder}: manifest.json is not of this version; record it again")
    return about


def _kernels(folder: Path) -> str:
    try:
        return (folder / "kernels.jsonl").read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BrokenRecording(f"{folder}: kernels.jsonl cannot be read: {error}") from error
