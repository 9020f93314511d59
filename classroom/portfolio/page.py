"""A portfolio as one page of HTML that needs nothing else: no network, no fonts, no scripts.

It is read by a friend, or by somebody who may want to hire its author. So each number is followed
by what it means in plain words, what isn't there is left out, and the end says how it was counted.
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterator
from pathlib import Path

from classroom.look import bar, counted, document
from classroom.portfolio.drawn import hundred, roofline, short
from classroom.portfolio.made import Game, Made, Part, Project, Speeds, Stage
from tinyframe.nn.state import replacing

FILE = "my_portfolio.html"
MARK = '<meta name="generator" content="tinyframe portfolio">'  # of a page that may be replaced

ABOUT_PARTS = {
    1: "What happens between a line of Python and the machine code that runs",
    2: "Saying beforehand what a computation will cost, and finding where its time goes",
    3: "Arrays of numbers that share memory, or need none",
    4: "Programs that are written down first and computed later, all at once",
    5: "Three kinds of operation, and how every neural network is made of them",
    6: "How a network learns: derivatives of whole programs, and training with them",
    7: "How a compiler turns graphs into C, and how that C becomes fast",
    8: "Running code on devices, a graphics processor's kernels among them",
    9: "How work is judged so that cheating doesn't pay",
    10: "Finding one's way in the source of a real framework",
    11: "Changing a framework that others rely on, and showing that the change is right",
}
ABOUT_GAMES = {
    "one-liners": "Array puzzles, each answered in a single line with as few operations as "
    "possible",
    "mutants": "Ten compilers with a bug in each. A bug counts as found once a small program shows "
    "it; the smaller, the better",
    "golf": "Making the multiplication of matrices fast, with as few changes to its loops as "
    "possible",
    "gpu": "Programs for a graphics processor that read its memory as rarely as possible",
    "hunt": "Questions about forty thousand lines of somebody else's code. Find the line, or "
    "change what it does",
}


DOES = {  # what a framework can do as soon as it has this stage
    "3": "holds tables of numbers without storing them",
    "4": "writes down what is to be computed, and waits",
    "4b": "cuts that into programs",
    "5": "multiplies matrices and slides filters over pictures",
    "6": "finds derivatives and learns",
    "7a": "simplifies its own formulas",
    "7b": "writes C",
    "8": "compiles that C and runs it",
    "7c": "rearranges loops until they're fast",
}


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
        title = f"What {self.name} built" if self.name else "What I built"
        sections = "".join(_sections(self.made)) or EMPTY
        date = f"<p>{html.escape(self.date)}</p>" if self.date else ""
        body = BODY.format(
            title=html.escape(title), tiles=_tiles(self.made), date=date, sections=sections,
            counted=COUNTED if not self.made.is_empty else "",
        )  # fmt: skip
        return document(title, body, STYLE, f"\n{MARK}")

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
    for name, speeds in (("matrices", made.climb), ("matrices, own C", made.own_c)):
        if speeds:
            yield f"{name}: {short(speeds.first)} to {short(speeds.best)} GFLOP/s"
    for game in made.games:
        if game.done:
            score = f", {game.score:g} {game.unit}" if game.unit else ""
            yield f"{game.title}: {game.done} of {game.of}{score}"
    for project in made.graded:
        yield f"project {project.number}: {project.points} of {project.of} points"


# ---- sections ------------------------------------------------------------------------------------


def _tiles(made: Made) -> str:
    """The large numbers at the top."""
    tiles = []
    if made.own:
        tiles.append((f"{made.own:,}", "lines of a deep-learning framework, written by me"))
    if made.digits:
        said = "of handwritten digits it had never seen, read right by that framework"
        tiles.append((f"{made.digits.right:.1%}", said))
    fastest = max((s for s in (made.climb, made.own_c) if s), key=lambda s: s.best, default=None)
    if fastest and fastest.best > fastest.first:
        tiles.append((f"{fastest.best / fastest.first:.0f}×", "as fast: multiplying two matrices, "
                      "after I'd rearranged its loops"))  # fmt: skip
    if made.done:
        tiles.append((f"{made.done}", f"of {made.of} exercises done, each checked by a program"))
    points = sum(project.points or 0 for project in made.graded)
    if points:
        of = sum(project.of for project in made.graded)
        tiles.append((f"{points}", f"of {of} points in {counted(len(made.graded), 'project')}"))
    rows = "".join(f"<div><b>{n}</b><span>{html.escape(said)}</span></div>" for n, said in tiles)
    return f'<div class="tiles">{rows}</div>' if rows else ""


def _sections(made: Made) -> Iterator[str]:
    if made.own:
        yield _framework(made.stages)
    if made.digits:
        yield _section(
            "It reads handwriting",
            "The framework above trained a network to read digits from small images, "
            f"8\u00a0×\u00a08 grey dots each. Then it was shown {made.digits.of} images that it "
            "had never seen. Each dot here stands for one in a hundred of them: the filled ones "
            "were read right.",
            f'<div class="side">{hundred(made.digits.right)}<p class="large">'
            f"{made.digits.right:.1%}</p></div>",
        )
    if made.climb:
        yield _climb(made.climb)
    if made.own_c:
        said = (
            "The same multiplication, this time in C that my own framework wrote. Each bar is a "
            "different order of the same loops, in billions of operations a second."
        )
        beside = {"NumPy, for comparison": made.own_c.numpy} if made.own_c.numpy > 0 else {}
        yield _section("The C that my framework writes", said, _bars(made.own_c, beside))
    if made.graded:
        said = (
            "Each project is an afternoon of programming, graded by a program that asks "
            "new questions every time. (Some checks are kept by instructors, so the points here "
            "are of those that everybody can run.)"
        )
        yield _section("Projects", said, _list("cards", map(_project, made.graded)))
    if any(part.done for part in made.parts):
        said = "The course has exercises to program and predictions to make, checked one by one."
        rows = (_part(part) for part in made.parts if part.done)
        yield _section("Exercises", said, _list("rows", rows))
    if any(game.done for game in made.games):
        said = (
            "Games in which a right answer is rarely the end: most are scored, and the lower the "
            "better. Par is a good answer."
        )
        rows = (_game(game) for game in made.games if game.done)
        yield _section("Puzzles and games", said, _list("cards", rows))


def _framework(stages: tuple[Stage, ...]) -> str:
    works = [stage for stage in stages if stage.own and stage.passes]
    does = [DOES[stage.name] for stage in works if stage.name in DOES]
    able = f" It {', '.join(does[:-1])}{' and ' * (len(does) > 1)}{does[-1]}." if does else ""
    said = (
        f"A deep-learning framework is what neural networks are built with. This one is mine.{able}"
        " A bar is a whole file of it: first the lines that are certainly mine, then those that I "
        "wrote just as the course's solution has them. The rest was given."
    )
    rows = []
    for stage in stages:
        if not stage.own + stage.same:
            continue
        shares = (100 * lines / stage.lines for lines in (stage.own, stage.same))
        words = [f"{stage.own} of {stage.lines} lines certainly mine"]
        words += [f"{stage.same} written as in the solution"] if stage.same else []
        words += [f"{stage.lines - stage.own - stage.same} given"]
        words += ["passes all its checks"] if stage.passes and stage.own else []
        words += [f"{stage.helped} looked up"] if stage.helped else []
        rows.append(
            f"<li><h3>{html.escape(stage.title)}</h3>{bar(*shares)}<p>{', '.join(words)}</p></li>"
        )
    return _section("A framework of my own", said, _list("rows", rows))


def _climb(speeds: Speeds) -> str:
    said = (
        "Nearly all the work in a neural network is the multiplication of matrices. This is one "
        "multiplication of two large matrices, done again and again. The numbers it computes stay "
        "the same. What changes is the order of its loops. "
        f"It went from {short(speeds.first)} to {short(speeds.best)} billion operations a second."
    )
    if speeds.roof is None:
        return _section("One multiplication, faster and faster", said, _bars(speeds, {}))
    reading = (
        "The line is the roof of one core of this computer: on the left the memory sets it, on "
        f"the right the processor, at {short(speeds.roof[0])}. That was measured with NumPy, whose "
        "authors have been at it for decades."
    )
    figure = f"<figure>{roofline(speeds)}<figcaption>{reading}</figcaption></figure>"
    return _section("One multiplication, faster and faster", said, figure)


def _bars(speeds: Speeds, beside: dict[str, float]) -> str:
    rows = {**speeds.rates, **beside}
    most = max(rows.values())
    return _list("rows", (
        f'<li class="{"theirs" if label in beside else ""}"><h3>{html.escape(label)}</h3>'
        f"{bar(100 * rate / most)}<p>{short(rate)}</p></li>" for label, rate in rows.items()
    ))  # fmt: skip


def _project(project: Project) -> str:
    share = 100 * (project.points or 0) / project.of
    return (
        f"<li><h3>{html.escape(project.title)}</h3><p>{html.escape(project.about)}</p>"
        f"{bar(share)}<p><b>{project.points}</b> of {project.of} points</p></li>"
    )


def _part(part: Part) -> str:
    words = [f"{part.done} of {part.of} done"]
    if part.guessed:
        words.append(f"{part.right} of {part.guessed} predictions right the first time")
    words += [f"{part.helped} looked up"] if part.helped else []
    about = ABOUT_PARTS.get(part.number, part.title)
    return (
        f"<li><h3>{html.escape(about)}</h3>{bar(100 * part.done / part.of)}"
        f"<p>{', '.join(words)}</p></li>"
    )


def _game(game: Game) -> str:
    about = ABOUT_GAMES.get(game.name, "")
    words = [f"{game.done} of {game.of} solved"]
    words += [f"{game.helped} after a look at the answer"] if game.helped else []
    score = ""
    if game.par:
        below = game.par - game.score
        against = f"{below:g} under par" if below > 0 else "par" if not below else (
            f"{-below:g} over par")  # fmt: skip
        record = "the fewest that anybody knows" if game.score <= game.best else (
            f"the fewest known is {game.best:g}")  # fmt: skip
        score = f"<p><b>{game.score:g}</b> {html.escape(game.unit)}: {against}, {record}</p>"
    return (
        f"<li><h3>{html.escape(game.title)}</h3><p>{html.escape(about)}.</p>"
        f"{bar(100 * game.done / game.of)}<p>{', '.join(words)}</p>{score}</li>"
    )


def _section(title: str, said: str, body: str) -> str:
    return f"<section><h2>{title}</h2><p>{html.escape(said)}</p>{body}</section>"


def _list(kind: str, rows) -> str:
    return f'<ul class="{kind}">{"".join(rows)}</ul>'


EMPTY = """<section><h2>Nothing here yet</h2><p>And that's how everybody's starts. Do an exercise,
write a function of your own framework, or have a project graded. Then make this page again: what
you made will be on it. The map of the course is START.md, and part 1 takes an hour.</p></section>
"""

COUNTED = """<section class="counted"><h2>How this was counted</h2>
<p><b>Lines.</b> A line of code is certainly mine if it stands neither in the file as the course
handed it out nor in the course's own solution. All are compared as Python would write them, so
comments, spaces and quotes make no difference, and of a copied file nothing is. Where I wrote what
the solution has too, nobody can tell, so that is shown by itself.</p>
<p><b>Exercises, puzzles and points.</b> Each was checked by a program, and whatever I programmed
was tried on inputs that I couldn't know beforehand. A prediction counts as done once it's made; how
many were right is said beside it. &ldquo;Looked up&rdquo; means that I saw the worked answer
first.</p>
<p><b>Speeds.</b> They were measured on one core of the computer that this was made on, and are the
best of several runs.</p>
<p>All of it comes from files on my computer, so it's as honest as I am. If you want to know more,
ask me how any of it works.</p></section>
"""

# What only a portfolio has, beside look.STYLE.
STYLE = """
.rows .theirs .bar i{background:var(--soft)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,17rem),1fr));gap:1rem}
.cards li{background:var(--card);border:1px solid var(--line);border-radius:14px;
padding:1.1rem 1.2rem;display:flex;flex-direction:column}
.cards .bar{margin-top:auto}
.cards p+.bar{margin-top:auto}
.cards p:first-of-type{margin-bottom:.8rem}
.cards b{color:var(--ink);font-size:1.1rem}
svg .said{font-size:11px;fill:var(--ink);paint-order:stroke;stroke:var(--card);stroke-width:3px;
stroke-linejoin:round}
svg .said.best{font-weight:700;fill:var(--warm)}
svg .roof{stroke:var(--soft);stroke-width:2;fill:none;stroke-linejoin:round}
svg .under{fill:var(--pale);opacity:.45}
svg .climb{stroke:var(--main);stroke-width:1.5;stroke-dasharray:2 3;fill:none}
svg .dot{fill:var(--main)}svg circle.best{fill:var(--warm)}
svg .hit{fill:var(--main)}svg .miss{fill:var(--miss)}
.side{display:flex;flex-wrap:wrap;gap:1.2rem 2.2rem;align-items:center;margin-top:1.3rem}
.side svg{width:11rem;margin:0}
.large{font:700 3.4rem/1 Georgia,"Times New Roman",serif;color:var(--main);margin:0}
.counted{border-top:1px solid var(--line);padding-top:1.6rem;font-size:.9rem}
.counted h2{font-size:1.15rem}
.counted b{color:var(--ink)}
@media print{.side{break-inside:avoid}}
"""

BODY = """<header>
<h1>{title}</h1>
<p>In a course called tinyframe you take a deep-learning framework apart, from the derivative down
to the machine code, and write a small one of your own.</p>
{date}
</header>
{tiles}
{sections}
{counted}"""
