"""Layers made of functions, chains of them, and recurrent layers: how they look, and mistakes."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from tinyframe import Tensor, TinyJit, nn
from tinyframe.nn.state import get_parameters, get_state_dict


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


@pytest.mark.parametrize("kind", [nn.GRU, nn.LSTM])
def test_a_sequence_in_two_halves_is_the_sequence(kind):
    layer, x = kind(3, 2, num_layers=2), Tensor(np.linspace(-1, 1, 24).reshape(4, 2, 3)).float()
    whole, last = layer(x)
    first, state = layer(x[:2])
    second, state = layer(x[2:], state)
    np.testing.assert_allclose(first.cat(second).numpy(), whole.numpy(), atol=1e-6)
    pairs = zip(state, last, strict=True) if kind is nn.LSTM else [(state, last)]
    for found, expected in pairs:
        np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-6)


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


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
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
    ],
)  # fmt: skip
def test_a_mistake_is_named(make, error, words):
    with pytest.raises(error) as caught:
        make()
    assert words in str(caught.value)
