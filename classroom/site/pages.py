"""What is on the site: a folder of sources for Sphinx, made from the repository.

Paths stay what they are, so that links from page to page do too. A link to a file that is no page,
such as `../tinyframe/dtype.py`, leads to a page that shows this file.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from classroom.address import repository, ways_in
from classroom.pages import filled

NOTEBOOKS = "notebooks"  # the folder of the site that has the notebooks themselves
SOURCES = "source"  # and of the pages that show a file
# [text](target#anchor), and not an image's
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s#]*)(#[^()\s]*)?\)")
# [name]: target, a line of its own, and what it's for: [name], with no target behind it
NAMED = re.compile(r"^\[([^\]]+)\]: +(\S+)\n?", re.MULTILINE)
NAME = re.compile(r"(?<![\w`!\]])\[([^\[\]]+)\](?![(\[:])")
FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
LANGUAGES = {".py": "python", ".toml": "toml", ".yml": "yaml", ".json": "json", ".c": "c",
             ".h": "c", ".cfg": "ini", ".js": "javascript", ".css": "css"}  # fmt: skip
ELSEWHERE = "../../"  # from README.md: other pages of the repository, which a site can't know
# README's ways in, which the site has of its own, and its heading, to be found by who searches that
DOORS = re.compile(r"^\*\*\[Start\]\(#start\)\*\*.*$", re.MULTILINE)
START, INSTALL = "## Start\n", "(start)=\n## Start: how to install it\n"
# Cells that show nothing before an exercise is solved: a reader sees what they showed to somebody.
RETURN = "With <code>return grad, -grad</code>, for instance:"
SAMPLES = {"p15db187": RETURN, "a3e28451": RETURN, "p18d72c0": "With the right row:",
           "rolling-ball": "With a <code>Number</code> that works:"}  # fmt: skip
# The texts beside the notebooks, by the heading that they are listed under.
TEXTS = {
    "The course": ["course/README.md", "course/GLOSSARY.md"],
    "Around it": [
        "docs/projects.md", "docs/inside.md", "docs/devices.md", "docs/benchmarks.md",
        "docs/gpu.md", "docs/map.md", "tinyframe/README.md", "docs/hacking.md",
        "docs/from_tinygrad.md", "docs/first_issues.md", "INSTRUCTOR.md", "docs/sandbox.md",
        "docs/cluster.md", "CONTRIBUTING.md", "docs/writing_lessons.md",
    ],
}  # fmt: skip


class DeadLink(ValueError):
    """A page links to something that the repository hasn't got."""


def notebooks(root: Path) -> list[Path]:
    """The learner's notebooks in order, the gallery last."""
    return sorted((root / "course").glob("*.ipynb"))


def slug(anchor: str) -> str:
    """A heading's anchor as a site has it, of the one that Jupyter gives it."""
    return re.sub(r"[^\w#-]", "", unquote(anchor)).lower()


def write(root: Path, folder: Path) -> list[Path]:
    """Fill a folder with what Sphinx makes the site from. Returns the pages, relative to it.

    Raises DeadLink, with all links that lead nowhere.
    """
    texts = [path for group in TEXTS.values() for path in group if (root / path).is_file()]
    pages = ["README.md", *texts]
    pages += [path.relative_to(root).as_posix() for path in notebooks(root)]
    shown, dead = set[str](), list[str]()

    def relinked(page: str, text: str) -> str:
        def link(found: re.Match[str]) -> str:
            words, target, anchor = found[1], found[2], found[3] or ""
            if not target or "://" in target or target.startswith("mailto:"):
                return found[0]
            if page == "README.md" and target.startswith(ELSEWHERE):
                return _elsewhere(words, target, notebooks(root)[0])
            path = os.path.normpath(Path(page).parent / target)
            place = root / path
            if path.startswith(("..", "/")) or not place.exists():
                dead.append(f"{page}: {target}")
            elif path in pages:
                return f"[{words}]({target}{slug(anchor) if path.endswith('.ipynb') else anchor})"
            elif place.is_dir():
                inside = f"{path}/README.md"
                return f"[{words}](/{inside}{anchor})" if inside in pages else words
            elif place.suffix in (".png", ".svg"):
                return found[0]
            else:
                shown.add(path)
                return f"[{words}](/{SOURCES}/{path}.md)"
            return words

        def inline(found: re.Match[str]) -> str:
            return f"{found[0]}({named[found[1]]})" if found[1] in named else found[0]

        def outside(text: str) -> str:
            return LINK.sub(link, NAME.sub(inline, NAMED.sub("", text)))

        named = dict(NAMED.findall(text))
        parts, at = [], 0
        for fence in FENCE.finditer(text):  # code has brackets of its own
            parts += [outside(text[at : fence.start()]), fence[0]]
            at = fence.end()
        return "".join([*parts, outside(text[at:])])

    for page in pages:
        place = folder / page
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.suffix == ".ipynb":
            _write_notebook(root / page, place, page, relinked)
        else:
            text = relinked(page, (root / page).read_text())
            if page == "README.md":
                lesson = notebooks(root)[0]
                way = filled("first_lesson.html", lesson=lesson.stem, ways=ways_in(lesson.name),
                             place=repository())  # fmt: skip
                text = DOORS.sub(way, text).replace(START, INSTALL)
            place.write_text(text)
    if dead:
        raise DeadLink("\n".join(dead))
    for path in sorted(shown):
        _write_source(root / path, folder / SOURCES / f"{path}.md", path)
    for image in (root / "docs").glob("*.*"):
        if image.suffix in (".svg", ".png"):
            shutil.copy(image, folder / "docs" / image.name)
    (folder / "index.md").write_text(index(root, texts))
    return [*map(Path, pages), *(Path(SOURCES, f"{path}.md") for path in sorted(shown))]


def _elsewhere(words: str, target: str, lesson: Path) -> str:
    """What README.md says of other pages of the repository, where that has a place on the web.
    lesson: the first one, for whoever wants to read the site and is there already."""
    place, page = repository(), target.removeprefix(ELSEWHERE)
    known = {"": place, "issues": place and f"{place}/issues",
             "codespaces/new?quickstart=1": ways_in("").get("Codespaces"),
             "deployments/github-pages": f"course/{lesson.name}"}  # fmt: skip
    return f"[{words}]({known[page]})" if known.get(page) else words


def index(root: Path, texts: Iterable[str]) -> str:
    """The first page: the README, and the list of all pages, which is the side bar."""
    there, lines = set(texts), ["```{include} README.md", "```", ""]
    groups = {heading: [p for p in paths if p in there] for heading, paths in TEXTS.items()}
    first = next(iter(groups))
    lessons = [path.relative_to(root).as_posix() for path in notebooks(root)]
    groups[first] = [*lessons, *groups[first]]
    for heading, paths in groups.items():
        lines += ["```{toctree}", ":hidden:", f":caption: {heading}", ""]
        lines += [f"/{path.rpartition('.')[0]}" for path in paths] + ["```", ""]
    if place := repository():
        lines += ["```{toctree}", ":hidden:", "", f"The repository <{place}>", "```", ""]
    return "\n".join(lines)


def _write_notebook(path: Path, place: Path, page: str, relinked: Any) -> None:
    """The notebook with its links changed, and how to do its exercises under the title."""
    content = json.loads(path.read_text())
    worked = path.parents[1] / "solutions" / "course" / path.name
    solved = json.loads(worked.read_text())["cells"] if worked.exists() else []  # a class has none
    shown = {cell["id"]: cell["outputs"] for cell in solved if cell["id"] in SAMPLES}
    doors = {"ways": ways_in(path.name), "up": "../" * page.count("/")}
    for number, cell in enumerate(content["cells"]):
        source = "".join(cell["source"])
        if cell["id"] in shown:
            caption = {"text/html": f'<p class="sample">{SAMPLES[cell["id"]]}</p>'}
            words = {"output_type": "display_data", "metadata": {}, "data": caption}
            cell["outputs"] = [words, *shown[cell["id"]]]
        elif source.startswith("progress("):
            cell["outputs"] = []  # a reader has none
        if cell["cell_type"] == "markdown":
            if number == 0:
                title, _, rest = source.partition("\n")
                here = filled("ways_in.html", notebook=path.name, folder=NOTEBOOKS, **doors)
                source = f"{title}\n\n{here}\n{rest}"
            source = relinked(page, source)
            for name, kinds in cell.pop("attachments", {}).items():
                image = place.with_name(f"{place.stem}_{name}")
                image.write_bytes(base64.b64decode(*kinds.values()))
                source = source.replace(f"attachment:{name}", image.name)
        cell["source"] = source
    if any("check(" in "".join(cell["source"]) for cell in content["cells"]):
        last = relinked(page, filled("way_on.html", **doors))
        cell = {"cell_type": "markdown", "id": "way-on", "metadata": {}, "source": last}
        content["cells"].append(cell)
    place.write_text(json.dumps(content))


def _write_source(path: Path, place: Path, name: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    language = LANGUAGES.get(path.suffix, "text")
    fence = "`" * 6
    text = path.read_text()
    place.write_text(
        f"---\norphan: true\n---\n\n# `{name}`\n\n"
        f"{fence}{{code-block}} {language}\n:linenos:\n\n{text}\n{fence}\n"
    )
