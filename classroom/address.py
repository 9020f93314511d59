"""Where this repository is on the web, and how a lesson is opened there with nothing to install.

Nothing here writes an address down: a fork has another one. It's what TINYFRAME_REPOSITORY says, or
the service that builds the site, or else git.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]
# git@github.com:owner/name.git, ssh://git@host/owner/name, https://token@host/owner/name.git
REMOTE = re.compile(
    r"(?:ssh://|https?://)?(?:[^@/]+@)?([\w.-]+\.\w+)(?::\d+)?[:/](.+?)(?:\.git)?/?"
)


def repository() -> str:
    """https://host/owner/name; "" where nobody knows of a place on the web."""
    known = os.environ.get("TINYFRAME_REPOSITORY") or os.environ.get("CI_PROJECT_URL")
    if not known and "GITHUB_REPOSITORY" in os.environ:
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        known = f"{server}/{os.environ['GITHUB_REPOSITORY']}"
    if not known:
        asked = ["git", "-C", str(ROOT), "remote", "get-url", "origin"]
        try:
            known = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return ""
    found = REMOTE.fullmatch(known)
    return f"https://{found[1]}/{found[2]}" if found else ""


def ways_in(notebook: str) -> dict[str, str]:
    """Services that open the learner's copy of a notebook in a browser, by name: their addresses.

    notebook: a file of course/. {} where the repository isn't on a service that they know.
    """
    host, _, place = repository().removeprefix("https://").partition("/")
    binder = f"HEAD?urlpath={quote(f'lab/tree/my_course/course/{notebook}', safe='')}"
    if host == "github.com":
        return {"Codespaces": f"https://codespaces.new/{place}?quickstart=1",
                "Binder": f"https://mybinder.org/v2/gh/{place}/{binder}",
                "Colab": f"https://colab.research.google.com/github/{place}/blob/colab/{notebook}",
                }  # fmt: skip
    if host == "gitlab.com":
        return {"Binder": f"https://mybinder.org/v2/gl/{quote(place, safe='')}/{binder}"}
    return {}
