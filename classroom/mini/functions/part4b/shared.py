"""Stage 4b: which values are stored, and the kernels that store them.

Where the cuts are is judged by what has to hold of them, not by a list: several are right.
"""

import random
from collections.abc import Iterable
from typing import Any

import numpy as np

from classroom.exercise import Wrong, wrong_if
from classroom.mini.functions.part4.shared import counted
from classroom.mini.functions.part4.shared import sink_of as sink

Names = dict[Any, str]


def buffer(mini, *shape: int) -> Any:
    """Memory with values between 0.5 and 1.5, so that sums are far from 0."""
    values = np.random.default_rng(len(shape)).random(shape) + 0.5
    return mini.UOp(mini.Ops.BUFFER, (), mini.Buffer(values))


def op(mini, name: str, *sources: Any, arg: Any = None) -> Any:
    return mini.UOp(mini.Ops[name], sources, arg)


def total(mini, node: Any, *axes: int, by: str = "ADD") -> Any:
    axes = axes or tuple(range(len(node.shape)))
    return op(mini, "REDUCE_AXIS", node, arg=(mini.Ops[by], axes))


def spread(mini, node: Any, *shape: int) -> Any:
    return op(mini, "EXPAND", node, arg=shape)


def inside(node: Any, given: set[Any]) -> list[Any]:
    """What the kernel of a node computes, down to what is given: sources first, the node last."""
    order: dict[Any, None] = {}
    waiting = [node]
    while waiting:
        top = waiting.pop()
        missing = [s for s in top.src if s not in order and s not in given]
        if missing:
            waiting += [top, *reversed(missing)]
        else:
            order[top] = None
    return list(order)


def in_memory(mini, node: Any) -> bool:
    return node.op in mini.MEMORY


def name_of(node: Any, names: Names) -> str:
    """`s`, or the op of a node that has no name."""
    return f"`{names[node]}`" if node in names else f"the {node.op.name} of shape {node.shape}"


def as_list(got: Any, said: str) -> list[Any]:
    wrong_if(got is None, f"{said} returns nothing. Is there a `return`?", said)
    if not isinstance(got, Iterable) or isinstance(got, (str, set, frozenset)):
        raise Wrong(f"{said} should be a list.", said, "a list", type(got).__name__)
    return list(got)


def kernels_in_words(count: int) -> str:
    return f"{count} kernel{'' if count == 1 else 's'}"


def random_graph(mini, dice: random.Random) -> Any:
    """A few elementwise ops, reductions and expansions on two buffers, and one or two results."""
    nodes = [buffer(mini, 2, 3), buffer(mini, 2, 3)]
    for _ in range(dice.randrange(2, 9)):
        node = dice.choice(nodes[-3:])
        kind = dice.randrange(4)
        alike = [other for other in nodes if other.shape == node.shape]
        if kind == 0 and node.shape == (2, 3):
            nodes.append(total(mini, node, *dice.choice(((0,), (1,), (0, 1)))))
        elif kind == 1 and node.shape != (2, 3):
            nodes.append(spread(mini, node, 2, 3))
        elif kind == 2:
            nodes.append(op(mini, "SQRT", node))
        else:
            nodes.append(op(mini, dice.choice(("ADD", "MUL")), node, dice.choice(alike)))
    results = [nodes[-1]] if dice.random() < 0.6 else [nodes[-1], dice.choice(nodes[2:])]
    return sink(mini, *dict.fromkeys(results))


def values_of(mini, node: Any) -> np.ndarray:
    """What a graph computes, by the rows of COMPUTE and nothing of the learner's but those."""
    values: dict[Any, Any] = {}
    for part in inside(node, set()):
        values[part] = mini.COMPUTE[part.op](part, *(values[source] for source in part.src))
    return values[node]


def computed(mini, name: str, *nodes: Any) -> int:
    """How often an op is computed while the kernels for these nodes run."""
    with counted(mini.COMPUTE, mini.Ops[name]) as calls:
        mini.run_kernels(sink(mini, *nodes))
    return len(calls)
