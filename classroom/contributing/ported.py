"""A kernel of tinyframe on its own, and what PyTorch says of it once it's an op there.

rms = in_c(lambda x: (x * x).mean(-1).sqrt())
rms(np.ones((2, 3), np.float32))                     array([1., 1.])
rms.run(result_address, x_address, (2, 3), "float32")
in_pytorch(as_op, rms_gradient)                      PyTorch's own checks, where it's there
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinyframe import Tensor
from tinyframe.codegen import get_program
from tinyframe.device import Device
from tinyframe.dtype import to_dtype
from tinyframe.runtime.clang import load_library
from tinyframe.uop.node import Ops

Shape = tuple[int, ...]
KINDS = ("float32", "float64")
# opcheck's tests, without the one that imports PyTorch's compiler: ten seconds, and it passes, too
QUICK = ("test_schema", "test_autograd_registration", "test_faketensor")


@dataclass(frozen=True)
class Loaded:
    """A kernel for one shape and dtype. call: its entry in the shared library."""

    source: str
    call: Any
    result: Shape


class CFunction:
    """What a function of one Tensor computes, as C that is called by address. One kernel for each
    shape and dtype is written and compiled when it's first needed; after that, tinyframe has no
    part in a call."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        self.function = function
        self.loaded: dict[tuple[Shape, str], Loaded] = {}

    def source(self, shape: Sequence[int], dtype: str = "float32") -> str:
        """The C for arrays of this shape."""
        return self._kernel(tuple(shape), dtype).source

    def run(self, result: int, x: int, shape: Sequence[int], dtype: str) -> None:
        """Compute: from the address of x, in memory order, to that of the result."""
        buffers = (ctypes.c_void_p * 2)(result, x)
        self._kernel(tuple(shape), dtype).call(buffers, None, 0, 1)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        x = np.ascontiguousarray(x)
        result = np.empty(self._kernel(x.shape, x.dtype.name).result, x.dtype)
        self.run(result.ctypes.data, x.ctypes.data, x.shape, x.dtype.name)
        return result

    def _kernel(self, shape: Shape, dtype: str) -> Loaded:
        key = tuple(map(int, shape)), dtype.removeprefix("torch.")
        if key not in self.loaded:
            self.loaded[key] = self._load(*key)
        return self.loaded[key]

    def _load(self, shape: Shape, dtype: str) -> Loaded:
        if dtype not in KINDS:
            raise TypeError(f"this is for {' and '.join(KINDS)}, not for {dtype}")
        x = Tensor(np.zeros(shape, dtype), device="CPU").cast(to_dtype(dtype)).realize()
        result = self.function(x)
        kernels = [item for item in result.schedule() if item.ast.op is Ops.SINK]
        if len(kernels) != 1 or len(kernels[0].bufs) != 2:
            raise ValueError(f"this takes {len(kernels)} kernels, and only one can be ported")
        device = Device["CPU"]
        program = get_program(kernels[0].ast, device.renderer)
        library = load_library(device.compiler.compile_cached(program.src))
        call = getattr(library, f"{program.function}_entry")
        call.restype = None
        return Loaded(program.src, call, tuple(map(int, result.shape)))


def in_c(function: Callable[[Tensor], Tensor]) -> CFunction:
    """A function of a Tensor as C of its own; it has to be a single kernel."""
    return CFunction(function)


def in_pytorch(
    as_op: Callable[[Any], Any], gradient: Callable[..., Any], shape: Shape = (3, 5)
) -> None:
    """Make the op and print what PyTorch's own checks say of it; or that PyTorch isn't here.
    gradient: what the op calls backwards; as long as it gives nothing, nothing is made."""
    if gradient(np.ones(1), np.ones((1, 2))) is None:
        print("As soon as there's a gradient, PyTorch may have a look at it.")
        return
    if importlib.util.find_spec("torch") is None:
        print("PyTorch isn't installed here, so nothing was registered. With it, this would run")
        print("torch.library.opcheck and torch.autograd.gradcheck on the op, and compare it with")
        print("x.square().mean(-1).sqrt(). (python3 start.py test --torch installs it: 1.5 GB.)")
        return
    torch = importlib.import_module("torch")
    op = as_op(torch)
    print(f"PyTorch {torch.__version__.partition('+')[0]} has one more op, {op._qualname}")
    torch.manual_seed(0)
    x = torch.rand(shape, dtype=torch.float64, requires_grad=True)
    theirs = x.square().mean(-1).sqrt()
    print("the same values as x.square().mean(-1).sqrt():", bool(torch.allclose(op(x), theirs)))
    found = torch.library.opcheck(op, (x,), test_utils=QUICK, raise_exception=False)
    for name, result in found.items():
        print(f"opcheck, {name}: {result if result == 'SUCCESS' else _first_line(result)}")
    try:
        torch.autograd.gradcheck(op, (x,))
        print("gradcheck: the gradient is that of the values")
    except Exception as error:  # whatever the learner's gradient does
        print("gradcheck:", _first_line(error))


def _first_line(error: Any) -> str:
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0][:150]}"
