"""Datasets: what they give, where they look, what they say when there is nothing to be had."""

from __future__ import annotations

import gzip
import hashlib
import io
import struct
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

from tinyframe import Context, dtypes
from tinyframe.nn import datasets, download
from tinyframe.nn.datasets import DatasetError, cifar10, digits, fashion_mnist, mnist
from tinyframe.nn.idx import read_idx
from tinyframe.nn.lazy_file import FileError

# The test half of MNIST may lie beside the checkout; where it does not, files are made.
REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "mnist"
IMAGES, LABELS = "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"


def idx(array: np.ndarray) -> bytes:
    code = {"u1": 8, "i1": 9, "i2": 11, "i4": 12, "f4": 13, "f8": 14}[array.dtype.str[1:]]
    head = struct.pack(f">HBB{array.ndim}I", 0, code, array.ndim, *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.fixture
def images_and_labels(tmp_path):
    """Paths of images and labels: MNIST's own, or made ones of the same form."""
    if (REAL / IMAGES).is_file():
        return REAL / IMAGES, REAL / LABELS
    rng = np.random.default_rng(0)
    for name, array in (
        (IMAGES, rng.integers(0, 256, (10000, 28, 28))),
        (LABELS, rng.integers(0, 10, 10000)),
    ):
        (tmp_path / name).write_bytes(gzip.compress(idx(array.astype(np.uint8)), 1))
    return tmp_path / IMAGES, tmp_path / LABELS


@pytest.fixture
def offline(monkeypatch):
    def refuse(request, timeout):
        raise OSError("no route to host")

    monkeypatch.setattr(download.urllib.request, "urlopen", refuse)


# ---- digits --------------------------------------------------------------------------------------


def test_digits_need_no_network(offline):
    x_train, y_train, x_test, y_test = digits()
    assert (x_train.shape, y_train.shape) == ((1442, 1, 8, 8), (1442,))
    assert (x_test.shape, y_test.shape) == ((355, 1, 8, 8), (355,))
    assert all(t.dtype is dtypes.uint8 for t in (x_train, y_train, x_test, y_test))
    assert x_train.numpy().max() == 16
    for labels in (y_train.numpy(), y_test.numpy()):
        assert np.bincount(labels).min() > 0.08 * len(labels)


def test_without_scikit_learn_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ImportError, match=r"tinyframe\[nn\]"):
        digits()


# ---- IDX files -----------------------------------------------------------------------------------


def test_the_idx_files_of_mnist_are_read(images_and_labels):
    images, labels = map(read_idx, images_and_labels)
    assert images.shape == (10000, 28, 28) and images.dtype == np.uint8
    assert labels.shape == (10000,) and set(labels) == set(range(10))
    if images_and_labels[0].parent == REAL:
        assert labels[:5].tolist() == [7, 2, 1, 0, 4]


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "i4", "f4", "f8"])
@pytest.mark.parametrize("packed", [False, True])
def test_every_dtype_of_idx_is_read(tmp_path, dtype, packed):
    array = np.array([[1, 2, 3], [4, 5, 100]]).astype(dtype)
    data = idx(array)
    (tmp_path / "a").write_bytes(gzip.compress(data) if packed else data)
    found = read_idx(tmp_path / "a")
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


WHOLE = idx(np.arange(6, dtype=np.uint8).reshape(2, 3))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no IDX file"),
        (b"\x00\x01\x08\x01", "begins with 00 01 08 01"),
        (WHOLE[:6], "ends within its header"),
        (WHOLE[:-1], r"17 bytes, and an array of \(2, 3\) needs 18"),
        (WHOLE + b"x", "19 bytes"),
        (gzip.compress(WHOLE, mtime=0)[:-5], "cut off"),
    ],
)
def test_a_broken_idx_file_is_a_clear_error(tmp_path, data, words):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(FileError, match=words):
        read_idx(tmp_path / "a")


# ---- where files are found -----------------------------------------------------------------------


def small_set(monkeypatch, folder: Path, name: str) -> list[np.ndarray]:
    """A set of the form of MNIST, but small, as files in `folder`; and the checksums of these."""
    rng = np.random.default_rng(0)
    arrays = [
        rng.integers(0, 256, (6, 28, 28)), rng.integers(0, 10, 6),
        rng.integers(0, 256, (4, 28, 28)), rng.integers(0, 10, 4),
    ]  # fmt: skip
    arrays = [array.astype(np.uint8) for array in arrays]
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for file, array in zip(datasets._MNIST, arrays, strict=True):
        data = gzip.compress(idx(array))
        (folder / file.name).write_bytes(data)
        files.append(file._replace(size=len(data), sha256=hashlib.sha256(data).hexdigest()))
    monkeypatch.setattr(datasets, name, tuple(files))
    return arrays


@pytest.mark.parametrize(
    ("load", "table", "folder"),
    [
        (mnist, "_MNIST", "mnist"),
        (mnist, "_MNIST", "."),
        (fashion_mnist, "_FASHION", "fashion_mnist"),
    ],
)
def test_files_in_the_data_folder_are_used(tmp_path, monkeypatch, offline, load, table, folder):
    arrays = small_set(monkeypatch, tmp_path / folder, table)
    with Context(TINYFRAME_DATA=tmp_path):
        found = load()
    assert [t.shape for t in found] == [(6, 1, 28, 28), (6,), (4, 1, 28, 28), (4,)]
    for tensor, array in zip(found, arrays, strict=True):
        np.testing.assert_array_equal(tensor.numpy().reshape(array.shape), array)


def test_unpacked_files_are_used_too(tmp_path, monkeypatch, offline):
    arrays = small_set(monkeypatch, tmp_path / "mnist", "_MNIST")
    for path in (tmp_path / "mnist").iterdir():
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
    with Context(TINYFRAME_DATA=tmp_path):
        np.testing.assert_array_equal(mnist()[3].numpy(), arrays[3])


def test_the_test_files_of_mnist_have_the_checksums_in_the_table():
    files = {file.name: file for file in datasets._MNIST}
    for name in (IMAGES, LABELS):
        if (REAL / name).is_file():
            data = (REAL / name).read_bytes()
            assert len(data) == files[name].size
            assert hashlib.sha256(data).hexdigest() == files[name].sha256
    for table in (datasets._MNIST, datasets._FASHION, (datasets._CIFAR,)):
        assert all(len(file.sha256) == 64 for file in table)


def test_a_file_that_is_not_whole_is_not_used(tmp_path, monkeypatch, offline):
    small_set(monkeypatch, tmp_path / "mnist", "_MNIST")
    damaged = tmp_path / "mnist" / "train-labels-idx1-ubyte.gz"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    with Context(TINYFRAME_DATA=tmp_path), pytest.raises(DatasetError) as caught:
        mnist()
    assert "another checksum" in str(caught.value) and "labels" in str(caught.value)


@pytest.mark.parametrize("load", [mnist, fashion_mnist, cifar10])
def test_offline_the_error_says_which_file_to_put_where_and_names_digits(tmp_path, offline, load):
    with Context(TINYFRAME_DATA=tmp_path), pytest.raises(DatasetError) as caught:
        load()
    message = str(caught.value)
    name = "cifar-10-binary.tar.gz" if load is cifar10 else "train-images-idx3-ubyte.gz"
    assert f"put it at {tmp_path / load.__name__ / name}" in message
    assert "digits()" in message and "no route to host" in message and "https://" in message
    assert not list((tmp_path / load.__name__).iterdir())


def test_files_are_downloaded_to_the_data_folder(tmp_path, monkeypatch):
    made = small_set(monkeypatch, tmp_path / "server", "_MNIST")
    asked = []

    class Answer(io.FileIO):
        headers: dict = {}

    monkeypatch.setattr(
        download.urllib.request, "urlopen",
        lambda request, timeout: (
            asked.append(request.full_url)
            or Answer(tmp_path / "server" / request.full_url.rpartition("/")[2])
        ),
    )  # fmt: skip
    with Context(TINYFRAME_DATA=tmp_path / "data"):
        np.testing.assert_array_equal(mnist()[1].numpy(), made[1])
        mnist()
    assert len(asked) == 4 and all(url.startswith(datasets._MNIST_MIRRORS[0]) for url in asked)


# ---- CIFAR-10 ------------------------------------------------------------------------------------


def cifar_archive(path: Path, rows: int, leave_out: str = "") -> np.ndarray:
    rng = np.random.default_rng(0)
    records = rng.integers(0, 256, (6, rows, 3073)).astype(np.uint8)
    names = [f"data_batch_{number}.bin" for number in range(1, 6)] + ["test_batch.bin"]
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, data in zip(names, records, strict=True):
            if name != leave_out:
                member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
                member.size = data.size
                archive.addfile(member, io.BytesIO(data.tobytes()))
    return records


def test_the_records_of_cifar_are_a_class_and_three_planes_of_pixels(tmp_path):
    path = tmp_path / "cifar.tar.gz"
    records = cifar_archive(path, rows=3)
    np.testing.assert_array_equal(datasets._read_cifar(path), records.reshape(18, 3073))


def test_an_archive_of_cifar_that_is_not_whole_is_a_clear_error(tmp_path):
    path = tmp_path / "cifar.tar.gz"
    cifar_archive(path, rows=1, leave_out="data_batch_3.bin")
    with pytest.raises(FileError, match="lacks data_batch_3.bin"):
        datasets._read_cifar(path)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(FileError, match="no complete tar archive"):
        datasets._read_cifar(path)


def test_cifar10_splits_into_training_and_test(tmp_path, monkeypatch):
    rows = np.zeros((60000, 3073), np.uint8)
    rows[50000:, 0], rows[:, 1 + 1024] = 9, 200  # the class of the test; the first green pixel
    monkeypatch.setattr(datasets, "_read", lambda *_: rows)
    x_train, y_train, x_test, y_test = cifar10()
    assert x_train.shape == (50000, 3, 32, 32) and x_test.shape == (10000, 3, 32, 32)
    assert y_train.numpy().max() == 0 and y_test.numpy().min() == 9
    assert x_test[7, 1, 0, 0].item() == 200 and x_test[7, 0].max().item() == 0
