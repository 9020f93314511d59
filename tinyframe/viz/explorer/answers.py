"""The answers to the explorer's page, as functions from a trace and a query to plain data.

`ANSWERS` is the table: name in the URL -> function. A query is a dict of the URL's parameters, as
strings; BadQuery says what is wrong with one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tinyframe.uop.node import Ops
from tinyframe.uop.show import listing, render, sizes_text
from tinyframe.viz.explorer.disassembly import machine_code
from tinyframe.viz.explorer.rows import Row, below
from tinyframe.viz.explorer.trace import Described, Stage, Trace, View, view_of
from tinyframe.viz.fold import folded, nearest
from tinyframe.viz.graphs import GraphPicture
from tinyframe.viz.nodes import Node, of_graph
from tinyframe.viz.roof import Roof, costs_of, verdict

MOST_DRAWN = 70  # nodes of a graph on the page: more are folded
MOST_WHOLE = 1000  # nodes, if the whole graph is requested: more take seconds to lay out
MOST_STEPS = 200  # rewrites in one answer

Query = Mapping[str, str]


class BadQuery(ValueError):
    """A query without an answer; the message says why."""


def number(query: Query, name: str, default: int | None = None) -> int:
    text = query.get(name, "")
    if not text and default is not None:
        return default
    if not text.isdecimal() or len(text) > 9:
        raise BadQuery(f"{name} must be a number, 0 or more, not {text[:40]!r}")
    return int(text)


def described(trace: Trace, query: Query) -> Described:
    """The kernel or schedule that a query names: `of=kernel/3`."""
    name = query.get("of", "")
    what, _, n = name.partition("/")
    if what not in ("kernel", "schedule") or not n.isdecimal():
        raise BadQuery(f"of must be kernel/… or schedule/… with a number, not {name[:40]!r}")
    try:
        return trace.described(name)
    except KeyError:
        raise BadQuery(f"there is no {what} {n} in this trace") from None


# ---- the answers ---------------------------------------------------------------------------------


def realize(trace: Trace, query: Query) -> Any:
    try:
        return trace.realize(number(query, "n"))
    except KeyError:
        raise BadQuery(f"there is no realize {query['n']} in this trace") from None


def stages(trace: Trace, query: Query) -> Any:
    """Everything about a kernel or a schedule except its graphs."""
    d = described(trace, query)
    listed = [
        {"name": s.name, "nodes": len(below(s.roots)), "program": isinstance(s.after, list),
         "steps": len(s.steps), "rules": Counter(step.rule for *_, step in s.steps).most_common()}
        for s in d.stages
    ]  # fmt: skip
    said = None  # a sentence or two on what limits a kernel that has run
    about, (what, _, n) = trace.overview, query["of"].partition("/")
    if what == "kernel" and (kernel := about["kernels"][int(n)])["best"]:
        costs = costs_of(d.data["opts"], d.data["source"], about["threads"])
        numbers = kernel["ops"], kernel["bytes"], kernel["best"], Roof(**about["roof"])
        said = verdict(*numbers, kernel["plan"], costs)
    return {**d.data, "stages": listed, "verdict": said}


def steps(trace: Trace, query: Query) -> Any:
    """Some of a stage's rewrites, each with its rule and the nodes before and after."""
    stage = _stage(described(trace, query), number(query, "stage"))
    start, count = number(query, "from", 0), number(query, "count", MOST_STEPS)
    return {"total": len(stage.steps),
            "steps": listed_steps(stage, start, start + min(count, MOST_STEPS))}  # fmt: skip


def listed_steps(stage: Stage, start: int = 0, end: int | None = None) -> list[dict[str, Any]]:
    return [{"n": n, "rule": step.rule, "pass": rewrite.name, "before": shown(step.before),
             "after": shown(step.after)}
            for n, (rewrite, _, step) in enumerate(stage.steps[start:end], start)]  # fmt: skip


def graph(trace: Trace, query: Query) -> Any:
    """A graph as SVG, with the details that a click on each node shows. A program, which is a list,
    is text. So is a graph that nothing can lay out, with the reason."""
    d = described(trace, query)
    n = number(query, "stage")
    _stage(d, n)
    step = number(query, "step") if query.get("step") else None
    try:
        view = view_of(d, n, step, after=query.get("when") == "after")
    except IndexError:
        raise BadQuery(f"this stage has no rewrite number {step}") from None
    if isinstance(d.stages[n].after, list):
        program = [row for row in d.stages[n].roots if row.op is not Ops.CONST]
        text = listing(program)  # type: ignore[arg-type]
        return {"svg": None, "why": "", "headline": "program", "text": text, "nodes": []}
    most = MOST_WHOLE if query.get("whole") == "1" else MOST_DRAWN
    picture = GraphPicture("graph", nodes_of(view, most))
    svg, why = picture.svg_or_reason()
    return {"svg": svg, "why": why, "headline": picture.headline, "text": picture.text,
            "nodes": [details(node) for node in picture.nodes]}  # fmt: skip


def assembly(trace: Trace, query: Query) -> Any:
    """A kernel's machine code as text, if objdump is installed."""
    try:
        return machine_code(trace.store.raw(f"binary/{number(query, 'n')}"))
    except KeyError:
        return {"text": None, "why": "no compiler made machine code for this kernel"}


# ---- helpers -------------------------------------------------------------------------------------


def _stage(d: Described, n: int) -> Stage:
    if n >= len(d.stages):
        raise BadQuery(f"there is no stage {n}: there are {len(d.stages)}")
    return d.stages[n]


def nodes_of(view: View, most: int) -> list[Node]:
    """A graph's nodes; if there are more than `most`, folded around the ones that change."""
    nodes = of_graph(view.roots, marks=view.marks)  # type: ignore[arg-type]
    nodes = [replace(node, box=view.boxes.get(node.of)) for node in nodes]
    return nearest(folded(nodes, lambda drawn: len(drawn) <= most), most)


def details(node: Node) -> dict[str, Any]:
    """The details of a node that was clicked."""
    row, seen = node.of, {"title": node.title, "kind": node.kind, "mark": node.mark}
    if row is None:
        return {**seen, "value": node.value, "note": node.note}
    return {
        **seen, "op": row.op.name, "dtype": str(row.dtype),
        "shape": [s if isinstance(s, int) else str(s) for s in row.shape],
        "arg": "" if row.arg is None else sizes_text(row.arg), "interval": row.interval,
        "line": row.line, "number": row.number, "expression": shown(row),
    }  # fmt: skip


def shown(row: Row) -> str:
    """A node in one line: its expression, or else its op with its sources."""
    if row.op is Ops.SINK:
        return f"sink of {len(row.src)}"
    text = render(row)  # type: ignore[arg-type]
    index = row.src[0] if row.op is Ops.LOAD else row
    if index.op is Ops.INDEX and len(index.src) > 1 and index.src[1].op is not Ops.CONST:
        text += f" if {render(index.src[1])}"  # type: ignore[arg-type]
    return text if len(text) <= 300 else f"{text[:200]} … {text[-80:]}"


def chrome_trace(trace: Trace) -> dict[str, Any]:
    """Kernels and compilations as Chrome's trace events, for chrome://tracing and Perfetto.

    (Google, "Trace Event Format": complete events, in microseconds.)
    """
    about = trace.overview
    events: list[dict[str, Any]] = []
    lanes: dict[str, int] = {}

    def add(lane: str, name: str, begin: float, end: float, args: dict[str, Any]) -> None:
        events.append({"name": name, "ph": "X", "pid": 1, "tid": lanes.setdefault(lane, len(lanes)),
                       "ts": begin * 1e6, "dur": (end - begin) * 1e6, "args": args})  # fmt: skip

    for kernel in about["kernels"]:
        for lane, begin, end in kernel["compile"]:
            add(lane, f"compile {kernel['name']}", begin, end, {})
    for n in range(len(about["realizes"])):
        for ran in trace.realize(n)["ran"]:
            add(ran["device"], ran["name"], ran["begin"], ran["end"], {"realize": n})
            events.append({"name": "memory", "ph": "C", "pid": 1, "ts": ran["end"] * 1e6,
                           "args": {"bytes": ran["in_use"]}})  # fmt: skip
    events += [{"name": "thread_name", "ph": "M", "pid": 1, "tid": tid, "args": {"name": lane}}
               for lane, tid in lanes.items()]  # fmt: skip
    return {"traceEvents": events, "displayTimeUnit": "ms"}


ANSWERS: dict[str, Callable[[Trace, Query], Any]] = {
    "overview": lambda trace, query: trace.overview, "realize": realize, "stages": stages,
    "steps": steps, "graph": graph, "assembly": assembly,
    "chrome": lambda trace, query: chrome_trace(trace),
}  # fmt: skip
