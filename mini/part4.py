"""Stage 4: a Tensor writes down what you ask for, and computes it when you need the numbers.

It writes that down as a graph of UOps. The first half of this file builds the graph, and the second
half computes it.
"""

import math
from enum import IntEnum
from weakref import WeakValueDictionary

import numpy as np

# Every operation of every stage. (Stages 7 and 8, which
# turn a graph into C and run that, need the last line.)
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
        """The only node with this op, src and arg: whoever builds it again gets the same object.

        A new one comes from `object.__new__(cls)`, which is empty: it needs an op, a src and an
        arg. It is in the table, and nowhere else, so that it can go when nobody uses it any more.

        Examples:
        - a = UOp(Ops.CONST, (), 2.0) and b = UOp(Ops.CONST, (), 2.0) are one object, `a is b`. So
          UOp(Ops.ADD, (a, a)) is UOp(Ops.ADD, (b, b)) as well.
        - 2, 2.0 and True are three different constants. So are 0.0 and -0.0: one divided by them
          is infinity, once up and once down.
        """
        ...

    def __init__(self, op, src=(), arg=None):
        """Python calls this after `__new__`, on the node that `__new__` returned."""
        if "shape" not in self.__dict__:
            self.shape = SHAPE.get(self.op, longest_shape)(self)
            self.dtype = kind_of_number(self)

    def toposort(self):
        """A list of this node and all nodes below it: each once, and after all of its sources.

        Any such order will do. Graphs get wide and deep: 60 doublings have 2^60 paths, and a chain
        of 20,000 nodes has to work too (Python stops functions that call themselves long before).

        Examples:
        - If c = a * b and d = c + a, then d.toposort() may be [a, b, c, d] or [b, a, c, d].
        - a.toposort() is [a].
        """
        ...

    def const(self, value):
        """Turn a number into a node of this node's dtype. A node stays as it is."""
        return value if isinstance(value, UOp) else UOp(Ops.CONST, (), self.dtype(value))

    def alu(self, op, *others):
        """An elementwise operation on this node and others, which may be numbers."""
        return UOp(op, same_shape(self, *map(self.const, others)))

    def __repr__(self):
        return f"UOp({getattr(self.op, 'name', self.op)}, shape={self.shape}, arg={self.arg})"


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
    """The nodes, unchanged, if their shapes agree; () agrees with all. (Stage 5 replaces this with
    `broadcast`.)"""
    shapes = {node.shape for node in nodes} - {()}
    if len(shapes) > 1:
        raise ValueError(f"these shapes do not agree: {', '.join(map(str, sorted(shapes)))}")
    return nodes


# ---- from a graph to numbers ---------------------------------------------------------------------


class Buffer:
    """Memory: `data` is a NumPy array of 32-bit floats, stored row after row."""

    def __init__(self, data):
        self.data = np.asarray(data, np.float32, order="C")


def interpret(sink):
    """Compute a graph: a list with the values of each source of this SINK node, in their order.

    Each node is computed once, however many users it has, by its row of COMPUTE. The SINK itself
    has no value, and no row.

    Examples, where a and b are buffers with [1, 2] and [10, 20]:
    - interpret(UOp(Ops.SINK, (a + b,))) is [array([11, 22])].
    - interpret(UOp(Ops.SINK, (a * b, a))) is [array([10, 40]), array([1, 2])].
    """
    ...


class Tensor:
    """A handle on a node: an expression at first, and after realize() a BUFFER with its numbers.

    Tensor(data) is made from a node, or from numbers, which go into a Buffer. It has `uop`, its
    node at the moment, a shape, a repr that says whether it is realized, and two methods:

    t.realize(*others) computes t and the others, and returns t. Afterwards each `uop` is a BUFFER
    with the values. One that was a BUFFER before is left alone. Work that they share is done once:
    Tensor.run(sink) computes a graph (now by `interpret`; stage 8 will put C there).
    t.numpy() realizes t, and is the array of its values.

    Examples:
    - For t = Tensor([1.0]) + 1, t.uop.op is Ops.ADD. After t.realize() it is Ops.BUFFER, and
      t.uop.arg.data is [2.0]. Realize it again, and nothing is computed.
    - With s = t.sqrt(), (s + 1).realize(s * 10) computes one square root.
    """

    ...


Tensor.run = staticmethod(interpret)


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
    "__floordiv__": lambda x, y: x.alu(Ops.IDIV, y),
    "__mod__": lambda x, y: x.alu(Ops.MOD, y),
    "__lt__": lambda x, y: x.alu(Ops.CMPLT, y),
    "where": lambda condition, x, y: condition.alu(Ops.WHERE, x, y),
    "maximum": lambda x, y: x.alu(Ops.MAX, y),
    "recip": lambda x: x.alu(Ops.RECIP),
    "sqrt": lambda x: x.alu(Ops.SQRT),
    "exp2": lambda x: x.alu(Ops.EXP2),
    "log2": lambda x: x.alu(Ops.LOG2),
}
UOp.__divmod__ = lambda x, y: (x // y, x % y)  # for whole numbers, in stage 7


class Derived:
    """What needs no op of its own, since it can be said with OPERATORS. Ten methods, all yours.

    x is a node, and y a node or a plain number. Write __neg__(x), __sub__(x, y), __rsub__(x, y)
    (which is y - x), __truediv__(x, y), __rtruediv__(x, y) (which is y / x), __gt__(x, y),
    eq(x, y), relu(x), exp(x) and log(x). Comparisons give 1.0 where they are true, else 0.0.

    Examples:
    - For x = [1, 2, 3], x - 1 is [0, 1, 2], 6 / x is [6, 3, 2] and x.eq(2) is [0, 1, 0].
    - relu of [-3, 0, 5] is [0, 0, 5], exp of 1 is 2.7182817, and log undoes exp.
    """

    ...


def methods_of(table):
    """The functions in a class, by name."""
    return {name: getattr(table, name) for name, f in vars(table).items() if callable(f)}


for _name, _function in {**OPERATORS, **methods_of(Derived)}.items():
    method(_function, _name)
