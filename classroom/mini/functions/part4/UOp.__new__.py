"""Hint: You need something to look a node up by, which is equal for equal nodes and different for
different ones. Try (2, 2.0, True) in Python: which of them are equal? And 0.0 and -0.0? What
would you add so that they aren't?
Hint: A tuple makes a fine key, and holds anything: what the node is made of, and one more thing
that tells a 2 from a 2.0 and a 0.0 from a -0.0. What is different when you *print* them? Look the
key up in `cls.table`; if nothing is there, make the node and put it in.
Because: `arg` alone isn't enough, because Python says 2 == 2.0 and 0.0 == -0.0. Their texts
differ. And no `hash` in the key: different things may share a hash, as -1.0 and -2.0 do.
"""

import gc
import weakref

from classroom.mini.check import Wrong, expect, promise, wrong_if
from classroom.mini.functions.part4.shared import constant

NO_FIELDS = "Set the `op`, `src` and `arg` of a node before you return it."


@promise("A node knows its op, src and arg")
def fields(mini) -> None:
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


@promise("Built again, it is the same object")
def built_again(mini) -> None:
    one, other = constant(mini, 2.0), constant(mini, 2.0)
    wrong_if(one is not other, "There are two nodes for the same constant. Look in the table "
             "before you make a new one, and put every new one in.",
             "UOp(Ops.CONST, (), 2.0), twice", "one object", "two objects")  # fmt: skip
    if mini.UOp(mini.Ops.ADD, (one, one)) is not mini.UOp(mini.Ops.ADD, (other, other)):
        raise Wrong("Equal constants are one node now, but equal ADDs are two.",
                    "UOp(Ops.ADD, (a, a)), twice", "one object", "two objects")  # fmt: skip


@promise("Different op, src or arg: a different node")
def told_apart(mini) -> None:
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


@promise("Constants that Python calls equal are told apart; so are -1.0 and -2.0")
def kinds_told_apart(mini) -> None:
    wrong_if(constant(mini, -1.0) is constant(mini, -2.0), "-1.0 and -2.0 became the same node: "
             "their `hash` is the same. Different values may share a hash, so a key holds the "
             "values themselves.", "UOp(Ops.CONST, (), -1.0) and UOp(Ops.CONST, (), -2.0)",
             "two objects", "one object")  # fmt: skip
    for one, other in ((2, 2.0), (1, True), (1.0, True)):
        wrong_if(constant(mini, one) is constant(mini, other), f"{one} and {other} became the same "
                 f"node. In Python {one} == {other}, so as keys of a table they are equal. The key "
                 "needs the type of arg as well.",
                 f"UOp(Ops.CONST, (), {one}) and UOp(Ops.CONST, (), {other})", "two objects",
                 "one object")  # fmt: skip
    zeros = constant(mini, 0.0), constant(mini, -0.0)
    wrong_if(zeros[0] is zeros[1], "0.0 and -0.0 became the same node. In Python they are equal, "
             "but 1 / 0.0 is infinity and 1 / -0.0 is minus infinity. What is different about them "
             "when you print them?", "UOp(Ops.CONST, (), 0.0) and UOp(Ops.CONST, (), -0.0)",
             "two objects", "one object")  # fmt: skip
    nan = constant(mini, float("nan"))
    if nan.arg == nan.arg or nan is zeros[0] or constant(mini, float("inf")) is nan:
        raise Wrong("NaN became the same node as a different number.", "UOp(Ops.CONST, (), nan)",
                    "a node with arg nan", f"arg {nan.arg}")  # fmt: skip


@promise("The table lets go of a node that nobody uses")
def forgotten(mini) -> None:
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

# %% wrong: says There are two nodes for the same constant
def __new__(cls, op, src=(), arg=None):
    node = object.__new__(cls)
    node.op, node.src, node.arg = op, src, arg
    return node

# %% wrong, changed: says 2 and 2.0 became the same node
# -     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
# +     key = (op, src, arg)

# %% wrong, changed: says 0.0 and -0.0 became the same node
# -     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
# +     key = (op, src, arg, type(arg))

# %% wrong, changed: says -1.0 and -2.0 became the same node
# -     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
# +     key = hash((op, src, arg, type(arg)))

# %% wrong, changed: says Two nodes with a different `src` became one
# -     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
# +     key = (op, arg, type(arg))

# %% wrong, changed: says keeps it alive: `UOp.table`. A `WeakValueDictionary` would let go.
# -     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
# +     cls.table = dict(cls.table)
# +     key = (op, src, arg, repr(arg))

# %% wrong: says Set the `op`, `src` and `arg` of a node
def __new__(cls, op, src=(), arg=None):
    return object.__new__(cls)

# %% wrong: says has no attribute 'tabel'
def __new__(cls, op, src=(), arg=None):
    node = object.__new__(cls)
    node.op, node.src, node.arg = op, src, arg
    cls.tabel[(op, src, arg, type(arg))] = node
    return node

# %% wrong: says should give a node. Is there a `return`?
def __new__(cls, op, src=(), arg=None):
    key = (op, src, arg)

# %% wrong, changed: says Set the `op`, `src` and `arg` of a node
# -     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
# +     key = (op, src, repr(arg))
#
# -         node.op, node.src, node.arg = op, src, arg
# +         node.op, node.src, node.arg = op, [*src], arg

# %% wrong, changed: says but equal ADDs are two
# -     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
# +     key = (op, id(src), repr(arg))

# %% wrong, changed: says NaN became the same node
# -     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
# +     is_odd = isinstance(arg, float) and not math.isfinite(arg)
# +     key = (op, src, "odd" if is_odd else repr(arg))

# %% wrong: says is not in `UOp.table`
nodes = WeakValueDictionary()

def __new__(cls, op, src=(), arg=None):
    key = (op, src, arg, repr(arg))
    node = nodes.get(key)
    if node is None:
        node = nodes[key] = object.__new__(cls)
        node.op, node.src, node.arg = op, src, arg
    return node

# %% right: made first, looked up afterwards
def __new__(cls, op, src=(), arg=None):
    new = object.__new__(cls)
    new.op, new.src, new.arg = op, src, arg
    return cls.table.setdefault((op, src, type(arg), arg, str(arg)), new)
