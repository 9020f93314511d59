"""Stage 4b: its kernels compute what the graph says, tinyframe counts as many, and any right answer
is right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classroom.ask import kernels as kernels_of_tinyframe
from classroom.mini import loader, stages
from classroom.mini.drawn import draw_kernels
from classroom.mini.stages import STAGES
from tests.mini.judged import verdicts
from tests.mini.planted import paths_with, with_body
from tests.mini.test_framework import STEPS, programs, shapes
from tinyframe import Tensor as Reference


@pytest.fixture(scope="module", autouse=True)
def the_reference():
    loader.use(STAGES[-1])


def namespace():
    import mini.part4
    import mini.part4b
    import mini.part5
    import mini.part6

    return mini


def sink_of(*tensors):
    part4 = namespace().part4
    return part4.UOp(part4.Ops.SINK, tuple(tensor.uop for tensor in tensors))


@given(shapes, programs, st.integers(0, 1000), st.booleans())
def test_kernel_by_kernel_a_graph_and_its_gradient_have_the_same_values(
    shape, program, seed, differentiated
):
    part4, part4b = namespace().part4, namespace().part4b
    start = t = part4.Tensor(np.random.default_rng(seed).standard_normal(shape))
    for name in program:
        t = STEPS[name][0](t)
    results = [t, *(t * t).sum().gradient(start)] if differentiated else [t]
    sink = sink_of(*results)
    for one, other in zip(part4b.run_kernels(sink), part4.interpret(sink), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
    for kernel in part4b.cut(sink):  # as stage 7 needs them
        below = kernel.graph.toposort()
        assert sum(node.op is part4.Ops.REDUCE_AXIS for node in below) <= 1
        assert {node.op for node in below if not node.src} <= {part4.Ops.BUFFER, part4.Ops.CONST}


# In both frameworks: what is written down, and how many kernels each of them makes of it. (Ours
# computes row sums in the loop over rows, and all of a softmax's numbers in one kernel.)
COUNTS = {
    "a * 2 + 1": (lambda a, b: a * 2 + 1, 1, 1),
    "a sum of what is positive": (lambda a, b: (a + b).relu().sum(keepdim=True), 1, 1),
    "what follows a sum": (lambda a, b: ((a * a).sum(1, keepdim=True) + 1).sqrt(), 1, 1),
    "shares": (lambda a, b: a / a.sum(keepdim=True).expand(64, 64), 2, 2),
    "less its largest": (lambda a, b: a - a.max(keepdim=True).expand(64, 64), 2, 2),
    "columns, then rows": (
        lambda a, b: (a / a.sum(0, keepdim=True).expand(64, 64)).sum(1, keepdim=True), 2, 2,
    ),
    "two shares": (
        lambda a, b: a / a.sum(keepdim=True).expand(64, 64)
        + b / b.sum(keepdim=True).expand(64, 64), 3, 3,
    ),
    "shares of rows": (lambda a, b: a / a.sum(1, keepdim=True).expand(64, 64), 2, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_as_many_kernels_as_tinyframe_or_more(name):
    expression, wanted, of_tinyframe = COUNTS[name]
    part4, part4b = namespace().part4, namespace().part4b
    x, y = np.random.default_rng(0).random((2, 64, 64), dtype=np.float32)
    mine = expression(part4.Tensor(x), part4.Tensor(y))
    theirs = expression(Reference(x).realize(), Reference(y).realize())
    assert len(part4b.cut(sink_of(mine))) == wanted
    assert kernels_of_tinyframe(theirs) == of_tinyframe
    (values,) = part4b.run_kernels(sink_of(mine))
    np.testing.assert_allclose(values, theirs.numpy(), rtol=1e-4)


def test_a_training_step_is_cut():
    part4, part4b, part6 = namespace().part4, namespace().part4b, namespace().part6
    dice = np.random.default_rng(1)
    x, y = part4.Tensor(dice.standard_normal((8, 3))), part4.Tensor(dice.standard_normal((8, 2)))
    weights, again = [
        [part4.Tensor(np.full(shape, 0.3)) for shape in ((3, 4), (4, 2))] for _ in range(2)
    ]

    def step(w, run):
        before, part4.Tensor.run = part4.Tensor.run, staticmethod(run)
        try:
            error = (x @ w[0]).relu() @ w[1] - y
            return part6.Adam(w).step((error * error).sum()).numpy(), [v.numpy() for v in w]
        finally:
            part4.Tensor.run = staticmethod(before)

    loss, found = step(weights, part4b.run_kernels)
    same_loss, wanted = step(again, part4.interpret)
    np.testing.assert_allclose(loss, same_loss, rtol=1e-5)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4)


def test_the_picture_has_a_box_for_each_kernel_and_the_names():
    part4, part4b = namespace().part4, namespace().part4b
    a = part4.Tensor(np.ones((4, 5)))
    s = a.sum(1, keepdim=True)
    y = a * s.expand(4, 5) + 1
    picture = draw_kernels(part4b.cut(sink_of(y)), a=a, s=s, y=y)
    text = str(picture)
    assert text.startswith("2 kernels") and "<svg" in picture.svg()
    assert "s = REDUCE_AXIS ADD" in text and "over axis 1; stored" in text
    assert "y = ADD" in text and "· + 1; stored" in text and text.count("BUFFER") == 1
    assert "kernel 1 (%1)" in text and "kernel 2 (%2, %3, %4)" in text


def test_no_kernels_are_a_picture_too():
    assert str(draw_kernels([])) == "0 kernels"


# ---- answers that are right, and not the reference's ---------------------------------------------

RIGHT = {
    "a generator": ("stored", """
        order, users = sink.toposort(), {}
        for node in order:
            for source in set(node.src):
                users.setdefault(source, []).append(node)
        keep, taken = set(sink.src), set()
        for end in [node for node in order if node.op is Ops.REDUCE_AXIS]:
            while end not in keep and len(users[end]) == 1:
                (user,) = users[end]
                if user.op is Ops.REDUCE_AXIS or user in taken or size(user) != size(end):
                    break
                end = user
                taken.add(end)
            keep.add(end)
        return (node for node in order if node in keep and node.op not in MEMORY)
        """),
    "the last reduction first": ("stored", """
        order, users = sink.toposort(), {}
        for node in order:
            for source in set(node.src):
                users.setdefault(source, []).append(node)
        keep, taken = set(sink.src), set()
        for end in [node for node in reversed(order) if node.op is Ops.REDUCE_AXIS]:
            while end not in keep and len(users[end]) == 1:
                (user,) = users[end]
                if user.op is Ops.REDUCE_AXIS or user in taken or size(user) != size(end):
                    break
                end = user
                taken.add(end)
            keep.add(end)
        return tuple(node for node in order if node in keep and node.op not in MEMORY)
        """),
    "from the results down: the sum itself, unless a result can finish it": ("stored", """
        order, keep = sink.toposort(), {}
        users = {}
        for node in order:
            for source in set(node.src):
                users.setdefault(source, set()).add(node)
        finished, seen = set(), set()
        for result in dict.fromkeys(sink.src):
            below = [result]
            while below:
                node = below.pop()
                if node in seen:
                    continue
                seen.add(node)
                if node.op is Ops.REDUCE_AXIS:
                    finished.add(node)
                    break
                below += [
                    source for source in node.src
                    if size(source) == size(node) and users[source] == {node}
                    and source not in sink.src
                ]
        keep = {node for node in order if node.op is Ops.REDUCE_AXIS} - finished | set(sink.src)
        return [node for node in order if node in keep and node.op not in MEMORY]
        """),
    "where all the ways from a sum meet again": ("stored", """
        order, users = sink.toposort(), {}
        for node in order:
            for source in set(node.src):
                users.setdefault(source, []).append(node)
        keep, inside = set(sink.src), {}
        for start in [node for node in order if node.op is Ops.REDUCE_AXIS]:
            end, group = start, {start}
            while end not in keep:
                open_ends = {u for node in group for u in users.get(node, ())} - group
                grow = [u for u in order if u in open_ends]
                if not grow or any(
                    u.op in (Ops.REDUCE_AXIS, Ops.SINK) or u in inside or size(u) != size(start)
                    for u in grow
                ) or any(node in keep for node in group):
                    break
                group.add(grow[0])
                open_ends = {u for node in group for u in users.get(node, ())} - group
                leaving = [n for n in group if set(users.get(n, ())) - group or n in keep]
                if len(leaving) == 1:
                    end = leaving[0]
            if end is start:
                group = {start}
            leaving = [n for n in group if set(users.get(n, ())) - group or n in keep]
            if leaving != [end]:
                end = start if len(users[start]) > 1 else end
                group = {start}
            inside.update(dict.fromkeys(group))
            keep.add(end)
        return [node for node in order if node in keep and node.op not in MEMORY]
        """),
    "tuples": ("cut", """
        keep, stands_for, kernels = set(stored(sink)), {}, []
        for node in sink.toposort()[:-1]:
            graph = UOp(node.op, tuple(stands_for[source] for source in node.src), node.arg)
            stands_for[node] = graph
            if node in keep:
                stands_for[node] = memory_for(node)
                kernels.append((node, stands_for[node], graph))
        return tuple(kernels)
        """),
    "memory first, then each kernel by itself": ("cut", """
        places = {node: memory_for(node) for node in stored(sink)}
        for value in places:
            stands_for = {}
            for node in value.toposort():
                graph = UOp(node.op, tuple(stands_for[s] for s in node.src), node.arg)
                stands_for[node] = places.get(node, graph)
            yield Kernel(value, places[value], graph)
        """),
}  # fmt: skip


@pytest.fixture(scope="module")
def judged_right(tmp_path_factory):
    stage, folder, files = stages.find("4b"), tmp_path_factory.mktemp("right"), []
    for number, (function, body) in enumerate(RIGHT.values()):
        files.append(folder / str(number) / stage.file)
        files[-1].parent.mkdir()
        files[-1].write_text(with_body(stage.reference.read_text(), function, body))
    return dict(
        zip(RIGHT, verdicts(stage, [paths_with(stage, file) for file in files]), strict=True)
    )


@pytest.mark.parametrize("name", RIGHT)
def test_an_unusual_answer_is_right(judged_right, name):
    verdict = judged_right[name]
    assert verdict.state == "right", [(r.of, r.text, r.rows) for r in verdict.failed]
