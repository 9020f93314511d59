"""Work that the threads of a block share is done rightly by every device that has blocks."""

from __future__ import annotations

import numpy as np
import pytest

from tests import devices, gpu_device
from tests.gpu_kernels import SOFTMAX, SUM_OF_ROWS, TILED, cases
from tests.kernels import filled, numbers, run_with
from tests.reference import softmax
from tests.with_blocks import DEVICES, with_blocks
from tinyframe import Device

AT_ONCE = "BLOCKS, at once"
REAL = [name for name in ("CUDA", "WEBGPU") if name in devices.there()]


@pytest.fixture(params=[*DEVICES, AT_ONCE, *REAL])
def device(request, monkeypatch) -> str:
    if request.param == AT_ONCE:
        monkeypatch.setitem(Device._devices, "BLOCKS", gpu_device.BlocksDevice)
        monkeypatch.setattr(Device["BLOCKS"], "runner", gpu_device.AtOnce)
        return "BLOCKS"
    if request.param in REAL:
        monkeypatch.setenv("CUDA_EMULATE", "2")  # looks for races
        return request.param
    return with_blocks(request.param, monkeypatch)


@pytest.mark.parametrize("sizes", [(33, 50, 37), (17, 17, 70)])
def test_a_matmul_with_both_operands_in_shared_panels_and_a_register_tile(sizes, device):
    m, k, n = sizes
    x, y = numbers(m, k), numbers(k, n, seed=1)
    product = filled(x, device) @ filled(y, device)
    np.testing.assert_array_equal(run_with(product, TILED, device), x @ y)


@pytest.mark.parametrize("columns", [100, 33, 7])
def test_the_sum_and_the_maximum_of_a_row_by_the_threads_of_a_block(columns, device):
    x = numbers(9, columns)
    t = filled(x, device)
    np.testing.assert_array_equal(run_with(t.sum(1), SUM_OF_ROWS, device), x.sum(1))
    np.testing.assert_array_equal(run_with(t.max(1), SUM_OF_ROWS, device), x.max(1))


@pytest.mark.parametrize("columns", [64, 50, 17])
def test_softmax_of_rows_by_the_threads_of_a_block(columns, device):
    x = numbers(40, columns)
    found = run_with(filled(x, device).softmax(), SOFTMAX, device)
    np.testing.assert_allclose(found, softmax(x), rtol=1e-6)


@pytest.mark.parametrize("name", cases("CPU"))
def test_each_way_to_share_work(name, device):
    tensor, opts, expected = cases(device)[name]
    np.testing.assert_array_equal(run_with(tensor(), opts, device), expected())
