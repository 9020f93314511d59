"""Each op of each dtype, over edge values, gives what NumPy says, on each device.

METAL and HIP are their sources, run as C++ on this machine. One kernel computes all ops of a dtype,
or as many as it has buffers for. A driver compiles for long: it is given vectors with a tail alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

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
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.gpu.languages.wgsl import FEATURES, WGSLLanguage
from tinyframe.uop.node import GroupOp, Ops, UOp

VECTOR = OptOps.VECTOR
# device -> how its kernels are written beside plain loops
OPTS = {
    "CPU": [Opt(VECTOR, 0, LANES)],
    "PYTHON": [Opt(VECTOR, 0, LANES)],
    "CL": [Opt(VECTOR, 0, 4)],
    "WEBGPU": [Opt(VECTOR, 0, 4)],
    "CUDA": [Opt(VECTOR, 0, 4), Opt(OptOps.LOCAL, 0, 4), Opt(OptOps.GLOBAL, 0)],
    **{name: [Opt(VECTOR, 0, 4)] for name in cpp_device.DEVICES if cpp_device.cxx()},
}
DRIVERS = [name for name in ("CL", "WEBGPU") if name in devices.there()]
THERE = [name for name in OPTS if name in devices.there() or name in cpp_device.DEVICES]


# dtypes and ops
LACKS: dict[str, Sequence[Any]] = {name: cpp_device.WITHOUT.get(name, ()) for name in THERE}
LACKS |= {name: tuple(Device[name].renderer.unsupported) for name in DRIVERS}
# of float64, WGSL has arithmetic and roots
FUNCTIONS_OF_DOUBLE = (Ops.FMOD, Ops.LOG2, Ops.SIN, Ops.COS, Ops.POW)
EACH = [(name, dtype, plain) for name in THERE for dtype in EVERY_DTYPE for plain in (True, False)
        if dtype not in LACKS[name] and not (plain and name in DRIVERS)]  # fmt: skip
each = pytest.mark.parametrize(("device", "dtype", "plain"), EACH)


@pytest.fixture(autouse=True)
def opened(monkeypatch) -> Iterator[None]:
    """METAL and HIP are devices; CUDA's emulator looks for races."""
    for name, device in cpp_device.DEVICES.items():
        monkeypatch.setitem(Device._devices, name, device)
    monkeypatch.setenv("CUDA_EMULATE", "2")
    monkeypatch.setattr(Device, "_opened", {**Device._opened})
    Device._opened.pop("CUDA", None)
    yield


@each
def test_every_op(device, dtype, plain):
    lacks = LACKS[device]
    if (device, dtype) == ("WEBGPU", dtypes.double):
        lacks = (*lacks, *FUNCTIONS_OF_DOUBLE)
    check_every_op(dtype, [] if plain else OPTS[device], device, lacks)


@pytest.mark.parametrize("op", FUNCTIONS_OF_DOUBLE)
def test_functions_of_float64_are_refused_in_wgsl(op):
    language, x = WGSLLanguage(features=frozenset(FEATURES)), UOp.range(2, 0).cast(dtypes.double)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.double.ptr(2), (), 0).index(UOp.range(2, 0), shape=(2,))
    value = UOp(op, dtypes.double, (x, x) if op in GroupOp.Binary else (x,))
    with pytest.raises(NotImplementedError, match=f"{op.name} of dtypes.double"):
        get_program(UOp.sink(out.store(value, UOp.range(2, 0))), language, [])


@pytest.mark.parametrize(
    ("device", "dtype", "plain"),
    [case for case in EACH if case[0] not in DRIVERS or case[1] in (dtypes.char, dtypes.half)],
)
def test_every_reduce(device, dtype, plain):
    values = edge_values(dtype, 5)
    if dtypes.is_float(dtype):
        values = array_of(numbers(SIZE) / 4 + 1.25, dtype)
    x = Tensor(in_buffer(values, dtype)).to(device).realize()
    opts = [] if plain else [opt for opt in OPTS[device] if opt.op is VECTOR]
    for op in (Ops.ADD, Ops.MUL, Ops.MAX):
        y = Tensor(x.uop.reduce_axis(op, (0,)))
        found, expected = run_with(y, opts, device), evaluate(y.uop)
        tolerance = 40 * RELATIVE.get(dtype, 0)
        np.testing.assert_allclose(
            found.astype(float), expected.astype(float), tolerance, err_msg=f"{op}"
        )
