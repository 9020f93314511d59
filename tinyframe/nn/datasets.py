"""Small image datasets, all in the same form.

    X_train, Y_train, X_test, Y_test = digits()

X: uint8, (images, channels, height, width). Y: uint8, (images,), the classes.

    digits           1,797 digits, 1 x 8 x 8, 0 to 16      comes with scikit-learn, needs no network
    mnist           70,000 digits, 1 x 28 x 28, 0 to 255
    fashion_mnist   70,000 clothes, 1 x 28 x 28
    cifar10         60,000 photographs, 3 x 32 x 32

All but the first are downloaded once, to the folder in the setting TINYFRAME_DATA.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tinyframe.nn.idx import read_idx
from tinyframe.nn.lazy_file import FileError
from tinyframe.settings import settings
from tinyframe.tensor.core import Tensor

Split = tuple[Tensor, Tensor, Tensor, Tensor]


class DatasetError(RuntimeError, OSError):
    """A dataset is missing and cannot be downloaded; the message says what to do."""


class _File(NamedTuple):
    """A downloadable file of a dataset."""

    name: str
    size: int
    sha256: str


# ---- digits --------------------------------------------------------------------------------------


def digits(device: str | None = None) -> Split:
    """1,797 handwritten digits of 8 x 8 pixels, from 0 to 16: 1,442 to train on, 355 to test with.

    Every fifth image of each digit is for testing. The images of one writer are adjacent, so a
    plain split would test on writers that the model has never seen.
    Alpaydin and Kaynak, "Optical recognition of handwritten digits" (UCI, 1998).
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ImportError(
            "digits() comes with scikit-learn: pip install scikit-learn, or all that tinyframe.nn "
            'uses: pip install "tinyframe[nn]"'
        ) from error
    found = load_digits()
    images = found.images.astype(np.uint8)[:, None]
    labels = found.target.astype(np.uint8)
    is_test = np.zeros(len(labels), bool)
    for digit in range(10):
        is_test[np.flatnonzero(labels == digit)[4::5]] = True
    return _tensors(device, images[~is_test], labels[~is_test], images[is_test], labels[is_test])


# ---- MNIST and Fashion-MNIST ---------------------------------------------------------------------

_MNIST = (
    _File("train-images-idx3-ubyte.gz", 9912422,
          "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
    _File("train-labels-idx1-ubyte.gz", 28881,
          "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
    _File("t10k-images-idx3-ubyte.gz", 1648877,
          "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
    _File("t10k-labels-idx1-ubyte.gz", 4542,
          "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
)  # fmt: skip
_MNIST_MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)

_FASHION = (
    _File("train-images-idx3-ubyte.gz", 26421880,
          "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"),
    _File("train-labels-idx1-ubyte.gz", 29515,
          "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"),
    _File("t10k-images-idx3-ubyte.gz", 4422102,
          "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"),
    _File("t10k-labels-idx1-ubyte.gz", 5148,
          "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"),
)  # fmt: skip
_FASHION_MIRRORS = (
    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
)


def mnist(device: str | None = None) -> Split:
    """60,000 handwritten digits of 28 x 28 pixels to train on, 10,000 to test with.

    LeCun, Cortes and Burges, "The MNIST database of handwritten digits" (1998).
    """
    return _idx_set("mnist", _MNIST, _MNIST_MIRRORS, device)


def fashion_mnist(device: str | None = None) -> Split:
    """Ten kinds of clothes, in the format and size of MNIST, and harder.

    Xiao, Rasul and Vollgraf, "Fashion-MNIST" (2017).
    """
    return _idx_set("fashion_mnist", _FASHION, _FASHION_MIRRORS, device)


def _idx_set(
    folder: str, files: tuple[_File, ...], mirrors: tuple[str, ...], device: str | None
) -> Split:
    images, labels, *test = (_read(folder, file, mirrors, read_idx) for file in files)
    return _tensors(device, images[:, None], labels, test[0][:, None], test[1])


# ---- CIFAR-10 ------------------------------------------------------------------------------------

_CIFAR = _File("cifar-10-binary.tar.gz", 170052171,
               "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd")  # fmt: skip
_CIFAR_MIRRORS = (
    "https://www.cs.toronto.edu/~kriz/",
    "https://storage.googleapis.com/s4tf-hosted-binaries/datasets/CIFAR10/",
)
_CIFAR_RECORD = 1 + 3 * 32 * 32  # the class, then the red, green and blue pixels


def cifar10(device: str | None = None) -> Split:
    """Ten classes of photographs: 50,000 to train on, 10,000 to test with.

    Krizhevsky, "Learning multiple layers of features from tiny images" (2009).
    """
    records = _read("cifar10", _CIFAR, _CIFAR_MIRRORS, _read_cifar)
    images, labels = records[:, 1:].reshape(-1, 3, 32, 32), records[:, 0]
    return _tensors(device, images[:50000], labels[:50000], images[50000:], labels[50000:])


cifar = cifar10


def _read_cifar(path: Path) -> np.ndarray:
    """All records of the archive, the test set last."""
    import tarfile  # here: it takes a while to import

    names = [f"data_batch_{number}.bin" for number in range(1, 6)] + ["test_batch.bin"]
    parts = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                name = member.name.rpartition("/")[2]
                if name in names and (stream := archive.extractfile(member)) is not None:
                    parts[name] = np.frombuffer(stream.read(), np.uint8)
    except (tarfile.TarError, EOFError) as error:
        raise FileError(f"{path} is no complete tar archive ({error})") from error
    if missing := [name for name in names if name not in parts]:
        raise FileError(f"{path} lacks {', '.join(missing)}")
    return np.concatenate([parts[name] for name in names]).reshape(-1, _CIFAR_RECORD)


# ---- files ---------------------------------------------------------------------------------------


def _read(
    folder: str, file: _File, mirrors: tuple[str, ...], reader: Callable[[Path], np.ndarray]
) -> np.ndarray:
    """A file in the data folder, read with `reader`, and downloaded first if it is missing.

    It is searched for in the dataset's own folder and above it, compressed or unpacked.
    """
    # Here: it takes 40 ms to import, and few sessions download anything.
    from tinyframe.nn.download import DownloadError, checksum, fetch

    home = settings.TINYFRAME_DATA
    path = home / folder / file.name
    for found in (path, home / file.name):
        if found.is_file() and checksum(found) == file.sha256:
            return reader(found)
    unpacked = path.with_suffix("")
    if path.suffix == ".gz" and unpacked.suffix != ".tar" and unpacked.is_file():
        return reader(unpacked)
    urls = [mirror + file.name for mirror in mirrors]
    try:
        return reader(fetch(urls, path, file.sha256, file.size))
    except (DownloadError, OSError) as error:
        there = (
            f" The file there has {path.stat().st_size} bytes and another checksum."
            if path.is_file() else ""
        )  # fmt: skip
        raise DatasetError(
            f"{folder} needs {file.name}, which is not in {path.parent} and could not be "
            f"downloaded.{there}\n"
            f"  Download it on a machine with a network from {urls[0]}\n"
            f"  and put it at {path}\n"
            f"  (the folder is the setting TINYFRAME_DATA), or use digits(), which needs no "
            f"network.\n{error}"
        ) from error


def _tensors(device: str | None, *arrays: np.ndarray) -> Split:
    a, b, c, d = (Tensor(np.ascontiguousarray(array), device=device) for array in arrays)
    return a, b, c, d
