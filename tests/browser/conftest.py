"""A browser for all tests here, and a page of the explorer for each."""

from __future__ import annotations

import shutil

import pytest
from playwright.sync_api import sync_playwright

from tinyframe import Tensor, dtypes
from tinyframe.observe import observing
from tinyframe.viz.explorer.record import Recorder
from tinyframe.viz.explorer.server import Server
from tinyframe.viz.explorer.store import Store
from tinyframe.viz.explorer.trace import Trace

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


# Of a module, not of the session: while Playwright runs, other tests cannot use asyncio.
@pytest.fixture(scope="module")
def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        # Without a system's browser, the one that `playwright install chromium` brings.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


def traced(work, script: str = "train.py") -> Server:
    recorder = Recorder(Store.temporary(), [script])
    with observing(recorder):
        work()
    recorder.live = False
    server = Server(Trace(recorder.store, recorder.overview))
    server.start()
    return server


def small_network() -> None:
    x = Tensor.arange(96).reshape(8, 12).cast(dtypes.float32)
    hidden = (x @ Tensor.ones(12, 16)).relu()
    hidden.softmax(1).realize()


@pytest.fixture(scope="module")
def server():
    server = traced(small_network)
    yield server
    server.shutdown()
    server.server_close()


class Watched:
    """A page and what went wrong on it."""

    def __init__(self, page) -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)


@pytest.fixture
def opened(browser):
    """A function that opens an address, after the first visit's tour, at 1280 × 800."""
    contexts, watched = [], []

    def open_page(url: str, tour: bool = False, **options):
        options = {"viewport": {"width": 1280, "height": 800}, **options}
        context = browser.new_context(**options)
        context.set_default_timeout(20_000)
        contexts.append(context)
        if not tour:
            context.add_init_script("localStorage.setItem('tinyframe tour', 'seen')")
        page = context.new_page()
        watched.append(Watched(page))
        page.goto(url)
        return page

    open_page.watched = watched
    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def page(opened, server):
    """The explorer, with its first graph drawn, on which nothing goes wrong."""
    page = opened(server.url)
    page.wait_for_selector("#graph svg")
    yield page
    assert opened.watched[0].errors == []
