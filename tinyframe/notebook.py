"""Draws the Tensor, UOp or schedule that is the result of a notebook's cell.

The classes themselves don't know about it: IPython is told how to show them as HTML, beside the
text, which is still their repr(). If there is nothing to draw, or no way to, only the text shows.
"""

from __future__ import annotations

import html
from functools import partial
from typing import Any

from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.laziness import is_computed
from tinyframe.uop.node import UOp

MOST = 2000  # nodes: showing a result must not take longer than computing it
MOST_TEXT = 10_000  # characters beside a picture; print() shows longer ones


def draw_in(shell: Any) -> None:
    """Turns drawing on in an IPython shell; None, if there isn't one, is ignored."""
    if shell is not None:
        as_html = shell.display_formatter.formatters["text/html"]
        for kind in (Tensor, UOp, list):  # a schedule is a list; other lists are not drawn
            as_html.for_type(kind, partial(drawn, scope=shell.user_ns))


def drawn(x: Any, scope: dict[str, Any]) -> str | None:
    """The picture and the text as HTML; None if the text alone is better.

    scope: the learner's variables.
    """
    try:
        return _drawn(x, scope)
    except Exception:  # a malformed graph, or no layout program: the text is still of use
        return None


def _drawn(x: Any, scope: dict[str, Any]) -> str | None:
    if isinstance(x, list):
        if not x or not all(isinstance(item, ScheduleItem) for item in x):
            return None
    elif is_large(x) or (isinstance(x, Tensor) and is_computed(x.uop)):
        return None
    from tinyframe.viz.graphs import of_scopes, picture

    image = picture(x, of_scopes(scope)).html()
    text = repr(x)
    if isinstance(x, Tensor):
        return f"<pre>{html.escape(text)}</pre>{image}"
    if len(text) > MOST_TEXT:
        return image
    return f"{image}<details><summary>as text</summary><pre>{html.escape(text)}</pre></details>"


def is_large(x: Tensor | UOp) -> bool:
    """Whether there are too many nodes to draw them quickly."""
    root = x.uop if isinstance(x, Tensor) else x
    seen = {root}
    pending = [root]
    while pending and len(seen) <= MOST:
        for s in pending.pop().src:
            if s not in seen:
                seen.add(s)
                pending.append(s)
    return len(seen) > MOST
