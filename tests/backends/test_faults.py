"""A fault is told where it happens, and what comes after it is right, on every device.

A driver that refuses a compile, a kernel that cannot be loaded or launched, memory that is short, a
copy that fails: the next kernel in the same process gives what NumPy gives, and so does the Tensor
whose computation failed, if it is asked again. Where a device is gone for good, the error says so.
"""

from __future__ import annotations

import gc
import itertools

import numpy as np
import pytest

from tests import devices
from tinyframe import Context, Device, Tensor, TinyJit, dtypes
from tinyframe.device import Buffer, CompileError

THERE = devices.there()
_number = itertools.count(2)


class Fault(Exception):
    """What a driver says."""


@pytest.fixture(params=THERE)
def device(request):
    with Context(DEVICE=request.param, CACHE=0):
        yield Device[request.param]


def new_kernel():
    """A Tensor that takes a kernel that nobody has compiled yet, and its values."""
    n = next(_number)
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    return (Tensor(x) * n + 1).sum(1), (x * n + 1).sum(1)


def check_new_kernel():
    found, expected = new_kernel()
    np.testing.assert_array_equal(found.numpy(), expected)


def fails(error):
    def fail(*_, **__):
        raise error

    return fail


def runner_class(device):
    """The class of a device's Runners, which may be bound to the device."""
    return getattr(device.runner, "func", device.runner)


# what fails: (what to put in the place of which attribute, the error that reaches the user)
FAULTS = {
    "the compile": lambda d: (d.compiler, "compile", CompileError("refused")),
    "loading a kernel": lambda d: (d, "runner", Fault("no such kernel")),
    "a launch": lambda d: (runner_class(d), "__call__", Fault("too many resources")),
    "memory": lambda d: (d.allocator, "_alloc", MemoryError("no more")),
    "a copy in": lambda d: (d.allocator, "copyin", Fault("bus error")),
    "a copy out": lambda d: (d.allocator, "copyout", Fault("bus error")),
}


# NumPy's arrays are PYTHON's memory as they are
CASES = [(d, f) for d in THERE for f in FAULTS if (d, f) != ("PYTHON", "a copy in")]


@pytest.mark.parametrize(("device", "fault"), CASES, indirect=["device"])
def test_after_a_fault_the_device_and_the_tensor_can_be_used(device, fault, monkeypatch):
    gc.collect()
    device.allocator.free_kept()  # so that memory has to be asked for
    place, name, error = FAULTS[fault](device)
    found, expected = new_kernel()
    # where Python reaches the memory itself, nothing is copied out
    monkeypatch.setattr(type(device.allocator), "as_array", lambda self, opaque: None)
    with monkeypatch.context() as patch:
        patch.setattr(place, name, fails(error))
        with pytest.raises(type(error)):
            found.numpy()
    np.testing.assert_array_equal(found.numpy(), expected)
    check_new_kernel()


def test_after_a_replay_that_failed_the_next_one_is_right(device, monkeypatch):
    weights = Tensor(np.full(3, 2.0, np.float32)).realize()

    @TinyJit
    def step(x):
        weights.assign(weights + 1).realize()
        return ((x * 2).contiguous() + weights).realize()

    def expected(x, calls):
        return np.array(x, np.float32) * 2 + 2 + calls

    for n in range(1, 5):
        np.testing.assert_array_equal(step(Tensor([n, 2, 3]).cast("float")).numpy(),
                                      expected([n, 2, 3], n))  # fmt: skip
    place = device.graph or runner_class(device)
    with monkeypatch.context() as patch:
        patch.setattr(place, "__call__", fails(Fault("lost")))
        with pytest.raises(Fault):
            step(Tensor([9, 9, 9]).cast("float"))
    for n in range(5, 7):
        np.testing.assert_array_equal(step(Tensor([n, 2, 3]).cast("float")).numpy(),
                                      expected([n, 2, 3], n))  # fmt: skip


def test_what_is_no_program_is_refused_with_its_source(device):
    if device.device != "PYTHON":  # which has no compiler
        with pytest.raises(CompileError, match="1 | neither C nor WGSL"):
            device.compiler.compile("neither C nor WGSL")
    check_new_kernel()


def test_more_memory_than_any_machine_has(device):
    with pytest.raises(MemoryError, match="cannot allocate 1152921504.61 GB of memory, with"):
        Buffer(device.device, 1 << 60, dtypes.uchar).allocate()
    check_new_kernel()


def test_memory_that_is_kept_is_given_up_for_what_would_not_fit(device, monkeypatch):
    """What a driver refuses until something is freed."""
    Buffer(device.device, 1 << 16, dtypes.uchar).allocate().deallocate()
    take = device.allocator._alloc

    def only_when_empty(size, options):
        if device.allocator._kept_bytes:
            raise MemoryError("no more")
        return take(size, options)

    monkeypatch.setattr(device.allocator, "_alloc", only_when_empty)
    found = Buffer(device.device, 1 << 12, dtypes.uchar, initial_value=bytes(1 << 12))
    assert bytes(found.copyout(bytearray(1 << 12))) == bytes(1 << 12)
