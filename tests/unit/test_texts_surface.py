"""What learners read in texts about tinygrad is what they see here: names, forms, printed text."""

from __future__ import annotations

import importlib
import re

import numpy as np
import pytest

from tinyframe import Device, Tensor, dtypes
from tinyframe.device import Allocator, Compiled, Compiler, Runner
from tinyframe.dtype import strong_dtype
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop import Ops, UOp
from tinyframe.uop.ops import GroupOp

# ---- names that can be imported ------------------------------------------------------------------

NAMES = {
    "tinyframe": "Tensor Device dtypes Variable GlobalCounters Context UOp",
    "tinyframe.uop": "UOp Ops",
    "tinyframe.uop.ops": "UOp Ops UPat PatternMatcher graph_rewrite GroupOp resolve sym_infer "
    "exec_alu TrackedPatternMatcher track_rewrites rewrite_group",
    "tinyframe.uop.symbolic": "sym symbolic_simple",
    "tinyframe.device": "Device Buffer Compiled Allocator Compiler Runner",
    "tinyframe.dtype": "DType dtypes AddrSpace ConstType DTypeLike Invalid InvalidType to_dtype "
    "least_upper_dtype least_upper_float can_lossless_cast truncate float_to_bf16 strong_dtype",
    "tinyframe.renderer.cstyle": "CStyleLanguage",
    "tinyframe.codegen": "full_rewrite_to_sink get_program",
    "tinyframe.schedule": "create_schedule kernelize",
    "tinyframe.run.realize": "run_schedule",
}


@pytest.mark.parametrize("module", NAMES)
def test_names_can_be_imported(module):
    found = importlib.import_module(module)
    assert [name for name in NAMES[module].split() if getattr(found, name, None) is None] == []


ON_TENSORS = """uop shape dtype device grad schedule kernelize realize numpy tolist item backward
gradient assign requires_grad data T ndim numel fuse"""
ON_UOPS = """op dtype src arg tag toposort replace rtag const_like sink variables vars unbind
substitute simplify ssimplify vmin vmax st render cast bitcast alu where maximum minimum ufix
max min stack valid fuse"""


def test_names_on_objects():
    t, u = Tensor([1.0, 2.0]), UOp.variable("x", 0, 9)
    assert [name for name in ON_TENSORS.split() if not hasattr(t, name)] == []
    assert [
        name for name in ON_UOPS.split() if not hasattr(UOp, name) and not hasattr(u, name)
    ] == []


# ---- printed text --------------------------------------------------------------------------------


def test_a_tensor_of_a_list_is_a_lazy_copy_from_python():
    t = Tensor([1, 2, 3, 4])
    n = int(Ops.COPY)
    assert repr(t) == f"<Tensor <UOp CPU (4,) int (<Ops.COPY: {n}>, None)> on CPU with grad None>"


def test_a_realized_tensor_shows_its_buffer():
    t = Tensor([1, 2, 3, 4]).realize()
    n = int(Ops.BUFFER)
    state = f"(<Ops.BUFFER: {n}>, <Buffer CPU 4 dtypes.int>)"
    assert repr(t) == f"<Tensor <UOp CPU (4,) int {state}> on CPU with grad None>"


def test_a_gradient_is_shown():
    t = Tensor([1.0, 2.0], requires_grad=True)
    t.sum().backward()
    assert re.search(r"on CPU with grad UOp\(Ops\.\w+, dtypes\.float, ", repr(t))


def test_ops_are_shown_as_in_the_texts():
    assert str(Ops.ADD) == f"{Ops.ADD}" == "Ops.ADD"
    assert repr(Ops.ADD) == f"<Ops.ADD: {int(Ops.ADD)}>"


def test_dtypes_are_shown_by_the_short_names():
    assert repr(dtypes.float32) == "dtypes.float"
    assert repr(dtypes.int.ptr(4)) == "dtypes.int.ptr(4)"
    assert repr(dtypes.float.vec(4)) == "dtypes.float.vec(4)"


# ---- groups of ops -------------------------------------------------------------------------------


GROUPS = {
    "Unary": "EXP2 LOG2 SIN SQRT RECIP NEG",
    "Binary": "ADD MUL MAX IDIV MOD CMPLT CMPNE XOR",
    "Ternary": "WHERE MULACC",
    "Reduce": "ADD MUL MAX",
    "Movement": "RESHAPE PERMUTE EXPAND PAD SHRINK FLIP",
    "Commutative": "ADD MUL CMPNE",
}


def test_ops_are_in_groups():
    for group, members in GROUPS.items():
        assert {Ops[name] for name in members.split()} <= getattr(GroupOp, group)
    assert GroupOp.Unary | GroupOp.Binary | GroupOp.Ternary == GroupOp.ALU
    assert set(Ops) == GroupOp.All


def test_other_names_of_the_same_ops():
    assert Ops.RECIPROCAL is Ops.RECIP
    assert Ops.FLOORDIV is Ops.IDIV
    assert Ops.FLOORMOD is Ops.MOD
    assert Ops.PARAM is Ops.DEFINE_VAR


def test_an_index_is_a_plain_int_and_no_dtype_is_weak():
    assert dtypes.weakint is dtypes.int
    assert all(strong_dtype(dtype) is dtype for dtype in dtypes.all)


# ---- Tensor --------------------------------------------------------------------------------------


def test_several_tensors_are_realized_at_once():
    a, b = Tensor([1, 2]) + 1, Tensor([3, 4]) * 2
    assert Tensor.realize(a, b) is a
    assert a.uop.op is b.uop.op is Ops.BUFFER
    assert a.realize(b) is a


# ---- a backend -----------------------------------------------------------------------------------


class HostAllocator(Allocator):
    def _alloc(self, size, options):
        return bytearray(size)

    def _free(self, handle, options):
        pass

    def copyin(self, dst, src):
        dst[: len(src)] = src

    def copyout(self, dst, src):
        dst[:] = src[: len(dst)]


class HostRunner(Runner):
    """Does what the one kernel of these tests says: adds one."""

    def __call__(self, *bufs, global_size, local_size, wait=False, **_):
        out, x = (np.frombuffer(buffer, np.float32) for buffer in bufs)
        out[:] = x + 1


def positional(device):
    return Compiled(device, HostAllocator(), CStyleLanguage(), Compiler(), HostRunner)


def by_name(device):
    return Compiled(device, allocator=HostAllocator(), compiler=Compiler(), runtime=HostRunner)


@pytest.mark.parametrize("backend", [positional, by_name])
def test_a_backend_is_registered_in_either_form(backend, monkeypatch):
    monkeypatch.setitem(Device._devices, "MY", backend)
    assert isinstance(Device["my"], Compiled)
    assert isinstance(Device["MY"].renderer, CStyleLanguage)
    t = Tensor(np.arange(5, dtype=np.float32), device="MY") + 1
    assert t.device == "MY"
    np.testing.assert_array_equal(t.numpy(), [1, 2, 3, 4, 5])
