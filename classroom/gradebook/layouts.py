"""How a class's work is laid out, and whose each file is.

    with listing_of(Path("submissions.zip"), "01_tensor_basics.py") as listing:
        dealt = dealt_out(listing)      # a part for each student, and what is nobody's

A folder and an archive give the same list of entries. A layout says by their paths whose they are;
LAYOUTS at the end of this file has all of them.
"""

from __future__ import annotations

import os
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from classroom.gradebook.names import student_name
from classroom.grader.handed_in import (
    CannotGrade,
    Entry,
    in_folder,
    in_zip,
    is_left_behind,
    name_in,
    opened,
)

MOST_ENTRIES = 100_000  # of a class's archive
MOST_TOLD = 256 << 20  # bytes that Gradescope tells of a class, with all its feedback


@dataclass(frozen=True)
class Piece:
    """A file of one student. path: from where the student's own files begin. number: the higher,
    the newer it is, where the platform says so; else 0. is_dated: whether the entry's date is that
    of the student's work, and not of the download."""

    path: str
    entry: Entry
    number: int = 0
    is_dated: bool = False

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass
class Part:
    """What belongs to one student. (A student may have several parts.)

    who: what tells this student from others here. names: what the roster may know the student by.
    id: the platform's number of the student. clone: the path of the clone that this is. when: it
    was handed in, in ISO 8601, where that is known. notes: in whole sentences.
    """

    who: str
    shown: str
    names: tuple[str, ...]
    id: str = ""
    pieces: list[Piece] = field(default_factory=list)
    clone: str = ""
    when: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass
class Dealt:
    """layout: what it was taken for. loose: entries that are in no part."""

    parts: list[Part]
    loose: list[Entry]
    layout: str = ""


@dataclass
class Listing:
    """What is in a class's folder or archive.

    top: the folder that holds everything of it, with "/" at its end, or "". entries, folders: with
    their paths from there. clones: the folders that are clones of repositories, with their paths
    from the source. outside: entries whose paths leave the source.
    """

    source: Path
    entries: list[tuple[str, Entry]]
    folders: list[str]
    clones: set[str]
    outside: list[Entry]
    top: str = ""

    def tops(self) -> set[str]:
        return {path.partition("/")[0] for path in [*self.folders, *dict(self.entries)]}

    def inside(self) -> Listing | None:
        """The same within the one folder that holds everything, if there is one."""
        if len(self.tops()) != 1 or any("/" not in path for path, _ in self.entries):
            return None
        (top,) = self.tops()
        entries = [(path.partition("/")[2], entry) for path, entry in self.entries]
        folders = [path.partition("/")[2] for path in self.folders if "/" in path]
        return Listing(self.source, entries, folders, self.clones, self.outside,
                       f"{self.top}{top}/")  # fmt: skip


def shown_path(path: str) -> str:
    """A path as it may be shown: letters of all languages, and nothing that can't be seen."""
    return "/".join(student_name(part) for part in path.split("/"))


# ---- what is there -------------------------------------------------------------------------------


@contextmanager
def listing_of(source: Path, tasks_name: str) -> Iterator[Listing]:
    """CannotGrade where it is neither a folder nor a zip, or a hopeless one. tasks_name: of the
    project that is looked for.

    Of clones, only what lies at the top, in projects/ and in the project's own folder is listed;
    the rest is the course, with files of the same names.
    """
    if source.is_dir():
        yield _of_folder(source, tasks_name)
    elif zipfile.is_zipfile(source):
        with opened(source, source.name) as archive:
            yield _of_zip(source, archive, tasks_name)
    else:
        raise CannotGrade(f"there is no folder or zip archive {source}")


def _of_folder(source: Path, tasks_name: str) -> Listing:
    folders: list[str] = []
    clones: set[str] = set()

    def enters(path: str) -> bool:
        above, _, name = path.rpartition("/")
        folders.append(path)
        if os.path.lexists(source / path / ".git"):
            clones.add(path)
        return above not in clones or _belongs(f"{name}/", tasks_name)

    entries = [(entry.path, entry) for entry in in_folder(source, enters, shown_path)]
    return Listing(source, entries, folders, clones, [])


def _of_zip(source: Path, archive: zipfile.ZipFile, tasks_name: str) -> Listing:
    infos = archive.infolist()
    if len(infos) > MOST_ENTRIES:
        raise CannotGrade(f"{source.name} has more than {MOST_ENTRIES:,} entries")
    names = list(map(name_in, infos))
    clones = {name.partition("/.git/")[0] for name in names if "/.git/" in name}
    folders = [
        name for name, info in zip(names, infos, strict=True)
        if info.is_dir() and not any(map(is_left_behind, name.split("/")))
    ]  # fmt: skip
    inside, outside = [], []
    for entry in in_zip(archive, source.name):
        top, *rest = entry.path.split("/")
        if entry.problem and (top in ("", "..") or ":" in top):
            outside.append(entry)
        elif all(
            _belongs(entry.path.removeprefix(f"{clone}/"), tasks_name)
            for clone in clones
            if entry.path.startswith(f"{clone}/")
        ):
            inside.append((entry.path, entry))
    return Listing(source, inside, folders, clones, outside)


def _belongs(path: str, tasks_name: str) -> bool:
    """Whether a file of a clone may be of a project."""
    return "/" not in path or path.partition("/")[0] in ("projects", tasks_name)


# ---- exports -------------------------------------------------------------------------------------

# Canvas, "Download Submissions": NAME[_LATE]_USER_FILE_what the student called it, all in one
# folder. NAME is "Smith, Ann" in small letters, without anything but letters and digits; where
# grading is anonymous, anon_CODE stands for NAME_USER. A text or a link has no FILE; a file that is
# handed in again is called toy-1.py (lib/content_zipper.rb of instructure/canvas-lms, 2024).
CANVAS = re.compile(
    r"(?:LATE_)?(?:anon_(?P<code>[^/\s_]+)|(?P<name>[^/\s]+?)(?:_LATE)?_(?P<id>\d+))"
    r"_(?:(?P<number>\d+)_)?(?P<rest>[^/]+)"
)
# Moodle, "Download all submissions": NAME_NUMBER_assignsubmission_file/, or with _ at its end; or
# without "Download submissions in folders", as the beginning of each file's name. NUMBER is the
# participant's; NAME is "Participant" where marking is anonymous (mod/assign/locallib.php of Moodle
# 3, mod/assign/classes/downloader.php of Moodle 4).
MOODLE = re.compile(
    r"(?P<name>[^/]+?)_(?P<id>\d+)_assignsubmission_(?P<number>)[a-z]+(?:_?/|_)(?P<rest>.+)"
)
# Gradescope, "Export Submissions": submission_NUMBER/, and a file that tells of all of them. None
# of Gradescope's own pages describes that file: its keys are those that public tools read.
METADATA = "submission_metadata.yml"


def _canvas(listing: Listing) -> Dealt | None:
    def part(found: re.Match[str]) -> Part:
        name = found["name"] or f"anon_{found['code']}"
        is_late = "LATE_" in found[0].removesuffix(found["rest"])
        late = ["Canvas says that it was late."] if is_late else []
        known = (name,) if found["name"] else ()
        return Part(found["id"] or name, name, known, found["id"] or "", notes=late)

    dealt = _by_pattern(listing, CANVAS, part)
    flat = sum(len(each.pieces) for each in dealt.parts)
    return dealt if flat * 2 > len(listing.tops()) else None


def _moodle(listing: Listing) -> Dealt | None:
    def part(found: re.Match[str]) -> Part:
        is_anonymous = found["name"] == "Participant"
        shown = f"Participant {found['id']}" if is_anonymous else found["name"]
        return Part(found["id"], shown, (shown,), found["id"])

    return _by_pattern(listing, MOODLE, part)


def _by_pattern(
    listing: Listing, pattern: re.Pattern[str], part: Callable[[re.Match[str]], Part]
) -> Dealt:
    parts: dict[str, Part] = {}
    loose = []
    for path, entry in listing.entries:
        if (found := pattern.fullmatch(path)) is None:
            loose.append(entry)
            continue
        new = part(found)
        piece = Piece(found["rest"], entry, int(found["number"] or 0))
        parts.setdefault(new.who, new).pieces.append(piece)
    return Dealt(list(parts.values()), loose)


def _gradescope(listing: Listing) -> Dealt | None:
    about = dict(listing.entries).get(METADATA)
    if about is None:
        return None
    parts: dict[str, list[Part]] = {}
    for folder, told in _metadata(about).items():
        people = [one for one in told.get(":submitters") or [] if isinstance(one, dict)]
        shown = [_text(one, ":name", ":email", ":sid") or folder for one in people]
        for one, name in zip(people, shown, strict=True):
            names = tuple(filter(None, (_text(one, key) for key in (":sid", ":email", ":name"))))
            new = Part((*names, name)[0], name, names, when=_time(told.get(":created_at")))
            if len(people) > 1:
                new.notes.append(f"Handed in together by {', '.join(map(student_name, shown))}.")
            parts.setdefault(folder, []).append(new)
    loose = []
    for path, entry in listing.entries:
        folder, _, rest = path.partition("/")
        for part in parts.get(folder, []):
            part.pieces.append(Piece(rest, entry))
        if folder not in parts and path != METADATA:
            loose.append(entry)
    return Dealt([part for several in parts.values() for part in several], loose)


def _metadata(about: Entry) -> dict[str, dict[str, Any]]:
    """What Gradescope tells of each submission; larger than a student's file may be."""
    try:
        import yaml
    except ImportError:
        raise CannotGrade("an export from Gradescope is read with PyYAML: "
                          "pip install -e '.[grade]'") from None  # fmt: skip

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """Reads Ruby's objects as plain mappings."""

    def mapping(loader: Any, kind: str, node: Any) -> Any:
        is_one = isinstance(node, yaml.MappingNode)
        return loader.construct_mapping(node, deep=True) if is_one else None

    Loader.add_multi_constructor("!ruby/", mapping)
    try:
        found = yaml.load(about.read(most=MOST_TOLD), Loader)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise CannotGrade(f"{METADATA} cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise CannotGrade(f"{METADATA} does not say who handed in what")
    return {str(key): told for key, told in found.items() if isinstance(told, dict)}


def _text(told: dict[str, Any], *keys: str) -> str:
    return next((str(told[key]) for key in keys if told.get(key)), "")


def _time(found: Any) -> str:
    """In ISO 8601 with an offset; Ruby means UTC where it names none."""
    if isinstance(found, dict):
        found = found.get("utc")
    if isinstance(found, str):
        try:
            found = datetime.fromisoformat(found.replace(" UTC", "+00:00"))
        except ValueError:
            return ""
    if not isinstance(found, datetime):
        return ""
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat(timespec="seconds")


# ---- folders -------------------------------------------------------------------------------------


def _folders(listing: Listing) -> Dealt:
    """A folder for each student. A clone is called ASSIGNMENT-USERNAME, and all of them are in
    ASSIGNMENT-submissions (`gh classroom clone student-repos`: cmd/gh-classroom/clone in
    github/gh-classroom, 2023)."""
    inner = listing.inside()
    if inner and inner.top[:-1] not in listing.clones and _is_class(inner):
        return _folders(inner)
    clones = sorted(top for top in listing.tops() if f"{listing.top}{top}" in listing.clones)
    assignment = _assignment(listing, clones)
    parts: dict[str, Part] = {}
    loose = []
    for path in listing.folders:
        _own_part(parts, path.partition("/")[0], listing.top, clones, assignment)
    for path, entry in listing.entries:
        top, slash, rest = path.partition("/")
        is_folder = slash or entry.problem and (listing.source / entry.path).is_dir()
        if not is_folder or top == "..":
            loose.append(entry)
            continue
        part = _own_part(parts, top, listing.top, clones, assignment)
        part.pieces.append(Piece(rest, entry, is_dated=not part.clone))
    return Dealt(list(parts.values()), loose)


def _own_part(
    parts: dict[str, Part], folder: str, top: str, clones: list[str], assignment: str
) -> Part:
    """The part of a student's folder. macOS may write the same name with other code points."""
    who = unicodedata.normalize("NFC", folder)
    if who not in parts:
        own = who.removeprefix(assignment) if folder in clones else who
        names = [own]
        if folder in clones and not assignment:
            names += [own.split("-", count)[-1] for count in range(1, own.count("-") + 1)]
        clone = f"{top}{folder}" if folder in clones else ""
        parts[who] = Part(who, own, tuple(names), clone=clone)
    return parts[who]


def _is_class(listing: Listing) -> bool:
    """Whether students' folders are in here, and not what one student has."""
    folders = {path.partition("/")[0] for path in listing.folders}
    folders |= {path.partition("/")[0] for path, _ in listing.entries if "/" in path}
    alone = [path for path, _ in listing.entries if "/" not in path]
    is_ones_own = "projects" in folders or any(name.endswith((".py", ".zip")) for name in alone)
    return len(folders) > 1 and not is_ones_own


def _assignment(listing: Listing, clones: list[str]) -> str:
    """What the names of all clones begin with; empty where that can't be told."""
    holder = Path(listing.top).name or listing.source.absolute().name
    named = holder.removesuffix("submissions")
    if holder.endswith("-submissions") and all(name.startswith(named) for name in clones):
        return named
    common = os.path.commonprefix(clones) if len(clones) > 1 else ""
    return common[: common.rfind("-") + 1]


LAYOUTS: tuple[tuple[str, Callable[[Listing], Dealt | None]], ...] = (
    ("an export from Gradescope", _gradescope),
    ("an export from Moodle", _moodle),
    ("an export from Canvas", _canvas),
    ("a folder for each student", _folders),
)


def dealt_out(listing: Listing) -> Dealt:
    """By the first layout that fits. CannotGrade where none does."""
    for name, deal in LAYOUTS:
        for level in filter(None, (listing, listing.inside())):
            dealt = deal(level)
            if dealt and dealt.parts:
                dealt.layout = name
                return dealt
    raise CannotGrade(
        f"there are no students' folders in {listing.source}, and it isn't an export from Canvas, "
        "Moodle or Gradescope"
    )
