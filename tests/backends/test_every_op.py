"""Each op of each dtype, over edge values, gives what NumPy says, on each device in this memory.

METAL and HIP are their sources, run as C++ on this machine. One kernel computes all ops of a dtype;
drivers, which compile so many for long, have test_drivers.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests import cpp_device, devices
from tests.every_op import (
    EVERY_DTYPE,
    LANES,
    RELATIVE,
    SIZE,
    check_every_op,
    edge_values,
    in_buffer,
)
from tests.kernels import numbers, run_with
from tests.reference import evaluate
from tests.values import array_of
from tinyframe import Device, Tensor, dtypes
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.uop.node import Ops

VECTOR = OptOps.VECTOR
# device -> how its kernels are written beside plain loops
OPTS = {
    "CPU": [Opt(VECTOR, 0, LANES)],
    "PYTHON": [Opt(VECTOR, 0, LANES)],
    "CUDA": [Opt(VECTOR, 0, 4), Opt(OptOps.LOCAL, 0, 4), Opt(OptOps.GLOBAL, 0)],
    **{name: [Opt(VECTOR, 0, 4)] for name in cpp_device.DEVICES if cpp_device.cxx()},
}
THERE = [name for name in OPTS if name in devices.there() or name in cpp_device.DEVICES]


LACKS = {name: cpp_device.WITHOUT.get(name, ()) for name in THERE}  # dtypes
CASES = [(name, dtype) for name in THERE for dtype in EVERY_DTYPE if dtype not in LACKS[name]]
each = pytest.mark.parametrize(("device", "dtype"), CASES)
written = pytest.mark.parametrize("plain", [True, False], ids=["plain", "with Opts"])


@pytest.fixture(autouse=True)
def opened(monkeypatch) -> Iterator[None]:
    """METAL and HIP are devices; CUDA's emulator looks for races."""
    for name, device in cpp_device.DEVICES.items():
        monkeypatch.setitem(Device._devices, name, device)
    monkeypatch.setenv("CUDA_EMULATE", "2")
    monkeypatch.setattr(Device, "_opened", {**Device._opened})
    Device._opened.pop("CUDA", None)
    yield


@written
@each
def test_every_op(device, dtype, plain):
    check_every_op(dtype, [] if plain else OPTS[device], device, LACKS[device])


@written
@each
def test_every_reduce(device, dtype, plain):
    values = edge_values(dtype, 5)
    if dtypes.is_float(dtype):
        values = array_of(numbers(SIZE) / 4 + 1.25, dtype)
    x = Tensor(in_buffer(values, dtype))
    opts = [] if plain else [opt for opt in OPTS[device] if opt.op is VECTOR]
    for op in (Ops.ADD, Ops.MUL, Ops.MAX):
        y = Tensor(x.uop.reduce_axis(op, (0,)))
        found, expected = run_with(y, opts, device), evaluate(y.uop)
        tolerance = 40 * RELATIVE.get(dtype, 0)
        np.testing.assert_allclose(
            found.astype(float), expected.astype(float), tolerance, err_msg=f"{op}"
        )
