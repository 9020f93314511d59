"""The learner's own copy of the course: `my_course/`, made once, updated, reset file by file.

    my_course/
      START.md                     the first page (start_page.py), written anew at each start
      course/ projects/ mini/      the learner's, to change as they like
      backups/WHEN/...             each file as it was just before an update changed it
      .originals/...               each file as the course gave it: what an update compares with
      .progress.json               exercises done (record.py)
      .made.json                   what is worth showing (kept.py)

An update merges three versions (merge.py): the original, what the learner made of it, and what the
course has now. Every file is written whole or not at all. Before a merged file takes the place of
the learner's, the new original is put down beside the old one, with the merged file's fingerprint:
so an update that was cut off in between knows whether that file is merged already.
"""

from __future__ import annotations

import difflib
import fcntl
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from classroom.learner import opened, start_page
from classroom.learner.merge import as_bytes, merge, said
from classroom.learner.record import COPY, FILE, forget
from classroom.written import written

ROOMS = ("course", "projects", "mini")
LEFT_BEHIND = ("__pycache__", ".ipynb_checkpoints")  # by tools; not part of the course
UNFINISHED = (".unfinished", ".pending")
UP_TO_DATE = "Your copy has everything that the course in this folder has."
ARE_OPEN = """\
These notebooks are open in Jupyter, and an update is about to change their files:
    {names}
Save each of them now (Ctrl-S), and close its tab.
Then press Enter here to go on, or Ctrl-C to stop: """
FOR_AUTHORS = ("course/README.md",)
RELOAD = "If JupyterLab still shows an older version: File, Reload Notebook from Disk."


class NotFound(Exception):
    """There is no such file; a message for the person who asked."""


@dataclass(frozen=True)
class Copy:
    """The copy that belongs to a repository."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / COPY

    # ---- what the course has now -----------------------------------------------------------------

    def originals(self) -> list[Path]:
        """The files that learners get, as paths from the root."""
        files = [path for room in ROOMS for path in (self.root / room).rglob("*") if path.is_file()]
        names = [path.relative_to(self.root) for path in files]
        return sorted(
            name
            for name in names
            if not set(name.parts) & set(LEFT_BEHIND) and name.as_posix() not in FOR_AUTHORS
        )

    def given(self, name: Path) -> bytes:
        """What a learner gets of an original: a notebook without its outputs. If you are asked to
        predict what a cell prints, you should not see it just below."""
        content = (self.root / name).read_bytes()
        if name.suffix == ".ipynb":
            with suppress(ValueError, LookupError, TypeError, AttributeError):
                notebook = json.loads(content)
                for cell in notebook["cells"]:
                    if cell["cell_type"] == "code":
                        cell |= {"outputs": [], "execution_count": None}
                notebook["metadata"] |= kernel_metadata()
                content = as_bytes(notebook)
        return content

    # ---- what the learner was given --------------------------------------------------------------

    def given_before(self, name: Path) -> bytes | None:
        """The original that the learner's file began as; None where nobody knows."""
        with suppress(OSError):
            return (self.folder / ".originals" / name).read_bytes()
        return None

    def _remember(self, name: Path, content: bytes) -> None:
        written(self.folder / ".originals" / name, content)

    def _replace(self, name: Path, content: bytes, new: bytes) -> None:
        """Put a merged file where the learner's is, and the original that it rests on."""
        digest = _fingerprint(name.suffix, content).encode()
        written(self._pending(name), digest + b"\n" + new)
        written(self.folder / name, content)
        self._finish(name)

    def _finish(self, name: Path) -> None:
        """Finish `_replace` if it was cut off."""
        pending, mine = self._pending(name), self.folder / name
        if pending.is_file():
            digest, _, new = pending.read_bytes().partition(b"\n")
            if mine.is_file() and _fingerprint(name.suffix, mine.read_bytes()) == digest.decode():
                self._remember(name, new)
            pending.unlink()

    def _pending(self, name: Path) -> Path:
        return self.folder / ".originals" / name.with_name(f"{name.name}.pending")

    def _names_given(self) -> set[Path]:
        kept = self.folder / ".originals"
        files = [path for path in kept.rglob("*") if path.is_file()]
        return {path.relative_to(kept) for path in files if path.suffix not in UNFINISHED}

    # ---- make ------------------------------------------------------------------------------------

    def make(self) -> list[str]:
        """Copy the rooms that are missing; what is there is never touched. Says what it did."""
        self.folder.mkdir(exist_ok=True)
        done = []
        with self._locked():
            for room in ROOMS:
                copy = self.folder / room
                names = [name for name in self.originals() if name.parts[0] == room]
                if copy.exists() or copy.is_symlink() or not names:
                    continue
                unfinished = self.folder / f".{room}.unfinished"
                shutil.rmtree(unfinished, ignore_errors=True)
                for name in names:
                    written(unfinished / name.relative_to(room), self.given(name))
                    self._remember(name, self.given(name))
                unfinished.rename(copy)  # whole, or not at all
                done.append(f"copied {room}/ to {COPY}/{room}/: this copy is yours to change")
        return done

    def waiting(self) -> list[Path]:
        """The files that an update would bring or change."""
        return [name for name in self.originals() if not self._is_up_to_date(name)]

    def _is_up_to_date(self, name: Path) -> bool:
        before = self.given_before(name)
        return before is not None and same(name, before, self.given(name))

    # ---- update ----------------------------------------------------------------------------------

    def update(self) -> list[str]:
        """Bring what is new or corrected; what the learner wrote stays. Says what it did."""
        done = self.make()
        with self._locked():
            backups = self.folder / "backups" / f"{datetime.now():%Y-%m-%d_%H%M%S}"
            gone = sorted(self._names_given() - set(self.originals()))
            changes = [self._update_file(name, backups) for name in self.originals()]
            changes += [self._drop_file(name, backups) for name in gone]
        done += [change for change in changes if change]
        if not done:
            return [UP_TO_DATE]
        if backups.exists():
            where = backups.relative_to(self.root)
            done += [f"Each changed file, as it was before, is in {where}/.", RELOAD]
        return done

    def _update_file(self, name: Path, backups: Path) -> str:
        """Bring one file up to date; says what was done, or nothing."""
        self._finish(name)
        mine, new, before = self.folder / name, self.given(name), self.given_before(name)
        if before is not None and same(name, before, new):
            self._remember(name, new)
            return ""  # and if the learner has deleted it, it stays deleted
        done = ""
        if not mine.exists():
            written(mine, new)
            done = f"{name}: new"
        elif not same(name, now := mine.read_bytes(), new):
            merged = merge(name.suffix, before, now, new) if before is not None else None
            if merged is None:
                copy = put_beside(new, mine, "new")
                done = f"{name}: kept as you have it; the course's new version is beside it, {copy}"
            else:
                written(backups / name, now)
                self._replace(name, merged.content, new)
                done = f"{name}: updated"
                if not same(name, before or b"", now):
                    done += ", with your changes in it"
                if merged.conflicts:
                    done += (
                        f"; {cells(merged.conflicts)} in two versions: search for “Two versions”"
                    )
        self._remember(name, new)
        return done

    def _drop_file(self, name: Path, backups: Path) -> str:
        """A file that the course no longer has goes too, unless the learner worked in it."""
        self._finish(name)
        mine, before = self.folder / name, self.given_before(name)
        done = ""
        if mine.is_file():
            if before is not None and same(name, before, mine.read_bytes()):
                written(backups / name, mine.read_bytes())
                mine.unlink()
                done = f"{name}: no longer in the course, and you had not changed it: removed"
            else:
                done = f"{name}: no longer in the course; yours stays"
        (self.folder / ".originals" / name).unlink(missing_ok=True)
        return done

    # ---- reset -----------------------------------------------------------------------------------

    def reset(self, words: list[str]) -> list[str]:
        """Begin files anew; what the learner had is kept beside them. Says what it did.

        The words name files, parts or projects: ["04"], ["project", "1"], ["mini", "3"]. Raises
        NotFound, before anything is changed, where one of them means nothing.
        """
        names = self._named(words)
        with self._locked():
            return [self._reset_file(name) for name in dict.fromkeys(names)]

    def _named(self, words: list[str]) -> list[Path]:
        if not words:
            raise NotFound("Reset what? For example: reset 04, reset project 1, reset mini 3.")
        rooms = {"part": "course", "project": "projects"} | {room: room for room in ROOMS}
        room, names = "", []
        for word in words:
            if word in rooms:
                room = rooms[word]
            else:
                names += self._find(word, room)
                room = ""
        if not names:
            raise NotFound(f"Reset which {words[-1]}? {self._listed(self.originals())}")
        return names

    def _find(self, word: str, room: str) -> list[Path]:
        """The originals that a path, a name or a number means; of a part, if no room is named."""
        *folders, last = Path(word).parts or ("",)
        number = re.fullmatch(r"0*(\d+)([a-z]?)", last)
        room = room or next((f for f in reversed(folders) if f in ROOMS), "")
        room = room or ("course" if number else "")
        known = [name for name in self.originals() if room in ("", name.parts[0])]
        numbered = re.compile(rf"(?:part)?0*{number[1]}{number[2]}(?!\d)" if number else r"(?!)")
        found = [
            name
            for name in known
            if last in (name.name, name.stem, name.parts[1]) or numbered.match(name.parts[1])
        ]
        if not found:
            close = difflib.get_close_matches(last, [name.stem for name in known], n=1)
            meant = f" Did you mean {close[0]}?" if close else ""
            raise NotFound(f"There is no {word!r} to reset.{meant} {self._listed(known)}")
        return found

    def _listed(self, names: list[Path]) -> str:
        return f"You can reset: {', '.join(map(str, names)) or 'nothing here'}"

    def _reset_file(self, name: Path) -> str:
        mine, new = self.folder / name, self.given(name)
        over = ""
        if done := start_page.recorded(self.folder, name, new):
            forget(done, self.folder / FILE)
            over = f" (with {len(done)} of its exercises open again)"
        kept = ""
        if mine.is_file():
            if mine.read_bytes() == new:
                return f"{name} was untouched already{over}"
            copy = put_beside(mine.read_bytes(), mine, "mine")
            kept = f"; your version is beside it, {copy}"
        written(mine, new)
        self._remember(name, new)
        return f"{name} is as the course gave it{over}{kept}"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One at a time: somebody may start the lab in two terminals."""
        with open(self.folder / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


# ---- files ---------------------------------------------------------------------------------------


def put_beside(content: bytes, path: Path, word: str) -> str:
    """Write it as 04_lazy.mine.ipynb, 04_lazy.mine-2.ipynb, …: the first name that is free, or that
    has this content already. Returns the name."""
    place, number = path.with_suffix(f".{word}{path.suffix}"), 1
    while place.exists() or place.is_symlink():
        if place.is_file() and place.read_bytes() == content:
            return place.name
        number += 1
        place = path.with_suffix(f".{word}-{number}{path.suffix}")
    written(place, content)
    return place.name


def same(name: Path, one: bytes, other: bytes) -> bool:
    """Whether two versions of a file say the same. Running a notebook does not change what it says,
    nor does saving it."""
    return _fingerprint(name.suffix, one) == _fingerprint(name.suffix, other)


def _fingerprint(suffix: str, content: bytes) -> str:
    if suffix == ".ipynb":
        with suppress(ValueError, LookupError, TypeError, AttributeError):
            content = json.dumps([said(cell) for cell in json.loads(content)["cells"]]).encode()
    return hashlib.sha256(content).hexdigest()


@cache
def kernel_metadata() -> dict[str, Any]:
    """What JupyterLab writes into a notebook when its kernel has started. With that in it already,
    opening a notebook changes nothing, and its tab does not look unsaved."""
    from ipykernel.ipkernel import IPythonKernel
    from jupyter_client.kernelspec import KernelSpecManager

    spec = KernelSpecManager().get_kernel_spec("python3")
    about = {"display_name": spec.display_name, "language": spec.language, "name": "python3"}
    return {"kernelspec": about, "language_info": dict(IPythonKernel.language_info)}


def cells(count: int) -> str:
    return f"{count} cell{'' if count == 1 else 's'}"


# ---- commands ------------------------------------------------------------------------------------

ROOT = Path(__file__).resolve().parents[2]


HELP = {
    "copy": "makes my_course/, your copy of the course, if there is none",
    "update": """brings what is new or corrected into my_course/, and keeps
your work. It takes no options. To start one part over: python3 start.py reset 04""",
    "reset": """04 (or project 1, or mini 3, or the name of a file) starts
that part over. Your version stays beside it, as NAME.mine.ipynb.""",
}


def make_command(arguments: list[str]) -> int:
    """`python -m classroom copy`"""
    return _run("copy", arguments, _make)


def update_command(arguments: list[str]) -> int:
    """`python -m classroom update`"""
    return _run("update", arguments, _update)


def reset_command(words: list[str]) -> int:
    """`python -m classroom reset WORDS`"""
    asked = [word for word in words if word in ("-h", "--help")]
    return _run("reset", asked, lambda copy: [*copy.make(), *copy.reset(words), RELOAD])


def _make(copy: Copy) -> list[str]:
    done = copy.make()
    if waiting := len(copy.waiting()):
        files = "1 file of the course is" if waiting == 1 else f"{waiting} files of the course are"
        done.append(f"{files} new or corrected. To get them: python3 start.py update")
    return done


def _update(copy: Copy) -> list[str]:
    changing = {name.as_posix() for name in copy.waiting()}
    if names := [name for name in opened.notebooks(copy.folder) if name in changing]:
        print(ARE_OPEN.format(names="\n    ".join(names)), end="", flush=True)
        try:
            input()
        except EOFError:  # nobody is there to press it
            raise KeyboardInterrupt from None
    return copy.update()


def _run(name: str, asked: list[str], act: Callable[[Copy], list[str]]) -> int:
    """asked: what makes the command explain itself, and do nothing."""
    if asked:
        print(f"python -m classroom {name} {HELP[name]}")
        return 0 if set(asked) <= {"-h", "--help"} else 2
    copy = Copy(ROOT)
    try:
        for line in act(copy):
            print(line, flush=True)
        start_page.write(copy.folder)
    except NotFound as problem:
        print(problem, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped. Nothing is lost; run it again to finish.", file=sys.stderr)
        return 130
    except OSError as problem:  # a full disk, a folder that is read-only
        print(f"{problem}\nFix that, then run this again. Nothing is lost.", file=sys.stderr)
        return 1
    return 0
