"""Part 7b: what its last page claims."""

from __future__ import annotations

import numpy as np

from classroom.ask import kernels
from classroom.lowered import depth_of, nest_of, run_kernel
from tests.course.claims import claim, memory
from tinyframe import Context, Tensor
from tinyframe.codegen import Compilation, get_program, passes
from tinyframe.codegen.linearize import linearize
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop import GroupOp, Ops, UOp

LANGUAGE = CStyleLanguage()


def kernel_of(x: Tensor) -> UOp:
    (item,) = x.schedule()
    return item.ast


def scores() -> Tensor:
    """The kernel of the lesson."""
    return (memory(6, 4).T * memory(4, 1).exp() * memory(1, 6)).sum(axis=1)


@claim(
    "Lowering replaces movement by arithmetic on loop counters, so no movement op ever reaches C."
)
def nothing_moves_after_lowering():
    x = memory(4, 6)
    moved = x.T.reshape(8, 3).pad(((1, 1), (0, 2)))[1:].flip(0).expand(9, 5) * 2
    assert {u.op for u in moved.uop.toposort()} & GroupOp.Movement
    assert not {u.op for u in kernel_of(moved).toposort()} & GroupOp.Movement


@claim(
    "An exponential that an outer loop would repeat is stored, and one that only changes with the "
    "outer loop is not."
)
def loops_decide_what_is_stored():
    table, heat, w = memory(4, 6), memory(4, 1), memory(1, 6)
    assert [kernels((table * heat.exp()).sum(axis=axis)) for axis in (1, 0)] == [1, 2]
    assert [kernels((table * w.exp()).sum(axis=axis)) for axis in (1, 0)] == [2, 1]


@claim(
    "Each stage of the compiler takes a graph and returns a graph, up to the list that becomes the "
    "text."
)
def stages_are_functions_of_graphs():
    graph, job = kernel_of(scores()), Compilation(LANGUAGE, [])
    with Context(NOOPT=1):
        for _, stage in passes:
            graph = stage(graph, job)
            assert isinstance(graph, UOp) and graph.op is Ops.SINK
    lines = linearize(graph)
    assert isinstance(lines, list) and all(isinstance(u, UOp) for u in lines)
    assert isinstance(LANGUAGE.render("scores", lines), str)


@claim(
    "A statement is inside all the loops down to the deepest counter that it depends on, and inside"
    " no others."
)
def statements_go_as_far_out_as_they_can():
    sink = kernel_of((memory(4, 6) * (memory(4, 1) + 1) * (memory(1, 6) + 2)).sum(axis=1))
    nest = nest_of(sink)
    lines = get_program(sink, LANGUAGE, []).uops
    open_loops, places = 0, {}
    for u in lines:
        open_loops += (u.op is Ops.RANGE) - (u.op is Ops.ENDRANGE)
        if u.op is Ops.LOAD and u.src[0].src[0].op is Ops.DEFINE_GLOBAL:
            places[u.src[0].src[0].arg] = open_loops
    loads = {u.src[0].src[0].arg: u for u in sink.toposort() if u.op is Ops.LOAD}
    assert places == {n: depth_of(u, nest) for n, u in loads.items()} == {1: 2, 2: 1, 3: 2}


@claim("What depends only on the inner counter runs only as often as that loop.")
def six_elements_are_read_24_times():
    sink = kernel_of(scores())
    read_by_column = next(
        u for u in sink.toposort() if u.op is Ops.LOAD and u.src[0].src[0].arg == 3
    )
    outer, inner = nest_of(sink)
    assert read_by_column.ranges == {inner} and depth_of(read_by_column, (outer, inner)) == 2
    assert (outer.src[0].arg, inner.src[0].arg) == (4, 6)


@claim("Integer division is the same in Python and in C.")
def a_negative_quotient_is_corrected():
    x = Tensor([7, -7, 5]).realize()
    text = get_program(kernel_of(x // 3), LANGUAGE).src
    assert "val0 / 3 - (val0 % 3 < 0)" in text
    assert (Tensor([7, -7, 5]) // 3).tolist() == [7 // 3, -7 // 3, 5 // 3]
    assert "% 3" not in get_program(kernel_of(Tensor.arange(8) // 3), LANGUAGE).src


@claim("exp() calls the C library.")
def exp_is_written_out():
    x = memory(5)
    sink = kernel_of(x.exp())
    text = get_program(sink, LANGUAGE).src
    assert "exp" not in text and text.count("*") > 10
    assert np.allclose(run_kernel(sink, 5, x.numpy()), np.exp(x.numpy()), rtol=1e-6)
