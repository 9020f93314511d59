"""Layers that are functions, recurrent networks and the transformer agree with PyTorch."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch

from tests.against_torch import random
from tests.values import assert_close, computed
from tinyframe import Tensor, dtypes, nn
from tinyframe.nn.state import get_state_dict, load_state_dict


def assert_same(layer, theirs, inputs, scale=20, parameters=()):
    """The results agree, and so do the gradients with respect to float inputs and parameters."""
    mine = [Tensor(x, requires_grad=x.dtype.kind == "f" or None) for x in inputs]
    other = [torch.tensor(x, requires_grad=x.dtype.kind == "f") for x in inputs]
    out, expected = layer(*mine), theirs(*other)
    weights = random(*expected.shape, seed=9)
    expected.backward(torch.tensor(weights))
    pairs = [(m, t.grad) for m, t in zip(mine, other, strict=True) if t.grad is not None]
    pairs += [(own, t.grad) for own, t in parameters]
    grads = out.gradient(*[m for m, _ in pairs], gradient=Tensor(weights))
    references = [expected.detach(), *[g for _, g in pairs]]
    for found, reference in zip(computed(out, *grads), references, strict=True):
        largest = max(1.0, float(abs(reference).max()))
        assert_close(found / largest, reference.numpy() / largest, dtypes.float32, scale)


# name: options, with which both are made, and what they are called with
FUNCTIONS = {
    "ReLU": ({}, [(3, 5)]), "Tanh": ({}, [(3, 5)]), "GELU": ({}, [(3, 5)]),
    "GELU ": ({"approximate": "tanh"}, [(3, 5)]),
    "Flatten": ({}, [(2, 3, 4)]),
    "Flatten ": ({"start_dim": 0, "end_dim": 1}, [(2, 3, 4)]),
    "MaxPool2d": ({"kernel_size": 2}, [(2, 3, 6, 5)]),
    "MaxPool2d ": (
        {"kernel_size": (3, 2), "stride": 2, "padding": (1, 0), "ceil_mode": True}, [(1, 2, 6, 7)]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_layer_agrees_with_the_one_of_its_name(name):
    options, inputs = FUNCTIONS[name]
    layer, theirs = (getattr(lib, name.strip())(**options) for lib in (nn, torch.nn))
    assert_same(layer, theirs, [random(*shape, seed=n) for n, shape in enumerate(inputs)])


@pytest.mark.parametrize("name", sorted({"Dropout"} | {name.strip() for name in FUNCTIONS}))
def test_arguments_have_pytorchs_names_defaults_and_docstrings(name):
    ours, theirs = getattr(nn, name), getattr(torch.nn, name)
    assert ours.__name__ == name and ours.__doc__ and ours.__doc__.endswith((".", ".\n    "))
    expected = inspect.signature(theirs).parameters
    for parameter in inspect.signature(ours).parameters.values():
        assert expected[parameter.name].default == parameter.default, parameter.name


def test_max_pooling_gives_its_indices_too():
    x = random(1, 2, 4, 6)
    values, indices = nn.MaxPool2d(2, return_indices=True)(Tensor(x))
    expected = torch.nn.MaxPool2d(2, return_indices=True)(torch.tensor(x))
    assert_close(values.numpy(), expected[0].numpy(), dtypes.float32)
    assert indices.tolist() == expected[1].tolist()


# ---- chains -------------------------------------------------------------------------------------


def with_weights_of(layer, theirs):
    """Our layer with the weights of PyTorch's, and the pairs of parameters."""
    load_state_dict(layer, {name: Tensor(t.numpy()) for name, t in theirs.state_dict().items()})
    own = get_state_dict(layer)
    assert list(own) == list(theirs.state_dict())
    return [(own[name].requires_grad_(), t) for name, t in theirs.named_parameters()]


def chain(lib):
    return lib.Sequential(
        lib.Conv2d(1, 4, 3), lib.BatchNorm2d(4), lib.ReLU(), lib.MaxPool2d(2), lib.Dropout(0.5),
        lib.Flatten(), lib.Sequential(lib.Linear(36, 8), lib.GELU()), lib.Linear(8, 3),
    )  # fmt: skip


def test_a_chain_has_pytorchs_names_and_values():
    ours, theirs = chain(nn), chain(torch.nn).eval()
    assert_same(ours, theirs, [random(2, 1, 8, 8)], parameters=with_weights_of(ours, theirs))


def test_a_chain_of_named_layers():
    ours = nn.Sequential({"first": nn.Linear(4, 3), "act": nn.Tanh()})
    theirs = torch.nn.Sequential()
    theirs.add_module("first", torch.nn.Linear(4, 3))
    theirs.add_module("act", torch.nn.Tanh())
    assert_same(ours, theirs, [random(2, 4)], parameters=with_weights_of(ours, theirs))


# ---- recurrent networks --------------------------------------------------------------------------

# options, the shape of the input, and whether the first state is given
RECURRENT = {
    "a batch first, from a state": ({"batch_first": True}, (3, 2, 3), True),
    "no bias, one element": ({"bias": False}, (1, 2, 3), False),
    "two layers, both ways, from a state": (
        {"num_layers": 2, "bidirectional": True}, (2, 2, 3), True),
    "no batch, both ways, from a state": (
        {"bidirectional": True, "batch_first": True}, (2, 3), True),
}  # fmt: skip


BOTH_WAYS = [case for case in RECURRENT if "both ways" in case]
CASES = [(name, case) for name in ("GRU", "LSTM")
         for case in (RECURRENT if name == "GRU" else BOTH_WAYS)]  # fmt: skip


@pytest.mark.parametrize(("name", "case"), CASES)
def test_a_recurrent_network_and_its_last_state(name, case):
    options, shape, given = RECURRENT[case]
    ours, theirs = getattr(nn, name)(3, 2, **options), getattr(torch.nn, name)(3, 2, **options)
    parameters = with_weights_of(ours, theirs)
    states = 2 if name == "LSTM" else 1
    count = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    batch = [shape[0] if options.get("batch_first") else shape[1]] * (len(shape) - 2)
    begin = [random(count, *batch, 2, seed=n + 3) for n in range(states if given else 0)]

    def everything(layer, x, *state):
        """All that comes back as one vector, so that each part gets a gradient."""
        out, last = layer(x, *([state if states == 2 else state[0]] if state else []))
        parts = [out, *(last if states == 2 else [last])]
        flat = [part.flatten() for part in parts]
        assert [tuple(p.shape) for p in parts[1:]] == [(count, *batch, 2)] * states
        return flat[0].cat(*flat[1:]) if isinstance(x, Tensor) else torch.cat(flat)

    assert_same(
        lambda *xs: everything(ours, *xs), lambda *xs: everything(theirs, *xs),
        [random(*shape), *begin], parameters=parameters,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["GRU", "LSTM"])
def test_recurrent_weights_begin_as_in_pytorch(name):
    weights = get_state_dict(getattr(nn, name)(30, 25))
    expected = getattr(torch.nn, name)(30, 25).state_dict()
    for key, tensor in expected.items():
        found = weights[key].numpy()
        assert found.shape == tuple(tensor.shape)
        assert abs(found).max() <= 0.2  # 1 / sqrt(25)
        assert abs(found).max() > 0.15


# ---- transformers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{}, {"norm_first": True, "batch_first": True}, {"activation": "gelu", "bias": False}],
    ids=str,
)
def test_a_transformers_layer(options):
    ours = nn.TransformerEncoderLayer(8, 2, 12, **options)
    theirs = torch.nn.TransformerEncoderLayer(8, 2, 12, **options).eval()
    parameters = with_weights_of(ours, theirs)
    assert_same(ours, theirs, [random(3, 4, 8)], scale=50, parameters=parameters)


def test_masks_of_a_transformers_layer():
    ours = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True)
    theirs = torch.nn.TransformerEncoderLayer(8, 2, 12, batch_first=True).train()
    for dropout in (theirs.dropout, theirs.dropout1, theirs.dropout2):
        dropout.p = 0.0  # in training, or PyTorch takes a way that has no masked rows
    theirs.self_attn.dropout = 0.0
    with_weights_of(ours, theirs)
    x, hidden = random(2, 4, 8), np.triu(np.ones((4, 4), bool), 1)
    padding = np.array([[False] * 4, [False, False, False, True]])
    expected = theirs(torch.tensor(x), torch.tensor(hidden), torch.tensor(padding))
    for options in ({"src_mask": Tensor(hidden)}, {"is_causal": True}):
        found = ours(Tensor(x), src_key_padding_mask=Tensor(padding), **options)
        assert_close(found.numpy(), expected.detach().numpy(), dtypes.float32, 20)
