"""A rule of your own

Hint: When is a product not what it should be? Compare `node.dtype` with the `dtype` of each node
in `node.src`.
Hint: First make sure that the node is a `MUL`: a comparison of two floats is a bool, and rightly
so. Then `any(…)` over its sources.
Because: A product of floats is a float. Other ops have rules of their own (a comparison gives a
bool), so this one asks about `MUL` alone.
"""

import numpy as np

from classroom.ask import Wrong, call, describe
from classroom.lessons.three_wrong_bills.shared import bills, shop, stages_of
from classroom.sabotage import healthy, sabotage
from tinyframe import Tensor
from tinyframe.dtype import dtypes
from tinyframe.uop import Ops, UOp


@healthy()
def check(answer) -> str:
    """answer(node): True of a product whose type does not fit its sources, False of all else."""
    quantities, prices = shop()

    def whole() -> Tensor:
        return (quantities.int() * 2 + 1).sum(axis=0)

    (loaded,) = (u for u in _nodes(bills(quantities, prices)) if u.op is Ops.MUL)
    (counted,) = (u for u in _nodes(whole()) if u.op is Ops.MUL)
    call(answer, loaded)  # whether there is an answer yet
    for case, tensor in {
        "the bills, from a healthy compiler": bills(quantities, prices),
        "`(quantities.int() * 2 + 1).sum(axis=0)`, from a healthy compiler": whole(),
        "`(quantities < prices).sum()`, from a healthy compiler": (quantities < prices).sum(),
    }.items():
        for name, nodes in stages_of(tensor).items():
            for node in nodes:
                if _accused(answer, node, case):
                    raise Wrong("Your rule accuses an innocent node. The answer has to be False "
                                "for every node that a healthy compiler makes.",
                                f"{case}, after `{name}`", got=_line(node))  # fmt: skip
    bad = {
        "a `MUL` of two floats that says it's an int": loaded.replace(dtype=dtypes.int),
        "a `MUL` of two ints that says it's a float": counted.replace(dtype=dtypes.float),
        "a `MUL` of a float and an int that says it's a float":
            loaded.replace(src=(loaded.src[0], loaded.src[1].cast(dtypes.int))),
        "a `MUL` of an int and a float that says it's a float":
            loaded.replace(src=(loaded.src[0].cast(dtypes.int), loaded.src[1])),
        "a `MUL` of two floats that says it's a double": loaded.replace(dtype=dtypes.double),
    }  # fmt: skip
    for case, node in bad.items():
        if not _accused(answer, node, case):
            raise Wrong("Your rule lets this one go.", case, got=_line(node))
    with sabotage():
        stages = stages_of(bills(quantities, prices))
    first = next(name for name, nodes in stages.items() if any(map(answer, nodes)))
    return (
        f"Held against {len(stages)} stages of the sabotaged compiler, your rule raises the alarm "
        f"after `{first}`, and about a healthy one it says nothing at all."
    )


def _nodes(tensor: Tensor) -> list[UOp]:
    (item,) = tensor.schedule()
    return list(item.ast.toposort())


def _accused(answer, node: UOp, case: str) -> bool:
    said = answer(node)
    if said is not None and not isinstance(said, (bool, np.bool_)):
        raise Wrong("The answer has to be True or False.", case, got=describe(said))
    return bool(said)


def _line(node: UOp) -> str:
    """A node in a few words: MUL float of float and float."""
    names = [str(u.dtype).removeprefix("dtypes.") for u in (node, *node.src)]
    return f"`{node.op.name} {names[0]}`" + f" of {' and '.join(names[1:])}" * bool(node.src)

# %% shared
from tinyframe.uop import Ops

# %% wrong, each line
lambda node: True  # says accuses an innocent
lambda node: False  # says lets this one go
lambda node: node.op.name  # says True or False

# %% right, each line
lambda n: n.op is Ops.MUL and {s.dtype for s in n.src} != {n.dtype}  # sets
