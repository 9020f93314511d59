"""Graphs in a trace: nodes as rows of JSON, each with the numbers of its sources.

    table = Table()
    table.number(sink)        # adds rows for it and everything below it that has none yet
    rows = Rows(table.rows)
    rows[5].op, rows[5].src, rows[5].shape

To the functions that draw and print graphs, a Row looks like a UOp. But it is only data from the
trace: reading one never runs anything, whoever wrote the trace.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tinyframe.uop.node import AddrSpace, AxisType, Ops, UOp, sources_first
from tinyframe.uop.show import sizes_text

ENUMS: dict[str, type[enum.Enum]] = {kind.__name__: kind for kind in (Ops, AxisType, AddrSpace)}

# A row of the file: op, dtype, sources, argument, shape or None, [smallest, largest value] or None,
# number of the user's line or None.
RowData = list[Any]


class Word(str):
    """A name that prints as itself, as a dtype does."""

    def __repr__(self) -> str:
        return str(self)


# ---- arguments -----------------------------------------------------------------------------------


def encoded(arg: Any) -> Any:
    """An argument as JSON, or as text if it has no such form."""
    if type(arg) in ENUMS.values():
        return {"enum": [type(arg).__name__, arg.name]}
    if arg is None or isinstance(arg, (str, int)) and not isinstance(arg, enum.Enum):
        return arg
    if isinstance(arg, float):
        return arg if math.isfinite(arg) else {"float": repr(arg)}
    if isinstance(arg, (tuple, list)):
        return [encoded(a) for a in arg]
    return {"text": sizes_text(arg) if isinstance(arg, UOp) else repr(arg)}


def decoded(data: Any) -> Any:
    """The inverse of `encoded`, with tuples for lists; ValueError for data it never returns."""
    match data:
        case list():
            return tuple(map(decoded, data))
        case {"enum": [str(kind), str(name)]} if kind in ENUMS and name in ENUMS[kind].__members__:
            return ENUMS[kind][name]
        case {"float": "inf" | "-inf" | "nan" as text}:
            return float(text)
        case {"text": str(text)}:
            return Word(text)
        case dict():
            raise ValueError(f"not an argument: {str(data)[:80]}")
    return data


# ---- writing -------------------------------------------------------------------------------------


class Table:
    """The nodes of some graphs, each once, sources before their users.

    line_of: node -> the number of the line that it comes from, or None.
    """

    def __init__(self, line_of: Callable[[UOp], int | None] = lambda u: None) -> None:
        self.rows: list[RowData] = []
        self.numbers: dict[UOp, int] = {}
        self.line_of = line_of

    def number(self, root: UOp) -> int:
        """The number of a node; adds a row if it has none."""
        for u in root.toposort(lambda u: u not in self.numbers):
            if u not in self.numbers:
                self.numbers[u] = len(self.rows)
                dtype, sources = repr(u.dtype).removeprefix("dtypes."), [*map(self.number, u.src)]
                about = encoded(u.arg), _shape(u), _interval(u), self.line_of(u)
                self.rows.append([u.op.name, dtype, sources, *about])
        return self.numbers[root]


def _shape(u: UOp) -> list[Any] | None:
    """A node's shape; None if it is () or unknown."""
    try:
        shape = u.shape
    except (TypeError, ValueError, AttributeError, IndexError, KeyError, AssertionError):
        return None
    return [size if isinstance(size, int) else {"text": sizes_text(size)} for size in shape] or None


def _interval(u: UOp) -> list[Any] | None:
    """The smallest and the largest value of an index or a condition; None for other nodes."""
    if u.dtype.name not in ("int", "long", "bool") or u.op is Ops.CONST:
        return None
    try:
        return [int(u.vmin), int(u.vmax)] if isinstance(u.vmin, int) else None
    except (TypeError, ValueError, AttributeError, AssertionError):
        return None


# ---- reading -------------------------------------------------------------------------------------

below: Any = sources_first  # Rows have `src`, like UOps


@dataclass(eq=False)
class Row:
    """One node of a trace. See `Table`."""

    number: int
    op: Ops
    dtype: Word
    src: tuple[Row, ...] = field(repr=False)  # shared nodes would be repeated again and again
    arg: Any
    shape: tuple[Any, ...] = ()
    interval: tuple[int, int] | None = None
    line: int | None = None

    @property
    def vmax(self) -> Any:
        return "?" if self.interval is None else self.interval[1]

    @property
    def device(self) -> str:
        """The device of a BUFFER, or the one that a COPY copies to."""
        return next((str(s.arg) for s in self.src if s.op is Ops.DEVICE), "")

    def toposort(self, gate: Callable[[Row], bool] | None = None) -> dict[Row, None]:
        """Itself and everything below it, like UOp.toposort."""
        return below((self,), lambda row: row.src if gate is None or gate(row) else ())


class Rows(list[Row]):
    """The Row objects of a trace. TypeError, ValueError, KeyError or IndexError if the data is not
    that of a graph."""

    def __init__(self, data: Sequence[RowData]) -> None:
        super().__init__()
        self._alike: dict[Any, Row] = {}
        for number, (op, dtype, sources, arg, shape, interval, line) in enumerate(data):
            known = tuple(self[s] for s in sources)
            row = Row(number, Ops[op], Word(dtype), known, decoded(arg), decoded(shape) or (),
                      interval and tuple(interval), line)  # fmt: skip
            self._first_alike(row)
            self.append(row)

    def with_sources(self, row: Row, src: tuple[Row, ...]) -> Row:
        """This node with other sources: the trace's own, if it has such a node."""
        if src == row.src:
            return row
        return self._first_alike(replace(row, number=-1, src=src, interval=None))

    def _first_alike(self, row: Row) -> Row:
        return self._alike.setdefault((row.op, row.dtype, row.src, repr(row.arg)), row)


@dataclass(frozen=True)
class Step:
    """One application of a rule: `before` became `after`. rule: its number in the trace."""

    rule: int
    before: Row
    after: Row


def after_steps(rows: Rows, root: Row, steps: Sequence[Step], walk: bool) -> Row:
    """The graph below `root` after these first steps of a rewrite.

    walk: replacements are not rewritten again. A rewrite goes from the sources up, so the `before`
    of a step may be the result of earlier steps.
    """
    became = {step.before: step.after for step in steps}
    done: dict[Row, Row] = {}
    entered: set[Row] = set()
    stack = [root]
    while stack:
        row = new = stack[-1]
        entered.add(row)
        if row not in became:
            if missing := [s for s in row.src if s not in entered]:
                stack += reversed(missing)
                continue
            new = rows.with_sources(row, tuple(done.get(s, s) for s in row.src))
        after = became.get(new, new)
        if not walk and after is not new and after not in entered:
            stack.append(after)  # it is rewritten too, and this node waits for it
            continue
        stack.pop()
        done[row] = after if walk else done.get(after, after)
    return done[root]
