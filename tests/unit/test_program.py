"""What is known of a compiled kernel: its name, its arguments, what it is estimated to do."""

from __future__ import annotations

import re

import pytest

from tests.kernels import kernel_of, kernels_of, on_buffer, program_of
from tinyframe import Context, Device, Variable, dtypes
from tinyframe.codegen import full_rewrite_to_sink, get_program, program
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.codegen.program import colored_name
from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import AxisType, Ops


@pytest.fixture
def no_names(monkeypatch):
    """As in a new process: no kernel has a name yet."""
    monkeypatch.setattr(program, "_names", type(program._names)())
    monkeypatch.setattr(program, "_named", {})


# ---- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("graph", "opts", "name"), [
    (lambda: on_buffer(4) + 1, [], "E_4"),
    (lambda: on_buffer(1) + 1, [], "E"),
    (lambda: on_buffer(3, 5).T.contiguous(), [], "E_5_3"),
    (lambda: on_buffer(64, 64).sum(axis=1), [], "r_64_64"),
    (lambda: on_buffer(64).sum(), [], "r_64"),
    (lambda: on_buffer(6, 7) @ on_buffer(7, 8), [], "r_6_8_7"),
    (lambda: on_buffer(32) + 1, [Opt(OptOps.VECTOR, 0, 8)], "E_4_8"),
    (lambda: on_buffer(6, 7) @ on_buffer(7, 8), [Opt(OptOps.UPCAST, 0, 2)], "r_3_8_7_2"),
])  # fmt: skip
def test_a_kernel_is_named_by_its_kind_and_the_sizes_of_its_loops(graph, opts, name, no_names):
    assert program_of(graph(), opts).name == name


def test_a_second_kernel_of_the_same_sizes_has_a_number(no_names):
    x = on_buffer(4)
    names = [program_of(graph).name for graph in (x + 1, x + 2, x + 3, x + 2)]
    sizes = names[0]
    assert names == [sizes, f"{sizes}n1", f"{sizes}n2", f"{sizes}n1"]


def test_the_source_does_not_depend_on_what_was_compiled_before(no_names):
    x = on_buffer(4)
    first, second = program_of(x + 1), program_of(x * 3)
    assert first.function == second.function == first.name != second.name
    assert second.src == program_of(x * 3).src
    assert f"void {second.function}(" in second.src


def test_sizes_are_coloured_by_what_became_of_their_axis(no_names):
    product = on_buffer(64, 64) @ on_buffer(64, 64)
    opts = [Opt(OptOps.VECTOR, 1, 16), Opt(OptOps.UPCAST, 0, 8), Opt(OptOps.THREAD, 0)]
    shown = colored_name(program_of(product, opts))
    colours = re.findall(r"\x1b\[(\d+)m(\d+)\x1b\[0m", shown)
    cyan, white, red, yellow = "36", "37", "31", "33"
    assert colours == [(cyan, "8"), (white, "4"), (red, "64"), (yellow, "8"), (yellow, "16")]
    assert re.sub(r"\x1b\[\d+m", "", shown) == "r_8_4_64_8_16"
    x = on_buffer(3)
    program_of(x + 1), (second := program_of(x + 2))
    assert re.sub(r"\x1b\[\d+m", "", colored_name(second)) == second.name


# ---- arguments -----------------------------------------------------------------------------------


def test_arguments_are_numbered_outputs_first():
    spec = program_of(on_buffer(6, 7) @ on_buffer(7, 8))
    assert (spec.globals, spec.outs, spec.ins) == ([0, 1, 2], [0], [1, 2])
    x = on_buffer(4)
    spec = program_of(x.assign(x + on_buffer(4)))
    assert (spec.outs, spec.ins) == ([0], [1])


def test_variables_are_listed_by_name():
    b, a = Variable("b", 1, 9), Variable("a", 1, 9)
    x = on_buffer(4, dtype=dtypes.int)
    spec = program_of(x * Tensor(b.bind(2)) + Tensor(a.bind(3)))
    assert spec.vars == [a, b]


def test_what_a_program_was_made_of_is_kept():
    kernel = kernel_of(on_buffer(64, 64).sum(axis=1))
    spec = program_of(kernel, [Opt(OptOps.VECTOR, 1, 8)])
    assert spec.ast is kernel
    assert spec.opts == [Opt(OptOps.VECTOR, 1, 8)]
    assert spec.device == "CPU"
    assert spec.global_size == (1, 1, 1)
    with Context(NOOPT=1):
        assert program_of(kernel).opts == []


# ---- estimates -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("graph", "operations"), [
    (lambda: on_buffer(10, 20) + 1, 200),
    (lambda: on_buffer(10, 20) * 2 + 1, 400),
    (lambda: on_buffer(10, 20) @ on_buffer(20, 30), 2 * 10 * 20 * 30),
    (lambda: on_buffer(10, 20).sum(axis=1), 200),
    (lambda: on_buffer(40, 20) * on_buffer(40, 20).max(axis=1, keepdim=True), 2 * 800),
    (lambda: on_buffer(10, 20).T.contiguous(), 0),
    (lambda: on_buffer(10, 20).pad(((1, 1), (0, 0))).contiguous(), 0),
])  # fmt: skip
def test_operations_are_counted_in_the_loops_they_run_in(graph, operations):
    for opts in (None, []):
        programs = [program_of(k, opts) for k in kernels_of(graph())]
        assert sum(p.ops_estimate for p in programs) == operations


def test_memory_is_that_of_all_arguments_once():
    assert program_of(on_buffer(10, 20) @ on_buffer(20, 30)).mem_estimate == 4 * (200 + 600 + 300)
    x = on_buffer(10, dtype=dtypes.half)
    assert program_of(x.assign(x * x)).mem_estimate == 20


# ---- the way down --------------------------------------------------------------------------------


def test_full_rewrite_to_sink_gives_what_is_linearized():
    kernel = kernel_of(on_buffer(64, 64).softmax())
    sink = full_rewrite_to_sink(kernel)
    assert sink.op is Ops.SINK
    assert all(
        u.arg is None or isinstance(u.arg, int) for u in sink.toposort() if u.op is Ops.INDEX
    )
    kinds = {u.arg[1] for u in sink.toposort() if u.op is Ops.RANGE}
    assert kinds <= {AxisType.LOOP, AxisType.REDUCE, AxisType.THREAD}
    plain = full_rewrite_to_sink(kernel, Device["PYTHON"].renderer, [])
    assert not [u for u in plain.toposort() if u.dtype.count > 1]


def test_a_kernel_is_compiled_for_the_device_it_is_for():
    kernel = kernel_of(on_buffer(64) + 1)
    c, python = (get_program(kernel, Device[name].renderer) for name in ("CPU", "PYTHON"))
    assert (c.device, python.device) == ("CPU", "PYTHON")
    assert c.src.startswith(("typedef", "void", "static"))
    assert "DEFINE_GLOBAL" in python.src
