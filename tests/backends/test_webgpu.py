"""WEBGPU: what the adapter of this machine makes of the kernels, and what goes wrong."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.kernels import filled, kernel_of, numbers, run_with
from tinyframe import Context, Device, Tensor, dtypes
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.device import Buffer, DeviceUnavailable
from tinyframe.gpu.drivers import webgpu
from tinyframe.gpu.languages.wgsl import WGSLLanguage
from tinyframe.search import beam as search

SPLIT, STAGE, VECTOR = OptOps.SPLIT, OptOps.STAGE, OptOps.VECTOR
GLOBAL, LOCAL, GROUP = OptOps.GLOBAL, OptOps.LOCAL, OptOps.GROUP
DEVICE = Device["WEBGPU"]


@pytest.fixture(autouse=True)
def on_webgpu():
    with Context(DEVICE="WEBGPU"):
        yield


@pytest.fixture
def plain(monkeypatch):
    """The same adapter without its features: WGSL as every browser has it."""
    monkeypatch.setattr(DEVICE, "_renderer", WGSLLanguage(DEVICE.renderer.target))


def test_a_copy_past_the_end_of_a_loop_names_no_place_outside_of_a_panel():
    """WGSL refuses a constant index that is too large, whatever the condition around it says."""
    x = numbers(35, 37)
    opts = [Opt(GROUP, 1, 2), Opt(VECTOR, 2, 4), Opt(GROUP, 1, 8), Opt(GROUP, 1, 5)]
    total = run_with(Tensor(x).realize().max(0), [Opt(GLOBAL, 0), *opts], "WEBGPU")
    np.testing.assert_array_equal(total, x.max(0))


# ---- without features ----------------------------------------------------------------------------


def random_numbers() -> list[np.ndarray]:
    Tensor.manual_seed(7)
    drawn = [Tensor.rand(33), Tensor.randint(50, low=-9, high=1000), Tensor.randperm(9),
             Tensor.randint(50, low=-(2**31), high=2**31)]  # fmt: skip
    return [t.numpy() for t in drawn]


def test_the_same_seed_gives_the_same_random_numbers(plain):
    found = random_numbers()
    with Context(DEVICE="CPU"):
        for ours, theirs in zip(found, random_numbers(), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_sine_without_float64_is_the_languages_own(plain):
    x = np.linspace(-3, 3, 101, dtype=np.float32)
    t = Tensor(x).realize()
    np.testing.assert_allclose(t.sin().numpy(), np.sin(x), atol=2**-11)
    np.testing.assert_allclose(t.cos().numpy(), np.cos(x), atol=2**-11)


# ---- blocks of threads ---------------------------------------------------------------------------


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
    lost = "WEBGPU is lost, and so are the contents of its memory"
    assert done.stdout.splitlines() == [lost, lost, lost, "[2.0]"], done.stderr


@pytest.mark.parametrize("where", [None, "not/absolute"])
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
