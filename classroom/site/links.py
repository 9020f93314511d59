"""What a finished site links to that isn't there."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# tags that load something as soon as a page is shown, and the attribute that says from where
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}


class _Page(HTMLParser):
    """The ids of a page, what it links to, and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.ids, self.links, self.loaded = set[str](), list[str](), list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag == "link" and "stylesheet" in found.get("rel", ""):
            self.loaded.append(found["href"])
        if source := found.get(LOADS.get(tag, "")):
            self.loaded.append(source)


@cache
def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text())
    return page


def dead(site: Path) -> list[str]:
    """A line for each link of the site to one of its own pages, files or headings that isn't there;
    and for each page that loads something from elsewhere."""
    found = []
    for path in sorted(site.rglob("*.html")):
        page, name = _read(path), path.relative_to(site).as_posix()
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    found.append(f"{name} loads {link}")
                continue
            target = path
            if parts.path:
                target = (path.parent / unquote(parts.path)).resolve()
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                found.append(f"{name}: {link}")
            elif parts.fragment and target.suffix == ".html":
                if unquote(parts.fragment) not in _read(target).ids:
                    found.append(f"{name}: {link}")
    _read.cache_clear()
    return list(dict.fromkeys(found))
