"""Stage 4: the node that exists once, the order of a graph, and what computes it."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from classroom.exercise import Wrong
from classroom.limit import OutOfTime
from classroom.mini.check import (
    EXACT,
    Checks,
    describe,
    expect,
    expect_values,
    is_close,
    shown,
)

checks = Checks()

DOUBLINGS = 60
DEEP = 20_000  # Python lets functions call themselves about 1,000 deep


def constant(mini: Any, value: Any) -> Any:
    return mini.UOp(mini.Ops.CONST, (), value)


def doubled(mini: Any, node: Any, times: int) -> Any:
    for _ in range(times):
        node = mini.UOp(mini.Ops.ADD, (node, node))
    return node


# ---- UOp -----------------------------------------------------------------------------------------

NO_FIELDS = "Set the `op`, `src` and `arg` of a node before you return it."


@checks("UOp.__new__", "A node knows its op, src and arg")
def fields(mini: Any) -> None:
    try:
        a = constant(mini, 2.0)
    except AttributeError as error:
        if error.name not in ("op", "src", "arg"):
            raise
        raise Wrong(NO_FIELDS, "UOp(Ops.CONST, (), 2.0)") from error
    if not isinstance(a, mini.UOp):
        raise Wrong("UOp(Ops.CONST, (), 2.0) should give a node. Is there a `return`?",
                    expected="a UOp", got=repr(a))  # fmt: skip
    total = mini.UOp(mini.Ops.ADD, (a, a))
    expect("UOp(Ops.CONST, (), 2.0).arg", a.arg, 2.0)
    if total.op is not mini.Ops.ADD or total.src != (a, a) or total.arg is not None:
        raise Wrong(NO_FIELDS, "UOp(Ops.ADD, (a, a))", "op=Ops.ADD, src=(a, a), arg=None",
                    f"op={total.op}, src={total.src}, arg={total.arg}")  # fmt: skip


@checks("UOp.__new__", "Built again, it is the same object")
def built_again(mini: Any) -> None:
    one, other = constant(mini, 2.0), constant(mini, 2.0)
    if one is not other:
        raise Wrong("There are two nodes for the same constant. Look in the table before you make "
                    "a new one, and put every new one in.", "UOp(Ops.CONST, (), 2.0), twice",
                    "one object", "two objects")  # fmt: skip
    if mini.UOp(mini.Ops.ADD, (one, one)) is not mini.UOp(mini.Ops.ADD, (other, other)):
        raise Wrong("Equal constants are one node now, but equal ADDs are two.",
                    "UOp(Ops.ADD, (a, a)), twice", "one object", "two objects")  # fmt: skip


@checks("UOp.__new__", "Different op, src or arg: a different node")
def told_apart(mini: Any) -> None:
    UOp, Ops = mini.UOp, mini.Ops
    a, b = constant(mini, 2.0), constant(mini, 3.0)
    below = UOp(Ops.ADD, (a, b)), UOp(Ops.ADD, (b, a))
    memory = UOp(Ops.BUFFER, (), mini.Buffer([1.0])), UOp(Ops.BUFFER, (), mini.Buffer([1.0]))
    for what, one, other in (
        ("arg", a, b),
        ("op", UOp(Ops.ADD, (a, a)), UOp(Ops.MUL, (a, a))),
        ("src", *below),
        ("src", *(UOp(Ops.SQRT, (node,)) for node in below)),
        ("arg", *memory),
    ):
        if one is other:
            raise Wrong(f"Two nodes with a different `{what}` became one. Is `{what}` part of the "
                        "key?", expected="two objects", got="one object")  # fmt: skip


@checks("UOp.__new__", "Constants that Python calls equal are told apart; so are -1.0 and -2.0")
def kinds_told_apart(mini: Any) -> None:
    if constant(mini, -1.0) is constant(mini, -2.0):
        raise Wrong(
            "-1.0 and -2.0 became the same node: their `hash` is the same. Different values may "
            "share a hash, so a key holds the values themselves.",
            "UOp(Ops.CONST, (), -1.0) and UOp(Ops.CONST, (), -2.0)", "two objects", "one object",
        )  # fmt: skip
    for one, other in ((2, 2.0), (1, True), (1.0, True)):
        if constant(mini, one) is constant(mini, other):
            raise Wrong(
                f"{one} and {other} became the same node. In Python {one} == {other}, so as keys "
                "of a table they are equal. The key needs the type of arg as well.",
                f"UOp(Ops.CONST, (), {one}) and UOp(Ops.CONST, (), {other})",
                "two objects", "one object",
            )  # fmt: skip
    zeros = constant(mini, 0.0), constant(mini, -0.0)
    if zeros[0] is zeros[1]:
        raise Wrong(
            "0.0 and -0.0 became the same node. In Python they are equal, but 1 / 0.0 is infinity "
            "and 1 / -0.0 is minus infinity. What is different about them when you print them?",
            "UOp(Ops.CONST, (), 0.0) and UOp(Ops.CONST, (), -0.0)", "two objects", "one object",
        )  # fmt: skip
    nan = constant(mini, float("nan"))
    if nan.arg == nan.arg or nan is zeros[0] or constant(mini, float("inf")) is nan:
        raise Wrong("NaN became the same node as a different number.", "UOp(Ops.CONST, (), nan)",
                    "a node with arg nan", f"arg {nan.arg}")  # fmt: skip


@checks("UOp.__new__", "The table lets go of a node that nobody uses")
def forgotten(mini: Any) -> None:
    node = constant(mini, 1234.5)
    if node not in mini.UOp.table.values():
        raise Wrong("A new node is not in `UOp.table`.", "UOp(Ops.CONST, (), 1234.5)")
    last = weakref.ref(node)
    del node
    gc.collect()
    if last() is not None:
        is_weak = isinstance(mini.UOp.table, weakref.WeakValueDictionary)
        raise Wrong(
            "Nobody uses this node any more, but something keeps it alive: "
            + ("not the table, but a second place that holds it." if is_weak else "`UOp.table`.")
            + ("" if is_weak else " A `WeakValueDictionary` would let go."),
            "UOp(Ops.CONST, (), 1234.5), then `del`",
        )


# ---- toposort ------------------------------------------------------------------------------------


EVERY_PATH = (
    "This follows every path, and there are 2^60 of them. Visit each node once, however many users "
    "it has."
)


def expect_order(said: str, got: Any, names: dict[Any, str]) -> None:
    """Wrong unless these are the nodes, each after its sources. names: of the nodes, in a right
    order."""
    if isinstance(got, dict):
        turned = "`list(your_dict)` turns it into one."
        raise Wrong(f"{said} should be a list, and yours is a dict. {turned}", said)
    if not isinstance(got, (list, tuple)):
        raise Wrong(f"{said} should be a list.", said, "a list", type(got).__name__)
    wanted, place = list(names), {node: n for n, node in enumerate(got)}
    for is_so, sentence in (
        (len(place) < len(got), "A node comes more than once. Remember which nodes are done."),
        (wanted[-1] not in place, "The node itself is missing. It comes last."),
        (not set(wanted) <= set(got), "Some nodes are missing."),
        (len(got) > len(wanted), "There are nodes in it that aren't below this one."),
        (any(place.get(s, 0) > n for u, n in place.items() for s in u.src),
         "A node comes before one of its sources, so it can't be computed yet."),
    ):  # fmt: skip
        if is_so:
            in_words = ", ".join(names.get(u, "?") for u in got)
            raise Wrong(sentence, said, f"[{', '.join(names.values())}]", f"[{in_words}]")


def visited(node: Any) -> list[Any]:
    """A right order, for small graphs."""
    order: dict[Any, None] = {}

    def visit(node: Any) -> None:
        for source in node.src:
            if source not in order:
                visit(source)
        order[node] = None

    visit(node)
    return list(order)


@checks(
    "UOp.toposort", "For d = a * b + a: every node once, after its sources", needs=("UOp.__new__",)
)
def small_graph(mini: Any) -> None:
    UOp, Ops = mini.UOp, mini.Ops
    a, b = constant(mini, 2.0), constant(mini, 3.0)
    c = UOp(Ops.MUL, (a, b))
    d = UOp(Ops.ADD, (c, a))
    expect_order("d.toposort()", d.toposort(), {a: "a", b: "b", c: "c", d: "d"})
    expect_order("a.toposort()", a.toposort(), {a: "a"})


@checks(
    "UOp.toposort",
    "61 nodes, although 2^60 paths lead through them",
    needs=("UOp.__new__",),
    told={OutOfTime: EVERY_PATH, MemoryError: EVERY_PATH},
)
def nodes_not_paths(mini: Any) -> None:
    order = doubled(mini, constant(mini, 1.0), DOUBLINGS).toposort()
    expect("len(t.toposort()) after 60 times t = t + t", len(order), DOUBLINGS + 1)


@checks(
    "UOp.toposort",
    "A chain of 20,000 nodes",
    needs=("UOp.__new__",),
    told={
        RecursionError: "The function calls itself, and this chain is deeper than Python allows. "
                        "Keep a list of the nodes that are waiting instead.",
        OutOfTime: "20,000 nodes take too long. `node in some_list` searches the whole list. "
                   "A dict or a set finds a node right away.",
    },
)  # fmt: skip
def deep(mini: Any) -> None:
    node = constant(mini, 1.0)
    for _ in range(DEEP):
        node = mini.UOp(mini.Ops.SQRT, (node,))
    expect("len(chain.toposort())", len(node.toposort()), DEEP + 1)


@checks("UOp.toposort", "A right order for 200 random graphs", needs=("UOp.__new__",))
def graphs_by_chance(mini: Any) -> None:
    dice = random.Random(0)
    for _ in range(200):
        nodes = [constant(mini, float(n)) for n in range(3)]
        for _ in range(dice.randrange(1, 10)):
            op = dice.choice((mini.Ops.ADD, mini.Ops.MUL, mini.Ops.MAX))
            nodes.append(mini.UOp(op, (dice.choice(nodes), dice.choice(nodes))))
        wanted = visited(nodes[-1])
        names = {u: str(u.arg) if not u.src else f"{u.op.name}{n}" for n, u in enumerate(wanted)}
        expect_order("toposort() of a random graph", nodes[-1].toposort(), names)


# ---- interpret -----------------------------------------------------------------------------------


def sink_of(mini: Any, *nodes: Any) -> Any:
    return mini.UOp(mini.Ops.SINK, nodes)


def buffer(mini: Any, values: Any) -> Any:
    return mini.UOp(mini.Ops.BUFFER, (), mini.Buffer(values))


@contextmanager
def counted(table: dict[Any, Any], row: Any) -> Iterator[list[int]]:
    """Counts how often a row of a table is used: the list has a 1 for each time."""
    function, calls = table[row], []

    def count(*arguments: Any) -> Any:
        calls.append(1)
        return function(*arguments)

    table[row] = count
    try:
        yield calls
    finally:
        table[row] = function


@checks("interpret", "[1, 2] + [10, 20] is [11, 22]", needs=("UOp.__new__", "UOp.toposort"))
def adds(mini: Any) -> None:
    a, b = buffer(mini, [1, 2]), buffer(mini, [10, 20])
    try:
        got = mini.interpret(sink_of(mini, mini.UOp(mini.Ops.ADD, (a, b))))
    except KeyError as error:
        if error.args != (mini.Ops.SINK,):
            raise
        raise Wrong(
            "COMPUTE has no row for SINK, since the SINK itself has no value. Compute all "
            "nodes but that one.",
            "interpret(UOp(Ops.SINK, (a + b,)))",
        ) from error
    if not isinstance(got, (list, tuple)) or len(got) != 1:
        raise Wrong(
            "interpret(sink) should be a list with one array for each source of the SINK.",
            "interpret(UOp(Ops.SINK, (a + b,)))",
            "[array([11, 22])]",
            repr(got),
        )
    expect_values("interpret(UOp(Ops.SINK, (a + b,)))[0]", got[0], np.array([11, 22]))


@checks("interpret", "The results come in the order of the SINK's sources",
        needs=("UOp.__new__", "UOp.toposort"))  # fmt: skip
def several(mini: Any) -> None:
    a, b = buffer(mini, [1, 2]), buffer(mini, [10, 20])
    product = mini.UOp(mini.Ops.MUL, (a, b))
    total = mini.UOp(mini.Ops.ADD, (product, a))
    got = mini.interpret(sink_of(mini, total, a, product))
    expect("len(interpret(UOp(Ops.SINK, (a * b + a, a, a * b))))", len(got), 3)
    for values, wanted in zip(got, ([11, 42], [1, 2], [10, 40]), strict=True):
        expect_values("interpret(UOp(Ops.SINK, (a * b + a, a, a * b)))", values, np.array(wanted))


@checks(
    "interpret",
    "2^60 from 60 additions, each node computed once",
    needs=("UOp.__new__", "UOp.toposort"),
    told={OutOfTime: "It computes shared nodes again and again. Keep each node's value, and go "
                     "through toposort() once."},
)  # fmt: skip
def each_once(mini: Any) -> None:
    top = doubled(mini, buffer(mini, [1.0]), DOUBLINGS)
    with counted(mini.COMPUTE, mini.Ops.ADD) as calls:
        (got,) = mini.interpret(sink_of(mini, top))
    expect_values("t after 60 times t = t + t, from [1.0]", got / 2.0**60, np.array([1.0]))
    expect("the number of additions", len(calls), DOUBLINGS)


@checks(
    "interpret", "Every elementwise op agrees with NumPy", needs=("UOp.__new__", "UOp.toposort")
)
def agrees(mini: Any) -> None:
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


# ---- Tensor --------------------------------------------------------------------------------------

ALL_BELOW = ("UOp.__new__", "UOp.toposort", "interpret")
NO_BUFFER = "The arg of a BUFFER node has to be a Buffer, made from the values."


@contextmanager
def no_array_for_a_buffer(said: str) -> Iterator[None]:
    """An array can't be part of a key, and Python's words for that help nobody here."""
    try:
        yield
    except TypeError as error:
        if "unhashable type: 'numpy.ndarray'" not in str(error):
            raise
        raise Wrong(NO_BUFFER, said, "a Buffer", "a NumPy array") from error


@checks("Tensor", "It is made from numbers or from a node, and has the node's shape",
        needs=ALL_BELOW)  # fmt: skip
def holds_a_node(mini: Any) -> None:
    with no_array_for_a_buffer("Tensor([[1, 2, 3]])"):
        mini.Tensor([[1, 2, 3]])
    for said, data, wanted in (
        ("Tensor([[1, 2, 3]])", [[1, 2, 3]], [[1, 2, 3]]),
        ("Tensor(5)", 5, 5),
        ("Tensor(node)", buffer(mini, [7.0]), [7.0]),
    ):
        t = mini.Tensor(data)
        if not isinstance(getattr(t, "uop", None), mini.UOp):
            raise Wrong(f"{said} should have a node, `uop`.", f"{said}.uop", "a UOp",
                        describe(getattr(t, "uop", None)))  # fmt: skip
        if isinstance(data, mini.UOp) and t.uop is not data:
            raise Wrong("Tensor(node) should hold that node, and no other.", f"{said}.uop is node",
                        True, False)  # fmt: skip
        if t.uop.op is not mini.Ops.BUFFER or not isinstance(t.uop.arg, mini.Buffer):
            raise Wrong(NO_BUFFER, f"{said}.uop", "a BUFFER with a Buffer", describe(t.uop))
        if callable(t.shape):
            raise Wrong("`shape` is a method. With @property above its def, you don't need "
                        "brackets.", f"{said}.shape", np.shape(wanted))  # fmt: skip
        expect(f"{said}.shape", tuple(t.shape), np.shape(wanted))
        expect_values(f"{said}.uop.arg.data", t.uop.arg.data, np.array(wanted))
    expression = mini.Tensor(buffer(mini, [[1.0, 2.0]]) * 2)
    expect("(t * 2).shape, where t has the shape (1, 2)", tuple(expression.shape), (1, 2))
    if expression.uop.op is not mini.Ops.MUL:
        raise Wrong("Tensor(node) computed its node at once. It should wait for realize().",
                    "Tensor(node).uop.op", "MUL", expression.uop.op.name)  # fmt: skip


@checks("Tensor", "An expression becomes a BUFFER with its values", needs=ALL_BELOW)
def becomes_a_buffer(mini: Any) -> None:
    t = mini.Tensor([1.0, 2.0]) * 3
    expect("(Tensor([1, 2]) * 3).uop.op", t.uop.op.name, "MUL")
    with no_array_for_a_buffer("t = Tensor([1, 2]) * 3; t.realize()"):
        returned = t.realize()
    if t.uop.op is not mini.Ops.BUFFER:
        raise Wrong("After t.realize(), t.uop is still an expression. Give t a new `uop`: a "
                    "BUFFER whose arg is a Buffer with the values.",
                    "t = Tensor([1, 2]) * 3; t.realize()", "BUFFER", t.uop.op.name)  # fmt: skip
    expect_values("t.uop.arg.data", t.uop.arg.data, np.array([3.0, 6.0]))
    if returned is not t:
        raise Wrong("t.realize() should return t itself.", "t.realize() is t", True, False)


@checks("Tensor", "t.numpy() is the array of its values, computed if need be", needs=ALL_BELOW)
def gives_numbers(mini: Any) -> None:
    for said, t, wanted in (
        ("Tensor([1, 2]).numpy()", mini.Tensor([1, 2]), [1, 2]),
        ("(Tensor([1, 2]) * 3).numpy()", mini.Tensor([1, 2]) * 3, [3, 6]),
        ("(Tensor(5) + 1).numpy()", mini.Tensor(5) + 1, 6),
    ):
        expect_values(said, t.numpy(), np.array(wanted))
        if t.uop.op is not mini.Ops.BUFFER:
            raise Wrong("t.numpy() computed the values and left t an expression, so the next one "
                        "would compute them again. It realizes t.", said)  # fmt: skip


@checks("Tensor", "What is realized is never computed again", needs=ALL_BELOW)
def never_again(mini: Any) -> None:
    t = (mini.Tensor([1.0]) + 1).realize()
    before = t.uop
    with counted(mini.COMPUTE, mini.Ops.ADD) as calls:
        t.realize()
        t.realize(mini.Tensor([5.0]) + 1)
        t.numpy()
    if t.uop is not before:
        raise Wrong(
            "This Tensor had a BUFFER already, and got a new one. Leave such Tensors alone.",
            "t.realize(); t.realize()",
            "the same BUFFER",
            "a different BUFFER",
        )
    expect("the number of additions for the other Tensor", len(calls), 1)


@checks("Tensor", "Several at once share their work", needs=ALL_BELOW)
def share(mini: Any) -> None:
    shared = mini.Tensor([4.0]).sqrt()
    a, b = shared + 1, shared * 10
    with counted(mini.COMPUTE, mini.Ops.SQRT) as calls:
        a.realize(b)
    for name, tensor, wanted in (("a", a, [3.0]), ("b", b, [20.0])):
        if tensor.uop.op is not mini.Ops.BUFFER:
            raise Wrong(f"a.realize(b) left {name} an expression.", "a.realize(b)")
        expect_values(f"{name}, after a.realize(b)", tensor.uop.arg.data, np.array(wanted))
    if len(calls) > 1:
        raise Wrong("The square root that both use was computed more than once. Put all "
                    "expressions into one SINK, and run that.",
                    "s = t.sqrt(); a = s + 1; b = s * 10; a.realize(b)",
                    "1 SQRT", f"{len(calls)} SQRT")  # fmt: skip


@checks("Tensor", "Nothing is computed before realize()", needs=ALL_BELOW)
def nothing_before(mini: Any) -> None:
    with counted(mini.COMPUTE, mini.Ops.ADD) as calls:
        t = mini.Tensor([1.0]) + mini.Tensor([2.0])
        expect("the number of additions before realize()", len(calls), 0)
        expect_values("t.numpy()", t.numpy(), np.array([3.0]))


@checks("Tensor", "Whatever Tensor.run is, it computes", needs=ALL_BELOW)
def hook(mini: Any) -> None:
    t, run = mini.Tensor([1.0]) + 1, mini.Tensor.run
    mini.Tensor.run = staticmethod(lambda sink: [np.array([42.0]) for _ in sink.src])
    try:
        got = t.numpy()
    finally:
        mini.Tensor.run = staticmethod(run)
    expect_values("t.numpy(), where Tensor.run always gives [42]", got, np.array([42.0]), (
        ([2.0], "You called `interpret`. Call Tensor.run, which stage 8 will replace."),
    ))  # fmt: skip


# ---- operators without an op ---------------------------------------------------------------------

DERIVED = "__neg__ __sub__ __rsub__ __truediv__ __rtruediv__ __gt__ eq relu exp log".split()
SHORT = "This has too few digits: {} is {:.7f} to seven, and `math` has all of them."

X = np.array([-3.0, -0.5, 0.0, 1.0, 2.5], np.float32)
Y = np.array([-3.0, 0.5, 1.0, -4.0, 2.0], np.float32)
POSITIVE = np.array([0.25, 1.0, 3.0], np.float32)
# how it is written, what it does, what NumPy does, and mistakes
OPERATIONS: tuple[tuple[str, str, Any, Any, tuple[tuple[Any, str], ...]], ...] = (
    ("__neg__", "-x", lambda x, y: -x, -X, ()),
    ("__sub__", "x - y", lambda x, y: x - y, X - Y, (
        (Y - X, "This is y - x."),)),
    ("__sub__", "x - 1", lambda x, y: x - 1, X - 1, ()),
    ("__rsub__", "1 - x", lambda x, y: 1 - x, 1 - X, (
        (X - 1, "This is x - 1. Python calls x.__rsub__(1) for 1 - x."),)),
    ("__truediv__", "x / y", lambda x, y: x / y, X / Y, ()),
    ("__truediv__", "x / 4", lambda x, y: x / 4, X / 4, ()),
    ("__rtruediv__", "6 / y", lambda x, y: 6 / y, 6 / Y, (
        (Y / 6, "This is y / 6. Python calls y.__rtruediv__(6) for 6 / y."),)),
    ("__gt__", "x > y", lambda x, y: x > y, (X > Y) * 1.0, (
        ((X >= Y) * 1.0, "Where the two are equal, it says 1. That's >=."),
        ((X < Y) * 1.0, "This is x < y."))),
    ("__gt__", "x > 0", lambda x, y: x > 0, (X > 0) * 1.0, ()),
    ("eq", "x.eq(y)", lambda x, y: x.eq(y), (X == Y) * 1.0, (
        ((X != Y) * 1.0, "This is 1 where they differ."),
        ((X >= Y) * 1.0, "This is x >= y: equal means that neither is smaller."),
        ((X <= Y) * 1.0, "This is x <= y: equal means that neither is smaller."))),
    ("eq", "x.eq(1)", lambda x, y: x.eq(1), (X == 1) * 1.0, ()),
    ("relu", "x.relu()", lambda x, y: x.relu(), np.maximum(X, 0), (
        (np.minimum(X, 0), "This keeps the negative ones."),
        (np.abs(X), "This is the absolute value."),
        ((X > 0) * 1.0, "This says only where x is positive."))),
    ("exp", "x.exp()", lambda x, y: x.exp(), np.exp(X), (
        (2**X, "This is 2**x. In e**x = 2**(x * something), what is the something?"),
        (np.exp2(X * np.log(2)), "The factor is upside down: log2(e), and not ln(2)."),
        (np.exp2(X * 1.4427), SHORT.format("log2(e)", np.log2(np.e))),
        (np.exp2(X * 1.443), SHORT.format("log2(e)", np.log2(np.e))),
        (np.exp2(X * 1.44), SHORT.format("log2(e)", np.log2(np.e))))),
    ("log", "x.log()", lambda x, y: x.log(), np.log(POSITIVE), (
        (np.log2(POSITIVE), "This is the logarithm to base 2."),
        (np.log2(POSITIVE) / np.log(2), "You divided by ln(2). log2 is the larger one: multiply."),
        (np.log2(POSITIVE) * 0.6931, SHORT.format("ln(2)", np.log(2))),
        (np.log2(POSITIVE) * 0.693, SHORT.format("ln(2)", np.log(2))))),
)  # fmt: skip


def derived(mini: Any, operations: Any) -> None:
    missing = [name for name in DERIVED if name not in vars(mini.Derived)]
    if missing:
        raise Wrong(f"There is no `{missing[0]}` in Derived"
                    + (f", and {len(missing) - 1} more are missing." if missing[1:] else "."),
                    f"x.{missing[0]}")  # fmt: skip
    for name, said, f, wanted, mistakes in operations:
        x, y = buffer(mini, POSITIVE if name == "log" else X), buffer(mini, Y)
        try:
            node = f(x, y)
        except RecursionError:
            raise Wrong(
                f"{said} asks itself without end. Is a plain number to the left of an operator in "
                f"your {name}? Python turns `2 < x` around, to `x > 2`, and `2 - x` is "
                "`x.__rsub__(2)`. `x.const(2)` is a node.", said,
            ) from None  # fmt: skip
        if not isinstance(node, mini.UOp):
            nothing = " Is there a `return`?" if node is None else ""
            raise Wrong(f"{said} should be a node.{nothing}", said, "a UOp", describe(node))
        got = mini.interpret(sink_of(mini, node))[0]
        for mistake, sentence in mistakes:
            if is_close(got, np.float32(mistake), EXACT) and not is_close(got, wanted, EXACT):
                raise Wrong(sentence, said, shown(wanted), shown(got))
        expect_values(said, got, wanted, within=EXACT)


UP_TO_INTERPRET = ("UOp.__new__", "UOp.toposort", "interpret")


@checks("Derived", "-x, x - y, x / y, with nodes and with numbers on either side",
        needs=UP_TO_INTERPRET)  # fmt: skip
def arithmetic(mini: Any) -> None:
    derived(mini, OPERATIONS[:7])


@checks("Derived", "x > y, x.eq(y) and relu", needs=UP_TO_INTERPRET)
def comparisons(mini: Any) -> None:
    derived(mini, OPERATIONS[7:12])
    near = buffer(mini, [1e-8, 1.0]).eq(buffer(mini, [0.0, 1.0]))
    got = mini.interpret(sink_of(mini, near))[0]
    if got[0] != 0:
        said = "x.eq(y), where x is [1e-08, 1] and y is [0, 1]"
        raise Wrong("Two numbers that are close aren't equal.", said, "[0, 1]", shown(got))


@checks("Derived", "exp and log, to seven digits", needs=UP_TO_INTERPRET)
def exponentials(mini: Any) -> None:
    derived(mini, OPERATIONS[12:])
