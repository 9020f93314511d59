"""The widget behind `rewrites(x)`: the page requests a stop by its number, and Python draws it.

Stops are drawn on demand, so a kernel with thousands of rewrites opens at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

if TYPE_CHECKING:
    from tinyframe.viz.rewrites import RewritesPicture

HERE = Path(__file__).parent


class Stepper(anywidget.AnyWidget):
    """at: the number of the stop, set by the page. shown: its content, as plain data.

    headline, outline, count: the page's overview of all stops.
    """

    _esm = HERE / "stepper.js"
    _css = HERE / "stepper.css"
    headline = traitlets.Unicode().tag(sync=True)
    outline: Any = traitlets.List().tag(sync=True)
    count = traitlets.Int().tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)
    shown = traitlets.Dict().tag(sync=True)

    def __init__(self, picture: RewritesPicture) -> None:
        stops, shown = len(picture.way.stops), picture.shown(0)
        super().__init__(
            headline=picture.headline, outline=picture.outline, count=stops, shown=shown
        )
        self.picture = picture

    @traitlets.validate("at")
    def _within(self, proposal: Any) -> int:
        """The nearest stop that exists: what a page sends can't be trusted."""
        return max(0, min(int(proposal["value"]), self.count - 1))

    @traitlets.observe("at")
    def _draw(self, change: Any) -> None:
        self.shown = self.picture.shown(change["new"])
