"""DataLoader: every row once, in batches of one shape, in an order that a seed repeats."""

from __future__ import annotations

import numpy as np
import pytest

from tinyframe import Tensor, dtypes, nn
from tinyframe.uop.node import Ops

X = np.arange(20, dtype=np.float32).reshape(10, 2)
Y = np.arange(10, dtype=np.uint8)


def rows(loader) -> list[int]:
    return [int(y) for _, labels in loader for y in labels.tolist()]


def test_rows_come_in_order_and_together():
    loader = nn.DataLoader(X, Y, batch_size=5)
    batches = list(loader)
    assert len(loader) == len(batches) == 2
    for x, y in batches:
        assert x.shape == (5, 2) and y.shape == (5,) and y.dtype is dtypes.uint8
        np.testing.assert_array_equal(x.numpy()[:, 0], 2 * y.numpy())


def test_shuffling_gives_every_row_once_in_another_order_each_epoch():
    loader = nn.DataLoader(X, Y, batch_size=5, shuffle=True, seed=3)
    first, second = rows(loader), rows(loader)
    assert sorted(first) == sorted(second) == list(range(10))
    assert first != second and first != list(range(10))


def test_the_same_seed_repeats_all_epochs():
    def epochs(seed):
        loader = nn.DataLoader(X, Y, batch_size=5, shuffle=True, seed=seed)
        return rows(loader), rows(loader)

    assert epochs(1) == epochs(1) != epochs(2)


def test_rows_that_fill_no_batch_are_dropped_others_each_epoch():
    loader = nn.DataLoader(X, Y, batch_size=4, shuffle=True, seed=0)
    seen = [rows(loader) for _ in range(8)]
    assert all(len(epoch) == 8 for epoch in seen) and len(loader) == 2
    assert {row for epoch in seen for row in epoch} == set(range(10))


@pytest.mark.parametrize("size", [4, 25])
def test_padding_fills_up_and_says_which_rows_count(size):
    loader = nn.DataLoader(X, Y, batch_size=size, last="pad")
    batches = list(loader)
    assert len(batches) == len(loader) == -(-10 // size)
    counted = []
    for x, y, counts in batches:
        assert x.shape == (size, 2) and counts.shape == (size,) and counts.dtype is dtypes.bool
        counted += y.numpy()[counts.numpy()].tolist()
    assert counted == list(range(10))


def test_the_last_batch_can_be_kept_as_it_is():
    assert [x.shape[0] for x, _ in nn.DataLoader(X, Y, batch_size=4, last="keep")] == [4, 4, 2]


def test_batches_are_realized_and_whole_buffers():
    for x, y in nn.DataLoader(Tensor(X), Y, batch_size=5):
        for tensor in (x, y):
            assert tensor.uop.base.op is Ops.BUFFER and tensor.uop.base.size == tensor.numel()


def test_tensors_arrays_and_lists_are_taken_and_one_alone_comes_alone():
    (batch,) = nn.DataLoader([1, 2, 3], batch_size=3)
    assert batch.tolist() == [1, 2, 3]
    half = Tensor([[1.5], [2.5]]).bfloat16()
    (batch,) = nn.DataLoader(half, batch_size=2)
    assert batch.dtype is dtypes.bfloat16 and batch.tolist() == [[1.5], [2.5]]


def test_batches_go_to_a_device():
    (batch,) = nn.DataLoader([1, 2], batch_size=2, device="PYTHON")
    assert batch.device == "PYTHON"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nn.DataLoader(), "at least one array"),
        (lambda: nn.DataLoader(X, Y[:9]), "10 and 9 rows"),
        (lambda: nn.DataLoader(X, batch_size=11), "batch_size of 11 gives no batch of 10 rows"),
        (lambda: nn.DataLoader(X, batch_size=0), "batch_size of 0"),
        (lambda: nn.DataLoader(X, last="some"), '"drop", "pad" or "keep"'),
        (lambda: nn.DataLoader(np.float32(3)), "no rows|has none"),
    ],
)
def test_a_mistake_is_explained(make, words):
    with pytest.raises(ValueError, match=words):
        make()
