"""Part 10b: what its last page claims."""

from __future__ import annotations

import numpy as np
import pytest

from classroom.build import ROOT
from classroom.define_by_run import as_c, loads, numbers, ops
from classroom.loop_nests import HalideStage, Var, matmul_in_halide, matmul_in_tvm, nest_of
from classroom.other_frameworks import MAP, OURS, ROOMS, WORDS
from classroom.triton_like import OutOfMemory, by_rows, launch, tl
from tests.course.claims import claim
from tinyframe import Tensor
from tinyframe.codegen.optimize.loops import Opt, OptOps


@claim(
    "Other frameworks have the same rooms, and a room that a house lacks tells you what it's for."
)
def most_rooms_are_in_most_houses() -> None:
    assert all(len(files) == len(ROOMS) for files in MAP.values())
    assert all((ROOT / "tinyframe" / file).exists() for file in MAP[OURS])
    lacking = {name: files.count("") for name, files in MAP.items()}
    assert max(lacking, key=lambda name: lacking[name]) == "Triton"
    assert sum(lacking.values()) < 0.15 * len(MAP) * len(ROOMS)


def doubled(x_ptr, out_ptr, columns, BLOCK):
    i = tl.arange(0, BLOCK)
    at = tl.program_id(0) * columns + i
    tl.store(out_ptr + at, 2 * tl.load(x_ptr + at, mask=i < columns), mask=i < columns)


def without_mask(x_ptr, out_ptr, columns, BLOCK):
    at = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at))


@claim(
    "A Triton program works on a block of elements, and a mask says which of them are really there."
)
def a_mask_keeps_a_program_in_its_row() -> None:
    x = Tensor.arange(15).reshape(5, 3).float().realize()
    assert np.array_equal(by_rows(doubled, x, block=8).numpy(), 2 * x.numpy())
    with pytest.raises(OutOfMemory, match="Program 4 touches element 15"):
        by_rows(without_mask, x)


@claim("In a define-by-run IR a kernel is a function, and whoever calls it decides what it means.")
def one_function_three_meanings() -> None:
    def inner(index):
        return ops.add(ops.load("x", index[0]), ops.constant(1))

    assert "x[i] + 1.0f" in as_c(inner, (4,))
    assert loads(inner, (4,)) == {"x": 4}
    assert numbers(inner, (4,), x=np.arange(4)).tolist() == [1, 2, 3, 4]


def split() -> HalideStage:
    return matmul_in_halide().split(Var("y"), Var("yo"), Var("yi"), 6)


@claim("An UPCAST is a split, an unroll and a place in the order.")
def three_directives_for_an_upcast() -> None:
    y, x, k = Var("yi"), Var("x"), Var("k")
    upcast = nest_of([Opt(OptOps.UPCAST, 0, 6)])
    assert split().unroll(y).reorder(y, k, x, Var("yo")).nest.alike == upcast.alike
    for other in (split(), split().unroll(y), split().reorder(y, k, x, Var("yo"))):
        assert other.nest.alike != upcast.alike


@claim("A schedule is a schedule.")
def it_is_four_things() -> None:
    others = [name for name in MAP if name != OURS]
    words = {row: dict(zip(others, WORDS[row], strict=True)) for row in ("schedule", "opts")}
    says = {row: [name for name in others if "schedule" in words[row][name]] for row in words}
    assert says == {"schedule": ["tinygrad", "JAX, XLA"], "opts": ["TVM", "Halide"]}
    a = Tensor.rand(4, 4).realize()
    assert len((a.softmax() @ a).schedule()) > 1


@claim("reorder means the same everywhere.")
def one_is_the_other_backwards() -> None:
    theirs = matmul_in_tvm()
    y, x, k = theirs.get_loops()
    theirs.reorder(k, x, y)
    assert [loop.axis for loop in theirs.nest] == ["k", "x", "y"]
    assert [loop.axis for loop in matmul_in_halide().reorder(k, x, y).nest] == ["y", "x", "k"]


@claim("What's masked out is zero.")
def it_is_nothing_in_particular() -> None:
    seen = []

    def kernel(x_ptr):
        i = tl.arange(0, 4)
        seen.extend([tl.load(x_ptr + i, mask=i < 3), tl.load(x_ptr + i, mask=i < 3, other=7.0)])

    launch(kernel, 1, np.ones(3, np.float32))
    undefined, defined = seen
    assert np.isnan(undefined[3]) and defined[3] == 7
