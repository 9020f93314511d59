"""OpenCL: what the language asks for, what the driver does, and what it refuses."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tests.kernels import numbers, run_with, source_of
from tinyframe import Context, Device, Tensor
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.device import DeviceUnavailable
from tinyframe.gpu.drivers import opencl
from tinyframe.gpu.languages.opencl import OpenCLLanguage
from tinyframe.gpu.languages.scalarize import scalarize
from tinyframe.gpu.languages.signed_overflow import wrap_integers


@pytest.fixture(autouse=True)
def on_cl():
    with Context(DEVICE="CL"):
        yield


def in_lanes(monkeypatch, most_bytes: int) -> None:
    """The same device, by a language that can only move vectors."""
    cl = Device["CL"]
    language = OpenCLLanguage(dataclasses.replace(cl.renderer.target, vector_bytes=16))
    lane_by_lane = scalarize(most_bytes, (2, 4))
    language.passes = (("scalarize", lane_by_lane), ("wrap integers", wrap_integers))
    monkeypatch.setattr(cl, "_renderer", language)


# ---- kernels -------------------------------------------------------------------------------------


def test_the_loop_that_cores_share_is_a_work_group_each():
    x, y = numbers(256, 256), numbers(256, 256, seed=1)
    product = Tensor(x).realize() @ Tensor(y).realize()
    source = source_of(product, device="CL")
    assert "get_group_id(0)" in source
    assert "*(__global unaligned_float" in source
    assert "vload" not in source  # PoCL calls it, and no register lives on through a call
    np.testing.assert_array_equal(product.numpy(), x @ y)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64])
def test_a_number_is_shifted_by_a_vector(dtype):
    """OpenCL C has a vector shifted by a number, and not the other way round."""
    bits = np.arange(1, 30, dtype=dtype) % 7
    t = Tensor(bits).realize()
    ones = Tensor.full(bits.shape, 1, dtype=t.dtype)
    np.testing.assert_array_equal((ones << t).numpy(), dtype(1) << bits)
    np.testing.assert_array_equal((ones * 99 >> t).numpy(), dtype(99) >> bits)
    np.testing.assert_array_equal((t >> 1).numpy(), bits >> dtype(1))


@pytest.mark.parametrize("most_bytes", [8, 16])
def test_the_same_by_a_language_that_only_moves_vectors(most_bytes, monkeypatch):
    in_lanes(monkeypatch, most_bytes)
    x, y = numbers(12, 20), numbers(20, 8, seed=1)
    a, b = Tensor(x).realize(), Tensor(y).realize()
    source = source_of(a + 1, device="CL")
    assert ("unaligned_float4*" in source) == (most_bytes == 16)
    assert "float4 alu" not in source
    pairs = [
        (a + 1, x + 1), (a @ b, x @ y), ((a > 0).sum(0), (x > 0).sum(0)), (a.T, x.T),
        (a[:, 1:] + 0, x[:, 1:]),  # not aligned
        (a.argmax(1), x.argmax(1)), (a.max(1), x.max(1)),
    ]  # fmt: skip
    for found, expected in pairs:
        np.testing.assert_array_equal(found.numpy(), expected)


def test_lanes_that_lie_apart_are_stored_one_by_one():
    lanes = Device["CL"].renderer.target.most_lanes
    x = numbers(8, 16)
    t, opts = Tensor(x).realize().T.contiguous(), [Opt(OptOps.VECTOR, 0, lanes)]
    assert f".s{lanes - 1:x};" in source_of(t, opts, "CL")  # the last one: .sf of 16
    np.testing.assert_array_equal(run_with(t, opts, "CL"), x.T)


@pytest.mark.parametrize(
    ("compiled_for", "has", "most"),
    [("skylake-avx512", 16, 16), ("znver3", 8, 16), ("znver3", 16, 4), ("znver4", 16, 16)],
)
def test_no_vector_is_larger_than_what_the_driver_compiles_for(compiled_for, has, most):
    """PoCL 3.0 takes a Zen 4 for a Zen 3, which has no AVX-512."""
    device = SimpleNamespace(
        extensions="", global_mem_cache_size=1 << 20, local_mem_size=1 << 16,
        max_work_group_size=4096, max_compute_units=2, native_vector_width_float=has,
        version=f"OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-{compiled_for}",
    )  # fmt: skip
    target = opencl.language(device, has_blocks=False).target
    assert target.most_lanes == most
    assert target.vector_bytes == 4 * min(has, most)


# ---- memory, copies, launches --------------------------------------------------------------------


def test_a_kernel_is_not_compiled_again_in_another_process(tmp_path):
    script = """
from tinyframe import Tensor
from tinyframe.gpu.languages.signed_overflow import wrap_integers
from tinyframe.gpu.drivers import opencl
count = 0
compile = opencl.CLCompiler.compile
def counted(self, source):
    global count
    count += 1
    return compile(self, source)
opencl.CLCompiler.compile = counted
assert (Tensor([1.0, 2.0, 3.0]).realize() * 3.25).tolist() == [3.25, 6.5, 9.75]
print(count)
"""
    environment = {"DEVICE": "CL", "TINYFRAME_CACHE": str(tmp_path), "PATH": os.environ["PATH"],
                   "HOME": str(tmp_path)}  # fmt: skip
    counts = [
        subprocess.run([sys.executable, "-c", script], env=environment, check=True,
                       capture_output=True, text=True).stdout.strip()
        for _ in range(2)
    ]  # fmt: skip
    assert counts == ["1", "0"]


def test_of_a_driver_that_keeps_nothing_the_binary_is_kept(monkeypatch):
    compiler, function = Device["CL"].compiler, "__kernel void f(__global int* a) { a[0] = 7; }"
    texts = compiler.identity()
    monkeypatch.setattr(compiler, "driver_has_cache", not compiler.driver_has_cache)
    assert compiler.identity() != texts  # neither is taken for the other
    assert (compiler.compile(function) == function.encode()) == compiler.driver_has_cache
    assert (Tensor(numbers(3, 5)).realize() * 7.125).tolist() == (numbers(3, 5) * 7.125).tolist()


# ---- what goes wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("processor", "path", "said"),
    [("znver3", "", "needs the linker `ld`"), ("generic", None, "PoCL 3.0 is older than this")],
)
def test_pocl_that_can_compile_nothing_is_not_there(monkeypatch, processor, path, said):
    """Without a linker it would end the process at the first kernel."""
    pocl = SimpleNamespace(
        platform=SimpleNamespace(name="Portable Computing Language"), driver_version="3.0",
        version=f"OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-{processor}",
    )  # fmt: skip
    monkeypatch.setattr(opencl, "all_devices", lambda: [pocl])
    monkeypatch.setattr(Device, "_opened", {})
    if path is not None:
        monkeypatch.setenv("PATH", path)
    with pytest.raises(DeviceUnavailable, match=said):
        Tensor([1.0])


@pytest.mark.parametrize("place", ["/nowhere", "folder/broken.icd"])
def test_without_a_driver_that_can_be_loaded_it_says_so_and_leaves_the_others(place, tmp_path):
    """OCL_ICD_VENDORS is where OpenCL's loader looks for drivers."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "broken.icd").write_text("libno_such_driver.so\n")
    script = """
from tinyframe import Device, Tensor
print(Device.why_not("CL"))
print((Tensor([1.0], device="CPU") + 1).tolist())
"""
    environment = {**os.environ, "OCL_ICD_VENDORS": str(tmp_path / place)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, check=True,
                          capture_output=True, text=True)  # fmt: skip
    why, on_cpu = done.stdout.splitlines()
    assert why.startswith("device CL cannot be used here: there is no OpenCL driver (")
    assert on_cpu == "[2.0]"


class Platform:
    """A driver of ours."""

    def __init__(self, name, devices):
        self.name, self.devices = name, devices

    def get_devices(self):
        if isinstance(self.devices, Exception):
            raise self.devices
        return self.devices


@pytest.fixture
def fresh_platforms(monkeypatch):
    """Makes the loader find these platforms."""

    def found(*platforms):
        monkeypatch.setattr(opencl.cl(), "get_platforms", lambda: list(platforms))
        opencl.all_devices.cache_clear()

    yield found
    monkeypatch.undo()
    opencl.all_devices.cache_clear()


def test_a_driver_that_fails_is_not_in_the_way_of_another(fresh_platforms):
    error, device = opencl.cl().LogicError("out of order"), Device["CL"].cl_device
    fresh_platforms(Platform("broken", error), Platform("good", [device]))
    assert opencl.all_devices() == [device]
    fresh_platforms(Platform("broken", error), Platform("empty", []))
    with pytest.raises(DeviceUnavailable, match=r"\(broken, empty\) has no device.*out of order"):
        opencl.all_devices()


def test_a_launch_that_the_driver_refuses_is_explained_and_the_next_one_runs():
    device = Device["CL"]
    source = "__kernel void f(__global float* x) { x[get_global_id(0)] = 3; }"
    kernel = device.runner("f", device.compiler.compile(source))
    memory = device.allocator.alloc(16)
    too_many = device.cl_device.max_work_group_size * 2
    with pytest.raises(opencl.CLError, match="launching the kernel f: .*INVALID_WORK") as error:
        kernel(memory, local_size=(too_many, 1, 1))
    assert "restart" not in str(error.value)
    kernel(memory, global_size=(4, 1, 1), wait=True)
    found = bytearray(16)
    device.allocator.copyout(memoryview(found), memory)
    assert np.frombuffer(found, np.float32).tolist() == [3.0] * 4


@pytest.mark.parametrize(("code", "is_lost"), [
    ("INVALID_COMMAND_QUEUE", True), ("OUT_OF_RESOURCES", True), ("DEVICE_NOT_AVAILABLE", True),
    ("INVALID_VALUE", False),
])  # fmt: skip
def test_a_driver_that_has_given_up_is_said_to_need_a_restart(code, is_lost, monkeypatch):
    class Refused(opencl.cl().Error):
        code = None

    error = Refused(f"clFinish failed: {code}")
    monkeypatch.setattr(Refused, "code", getattr(opencl.cl().status_code, code))
    monkeypatch.setattr(Device["CL"], "queue", SimpleNamespace(finish=lambda: throw(error)))
    with pytest.raises(opencl.CLError, match=f"waiting for the device: .*{code}") as told:
        Device["CL"].synchronize()
    assert ("restart Python" in str(told.value)) == is_lost


def throw(error):
    raise error


def test_a_launch_that_lacks_memory_is_tried_again_after_what_is_kept_is_freed(monkeypatch):
    class Refused(opencl.cl().Error):
        code = opencl.cl().status_code.MEM_OBJECT_ALLOCATION_FAILURE

    launch, device = opencl.cl().enqueue_nd_range_kernel, Device["CL"]
    Tensor.ones(1000).contiguous().realize()  # whose memory is kept

    def only_when_empty(*arguments):
        if device.allocator._kept_bytes:
            raise Refused("clEnqueueNDRangeKernel failed: MEM_OBJECT_ALLOCATION_FAILURE")
        return launch(*arguments)

    assert device.allocator._kept_bytes
    monkeypatch.setattr(opencl.cl(), "enqueue_nd_range_kernel", only_when_empty)
    assert (Tensor([1.0, 2.0]) * 5).tolist() == [5.0, 10.0]
    with monkeypatch.context() as patch:
        patch.setattr(opencl.cl(), "enqueue_nd_range_kernel", lambda *_: throw(Refused("never")))
        with pytest.raises(MemoryError, match="launching the kernel"):
            (Tensor([1.0, 2.0]) * 6).realize()
