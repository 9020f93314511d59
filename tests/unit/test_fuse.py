"""Fusion: how many kernels a graph becomes, why, and at what cost of scheduling."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.kernels import filled, kernels_of, on_buffer, ops_in, repeated_reduces
from tinyframe import Context, Tensor, dtypes
from tinyframe import schedule as schedule_module
from tinyframe.algebra.access import covers_once
from tinyframe.rewrite.matcher import graph_rewrite
from tinyframe.schedule.fuse import decide_fusion
from tinyframe.schedule.kernels import prepare_rules
from tinyframe.thresholds import LARGE_REDUCE, PARTS
from tinyframe.uop.node import Ops, UOp

# ---- what is one kernel, and what is not ---------------------------------------------------------


def normalized(x: Tensor, axes: int | tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
    """Mean, variance, and x with mean 0 and variance 1."""
    mean = x.mean(axis=axes, keepdim=True)
    centred = x - mean
    variance = (centred * centred).mean(axis=axes, keepdim=True)
    return mean, variance, centred * (variance + 1e-5).rsqrt()


def adam() -> list[Tensor]:
    g, p, m, v = (on_buffer(1 << 20) for _ in range(4))
    m.assign(m * 0.9 + g * 0.1)
    v.assign(v * 0.999 + g * g * 0.001)
    p.assign(p - 0.001 * m / (v.sqrt() + 1e-8))
    return [p, m, v]


def divided_by_its_sum() -> list[Tensor]:
    x = on_buffer(1 << 20)
    return [x / x.sum()]


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return ((q @ k.transpose(-1, -2)) * 0.125).softmax() @ v


def mlp(activation: Callable[[Tensor], Tensor]) -> list[Tensor]:
    """Forward and backward."""
    x, w, b, w2 = on_buffer(512, 784), on_buffer(784, 512), on_buffer(512), on_buffer(512, 512)
    out = activation(x @ w + b) @ w2
    return [out, *out.gradient(w, b, w2, gradient=on_buffer(512, 512))]


def gradient(function: Callable[..., Tensor], *inputs: Tensor) -> list[Tensor]:
    """By the first input."""
    out = function(*inputs)
    return out.gradient(inputs[0], gradient=on_buffer(*out.shape))


def product() -> Tensor:
    return on_buffer(512, 784) @ on_buffer(784, 512)


IMAGES, FILTERS = (8, 16, 28, 28), (32, 16, 3, 3)


def elementwise_chain() -> list[Tensor]:
    x = on_buffer(64, 64)
    return [(((x + 1) * 2).sin().exp() - on_buffer(64)).relu().where(x, 0.5)]


def square() -> Tensor:
    return on_buffer(64, 64)


def picked(x: Tensor, where: Tensor) -> Tensor:
    return (where.reshape(40, 1) == Tensor.arange(3, 21, 2)).where(x, 0).sum(axis=1)


# name: (Tensors, how many kernels they become)
COUNTS = {
    "softmax": (lambda: [on_buffer(4096, 1024).softmax()], 1),
    "log_softmax": (lambda: [on_buffer(4096, 1024).log_softmax()], 1),
    "softmax backward": (lambda: gradient(Tensor.softmax, on_buffer(4096, 1024)), 1),
    "layernorm": (
        lambda: [normalized(on_buffer(4096, 1024), -1)[2] * on_buffer(1024) + on_buffer(1024)], 1),
    "batchnorm": (lambda: [normalized(on_buffer(64, 32, 28, 28), (0, 2, 3))[2]], 1),
    "mean, variance, normalized": (
        lambda: list(normalized(on_buffer(64, 32, 28, 28), (0, 2, 3))), 1),
    "adam": (adam, 1),
    "divided by its sum": (divided_by_its_sum, 2),
    "gelu between two products": (
        lambda: [(product() + on_buffer(512)).gelu() @ on_buffer(512, 512)], 2),
    "attention": (lambda: [attention(*[on_buffer(8, 256, 64) for _ in range(3)])], 3),
    "relu mlp": (lambda: mlp(Tensor.relu), 6),
    "gelu mlp": (lambda: mlp(Tensor.gelu), 6),
    "sum of relu": (lambda: [(on_buffer(100, 100) + on_buffer(100, 100)).relu().sum()], 1),
    "mean of a product": (lambda: [product().mean()], 2),
    "squared error of a product": (
        lambda: [(product() + on_buffer(512) - on_buffer(512, 512)).square().mean()], 2),
    "column sums of a product": (lambda: [product().sum(axis=0)], 2),
    "sum of a convolution": (
        lambda: [on_buffer(*IMAGES).conv2d(on_buffer(*FILTERS)).sum()], 2),
    "sum of short products": (lambda: [(on_buffer(256, 8) @ on_buffer(8, 256)).sum()], 1),
    "sum of a matrix times a vector": (lambda: [(on_buffer(512, 784) @ on_buffer(784)).sum()], 1),
    "gradient of a convolution": (
        lambda: gradient(Tensor.conv2d, on_buffer(*IMAGES), on_buffer(*FILTERS)), 1),
    "elementwise chain": (elementwise_chain, 1),
    "chain with contiguous": (
        lambda: [((on_buffer(64, 64) + 1).contiguous() * 2).contiguous() - 3], 3),
    # fuse() is about what is below it alone
    "fused below a product": (lambda: [((x := on_buffer(24, 24)) / x.sum()).fuse() @ x], 2),
    "fused below a division": (lambda: [((x := on_buffer(24, 24)).fuse() / x.sum()) @ x], 3),
    "what the user wants both": (lambda: [(on_buffer(24, 24) + 1).contiguous().sin().fuse()], 2),
    # a cheap value, and one of indices alone, is computed where it is used; random numbers cost
    "cheap": (lambda: [(half := square() * 0.5) @ square(), half @ square()], 2),
    "picked": (lambda: [picked(on_buffer(9), on_buffer(40, dtype=dtypes.int))], 1),
    "random numbers": (lambda: [Tensor.rand(9) @ on_buffer(9, 64)], 2),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_number_of_kernels(name):
    graph, count = COUNTS[name]
    kernels = kernels_of(*graph())
    assert len(kernels) == count
    assert not any(map(repeated_reduces, kernels))


def test_movement_alone_is_no_kernel_until_someone_looks_at_the_memory():
    x = on_buffer(64, 48)
    assert kernels_of(x.T) == kernels_of(x.reshape(32, 96)) == kernels_of(x[3:9, ::-1]) == []
    assert len(kernels_of(x.T.contiguous())) == 1


def test_a_reduce_with_two_consumers_is_computed_once():
    x = on_buffer(64, 64)
    total = x.sum(axis=1)
    kernels = kernels_of(total + 1, total * 2)
    assert sum(len(ops_in(k, Ops.REDUCE)) for k in kernels) == 1


def test_a_reduce_used_along_another_axis_too_is_computed_once():
    x = on_buffer(64, 64)
    total = x.sum(axis=1)
    rows, columns = x * total.reshape(64, 1), x * total.reshape(1, 64)
    kernels = kernels_of(rows, columns)
    assert sum(len(ops_in(k, Ops.REDUCE)) for k in kernels) == 1
    assert not any(map(repeated_reduces, kernels))


# ---- what the user wants in one kernel -----------------------------------------------------------


@pytest.mark.parametrize("program", [
    lambda x: x / x.sum(),
    lambda x: (x @ x.T).softmax() @ x,
    lambda x: (x.sin() @ x).sum(0),
    lambda x: (x - x.mean(0)).abs().max(1) * x[0],
])  # fmt: skip
def test_fuse_leaves_one_kernel_where_there_were_more(program):
    values = np.random.default_rng(0).standard_normal((24, 24)).astype(np.float32)
    x = filled(values)
    assert len(kernels_of(program(x))) > 1
    assert len(kernels_of(program(x).fuse())) == 1
    np.testing.assert_allclose(program(x).fuse().numpy(), program(x).numpy(), rtol=1e-5, atol=1e-5)


def test_a_very_large_reduce_is_one_kernel_if_the_user_wants_it():
    x = on_buffer(LARGE_REDUCE)
    assert [len(kernels_of(y)) for y in (x.sum(), x.sum().fuse())] == [2, 1]
    ones = Tensor.ones(LARGE_REDUCE).contiguous().realize()
    assert ones.sum().fuse().item() == LARGE_REDUCE


# ---- why a value is stored -----------------------------------------------------------------------


def reasons_of(*tensors: Tensor) -> list[tuple[Ops, str]]:
    """Op of each stored value, consumers first, and why it is stored."""
    prepared = graph_rewrite(UOp.sink(*[t.uop for t in tensors]), prepare_rules)
    outputs = [u.base for u in prepared.src]
    return [(u.op, reason) for u, reason in decide_fusion(outputs).reasons.items()]


LITTLE_WORK = "a reduce with too little parallel work"
REASONS = {  # Tensors, and all that is stored but the output
    "an output": (elementwise_chain, []),
    "contiguous": (lambda: [(square() + 1).contiguous().sin()], [(Ops.CONTIGUOUS, "contiguous")]),
    "assigned": (lambda: [(x := on_buffer(8)).assign(x + 1) * 2], [(Ops.ASSIGN, "assign")]),
    "little work": (divided_by_its_sum, [(Ops.REDUCE_AXIS, LITTLE_WORK)]),
    "needed often": (
        lambda: [(square() @ square()) @ on_buffer(64, 128)],
        [(Ops.REDUCE_AXIS, "a reduce needed 128 times")],
    ),
    "costly": (lambda: [square().sin() @ on_buffer(64, 128)], [(Ops.SIN, "needed 128 times")]),
    "cheap": (lambda: [(square() * 2) @ on_buffer(64, 128)], []),
}


@pytest.mark.parametrize("name", REASONS)
def test_reasons_to_store_a_value(name):
    graph, stored = REASONS[name]
    (_, reason), *rest = reasons_of(*graph())
    assert reason == "output" and rest == stored


REDUCED_FURTHER = "a reduce whose operands a tile would share, reduced further"


@pytest.mark.parametrize("axis", [0, 1])
def test_a_reduce_with_a_register_tile_is_stored_before_it_is_reduced_further(axis):
    x, y, z = on_buffer(64, 1, 64), on_buffer(1, 64, 64), on_buffer(64)
    for reduced in (
        (x - y).abs().sum(-1).max(axis),
        (x + y).max(-1).sum(axis),
        (x * y * z).sum(-1).max(axis),
        (x * y).sum(-1).relu().max(axis),
    ):
        (_, reason) = reasons_of(reduced)[1]
        assert reason == REDUCED_FURTHER


def test_a_reduce_without_a_register_tile_is_not_stored_before_it_is_reduced_further():
    x, scale, short = on_buffer(64, 64, 64), on_buffer(64, 1, 64), on_buffer(64, 64, 4)
    for reduced in (
        (x * scale).sum(-1).max(1),  # all that has the rows has the columns too
        x.sum(-1).max(1),
        (short.reshape(64, 64, 1, 4) + short.reshape(64, 1, 64, 4)).max(-1).sum(2),
    ):
        assert len(reasons_of(reduced)) == 1


def test_reasons_a_reduce_used_by_several_kernels():
    x = on_buffer(64, 64)
    total = x.sum(axis=1)
    reasons = reasons_of(total + 1, total * 2)
    assert reasons[2:] == [(Ops.REDUCE_AXIS, "a reduce used by several kernels")]


# ---- very large reduces --------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_a_very_large_reduce_is_split_in_two_whatever_the_number_of_threads(threads, monkeypatch):
    monkeypatch.setattr(schedule_module, "_schedules", {})
    with Context(THREADS=threads):
        assert len(kernels_of(on_buffer(LARGE_REDUCE).sum())) == 2
        assert len(kernels_of(on_buffer(LARGE_REDUCE - 1).sum())) == 1
        assert len(kernels_of(on_buffer(4, LARGE_REDUCE // 4).max(axis=1))) == 2
        assert len(kernels_of(on_buffer(4096, LARGE_REDUCE // 4096).sum(axis=1))) == 1


def test_the_first_part_of_a_split_reduce_leaves_partial_results():
    first, second = kernels_of(on_buffer(LARGE_REDUCE).sum())
    assert [k.src[0].src[0].arg for k in (first, second)] == [(PARTS,), (1,)]


# ---- scheduling takes time in proportion to the graph --------------------------------------------


def test_indices_of_a_symbolic_size_cover_it_once_only_as_a_range_of_that_size():
    n, m = UOp.variable("n", 1, 8), UOp.variable("m", 1, 8)
    i, j, k = UOp.range(4, 0), UOp.range(n, 1), UOp.range(m, 2)
    assert covers_once((i, j), (4, n))
    assert not covers_once((i, k), (4, n))
    assert not covers_once((i, UOp.range(8, 3)), (4, n))
    assert not covers_once((i, j), (4, 8))
    assert not covers_once(((i * n + j) // n, (i * n + j) % 4), (n, 4))
