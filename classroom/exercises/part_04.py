"""Part 4, lazy evaluation: what an answer has to do."""

from __future__ import annotations

import random
from typing import Any

from classroom.ask import (
    call,
    count,
    describe,
    fresh_sizes,
    fresh_tensor,
    kernels,
    moves,
    predicts,
    runs_as,
    same_values,
    small_tensor,
    wants,
)
from classroom.exercise import Exercise, Graphs, Wrong
from tinyframe import GlobalCounters, Tensor
from tinyframe.uop import Ops, UOp

TITLE = "Lazy evaluation"

# What overrules the scheduler by hand: an expression that is to come apart by itself has none.
BY_HAND = (Ops.CONTIGUOUS, Ops.COPY, Ops.ASSIGN, Ops.FUSE)


# ---- what the predictions are about, done for real ----------------------------------------------


def kernels_of_a_table() -> int:
    x = fresh_tensor(*fresh_sizes(1))
    before = GlobalCounters.kernel_count
    table = x.reshape(-1, 1) * x.reshape(1, -1)
    _ = (table + 1).shape
    return GlobalCounters.kernel_count - before


def additions_after_doubling() -> int:
    t = Tensor([1.0, 2.0, 3.0])
    for _ in range(60):
        t = t + t
    return len(nodes(t, Ops.ADD))


def kernels_of_a_view() -> int:
    a = Tensor.zeros(6, 8).contiguous().realize()
    return kernels(a.T.flip(0).reshape(2, 24)[:, 4:20].reshape(2, 1, 16).expand(2, 5, 16))


def kernels_of_five() -> tuple[int, ...]:
    a, b = (Tensor.zeros(64, 64).contiguous().realize() for _ in range(2))
    expressions = [
        (a + b).relu().sum(),
        a / a.sum(axis=1, keepdim=True),
        a / a.sum(),
        (a @ b).relu(),
        (a @ b) @ b,
    ]
    return tuple(kernels(e) for e in expressions)


def kernels_of_31_and_32_rows() -> tuple[int, ...]:
    rows = [Tensor.zeros(n, 64).contiguous().realize() for n in (31, 32)]
    return tuple(kernels(a / a.sum(axis=1, keepdim=True)) for a in rows)


def first_numbers_between_changes() -> tuple[int, ...]:
    x = Tensor([1, 2, 3]).realize()
    first = x * 10
    x.assign(x + 1)
    second = x * 10
    tail = x[1:]
    x.assign(x + 1)
    x.realize()
    return tuple(t.tolist()[0] for t in (first, second, tail))


# ---- functions ----------------------------------------------------------------------------------


def nodes(tensor: Tensor, op: Ops) -> list[UOp]:
    """The nodes of an op in the graph of a Tensor, each once."""
    return [u for u in tensor.uop.toposort() if u.op is op]


def count_nodes(answer: Any) -> str:
    """answer(tensor, op): how many nodes of an op a graph has."""
    a, b = fresh_tensor(5), fresh_tensor(5)
    shared = a * b
    cases = [
        ("`a * b + a`, Ops.MUL", a * b + a, Ops.MUL),
        ("`a + b`, Ops.MUL", a + b, Ops.MUL),
        ("`(a * b) + (a * b)`, Ops.MUL", shared + a * b, Ops.MUL),
        ("`a * b + a`, Ops.BUFFER", a * b + a, Ops.BUFFER),
    ]
    for case, tensor, op in cases:
        got = call(answer, tensor, op)
        wants(got, int, "a whole number", case)
        if got != len(nodes(tensor, op)):
            raise Wrong("Another number.", case, len(nodes(tensor, op)), got)
    chain, length = a, random.randint(3, 30)
    for _ in range(length):
        chain = chain * a + b
    if call(answer, chain, Ops.ADD) != length:
        raise Wrong("Another number.", "a long chain `((a * a + b) * a + b) …`, Ops.ADD")
    return "Each node is counted once, however many others use it: a graph, not a tree."


def large_tree(answer: Any) -> str:
    """answer(a): a graph of at most 40 nodes that would be a tree of over a million."""
    tensor = call(answer, fresh_tensor(5))
    wants(tensor, Tensor, "a Tensor")
    leaves: dict[UOp, int] = {}
    for u in tensor.uop.toposort():
        leaves[u] = sum(leaves[s] for s in u.src) if u.src and u.op is not Ops.BUFFER else 1
    found, size = leaves[tensor.uop], len(leaves)
    asked = "at most 40 nodes, and as a tree more than 1000000 leaves"
    if size > 40 or found <= 1_000_000:
        raise Wrong(
            "Not yet." if size <= 40 else "The graph is too large.",
            expected=asked,
            got=f"{count(size, 'node')}, {found if found < 10**9 else 'over 10^9'} leaves",
        )
    return (
        "Sharing is what keeps a graph small: written out, this one would be over a million terms."
    )


def multiply_add(answer: Any) -> str:
    """answer(a, b): the graph of a * b + a, made of UOps."""
    a, b = fresh_tensor(5), fresh_tensor(5)
    got = call(answer, a.uop, b.uop)
    wants(got, UOp, "a UOp")
    _same_graph(got, (a * b + a).uop, "`a * b + a`", a=a, b=b)
    return "It is not only equal to what `a * b + a` builds: it is that very object."


def dot_product(answer: Any) -> str:
    """answer(a, b): the graph of (a * b).sum(), made of UOps."""
    for n in (5, *fresh_sizes(1)):
        a, b = fresh_tensor(n), fresh_tensor(n)
        got = call(answer, a.uop, b.uop)
        wants(got, UOp, "a UOp")
        case = "`(a * b).sum()`" if n == 5 else "another length"
        _same_graph(got, (a * b).sum().uop, case, a=a, b=b)
    return "A dot product is three nodes: what Tensor's methods do is build nodes, nothing else."


def _same_graph(got: UOp, expected: UOp, case: str, **inputs: Tensor) -> None:
    if got is expected:
        return
    if ill_formed := _ill_formed(got):
        words = "sources are a tuple of UOps, and an argument has the form that its op needs."
        raise Wrong(f"The parts of this node do not fit: {words}", case, got=ill_formed)
    text = "Your graph is not the one that was asked for."
    if got.op is expected.op:
        differing = [f for f in ("dtype", "arg") if getattr(got, f) != getattr(expected, f)]
        if differing:
            text = f"The last node has the right op, and another {differing[0]}."
        elif set(got.src) == set(expected.src):
            text = "The last node has the right sources, in another order."
    found = dict.fromkeys(u.op.name for u in got.toposort() if u.src and u.op is not Ops.BUFFER)
    made_of = f"{describe(got)}, made of {' '.join(found) or 'nothing'}"
    raise Wrong(text, case, got=made_of, graphs=Graphs(got, expected, inputs))


def _ill_formed(graph: UOp) -> str:
    """The first node, sources first, of which no shape can be made; "" where there is none."""
    u = graph
    try:
        for u in graph.toposort():
            describe(u)
    except Exception:  # whatever a node of any content leads to
        return f"{getattr(u.op, 'name', u.op)} with the argument {u.arg!r}"
    return ""


def bytes_touched(answer: Any) -> str:
    """answer(items): the bytes of all buffers that a schedule's items name, item by item."""
    n, m = fresh_sizes(2)
    cases = [
        ("`(a + b).sum()`, a and b of 5 floats", lambda: (fresh_tensor(5) + fresh_tensor(5)).sum()),
        ("`a / a.sum()`, a of 5 floats: two items", lambda: (a := fresh_tensor(5)) / a.sum()),
        ("", lambda: fresh_tensor(n, m).sum(axis=1)),
    ]
    for case, make in cases:
        items = make().schedule()
        expected = sum(buf.size * buf.dtype.itemsize for item in items for buf in item.bufs)
        got = call(answer, items)
        wants(got, int, "a whole number of bytes", case)
        if got != expected:
            shown = (case, expected, got) if case else ("a sum over rows of another size",)
            raise Wrong("Another number of bytes.", *shown)
    return "A schedule knows all memory that will be read and written before a single byte is."


def anti_transpose(answer: Any) -> str:
    """answer(a): a mirrored on its other diagonal, without a kernel."""
    moves(answer, lambda a: a[::-1, ::-1].T, "a")
    return "Not one number was moved: each is found in another order by arithmetic on indices."


def cut_in_two(answer: Any) -> str:
    """answer(a): the values of a * 2 + 1, in two kernels."""
    for a in (small_tensor(2, 2), fresh_tensor(*fresh_sizes(2))):
        case = "`a = [[1, 2], [3, 4]]`" if a.numel() == 4 else "another shape"
        before = GlobalCounters.kernel_count
        got = call(answer, a)
        wants(got, Tensor, "a Tensor", case)
        if GlobalCounters.kernel_count > before:
            raise Wrong("A kernel ran already: return a plan of two, and realize none.", case)
        runs_as(got, 2, case)
        same_values(got, a.numpy() * 2 + 1, case, shown=a.numel() == 4)
    return "The values are the same; what is stored between is written once and read once more."


def one_less(answer: Any) -> str:
    """answer(a): the values of a.sum(0) / a.sum(0).sum(), in two kernels."""
    a = fresh_tensor(*fresh_sizes(2))
    case = "`a.sum(axis=0) / a.sum(axis=0).sum()`"
    got = call(answer, a)
    wants(got, Tensor, "a Tensor", case)
    if any(u.op in BY_HAND for u in got.uop.toposort()):
        raise Wrong("Nothing has to be stored, or fused, by hand here.", case)
    runs_as(got, 2, case)
    sums = a.numpy().sum(0)
    same_values(got, sums / sums.sum(), case, shown=False)
    return (
        "Fusion takes the formula as you wrote it, and does not look for another. That part is "
        "yours."
    )


def exactly_three(answer: Any) -> str:
    """answer(a): any expression of a square a that becomes three kernels by itself."""
    (n,) = fresh_sizes(1)
    _designed(call(answer, fresh_tensor(n, n)), 3, "a square `a` of more than 32 rows")
    return "Three kernels, and each of the two cuts has a reason that you can name."


def any_number(answer: Any) -> str:
    """answer(a, n): an expression of a square a that becomes n kernels by itself."""
    (size,) = fresh_sizes(1)
    for n in (1, 2, 3, random.randint(4, 7)):
        tensor = call(answer, fresh_tensor(size, size), n)
        _designed(tensor, n, f"n = {n}" if n <= 3 else "a larger n")
    return "Kernel counts are no accident: you can say beforehand what an expression becomes."


def _designed(tensor: Any, wanted: int, case: str) -> None:
    """Wrong unless a Tensor becomes so many kernels, with nothing stored by hand."""
    wants(tensor, Tensor, "a Tensor", case)
    ops = {u.op for u in tensor.uop.toposort()}
    if Ops.THREEFRY in ops:
        raise Wrong("Random numbers bring kernels of their own.", case)
    if forced := sorted(op.name for op in ops.intersection(BY_HAND)):
        raise Wrong(f"It says {forced[0]}: it has to come apart by itself.", case)
    runs_as(tensor, wanted, case)


EXERCISES = (
    Exercise(
        "4.1",
        "lazy-table-kernels",
        "How many kernels have run",
        predicts(kernels_of_a_table),
        (
            "Did anybody ask for a number?",
            "A shape is known without its values. What else does the cell look at?",
        ),
        shown_by="the next cell",
    ),
    Exercise(
        "4.2",
        "lazy-count-nodes",
        "Count the nodes of an op",
        count_nodes,
        (
            "What do you have to ask each node that `tensor.uop.toposort()` gives?",
            "Go through them, and count those whose `.op is op`.",
        ),
    ),
    Exercise(
        "4.3",
        "lazy-doubling",
        "How many ADD nodes after 60 doublings",
        predicts(additions_after_doubling),
        (
            "What are the two sources of `t + t`?",
            "Each turn of the loop makes one new node, and uses one old node twice.",
        ),
        shown_by="the next cell",
    ),
    Exercise(
        "4.4",
        "lazy-large-tree",
        "A small graph that is a large tree",
        large_tree,
        (
            "Each time that a value is used twice, the tree below it counts twice.",
            "A loop: how often does a number double until it is above a million?",
        ),
    ),
    Exercise(
        "4.5",
        "lazy-multiply-add",
        "Build `a * b + a` from UOps",
        multiply_add,
        (
            "`UOp(op, dtype, sources)`: the sources are a tuple of UOps.",
            "First the product, `UOp(Ops.MUL, a.dtype, (a, b))`. It is a source of the ADD.",
        ),
    ),
    Exercise(
        "4.6",
        "lazy-dot-product",
        "Build `(a * b).sum()` from UOps",
        dot_product,
        (
            "Print `summary` of what `(a * b).sum()` builds, and read it from the top.",
            "Three nodes: MUL; REDUCE_AXIS, whose arg is `(Ops.ADD, (0,))`; RESHAPE, whose arg is "
            "the shape `()`.",
        ),
    ),
    Exercise(
        "4.7",
        "lazy-bytes-touched",
        "Bytes of a schedule",
        bytes_touched,
        (
            "Two loops, one inside the other: items, and each item's `bufs`.",
            "A Buffer has a `size` in elements, and `nbytes`.",
        ),
    ),
    Exercise(
        "4.8",
        "lazy-view-kernels",
        "Kernels of a chain of movements",
        predicts(kernels_of_a_view),
        (
            "Which of these methods computes a new number?",
            "If only places change, what is there for a kernel to do?",
        ),
        shown_by="the next cell",
    ),
    Exercise(
        "4.9",
        "lazy-anti-transpose",
        "Mirrored on the other diagonal, without a kernel",
        anti_transpose,
        (
            "On paper: where does the number in the bottom right corner go? And in the top right?",
            "Both axes reversed (`flip`), and then rows and columns exchanged.",
        ),
    ),
    Exercise(
        "4.10",
        "lazy-five-counts",
        "Kernels of five expressions",
        predicts(kernels_of_five),
        (
            "For each: is there a reduce whose result is needed inside another loop?",
            "A row's sum is complete before the row is divided. The whole sum is complete only "
            "at the very end. And of a product that is needed 64 times?",
        ),
        shown_by="the next cell",
    ),
    Exercise(
        "4.11",
        "lazy-31-and-32-rows",
        "31 rows, 32 rows",
        predicts(kernels_of_31_and_32_rows),
        (
            "One of the reasons in the list above is about how much there is to do side by side.",
            "How many independent sums are there, and how many does the rule want?",
        ),
        shown_by="the next cell",
    ),
    Exercise(
        "4.12",
        "lazy-cut-in-two",
        "Break fusion on purpose",
        cut_in_two,
        (
            "Which method says: have this in memory?",
            "`contiguous()`, on what lies between the two operations.",
        ),
    ),
    Exercise(
        "4.13",
        "lazy-old-values-and-views",
        "What was written down between two changes",
        predicts(first_numbers_between_changes),
        (
            "Which graph did `x` refer to when `first` was written down? And when `second` was? "
            "`assign` does not touch a graph that is there already.",
            "`x * 10` is computed, so it has a storage of its own. `x[1:]` is a slice and shares "
            "the storage of `x`. Which of them can see what `x` refers to in the end?",
        ),
        shown_by="the next cell",
    ),
    Exercise(
        "4.14",
        "lazy-one-less",
        "The same values, one kernel less",
        one_less,
        (
            "Why are there three? Ask `why`.",
            "The sum of the columns' sums is the sum of everything. Who then still needs "
            "`a.sum(axis=0)` twice?",
        ),
    ),
    Exercise(
        "4.15",
        "lazy-exactly-three",
        "Exactly three kernels",
        exactly_three,
        (
            "Of the three columns that you predicted above, two stay where they are. Which grows?",
            "The third division by rows and columns in turns has three. So has a third product.",
        ),
    ),
    Exercise(
        "4.16",
        "lazy-any-number",
        "Exactly n kernels",
        any_number,
        (
            "Find a step that always adds one kernel to what is there.",
            "One step: a matrix product. Or a sum along the other axis than the step before.",
        ),
    ),
)
