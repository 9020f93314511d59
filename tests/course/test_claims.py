"""Every sentence that a part asks its readers to remember is true, and stays true."""

from __future__ import annotations

import json
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

from classroom.exercises import parts
from tests.course import claims

ROOT = Path(__file__).resolve().parents[2]
MODULES = [
    import_module(f"{claims.__name__}.{m.name}") for m in pkgutil.iter_modules(claims.__path__)
]
ALL = [(m.__name__, text) for m in MODULES for text in claims.CLAIMS[m.__name__]]


def part_of(module) -> str:
    """The part whose claims a module has, "04", or the notebook, "07a"."""
    return module.__name__.rsplit("_", 1)[-1]


def last_page(part: str) -> list[str]:
    """The bullets of What to remember and Common wrong ideas: their first sentences."""
    found = []
    for path in sorted((ROOT / "solutions" / "course").glob(f"{part}*.ipynb")):
        for cell in json.loads(path.read_text())["cells"]:
            text = "".join(cell["source"])
            if cell["cell_type"] == "markdown" and "## What to remember" in text:
                page = text[text.index("## What to remember") :].partition(
                    "**Where to look next**"
                )[0]
                bullets = re.split(r"^- ", page, flags=re.MULTILINE)[1:]
                found += [first_sentence(bullet) for bullet in bullets]
    return found


def first_sentence(bullet: str) -> str:
    """Without Markdown and quotation marks: '*"Each op is a kernel."* No.' gives its first half."""
    text = " ".join(bullet.split())
    if quoted := re.match(r'\*"(.+?)"\*', text):
        return quoted[1].replace("`", "")
    text = text.replace("**", "").replace("`", "")
    return re.split(r"(?<=[.!?]) (?=[A-Z])", text)[0]


def test_every_part_has_its_claims():
    tested = {int(part_of(module)[:2]) for module in MODULES}
    missing = [f"tests/course/claims/part_{part:02}.py" for part in {*parts()} - tested]
    assert not missing, f"write {' and '.join(missing)}: a test for each bullet of the last page"
    assert tested == {*parts()}


@pytest.mark.parametrize("module", MODULES, ids=part_of)
def test_every_bullet_of_the_last_page_is_tested_and_no_other(module):
    assert last_page(part_of(module)) == list(claims.CLAIMS[module.__name__])


@pytest.mark.parametrize("module, sentence", ALL, ids=lambda x: x.rsplit(".", 1)[-1][:60])
def test_claim(module, sentence):
    claims.CLAIMS[module][sentence]()


def test_the_first_sentence_of_a_bullet():
    assert first_sentence('*"`x.T` copies\n  numbers."* It does not.') == "x.T copies numbers."
    assert first_sentence("A **plan** holds no values. It is a graph.") == "A plan holds no values."
