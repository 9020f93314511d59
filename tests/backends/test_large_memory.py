"""More than 2**31 elements in memory, on the CPU device: what indices of 32 bits would get wrong.

The input is zeros that nobody has touched, so it takes next to no memory. What is written beyond
that many is tested by its program, in tests/unit/test_large_sizes.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from tinyframe import Tensor, dtypes

SIZE = 2**31 + 16
MARKS = {5: 2, 2**31 - 1: 3, 2**31 + 1: 4, SIZE - 3: 7}

pytestmark = pytest.mark.memory


@pytest.fixture(scope="module")
def t():
    array = np.zeros(SIZE, np.uint8)
    for place, value in MARKS.items():
        array[place] = value
    array.flags.writeable = False  # so it is not copied
    return Tensor(array)


def test_reduces_reach_every_element(t):
    assert t.sum().item() == sum(MARKS.values())
    assert t.argmax().item() == SIZE - 3


def test_parts_and_single_elements_beyond_the_limit(t):
    assert t[2**31 - 2 : 2**31 + 3].tolist() == [0, 3, 0, 4, 0]
    assert t[-4:].tolist() == [0, 7, 0, 0]
    assert t[2**31 + 1].item() == 4
    assert t.flip(0)[:4].tolist() == [0, 0, 7, 0]
    assert t[: 2**31].reshape(65536, 32768)[-1, -2:].tolist() == [0, 3]


def test_elements_picked_by_number(t):
    assert t[Tensor([2**31 + 1, -3, 5], dtype=dtypes.int64)].tolist() == [4, 7, 2]
    assert t[Tensor([-3, 5, 2**31 - 1], dtype=dtypes.int32)].tolist() == [7, 2, 3]
