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

# %% right: slots; Tensors of one node share one BUFFER afterwards
class Tensor:
    __slots__ = ("uop",)

    def __init__(self, data):
        self.uop = data if isinstance(data, UOp) else UOp(Ops.BUFFER, arg=Buffer(data))

    shape = property(lambda self: self.uop.shape)

    def realize(self, *others):
        waiting = {t.uop: None for t in (self, *others) if t.uop.op != Ops.BUFFER}
        if waiting:
            found = Tensor.run(UOp(Ops.SINK, tuple(waiting)))
            for node, value in zip(waiting, found):
                waiting[node] = UOp(Ops.BUFFER, arg=Buffer(value))
        for t in (self, *others):
            t.uop = waiting.get(t.uop, t.uop)
        return self

    def numpy(self):
        self.realize()
        return self.uop.arg.data

    def __repr__(self):
        return f"<{'realized' if self.uop.op == Ops.BUFFER else 'unrealized'} {self.shape}>"

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
