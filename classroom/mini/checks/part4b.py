"""Stage 4b: which values are stored, and the kernels that store them.

Where the cuts are is judged by what has to hold of them, not by a list: several are right.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from typing import Any

import numpy as np

from classroom.exercise import Wrong
from classroom.limit import OutOfTime
from classroom.mini.check import Checks, describe, expect_values

checks = Checks()

Names = dict[Any, str]

# ---- graphs to cut -------------------------------------------------------------------------------


def buffer(mini: Any, *shape: int) -> Any:
    """Memory with values between 0.5 and 1.5, so that sums are far from 0."""
    values = np.random.default_rng(len(shape)).random(shape) + 0.5
    return mini.UOp(mini.Ops.BUFFER, (), mini.Buffer(values))


def op(mini: Any, name: str, *sources: Any, arg: Any = None) -> Any:
    return mini.UOp(mini.Ops[name], sources, arg)


def total(mini: Any, node: Any, *axes: int, by: str = "ADD") -> Any:
    axes = axes or tuple(range(len(node.shape)))
    return op(mini, "REDUCE_AXIS", node, arg=(mini.Ops[by], axes))


def spread(mini: Any, node: Any, *shape: int) -> Any:
    return op(mini, "EXPAND", node, arg=shape)


def constant(mini: Any, value: float) -> Any:
    return mini.UOp(mini.Ops.CONST, (), value)


def sink(mini: Any, *nodes: Any) -> Any:
    return mini.UOp(mini.Ops.SINK, nodes)


# ---- what has to hold of cuts --------------------------------------------------------------------


def size(node: Any) -> int:
    return math.prod(node.shape)


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


def in_memory(mini: Any, node: Any) -> bool:
    return node.op in mini.MEMORY


def name_of(node: Any, names: Names) -> str:
    """`s`, or the op of a node that has no name."""
    return f"`{names[node]}`" if node in names else f"the {node.op.name} of shape {node.shape}"


def sentence(text: str) -> str:
    """With a capital letter at the beginning; `capitalize` would make all others small."""
    return text[:1].upper() + text[1:]


def trouble(mini: Any, graph: Any, cuts: list[Any], names: Names) -> str:
    """Why these nodes are no cuts of a graph; "" where they are."""
    asked = [source for source in graph.src if not in_memory(mini, source)]
    for node in asked:
        if node not in cuts:
            return f"{name_of(node, names)} was asked for, and it isn't stored."
    order = graph.toposort()[:-1]
    given = {*cuts, *(node for node in order if in_memory(mini, node))}
    home: dict[Any, Any] = {}  # the kernel of each reduction
    for node in cuts:
        grown: dict[Any, Any] = {}  # what depends on a reduction in this kernel: the reduction
        computed = inside(node, given)
        for part in computed:
            below = [grown[source] for source in part.src if source in grown]
            if part.op is mini.Ops.REDUCE_AXIS:
                if grown and part not in grown:
                    first = next(iter(grown))
                    return (f"The kernel of {name_of(node, names)} would have two reductions, "
                            f"{name_of(first, names)} and {name_of(part, names)}. There's room for "
                            "one.")  # fmt: skip
                if part in home:
                    return (f"Both the kernel of {name_of(home[part], names)} and that of "
                            f"{name_of(node, names)} would compute {name_of(part, names)}. Each "
                            "reduction should be computed once.")  # fmt: skip
                home[part], below = node, [part]
            if below:
                grown[part] = below[0]
                if size(part) > size(below[0]):
                    times = size(part) // size(below[0])
                    return (f"Each element of {name_of(below[0], names)} would be computed "
                            f"{times} times: in the kernel of {name_of(node, names)}, an EXPAND "
                            "repeats it before it is stored.")  # fmt: skip
    return ""


def fewest(mini: Any, graph: Any) -> list[Any]:
    """Cuts that are few, found in the same way for every graph."""
    order = graph.toposort()
    users: dict[Any, list[Any]] = {}
    for node in order:
        for source in set(node.src):
            users.setdefault(source, []).append(node)
    keep: set[Any] = set(graph.src)
    taken: set[Any] = set()
    for end in [node for node in order if node.op is mini.Ops.REDUCE_AXIS]:
        while end not in keep and len(users[end]) == 1:
            (user,) = users[end]
            is_next = size(user) == size(end) and user.op is not mini.Ops.REDUCE_AXIS
            if user in taken or not is_next:
                break
            end = user
            taken.add(end)
        keep.add(end)
    return [node for node in order if node in keep and not in_memory(mini, node)]


def as_list(got: Any, said: str) -> list[Any]:
    if got is None:
        raise Wrong(f"{said} returns nothing. Is there a `return`?", said)
    if not isinstance(got, Iterable) or isinstance(got, (str, set, frozenset)):
        raise Wrong(f"{said} should be a list.", said, "a list", type(got).__name__)
    return list(got)


def kernels_in_words(count: int) -> str:
    return f"{count} kernel{'' if count == 1 else 's'}"


def expect_cuts(mini: Any, said: str, graph: Any, names: Names | None = None) -> None:
    """Wrong unless stored() cuts a graph well: in words, at the first thing that isn't so."""
    names = names or {}
    cuts = as_list(mini.stored(graph), said)
    order = graph.toposort()
    for node in cuts:
        if not isinstance(node, mini.UOp):
            raise Wrong(f"{said} should be a list of nodes.", said, "UOps", describe(node))
        if node is graph:
            raise Wrong("The SINK has no values, so there's nothing to store.", said)
        if in_memory(mini, node):
            text = f"{name_of(node, names)} is in memory already. A kernel for it would copy it."
            raise Wrong(sentence(text), said)
        if node not in order:
            raise Wrong(f"{said} has a node that isn't in the graph.", said, got=repr(node))
    shown = f"[{', '.join(name_of(node, names).strip('`') for node in cuts)}]"
    if len(set(cuts)) < len(cuts):
        raise Wrong("A node is in the list twice, so it would be computed twice.", said, got=shown)
    if text := trouble(mini, graph, cuts, names):
        raise Wrong(sentence(text), said, got=shown)
    enough = len(fewest(mini, graph))
    if len(cuts) > enough:
        more = ""
        for node in cuts:
            if not trouble(mini, graph, [other for other in cuts if other is not node], names):
                more = " " + sentence(f"{name_of(node, names)} doesn't have to be stored.")
                break
        raise Wrong(f"That makes {kernels_in_words(len(cuts))}, and {enough} will do.{more}", said,
                    got=shown)  # fmt: skip
    given = {node for node in order if in_memory(mini, node)}
    for node in cuts:
        needed = {s for part in inside(node, {*cuts, *given}) for s in part.src if s in cuts}
        if late := needed - given:
            late_one = next(other for other in cuts if other in late)
            text = f"{name_of(node, names)} comes before {name_of(late_one, names)}, which its "
            raise Wrong(sentence(f"{text}kernel reads. Sources come first."), said, got=shown)
        given.add(node)


# ---- stored --------------------------------------------------------------------------------------


EVERY_PATH = "This follows every path, and there are 2^60 of them. Visit each node once."


@checks(
    "stored",
    "However many additions: what was asked for, and nothing else",
    told={OutOfTime: EVERY_PATH, MemoryError: EVERY_PATH},
)
def elementwise(mini: Any) -> None:
    a, b = buffer(mini, 4, 5), buffer(mini, 4, 5)
    product = op(mini, "MUL", a, b)
    node = op(mini, "ADD", product, a)
    names = {a: "a", b: "b", product: "a * b", node: "a * b + a"}
    expect_cuts(mini, "stored(UOp(Ops.SINK, (a * b + a,)))", sink(mini, node), names)
    long = node
    for _ in range(60):
        long = op(mini, "ADD", long, long)
    expect_cuts(mini, "stored(SINK) of sixty doublings", sink(mini, long))


@checks("stored", "Several results are all stored, even if one is made from the other")
def several(mini: Any) -> None:
    a = buffer(mini, 4, 5)
    root = op(mini, "SQRT", a)
    twice, square = op(mini, "ADD", root, root), op(mini, "MUL", root, root)
    names = {a: "a", root: "root", twice: "root + root", square: "root * root"}
    said = "stored(UOp(Ops.SINK, (root + root, root * root)))"
    expect_cuts(mini, said, sink(mini, twice, square), names)
    said = "stored(UOp(Ops.SINK, (root, root + root)))"
    expect_cuts(mini, said, sink(mini, root, twice), names)
    s = total(mini, a, 1)
    more = op(mini, "ADD", s, constant(mini, 1.0))
    said = "stored(UOp(Ops.SINK, (s, s + 1))), where s = a.sum(1, keepdim=True)"
    expect_cuts(mini, said, sink(mini, s, more), {a: "a", s: "s", more: "s + 1"})


@checks("stored", "What is in memory already isn't stored again, whatever its op is")
def memory(mini: Any) -> None:
    a = buffer(mini, 4, 5)
    root = op(mini, "SQRT", a)
    names = {a: "a", root: "a.sqrt()"}
    expect_cuts(mini, "stored(UOp(Ops.SINK, (a, a.sqrt())))", sink(mini, a, root), names)
    if mini.Ops.DEFINE_GLOBAL in mini.MEMORY:
        return
    before = mini.SHAPE.get(mini.Ops.DEFINE_GLOBAL)
    mini.SHAPE[mini.Ops.DEFINE_GLOBAL] = lambda node: node.arg
    mini.MEMORY.add(mini.Ops.DEFINE_GLOBAL)
    try:
        slot = op(mini, "DEFINE_GLOBAL", arg=(4, 5))
        root = op(mini, "SQRT", slot)
        said = "stored(UOp(Ops.SINK, (slot, slot.sqrt()))), with the op of `slot` in MEMORY"
        expect_cuts(mini, said, sink(mini, slot, root), {slot: "slot", root: "slot.sqrt()"})
    finally:
        mini.MEMORY.discard(mini.Ops.DEFINE_GLOBAL)
        del mini.SHAPE[mini.Ops.DEFINE_GLOBAL]
        if before:
            mini.SHAPE[mini.Ops.DEFINE_GLOBAL] = before


@checks("stored", "A sum that everything needs is stored before it's repeated")
def needed_whole(mini: Any) -> None:
    a = buffer(mini, 4, 5)
    for by, name in (("ADD", "sum"), ("MAX", "max")):
        s = total(mini, a, by=by)
        wide = spread(mini, s, 4, 5)
        y = op(mini, "MUL", a, wide)
        names = {a: "a", s: "s", wide: "s.expand(4, 5)", y: "y"}
        said = f"stored(SINK) of y = a * s.expand(4, 5), where s = a.{name}(keepdim=True)"
        expect_cuts(mini, said, sink(mini, y), names)
    rows = total(mini, a, 1)
    wide = spread(mini, rows, 4, 5)
    y = op(mini, "MUL", a, wide)
    names = {a: "a", rows: "s", wide: "s.expand(4, 5)", y: "y"}
    said = "stored(SINK) of y = a * s.expand(4, 5), where s = a.sum(1, keepdim=True)"
    expect_cuts(mini, said, sink(mini, y), names)


@checks("stored", "A reduction's kernel finishes what has its size")
def finishes(mini: Any) -> None:
    a = buffer(mini, 4, 5)
    s = total(mini, op(mini, "MUL", a, a), 1)
    more = op(mini, "ADD", s, constant(mini, 1.0))
    root = op(mini, "SQRT", more)
    names = {a: "a", s: "s", more: "s + 1", root: "y"}
    said = "stored(SINK) of y = (s + 1).sqrt(), where s = (a * a).sum(1, keepdim=True)"
    expect_cuts(mini, said, sink(mini, root), names)
    y = op(mini, "MUL", a, spread(mini, root, 4, 5))
    names |= {root: "(s + 1).sqrt()", y: "y"}
    said = "stored(SINK) of y = a * (s + 1).sqrt().expand(4, 5), where s = (a * a).sum(1, …)"
    expect_cuts(mini, said, sink(mini, y), names)


@checks("stored", "Two reductions are two kernels, side by side or one after the other")
def two_reductions(mini: Any) -> None:
    a, b = buffer(mini, 4, 5), buffer(mini, 4, 5)
    s, t = total(mini, a, 1), total(mini, b, 1)
    both = op(mini, "ADD", s, t)
    said = "stored(SINK) of s + t, where s = a.sum(1, …) and t = b.sum(1, …)"
    expect_cuts(mini, said, sink(mini, both), {a: "a", b: "b", s: "s", t: "t", both: "s + t"})
    last = total(mini, s, 0)
    said = "stored(SINK) of s.sum(0, …), where s = a.sum(1, …)"
    expect_cuts(mini, said, sink(mini, last), {a: "a", s: "s", last: "s.sum(0)"})
    maximum = total(mini, a, by="MAX")
    less = op(mini, "ADD", a, op(mini, "MUL", spread(mini, maximum, 4, 5), constant(mini, -1.0)))
    power = op(mini, "EXP2", less)
    whole = total(mini, power)
    y = op(mini, "MUL", power, op(mini, "RECIP", spread(mini, whole, 4, 5)))
    said = "stored(SINK) of a softmax over all of a"
    expect_cuts(mini, said, sink(mini, y), {a: "a", maximum: "the maximum", whole: "the sum",
                                             power: "the power", y: "the softmax"})  # fmt: skip


@checks("stored", "What two kernels need of a reduction is stored once")
def shared(mini: Any) -> None:
    a, b = buffer(mini, 4, 5), buffer(mini, 4, 5)
    s = total(mini, a, 1)
    p, q = op(mini, "SQRT", s), op(mini, "EXP2", s)
    names = {a: "a", b: "b", s: "s", p: "s.sqrt()", q: "EXP2 of s"}
    said = "stored(SINK) of s.sqrt() and EXP2 of s, where s = a.sum(1, keepdim=True)"
    expect_cuts(mini, said, sink(mini, p, q), names)
    wide = spread(mini, s, 4, 5)
    x, y = op(mini, "MUL", a, wide), op(mini, "MUL", b, wide)
    said = "stored(SINK) of a * wide and b * wide, where wide = a.sum(1, …).expand(4, 5)"
    names |= {wide: "wide", x: "a * wide", y: "b * wide"}
    expect_cuts(mini, said, sink(mini, x, y), names)
    cheap = op(mini, "ADD", a, b)
    x, y = total(mini, cheap, 0), total(mini, cheap, 1)
    names = {a: "a", b: "b", cheap: "a + b", x: "(a + b).sum(0)", y: "(a + b).sum(1)"}
    said = "stored(SINK) of (a + b).sum(0, …) and (a + b).sum(1, …)"
    expect_cuts(mini, said, sink(mini, x, y), names)


@checks("stored", "What a kernel reads comes before it in the list")
def in_order(mini: Any) -> None:
    a = buffer(mini, 4, 5)
    root = op(mini, "SQRT", a)
    twice = op(mini, "ADD", root, root)
    said = "stored(UOp(Ops.SINK, (root + root, root)))"
    expect_cuts(mini, said, sink(mini, twice, root), {a: "a", root: "root", twice: "root + root"})
    s = total(mini, a, 1)
    y = op(mini, "MUL", a, spread(mini, s, 4, 5))
    said = "stored(SINK) of y = a * s.expand(4, 5) and s, where s = a.sum(1, keepdim=True)"
    expect_cuts(mini, said, sink(mini, y, s), {a: "a", s: "s", y: "y"})


@checks("stored", "The rules hold in 200 random graphs")
def by_chance(mini: Any) -> None:
    dice = random.Random(4)
    for _ in range(200):
        graph = random_graph(mini, dice)
        expect_cuts(mini, "stored(SINK) of a random graph", graph)


def random_graph(mini: Any, dice: random.Random) -> Any:
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


# ---- cut -----------------------------------------------------------------------------------------


def values_of(mini: Any, node: Any) -> np.ndarray:
    """What a graph computes, by the rows of COMPUTE and nothing of the learner's but those."""
    values: dict[Any, Any] = {}
    for part in inside(node, set()):
        values[part] = mini.COMPUTE[part.op](part, *(values[source] for source in part.src))
    return values[node]


def rows_of(mini: Any, got: Any, said: str) -> list[tuple[Any, Any, Any]]:
    """The kernels as rows of three nodes."""
    rows = []
    for row in as_list(got, said):
        if not isinstance(row, (tuple, list)) or len(row) != 3:
            wanted = "Kernel(value, memory, graph)"
            raise Wrong(f"{said} should be a list of Kernels.", said, wanted, describe(row))
        for field, node in zip(("value", "memory", "graph"), row, strict=True):
            if not isinstance(node, mini.UOp):
                raise Wrong(f"The `{field}` of a Kernel is a node.", said, "a UOp", describe(node))
        rows.append(tuple(row))
    return rows


def expect_kernels(mini: Any, said: str, graph: Any, names: Names | None = None) -> None:
    """Wrong unless cut() gives kernels that can be run one after the other, each on its own."""
    names = names or {}
    rows = rows_of(mini, mini.cut(graph), said)
    order, wanted = graph.toposort(), list(mini.stored(graph))
    buffers = {node for node in order if in_memory(mini, node)}
    values = [value for value, _, _ in rows]
    for node in wanted:
        if node not in values:
            raise Wrong(f"stored(sink) has {name_of(node, names)}, and no kernel stores it.", said,
                        kernels_in_words(len(wanted)), kernels_in_words(len(rows)))  # fmt: skip
    for value, place, _ in rows:
        if value not in wanted:
            raise Wrong(f"There's a kernel for {name_of(value, names)}, which isn't in "
                        "stored(sink).", said, kernels_in_words(len(wanted)),
                        kernels_in_words(len(rows)))  # fmt: skip
        if place.op is not mini.Ops.BUFFER:
            raise Wrong(f"The `memory` of the kernel of {name_of(value, names)} isn't a BUFFER. "
                        "`memory_for(value)` gives one.", said, "a BUFFER",
                        place.op.name)  # fmt: skip
        if place in buffers:
            raise Wrong(f"The kernel of {name_of(value, names)} would overwrite a BUFFER that the "
                        "graph starts from.", said)  # fmt: skip
        if place.shape != value.shape:
            raise Wrong(f"The memory for {name_of(value, names)} has the wrong shape.", said,
                        value.shape, place.shape)  # fmt: skip
    places = [place for _, place, _ in rows]
    if len(set(places)) < len(places) or len(set(values)) < len(values):
        raise Wrong("Two kernels write to the same memory.", said)
    _expect_to_run(mini, said, rows, buffers, names)


def _expect_to_run(mini: Any, said: str, rows: list[Any], buffers: set[Any], names: Names) -> None:
    """Run each kernel by itself, in order."""
    written, writer = set(buffers), {place: value for value, place, _ in rows}
    for value, place, graph in rows:
        kernel = f"The kernel of {name_of(value, names)}"
        leaves = {part for part in inside(graph, set()) if in_memory(mini, part)}
        if place in leaves:
            raise Wrong(f"{kernel} reads the memory that it is about to write. Its graph is how to "
                        "compute the value.", said, got=repr(graph))  # fmt: skip
        for leaf in leaves - written:
            late = f"`memory` of {name_of(writer[leaf], names)}" if leaf in writer else "a BUFFER"
            told = (f"{kernel} reads the {late}, which is only written later." if leaf in writer
                    else f"{kernel} reads a BUFFER that no kernel writes.")  # fmt: skip
            raise Wrong(told, said)
        original = inside(value, set())
        for other in writer.values():
            if other is not value and other in original and other in inside(graph, set()):
                raise Wrong(f"{kernel} computes {name_of(other, names)} again. Another kernel has "
                            "stored it, so read that kernel's memory.", said)  # fmt: skip
        wanted = values_of(mini, value)
        expect_values(f"what the kernel of {name_of(value, names)} computes",
                      values_of(mini, graph), wanted)  # fmt: skip
        again = {u for u in inside(graph, leaves) if u.op is mini.Ops.REDUCE_AXIS}
        if len(again) > 1:
            raise Wrong(f"{kernel} has {len(again)} reductions in its graph. What another kernel "
                        "has stored is read from memory.", said)  # fmt: skip
        place.arg.data[...] = wanted
        written.add(place)


@checks("cut", "One kernel for each value that is stored", needs=("stored",))
def one_each(mini: Any) -> None:
    a, b = buffer(mini, 4, 5), buffer(mini, 4, 5)
    node = op(mini, "ADD", op(mini, "MUL", a, b), a)
    names = {a: "a", b: "b", node: "a * b + a"}
    expect_kernels(mini, "cut(UOp(Ops.SINK, (a * b + a,)))", sink(mini, node), names)
    root = op(mini, "SQRT", node)
    names[root] = "root"
    said = "cut(UOp(Ops.SINK, (a * b + a, root))), where root = (a * b + a).sqrt()"
    expect_kernels(mini, said, sink(mini, node, root), names)


@checks("cut", "The second kernel reads what the first one wrote", needs=("stored",))
def reads_memory(mini: Any) -> None:
    a = buffer(mini, 4, 5)
    s = total(mini, a)
    y = op(mini, "MUL", spread(mini, s, 4, 5), a)
    names = {a: "a", s: "s", y: "y"}
    said = "cut(SINK) of y = s.expand(4, 5) * a, where s = a.sum(keepdim=True)"
    expect_kernels(mini, said, sink(mini, y), names)
    t = total(mini, y, 1)
    last = total(mini, op(mini, "MUL", spread(mini, t, 4, 5), a))
    names = {a: "a", s: "s", t: "t", last: "the last"}
    said = "cut(SINK) of three sums, each of a times what the one before gives"
    expect_kernels(mini, said, sink(mini, last), names)


@checks("cut", "Whoever calls it chooses the memory", needs=("stored",))
def chosen_memory(mini: Any) -> None:
    a = buffer(mini, 4, 5)
    s = total(mini, a, 1)
    y = op(mini, "MUL", spread(mini, s, 4, 5), a)
    given: dict[Any, Any] = {}

    def memory_for(node: Any) -> Any:
        given[node] = mini.UOp(mini.Ops.BUFFER, (), mini.Buffer(np.zeros(node.shape)))
        return given[node]

    said = "cut(sink, memory_for)"
    rows = rows_of(mini, mini.cut(sink(mini, y), memory_for), said)
    for value, place, _ in rows:
        if given.get(value) is not place:
            raise Wrong("The `memory` of a kernel should be what memory_for(value) returned for "
                        "it.", said)  # fmt: skip


@checks("cut", "Kernels of 100 random graphs can be run one by one", needs=("stored",))
def run_by_chance(mini: Any) -> None:
    dice = random.Random(5)
    for _ in range(100):
        expect_kernels(mini, "cut(SINK) of a random graph", random_graph(mini, dice))


TOO_DEEP = (
    "The function calls itself, and this chain is deeper than Python allows. toposort() has every "
    "node after its sources, so one loop is enough."
)
TOO_SLOW = (
    "This follows every path, of which there are 2^60, or it searches the whole graph again for "
    "each node, here or in `stored`. Visit each node once."
)


@checks(
    "cut",
    "A chain of 5,000 nodes, and sixty doublings",
    needs=("stored",),
    told={RecursionError: TOO_DEEP, OutOfTime: TOO_SLOW, MemoryError: TOO_SLOW},
)
def deep(mini: Any) -> None:
    node = buffer(mini, 4)
    for _ in range(60):
        node = op(mini, "MUL", op(mini, "ADD", node, node), constant(mini, 0.5))
    for _ in range(5_000):
        node = op(mini, "SQRT", node)
    rows = rows_of(mini, mini.cut(sink(mini, node)), "cut(SINK) of a long chain")
    if len(rows) != 1:
        raise Wrong("A chain of elementwise ops is one kernel.", "cut(SINK) of a long chain",
                    "1 kernel", kernels_in_words(len(rows)))  # fmt: skip
    expect_values("a long chain", values_of(mini, rows[0][2]), values_of(mini, node))


# ---- run_kernels ---------------------------------------------------------------------------------

ALL_BELOW = ("stored", "cut")


def expect_run(mini: Any, said: str, graph: Any) -> None:
    got = as_list(mini.run_kernels(graph), said)
    if len(got) != len(graph.src):
        raise Wrong("There should be one array for each source of the SINK.", said,
                    str(len(graph.src)), str(len(got)))  # fmt: skip
    for values, source in zip(got, graph.src, strict=True):
        if isinstance(values, mini.UOp):
            raise Wrong("The result should be arrays, and this is a node.", said, got=repr(values))
        values = np.asarray(values)
        if np.isnan(values).any():
            raise Wrong("There are NaNs in the result: it comes from memory that no kernel has "
                        "written, or one of the kernels read such memory.", said)  # fmt: skip
        expect_values(said, values, values_of(mini, source))


@checks("run_kernels", "The values of every source, in their order", needs=ALL_BELOW)
def values_in_order(mini: Any) -> None:
    a = buffer(mini, 2, 2)
    s = total(mini, a)
    y = op(mini, "MUL", a, spread(mini, s, 2, 2))
    expect_run(mini, "run_kernels(UOp(Ops.SINK, (s,))), where s = a.sum(keepdim=True)",
               sink(mini, s))  # fmt: skip
    said = "run_kernels(UOp(Ops.SINK, (y, a, s))), where y = a * s.expand(2, 2)"
    expect_run(mini, said, sink(mini, y, a, s))


@checks("run_kernels", "Each kernel is computed by itself", needs=ALL_BELOW)
def one_by_one(mini: Any) -> None:
    root = op(mini, "SQRT", buffer(mini, 4, 5))
    x, y = total(mini, root, 0), total(mini, root, 1)
    said = "run_kernels(SINK) of root.sum(0, …) and root.sum(1, …), where root = a.sqrt()"
    if (times := computed(mini, "SQRT", x, y)) < 2:
        raise Wrong("Two kernels need the root, and neither stores it, so each computes it. Here "
                    "it was computed once: the graph was run as a whole.", said,
                    "2 SQRT", f"{times} SQRT")  # fmt: skip
    a = buffer(mini, 4, 5)
    said = "run_kernels(SINK) of a * s.expand(4, 5), where s = a.sum(keepdim=True)"
    share = op(mini, "MUL", a, spread(mini, total(mini, a), 4, 5))
    if (times := computed(mini, "REDUCE_AXIS", share)) > 1:
        raise Wrong("The first kernel stores the sum, and the second should read it from there. "
                    "Here it was added up again. A kernel's `graph` starts from memory, and its "
                    "`value` doesn't.", said, "1 REDUCE_AXIS", f"{times} REDUCE_AXIS")  # fmt: skip


def computed(mini: Any, name: str, *nodes: Any) -> int:
    """How often an op is computed while the kernels for these nodes run."""
    op, calls = mini.Ops[name], []
    row = mini.COMPUTE[op]

    def count(*arguments: Any) -> Any:
        calls.append(1)
        return row(*arguments)

    mini.COMPUTE[op] = count
    try:
        mini.run_kernels(sink(mini, *nodes))
    finally:
        mini.COMPUTE[op] = row
    return len(calls)


@checks("run_kernels", "The values of 100 random graphs", needs=ALL_BELOW)
def runs_by_chance(mini: Any) -> None:
    dice = random.Random(6)
    for _ in range(100):
        expect_run(mini, "run_kernels(SINK) of a random graph", random_graph(mini, dice))
