"""What a class handed in: a folder or a .zip, as students, Canvas, Moodle, Gradescope or GitHub
Classroom lay it out.

    taken = taken_in(Path("submissions.zip"), "01_tensor_basics.py", "", roster)
    taken.handed            # a HandedIn for each student, files and all
    taken.notes             # what the instructor should know: files that are nobody's, for one

Whatever it is, it is read as a list of entries (handed_in.Entry), which a layout deals out to
students as parts. Nothing is unpacked, no link is followed, and what one student's archive does
wrong is said about that student alone.
"""

from __future__ import annotations

import hashlib
import io
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from classroom.gradebook.commits import committed
from classroom.gradebook.handed import OTHER_PROJECT, WRONG_FILE, HandedIn
from classroom.gradebook.layouts import Part, Piece, dealt_out, listing_of, shown_path
from classroom.gradebook.names import Student, student_name
from classroom.gradebook.roster import Roster
from classroom.grader import judge
from classroom.grader.handed_in import IN_A_FILE, CannotGrade, Files, gathered, in_zip, opened

MOST_IN_ONE = 1_000  # entries of one student's archive
SAME_TIME = 2.0  # seconds that the dates in a zip are rounded to
SHOWN = 5  # names in a note


@dataclass(frozen=True)
class TakenIn:
    """A class's work on one project. layout: how it was laid out. notes: what is about nobody in
    particular."""

    handed: list[HandedIn]
    layout: str
    notes: list[str]


def taken_in(
    source: Path,
    tasks_name: str,
    main: str,
    roster: Roster | None = None,
    times: Mapping[str, str] | None = None,
) -> TakenIn:
    """Each student's files for a project, in the order of the students; of those in the roster who
    handed nothing in, too.

    tasks_name: the file's name, such as 01_tensor_basics.py; for a project that is a folder, the
    folder's, and then main is the file in it that is loaded. times: when students handed in (ISO
    8601), where the instructor knows better. CannotGrade where there is no class.
    """
    known = {_key(who, roster): when for who, when in (times or {}).items()}
    with listing_of(source, tasks_name) as listing:
        dealt = dealt_out(listing)
        handed = {
            student: _handed(student, parts, tasks_name, main, source, known.get(student, ""))
            for student, parts in _by_student(dealt.parts, roster).items()
        }
    for student in roster.students if roster else ():
        handed.setdefault(student.key, HandedIn(student.key))
    notes = [entry.problem for entry in [*listing.outside, *dealt.loose] if entry.problem]
    if loose := [shown_path(entry.path) for entry in dealt.loose if not entry.problem]:
        notes.append(f"these belong to no student and were not graded: {_listed(loose)}")
    if roster and (others := sorted(set(handed) - {student.key for student in roster.students})):
        notes.append(f"not in the roster, or not the only one there with this name: "
                     f"{_listed(others)}; graded under the name that they have here. Mend the "
                     "roster and grade again; only the tables that Canvas and Moodle export tell "
                     "namesakes in their downloads apart")  # fmt: skip
    if strange := sorted(set(known) - set(handed)):
        notes.append(f"the table of times names people who are not here: {_listed(strange)}")
    if any(part.clone for part in dealt.parts):
        notes.append("work counts as handed in at its last commit, and students can set that time "
                     "to anything; if it matters, give a table of times")  # fmt: skip
    return TakenIn([handed[student] for student in sorted(handed)], dealt.layout, notes)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _key(who: str, roster: Roster | None) -> str:
    student = roster.find(who) if roster else None
    return student.key if student else student_name(who)


def _by_student(parts: list[Part], roster: Roster | None) -> dict[str, list[Part]]:
    """The parts of each student. Those who only look alike are kept apart, and it is noted."""
    found: dict[str, list[Part]] = {}
    strangers: dict[str, list[Part]] = {}
    for part in parts:
        if student := _in_roster(part, roster):
            found.setdefault(student.key, []).append(part)
            continue
        if roster is not None:
            part.notes.append("Not in the roster, or not the only one there with this name.")
        strangers.setdefault(student_name(part.shown) or "no name", []).append(part)
    for shown, alike in strangers.items():
        for part in alike:
            key = shown
            if len(alike) > 1 or shown in found:
                part.notes.append(f"Several are called {shown}; this is {ascii(part.who)}.")
                mark = part.id or hashlib.sha256(part.who.encode(errors="replace")).hexdigest()[:4]
                key = shown if part.who == shown not in found else f"{shown} ({mark})"
            found[key] = [part]
    return found


def _in_roster(part: Part, roster: Roster | None) -> Student | None:
    if roster is None:
        return None
    if part.id and (student := roster.with_id(part.id)):
        return student
    return next(filter(None, map(roster.find, part.names)), None)


# ---- the project's files -------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """A file that may be the project's, or the main one of its folder.

    place: the lower the likelier. number: of a copy, the higher the newer. date: 0 where nothing is
    known by it.
    """

    piece: Piece
    part: Part
    place: int
    number: int = 0
    date: float = 0.0

    @property
    def where(self) -> str:
        return shown_path(self.piece.entry.path)


def _handed(
    student: str, parts: list[Part], tasks_name: str, main: str, source: Path, when: str
) -> HandedIn:
    pieces = [piece for part in parts for piece in part.pieces]
    notes = [note for part in parts for note in part.notes]
    top = shown_path(min((piece.entry.path.partition("/")[0] for piece in pieces), default=""))
    when = when or max(part.when for part in parts)
    try:
        for piece in pieces:
            if piece.entry.problem:
                raise CannotGrade(piece.entry.problem)
        choice = _choice(parts, tasks_name, main, notes)
        files = _files(choice, main) if choice else {}
    except CannotGrade as error:
        return HandedIn(student, {}, top, str(error), when, tuple(notes))
    if choice is None:
        there = _listed([shown_path(piece.path) for piece in pieces])
        is_others = any(_is_other_project(piece, tasks_name) for piece in pieces)
        what = f", only {there}" + ", which is another project" * is_others if there else ""
        notes.append(f"There is no {tasks_name}{what}.")
        is_own = bool(pieces) and not any(part.clone for part in parts)
        instead = (OTHER_PROJECT if is_others else WRONG_FILE) if is_own else ""
        return HandedIn(student, {}, top * is_own, "", when, tuple(notes), instead)
    where, inner, part = choice.where, choice.piece.path, choice.part
    if main:
        where, inner = where.rpartition("/")[0] or where, choice.piece.folder
    if part.clone and not when:
        when = committed(source / part.clone, inner)
    return HandedIn(student, files, where, "", when, tuple(notes))


def _choice(parts: list[Part], tasks_name: str, main: str, notes: list[str]) -> Choice | None:
    """The project's file; what there is to say about it goes into notes. CannotGrade where an
    archive can't be read that may hold it."""
    problems: list[str] = []
    found = [each for part in parts for each in _choices(part, tasks_name, main)]
    if not found:
        parts = [_looked_into(part, tasks_name if main else "", problems) for part in parts]
        found = [each for part in parts for each in _choices(part, tasks_name, main)]
    if not found and not main:
        python = [Choice(piece, part, 0) for part in parts if not part.clone
                  for piece in part.pieces if piece.name.lower().endswith(".py")
                  and not _is_other_project(piece, tasks_name)]  # fmt: skip
        if len(python) == 1:
            found = python
            notes.append(f"There is no {tasks_name}; {found[0].where} is the only Python file.")
    if not found:
        if problems:
            raise CannotGrade(problems[0])
        return None
    notes += [f"{problem}." for problem in problems]
    choice = _newest(found)
    if others := [each.where for each in found if each is not choice]:
        notes.append(f"There were several: {choice.where} was graded, not {_listed(others)}.")
    if not main and (beside := [*_beside(choice, tasks_name)]):
        notes.append(f"Beside it, and not graded: {_listed(beside)}.")
    return choice


def _beside(choice: Choice, tasks_name: str) -> Iterator[str]:
    """Python files in the same folder that aren't the course's; one of them may be what the student
    meant to hand in."""
    if choice.part.clone and not choice.piece.folder:
        return  # at the top of a clone lie the course's own
    for piece in choice.part.pieces:
        is_python = piece.folder == choice.piece.folder and piece.name.lower().endswith(".py")
        is_ours = re.match(r"\d\d_", piece.name) or _copies(tasks_name).fullmatch(piece.name)
        if is_python and piece is not choice.piece and not is_ours:
            yield shown_path(piece.path)


def _is_other_project(piece: Piece, tasks_name: str) -> bool:
    """Whether this is another project's file, or lies in another project's folder or zip."""
    names = {path.stem for folder in judge.TASKS for path in folder.glob("*.py")}
    others = names - {tasks_name.removesuffix(".py")}
    ends = (f"{name}{end}" for name in others for end in ("", ".py", ".zip"))
    parts = unicodedata.normalize("NFC", piece.path).split("/")
    return any(_copies(name).fullmatch(part) for name in ends for part in parts)


def _newest(found: list[Choice]) -> Choice:
    """Of those in the likeliest place, by time where it is known, else by number."""
    place = min(each.place for each in found)
    found = [each for each in found if each.place == place]
    first = max((each.part.when, each.piece.number) for each in found)
    found = [each for each in found if (each.part.when, each.piece.number) == first]
    last = max(each.date for each in found) - SAME_TIME
    return max((each for each in found if each.date >= last), key=lambda each: each.number)


def _choices(part: Part, tasks_name: str, main: str) -> Iterator[Choice]:
    """Of a project that is a folder, the main file stands for it; except in a clone, the folder may
    be called as it likes."""
    own = _copies(tasks_name)
    for piece in part.pieces:
        path = PurePosixPath(unicodedata.normalize("NFC", piece.path))
        if main and path.name != main:
            continue
        path = path.parent if main else path
        date = piece.entry.date if piece.is_dated else 0.0
        if match := own.fullmatch(path.name):
            yield Choice(piece, part, 2 * _place(path.parent), _number(match), date)
        elif main and not part.clone:
            yield Choice(piece, part, 2 * _place(path) + 1, 0, date)


def _place(folder: PurePosixPath) -> int:
    """The lower, the likelier it is that the project lies in this folder. A whole course that was
    handed in has files of the same names in classroom/projects."""
    if folder.parts[-2:] == ("classroom", "projects"):
        return 4
    if folder.name == "projects":
        return 1 if len(folder.parts) == 1 else 2
    return 3 if folder.parts else 0


def _copies(name: str) -> re.Pattern[str]:
    """The name, and what browsers, desktops and Canvas make of it where there is one already:
    toy (1).py, toy-1.py, toy copy 2.py, toy - Copy (2).py; or Canvas appends random digits."""
    plain = PurePosixPath(unicodedata.normalize("NFC", name))
    again = r" ?\((\d{1,3})\)|-(\d{1,3})|(?: -)? copy(?: \(?(\d{1,3})\)?)?|" \
            r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # fmt: skip
    return re.compile(f"{re.escape(plain.stem)}({again})?{re.escape(plain.suffix)}", re.IGNORECASE)


def _number(found: re.Match[str]) -> int:
    """Of a copy: the higher the newer, 0 for the name itself."""
    if not found[1]:
        return 0
    digits = found[2] or found[3] or found[4]
    return int(digits or 1)


def _looked_into(part: Part, folder: str, problems: list[str]) -> Part:
    """The part with what its zips hold, as if each were a folder; in a clone, the project's own
    alone. folder: the project's name, if it is a folder."""
    pieces: list[Piece] = []
    for piece in part.pieces:
        is_own = folder and _copies(f"{folder}.zip").fullmatch(piece.name)
        if not piece.name.lower().endswith(".zip") or part.clone and not is_own:
            pieces.append(piece)
            continue
        shown = shown_path(piece.entry.path)
        try:
            archive = opened(io.BytesIO(piece.entry.read()), shown)
            if len(archive.infolist()) > MOST_IN_ONE:
                raise CannotGrade(f"{shown} has more than {MOST_IN_ONE:,} entries")
            inside = list(in_zip(archive, shown))
            for entry in inside:
                if entry.problem:
                    raise CannotGrade(entry.problem)
        except CannotGrade as error:
            problems.append(str(error))
            continue
        for entry in inside:
            whole = replace(entry, path=f"{piece.entry.path}/{entry.path}")
            pieces.append(Piece(f"{piece.path[:-4]}/{entry.path}", whole, piece.number, True))
    return replace(part, pieces=pieces)


def _files(choice: Choice, main: str) -> Files:
    if not main:
        return {IN_A_FILE: choice.piece.entry.read()}
    start = f"{choice.piece.folder}/" if choice.piece.folder else ""
    inside = [replace(piece.entry, path=piece.path.removeprefix(start))
              for piece in choice.part.pieces if piece.path.startswith(start)]  # fmt: skip
    files = gathered(inside, choice.where.rpartition("/")[0] or choice.where)
    return {main: files.pop(main), **dict(sorted(files.items()))}
