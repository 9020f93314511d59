"""What several exercises of this lesson need."""

from collections import Counter

from classroom.ask import Wrong, call, describe, wants
from classroom.by_hand import building, others
from classroom.exercise import Graphs
from tinyframe import Tensor
from tinyframe.dtype import DType
from tinyframe.uop import Ops, UOp


def nodes(tensor: Tensor, op: Ops) -> list[UOp]:
    """The nodes of an op in the graph of a Tensor, each once."""
    return [u for u in tensor.uop.toposort() if u.op is op]


def _build(answer, a: Tensor, b: Tensor) -> tuple[UOp, set[UOp]]:
    """What the answer builds of two UOps, and the nodes that it built by hand."""
    try:
        with building() as built:
            got = call(answer, a.uop, b.uop)
    except TypeError as error:
        if str(error) not in ("unhashable type: 'list'", "'UOp' object is not iterable"):
            raise
        what = "a list" if "list" in str(error) else "a UOp without a comma after it"
        raise Wrong("The sources of a node have to be a tuple, `(a, b)`, or `(a,)` for a single "
                    "one. There is no list in an argument, either: it's `(Ops.MAX, (0,))`, for "
                    "example.", expected="tuples", got=what) from error  # fmt: skip
    wants(got, UOp, "a UOp")
    return got, built


def _by_hand(graph: UOp, built: set[UOp], *inputs: Tensor) -> None:
    """Wrong where an operator or a method built a part of the graph."""
    if found := others(graph, built, *[t.uop for t in inputs]):
        names = ", ".join(dict.fromkeys(u.op.name for u in found))
        raise Wrong("This is the right graph, but not all of it is built by hand. Write a `UOp(…)` "
                    "for each node.", got=f"{names}: built by an operator or a method")  # fmt: skip


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
    raise Wrong(_difference(got, expected), case, got=f"{describe(got)}, made of {made_of}",
                graphs=Graphs(got, expected, inputs))  # fmt: skip


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
