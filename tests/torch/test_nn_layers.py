"""Layers compute what PyTorch's do, forward and backward, and have the same parameters by name."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tests.against_torch import random
from tests.values import assert_close
from tinyframe import Tensor, dtypes, nn
from tinyframe.nn.state import get_state_dict, load_state_dict


def ours_with_the_weights_of(layer, theirs):
    """Our layer, with random weights that PyTorch's has too."""
    with torch.no_grad():
        for number, (name, tensor) in enumerate(theirs.state_dict().items()):
            if tensor.is_floating_point() and "running" not in name:
                tensor.copy_(torch.tensor(random(*tensor.shape, seed=number + 1)))
    values = {name: Tensor(t.numpy()) for name, t in theirs.state_dict().items()}
    load_state_dict(layer, values)
    for name, tensor in get_state_dict(layer).items():
        tensor.requires_grad = name in dict(theirs.named_parameters())
    return layer


def assert_agree(layer, theirs, *inputs: np.ndarray, scale: float = 20) -> None:
    """Output, gradients by inputs and gradients by parameters are those of PyTorch's layer."""
    ours_with_the_weights_of(layer, theirs)
    mine = [Tensor(x, requires_grad=True) for x in inputs]
    other = [torch.tensor(x, requires_grad=True) for x in inputs]
    out, expected = layer(*mine), theirs(*other)
    if isinstance(out, tuple):
        out, expected = out[0], expected[0]
    weights = random(*expected.shape, seed=99)
    out.backward(Tensor(weights))
    expected.backward(torch.tensor(weights))
    names = [f"input {number}" for number in range(len(inputs))]
    pairs = list(zip(names, mine, other, strict=True))
    own, parameters = get_state_dict(layer), dict(theirs.named_parameters())
    pairs += [(name, own[name], parameters[name]) for name in parameters]
    Tensor.realize(out, *[t.grad for _, t, _ in pairs])
    assert_close(out.numpy(), expected.detach().numpy(), dtypes.float32, scale, "output")
    for name, tensor, reference in pairs:
        largest = max(1.0, float(reference.grad.abs().max()))
        found, wanted = tensor.grad.numpy() / largest, reference.grad.numpy() / largest
        assert_close(found, wanted, dtypes.float32, scale, f"gradient by {name}")


AROUND = {"stride": 2, "padding": (2, 1), "dilation": 2, "groups": 2, "padding_mode": "circular"}
CONV_WITH_ALL = {"stride": (2, 1), "padding": (1, 2), "dilation": (1, 2), "groups": 2,
                 "bias": False}  # fmt: skip
TRANSPOSED_WITH_ALL = {"stride": (2, 3), "padding": (1, 3), "output_padding": (1, 0),
                       "dilation": (2, 1), "groups": 2}  # fmt: skip
# the name here and in PyTorch, its arguments, its options, and the shape of the input
LAYERS = [
    ("Linear", (5, 3), {}, (4, 5)),
    ("Linear", (5, 3), {"bias": False}, (4, 5)),
    ("Conv2d", (4, 6, (3, 2)), CONV_WITH_ALL, (2, 4, 7, 6)),
    ("Conv2d", (2, 3, (3, 4)), {"padding": "same", "dilation": 2}, (1, 2, 7, 8)),
    ("Conv3d", (2, 3, 2), {"padding": 1}, (1, 2, 3, 4, 3)),
    *[("Conv1d", (2, 3, 4), {"padding": "same", "padding_mode": mode}, (2, 2, 6))
      for mode in ("reflect", "replicate", "circular")],
    *[("Conv2d", (2, 3, 4), {"padding": (1, 2), "padding_mode": mode}, (2, 2, 6, 5))
      for mode in ("reflect", "replicate", "circular")],
    ("Conv2d", (4, 6, (3, 2)), AROUND, (2, 4, 7, 6)),
    ("ConvTranspose2d", (4, 6, (3, 2)), TRANSPOSED_WITH_ALL, (2, 4, 4, 3)),
    ("ConvTranspose3d", (2, 2, 2), {"stride": 2}, (1, 2, 2, 3, 2)),
    ("LayerNorm", (6,), {}, (3, 4, 6)),
    ("LayerNorm", ((4, 6),), {}, (3, 4, 6)),
    ("LayerNorm", (6,), {"elementwise_affine": False, "eps": 0.1}, (3, 6)),
    ("LayerNorm", (6,), {"bias": False}, (3, 6)),
    ("GroupNorm", (2, 6), {}, (3, 6, 4, 2)),
    ("InstanceNorm", (3,), {"affine": True}, (2, 3, 4, 5)),
    ("RMSNorm", (6,), {"eps": 1e-6}, (3, 4, 6)),
    ("BatchNorm", (3,), {}, (4, 3)),  # evaluating
    ("LSTMCell", (4, 3), {}, (2, 4)),
]  # fmt: skip
OTHER_NAMES = {"InstanceNorm": "InstanceNorm2d", "BatchNorm": "BatchNorm1d"}


@pytest.mark.parametrize(("name", "arguments", "options", "shape"), LAYERS)
def test_layer_agrees_with_pytorch(name, arguments, options, shape):
    reference = getattr(torch.nn, OTHER_NAMES.get(name, name))(*arguments, **options)
    assert_agree(getattr(nn, name)(*arguments, **options), reference.eval(), random(*shape))


def test_layernorm2d_normalizes_the_channels_of_each_position():
    x = random(2, 3, 4, 5)
    layer = nn.LayerNorm2d(3)
    theirs = torch.nn.LayerNorm(3)
    expected = theirs(torch.tensor(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
    assert_close(layer(Tensor(x)).numpy(), expected.detach().numpy(), dtypes.float32, 20)


def test_half_goes_through_norms_with_the_digits_of_float32():
    x = (random(3, 300) * 100).astype(np.float16)
    expected = torch.nn.functional.layer_norm(torch.tensor(x).float(), (300,)).half()
    out = nn.LayerNorm(300, elementwise_affine=False)(Tensor(x))
    assert out.dtype is dtypes.half
    assert_close(out.numpy(), expected.numpy(), dtypes.half)


@pytest.mark.parametrize("options", [{}, {"affine": False}, {"momentum": None}, {"momentum": 0.3}])
@pytest.mark.parametrize("shape", [(6, 3), (4, 3, 5), (2, 3, 4, 3)])
def test_batchnorm_in_training_agrees_with_pytorch(shape, options):
    kind = {2: torch.nn.BatchNorm1d, 3: torch.nn.BatchNorm1d, 4: torch.nn.BatchNorm2d}[len(shape)]
    layer, theirs = nn.BatchNorm(3, **options), kind(3, **options)
    with Tensor.train():
        assert_agree(layer, theirs, random(*shape) + 1)
        for number in range(1, 3):
            layer(Tensor(random(*shape, seed=number)))
            theirs(torch.tensor(random(*shape, seed=number)))
    for name, tensor in theirs.state_dict().items():
        found = get_state_dict(layer)[name]
        assert found.dtype is (dtypes.long if "num" in name else dtypes.float)
        assert_close(found.numpy(), tensor.numpy(), found.dtype, 10, name)
    x = random(*shape, seed=7)
    expected = theirs.eval()(torch.tensor(x)).detach().numpy()
    assert_close(layer(Tensor(x)).numpy(), expected, dtypes.float32, 10)


def test_batchnorm_without_running_statistics_uses_those_of_the_batch():
    x = random(5, 3, 4)
    layer = nn.BatchNorm(3, track_running_stats=False)
    theirs = torch.nn.BatchNorm1d(3, track_running_stats=False)
    assert set(get_state_dict(layer)) == set(theirs.state_dict())
    expected = theirs.eval()(torch.tensor(x)).detach().numpy()
    assert_close(layer(Tensor(x)).numpy(), expected, dtypes.float32, 10)


def test_embedding_agrees_with_pytorch():
    layer, theirs = nn.Embedding(7, 4), torch.nn.Embedding(7, 4)
    ours_with_the_weights_of(layer, theirs)
    index = np.array([[0, 6, 3], [3, 3, 1]], np.int32)
    out, expected = layer(Tensor(index)), theirs(torch.tensor(index))
    weights = random(2, 3, 4)
    out.backward(Tensor(weights))
    expected.backward(torch.tensor(weights))
    assert_close(out.numpy(), expected.detach().numpy(), dtypes.float32)
    assert_close(layer.weight.grad.numpy(), theirs.weight.grad.numpy(), dtypes.float32, 4)


def test_lstm_cell_carries_its_state_on():
    layer, theirs = nn.LSTMCell(3, 2), torch.nn.LSTMCell(3, 2)
    ours_with_the_weights_of(layer, theirs)
    state, reference = None, None
    for step in range(3):
        x = random(4, 3, seed=step)
        state = layer(Tensor(x), state)
        reference = theirs(torch.tensor(x), reference)
    for found, expected in zip(state, reference, strict=True):
        assert_close(found.numpy(), expected.detach().numpy(), dtypes.float32, 4)


# ---- attention -----------------------------------------------------------------------------------


def attention(**options):
    options = {"embed_dim": 8, "num_heads": 2, **options}
    layer, theirs = nn.MultiheadAttention(**options), torch.nn.MultiheadAttention(**options)
    return ours_with_the_weights_of(layer, theirs), theirs.eval()


@pytest.mark.parametrize(
    ("options", "shapes"),
    [
        ({}, [(5, 2, 8)] * 3),
        ({"batch_first": True}, [(2, 5, 8)] * 3),
        ({"bias": False}, [(5, 8)] * 3),
        ({"kdim": 6, "vdim": 4}, [(5, 2, 8), (3, 2, 6), (3, 2, 4)]),
    ],
)
def test_attention_agrees_with_pytorch(options, shapes):
    layer, theirs = attention(**options)
    assert_agree(layer, theirs, *[random(*shape, seed=n) for n, shape in enumerate(shapes)])


@pytest.mark.parametrize("kind", ["bool", "float", "padding", "for each head", "causal"])
def test_attention_looks_where_its_masks_let_it(kind):
    layer, theirs = attention(batch_first=True)
    x, length = random(2, 5, 8), 5
    hidden = np.triu(np.ones((length, length), bool), 1)
    options = {
        "bool": {"attn_mask": hidden},
        "float": {"attn_mask": random(length, length)},
        "padding": {"key_padding_mask": np.arange(length) >= np.array([[5], [3]])},
        "for each head": {"attn_mask": random(4, length, length)},
        "causal": {"attn_mask": hidden},
    }[kind]
    own = {"is_causal": True} if kind == "causal" else {k: Tensor(v) for k, v in options.items()}
    out, weights = layer(Tensor(x), **own, average_attn_weights=False)
    expected, wanted = theirs(
        *[torch.tensor(x)] * 3,
        **{k: torch.tensor(v) for k, v in options.items()},
        average_attn_weights=False,
    )
    assert_close(out.numpy(), expected.detach().numpy(), dtypes.float32, 20)
    assert_close(weights.numpy(), wanted.detach().numpy(), dtypes.float32, 4)


def test_attention_weights_are_averaged_over_heads_or_left_out():
    layer, theirs = attention()
    x = random(5, 2, 8)
    expected = theirs(*[torch.tensor(x)] * 3)[1].detach().numpy()
    assert_close(layer(Tensor(x))[1].numpy(), expected, dtypes.float32, 4)
    assert layer(Tensor(x), need_weights=False)[1] is None


# ---- how they begin ------------------------------------------------------------------------------

BEGINNINGS = [
    ("Linear", (60, 50)), ("Conv1d", (20, 30, 5)), ("Conv2d", (10, 30, 3)),
    ("ConvTranspose2d", (20, 12, 3)), ("Embedding", (60, 50)), ("LSTMCell", (20, 30)),
    ("MultiheadAttention", (32, 4)), ("BatchNorm2d", (9,)), ("LayerNorm", (9,)),
    ("GroupNorm", (3, 9)), ("RMSNorm", (9,)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), BEGINNINGS)
def test_initial_values_are_distributed_as_in_pytorch(name, arguments):
    ours, theirs = getattr(nn, name), getattr(torch.nn, name)
    Tensor.manual_seed(3)
    torch.manual_seed(3)
    own, expected = get_state_dict(ours(*arguments)), theirs(*arguments).state_dict()
    assert list(own) == list(expected)
    Tensor.realize(*own.values())
    for key, tensor in expected.items():
        found, wanted = own[key].numpy().ravel(), tensor.numpy().ravel()
        assert own[key].shape == tuple(tensor.shape)
        if wanted.std() == 0:
            np.testing.assert_array_equal(found, wanted)
        elif found.size > 1000:
            quantiles = np.linspace(0, 1, 11)[1:-1]
            np.testing.assert_allclose(
                np.quantile(found, quantiles), np.quantile(wanted, quantiles),
                atol=8 * wanted.std() / math.sqrt(found.size),  # chance
            )  # fmt: skip
            if name != "Embedding":  # uniform: no value beyond the bound
                np.testing.assert_allclose(abs(found).max(), abs(wanted).max(), rtol=0.02)
