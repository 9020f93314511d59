"""Losses at their edges, and what they refuse; their values: tests/torch."""

from __future__ import annotations

import numpy as np
import pytest

from tests.values import check
from tinyframe import Tensor

rng = np.random.default_rng(0)
SCORES = rng.standard_normal((6, 4)).astype(np.float32)
CLASSES = np.array([0, 3, 1, 2, 3, 0])


@pytest.mark.parametrize("options", [
    {}, {"label_smoothing": 0.5}, {"weight": Tensor([3.0, 1]).half()}, {"ignore_index": 1}
])  # fmt: skip
def test_a_mean_is_over_more_halves_than_a_half_can_count(options):
    x = Tensor.zeros(140_000, 2, dtype="half")
    loss = x.cross_entropy(Tensor.arange(140_000) % 2, **options)
    check(loss, np.float16(np.log(2)), True)


def test_a_class_that_is_impossible_costs_nothing_where_it_is_wrong():
    x = Tensor([[0.0, -np.inf, 1.0]], requires_grad=True)
    loss = x.cross_entropy(Tensor([2]))
    assert abs(loss.item() - np.log(1 + np.exp(-1))) < 1e-6
    assert np.isfinite(loss.gradient(x)[0].numpy()).all()


def test_logits_may_be_large():
    x = Tensor([1e4, -1e4, 1e4, -1e4], requires_grad=True)
    y = Tensor([1.0, 0, 0, 1])
    check(x.binary_crossentropy_logits(y, "none"), np.float32([0, 0, 1e4, 1e4]), True)
    check(x.binary_crossentropy_logits(y, "sum").gradient(x)[0], np.float32([0, 0, 1, -1]), True)
    scores = Tensor([[1e4, -1e4]])
    assert scores.cross_entropy(Tensor([1])).item() == 2e4


@pytest.mark.parametrize("dtype", ["float32", "half", "bfloat16"])
def test_a_saturated_sigmoid_spoils_no_gradient(dtype):
    x = Tensor([20.0, 200, -200, 0], dtype=dtype, requires_grad=True)
    loss = x.sigmoid().binary_crossentropy(Tensor([0.0, 1, 1, 1], dtype=dtype), "none")
    check(loss, np.float32([100, 0, 100, np.log(2)]), True)
    check(loss.sum().gradient(x)[0], np.float32([0, 0, 0, -0.5]), True)


ITS_CLASSES = "(6, 4) has its classes on axis 1: it takes the class of each, of shape (6,), not "


@pytest.mark.parametrize(("call", "message"), [
    (lambda x, y: x.nll_loss(y.float()),
     'classes are ints, not dtypes.float: Y.cast("int32") makes them ints'),
    (lambda x, y: x.cross_entropy(y.one_hot(4)),
     f"{ITS_CLASSES}(6, 4). Y.argmax(1) makes classes of one-hot rows"),
    (lambda x, y: x.sparse_categorical_crossentropy(y.one_hot(4).float()),
     f"{ITS_CLASSES}(6, 4). Y.argmax(1) makes classes of one-hot rows"),
    (lambda x, y: x.cross_entropy(y.reshape(6, 1)),
     f"{ITS_CLASSES}(6, 1). Y.reshape((6,)) has that shape"),
    (lambda x, y: x.cross_entropy(y[1:]), f"{ITS_CLASSES}(5,)"),
    (lambda x, y: x.reshape(2, 3, 4).cross_entropy(y.reshape(2, 3)),
     "(2, 3, 4) has its classes on axis 1: it takes the class of each, of shape (2, 4), not "
     "(2, 3). sparse_categorical_crossentropy has its classes on the last axis"),
    (lambda x, y: x.cross_entropy(y, weight=Tensor.ones(3)),
     "weight takes (4,), one a class, not (3,)"),
    (lambda x, y: x.gather(1, y), "the indices have shape (6,), and the Tensor (6, 4): they need "
                                  "equally many axes, as index.unsqueeze(-1) has"),
    (lambda x, y: y.float().embedding(x),
     'a table is indexed with ints, not dtypes.float: take cast("int32")'),
])  # fmt: skip
def test_what_does_not_fit_says_what_to_write(call, message):
    with pytest.raises(ValueError) as raised:
        call(Tensor(SCORES), Tensor(CLASSES))
    assert str(raised.value) == message


def test_labels_may_be_an_array_and_not_a_list():
    x = Tensor(SCORES)
    for name in ("cross_entropy", "nll_loss", "sparse_categorical_crossentropy"):
        loss = getattr(x, name)
        assert loss(CLASSES).item() == loss(Tensor(CLASSES)).item()
        with pytest.raises(TypeError, match=r"wrap a list in Tensor\(...\)"):
            loss(CLASSES.tolist())
