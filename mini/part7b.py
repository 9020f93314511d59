"""Stage 7b: from a kernel to loops, from loops to a list of lines, from lines to C.

A kernel of stage 4b is still a graph of whole arrays. Here it becomes what a processor does: loops
around loads, arithmetic and one store. Each step is a function, and each can be looked at.
"""

import math
from collections import Counter
from functools import cache
from itertools import count

from mini.part3 import flat
from mini.part4 import SHAPE, Ops, UOp
from mini.part4b import MEMORY
from mini.part5 import SOURCE_INDEX, inside, where
from mini.part7a import simplify

# Five new ops. DEFINE_GLOBAL is a parameter of the C function: its arg is (number, shape). LOAD
# reads (parameter, place), and STORE writes (parameter, place, value). REDUCE has a value and the
# RANGEs that it runs over. DEFINE_REG is the variable that a REDUCE adds up in.
SHAPE[Ops.DEFINE_GLOBAL] = lambda node: node.arg[1]
for _op in (Ops.LOAD, Ops.STORE, Ops.REDUCE, Ops.DEFINE_REG):
    SHAPE[_op] = lambda node: ()
MEMORY.add(Ops.DEFINE_GLOBAL)

ZERO = UOp(Ops.CONST, (), 0)


# ---- from a kernel to loops ----------------------------------------------------------------------


class Loops:
    """What one kernel is made of so far: its loop counters, and the memory that it reads."""

    def __init__(self, memory):
        self.arguments = [memory]  # what the C function is called with; the first is written to
        self.ranges, self.known = [], {}

    def counter(self, size):
        """A new loop counter, from 0 to size - 1. An axis of size 1 needs no loop: it's at 0."""
        if size == 1:
            return ZERO
        self.ranges.append(UOp(Ops.RANGE, (), (len(self.ranges), size)))
        return self.ranges[-1]

    def element(self, memory, index):
        """The parameter for some memory, and the place of an index in it: what LOAD needs."""
        if memory not in self.arguments:
            self.arguments.append(memory)
        parameter = UOp(Ops.DEFINE_GLOBAL, (), (self.arguments.index(memory), memory.shape))
        return parameter, ZERO + flat(index, memory.shape)

    def value(self, node, index):
        """value_at, but no more than once for the same node and index."""
        index = tuple(ZERO + i for i in index)
        if (node, index) not in self.known:
            self.known[node, index] = value_at(node, index, self)
        return self.known[node, index]


def value_at(node, index, loops):
    """The value of `node` at `index`, as a node of one number. This is stage 3 once more: to know
    an element, ask which elements of its sources it's made of. But the index is made of counters.

    Values of sources come from loops.value(source, index). There are five cases:
    - Memory is read: LOAD, with what loops.element(node, index) gives.
    - A CONST is itself, whatever the index.
    - A movement op reads its source at the index that its row of SOURCE_INDEX says. PAD also needs
      `where` and `inside`: outside of the source it's 0.0, whatever its row reads there.
    - REDUCE_AXIS gets a new counter for each of its axes, and becomes REDUCE, whose sources are the
      value at the index with these counters in it, and the counters; its arg is ADD or MAX. If all
      those axes have size 1, it's the value itself.
    - All others do the same as before, to values of their sources.

    Examples, for a buffer `a` of shape (4, 5), and LOAD(n, place) for what's in parameter n:
    - value_at(a * 2, (i, j), loops) is LOAD(1, i * 5 + j) * 2.0.
    - value_at(a.permute(1, 0), (i, j), loops) is LOAD(1, j * 5 + i).
    - value_at(a.sum(1, keepdim=True), (i, 0), loops) is REDUCE(LOAD(1, i * 5 + r), r), where r is a
      new counter from 0 to 4.
    """
    ...


def lower(kernel):
    """The loops of a kernel, as a graph, and the memory that it's called with, the result first.

    The graph is a SINK with one STORE: for a new counter along each axis of kernel.value, it puts
    the value that kernel.graph has there into kernel.memory, at the same place. Return the graph
    simplified, and the arguments that Loops has collected on the way.

    Examples, for the kernel of a * 2, where `a` has the shape (4, 5):
    - The graph is SINK(STORE(data0, i * 5 + j, LOAD(data1, i * 5 + j) * 2.0)).
    - The memory is [kernel.memory, a].
    """
    ...


# ---- from loops to lines -------------------------------------------------------------------------


def depths(sink):
    """How many loops each node is inside, kept to the minimum: a dict from node to number.

    Counters of a REDUCE are the inner loops; the others are the outer ones, in the order of their
    numbers. (If there are several REDUCEs, they all run over the same counters. A RANGE whose arg
    has a third item is no loop: stage 7c makes these.) Four rules hold for every node but the SINK:
    - A RANGE is inside its own loop and all that are around it.
    - A REDUCE is done once the inner loops are closed: its result is inside all the outer loops.
    - A STORE is inside all the outer loops.
    - Any other node is as deep as the deepest of its sources, and at 0 if it has none.

    Examples, without the nodes that make up the places:
    - a * 2, of loops i and j: data0 and data1 at 0; RANGE i at 1; RANGE j, LOAD, MUL, STORE at 2.
    - 1 / a.sum(1), as softmax divides, of loops i and j: RANGE j and LOAD are at 2; RANGE i,
      REDUCE, RECIP and STORE are at 1.
    """
    ...


def linearize(sink):
    """The lines of a kernel, as a list of nodes in the order in which they run.

    A RANGE opens a loop, and an ENDRANGE, whose source is that RANGE, closes it. Loops are closed
    in the opposite order. CONSTs need no line, and neither does a RANGE that is no loop. Every
    other node has one.

    Each line is as deep as depths(sink) says. Only a REDUCE is different. It becomes two lines: a
    DEFINE_REG, whose source is the REDUCE, before the inner loops, and the REDUCE itself inside
    them. What needs its value comes after they are closed, and so does the STORE.

    Examples, without the nodes that make up the places:
    - a * 2: data0, data1, RANGE i, RANGE j, LOAD, MUL, STORE, ENDRANGE j, ENDRANGE i.
    - The sum of each row of a: data0, data1, RANGE i, DEFINE_REG, RANGE j, LOAD, REDUCE,
      ENDRANGE j, STORE, ENDRANGE i.
    - 1 / a.sum(1), as softmax divides: data0, data1, RANGE i, DEFINE_REG, RANGE j, LOAD, REDUCE,
      ENDRANGE j, RECIP, STORE, ENDRANGE i.
    """
    ...


# ---- from lines to C -----------------------------------------------------------------------------

# How each op is written in C. Two traps: no index is negative, so C's / and % do what Python's //
# and % do; and C's own fmaxf would lose a NaN, which NumPy's maximum keeps.
C = {
    Ops.ADD: "({} + {})", Ops.MUL: "({} * {})", Ops.IDIV: "({} / {})", Ops.MOD: "({} % {})",
    Ops.CMPLT: "({} < {})", Ops.WHERE: "({} ? {} : {})", Ops.MAX: "larger({}, {})",
    Ops.RECIP: "(1.0f / {})", Ops.SQRT: "sqrtf({})", Ops.EXP2: "exp2f({})", Ops.LOG2: "log2f({})",
}  # fmt: skip
FIRST = {Ops.ADD: "0.0f", Ops.MAX: "-INFINITY"}  # what a REDUCE starts from
PREAMBLE = """#include <math.h>
static inline float larger(float x, float y) { return x > y || x != x ? x : y; }
"""
VECTOR = "typedef float vector{} __attribute__((vector_size({}), aligned(4), may_alias));\n"


def c_number(value):
    """A Python number, as C writes it. Floats have 32 bits; so has each part of an expression."""
    if isinstance(value, int):
        return str(value)
    special = {"nan": "NAN", "inf": "INFINITY", "-inf": "-INFINITY"}
    return special.get(repr(value), f"{value!r}f")


@cache
def lanes(node):
    """How many lanes a value has: 0, since it's a single number. (Stage 7c will make vectors.)"""
    if node.op is Ops.RANGE:
        return node.arg[1] if node.arg[2:] else 0
    return max(map(lanes, node.src), default=0)


def c_type(node):
    if node.dtype is int:
        return "int"
    return f"vector{lanes(node)}" if lanes(node) else "float"


def element_text(node, data, place):
    """An element of memory, or, for a vector, as many as it has, from this place on."""
    return f"*({c_type(node)}*)({data} + {place})" if lanes(node) else f"{data}[{place}]"


def beginning(lines):
    """What has to come before the function."""
    sizes = sorted({lanes(node) for node in lines} - {0})
    return PREAMBLE + "".join(VECTOR.format(size, 4 * size) for size in sizes)


def is_inlined(node, uses):
    """Whether a node is written where it's used, rather than on a line of its own."""
    return uses[node] == 1 and node.op in (Ops.ADD, Ops.MUL, Ops.CMPLT, Ops.IDIV, Ops.MOD)


def function_name(lines):
    """r_4_5 for a kernel with a REDUCE and loops of 4 and 5, E_4_5 for one without."""
    sizes = [str(node.arg[1]) for node in lines if node.op is Ops.RANGE]
    return "_".join(["r" if any(node.op is Ops.REDUCE for node in lines) else "E", *sizes])


def render(lines):
    """The text of a C function, (name, text), which does what the lines say.

    `is_inlined` says what is written where it's used; other values get a line and a name.

    Examples:
    - The name of a copy of 4 rows and 5 columns is "E_4_5", and its text has two `for`.
    - For (a + 1).sum(1), the text might be beginning(lines) and

        void r_4_5(float* restrict data0, const float* restrict data1) {
          for (int i0 = 0; i0 < 4; i0++) {
            float acc0 = {0.0f};
            for (int i1 = 0; i1 < 5; i1++) {
              float val0 = data1[((i0 * 5) + i1)];
              acc0 = (acc0 + (val0 + 1.0f));
            }
            data0[i0] = acc0;
          }
        }
    """
    ...
