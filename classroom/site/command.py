"""python -m classroom site [FOLDER]: the course as a web site."""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
import sys
import tempfile
import warnings
import webbrowser
from pathlib import Path

from classroom.site import links, pages

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
MISSING = "The site is made with Sphinx, which isn't installed: pip install -e .[site]"
MARK = ".made_by_classroom_site"  # in a folder that this may write over


class Refused(Exception):
    """Why there is no site, in a sentence."""


def build(root: Path, site: Path) -> int:
    """Make the site in a folder, which is replaced as a whole once all is well. Returns how many
    pages it has. Raises Refused."""
    try:
        from sphinx.cmd.build import build_main
    except ImportError:
        raise Refused(MISSING) from None
    if site.exists() and any(site.iterdir()) and not (site / MARK).exists():
        raise Refused(f"{site} has something else in it. Choose an empty folder, or a new one.")
    with tempfile.TemporaryDirectory() as temporary:
        source, made = Path(temporary, "source"), Path(temporary, "site")
        try:
            written = pages.write(root, source)
        except pages.DeadLink as nowhere:
            raise Refused(f"These links lead nowhere:\n{nowhere}") from None
        _beside(root, source)
        said = io.StringIO()
        options = ["-q", "-W", "--keep-going", "-b", "html", "-d", str(Path(temporary, "trees"))]
        with (
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # between Sphinx and its extensions
            status = build_main([*options, str(source), str(made)])
        if status:
            raise Refused(said.getvalue().replace(str(source), "").strip())
        if found := links.dead(made):
            raise Refused("These links lead nowhere:\n" + "\n".join(found))
        (made / MARK).touch()
        if site.exists():
            shutil.rmtree(site)
        site.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, site)
    return len(written)


def _beside(root: Path, source: Path) -> None:
    """What is no page: settings, style, and the notebooks for whoever wants to run them."""
    shutil.copy(HERE / "conf.py", source)
    (source / "_static").mkdir()
    for name in ("site.css", "icon.svg"):
        shutil.copy(HERE / name, source / "_static")
    notebooks = source / "_extra" / pages.NOTEBOOKS
    notebooks.mkdir(parents=True)
    for path in pages.notebooks(root):
        shutil.copy(path, notebooks)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m classroom site",
        description="Make the course a web site: all notebooks with what they print and draw, a "
        "search, light and dark. It needs no network to be read, and no server.",
    )
    parser.add_argument("folder", nargs="?", default="_site", help="where to (default: _site)")
    parser.add_argument("--open", action="store_true", help="show it in a browser afterwards")
    told = parser.parse_args(arguments)
    site = Path(told.folder)
    print("Making the pages; this takes about a minute …", file=sys.stderr)
    try:
        count = build(ROOT, site)
    except Refused as why:
        print(why, file=sys.stderr)
        return 1
    print(f"{count} pages; begin with {site / 'index.html'}")
    if told.open:
        webbrowser.open((site / "index.html").resolve().as_uri())
    return 0
