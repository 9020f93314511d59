"""Pages and texts made of files: in a folder templates/, here or beside the package that uses it,
NAME.html, .svg, .md or .txt says what stands where, and NAME.css how it looks.

    page("class", "Tensors: the class", tasks=tasks)      one file of HTML that needs nothing else
    filled("student.md", tasks=tasks)                     any other text

A template shows what it is handed, and works nothing out. In HTML, whatever is put in is escaped.

All pages look alike (look.css): light or dark as the reader likes it, on a phone or on paper.
Nothing is told by red and green. What is right is blue and what isn't is orange, which all eyes
tell apart (Okabe and Ito, Color Universal Design, 2008), and a word always says it too.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_eval_context
from jinja2.nodes import EvalContext
from markupsafe import Markup

HERE = Path(__file__).parent


def page(name: str, tab: str, look: str = "", mark: str = "", **values: Any) -> str:
    """A whole page, with NAME.html in the middle. tab: what a browser's tab says. look: whose style
    it has, if not its own. mark: a tag that tells this page from others."""
    return filled("page.html", tab=tab, body=f"{name}.html", style=f"{look or name}.css",
                  mark=Markup(mark), **values)  # fmt: skip


def filled(name: str, /, **values: Any) -> str:
    return _environment().get_template(name).render(values)


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader([HERE / "templates", *HERE.glob("*/templates")], encoding="utf-8"),
        autoescape=lambda name: str(name).endswith((".html", ".svg")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_escaped,
    )
    made.filters |= {
        "counted": counted,
        "short": short,
        "tenths": lambda number: f"{number:.1f}",
        "percent": lambda part, of: f"{min(100.0, 100 * part / of):.1f}",
        "coded": lambda text: Markup(with_code(text, _plain, _code)),
    }
    return made


@pass_eval_context
def _escaped(context: EvalContext, value: Any) -> Any:
    """As html.escape does, in the words that the notebooks' stored outputs have."""
    plain = isinstance(value, Markup) or not context.autoescape
    return value if plain else Markup(html.escape(str(value)))


def _plain(text: str) -> str:
    return html.escape(text, quote=False)


def _code(text: str) -> str:
    return f"<code>{_plain(text)}</code>"


def with_code(text: str, plain: Callable[[str], str], code: Callable[[str], str]) -> str:
    """Text of a project, in which `this` is code."""
    pieces = re.split(r"`([^`]+)`", text)
    return "".join((code if n % 2 else plain)(piece) for n, piece in enumerate(pieces))


def counted(number: int, thing: str) -> str:
    """1 student, 2 students."""
    return f"{number} {thing}{'s' * (number != 1)}"


def listed(words: list[str]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def short(value: float) -> str:
    """A number with as many digits as are worth reading: 1.8, 107."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.095 else f"{value:.2g}"
