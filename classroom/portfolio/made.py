"""What a learner has made, read from the files of their copy; nothing is run for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classroom.exercises import exercises, parts
from classroom.learner import record
from classroom.learner.kept import kept
from classroom.mini.helping import exercises as functions_of
from classroom.mini.stages import STAGES
from classroom.portfolio.lines import Whose, whose_lines
from classroom.portfolio.projects import Described, described
from classroom.puzzlebook.game import exercise_of, games

PROJECT = "project "  # what the points of one are kept under, before its name


@dataclass(frozen=True)
class Part:
    """Exercises of a part. right: predictions that were right at the first try, of so many
    `guessed`. helped: exercises whose worked answer was seen first."""

    number: int
    title: str
    done: int
    of: int
    right: int = 0
    guessed: int = 0
    helped: int = 0


@dataclass(frozen=True)
class Stage:
    """A file of the learner's own framework. own: lines that are certainly theirs, of `lines`.
    same: those that they wrote as the course has them."""

    name: str
    title: str
    own: int
    same: int
    lines: int
    passes: bool
    helped: int = 0


@dataclass(frozen=True)
class Game:
    """Puzzles of a kind. score, par and best: of those that are done, all together."""

    name: str
    title: str
    unit: str
    done: int
    of: int
    score: float
    par: float
    best: float
    helped: int = 0


@dataclass(frozen=True)
class Project:
    """points: the most that a report gave, of those that it could give; None without a report."""

    described: Described
    points: int | None = None
    of: int = 0


@dataclass(frozen=True)
class Speeds:
    """GFLOP/s of a product of matrices, by what was done to its loops. roof: GFLOP/s and GB/s of
    the machine. intensity: operations for each byte."""

    rates: Mapping[str, float]
    roof: tuple[float, float] | None = None
    intensity: float = 0.0
    numpy: float = 0.0

    @property
    def best(self) -> float:
        return max(self.rates.values())

    @property
    def first(self) -> float:
        return next(iter(self.rates.values()))


@dataclass(frozen=True)
class Digits:
    """The share of handwritten digits that was read right, of so many."""

    right: float
    of: int


@dataclass(frozen=True)
class Made:
    """All of it. climb: with tinyframe's loops (part 7c); own_c: with C of one's own framework, on
    which a language model made up `names`."""

    parts: tuple[Part, ...] = ()
    stages: tuple[Stage, ...] = ()
    games: tuple[Game, ...] = ()
    projects: tuple[Project, ...] = ()
    digits: Digits | None = None
    climb: Speeds | None = None
    own_c: Speeds | None = None
    names: tuple[str, ...] = ()

    @property
    def done(self) -> int:
        return sum(part.done for part in self.parts)

    @property
    def of(self) -> int:
        return sum(part.of for part in self.parts)

    @property
    def own(self) -> int:
        """Lines of one's own framework."""
        return sum(stage.own for stage in self.stages)

    @property
    def graded(self) -> list[Project]:
        return [project for project in self.projects if project.points]

    @property
    def is_empty(self) -> bool:
        played = any(game.done for game in self.games)
        return not (self.done or self.own or played or self.graded or self.climb)


def made(folder: Path) -> Made:
    """What was made in the copy in this folder."""
    noted: record.Record = {}
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
        noted = record.parse((folder / record.FILE).read_text())
    shown = kept(folder)
    stages = tuple(_stages(folder, noted))
    is_own = any(stage.own for stage in stages)
    return Made(
        tuple(_parts(noted)),
        stages,
        tuple(_games(noted)),
        tuple(_projects(shown)),
        _digits(shown.get("digits", {})) if is_own else None,
        _speeds(shown.get("climb", {})),
        _speeds(shown.get("own c", {})) if is_own else None,
        _names(shown.get("names", {})) if is_own else (),
    )


def _parts(noted: record.Record) -> Iterator[Part]:
    for number, title in parts().items():
        far = record.counts(exercises(number), noted)
        yield Part(number, title, far.done, far.of, far.right, far.guessed, far.helped)


def _stages(folder: Path, noted: record.Record) -> Iterator[Stage]:
    for stage in STAGES:
        found = Whose(0, 0, 0)
        with suppress(OSError, ValueError, SyntaxError):
            mine, given = folder / "mini" / stage.file, folder / ".originals" / "mini" / stage.file
            found = whose_lines(mine.read_text(), given.read_text())
        helped = record.counts(functions_of(stage), noted).helped
        passes = bool(noted.get(f"mini-{stage.name}", {}).get("done"))
        yield Stage(stage.name, stage.title, *found, passes, helped)


def _games(noted: record.Record) -> Iterator[Game]:
    for game in games():
        entries = [(p, noted.get(exercise_of(p).name, {})) for p in game.puzzles]
        done = [(p, entry) for p, entry in entries if entry.get("done")]
        scored = [(p, entry["score"]) for p, entry in done if "score" in entry]
        yield Game(
            game.name,
            game.title,
            game.unit,
            len(done),
            len(entries),
            sum(score for _, score in scored),
            sum(p.par_here for p, _ in scored),
            sum(p.best for p, _ in scored),
            sum(entry.get("helped", False) for _, entry in done),
        )


def _projects(shown: Mapping[str, Mapping[str, Any]]) -> Iterator[Project]:
    for project in described():
        entry = shown.get(f"{PROJECT}{project.name}", {})
        points, of = entry.get("points"), entry.get("of")
        if type(points) is int and type(of) is int and 0 <= points <= of:
            yield Project(project, points, of)
        else:
            yield Project(project)


def _digits(entry: Mapping[str, Any]) -> Digits | None:
    with suppress(KeyError, TypeError, ValueError):
        found = Digits(float(entry["right"]), int(entry["of"]))
        return found if 0 <= found.right <= 1 else None
    return None


def _names(entry: Mapping[str, Any]) -> tuple[str, ...]:
    names = entry.get("names")
    return tuple(map(str, names[:10])) if isinstance(names, list) else ()


def _speeds(entry: Mapping[str, Any]) -> Speeds | None:
    with suppress(KeyError, TypeError, ValueError, AttributeError):
        rates = {str(label): float(rate) for label, rate in entry["rates"].items()}
        if not rates or min(rates.values()) <= 0:
            return None
        roof = (float(entry["flops"]), float(entry["bandwidth"])) if "flops" in entry else None
        across = float(entry.get("intensity", 0))
        is_drawn = roof is not None and min(*roof, across) > 0
        return Speeds(rates, roof if is_drawn else None, across, float(entry.get("numpy", 0)))
    return None
