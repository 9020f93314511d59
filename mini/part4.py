"""Stage 4: a Tensor writes down what you ask for, and computes it when you need the numbers.

What it writes down is a graph of UOps. The first half of this file makes the graph, the second half
computes it.
"""

import math
from enum import IntEnum
from weakref import WeakValueDictionary

import numpy as np

# Every operation of every stage. Only those of the first three lines are used before stage 7.
Ops = IntEnum("Ops", """
    BUFFER CONST SINK
    ADD MUL MAX CMPLT WHERE RECIP SQRT EXP2 LOG2
    RESHAPE PERMUTE EXPAND SHRINK FLIP PAD DETACH REDUCE_AXIS
    IDIV MOD RANGE ENDRANGE LOAD STORE REDUCE DEFINE_GLOBAL DEFINE_REG HOLE
""".split())  # fmt: skip

# What an elementwise op does, once, for numbers and for whole NumPy arrays.
ALU = {
    Ops.ADD: np.add, Ops.MUL: np.multiply, Ops.MAX: np.maximum,
    Ops.CMPLT: lambda x, y: (x < y) * np.float32(1), Ops.WHERE: np.where,
    Ops.RECIP: np.reciprocal, Ops.SQRT: np.sqrt, Ops.EXP2: np.exp2, Ops.LOG2: np.log2,
    Ops.IDIV: np.floor_divide, Ops.MOD: np.mod,
}  # fmt: skip

# Two tables with a row for each op. Stage 5 adds the rows of its own ops.
SHAPE = {Ops.BUFFER: lambda node: node.arg.data.shape}  # a node's shape; the sources have theirs
COMPUTE = {  # a node's values, from the node and the values of its sources
    Ops.BUFFER: lambda node: node.arg.data,
    Ops.CONST: lambda node: np.float32(node.arg),
} | {op: lambda node, *values: ALU[node.op](*values) for op in ALU}


class UOp:
    """A node: the operation `op` on the values of the nodes in `src`; `arg` is what else it needs.

    Nodes never change, and no two of them are equal: building a node again gives the same object.
    """

    table = WeakValueDictionary()  # all nodes there are; forgets those that nobody uses any more

    def __new__(cls, op, src=(), arg=None):
        """The one node with this op, src and arg: from the table if it is there, else a new one.

        `object.__new__(cls)` makes an empty node. Give it its op, src and arg, and put it in the
        table under a key before you return it.

        Example: after a = UOp(Ops.CONST, (), 2.0) and b = UOp(Ops.CONST, (), 2.0), `a is b`. And
        then UOp(Ops.ADD, (a, a)) is UOp(Ops.ADD, (b, b)) too. But UOp(Ops.CONST, (), 2) is a
        different node: a whole number and a float are different constants.
        """
        ...

    def __init__(self, op, src=(), arg=None):
        """Python calls this after `__new__`, with the node that came from there."""
        if "shape" not in self.__dict__:
            self.shape = SHAPE.get(self.op, longest_shape)(self)
            self.dtype = kind_of_number(self)

    def toposort(self):
        """This node and all nodes below it, as a list: each once, and sources before their users.

        Where there is a choice, what stands first in `src` comes first. Do not call `toposort` on
        the sources: graphs get deeper than Python lets functions call themselves. Keep a list of
        nodes that still wait for something.

        Example: for c = a * b and d = c + a, d.toposort() is [a, b, c, d].
        """
        ...

    def const(self, value):
        """A number as a node that goes with this one; a node stays what it is."""
        return value if isinstance(value, UOp) else UOp(Ops.CONST, (), self.dtype(value))

    def alu(self, op, *others):
        """An elementwise operation on this node and others, which may be numbers."""
        return UOp(op, same_shape(self, *map(self.const, others)))

    def __repr__(self):
        return f"UOp({self.op.name}, shape={self.shape}, arg={self.arg})"


def longest_shape(node):
    """The shape of an elementwise node: constants have the shape (), and fit every other one."""
    return max((source.shape for source in node.src), key=len, default=())


def kind_of_number(node):
    """`int` for what is made of whole numbers only (indices, from stage 7 on), else `float`."""
    if node.op is Ops.CONST:
        return type(node.arg)
    if node.op is Ops.RANGE:
        return int
    return int if node.src and all(source.dtype is int for source in node.src) else float


def same_shape(*nodes):
    """The nodes as they are, if their shapes agree. (Stage 5 puts `broadcast` in its place.)"""
    shapes = {node.shape for node in nodes if node.op is not Ops.CONST}
    if len(shapes) > 1:
        raise ValueError(f"these shapes do not agree: {', '.join(map(str, sorted(shapes)))}")
    return nodes


# ---- from a graph to numbers ---------------------------------------------------------------------


class Buffer:
    """Memory: a NumPy array of 32-bit floats, `data`, row after row."""

    def __init__(self, data):
        self.data = np.asarray(data, np.float32, order="C")


def interpret(sink):
    """The values of each source of a SINK, as a list of arrays. A SINK collects what is wanted.

    Goes through the graph once, sources first, and computes each node by its row in COMPUTE from
    the values that its sources got before.

    Example: for sink = UOp(Ops.SINK, (a + b,)) with buffers `a` of [1, 2] and `b` of [10, 20], the
    nodes come as a, b, ADD, SINK. Their values are [1, 2], [10, 20] and [11, 22]; the result is the
    list [array([11, 22])]. SINK itself has no value.
    """
    ...


class Tensor:
    """A handle on a node: on a plan, or, after realize(), on a BUFFER that holds the numbers."""

    run = staticmethod(interpret)  # what computes a SINK; stage 8 puts compiled code in its place

    def __init__(self, data):
        self.uop = data if isinstance(data, UOp) else UOp(Ops.BUFFER, (), Buffer(data))

    @property
    def shape(self):
        return self.uop.shape

    def realize(self, *others):
        """Compute this Tensor, and the others with it; each becomes a handle on a new BUFFER.

        Those that are a BUFFER already are left alone. All the rest go into one SINK, so that what
        they share is computed once: `Tensor.run(sink)` gives their values. Returns this Tensor.

        Example: t = Tensor([1.0]) + 1; t.uop.op is Ops.ADD. After t.realize(), t.uop.op is
        Ops.BUFFER, and t.uop.arg.data is [2.0]. Realize it again, and nothing is computed.
        """
        ...

    def numpy(self):
        return self.realize().uop.arg.data

    def __repr__(self):
        state = "realized" if self.uop.op is Ops.BUFFER else "a plan"
        return f"Tensor of shape {self.shape}, {state}"


# ---- what you can write with nodes and Tensors ---------------------------------------------------


def method(function, name=None):
    """Make a function of UOps a method of UOp, and of Tensor.

    Tensor's hands the function the nodes of the Tensors, and makes a Tensor of what comes back.
    """

    def of_tensors(*arguments, **named):
        return Tensor(function(*(getattr(x, "uop", x) for x in arguments), **named))

    setattr(UOp, name or function.__name__, function)
    setattr(Tensor, name or function.__name__, of_tensors)
    return function


OPERATORS = {
    "__add__": lambda x, y: x.alu(Ops.ADD, y),
    "__radd__": lambda x, y: x.const(y).alu(Ops.ADD, x),
    "__mul__": lambda x, y: x.alu(Ops.MUL, y),
    "__rmul__": lambda x, y: x.const(y).alu(Ops.MUL, x),
    "__neg__": lambda x: x * -1,
    "__sub__": lambda x, y: x + -x.const(y),
    "__rsub__": lambda x, y: -x + y,
    "__truediv__": lambda x, y: x * x.const(y).recip(),
    "__rtruediv__": lambda x, y: x.recip() * y,
    "__floordiv__": lambda x, y: x.alu(Ops.IDIV, y),
    "__mod__": lambda x, y: x.alu(Ops.MOD, y),
    "__lt__": lambda x, y: x.alu(Ops.CMPLT, y),
    "__gt__": lambda x, y: x.const(y).alu(Ops.CMPLT, x),
    "eq": lambda x, y: 1 - (x < y) - (x > y),
    "where": lambda condition, x, y: condition.alu(Ops.WHERE, x, y),
    "maximum": lambda x, y: x.alu(Ops.MAX, y),
    "relu": lambda x: x.maximum(0),
    "recip": lambda x: x.alu(Ops.RECIP),
    "sqrt": lambda x: x.alu(Ops.SQRT),
    "exp": lambda x: (x * math.log2(math.e)).alu(Ops.EXP2),
    "log": lambda x: x.alu(Ops.LOG2) * math.log(2),
}
for _name, _function in OPERATORS.items():
    method(_function, _name)
