"""What the plans for GPUs make of a kernel gives what NumPy gives, on each device with blocks."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.kernels import filled, numbers, run_with, schedule_of
from tests.reference import softmax
from tests.with_blocks import DEVICES, with_blocks
from tinyframe import Device, Tensor, thresholds
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import OptOps
from tinyframe.gpu.plans import GPU
from tinyframe.search.beam import Bench
from tinyframe.uop.node import Ops


@pytest.fixture(params=DEVICES)
def device(request, monkeypatch) -> Iterator[str]:
    yield with_blocks(request.param, monkeypatch)
    gc.collect()


def normalized(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)


def convolved(x: np.ndarray, w: np.ndarray, stride: int = 1) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], (2, 3))
    return np.einsum("ncyxij,ocij->noyx", windows[:, :, ::stride, ::stride], w)


A, B, C, D = numbers(32, 48), numbers(48, 40, seed=1), numbers(37, 50), numbers(50, 33, seed=2)
SQUARE, ROWS, LONG = numbers(64, 64), numbers(40, 33), numbers(3, 700)
IMAGES, WEIGHTS = numbers(2, 3, 9, 11), numbers(8, 3, 3, 3, seed=1)
FIVE = numbers(2, 3, 4, 5, 6)

# name -> what is computed of these arrays as Tensors, the arrays, and what NumPy says
Case = tuple[Callable[..., Tensor], tuple[np.ndarray, ...], Any]
KERNELS: dict[str, Case] = {
    "matmul": (lambda a, b: a @ b, (A, B), A @ B),
    "matmul of odd sizes": (lambda a, b: a @ b, (C, D), C @ D),
    "batched matmul": (
        lambda a, b: a @ b,
        (numbers(3, 17, 40), numbers(3, 40, 19, seed=1)),
        numbers(3, 17, 40) @ numbers(3, 40, 19, seed=1),
    ),
    "short products": (lambda a, b: a @ b, (A[:, :5], B[:5]), A[:, :5] @ B[:5]),
    "half": (
        lambda a, b: (a @ b).float(),
        (A.astype(np.float16), B.astype(np.float16)),
        (A @ B).astype(np.float16).astype(np.float32),
    ),
    "matrix times vector": (lambda a, b: a @ b, (C, C[0]), C @ C[0]),
    "convolution": (
        lambda x, w: x.conv2d(w, padding=1), (IMAGES, WEIGHTS), convolved(IMAGES, WEIGHTS)),
    "strided convolution": (
        lambda x, w: x.conv2d(w, padding=1, stride=2),
        (IMAGES, WEIGHTS),
        convolved(IMAGES, WEIGHTS, 2),
    ),
    "sums of columns": (lambda x: x.sum(0), (C,), C.sum(0)),
    "sums in the middle": (lambda x: x.sum(1), (numbers(3, 40, 9),), numbers(3, 40, 9).sum(1)),
    "a few long sums": (lambda x: x.sum(1), (LONG,), LONG.sum(1)),
    "places of the largest": (lambda x: x.argmax(1), (C,), C.argmax(1)),
    "int64 sums": (
        lambda x: x.sum(1), (C.astype(np.int64) << 40,), (C.astype(np.int64) << 40).sum(1)),
    "softmax": (lambda x: x.softmax(), (ROWS,), softmax(ROWS)),
    "running sums": (lambda x: x.cumsum(1), (C[:5, :40],), C[:5, :40].cumsum(1)),
    "transpose of odd sizes": (lambda x: x.T.contiguous(), (C,), C.T),
    "transpose in vectors": (
        lambda x: x.T.contiguous(), (numbers(68, 100).astype(np.float16),), numbers(68, 100).T),
    "transpose that writes vectors": (
        lambda x: x.transpose(0, 2).contiguous(), (numbers(3, 36, 41),), numbers(3, 36, 41).T),
    "sum with the transpose": (lambda x: x + x.T, (SQUARE,), SQUARE + SQUARE.T),
    "elementwise": (lambda x: x * 2 + 1, (C,), C * 2 + 1),
    "bytes": (lambda x: x + 1, (np.arange(200, dtype=np.uint8),), np.arange(1, 201)),
    "sums in place": (lambda x: x.assign(x - x.sum(1, keepdim=True)), (A,),
                      A - A.sum(1, keepdims=True)),
    "nothing": (lambda x: x + 1, (np.zeros((0, 5), np.float32),), np.zeros((0, 5))),
    "sums of nothing": (lambda x: x.sum(1), (np.zeros((4, 0), np.float32),), np.zeros(4)),
}  # fmt: skip


def result(name: str, device: str) -> np.ndarray:
    compute, arrays, _ = KERNELS[name]
    return compute(*[filled(array, device) for array in arrays]).numpy()


def agrees(name: str, device: str) -> None:
    np.testing.assert_allclose(result(name, device), KERNELS[name][2], rtol=2e-5, atol=2e-5)


CHOSEN = [(name, case) for name in DEVICES for case in KERNELS]


@pytest.mark.parametrize(("device", "name"), CHOSEN, indirect=["device"])
def test_each_kind_of_kernel_gives_what_numpy_gives(name, device):
    agrees(name, device)


def plans_of(name: str, device: str) -> set[str]:
    compute, arrays, _ = KERNELS[name]
    items = schedule_of(compute(*[filled(array, device) for array in arrays]))
    programs = [
        get_program(item.ast, Device[device].renderer)
        for item in items if item.ast.op is Ops.SINK
    ]  # fmt: skip
    return {program.plan.name for program in programs if program.plan is not None}


def test_these_kernels_go_through_every_plan(monkeypatch):
    device = with_blocks("PYTHON", monkeypatch)
    found = set().union(*[plans_of(name, device) for name in KERNELS])
    # this device has no tensor cores: test_tensor_cores.py is about those
    assert found == {plan.name for plan in GPU} - {"tensor cores"}


CONTRACTIONS = ["matmul", "matmul of odd sizes", "batched matmul", "half", "convolution"]


@pytest.mark.parametrize("name", CONTRACTIONS)
def test_large_tiles_are_right_too(name, device, monkeypatch):
    """These kernels are small: as on a device that a single block fills."""
    monkeypatch.setattr(thresholds, "FILLING_BLOCKS", 1)
    monkeypatch.setattr(thresholds, "MANY_THREADS", 1)
    agrees(name, device)


@pytest.mark.parametrize("limits", [
    {"block_threads": 1, "warp": 1},
    {"block_threads": 7, "grid": (3, 2, 2)},
    {"shared_bytes": 64},
    {"vector_bytes": 4},
], ids=["one thread", "few blocks", "no room", "no vectors"])  # fmt: skip
@pytest.mark.parametrize(
    "name", ["matmul of odd sizes", "softmax", "sums of columns", "transpose of odd sizes",
             "elementwise", "convolution"])  # fmt: skip
def test_a_device_that_has_little_computes_the_same(name, limits, monkeypatch):
    agrees(name, with_blocks("BLOCKS", monkeypatch, **limits))


def test_what_a_search_tries_gives_the_same_result(monkeypatch):
    """Each list of Opts that is one change away from a plan's, and legal."""
    device = with_blocks("BLOCKS", monkeypatch)
    x, y = numbers(20, 36), numbers(36, 24, seed=1)
    (item,) = schedule_of(filled(x, device) @ filled(y, device))
    bench = Bench(get_program(item.ast, Device[device].renderer), Device[device])
    tried = 0
    for opts in bench.neighbours(bench.planned)[::2]:
        spec = bench._program(opts)
        if spec is None:
            continue
        got = run_with(filled(x, device) @ filled(y, device), spec.opts, device)
        np.testing.assert_array_equal(got, x @ y, err_msg=str(opts))
        tried += any(opt.op in (OptOps.LOCAL, OptOps.GLOBAL) for opt in opts)
    assert tried >= 5
