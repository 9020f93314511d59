"""Layers: shapes, names, errors, and what they keep; values are compared in tests/torch."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from tinyframe import Tensor, TinyJit, nn
from tinyframe.nn.state import get_parameters, get_state_dict


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


def test_batchnorm_refuses_to_train_on_one_value():
    with Tensor.train(), pytest.raises(ValueError, match="larger"):
        nn.BatchNorm(3)(Tensor.ones(1, 3))


# ---- functions, chains and recurrent layers ------------------------------------------------------


def test_layers_show_what_is_not_as_by_default():
    assert repr(nn.ReLU()) == "ReLU()"
    assert repr(nn.GELU("none")) == "GELU()"
    assert repr(nn.GELU("tanh")) == "GELU(approximate='tanh')"
    assert repr(nn.MaxPool2d(2, padding=1)) == "MaxPool2d(kernel_size=2, padding=1)"
    chain = nn.Sequential(nn.ReLU(), nn.Sequential(nn.Dropout(0.1)))
    assert repr(chain) == (
        "Sequential(\n  0: ReLU()\n  1: Sequential(\n    0: Dropout(p=0.1)\n  )\n)"
    )
    assert repr(nn.Sequential()) == "Sequential()"


def test_a_function_becomes_a_layer():
    @nn.layer
    def Scale(x: Tensor, /, factor: float = 2.0) -> Tensor:
        """x times a factor."""
        return x * factor

    assert Scale.__name__ == "Scale" and Scale.__doc__ == "x times a factor."
    assert Scale()(Tensor([1.0])).item() == 2 and Scale(3.0)(Tensor([1.0])).item() == 3
    assert isinstance(Scale(), nn.Layer) and Scale(factor=5.0).factor == 5.0


def test_weights_of_a_loss_are_no_parameters_to_learn():
    @nn.layer
    def Loss(x: Tensor, y: Tensor, /, weight: Tensor) -> Tensor:
        return x.cross_entropy(y, weight=weight)

    loss = Loss(Tensor([1.0, 2.0]))
    assert repr(loss) == "Loss(weight=<(2,)>)"
    assert get_state_dict(loss)["weight"].requires_grad is False


def test_a_chain_is_a_sequence():
    layers = [nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1)]
    chain = nn.Sequential(*layers)
    assert len(chain) == 3 and list(chain) == layers and chain[-1] is layers[2]
    assert list(get_state_dict(chain[1:])) == ["1.weight", "1.bias"]
    assert len(chain.append(nn.Tanh())) == 4 and repr(chain[3]) == "Tanh()"
    x = Tensor([[1.0, 2, 3]])
    expected = layers[2](layers[0](x).relu()).tanh().numpy()
    np.testing.assert_array_equal(chain(x).numpy(), expected)


def test_functions_stand_in_a_chain():
    assert nn.Sequential(lambda x: x * 2, Tensor.exp)(Tensor([0.0])).item() == 1


def test_a_model_copied_deeply_has_memory_of_its_own():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    optimizer = nn.optim.SGD(get_parameters(model), lr=0.5)
    before = copy.deepcopy(model)
    kept = {name: t.numpy() for name, t in get_state_dict(model).items()}
    with Tensor.train():
        model(Tensor([[1.0, 2], [3, -4]])).square().sum().backward()
        optimizer.step()
    for name, t in get_state_dict(before).items():
        np.testing.assert_array_equal(t.numpy(), kept[name])
        assert t.requires_grad == get_state_dict(model)[name].requires_grad
    assert not np.array_equal(model[0].weight.numpy(), kept["0.weight"])
    again = copy.deepcopy(model)
    np.testing.assert_array_equal(again[0].weight.grad.numpy(), model[0].weight.grad.numpy())
    again(Tensor([[1.0, 2]])).sum().backward()


def test_a_recurrent_network_drops_between_its_layers_in_training_only():
    layer, x = nn.GRU(3, 8, num_layers=2, dropout=0.9), Tensor.ones(2, 4, 3)
    plain = layer(x)[0].numpy()
    np.testing.assert_array_equal(layer(x)[0].numpy(), plain)
    with Tensor.train():
        assert not np.allclose(layer(x)[0].numpy(), plain)


def test_a_recurrent_network_learns_under_a_jit():
    Tensor.manual_seed(1)
    layer, head = nn.GRU(1, 4), nn.Linear(4, 1)
    optimizer = nn.optim.Adam(get_parameters([layer, head]), lr=0.05)

    @TinyJit
    def step(x, y):
        optimizer.zero_grad()
        loss = (head(layer(x)[1][0]) - y).square().mean().backward()
        optimizer.step()
        return loss

    x = np.random.default_rng(0).choice([-1.0, 1.0], (3, 16, 1)).astype(np.float32)
    inputs, sums = Tensor(x).realize(), Tensor(x.sum(0) / 3).realize()
    with Tensor.train():
        losses = [step(inputs, sums).item() for _ in range(40)]
    assert losses[-1] < 0.1 * losses[0]


# ---- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "error", "words"), [
    (lambda: nn.Conv2d(3, 4, 3, padding="sane"), ValueError, '"same" or "valid", not \'sane\''),
    (lambda: nn.Conv2d(3, 4, 3, stride=2, padding="same"), ValueError, "stride (2, 2)"),
    (lambda: nn.Conv1d(3, 4, 3, padding_mode="mirror"), ValueError,
     '"replicate" or "circular", not'),
    (lambda: nn.ConvTranspose2d(3, 4, 3, padding_mode="reflect"), ValueError,
     'must be "zeros", not'),
    (lambda: nn.Conv3d(3, 4, (3, 3)), ValueError, "kernel_size is one int or 3"),
    (lambda: nn.Conv1d(3, 4, 3, groups=2), ValueError, "groups=2"),
    (lambda: nn.ConvTranspose1d(1, 1, 3, output_padding=1), ValueError, "output_padding"),
    (lambda: nn.GroupNorm(2, 5), ValueError, "5 channels do not divide into 2 groups"),
    (lambda: nn.MultiheadAttention(8, 3), ValueError, "8 features do not divide among 3 heads"),
    (lambda: nn.Linear(3, 2)(Tensor.ones(4, 2)), ValueError, "(2, 3) takes (..., 3), not (4, 2)"),
    (lambda: nn.BatchNorm(3)(Tensor.ones(4, 2)), ValueError, "(batch, 3, ...), not (4, 2)"),
    (lambda: nn.GroupNorm(1, 3)(Tensor.ones(4, 2)), ValueError, "(batch, 3, ...), not (4, 2)"),
    (lambda: nn.LayerNorm(3)(Tensor.ones(4, 2)), ValueError, "(3,) takes a shape that ends so"),
    (lambda: nn.ConvTranspose1d(2, 1, 3)(Tensor.ones(1, 3, 5)), ValueError,
     "3 channels of (1, 3, 5)"),
    (lambda: nn.Embedding(3, 2)(Tensor([1.0])), ValueError, "indexed with ints"),
    (lambda: nn.MultiheadAttention(4, 1)(Tensor.ones(4)), ValueError, "attention takes"),
    (lambda: nn.ReLU(inplace=True), TypeError, "ReLU(): got an unexpected keyword"),
    (lambda: nn.MaxPool2d(), TypeError, "MaxPool2d(kernel_size"),
    (lambda: nn.Sequential(nn.ReLU(), 3), TypeError, "1 is 3 of type int"),
    (lambda: nn.Sequential([nn.ReLU()]), TypeError, "one by one"),
    (lambda: nn.LSTM(3, 2, num_layers=0), ValueError, "0 of 2"),
    (lambda: nn.LSTM(3, 2)(Tensor.ones(4, 2, 5)), ValueError, "not (4, 2, 5)"),
    (lambda: nn.GRU(3, 2)(Tensor.ones(4, 2, 3), Tensor.ones(1, 3, 2)), ValueError,
     "(1, 2, 2), not (1, 3, 2)"),
    (lambda: nn.LSTM(3, 2)(Tensor.ones(0, 2, 3)), ValueError, "no element"),
    (lambda: nn.TransformerEncoderLayer(8, 2, activation="tahn"), ValueError, "'tahn'"),
])  # fmt: skip
def test_a_mistake_is_named_with_both_sides(make, error, words):
    with pytest.raises(error) as caught:
        make()
    assert words in str(caught.value)
