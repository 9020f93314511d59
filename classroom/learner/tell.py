"""Below a wrong answer: whoever thinks that the check is wrong can say so, with a form filled in.

The link opens the form of an issue in a browser, on the repository that the course is from. There
the learner reads it, changes it, and sends it or doesn't. Their answer is in it only if they choose
the link that says so.
"""

from __future__ import annotations

import inspect
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from urllib.parse import quote, urlencode

from classroom.address import repository
from classroom.exercise import Outcome
from classroom.pages import filled

LONGEST = (
    2000  # characters of an answer: an address has room for some 8,000, and a space takes three
)


def us(found: Outcome, answer: Any) -> str:
    """HTML with the links; "" where the answer isn't wrong, or the course is from nowhere."""
    place = _place()
    if found.state != "wrong" or not place:
        return ""
    said = [found.text, *[f"{label}: {value}" for label, value in found.rows]]
    form = {"exercise": found.exercise.number, "said": "\n".join(said), "versions": versions()}
    alone, full = (_address(place, form | more) for more in ({}, {"answer": _source(answer)}))
    return filled("tell.html", alone=alone, full=full)


_place = cache(repository)


def _address(place: str, form: dict[str, str]) -> str:
    number = form["exercise"]
    if place.startswith("https://github.com/"):
        asked = {"template": "check.yml", "title": f"The check of {number}", **form}
        return f"{place}/issues/new?{urlencode(asked, quote_via=quote)}"
    text = "\n\n".join(f"**{name}**\n\n{value}" for name, value in form.items())
    asked = {"issue[title]": f"The check of {number}", "issue[description]": text}
    return f"{place}/-/issues/new?{urlencode(asked, quote_via=quote)}"


def versions() -> str:
    named = []
    for package in ("tinyframe", "numpy", "ipython"):
        try:
            named.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            pass
    return ", ".join([f"Python {platform.python_version()}", platform.platform(), *named])


def _source(answer: Any) -> str:
    try:
        text = inspect.getsource(answer)
    except (OSError, TypeError):  # no function, or typed where nothing keeps its lines
        text = repr(answer)
    return text[:LONGEST]
