"""WEBGPU: what the adapter of this machine makes of the kernels, and what goes wrong."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.gpu_sources import TILED
from tests.kernels import filled, kernel_of, numbers, run_with, source_of
from tinyframe import Context, Device, GlobalCounters, Tensor, dtypes
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.device import Buffer, CompileError, DeviceUnavailable
from tinyframe.dtype import to_np_dtype
from tinyframe.errors import DTypeError, LimitError
from tinyframe.renderer.wgsl import WGSLLanguage
from tinyframe.run import search
from tinyframe.runtime import webgpu

SPLIT, UPCAST, STAGE, VECTOR = OptOps.SPLIT, OptOps.UPCAST, OptOps.STAGE, OptOps.VECTOR
GLOBAL, LOCAL, GROUP = OptOps.GLOBAL, OptOps.LOCAL, OptOps.GROUP
DEVICE = Device["WEBGPU"]
HERE = [dtype for dtype in dtypes.all if dtype not in DEVICE.renderer.unsupported]
INTS = [dtype for dtype in dtypes.ints if dtype in HERE]
FLOATS = [dtype for dtype in (dtypes.half, dtypes.float, dtypes.double) if dtype in HERE]


@pytest.fixture(autouse=True)
def on_webgpu():
    with Context(DEVICE="WEBGPU"):
        yield


@pytest.fixture
def plain(monkeypatch):
    """The same adapter without its features: WGSL as every browser has it."""
    monkeypatch.setattr(DEVICE, "_renderer", WGSLLanguage(DEVICE.renderer.target))


def edges(dtype) -> np.ndarray:
    """Numbers at the ends of the range and around 0, an odd number of them."""
    low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
    values = [low, low + 1, low // 3, -7, -1, 0, 1, 2, 5, 100, high // 3, high - 1, high]
    return np.array([v for v in values if low <= v <= high] * 3, to_np_dtype(dtype))


# ---- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", INTS, ids=str)
def test_integers_of_every_width_wrap_around(dtype):
    x = edges(dtype)
    y = np.random.default_rng(1).permutation(x)
    a, b = Tensor(x).realize(), Tensor(y).realize()
    counts = (np.arange(len(x)) % (8 * x.itemsize)).astype(x.dtype)
    with np.errstate(all="ignore"):
        pairs = [
            (a + b, x + y), (a - b, x - y), (a * b, x * y), (-a, -x), (a & b, x & y),
            (a | b, x | y), (a ^ b, x ^ y), (a << Tensor(counts), x << counts),
            (a >> Tensor(counts), x >> counts), (a.maximum(b), np.maximum(x, y)), (a < b, x < y),
            (a != b, x != y), (a // 7, x // x.dtype.type(7)), (a % 7, x % x.dtype.type(7)),
            (a // b, np.where(y == 0, 0, x // np.where(y == 0, 1, y))),
            (a.sum(dtype=dtype), x.sum(dtype=x.dtype)), (a.max(), x.max()),
        ]  # fmt: skip
    Tensor.realize(*[found for found, _ in pairs])
    for found, expected in pairs:
        np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("source", [dtype for dtype in HERE if dtype is not dtypes.bfloat16],
                         ids=str)  # fmt: skip
def test_casts_between_all_dtypes(source):
    x = np.array([0, 1, 2, 3, 77, 100, 126, 127, 0], to_np_dtype(source))
    t = Tensor(x).realize()
    casts = [t.cast(dtype) for dtype in HERE]
    Tensor.realize(*casts)
    for found in casts:
        expected = x.astype(to_np_dtype(found.dtype) or np.float32)
        np.testing.assert_array_equal(found.numpy(), expected, err_msg=str(found.dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nan_infinity_and_division_by_zero(dtype):
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5, 3.0, 1e-7] * 3)
    x = x.astype(to_np_dtype(dtype))
    y = x[::-1].copy()
    a, b = Tensor(x).realize(), Tensor(y).realize()
    with np.errstate(all="ignore"):
        pairs = [
            (a.maximum(b), np.maximum(x, y)), (a.minimum(b), np.minimum(x, y)), (a < b, x < y),
            (a <= b, x <= y), (a == b, x == y), (a != b, x != y), (a.isnan(), np.isnan(x)),
            (a.isinf(), np.isinf(x)), (a / 0, x / x.dtype.type(0)), (a / b, x / y),
            ((a == a).where(a, float("-inf")), np.where(x == x, x, -np.inf)),
            (a * 0, x * x.dtype.type(0)), (a - a, x - x), (a / a, x / x),
            (a.cast(dtypes.bool), x.astype(bool)), (a.max(), x.max()), (a.trunc(), np.trunc(x)),
        ]  # fmt: skip
    Tensor.realize(*[found for found, _ in pairs])
    for found, expected in pairs:
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-3 if x.itemsize == 2 else 1e-6)
    np.testing.assert_array_equal(np.signbit((a * 0).numpy()[3:9]), np.signbit(x[3:9]))


@pytest.mark.parametrize("name", ["exp", "exp2", "log", "log2", "sin", "cos", "tanh", "sigmoid",
                                  "sqrt", "erf", "round"])  # fmt: skip
def test_functions_are_as_exact_as_elsewhere(name):
    """Where a compiler may rearrange sums, exp(1) becomes 4: its first step rounds to a whole
    number by adding and subtracting 25165824."""
    x = np.random.default_rng(0).uniform(-20, 20, 501).astype(np.float32)
    x = np.abs(x) if name in ("log", "log2", "sqrt") else x
    found = getattr(Tensor(x).realize(), name)().numpy()
    with Context(DEVICE="CPU"):
        expected = getattr(Tensor(x), name)().numpy()
    np.testing.assert_array_max_ulp(found, expected, 3)


def test_bools_and_bytes_in_memory():
    for size in (1, 3, 4, 5, 17):
        x = np.random.default_rng(size).integers(-3, 4, size).astype(np.int8)
        t = Tensor(x).realize()
        is_large = (t > 0).realize()
        np.testing.assert_array_equal(is_large.numpy(), x > 0)
        np.testing.assert_array_equal((is_large ^ (t < 2)).numpy(), (x > 0) ^ (x < 2))
        np.testing.assert_array_equal((is_large < (t < 2)).numpy(), (x > 0) < (x < 2))
        t.assign(t * 3).realize()
        np.testing.assert_array_equal(t.numpy(), x * 3)


def test_a_copy_past_the_end_of_a_loop_names_no_place_outside_of_a_panel():
    """WGSL refuses a constant index that is too large, whatever the condition around it says."""
    x = numbers(35, 37)
    opts = [Opt(GROUP, 1, 2), Opt(VECTOR, 2, 4), Opt(GROUP, 1, 8), Opt(GROUP, 1, 5)]
    total = run_with(Tensor(x).realize().max(0), [Opt(GLOBAL, 0), *opts], "WEBGPU")
    np.testing.assert_array_equal(total, x.max(0))


# ---- without features ----------------------------------------------------------------------------


def test_float16_without_the_feature_is_computed_from_its_bits(plain):
    x = np.random.default_rng(0).normal(0, 9, 101).astype(np.float16)
    t = Tensor(x).realize()
    rounded = (x.astype(np.float32) * 3).astype(np.float16).astype(np.float32) + 1
    np.testing.assert_array_equal((t * 3 + 1).numpy(), rounded.astype(np.float16))


def random_numbers() -> list[np.ndarray]:
    Tensor.manual_seed(7)
    drawn = [Tensor.rand(33), Tensor.randint(50, low=-9, high=1000), Tensor.randperm(9),
             Tensor.randint(50, low=-(2**31), high=2**31)]  # fmt: skip
    return [t.numpy() for t in drawn]


@pytest.mark.parametrize("features", ["all", "none"])
def test_the_same_seed_gives_the_same_random_numbers(features, request):
    if features == "none":
        request.getfixturevalue("plain")
    found = random_numbers()
    with Context(DEVICE="CPU"):
        expected = random_numbers()
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_sine_without_float64_is_the_languages_own(plain):
    x = np.linspace(-3, 3, 101, dtype=np.float32)
    t = Tensor(x).realize()
    np.testing.assert_allclose(t.sin().numpy(), np.sin(x), atol=2**-11)
    np.testing.assert_allclose(t.cos().numpy(), np.cos(x), atol=2**-11)


def test_a_dtype_that_is_not_there_is_named(plain):
    x = Tensor([1, 2, 3], dtype=dtypes.int32).realize()
    with pytest.raises(DTypeError, match="WEBGPU has no int64, and the kernel E_3 computes with"):
        (x.cast(dtypes.int64) * 3).realize()
    with pytest.raises(DTypeError, match="WEBGPU has no float64"):
        x.cast(dtypes.float64).realize()
    assert (x + 1).tolist() == [2, 3, 4]


# ---- blocks of threads ---------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(64, 48, 64), (33, 50, 37), (17, 17, 70)])
def test_a_tiled_matmul_with_shared_panels(sizes):
    m, k, n = sizes
    x, y = numbers(m, k), numbers(k, n, seed=1)
    product = Tensor(x).realize() @ Tensor(y).realize()
    assert source_of(product, TILED, "WEBGPU").count("workgroupBarrier();") == 2
    np.testing.assert_array_equal(run_with(product, TILED, "WEBGPU"), x @ y)


@pytest.mark.parametrize("opts", [
    [Opt(VECTOR, 1, 4), Opt(STAGE, 0, 2)],
    [Opt(VECTOR, 1, 4), Opt(LOCAL, 1, 4), Opt(LOCAL, 0, 4), Opt(SPLIT, 4, 4), Opt(GLOBAL, 2),
     Opt(GLOBAL, 0), Opt(STAGE, 4, 1), Opt(STAGE, 4, 2)],
    None,
], ids=["one panel", "two panels", "default"])  # fmt: skip
def test_lanes_are_moved_one_by_one_into_panels_too(opts):
    x, y = numbers(48, 32), numbers(32, 40, seed=1)
    product = Tensor(x).realize() @ Tensor(y).realize()
    np.testing.assert_array_equal(run_with(product, opts, "WEBGPU"), x @ y)


@pytest.mark.parametrize("columns", [256, 100, 33, 7])
def test_the_sum_of_a_row_by_the_threads_of_a_block(columns):
    x = numbers(9, columns)
    t, opts = Tensor(x).realize(), [Opt(GLOBAL, 0), Opt(GROUP, 1, 32)]
    np.testing.assert_array_equal(run_with(t.sum(1), opts, "WEBGPU"), x.sum(1))
    np.testing.assert_array_equal(run_with(t.max(1), opts, "WEBGPU"), x.max(1))


@pytest.mark.parametrize("columns", [64, 50, 17])
def test_softmax_of_rows_by_the_threads_of_a_block(columns):
    x = numbers(40, columns)
    e = np.exp(x - x.max(1, keepdims=True))
    opts = [Opt(GLOBAL, 0), Opt(LOCAL, 1, 16), Opt(GROUP, 4, 16), Opt(GROUP, 3, 16)]
    found = run_with(Tensor(x).realize().softmax(), opts, "WEBGPU")
    np.testing.assert_allclose(found, e / e.sum(1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int16, np.uint16])
def test_threads_that_write_parts_of_one_word_do_not_disturb_each_other(dtype):
    x = np.random.default_rng(0).integers(0, 2 if dtype is np.bool_ else 120, 4096).astype(dtype)
    t = Tensor(x).realize()
    reverse = t.flip(0).contiguous()
    for opts in ([Opt(LOCAL, 0, 64), Opt(GLOBAL, 0)], [Opt(GLOBAL, 0)], [Opt(SPLIT, 0, 64),
                  Opt(LOCAL, 0, 0), Opt(GLOBAL, 1)]):  # fmt: skip
        np.testing.assert_array_equal(run_with(reverse, opts, "WEBGPU"), x[::-1])


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.float16, np.bool_])
def test_panels_of_narrow_numbers(dtype):
    x = np.random.default_rng(0).integers(0, 2, (12, 20)).astype(dtype)
    rows = Tensor(x).realize().reshape(12, 20, 1).maximum(Tensor(x.T.copy()).realize()).max(1)
    opts = [Opt(GLOBAL, 0), Opt(LOCAL, 1, 4), Opt(STAGE, 0, 1), Opt(STAGE, 0, 2)]
    expected = np.maximum(x[:, :, None], x.T).max(1)
    np.testing.assert_array_equal(run_with(rows, opts, "WEBGPU"), expected)


# ---- memory, copies, launches --------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 1023])
def test_memory_keeps_every_byte_of_any_size(size):
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()
    buffer = Buffer("WEBGPU", size, dtypes.uchar, initial_value=data)
    assert bytes(buffer.copyout(bytearray(size))) == data


def test_memory_that_is_given_back_by_the_garbage_collector_is_used_again():
    """The collector may finalize wgpu's own object first."""
    for n in range(3):
        memory = Buffer("WEBGPU", 77, dtypes.int, initial_value=np.full(77, n, np.int32).tobytes())
        opaque, circle = memory._buf, [memory]
        circle.append((circle, opaque))
        del memory, opaque, circle
        gc.collect()
    again = Buffer("WEBGPU", 77, dtypes.int, initial_value=np.full(77, 9, np.int32).tobytes())
    assert set(again.numpy()) == {9}


@pytest.mark.parametrize("other", ["CPU", "PYTHON"])
def test_copies_to_and_from_other_devices(other):
    x = numbers(5, 3)
    there = Tensor(x).realize().to(other)
    np.testing.assert_array_equal((there + 1).numpy(), x + 1)
    back = (there * 2).to("WEBGPU")
    np.testing.assert_array_equal((back - 1).numpy(), x * 2 - 1)


@pytest.mark.parametrize("is_timed", [True, False])
def test_the_time_of_a_kernel_is_shown(is_timed, monkeypatch):
    monkeypatch.setattr(DEVICE, "is_timed", is_timed and DEVICE.is_timed)
    x = Tensor(numbers(16, 16)).realize()
    GlobalCounters.reset()
    with Context(DEBUG=2):
        (x @ x).realize()
    assert GlobalCounters.time_sum_s > 0


def test_beam_searches_and_finds_it_again(monkeypatch, tmp_path):
    monkeypatch.setenv("TINYFRAME_CACHE", str(tmp_path))
    x = numbers(40, 24)
    kernel = kernel_of(filled(x).sum(1))
    found = search.search_result(kernel, DEVICE, 1)
    assert found.tried > 2 and 0 < found.seconds <= found.planned
    assert search.search_result(kernel, DEVICE, 1) == found
    with Context(BEAM=1):
        np.testing.assert_allclose(Tensor(x).realize().sum(1).numpy(), x.sum(1), rtol=1e-5)


# ---- what goes wrong -----------------------------------------------------------------------------


def test_what_the_compiler_refuses_is_shown_with_its_source():
    with pytest.raises(CompileError, match="no_such_thing") as error:
        DEVICE.compiler.compile("fn f() { let x = no_such_thing; }")
    assert "1 | fn f()" in str(error.value)
    assert (Tensor([1.0]) + 1).tolist() == [2.0]


def test_a_buffer_of_more_than_the_adapter_binds_is_a_memory_error():
    with pytest.raises(MemoryError, match=f"one Buffer may have {DEVICE.most_bytes} bytes"):
        DEVICE.allocator.alloc(DEVICE.most_bytes + 1)


def test_more_buffers_than_a_kernel_takes_are_refused():
    most = DEVICE.renderer.target.most_buffers
    parts = [Tensor([float(n)]).realize() for n in range(most)]
    with pytest.raises(LimitError, match=f"{most + 1} buffers, and WEBGPU takes {most} at most"):
        sum(parts[1:], parts[0]).realize()
    assert sum(parts[1:-1], parts[0]).item() == sum(range(most - 1))


def test_an_adapter_that_is_not_there_says_which_are():
    count = len(webgpu.all_adapters())
    with pytest.raises(DeviceUnavailable, match=f"no WebGPU adapter of number {count}: WEBGPU:0 "):
        Tensor([1.0], device=f"WEBGPU:{count}")


def test_without_wgpu_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "wgpu", None)
    webgpu.wgpu.cache_clear()
    monkeypatch.setattr(Device, "_opened", {})
    try:
        with pytest.raises(DeviceUnavailable, match=r"pip install 'tinyframe\[webgpu\]'"):
            Tensor([1.0])
    finally:
        webgpu.wgpu.cache_clear()


def test_without_an_adapter_it_says_what_brings_one(monkeypatch):
    monkeypatch.setattr(webgpu.wgpu().gpu, "enumerate_adapters_sync", lambda: [])
    webgpu.all_adapters.cache_clear()
    monkeypatch.setattr(Device, "_opened", {})
    try:
        with pytest.raises(DeviceUnavailable, match="no WebGPU adapter.*mesa-vulkan-drivers"):
            Tensor([1.0])
    finally:
        webgpu.all_adapters.cache_clear()


def test_a_device_that_is_lost_says_so_and_leaves_the_others():
    script = """
from tinyframe import Device, Tensor
x = Tensor([1.0, 2.0], device="WEBGPU").realize()
Device["WEBGPU"].gpu.destroy()
for wanted in (lambda: x.tolist(), lambda: (x + 1).realize(),
               lambda: Tensor([1.0], device="WEBGPU").realize()):
    try:
        wanted()
    except RuntimeError as error:
        print(str(error).partition(":")[0])
print((Tensor([1.0], device="CPU") + 1).tolist())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    lost = "WEBGPU is lost, and so is what its memory held"
    assert done.stdout.splitlines() == [lost, lost, lost, "[2.0]"], done.stderr


@pytest.mark.parametrize("where", [None, "", "not/absolute"])
def test_where_there_is_no_desktop_nothing_is_said_of_that(where):
    environment = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
    if where is not None:
        environment["XDG_RUNTIME_DIR"] = where
    script = """
import os
from tinyframe import Tensor
before = os.environ.get("XDG_RUNTIME_DIR")
print((Tensor([1.0], device="WEBGPU") + 1).tolist(), os.environ.get("XDG_RUNTIME_DIR") == before)
os.write(2, b"what a driver says")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          env=environment)  # fmt: skip
    assert (done.stdout, done.stderr) == ("[2.0] True\n", "what a driver says")
