"""Threads along a loop of a Variable's size: what NumPy gives for each value, however many threads
of the last block have nothing to do."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tests.kernels import filled, kernel_of, kernels_of, numbers, program_of
from tests.reference import softmax
from tests.with_blocks import DEVICES, REAL, with_blocks
from tinyframe import Device, Tensor, TinyJit, UOp
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opts
from tinyframe.codegen.program import ProgramSpec
from tinyframe.uop.evaluate import sym_infer

MOST = 150
X, Y, SQUARE = numbers(MOST, 12), numbers(12, MOST, seed=1), numbers(MOST, MOST, seed=2)
N = UOp.variable("n", 0, MOST)


@pytest.fixture(params=["PYTHON", *REAL])
def device(request, monkeypatch) -> Iterator[str]:
    yield with_blocks(request.param, monkeypatch)
    gc.collect()


# name -> what is computed of a Tensor and a size (of a BIND, or an int), and of an array
Case = tuple[np.ndarray, Callable, Callable]
KERNELS: dict[str, Case] = {
    "a vector": (X[:, 0], lambda x, n: x[:n] * 2 + 1, lambda a, n: a[:n] * 2 + 1),
    "rows": (X, lambda x, n: x[:n] * 2, lambda a, n: a[:n] * 2),
    "columns": (Y, lambda x, n: x[:, :n] * 2, lambda a, n: a[:, :n] * 2),
    "both": (SQUARE, lambda x, n: x[:n, :n] + 1, lambda a, n: a[:n, :n] + 1),
    "a bound": (X, lambda x, n: x[:n].pad(((1, 0), (0, 0))), lambda a, n: np.pad(
        a[:n], ((1, 0), (0, 0)))),
    "sums of rows": (X, lambda x, n: x[:n].sum(1), lambda a, n: a[:n].sum(1)),
    "sums of so many rows": (X, lambda x, n: x[:n].sum(0), lambda a, n: a[:n].sum(0)),
    "sum of so many": (X[:, 0], lambda x, n: x[:n].sum(), lambda a, n: a[:n].sum()),
    "product": (X, lambda x, n: x[:n] @ x.T, lambda a, n: a[:n] @ a.T),
    "softmax of each": (X, lambda x, n: x[:n].softmax(1), lambda a, n: softmax(a[:n], 1)),
    "softmax along it": (Y, lambda x, n: x[:, :n].softmax(1), lambda a, n: softmax(a[:, :n], 1)),
    "places of the largest": (X, lambda x, n: x[:n].argmax(1), lambda a, n: a[:n].argmax(1)),
    "of bytes": (X.astype(np.int8), lambda x, n: x[:n] + 1, lambda a, n: a[:n] + 1),
}  # fmt: skip
SIZES = (MOST, 0, 1, 2, 31, 64, 65, 149)


def agrees(name: str, device: str, sizes: tuple[int, ...] = SIZES) -> None:
    array, of_tensor, of_array = KERNELS[name]
    for size in sizes:
        got = of_tensor(filled(array, device), N.bind(size)).numpy()
        expected = of_array(array, size)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6, err_msg=str(size))


@pytest.mark.parametrize("device", ["PYTHON"], indirect=True)
@pytest.mark.parametrize("name", KERNELS)
def test_each_value_gives_what_numpy_gives(name, device):
    agrees(name, device)


@pytest.mark.parametrize("other", sorted({*DEVICES, *REAL} - {"PYTHON"}))
@pytest.mark.parametrize("name", ["rows", "product", "sums of so many rows", "softmax along it"])
def test_so_it_does_on_each_other_device_with_blocks(name, other, monkeypatch):
    agrees(name, with_blocks(other, monkeypatch), (MOST, 0, 65))


def program_on_gpu(name: str) -> ProgramSpec:
    array, of_tensor, _ = KERNELS[name]
    x = Tensor(UOp.new_buffer("NULL:CUDA", array.size, Tensor(array).dtype).reshape(array.shape))
    *_, kernel = kernels_of(of_tensor(x, N.bind(7)))
    return program_of(kernel, device="NULL:CUDA")


@pytest.mark.parametrize(
    "name", ["a vector", "rows", "columns", "both", "sums of so many rows", "sum of so many",
             "softmax along it", "product"])  # fmt: skip
def test_it_has_threads(name):
    assert math.prod(program_on_gpu(name).local_size) > 12  # the most that the other loop has


@pytest.mark.parametrize("name", ["a vector", "rows", "columns", "both", "softmax of each"])
def test_there_are_so_many_blocks_as_the_variable_needs(name):
    spec = program_on_gpu(name)
    blocks = [math.prod(sym_infer(size, {N: n}) for size in spec.global_size)
              for n in (0, 1, MOST // 2, MOST)]  # fmt: skip
    assert blocks == sorted(blocks)
    assert blocks[0] == 0 or math.prod(spec.local_size) >= MOST  # one block is enough for all
    assert blocks[-1] * math.prod(spec.local_size) < 2 * KERNELS[name][0].size


def test_a_variable_of_0_launches_nothing(device, monkeypatch):
    x = filled(numbers(3000), device)
    n = UOp.variable("many", 0, 3000)
    launched = []
    runner = Device[device].runner

    def noted(*arguments, **options):
        run = runner(*arguments, **options)

        def launch(*bufs, **sizes):
            launched.append(sizes["global_size"])
            return run(*bufs, **sizes)

        return launch

    monkeypatch.setattr(Device[device], "runner", noted)
    # launches in a graph are test_graphs.py's
    monkeypatch.setattr(type(Device[device]), "graph", property(lambda self: None))
    add = TinyJit(lambda t, size: (t[:size] + 2.5).realize())
    for size in (3000, 0, 3000, 0, 1):
        result = add(x, n.bind(size))
        np.testing.assert_array_equal(result.numpy(), x.numpy()[:size] + 2.5)
    assert all(0 not in size for size in launched)
    assert len({math.prod(size) for size in launched}) == 2  # for 3000 and for 1


@pytest.mark.parametrize("most", [1, MOST])
def test_only_so_much_of_memory_is_changed(most, device):
    n = UOp.variable("most", 0, most)
    for size in (size for size in (0, 1, 64, 149, 150) if size <= most):
        x = filled(X, device)
        x[: n.bind(size)].assign(x[: n.bind(size)] * 5).realize()
        np.testing.assert_array_equal(x.numpy(), np.concatenate([X[:size] * 5, X[size:]]))


def test_lanes_and_copies_have_to_be_full():
    x = filled(X)[: N.bind(5)] * 2
    for op in (OptOps.UPCAST, OptOps.VECTOR, OptOps.SPLIT):
        with pytest.raises(KernelOptError, match="size is a Variable: only threads can divide it"):
            apply_opts(kernel_of(x), [Opt(op, 0, 4)])
    whole = apply_opts(kernel_of(x), [Opt(OptOps.LOCAL, 0, 4), Opt(OptOps.GLOBAL, 0)])
    assert len([u for u in whole.toposort() if u.op.name == "RANGE"]) == 3
