"""The result of every function in `viz`: a picture to look at, read and save.

picture                   # as the last line of a cell: it is drawn
print(picture)            # the same as text
picture.save("x.svg")
"""

from __future__ import annotations

import base64
import functools
import html
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tinyframe.nn.state import replacing
from tinyframe.uop.show import printable
from tinyframe.viz.drawing import Drawing

LINKED, STILL = "tinyframe-linked", "tinyframe-still"  # classes of HTML
CENTRED = "display: block; margin: 0 auto; max-width: 100%; height: auto"


class NoLayout(RuntimeError):
    """A package for drawing is missing, or cannot draw this; the message says what to install, or
    what is wrong."""


class Picture:
    """headline: a summary in one line. text: everything in the picture, in words. draw: returns the
    SVG; called once, when the picture is first shown."""

    def __init__(self, headline: str, text: str, draw: Callable[[], str]) -> None:
        self.headline, self.text, self._draw = headline, text, functools.cache(draw)

    def __repr__(self) -> str:
        return printable(self.text)

    def svg(self) -> str:
        """The picture as SVG. NoLayout if nothing can draw it."""
        return self._draw()

    def svg_or_reason(self) -> tuple[str | None, str]:
        """The SVG, or why nothing can draw it."""
        try:
            return self.svg(), ""
        except NoLayout as problem:
            return None, str(problem)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the SVG to a file, completely or not at all; returns the path."""
        with replacing(path) as temporary:
            Path(temporary).write_text(self.svg(), encoding="utf-8")
        return Path(path)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """For notebooks: the picture, as an image with a text alternative, and the text.

        It is an <img> because JupyterLab removes inline SVG from notebooks that it does not trust
        yet, and shows image/svg+xml output in a way that tells screen readers nothing.
        """
        try:
            return {"text/html": self.html(), "text/plain": self.text}
        except NoLayout as problem:
            return {"text/plain": f"{self.text}\n(no picture: {problem})"}

    def html(self) -> str:
        """An <img> of the picture, centred. NoLayout as for svg()."""
        data = base64.b64encode(self.svg().encode()).decode()
        alt = html.escape(f"{self.headline}. print() of it gives it as text.")
        return f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}" style="{CENTRED}">'


class DrawnPicture(Picture):
    """A picture made of a Drawing."""

    def __init__(self, headline: str, text: str, drawing: Drawing) -> None:
        super().__init__(headline, text, lambda: drawing.to_svg(headline, text))
        self.drawing = drawing

    def html(self) -> str:
        """An <img>; if boxes are linked, preceded by the SVG itself, and a style that hides the
        <img>. A notebook that is not trusted loses both, and shows the <img>."""
        still = super().html()
        if not self.drawing.links:
            return still
        style = f".{STILL}{{display:none!important}}.{LINKED}>svg{{max-width:100%;height:auto}}"
        still = still.replace("<img ", f'<img class="{STILL}" ', 1)
        shown = f'<div class="{LINKED}" style="text-align: center">{self.svg()}</div>'
        return f"<style>{style}</style>{shown}{still}"
