"""Whole models beside PyTorch: a transformer's loss curve, and a saved CNN that opens there."""

from __future__ import annotations

import numpy as np
import torch
from safetensors.torch import load_file

from tests.models import CONTEXT, DigitNetwork, Transformer, digit_images, text_batch
from tinyframe import Tensor, TinyJit, nn
from tinyframe.nn.state import get_parameters, get_state_dict, safe_save

F = torch.nn.functional


def transformer_loss(p, x, y, heads=4, depth=2):
    """The loss of tests.models.Transformer with the parameters `p`, written for PyTorch."""

    def linear(name, h):
        return F.linear(h, p[f"{name}.weight"], p[f"{name}.bias"])

    def norm(name, h):
        return F.layer_norm(h, h.shape[-1:], p[f"{name}.weight"], p[f"{name}.bias"])

    h = p["character.weight"][x] + p["position.weight"][torch.arange(CONTEXT)]
    batch, length, size = h.shape
    for n in range(depth):
        qkv = linear(f"blocks.{n}.qkv", norm(f"blocks.{n}.norm1", h))
        q, k, v = qkv.reshape(batch, length, 3, heads, size // heads).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        h = h + linear(f"blocks.{n}.out", seen.transpose(1, 2).reshape(batch, length, size))
        up = F.gelu(linear(f"blocks.{n}.up", norm(f"blocks.{n}.norm2", h)), approximate="tanh")
        h = h + linear(f"blocks.{n}.down", up)
    return F.cross_entropy(linear("scores", norm("norm", h)).flatten(0, 1), y.flatten().long())


def test_the_loss_of_a_transformer_goes_down_as_in_pytorch():
    Tensor.manual_seed(0)
    model = Transformer()
    optimizer = nn.optim.AdamW(get_parameters(model), lr=3e-3)
    theirs = {name: torch.tensor(t.numpy(), requires_grad=True)
              for name, t in get_state_dict(model).items()}  # fmt: skip
    reference = torch.optim.AdamW(theirs.values(), lr=3e-3)

    @TinyJit
    def step(x, y):
        optimizer.zero_grad()
        loss = model.loss(x, y).backward()
        optimizer.step()
        return loss

    found, expected = [], []
    for number in range(25):
        x, y = text_batch(number)
        found.append(step(Tensor(x).realize(), Tensor(y).realize()).item())
        reference.zero_grad()
        loss = transformer_loss(theirs, torch.tensor(x), torch.tensor(y))
        loss.backward()
        reference.step()
        expected.append(loss.item())
    assert expected[-1] < 0.85 * expected[0]
    np.testing.assert_allclose(found, expected, rtol=0.01)


def test_a_saved_cnn_gives_the_same_scores_in_pytorch(tmp_path):
    Tensor.manual_seed(0)
    model = DigitNetwork()
    x, _, x_test, _ = digit_images()
    with Tensor.train(), Tensor.no_grad():
        model(Tensor(x[:64])).realize(*get_parameters(model))  # statistics that are not 0 and 1
    safe_save(get_state_dict(model), tmp_path / "digits.safetensors")
    theirs = torch.nn.Sequential(
        torch.nn.Conv2d(1, 32, 3, padding="same"), torch.nn.ReLU(),
        torch.nn.Conv2d(32, 32, 3, padding="same"), torch.nn.ReLU(),
        torch.nn.BatchNorm2d(32), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(32, 64, 3, padding="same"), torch.nn.ReLU(),
        torch.nn.Conv2d(64, 64, 3, padding="same"), torch.nn.ReLU(),
        torch.nn.BatchNorm2d(64), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(256, 10),
    )  # fmt: skip
    loaded = load_file(tmp_path / "digits.safetensors")
    theirs.load_state_dict({name.removeprefix("layers."): t for name, t in loaded.items()})
    scores = model(Tensor(x_test)).numpy()
    with torch.no_grad():
        expected = theirs.eval()(torch.tensor(x_test)).numpy()
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
