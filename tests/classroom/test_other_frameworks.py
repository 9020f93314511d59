"""What part 10b is made of: kernels in Triton's manner, loop nests, a function read, the map."""

from __future__ import annotations

import numpy as np
import pytest

from classroom import loop_nests, other_frameworks
from classroom.define_by_run import Written
from classroom.lessons.other_peoples_source.shared import described
from classroom.loop_nests import Nest, NestError, Var, difference, matmul_in_halide, matmul_in_tvm
from classroom.triton_like import INTERPRETED, OutOfMemory, by_rows, launch, tl
from tinyframe import Tensor
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps

x, y, k, xi, yi, xo, yo = (Var(name) for name in ("x", "y", "k", "xi", "yi", "xo", "yo"))


# ---- kernels in Triton's manner ------------------------------------------------------------------


def add_one(x_ptr, out_ptr, n, BLOCK):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


def test_a_program_that_leaves_its_array_is_named_and_nothing_stays_behind():
    with pytest.raises(OutOfMemory, match="Program 2 touches element 10 of x_ptr, which has 10"):
        launch(add_one, 3, np.zeros(10, np.float32), np.zeros(10, np.float32), 99, BLOCK=4)
    assert (INTERPRETED.program, INTERPRETED.programs) == (0, 0)


def test_a_block_is_a_power_of_two_and_a_grid_is_not_endless():
    with pytest.raises(ValueError, match="a power of two of elements, not 3"):
        by_rows(add_one, Tensor([[1.0]]), block=3)
    with pytest.raises(ValueError, match="1 to 4096 programs"):
        launch(add_one, 10**6)
    with pytest.raises(TypeError, match="take a pointer first"):
        launch(lambda x_ptr: tl.load(3), 1, np.zeros(1))


# ---- loop nests ----------------------------------------------------------------------------------


def test_both_forms_of_tile_are_splits_and_a_reorder():
    long = matmul_in_halide().tile(x, y, xo, yo, xi, yi, 8, 6)
    short = matmul_in_halide().update().tile(x, y, xi, yi, 8, 6)
    by_hand = matmul_in_halide().split(x, xo, xi, 8).split(y, yo, yi, 6).reorder(xi, yi, xo, yo)
    assert long.nest.alike == short.nest.alike == by_hand.nest.alike
    assert [loop.name for loop in long.nest] == ["yo", "xo", "yi", "xi", "k"]


def test_a_factor_splits_and_marks():
    by_hand = matmul_in_halide().split(x, xo, xi, 8).vectorize(xi)
    assert matmul_in_halide().vectorize(x, 8).nest.alike == by_hand.nest.alike
    assert matmul_in_halide().unroll(x, 8).nest.alike != by_hand.nest.alike


def test_tvm_splits_by_either_factor():
    made = []
    for factors in ([6, None], [None, 8], (6, 8)):
        sch = matmul_in_tvm()
        sch.split(sch.get_loops(sch.get_block("C"))[1], factors=factors)
        made.append(sch.nest.alike)
    assert made[0] == made[1] == made[2]
    for factors in ([None, None], [5, 8], [8]):
        with pytest.raises(NestError):
            matmul_in_tvm().split(x, factors=factors)


@pytest.mark.parametrize(
    "directive, said",
    [
        (lambda c: c.split(x, xo, xi, 7), "48 turns of x don't divide by 7"),
        (lambda c: c.split(x, xo, xi, 0), "a whole number, not by 0"),
        (lambda c: c.vectorize(xi), "There is no loop xi. From outside in, there are: y, x, k"),
        (lambda c: c.reorder(x, x), "named twice"),
        (lambda c: c.parallel(k), "part of the sum"),
        (lambda c: c.unroll(y).split(y, yo, yi, 6), "y is unrolled already"),
    ],
)
def test_what_is_not_possible_is_said(directive, said):
    with pytest.raises(NestError, match=said):
        directive(matmul_in_halide())


def test_a_nest_of_ours_is_that_of_the_kernel():
    opts = [Opt(OptOps.SPLIT, 1, 12), Opt(OptOps.UNROLL, 3, 4), Opt(OptOps.VECTOR, 2, 4)]
    nest = loop_nests.nest_of(opts)
    assert [loop.what for loop in nest] == [
        ("y", 1, 48, "serial"), ("x", 12, 4, "serial"), ("x", 4, 3, "serial"),
        ("k", 4, 12, "serial"), ("k", 1, 4, "unrolled"), ("x", 1, 4, "vectorized"),
    ]  # fmt: skip
    assert difference(nest, nest) == ""
    with pytest.raises(NestError, match="something else"):
        loop_nests.nest_of([Opt(OptOps.STAGE, 0, 2)])
    with pytest.raises(KernelOptError):
        loop_nests.nest_of([Opt(OptOps.VECTOR, 1, 3)])


def test_in_which_order_things_are_done_at_once_does_not_matter():
    one, other = (
        matmul_in_halide().tile(x, y, xo, yo, xi, yi, 8, 6).reorder(*inner, k, xo, yo)
        for inner in ((xi, yi), (yi, xi))
    )
    assert one.nest.alike != other.nest.alike
    for stage in (one, other):
        stage.vectorize(xi).unroll(yi)
    assert one.nest.alike == other.nest.alike


def test_the_learners_nest_is_drawn_where_there_is_one():
    wanted = described(matmul_in_halide()).nest
    for unfinished in (..., [], lambda c: ..., [3], lambda c: c.split(x, xo, xi, 5)):
        assert "yours" not in str(loop_nests.next_to(wanted, unfinished))
    assert "yours" in str(loop_nests.next_to(wanted, [Opt(OptOps.VECTOR, 1, 8)]))
    assert "yours" in str(loop_nests.next_to(wanted, described))
    assert loop_nests.beside({"a": wanted, "b": Nest(wanted[::-1])}).svg().startswith("<svg")


# ---- what waits for an answer --------------------------------------------------------------------


def test_an_index_is_written_with_the_brackets_that_it_needs():
    i, j = Written("i"), Written("j")
    assert (i + 1) * 4 + j == "(i + 1) * 4 + j"
    assert 2 * (i - j) == "2 * (i - j)" and (3 + i) % 5 // 2 == "((3 + i) % 5) / 2"


# ---- the map -------------------------------------------------------------------------------------


def test_a_pin_is_shown_where_it_is_put_and_gives_nothing_away():
    file = next(iter(other_frameworks.PINNED))
    room = other_frameworks.room_of(file)
    assert file not in str(other_frameworks.the_map())
    assert f"{room:9} {file}" in str(other_frameworks.the_map({1: room}))
    wrong = str(other_frameworks.the_map({1: "layers"}))
    assert f"pinned to layers: {file}" in wrong and f"{room:9} {file}" not in wrong


def test_every_file_of_ours_is_there_and_every_house_has_ten_rooms():
    for name, files in other_frameworks.MAP.items():
        assert len(files) == len(other_frameworks.ROOMS), name
    assert set(other_frameworks.VERSIONS) == set(other_frameworks.MAP)
    assert all(len(row) == len(other_frameworks.MAP) - 1 for row in other_frameworks.WORDS.values())


def test_one_claim_is_wrong_and_each_word_is_asked_once():
    assert sum(not why for _, why in other_frameworks.CLAIMS) == 1
    assert len({word for _, _, word, _ in other_frameworks.FRIENDS}) == 8
    assert other_frameworks.family().svg() and other_frameworks.six_hands().svg()
