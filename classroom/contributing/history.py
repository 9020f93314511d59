"""The owl and its thirty patches: what each version draws, a search drawn, and git's own search.

owl = History()
owl.poster(30)                       rows of text; an error where that version is broken
owls({"at first": owl.poster(0)})    posters beside one another
drawn_search(suspects, verdict)      which patches a search tried, in which order
git_bisect(owl)                      `git bisect run` over the same thirty, in a scratch folder
"""

from __future__ import annotations

import difflib
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from classroom.contributing.patches import FIRST, PATCHES
from tinyframe.viz.drawing import MUTED, PAGE, Drawing
from tinyframe.viz.kinds import ARROW, MARKED
from tinyframe.viz.picture import DrawnPicture

PAPER, INK = "#eef2f6", "#2b3d52"
GOOD, BAD, SKIP = "good", "bad", "skip"  # what a verdict may say
FILLS, UNTRIED = {GOOD: "#a9dca4", BAD: "#f3a5a2", SKIP: "#cfcfcf"}, "#f7f7f7"
OURS = "ours, until yours is there"
DOT, GAP = 5.0, 26.0  # points
THUMB = 3.4  # points, of a dot below a search
STEP, BOX = 20.5, 17.0  # points, from patch to patch and of a patch

Verdict = Callable[[int], str]
Trials = Sequence[tuple[int, str]]


class History:
    """A module, and what thirty patches made of it. Version 0 is before the first of them."""

    last = len(PATCHES)

    def message(self, n: int) -> str:
        """What the author of patch n wrote."""
        return PATCHES[self._number(n) - 1].message if n else "The owl"

    def source(self, n: int) -> str:
        """The module after patch n."""
        return _sources()[self._number(n)]

    def diff(self, *numbers: int) -> str:
        """What these patches changed, below their messages."""
        parts = []
        for n in numbers:
            before, after = self.source(n - 1).splitlines(), self.source(n).splitlines()
            lines = list(difflib.unified_diff(before, after, n=2, lineterm=""))[3:]
            shown = ["   …" if line.startswith("@@") else f"  {line}" for line in lines]
            parts.append("\n".join([f"{n}. {self.message(n)}", *shown]))
        return "\n\n".join(parts)

    def module(self, n: int) -> dict[str, Any]:
        """The names of that version of the module, freshly run."""
        names: dict[str, Any] = {}
        exec(compile(self.source(n), f"owl.py, patch {n}", "exec"), names)
        return names

    def poster(self, n: int) -> list[str]:
        """What version n draws, a text for each row. Whatever is wrong with it is raised."""
        rows: list[str] = self.module(n)["poster"]()
        return rows

    def _number(self, n: int) -> int:
        if not 0 <= n <= self.last:
            raise IndexError(f"there are patches 1 to {self.last}, and no patch {n}")
        return int(n)


@cache
def _sources() -> tuple[str, ...]:
    """The module after no patch, after one, and so on."""
    found = [FIRST]
    for patch in PATCHES:
        found.append(patch.applied(found[-1]))
    return tuple(found)


def is_lopsided(rows: Sequence[str]) -> bool:
    """Whether most rows of a poster differ from their mirror image. (An owl that winks does so in
    five.)"""
    return sum(row != row[::-1] for row in rows) > len(rows) / 2


def our_verdict(n: int) -> str:
    """Of version n of the owl: is it lopsided, or not, or can't it be tested?"""
    try:
        lopsided = is_lopsided(History().poster(n))
    except Exception:  # whatever it is that's broken
        return SKIP
    return BAD if lopsided else GOOD


def with_place(place: Callable[..., Any]) -> list[str]:
    """Today's poster, if a View's cells were where this function says."""
    names = History().module(History.last)
    names["View"].place = lambda view, i, j: int(place(view, i, j))
    rows: list[str] = names["poster"]()
    return rows


def mended(place: Callable[..., Any]) -> DrawnPicture | None:
    """Today's owl, and the owl with the learner's place."""
    try:
        rows = with_place(place)
    except Exception:  # not written yet, or wrong: the check says how
        print("Nothing to draw yet: with your place, there's no poster.")
        return None
    return owls({"today": History().poster(History.last), "with your place": rows})


# ---- searches ------------------------------------------------------------------------------------


def most_trials(patches: int, untestable: int = 0) -> int:
    """How many trials the check allows: as many as halving takes; one for each patch that can't be
    tested, and, where there are such, two more, since they are in the way of the middle."""
    return math.ceil(math.log2(max(patches, 2))) + untestable + 2 * bool(untestable)


def our_search(low: int, high: int, verdict: Verdict) -> list[int]:
    """The suspects between a version that's good and one that's bad."""
    known = {low: GOOD, high: BAD}

    def edges() -> tuple[int, int]:
        goods, bads = ([n for n, word in known.items() if word == want] for want in (GOOD, BAD))
        return max(goods), min(bads)

    while left := [n for n in range(*edges()) if n not in known]:
        centre = sum(edges()) / 2
        pick = min(left, key=lambda n: abs(n - centre))
        known[pick] = verdict(pick)
    begin, end = edges()
    return [*range(begin + 1, end + 1)]


def tried_by(
    search: Callable[..., Any], low: int, high: int, verdict: Callable[[int], Any]
) -> tuple[Any, list[tuple[int, Any]]]:
    """What a search returns, and what it tried, in order, each with what came out."""
    trials: list[tuple[int, Any]] = []

    def asked(n: Any) -> Any:
        trials.append((int(n), verdict(int(n))))
        return trials[-1][1]

    return search(low, high, asked), trials


def drawn_trials(bisect: Callable[..., Any], first_bad: int) -> DrawnPicture:
    """Thirty patches without trouble, of which one is the first that's bad, and which of them the
    learner's bisect tries; ours, where it isn't there yet."""
    yours, last = "yours", History.last
    try:
        found, trials = tried_by(bisect, 0, last, lambda n: n >= first_bad)
        named = [int(found)]
    except Exception:  # not written yet, or wrong: the check says how
        yours = OURS
        named, trials = tried_by(our_search, 0, last, lambda n: BAD if n >= first_bad else GOOD)
    words = [(n, word if word in (GOOD, BAD) else BAD if word else GOOD) for n, word in trials]
    text = [*_told(words, yours), f"found: {named[0]}"]
    return DrawnPicture(text[0], "\n".join(text), _line(last, words, named))


def accused(bisect: Callable[..., Any], verdict: Callable[[int], Any]) -> DrawnPicture:
    """Whom a bisect accuses that takes what can't be tested for good, drawn."""

    def careless(low: int, high: int, word: Callable[[int], Any]) -> list[Any]:
        return [bisect(low, high, lambda n: str(word(n)).strip().lower() == BAD)]

    def ours(low: int, high: int, word: Verdict) -> list[int]:
        return our_search(low, high, lambda n: BAD if word(n) == BAD else GOOD)

    return drawn_search(careless, verdict, ours)


def drawn_search(
    search: Callable[..., Any], verdict: Callable[[int], Any], ours: Callable[..., Any] = our_search
) -> DrawnPicture:
    """A search over the owl's patches, drawn as a line: what was tried in which order, with what it
    drew. Where the learner's search or verdict isn't there yet, `ours`."""
    yours, owl = "yours", History()
    try:
        found, trials = tried_by(search, 0, owl.last, verdict)
        named = sorted(int(n) for n in found)
        words = [(n, str(word).strip().lower()) for n, word in trials]
        if not {word for _, word in words} <= set(FILLS) or not named:
            raise ValueError
    except Exception:  # not written yet, or wrong: the check says how
        yours = OURS
        named, words = tried_by(ours, 0, owl.last, our_verdict)
    text = _told(words, yours)
    text += [f"suspected: {n}, {owl.message(n)!r}" for n in named]
    sheet = _line(owl.last, words, named)
    _thumbnails(sheet, owl, words)
    return DrawnPicture(text[0], "\n".join(text), sheet)


def _told(trials: Trials, yours: str) -> list[str]:
    head = f"{len(trials)} trials ({yours})"
    return [head, *(f"{k}. patch {n:2}: {word}" for k, (n, word) in enumerate(trials, 1))]


def _line(last: int, trials: Trials, found: Sequence[int]) -> Drawing:
    """The patches in a row, with the order of the trials above them."""
    sheet = Drawing()
    order = {n: number for number, (n, _) in enumerate(trials, 1)}
    results = {0: GOOD, last: BAD} | dict(trials)
    for n in range(last + 1):
        x, fill = n * STEP, FILLS.get(results.get(n, ""), UNTRIED)
        line, thick = (MARKED["color"], 3.0) if n in found else (ARROW, 1.0)
        sheet.box(x, 22, BOX, 22, fill, line, [str(n)], thick=thick, size=9)
        if n in order:
            above = str(order[n])
            sheet.words(x + BOX / 2, 14, above, 13, anchor="middle", bold=True, colour=MUTED)
    return sheet


def _thumbnails(sheet: Drawing, history: History, trials: Trials) -> None:
    """Below the line, what each version that was tried draws."""
    shown = sorted(dict(trials).items())
    top, width = 84.0, PAGE / max(len(shown), 1)
    for place, (n, word) in enumerate(shown):
        middle = (place + 0.5) * width
        sheet.line([(n * STEP + BOX / 2, 44), (n * STEP + BOX / 2, 52), (middle, top - 4)])
        try:
            pixels = pixels_of(history.poster(n))
        except Exception as error:  # a version that can't be tested: its error is what there is
            sheet.box(middle - 38, top, 76, 34, FILLS[SKIP], words=[type(error).__name__], size=9)
            high = 34.0
        else:
            dot = min(THUMB, (width - 6) / pixels.shape[1])
            wide, high = pixels.shape[1] * dot, pixels.shape[0] * dot
            sheet.image(middle - wide / 2, top, wide, high, pixels, (PAPER, INK))
        below = f"{n}: {word}"
        sheet.words(middle, top + high + 13, below, 10, anchor="middle", colour=MUTED)


def pixels_of(rows: Sequence[str]) -> np.ndarray:
    """True where there's ink."""
    return np.array([[cell == "#" for cell in row] for row in rows])


def owls(posters: Mapping[str, Sequence[str]]) -> DrawnPicture:
    """Posters beside one another, each under its name."""
    sheet, text = Drawing(), [f"{len(posters)} posters" if len(posters) > 1 else "a poster"]
    for name, rows in posters.items():
        x = sheet.width + GAP if sheet.parts else 0.0
        pixels = pixels_of(rows)
        sheet.words(x, 12, name, 11, colour=MUTED)
        sheet.image(x, 20, pixels.shape[1] * DOT, pixels.shape[0] * DOT, pixels, (PAPER, INK))
        text += [f"{name}:", *rows]
    return DrawnPicture(text[0], "\n".join(text), sheet)


# ---- git -----------------------------------------------------------------------------------------

SCRIPT = """\
try:
    from owl import poster

    rows = poster()
except Exception:
    raise SystemExit(125)  # can't be tested: skip it
lopsided = sum(row != row[::-1] for row in rows) > len(rows) / 2
raise SystemExit(1 if lopsided else 0)
"""
NOBODY = "nobody <nobody@example.org>"


def git_bisect(history: History) -> GitSearch | None:
    """What `git bisect run` makes of the history, in a folder that is gone again afterwards; None
    where there's no git, or it refuses."""
    if shutil.which("git") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        try:
            git = _Git(Path(folder))
            git("init", "--quiet")
            git("fast-import", "--quiet", input=_as_stream(history))
            git("reset", "--quiet", "--hard", "main")
            (git.folder / "trial.py").write_text(SCRIPT)
            git("bisect", "start", "main", "main~30")
            log = git("bisect", "run", sys.executable, "-B", "trial.py", allowed=(0, 2))
            named = git("bisect", "log").splitlines()
        except (OSError, subprocess.SubprocessError):
            return None
    return GitSearch(log, named)


def git_suspects(history: History) -> list[int]:
    """The patches that git suspects; where there's no git, those that our search does."""
    if (found := git_bisect(history)) is not None:
        return found.suspects
    return our_search(0, history.last, our_verdict)


class GitSearch:
    """What git printed, and which patches it suspects: numbers, found by their messages."""

    def __init__(self, log: str, named: Sequence[str]) -> None:
        numbers = {patch.message: n for n, patch in enumerate(PATCHES, 1)}
        found = [line.partition("] ")[2] for line in named if "possible first bad commit" in line]
        found += [line.partition("] ")[2] for line in named if "first bad commit: [" in line
                  and "possible" not in line]  # fmt: skip
        self.suspects = sorted(numbers[message] for message in found)
        kept = ("Bisecting:", "[", "There are only", "The first bad commit")
        self.lines = [
            f"    {line.partition('] ')[2]}" if line.startswith("[") else line
            for line in log.splitlines()
            if line.startswith(kept)
        ]
        self.lines += [f"    {message}" for message in found]

    def __repr__(self) -> str:
        return "\n".join(self.lines)


class _Git:
    """git in a folder, as if nobody had ever configured it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: str, input: str = "", allowed: tuple[int, ...] = (0,)) -> str:
        clean = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        done = subprocess.run(
            ["git", "-c", "init.defaultBranch=main", *words],
            cwd=self.folder, env=_environment() | clean, input=input, text=True,
            capture_output=True, timeout=60,
        )  # fmt: skip
        if done.returncode not in allowed:
            raise subprocess.CalledProcessError(done.returncode, words, done.stdout, done.stderr)
        return done.stdout


def _environment() -> dict[str, str]:
    """This process's, without what would lead git to a different repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def _as_stream(history: History) -> str:
    """The versions as commits, in the language of `git fast-import`; a second apart."""
    parts = []
    for n in range(history.last + 1):
        message, source = history.message(n), history.source(n)
        parts += [
            "commit refs/heads/main\n",
            f"committer {NOBODY} {1_000_000_000 + n} +0000\n",
            f"data {len(message.encode())}\n{message}\n",
            f"M 100644 inline owl.py\ndata {len(source.encode())}\n{source}\n",
        ]
    return "".join(parts)
