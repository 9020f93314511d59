"""Pages made of the files in templates/: NAME.html or .md says what stands where, NAME.css how it
looks. In HTML, whatever is put in is escaped."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from classroom.look import bar, counted, document

TEMPLATES = Path(__file__).parent / "templates"


def page(name: str, title: str, /, look: str = "", **values: Any) -> str:
    """A whole page: NAME.html in what all pages have in common (look.py). look: whose style it has,
    if not its own."""
    return document(title, filled(f"{name}.html", **values), style(look or name))


def filled(name: str, /, **values: Any) -> str:
    return _environment().get_template(name).render(values)


def style(name: str) -> str:
    return (TEMPLATES / f"{name}.css").read_text(encoding="utf-8")


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=lambda name: str(name).endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"counted": counted, "bar": _bar,
                     "coded": lambda text: Markup(with_code(text, escape, _code))}  # fmt: skip
    return made


def _bar(points: float, of: float) -> Markup:
    return Markup(bar(100 * points / of if of else 0))


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def with_code(text: str, plain: Callable[[str], str], code: Callable[[str], str]) -> str:
    """Text of a project, in which `this` is code."""
    pieces = re.split(r"`([^`]+)`", text)
    return "".join((code if n % 2 else plain)(piece) for n, piece in enumerate(pieces))
