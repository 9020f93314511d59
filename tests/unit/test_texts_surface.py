"""What learners read in texts about tinygrad is what they see here: names, forms, printed text."""

from __future__ import annotations

import importlib
import re

import numpy as np
import pytest

from tests.kernels import filled, on_buffer, program_of
from tinyframe import Context, Device, GlobalCounters, Tensor, Variable, dtypes
from tinyframe.device import Allocator, Compiled, Compiler, Runner
from tinyframe.dtype import AddrSpace, strong_dtype
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop import Ops, UOp
from tinyframe.uop.ops import GroupOp, PatternMatcher, UPat, graph_rewrite

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


@pytest.mark.parametrize(
    ("module", "name"), [(m, n) for m, names in NAMES.items() for n in names.split()]
)
def test_a_name_can_be_imported(module, name):
    assert getattr(importlib.import_module(module), name) is not None


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


def test_a_schedule_has_items_with_an_ast_and_buffers():
    (item,) = (filled(np.ones(4, np.float32)) + 1).schedule()
    assert item.ast.op is Ops.SINK
    assert [buffer.size for buffer in item.bufs] == [4, 4]


def test_kernelize_shows_the_kernel():
    t = (filled(np.ones(4, np.float32)) + 1).kernelize()
    assert t.uop.op is Ops.ASSIGN
    assert [s.op for s in t.uop.src] == [Ops.BUFFER, Ops.KERNEL]
    assert t.uop.src[1].arg.ast.op is Ops.SINK
    np.testing.assert_array_equal(t.numpy(), [2, 2, 2, 2])


# ---- printed text --------------------------------------------------------------------------------


def test_a_tensor_of_a_list_is_a_lazy_copy_from_python():
    t = Tensor([1, 2, 3, 4])
    n = int(Ops.COPY)
    assert repr(t) == f"<Tensor <UOp CPU (4,) int (<Ops.COPY: {n}>, None)> on CPU with grad None>"
    buffer = t.uop.src[0]
    unique = buffer.src[0].arg
    assert repr(t.uop) == (
        "UOp(Ops.COPY, dtypes.int, arg=None, src=(\n"
        "  UOp(Ops.BUFFER, dtypes.int, arg=4, src=(\n"
        f"    UOp(Ops.UNIQUE, dtypes.void, arg={unique}, src=()),\n"
        "    UOp(Ops.DEVICE, dtypes.void, arg='PYTHON', src=()),)),\n"
        "  UOp(Ops.DEVICE, dtypes.void, arg='CPU', src=()),))"
    )


def test_a_realized_tensor_shows_its_buffer():
    t = Tensor([1, 2, 3, 4]).realize()
    n = int(Ops.BUFFER)
    state = f"(<Ops.BUFFER: {n}>, <Buffer CPU 4 dtypes.int>)"
    assert repr(t) == f"<Tensor <UOp CPU (4,) int {state}> on CPU with grad None>"
    assert [s.op for s in t.uop.src] == [Ops.UNIQUE, Ops.DEVICE]


def test_a_gradient_is_shown():
    t = Tensor([1.0, 2.0], requires_grad=True)
    t.sum().backward()
    assert re.search(r"on CPU with grad UOp\(Ops\.\w+, dtypes\.float, ", repr(t))


def test_repeated_nodes_are_named_once():
    x = UOp.variable("x", 0, 9)
    assert repr(x * x) == (
        "UOp(Ops.MUL, dtypes.int, arg=None, src=(\n"
        "  x0:=UOp(Ops.DEFINE_VAR, dtypes.int, arg=('x', 0, 9), src=()),\n"
        "  x0,))"
    )


def test_ops_are_shown_as_in_the_texts():
    assert str(Ops.ADD) == f"{Ops.ADD}" == "Ops.ADD"
    assert repr(Ops.ADD) == f"<Ops.ADD: {int(Ops.ADD)}>"


def test_index_expressions_are_rendered():
    a, b = UOp.variable("a", 0, 9), UOp.variable("b", 0, 3)
    assert (a * 4 + b).render() == "((a*4)+b)"
    assert ((a * 4 + b) // 4).render() == "a"
    assert (a + 0).render(simplify=False) == "(a+0)"


def test_dtypes_are_shown_by_the_short_names():
    assert repr(dtypes.float32) == "dtypes.float"
    assert repr(dtypes.int.ptr(4)) == "dtypes.int.ptr(4)"
    assert repr(dtypes.float.vec(4)) == "dtypes.float.vec(4)"
    assert dtypes.int.ptr(4).size == 4
    assert dtypes.int.ptr(4).addrspace is AddrSpace.GLOBAL
    assert dtypes.int.ptr(4).base is dtypes.int


def test_kernels_arguments_and_loops_have_the_names_of_the_texts():
    x = on_buffer(64, 64)
    program = program_of(x.sum(axis=1), [])
    assert program.function == "r_64_64"
    assert re.fullmatch(r"r_64_64(n\d+)?", program.name)
    assert re.search(
        r"void r_64_64\(float\* restrict data0, const float\* restrict data1\)", program.src
    )
    assert "for (int ridx0 = 0; ridx0 < 64; ridx0++) {" in program.src
    assert "acc0 = acc0 + val0;" in program.src
    names = {program_of(on_buffer(4) + float(n), []).name for n in range(3, 6)}
    assert len(names) == 3
    assert all(re.fullmatch(r"E_4(n\d+)?", name) for name in names)


def test_the_summary_line(capsys):
    t = filled(np.ones(4, np.float32)) + 1
    with Context(DEBUG=1):
        t.realize()
    assert re.fullmatch(r"1 kernel, \d+\.\d+ ms\n", capsys.readouterr().out)


# ---- groups of ops -------------------------------------------------------------------------------


def test_ops_are_in_groups():
    assert {Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.SQRT, Ops.RECIP, Ops.NEG} <= GroupOp.Unary
    assert {
        Ops.ADD,
        Ops.MUL,
        Ops.MAX,
        Ops.IDIV,
        Ops.MOD,
        Ops.CMPLT,
        Ops.CMPNE,
        Ops.XOR,
    } <= GroupOp.Binary
    assert {Ops.WHERE, Ops.MULACC} == GroupOp.Ternary
    assert {Ops.ADD, Ops.MUL, Ops.MAX} == GroupOp.Reduce
    assert {Ops.RESHAPE, Ops.PERMUTE, Ops.EXPAND, Ops.PAD, Ops.SHRINK, Ops.FLIP} <= GroupOp.Movement
    assert GroupOp.Unary | GroupOp.Binary | GroupOp.Ternary == GroupOp.ALU
    assert {Ops.ADD, Ops.MUL, Ops.CMPNE} <= GroupOp.Commutative
    assert set(Ops) == GroupOp.All


def test_other_names_of_the_same_ops():
    assert Ops.RECIPROCAL is Ops.RECIP
    assert Ops.FLOORDIV is Ops.IDIV
    assert Ops.FLOORMOD is Ops.MOD
    assert Ops.PARAM is Ops.DEFINE_VAR


def test_an_index_is_a_plain_int_and_no_dtype_is_weak():
    assert dtypes.weakint is dtypes.int
    assert all(strong_dtype(dtype) is dtype for dtype in dtypes.all)


# ---- the UOp and its patterns --------------------------------------------------------------------


def test_a_uop_is_made_from_its_five_parts():
    x = UOp(Ops.DEFINE_VAR, dtypes.int, (), ("x", 0, 9), tag="here")
    assert (x.op, x.dtype, x.src, x.arg, x.tag) == (
        Ops.DEFINE_VAR,
        dtypes.int,
        (),
        ("x", 0, 9),
        "here",
    )
    assert UOp.const(dtypes.int, 3).arg == 3
    assert UOp.variable("x", 0, 9) is Variable("x", 0, 9)


def test_replace_keeps_tags():
    x = UOp.const(dtypes.int, 3).rtag("kept")
    assert x.replace(arg=4).tag == "kept"
    assert x.replace(tag=None) is UOp.const(dtypes.int, 3)
    assert x.replace(dtype=dtypes.long).arg == 3
    with pytest.raises(TypeError):
        x.replace(name=1)


def test_patterns_are_built_with_operators():
    fold = PatternMatcher([
        (UPat.cvar("c1") + UPat.cvar("c2"), lambda c1, c2: c1.const_like(c1.arg + c2.arg)),
        (UPat(Ops.MUL, src=(UPat.var("x"), UPat.cvar("c", arg=1))), lambda x, c: x),
    ])  # fmt: skip
    x = UOp.variable("x", 0, 9)
    one = UOp.const(dtypes.int, 1)
    assert graph_rewrite(x * 1 + (one + 2), fold) is x + 3
    assert fold.rewrite(x) is None


# ---- Tensor --------------------------------------------------------------------------------------


def test_a_tensor_has_a_transpose():
    t = Tensor([[1, 2, 3], [4, 5, 6]])
    assert t.T.tolist() == [[1, 4], [2, 5], [3, 6]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bitwise_and", 4),
        ("bitwise_or", 7),
        ("bitwise_xor", 3),
        ("lshift", 96),
        ("rshift", 0),
        ("idiv", 1),
    ],
)
def test_operators_on_ints_have_names(name, expected):
    second = 4 if name in ("lshift", "rshift") else 5
    assert getattr(Tensor([6]), name)(Tensor([second])).tolist() == [expected]


def test_several_tensors_are_realized_at_once():
    a, b = Tensor([1, 2]) + 1, Tensor([3, 4]) * 2
    assert Tensor.realize(a, b) is a
    assert a.uop.op is b.uop.op is Ops.BUFFER
    assert a.realize(b) is a


def test_backward_returns_the_loss():
    x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    loss = (x * x).sum()
    assert loss.backward() is loss
    assert x.grad.tolist() == [2, 4, 6]


def test_counters_count_and_are_reset():
    GlobalCounters.reset()
    assert (GlobalCounters.kernel_count, GlobalCounters.global_ops, GlobalCounters.global_mem) == (
        0,
        0,
        0,
    )
    assert GlobalCounters.time_sum_s == 0
    x = filled(np.ones(64, np.float32))
    total = (x + x).relu().sum().realize()
    assert total.item() == 128
    assert GlobalCounters.kernel_count == 1
    assert GlobalCounters.global_ops >= 3 * 64
    assert GlobalCounters.global_mem == 4 * 65
    assert GlobalCounters.time_sum_s > 0
    assert GlobalCounters.mem_used >= 4 * 65
    GlobalCounters.reset()
    assert GlobalCounters.kernel_count == 0


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


class Positional(Compiled):
    def __init__(self, device):
        super().__init__(device, HostAllocator(), CStyleLanguage(), Compiler(), HostRunner)


class ByName(Compiled):
    def __init__(self, device):
        super().__init__(device, allocator=HostAllocator(), compiler=Compiler(), runtime=HostRunner)


@pytest.mark.parametrize("backend", [Positional, ByName])
def test_a_backend_is_registered_in_either_form(backend, monkeypatch):
    monkeypatch.setitem(Device._devices, "MY", backend)
    assert isinstance(Device["my"], backend)
    assert isinstance(Device["MY"].renderer, CStyleLanguage)
    t = Tensor(np.arange(5, dtype=np.float32), device="MY") + 1
    assert t.device == "MY"
    np.testing.assert_array_equal(t.numpy(), [1, 2, 3, 4, 5])
