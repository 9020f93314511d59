"""State dicts and safetensors files: names, round trips, and files that are broken."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import zipfile
from collections import OrderedDict, namedtuple
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from tinyframe import Context, Device, GlobalCounters, Tensor, dtypes, nn
from tinyframe.device import buffer_of
from tinyframe.nn.state import (
    FileError,
    TensorIO,
    get_parameters,
    get_state_dict,
    load_state_dict,
    replacing,
    safe_load,
    safe_load_metadata,
    safe_save,
    torch_load,
)

ROOT = Path(__file__).resolve().parents[2]


class Model:
    def __init__(self):
        self.first = nn.Linear(3, 4)
        self.norm = nn.BatchNorm(4)
        self.layers = [nn.Linear(4, 4), Tensor.relu, nn.Linear(4, 2)]
        self.by_name = {"scale": Tensor([2.0])}
        self.size = 3


# ---- names ---------------------------------------------------------------------------------------


def test_tensors_are_named_by_the_way_to_them():
    model = Model()
    assert list(get_state_dict(model)) == [
        "first.weight", "first.bias",
        "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var",
        "norm.num_batches_tracked",
        "layers.0.weight", "layers.0.bias", "layers.2.weight", "layers.2.bias",
        "by_name.scale",
    ]  # fmt: skip
    assert get_state_dict(model)["layers.2.bias"] is model.layers[2].bias
    assert len(get_parameters(model)) == 12
    assert list(get_state_dict(model.first, prefix="a.b")) == ["a.b.weight", "a.b.bias"]


def test_tuples_and_ordered_dicts_are_looked_into():
    pair = namedtuple("pair", "left right")
    found = get_state_dict({"p": pair(Tensor([1.0]), (Tensor([2.0]),)),
                            "o": OrderedDict(x=Tensor([3.0]))})  # fmt: skip
    assert list(found) == ["p.left", "p.right.0", "o.x"]


def test_an_object_that_holds_its_owner_ends():
    model = Model()
    model.first.owner = model
    assert len(get_state_dict(model)) == 12


# ---- loading into a model ------------------------------------------------------------------------


def test_a_state_dict_makes_two_models_agree_and_keeps_them_apart():
    first, second = Model(), Model()
    load_state_dict(second, get_state_dict(first))
    for name, tensor in get_state_dict(second).items():
        np.testing.assert_array_equal(tensor.numpy(), get_state_dict(first)[name].numpy())
    second.by_name["scale"].assign(Tensor([7.0])).realize()
    second.first.bias.assign(second.first.bias + 1).realize()
    assert first.by_name["scale"].item() == 2
    assert not np.array_equal(first.first.bias.numpy(), second.first.bias.numpy())


def test_values_are_written_in_place_and_cast():
    layer = nn.Linear(2, 1)
    Tensor.realize(*get_parameters(layer))
    before = buffer_of(layer.weight.uop.base)
    load_state_dict(layer, {"weight": Tensor([[1, 2]]), "bias": Tensor([0.5]).half()})
    assert buffer_of(layer.weight.uop.base) is before and layer.weight.dtype is dtypes.float32
    np.testing.assert_array_equal(layer.weight.numpy(), [[1, 2]])
    assert layer.bias.item() == 0.5


def test_all_mismatches_are_listed_and_nothing_is_changed():
    layer = nn.Linear(2, 2)
    before = layer.weight.numpy()
    given = {"weight": Tensor.ones(2, 2), "bias": Tensor.ones(3), "more": Tensor.ones(1, 5)}
    with pytest.raises(ValueError) as caught:
        load_state_dict(Holder(layer, Tensor.ones(4)), {f"layer.{k}": v for k, v in given.items()})
    lines = str(caught.value).splitlines()
    assert lines[0] == ("Shape mismatch in layer `layer.bias`: Expected shape (2,), "
                        "but found (3,) in state dict.")  # fmt: skip
    assert lines[1] == "Missing in state dict: `extra` of shape (4,)."
    assert lines[2] == "Not in the model: `layer.more` of shape (1, 5)."
    assert "strict=False" in lines[3]
    np.testing.assert_array_equal(layer.weight.numpy(), before)


class Holder:
    def __init__(self, layer, extra):
        self.layer, self.extra = layer, extra


def test_not_strict_passes_over_names_but_not_over_shapes(capsys):
    layer = nn.Linear(2, 1)
    given = {"weight": Tensor([[1.0, 2.0]]), "other": Tensor([1.0])}
    with pytest.raises(KeyError):
        load_state_dict(layer, given)
    load_state_dict(layer, given, strict=False)
    assert "`bias` of shape (1,)" in capsys.readouterr().out
    load_state_dict(layer, given, strict=False, verbose=False)
    assert capsys.readouterr().out == ""
    np.testing.assert_array_equal(layer.weight.numpy(), [[1, 2]])
    with pytest.raises(ValueError, match="Shape mismatch"):
        load_state_dict(layer, {"weight": Tensor.ones(3)}, strict=False)


def test_a_number_fits_where_one_element_is_expected():
    holder = Holder(None, Tensor([1.0]))
    load_state_dict(holder, {"extra": Tensor(5.0)})
    assert holder.extra.shape == (1,) and holder.extra.item() == 5


# ---- safetensors ---------------------------------------------------------------------------------

VALUES = {
    "float64": [0.1, -2.0], "float32": [[0.1, float("inf")], [float("nan"), -0.0]],
    "half": [0.1, 2.0], "bfloat16": [[1.5], [3.140625]], "int64": [2**60, -1],
    "int32": [[1, 2, 3]], "int16": [-3], "int8": [-3, 4, 5], "uint64": [2**63],
    "uint32": [2**31], "uint16": [65535], "uint8": [255, 0, 1], "bool": [True, False],
}  # fmt: skip
EVERYTHING = {name: Tensor(values, dtype=name) for name, values in VALUES.items()} | {
    "scalar": Tensor(3.0), "empty": Tensor.zeros(0, 3), "constant": Tensor.ones(2, 2),
    "a view": Tensor.arange(6).reshape(2, 3).T,
}  # fmt: skip


@pytest.mark.parametrize("state", [EVERYTHING, {}], ids=["all", "nothing"])
def test_every_dtype_and_shape_comes_back(tmp_path, state):
    path = tmp_path / "all.safetensors"
    safe_save(state, path)
    loaded = safe_load(path)
    assert set(loaded) == set(state)
    for name, tensor in state.items():
        assert loaded[name].dtype is tensor.dtype and loaded[name].shape == tensor.shape, name
        np.testing.assert_array_equal(loaded[name].numpy(), tensor.numpy(), err_msg=name)


def test_the_safetensors_library_reads_our_files_and_we_read_its(tmp_path):
    ours, theirs = tmp_path / "ours.safetensors", tmp_path / "theirs.safetensors"
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    safe_save({"w": Tensor(array)}, ours, metadata={"made by": "tinyframe"})
    np.testing.assert_array_equal(safetensors.numpy.load_file(ours)["w"], array)
    with safetensors.safe_open(ours, framework="np") as file:
        assert file.metadata() == {"made by": "tinyframe"}
    safetensors.numpy.save_file({"w": array, "i": np.array([7])}, theirs, metadata={"a": "b"})
    loaded = safe_load(theirs)
    np.testing.assert_array_equal(loaded["w"].numpy(), array)
    assert loaded["i"].item() == 7
    assert safe_load_metadata(theirs) == {"a": "b"}


@pytest.mark.parametrize("device", ["PYTHON", "CPU"])
def test_tensors_load_lazily_to_any_device(tmp_path, device):
    path = tmp_path / "big.safetensors"
    safe_save({"a": Tensor([1.0, 2.0]), "b": Tensor.zeros(1 << 20)}, path)
    before = GlobalCounters.mem_used
    loaded = safe_load(path, device=device)
    assert loaded["a"].device == Device.canonicalize(device)
    with Context(DEVICE=device):
        assert (loaded["a"] * 2).tolist() == [2, 4]
    assert GlobalCounters.mem_used - before < 1 << 20  # b was not read
    assert loaded["b"].requires_grad is None


def test_an_open_file_keeps_its_values_when_a_new_one_takes_its_name(tmp_path):
    path = tmp_path / "model.safetensors"
    safe_save({"a": Tensor([1.0])}, path)
    loaded = safe_load(path)
    safe_save({"a": loaded["a"] + 1}, path)
    assert loaded["a"].item() == 1 and safe_load(path)["a"].item() == 2


def test_a_tensor_of_bytes_is_read_as_a_file(tmp_path):
    path = tmp_path / "model.safetensors"
    safe_save({"a": Tensor([1.0, 2.0])}, path)
    loaded = safe_load(Tensor(path.read_bytes()))
    assert loaded["a"].tolist() == [1, 2]


# ---- what goes wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [OSError, safetensors.SafetensorError])
def test_a_failure_while_saving_leaves_only_the_old_file(tmp_path, monkeypatch, kind):
    path = tmp_path / "model.safetensors"
    safe_save({"a": Tensor([1.0])}, path)

    def fail(entries, name, metadata=None):
        Path(name).write_bytes(b"half of it")
        raise kind("no space left on device")

    monkeypatch.setattr(safetensors, "serialize_file", fail)
    with pytest.raises(OSError, match="no space"):
        safe_save({"a": Tensor([2.0])}, path)
    monkeypatch.undo()
    assert safe_load(path)["a"].item() == 1
    assert os.listdir(tmp_path) == ["model.safetensors"]


def test_a_process_killed_while_saving_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.safetensors"
    safe_save({"a": Tensor([1.0])}, path)
    code = (
        "import os, signal, safetensors\n"
        "from tinyframe import Tensor\n"
        "from tinyframe.nn.state import safe_save\n"
        "def die(entries, name, metadata=None):\n"
        "    open(name, 'wb').write(b'half of it')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "safetensors.serialize_file = die\n"
        f"safe_save({{'a': Tensor([2.0])}}, {str(path)!r})"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT)
    assert ended.returncode == -signal.SIGKILL
    assert safe_load(path)["a"].item() == 1
    assert len(os.listdir(tmp_path)) == 2  # what the next save removes
    safe_save({"a": Tensor([3.0])}, path)
    assert os.listdir(tmp_path) == [path.name]


def test_a_save_leaves_the_unfinished_file_of_another_one_alone(tmp_path):
    path = tmp_path / "model.safetensors"
    with replacing(path) as temporary:
        safe_save({"a": Tensor([1.0])}, path)
        Path(temporary).write_bytes(b"later")
    assert path.read_bytes() == b"later"
    assert os.listdir(tmp_path) == [path.name]


def test_a_saved_file_has_the_permissions_of_any_new_file(tmp_path):
    path, other = tmp_path / "model.safetensors", tmp_path / "other"
    safe_save({"a": Tensor([1.0])}, path)
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode


def test_saving_through_a_link_writes_the_file_it_leads_to(tmp_path):
    real, link = tmp_path / "real.safetensors", tmp_path / "link.safetensors"
    link.symlink_to(real)
    safe_save({"a": Tensor([1.0])}, link)
    assert link.is_symlink() and safe_load(real)["a"].item() == 1


def file_of(dtype: str, shape: list, end: int) -> bytes:
    entry = {"dtype": dtype, "shape": shape, "data_offsets": [0, end]}
    text = json.dumps({"a": entry}).encode()
    return struct.pack("<Q", len(text)) + text + bytes(end)


WHOLE, ANOTHER = file_of("F32", [2], 8), "no complete safetensors file"
LACKING, ENDLESS = "of F8_E5M2, which tinyframe does not have", "has a shape that no array can have"
BROKEN = {
    "nothing in it": (b"", ANOTHER),
    "a header cut off": (WHOLE[:20], ANOTHER),
    "bytes cut off": (WHOLE[:-1], ANOTHER),
    "bytes too many": (WHOLE + b"x", ANOTHER),
    "a header of 2**40 bytes": (struct.pack("<Q", 1 << 40) + WHOLE[8:], ANOTHER),
    "a header longer than the file": (struct.pack("<Q", len(WHOLE)) + WHOLE[8:], ANOTHER),
    "a header that is no JSON": (struct.pack("<Q", 8) + b"not json" + bytes(8), ANOTHER),
    "an unknown dtype": (WHOLE.replace(b"F32", b"F99"), ANOTHER),
    "a dtype of another size": (WHOLE.replace(b"F32", b"F64"), ANOTHER),
    "a shape of another size": (WHOLE.replace(b"[2]", b"[3]"), ANOTHER),
    "a shape below zero": (WHOLE.replace(b" [2]", b"[-2]"), ANOTHER),
    "a shape that overflows": (file_of("F32", [1 << 62, 8], 8), ANOTHER),
    "a dtype that we lack": (file_of("F8_E5M2", [8], 8), LACKING),
    **{f"a shape of {shape}": (file_of("F32", shape, 0), ENDLESS)
       for shape in ([0, (1 << 63) - 1], [(1 << 64) - 1, 0], [0, 1 << 61])},
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_is_a_clear_error(tmp_path, what):
    content, words = BROKEN[what]
    path = tmp_path / "broken.safetensors"
    path.write_bytes(content)
    with pytest.raises(FileError, match=words) as caught:
        safe_load(path)
    said = f"{len(content)} bytes" if words is ANOTHER else "`a`"
    assert str(path) in str(caught.value) and said in str(caught.value)


def test_a_file_that_shrinks_while_it_is_open_is_a_clear_error(tmp_path):
    path = tmp_path / "model.safetensors"
    safe_save({"a": Tensor.ones(1000)}, path)
    loaded = safe_load(path)
    os.truncate(path, 500)
    with pytest.raises(FileError, match="cut off"):
        loaded["a"].numpy()


def test_a_missing_file_and_a_missing_folder_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="none.safetensors"):
        safe_load(tmp_path / "none.safetensors")
    with pytest.raises(FileNotFoundError, match="there is no folder .*missing"):
        safe_save({}, tmp_path / "missing" / "a.safetensors")


def test_without_the_library_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ImportError, match=r"tinyframe\[nn\]"):
        safe_save({}, tmp_path / "a.safetensors")


# ---- bytes as a file -----------------------------------------------------------------------------


def test_a_tensor_of_bytes_is_a_file_to_read_and_seek_in():
    file = TensorIO(Tensor(b"Hello World!"))
    assert file.read(5) == b"Hello" and file.tell() == 5
    assert file.read(100) == b" World!" and file.read(100) == b""
    assert file.seek(-6, io.SEEK_END) == 6 and file.read() == b"World!"
    assert file.seek(2) == 2 and file.seek(3, io.SEEK_CUR) == 5
    assert file.seek(10, io.SEEK_END) == 12 and file.seek(-10) == 0


def test_only_one_axis_of_bytes_is_a_file():
    for tensor in (Tensor(b"ab").reshape(1, 2), Tensor([1, 2])):
        with pytest.raises(RuntimeError, match="uint8"):
            TensorIO(tensor)


# ---- what torch_load refuses; what it reads is compared in tests/torch ---------------------------


def archive(path: Path, pickled: bytes, **entries: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", pickled)
        for name, data in entries.items():
            file.writestr(f"archive/{name.replace('_', '/')}", data)
    return path


class Evil:
    def __reduce__(self):
        return os.system, ("echo this must not run",)


@pytest.mark.parametrize("protocol", [2, 4])
def test_a_pickle_that_calls_something_is_refused_by_name(tmp_path, protocol, capfd):
    path = archive(tmp_path / "evil.pt", pickle.dumps({"a": Evil()}, protocol))
    with pytest.raises(FileError, match="wants to call posix.system"):
        torch_load(path)
    assert "this must not run" not in capfd.readouterr().out


def test_a_pickle_cannot_change_what_others_use(tmp_path):
    # BUILD (b) puts a dict into the attributes of whatever is on the stack: here a dtype, which is
    # only its name, and the method that makes Tensors.
    for name in (b"ctorch\nfloat32\n", b"ctorch._utils\n_rebuild_tensor_v2\n"):
        attack = b"\x80\x02" + name + b"}(X\x08\x00\x00\x00itemsizeK\x63ub."
        with contextlib.suppress(FileError):
            torch_load(archive(tmp_path / "evil.pt", attack))
    assert dtypes.float32.itemsize == 4


@pytest.mark.parametrize(
    ("shape", "stride"), [((1 << 40,), (1,)), ((1 << 20, 1 << 20), (1, 1)), (("x",), (1 << 40,))]
)
def test_a_shape_that_asks_for_endless_memory_is_refused(tmp_path, shape, stride):
    def piece(value):
        return pickle.dumps(value, 2)[2:-1]

    storage = b"(" + piece("storage") + b"ctorch\nFloatStorage\n"
    storage += piece("0") + piece("cpu") + piece(4) + b"tQ"
    call = b"ctorch._utils\n_rebuild_tensor_v2\n("
    call += storage + piece(0) + piece(shape) + piece(stride) + b"tR"
    with pytest.raises(FileError, match="shape"):
        torch_load(archive(tmp_path / "a.pt", b"\x80\x02" + call + b".", data_0=bytes(16)))


def test_plain_values_in_a_checkpoint_are_kept(tmp_path):
    value = {"epoch": 3, "name": "a", "rates": [0.1, (1, None)], "o": OrderedDict(x=True)}
    assert torch_load(archive(tmp_path / "plain.pt", pickle.dumps(value, 2))) == value


BAD_ARCHIVES = {
    "empty": (b"", "no complete zip archive"),
    "cut": (b"PK\x03\x04 and no more", "cut off"),
    "old": (b"\x80\x02}q\x00.", "PyTorch before 1.6"),
    "other": ({"hello.txt": b"hello"}, "not one that torch.save made"),
    **{f"pickle {n}": ({"archive/data.pkl": pickled}, "pickle") for n, pickled in enumerate(
        (b"", b"\x80\x02}", pickle.dumps({"a": 1}, 2)[:-1], b"garbage"))},
    "big": ({"archive/data.pkl": pickle.dumps(1, 2), "archive/byteorder": b"big"}, "big-endian"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD_ARCHIVES)
def test_what_is_no_archive_of_pytorch_is_a_clear_error(tmp_path, what):
    content, words = BAD_ARCHIVES[what]
    path = tmp_path / "broken.pt"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with zipfile.ZipFile(path, "w") as file:
            for name, data in content.items():
                file.writestr(name, data)
    with pytest.raises(FileError, match=words):
        torch_load(path)
