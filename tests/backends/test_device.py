"""Devices by name, the default one, buffers and the memory behind them."""

from __future__ import annotations

import gc
import weakref

import ml_dtypes
import numpy as np
import pytest

from tinyframe.device import (
    Allocator,
    Buffer,
    Compiled,
    Compiler,
    Device,
    GlobalCounters,
    Runner,
    buffer_of,
    human_bytes,
)
from tinyframe.dtype import dtypes
from tinyframe.runtime.host import ALIGNMENT, HostAllocator, HostMemory
from tinyframe.settings import Context
from tinyframe.uop.node import UOp

FLAGS = ("DEVICE", "CPU", "CLANG", "CL", "OPENCL", "GPU", "CUDA", "NV", "WEBGPU", "PYTHON")


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """No setting names a device, and what a test registers is gone after it."""
    for name in FLAGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Device, "_assigned", None)
    monkeypatch.setattr(Device, "_devices", dict(Device._devices))
    monkeypatch.setattr(Device, "_opened", dict(Device._opened))


class ArrayAllocator(Allocator):
    """Memory that Python is not shown: what a device with its own memory looks like."""

    def __init__(self):
        self.freed = []

    def _alloc(self, size, options):
        return np.zeros(size, np.uint8)

    def _free(self, opaque, options):
        self.freed.append(opaque)

    def copyin(self, dst, src):
        dst[: len(src)] = np.frombuffer(src, np.uint8)

    def copyout(self, dst, src):
        np.frombuffer(dst, np.uint8)[:] = src[: len(dst)]


class MyDevice(Compiled):
    def __init__(self, device):
        super().__init__(device, ArrayAllocator(), "renderer", Compiler(), Runner)


# *** names ***


@pytest.mark.parametrize(
    ("name", "canonical"),
    [("CPU", "CPU"), ("Cpu", "CPU"), ("cpu:0", "CPU"), ("CPU:00", "CPU"), (" CPU ", "CPU"),
     ("CLANG:0", "CPU"), ("clang:1", "CPU:1"), ("cpu:1", "CPU:1"), (None, "CPU")],
)  # fmt: skip
def test_every_spelling_of_a_device_is_one_device(name, canonical):
    assert Device.canonicalize(name) == canonical == Device[name].device
    assert Device[name] is Device[canonical]
    assert Device["CPU:1"] is not Device["CPU"]


INDEX = "put a number after the colon"


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [*[(name, ValueError, rf"unknown device {name!r}(?s:.*)there are: .*CPU.*PYTHON")
       for name in ("TPU", "", "CPUU", "CPU1", ":1")],
     *[(f"CPU:{index}", ValueError, INDEX) for index in ("", "x", "-1", "1:2", "1.5")],
     ("pyhton", ValueError, "did you mean 'PYTHON'"), (3, TypeError, "named by a str")],
)  # fmt: skip
def test_a_name_that_no_device_has_is_answered_with_those_there_are(name, error, words):
    with pytest.raises(error, match=words):
        Device[name]


# *** the default device ***


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [("DEVICE", "python", "PYTHON"), ("DEVICE", "clang:1", "CPU:1"), ("PYTHON", "1", "PYTHON"),
     ("CLANG", "1", "CPU"), ("PYTHON", "0", "CPU")],
)  # fmt: skip
def test_settings_name_the_default_and_are_read_each_time(monkeypatch, setting, value, expected):
    assert Device.DEFAULT == "CPU"
    monkeypatch.setenv(setting, value)
    assert Device.DEFAULT == expected
    monkeypatch.delenv(setting)
    assert Device.DEFAULT == "CPU"


def test_an_assigned_default_holds_until_settings_change():
    Device.DEFAULT = "python"
    assert Device.DEFAULT == "PYTHON"
    with Context(DEVICE="CPU:1"):
        assert Device.DEFAULT == "CPU:1"
        Device.DEFAULT = "PYTHON"
        assert Device.DEFAULT == "PYTHON"
    Device.DEFAULT = "PYTHON"
    with Context(CPU=1):
        assert Device.DEFAULT == "CPU"
    assert Device.DEFAULT == "PYTHON"


def test_two_flags_that_disagree_are_an_error_that_names_them():
    with Context(CPU=1, PYTHON=1), pytest.raises(ValueError, match="CPU=1 and PYTHON=1"):
        Device.DEFAULT  # noqa: B018
    with Context(CPU=1, CLANG=1):
        assert Device.DEFAULT == "CPU"


def test_a_default_that_does_not_exist_is_refused_when_said():
    with pytest.raises(ValueError, match="unknown device 'TPU'"):
        Device.DEFAULT = "TPU"
    with Context(DEVICE="TPU"), pytest.raises(ValueError, match="unknown device 'TPU'"):
        Device.DEFAULT  # noqa: B018


# *** a backend of one's own ***


@pytest.mark.parametrize("parts, words", [
    ((ArrayAllocator(), None, Compiler(), Runner), "its name can't be <.*ArrayAllocator object"),
    (("MY", None, None, Compiler(), Runner), "its allocator can't be None"),
    (("MY", ArrayAllocator, None, None, Runner), "its allocator can't be <class .*ArrayAllocator"),
    (("MY", ArrayAllocator(), Compiler(), None, Runner), "its renderer can't be <.*Compiler"),
    (("MY", ArrayAllocator(), Compiled, None, Runner), "its renderer can't be <class"),
    (("MY", ArrayAllocator(), None, Compiler, Runner), "its compiler can't be <class"),
    (("MY", ArrayAllocator(), None, Compiler(), Runner("", b"")), "its runner can't be <.*Runner"),
    (("MY", ArrayAllocator(), None, Compiler()), "its runner can't be None"),
])  # fmt: skip
def test_a_part_that_is_something_else_is_refused_when_the_device_is_made(parts, words):
    with pytest.raises(TypeError, match=f"Compiled: {words}.*three objects and the class"):
        Compiled(*parts)


def test_a_device_registered_in_another_way_is_answered_with_the_right_one():
    Device._devices["MY"] = MyDevice("MY")
    with pytest.raises(TypeError, match=r"_devices\['MY'\] is <.*MyDevice.*put the class itself"):
        Device["MY"]
    Device._devices["OWN:FAST"] = MyDevice
    with pytest.raises(ValueError, match=r"'OWN:FAST'.*register it as Device._devices\['OWN'\]"):
        Device["OWN:FAST"]


def test_a_device_registered_in_small_letters_is_found_in_either_case():
    Device._devices["my"] = MyDevice
    assert Device["MY"] is Device["my"]
    assert Device["My:1"].device == "my:1"


def test_a_device_that_fails_to_open_does_not_hide_that_another_is_unknown():
    def without_driver(device):
        raise OSError("no /dev/my")

    Device._devices["MY"] = without_driver
    with pytest.raises(ValueError, match="unknown device 'TPU'") as error:
        Device["TPU"]
    assert "device MY cannot be used here: OSError: no /dev/my" in str(error.value)
    with pytest.raises(OSError, match="no /dev/my"):
        Device["MY"]


def test_a_registered_class_is_opened_once_until_it_is_replaced():
    Device._devices["MY"] = MyDevice
    old = Device["MY"]
    assert Device["my"] is old and Device["MY:2"].device == "MY:2"
    Device._devices["MY"] = type("MyDevice", (MyDevice,), {})
    assert Device["MY"] is not old


def test_both_forms_of_init_make_the_same_device():
    allocator, compiler = ArrayAllocator(), Compiler()
    positional = Compiled("MY", allocator, "renderer", compiler, Runner)
    by_name = Compiled(
        "MY", allocator=allocator, compiler=compiler, runtime=Runner, renderer="renderer"
    )
    for device in (positional, by_name):
        assert device.allocator is allocator
        assert device.compiler is compiler
        assert device.runner is device.runtime is Runner
        assert device.renderer == "renderer"


@pytest.mark.parametrize(
    "call",
    [lambda: Allocator().alloc(4), lambda: Allocator().copyin(None, memoryview(b"")),
     lambda: Allocator().copyout(memoryview(b""), None), lambda: Runner("E_4", b"")()],
)  # fmt: skip
def test_what_a_backend_forgot_to_define_is_named(call):
    with pytest.raises(NotImplementedError, match="has to define"):
        call()


def test_a_compiler_without_an_identity_is_not_cached():
    class Counting(Compiler):
        calls = 0

        def compile(self, src):
            self.calls += 1
            return src.encode()

    compiler = Counting()
    assert compiler.compile_cached("x") == compiler.compile_cached("x") == b"x"
    assert compiler.calls == 2


# *** buffers ***


@pytest.fixture(params=["CPU", "PYTHON", "MY"])
def device(request):
    Device._devices["MY"] = MyDevice
    return request.param


def test_memory_is_taken_at_first_use_and_counted_while_it_is_held(device):
    gc.collect()  # what earlier tests left behind
    before = GlobalCounters.mem_used
    buf = Buffer(device, 100, dtypes.float)
    assert not buf.is_allocated()
    assert GlobalCounters.mem_used == before
    buf.ensure_allocated()
    assert GlobalCounters.mem_used == before + 400
    del buf
    gc.collect()
    assert GlobalCounters.mem_used == before


def test_the_peak_is_the_most_that_was_held_at_once():
    GlobalCounters.reset()
    start = GlobalCounters.mem_used
    first, second = (Buffer("CPU", 1000, dtypes.uint8).allocate() for _ in range(2))
    first.deallocate()
    second.deallocate()
    assert GlobalCounters.mem_used == start
    assert GlobalCounters.mem_peak == start + 2000
    GlobalCounters.reset()
    assert GlobalCounters.mem_peak == start


def test_what_was_copied_in_comes_out(device):
    data = np.arange(10, dtype=np.float32).reshape(2, 5)
    for source in (data.tobytes(), bytearray(data), memoryview(data)):
        first = Buffer(device, 10, dtypes.float).copyin(source)
        for buf in (first, Buffer(device, 10, dtypes.float, initial_value=bytes(source))):
            out = bytearray(40)
            assert buf.copyout(out) is out
            assert bytes(out) == data.tobytes() == bytes(buf.as_memoryview())
            assert bytes(buf.as_buffer()) == data.tobytes()
            np.testing.assert_array_equal(buf.numpy(), data.reshape(-1))


@pytest.mark.parametrize("count", [0, 39, 41])
def test_a_copy_of_another_length_names_both(device, count):
    buf = Buffer(device, 10, dtypes.float)
    with pytest.raises(ValueError, match=f"{count} bytes.*10 dtypes.float.*has 40 bytes"):
        buf.copyin(bytes(count))
    with pytest.raises(ValueError, match=f"{count} bytes.*has 40 bytes"):
        buf.copyout(bytearray(count))


def test_a_buffer_of_nothing_can_be_used_like_any_other(device):
    buf = Buffer(device, 0, dtypes.float).copyin(b"")
    assert buf._buf is not None
    assert buf.nbytes == 0
    assert buf.numpy().shape == (0,)
    assert buf.numpy().dtype == np.float32
    assert buf.copyout(bytearray()) == b""


@pytest.mark.parametrize("size", [-1, 1.5, "3", None, True])
def test_a_size_that_is_none_is_refused(size):
    with pytest.raises(ValueError, match="0 or more"):
        Buffer("CPU", size, dtypes.float)


def test_allocating_twice_is_an_error():
    with pytest.raises(RuntimeError, match="allocated already"):
        Buffer("CPU", 1, dtypes.int).allocate().allocate()


@pytest.mark.parametrize("device", ["CPU", "PYTHON"])
def test_numpy_is_the_memory_itself_where_python_can_reach_it(device):
    buf = Buffer(device, 4, dtypes.int).copyin(np.arange(4, dtype=np.int32).tobytes())
    buf.numpy()[2] = 7
    buf.as_memoryview()[:4] = (9).to_bytes(4, "little")
    assert buf.numpy().tolist() == [9, 1, 7, 3]


def test_numpy_is_a_copy_where_python_cannot_reach_the_memory():
    Device._devices["MY"] = MyDevice
    buf = Buffer("MY", 2, dtypes.int).copyin(bytes(8))
    buf.numpy()[0] = 7
    assert buf.numpy().tolist() == [0, 0]


def test_an_array_on_a_buffer_keeps_its_memory_from_being_reused():
    array = Buffer("CPU", 1000, dtypes.int).copyin(bytes(4000)).numpy()
    view = Buffer("CPU", 1000, dtypes.int).copyin(bytes(4000)).as_memoryview()
    gc.collect()
    for _ in range(4):
        Buffer("CPU", 1000, dtypes.int).copyin(b"\1" * 4000)
    assert not array.any()
    assert bytes(view) == bytes(4000)


def test_bfloat16_comes_out_as_float32():
    values = np.array([1.5, -2.0, np.inf], ml_dtypes.bfloat16)
    out = Buffer("CPU", 3, dtypes.bfloat16).copyin(values.tobytes()).numpy()
    assert out.dtype == np.float32
    assert out.tolist() == [1.5, -2.0, np.inf]


def test_memory_that_somebody_else_owns_is_used_and_left_alone():
    array = np.arange(4, dtype=np.float32)
    before = GlobalCounters.mem_used
    buf = Buffer("CPU", 4, dtypes.float, opaque=HostMemory(array))
    assert GlobalCounters.mem_used == before
    buf.numpy()[0] = 5
    assert array[0] == 5
    del buf
    assert array.tolist() == [5, 1, 2, 3]


def test_only_contiguous_arrays_can_be_memory():
    with pytest.raises(ValueError, match="contiguous"):
        HostMemory(np.zeros((4, 4))[:, 1])


def test_a_buffer_node_has_one_buffer_for_as_long_as_it_lives():
    node = UOp.new_buffer("CPU", 3, dtypes.half)
    buf = buffer_of(node)
    assert buffer_of(node) is buf
    assert (buf.device, buf.size, buf.dtype) == ("CPU", 3, dtypes.half)
    assert not buf.is_allocated()
    lives = weakref.ref(buf)
    del buf
    assert lives() is buffer_of(node)
    del node
    gc.collect()
    assert lives() is None


def test_only_a_buffer_node_has_memory():
    with pytest.raises(ValueError, match="only a BUFFER has memory, not Ops.CONST"):
        buffer_of(UOp.const(dtypes.int, 1))


# *** allocators ***


def test_host_memory_starts_at_a_cache_line():
    for size in (1, 7, 64, 100, 4096, 1 << 20):
        assert HostAllocator().alloc(size).address % ALIGNMENT == 0


def test_freed_memory_is_reused_for_the_same_size_and_options_only():
    allocator = HostAllocator()
    first = allocator.alloc(100)
    allocator.free(first, 100)
    assert allocator.alloc(101) is not first
    assert allocator.alloc(100, "pinned") is not first
    assert allocator.alloc(100) is first
    assert allocator.alloc(100) is not first


def test_no_more_is_kept_than_allowed_and_the_oldest_goes_first():
    allocator = ArrayAllocator()
    allocator.keep_bytes = 250
    a, b, c = (allocator.alloc(100 + n) for n in range(3))
    allocator.free(large := allocator.alloc(300), 300)
    assert allocator.freed == [large]  # it is never kept
    for n, opaque in enumerate((a, b, c)):
        allocator.free(opaque, 100 + n)
    assert allocator.freed == [large, a]
    assert allocator.alloc(101) is b
    assert allocator.alloc(102) is c


def test_more_memory_than_the_machine_has_is_a_memory_error_that_says_what_to_do():
    with pytest.raises(MemoryError, match=r"GB of memory.*available.*smaller"):
        Buffer("CPU", 1 << 48, dtypes.float).allocate()
    Buffer("CPU", 10, dtypes.float).allocate()  # the session goes on


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (1_500_000, "1.50 MB"), (2 * 10**9, "2.00 GB")],
)
def test_sizes_are_shown_in_the_unit_that_suits_them(count, text):
    assert human_bytes(count) == text


def test_empty_cache_frees_what_every_device_keeps():
    Device.empty_cache()
    Buffer("CPU", 1000, dtypes.float).allocate().deallocate()
    Buffer("PYTHON", 10, dtypes.double).allocate().deallocate()
    assert Device.empty_cache() == 4080
    assert Device.empty_cache() == 0
