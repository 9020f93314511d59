"""Rules of one's own in tinyframe's compiler, for a while, and what they do to a kernel.

with added(rules):               # kernels that are made inside go through them first
    print((x * 0).tolist())

work(x.relu().relu())            # Counter({"CMPLE": 2, "WHERE": 2}): operations per element
effect(x.relu().relu(), rules)   # the C without the rules and with them, and both counts
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from classroom.exercise import Wrong
from classroom.lies import written
from tinyframe import Tensor
from tinyframe.algebra.symbolic import sym
from tinyframe.codegen import full_rewrite_to_sink, get_program, passes
from tinyframe.rewrite import PatternMatcher, RewriteLoopError, Rule, UPat, graph_rewrite
from tinyframe.rewrite.matcher import record
from tinyframe.uop import GroupOp, Ops, UOp
from tinyframe.viz.drawing import MUTED, PAGE, Drawing, width_of
from tinyframe.viz.kernels import kernels_of, one_kernel, renderer_of
from tinyframe.viz.nests import function_of, wrapped
from tinyframe.viz.picture import DrawnPicture, Picture

STAGE = "your rules"
CODE, LINE = 9.5, 13.0  # points: size of code, from line to line
WITHOUT, WITH = "#fdebd0", "#d3efd0"  # fills


@contextmanager
def added(rules: PatternMatcher) -> Iterator[None]:
    """Inside, kernels go through these rules before any other stage, and then through tinyframe's
    own. Kernels that were made earlier stay as they are."""

    def stage(sink: UOp, job: Any) -> UOp:
        return graph_rewrite(graph_rewrite(sink, rules, name=STAGE), sym, name="simplify")

    entry = (STAGE, stage)
    passes.insert(0, entry)
    try:
        yield
    finally:
        passes.remove(entry)


def table_of(answer: Any, case: str = "") -> PatternMatcher:
    """A row, several, or a table, as a table; Wrong with what a row is."""
    if isinstance(answer, PatternMatcher):
        return answer
    if isinstance(answer, Rule):
        return PatternMatcher([answer])
    if isinstance(answer, (tuple, list)) and answer and isinstance(answer[0], UPat):
        answer = [answer]
    if isinstance(answer, Iterable) and not isinstance(answer, (str, bytes, UOp, UPat)):
        rows = [row if isinstance(row, Rule) else tuple(row)
                if isinstance(row, Iterable) and not isinstance(row, (str, UPat)) else row
                for row in answer]  # fmt: skip
        if rows and all(is_row(row) for row in rows):
            return PatternMatcher(rows)
    raise Wrong("A row has to be a pair: a pattern, built of UPats, and a function.", case)


def is_row(row: Any) -> bool:
    return isinstance(row, Rule) or (
        isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], UPat) and callable(row[1])
    )


def fired(expression: UOp, rules: PatternMatcher) -> None:
    """Print each rewrite of an expression, and how many there were."""
    with record() as passes:
        graph_rewrite(expression, rules)
    for step in passes[0].steps:
        print(f"{written(step.before):>16}  becomes  {written(step.after)}")
    print(f"rewrites: {len(passes[0].steps)}")


def blamed(expression: UOp, rules: PatternMatcher) -> None:
    """Print what becomes of an expression; or what tinyframe says if that never ends."""
    try:
        print(written(graph_rewrite(expression, rules)))
    except RewriteLoopError as error:
        print(re.sub(r"(?m)^(  )\S+:\d+  ", r"\1", f"{type(error).__name__}: {error}"))


def work(x: Tensor) -> Counter[str]:
    """What the kernels of a Tensor compute for each element, by op; index arithmetic isn't counted.
    Nothing runs."""
    count = Counter[str]()
    for item in kernels_of(x, "work"):
        if item.ast.op is Ops.SINK:
            sink = full_rewrite_to_sink(item.ast, renderer_of(item), [])
            count += Counter(u.op.name for u in _values(sink) if u.op in GroupOp.Elementwise)
    return count


def _values(sink: UOp) -> list[UOp]:
    """The nodes that compute what is stored, and not where."""
    stored = [u.src[1] for u in sink.toposort() if u.op is Ops.STORE]
    return [*UOp.sink(*stored).toposort(gate=lambda u: u.op is not Ops.INDEX)]


def described(count: Counter[str]) -> str:
    """`2 operations: 1 MUL, 1 ADD`."""
    total = count.total()
    ops = ", ".join(f"{number} {op}" for op, number in sorted(count.items()))
    return f"{total} operation{'s' * (total != 1)}{f': {ops}' * bool(ops)}"


def effect(x: Tensor, rules: PatternMatcher) -> Picture:
    """The C of a Tensor's kernel without some rules and with them, and what each computes for an
    element."""
    sheet, said, left = Drawing(), list[str](), 0.0
    for title, fill in (("without your rules", WITHOUT), ("with them", WITH)):
        if title == "with them":
            with added(rules):
                count, lines = work(x), _source(x)
        else:
            count, lines = work(x), _source(x)
        sheet.words(left, 12, title, 11, bold=True, colour=MUTED)
        sheet.words(left, 27, described(count), 11, colour=MUTED)
        part = _code(lines, fill, (PAGE - 16) / 2)
        sheet.put(part, left, 36)
        left = (PAGE + 16) / 2
        said.append("\n".join([f"{title}: {described(count)}", *(f"  {line}" for line in lines)]))
    return DrawnPicture("one kernel, without your rules and with them", "\n".join(said), sheet)


def effect_of(own: Any, x: Tensor) -> Picture | None:
    """The effect of an answer on the kernel of a Tensor: own() is (function of a Tensor, rows)."""
    pair = own() if callable(own) else own
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not callable(pair[0]):
        print("Nothing to draw yet.")
        return None
    return effect(pair[0](x), table_of(pair[1]))


def _source(x: Tensor) -> list[str]:
    item, _ = one_kernel(x, None, "effect")
    program = get_program(item.ast, renderer_of(item), [])
    return function_of(program.src, program.function)


def _code(lines: list[str], fill: str, wide: float) -> Drawing:
    shown = [part for line in lines for part in (wrapped(line, wide - 14, CODE, mono=True)
             if width_of(line, CODE, mono=True) > wide - 14 else [line])]  # fmt: skip
    sheet = Drawing()
    sheet.box(0, 0, wide, LINE * len(shown) + 6, fill)
    for number, line in enumerate(shown, 1):
        sheet.words(7, LINE * number - 0.5, line, CODE, mono=True)
    return sheet
