"""`rewrites(x)`: how one kernel becomes source text, rewrite by rewrite.

    rewrites(x.softmax(1))              # the kernel with the most arithmetic
    rewrites(x.softmax(1), kernel=1)
    print(rewrites(x.softmax(1)))       # the same as text

In a notebook you can step through it (`widget/`). On paper, on GitHub and without anywidget it is
a still picture: what each stage did, the busiest rules, and the first change that each one made.
"""

from __future__ import annotations

import functools
import re
import textwrap
from typing import Any

from tinyframe.viz.drawing import MUTED, PAGE, Drawing, width_of
from tinyframe.viz.explorer.answers import nodes_of
from tinyframe.viz.explorer.rows import below
from tinyframe.viz.explorer.trace import View, view_of
from tinyframe.viz.graphs import GraphPicture
from tinyframe.viz.kernels import one_kernel, renderer_of
from tinyframe.viz.kinds import KINDS
from tinyframe.viz.nests import function_of
from tinyframe.viz.nodes import plural
from tinyframe.viz.picture import Picture
from tinyframe.viz.steps import MEANINGS, Rule, Told, Way, told, way_of

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WITHOUT_ITS_KERNEL = ".jp-OutputArea-child > .jupyter-widgets:not(:has(*)) { display: none }"
MOST_RULES = 5  # in the still picture
NEAR = 8  # nodes around a rewrite
AT_THE_END = 40  # nodes of the whole kernel at the end of a stage; larger graphs are folded
KEPT_READY = 200  # stops: the last ones drawn are cached

# points
TALLEST = 660  # a screen of 900 pixels, minus the browser's own bars
BAR, NODES, MEANING = 112, 200, 290  # left edges of the columns in the table of stages
CODE, SMALL, CODE_LINE = 9.5, 10, 13  # font sizes; the line height of code
WRITTEN = 48  # characters of code per line in a box
BEFORE, AFTER = "#fdebd0", "#d3efd0"


def rewrites(x: Any, kernel: int | None = None) -> RewritesPicture:
    """The stages and rewrites of one kernel of x (a Tensor, ScheduleItem or SINK).

    kernel: its number, from 1 on, in running order; by default the one with the most arithmetic.
    It is compiled to source text for its device, but doesn't run. ValueError if there is no such
    kernel; TypeError for any other x.
    """
    item, which = one_kernel(x, kernel, "rewrites")
    return RewritesPicture(way_of(item.ast, renderer_of(item)), which)


class RewritesPicture(Picture):
    """A picture of a Way, and the content of each of its stops.

    table: a row for each stage that changed something: its name, the number of rewrites, the number
    of nodes before and after, and its purpose. idle: a sentence that names the other stages.
    """

    def __init__(self, way: Way, which: str = "") -> None:
        self.way = way
        self.shown = functools.lru_cache(KEPT_READY)(self._shown)
        self.table = [
            (stage.name, len(stage.steps),
             f"{len(below(way.before_stage(n))):,} → {len(below(stage.roots)):,}",
             MEANINGS.get(stage.name, ""))
            for n in way.changing for stage in [way.stages[n]]
        ]  # fmt: skip
        names = [s.name for n, s in enumerate(way.stages) if n not in way.changing]
        self.idle = f"Nothing to do here: {', '.join(names)}." if names else ""
        self.busiest = [(rule, times, told(first.before, first.after))
                        for rule, times, first in way.busiest(MOST_RULES)]  # fmt: skip
        busy = f"{sum(bool(s.steps) for s in way.stages)} of {plural(len(way.stages), 'stage')}"
        headline = f"{way.function}{which}: {plural(way.count, 'rewrite')} in {busy}"
        lines = [headline, f"  {'stage':18}{'rewrites':>8}  {'nodes':16}what it does"]
        lines += [f"  {n:18}{count:8}  {nodes:16}{does}" for n, count, nodes, does in self.table]
        lines += [f"  {self.idle}"] * bool(self.idle)
        for rule, times, words in self.busiest:
            lines += ["", f"{times} × {rule.title}", f"    {rule.meaning or rule.source}"]
            lines += [f"    {words.before}  becomes  {words.after}"]
            lines += [f"    where {words.where}"] * bool(words.where)
        super().__init__(headline, "\n".join(lines), self._drawn)

    def _drawn(self) -> str:
        """The still picture: a line for each stage, then as many rules as fit."""
        sheet = Drawing()
        sheet.words(0, 13, self.headline, 13, bold=True, colour=MUTED)
        for left, words in ((0, "stage"), (BAR, "rewrites"), (NODES, "nodes")):
            sheet.words(left, 33, words, SMALL, colour=MUTED)
        top = 38.0
        kind = KINDS["kernel"]
        most = max((count for _, count, _, _ in self.table), default=0) or 1
        for name, count, nodes, meaning in self.table:
            sheet.box(0, top, width_of(name) + 14, 16, kind.fill, kind.line, [name], meaning)
            long = 44 * count / most
            if count:
                sheet.box(BAR, top + 3, long, 10, kind.fill, kind.line, radius=1)
            sheet.words(BAR + long + 4, top + 12, f"{count:,}", SMALL, colour=MUTED)
            sheet.words(NODES, top + 12, nodes, SMALL, colour=MUTED)
            end = sheet.paragraph(MEANING, top + 2, meaning, PAGE - MEANING, SMALL)
            top = max(end, top + 14) + 5
        top = sheet.paragraph(0, top, self.idle, PAGE, SMALL) if self.idle else top
        if self.busiest:
            title = "The busiest rules, and what each changed first"
            sheet.words(0, top + 18, title, 12, bold=True, colour=MUTED)
            top += 18
        for rule, times, rewrite in self.busiest:
            part = _rule_drawn(rule, times, rewrite)
            if top + 12 + part.height <= TALLEST:
                sheet.put(part, 0, top + 12)
                top += 12 + part.height
        return sheet.to_svg(self.headline, self.text)

    # ---- step by step ----------------------------------------------------------------------------

    @property
    def outline(self) -> list[dict[str, Any]]:
        """For each stage with stops: its name, its purpose, and the number of its first stop."""
        first = {stop.stage: number for number, stop in reversed([*enumerate(self.way.stops)])}
        rows = zip(self.table, sorted(first.values()), strict=True)
        return [{"name": name, "rewrites": count, "meaning": meaning, "first": number}
                for (name, count, _, meaning), number in rows]  # fmt: skip

    def _shown(self, number: int) -> dict[str, Any]:
        """The content of stop `number`, counted from 0, as plain data. IndexError if there is no
        such stop."""
        way = self.way
        stop = way.stops[number]
        stage = way.stages[stop.stage]
        rewrite = way.rewrite(stop)
        if rewrite is None:
            ends = [View(way.before_stage(stop.stage), {}, {}), view_of(way, stop.stage)]
            place, rule = f"end of {stage.name}", MEANINGS.get(stage.name, "")
            code = "; ".join(way.data["opts"]) if stage.name == "optimize" else ""
            words = Told("", "", ())
        else:
            ends = [view_of(way, *stop, after=after) for after in (False, True)]
            place = f"rewrite {(stop.step or 0) + 1} of {len(stage.steps)} in {stage.name}"
            fired, words = way.rules[rewrite.rule], told(rewrite.before, rewrite.after)
            code = f"{fired.place}  {fired.source}" if fired.place else ""
            rule = fired.meaning or ("" if code else fired.source)
        pictures = [_graph_of(view, AT_THE_END if rewrite is None else NEAR) for view in ends]
        if isinstance(stage.after, list):
            source, title = way.data["source"], f"the source of {way.function}"
            sheet = _code_box("\n".join(function_of(source, way.function)), "#fafafa", 80)
            pictures[1] = {"svg": sheet.to_svg(title, source), "text": title}
        return {"at": number, "stage": stage.name, "place": place, "rule": rule, "code": code,
                "before": words.before, "after": words.after, "where": words.where,
                "pictures": pictures}  # fmt: skip

    @functools.cached_property
    def widget(self) -> Any:
        """The notebook's widget for stepping; None if anywidget isn't installed."""
        try:
            from tinyframe.viz.widget.stepper import Stepper
        except ImportError:
            return None
        return Stepper(self)

    def html(self) -> str:
        return f"<style>{WITHOUT_ITS_KERNEL}</style>{super().html()}"

    def _ipython_display_(self) -> None:
        """Shows the still picture and the widget as two outputs; the widget's style hides the
        picture. In a shared output, a widget without its kernel would leave only a line of text."""
        from IPython.display import display

        display(self._repr_mimebundle_(), raw=True)
        if self.widget is not None:
            display({WIDGET_VIEW: self.widget._repr_mimebundle_()[0][WIDGET_VIEW]}, raw=True)


def _graph_of(view: View, most: int) -> dict[str, str]:
    """One side of a stop: the graph around the change, as SVG and in words."""
    picture = GraphPicture("graph", nodes_of(view, most))
    svg, _ = picture.svg_or_reason()
    return {"svg": svg or "", "text": picture.headline if svg else picture.text}


def _rule_drawn(rule: Rule, times: int, words: Told) -> Drawing:
    """A rule, with one of its rewrites."""
    sheet = Drawing()
    left, room = 42.0, PAGE - 42
    sheet.words(0, 10, f"{times:,} ×", bold=True, colour=MUTED)
    top = sheet.paragraph(left, 0, rule.title, room, CODE, mono=True)
    said, is_code = rule.meaning or rule.source, not rule.meaning
    top = sheet.paragraph(left, top, said, room, SMALL, mono=is_code) + 3
    sides = [_code_box(words.before, BEFORE), _code_box(words.after, AFTER)]
    height = max(side.height for side in sides)
    sheet.put(sides[0], left, top + (height - sides[0].height) / 2)
    end = left + sides[0].width
    sheet.line([(end + 5, top + height / 2), (end + 27, top + height / 2)], arrow=True)
    sheet.put(sides[1], end + 32, top + (height - sides[1].height) / 2)
    if words.where:
        sheet.paragraph(left, top + height + 2, f"where {words.where}", room, SMALL)
    return sheet


def _code_box(text: str, fill: str, longest: int = WRITTEN) -> Drawing:
    """Code in a box; lines with more than `longest` characters are broken."""
    sheet = Drawing()
    lines = [part for line in text.splitlines() for part in broken(line, longest)]
    width = max(width_of(line, CODE, mono=True) for line in lines) + 14
    sheet.box(0, 0, width, CODE_LINE * len(lines) + 6, fill)
    for n, line in enumerate(lines):
        sheet.words(7, CODE_LINE * (n + 1) - 0.5, line, CODE, mono=True)
    return sheet


def broken(text: str, width: int) -> list[str]:
    """An expression in lines of at most `width` characters, broken after operators and commas if
    possible."""
    lines = [""]
    for part in re.findall(r".*?(?:[-+*/|&^,<>] *|$)", text):
        for piece in textwrap.wrap(part, width, drop_whitespace=False):
            if len(lines[-1]) + len(piece) > width:
                lines.append("")
            lines[-1] += piece
    return lines
