"""The course as a web site: all pages, all links, and nothing from elsewhere."""

import json
import re
import shutil
from pathlib import Path

import pytest

from classroom import address
from classroom.site import command, links, pages
from classroom.site.command import MARK, ROOT, build


def text_of(page: Path) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page.read_text()).split())


def test_every_notebook_is_a_page_with_what_its_cells_printed_and_a_link_to_itself(site):
    for path in pages.notebooks(ROOT):
        page = site / "course" / f"{path.stem}.html"
        html = page.read_text()
        cells = json.loads(path.read_text())["cells"]
        assert html.count("cell_input ") == sum(cell["cell_type"] == "code" for cell in cells)
        own = [cell for cell in cells if cell["id"] not in pages.SAMPLES
               and not "".join(cell["source"]).startswith("progress(")]  # fmt: skip
        outputs = [o for cell in own for o in cell.get("outputs", ())]
        assert html.count("<svg") >= sum("<svg" in str(o.get("data", "")) for o in outputs)
        printed = [line for o in outputs for line in o.get("text", ()) if line.isascii()]
        words = text_of(page)
        for line in printed:
            if re.fullmatch(r"[\w ,.:]+\n", line):
                assert " ".join(line.split()) in words, line
        if any("check(" in "".join(cell["source"]) for cell in cells):
            assert "You've read it. Now do it" in words[-3000:].replace("’", "'")
        (link,) = re.findall(r'download href="([^"]+)"', html)
        assert (page.parent / link).read_bytes() == path.read_bytes()


def test_no_link_is_dead_and_nothing_is_loaded_from_elsewhere(site):
    assert links.dead(site) == []


def test_the_side_bar_of_every_page_has_all_notebooks_in_order(site):
    titles = [json.loads(p.read_text())["cells"][0]["source"] for p in pages.notebooks(ROOT)]
    names = [f"{p.stem}.html" for p in pages.notebooks(ROOT)]
    assert titles
    for page in (site / "index.html", site / "course" / names[0], site / "course/GLOSSARY.html"):
        side = page.read_text().partition("sidebar-tree")[2].partition("</aside>")[0]
        found = [f"{n}.html" for n in re.findall(r'href="(?:[\w./]*/)?([\w]+)\.html"', side)]
        kept = [n for n in found if n in names]
        own = page.name if page.name in names else ""  # its own link is just "#"
        assert kept == [n for n in names if n != own]


def test_a_file_that_a_page_links_to_is_shown(site):
    shown = [*(site / pages.SOURCES).rglob("*.html")]
    assert shown
    for page in shown:
        path = ROOT / page.relative_to(site / pages.SOURCES).with_suffix("")
        words = re.sub(r"<[^>]+>", "", page.read_text())
        for line in path.read_text().splitlines():
            if re.fullmatch(r"[\w ]+", line.strip()):
                assert line.strip() in words


def test_the_search_knows_words_of_every_notebook(site):
    index = (site / "searchindex.js").read_text()
    found = json.loads(index[index.index("{") : index.rindex("}") + 1])

    def pages_with(word):
        there = found["terms"][word]
        return {found["docnames"][n] for n in ([there] if isinstance(there, int) else there)}

    lessons = {f"course/{path.stem}" for path in pages.notebooks(ROOT)}
    assert lessons <= set(found["docnames"])
    assert "course/03a_tensors" in pages_with("glider")
    assert not lessons <= pages_with("lack"), "what each says of itself is not to be found"


# ---- links ---------------------------------------------------------------------------------------


@pytest.fixture
def little(tmp_path):
    """A repository with one notebook, whose text is given."""

    def make(text: str, readme: str = "# Little\n\n## Start\n") -> Path:
        root = tmp_path / "little"
        (root / "course").mkdir(parents=True, exist_ok=True)
        (root / "docs").mkdir(exist_ok=True)
        (root / "README.md").write_text(readme)
        (root / "tool.py").write_text("print(1)\n")
        cell = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": text}
        notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (root / "course" / "01_one.ipynb").write_text(json.dumps(notebook))
        return root

    return make


@pytest.mark.parametrize("target", ["02_two.ipynb", "../none.py", "../../outside.md", "/etc"])
def test_a_link_that_leads_nowhere_is_named(little, target, tmp_path):
    with pytest.raises(pages.DeadLink, match=re.escape(f"course/01_one.ipynb: {target}")):
        pages.write(little(f"# One\n\n[x]({target})"), tmp_path / "out")


def test_links_lead_to_pages_shown_files_and_anchors_as_the_site_has_them(little, tmp_path):
    text = (
        "# One\n\n[a](../tool.py) [b](../README.md) [c](01_one.ipynb#Free,-until-it's-read) [d](..)"
        "\n\n```\nx[0](y)\n```\n"
    )
    written = pages.write(little(text), tmp_path / "out")
    assert Path("source/tool.py.md") in written
    (cell,) = json.loads((tmp_path / "out" / "course" / "01_one.ipynb").read_text())["cells"]
    assert (
        "[a](/source/tool.py.md) [b](../README.md) [c](01_one.ipynb#free-until-its-read)"
        in (cell["source"])
    )
    assert " d\n" in cell["source"]  # a folder without a page: no link, just its words
    assert "x[0](y)" in cell["source"]


def test_links_whose_targets_stand_below_lead_there_too(little, tmp_path):
    text = "# One\n\n[1], [the tool] and [nothing] of `[1]`, x[1]\n\n[1]: 01_one.ipynb\n"
    pages.write(little(text + "[the tool]: ../tool.py\n"), tmp_path / "out")
    (cell,) = json.loads((tmp_path / "out" / "course" / "01_one.ipynb").read_text())["cells"]
    assert (
        "[1](01_one.ipynb), [the tool](/source/tool.py.md) and [nothing] of `[1]`, x[1]"
        in (cell["source"])
    )
    with pytest.raises(pages.DeadLink, match=re.escape("course/01_one.ipynb: ../none.py")):
        pages.write(little("# One\n\n[x]\n\n[x]: ../none.py"), tmp_path / "out")


def test_what_is_dead_in_a_finished_site_is_named(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html">gone</a><a href="#top">up</a><a href="#low">down</a>'
        '<script src="https://example.org/x.js"></script><a href="https://example.org">far</a>'
        '<img src="data:image/png;base64,AA"><img src="none.png">'
    )
    assert links.dead(tmp_path) == [
        "a.html: b.html", "a.html: #low",
        "a.html loads https://example.org/x.js", "a.html: none.png",
    ]  # fmt: skip


# ---- the command ---------------------------------------------------------------------------------


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.txt").write_text("years of work")
    assert command.main([str(tmp_path)]) == 1
    assert "something else in it" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_site_is_replaced_and_stays_as_it_was_where_making_fails(little, tmp_path):
    site = tmp_path / "site"
    assert build(little("# One\n"), site) == 2
    (site / "old.html").touch()
    with pytest.raises(command.Refused, match="lead nowhere"):
        build(little("# One\n\n[x](none.md)"), site)
    assert (site / "old.html").exists()
    build(little("# Another\n"), site)
    assert not (site / "old.html").exists() and (site / MARK).exists()
    assert "Another" in (site / "course" / "01_one.html").read_text()
    shutil.rmtree(site)


def test_without_sphinx_it_says_what_to_install(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(__import__("sys").modules, "sphinx.cmd.build", None)
    assert command.main([str(tmp_path / "site")]) == 1
    assert "pip install" in capsys.readouterr().err and not (tmp_path / "site").exists()


# ---- where it is on the web ----------------------------------------------------------------------

GITHUB, GITLAB = "https://github.com/ann/tiny", "https://gitlab.com/class/ann/tiny"


@pytest.mark.parametrize(("said", "repository"), [
    ("git@github.com:ann/tiny.git", GITHUB), ("https://token:x@github.com/ann/tiny.git", GITHUB),
    ("ssh://git@gitlab.com:22/class/ann/tiny", GITLAB), (f"{GITLAB}/", GITLAB),
    ("../tiny.git", ""), ("/home/ann/tiny", ""),
])  # fmt: skip
def test_the_address_is_asked_for_and_never_written_down(said, repository, monkeypatch):
    monkeypatch.setenv("TINYFRAME_REPOSITORY", said)
    assert address.repository() == repository


COLAB = "colab.research.google.com"


def test_a_lesson_opens_where_its_repository_is(little, tmp_path, monkeypatch):
    shown = {}
    for name, repository in (("hub", GITHUB), ("lab", GITLAB), ("home", "/home/ann/tiny")):
        monkeypatch.setenv("TINYFRAME_REPOSITORY", repository)
        pages.write(little("# One\n\nWords"), tmp_path / name)
        text = (tmp_path / name / "course" / "01_one.ipynb").read_text()
        shown[name] = re.findall(r"https://[^/]+/[^?&\\]*", text)
    assert shown == {
        "hub": ["https://codespaces.new/ann/tiny", "https://mybinder.org/v2/gh/ann/tiny/HEAD",
                f"https://{COLAB}/github/ann/tiny/blob/colab/01_one.ipynb"],
        "lab": ["https://mybinder.org/v2/gl/class%2Fann%2Ftiny/HEAD"], "home": [],
    }  # fmt: skip


def test_the_first_page_leads_into_the_course_and_to_the_repository(little, tmp_path, monkeypatch):
    readme = (
        "# Little\n\n[Tell us](../../issues) [here](../../x)\n\n**[Start](#start)** and so on\n\n"
        "## Start\n\nClone [this](../../). [In a box](../../codespaces/new?quickstart=1)\n"
    )
    shown = {}
    for name, repository in (("hub", GITHUB), ("home", "/home/ann/tiny")):
        monkeypatch.setenv("TINYFRAME_REPOSITORY", repository)
        pages.write(little("# One\n\nWords", readme), tmp_path / name)
        texts = [(tmp_path / name / page).read_text() for page in ("README.md", "index.md")]
        shown[name] = re.findall(r"(?:https://[^/]+|course)/[^?&)\"<>\n]*", "\n".join(texts))
        assert "and so on" not in texts[0] and "(start)=\n## Start: how to install" in texts[0]
    assert shown == {
        "hub": [f"{GITHUB}/issues", "course/01_one.html",
                "https://codespaces.new/ann/tiny", "https://mybinder.org/v2/gh/ann/tiny/HEAD",
                f"https://{COLAB}/github/ann/tiny/blob/colab/01_one.ipynb", f"{GITHUB} ", GITHUB,
                "https://codespaces.new/ann/tiny", "course/01_one", GITHUB],
        "home": ["course/01_one.html", "course/01_one"],
    }  # fmt: skip
