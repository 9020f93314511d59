"""Graphs in a trace: nodes as rows of JSON, each with the numbers of its sources.

    table = Table()
    table.number(sink)        # its row, and those of all below it that are not there yet
    rows = Rows(table.rows)
    rows[5].op, rows[5].src, rows[5].shape

A Row looks like a UOp to what draws and prints graphs, but it is only what the trace says: reading
one never runs anything, whoever wrote it.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tinyframe.uop.node import AddrSpace, AxisType, Ops, UOp, sources_first
from tinyframe.uop.show import sizes_text

ENUMS: dict[str, type[enum.Enum]] = {kind.__name__: kind for kind in (Ops, AxisType, AddrSpace)}

# A row of the file: op, dtype, sources, argument, shape or None, [least, largest value] or None,
# number of the line of the user's script or None.
RowData = list[Any]


class Word(str):
    """A name that prints as itself, as a dtype does."""

    def __repr__(self) -> str:
        return str(self)


# ---- arguments -----------------------------------------------------------------------------------


def encoded(arg: Any) -> Any:
    """An argument as JSON; what has no such form is its text."""
    if arg is None or isinstance(arg, (bool, str)):
        return arg
    if isinstance(arg, enum.Enum):
        known = ENUMS.get(type(arg).__name__) is type(arg)
        return {"enum": [type(arg).__name__, arg.name]} if known else {"text": repr(arg)}
    if isinstance(arg, int):
        return int(arg)
    if isinstance(arg, float):
        return arg if math.isfinite(arg) else {"float": repr(arg)}
    if isinstance(arg, (tuple, list)):
        return [encoded(a) for a in arg]
    return {"text": sizes_text(arg) if isinstance(arg, UOp) else repr(arg)}


def decoded(data: Any) -> Any:
    """What `encoded` gave, with tuples for lists; ValueError where nothing gives that."""
    if isinstance(data, list):
        return tuple(decoded(d) for d in data)
    if not isinstance(data, dict):
        return data
    match data:
        case {"enum": [str(kind), str(name)]} if kind in ENUMS and name in ENUMS[kind].__members__:
            return ENUMS[kind][name]
        case {"float": "inf" | "-inf" | "nan" as text}:
            return float(text)
        case {"text": str(text)}:
            return Word(text)
    raise ValueError(f"not an argument: {str(data)[:80]}")


# ---- writing -------------------------------------------------------------------------------------


class Table:
    """The nodes of some graphs, each once, sources before their users.

    line_of: gives the number of the line that a node was written on, or None.
    """

    def __init__(self, line_of: Callable[[UOp], int | None] = lambda u: None) -> None:
        self.rows: list[RowData] = []
        self.numbers: dict[UOp, int] = {}
        self.line_of = line_of

    def number(self, root: UOp) -> int:
        """The number of a node, which gets a row if it has none."""
        for u in root.toposort(lambda u: u not in self.numbers):
            if u not in self.numbers:
                self.numbers[u] = len(self.rows)
                self.rows.append(self._row(u))
        return self.numbers[root]

    def _row(self, u: UOp) -> RowData:
        dtype = repr(u.dtype).removeprefix("dtypes.")
        sources = [self.numbers[s] for s in u.src]
        return [
            u.op.name, dtype, sources, encoded(u.arg), _shape(u), _interval(u), self.line_of(u),
        ]  # fmt: skip


def _shape(u: UOp) -> list[Any] | None:
    """A node's shape, where it has one that says something."""
    try:
        shape = u.shape
    except (TypeError, ValueError, AttributeError, IndexError, KeyError, AssertionError):
        return None
    return [size if isinstance(size, int) else {"text": sizes_text(size)} for size in shape] or None


def _interval(u: UOp) -> list[Any] | None:
    """The least and the largest value, of indices and conditions."""
    if u.dtype.name not in ("int", "long", "bool") or u.op is Ops.CONST:
        return None
    try:
        least, largest = u.vmin, u.vmax
    except (TypeError, ValueError, AttributeError, AssertionError):
        return None
    return [int(least), int(largest)] if isinstance(least, (int, bool)) else None


# ---- reading -------------------------------------------------------------------------------------

below: Any = sources_first  # rows have sources as UOps do


@dataclass(eq=False)
class Row:
    """One node of a trace. See `Table`."""

    number: int
    op: Ops
    dtype: Word
    src: tuple[Row, ...] = field(repr=False)  # shared parts would be written again and again
    arg: Any
    shape: tuple[Any, ...] = ()
    interval: tuple[int, int] | None = None
    line: int | None = None
    key: Any = field(default=None, repr=False)

    @property
    def vmax(self) -> Any:
        return "?" if self.interval is None else self.interval[1]

    @property
    def device(self) -> str:
        """Where a BUFFER is, or what is copied goes to."""
        return next((str(s.arg) for s in self.src if s.op is Ops.DEVICE), "")

    def toposort(self, gate: Callable[[Row], bool] | None = None) -> dict[Row, None]:
        """All below and itself, as UOp.toposort has it."""
        return below((self,), lambda row: row.src if gate is None or gate(row) else ())


class Rows:
    """The rows of a trace as Rows, made when they are asked for. ValueError where the data is not
    that of a graph."""

    def __init__(self, data: Sequence[RowData]) -> None:
        self.known: list[Row] = []
        self._alike: dict[Any, Row] = {}
        for number, row in enumerate(data):
            self.known.append(self._read(number, row))

    def _read(self, number: int, data: RowData) -> Row:
        match data:
            case [str(op), str(dtype), list(sources), arg, shape, interval, line] if (
                op in Ops.__members__
                and all(isinstance(s, int) and 0 <= s < number for s in sources)
            ):
                known = tuple(self.known[s] for s in sources)
                limits = interval and tuple(interval)
                row = Row(number, Ops[op], Word(dtype), known, decoded(arg), decoded(shape) or (),
                          limits, line)  # fmt: skip
                row.key = row.op, row.dtype, row.src, repr(arg)
                self._alike.setdefault(row.key, row)
                return row
        raise ValueError(f"not a node: {str(data)[:80]}")

    def __getitem__(self, number: int) -> Row:
        return self.known[number]

    def __len__(self) -> int:
        return len(self.known)

    def with_sources(self, row: Row, src: tuple[Row, ...]) -> Row:
        """A node like this one, of other sources: that of the trace where there is one."""
        if src == row.src:
            return row
        key = (row.op, row.dtype, src, row.key[3])
        if key not in self._alike:
            fresh = Row(-1, row.op, row.dtype, src, row.arg, row.shape, None, row.line, key)
            self._alike[key] = fresh
        return self._alike[key]


@dataclass(frozen=True)
class Step:
    """A rule applied once: `before` became `after`. rule: its number in the trace."""

    rule: int
    before: Row
    after: Row


def after_steps(rows: Rows, root: Row, steps: Sequence[Step], walk: bool) -> Row:
    """What the graph below `root` is after these first steps of a rewrite.

    walk: what a step gives is left as it is. A rewrite goes from the sources up: a node's `before`
    may be what it has become by earlier steps.
    """
    became = {step.before: step.after for step in steps}
    done: dict[Row, Row] = {}
    entered: set[Row] = set()
    # (the row whose result is wanted, what it is so far, what has been done to that)
    stack: list[tuple[Row, Row, str]] = [(root, root, "fresh")]

    def replace(original: Row, after: Row) -> None:
        if walk:
            done[original] = after
        else:
            stack.extend([(original, after, "replaced"), (after, after, "fresh")])

    while stack:
        original, row, state = stack.pop()
        if state == "replaced":
            done[original] = done.get(row, row)
        elif state == "sources done":
            new = rows.with_sources(row, tuple(done.get(s, s) for s in row.src))
            after = became.get(new)
            if after is None or after in entered and after not in done:
                done[original] = new
            else:
                replace(original, after)
        elif row not in done and row not in entered:
            entered.add(row)
            if row in became:
                replace(row, became[row])
            else:
                stack.append((row, row, "sources done"))
                stack += [(s, s, "fresh") for s in reversed(row.src) if s not in done]
    return done.get(root, root)
