"""`rewrites(x)`: one kernel on its way to source text, one rewrite after the other.

    rewrites(x.softmax(1))              # the kernel with most arithmetic
    rewrites(x.softmax(1), kernel=1)
    print(rewrites(x.softmax(1)))       # the same as text

In a notebook it can be stepped through (`widget/`). On paper, on GitHub and without anywidget it is
a still picture: what each stage did, the busiest rules, and what each of them changed first.
"""

from __future__ import annotations

import functools
import re
import textwrap
from functools import cached_property
from typing import Any

from tinyframe.viz.drawing import MUTED, Drawing, width_of
from tinyframe.viz.explorer.answers import nodes_of
from tinyframe.viz.explorer.trace import View, view_of
from tinyframe.viz.expressions import told
from tinyframe.viz.graphs import GraphPicture
from tinyframe.viz.kernels import one_kernel, renderer_of
from tinyframe.viz.kinds import KINDS
from tinyframe.viz.nodes import plural
from tinyframe.viz.picture import NoLayout, Picture
from tinyframe.viz.steps import MEANINGS, Rule, Stop, Way, count_nodes, way_of

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
MOST_RULES = 5  # that the still picture shows
NEAR = 8  # nodes around a rewrite
AT_THE_END = 40  # nodes of the whole kernel, at the end of a stage: more are folded
KEPT_READY = 200  # stops that were drawn last

# points
TALLEST = 660  # a screen of 900 px, less its frame
COLUMNS = {"stage": 0, "bar": 112, "rewrites": 186, "nodes": 200, "meaning": 290}
ROW, CODE_LINE = 19, 13
CODE, SMALL = 9.5, 10  # font sizes
WRITTEN = 48  # characters of code in a line of a box
BEFORE, AFTER = "#fdebd0", "#d3efd0"


def rewrites(x: Any, kernel: int | None = None) -> RewritesPicture:
    """The stages and rewrites of one kernel of x (a Tensor, ScheduleItem or SINK).

    kernel: which one, from 1 on, in running order; without it, the one with most arithmetic. It is
    compiled to source text for its device, and does not run. ValueError where there is no
    such kernel; TypeError for anything else.
    """
    item, which = one_kernel(x, kernel, "rewrites")
    return RewritesPicture(way_of(item.ast, renderer_of(item)), which)


class RewritesPicture(Picture):
    """A picture of a Way, and all that can be shown at each of its stops."""

    def __init__(self, way: Way, which: str = "") -> None:
        self.way, self.which = way, which
        super().__init__(self._headline, "", self._drawn)
        self.text = self._text
        self.shown = functools.lru_cache(KEPT_READY)(self._shown)

    @property
    def _headline(self) -> str:
        way = self.way
        rewriting = sum(stage.step_count > 0 for stage in way.stages)
        return (
            f"{way.function}{self.which}: {plural(way.count, 'rewrite')} in {rewriting} of "
            f"{plural(len(way.stages), 'stage')}"
        )

    @cached_property
    def table(self) -> list[tuple[str, int, str, str]]:
        """A row for each stage that changed something: its name, how many rewrites, how many nodes
        before and after, and what it does."""
        way = self.way
        return [
            (stage.name, stage.step_count,
             f"{count_nodes(way.before_stage(n)):,} → {count_nodes(stage.roots):,}",
             MEANINGS.get(stage.name, ""))
            for n in way.changing for stage in [way.stages[n]]
        ]  # fmt: skip

    @property
    def idle(self) -> str:
        """The stages that changed nothing, in a sentence; empty without any."""
        names = [s.name for n, s in enumerate(self.way.stages) if n not in self.way.changing]
        return f"Nothing to do here: {', '.join(names)}." if names else ""

    @property
    def _text(self) -> str:
        lines = [self.headline, f"  {'stage':18}{'rewrites':>8}  {'nodes':16}what it does"]
        for name, count, nodes, meaning in self.table:
            lines.append(f"  {name:18}{count:8}  {nodes:16}{meaning}")
        lines += [f"  {self.idle}"] * bool(self.idle)
        for rule, times, stop in self.way.busiest(MOST_RULES):
            rewrite = self.way.rewrite(stop)
            assert rewrite is not None
            words = told(rewrite.before, rewrite.after)
            lines += [
                "",
                f"{times} × {rule.title}",
                f"    {rule.words}",
                f"    {words.before}  becomes  {words.after}",
            ]
            lines += [f"    where {words.where}"] * bool(words.where)
        return "\n".join(lines)

    def _drawn(self) -> str:
        sheet = Drawing()
        sheet.words(0, 13, self.headline, 13, bold=True, colour=MUTED)
        top = _draw_stages(sheet, self.table, self.idle, 24.0)
        busiest = self.way.busiest(MOST_RULES)
        if busiest:
            top += 16
            title = "The busiest rules, and what each changed first"
            sheet.words(0, top, title, 12, bold=True, colour=MUTED)
        for rule, times, stop in busiest:
            part = _rule_drawn(self.way, rule, times, stop)
            if top + 12 + part.height <= TALLEST:
                sheet.put(part, 0, top + 12)
                top += 12 + part.height
        return sheet.to_svg(self.headline, self.text)

    # ---- step by step ----------------------------------------------------------------------------

    @property
    def outline(self) -> list[dict[str, Any]]:
        """For each stage that has stops: its name, what it does, and its first stop's number."""
        first: dict[int, int] = {}
        for number, stop in enumerate(self.way.stops):
            first.setdefault(stop.stage, number)
        rows = zip(self.table, first.values(), strict=True)
        return [
            {"name": name, "rewrites": count, "meaning": meaning, "first": number}
            for (name, count, _, meaning), number in rows
        ]

    def _shown(self, number: int) -> dict[str, Any]:
        """What stop `number` (from 0 on) shows, as plain data; IndexError where there is none."""
        way = self.way
        stop = way.stops[number]
        stage = way.stages[stop.stage]
        data: dict[str, Any] = {"at": number, "stage": stage.name}
        rewrite = way.rewrite(stop)
        if rewrite is None:
            ends = [View(way.before_stage(stop.stage), set()), view_of(way.described, stop.stage)]
            data |= {"place": f"end of {stage.name}", "rule": MEANINGS.get(stage.name, ""),
                     "code": "; ".join(way.opts) if stage.name == "optimize" else "",
                     "before": "", "after": "", "where": ""}  # fmt: skip
        else:
            ends = [view_of(way.described, *stop, after=after) for after in (False, True)]
            rule, words = way.rules[rewrite.rule], told(rewrite.before, rewrite.after)
            place = f"rewrite {(stop.step or 0) + 1} of {stage.step_count} in {stage.name}"
            code = f"{rule.place}  {rule.source}" if rule.place else ""
            data |= {"place": place, "rule": rule.meaning or ("" if code else rule.source),
                     "code": code, "before": words.before, "after": words.after,
                     "where": words.where}  # fmt: skip
        if isinstance(stage.after, list):
            pictures = [_graph_of(ends[0], stop, False), _source_of(way)]
        else:
            pictures = [_graph_of(view, stop, bool(n)) for n, view in enumerate(ends)]
        return data | {"pictures": pictures}

    @cached_property
    def widget(self) -> Any:
        """What a notebook steps through it with; None where anywidget is not installed."""
        try:
            from tinyframe.viz.widget.stepper import Stepper
        except ImportError:
            return None
        return Stepper(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {**super()._repr_mimebundle_(include, exclude)}
        if self.widget is not None:
            shown, *_ = self.widget._repr_mimebundle_()
            bundle[WIDGET_VIEW] = shown[WIDGET_VIEW]
        return bundle


def _graph_of(view: View, stop: Stop, after: bool) -> dict[str, str]:
    """One side of a stop: a graph around what changes, as SVG and in words."""
    most = AT_THE_END if stop.step is None else NEAR
    picture = GraphPicture("graph", nodes_of(view, stop.step, after, most))
    try:
        return {"svg": picture.svg(), "text": picture.headline}
    except NoLayout:
        return {"svg": "", "text": picture.text}


def _source_of(way: Way) -> dict[str, str]:
    """The function that a kernel ends as."""
    sheet = Drawing()
    source = way.source.splitlines()
    begin = next((n for n, line in enumerate(source) if f"{way.function}(" in line), 0)
    end = next((n for n, line in enumerate(source) if n > begin and line == "}"), len(source))
    lines = [part for line in source[begin : end + 1] for part in wrapped(line, 80)]
    height = CODE_LINE * len(lines) + 8
    width = max(width_of(line, CODE, mono=True) for line in lines) + 16
    sheet.box(0, 0, width, height, "#fafafa")
    for n, line in enumerate(lines):
        sheet.words(8, 4 + CODE_LINE * n + 10, line, CODE, mono=True)
    title = f"the source of {way.function}"
    return {"svg": sheet.to_svg(title, way.source), "text": title}


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines of at most so many characters; an empty one is one line. Indents stay."""
    indent = " " * (len(text) - len(text.lstrip()))
    more = indent + "  " if len(indent) + 2 < width else ""
    return textwrap.wrap(text, width, subsequent_indent=more) or [""]


# ---- the still picture ---------------------------------------------------------------------------


def _draw_stages(
    sheet: Drawing, table: list[tuple[str, int, str, str]], idle: str, top: float
) -> float:
    """A line for each stage; gives back where they end."""
    kind = KINDS["kernel"]
    most = max((count for _, count, _, _ in table), default=0) or 1
    room = COLUMNS["rewrites"] - COLUMNS["bar"] - 30
    for column, words in (("stage", "stage"), ("bar", "rewrites"), ("nodes", "nodes")):
        sheet.words(COLUMNS[column], top + 9, words, SMALL, colour=MUTED)
    top += 14
    for name, count, nodes, meaning in table:
        width = width_of(name) + 14
        sheet.box(0, top, width, ROW - 3, kind.fill, kind.line, words=[name], title=meaning)
        if count:
            sheet.box(
                COLUMNS["bar"],
                top + 3,
                room * count / most,
                ROW - 9,
                kind.fill,
                kind.line,
                radius=1,
            )
        place = COLUMNS["bar"] + (room * count / most + 4 if count else 0)
        sheet.words(place, top + 12, f"{count:,}", SMALL, colour=MUTED)
        sheet.words(COLUMNS["nodes"], top + 12, nodes, SMALL, colour=MUTED)
        for line in wrapped(meaning, 76):
            sheet.words(COLUMNS["meaning"], top + 12, line, SMALL, colour=MUTED)
            top += ROW - 6
        top += 6 if meaning else ROW
    if idle:
        for line in wrapped(idle, 120):
            sheet.words(0, top + 11, line, SMALL, colour=MUTED)
            top += 14
    return top


def _rule_drawn(way: Way, rule: Rule, times: int, stop: Stop) -> Drawing:
    """A rule with one rewrite that it made."""
    rewrite = way.rewrite(stop)
    assert rewrite is not None
    sheet = Drawing()
    sheet.words(0, 10, f"{times:,} ×", bold=True, colour=MUTED)
    left, top = 42.0, 0.0
    for said, mono in ((rule.title, True), (rule.words, not rule.meaning)):
        for line in wrapped(said, 104 if mono else 118):
            sheet.words(left, top + 10, line, CODE if mono else SMALL, mono=mono, colour=MUTED)
            top += CODE_LINE
    words = told(rewrite.before, rewrite.after)
    sides = [_code_box(text, fill) for text, fill in ((words.before, BEFORE), (words.after, AFTER))]
    height = max(side.height for side in sides)
    top += 3
    sheet.put(sides[0], left, top + (height - sides[0].height) / 2)
    end = left + sides[0].width
    sheet.line([(end + 5, top + height / 2), (end + 27, top + height / 2)], arrow=True)
    sheet.put(sides[1], end + 32, top + (height - sides[1].height) / 2)
    top += height + 2
    for line in wrapped(f"where {words.where}", 112) if words.where else []:
        sheet.words(left, top + 10, line, SMALL, colour=MUTED)
        top += CODE_LINE
    return sheet


def _code_box(text: str, fill: str) -> Drawing:
    sheet = Drawing()
    lines = broken(text, WRITTEN)
    width = max(width_of(line, CODE, mono=True) for line in lines) + 14
    sheet.box(0, 0, width, CODE_LINE * len(lines) + 6, fill)
    for n, line in enumerate(lines):
        sheet.words(7, CODE_LINE * (n + 1) - 0.5, line, CODE, mono=True)
    return sheet


def broken(text: str, width: int) -> list[str]:
    """An expression in lines of at most so many characters, which end behind an operator or comma
    where there is one."""
    lines = [""]
    for part in re.findall(r".*?(?:[-+*/|&^,<>] *|$)", text):
        for piece in textwrap.wrap(part, width, drop_whitespace=False):
            if len(lines[-1]) + len(piece) > width:
                lines.append("")
            lines[-1] += piece
    return lines
