"""Stage 4b: a graph is cut into kernels. Each of them starts from memory and ends in memory.

Your interpreter gives every node memory of its own, and most of them don't need it. This file
decides which values are worth storing. All others are computed inside the kernels that use them.
"""

import math
from typing import NamedTuple

import numpy as np

from mini.part4 import ALU, COMPUTE, SHAPE, Buffer, Ops, UOp, interpret, method

# ---- two ops that make cuts necessary ------------------------------------------------------------

# A graph of elementwise ops is always one kernel. So here are two ops of stage 5, ahead of time.
# REDUCE_AXIS combines all the elements along some axes, and leaves these axes with size 1. EXPAND
# repeats elements: every axis of size 1 may become longer. (Stage 5 puts its own rows over these.)
SHAPE[Ops.REDUCE_AXIS] = lambda node: tuple(
    1 if axis in node.arg[1] else size for axis, size in enumerate(node.src[0].shape)
)
COMPUTE[Ops.REDUCE_AXIS] = lambda node, x: ALU[node.arg[0]].reduce(x, node.arg[1], keepdims=True)
SHAPE[Ops.EXPAND] = lambda node: node.arg
COMPUTE[Ops.EXPAND] = lambda node, x: np.broadcast_to(x, node.arg)

method(lambda x, *shape: UOp(Ops.EXPAND, (x,), shape), "expand")
method(lambda x, *axes, keepdim: reduced(x, Ops.ADD, axes, keepdim), "sum")
method(lambda x, *axes, keepdim: reduced(x, Ops.MAX, axes, keepdim), "max")


def reduced(x, op, axes, keepdim):
    """x.sum(1, keepdim=True), x.max(keepdim=True): over these axes, or else over all of them."""
    if not keepdim:
        raise NotImplementedError("to drop an axis takes a RESHAPE, which comes in stage 5")
    return UOp(Ops.REDUCE_AXIS, (x,), (op, axes or tuple(range(len(x.shape)))))


# ---- which values are stored? --------------------------------------------------------------------

MEMORY = {Ops.BUFFER}  # ops whose values are in memory already; stage 7 adds one


def stored(sink):
    """A list of the nodes whose values get memory, sources first. Each of them becomes a kernel.

    A kernel computes everything that lies between memory and its node, so this list is the only
    decision there is. Four things have to hold:

    1. Whatever was asked for, the sources of the SINK, is stored. Only what is in memory already
       (its op is in MEMORY) is left out.
    2. Each element of a reduction is computed once. It mustn't belong to two kernels, which would
       both compute it. And an EXPAND mustn't repeat it inside its kernel, before it's stored: it
       would be computed again for every copy.
    3. No kernel has two reductions. It's one nest of loops, with room for one.
    4. Nothing else is stored. Every kernel that isn't needed is one more trip through memory.

    Examples, for buffers a and b of shape (4, 5):
    - a * b + a is one kernel. Only the ADD is stored.
    - Let s = a.sum(keepdim=True) and y = a * s.expand(4, 5). Every product needs the whole sum, so
      both are stored: [s, y].
    - Let s = a.sum(1, keepdim=True) and y = (s + 1).sqrt(). That's [y], one kernel: y has as many
      elements as the sum, and nothing else needs the sum, so the same loops can finish it.
    - a.sum(1, keepdim=True) + b.sum(1, keepdim=True) is two kernels. Either of the sums may be the
      one that is stored by itself.
    """
    ### BEGIN SOLUTION
    order, users = sink.toposort(), {}
    for node in order:
        for source in set(node.src):
            users.setdefault(source, []).append(node)
    keep, taken = set(sink.src), set()  # taken: what some reduction's kernel computes after it
    for end in [node for node in order if node.op is Ops.REDUCE_AXIS]:
        while end not in keep and len(users[end]) == 1:
            (user,) = users[end]
            finishes = math.prod(user.shape) == math.prod(end.shape) and user not in taken
            if user.op is Ops.REDUCE_AXIS or not finishes:
                break
            end = user
            taken.add(end)
        keep.add(end)
    return [node for node in order if node in keep and node.op not in MEMORY]
    ### END SOLUTION


# ---- the kernels ---------------------------------------------------------------------------------


class Kernel(NamedTuple):
    """`value` is the node whose values a kernel stores, and `memory` the BUFFER that they go to.
    `graph` says how to compute them, from nothing but constants and BUFFERs."""

    value: UOp
    memory: UOp
    graph: UOp


def new_memory(node):
    """A BUFFER for the values of a node, full of NaN: you'll notice if you read it too early."""
    return UOp(Ops.BUFFER, (), Buffer(np.full(node.shape, np.nan)))


def cut(sink, memory_for=new_memory):
    """A list of kernels, one for each node of stored(sink), in an order in which they can run.

    A kernel's `memory` is whatever memory_for(value) gives. Its `graph` computes what `value`
    computes, but where a value comes in that another kernel stores, it reads that kernel's memory.

    Examples, for a buffer a of shape (4, 5):
    - cut(UOp(Ops.SINK, (a + 1,))) is [Kernel(a + 1, m, a + 1)], where m is new memory.
    - Let s = a.sum(keepdim=True) and y = s.expand(4, 5) * a. Then cut(UOp(Ops.SINK, (y,))) is
      [Kernel(s, m, a.sum(keepdim=True)), Kernel(y, n, m.expand(4, 5) * a)]. The second graph starts
      from a and m, and there is no sum left in it.
    """
    ### BEGIN SOLUTION
    keep, stands_for, kernels = set(stored(sink)), {}, []
    for node in sink.toposort()[:-1]:
        graph = UOp(node.op, tuple(stands_for[source] for source in node.src), node.arg)
        stands_for[node] = graph
        if node in keep:
            stands_for[node] = memory_for(node)
            kernels.append(Kernel(node, stands_for[node], graph))
    return kernels
    ### END SOLUTION


def run_kernels(sink):
    """The same values as interpret(sink), but kernel by kernel, each from memory to memory.

    Each kernel is computed by itself, and its values go into its memory, where the next ones find
    them: `memory.arg.data` is a NumPy array.

    Examples, for a buffer a with [[1, 2], [3, 4]], where s = a.sum(keepdim=True):
    - run_kernels(UOp(Ops.SINK, (s,))) is [array([[10]])].
    - run_kernels(UOp(Ops.SINK, (a * s.expand(2, 2), a))) has the values of both sources. The first
      is [[10, 20], [30, 40]]. The second is in memory already, and no kernel runs for it.
    """
    ### BEGIN SOLUTION
    memory = {}
    for value, place, graph in cut(sink):
        (values,) = interpret(UOp(Ops.SINK, (graph,)))
        place.arg.data[...] = values
        memory[value] = place
    return [memory.get(source, source).arg.data for source in sink.src]
    ### END SOLUTION
