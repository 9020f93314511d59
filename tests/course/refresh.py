"""Runs the READMEs' examples again, and stores what they print. (`classroom/build.py` does that for
notebooks; `make course` runs both.)

    python -m tests.course.refresh                 all READMEs
    python -m tests.course.refresh README.md

Then read the difference (git diff) before you commit it: these files are what learners see. It
replaces:

    a ```text block after a ```python block      by what that prints
    a ```text block after <!-- stage: NAME -->   by that stage, as the last ```python block has it
    N in a table row | `path` | N | …            by the file's number of lines
    what stands after <!-- methods -->           by the public methods of Tensor, from docstrings
    what stands after <!-- trunk -->             by the files that one expression passes through
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from classroom.build import clean_environment
from tests.repository import trunk

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (".", "tinyframe", "tinyframe/runtime", "course")
READMES = [ROOT / folder / "README.md" for folder in FOLDERS]

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
            body = by_stage[stage[1]]
        elif example and pieces[-2:-1] and pieces[-2].startswith("```python"):
            body = run_example(example)
        pieces.append(f"```{kind}\n{body.rstrip()}\n```\n")
        position = fence.end()
    return "".join(pieces) + text[position:]


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
        declared = vars(kind).get("__annotations__", {})
        for name, attribute in vars(kind).items():
            # A switch is where it is declared, and not where somebody has set it.
            is_set = isinstance(attribute, bool) and name not in declared
            if not name.startswith("_") and not is_set:
                found.setdefault(name, Method(name, meaning(name, attribute), f"{path}.py"))
    return list(found.values())


def meaning(name: str, attribute: Any) -> str:
    """The first sentence of a docstring, on one line."""
    function = getattr(attribute, "__func__", attribute)  # of a classmethod, a staticmethod
    if not callable(function) and not isinstance(function, property):  # a switch
        return "A switch, False until somebody sets it."
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


def main(arguments: list[str]) -> None:
    for path in [Path(argument).resolve() for argument in arguments] or READMES:
        print(path.relative_to(ROOT))
        text = with_methods(with_counts(with_examples(path.read_text())))
        path.write_text(with_trunk(text) if TRUNK.search(text) else text)


if __name__ == "__main__":
    main(sys.argv[1:])
