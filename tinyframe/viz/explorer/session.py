"""VIZ=1 and VIZ_TRACE in a script: record from the first Tensor on, and show the trace at the end.

The server runs from the beginning, so that you can watch a long script while it runs. When the
script is done, the server stays until Ctrl-C; in a notebook, as long as the kernel. Errors here are
reported, and do not affect the script or its exit status.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tinyframe import observe
from tinyframe.settings import settings
from tinyframe.viz.explorer.record import Recorder
from tinyframe.viz.explorer.server import Server
from tinyframe.viz.explorer.store import Store, TraceError
from tinyframe.viz.explorer.trace import Trace

_session: Session | None = None


class Session:
    """The recording of one process. path: the trace's file; None shows the trace in a browser."""

    def __init__(self, path: Path | None) -> None:
        self.recorder = Recorder(Store.temporary())
        self.path, self.pid = path, os.getpid()
        self.server: Server | None = None
        if path is None:
            try:
                self.server = Server(Trace(self.recorder.store, self.recorder.overview))
            except OSError as error:
                say(f"VIZ=1: no port for the explorer is free here ({error})")
        if self.server is not None:
            show(self.server, say)
        observe.of_tensors.append(self.recorder)
        atexit.register(self.end)

    def end(self) -> None:
        """After the script: writes the trace, or keeps showing it until Ctrl-C."""
        if os.getpid() != self.pid:  # a forked child
            return
        self.recorder.live = False
        if self.path is not None:
            try:
                self.recorder.store.save(self.path, self.recorder.overview())
                say(f"wrote {self.path}: python -m tinyframe.viz {self.path} opens it")
            except (OSError, TraceError) as error:
                say(f"VIZ_TRACE: {self.path} could not be written: {error}")
        elif self.server is not None and "ipykernel" not in sys.modules:
            say(f"the explorer stays at {self.server.url} until Ctrl-C")
            wait_for_ctrl_c()


def session() -> observe.Observer:
    """The observer of this process; the first call starts the session."""
    global _session
    if is_helper():
        return observe.Observer()  # which records nothing
    if _session is None:
        file = settings.VIZ_TRACE
        _session = Session(Path(file).expanduser() if file else None)
    return _session.recorder


def is_helper() -> bool:
    """Whether this process isn't the script itself, but one that it started with multiprocessing,
    or one that shows a trace."""
    is_child = multiprocessing.parent_process() is not None
    return is_child or sys.orig_argv[1:3] == ["-m", "tinyframe.viz"]


def show(server: Server, tell: Callable[[str], None], more: str = "") -> None:
    """Starts a server, tells its address, and opens it in a browser if there is one."""
    server.start()
    tell(f"tinyframe explorer: {server.url}{more}")
    if has_browser():
        webbrowser.open(server.url)


def wait_for_ctrl_c() -> None:
    with suppress(KeyboardInterrupt):
        threading.Event().wait()


def has_browser() -> bool:
    """Whether a browser can open a window: Linux needs a display, or an explicit BROWSER. A text
    browser would take the terminal away from the script."""
    names = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    return not sys.platform.startswith("linux") or any(map(os.environ.get, names))


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
