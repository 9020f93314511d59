"""Products by tensor cores: whose element is whose, right results, refusals, and shared memory."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import tinyframe.codegen
import tinyframe.gpu.passes
from tests.backends.test_blocks import without_barrier
from tests.gpu_device import TARGET
from tests.gpu_kernels import GLOBAL, LOCAL, SPLIT, STAGE, UPCAST, random_opts
from tests.kernels import filled, kernel_of, kernels_of, on_buffer, run_with, schedule_of
from tinyframe import Context, Device, Tensor, dtypes, thresholds
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opts
from tinyframe.dtype import DType
from tinyframe.gpu import mma
from tinyframe.gpu.drivers.cuda_emulator import DataRace
from tinyframe.gpu.languages.cuda import CUDALanguage, target_for
from tinyframe.runtime.python import PythonRenderer
from tinyframe.settings import settings
from tinyframe.uop.node import AxisType, Ops

CORES = Opt(OptOps.TENSOR_CORE, (0, 1, 2))
FORMS = list(mma.DTYPES)
TILED = [CORES, Opt(UPCAST, 2, 2), Opt(UPCAST, 0, 2), Opt(LOCAL, 0, 2), Opt(GLOBAL, 0),
         Opt(SPLIT, 4, 2), Opt(STAGE, 4, 1), Opt(STAGE, 4, 2)]  # fmt: skip


@pytest.fixture(autouse=True)
def devices(monkeypatch) -> Iterator[None]:
    """CUDA is the emulator that looks for races, unless a GPU is asked for, and the interpreter has
    tensor cores."""
    if settings.CUDA_EMULATE:
        monkeypatch.setenv("CUDA_EMULATE", "2")
        monkeypatch.setattr(Device, "_opened", {})
    target = dataclasses.replace(TARGET, block_threads=256, tensor_cores=tuple(FORMS))
    monkeypatch.setattr(Device["PYTHON"], "_renderer", PythonRenderer(target))
    with Context(TF32=1):
        yield


def operand(dtype: DType, device: str, *shape: int, seed: int = 0) -> Tensor:
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return filled(values, device).cast(dtype).realize()


def exact(x: Tensor) -> np.ndarray:
    return x.cast(dtypes.float).numpy().astype(np.float64)


def check(result: np.ndarray, expected: np.ndarray, form: str) -> None:
    """Two halves' product is exact in float32, so only sums are rounded. A factor of TF32 is off by
    2**-11 at most, so a product by a little more than 2**-10."""
    size = np.abs(expected).max()
    np.testing.assert_allclose(
        result, expected, rtol=0, atol=size * (2e-3 if form == "tf32" else 1e-6)
    )


# ---- whose element is whose ----------------------------------------------------------------------


def documented(form: str) -> tuple[dict, dict, dict]:
    """(thread, number) -> (row, column) in a, b and the results, as the PTX ISA has it for
    mma.m16n8k16 (16 bits) and mma.m16n8k8 (TF32)."""
    a, b, c = {}, {}, {}
    for lane in range(32):
        group, thread = lane >> 2, lane % 4
        if form == "tf32":
            for i in range(4):
                a[lane, i] = group + 8 * (i in (1, 3)), thread + 4 * (i in (2, 3))
            for i in range(2):
                b[lane, i] = thread + 4 * i, group
        else:
            for i in range(8):
                row = group if i in (0, 1, 4, 5) else group + 8
                a[lane, i] = row, thread * 2 + (i & 1) + (0 if i < 4 else 8)
            for i in range(4):
                b[lane, i] = thread * 2 + (i & 1) + (0 if i < 2 else 8), group
        for i in range(4):
            c[lane, i] = (group if i < 2 else group + 8), thread * 2 + (i & 1)
    return a, b, c


@pytest.mark.parametrize("form", FORMS)
def test_each_thread_gives_and_gets_what_the_instruction_asks_for(form):
    """The order of a sum is free: ours is the instruction's but for one permutation of the sum,
    which is the same for both operands. CUDA's text exchanges the second and third register."""
    a, b, c = documented(form)
    run, half = mma.run(form), mma.run(form) // 2
    order = [n for part in (0, 2, 1, 3) for n in range(part * half, (part + 1) * half)]
    permuted: dict[int, int] = {}
    for lane in range(32):
        for i, n in enumerate(order):
            row, place = mma.place_of_a(form, lane, n // run, n % run)
            assert row == a[lane, i][0]
            assert permuted.setdefault(a[lane, i][1], place) == place
        for n in range(run):
            place, column = mma.place_of_b(form, lane, n)
            assert column == b[lane, n][1]
            assert permuted[b[lane, n][0]] == place
        for n in range(mma.RESULTS):
            assert mma.place_of_result(lane, n) == c[lane, n]
    assert sorted(permuted) == sorted(permuted.values()) == list(range(mma.depth(form)))


def test_tf32_has_ten_digits_and_rounds_ties_away_from_zero():
    digit = 2.0**-10
    for x, rounded in {
        1.0: 1.0, 1 + digit: 1 + digit, 1 + digit / 2: 1 + digit, -1 - digit / 2: -1 - digit,
        1 + digit * 0.49: 1.0, 1 + digit * 0.51: 1 + digit, 0.0: 0.0, 3e-39: 3e-39,
    }.items():  # fmt: skip
        assert mma.to_tf32(x) == pytest.approx(rounded, rel=2e-7 if x == 3e-39 else 0, abs=1e-41)
    assert mma.to_tf32(np.inf) == np.inf and np.isnan(mma.to_tf32(np.nan))
    values = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    off = [abs(mma.to_tf32(float(x)) - x) / abs(x) for x in values]
    assert 2**-12 < max(off) <= 2**-11


# ---- results -------------------------------------------------------------------------------------

Product = Callable[[Tensor, Tensor], Tensor]
PRODUCTS: dict[str, tuple[tuple[int, ...], tuple[int, ...], Product, Callable]] = {
    "whole tiles": ((32, 64), (64, 16), lambda a, b: a.matmul(b, dtype=dtypes.float),
                    lambda a, b: a @ b),
    "one tile": ((16, 32), (32, 8), lambda a, b: a.matmul(b, dtype=dtypes.float),
                 lambda a, b: a @ b),
    "tiles that reach over": ((37, 64), (64, 19), lambda a, b: a.matmul(b, dtype=dtypes.float),
                              lambda a, b: a @ b),
    "less than a tile": ((5, 32), (32, 3), lambda a, b: a.matmul(b, dtype=dtypes.float),
                         lambda a, b: a @ b),
    "both transposed": ((32, 20), (9, 32), lambda a, b: a.T.matmul(b.T, dtype=dtypes.float),
                        lambda a, b: a.T @ b.T),
    "with more before and after": (
        (32, 32), (32, 16), lambda a, b: ((a * 2).matmul(-b, dtype=dtypes.float) + 1).relu(),
        lambda a, b: np.maximum((a * 2) @ -b + 1, 0)),
}  # fmt: skip


ON_CUDA = ("tiles that reach over", "with more before and after")


@pytest.mark.parametrize(
    ("device", "name"), [*[("PYTHON", name) for name in PRODUCTS], *[("CUDA", n) for n in ON_CUDA]]
)
@pytest.mark.parametrize("form", FORMS)
def test_a_warps_product_is_numpys(name, form, device):
    left, right, product, expected = PRODUCTS[name]
    a, b = (
        operand(mma.DTYPES[form], device, *shape, seed=n) for n, shape in enumerate((left, right))
    )
    result = run_with(product(a, b), [CORES], device)
    check(result, expected(exact(a), exact(b)), form)


@pytest.mark.parametrize("device", ["PYTHON", "CUDA"])
@pytest.mark.parametrize("form", FORMS)
def test_warps_of_a_block_share_panels(form, device):
    a, b = (
        operand(mma.DTYPES[form], device, 128, 128),
        operand(mma.DTYPES[form], device, 128, 32, seed=1),
    )
    check(run_with(a.matmul(b, dtype=dtypes.float), TILED, device), exact(a) @ exact(b), form)


@pytest.mark.parametrize(
    ("form", "shape"),
    zip(
        [*FORMS, *FORMS],
        [(128, 128, 128), (64, 64, 64), (70, 90, 64), (40, 33, 48), (300, 24, 32), (70, 24, 48)],
        strict=True,
    ),
)
def test_the_plan_for_tensor_cores_is_right_for_any_size(form, shape):
    rows, columns, summed = shape
    a = operand(mma.DTYPES[form], "CUDA", rows, summed)
    b = operand(mma.DTYPES[form], "CUDA", columns, summed, seed=1).T
    tensor = a.matmul(b, dtype=dtypes.float)
    plan = get_program(kernel_of(tensor), Device["CUDA"].renderer).plan
    assert plan is not None and plan.name == "tensor cores"
    check(run_with(tensor, None, "CUDA"), exact(a) @ exact(b), form)


def test_a_long_sum_is_added_up_in_order(monkeypatch):
    """A tile of accumulators twice would not fit into registers."""
    monkeypatch.setattr(thresholds, "MOST_ADDITIONS", 8)
    tensor = product(dtypes.half, 32, 512, 16)
    uops = get_program(kernel_of(tensor), Device["CUDA"].renderer, [CORES]).uops
    assert sum(u.op is Ops.RANGE and u.arg[1] is AxisType.REDUCE for u in uops) == 1


@pytest.mark.parametrize("seed", range(6))
def test_any_opts_after_it_give_the_same(seed):
    form = FORMS[seed % 3]
    a, b = (
        operand(mma.DTYPES[form], "CUDA", 48, 64),
        operand(mma.DTYPES[form], "CUDA", 64, 24, seed=1),
    )
    tensor = a.matmul(b, dtype=dtypes.float)
    target = Device["CUDA"].renderer.target
    kernel = apply_opts(kernel_of(tensor), [CORES], target)
    opts = [CORES, *random_opts(kernel, random.Random(seed), target)]
    check(run_with(tensor, opts, "CUDA"), exact(a) @ exact(b), form)


def test_a_batch_of_products_and_a_half_precision_result():
    a, b = operand(dtypes.half, "CUDA", 3, 32, 64), operand(dtypes.half, "CUDA", 3, 64, 16, seed=1)
    found = (a @ b).cast(dtypes.float).numpy()
    np.testing.assert_allclose(found, exact(a) @ exact(b), rtol=2**-10, atol=2**-7)


# ---- refusals ------------------------------------------------------------------------------------


def refused(tensor: Tensor, opt: Opt = CORES, architecture: str = "sm_80") -> str:
    with pytest.raises(KernelOptError) as raised:
        apply_opts(kernel_of(tensor), [opt], target_for(architecture))
    return str(raised.value)


def product(dtype: DType, rows: int = 32, summed: int = 64, columns: int = 16) -> Tensor:
    a, b = (on_buffer(*shape, dtype=dtype) for shape in ((rows, summed), (summed, columns)))
    return a.matmul(b, dtype=dtypes.double if dtype is dtypes.double else dtypes.float)


def test_what_tensor_cores_cannot_do_is_refused_with_the_reason():
    half = product(dtypes.half)
    assert "16 at a time, more than once" in refused(product(dtypes.half, summed=72))
    assert "16 at a time, more than once" in refused(product(dtypes.half, summed=16))
    assert "two float16, two bfloat16 or two float32" in refused(product(dtypes.double))
    a, b = on_buffer(32, 64, dtype=dtypes.half), on_buffer(64, 16, dtype=dtypes.bfloat16)
    mixed = a.cast(dtypes.float).matmul(b.cast(dtypes.float))
    assert "two float16, two bfloat16 or two float32" not in refused(mixed, architecture="sm_75")
    distance = (on_buffer(32, 1, 64) - on_buffer(1, 16, 64)).abs().sum(2)
    assert "sums products" in refused(distance)
    assert "one operand has the rows" in refused(
        (on_buffer(32, 16, 64) * on_buffer(1, 16, 64)).sum(2)
    )
    assert "takes three axes" in refused(half, Opt(OptOps.TENSOR_CORE, 0))
    assert "the sum is a reduce's" in refused(half, Opt(OptOps.TENSOR_CORE, (0, 2, 1)))
    assert "three different loops" in refused(half, Opt(OptOps.TENSOR_CORE, (0, 0, 2)))
    assert "no tensor cores for f16" in refused(half, architecture="sm_75")
    with Context(TF32=0):
        assert "TF32=1 allows that" in refused(product(dtypes.float))
    with pytest.raises(KernelOptError, match="uses tensor cores already"):
        apply_opts(
            kernel_of(half), [CORES, Opt(OptOps.TENSOR_CORE, (0, 2, 3))], target_for("sm_80")
        )


def test_float32_is_rounded_only_where_that_was_asked_for():
    tensor = product(dtypes.float, 256, 256, 256)

    def plan() -> str:
        found = get_program(kernel_of(tensor), CUDALanguage()).plan
        assert found is not None
        return found.name

    assert plan() == "tensor cores"
    with Context(TF32=0):
        assert plan() == "tiles from panels"
    a, b = (filled(np.random.default_rng(n).normal(size=(64, 64)).astype(np.float32), "CUDA")
            for n in range(2))  # fmt: skip
    with Context(TF32=0):
        np.testing.assert_allclose((a @ b).numpy(), exact(a) @ exact(b), rtol=0, atol=2e-5)
    off = np.abs((a @ b).numpy() - exact(a) @ exact(b)).max()
    assert 1e-4 < off < 0.05  # the same product a second time, and not the kernel of the first


# ---- shared memory -------------------------------------------------------------------------------


@pytest.mark.parametrize("which", [0, 1])
def test_an_mma_is_no_barrier(which, monkeypatch):
    a, b = operand(dtypes.half, "CUDA", 128, 128), operand(dtypes.half, "CUDA", 128, 32, seed=1)
    tensor = a.matmul(b, dtype=dtypes.float)
    (item,) = schedule_of(tensor)
    spec = get_program(item.ast, Device["CUDA"].renderer, TILED)
    assert sum(u.op is Ops.BARRIER for u in spec.uops) == 2
    monkeypatch.setattr(tinyframe.gpu.passes, "with_barriers", without_barrier(which))
    with pytest.raises(DataRace):
        run_with(tensor, TILED, "CUDA")


def test_kernels_of_a_product_are_one():
    assert len(kernels_of(product(dtypes.half, 256, 256, 256) + 1)) == 1


@pytest.mark.parametrize(("summed", "name"), [
    (72, "tensor cores"), (33, "tiles from panels"), (20, "tiles from panels"),
])  # fmt: skip
def test_a_sum_that_would_mostly_be_zeros_is_left_to_the_threads(summed, name):
    plan = get_program(kernel_of(product(dtypes.half, 64, summed, 64)), CUDALanguage()).plan
    assert plan is not None and plan.name == name
