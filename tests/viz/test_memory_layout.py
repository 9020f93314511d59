"""Cells of memory under a view: against the values that the compiler computes for that view, and
against NumPy's strides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.chains import KINDS, chains, numpy_of
from tests.viz.drawn import boxes, checked, said
from tinyframe import Tensor
from tinyframe.uop.node import UOp
from tinyframe.viz import memory_layout
from tinyframe.viz.cells import (
    MOST_BLOCKS,
    MOST_ROWS,
    NOWHERE,
    ON_CELLS,
    PER_ROW,
    about,
    colour_of,
    strides_of,
    views_of,
)
from tinyframe.viz.nodes import ordinal


def views(x: Tensor):
    u, steps = x.uop, []
    while u.op in ON_CELLS:
        steps.append(u)
        u = u.src[0]
    return views_of(u, steps[::-1])


OF_VIEWS = [kind for kind in KINDS if "window" not in kind]  # memory_layout draws no windows


@given(chains(kinds=OF_VIEWS, most_elements=200))
def test_the_cells_of_a_view_are_those_whose_values_it_has(u):
    expected = numpy_of(u, np.arange(1, u.base.arg + 1))
    cells = views(Tensor(u))[-1].cells
    assert cells.shape == expected.shape == u.shape
    assert np.array_equal(np.where(cells == NOWHERE, 0, cells + 1), expected)
    checked(memory_layout(u), height=4000)


@given(chains(kinds=[kind for kind in OF_VIEWS if kind not in ("pad", "reshape")]))
def test_strides_are_numpys_along_axes_of_two_elements_or_more(u):
    a = numpy_of(u, np.arange(u.base.arg))
    found = strides_of(views(Tensor(u))[-1].cells)
    for size, mine, theirs in zip(a.shape, found, a.strides, strict=True):
        assert mine == (theirs // a.itemsize if size > 1 else 0)


def test_a_view_that_no_strides_describe_says_so():
    x = Tensor.empty(3, 4).permute(1, 0).reshape(2, 6)
    assert strides_of(views(x)[-1].cells) == (2, None)
    assert "strides (2, none)" in memory_layout(x).text


def test_every_step_is_named_as_it_is_written():
    x = Tensor.empty(4, 6)[1:3, ::2].permute(1, 0).flip(0).pad(((0, 0), (1, 0)))
    calls = [view.call for view in views(x)]
    assert calls[0] == "24 cells of memory" and calls[1] == "reshape(4, 6)"
    for call in ("[1:3, 0:6]", "every 2nd along axis 1", "permute(1, 0)", "flip(0)"):
        assert call in calls
    assert calls[-1].startswith("pad(")


def test_an_element_that_is_shown_many_times_and_padding_are_counted():
    (line,) = [n for n in about(np.array([[0, 1], [0, 1], [0, 1]])) if "times" in n]
    assert line == "each cell 3 times"
    assert "a cell up to 2 times" in about(np.array([0, 1, 1]))
    assert "2 elements of padding: 0, in no cell" in about(np.array([NOWHERE, 4, NOWHERE]))


def test_cells_keep_their_colour_and_unused_ones_are_grey():
    root = checked(memory_layout(Tensor.empty(2, 3)[:, 1:].permute(1, 0)))
    fills: dict[str, set[str]] = {}
    found = {(round(b.left), round(b.top)): b for b in boxes(root)}
    for box in found.values():
        fills.setdefault(box.fill, set()).add(box.title)
    for cell in (1, 2, 4, 5):
        assert colour_of(cell, 6) in fills
    assert "#e4e4e4" in fills and colour_of(0, 6) not in fills
    assert len({colour_of(cell, 6) for cell in range(6)}) == 6


@pytest.mark.parametrize(
    "shape", [(), (1,), (0,), (0, 3), (2, 3, 4, 5), (100, 100), (5000,), (40, 1)]
)
def test_every_shape_fits_the_page(shape):
    x = Tensor.empty(*shape) if shape else Tensor.empty(1).reshape(())
    picture = memory_layout(x)
    root = checked(picture)
    shown = said(root)
    if 0 in shape:
        assert "no elements" in shown
    drawn = len(boxes(root))
    assert drawn <= 2 * PER_ROW * MOST_ROWS * MOST_BLOCKS
    if shape == (100, 100):
        assert any(words.endswith("columns more") for words in shown)
        assert "and 88 rows more" in shown


def test_where_something_has_to_be_computed_first_that_is_said():
    x = (Tensor.empty(4) + 1)[1:]
    assert "of float, once ADD is computed" in memory_layout(x).text
    assert "once" not in memory_layout(Tensor.empty(4)[1:]).text


def test_sizes_that_are_unknown_or_enormous_are_refused():
    n = UOp.variable("n", 1, 64).bind(7)
    with pytest.raises(ValueError, match="Variable"):
        memory_layout(Tensor.empty(64, 8)[:n])
    with pytest.raises(ValueError, match="1,048,576 elements, not 4,000,000"):
        memory_layout(Tensor.empty(2000, 2000))


@given(st.integers(1, 200))
def test_ordinals(number):
    text = ordinal(number)
    assert text[:-2] == str(number)
    teen = number % 100 in (11, 12, 13)
    assert text[-2:] == ("th" if teen else ["th", "st", "nd", "rd", *["th"] * 6][number % 10])
