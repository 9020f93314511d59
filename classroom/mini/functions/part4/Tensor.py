"""Hint: What does a Tensor have to hold, and what can it ask its node for? For realize: which of
these Tensors have work to do at all? And how do you ask for all of it in one go, so that nothing
they share is done twice?
Hint: One attribute, `uop`, is enough: the rest asks it. (A method under `@property` is called
without brackets.) A SINK takes many sources, the nodes of all Tensors that aren't a BUFFER yet,
and Tensor.run gives their values in the same order. Each of those Tensors gets a new node: a
BUFFER that holds a Buffer with its values.
Because: One SINK, one run: shared nodes are computed once. And the Tensor itself stays the same
object, so everybody who holds it sees that it has numbers now.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import numpy as np

from classroom.mini.check import Wrong, describe, expect, expect_values, promise, wrong_if
from classroom.mini.functions.part4.shared import buffer, counted

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


@promise("It is made from numbers or from a node, and has the node's shape", needs=ALL_BELOW)
def holds_a_node(mini) -> None:
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


@promise("An expression becomes a BUFFER with its values", needs=ALL_BELOW)
def becomes_a_buffer(mini) -> None:
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


@promise("t.numpy() is the array of its values, computed if need be", needs=ALL_BELOW)
def gives_numbers(mini) -> None:
    for said, t, wanted in (
        ("Tensor([1, 2]).numpy()", mini.Tensor([1, 2]), [1, 2]),
        ("(Tensor([1, 2]) * 3).numpy()", mini.Tensor([1, 2]) * 3, [3, 6]),
        ("(Tensor(5) + 1).numpy()", mini.Tensor(5) + 1, 6),
    ):
        expect_values(said, t.numpy(), np.array(wanted))
        if t.uop.op is not mini.Ops.BUFFER:
            raise Wrong("t.numpy() computed the values and left t an expression, so the next one "
                        "would compute them again. It realizes t.", said)  # fmt: skip


@promise("What is realized is never computed again", needs=ALL_BELOW)
def never_again(mini) -> None:
    t = (mini.Tensor([1.0]) + 1).realize()
    before = t.uop
    with counted(mini.COMPUTE, mini.Ops.ADD) as calls:
        t.realize()
        t.realize(mini.Tensor([5.0]) + 1)
        t.numpy()
    wrong_if(t.uop is not before,
             "This Tensor had a BUFFER already, and got a new one. Leave such Tensors alone.",
             "t.realize(); t.realize()", "the same BUFFER", "a different BUFFER")  # fmt: skip
    expect("the number of additions for the other Tensor", len(calls), 1)


@promise("Several at once share their work", needs=ALL_BELOW)
def share(mini) -> None:
    shared = mini.Tensor([4.0]).sqrt()
    a, b = shared + 1, shared * 10
    with counted(mini.COMPUTE, mini.Ops.SQRT) as calls:
        a.realize(b)
    for name, tensor, wanted in (("a", a, [3.0]), ("b", b, [20.0])):
        if tensor.uop.op is not mini.Ops.BUFFER:
            raise Wrong(f"a.realize(b) left {name} an expression.", "a.realize(b)")
        expect_values(f"{name}, after a.realize(b)", tensor.uop.arg.data, np.array(wanted))
    wrong_if(len(calls) > 1, "The square root that both use was computed more than once. Put all "
             "expressions into one SINK, and run that.",
             "s = t.sqrt(); a = s + 1; b = s * 10; a.realize(b)", "1 SQRT",
             f"{len(calls)} SQRT")  # fmt: skip


@promise("Nothing is computed before realize()", needs=ALL_BELOW)
def nothing_before(mini) -> None:
    with counted(mini.COMPUTE, mini.Ops.ADD) as calls:
        t = mini.Tensor([1.0]) + mini.Tensor([2.0])
        expect("the number of additions before realize()", len(calls), 0)
        expect_values("t.numpy()", t.numpy(), np.array([3.0]))


@promise("Whatever Tensor.run is, it computes", needs=ALL_BELOW)
def hook(mini) -> None:
    t = mini.Tensor([1.0]) + 1
    run = staticmethod(lambda sink: [np.array([42.0]) for _ in sink.src])
    with mock.patch.object(mini.Tensor, "run", run):
        got = t.numpy()
    expect_values("t.numpy(), where Tensor.run always gives [42]", got, np.array([42.0]), (
        ([2.0], "You called `interpret`. Call Tensor.run, which stage 8 will replace."),
    ))  # fmt: skip

# %% wrong: one after another: shared work is done twice
class Tensor:
    def __init__(self, data):
        self.uop = data if isinstance(data, UOp) else UOp(Ops.BUFFER, (), Buffer(data))
        self.shape = self.uop.shape

    def realize(self, *others):
        for t in (self, *others):
            if t.uop.op is not Ops.BUFFER:
                t.uop = UOp(Ops.BUFFER, (), Buffer(Tensor.run(UOp(Ops.SINK, (t.uop,)))[0]))
        return self

    def numpy(self):
        return self.realize().uop.arg.data

    def __repr__(self):
        return f"Tensor({self.shape}, realized={self.uop.op is Ops.BUFFER})"

# %% right
class Tensor:
    __slots__ = ("uop",)
    shape = property(lambda self: self.uop.shape)

    def __init__(self, data):
        if not isinstance(data, UOp):
            data = UOp(Ops.BUFFER, (), Buffer(data))
        self.uop = data

    def realize(self, *others):
        everything = (self, *others)
        sink = UOp(Ops.SINK, tuple(t.uop for t in everything))
        for t, values in zip(everything, Tensor.run(sink)):
            if t.uop.op is not Ops.BUFFER:
                t.uop = UOp(Ops.BUFFER, (), Buffer(values))
        return self

    def numpy(self):
        self.realize()
        return self.uop.arg.data
