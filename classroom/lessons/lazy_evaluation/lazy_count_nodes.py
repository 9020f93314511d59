"""Count the nodes of an op

Hint: What would you ask each node that `tensor.uop.toposort()` gives you?
Hint: Go through the nodes and count those for which `node.op is op`.
Because: `toposort()` lists each node once, however many others use it, so a plain count over it
counts nodes and not paths.
Right: Each node counts once, no matter how many other nodes use it.
"""

import random

from classroom.ask import call, fresh_tensor, same_number, wants, wrong_if
from classroom.lessons.lazy_evaluation.shared import nodes
from tinyframe.uop import Ops, UOp


def check(answer) -> None:
    """answer(tensor, op): how many nodes of an op a graph has."""
    a, b = fresh_tensor(5), fresh_tensor(5)
    cases = [
        ("`a * b + a`, Ops.MUL", a * b + a, Ops.MUL),
        ("`a + b`, Ops.MUL", a + b, Ops.MUL),
        ("`a * b + a`, Ops.BUFFER", a * b + a, Ops.BUFFER),
        ("`(a * b) + (a * b)`, Ops.MUL", a * b + a * b, Ops.MUL),
        ("`(a + b).sum()`, Ops.ADD", (a + b).sum(), Ops.ADD),
        ("`a.max()`, Ops.MAX", a.max(), Ops.MAX),
    ]
    for case, tensor, op in cases:
        got = call(answer, tensor, op)
        wants(got, int, "a whole number", case)
        expected, order = len(nodes(tensor, op)), tensor.uop.toposort()
        in_sources = sum(u.op is op for u in tensor.uop.src)
        for mistake, words in (
            (in_sources, "You looked only at the sources of the last node, and not further up."),
            (_in_the_tree(tensor.uop, op), "You counted a node once for every path to it."),
            (len(order), f"You counted all nodes. Count only those whose op is {op.name}."),
        ):
            wrong_if(got == mistake != expected, words, case, expected, got)
        wrong_if(expected and not got, "You found none. A node isn't its op: compare `node.op`.",
                 case, expected, got)  # fmt: skip
        same_number(got, expected, case, "nodes")
    chain, length = a, random.randint(3, 30)
    for _ in range(length):
        chain = chain * a + b
    wrong_if(call(answer, chain, Ops.ADD) != length,
             "Your count is right for the short graphs, and wrong for a long chain.",
             "`((a * a + b) * a + b) …`, Ops.ADD")  # fmt: skip


def _in_the_tree(u: UOp, op: Ops) -> int:
    """How often an op is in a small graph that is written out as a tree."""
    return int(u.op is op) + sum(_in_the_tree(source, op) for source in u.src)

# %% wrong, each line
lambda t, op: t.uop.op is op  # says a whole number
lambda t, op: len(t.uop.toposort())  # says You counted all nodes
lambda t, op: 1  # says too many
lambda t, op: int(t.uop.op is op)  # says You found none
lambda tensor, op: summary(tensor.uop).count(op.name)  # counts in text, where the args of a REDUCE_AXIS name an op too

# %% wrong: paths, not nodes
def count_nodes(tensor, op):
    def walk(u):
        return int(u.op is op) + sum(walk(s) for s in u.src)

    return walk(tensor.uop)

# %% wrong: the nodes are the keys of the dict, not its values
def count_nodes(tensor, op):
    return len([node for node in tensor.uop.toposort().values() if node.op is op])

# %% wrong: says wrong for a long chain
def four_levels(tensor, op):
    level = seen = {tensor.uop}
    for _ in range(4):
        level = {source for u in level for source in u.src}
        seen = seen | level
    return sum(u.op is op for u in seen)
four_levels

# %% asked again: no return
def count_nodes(tensor, op):
    sum(u.op is op for u in tensor.uop.toposort())

# %% right, each line
lambda t, op: [u.op for u in t.uop.toposort()].count(op)
