"""Places in tinyframe: how somebody may write one down, and how a check finds the right ones.

    named("`UOp.simplify()`")                        the words in it: {"uop", "simplify"}
    Place("algebra/symbolic.py", "one_value").is_meant_by("symbolic.one_value")          True
    returned_by(lambda: (a + b).schedule(), is_reason)     the functions that returned such a value
    fired(sink, lambda step: step.before is loop)          the rows of tables that did such a thing

Which place is right is found by running tinyframe and looking on, so that no answer is written
down anywhere, and none goes stale when a file is renamed.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from classroom.exercise import Open, Wrong
from classroom.walking import PACKAGE
from tinyframe.rewrite import Rule
from tinyframe.rewrite.matcher import Rewrite, Step, record
from tinyframe.uop import Ops

# How a name is defined, the best way first: where several files have it, that one counts.
DEFINED = [re.compile(how, re.MULTILINE) for how in (
    r"^class\s+(\w+)", r"^\s*(?:def|class)\s+(\w+)", r"^\s*(\w+)(?::[^=\n]+)?\s*=[^=]",
)]  # fmt: skip
# What stands around a name, and says nothing.
FILLER = set("a an the in of by def class function method row rule table pass stage property file "
             "module tinyframe py it is line constant self ops".split())  # fmt: skip
LONG = 12  # characters of a line of code, from which on it is recognised


@dataclass(frozen=True)
class Place:
    """A function, class, constant or row. file: within tinyframe/. name: with its class, and ""
    where the file itself is meant. line: what is written there, of a row of a table. beside: words
    that may stand beside the name."""

    file: str
    name: str = ""
    line: str = ""
    beside: str = ""

    @property
    def short(self) -> str:
        """The name by itself; of a file, the file's."""
        return self.name.rpartition(".")[2] or Path(self.file).name

    def is_meant_by(self, answer: str) -> bool:
        """Whether an answer names it: alone, with its class, its file, a path, or as its line."""
        if self.line and _bare(answer) and _is_line(_bare(answer), _bare(self.line)):
            return True
        path = named(self.file)
        if not self.name:
            wanted = {bare_name(Path(self.file).stem)} - {"init"} or path
            return wanted <= named(answer) <= path | FILLER
        allowed = path | named(self.name) | named(self.beside) | {"locals"} | FILLER
        return bare_name(self.short) in named(answer) <= allowed

    def __str__(self) -> str:
        return f"`{self.name or self.file}`" + f" in {self.file}" * bool(self.name)


def _bare(text: str) -> str:
    return re.sub(r"\s+", "", text).rstrip(",").strip("`")


def _is_line(answer: str, line: str) -> bool:
    return len(answer) >= LONG and (answer in line or line in answer)


def named(answer: str) -> set[str]:
    """The words of an answer, in lower case; numbers of lines, brackets, quotes and single letters,
    as in `x.sum`, are none."""
    text = re.sub(r"\(.*?\)", " ", answer, flags=re.DOTALL)
    return {bare_name(w) for w in re.findall(r"\w\w+", text) if not w.isdecimal()}


def bare_name(name: str) -> str:
    """Without what is easily left out: underscores in front, and capitals."""
    return name.strip("_").lower()


def said(answer: Any) -> str:
    """An answer as text, whatever it is: a name, the function itself, a rule, an op, a path."""
    if answer is None or answer is ...:
        raise Open
    if isinstance(answer, (tuple, list, set, frozenset)) and len(answer) == 1:
        return said(next(iter(answer)))
    if isinstance(answer, str):
        return answer.strip()
    if isinstance(answer, Ops):
        return answer.name
    if isinstance(answer, Rule):
        return written_at(answer)
    if isinstance(answer, Path):
        return answer.as_posix()
    if isinstance(answer, ModuleType):
        return answer.__name__
    if isinstance(answer, property):
        return said(answer.fget)
    if isinstance(named := getattr(answer, "__qualname__", None), str):
        return named
    raise Wrong("The answer has to be a name, in quotes.", got=" ".join(repr(answer).split())[:80])


def written_at(rule: Rule) -> str:
    """The line on which a rule of a table is written."""
    file, number = rule.location
    return linecache.getline(file, number).strip()


def place_of(rule: Rule) -> Place:
    """A row of a table: by its function, and by the line that it is written on."""
    code = rule.function.__code__
    file = Path(code.co_filename)
    return Place(within(file), "" if "<" in code.co_name else code.co_qualname, written_at(rule))


def within(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix() if file.is_relative_to(PACKAGE) else file.name


# ---- finding -------------------------------------------------------------------------------------


def returned_by(
    work: Callable[[], Any], is_it: Callable[[Any, FrameType], bool], under: str = ""
) -> list[Place]:
    """The functions of tinyframe that return such a value while `work` runs, each once, the one
    that did so first first. under: only those of files that begin so. Who was told of calls before
    is told again afterwards."""
    found: dict[Place, None] = {}
    here = f"{PACKAGE}/"

    def seen(frame: FrameType, event: str, result: Any) -> None:
        code = frame.f_code
        if event != "return" or not code.co_filename.startswith(here + under):
            return
        if is_it(result, frame):
            found[Place(code.co_filename[len(here) :], code.co_qualname)] = None

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
    return list(found)


def fired(work: Callable[[], Any], is_it: Callable[[Step, Rewrite], bool]) -> list[Place]:
    """The rows of tables that did such a step while `work` ran."""
    with record() as passes:
        work()
    rules = [s.rule for p in passes for s in p.steps if s.rule is not None and is_it(s, p)]
    return [place_of(rule) for rule in dict.fromkeys(rules)]


# ---- warm and cold -------------------------------------------------------------------------------


@cache
def definitions() -> dict[str, tuple[str, ...]]:
    """The files of tinyframe in which each name is defined, by its bare name."""
    texts = {within(path): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}
    found: dict[str, dict[str, None]] = {}
    for how in DEFINED:
        for file, text in texts.items():
            for name in how.findall(text):
                found.setdefault(bare_name(name) or name, {})[file] = None
    return {name: tuple(files) for name, files in found.items()}


def path_of(answer: str) -> str | None:
    """The file of tinyframe that an answer is, as a path or a module: "" where there's no such
    file, None where the answer is no path."""
    text = answer.strip("`'\"/ ").replace("\\", "/")
    if not re.fullmatch(r"[\w./-]+", text):
        return None
    is_path = "/" in text or text.endswith(".py")
    end = text.removesuffix(".py").rpartition("tinyframe/")[2]
    end = f"/{end if is_path else end.removeprefix('tinyframe.').replace('.', '/')}"
    every = {f"/{path.removesuffix('.py').removesuffix('/__init__')}": path
             for path in map(within, sorted(PACKAGE.rglob("*.py")))}  # fmt: skip
    found = [path for name, path in every.items() if name.endswith(end)]
    return found[0] if found and (is_path or "/" in end[1:]) else "" if is_path else None


def temperature(answer: str, right: Iterable[Place]) -> str:
    """How far a wrong answer is from the right place, without saying where that is."""
    files = {place.file for place in right}
    folders = {file.partition("/")[0] for file in files if "/" in file}
    every = [*map(bare_name, re.findall(r"\w+", answer))]
    words = [word for word in every if word not in FILLER] or every
    if not words:
        return "There's no name in that."
    if any(bare_name(place.short) in words for place in right):
        return "Burning hot. Name that one, and nothing else."
    if words[-1] in folders:
        return "Warm: that's the right folder. Go in."
    if any(bare_name(Path(file).stem) == words[-1] for file in files):
        return "Hot: that's the right file. What's the name in it?"
    if (PACKAGE / answer.strip("`'\"/ ")).is_dir():
        return "Cold: what you're looking for is in a different folder."
    if path := path_of(answer):
        if path.partition("/")[0] in folders:
            return f"Warm: the folder of {path} is right, and the file isn't."
        return f"Cold: what you're looking for isn't in {path}, and not in its folder."
    if path == "":
        return f"There's no file {answer} in tinyframe."
    name = next((word for word in reversed(words) if word in definitions()), None)
    stands = definitions()[name] if name else ()
    if files.intersection(stands):
        return f"Hot: `{name}` is in the right file. It does something else there."
    if near := [file for file in stands if file.partition("/")[0] in folders]:
        return f"Warm: `{name}` is in {near[0]}. The folder is the right one."
    if stands:
        return f"Cold: `{name}` is in {stands[0]}, and what you're looking for is elsewhere."
    return f"Nothing in tinyframe is called `{words[-1]}`."


# ---- looking for words ---------------------------------------------------------------------------

MOST, WIDEST = 12, 96  # lines that are shown, and characters of each


def seek(text: str, under: str = "") -> None:
    """Print the lines of tinyframe with these words in them, and their files. under: only those of
    files that begin so, as "codegen/"."""
    lines = [(within(path), line.strip()) for path in sorted(PACKAGE.rglob("*.py"))
             for line in path.read_text().splitlines() if text in line]  # fmt: skip
    found = [(file, line) for file, line in lines if file.startswith(under)]
    width = max((len(file) for file, _ in found[:MOST]), default=0)
    for file, line in found[:MOST]:
        print(f"{file:{width}}  {line if len(line) <= WIDEST else line[:WIDEST] + ' …'}")
    if len(found) > MOST:
        print(f"and {len(found) - MOST} more: say more of the line, or name a folder")
    if not found:
        print("nowhere")
