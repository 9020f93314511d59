"""Layers compute what PyTorch's do, forward and backward, and have the same parameters by name."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
import torch

from tests.against_torch import random
from tests.reference import evaluate
from tests.values import assert_close, computed
from tinyframe import Tensor, dtypes, nn
from tinyframe.nn.state import get_state_dict, load_state_dict


def with_the_weights_of(theirs, layer):
    """Our layer, with random weights that PyTorch's has too."""
    with torch.no_grad():
        for number, (name, tensor) in enumerate(theirs.state_dict().items()):
            if tensor.is_floating_point() and "running" not in name:
                tensor.copy_(torch.tensor(random(*tensor.shape, seed=number + 1)))
    load_state_dict(layer, {name: Tensor(t.numpy()) for name, t in theirs.state_dict().items()})
    own = get_state_dict(layer)
    assert list(own) == list(theirs.state_dict())
    for name, tensor in own.items():
        tensor.requires_grad = name in dict(theirs.named_parameters())
    return layer


def parts_of(given):
    """The Tensors that a layer gives, one after another."""
    return [p for one in given for p in parts_of(one)] if isinstance(given, tuple) else [given]


def assert_agree(
    layer, theirs, *inputs, call=lambda layer, make, *xs: layer(*xs), scale=20, compiled=True
):
    """All that comes out, and its gradients by inputs and parameters, are those of PyTorch's: by
    their graphs, or compiled."""
    with_the_weights_of(theirs, layer)
    is_float = [x.dtype.kind == "f" for x in inputs]
    mine = [Tensor(x, requires_grad=f or None) for x, f in zip(inputs, is_float, strict=True)]
    other = [torch.tensor(x, requires_grad=f) for x, f in zip(inputs, is_float, strict=True)]
    found = parts_of(call(layer, Tensor, *mine))
    expected = parts_of(call(theirs, torch.tensor, *other))
    rows = [(f"output {n}", *parts) for n, parts in enumerate(zip(found, expected, strict=True))]
    losses = [0, 0]
    for number, (_, a, b) in enumerate(rows):
        if b.requires_grad:
            weights = random(*b.shape, seed=99 - number)
            losses[0] += (a * Tensor(weights)).sum()
            losses[1] += (b * torch.tensor(weights)).sum()
    by = {f"input {n}": (mine[n], t) for n, t in enumerate(other) if t.requires_grad}
    own, names = get_state_dict(layer), dict(theirs.named_parameters())
    by |= {name: (own[name], t) for name, t in names.items()}
    theirs.zero_grad()
    losses[1].backward()
    grads = losses[0].gradient(*[tensor for tensor, _ in by.values()])
    rows += [(f"gradient by {n}", g, by[n][1].grad) for n, g in zip(by, grads, strict=True)]
    made = [t for _, t, _ in rows]
    arrays = computed(*made) if compiled else [evaluate(t.uop) for t in made]
    for array, (what, t, reference) in zip(arrays, rows, strict=True):
        wanted = np.zeros(t.shape) if reference is None else reference.detach().numpy()
        largest = max(1.0, float(abs(wanted).max())) if "gradient" in what else 1
        assert_close(array / largest, wanted / largest, t.dtype, scale, what)


CONV_WITH_ALL = {"stride": (2, 1), "padding": (1, 2), "dilation": (1, 2), "groups": 2,
                 "bias": False}  # fmt: skip
AROUND = {"stride": 2, "padding": (2, 1), "dilation": 2, "groups": 2, "padding_mode": "circular"}
TRANSPOSED_WITH_ALL = {"stride": (2, 3), "padding": (1, 3), "output_padding": (1, 0),
                       "dilation": (2, 1), "groups": 2}  # fmt: skip
POOL_WITH_ALL = {"stride": 2, "padding": (1, 0), "ceil_mode": True, "return_indices": True}
# the name here and in PyTorch, its arguments, its options, and the shapes of the inputs
LAYERS = [
    ("Linear", (5, 3), {}, (4, 5)),
    ("Linear", (5, 3), {"bias": False}, (4, 5)),
    ("Conv2d", (4, 6, (3, 2)), CONV_WITH_ALL, (2, 4, 7, 6)),
    ("Conv2d", (2, 3, (3, 4)), {"padding": "same", "dilation": 2}, (1, 2, 7, 8)),
    ("Conv3d", (2, 3, 2), {"padding": 1}, (1, 2, 3, 4, 3)),
    ("Conv1d", (2, 3, 4), {"padding": "same", "padding_mode": "reflect"}, (2, 2, 6)),
    ("Conv2d", (2, 3, 4), {"padding": (1, 2), "padding_mode": "replicate"}, (2, 2, 6, 5)),
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
    ("BatchNorm", (3,), {"track_running_stats": False}, (5, 3)),
    ("LSTMCell", (4, 3), {}, (2, 4)),
    ("ReLU", (), {}, (3, 5)),
    ("Tanh", (), {}, (3, 5)),
    ("GELU", (), {}, (3, 5)),
    ("GELU", (), {"approximate": "tanh"}, (3, 5)),
    ("Flatten", (), {}, (2, 3, 4)),
    ("Flatten", (), {"start_dim": 0, "end_dim": 1}, (2, 3, 4)),
    ("MaxPool2d", (2,), {}, (2, 3, 6, 5)),
    ("MaxPool2d", ((3, 2),), POOL_WITH_ALL, (1, 2, 6, 7)),
    ("MultiheadAttention", (8, 2), {}, *[(5, 2, 8)] * 3),
    ("MultiheadAttention", (8, 2), {"bias": False}, *[(5, 8)] * 3),
    ("MultiheadAttention", (8, 2), {"kdim": 6, "vdim": 4}, (5, 2, 8), (3, 2, 6), (3, 2, 4)),
    ("TransformerEncoderLayer", (8, 2, 12), {}, (3, 4, 8)),
    ("TransformerEncoderLayer", (8, 2, 12), {"norm_first": True, "batch_first": True}, (3, 4, 8)),
    ("TransformerEncoderLayer", (8, 2, 12), {"activation": "gelu", "bias": False}, (3, 4, 8)),
]  # fmt: skip
OTHER_NAMES = {"InstanceNorm": "InstanceNorm2d", "BatchNorm": "BatchNorm1d"}


@pytest.mark.parametrize("case", LAYERS, ids=lambda case: " ".join(map(str, case)))
def test_layer_agrees_with_pytorch(case):
    name, arguments, options, *shapes = case
    is_first_of_its_kind = case is next(row for row in LAYERS if row[0] == name)
    reference = getattr(torch.nn, OTHER_NAMES.get(name, name))(*arguments, **options)
    inputs = [random(*shape, seed=n) for n, shape in enumerate(shapes)]
    layer = getattr(nn, name)(*arguments, **options)
    assert_agree(layer, reference.eval(), *inputs, compiled=is_first_of_its_kind)


def test_embedding_agrees_with_pytorch():
    index = np.array([[0, 6, 3], [3, 3, 1]], np.int32)
    assert_agree(nn.Embedding(7, 4), torch.nn.Embedding(7, 4), index, scale=4)


def test_layernorm2d_normalizes_the_channels_of_each_position():
    x = random(2, 3, 4, 5)
    expected = torch.nn.LayerNorm(3)(torch.tensor(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
    found = nn.LayerNorm2d(3)(Tensor(x)).numpy()
    assert_close(found, expected.detach().numpy(), dtypes.float32, 20)


def test_half_goes_through_norms_with_the_digits_of_float32():
    x = (random(3, 300) * 100).astype(np.float16)
    expected = torch.nn.functional.layer_norm(torch.tensor(x).float(), (300,)).half()
    out = nn.LayerNorm(300, elementwise_affine=False)(Tensor(x))
    assert out.dtype is dtypes.half
    assert_close(out.numpy(), expected.numpy(), dtypes.half)


@pytest.mark.parametrize(("shape", "options"), [
    ((6, 3), {}), ((2, 3, 4, 3), {"affine": False}), ((4, 3, 5), {"momentum": None}),
    ((2, 3, 4, 3), {"momentum": 0.3}), ((4, 3, 5), {}),
])  # fmt: skip
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


# ---- chains --------------------------------------------------------------------------------------


def test_a_chain_has_pytorchs_names_and_values():
    def chain(lib):
        return lib.Sequential(
            lib.Conv2d(1, 4, 3), lib.BatchNorm2d(4), lib.ReLU(), lib.MaxPool2d(2),
            lib.Dropout(0.5), lib.Flatten(), lib.Sequential(lib.Linear(36, 8), lib.GELU()),
            lib.Linear(8, 3),
        )  # fmt: skip

    assert_agree(chain(nn), chain(torch.nn).eval(), random(2, 1, 8, 8))


def test_a_chain_of_named_layers():
    theirs = torch.nn.Sequential()
    theirs.add_module("first", torch.nn.Linear(4, 3))
    theirs.add_module("act", torch.nn.Tanh())
    ours = nn.Sequential({"first": nn.Linear(4, 3), "act": nn.Tanh()})
    assert_agree(ours, theirs, random(2, 4))


# ---- attention -----------------------------------------------------------------------------------

HIDDEN = np.triu(np.ones((5, 5), bool), 1)
PADDING = np.arange(5) >= np.array([[5], [3]])
MASKS = {
    "bool": {"attn_mask": HIDDEN}, "float": {"attn_mask": random(5, 5)},
    "padding": {"key_padding_mask": PADDING}, "for each head": {"attn_mask": random(4, 5, 5)},
    "causal": {"attn_mask": HIDDEN},
}  # fmt: skip


@pytest.mark.parametrize("kind", MASKS)
def test_attention_looks_where_its_masks_let_it(kind):
    def call(layer, make, x):
        options = {name: make(mask) for name, mask in MASKS[kind].items()}
        if kind == "causal" and make is Tensor:
            options = {"is_causal": True}
        return layer(x, x, x, **options, average_attn_weights=False)

    layer, theirs = (lib.MultiheadAttention(8, 2, batch_first=True) for lib in (nn, torch.nn))
    assert_agree(layer, theirs.eval(), random(2, 5, 8), call=call, compiled=kind == "padding")


def test_one_input_attends_to_itself_and_weights_may_be_left_out():
    layer, x = nn.MultiheadAttention(8, 2), Tensor(random(5, 2, 8))
    out, weights = layer(x, need_weights=False)
    assert weights is None
    np.testing.assert_array_equal(out.numpy(), layer(x, x, x)[0].numpy())


def test_masks_of_a_transformers_layer():
    ours = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True)
    theirs = torch.nn.TransformerEncoderLayer(8, 2, 12, batch_first=True).train()
    for dropout in (theirs.dropout, theirs.dropout1, theirs.dropout2):
        dropout.p = 0.0  # in training, or PyTorch takes a way that has no masked rows
    theirs.self_attn.dropout = 0.0
    for is_causal in (False, True):

        def call(layer, make, x, is_causal=is_causal):
            mask = {"src_mask": make(HIDDEN)}
            if is_causal and make is Tensor:
                mask = {"is_causal": True}
            return layer(x, src_key_padding_mask=make(PADDING), **mask)

        assert_agree(ours, theirs, random(2, 5, 8), call=call, scale=50)


# ---- recurrent networks --------------------------------------------------------------------------


def test_lstm_cell_carries_its_state_on():
    def call(layer, make, *xs):
        state = None
        for x in xs:
            state = layer(x, state)
        return state

    inputs = [random(4, 3, seed=step) for step in range(3)]
    assert_agree(nn.LSTMCell(3, 2), torch.nn.LSTMCell(3, 2), *inputs, call=call)


# options, the shape of the input, and that of the first state, where it is given
RECURRENT = {
    "a batch first, from a state": ({"batch_first": True}, (3, 2, 3), (1, 3, 2)),
    "no bias, one element": ({"bias": False}, (1, 2, 3), None),
    "two layers, both ways, from a state": (
        {"num_layers": 2, "bidirectional": True}, (2, 2, 3), (4, 2, 2)),
    "no batch, both ways, from a state": (
        {"bidirectional": True, "batch_first": True}, (2, 3), (2, 2)),
}  # fmt: skip


@pytest.mark.parametrize(("name", "case"), [
    ("GRU", "a batch first, from a state"), ("GRU", "two layers, both ways, from a state"),
    *[("LSTM", case) for case in RECURRENT if "batch first" not in case],
])  # fmt: skip
def test_a_recurrent_network_and_its_last_state(name, case):
    def call(layer, make, x, *state):
        return layer(x, *([state] if name == "LSTM" and state else state))

    options, shape, state = RECURRENT[case]
    begin = [random(*state, seed=n) for n in (3, 4)[: 2 if name == "LSTM" else 1]] if state else []
    ours, theirs = (getattr(lib, name)(3, 2, **options) for lib in (nn, torch.nn))
    compiled = "two layers" not in case  # 32 steps, each with kernels of its own
    assert_agree(ours, theirs, random(*shape), *begin, call=call, compiled=compiled)


# ---- how they begin, and what they are called ----------------------------------------------------

BEGINNINGS = [
    ("Linear", (60, 50)), ("Conv1d", (20, 30, 5)), ("Conv2d", (10, 30, 3)),
    ("ConvTranspose2d", (20, 12, 3)), ("Embedding", (60, 50)), ("LSTMCell", (20, 30)),
    ("MultiheadAttention", (32, 4)), ("BatchNorm2d", (9,)), ("LayerNorm", (9,)),
    ("GroupNorm", (3, 9)), ("RMSNorm", (9,)), ("GRU", (30, 25)), ("LSTM", (30, 25)),
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


@pytest.mark.parametrize("name", ["Dropout", "Flatten", "GELU", "MaxPool2d", "ReLU", "Tanh"])
def test_arguments_have_pytorchs_names_defaults_and_docstrings(name):
    ours, theirs = getattr(nn, name), getattr(torch.nn, name)
    assert ours.__name__ == name and ours.__doc__ and ours.__doc__.endswith((".", ".\n    "))
    expected = inspect.signature(theirs).parameters
    for parameter in inspect.signature(ours).parameters.values():
        assert expected[parameter.name].default == parameter.default, parameter.name
