"""Which files of the learner's copy are open in a Jupyter that is running: asked of its server.

A notebook that is open keeps its own text. If its file changes beneath it, the next save asks which
of the two to keep, so an update says which notebooks are open before it writes.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from urllib.request import Request, urlopen

SECONDS = 5.0  # for an answer of a server on this machine


def notebooks(folder: Path) -> list[str]:
    """The notebooks of this folder that are open, as paths inside it; none where nobody answers."""
    from jupyter_server.serverapp import list_running_servers

    found: set[str] = set()
    folder = folder.resolve()
    for server in list_running_servers():
        with suppress(OSError, ValueError, LookupError, TypeError):
            ask = Request(f"{server['url']}api/sessions")
            ask.add_header("Authorization", f"token {server.get('token', '')}")
            with urlopen(ask, timeout=SECONDS) as answer:
                sessions = json.load(answer)
            paths = [Path(server["root_dir"], session["path"]).resolve() for session in sessions]
            found |= {p.relative_to(folder).as_posix() for p in paths if p.is_relative_to(folder)}
    return sorted(found)
