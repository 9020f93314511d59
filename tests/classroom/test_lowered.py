"""Kernels on their way to C, in part 7b: what is drawn and said of them is so."""

from __future__ import annotations

import numpy as np
import pytest

from classroom import lowered
from classroom.lowered import (
    counted,
    depth_of,
    mandelbrot,
    nest_of,
    painted,
    parameter,
    placed,
    removed,
    run_kernel,
    stage_titles,
    unfit,
    vanished,
)
from tinyframe import Tensor, dtypes
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.runtime.python import OutOfBounds
from tinyframe.uop import Ops, UOp


def rows_of_sums() -> UOp:
    """For each of 4 rows the sum of 6 elements, each plus a number of the row."""
    table, row = (Tensor.ones(*shape).contiguous().realize() for shape in ((4, 6), (4, 1)))
    (item,) = (table + row * 2).sum(axis=1).schedule()
    return item.ast


def square(counter: UOp, size: int) -> UOp:
    """The kernel that reads at the square of a counter."""
    out, data = parameter(0, size), parameter(1, 10)
    return UOp.sink(out.index(counter).store(data.index(counter * counter).load(), counter))


def test_the_titles_of_stages_are_those_that_debug_prints():
    titles = [title.removesuffix(" (nothing to do)") for title in stage_titles(Tensor.ones(3) + 1)]
    assert titles[:3] == ["tensor graph", "prepare", "lower to ranges"]
    assert titles[-1] == "linearize" and {"simplify", "optimize", "decompose"} < set(titles)


def test_lines_of_c_are_counted_by_the_loops_around_them():
    text = get_program(rows_of_sums(), CStyleLanguage(), []).src
    lines = {line[10:].strip(): line[:6].strip() for line in counted(text).splitlines()}
    assert lines["for (int ridx0 = 0; ridx0 < 4; ridx0++) {"] == "1 ×"
    assert lines["float val0 = data2[ridx0];"] == "4 ×"
    assert next(n for line, n in lines.items() if "data1[" in line) == "24 ×"
    assert "_entry" not in counted(text) and lines["}"] == ""


def test_a_statement_in_the_wrong_loop_is_marked():
    sink = rows_of_sums()
    assert "wrong place" not in str(placed(sink, depth_of))
    shown = placed(sink, lambda u, nest: len(nest))
    assert "4 of them" not in shown.headline and "in the wrong place" in shown.headline
    assert "(belongs in 1 loop)" in shown.text and "belongs in 1 loop" in shown.svg()


def endless(u, nest):
    while True:
        pass


@pytest.mark.parametrize(
    "said", [None, lambda u, nest: None, lambda u, nest: 17, lambda u, nest: 1 / 0, endless]
)
def test_without_numbers_statements_are_where_they_belong(said, monkeypatch):
    monkeypatch.setattr(lowered, "SECONDS", 0.2)
    shown = placed(rows_of_sums(), said)
    assert "placed by ours" in shown.headline and "belongs" not in shown.text


def test_a_nest_is_the_loops_of_the_result_and_then_those_of_the_sum():
    outer, inner = nest_of(rows_of_sums())
    assert (outer.src[0].arg, inner.src[0].arg) == (4, 6)


def test_the_stage_that_removed_an_op_is_the_one_after_the_last_that_has_it():
    x = UOp.range(3, 0)
    stages = [("a", [x * 2]), ("b", [x]), ("c", [x * 3]), ("d", [x])]
    assert removed(Ops.MUL, stages) == "d"
    assert removed(Ops.RANGE, stages) == removed(Ops.ADD, stages) == ""


def test_what_vanished_is_listed_by_stage(capsys):
    x = UOp.range(3, 0)
    vanished(None, [("a", [x * 2, x + 1]), ("b", [x + 1]), ("c", [x])])
    assert capsys.readouterr().out.splitlines()[1:] == [
        "b               removes MUL",
        "c               removes ADD",
    ]


def test_a_kernel_by_hand_runs_and_does_not_leave_its_memory():
    data = np.arange(10.0)
    assert run_kernel(square(UOp.range(4, 0), 4), 4, data).tolist() == [0, 1, 4, 9]
    with pytest.raises(OutOfBounds, match="data1"):
        run_kernel(square(UOp.range(5, 0), 5), 5, data)


def test_the_picture_is_the_learners_as_soon_as_there_is_one(capsys):
    board = painted(lambda row, column: (row // 16 + column // 16) % 2)
    assert "by your function" in capsys.readouterr().out
    assert board.text == "painted: 240 × 320 dots, from 0 to 1"
    holes = painted(lambda row, column: (row - 9).cast(dtypes.float).sqrt())
    assert holes.text.startswith("painted: 240 × 320 dots, from 0 to 15.")


@pytest.mark.parametrize(
    "paint", [..., lambda row, column: None, lambda row, column: row // column, lambda: 1, endless]
)
def test_until_then_it_is_ours(paint, monkeypatch, capsys):
    monkeypatch.setattr(lowered, "SECONDS", 0.2)
    assert painted(paint).text == painted(mandelbrot).text
    assert "by ours" in capsys.readouterr().out


def test_what_cannot_be_painted_is_told_why():
    row, column = UOp.range(240, 0), UOp.range(320, 1)
    assert unfit(mandelbrot(row, column), row, column) == ""
    for value, word in (
        (row // column, "may be 0"),
        (row.sqrt(), "needs a float"),
        (row * 0.5, "meets a float"),
        (row + UOp.range(3, 2), "Who is ridx2?"),
        (row + parameter(1, 9).index(row).load(), "memory"),
    ):
        assert word in unfit(value, row, column)
