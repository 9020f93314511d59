"""What the reference computes: over generated shapes and graphs, against NumPy and slopes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classroom.mini import loader
from classroom.mini.stages import STAGES


@pytest.fixture(scope="module", autouse=True)
def the_reference():
    """Package `mini`, for this file; what was imported under that name is put out of the way."""
    loader.use(STAGES[-1])


def namespace():
    import mini.part3
    import mini.part4
    import mini.part5
    import mini.part6

    return mini


# ---- index rules: the same on numbers, on arrays and on stage 3's Arrays -------------------------

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


@st.composite
def movements(draw):
    """(op, shape of the source, arg, what NumPy does)."""
    shape = draw(shapes)
    op = draw(st.sampled_from("RESHAPE PERMUTE EXPAND SHRINK FLIP PAD".split()))
    axes = range(len(shape))
    if op == "RESHAPE":
        new = (*draw(st.permutations(shape)), 1)
        return op, shape, new, lambda x: x.reshape(new)
    if op == "PERMUTE":
        order = tuple(draw(st.permutations(axes)))
        return op, shape, order, lambda x: x.transpose(order)
    if op == "EXPAND":
        new = tuple(n if n > 1 else draw(st.integers(1, 3)) for n in shape)
        return op, shape, new, lambda x: np.broadcast_to(x, new)
    if op == "SHRINK":
        bounds = tuple((draw(st.integers(0, n - 1)), n) for n in shape)
        return op, shape, bounds, lambda x: x[tuple(slice(*b) for b in bounds)]
    if op == "FLIP":
        flipped = tuple(axis for axis in axes if draw(st.booleans()))
        return op, shape, flipped, lambda x: np.flip(x, flipped)
    widths = tuple((draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in axes)
    return op, shape, widths, lambda x: np.pad(x, widths)


@given(movements())
def test_index_rules_agree_with_numpy_on_numbers_on_arrays_and_on_arrays_of_stage_3(movement):
    name, shape, arg, by_numpy = movement
    mini = namespace()
    op, rule = mini.part4.Ops[name], mini.part5.SOURCE_INDEX[mini.part4.Ops[name]]
    x = np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)
    wanted = by_numpy(x)

    node = mini.part4.UOp(op, (mini.part4.Tensor(x).uop,), arg)
    assert node.shape == wanted.shape
    np.testing.assert_array_equal(mini.part4.Tensor(node).numpy(), wanted)

    array = mini.part3.Array.of(x.ravel().tolist(), *shape)
    moved = array.moved(wanted.shape, lambda index: rule(index, shape, arg))
    elements = np.array(moved.tolist()).reshape(wanted.shape)
    if name == "PAD":  # where nothing is, something that can be read
        index = itertools.product(*map(range, wanted.shape))
        inside = [bool(mini.part5.inside(i, shape, arg)) for i in index]
        elements = elements * np.array(inside).reshape(wanted.shape)
    np.testing.assert_array_equal(elements, wanted)


@given(shapes)
def test_flat_and_unflat_are_numpys_ravel_and_unravel(shape):
    part3 = namespace().part3
    for place in range(int(np.prod(shape))):
        index = tuple(int(i) for i in np.unravel_index(place, shape))
        assert part3.unflat(place, shape) == index and part3.flat(index, shape) == place


# ---- generated graphs ----------------------------------------------------------------------------

# name: what is done with a Tensor t of any shape, and the same with a NumPy array.
STEPS = {
    "permute": (lambda t: t.permute(*reversed(range(len(t.shape)))), lambda x: x.T),
    "flatten": (lambda t: t.reshape(-1), lambda x: x.reshape(-1)),
    "row": (lambda t: t.reshape(1, -1), lambda x: x.reshape(1, -1)),
    "pad": (lambda t: t.pad(*[(1, 0)] * len(t.shape)), lambda x: np.pad(x, [(1, 0)] * x.ndim)),
    "flip": (lambda t: t.flip(0), lambda x: np.flip(x, 0)),
    "sum": (lambda t: t.sum(-1, keepdim=True), lambda x: x.sum(-1, keepdims=True)),
    "largest off": (
        lambda t: t - t.max(0, keepdim=True),
        lambda x: x - x.max(0, keepdims=True),
    ),
    "shrink": (lambda t: t.shrink(*[(0, 1)] * len(t.shape)), lambda x: x[(slice(0, 1),) * x.ndim]),
    "relu": (lambda t: t.relu() + t * 0.5, lambda x: np.maximum(x, 0) + x * 0.5),
    "exp": (lambda t: (t * 0.2).exp(), lambda x: np.exp(x * 0.2)),
    "square": (lambda t: t * t * 0.3 - 1, lambda x: x * x * 0.3 - 1),
    "divide": (lambda t: t / (t * t + 1), lambda x: x / (x * x + 1)),
    "broadcast": (
        lambda t: t.reshape(*t.shape, 1) * t.reshape(1, *t.shape) if len(t.shape) < 2 else t,
        lambda x: x[..., None] * x[None] if x.ndim < 2 else x,
    ),
}
programs = st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=6)


@given(shapes, programs, st.integers(0, 1000))
def test_generated_graphs_agree_with_numpy(shape, program, seed):
    Tensor = namespace().part4.Tensor
    x = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    t = Tensor(x)
    for name in program:
        on_tensors, on_arrays = STEPS[name]
        t, x = on_tensors(t), on_arrays(x)
    np.testing.assert_allclose(t.numpy(), x, rtol=1e-3, atol=1e-4)


@given(st.integers(0, 1000), st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=4))
def test_gradients_of_generated_graphs_agree_with_their_slopes(seed, program):
    Tensor = namespace().part6.Tensor
    dice = np.random.default_rng(seed)
    x = dice.standard_normal((2, 3))

    def value(x):
        for name in program:
            x = STEPS[name][1](x)
        return (x * np.cos(np.arange(x.size)).reshape(x.shape)).sum()

    t = start = Tensor(x)
    for name in program:
        t = STEPS[name][0](t)
    weights = Tensor(np.cos(np.arange(np.prod(t.shape))).reshape(t.shape))
    (got,) = (t * weights).sum().gradient(start)

    slopes = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = 1e-6  # in float64: NumPy is the reference here
        slopes[index] = (value(x + step) - value(x - step)) / 2e-6
    found = np.broadcast_to(got.numpy(), x.shape)
    np.testing.assert_allclose(found, slopes, rtol=1e-2, atol=1e-3)


# ---- single facts --------------------------------------------------------------------------------


def test_a_training_step_is_the_same_graph_each_time_but_for_its_buffers():
    """So that a later stage compiles it once."""
    part4, part6 = namespace().part4, namespace().part6
    w = part4.Tensor(np.ones((3, 2)))
    adam, ops, run = part6.Adam([w]), [], part4.Tensor.run

    def noted(sink):
        ops.append([(node.op, node.arg) for node in sink.toposort() if node.op.name != "BUFFER"])
        return run(sink)

    part4.Tensor.run = staticmethod(noted)
    try:
        for _ in range(3):
            adam.step((w * w).sum())
    finally:
        part4.Tensor.run = staticmethod(run)
    assert ops[0] == ops[1] == ops[2]


def test_ties_of_a_maximum_share_as_tinyframes_do():
    from tinyframe import Tensor as Reference

    part4 = namespace().part4
    values = [[1.0, 4.0, 4.0], [2.0, 2.0, 2.0]]
    t = part4.Tensor(values)
    (mine,) = (t.max(1) * part4.Tensor([6.0, 3.0])).sum().gradient(t)
    x = Reference(values, requires_grad=True)
    (x.max(1) * Reference([6.0, 3.0])).sum().backward()
    np.testing.assert_allclose(mine.numpy(), x.grad.numpy())


def test_shapes_that_do_not_fit_are_refused_with_both_shapes():
    Tensor = namespace().part5.Tensor
    a, b = Tensor(np.zeros((2, 3))), Tensor(np.zeros((2, 4)))
    with pytest.raises(ValueError, match=r"\(2, 3\) cannot be expanded to \(2, 4\)"):
        a + b
    with pytest.raises(ValueError, match=r"\(2, 3\) cannot be reshaped to \(4, 2\)"):
        a.reshape(4, 2)
    with pytest.raises(ValueError, match=r"single number, and its shape is \(2, 3\)"):
        a.gradient(a)


def test_a_chain_of_100000_nodes_is_computed():
    Tensor = namespace().part5.Tensor
    t = Tensor([0.0])
    for _ in range(50_000):
        t = t + 1
    assert t.numpy()[0] == 50_000
