"""DataLoader: a dataset in shuffled batches of one shape, as a TinyJit needs them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from tinyframe.dtype import DType
from tinyframe.errors import check_choice
from tinyframe.tensor.core import Tensor


class DataLoader:
    """Batches of arrays with corresponding rows, such as (images, labels).

    arrays: Tensors, NumPy arrays or lists, with equally many rows. An iteration is one epoch; it
    yields a tuple of realized Tensors (of one array: that Tensor), `batch_size` rows of each.

    shuffle: a new order every epoch. seed: makes the orders reproducible. last: how to treat rows
    that do not fill a batch. "drop" leaves them out (different ones each epoch, if shuffled). "pad"
    fills up with the first rows, and adds to every batch a Tensor of bools: which rows count.
    "keep" yields a smaller batch, which TinyJit refuses.

        for x, y in DataLoader(X_train, Y_train, batch_size=64, shuffle=True, seed=0):
            loss = train_step(x, y)
    """

    def __init__(
        self,
        *arrays: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        seed: int | None = None,
        last: str = "drop",
        device: str | None = None,
    ):
        if not arrays:
            raise ValueError("DataLoader needs at least one array")
        check_choice("last", last, "drop", "pad", "keep")
        self._columns = [_rows_of(array) for array in arrays]
        lengths = [len(rows) for rows, _ in self._columns]
        if len(set(lengths)) > 1:
            raise ValueError(f"the arrays have {' and '.join(map(str, lengths))} rows")
        self.rows, self.batch_size, self.last = lengths[0], batch_size, last
        if batch_size < 1 or (last == "drop" and self.rows < batch_size):
            raise ValueError(
                f'a batch_size of {batch_size} gives no batch of {self.rows} rows; last="pad" '
                'fills up, last="keep" yields what there is'
            )
        self.shuffle, self.device = shuffle, device
        self._seed = int.from_bytes(os.urandom(8), "little") if seed is None else seed
        self.epoch = 0

    def __len__(self) -> int:
        """The number of batches in an epoch."""
        exact = self.rows / self.batch_size
        return math.floor(exact) if self.last == "drop" else math.ceil(exact)

    def __iter__(self) -> Iterator[Any]:
        order = np.arange(self.rows)
        if self.shuffle:
            np.random.default_rng((self._seed, self.epoch)).shuffle(order)
        self.epoch += 1
        for number in range(len(self)):
            chosen = order[number * self.batch_size : (number + 1) * self.batch_size]
            real = len(chosen)
            if self.last == "pad":
                chosen = np.concatenate([chosen, np.resize(order, self.batch_size - real)])
            batch = [Tensor(rows[chosen], self.device, dtype) for rows, dtype in self._columns]
            if self.last == "pad":
                counts = np.arange(self.batch_size) < real
                batch.append(Tensor(counts, device=self.device))
            Tensor.realize(*batch)
            yield batch[0] if len(batch) == 1 else tuple(batch)


def _rows_of(array: Any) -> tuple[np.ndarray, DType | None]:
    """The rows as a NumPy array, and their dtype, which NumPy may lack."""
    values = array if isinstance(array, (Tensor, np.ndarray)) else Tensor(array)
    if not values.shape:
        raise ValueError("a DataLoader's arrays need rows, and a single number has none")
    if isinstance(values, np.ndarray):
        return values, None
    return values.numpy(), values.dtype
