"""Runs the examples of READMEs and of docs/inside.md again, and stores what they print.
(`classroom/build.py` does that for notebooks; `make course` runs both.)

    python -m tests.course.refresh                 all of them
    python -m tests.course.refresh docs/inside.md

Then read the difference (git diff) before you commit it: these files are what learners see. It
replaces:

    a ```text block after a ```python block      by what that prints
    a ```text block after <!-- stage: NAME -->   by that stage, as the last ```python block has it
    N in a table row | `path` | N | …            by the file's number of lines
    what stands after <!-- methods -->           by the public methods of Tensor, from docstrings
    what stands after <!-- trunk -->             by the files that one expression passes through
    what stands after <!-- notebooks -->         by the course's notebooks, from their first cells
    what stands after <!-- settings -->          by the table of settings
    what stands after <!-- links -->             by where [4a] and [project 5] lead
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from classroom.build import clean_environment, sanitized
from classroom.glossary import course_in, terms
from tests.repository import trunk
from tinyframe.settings import rows

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tinyframe", "tinyframe/runtime", "course")
READMES = [ROOT / "docs" / "inside.md", *(ROOT / folder / "README.md" for folder in FOLDERS)]
MAP = ROOT / "course" / "README.md"

# What a fence holds: ```python or ```text, up to the closing one.
FENCE = re.compile(r"```(python|text)\n(.*?)```\n", re.DOTALL)
STAGE = re.compile(r"<!-- stage: (.+?) -->\s*$")
COUNT = re.compile(r"^\| `(?P<path>[\w/]+\.(?:py|c))` \| (?P<lines>\d+) \|", re.MULTILINE)
METHODS = re.compile(r"(<!-- methods -->\n).*?(<!-- end of methods -->)", re.DOTALL)
TRUNK = re.compile(r"(<!-- trunk -->\n).*?(<!-- end of trunk -->)", re.DOTALL)
WORDS = re.compile(r"^\| `(?P<path>[\w/]+\.py)` \| \d+ \| (?P<words>.*) \|$", re.MULTILINE)
# What a table's cell would take for markup, and code, which it takes as it is.
MARKDOWN = re.compile(r"`[^`]*`|[|*]")
TITLE = re.compile(r"^───── (.+?)(?: \(nothing to do\))? ─+$", re.MULTILINE)


# ---- READMEs ------------------------------------------------------------------------------------


def run_example(source: str) -> str:
    """What a README's example prints, in a process of its own. CalledProcessError if it fails."""
    env = clean_environment() | {"DEVICE": "CPU", "THREADS": "1", "NO_COLOR": "1"}
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, env=env, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def stages(printed: str) -> dict[str, str]:
    """DEBUG=5's output by name of stage, titles included; what follows the last is "source"."""
    titles = list(TITLE.finditer(printed))
    cuts = [title.start() for title in titles] + [len(printed)]
    found = {t[1]: printed[cuts[n] : cuts[n + 1]] for n, t in enumerate(titles)}
    last = titles[-1][1]
    program, typedef, source = found[last].partition("typedef ")
    return found | {last: program, "source": typedef + source}


def with_examples(text: str) -> str:
    """The README with every printed block as it is now."""
    pieces: list[str] = []
    position, example = 0, ""
    by_stage: dict[str, str] = {}
    for fence in FENCE.finditer(text):
        pieces.append(between := text[position : fence.start()])
        kind, body = fence.groups()
        if kind == "python":
            example, by_stage = body, {}
        elif stage := STAGE.search(between):
            by_stage = by_stage or stages(run_example(example))
            body = as_it_was(body, by_stage[stage[1]])
        elif example and pieces[-2:-1] and pieces[-2].startswith("```python"):
            body = as_it_was(body, run_example(example))
        pieces.append(f"```{kind}\n{body.rstrip()}\n```\n")
        position = fence.end()
    return "".join(pieces) + text[position:]


def as_it_was(stored: str, printed: str) -> str:
    """What is stored, where only times and the like would change."""
    return stored if sanitized(stored.rstrip()) == sanitized(printed.rstrip()) else printed


def with_counts(text: str) -> str:
    """The README with every file's number of lines as it is now."""
    return COUNT.sub(lambda row: f"| `{row['path']}` | {number_of_lines(row['path'])} |", text)


def number_of_lines(path: str) -> int:
    """As `wc -l` in tinyframe/ counts them."""
    return (ROOT / "tinyframe" / path).read_text().count("\n")


def with_trunk(text: str) -> str:
    """The README with the table of the trunk. What each file is stands in the table of all."""
    words = {row["path"]: row["words"] for row in WORDS.finditer(text)}
    return TRUNK.sub(lambda found: f"{found[1]}{trunk.table(words)}\n{found[2]}", text)


# ---- the methods of Tensor ----------------------------------------------------------------------


class Method(NamedTuple):
    """A public method or property of Tensor: its name, what it gives, the file it is in."""

    name: str
    meaning: str
    file: str


def public_methods() -> list[Method]:
    """All of Tensor's that do not begin with an underscore, file by file, as they stand there."""
    from tinyframe import Tensor

    found: dict[str, Method] = {}
    for kind in Tensor.__mro__:
        path = kind.__module__.removeprefix("tinyframe.").replace(".", "/")
        for name, attribute in vars(kind).items():
            if not name.startswith("_"):
                found.setdefault(name, Method(name, meaning(name, attribute), f"{path}.py"))
    return list(found.values())


def meaning(name: str, attribute: Any) -> str:
    """The first sentence of a docstring, on one line."""
    function = getattr(attribute, "__func__", attribute)  # of a classmethod, a staticmethod
    if getattr(function, "__name__", name) != name:
        return f"Another name of {function.__name__}."
    paragraph = (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=\.) ", paragraph)[0]


def with_methods(text: str) -> str:
    """The README with a table of public methods for each file of tensor/, in reading order."""
    methods = public_methods()
    lines = []
    for file in dict.fromkeys(row["path"] for row in COUNT.finditer(text)):
        own = [method for method in methods if method.file == file]
        if own:
            lines += [f"`{file}`", "", "| method | what it gives |", "|---|---|"]
            lines += [f"| `{m.name}` | {MARKDOWN.sub(as_it_stands, m.meaning)} |" for m in own]
            lines.append("")
    return METHODS.sub(lambda found: found[1] + "\n".join(lines) + found[2], text)


def as_it_stands(found: re.Match[str]) -> str:
    """Code as it is, a single sign with a backslash."""
    return found[0] if found[0].startswith("`") else "\\" + found[0]


# ---- the course's map ---------------------------------------------------------------------------

BETWEEN = "(<!-- {0} -->\n).*?(<!-- end of {0} -->)"
TIME = re.compile(r"About (\d+) minutes(?:.*?\band (?:then )?(\d+) more)?", re.DOTALL)
NEEDS = re.compile(r"You need (.+?)\. (?=Nothing is|[A-Z])", re.DOTALL)
LINK = re.compile(r"\[([^]]+)\]\([^)]*\)")


class Lesson(NamedTuple):
    """What the first cell of a notebook says. number: 4a, of 04a_lazy_evaluation.ipynb."""

    number: str
    file: str
    title: str
    minutes: int
    needs: str
    afterwards: list[str]


def lessons() -> list[Lesson]:
    """The notebooks that are numbered, in order."""
    return [_lesson(path) for path in sorted((ROOT / "course").glob("[0-9]*.ipynb"))]


def _lesson(path: Path) -> Lesson:
    head = "".join(json.loads(path.read_text())["cells"][0]["source"])
    title = head.splitlines()[0].partition(". ")[2]
    opening = " ".join(head.split())
    time, needs = TIME.search(opening.partition("You need")[0]), NEEDS.search(opening)
    assert time, f"{path.name} doesn't say how long it takes"
    can = re.findall(r"^- (.+?)[;.]?$", head, re.MULTILINE)
    return Lesson(
        path.name.partition("_")[0].lstrip("0"),
        path.name,
        title,
        sum(int(n) for n in time.groups() if n),
        LINK.sub(r"\1", needs[1]) if needs else "",
        can,
    )


def hours(minutes: int) -> str:
    """105 as `1 h 45`."""
    whole, rest = divmod(minutes, 60)
    return f"{whole} h {rest:02}" if whole else f"{rest} min"


AFTERWARDS = "What you can do after each of them, and the terms that it explains"


def with_map(text: str) -> str:
    """The course's README with its tables of notebooks and settings, and its links, as they are."""
    found = lessons()
    topics: dict[str, list[str]] = {}
    for term in terms(course_in(ROOT / "course")):
        topics.setdefault(term.place.notebook, []).append(term.name)
    table = ["| | notebook | time | needs |", "|---" * 4 + "|"]
    table += [
        f"| {one.number} | [{one.title}]({one.file}) | {hours(one.minutes)} | {one.needs} |"
        for one in found
    ]
    total = sum(one.minutes for one in found)
    table.append(f"| | all {len(found)} | about {round(total / 60)} h | |")
    table += ["", f"<details><summary>{AFTERWARDS}</summary>", ""]
    for one in found:
        told = f"- [{one.number}] {'; '.join(one.afterwards)}."
        named = ", ".join(topics.get(one.file, []))
        table.append(f"{told} *{named}*" if named else told)
    table += ["", "</details>"]
    settings = ["| setting | unless you say so | can be | what it does |", "|---|---|---|---|"]
    settings += [
        f"| `{row.name}` | {row.default_text} | {row.allowed} | {row.meaning} |"
        for row in rows().values()
    ]
    links = [f"[{one.number}]: {one.file}" for one in found]
    projects = sorted((ROOT / "projects").glob("[0-9]*"))
    named = {path.name[:2].lstrip("0"): path.name for path in projects}
    links += [f"[project {number}]: ../projects/{name}" for number, name in named.items()]
    for name, lines in (("notebooks", table), ("settings", settings), ("links", links)):
        block = "\n".join(lines) + "\n"
        pattern = re.compile(BETWEEN.format(name), re.DOTALL)
        text = pattern.sub(lambda found, block=block: f"{found[1]}{block}{found[2]}", text)
    return text


def main(arguments: list[str]) -> None:
    for path in [Path(argument).resolve() for argument in arguments] or READMES:
        before = path.read_text()
        text = with_methods(with_counts(with_examples(before)))
        text = with_trunk(text) if TRUNK.search(text) else text
        text = with_map(text) if path == MAP else text
        if text != before:
            path.write_text(text)
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])
