"""Hint: If you have the values of a node's sources, what do you do to get the node's own? In which
order do you have to go, so that you always have them?
Hint: You wrote the order a minute ago. Go through it with a dict from node to values. COMPUTE has
a function for each op but SINK. It takes the node, then the values of each source.
Because: Sources come first, so what a node needs is always there. Each node is computed once,
although it may have many users.
"""

import numpy as np

from classroom.limit import OutOfTime
from classroom.mini.check import Wrong, expect, expect_values, promise, wrong_if
from classroom.mini.functions.part4.shared import DOUBLINGS, buffer, counted, doubled, sink_of


@promise("[1, 2] + [10, 20] is [11, 22]", needs=("UOp.__new__", "UOp.toposort"))
def adds(mini) -> None:
    a, b = buffer(mini, [1, 2]), buffer(mini, [10, 20])
    try:
        got = mini.interpret(sink_of(mini, mini.UOp(mini.Ops.ADD, (a, b))))
    except KeyError as error:
        if error.args != (mini.Ops.SINK,):
            raise
        raise Wrong("COMPUTE has no row for SINK, since the SINK itself has no value. Compute all "
                    "nodes but that one.",
                    "interpret(UOp(Ops.SINK, (a + b,)))") from error  # fmt: skip
    wrong_if(not isinstance(got, (list, tuple)) or len(got) != 1,
             "interpret(sink) should be a list with one array for each source of the SINK.",
             "interpret(UOp(Ops.SINK, (a + b,)))", "[array([11, 22])]", repr(got))  # fmt: skip
    expect_values("interpret(UOp(Ops.SINK, (a + b,)))[0]", got[0], np.array([11, 22]))


@promise("The results come in the order of the SINK's sources",
        needs=("UOp.__new__", "UOp.toposort"))  # fmt: skip
def several(mini) -> None:
    a, b = buffer(mini, [1, 2]), buffer(mini, [10, 20])
    product = mini.UOp(mini.Ops.MUL, (a, b))
    total = mini.UOp(mini.Ops.ADD, (product, a))
    got = mini.interpret(sink_of(mini, total, a, product))
    expect("len(interpret(UOp(Ops.SINK, (a * b + a, a, a * b))))", len(got), 3)
    for values, wanted in zip(got, ([11, 42], [1, 2], [10, 40]), strict=True):
        expect_values("interpret(UOp(Ops.SINK, (a * b + a, a, a * b)))", values, np.array(wanted))


@promise("2^60 from 60 additions, each node computed once", needs=("UOp.__new__", "UOp.toposort"),
         told={OutOfTime: "It computes shared nodes again and again. Keep each node's value, and "
         "go through toposort() once."})  # fmt: skip
def each_once(mini) -> None:
    top = doubled(mini, buffer(mini, [1.0]), DOUBLINGS)
    with counted(mini.COMPUTE, mini.Ops.ADD) as calls:
        (got,) = mini.interpret(sink_of(mini, top))
    expect_values("t after 60 times t = t + t, from [1.0]", got / 2.0**60, np.array([1.0]))
    expect("the number of additions", len(calls), DOUBLINGS)


@promise("Every elementwise op agrees with NumPy", needs=("UOp.__new__", "UOp.toposort"))
def agrees(mini) -> None:
    x, y = np.array([[0.5, 2.0, 3.0]], np.float32), np.array([[1.0, 1.5, 0.25]], np.float32)
    a, b = buffer(mini, x), buffer(mini, y)
    for said, node, wanted in (
        ("a * b + 1", a * b + 1, x * y + 1),
        ("a.recip() * b", a.recip() * b, y / x),
        ("a.maximum(b)", a.maximum(b), np.maximum(x, y)),
        ("(a < b).where(a, 2)", (a < b).where(a, 2), np.where(x < y, x, 2)),
        ("a.exp2() + b.sqrt().log2()", a.exp2() + b.sqrt().log2(), 2**x + np.log2(y) / 2),
    ):
        expect_values(said, mini.interpret(sink_of(mini, node))[0], wanted)

# %% wrong: says It computes shared nodes again and again
def interpret(sink):
    def value(node):
        return COMPUTE[node.op](node, *map(value, node.src))

    return [value(source) for source in sink.src]

# %% wrong, changed: says COMPUTE has no row for SINK
# -     for node in sink.toposort()[:-1]:  # the last one is the SINK
# +     for node in sink.toposort():

# %% wrong: says should be a list with one array for each source of the SINK
def interpret(sink):
    values = {}
    for node in sink.toposort()[:-1]:
        values[node] = COMPUTE[node.op](node, *(values[source] for source in node.src))
    return list(values.values())

# %% right
def interpret(sink):
    known = {}

    def value(node):
        return COMPUTE[node.op](node, *map(known.get, node.src))

    for node in sink.toposort():
        if node is not sink:
            known[node] = value(node)
    return tuple(known[source] for source in sink.src)
