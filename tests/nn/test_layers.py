"""Layers: shapes, names, errors, and what they keep; values are compared in tests/torch."""

from __future__ import annotations

import numpy as np
import pytest

from tinyframe import Tensor, nn
from tinyframe.nn.state import get_state_dict


def shapes(layer) -> dict:
    return {name: tensor.shape for name, tensor in get_state_dict(layer).items()}


def test_parameters_have_pytorchs_names_and_shapes():
    assert shapes(nn.Linear(3, 2)) == {"weight": (2, 3), "bias": (2,)}
    assert shapes(nn.Linear(3, 2, bias=False)) == {"weight": (2, 3)}
    assert shapes(nn.Conv2d(4, 6, (3, 5), groups=2)) == {"weight": (6, 2, 3, 5), "bias": (6,)}
    assert shapes(nn.ConvTranspose2d(4, 6, 3, groups=2))["weight"] == (4, 3, 3, 3)
    assert list(shapes(nn.BatchNorm2d(3))) == [
        "weight", "bias", "running_mean", "running_var", "num_batches_tracked",
    ]  # fmt: skip
    assert shapes(nn.LSTMCell(4, 3)) == {
        "weight_ih": (12, 4), "weight_hh": (12, 3), "bias_ih": (12,), "bias_hh": (12,),
    }  # fmt: skip
    assert shapes(nn.Embedding(7, 5)) == {"weight": (7, 5)}
    assert shapes(nn.MultiheadAttention(8, 2)) == {
        "in_proj_weight": (24, 8), "in_proj_bias": (24,),
        "out_proj.weight": (8, 8), "out_proj.bias": (8,),
    }  # fmt: skip


def test_parameters_wait_for_an_optimizer_to_require_gradients():
    layer = nn.BatchNorm(3)
    assert layer.weight.requires_grad is None and nn.Linear(2, 2).weight.requires_grad is None
    assert layer.running_mean.requires_grad is False


def test_two_layers_begin_with_different_weights_and_the_same_seed_repeats_them():
    Tensor.manual_seed(5)
    first, second = nn.Linear(3, 4), nn.Linear(3, 4)
    Tensor.manual_seed(5)
    again = nn.Linear(3, 4)
    assert not np.array_equal(first.weight.numpy(), second.weight.numpy())
    np.testing.assert_array_equal(first.weight.numpy(), again.weight.numpy())


def test_running_statistics_move_in_training_only_and_are_not_lost():
    layer = nn.BatchNorm(1, momentum=0.5)
    x = Tensor([[1.0], [3.0]])
    layer(x)
    assert layer.running_mean.item() == 0 and layer.num_batches_tracked.item() == 0
    with Tensor.train():
        layer(x)
        layer(x)
    assert layer.running_mean.item() == 1.5  # 0, 1, 1.5 on the way to 2
    assert layer.running_var.item() == 1.75  # 1, 1.5, 1.75 on the way to the unbiased 2
    assert layer.num_batches_tracked.item() == 2


def test_statistics_of_two_layers_are_not_one_memory():
    first, second = nn.BatchNorm(2), nn.BatchNorm(2)
    with Tensor.train():
        first(Tensor([[1.0, 2.0], [3.0, 6.0]]))
    Tensor.realize(first.running_mean, second.running_mean)
    np.testing.assert_array_equal(second.running_mean.numpy(), [0, 0])


def test_batches_are_counted_beyond_what_a_half_can():
    layer = nn.BatchNorm(1, momentum=None)
    layer.running_mean, layer.num_batches_tracked = Tensor([0.0]).half(), Tensor(69_999)
    with Tensor.train():
        layer(Tensor([[60_000.0], [10_000.0]]))
    assert layer.running_mean.tolist() == [0.5]


@pytest.mark.parametrize("norm_first", [False, True])
def test_a_sample_of_nothing_but_padding_spoils_no_gradient(norm_first):
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, norm_first=norm_first)
    padding = Tensor([[False, False, True], [True, True, True]])
    out = layer(Tensor.rand(2, 3, 4), src_key_padding_mask=padding)
    grads = out[0].square().sum().gradient(*get_state_dict(layer).values())
    Tensor.realize(out, *grads)
    assert all(np.isfinite(t.numpy()).all() for t in (out, *grads))


def test_attention_without_masks_averages_equal_keys():
    layer = nn.MultiheadAttention(4, 2, batch_first=True)
    x = Tensor.ones(1, 3, 4)
    _, weights = layer(x)
    np.testing.assert_allclose(weights.numpy(), np.full((1, 3, 3), 1 / 3), rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nn.Conv2d(3, 4, 3, padding="sane"), '"same" or "valid", not \'sane\''),
        (lambda: nn.Conv2d(3, 4, 3, stride=2, padding="same"), "stride (2, 2)"),
        (lambda: nn.Conv1d(3, 4, 3, padding_mode="mirror"), '"replicate" or "circular", not'),
        (lambda: nn.ConvTranspose2d(3, 4, 3, padding_mode="reflect"), 'must be "zeros", not'),
        (lambda: nn.Conv3d(3, 4, (3, 3)), "kernel_size is one int or 3"),
        (lambda: nn.Conv1d(3, 4, 3, groups=2), "groups=2"),
        (lambda: nn.ConvTranspose1d(1, 1, 3, output_padding=1), "output_padding"),
        (lambda: nn.GroupNorm(2, 5), "5 channels do not divide into 2 groups"),
        (lambda: nn.MultiheadAttention(8, 3), "8 features do not divide among 3 heads"),
        (lambda: nn.Linear(3, 2)(Tensor.ones(4, 2)), "(2, 3) takes (..., 3), not (4, 2)"),
        (lambda: nn.BatchNorm(3)(Tensor.ones(4, 2)), "(batch, 3, ...), not (4, 2)"),
        (lambda: nn.GroupNorm(1, 3)(Tensor.ones(4, 2)), "(batch, 3, ...), not (4, 2)"),
        (lambda: nn.LayerNorm(3)(Tensor.ones(4, 2)), "(3,) takes a shape that ends so"),
        (lambda: nn.ConvTranspose1d(2, 1, 3)(Tensor.ones(1, 3, 5)), "3 channels of (1, 3, 5)"),
        (lambda: nn.Embedding(3, 2)(Tensor([1.0])), "indexed with ints"),
        (lambda: nn.MultiheadAttention(4, 1)(Tensor.ones(4)), "attention takes"),
    ],
)
def test_a_mistake_is_named_with_both_sides(make, words):
    with pytest.raises(ValueError) as caught:
        make()
    assert words in str(caught.value)


def test_batchnorm_refuses_to_train_on_one_value():
    with Tensor.train(), pytest.raises(ValueError, match="larger"):
        nn.BatchNorm(3)(Tensor.ones(1, 3))
