"""What OpenCL and WebGPU have in common: words, copies, launches, features that are not there, and
drivers that are not there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests import devices
from tests.gpu_kernels import GLOBAL, LOCAL, SPLIT, STAGE, TILED, VECTOR
from tests.kernels import filled, numbers, run_with, source_of
from tests.with_blocks import with_blocks
from tinyframe import Context, Device, GlobalCounters, Tensor
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.device import DeviceUnavailable
from tinyframe.gpu.drivers import opencl, webgpu
from tinyframe.gpu.languages.opencl import OpenCLLanguage
from tinyframe.gpu.languages.wgsl import WGSLLanguage

THERE = [name for name in ("CL", "WEBGPU") if name in devices.there()]


@pytest.fixture(autouse=True, params=THERE)
def device(request):
    with Context(DEVICE=request.param):
        yield request.param


@pytest.fixture
def plain(device, monkeypatch) -> None:
    """The same device without its features: as every browser has it, and without halves."""
    target = Device[device].renderer.target
    made = OpenCLLanguage(target, has_half=False) if device == "CL" else WGSLLanguage(target)
    monkeypatch.setattr(Device[device], "_renderer", made)


# ---- kernels -------------------------------------------------------------------------------------

X, Y = numbers(48, 33), numbers(33, 40, seed=1)
ROWS = numbers(8, 8)
# name -> what is computed of the arrays as Tensors, the arrays, Opts, and on each device the words
# of the source, with how often they are there
Case = tuple[Callable[..., Any], tuple[np.ndarray, ...], list[Opt] | None, dict[str, dict]]
KERNELS: dict[str, Case] = {
    "a tile in shared memory": (
        lambda x, y: x @ y, (X, Y), TILED,
        {"CL": {"__local float panel": 2, "unaligned": 0, "barrier(CLK_LOCAL_MEM_FENCE);": 2},
         "WEBGPU": {"workgroupBarrier();": 2}}),
    "vectors that begin anywhere": (
        lambda x: x[:, 1:5] + 1, (ROWS,), [Opt(VECTOR, 1, 4), Opt(GLOBAL, 0)],
        {"CL": {"vload4(0, data1": 1}}),
    "lanes in a panel": (
        lambda x, y: x[:, :32] @ y[:32], (X, Y), [Opt(VECTOR, 1, 4), Opt(STAGE, 0, 2)], {}),
    "lanes in two panels": (
        lambda x, y: x[:, :32] @ y[:32], (X, Y),
        [Opt(VECTOR, 1, 4), Opt(LOCAL, 1, 4), Opt(LOCAL, 0, 4), Opt(SPLIT, 4, 4), Opt(GLOBAL, 2),
         Opt(GLOBAL, 0), Opt(STAGE, 4, 1), Opt(STAGE, 4, 2)], {}),
    "as planned": (lambda x, y: x @ y, (X, Y), None, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_in_the_words_of_the_language_and_right(name, device, monkeypatch):
    compute, arrays, opts, words = KERNELS[name]
    if device == "CL":
        with_blocks(device, monkeypatch)
    made = compute(*map(filled, arrays))
    source = source_of(made, opts, device)
    assert {text: source.count(text) for text in words.get(device, {})} == words.get(device, {})
    np.testing.assert_array_equal(run_with(made, opts, device), compute(*arrays))


@pytest.mark.usefixtures("plain")
def test_float16_without_the_feature_is_computed_from_its_bits(device):
    x = np.random.default_rng(0).normal(0, 9, 301).astype(np.float16)
    t = filled(x) * 3 + 1
    assert "half" not in source_of(t, device=device)
    rounded = (x.astype(np.float32) * 3).astype(np.float16).astype(np.float32) + 1
    np.testing.assert_array_equal(t.numpy(), rounded.astype(np.float16))


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "erf", "round"])
def test_functions_are_as_exact_as_elsewhere(name):
    """Where a compiler may rearrange sums, exp(1) becomes 4: its first step rounds to a whole
    number by adding and subtracting 25165824."""
    x = np.random.default_rng(0).uniform(0.1, 20, 501).astype(np.float32)
    found = getattr(filled(x), name)().numpy()
    np.testing.assert_array_max_ulp(found, getattr(filled(x, "CPU"), name)().numpy(), 3)


# ---- copies, launches ----------------------------------------------------------------------------


@pytest.mark.parametrize("other", ["CPU", "PYTHON"])
def test_copies_to_and_from_other_devices(other, device):
    x = numbers(5, 3)
    there = filled(x).to(other)
    assert there.device == other
    np.testing.assert_array_equal(((there * 2).to(device) - 1).numpy(), x * 2 - 1)


@pytest.mark.parametrize("is_timed", [True, False])
def test_the_time_of_a_kernel_is_shown(is_timed, device, monkeypatch):
    if not is_timed:
        monkeypatch.setattr(Device[device], "is_timed", False, raising=False)
    x = filled(numbers(64, 64))
    GlobalCounters.reset()
    with Context(DEBUG=2):
        (x @ x).realize()
    assert GlobalCounters.time_sum_s > 0


def test_more_memory_than_one_buffer_may_have_is_a_memory_error(device):
    own = Device[device]
    most = own.cl_device.max_mem_alloc_size if device == "CL" else own.most_bytes
    said = {"CL": "Drop Tensors that are no longer", "WEBGPU": f"a Buffer may have {most} bytes"}
    with pytest.raises(MemoryError, match=said[device]):
        own.allocator.alloc(most + 1)
    assert (Tensor([1.0]) + 1).tolist() == [2.0]


# ---- what is not there ---------------------------------------------------------------------------


def test_a_device_that_is_not_there_says_which_are(device):
    with pytest.raises(DeviceUnavailable, match=f"there is no .* number 99: {device}:0 is"):
        Tensor([1.0], device=f"{device}:99")
    assert Device.why_not(device) is None


@pytest.fixture
def fresh(monkeypatch):
    """Nobody has looked for a driver; what a test puts in place of one is forgotten after it."""
    caches = (opencl.cl, opencl.all_devices, webgpu.wgpu, webgpu.all_adapters)
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setattr(Device, "_opened", {})
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()


PACKAGES = {"CL": ("pyopencl", r"device CL .*pip install 'tinyframe\[opencl\]'"),
            "WEBGPU": ("wgpu", r"pip install 'tinyframe\[webgpu\]'")}  # fmt: skip


@pytest.mark.usefixtures("fresh")
def test_without_its_package_a_device_says_how_to_get_it(device, monkeypatch):
    package, advice = PACKAGES[device]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DeviceUnavailable, match=advice):
        Tensor([1.0])
    with pytest.raises(ValueError, match=rf"unknown device 'TPU'(?s:.*)CPU(?s:.*){advice}"):
        Tensor([1.0], device="TPU")
    assert (Tensor([1.0], device="CPU") + 1).tolist() == [2.0]


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("error", [ImportError, OSError, AttributeError, RuntimeError], ids=str)
def test_whatever_importing_a_package_raises_breaks_nothing_else(error, device, monkeypatch):
    package, _ = PACKAGES[device]

    class Broken:
        def find_spec(self, name, path=None, target=None):
            if name == package:
                raise error("lib.so: broken")

    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(DeviceUnavailable, match="lib.so: broken"):
        Tensor([1.0])
    assert (Tensor([1.0], device="CPU") + 1).tolist() == [2.0]
