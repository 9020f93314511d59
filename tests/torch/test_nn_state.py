"""Files that PyTorch and tinyframe write for each other."""

from __future__ import annotations

import io
import zipfile
from collections import OrderedDict

import numpy as np
import pytest
import safetensors.torch
import torch

from tinyframe import Tensor, dtypes, nn
from tinyframe.nn.state import (
    FileError,
    get_parameters,
    get_state_dict,
    load_state_dict,
    safe_load,
    safe_save,
    torch_load,
)


def network():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.Flatten(),
        torch.nn.Linear(48, 2),
    )  # fmt: skip


class Network:
    """Holds its layers under the names that torch.nn.Sequential gives."""

    def __init__(self):
        layers = nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.Linear(48, 2)
        self.__dict__.update(zip("013", layers, strict=True))

    def __call__(self, x):
        conv, norm, linear = self.__dict__.values()
        return linear(norm(conv(x)).flatten(1))


def test_a_pytorch_state_dict_loads_and_computes_the_same(tmp_path):
    theirs = network()
    theirs(torch.randn(4, 1, 6, 6))  # moves the running statistics
    torch.save(theirs.state_dict(), tmp_path / "model.pt")
    ours = Network()
    load_state_dict(ours, torch_load(tmp_path / "model.pt"))
    x = np.random.default_rng(0).standard_normal((2, 1, 6, 6)).astype(np.float32)
    expected = theirs.eval()(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(ours(Tensor(x)).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_a_network_that_is_saved_gives_the_same_scores_in_pytorch(tmp_path):
    ours, theirs = Network(), network()
    x = np.random.default_rng(0).standard_normal((4, 1, 6, 6)).astype(np.float32)
    with Tensor.train(), Tensor.no_grad():
        ours(Tensor(x)).realize(*get_parameters(ours))  # statistics that are not 0 and 1
    safe_save(get_state_dict(ours), tmp_path / "network.safetensors")
    theirs.load_state_dict(safetensors.torch.load_file(tmp_path / "network.safetensors"))
    with torch.no_grad():
        expected = theirs.eval()(torch.tensor(x)).numpy()
    np.testing.assert_allclose(ours(Tensor(x)).numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["bfloat16", "float16", "bool", "int64", "uint16"])
def test_dtypes_cross_over_safetensors_in_both_directions(tmp_path, name):
    values = torch.tensor([[0, 1], [1, 1]]).to(getattr(torch, name))
    safetensors.torch.save_file({"a": values}, tmp_path / "theirs.safetensors")
    loaded = safe_load(tmp_path / "theirs.safetensors")["a"]
    assert loaded.dtype is getattr(dtypes, name)
    safe_save({"a": loaded}, tmp_path / "ours.safetensors")
    back = safetensors.torch.load_file(tmp_path / "ours.safetensors")["a"]
    assert back.dtype is values.dtype and torch.equal(back, values)


BASE = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
VALUES = {
    "whole": BASE, "transposed": BASE.permute(2, 0, 1), "a part": BASE[1:, 1:],
    "every second": BASE[:, :, ::2], "expanded": torch.ones(1, 3).expand(2, 3),
    "with an offset": BASE[1], "scalar": torch.tensor(2.5), "empty": torch.zeros(0, 2),
    "one by one": torch.arange(3.0).reshape(3, 1).T, "parameter": torch.nn.Parameter(torch.ones(2)),
    "double": torch.tensor([0.1], dtype=torch.float64), "long": torch.tensor([2**40]),
    **{name: torch.tensor([3, 0, 7]).to(getattr(torch, name)) for name in (
        "half", "bfloat16", "int", "short", "int8", "uint8", "bool", "uint16")},
    "uint32": torch.tensor([7, 8, 9], dtype=torch.uint32)[1:],
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_torch_load_reads_every_dtype_and_stride(tmp_path, name):
    torch.save({"value": VALUES[name], "epoch": 3}, tmp_path / "a.pt")
    loaded = torch_load(tmp_path / "a.pt")
    found, expected = loaded["value"], VALUES[name].detach()
    assert loaded["epoch"] == 3 and found.shape == tuple(expected.shape)
    assert found.dtype is getattr(dtypes, str(expected.dtype).removeprefix("torch."))
    expected = expected.float() if expected.dtype is torch.bfloat16 else expected
    np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_a_checkpoint_of_lists_and_dicts_keeps_its_form(tmp_path):
    value = OrderedDict(
        model=[torch.ones(2), (torch.zeros(1), "text")],
        size=torch.ones(2, 3).shape, dtype=torch.float32, device=torch.device("cpu"),
    )  # fmt: skip
    torch.save(value, tmp_path / "a.pt")
    loaded = torch_load(tmp_path / "a.pt")
    assert loaded["size"] == (2, 3) and loaded["dtype"] == "float32"
    assert loaded["device"] == "cpu" and loaded["model"][1][1] == "text"
    assert loaded["model"][0].tolist() == [1, 1]


def test_an_optimizers_checkpoint_loads(tmp_path):
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.Adam([w])
    w.sum().backward()
    optimizer.step()
    torch.save(optimizer.state_dict(), tmp_path / "a.pt")
    state = torch_load(tmp_path / "a.pt")
    np.testing.assert_allclose(state["state"][0]["exp_avg"].numpy(), [0.1, 0.1], rtol=1e-6)


@pytest.mark.parametrize(("make", "options", "words"), [
    (network, {}, r"torch.nn.modules.*state_dict\(\)"),
    (lambda: {"a": torch.ones(2)}, {"_use_new_zipfile_serialization": False}, "PyTorch before 1.6"),
], ids=["a whole model", "old PyTorch"])  # fmt: skip
def test_what_cannot_be_loaded_is_refused_with_advice(tmp_path, make, options, words):
    torch.save(make(), tmp_path / "model.pt", **options)
    with pytest.raises(FileError, match=words):
        torch_load(tmp_path / "model.pt")


def test_an_archive_that_is_cut_off_is_a_clear_error(tmp_path):
    torch.save({"a": torch.ones(1000)}, tmp_path / "a.pt")
    data = (tmp_path / "a.pt").read_bytes()
    for length in (3, 100, 2000, len(data) - 1):
        (tmp_path / "cut.pt").write_bytes(data[:length])
        with pytest.raises(FileError, match="cut off"):
            torch_load(tmp_path / "cut.pt")


def test_an_archive_that_lacks_a_storage_or_has_too_little_of_it_is_a_clear_error(tmp_path):
    whole = io.BytesIO()
    torch.save({"a": torch.ones(100)}, whole)
    with zipfile.ZipFile(whole) as source:
        for name, words in (("lacks", "lacks a/data/0"), ("short", "100 elements of")):
            with zipfile.ZipFile(tmp_path / f"{name}.pt", "w") as target:
                target.writestr("a/data.pkl", source.read("archive/data.pkl"))
                if name == "short":
                    target.writestr("a/data/0", b"short")
            with pytest.raises(FileError, match=words):
                torch_load(tmp_path / f"{name}.pt")
