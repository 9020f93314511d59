"""Indices that are read from memory, under paddings, slices, sorts and scatters: nothing is read
outside of its memory, and values are NumPy's."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import pytest

from tests.fuzz.guards import check, random_program, scattered
from tests.kernels import filled
from tinyframe import Context, Variable

SETTINGS = [{"DEVICE": "PYTHON"}, {"DEVICE": "PYTHON", "NOOPT": 1}, {"DEVICE": "CPU"}]


@pytest.mark.parametrize("seed", range(45))
def test_random_programs_agree(seed):
    with Context(**SETTINGS[seed % 3]):
        check(random_program(seed))


def narrow_scatters(count: int) -> list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """(axis, a value, indices that are narrower than it in other axes, a source that is wider)."""
    rng, made = Random(0), []
    for axis in itertools.islice(itertools.cycle((0, 1)), count):
        rows, columns = rng.randint(1, 4), rng.randint(2, 4)
        own = [rng.randint(1, 4), columns] if axis == 0 else [columns, rng.randint(1, 4)]
        narrow = [rows, columns - 1] if axis == 0 else [columns - 1, rows]
        most = own[axis] if rng.random() < 0.5 else own[axis] + 1  # some beyond the end
        index = np.array([rng.randrange(-1, most) for _ in range(rows * (columns - 1))], np.int32)
        source = np.arange((narrow[0] + 1) * (narrow[1] + 1), dtype=np.float32)
        value = np.full(own, -1, np.float32)
        made.append((axis, value, index.reshape(narrow), source.reshape(narrow[0] + 1, -1)))
    return made


def scatter_agrees(case: tuple[int, np.ndarray, np.ndarray, np.ndarray], device: str) -> None:
    axis, value, index, source = case
    lazy = filled(index, device) + 0  # nobody looks at it, so it may point outside
    made = filled(value, device).scatter(axis, lazy, filled(source, device))
    np.testing.assert_array_equal(made.numpy(), scattered(value, index, source, axis, False))


@pytest.mark.parametrize("case", narrow_scatters(12))
@pytest.mark.parametrize("device", ["PYTHON", "CPU"])
def test_scatter_with_indices_narrower_than_the_value(case, device):
    scatter_agrees(case, device)


@pytest.mark.parametrize("device", ["PYTHON", "CPU"])
def test_a_padded_row_chosen_by_a_sorted_index(device):
    x, i = np.array([[1, 2], [3, 4], [5, 6]], np.float32), np.array([[1, 0], [2, 1]], np.int32)
    made = filled(x, device)[filled(i, device).sort(1)[0][:, 0]].pad(((0, 1), (0, -1)))
    np.testing.assert_array_equal(made.numpy(), [[1], [3], [0]])


@pytest.mark.parametrize("device", ["PYTHON", "CPU"])
def test_what_a_variable_takes_from_a_padding(device):
    x = filled(np.array([1, 2, 3], np.float32), device)
    for start, expected in enumerate([0, 1, 2, 3, 0]):
        v = Variable("v", 0, 4).bind(start)
        np.testing.assert_array_equal(x.pad(((1, 1),))[v : v + 1].numpy(), [expected])
