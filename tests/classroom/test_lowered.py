"""Kernels on their way to C, in part 7b: what is drawn and said of them is so."""

from __future__ import annotations

import numpy as np
import pytest

from classroom import lowered
from classroom.lowered import (
    depth_of,
    mandelbrot,
    painted,
    parameter,
    placed,
    run_kernel,
    unfit,
)
from tinyframe import Tensor
from tinyframe.runtime.python import OutOfBounds
from tinyframe.uop import UOp


def rows_of_sums() -> UOp:
    """For each of 4 rows the sum of 6 elements, each plus a number of the row."""
    table, row = (Tensor.ones(*shape).contiguous().realize() for shape in ((4, 6), (4, 1)))
    (item,) = (table + row * 2).sum(axis=1).schedule()
    return item.ast


def square(counter: UOp, size: int) -> UOp:
    """The kernel that reads at the square of a counter."""
    out, data = parameter(0, size), parameter(1, 10)
    return UOp.sink(out.index(counter).store(data.index(counter * counter).load(), counter))


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


def test_a_kernel_by_hand_runs_and_does_not_leave_its_memory():
    data = np.arange(10.0)
    assert run_kernel(square(UOp.range(4, 0), 4), 4, data).tolist() == [0, 1, 4, 9]
    with pytest.raises(OutOfBounds, match="data1"):
        run_kernel(square(UOp.range(5, 0), 5), 5, data)


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
