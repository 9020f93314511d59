"""Stage 4: a Tensor writes down what you ask for, and computes it when you need the numbers.

It writes that down as a graph of UOps. The first half of this file builds the graph, and the second
half computes it.
"""

import math
from enum import IntEnum
from weakref import WeakValueDictionary

import numpy as np

# Every operation of every stage. (Stages 7 and 8, which will turn a graph into C and run that, are
# still being written. Only they need the last line.)
Ops = IntEnum("Ops", """
    BUFFER CONST SINK
    ADD MUL MAX CMPLT WHERE RECIP SQRT EXP2 LOG2
    RESHAPE PERMUTE EXPAND SHRINK FLIP PAD DETACH REDUCE_AXIS
    IDIV MOD RANGE ENDRANGE LOAD STORE REDUCE DEFINE_GLOBAL DEFINE_REG HOLE
""".split())  # fmt: skip

# What each elementwise op does, for single numbers and for whole NumPy arrays.
ALU = {
    Ops.ADD: np.add, Ops.MUL: np.multiply, Ops.MAX: np.maximum,
    Ops.CMPLT: lambda x, y: (x < y) * np.float32(1), Ops.WHERE: np.where,
    Ops.RECIP: np.reciprocal, Ops.SQRT: np.sqrt, Ops.EXP2: np.exp2, Ops.LOG2: np.log2,
    Ops.IDIV: np.floor_divide, Ops.MOD: np.mod,
}  # fmt: skip

# Two tables with a row for each op. Stage 5 adds rows for its own ops.
SHAPE = {Ops.BUFFER: lambda node: node.arg.data.shape}  # node to shape
COMPUTE = {  # node and the values of its sources to the values of the node
    Ops.BUFFER: lambda node: node.arg.data,
    Ops.CONST: lambda node: np.float32(node.arg),
} | {op: lambda node, *values: ALU[node.op](*values) for op in ALU}


class UOp:
    """A node: one operation, `op`, on the values of its sources, the nodes in `src`.

    `arg` holds what else the operation needs to know. Nodes never change, and there is only one of
    each: if you build the same node twice, you get the same object.
    """

    table = WeakValueDictionary()  # all nodes; one that is no longer used drops out by itself

    def __new__(cls, op, src=(), arg=None):
        """The only node with this op, src and arg. If the table has it, return that one.

        Otherwise make a new one: `object.__new__(cls)` is an empty node. Set its op, src and arg,
        and put it into the table before you return it.

        Example: build UOp(Ops.CONST, (), 2.0) twice and call the results a and b. Then `a is b`, so
        UOp(Ops.ADD, (a, a)) is UOp(Ops.ADD, (b, b)) as well. But UOp(Ops.CONST, (), 2) is a
        different node, since a whole number and a float are different constants.
        """
        ...

    def __init__(self, op, src=(), arg=None):
        """Python calls this after `__new__`, on the node that `__new__` returned."""
        if "shape" not in self.__dict__:
            self.shape = SHAPE.get(self.op, longest_shape)(self)
            self.dtype = kind_of_number(self)

    def toposort(self):
        """A list of this node and all nodes below it: each once, and sources before their users.

        Finish everything below the first source before you start on the second. Don't let the
        function call itself: graphs get deeper than Python allows. Use a list of nodes that are
        still waiting for their sources instead.

        Example: if c = a * b and d = c + a, then d.toposort() is [a, b, c, d].
        """
        ...

    def const(self, value):
        """Turn a number into a node of this node's dtype. A node stays as it is."""
        return value if isinstance(value, UOp) else UOp(Ops.CONST, (), self.dtype(value))

    def alu(self, op, *others):
        """An elementwise operation on this node and others, which may be numbers."""
        return UOp(op, same_shape(self, *map(self.const, others)))

    def __repr__(self):
        return f"UOp({self.op.name}, shape={self.shape}, arg={self.arg})"


def longest_shape(node):
    """The shape of an elementwise node. Constants have the shape (), which fits all others."""
    return max((source.shape for source in node.src), key=len, default=())


def kind_of_number(node):
    """`int` if everything below the node is whole numbers (indices, in stage 7), else `float`."""
    if node.op is Ops.CONST:
        return type(node.arg)
    if node.op is Ops.RANGE:
        return int
    return int if node.src and all(source.dtype is int for source in node.src) else float


def same_shape(*nodes):
    """The nodes, unchanged, if their shapes agree. (Stage 5 replaces this with `broadcast`.)"""
    shapes = {node.shape for node in nodes if node.op is not Ops.CONST}
    if len(shapes) > 1:
        raise ValueError(f"these shapes do not agree: {', '.join(map(str, sorted(shapes)))}")
    return nodes


# ---- from a graph to numbers ---------------------------------------------------------------------


class Buffer:
    """Memory: `data` is a NumPy array of 32-bit floats, stored row after row."""

    def __init__(self, data):
        self.data = np.asarray(data, np.float32, order="C")


def interpret(sink):
    """Compute a graph. The sources of its SINK node are the values that you want.

    Go through the graph once, sources first. Compute each node with its row of COMPUTE, from the
    values of its sources, which you already have. Return a list: the values of each source of the
    SINK. The SINK itself has no value.

    Example: a and b are buffers with [1, 2] and [10, 20], and the graph is
    UOp(Ops.SINK, (a + b,)). The nodes come in the order a, b, ADD, SINK. The first three have the
    values [1, 2], [10, 20] and [11, 22], and the result is the list [array([11, 22])].
    """
    ...


class Tensor:
    """A handle on a node: an expression at first, and after realize() a BUFFER with its numbers."""

    run = staticmethod(interpret)  # computes a SINK; stage 8 replaces it with compiled code

    def __init__(self, data):
        self.uop = data if isinstance(data, UOp) else UOp(Ops.BUFFER, (), Buffer(data))

    @property
    def shape(self):
        return self.uop.shape

    def realize(self, *others):
        """Compute this Tensor and the others. Each gets a new `uop`: a BUFFER with its values.

        Leave a Tensor alone if its `uop` is a BUFFER already. Put all that remain into one SINK, so
        that work they share is done once; Tensor.run(sink) returns their values. Return this
        Tensor.

        Example: for t = Tensor([1.0]) + 1, t.uop.op is Ops.ADD. After t.realize() it is Ops.BUFFER,
        and t.uop.arg.data is [2.0]. Realize it again, and nothing is computed.
        """
        ...

    def numpy(self):
        return self.realize().uop.arg.data

    def __repr__(self):
        state = "realized" if self.uop.op is Ops.BUFFER else "an expression"
        return f"Tensor of shape {self.shape}, {state}"


# ---- what you can write with nodes and Tensors ---------------------------------------------------


def method(function, name=None):
    """Make a function of UOps a method of UOp and of Tensor.

    Called on Tensors, it passes their nodes to the function, and returns the result as a Tensor.
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
