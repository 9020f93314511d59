"""Stage 4b: its kernels compute what the graph says, tinyframe counts as many, and any right answer
is right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classroom.ask import kernels as kernels_of_tinyframe
from classroom.mini import loader
from classroom.mini.drawn import draw_kernels
from classroom.mini.stages import STAGES
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


def test_no_kernels_are_a_picture_too():
    assert str(draw_kernels([])) == "0 kernels"
