"""Helpers that programs for tinygrad import from its `helpers`: docs/from_tinygrad.md.

    from tinyframe.helpers import getenv, prod, fetch, trange, Timing, DEBUG

Importing a setting (DEBUG, JIT, BEAM, …) gives its value at that moment.
"""

from __future__ import annotations

import contextlib
import gzip
import shutil
import sys
import time
import urllib.request
from math import prod
from pathlib import Path
from typing import Any

from tinyframe.device import GlobalCounters
from tinyframe.nn.download import TIMEOUT, DownloadError
from tinyframe.nn.state import replacing
from tinyframe.settings import Context, getenv, settings

__all__ = ["Context", "GlobalCounters", "getenv", "prod"]

CI = getenv("CI", "") != ""
COLORS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]


def __getattr__(name: str) -> Any:
    return getattr(settings, name)


# ---- lists ---------------------------------------------------------------------------------------


def flatten(lists: Any) -> list:
    """The items of all lists, in one list."""
    return [item for one in lists for item in one]


def partition(items: Any, is_first: Any) -> tuple[list, list]:
    """The items for which a function is true, and the rest."""
    return [x for x in items if is_first(x)], [x for x in items if not is_first(x)]


def get_child(obj: Any, path: str) -> Any:
    """The attribute or item with a dotted name such as "layers.0.weight"."""
    for key in path.split("."):
        is_item = isinstance(obj, dict) or key.isnumeric()
        obj = obj[int(key) if key.isnumeric() else key] if is_item else getattr(obj, key)
    return obj


# ---- output --------------------------------------------------------------------------------------


def colored(text: Any, color: str | None, background: bool = False) -> str:
    """Text in a terminal colour; one in capitals, such as "RED", is bright."""
    if color is None or settings.NO_COLOR:
        return str(text)
    code = COLORS.index(color.lower()) + 30 + 10 * background + 60 * color.isupper()
    return f"\x1b[{code}m{text}\x1b[0m"


@contextlib.contextmanager
def Timing(prefix: str = "", on_exit: Any = None, enabled: bool = True) -> Any:
    """Prints how long a block takes. on_exit: nanoseconds -> text to append."""
    began = time.perf_counter_ns()
    yield
    took = time.perf_counter_ns() - began
    if enabled:
        print(f"{prefix}{took / 1e6:6.2f} ms{on_exit(took) if on_exit else ''}")


class tqdm:
    """A loop that shows its progress: `for x in (bar := tqdm(data)): bar.set_description(…)`."""

    def __init__(self, items: Any = (), desc: str = "", disable: bool = False, **_: Any):
        self.items, self.desc, self.disable, self.n = items, desc, disable, 0

    def __iter__(self) -> Any:
        for item in self.items:
            yield item
            self.update()
        self.set_description(self.desc, "\n")

    def update(self, n: int = 1) -> None:
        """Counts `n` more items."""
        self.n += n
        self.set_description(self.desc)

    def set_description(self, desc: str, end: str = "\r") -> None:
        """Shows a text beside the count: on a terminal now, elsewhere at the end of the loop."""
        self.desc = desc
        if not self.disable and (end == "\n" or sys.stderr.isatty()):
            print(f"{desc} {self.n}", end=end, file=sys.stderr, flush=True)


def trange(n: int, **options: Any) -> tqdm:
    """`range(n)` that shows its progress."""
    return tqdm(range(n), **options)


# ---- files ---------------------------------------------------------------------------------------


def fetch(url: str, name: Any = None, subdir: str = "", gunzip: bool = False) -> Path:
    """Downloads a file once, and keeps it in the folder that the setting TINYFRAME_DATA names.

    DownloadError if that fails; the message says where to put the file by hand.
    """
    if "://" not in url:
        return Path(url)
    path = settings.TINYFRAME_DATA / "fetched" / subdir / (name or url.partition("://")[2])
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            answer = urllib.request.urlopen(url, timeout=TIMEOUT)
            with answer, replacing(path) as temporary, open(temporary, "wb") as file:
                shutil.copyfileobj(gzip.open(answer) if gunzip else answer, file)
        except OSError as error:
            advice = f"Without a network, put the file at {path}"
            raise DownloadError(f"{url} could not be fetched: {error}. {advice}") from error
    return path
