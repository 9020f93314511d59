"""Losses agree with PyTorch, forward and backward."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.against_torch import assert_agree, normal, seeds
from tests.values import sometimes
from tinyframe import Tensor

F = torch.nn.functional
reductions = st.sampled_from(("mean", "sum", "none"))


@given(reduction=reductions, seed=seeds, compiled=sometimes)
@settings(max_examples=8)
def test_binary_crossentropy(reduction, seed, compiled):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.01, 0.99, (3, 4)).astype(np.float32)
    y = rng.uniform(0, 1, (3, 4)).round(1).astype(np.float32)
    assert_agree(
        lambda x: x.binary_crossentropy(Tensor(y), reduction),
        lambda x: F.binary_cross_entropy(x, torch.tensor(y), reduction=reduction),
        [x], compiled, 100,
    )  # fmt: skip


def test_binary_crossentropy_at_0_and_1_is_bounded():
    x, y = np.array([0, 0, 1, 1], np.float32), np.array([0, 1, 0, 1], np.float32)
    assert_agree(
        lambda x: x.binary_crossentropy(Tensor(y), "none"),
        lambda x: F.binary_cross_entropy(x, torch.tensor(y), reduction="none"),
        [x], compiled=True, gradient=False,
    )  # fmt: skip


@given(reduction=reductions, weighted=st.booleans(), seed=seeds, compiled=sometimes)
@settings(max_examples=8)
def test_binary_crossentropy_logits(reduction, weighted, seed, compiled):
    rng = np.random.default_rng(seed)
    y, w = rng.uniform(0, 1, (3, 4)).astype(np.float32), np.float32([1, 2, 0.5, 3])
    w = w if weighted else np.ones_like(w)
    assert_agree(
        lambda x: x.binary_crossentropy_logits(
            Tensor(y), reduction, Tensor(w) if weighted else None
        ),
        lambda x: F.binary_cross_entropy_with_logits(
            x, torch.tensor(y), reduction=reduction, pos_weight=torch.tensor(w)
        ),
        [normal(seed, 3, 4) * 30], compiled, 100,
    )  # fmt: skip


@st.composite
def classifications(draw):
    """Scores, right classes (some ignored), weights, and which are asked for."""
    seed, reduction = draw(seeds), draw(reductions)
    shape = draw(st.sampled_from(((5, 4), (1, 3), (2, 4, 3), (2, 3, 2, 2))))
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, shape[1], (shape[0], *shape[2:]))
    ignored = draw(st.sampled_from((-100, 1)))
    if ignored < 0:
        classes[0] = ignored
        classes.flat[-1] = 0  # one counts
    else:
        classes.flat[-1] = 2
    weight = rng.uniform(0.5, 2, shape[1]).astype(np.float32) if draw(st.booleans()) else None
    return normal(seed, *shape), classes, weight, ignored, reduction


def both(weight):
    return (None, None) if weight is None else (Tensor(weight), torch.tensor(weight))


@given(case=classifications(), smoothing=st.sampled_from((0.0, 0.3)), compiled=sometimes)
@settings(max_examples=25)
def test_cross_entropy_of_classes(case, smoothing, compiled):
    x, classes, weight, ignored, reduction = case
    own, theirs = both(weight)
    assert_agree(
        lambda x: x.cross_entropy(Tensor(classes), reduction, smoothing, own, ignored),
        lambda x: F.cross_entropy(
            x, torch.tensor(classes), theirs, ignore_index=ignored, reduction=reduction,
            label_smoothing=smoothing,
        ),
        [x], compiled, 50, str(case),
    )  # fmt: skip


@given(case=classifications(), smoothing=st.sampled_from((0.0, 0.3)), compiled=sometimes)
@settings(max_examples=12)
def test_cross_entropy_of_probabilities(case, smoothing, compiled):
    x, _, weight, _, reduction = case
    own, theirs = both(weight)
    y = abs(normal(3, *x.shape))
    assert_agree(
        lambda x: x.cross_entropy(Tensor(y), reduction, smoothing, own),
        lambda x: F.cross_entropy(
            x, torch.tensor(y), theirs, reduction=reduction, label_smoothing=smoothing
        ),
        [x], compiled, 50, str(case),
    )  # fmt: skip


@given(case=classifications(), compiled=sometimes)
@settings(max_examples=12)
def test_nll_loss(case, compiled):
    x, classes, weight, ignored, reduction = case
    own, theirs = both(weight)
    assert_agree(
        lambda x: x.nll_loss(Tensor(classes), own, ignored, reduction),
        lambda x: F.nll_loss(
            x, torch.tensor(classes), theirs, ignore_index=ignored, reduction=reduction
        ),
        [x], compiled, 50, str(case),
    )  # fmt: skip


@given(case=classifications(), smoothing=st.sampled_from((0.0, 0.3)), compiled=sometimes)
@settings(max_examples=12)
def test_sparse_categorical_crossentropy_has_its_classes_last(case, smoothing, compiled):
    x, classes, _, ignored, reduction = case
    assert_agree(
        lambda x: x.permute(0, *range(2, x.ndim), 1).sparse_categorical_crossentropy(
            Tensor(classes), ignored, smoothing, reduction
        ),
        lambda x: F.cross_entropy(
            x, torch.tensor(classes), ignore_index=ignored, reduction=reduction,
            label_smoothing=smoothing,
        ),
        [x], compiled, 50, str(case),
    )  # fmt: skip


def test_cross_entropy_of_one_sample_without_a_batch():
    for y in (np.array(2), np.float32([0.2, 0.3, 0.5])):
        assert_agree(
            lambda x, y=y: x.cross_entropy(Tensor(y)),
            lambda x, y=y: F.cross_entropy(x, torch.tensor(y)), [normal(0, 3)], compiled=True,
        )  # fmt: skip
