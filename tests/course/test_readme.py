"""The READMEs are true: their examples print what is shown, their links, files and lists exist.

`python -m tests.course.refresh docs/inside.md tinyframe/README.md` stores what they print now.
"""

from __future__ import annotations

import ast
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from classroom import check
from classroom.build import sanitized
from classroom.exercises import TITLES
from tests.classroom.sample import Number
from tests.course.refresh import (
    COUNT,
    MAP,
    READMES,
    ROOT,
    Lesson,
    lessons,
    number_of_lines,
    public_methods,
    with_examples,
    with_map,
    with_methods,
)
from tinyframe.codegen import passes
from tinyframe.codegen.optimize.loops import OptOps

PACKAGE = ROOT / "tinyframe"
ARCHITECTURE = (PACKAGE / "README.md").read_text()
READING_ORDER = [row["path"] for row in COUNT.finditer(ARCHITECTURE)]

TEXTS = [*READMES, *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
every_text = pytest.mark.parametrize(
    "path", sorted({*TEXTS}), ids=lambda path: path.relative_to(ROOT).as_posix()
)
every_readme = pytest.mark.parametrize("path", READMES, ids=lambda path: path.parent.name)


@every_readme
def test_examples_print_what_is_shown(path):
    text = path.read_text()
    assert sanitized(with_examples(text)) == sanitized(text)


FORGE = "../../"  # from README.md, where it is shown on the web: other pages of the repository


def without_code(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors(text: str) -> set[str]:
    """The fragments that GitHub makes of headings."""
    headings = re.findall(r"^#+ (.+)$", without_code(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_text
def test_links_lead_somewhere(path):
    text = path.read_text()
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        file, _, fragment = target.partition("#")
        if "://" not in file and not file.startswith(FORGE):
            assert not file or (path.parent / file).exists(), target
            there = (path.parent / file).read_text() if file.endswith(".md") else text
            assert not fragment or fragment in anchors(there), target


def test_the_map_shows_every_folder():
    text = (ROOT / "docs" / "map.md").read_text()
    passing = re.compile(r"\..*|.*\.egg-info|my_course|_site|build|dist|__pycache__")
    for folder in sorted(path.name for path in ROOT.iterdir() if path.is_dir()):
        assert passing.fullmatch(folder) or f"`{folder}/`" in text, folder


def ours() -> list[Lesson]:
    """The lessons of our parts; those of a fork's own stand in the map and in START."""
    return [one for one in lessons() if int(one.file[:2]) in TITLES]


def test_readme_leads_to_every_notebook_and_its_page_to_every_project():
    text = (ROOT / "README.md").read_text()
    for one in ours():
        assert f"](course/{one.file})" in text, one.file
    text = (ROOT / "docs" / "projects.md").read_text()
    for path in ROOT.glob("projects/[0-9]*"):
        assert f"](../projects/{path.name}" in text, path.name


def test_an_answer_that_readme_quotes_is_the_one_that_is_given(capsys):
    class Forgetful(Number):
        def backward(self, grad=1.0):
            self.grad = grad
            for source, slope in self.sources:
                source.backward(grad * slope)

    check("1.8", Forgetful)
    given = capsys.readouterr().out
    text = (ROOT / "README.md").read_text()
    assert given.startswith("✗") and " ".join(given.split()) in " ".join(text.split())


# ---- the course's map ---------------------------------------------------------------------------

# [6a], [project 3]; not [a link](to somewhere)
REFERENCE = re.compile(r"\[((?:\d+[a-z]?)|(?:project \d))\](?![(:])")


def test_the_map_is_that_of_the_notebooks_and_settings():
    assert with_map(MAP.read_text()) == MAP.read_text(), "python -m tests.course.refresh"


def test_the_map_leads_only_where_something_is():
    text = MAP.read_text()
    used = set(REFERENCE.findall(text))
    defined = dict(re.findall(r"^\[(.+)\]: (\S+)$", text, re.MULTILINE))
    assert used <= set(defined)
    assert all((MAP.parent / file).exists() for file in defined.values())


def test_each_notebook_is_a_way_to_some_topic():
    topics = MAP.read_text().partition("## Where each topic is")[2].partition("## Settings")[0]
    led_to = set(REFERENCE.findall(topics))
    assert {one.number for one in ours()} - led_to <= {"6c"}, "6c is for show"


def test_each_lesson_says_what_it_takes_and_gives():
    for one in lessons():
        assert 20 <= one.minutes <= 310 and one.needs and len(one.afterwards) >= 3, one.file


# ---- hacking ------------------------------------------------------------------------------------

HACKING = (ROOT / "docs" / "hacking.md").read_text()
ROWS = [line.split(" | ") for line in HACKING.splitlines() if line.count(" | ") == 3]


def in_code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize("row", ROWS[1:], ids=lambda row: row[0].strip("| "))
def test_hacking_names_what_there_is(row):
    _, files, words, tests = row
    (file, *_), (test, *_) = in_code(files), in_code(tests)
    path = PACKAGE / file if (PACKAGE / file).exists() else ROOT / file
    text = path.read_text()
    assert all(word in text for word in in_code(words)), row
    assert (ROOT / test).exists(), test


def test_hacking_names_commands_that_there_are():
    for module in re.findall(r"python -m ([\w.]+)", HACKING):
        place = ROOT / module.replace(".", "/")
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), module


# ---- the architecture ---------------------------------------------------------------------------


def test_the_passes_are_named_in_their_order():
    assert " → ".join(name for name, _ in passes) in ARCHITECTURE


def test_every_loop_primitive_is_described():
    for op in OptOps:
        assert re.search(rf"^\| `{op.name}\(", ARCHITECTURE, re.MULTILINE), op.name


def test_files_that_are_named_exist():
    # A name with a folder is below tinyframe/ or the root; one without is a file of some room.
    names = {path.name for path in ROOT.rglob("*.py")} | {"launch.c"}
    for name in re.findall(r"`([\w/]+\.(?:py|c))`", ARCHITECTURE):
        assert (PACKAGE / name).exists() or (ROOT / name).exists() or name in names, name


def test_every_file_is_in_the_reading_order():
    files = [path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".c")]
    to_read = {p.relative_to(PACKAGE).as_posix() for p in files if not is_a_face(p)}
    assert set(READING_ORDER) == to_read, "tinyframe/README.md lists every file, with its subject"


def is_a_face(path: Path) -> bool:
    """Whether a package's `__init__.py` has nothing but a docstring, imports and `NAME = …`."""
    if path.name != "__init__.py":
        return False
    names_only = (ast.Expr, ast.Import, ast.ImportFrom, ast.Assign)
    return all(isinstance(node, names_only) for node in ast.parse(path.read_text()).body)


def test_line_counts_are_about_right():
    for row in COUNT.finditer(ARCHITECTURE):
        lines, said = number_of_lines(row["path"]), int(row["lines"])
        assert abs(lines - said) <= max(50, 0.25 * lines), f"{row['path']}: it has {lines} now"


def test_the_list_of_tensors_methods_is_what_there_is():
    assert with_methods(ARCHITECTURE) == ARCHITECTURE, "make course writes the list anew"
    for name, meaning, _ in public_methods():
        assert f"| `{name}` | " in ARCHITECTURE, name
        assert meaning.endswith("."), f"the docstring of Tensor.{name} needs a first sentence"


@pytest.mark.parametrize("path", [p for p in READING_ORDER if p.endswith(".py")])
def test_nothing_is_imported_before_it_was_read(path):
    place = {name: n for n, name in enumerate(READING_ORDER)}
    for module in imported_modules(PACKAGE / path):
        for file in (f"{module}.py", f"{module}/__init__.py"):
            assert place.get(file, -1) <= place[path], f"{path} imports {file}, which is read later"


def imported_modules(path: Path) -> list[str]:
    """What a file imports from tinyframe while it is itself imported, as paths without ending."""
    found = []
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tinyframe."):
            module = str(node.module).removeprefix("tinyframe.").replace(".", "/")
            found += [module, *[f"{module}/{alias.name}" for alias in node.names]]
    return found


# ---- pictures -----------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"
CHARACTER = 7.3  # a little more than the width of a monospaced one at 12 pixels


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.svg")), ids=lambda path: path.name)
def test_pictures_describe_themselves_and_load_nothing(path):
    picture = ElementTree.parse(path).getroot()
    assert picture.findtext(f"{SVG}title") and picture.findtext(f"{SVG}desc")
    assert not list(picture.iter(f"{SVG}script")) and not list(picture.iter(f"{SVG}image"))
    assert not re.search(r"href=.(?!#)|@import|url\((?!#)", path.read_text())


def test_words_in_the_picture_fit_their_boxes():
    picture = ElementTree.parse(ROOT / "docs" / "pipeline.svg").getroot()

    def numbers(element: ElementTree.Element, *names: str) -> list[float]:
        return [float(element.attrib[name]) for name in names]

    boxes = [numbers(e, "x", "y", "width", "height") for e in picture.iter(f"{SVG}rect")
             if e.get("class") == "box"]  # fmt: skip
    assert len(boxes) == 6
    for text in picture.iter(f"{SVG}text"):
        if text.get("class") == "code":
            x, y = numbers(text, "x", "y")
            end = x + CHARACTER * len(text.text or "")
            inside = [b for b in boxes if b[0] < x and end < b[0] + b[2] and b[1] < y < b[1] + b[3]]
            assert inside, text.text
