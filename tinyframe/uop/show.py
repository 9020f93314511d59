"""UOps as text: `pretty` for a whole graph, `render` for an index expression, `listing` for a flat
program.

>>> print(UOp.variable("a", 0, 9) + 3)
UOp(Ops.ADD, dtypes.int, arg=None, src=(
  UOp(Ops.DEFINE_VAR, dtypes.int, arg=('a', 0, 9), src=()),
  UOp(Ops.CONST, dtypes.int, arg=3, src=()),))
>>> (UOp.variable("a", 0, 9) + 3).render()
'(a+3)'
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tinyframe.uop.node import Ops, UOp

if TYPE_CHECKING:
    from tinyframe.rewrite.matcher import UPat

DEEPEST_INDENT = 60  # without a limit, the text of a chain of 10,000 nodes is mostly spaces


@UOp.pretty.by
def pretty(root: UOp) -> str:
    """The graph as nested UOp(...), which Python can evaluate. A node used more than once is
    written `x0:=UOp(…)` where it first appears, and `x0` after that."""
    uses = Counter([s for u in root.toposort() for s in u.src])
    lines: list[str] = []
    numbers: dict[UOp, int] = {}  # of those below the root, as a reader meets them
    # (node, depth, suffix): the suffix closes the parents whose last source the node is
    pending: list[tuple[UOp, int, str]] = [(root, 0, "")]
    while pending:
        u, depth, after = pending.pop()
        indent = " " * min(2 * depth, DEEPEST_INDENT)
        if u in numbers:
            lines.append(f"{indent}x{numbers[u]}{after}")
            continue
        numbers[u] = len(numbers) - 1
        name = f"x{numbers[u]}:=" if uses[u] > 1 else ""
        tag = "" if u.tag is None else f", tag={u.tag!r}"
        head = f"{indent}{name}UOp({u.op}, {u.dtype}, arg={u.arg!r}{tag}, src=("
        if not u.src:
            lines.append(f"{head})){after}")
            continue
        lines.append(head)
        ends = [","] * (len(u.src) - 1) + [f",)){after}"]
        pending += [
            (s, depth + 1, end) for s, end in zip(reversed(u.src), reversed(ends), strict=True)
        ]
    return "\n".join(lines)


# characters in our output that not every terminal has
_ASCII = str.maketrans({"─": "-", "×": "x", "…": "...", "·": "."})


def printable(text: str) -> str:
    """The text in characters that stdout can encode: an ASCII terminal gets - for ─."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
        return text
    except UnicodeEncodeError:
        return text.translate(_ASCII).encode(encoding, "backslashreplace").decode(encoding)


# ---- index expressions --------------------------------------------------------------------------

# fmt: off
INFIX = {Ops.ADD: "+", Ops.SUB: "-", Ops.MUL: "*", Ops.FDIV: "/", Ops.IDIV: "//", Ops.MOD: "%",
         Ops.CMPLT: "<", Ops.CMPLE: "<=", Ops.CMPNE: "!=", Ops.CMPEQ: "==", Ops.AND: "&",
         Ops.OR: "|", Ops.XOR: "^", Ops.SHL: "<<", Ops.SHR: ">>", Ops.POW: "**"}

render_rules: dict[Ops, Callable[..., str]] = {
    **{op: lambda u, x, y, sign=sign: f"({x}{sign}{y})" for op, sign in INFIX.items()},
    Ops.CONST: lambda u, *_: str(u.arg),
    Ops.DEFINE_VAR: lambda u: u.arg[0],
    Ops.SPECIAL: lambda u, *_: u.arg[0],
    Ops.BIND: lambda u, variable, value: variable,
    Ops.RANGE: lambda u, size: f"ridx{u.arg[0]}",
    Ops.NEG: lambda u, x: f"(-{x})",
    Ops.RECIP: lambda u, x: f"(1/{x})",
    Ops.MAX: lambda u, x, y: f"max({x}, {y})",
    Ops.MIN: lambda u, x, y: f"min({x}, {y})",
    Ops.WHERE: lambda u, condition, yes, no: f"({yes} if {condition} else {no})",
    Ops.MULACC: lambda u, x, y, z: f"({x}*{y}+{z})",
    Ops.CAST: lambda u, x: f"{str(u.dtype).removeprefix('dtypes.')}({x})",
    Ops.LOAD: lambda u, index, *_: index,
    Ops.INDEX: lambda u, buffer, valid, *indices: f"{buffer}[{', '.join(indices)}]",
    Ops.DEFINE_GLOBAL: lambda u: f"data{u.arg}",
    Ops.GEP: lambda u, x: f"{x}.{u.arg}",
}


# fmt: on

# in characters; shared nodes are written out at each use, so the length may double at every op
LONGEST = 2000


@UOp._expression.by
def render(u: UOp) -> str:
    """An expression as text, each operation in parentheses: `((a*4)+b)`; abridged if too long."""
    text: dict[UOp, str] = {}
    for x in u.toposort():
        words = [text[s] for s in x.src]
        rule = render_rules.get(x.op)
        line = rule(x, *words) if rule else f"{x.op.name.lower()}({', '.join(words)})"
        text[x] = (
            line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} ... {line[-LONGEST // 4 :]}"
        )
    return text[u]


def sizes_text(arg: Any) -> str:
    """A shape, or another argument that may contain symbolic sizes, as text: (2, n=3)."""
    if isinstance(arg, tuple):
        return f"({', '.join(map(sizes_text, arg))}{',' * (len(arg) == 1)})"
    if not isinstance(arg, UOp):
        return repr(arg)
    bound = [u for u in arg.unknowns if u.op is Ops.BIND]
    shown = {u: UOp(Ops.DEFINE_VAR, u.dtype, (), (f"{u.expr}={u.val}", 0, 0)) for u in bound}
    return render(arg.substitute(shown))


# ---- patterns -----------------------------------------------------------------------------------


def render_pattern(p: UPat) -> str:
    """A pattern on one line: `(x + CONST:c)`, `MAX(x, x)`."""
    if p.alternatives:
        return " or ".join(map(render_pattern, p.alternatives))
    allowed = sorted(p.ops or (), key=lambda op: op.name)
    ops = "|".join([op.name for op in allowed])
    if p.ops == {Ops.CONST} and p.arg is not None:
        return repr(p.arg)
    if p.src is None:
        return ":".join(filter(None, (ops, p.name))) or "_"
    if isinstance(p.src, (tuple, list)):
        words = [render_pattern(s) for s in p.src] + ["..."] * p.any_len
    else:  # one pattern for every source
        words = [render_pattern(p.src) + "..."]
    text = f"{ops}({', '.join(words)})"
    if len(allowed) == 1 and allowed[0] in INFIX and len(words) == 2:
        text = f"({words[0]} {INFIX[allowed[0]]} {words[1]})"
    return ":".join(filter(None, (text, p.name)))


# ---- whole graphs and programs ------------------------------------------------------------------


def listing(uops: Iterable[UOp]) -> str:
    """A flat program as a table: number, op, dtype, sources (%7 is line 7, 7 is the constant) and
    arg."""
    numbers: dict[UOp, int] = {}
    lines = []
    for u in uops:
        numbers[u] = len(numbers)
        sources = ", ".join(_source(s, numbers) for s in u.src)
        arg = "" if u.arg is None else sizes_text(u.arg)
        dtype = repr(u.dtype).removeprefix("dtypes.")
        place = f"{numbers[u]:4d} {u.op.name:14s} {dtype:20s}"
        lines.append(f"{place} {f'[{sources}]':24s} {arg}".rstrip())
    return "\n".join(lines)


def _source(u: UOp, numbers: dict[UOp, int]) -> str:
    if u.op is Ops.CONST:
        return repr(u.arg)
    return f"%{numbers[u]}" if u in numbers else f"?{u.op.name}"


def summary(graph: UOp) -> str:
    """A graph as a list: one numbered line per node, sources first, constants inline."""
    return listing(u for u in graph.toposort() if u.op is not Ops.CONST or u is graph)
