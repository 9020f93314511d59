"""Losses agree with PyTorch, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.against_torch import assert_same_call, normal, seeds
from tests.values import sometimes

F = torch.nn.functional
reductions = st.sampled_from(("mean", "sum", "none"))
smoothings = st.sampled_from((0.0, 0.3))


@given(reduction=reductions, weighted=st.booleans(), seed=seeds, compiled=sometimes)
@settings(max_examples=12)
def test_binary_crossentropy(reduction, weighted, seed, compiled):
    rng = np.random.default_rng(seed)
    x, y = (rng.uniform(0.01, 0.99, (3, 4)).astype(np.float32) for _ in range(2))
    options = {"compiled": compiled, "reduction": reduction, "scale": 100}
    theirs = F.binary_cross_entropy
    assert_same_call("binary_crossentropy", [x], y, theirs=theirs, **options)
    weight = {"pos_weight": np.float32([1, 2, 0.5, 3])} if weighted else {}
    theirs = F.binary_cross_entropy_with_logits
    x = normal(seed, 3, 4) * 30
    assert_same_call("binary_crossentropy_logits", [x], y, theirs=theirs, **weight, **options)


def test_binary_crossentropy_at_0_and_1_is_bounded():
    x, y = np.array([0, 0, 1, 1], np.float32), np.array([0, 1, 0, 1], np.float32)
    options = {"reduction": "none", "gradient": False, "theirs": F.binary_cross_entropy}
    assert_same_call("binary_crossentropy", [x], y, **options)


@st.composite
def classifications(draw):
    """Scores, right classes of which some are ignored, and what may be asked for."""
    seed = draw(seeds)
    shape = draw(st.sampled_from(((5, 4), (1, 3), (2, 4, 3), (2, 3, 2, 2))))
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, shape[1], (shape[0], *shape[2:]))
    ignored = draw(st.sampled_from((-100, 1)))
    if ignored < 0:
        classes[0] = ignored
    classes.flat[-1] = 0 if ignored < 0 else 2  # one counts
    options = {"ignore_index": ignored, "reduction": draw(reductions)}
    if draw(st.booleans()):
        options["weight"] = rng.uniform(0.5, 2, shape[1]).astype(np.float32)
    return normal(seed, *shape), classes, options


def classes_last(x, classes, **options):
    return F.cross_entropy(x.movedim(-1, 1), classes, **options)


@pytest.mark.parametrize("kind", ["classes", "classes last", "probabilities", "nll"])
@given(case=classifications(), smoothing=smoothings, compiled=sometimes)
@settings(max_examples=15)
def test_cross_entropy(kind, case, smoothing, compiled):
    x, y, options = case
    name, theirs = "cross_entropy", F.cross_entropy
    if kind == "nll":
        name, theirs = "nll_loss", F.nll_loss
    else:
        options["label_smoothing"] = smoothing
    if kind == "classes last":
        name, theirs = "sparse_categorical_crossentropy", classes_last
        x = np.moveaxis(x, 1, -1).copy()
        options.pop("weight", None)
    if kind == "probabilities":
        y = abs(normal(3, *x.shape))
        options.pop("ignore_index")
    assert_same_call(name, [x], y, theirs=theirs, compiled=compiled, scale=50, **options)


@pytest.mark.parametrize("y", [np.array(2), np.float32([0.2, 0.3, 0.5])], ids=["class", "shares"])
def test_cross_entropy_of_one_sample_without_a_batch(y):
    assert_same_call("cross_entropy", [normal(0, 3)], y)
