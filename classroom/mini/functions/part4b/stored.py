"""Hint: Without reductions, what would you store? Then take them one at a time. Somewhere the
values of each one have to end up in memory. What may its kernel still do with them first, and when
is it over?
Hint: From each reduction, go on to its user, as long as there is just one, it isn't a reduction, it
has as many elements, and no other reduction's kernel has taken it already. Stop at what was asked
for. Where you stop is stored. You need a dict from each node to its users, and the SINK counts as
one.
Because: Every reduction walks down to the last node that its own loops can finish, and that node is
stored. If that is what was asked for anyway, the reduction costs no kernel of its own. `taken`
keeps a second reduction out of the same kernel.
"""

import math
import random
from collections.abc import Sequence
from typing import Any
from unittest import mock

from classroom.limit import OutOfTime
from classroom.mini.check import Wrong, describe, promise, wrong_if
from classroom.mini.functions.part4b.shared import (
    Names,
    as_list,
    buffer,
    in_memory,
    inside,
    kernels_in_words,
    name_of,
    random_graph,
    sink,
    spread,
    total,
)


def size(node: Any) -> int:
    return math.prod(node.shape)


def sentence(text: str) -> str:
    """With a capital letter at the beginning; `capitalize` would make all others small."""
    return text[:1].upper() + text[1:]


def trouble(mini, graph: Any, cuts: list[Any], names: Names) -> str:
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


def fewest(mini, graph: Any) -> list[Any]:
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


def expect_cuts(mini, said: str, results: Sequence[Any], names: Names | None = None) -> None:
    """Wrong unless stored() cuts a graph well: in words, at the first thing that isn't so."""
    names, graph = names or {}, sink(mini, *results)
    cuts = as_list(mini.stored(graph), said)
    order = graph.toposort()
    for node in cuts:
        if not isinstance(node, mini.UOp):
            raise Wrong(f"{said} should be a list of nodes.", said, "UOps", describe(node))
        wrong_if(node is graph, "The SINK has no values, so there's nothing to store.", said)
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


EVERY_PATH = "This follows every path, and there are 2^60 of them. Visit each node once."


@promise("However many additions: what was asked for, and nothing else",
         told={OutOfTime: EVERY_PATH, MemoryError: EVERY_PATH})  # fmt: skip
def elementwise(mini) -> None:
    a, b = buffer(mini, 4, 5), buffer(mini, 4, 5)
    node = a * b + a
    names = {a: "a", b: "b", a * b: "a * b", node: "a * b + a"}
    expect_cuts(mini, "stored(UOp(Ops.SINK, (a * b + a,)))", [node], names)
    for _ in range(60):
        node = node + node
    expect_cuts(mini, "stored(SINK) of sixty doublings", [node])


@promise("Several results are all stored, even if one is made from the other")
def several(mini) -> None:
    a = buffer(mini, 4, 5)
    root, s = a.sqrt(), total(mini, a, 1)
    twice, square = root + root, root * root
    names = {a: "a", root: "root", twice: "root + root", square: "root * root", s: "s"}
    for said, *results in (
        ("stored(UOp(Ops.SINK, (root + root, root * root)))", twice, square),
        ("stored(UOp(Ops.SINK, (root, root + root)))", root, twice),
        ("stored(UOp(Ops.SINK, (s, s + 1))), where s = a.sum(1, keepdim=True)", s, s + 1),
    ):
        expect_cuts(mini, said, results, {**names, s + 1: "s + 1"})


@promise("What is in memory already isn't stored again, whatever its op is")
def memory(mini) -> None:
    a = buffer(mini, 4, 5)
    names = {a: "a", a.sqrt(): "a.sqrt()"}
    expect_cuts(mini, "stored(UOp(Ops.SINK, (a, a.sqrt())))", [*names], names)
    if mini.Ops.DEFINE_GLOBAL in mini.MEMORY:
        return
    mini.MEMORY.add(mini.Ops.DEFINE_GLOBAL)
    try:
        with mock.patch.dict(mini.SHAPE, {mini.Ops.DEFINE_GLOBAL: lambda node: node.arg}):
            slot = mini.UOp(mini.Ops.DEFINE_GLOBAL, (), (4, 5))
            names = {slot: "slot", slot.sqrt(): "slot.sqrt()"}
            said = "stored(UOp(Ops.SINK, (slot, slot.sqrt()))), with the op of `slot` in MEMORY"
            expect_cuts(mini, said, [*names], names)
    finally:
        mini.MEMORY.discard(mini.Ops.DEFINE_GLOBAL)


@promise("A sum that everything needs is stored before it's repeated")
def needed_whole(mini) -> None:
    a = buffer(mini, 4, 5)
    for made, s in (
        ("a.sum(keepdim=True)", total(mini, a)),
        ("a.max(keepdim=True)", total(mini, a, by="MAX")),
        ("a.sum(1, keepdim=True)", total(mini, a, 1)),
    ):
        wide = spread(mini, s, 4, 5)
        names = {a: "a", s: "s", wide: "s.expand(4, 5)", a * wide: "y"}
        said = f"stored(SINK) of y = a * s.expand(4, 5), where s = {made}"
        expect_cuts(mini, said, [a * wide], names)


@promise("A reduction's kernel finishes what has its size")
def finishes(mini) -> None:
    a = buffer(mini, 4, 5)
    s = total(mini, a * a, 1)
    root = (s + 1).sqrt()
    names = {a: "a", s: "s", s + 1: "s + 1", root: "y"}
    said = "stored(SINK) of y = (s + 1).sqrt(), where s = (a * a).sum(1, keepdim=True)"
    expect_cuts(mini, said, [root], names)
    y = a * spread(mini, root, 4, 5)
    names |= {root: "(s + 1).sqrt()", y: "y"}
    said = "stored(SINK) of y = a * (s + 1).sqrt().expand(4, 5), where s = (a * a).sum(1, …)"
    expect_cuts(mini, said, [y], names)


@promise("Two reductions are two kernels, side by side or one after the other")
def two_reductions(mini) -> None:
    a, b = buffer(mini, 4, 5), buffer(mini, 4, 5)
    s, t, maximum = total(mini, a, 1), total(mini, b, 1), total(mini, a, by="MAX")
    last, power = total(mini, s, 0), (a + spread(mini, maximum, 4, 5) * -1.0).exp2()
    whole = total(mini, power)
    softmax = power * spread(mini, whole, 4, 5).recip()
    names = {a: "a", b: "b", s: "s", t: "t", s + t: "s + t", last: "s.sum(0)", power: "the power",
             maximum: "the maximum", whole: "the sum", softmax: "the softmax"}  # fmt: skip
    for said, result in (
        ("stored(SINK) of s + t, where s = a.sum(1, …) and t = b.sum(1, …)", s + t),
        ("stored(SINK) of s.sum(0, …), where s = a.sum(1, …)", last),
        ("stored(SINK) of a softmax over all of a", softmax),
    ):
        expect_cuts(mini, said, [result], names)


@promise("What two kernels need of a reduction is stored once")
def shared(mini) -> None:
    a, b = buffer(mini, 4, 5), buffer(mini, 4, 5)
    s = total(mini, a, 1)
    p, q, wide = s.sqrt(), s.exp2(), spread(mini, s, 4, 5)
    down, across = total(mini, a + b, 0), total(mini, a + b, 1)
    names = {a: "a", b: "b", s: "s", p: "s.sqrt()", q: "EXP2 of s", wide: "wide",
             a * wide: "a * wide", b * wide: "b * wide", a + b: "a + b",
             down: "(a + b).sum(0)", across: "(a + b).sum(1)"}  # fmt: skip
    for said, *results in (
        ("stored(SINK) of s.sqrt() and EXP2 of s, where s = a.sum(1, keepdim=True)", p, q),
        ("stored(SINK) of a * wide and b * wide, where wide = a.sum(1, …).expand(4, 5)",
         a * wide, b * wide),
        ("stored(SINK) of (a + b).sum(0, …) and (a + b).sum(1, …)", down, across),
    ):  # fmt: skip
        expect_cuts(mini, said, results, names)


@promise("What a kernel reads comes before it in the list")
def in_order(mini) -> None:
    a = buffer(mini, 4, 5)
    root, s = a.sqrt(), total(mini, a, 1)
    twice, y = root + root, a * spread(mini, s, 4, 5)
    names = {a: "a", root: "root", twice: "root + root", s: "s", y: "y"}
    said = "stored(UOp(Ops.SINK, (root + root, root)))"
    expect_cuts(mini, said, [twice, root], names)
    said = "stored(SINK) of y = a * s.expand(4, 5) and s, where s = a.sum(1, keepdim=True)"
    expect_cuts(mini, said, [y, s], names)


@promise("The rules hold in 200 random graphs")
def by_chance(mini) -> None:
    dice = random.Random(4)
    for _ in range(200):
        expect_cuts(mini, "stored(SINK) of a random graph", random_graph(mini, dice).src)

# %% wrong: says That makes 2 kernels, and 1 will do. `a * b` doesn't have to be stored.
def stored(sink):
    return [n for n in sink.toposort() if n.op not in MEMORY and n is not sink]

# %% wrong: from the start, without looking at who else needs a reduction
def stored(sink):
    order = sink.toposort()[:-1]
    keep, held = {n for n in sink.src if n.op not in MEMORY}, {}
    for n in order:
        for s in n.src:
            if held.get(s) and s not in keep:
                others = set().union(*(held[o] for o in n.src if o not in keep)) - held[s]
                if n.op is Ops.REDUCE_AXIS or n.shape != s.shape or others:
                    keep.add(s)
        below = set().union(*(held[s] for s in n.src if s not in keep))
        held[n] = {n} if n.op is Ops.REDUCE_AXIS else below
    return [n for n in order if n in keep]

# %% wrong: says The SINK has no values
def stored(sink):
    return [node for node in sink.toposort() if node.src]

# %% wrong: says `a` is in memory already
def stored(sink):
    return list(sink.src)

# %% wrong: says returns nothing. Is there a `return`?
def stored(sink):
    keep = set(sink.src)

# %% wrong: says Each element of `s` would be computed 20 times: in the kernel of `y`, an EXPAND
def stored(sink):
    return [node for node in sink.src if node.op not in MEMORY]

# %% wrong: says A node is in the list twice
def stored(sink):
    keep = [node for node in sink.toposort() if node.op is Ops.REDUCE_AXIS]
    return [node for node in sink.src if node.op not in MEMORY] + keep

# %% wrong: says `s + 1` comes before `s`, which its kernel reads
def stored(sink):
    keep = [node for node in sink.toposort() if node.op is Ops.REDUCE_AXIS]
    return [node for node in sink.src if node.op not in {*MEMORY, Ops.REDUCE_AXIS}] + keep

# %% wrong: says This follows every path
def stored(sink):
    def below(node):
        return [node] + [found for source in node.src for found in below(source)]

    keep = [node for node in below(sink)[1:] if node.op is Ops.REDUCE_AXIS or node in sink.src]
    return [node for node in sink.toposort() if node in keep and node.op not in MEMORY]

# %% wrong: says should be a list.
def stored(sink):
    return {node for node in sink.src if node.op not in MEMORY}

# %% wrong: says should be a list of nodes
def stored(sink):
    return [node.op for node in sink.src if node.op not in MEMORY]

# %% wrong: says has a node that isn't in the graph
def stored(sink):
    return [node * 1 for node in sink.src]

# %% right
def stored(sink):
    order, users = sink.toposort(), {}
    for node in order:
        for source in set(node.src):
            users.setdefault(source, []).append(node)
    keep, taken = set(sink.src), set()
    for end in [node for node in order if node.op is Ops.REDUCE_AXIS]:
        while end not in keep and len(users[end]) == 1:
            (user,) = users[end]
            alike = math.prod(user.shape) == math.prod(end.shape)
            if user.op is Ops.REDUCE_AXIS or user in taken or not alike:
                break
            end = user
            taken.add(end)
        keep.add(end)
    return (node for node in order if node in keep and node.op not in MEMORY)
