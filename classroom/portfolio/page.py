"""A portfolio as one page of HTML that needs nothing else: no network, no fonts, no scripts.

It is read by a friend, or by somebody who may want to hire its author. So each number is followed
by what it means in plain words, what isn't there is left out, and the end says how it was counted.
Most of its words are in templates/portfolio.html.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator
from pathlib import Path

from markupsafe import Markup

from classroom.pages import counted, listed, page, short
from classroom.portfolio.drawn import hundred, roofline
from classroom.portfolio.made import Game, Made, Part, Stage
from tinyframe.nn.state import replacing

FILE = "my_portfolio.html"
MARK = '<meta name="generator" content="tinyframe portfolio">'  # of a page that may be replaced
# What parts and games are about, and what a framework can do as soon as it has a stage.
ABOUT = json.loads(Path(__file__).with_name("about.json").read_text(encoding="utf-8"))
NUMPY = "NumPy, for comparison"


class Portfolio:
    """A page. As a cell's last line it is shown; `print` gives what it says, as text."""

    def __init__(self, made: Made, name: str = "", date: str = "") -> None:
        self.made, self.name, self.date = made, name.strip(), date.strip()

    def __repr__(self) -> str:
        return "\n".join(_said(self.made))

    def _repr_html_(self) -> str:
        framed = html.escape(self.html())
        look = "width: 100%; height: 640px; border: 1px solid #8888; border-radius: 8px"
        return f'<iframe title="a portfolio" srcdoc="{framed}" style="{look}"></iframe>'

    def html(self) -> str:
        """The whole page."""
        made, own_c = self.made, self.made.own_c
        title = f"What {self.name} built" if self.name else "What I built"
        beside = {NUMPY: own_c.numpy} if own_c and own_c.numpy > 0 else {}
        return page(
            "portfolio", title, mark=MARK, title=title, date=self.date, tiles=list(_tiles(made)),
            stages=[(stage, list(_of_stage(stage))) for stage in made.stages
                    if stage.own + stage.same] if made.own else [],
            able=_able(made.stages), digits=made.digits, names=made.names, climb=made.climb,
            dots=Markup(hundred(made.digits.right)) if made.digits else "", numpy=NUMPY,
            drawn=Markup(roofline(made.climb)) if made.climb and made.climb.roof else "",
            own_c={**own_c.rates, **beside} if own_c else {}, projects=made.graded,
            parts=[(part, ABOUT["parts"].get(str(part.number), part.title), list(_of_part(part)))
                   for part in made.parts if part.done],
            games=[(game, ABOUT["games"].get(game.name, ""), list(_of_game(game)), _against(game))
                   for game in made.games if game.done], is_empty=made.is_empty,
        )  # fmt: skip

    def save(self, path: str | os.PathLike[str] = FILE) -> Path:
        """Write the page, whole or not at all. FileExistsError where there is a file that is no
        portfolio: that one stays."""
        target = Path(path)
        if not may_replace(target):
            raise FileExistsError(f"{target.name} is there already, and it isn't a portfolio")
        with replacing(target) as unfinished:
            Path(unfinished).write_text(self.html(), encoding="utf-8")
        return target


def may_replace(path: Path) -> bool:
    """Whether nothing is there, or an earlier portfolio."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        return False
    return not path.exists() or MARK.encode() in path.read_bytes()[:2000]


def _said(made: Made) -> Iterator[str]:
    """What the page shows, in a line each."""
    if made.is_empty:
        yield "a page with nothing on it yet, and where to start"
        return
    yield f"exercises: {made.done} of {made.of}"
    if made.own:
        passing = sum(stage.passes and stage.own > 0 for stage in made.stages)
        yield f"own framework: {made.own} lines; {passing} of its stages pass their checks"
    if made.digits:
        yield f"digits read right: {made.digits.right:.1%} of {made.digits.of}"
    if made.names:
        yield f"names made up: {', '.join(made.names)}"
    for name, speeds in (("matrices", made.climb), ("matrices, own C", made.own_c)):
        if speeds:
            yield f"{name}: {short(speeds.first)} to {short(speeds.best)} GFLOP/s"
    for game in made.games:
        if game.done:
            score = f", {game.score:g} {game.unit}" if game.unit else ""
            yield f"{game.title}: {game.done} of {game.of}{score}"
    for project in made.graded:
        yield f"project {project.described.number}: {project.points} of {project.of} points"


# ---- what is worked out for it -------------------------------------------------------------------


def _tiles(made: Made) -> Iterator[tuple[str, str]]:
    """The large numbers at the top."""
    if made.own:
        yield f"{made.own:,}", "lines of a deep-learning framework, written by me"
    if made.digits:
        said = "of handwritten digits it had never seen, read right by that framework"
        yield f"{made.digits.right:.1%}", said
    fastest = max((s for s in (made.climb, made.own_c) if s), key=lambda s: s.best, default=None)
    if fastest and fastest.best > fastest.first:
        yield (f"{fastest.best / fastest.first:.0f}×", "as fast: multiplying two matrices, after "
               "I'd rearranged its loops")  # fmt: skip
    if made.done:
        yield f"{made.done}", f"of {made.of} exercises done, each checked by a program"
    if points := sum(project.points or 0 for project in made.graded):
        of = sum(project.of for project in made.graded)
        yield f"{points}", f"of {of} points in {counted(len(made.graded), 'project')}"


def _able(stages: tuple[Stage, ...]) -> str:
    works = [stage.name for stage in stages if stage.own and stage.passes]
    does = [ABOUT["stages"][name] for name in works if name in ABOUT["stages"]]
    return f" It {listed(does)}." if does else ""


def _of_stage(stage: Stage) -> Iterator[str]:
    yield f"{stage.own} of {stage.lines} lines certainly mine"
    if stage.same:
        yield f"{stage.same} written as in the solution"
    yield f"{stage.lines - stage.own - stage.same} given"
    if stage.passes and stage.own:
        yield "passes all its checks"
    if stage.helped:
        yield f"{stage.helped} looked up"


def _of_part(part: Part) -> Iterator[str]:
    yield f"{part.done} of {part.of} done"
    if part.guessed:
        yield f"{part.right} of {part.guessed} predictions right the first time"
    if part.helped:
        yield f"{part.helped} looked up"


def _of_game(game: Game) -> Iterator[str]:
    yield f"{game.done} of {game.of} solved"
    if game.helped:
        yield f"{game.helped} after a look at the answer"


def _against(game: Game) -> str:
    """What a score is worth; "" of a game without."""
    if not game.par:
        return ""
    below = game.par - game.score
    against = f"{abs(below):g} {'under' if below > 0 else 'over'} par" if below else "par"
    best = f"known is {game.best:g}" if game.score > game.best else "that anybody knows"
    return f"{against}, the fewest {best}"
