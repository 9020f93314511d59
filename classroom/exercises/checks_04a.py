"""Part 4a, lazy evaluation: what its predictions are about, and what an answer has to do."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from classroom.ask import (
    call,
    describe,
    fresh_sizes,
    fresh_tensor,
    same_number,
    same_values,
    small_tensor,
    wants,
)
from classroom.by_hand import building, others
from classroom.exercise import Graphs, Wrong
from tinyframe import GlobalCounters, Tensor
from tinyframe.dtype import DType
from tinyframe.uop import Ops, UOp

# ---- what the predictions are about, done for real ----------------------------------------------


def kernels_after_each_line() -> tuple[int, ...]:
    (n,) = fresh_sizes(1)
    a, b = fresh_tensor(n), fresh_tensor(n)
    before, counts = GlobalCounters.kernel_count, []
    y = a * b + a
    for look in (lambda: None, lambda: f"{y.shape} {y}", y.tolist, y.tolist):
        look()
        counts.append(GlobalCounters.kernel_count - before)
    return tuple(counts)


def which_are_the_same() -> tuple[bool, ...]:
    a, b = fresh_tensor(5), fresh_tensor(5)
    A, B = a + b, a + b
    return (
        A is B,
        A.uop is B.uop,
        (a + b).uop is (b + a).uop,
        (a * 2).uop is (a + a).uop,
    )


# ---- functions ----------------------------------------------------------------------------------


def nodes(tensor: Tensor, op: Ops) -> list[UOp]:
    """The nodes of an op in the graph of a Tensor, each once."""
    return [u for u in tensor.uop.toposort() if u.op is op]


def count_nodes(answer: Any) -> str:
    """answer(tensor, op): how many nodes of an op a graph has."""
    a, b = fresh_tensor(5), fresh_tensor(5)
    cases = [
        ("`a * b + a`, Ops.MUL", a * b + a, Ops.MUL),
        ("`a + b`, Ops.MUL", a + b, Ops.MUL),
        ("`a * b + a`, Ops.BUFFER", a * b + a, Ops.BUFFER),
        ("`(a * b) + (a * b)`, Ops.MUL", a * b + a * b, Ops.MUL),
        ("`(a + b).sum()`, Ops.ADD", (a + b).sum(), Ops.ADD),
        ("`a.max()`, Ops.MAX", a.max(), Ops.MAX),
    ]
    for case, tensor, op in cases:
        got = call(answer, tensor, op)
        wants(got, int, "a whole number", case)
        expected, order = len(nodes(tensor, op)), tensor.uop.toposort()
        in_sources = sum(u.op is op for u in tensor.uop.src)
        for mistake, words in (
            (in_sources, "You looked only at the sources of the last node, and not further up."),
            (_in_the_tree(tensor.uop, op), "You counted a node once for every path to it."),
            (len(order), f"You counted all nodes. Count only those whose op is {op.name}."),
        ):
            if got == mistake != expected:
                raise Wrong(words, case, expected, got)
        if expected and not got:
            raise Wrong(
                "You found none. A node isn't its op: compare `node.op`.", case, expected, got
            )
        same_number(got, expected, case, "nodes")
    chain, length = a, random.randint(3, 30)
    for _ in range(length):
        chain = chain * a + b
    if call(answer, chain, Ops.ADD) != length:
        raise Wrong(
            "Your count is right for the short graphs, and wrong for a long chain.",
            "`((a * a + b) * a + b) …`, Ops.ADD",
        )
    return "Each node counts once, no matter how many other nodes use it."


def _in_the_tree(u: UOp, op: Ops) -> int:
    """How often an op is in a small graph that is written out as a tree."""
    return int(u.op is op) + sum(_in_the_tree(source, op) for source in u.src)


def power(answer: Any) -> str:
    """answer(a, n): `a` to the power n, with at most 2 * n.bit_length() MUL nodes."""
    a = small_tensor(1, 3)
    for n in (1, 2, 3, 5):
        case = f"`a = [[1, 2, 3]]`, n = {n}"
        got = call(answer, a, n)
        wants(got, Tensor, "a Tensor", case)
        _only_multiplies(got, a, case)
        same_values(got, a.numpy() ** n, case)
    for n in (100, random.randint(50, 99)):
        a = fresh_tensor(5)
        case = f"n = {n}" if n == 100 else "a random n"
        got = call(answer, a, n)
        _only_multiplies(got, a, case)
        found, allowed = len(nodes(got, Ops.MUL)), 2 * n.bit_length()
        if found > allowed:
            shown = (f"at most {allowed} MUL nodes", found) if n == 100 else ()
            raise Wrong("The graph has too many multiplications.", case, *shown)
        same_values(got, a.numpy() ** n, case, shown=False)
    return "A few lines of Python wrote a small graph for a long product."


def _only_multiplies(tensor: Tensor, a: Tensor, case: str) -> None:
    """Wrong where a power is made of more than products and constants."""
    new = set(tensor.uop.toposort()) - set(a.uop.toposort())
    ops = {u.op for u in new} - {Ops.MUL, Ops.CONST, Ops.RESHAPE, Ops.EXPAND}
    if ops:
        names = ", ".join(sorted(op.name for op in ops))
        raise Wrong(f"Use multiplications only. Your graph has {names} in it.", case)


def multiply_add(answer: Any) -> str:
    """answer(a, b): the graph of a * b + a, each node built by UOp(…)."""
    a, b = fresh_tensor(5), fresh_tensor(5)
    got, built = _build(answer, a, b)
    _same_graph(got, (a * b + a).uop, "`a * b + a`", a=a, b=b)
    _by_hand(got, built, a, b)
    return "It isn't just equal to what `a * b + a` builds. It's the same object."


def dot_product(answer: Any) -> str:
    """answer(a, b): the graph of (a * b).sum(), each node built by UOp(…)."""
    for n in (5, *fresh_sizes(1)):
        a, b = fresh_tensor(n), fresh_tensor(n)
        got, built = _build(answer, a, b)
        case = "`(a * b).sum()`" if n == 5 else "vectors of a different length"
        _same_graph(got, (a * b).sum().uop, case, a=a, b=b)
        _by_hand(got, built, a, b)
    return "A dot product is three nodes, and you've just done all that `(a * b).sum()` does."


def _build(answer: Any, a: Tensor, b: Tensor) -> tuple[UOp, set[UOp]]:
    """What the answer builds of two UOps, and the nodes that it built by hand."""
    try:
        with building() as built:
            got = call(answer, a.uop, b.uop)
    except TypeError as error:
        if str(error) not in ("unhashable type: 'list'", "'UOp' object is not iterable"):
            raise
        what = "a list" if "list" in str(error) else "a UOp without a comma after it"
        raise Wrong(
            "The sources of a node have to be a tuple, `(a, b)`, or `(a,)` for a single one. There "
            "is no list in an argument, either: it's `(Ops.MAX, (0,))`, for example.",
            expected="tuples", got=what,
        ) from error  # fmt: skip
    wants(got, UOp, "a UOp")
    return got, built


def _by_hand(graph: UOp, built: set[UOp], *inputs: Tensor) -> None:
    """Wrong where an operator or a method built a part of the graph."""
    if found := others(graph, built, *[t.uop for t in inputs]):
        names = ", ".join(dict.fromkeys(u.op.name for u in found))
        raise Wrong(
            "This is the right graph, but not all of it is built by hand. Write a `UOp(…)` for "
            "each node.",
            got=f"{names}: built by an operator or a method",
        )


def _same_graph(got: UOp, expected: UOp, case: str, **inputs: Tensor) -> None:
    """Wrong, with the difference in words and both graphs drawn, unless they are one graph."""
    if got is expected:
        return
    if without := [u for u in got.toposort() if not isinstance(u.dtype, DType)]:
        words = f"The second thing you pass to `UOp(…)` is its dtype, and this {without[0].op.name}"
        raise Wrong(f"{words} has something else there. `a.dtype` is the one you need.", case)
    if ill_formed := _ill_formed(got):
        words = "The sources are a tuple of UOps, and `arg` has the form that the op needs."
        if "REDUCE_AXIS" in ill_formed or "RESHAPE" in ill_formed:
            words += " Compare it with the last column of the listing of `a.max()`."
        raise Wrong(f"This isn't a possible node. {words}", case, got=ill_formed)
    made_of = " ".join(_computing(got)) or "nothing"
    raise Wrong(
        _difference(got, expected), case, got=f"{describe(got)}, made of {made_of}",
        graphs=Graphs(got, expected, inputs),
    )  # fmt: skip


def _difference(got: UOp, expected: UOp) -> str:
    """What is different between two graphs, in a sentence."""
    missing, extra = _computing(expected) - _computing(got), _computing(got) - _computing(expected)
    if missing:
        return f"A node is missing from your graph: {', '.join(missing)}."
    if extra:
        return f"Your graph has more nodes than it needs: {', '.join(extra)}."
    if got.op is expected.op:
        for field in ("dtype", "arg"):
            if getattr(got, field) != getattr(expected, field):
                return f"The {got.op.name} has the wrong {field}."
        if set(got.src) == set(expected.src):
            return f"The {got.op.name} has the right sources in the wrong order."
    for mine in got.toposort():
        for asked in expected.toposort():
            is_same_op = (mine.op, mine.arg) == (asked.op, asked.arg) and len(asked.src) > 1
            if is_same_op and mine.src == asked.src[::-1] != asked.src:
                return f"The {mine.op.name} has the right sources in the wrong order."
    for mine, asked in zip(got.toposort(), expected.toposort(), strict=False):
        if (mine.op, mine.src) == (asked.op, asked.src) and mine.src and mine.arg != asked.arg:
            return f"The {mine.op.name} has the wrong arg."
    return "All the nodes are there, but they aren't connected in the right way."


def _computing(graph: UOp) -> Counter[str]:
    """The names of the ops that compute or move, each as often as it occurs."""
    return Counter(u.op.name for u in graph.toposort() if u.src and u.op is not Ops.BUFFER)


def _ill_formed(graph: UOp) -> str:
    """The first node, sources first, of which no shape can be made; "" where there is none."""
    u = graph
    try:
        for u in graph.toposort():
            describe(u)
    except Exception:  # whatever a node of any content leads to
        return f"{getattr(u.op, 'name', u.op)} with the argument {u.arg!r}"
    return ""
