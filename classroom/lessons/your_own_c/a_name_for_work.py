"""Repair a cache key

Hint: `toposort` gives the nodes in an order in which sources come first. What do you have to
write down about each so that somebody could build the graph again from your string, with arrays
of their own?
Hint: Number the nodes in that order, in a dict. For each, write its op, the numbers of its
sources, and its arg; for a BUFFER its shape instead. `repr` tells 0.0 from -0.0.
Because: From this string you can build the graph again, but for its arrays: that's exactly what
has to be in a key. One thing less, and two programs share a name.
Right: Strict enough to be right, and loose enough to be useful. That's a cache key.
"""

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.ask import Wrong, call, written_without, wrong_if
from classroom.mini import own_c

SECONDS = 20.0


Build = Callable[..., Any]


A_B = "`a` and `b` of shape (3, 3)"


SAME: list[tuple[str, Build, str, Build]] = [
    ("a + b", lambda a, b, c, d: a + b, "c + d", lambda a, b, c, d: c + d),
    ("a @ b", lambda a, b, c, d: a @ b, "d @ c", lambda a, b, c, d: d @ c),
    ("(a - b).sum(0)", lambda a, b, c, d: (a - b).sum(0),
     "(b - a).sum(0)", lambda a, b, c, d: (b - a).sum(0)),
    ("a * a", lambda a, b, c, d: a * a, "b * b", lambda a, b, c, d: b * b),
]  # fmt: skip


DIFFERENT: list[tuple[str, Build, str, Build, str]] = [
    ("a + b", lambda a, b: a + b, "a * b", lambda a, b: a * b, "The op is a different one."),
    ("a * 2", lambda a, b: a * 2, "a * 3", lambda a, b: a * 3,
     "They differ by the `arg` of a CONST."),
    ("a.sum(0)", lambda a, b: a.sum(0, keepdim=True).expand(3, 3),
     "a.sum(1)", lambda a, b: a.sum(1, keepdim=True).expand(3, 3),
     "They differ by an `arg`: which axes, and how far they are stretched."),
    ("(a + b) * a", lambda a, b: (a + b) * a, "(a + b) * b", lambda a, b: (a + b) * b,
     "All nodes are the same, in the same order. They differ by who is whose source."),
    ("a + a", lambda a, b: a + a, "a + b", lambda a, b: a + b,
     "The first reads one array, the second two."),
    ("1.0 * a", lambda a, b: a * 1.0, "1.000001 * a", lambda a, b: a * 1.000001,
     "The two constants are close, but not equal. Was one of them rounded when it was written?"),
    ("0.0 * a", lambda a, b: a * 0.0, "-0.0 * a", lambda a, b: a * -0.0,
     "Python says that 0.0 == -0.0, but divide by the results: one gives inf, the other -inf."),
]  # fmt: skip


LONGEST = 4000  # letters of a name of 19 nodes


def check(answer) -> None:
    """answer(sink): a string, the same for the same work, and only then."""
    part8 = own_c.module("part8")
    Tensor, dice = part8.Tensor, np.random.default_rng()

    def tensors(count: int, *shape: int) -> list[Any]:
        return [Tensor(dice.random(shape, dtype=np.float32)) for _ in range(count)]

    def named(said: str, *made: Any) -> str:
        sink = part8.UOp(part8.Ops.SINK, tuple(t.uop for t in made))
        got = call(answer, sink)
        if not isinstance(got, str):
            raise Wrong("The name has to be a string: it's to be used in the next process, too.",
                        f"`{said}`", "a str", f"a {type(got).__name__}")  # fmt: skip
        wrong_if(re.search(r"\bat 0x[0-9a-f]+", got), "There's an address of memory in the name. "
                 "The next process will have different ones.", f"`{said}`")  # fmt: skip
        return got

    a, b, c, d = tensors(4, 3, 3)
    first = named("a + b", a + b)
    written_without(answer, {"hash"}, "and what it gives for a string is different in the next "
                    "process")  # fmt: skip
    wrong_if(not first, "The name is empty.", "`a + b`")
    if first == named("a * b", a * b) == named("a.sum(0)", a.sum(0)):
        raise Wrong("Every graph gets the same name. It has to be made from the graph.",
                    "`a + b`, `a * b` and `a.sum(0)`", "three names", "one name")  # fmt: skip
    for one, make_one, other, make_other in SAME:
        wrong_if(named(one, make_one(a, b, c, d)) != named(other, make_other(a, b, c, d)),
                 f"`{one}` and `{other}` are the same work on different memory: one program, "
                 "called with different arrays. You gave them different names, so nothing would "
                 "ever be found again.", "all of shape (3, 3)", "one name",
                 "two names")  # fmt: skip
    for one, left, other, right, why in DIFFERENT:
        wrong_if(named(one, left(a, b)) == named(other, right(a, b)), f"`{one}` and `{other}` have "
                 f"the same name, so whoever comes second gets the program of the first. {why}",
                 A_B, "two names", "one name")  # fmt: skip
    (wide,), (high,), (more,) = tensors(1, 2, 3), tensors(1, 3, 2), tensors(1, 3, 3)
    if named("x * 2", wide * 2) == named("y * 2", high * 2):
        raise Wrong("`x * 2` and `y * 2` have the same name, but the shapes of `x` and `y` differ.",
                    "shapes (2, 3) and (3, 2)", "two names", "one name")  # fmt: skip
    wrong_if(named("a + b, a * b", a + b, a * b) == named("a * b, a + b", a * b, a + b),
             "Two results, in a different order, have the same name. Each would be taken for the "
             "other.", "`a + b, a * b` and `a * b, a + b`", "two names", "one name")  # fmt: skip
    terms = [a * n for n in range(2, 14)]
    one, other = _look_alike(part8.UOp(part8.Ops.SINK, tuple(t.uop for t in terms)), terms)
    if named("t1 + t12", *terms, one) == named("t11 + t2", *terms, other):
        raise Wrong("Nothing stands between the numbers of two sources, so node 1 plus node 12 "
                    "looks like node 11 plus node 2.", "a sum of two of twelve nodes", "two names",
                    "one name")  # fmt: skip
    if len(long := named("more, doubled 18 times", _doubled(more, 18))) > LONGEST:
        raise Wrong(f"The name of 18 doublings, which are 19 nodes, has {len(long):,} letters. You "
                    "wrote a node out wherever it's used. Give each node a number, and write that.",
                    "`x = x + x`, 18 times", f"fewer than {LONGEST:,}",
                    f"{len(long):,}")  # fmt: skip


def _look_alike(sink: Any, terms: list[Any]) -> tuple[Any, Any]:
    """Two sums of two of these Tensors each, whose nodes' numbers are the same digits in a row."""
    places = dict(zip(sink.toposort(), itertools.count()))
    seen: dict[str, Any] = {}
    for one, other in itertools.permutations(terms, 2):
        digits = f"{places[one.uop]}{places[other.uop]}"
        if digits in seen:
            return seen[digits], one + other
        seen[digits] = one + other
    raise LookupError("no two pairs look alike")


def _doubled(x: Any, times: int) -> Any:
    for _ in range(times):
        x = x + x
    return x

# %% shared
def name(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    said = []
    for u in number:
        what = u.shape if u.op.name == "BUFFER" else u.arg
        said.append(f"{u.op.name}{[number[s] for s in u.src]}{what!r}")
    return "; ".join(said)

# %% wrong, each line
lambda sink: tuple(sink.toposort())  # says has to be a string
lambda sink: ""  # says The name is empty
lambda sink: sink.op.name  # says Every graph gets the same name

# %% wrong: says the same name
def only_ops(sink):
    return " ".join(f"{u.op.name} {u.shape}" for u in sink.toposort())
only_ops

# %% wrong: says an address of memory
def with_buffers(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    return str([(u.op.name, u.arg, [number[s] for s in u.src]) for u in number])
with_buffers

# %% wrong: says different names
def with_ids(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    return str([(u.op.name, id(u), [number[s] for s in u.src]) for u in number])
with_ids

# %% wrong: says shapes of `x` and `y` differ
def without_shapes(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    return str(
        [(u.op.name, u.op.name != "BUFFER" and u.arg, [number[s] for s in u.src]) for u in number]
    )
without_shapes

# %% wrong: says Give each node a number
def written_out(sink):
    """A node wherever it is used; sixty doublings would take 2**60 letters."""
    number = {u: n for n, u in enumerate(u for u in sink.toposort() if u.op.name == "BUFFER")}

    def said(u):
        if u in number:
            return f"b{number[u]}{u.shape}"
        return f"{u.op.name}({','.join(map(said, u.src))};{u.arg!r})"

    return said(sink)
written_out

# %% wrong: says different in the next process
def hashed(sink):
    return str(hash(name(sink)))
hashed

# %% wrong: says in a different order
def without_order_of_results(sink):
    return " ".join(sorted(without_last(sink)))
def without_last(sink):
    number = {u: n for n, u in enumerate(sink.toposort())}
    yield from (
        f"{u.op.name}{[number[s] for s in u.src]}{u.shape if u.op.name == 'BUFFER' else u.arg!r}"
        for u in number
        if u is not sink
    )
without_order_of_results

# %% wrong: nothing between the numbers: 1 and 12 look like 11 and 2
def name(sink):
    number = {node: n for n, node in enumerate(sink.toposort())}
    lines = []
    for node in number:
        what = node.shape if node.op is Ops.BUFFER else node.arg
        sources = "".join(str(number[s]) for s in node.src)
        lines.append(f"{node.op.name} {sources} {what!r}")
    return "; ".join(lines)

# %% right, each line
name
